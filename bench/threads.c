// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads, each with a set of timers of its own: how much more do they get done
 * than one? 100,000 timers each, deadlines 1 to 6 min ahead, for half a second: arm
 * all in sequence, move all to later and cancel all in random orders.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "bench.h"

#define TIMERS		100000U
#define PIECE		1000U
#define SPAN		500000000ULL	/* ns */

/**
 * struct worker - a thread
 * @peer: whose timers it has
 * @cpu: where it runs
 * @start: all wait for each other there
 * @arm: timers in sequence
 * @later: the same in a random order, later
 * @ops: what it has done
 */
struct worker {
	const struct peer	*peer;
	int			cpu;
	pthread_barrier_t	*start;
	struct work		*arm;
	struct work		*later;
	uint64_t		ops;
};

/* In pieces, to see when the time is over. */
static bool all(struct worker *worker, void (*op)(const struct work *, uint32_t),
		const struct work *work, uint64_t end)
{
	for (uint32_t i = 0; i < TIMERS; i += PIECE) {
		op(work + i, PIECE);
		worker->ops += PIECE;
		if (now_ns() >= end)
			return false;
	}
	return true;
}

static void *work_on(void *argument)
{
	struct worker *worker = argument;
	const struct peer *peer = worker->peer;
	uint64_t end;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(worker->cpu, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		die("sched_setaffinity: %m");
	peer->open(TIMERS, USE_OPS);
	/* Memory is allocated before it is measured. */
	peer->arm(worker->arm, TIMERS);
	peer->cancel(worker->arm, TIMERS);
	pthread_barrier_wait(worker->start);
	end = now_ns() + SPAN;
	while (all(worker, peer->arm, worker->arm, end) &&
	       all(worker, peer->extend ?: peer->move, worker->later, end) &&
	       all(worker, peer->cancel, worker->later, end))
		;
	pthread_barrier_wait(worker->start);
	peer->close();
	return NULL;
}

static double ops_of(const struct peer *peer, unsigned int threads)
{
	struct worker workers[2] = {};
	pthread_barrier_t start;
	pthread_t thread[2];
	uint64_t ops = 0;

	pthread_barrier_init(&start, NULL, threads);
	for (unsigned int i = 0; i < threads; i++) {
		struct worker *worker = &workers[i];

		*worker = (struct worker){
			.peer = peer, .cpu = 1 - i, .start = &start,
			.arm = work_alloc(TIMERS), .later = work_alloc(TIMERS),
		};
		work_deadlines(worker->arm, TIMERS, now_ns() + 60 * NSEC, 300 * NSEC);
		for (uint32_t j = 0; j < TIMERS; j++)
			worker->later[j].deadline = worker->arm[j].deadline + 30 * NSEC;
		work_shuffle(worker->later, TIMERS);
	}
	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work_on, &workers[i]))
			die("pthread_create: %m");
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		ops += workers[i].ops;
		free(workers[i].arm);
		free(workers[i].later);
	}
	pthread_barrier_destroy(&start);
	return ops;
}

void bench_threads(unsigned int runs)
{
	static const struct peer *const in_guest[] = {
		&peer_twheel, &peer_words, &peer_timerfd, NULL,
	};
	static const struct peer *const natively[] = { &peer_wheel, NULL };
	const struct peer *const *peers = native ? natively : in_guest;

	for (unsigned int run = 0; run < runs; run++) {
		progress("two threads: run %u of %u", run + 1, runs);
		for (size_t i = 0; peers[i]; i++) {
			double one = ops_of(peers[i], 1), two = ops_of(peers[i], 2);

			sample("threads", "operations by one thread", peers[i]->name, TIMERS,
			       "per second", one * NSEC / SPAN);
			sample("threads", "operations by two threads", peers[i]->name, TIMERS,
			       "per second", two * NSEC / SPAN);
			sample("threads", "two threads : one", peers[i]->name, TIMERS,
			       "times", two / one);
		}
	}
}
