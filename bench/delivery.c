// SPDX-License-Identifier: GPL-2.0
/*
 * A great many timers that come due in the same second, or the same 10 ms: how
 * many are delivered for each second that the processors were busy.
 *
 * Deadlines are spread at random over that span. The measured time begins
 * when the last timer is armed and ends when the last is delivered, so that
 * nothing is left out that is done ahead of the deadlines. It starts with a
 * wait, in which an idle guest does its own bit of work; that counts too.
 */
#include <stdlib.h>

#include <linux/twheel.h>

#include "bench.h"

/* How long it should take to arm all of them, from a try with some. */
static uint64_t arming_takes(const struct peer *peer, struct work *work, uint32_t nr)
{
	uint64_t start = now_ns(), took;
	uint32_t some = nr / 8 + 1;

	work_deadlines(work, some, start + 600 * NSEC, NSEC);
	peer->arm(work, some);
	took = (now_ns() - start) * nr / some;
	if (peer->sample) {
		/* Cancelling them one by one would take long. */
		peer->close();
		peer->open(nr, USE_DELIVERY);
	} else {
		peer->cancel(work, some);
	}
	return took;
}

/* Sleep, and take expirations, until there were @nr of them. */
void deliver(const struct peer *peer, uint32_t nr)
{
	static uint32_t ids[TAKE_MAX];
	uint32_t got;

	while (nr) {
		wait_until(peer->ready(), ~0ULL);
		do {
			got = peer->take(ids, nr < TAKE_MAX ? nr : TAKE_MAX, now_ns());
			nr -= got;
		} while (nr && got);
	}
}

static void delivery(const char *part, const struct peer *peer, uint32_t nr, uint64_t span,
		     unsigned int runs)
{
	struct work *work = work_alloc(nr);
	uint32_t got = peer->open(nr, USE_DELIVERY);
	uint64_t lead;

	runs = RUNS_OF(nr, runs);
	progress("%u due within %llu ms, %s: %u runs", got,
		 (unsigned long long)span / 1000000, peer->name, runs);
	if (!got)
		goto out;
	wait_until_idle();
	lead = NSEC / 2 + 5 * arming_takes(peer, work, got) / 4;

	for (unsigned int run = 0; run < runs;) {
		uint64_t due = now_ns() + lead, end;
		double busy;

		work_deadlines(work, got, due, span);
		peer->arm(work, got);
		busy = busy_seconds();
		if (now_ns() + NSEC / 4 > due) {
			/* Interrupted for too long: not a run. */
			deliver(peer, got);
			lead *= 2;
			continue;
		}
		deliver(peer, got);
		end = now_ns();
		busy = busy_seconds() - busy;
		sample(part, "delivered", peer->name, got, "per CPU-second",
		       got / busy);
		sample(part, "processor time of a timer", peer->name, got,
		       icount ? "instructions" : "us",
		       busy / got * (icount ? 1e9 : 1e6));
		sample(part, "last one late by", peer->name, got, "ms",
		       end > due + span ? (end - due - span) / 1e6 : 0);
		run++;
	}
	peer->close();
out:
	free(work);
}

/*
 * Timerfds also in a number that the guest can keep up with: of a million it
 * is seconds late, and so saves itself most wake-ups.
 */
void bench_delivery(unsigned int runs)
{
	uint32_t many = 1000000, some = 100000;

	delivery("delivery", &peer_twheel, many, NSEC, runs);
	delivery("delivery", &peer_twheel, some, NSEC, runs);
	delivery("delivery", &peer_words, many, NSEC, runs);
	delivery("delivery", &peer_timerfd, some, NSEC, runs);
	if (!icount) {
		delivery("delivery", &peer_timerfd, many, NSEC, runs);
		delivery("delivery", &peer_posix, some, NSEC, runs);
		delivery("delivery", &peer_uring, some, NSEC, runs);
		delivery("delivery", &peer_heap, many, NSEC, runs);
		delivery("delivery", &peer_wheel, many, NSEC, runs);
	}
}

void bench_storm(unsigned int runs)
{
	static const struct peer *const peers[] = {
		&peer_twheel, &peer_words, &peer_timerfd, &peer_heap, &peer_wheel,
	};

	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++)
		delivery("storm", peers[i], 1000000, NSEC / 100, runs);
}
