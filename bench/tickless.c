// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts that a wheel takes: none while nothing is due, and hardly more
 * than one for each of a few timers far apart.
 *
 * The wheel counts its own. The second opinion is the guest's count of all
 * interrupts of the processors' timers, with an armed wheel and without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/twheel.h>

#include "bench.h"

#define IDLE_TIMERS	10000
#define SPARSE_TIMERS	1000

/* Seconds to wait; with icount, idle time passes at once. */
#define IDLE_GUEST	2
#define IDLE_ICOUNT	100
#define SPARSE_SPAN	100

static uint64_t interrupts(const struct peer *peer)
{
	struct twheel_stats stats;

	wheel_stats(peer->ready(), &stats);
	return stats.interrupts;
}

static void no_wheel(uint64_t seconds)
{
	uint64_t before = timer_interrupts();

	sleep_until(now_ns() + seconds * NSEC);
	sample("tickless", "timer interrupts of the guest", "no wheel", 0,
	       "per second", (timer_interrupts() - before) / (double)seconds);
}

static void nothing_due(const struct peer *peer, uint32_t nr, uint64_t seconds)
{
	struct work *work = work_alloc(nr);
	uint64_t ours, all;
	char unit[32];

	peer->open(nr, USE_OPS);
	/* From two minutes to a day ahead. */
	work_deadlines(work, nr, now_ns() + 120 * NSEC, 86400 * NSEC);
	peer->arm(work, nr);
	ours = interrupts(peer);
	all = timer_interrupts();
	sleep_until(now_ns() + seconds * NSEC);
	ours = interrupts(peer) - ours;
	all = timer_interrupts() - all;
	snprintf(unit, sizeof(unit), "in %llu s", (unsigned long long)seconds);
	sample("tickless", "interrupts of a wheel with nothing due", peer->name, nr,
	       unit, ours);
	sample("tickless", "timer interrupts of the guest", peer->name, nr,
	       "per second", all / (double)seconds);
	peer->close();
	free(work);
}

static void sparse(const struct peer *peer, uint32_t nr, uint64_t seconds)
{
	struct work *work = work_alloc(nr);
	struct twheel_stats stats;

	peer->open(nr, USE_DELIVERY);
	work_deadlines(work, nr, now_ns() + NSEC / 10, seconds * NSEC);
	peer->arm(work, nr);
	deliver(peer, nr);
	wheel_stats(peer->ready(), &stats);
	sample("tickless", "interrupts per sparse timer", peer->name, nr, "interrupts",
	       (double)stats.interrupts / stats.fired);
	peer->close();
	free(work);
}

void bench_tickless(unsigned int runs)
{
	static const struct peer *const peers[] = { &peer_twheel, &peer_words };
	uint64_t idle = icount ? IDLE_ICOUNT : IDLE_GUEST;

	for (unsigned int run = 0; run < runs; run++) {
		progress("tickless: run %u of %u", run + 1, runs);
		for (size_t p = 0; p < sizeof(peers) / sizeof(*peers); p++) {
			nothing_due(peers[p], IDLE_TIMERS, idle);
			if (icount)
				sparse(peers[p], SPARSE_TIMERS, SPARSE_SPAN);
		}
		if (icount)
			no_wheel(idle);
	}
}
