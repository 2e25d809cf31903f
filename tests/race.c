// SPDX-License-Identifier: GPL-2.0
/*
 * Stores that race with looks, on two real processors: one thread is the kernel
 * and turns the wheel, the other stores deadlines as a daemon does, at the very
 * time at which the wheel looks. Far more often than a guest could: each round
 * arms some timers, lets their tick come near, and then cancels them, moves them,
 * or both, without a call if the promise covers it. After that each must be
 * delivered for what was asked last, in a bounded number of turns.
 *
 * race SECONDS	prints TAP
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "../timers.h"
#include "../words.h"
#include "rnd.h"
#include "tap.h"

#define CAPACITY	WHEEL_CHUNK_TIMERS
#define TICK		1000ULL
/* Timers in a round: looked at in one batch. */
#define IDS		6U
/* Turns of the wheel after which what is due must have been found. */
#define TURNS		100000U

unsigned int tap_count, tap_failed;

static struct timers ts;
static struct twheel_word *words;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Time, and how often the wheel was turned: they stand while a call is made. */
static u64 now = 1000000, turns;
static bool stop;
/* Who calls goes first, which a mutex alone does not see to. */
static unsigned int callers;

/* What was delivered last of each timer. */
static u64 delivered[IDS];
static u64 deliveries, early;

/* The kernel */

static void deliver(u64 time)
{
	struct twheel_event events[IDS];
	unsigned int nr = timers_claim(&ts, events, IDS, time), done = 0;

	while (done < nr) {
		unsigned int count = timers_commit(&ts, events + done, nr - done, time);

		for (unsigned int i = 0; i < count; i++) {
			const struct twheel_event *event = &events[done + i];

			early += event->deadline > time;
			__atomic_store_n(&delivered[event->id], event->deadline, __ATOMIC_RELEASE);
			deliveries++;
		}
		/* Behind those that count is a stale one. */
		done += count + 1;
	}
}

static void *kernel(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		u64 time;

		while (__atomic_load_n(&callers, __ATOMIC_ACQUIRE))
			;
		pthread_mutex_lock(&lock);
		time = now + TICK / 4;
		__atomic_store_n(&now, time, __ATOMIC_RELEASE);
		timers_turn(&ts, time);
		timers_advance(&ts, time, WHEEL_STEP);
		deliver(time);
		__atomic_store_n(&turns, turns + 1, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* The daemon */

static u64 calls, stores;

static void call(u32 id)
{
	struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = id };
	enum timers_need need;
	u32 need_id;

	__atomic_add_fetch(&callers, 1, __ATOMIC_ACQ_REL);
	pthread_mutex_lock(&lock);
	timers_turn(&ts, now);
	if (timers_arm(&ts, &op, now, &need, &need_id))
		abort();
	pthread_mutex_unlock(&lock);
	__atomic_sub_fetch(&callers, 1, __ATOMIC_ACQ_REL);
	calls++;
}

/* Returns what was wanted before. */
static u64 want(u32 id, u64 deadline)
{
	u64 before = __atomic_exchange_n(&words[id].deadline, deadline, __ATOMIC_SEQ_CST);

	stores++;
	if (word_uncovered(deadline, __atomic_load_n(&words[id].filed, __ATOMIC_SEQ_CST)))
		call(id);
	return before;
}

static u64 time_now(void)
{
	return __atomic_load_n(&now, __ATOMIC_ACQUIRE);
}

static u64 lost, stale, races;

static void round_of_stores(void)
{
	u64 first[IDS], last[IDS], before[IDS], start = time_now(), from, aim;
	bool bare[IDS];

	for (u32 id = 0; id < IDS; id++) {
		__atomic_store_n(&delivered[id], 0, __ATOMIC_RELEASE);
		/* No two are the same, so that each event tells what it is for. */
		first[id] = start + 4 * TICK + id;
		want(id, first[id]);
	}
	/* Until just before the wheel comes to them, or while it does, or after it. */
	aim = first[0] + (rnd() % 8) * TICK / 4;
	while (time_now() < aim)
		;
	for (unsigned int i = rnd() % 64; i; i--)
		__asm__ volatile("");
	for (u32 id = 0; id < IDS; id++) {
		u64 r = rnd();

		bare[id] = r & 1;
		if (bare[id])
			__atomic_store_n(&words[id].deadline, 0, __ATOMIC_RELAXED);
		/* Later: what was promised covers it. */
		last[id] = first[id] + IDS + (r >> 1) % (3 * TICK) * IDS;
		before[id] = want(id, last[id]);
	}
	for (u32 id = 0; id < IDS; id++) {
		u64 seen, turned;

		while (time_now() < last[id])
			;
		from = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
		/* In this order: it is the wheel that has to be in time, not this thread. */
		do {
			turned = __atomic_load_n(&turns, __ATOMIC_ACQUIRE) - from;
			seen = __atomic_load_n(&delivered[id], __ATOMIC_ACQUIRE);
		} while (seen != last[id] && turned < TURNS);
		lost += seen != last[id];
		races += before[id] != first[id];
		/* Its deadline was there to be taken back, and yet it was delivered. */
		stale += !bare[id] && before[id] == first[id] && seen == first[id];
		if (seen != last[id]) {
			/* Begin anew, or it would be counted again. */
			__atomic_store_n(&words[id].deadline, 0, __ATOMIC_SEQ_CST);
			call(id);
		}
	}
}

int main(int argc, char **argv)
{
	u64 end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5), rounds = 0;
	struct twheel_word **directory;
	pthread_t thread;

	if (sched_getcpu() < 0 || sizeof(long) < 8) {
		printf("1..0 # SKIP words are stored by 64 bits at once\n");
		return 0;
	}
	timers_setup(&ts, CAPACITY, 0, 64, TICK, now);
	directory = words_directory_alloc(&ts);
	words = words_alloc();
	wheel_add_directory(&ts.wheel, wheel_directory_alloc(&ts.wheel));
	wheel_add_chunk(&ts.wheel, 0, wheel_chunk_alloc());
	while (ts.wheel.nr_levels < 3)
		wheel_add_level(&ts.wheel, wheel_level_alloc(&ts.wheel));
	words_add_directory(&ts, directory);
	words_add(&ts, 0, words);
	rnd_seed(1, 1);

	pthread_create(&thread, NULL, kernel, NULL);
	while ((u64)time(NULL) < end && lost + stale < 10) {
		round_of_stores();
		rounds++;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);

	tap(!lost, "stores beside looks: no timer lost (%llu of %llu stores)",
	    (unsigned long long)lost, (unsigned long long)stores);
	tap(!stale, "stores beside looks: no stale event (%llu)", (unsigned long long)stale);
	tap(!early, "stores beside looks: none early (%llu of %llu)",
	    (unsigned long long)early, (unsigned long long)deliveries);
	printf("# in %llu rounds %llu stores came too late, %llu of all took a call\n",
	       (unsigned long long)rounds, (unsigned long long)races, (unsigned long long)calls);
	printf("1..%u\n", tap_count);
	words_destroy(&ts);
	wheel_destroy(&ts.wheel);
	return !!tap_failed;
}
