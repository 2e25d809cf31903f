// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the wheel, which need neither the device nor a clock. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "wheel.h"

#define TIMERS	4096U
/* Where the wheels start: next to the end of slots of several levels. */
#define START	((3ULL << 30) - 2)
/* A tick is enough to bring 32 timers down. */
#define COST	(WHEEL_COST_ONE / 32)

static void wheel_test_look(struct wheel *w, struct wheel_batch *batch)
{
	for (unsigned int i = 0; i < batch->nr; i++)
		batch->tick[i] = batch->timer[i]->deadline;
}

static int wheel_test_init(struct kunit *test)
{
	struct wheel *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	void *memory;

	KUNIT_ASSERT_NOT_NULL(test, w);
	test->priv = w;
	wheel_init(w, TIMERS, COST, START, wheel_test_look);
	memory = kvzalloc(wheel_directory_bytes(w), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	wheel_add_directory(w, memory);
	for (u32 id = 0; id < TIMERS; id += WHEEL_CHUNK_TIMERS) {
		memory = kzalloc(WHEEL_PAGE_SIZE, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, memory);
		wheel_add_chunk(w, id, memory, NULL);
	}
	while (w->nr_pages < wheel_max_pages(w)) {
		memory = kzalloc(WHEEL_PAGE_SIZE, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, memory);
		wheel_add_blocks(w, memory);
	}
	return 0;
}

static void wheel_test_exit(struct kunit *test)
{
	if (test->priv)
		wheel_destroy(test->priv);
}

static void arm(struct wheel *w, u32 id, u64 tick)
{
	while (wheel_full(w))
		wheel_sift(w, WHEEL_STEP);
	wheel_timer(w, id)->deadline = tick;
	wheel_file(w, id, tick);
}

/* Take the timers that were found due; return how many. */
static unsigned int take(struct kunit *test, u64 now)
{
	struct wheel *w = test->priv;
	unsigned int nr, due = 0;
	u32 ids[WHEEL_STEP];

	while ((nr = wheel_take_due(w, ids, WHEEL_STEP, 1))) {
		for (unsigned int i = 0; i < nr; i++) {
			struct timer *t = wheel_timer(w, ids[i]);

			KUNIT_ASSERT_NE(test, t->deadline, 0);
			KUNIT_ASSERT_LE(test, t->deadline, now);
			wheel_give_up(w, t);
			t->deadline = 0;
		}
		due += nr;
	}
	return due;
}

/* Turn the wheel to a tick, in steps; return how many timers came due. */
static unsigned int turn(struct kunit *test, u64 now)
{
	unsigned int done, due = 0;

	do {
		done = wheel_advance(test->priv, now, WHEEL_STEP);
		KUNIT_ASSERT_LE(test, done, WHEEL_STEP);
		due += take(test, now);
	} while (done == WHEEL_STEP);
	return due;
}

/* A lone timer is due at its tick, and costs one wake-up, however far off it is. */
static void wheel_test_exact(struct kunit *test)
{
	struct wheel *w = test->priv;
	u64 now = START;

	for (unsigned int bit = 0; bit < 36; bit++)
		for (int around = -1; around <= 1; around++) {
			u64 tick = now + max((1LL << bit) + around, 1LL);

			arm(w, bit, tick);
			KUNIT_ASSERT_EQ(test, wheel_next(w), tick);
			KUNIT_ASSERT_EQ(test, turn(test, tick - 1), 0);
			KUNIT_ASSERT_EQ(test, wheel_next(w), tick);
			KUNIT_ASSERT_EQ(test, turn(test, tick), 1);
			KUNIT_ASSERT_EQ(test, wheel_next(w), WHEEL_NEVER);
			now = tick;
		}
}

/* A full slot comes down in steps, ahead of its first deadline, and delays no other timer. */
static void wheel_test_heavy(struct kunit *test)
{
	struct wheel *w = test->priv;
	const u64 full = START + 5000;
	unsigned int due;

	for (u32 id = 1; id < TIMERS; id++)
		arm(w, id, full);
	arm(w, 0, full - 1);
	for (u64 now = START + 1; now < full - 1; now++) {
		KUNIT_ASSERT_LE(test, wheel_advance(w, now, WHEEL_STEP), WHEEL_STEP);
		KUNIT_ASSERT_EQ(test, w->due.count, 0);
	}
	/* The first step has the timer that is due, and all others are down. */
	wheel_advance(w, full - 1, WHEEL_STEP);
	KUNIT_ASSERT_EQ(test, w->due.count, 1);
	for (unsigned int l = 1; l < WHEEL_LEVELS; l++)
		KUNIT_ASSERT_EQ(test, w->level[l].used, 0);
	due = turn(test, full - 1);
	KUNIT_ASSERT_EQ(test, due + turn(test, full), TIMERS);
}

/* Stale entries are dropped, also if several have the tick of their timer. */
static void wheel_test_stale(struct kunit *test)
{
	struct wheel *w = test->priv;

	for (u64 n = 0; n < 20; n++)
		for (u32 id = 0; id < TIMERS; id++)
			arm(w, id, START + 1000000 - 1000 * n - id % 7);
	KUNIT_ASSERT_LE(test, w->entries, w->room);
	KUNIT_ASSERT_EQ(test, turn(test, START + 1000000 - 19000 - 7), 0);
	KUNIT_ASSERT_EQ(test, turn(test, START + 1000000), TIMERS);

	for (u32 id = 0; id < WHEEL_STEP; id++) {
		arm(w, id, START + 1100000);
		arm(w, id, START + 1050000);
		arm(w, id, START + 1100000);
	}
	KUNIT_ASSERT_EQ(test, turn(test, START + 1050000), 0);
	KUNIT_ASSERT_EQ(test, w->entries, 2 * WHEEL_STEP);
	while (w->entries > WHEEL_STEP)
		KUNIT_ASSERT_NE(test, wheel_sift(w, WHEEL_STEP), 0);
	KUNIT_ASSERT_EQ(test, w->filed, WHEEL_STEP);
	KUNIT_ASSERT_EQ(test, turn(test, START + 1100000), WHEEL_STEP);
}

/* Random programs, whose steps come late, beside a plain list of ticks. */
static void wheel_test_random(struct kunit *test)
{
	u64 *list = kunit_kcalloc(test, TIMERS, sizeof(*list), GFP_KERNEL);
	struct wheel *w = test->priv;
	struct rnd_state rnd;
	u64 now = START;

	KUNIT_ASSERT_NOT_NULL(test, list);
	prandom_seed_state(&rnd, 1);
	for (unsigned int round = 0; round < 5000; round++) {
		bool all = prandom_u32_state(&rnd) % 4 == 0;
		u64 full = w->at + 1 + (prandom_u32_state(&rnd) >> 16);

		/* Now and then many are due at about the same time. */
		for (unsigned int n = prandom_u32_state(&rnd) % (round % 32 ? 100 : 3000); n; n--) {
			u32 id = prandom_u32_state(&rnd) % TIMERS;

			list[id] = 0;
			wheel_unlink(w, id);
			wheel_timer(w, id)->deadline = 0;
			if (prandom_u32_state(&rnd) % 4 == 0)
				continue;
			list[id] = round % 32 ? w->at + 1 + (prandom_u32_state(&rnd) >>
							     prandom_u32_state(&rnd) % 32)
					      : full + prandom_u32_state(&rnd) % 128;
			arm(w, id, list[id]);
		}
		now += 1 + (prandom_u32_state(&rnd) >> (16 + prandom_u32_state(&rnd) % 16));
		if (all)
			turn(test, now);
		else
			wheel_advance(w, now, 1 + prandom_u32_state(&rnd) % WHEEL_STEP);
		take(test, now);
		for (u32 id = 0; id < TIMERS; id++) {
			u64 left = wheel_timer(w, id)->deadline;

			/* It was delivered, or still is to come. */
			KUNIT_ASSERT_EQ(test, left, left || list[id] > now ? list[id] : 0);
			KUNIT_ASSERT_FALSE(test, all && left && left <= now);
			list[id] = left;
		}
	}
}

static struct kunit_case wheel_test_cases[] = {
	KUNIT_CASE(wheel_test_exact),
	KUNIT_CASE(wheel_test_heavy),
	KUNIT_CASE(wheel_test_stale),
	KUNIT_CASE(wheel_test_random),
	{}
};

static struct kunit_suite wheel_test_suite = {
	.name		= "twheel_wheel",
	.init		= wheel_test_init,
	.exit		= wheel_test_exit,
	.test_cases	= wheel_test_cases,
};

kunit_test_suite(wheel_test_suite);
