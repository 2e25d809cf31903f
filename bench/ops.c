// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to arm, move and cancel timers that do not fire.
 *
 * Deadlines are spread at random over 5 minutes that begin in five, so
 * that none comes while this runs. The arms take the ids in sequence, as
 * connections come; moves and cancels each take them in a random order of
 * their own. A move sets a new random deadline, as often sooner as later; a
 * push back sets the old one 30 s later. In place is the best case of a tree: one timer, the last
 * one due, is pushed back again and again, with a call each, and stays the last.
 *
 * What the program does to describe the operations is part of the cost.
 */
#include <stdlib.h>

#include <linux/twheel.h>

#include "bench.h"

/* On a busy host a round of a million io_uring timeouts has taken more than a minute. */
#define SOONEST		(300 * NSEC)
#define SPAN		(300 * NSEC)
#define PUSH_BACK	(30 * NSEC)
#define IN_PLACE_BY	1000000ULL	/* ns */
#define IN_PLACE_TIMES	1024U
/* Of few timers, because it is a best case. */
#define IN_PLACE_AMONG	1024U

/* Timers worked on for one value; with fewer timers, over and over. */
#define WORK_MIN	16384

static const char *unit(void)
{
	return icount ? "instructions" : "ns";
}

/* One of the operations of a round, and the time that it has taken. */
enum step { FIRST_ARM, ARM, MOVE, LATER, IN_PLACE, CANCEL, STEPS };

static const char *const step_name[STEPS] = {
	"first arm", "arm", "re-arm", "push back", "push back, in place", "cancel",
};

struct clock {
	uint64_t	ns[STEPS];
	uint64_t	ops[STEPS];
};

static void timed(struct clock *clock, enum step step,
		  void (*op)(const struct work *, uint32_t),
		  const struct work *work, uint32_t nr)
{
	uint64_t start = now_ns();

	op(work, nr);
	clock->ns[step] += now_ns() - start;
	clock->ops[step] += nr;
}

static void arm_all(const struct peer *peer, struct clock *clock, enum step step,
		    uint32_t nr)
{
	struct work *sequence = work_alloc(nr);

	work_deadlines(sequence, nr, now_ns() + SOONEST, SPAN);
	timed(clock, step, peer->arm, sequence, nr);
	free(sequence);
}

static void push_in_place(const struct peer *peer, struct clock *clock, uint32_t id)
{
	void (*op)(const struct work *, uint32_t) = peer->extend ?: peer->move;
	uint32_t nr = peer->sample && peer->sample < IN_PLACE_TIMES ? peer->sample : IN_PLACE_TIMES;
	uint32_t at_once = peer->batches ? 1 : nr;
	struct work *work = work_alloc(nr + 1);
	uint64_t start, last = now_ns() + SOONEST + SPAN + PUSH_BACK;

	for (uint32_t i = 0; i <= nr; i++)
		work[i] = (struct work){ id, last + i * IN_PLACE_BY };
	op(work, 1);
	start = now_ns();
	for (uint32_t i = 1; i <= nr; i += at_once)
		op(work + i, at_once);
	clock->ns[IN_PLACE] += now_ns() - start;
	clock->ops[IN_PLACE] += nr;
	free(work);
}

/* Arm, move and cancel all timers once; @nr are open and not armed. */
static void round_of_ops(const struct peer *peer, struct clock *clock,
			 struct work *work, uint32_t nr)
{
	uint32_t some = peer->sample && peer->sample < nr ? peer->sample : nr;

	arm_all(peer, clock, ARM, nr);
	work_shuffle(work, nr);
	work_deadlines(work, nr, now_ns() + SOONEST, SPAN);
	timed(clock, MOVE, peer->move, work, some);
	work_later(work, nr, PUSH_BACK);
	timed(clock, LATER, peer->extend ?: peer->move, work, some);
	if (nr <= IN_PLACE_AMONG)
		push_in_place(peer, clock, work[0].id);
	work_shuffle(work, nr);
	timed(clock, CANCEL, peer->cancel, work, some);
}

static void run_of_ops(const char *part, const struct peer *peer, uint32_t nr)
{
	struct work *work = work_alloc(nr);
	struct clock clock = {};
	uint64_t start;
	uint32_t got;

	start = now_ns();
	got = peer->open(nr, USE_OPS);
	if (!got) {
		bed_fact(peer->name, "not allowed here");
		goto out;
	}
	sample(part, "create", peer->name, got, unit(), (double)(now_ns() - start) / got);
	if (peer->grows) {
		arm_all(peer, &clock, FIRST_ARM, got);
		peer->cancel(work, got);
	}
	do {
		round_of_ops(peer, &clock, work, got);
	} while (clock.ops[ARM] < WORK_MIN && !peer->sample);

	start = now_ns();
	peer->close();
	if (peer->sample)	/* with all of them armed still */
		sample(part, "close", peer->name, got, unit(),
		       (double)(now_ns() - start) / got);
	wait_until_idle();
	for (enum step step = 0; step < STEPS; step++)
		if (clock.ops[step])
			sample(part, step_name[step], peer->name, got, unit(),
			       (double)clock.ns[step] / clock.ops[step]);
out:
	free(work);
}

void bench_ops(unsigned int runs)
{
	static const struct peer *const in_guest[] = {
		&peer_twheel, &peer_words, &peer_timerfd, &peer_posix, &peer_uring, &peer_heap,
		&peer_wheel, NULL,
	};
	static const struct peer *const natively[] = {
		&peer_stores, &peer_heap, &peer_wheel, NULL,
	};
	static const uint32_t counts[] = { 1000, 100000, 1000000 };
	const struct peer *const *peers = native ? natively : in_guest;
	/* Instructions do not depend on the cache, and "growth" counts those of a million. */
	size_t nr_counts = icount ? 2 : 3;

	pin(true);
	for (size_t n = 0; n < nr_counts; n++) {
		unsigned int rounds = native ? runs : RUNS_OF(counts[n], runs);

		for (unsigned int run = 0; run < rounds; run++) {
			progress("%u armed: run %u of %u", counts[n], run + 1, rounds);
			for (size_t i = 0; peers[i]; i++)
				if (!peers[i]->most || counts[n] <= peers[i]->most)
					run_of_ops("ops", peers[i], counts[n]);
		}
	}
	pin(false);
}

void bench_growth(unsigned int runs)
{
	static const uint32_t counts[] = { 1024, 10240, 102400, 1024000 };
	static const struct peer *const peers[] = { &peer_twheel, &peer_words };

	pin(true);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		progress("%u armed: %u runs", counts[i], runs);
		for (unsigned int run = 0; run < runs; run++)
			for (size_t p = 0; p < 2; p++)
				run_of_ops("growth", peers[p], counts[i]);
	}
	pin(false);
}
