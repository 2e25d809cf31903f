// SPDX-License-Identifier: GPL-2.0
/*
 * Stores and calls that race with looks and reads, on two real processors: one
 * thread is the kernel, which turns the wheel and reads its events, the other
 * stores deadlines as a daemon does, at the very time at which the wheel looks.
 * Far more often than a guest could: each round arms some timers, lets their tick
 * come near, and then cancels them, by store or by call, moves them, or both, with
 * no call if the promise covers it. After that each must be delivered for what was
 * asked last, in a bounded number of turns, and as often as it was told to be.
 *
 * race SECONDS	prints TAP
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "owner.h"
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
/* Taken before: calls, and commits of reads, take turns; words are exchanged without the lock. */
static pthread_mutex_t exchange = PTHREAD_MUTEX_INITIALIZER;
/* Time, and how often the wheel was turned: they stand while a call is made. */
static u64 now = 1000000, turns;
static bool stop;
/* Who is at a call, or waits to be. */
static unsigned int callers;

/* What was delivered last of each timer, and how often one was. */
static u64 delivered[IDS];
static u32 times[IDS];
static u32 generation[IDS];
static u64 deliveries, early;

/* One turn of a loop that waits for the other thread, which may have no processor. */
static void wait_for_other(void)
{
	static _Thread_local unsigned int turns_waited;

	if (!(++turns_waited % 1024))
		sched_yield();
}

/*
 * Just before the race begins, the threads pass a ball to and fro: so both have a
 * processor when they let go of it, however much else the machine has to do.
 */
#define PASSES	8U

static u64 meeting = ~0ULL;
static u32 ball;

static void meet(u32 pass)
{
	for (; pass < PASSES; pass += 2) {
		while (__atomic_load_n(&ball, __ATOMIC_ACQUIRE) != pass)
			wait_for_other();
		if (pass == PASSES - 1)
			__atomic_store_n(&meeting, ~0ULL, __ATOMIC_RELAXED);
		__atomic_store_n(&ball, pass + 1, __ATOMIC_RELEASE);
	}
}

/* The kernel */

/* Who calls goes first, which a mutex alone does not see to. */
static void lock_behind_callers(void)
{
	while (__atomic_load_n(&callers, __ATOMIC_ACQUIRE))
		wait_for_other();
	pthread_mutex_lock(&lock);
}

/* As a read does it: the lock is dropped while the claimed events are copied. */
static void deliver(u64 time)
{
	struct twheel_event events[IDS];
	unsigned int nr = timers_claim(&ts, events, IDS, time), done = 0;

	u32 claim = ts.claims;

	if (!nr)
		return;
	pthread_mutex_unlock(&lock);
	for (unsigned int i = turns % 64; i; i--)
		__asm__ volatile("");
	pthread_mutex_lock(&exchange);
	lock_behind_callers();
	while (done < nr) {
		unsigned int left = nr - done;
		unsigned int swapped = timers_held(&ts, events + done, left, claim);
		unsigned int count;

		pthread_mutex_unlock(&lock);
		swapped = words_take(&ts, events + done, swapped);
		lock_behind_callers();
		count = timers_commit(&ts, events + done, left, swapped, claim, time);

		for (unsigned int i = 0; i < count; i++) {
			const struct twheel_event *event = &events[done + i];

			early += event->deadline > time;
			__atomic_add_fetch(&times[event->id], 1, __ATOMIC_RELAXED);
			__atomic_store_n(&generation[event->id], event->generation,
					 __ATOMIC_RELEASE);
			__atomic_store_n(&delivered[event->id], event->deadline, __ATOMIC_RELEASE);
			deliveries++;
		}
		/* Behind those that count is a stale one. */
		done += count + 1;
	}
	pthread_mutex_unlock(&exchange);
}

static void *kernel(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		u64 time;

		if (now >= __atomic_load_n(&meeting, __ATOMIC_ACQUIRE))
			meet(1);
		lock_behind_callers();
		time = now + TICK / 4;
		__atomic_store_n(&now, time, __ATOMIC_RELEASE);
		timers_set_time(&ts, time);
		timers_advance(&ts, time, WHEEL_STEP);
		deliver(time);
		__atomic_store_n(&turns, turns + 1, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* The daemon */

static u64 calls, stores, cancels;

static void call_begins(void)
{
	__atomic_add_fetch(&callers, 1, __ATOMIC_ACQ_REL);
	pthread_mutex_lock(&lock);
}

static void call_ends(void)
{
	pthread_mutex_unlock(&lock);
	__atomic_sub_fetch(&callers, 1, __ATOMIC_ACQ_REL);
}

static void call(u32 id)
{
	struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = id };

	pthread_mutex_lock(&exchange);
	call_begins();
	if (owner_arm(&ts, &op, now))
		abort();
	call_ends();
	pthread_mutex_unlock(&exchange);
	calls++;
}

/* An arm or a cancel in two halves; returns how often the timer was delivered until then. */
static u32 call_by_value(struct twheel_op *op)
{
	struct timers_need need = {};
	int ret;
	u32 until;

	pthread_mutex_lock(&exchange);
	for (;;) {
		call_begins();
		ret = op->opcode == TWHEEL_OP_ARM ? timers_arm(&ts, op, now, &need) :
						    timers_cancel(&ts, op, &need);
		until = __atomic_load_n(&times[op->id], __ATOMIC_RELAXED);
		call_ends();
		if (!ret)
			break;
		if (ret != -EAGAIN || need.what != TIMERS_NEED_WORD)
			abort();
		words_exchange(&ts, &need);
	}
	pthread_mutex_unlock(&exchange);
	return until;
}

/* Arm a timer by call; returns how often it was delivered until then. */
static u32 arm(u32 id, u64 deadline, u32 *begun)
{
	struct twheel_op op = { .id = id, .deadline = deadline, .opcode = TWHEEL_OP_ARM };
	u32 until = call_by_value(&op);

	*begun = op.generation;
	calls++;
	return until;
}

/* Returns how often it was delivered until then. */
static u32 cancel(u32 id, bool *armed)
{
	struct twheel_op op = { .id = id, .opcode = TWHEEL_OP_CANCEL };
	u32 until = call_by_value(&op);

	*armed = op.state == TWHEEL_STATE_PENDING || op.state == TWHEEL_STATE_EXPIRED;
	cancels++;
	return until;
}

/* Returns what was wanted before. */
static u64 want(u32 id, u64 deadline)
{
	u64 before = __atomic_exchange_n(&words[id].deadline, deadline, __ATOMIC_SEQ_CST);

	stores++;
	if (word_uncovered(deadline, __atomic_load_n(&words[id].promise, __ATOMIC_SEQ_CST)))
		call(id);
	return before;
}

static u64 time_now(void)
{
	return __atomic_load_n(&now, __ATOMIC_ACQUIRE);
}

static u64 lost, stale, untrue, races;

static void round_of_stores(void)
{
	u64 first[IDS], last[IDS], start = time_now(), from, aim;
	u32 least[IDS], most[IDS], begun[IDS];

	/* Just before the wheel comes to the first of them, or while it does, or after it. */
	aim = start + 4 * TICK + (rnd() % 8) * TICK / 4;
	__atomic_store_n(&ball, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&meeting, aim, __ATOMIC_RELEASE);
	for (u32 id = 0; id < IDS; id++) {
		__atomic_store_n(&times[id], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&delivered[id], 0, __ATOMIC_RELEASE);
		/* No two are the same, so that each event tells what it is for. */
		first[id] = start + 4 * TICK + id;
		want(id, first[id]);
	}
	meet(0);
	for (unsigned int i = rnd() % 64; i; i--)
		__asm__ volatile("");
	for (u32 id = 0; id < IDS; id++) {
		u64 r = rnd(), before;
		u32 until = 0;
		bool armed;

		begun[id] = 0;
		/* Armed again for the same time: an event that is on its way is stale. */
		if (r % 4 == 3) {
			last[id] = first[id];
			least[id] = 1 + arm(id, last[id], &begun[id]);
			most[id] = least[id];
			continue;
		}
		switch (r % 4) {
		case 0:
			__atomic_store_n(&words[id].deadline, 0, __ATOMIC_RELAXED);
			break;
		case 1:
			until = cancel(id, &armed);
			untrue += armed != !until;
			break;
		}
		/* Later: what was promised covers it. */
		last[id] = first[id] + IDS + r / 4 % (3 * TICK) * IDS;
		before = want(id, last[id]);
		races += before != first[id];

		/* The last one, and the first if it was not there to be taken back. */
		least[id] = 1 + (r % 4 == 1 ? until : r % 4 == 2 && before != first[id]);
		/* Who cancels with a store does not learn whether that was in time. */
		most[id] = r % 4 ? least[id] : 2;
	}
	for (u32 id = 0; id < IDS; id++) {
		u64 seen, turned;
		u32 n;

		while (time_now() < last[id])
			wait_for_other();
		from = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
		/* In this order: it is the wheel that has to be in time, not this thread. */
		do {
			wait_for_other();
			turned = __atomic_load_n(&turns, __ATOMIC_ACQUIRE) - from;
			seen = __atomic_load_n(&delivered[id], __ATOMIC_ACQUIRE);
			if (begun[id] &&
			    begun[id] != __atomic_load_n(&generation[id], __ATOMIC_ACQUIRE))
				seen = 0;
		} while (seen != last[id] && turned < TURNS);
		n = __atomic_load_n(&times[id], __ATOMIC_RELAXED);
		lost += seen != last[id] || n < least[id];
		stale += n > most[id];
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
	pthread_t thread;

	if (sched_getcpu() < 0 || sizeof(long) < 8) {
		printf("1..0 # SKIP words are stored by 64 bits at once\n");
		return 0;
	}
	timers_setup(&ts, CAPACITY, 0, 64, TICK, now);
	if (!owner_add_chunks(&ts.wheel) || !owner_add_levels(&ts.wheel, 3) ||
	    !owner_add_words(&ts, 0))
		abort();
	words = ts.word[0];
	rnd_seed(1, 1);

	pthread_create(&thread, NULL, kernel, NULL);
	while ((u64)time(NULL) < end && lost + stale + untrue < 10) {
		round_of_stores();
		rounds++;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);

	tap(!lost, "stores beside looks: no timer lost (%llu of %llu stores)",
	    (unsigned long long)lost, (unsigned long long)stores);
	tap(!stale, "stores beside looks: no stale event (%llu)", (unsigned long long)stale);
	tap(!untrue, "stores beside looks: a cancel tells what it found (%llu of %llu wrong)",
	    (unsigned long long)untrue, (unsigned long long)cancels);
	tap(!early, "stores beside looks: none early (%llu of %llu)",
	    (unsigned long long)early, (unsigned long long)deliveries);
	printf("# in %llu rounds %llu stores came too late, %llu of all took a call\n",
	       (unsigned long long)rounds, (unsigned long long)races, (unsigned long long)calls);
	printf("1..%u\n", tap_count);
	timers_destroy(&ts);
	return !!tap_failed;
}
