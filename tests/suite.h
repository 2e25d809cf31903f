/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites share: a wheel, or timers, of a test's own, and what each case
 * does with them. In user space and in the kernel.
 */
#ifndef TWHEEL_TESTS_SUITE_H
#define TWHEEL_TESTS_SUITE_H

#include "owner.h"

/* ns */
#define MSEC		1000000ULL

/* Ids of a wheel under test. */
#define CAPACITY	4096U

/* Timers that can be brought down in one tick, as the wheel is told. */
#define RATE		50

/* Whoever loops as often as that, loops for ever. */
#define ENDLESS		1000000U

/**
 * struct fixture - what a case of a suite works on
 * @ts: the timers; their wheel alone, in a case about the wheel
 * @now: ns; the time of @ts
 * @used: there is something to destroy
 * @tick: ticks or ids, as a case needs them
 */
struct fixture {
	struct timers	ts;
	u64		now;
	bool		used;
	u64		tick[CAPACITY];
};

static int suite_init(struct kunit *test)
{
	struct fixture *f = kvzalloc(sizeof(*f), GFP_KERNEL);

	test->priv = f;
	return f ? 0 : -ENOMEM;
}

static void suite_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (!f)
		return;
	if (f->used)
		timers_destroy(&f->ts);
	kvfree(f);
	test->priv = NULL;
}

/* The wheel alone */

/* An empty wheel that brings @rate timers down in a tick; the earlier one of this case is gone. */
static struct wheel *wheel_start(struct kunit *test, unsigned int levels,
				 unsigned int slots, u64 rate, u64 now)
{
	struct fixture *f = test->priv;

	if (f->used)
		timers_destroy(&f->ts);
	wheel_init(&f->ts.wheel, CAPACITY, levels, slots, WHEEL_COST_ONE / rate, now, owner_look);
	f->used = true;
	cond_resched();
	return &f->ts.wheel;
}

/* File a timer, or move it. */
static void file(struct kunit *test, struct wheel *w, u32 id, u64 expiry)
{
	KUNIT_ASSERT_TRUE(test, owner_file(w, id, expiry));
}

/* Let time pass up to a tick, in as many steps as it takes; what is due now? */
static u32 advance_to(struct kunit *test, struct wheel *w, u64 now)
{
	u32 steps = 0;

	while (wheel_advance(w, now, WHEEL_STEP) == WHEEL_STEP) {
		KUNIT_ASSERT_LT(test, steps, ENDLESS);
		steps++;
	}
	return wheel_queue(w, WHEEL_DUE)->count;
}

/* The timer that came due first, or WHEEL_NIL. */
static u32 take(struct wheel *w)
{
	u32 id;

	if (!wheel_take_due(w, &id, 1, 0))
		return WHEEL_NIL;
	wheel_unlink(w, id);
	return id;
}

/**
 * struct span - where a timer is filed
 * @level: of its slot; WHEEL_NIL, if it is not filed
 * @from: first tick of the slot
 * @to: first tick behind it
 */
struct span {
	u32	level;
	u64	from;
	u64	to;
};

static bool in_slot(const struct wheel *w, const struct wheel_slot *slot, u32 id)
{
	u32 at = slot->tail;
	u64 entry;

	while (owner_entry(w, &at, &entry))
		if (entry_id(entry) == id && owner_own(w, entry))
			return true;
	return false;
}

/* Looks into each slot, so it need not know how a timer finds its own. */
static struct span find_filed(const struct wheel *w, u32 id)
{
	for (u32 l = 0; l < w->nr_levels; l++) {
		const struct wheel_level *level = &w->level[l];

		for (u32 place = 0; place <= w->mask; place++) {
			u64 number = level->hand + ((place - level->hand) & w->mask);

			if (test_bit(place, level->map) &&
			    in_slot(w, &level->slot[place], id))
				return (struct span){ l, number << level->shift,
						      (number + 1) << level->shift };
		}
	}
	return (struct span){ WHEEL_NIL, 0, 0 };
}

/* Timers, with the time of their clock */

static struct timers *timers_start(struct kunit *test, unsigned int levels,
				   unsigned int slots, u64 tick, u64 now)
{
	struct fixture *f = test->priv;

	if (f->used)
		timers_destroy(&f->ts);
	timers_setup(&f->ts, CAPACITY, levels, slots, tick, now);
	f->now = now;
	f->used = true;
	cond_resched();
	return &f->ts;
}

static int arm_op(struct kunit *test, struct twheel_op *op)
{
	struct fixture *f = test->priv;

	return owner_arm(&f->ts, op, f->now);
}

/* Arm one that must succeed; returns its generation. */
static u32 arm(struct kunit *test, u32 id, u64 deadline)
{
	struct twheel_op op = { .id = id, .deadline = deadline, .cookie = id };

	KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
	return op.generation;
}

static u32 arm_periodic(struct kunit *test, u32 id, u64 deadline, u64 interval)
{
	struct twheel_op op = { .id = id, .deadline = deadline, .interval = interval };

	KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
	return op.generation;
}

/* Cancel one; returns the state that was found. */
static u32 cancel(struct kunit *test, u32 id)
{
	struct fixture *f = test->priv;
	struct twheel_op op = { .id = id };

	timers_set_time(&f->ts, f->now);
	KUNIT_ASSERT_EQ(test, owner_cancel(&f->ts, &op), 0);
	return op.state;
}

/* Let time pass up to a moment; how many events wait now? */
static u32 pass_to(struct kunit *test, u64 now)
{
	struct fixture *f = test->priv;
	u32 steps = 0;

	f->now = now;
	while (timers_advance(&f->ts, now, WHEEL_STEP) == WHEEL_STEP) {
		KUNIT_ASSERT_LT(test, steps, ENDLESS);
		steps++;
	}
	return timers_queued(&f->ts);
}

/* Read one event; false if there is none. */
static bool read_one(struct kunit *test, struct twheel_event *event)
{
	struct fixture *f = test->priv;

	return owner_read(&f->ts, event, f->now);
}

/* Of which timer is the next event? WHEEL_NIL: there is none. */
static u32 read_id(struct kunit *test)
{
	struct twheel_event event;

	return read_one(test, &event) ? event.id : WHEEL_NIL;
}

#endif /* TWHEEL_TESTS_SUITE_H */
