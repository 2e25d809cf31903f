// SPDX-License-Identifier: GPL-2.0
/*
 * Request timeouts: 100,000 connections, each with a request under way. Every 2 s an
 * answer comes: the timeout of 20 s is cancelled, and that of the next request is
 * armed. One request in a hundred is never answered, and its timeout expires; then
 * the next one is sent.
 *
 * All that the processors do counts, less what the same load costs without timers.
 */
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define IDS		100000U
#define TIMEOUT		(20 * NSEC)
#define REUSE		(TIMEOUT / 10)
#define ANSWERS		(IDS * SLICE / REUSE)	/* in a slice */
#define UNANSWERED	100U			/* one in so many */

static const struct peer *const peers[] = {
	&peer_words, &peer_twheel, &peer_heap, &peer_wheel, &peer_timerfd, &peer_posix,
};

#define NR_PEERS	(sizeof(peers) / sizeof(*peers))

/* In which order the answers come. */
static struct work *order;
/* Until when the answer to an id's request stays away; 0: it comes at the id's turn. */
static uint64_t *silent;
static uint32_t at;

/* Without timers nothing expires, but as many requests are sent again as with them. */
static bool alone;

static void fill(struct slice *slice, uint64_t now)
{
	uint32_t sent = slice->nr_arm;

	for (uint32_t i = 0; i < ANSWERS; i++) {
		uint32_t id = order[at++ % IDS].id;

		if (now < silent[id])
			continue;
		if (random64() % UNANSWERED == 0) {
			silent[id] = alone ? now + TIMEOUT - REUSE : UINT64_MAX;
			continue;
		}
		slice->cancel[slice->nr_cancel++].id = id;
		slice->arm[slice->nr_arm++] = (struct work){ id, now + TIMEOUT };
	}
	/* The next request of those that expired; no answer before the next slice. */
	while (sent)
		silent[slice->arm[--sent].id] = 0;
}

static void expired(struct slice *slice, uint32_t id, uint64_t now)
{
	slice->arm[slice->nr_arm++] = (struct work){ id, now + TIMEOUT };
}

static const struct load load = {
	.ids		= IDS,
	.timeout	= TIMEOUT,
	.warm		= TIMEOUT / SLICE + 1000,
	.window		= TIMEOUT / SLICE / 4,
	.fill		= fill,
	.expired	= expired,
};

static void tell(const char *name, const struct peer *peer, const char *unit, double value)
{
	sample("requests", name, peer->name, IDS, unit, value);
}

static void tell_all(const struct peer *peer, const struct window *w, double idle)
{
	double requests = w->ops / 2.0;

	tell("a request, all in", peer, icount ? "instructions" : "ns",
	     (w->busy - idle) * 1e9 / requests);
	tell("of it in the program's calls", peer, icount ? "instructions" : "ns",
	     (w->changes + w->takes) * 1e9 / requests);
	tell("system calls", peer, "per 100 operations", 100.0 * w->calls / w->ops);
	tell("expired", peer, "per 100 requests", 100 * w->expired / requests);
	tell("early or stale", peer, "expirations", w->wrong);
	tell("late by, p99", peer, "ms", w->p99 / 1e6);
}

static bool run(const struct peer *peer, struct window *windows)
{
	progress("request timeouts, %s", peer->name);
	memset(silent, 0, IDS * sizeof(*silent));
	at = 0;
	alone = peer == &peer_none;
	return load_run(&load, peer, windows);
}

/* Seconds that processors are busy in a window without timers. */
static double run_alone(void)
{
	struct window windows[WINDOWS];
	double busy = 0;

	if (!run(&peer_none, windows))
		die("this guest is too slow for 50,000 requests a second");
	for (unsigned int i = 0; i < WINDOWS; i++) {
		tell("processor time of the load itself", &peer_none, "% of one CPU",
		     100 * windows[i].busy / windows[i].seconds);
		busy += windows[i].busy / WINDOWS;
	}
	return busy;
}

void bench_requests(unsigned int runs)
{
	struct window windows[NR_PEERS][WINDOWS];
	bool keeps_up[NR_PEERS];
	double idle;

	(void)runs;
	order = work_alloc(IDS);
	work_shuffle(order, IDS);
	silent = calloc(IDS, sizeof(*silent));
	if (!silent)
		die("no memory for requests");
	pin(true);
	/* The load alone is measured before and after, because the host may become slower. */
	idle = run_alone() / 2;
	for (size_t p = 0; p < NR_PEERS; p++)
		keeps_up[p] = run(peers[p], windows[p]);
	idle += run_alone() / 2;
	pin(false);
	for (size_t p = 0; p < NR_PEERS; p++) {
		if (!keeps_up[p])
			bed_fact(peers[p]->name, "can't keep up with 50,000 requests a second");
		for (unsigned int i = 0; keeps_up[p] && i < WINDOWS; i++)
			tell_all(peers[p], &windows[p][i], idle);
	}
	free(order);
	free(silent);
}
