// SPDX-License-Identifier: GPL-2.0
/*
 * Idle connections: a million timeouts of 30 s; a million refreshes a second, each of
 * a random connection; of every 20 one has fallen silent, and is never refreshed.
 * When its timer expires another one takes its place, silent as well.
 *
 * In a guest in real time, where all that the processors do counts, less what the
 * same load costs without timers. Natively in simulated time, with the kernel's part
 * of the words in the program: there the cost of a look is measured.
 */
#include "load.h"

#define IDS		1000000U
#define REFRESHES	1000U		/* in a slice */
#define TIMEOUT		(30 * NSEC)
#define SILENT		20U		/* one in so many */

static void fill(struct slice *slice, uint64_t now)
{
	while (slice->nr_extend < REFRESHES) {
		uint32_t id = random64() % IDS;

		if (id % SILENT == 0)
			continue;
		slice->extend[slice->nr_extend++] = (struct work){ id, now + TIMEOUT };
	}
}

static void expired(struct slice *slice, uint32_t id, uint64_t now)
{
	/* Who takes its place has come in the last second. */
	slice->arm[slice->nr_arm++] = (struct work){ id, now + TIMEOUT - random64() % NSEC };
}

static const struct load load = {
	.ids		= IDS,
	.timeout	= TIMEOUT,
	/* At first nothing expires for a quarter of a timeout, and so it is a timeout later. */
	.warm		= TIMEOUT / SLICE * 5 / 4 + 1000,
	.window		= TIMEOUT / SLICE / WINDOWS / 2,
	.fill		= fill,
	.expired	= expired,
};

static void tell(const char *name, const struct peer *peer, const char *unit, double value)
{
	sample("idle", name, peer->name, IDS, unit, value);
}

static void tell_all(const struct peer *peer, const struct window *w, double idle)
{
	double program = w->changes + w->takes;

	if (native) {
		tell("a refresh", peer, "ns", w->changes * 1e9 / w->ops);
		tell("turning: due timers found", peer, "% of one CPU",
		     100 * w->takes / w->seconds);
		tell("all together", peer, "% of one CPU", 100 * program / w->seconds);
	} else {
		tell("processor time, all in", peer, "% of one CPU",
		     100 * (w->busy - idle) / w->seconds);
		tell("of it in the program's calls", peer, "% of one CPU",
		     100 * program / w->seconds);
		tell("wake-ups for expirations", peer, "per second", w->wakeups / w->seconds);
		tell("system calls for timers", peer, "per second", w->calls / w->seconds);
	}
	if (w->looks) {
		tell("looks of the kernel", peer, "per timer in 30 s",
		     (double)w->looks / IDS * (TIMEOUT / 1e9) / w->seconds);
		tell("a look", peer, "ns", w->takes * 1e9 / w->looks);
	}
	tell("late by, p50", peer, "ms", w->p50 / 1e6);
	tell("late by, p99", peer, "ms", w->p99 / 1e6);
	tell("early or stale", peer, "expirations", w->wrong);
	tell("expired", peer, "per second", w->expired / w->seconds);
}

void bench_idle(unsigned int runs)
{
	static const struct peer *const in_guest[] = {
		&peer_words, &peer_heap, &peer_wheel, &peer_sweep, NULL,
	};
	static const struct peer *const natively[] = {
		&peer_looks, &peer_heap, &peer_wheel, &peer_sweep, NULL,
	};
	const struct peer *const *peers = native ? natively : in_guest;
	struct window windows[WINDOWS];
	double idle = 0;

	(void)runs;
	pin(true);
	if (!native) {
		progress("idle connections, no timers");
		if (!load_run(&load, &peer_none, windows))
			die("this guest is too slow for a million refreshes a second");
		for (unsigned int i = 0; i < WINDOWS; i++)
			idle += windows[i].busy / WINDOWS;
		tell("processor time of the load itself", &peer_none, "% of one CPU",
		     100 * idle / windows[0].seconds);
	}
	for (size_t p = 0; peers[p]; p++) {
		progress("idle connections, %s", peers[p]->name);
		if (!load_run(&load, peers[p], windows)) {
			bed_fact(peers[p]->name, "can't keep up with a million refreshes a second");
			continue;
		}
		for (unsigned int i = 0; i < WINDOWS; i++)
			tell_all(peers[p], &windows[i], idle);
		if (peers[p]->bytes)
			tell("memory of a timer, the program's", peers[p], "bytes",
			     peers[p]->bytes);
	}
	pin(false);
}
