// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads that arm and cancel, one that takes the events, and time that goes on by
 * itself, on a simulated kernel.  Every arming has a number of its own, which is in
 * its deadline: so it is known of each whether it was delivered, and must have been.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "kernel.h"
#include "tap.h"
#include "twheel.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* ns; the lower bits of a deadline are for the number. */
#define UNIT			(1ULL << 20)
#define OWNERS			3U
#define IDS			8U
#define STEPS			20000U
#define CAPACITY		(OWNERS * IDS)

/* The fate of an arming. */
enum fate {
	FATE_OPEN,
	/* A cancel has found it armed. */
	FATE_CANCELLED,
	/* A cancel has found it gone, or nobody has undone it. */
	FATE_EXPIRED,
};

static struct {
	uint8_t		fate;
	uint8_t		delivered;
	/* That its events must have. */
	uint32_t	cookie;
	uint64_t	deadline;
} armings[OWNERS * STEPS + 1];

/*
 * struct owner - who alone arms these timers
 * @first: of its ids
 * @next: number for an arming
 * @armed: of each id, the number of its arming; 0: it was cancelled
 * @cookie: of each id
 */
struct owner {
	struct twheel	*w;
	uint32_t	first;
	uint32_t	next;
	uint64_t	random;
	uint32_t	armed[IDS];
	uint32_t	cookie[IDS];
};

/* How often the taker has found no more. */
static unsigned int rounds;
static unsigned int owners_left;
static bool stop;

static uint32_t random_below(struct owner *o, uint32_t end)
{
	o->random = o->random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((o->random >> 33) % end);
}

static void own(struct owner *o, struct twheel *w, uint32_t nr)
{
	*o = (struct owner){
		.w = w, .first = nr * IDS, .next = nr * STEPS + 1, .random = nr + 1,
	};
}

/* A timer was cancelled, or has been found gone. */
static void settle(struct owner *o, uint32_t i, int state)
{
	CHECK(state >= 0);
	if (o->armed[i])
		armings[o->armed[i]].fate = state ? FATE_CANCELLED : FATE_EXPIRED;
	else
		CHECK(state == TWHEEL_STATE_IDLE);
	o->armed[i] = 0;
}

/* In any way that there is; @extend: by the taker of the event. */
static void arm(struct owner *o, uint32_t i, uint64_t time, bool extend)
{
	uint32_t nr = o->next++, id = o->first + i;
	uint64_t deadline = time / UNIT * UNIT | nr;
	struct twheel_arming arming = { .deadline = deadline, .cookie = nr };

	armings[nr].deadline = deadline;
	if (!random_below(o, 4)) {
		/* Then the event must have this cookie and no other. */
		o->cookie[i] = nr;
		armings[nr].cookie = nr;
		CHECK(twheel_arm_with(o->w, id, &arming) == 0);
	} else {
		armings[nr].cookie = o->cookie[i];
		CHECK((extend ? twheel_extend : twheel_arm)(o->w, id, deadline) == 0);
	}
	o->armed[i] = nr;
}

static void step(struct owner *o, bool extend)
{
	uint32_t i = random_below(o, IDS);

	switch (random_below(o, 8)) {
	case 0:
		twheel_cancel(o->w, o->first + i);
		o->armed[i] = 0;
		break;
	case 1 ... 2:
		settle(o, i, twheel_cancel_tell(o->w, o->first + i));
		break;
	default:
		arm(o, i, twheel_now(o->w) + random_below(o, 6) * UNIT, extend);
		break;
	}
}

/* Cancel a timer when its event is just about to be taken. */
static void race(struct owner *o)
{
	uint32_t i = random_below(o, IDS);

	arm(o, i, twheel_now(o->w) - UNIT, false);
	twheel_flush(o->w);
	for (unsigned int n = random_below(o, 400); n; n--)
		kernel_now();
	settle(o, i, twheel_cancel_tell(o->w, o->first + i));
}

/* See that a timer comes, though others are armed and taken at the same time. */
static void await(struct owner *o)
{
	uint32_t i = random_below(o, IDS), nr = o->armed[i];
	unsigned int round;

	if (!nr)
		return;
	twheel_flush(o->w);
	while (kernel_now() < (armings[nr].deadline | (UNIT - 1)) + UNIT)
		sched_yield();
	round = __atomic_load_n(&rounds, __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&rounds, __ATOMIC_ACQUIRE) - round < 2)
		sched_yield();
	CHECK(__atomic_load_n(&armings[nr].delivered, __ATOMIC_ACQUIRE));
}

static void *run_owner(void *arg)
{
	struct owner *o = arg;

	while (o->next % STEPS) {
		step(o, false);
		if (o->next % STEPS && !random_below(o, 4))
			race(o);
		if (!random_below(o, 32))
			await(o);
	}
	twheel_flush(o->w);
	__atomic_fetch_sub(&owners_left, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *run_time(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		kernel_advance(UNIT / 2);
		sched_yield();
	}
	return NULL;
}

/* All that there are.  @o: who takes them, and has timers too. */
static void take(struct owner *o)
{
	struct twheel_event events[16];
	int taken;

	do {
		taken = twheel_wait(o->w, events, ARRAY_SIZE(events), 0);
		CHECK(taken >= 0);
		for (int n = 0; n < taken; n++) {
			uint32_t nr = events[n].deadline % UNIT;
			uint32_t i = events[n].id - o->first;

			CHECK(events[n].id < CAPACITY);
			CHECK(events[n].deadline <= kernel_now());
			CHECK(nr && nr < ARRAY_SIZE(armings) && !armings[nr].delivered);
			CHECK(events[n].cookie == armings[nr].cookie);
			__atomic_store_n(&armings[nr].delivered, true, __ATOMIC_RELEASE);
			if (i >= IDS)
				continue;
			/* Of its own timers it knows better. */
			CHECK(o->armed[i] == nr);
			o->armed[i] = 0;
		}
	} while (taken > 0);
	__atomic_fetch_add(&rounds, 1, __ATOMIC_RELEASE);
}

static void verdict(void)
{
	unsigned int lost = 0, stale = 0;

	for (uint32_t nr = 1; nr < ARRAY_SIZE(armings); nr++) {
		lost += armings[nr].fate == FATE_EXPIRED && !armings[nr].delivered;
		stale += armings[nr].fate == FATE_CANCELLED && armings[nr].delivered;
	}
	CHECK(lost == 0);
	CHECK(stale == 0);
}

static void test(const char *name, uint64_t features, uint32_t flags)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = flags,
		.capacity = CAPACITY,
	};
	pthread_t threads[OWNERS - 1], time;
	struct owner owners[OWNERS];
	struct twheel *w;

	memset(armings, 0, sizeof(armings));
	stop = false;
	owners_left = OWNERS - 1;
	kernel_boot(features);
	kernel.threads = true;
	CHECK(twheel_open(&w, &options) == 0);
	for (uint32_t nr = 0; nr < OWNERS; nr++)
		own(&owners[nr], w, nr);
	pthread_create(&time, NULL, run_time, NULL);
	for (uint32_t nr = 1; nr < OWNERS; nr++)
		pthread_create(&threads[nr - 1], NULL, run_owner, &owners[nr]);
	while (__atomic_load_n(&owners_left, __ATOMIC_ACQUIRE)) {
		if (owners[0].next % STEPS && !random_below(&owners[0], 4))
			step(&owners[0], true);
		take(&owners[0]);
	}
	for (uint32_t nr = 1; nr < OWNERS; nr++)
		pthread_join(threads[nr - 1], NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(time, NULL);

	kernel_advance(10 * UNIT);
	take(&owners[0]);
	for (uint32_t nr = 1; nr < OWNERS; nr++)
		for (uint32_t i = 0; i < IDS; i++)
			armings[owners[nr].armed[i]].fate = FATE_EXPIRED;
	for (uint32_t i = 0; i < IDS; i++)
		CHECK(!owners[0].armed[i]);
	armings[0].fate = FATE_OPEN;
	verdict();
	twheel_close(w);
	tap_result("%s: %u threads, none lost, none stale, no other's cookie", name, OWNERS);
}

static void *open_and_close(void *options)
{
	struct twheel *w;

	for (unsigned int i = 0; i < 500; i++) {
		CHECK(twheel_open(&w, options) == 0);
		twheel_close(w);
	}
	return NULL;
}

static void handles(uint32_t flags)
{
	struct twheel_options options = {
		.size = sizeof(options), .flags = flags, .capacity = CAPACITY,
	};
	pthread_t threads[OWNERS];

	kernel_boot(0);
	for (unsigned int i = 0; i < OWNERS; i++)
		pthread_create(&threads[i], NULL, open_and_close, &options);
	for (unsigned int i = 0; i < OWNERS; i++)
		pthread_join(threads[i], NULL);
	tap_result("%u threads, each with handles of its own%s", OWNERS,
		   flags & TWHEEL_OPEN_FALLBACK ? ", in the process" : "");
}

int main(void)
{
	test("words", TWHEEL_FEATURE_WORDS, 0);
	test("words, batch", TWHEEL_FEATURE_WORDS, TWHEEL_OPEN_BATCH);
	test("calls", 0, 0);
	test("fallback", 0, TWHEEL_OPEN_FALLBACK);
	test("fallback, batch", 0, TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_BATCH);
	test("fallback, calls", 0, TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_NO_WORDS);
	handles(0);
	handles(TWHEEL_OPEN_FALLBACK);
	return tap_end();
}
