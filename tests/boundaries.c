// SPDX-License-Identifier: GPL-2.0
/*
 * Every boundary of every level, from both sides.
 *
 * A wheel goes wrong where one of its slots ends, a level begins, a hand comes
 * round, or a ring is full: at the multiples of the powers of its slots. So the
 * timers here expire on such ticks, one before and one behind, counted from the
 * hand and from tick 0, on wheels that start on such ticks, one before and one
 * behind. Each must be due at its tick, and not at the tick before.
 *
 * Included by kunit.c.
 */

/* Ticks further off would only overflow the sums of a test. */
#define FURTHEST	0x2000000000000000ULL

/**
 * struct shape - what a wheel looks like
 * @name: as the results tell it
 * @levels: as wheel_init() takes them
 * @slots: a power of two
 * @bits: its log2
 */
struct shape {
	const char	*name;
	unsigned int	levels, slots, bits;
};

static const struct shape shapes[] = {
	{ "7 levels of 64 slots, the default",	0,	64,	6 },
	{ "16 levels of 4 slots",		16,	4,	2 },
	{ "4 levels of 256 slots",		4,	256,	8 },
	{ "3 levels of 16 slots",		3,	16,	4 },
	{ "2 levels of 4096 slots",		2,	4096,	12 },
	{ "1 level of 4 slots, with rounds",	1,	4,	2 },
	{ "1 level of 64 slots, with rounds",	1,	64,	6 },
};

static void shape_desc(const struct shape *shape, char *desc)
{
	strcpy(desc, shape->name);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_desc);

static struct wheel *shape_start(struct kunit *test, u64 now)
{
	const struct shape *shape = test->param_value;

	return wheel_start(test, shape->levels, shape->slots, RATE, now);
}

/* The same at @now, but with all levels, and got there by one jump. */
static struct wheel *shape_jump(struct kunit *test, u64 now)
{
	struct wheel *w = shape_start(test, 0);

	KUNIT_ASSERT_TRUE(test, owner_add_levels(w, w->max_levels));
	KUNIT_ASSERT_EQ(test, advance_to(test, w, now), 0);
	return w;
}

/* The last level with boundaries to try: beyond the top, timers go round. */
static unsigned int last_level(const struct shape *shape)
{
	unsigned int last = min(60 / shape->bits, 14U);

	return shape->levels ? min(last, shape->levels + 1) : last;
}

/* Insert a tick into a sorted array, unless it is there; returns the length. */
static u32 insert(u64 *ticks, u32 nr, u64 tick)
{
	u32 at = nr;

	while (at && ticks[at - 1] > tick)
		at--;
	if (at && ticks[at - 1] == tick)
		return nr;
	memmove(&ticks[at + 1], &ticks[at], (nr - at) * sizeof(*ticks));
	ticks[at] = tick;
	return nr + 1;
}

/* Around a boundary: the ticks on it and beside it that are still to come. */
static u32 insert_around(u64 *ticks, u32 nr, u64 now, u64 boundary)
{
	for (int beside = -1; beside <= 1; beside++)
		if (boundary + beside > now && boundary < FURTHEST &&
		    boundary - now < WHEEL_HORIZON)
			nr = insert(ticks, nr, boundary + beside);
	return nr;
}

/*
 * All boundaries ahead of a tick, up to the horizon, in order: the next ones of each level, the
 * end of one turn of it and of two (where its ring ends), counted from the
 * tick itself and from the last boundary before it.
 */
static u32 boundaries(const struct shape *shape, u64 now, u64 *ticks)
{
	const u64 slots = shape->slots;
	const u64 numbers[] = { 1, 2, slots - 1, slots, slots + 1, 2 * slots - 1,
				2 * slots };
	u32 nr = 0;

	for (unsigned int l = 0; l <= last_level(shape); l++) {
		unsigned int shift = l * shape->bits;

		for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
			if (numbers[i] >= FURTHEST >> shift)
				continue;
			nr = insert_around(ticks, nr, now, now + (numbers[i] << shift));
			nr = insert_around(ticks, nr, now,
					   ((now >> shift) + numbers[i]) << shift);
		}
	}
	return nr;
}

/* Ticks to start from: on and beside boundaries, and somewhere; 0 ends them. */
static u64 start_tick(const struct shape *shape, unsigned int which)
{
	unsigned int l = (which - 2) / 3;

	if (!which)
		return 1;
	if (which == 1)
		return 1234567890123456789ULL >> 8;
	if (l > last_level(shape))
		return 0;
	/* The third slot, so that two turns back is not before tick 0. */
	return (3ULL << l * shape->bits) + which % 3 - 1;
}

#define for_each_start(shape, which, from)					\
	for ((which) = 0; ((from) = start_tick(shape, which)); (which)++)

/* One timer, alone on a wheel that has been turned to a tick. */
static void lone(struct kunit *test, struct wheel *w, u64 from, u64 tick)
{
	u64 moves = w->moves;

	file(test, w, 7, tick);
	/* Looked at once, when it is due: a lone timer costs one wake-up. */
	KUNIT_ASSERT_EQ(test, wheel_next(w), tick);
	for (u64 left = (tick - from) / 2; left; left /= 2) {
		KUNIT_ASSERT_EQ_MSG(test, advance_to(test, w, tick - left), 0,
				    "from %llu, tick %llu, %llu left", (unsigned long long)from,
				    (unsigned long long)tick, (unsigned long long)left);
		KUNIT_ASSERT_EQ(test, wheel_next(w), tick);
	}
	KUNIT_ASSERT_EQ(test, w->moves, moves);
	KUNIT_ASSERT_EQ_MSG(test, advance_to(test, w, tick), 1, "from %llu, tick %llu",
			    (unsigned long long)from, (unsigned long long)tick);
	KUNIT_ASSERT_EQ(test, take(w), 7);
	KUNIT_ASSERT_EQ(test, w->filed, 0);
	KUNIT_ASSERT_EQ(test, wheel_next(w), WHEEL_NEVER);
}

/*
 * The ring of a level reaches two turns less one slot, and not a tick further:
 * so many slots from the hand a timer is on the level, behind them on the next.
 */
static void rings_reach_two_turns(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	unsigned int which;
	u64 from;

	for_each_start(shape, which, from) {
		for (u32 l = 0; l < last_level(shape); l++) {
			unsigned int shift = l * shape->bits;
			u64 end = ((from >> shift) + 2 * shape->slots) << shift;
			struct wheel *w;

			if (shape->levels && l >= shape->levels)
				break;
			if (end - from >= WHEEL_HORIZON || end >= FURTHEST)
				break;
			w = which % 2 ? shape_start(test, from) : shape_jump(test, from);
			file(test, w, 0, end - 1);
			file(test, w, 1, end);
			KUNIT_ASSERT_EQ(test, find_filed(w, 0).level, l);
			KUNIT_ASSERT_EQ(test, find_filed(w, 0).to, end);
			/* On the top level it has to go round. */
			KUNIT_ASSERT_EQ(test, find_filed(w, 1).level,
					l + 1 == shape->levels ? l : l + 1);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, end - 1), 1);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, end), 2);
		}
	}
}

/* A timer beyond the horizon is looked at there, and again a horizon further on. */
static void lone_timer_beyond_the_horizon(struct kunit *test)
{
	const u64 from = 12345, far = from + 5 * WHEEL_HORIZON + 678;
	struct wheel *w = shape_start(test, from);

	file(test, w, 7, far);
	for (u64 look = from; far - look > WHEEL_HORIZON;) {
		look += WHEEL_HORIZON;
		KUNIT_ASSERT_EQ(test, wheel_next(w), look);
		KUNIT_ASSERT_EQ(test, advance_to(test, w, look), 0);
	}
	KUNIT_ASSERT_EQ(test, wheel_next(w), far);
	KUNIT_ASSERT_EQ(test, advance_to(test, w, far - 1), 0);
	KUNIT_ASSERT_EQ(test, advance_to(test, w, far), 1);
}

/* A timer that is alone on a new wheel. */
static void lone_timer_is_due_at_its_tick(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fixture *f = test->priv;
	unsigned int which;
	u64 from;

	for_each_start(shape, which, from) {
		u32 nr = boundaries(shape, from, f->tick);

		for (u32 i = 0; i < nr; i++)
			lone(test, shape_start(test, from), from, f->tick[i]);
	}
}

/*
 * The same on a wheel that has all its levels and got to where it is by one
 * jump, with a timer due at the end of it, or with nothing to stop at.
 */
static void lone_timer_is_due_on_a_wheel_that_jumped(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fixture *f = test->priv;
	unsigned int which;
	u64 from;

	for_each_start(shape, which, from) {
		u32 nr = boundaries(shape, from, f->tick);

		for (u32 i = 0; i < nr; i++) {
			struct wheel *w = shape_jump(test, i % 2 ? 0 : from);

			if (i % 2) {
				file(test, w, 1, from);
				KUNIT_ASSERT_EQ(test, advance_to(test, w, from), 1);
				KUNIT_ASSERT_EQ(test, take(w), 1);
			}
			lone(test, w, from, f->tick[i]);
		}
	}
}

/* A timer at each boundary: time stops before each, and at each. */
static void timers_are_due_one_by_one(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fixture *f = test->priv;
	unsigned int which;
	u64 from;

	for_each_start(shape, which, from) {
		struct wheel *w = shape_start(test, from);
		u32 nr = boundaries(shape, from, f->tick);

		for (u32 id = 0; id < nr; id++)
			file(test, w, id, f->tick[id]);
		for (u32 id = 0; id < nr; id++) {
			u64 tick = f->tick[id];

			KUNIT_ASSERT_EQ_MSG(test, advance_to(test, w, tick - 1), 0,
					    "from %llu, tick %llu", (unsigned long long)from,
					    (unsigned long long)tick);
			/* Never later than the next one, and never in the past. */
			KUNIT_ASSERT_LE(test, wheel_next(w), tick);
			KUNIT_ASSERT_GT(test, wheel_next(w), tick - 1);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, tick), 1);
			KUNIT_ASSERT_EQ(test, take(w), id);
		}
		KUNIT_ASSERT_EQ(test, wheel_next(w), WHEEL_NEVER);
	}
}

/*
 * The last ticks that there are, on a wheel that comes there by one jump and then by smaller
 * steps.  Timers that no tick is left for never come, and there are enough of them to make
 * slots heavy.
 */
static void the_wheel_ends_at_its_last_tick(struct kunit *test)
{
	struct fixture *f = test->priv;

	for (u64 left = 4 * WHEEL_MAX_SLOTS; left; left /= 2) {
		struct wheel *w = shape_start(test, WHEEL_LAST - 2 * WHEEL_HORIZON);
		u32 id, nr = 0, come = 0;

		while (nr < 200)
			f->tick[nr++] = WHEEL_LAST + 1;
		for (u64 before = left / 2 + left / 4; before; before /= 2, come++)
			f->tick[nr++] = WHEEL_LAST - before;
		for (id = 0; id < nr; id++)
			file(test, w, id, f->tick[id]);
		for (u64 before = left; before; before /= 2) {
			advance_to(test, w, WHEEL_LAST - before);
			for (u32 beyond = 0; beyond < 2; beyond++, nr++) {
				f->tick[nr] = WHEEL_LAST + beyond;
				file(test, w, nr, f->tick[nr]);
			}
			come++;
		}
		KUNIT_ASSERT_EQ(test, advance_to(test, w, WHEEL_LAST), come);
		while ((id = take(w)) != WHEEL_NIL)
			KUNIT_ASSERT_LE(test, f->tick[id], WHEEL_LAST);
		KUNIT_ASSERT_GT(test, wheel_next(w), WHEEL_LAST);
		KUNIT_ASSERT_EQ(test, w->at, WHEEL_LAST);
	}
}

/* One enormous step passes many boundaries; it finds those due, and no other. */
static void enormous_steps_find_all_that_is_due(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fixture *f = test->priv;
	unsigned int which;
	u64 from;

	for_each_start(shape, which, from) {
		u32 nr = boundaries(shape, from, f->tick);

		for (u32 step = 2; step <= nr; step += step / 2) {
			struct wheel *w = shape_start(test, from);
			u32 due;

			for (u32 id = 0; id < nr; id++)
				file(test, w, id, f->tick[id]);
			for (due = 0; due < nr; due += min(step, nr - due)) {
				u32 last = due + min(step, nr - due) - 1;
				u32 count = advance_to(test, w, f->tick[last]), id;

				KUNIT_ASSERT_EQ(test, count, last + 1 - due);
				while ((id = take(w)) != WHEEL_NIL) {
					KUNIT_ASSERT_GE(test, id, due);
					KUNIT_ASSERT_LE(test, id, last);
				}
			}
			KUNIT_ASSERT_EQ(test, w->filed, 0);
		}
	}
}

/* A timer for each tick of two turns and a bit, and time in single ticks. */
static void each_tick_of_two_turns(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	u32 nr = min(2 * shape->slots * shape->slots + 3, 3000U);
	unsigned int which;
	u64 from;

	for_each_start(shape, which, from) {
		struct wheel *w = shape_start(test, from);

		for (u32 id = 0; id < nr; id++)
			file(test, w, id, from + 1 + id);
		for (u32 id = 0; id < nr; id++) {
			KUNIT_ASSERT_EQ_MSG(test, advance_to(test, w, from + 1 + id), 1,
					    "from %llu, timer %u",
					    (unsigned long long)from, id);
			KUNIT_ASSERT_EQ(test, take(w), id);
		}
	}
}

/* A slot with more than a step can handle ends on each boundary. */
static void full_slots_beside_a_boundary(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	const u32 each = WHEEL_STEP + 2;

	for (unsigned int l = 0; l <= last_level(shape); l++) {
		unsigned int shift = l * shape->bits;
		u64 number = 5 * shape->slots + 3;
		u64 from = 3ULL << shift, boundary = number << shift;
		struct wheel *w;

		if (boundary - from >= WHEEL_HORIZON)
			break;
		w = shape_start(test, from);
		for (u32 id = 0; id < 3 * each; id++)
			file(test, w, id, boundary + id % 3 - 1);
		KUNIT_ASSERT_LE(test, wheel_next(w), boundary - 1);
		/* What the owner does: it sleeps until the next look. */
		for (u32 looks = 0; wheel_next(w) < boundary - 1; looks++) {
			KUNIT_ASSERT_LT(test, looks, 100);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, wheel_next(w)), 0);
		}
		KUNIT_ASSERT_EQ(test, advance_to(test, w, boundary - 2), 0);
		for (u32 i = 0; i < 3; i++) {
			u32 id, count = 0;

			KUNIT_ASSERT_EQ(test, advance_to(test, w, boundary - 1 + i), each);
			for (; (id = take(w)) != WHEEL_NIL; count++)
				KUNIT_ASSERT_EQ(test, id % 3, i);
			KUNIT_ASSERT_EQ(test, count, each);
		}
	}
}

/*
 * Full slots of level 2 have to come down while a full slot of level 1, before
 * them, is still being emptied: they wait until all of them is in reach (R4).
 */
static void full_slots_on_two_levels(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	u64 slot = (u64)shape->slots * shape->slots;
	struct wheel *w = shape_start(test, 1);
	const u32 each = 200;

	/* The last ticks of a slot of level 1, and of two slots of level 2. */
	for (u32 id = 0; id < each; id++) {
		file(test, w, id, slot - 1);
		file(test, w, each + id, 3 * slot - 1);
		file(test, w, 2 * each + id, 4 * slot - 1);
	}
	if (!shape->levels || shape->levels > 2) {
		KUNIT_ASSERT_EQ(test, find_filed(w, 0).level, 1);
		KUNIT_ASSERT_EQ(test, find_filed(w, each).level, 2);
	}
	/* All at once: time has gone on, and nobody looked. */
	KUNIT_ASSERT_EQ(test, advance_to(test, w, 4 * slot - 2), 2 * each);
	KUNIT_ASSERT_EQ(test, advance_to(test, w, 4 * slot - 1), 3 * each);
	KUNIT_EXPECT_EQ(test, w->filed, 0);
}

/* A timer that is moved across a boundary is due where it was moved to. */
static void moves_across_a_boundary(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct fixture *f = test->priv;
	unsigned int which;
	u64 from;

	for_each_start(shape, which, from) {
		u32 nr = boundaries(shape, from, f->tick);

		for (u32 i = 0; i + 1 < nr; i++) {
			u64 early = f->tick[i], late = f->tick[min(i + 1 + i % 5, nr - 1)];
			struct wheel *w = shape_start(test, from);

			/* Later: one empty look at the most. */
			file(test, w, 0, early);
			file(test, w, 0, late);
			KUNIT_ASSERT_LE(test, wheel_next(w), late);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, early), 0);
			KUNIT_ASSERT_EQ(test, wheel_next(w), late);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, late - 1), 0);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, late), 1);

			/* Earlier: at once. */
			w = shape_start(test, from);
			file(test, w, 0, late);
			file(test, w, 0, early);
			KUNIT_ASSERT_EQ(test, wheel_next(w), early);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, early - 1), 0);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, early), 1);
		}
	}
}

/* Times: ns, and the ticks that they are rounded up to */

static const u64 tick_lengths[] = {
	1, 2, 7, 1000, 3333, 100000, 999983, 1000000, 16666667, 33333333, 1000000000,
};

static void tick_desc(const u64 *tick, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "a tick of %llu ns", (unsigned long long)*tick);
}

KUNIT_ARRAY_PARAM(tick, tick_lengths, tick_desc);

#define USEC	1000ULL
#define SEC	1000000000ULL
#define DAY	(86400 * SEC)
#define YEAR	(31556952 * SEC)

/* From 1 ns to years. KTIME_MAX is 292 of them. */
static const u64 times[] = {
	1, 2, 999, USEC, 12345, MSEC - 1, MSEC, MSEC + 1, 64 * MSEC, SEC - 1, SEC,
	59 * SEC, 3600 * SEC + 1, DAY - 1, DAY, DAY + 1, 49 * DAY, YEAR, 10 * YEAR + 1,
	100 * YEAR, 200 * YEAR - 1,
};

/* The first tick at or past a deadline begins then. */
static u64 round_up_ns(u64 deadline, u64 tick)
{
	u64 begun = div64_u64(deadline, tick) * tick;

	return begun == deadline ? deadline : begun + tick;
}

/* Beyond the horizon there is a look before. */
static void expect_next(struct kunit *test, const struct timers *ts, u64 now, u64 begins)
{
	if (div64_u64(begins - now, ts->tick) < WHEEL_HORIZON)
		KUNIT_ASSERT_EQ(test, timers_next(ts), begins);
	else
		KUNIT_ASSERT_LE(test, timers_next(ts), begins);
}

/* Two deadlines that are rounded up to the same tick: due when it begins, both at once. */
static void deadlines(struct kunit *test, u64 tick, u64 now, u64 deadline)
{
	u64 begins = round_up_ns(deadline, tick);
	struct twheel_event event;
	struct timers *ts;

	/* Where a slot is 1 ns. */
	if (deadline <= now)
		return;
	ts = timers_start(test, 0, 64, tick, now);
	arm(test, 5, deadline);
	expect_next(test, ts, now, begins);
	arm(test, 6, begins);
	expect_next(test, ts, now, begins);
	if (begins - 1 > now) {
		KUNIT_ASSERT_EQ_MSG(test, pass_to(test, begins - 1), 0, "now %llu, deadline %llu",
				    (unsigned long long)now, (unsigned long long)deadline);
		expect_next(test, ts, begins - 1, begins);
	}
	KUNIT_ASSERT_EQ_MSG(test, pass_to(test, begins), 2, "now %llu, deadline %llu",
			    (unsigned long long)now, (unsigned long long)deadline);
	for (int n = 0; n < 2; n++) {
		KUNIT_ASSERT_TRUE(test, read_one(test, &event));
		KUNIT_ASSERT_EQ(test, event.deadline, event.id == 5 ? deadline : begins);
		KUNIT_ASSERT_EQ(test, event.fired, begins);
	}
	KUNIT_ASSERT_EQ(test, timers_next(ts), KTIME_MAX);
}

/* From a tick's begin, its middle and its last ns. */
static void deadlines_from_1_ns_to_years(struct kunit *test)
{
	u64 tick = *(const u64 *)test->param_value;
	const u64 starts[] = { 0, 1, 63, 64, 4095, 4096, 123456 };

	for (unsigned int i = 0; i < ARRAY_SIZE(starts); i++) {
		for (unsigned int n = 0; n < ARRAY_SIZE(times); n++) {
			u64 begin = starts[i] * tick;

			deadlines(test, tick, begin, begin + times[n]);
			deadlines(test, tick, begin + tick / 2, begin + tick / 2 + times[n]);
			deadlines(test, tick, begin + tick - 1, begin + tick - 1 + times[n]);
		}
	}
}

/* A ns before the begin of a slot, at it, and a ns behind. */
static void deadlines_beside_the_begin_of_a_slot(struct kunit *test)
{
	u64 tick = *(const u64 *)test->param_value;

	for (unsigned int shift = 0; shift < 60; shift += 6) {
		u64 slot = tick << shift;

		if (slot >> shift != tick || slot > KTIME_MAX / 256)
			break;
		for (u64 number = 2; number <= 128; number += 63) {
			u64 begin = number * slot;

			for (int beside = -1; beside <= 1; beside++) {
				deadlines(test, tick, 0, begin + beside);
				deadlines(test, tick, begin - slot, begin + beside);
				deadlines(test, tick, begin - slot + 1, begin + beside + 1);
			}
		}
	}
}

/* What lies beyond the end of time is due at its end, not in the past. */
static void no_deadline_wraps_around(struct kunit *test)
{
	u64 tick = *(const u64 *)test->param_value;
	const u64 far[] = { KTIME_MAX - 1, KTIME_MAX, KTIME_MAX + 1ULL, ~0ULL - 1, ~0ULL };

	for (unsigned int i = 0; i < ARRAY_SIZE(far); i++) {
		for (u32 flags = 0; flags <= TWHEEL_ARM_RELATIVE; flags += TWHEEL_ARM_RELATIVE) {
			struct timers *ts = timers_start(test, 0, 64, tick, 5 * SEC);
			struct twheel_op op = { .id = 9, .deadline = far[i], .flags = flags };
			struct twheel_timer record = { .id = 9 };
			u64 expected = min_t(u64, far[i], KTIME_MAX);

			/* A span of time that no clock can tell is refused. */
			if (flags && far[i] > KTIME_MAX) {
				KUNIT_EXPECT_EQ(test, arm_op(test, &op), -ERANGE);
				continue;
			}
			if (flags)
				expected = KTIME_MAX;
			KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
			timers_set_time(ts, 5 * SEC);
			KUNIT_ASSERT_EQ(test, timers_get(ts, &record), 0);
			KUNIT_EXPECT_EQ(test, record.state, TWHEEL_STATE_PENDING);
			KUNIT_EXPECT_EQ(test, record.deadline, expected);
			KUNIT_ASSERT_EQ(test, pass_to(test, 200 * YEAR), 0);
			KUNIT_ASSERT_EQ(test, pass_to(test, KTIME_MAX - 1 - tick), 0);
			KUNIT_EXPECT_EQ(test, cancel(test, 9), TWHEEL_STATE_PENDING);
		}
	}
}

/* A relative deadline counts from the time of the call, not from its tick. */
static void relative_is_from_now(struct kunit *test)
{
	u64 tick = *(const u64 *)test->param_value;

	for (u64 n = 0; n < 130; n++) {
		u64 now = n * tick + (n * 7919) % tick;
		struct timers *ts = timers_start(test, 0, 64, tick, now);
		struct twheel_op op = { .deadline = 1, .flags = TWHEEL_ARM_RELATIVE };

		KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
		KUNIT_ASSERT_EQ(test, timers_next(ts), round_up_ns(now + 1, tick));
		op = (struct twheel_op){ .deadline = 64 * tick, .flags = TWHEEL_ARM_RELATIVE };
		KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
		KUNIT_ASSERT_EQ(test, pass_to(test, now + 64 * tick - 1), 0);
		KUNIT_ASSERT_EQ(test, pass_to(test, round_up_ns(now + 64 * tick, tick)), 1);
	}
}

/* Slack is a bound: due in [deadline, deadline + slack], rounded up to a tick. */
static void slack_never_goes_beyond_its_end(struct kunit *test)
{
	u64 tick = *(const u64 *)test->param_value;

	for (u64 n = 2; n < 200; n += 3) {
		for (unsigned int shift = 0; shift < 24; shift++) {
			struct timers *ts = timers_start(test, 0, 64, tick, 0);
			struct twheel_op op = {
				.deadline	= n * tick - n % 2,
				.slack		= tick << shift,
			};
			u64 last = round_up_ns(op.deadline + op.slack, tick);
			u64 next;

			KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
			next = timers_next(ts);
			KUNIT_ASSERT_GE(test, next, op.deadline);
			KUNIT_ASSERT_LE(test, next, last);
			KUNIT_ASSERT_EQ(test, pass_to(test, next - 1), 0);
			KUNIT_ASSERT_EQ(test, pass_to(test, next), 1);
		}
	}
}

static struct kunit_case boundaries_cases[] = {
	KUNIT_CASE_PARAM(rings_reach_two_turns, shape_gen_params),
	KUNIT_CASE_PARAM(lone_timer_beyond_the_horizon, shape_gen_params),
	KUNIT_CASE_PARAM(lone_timer_is_due_at_its_tick, shape_gen_params),
	KUNIT_CASE_PARAM(lone_timer_is_due_on_a_wheel_that_jumped, shape_gen_params),
	KUNIT_CASE_PARAM(timers_are_due_one_by_one, shape_gen_params),
	KUNIT_CASE_PARAM(the_wheel_ends_at_its_last_tick, shape_gen_params),
	KUNIT_CASE_PARAM(enormous_steps_find_all_that_is_due, shape_gen_params),
	KUNIT_CASE_PARAM(each_tick_of_two_turns, shape_gen_params),
	KUNIT_CASE_PARAM(full_slots_beside_a_boundary, shape_gen_params),
	KUNIT_CASE_PARAM(full_slots_on_two_levels, shape_gen_params),
	KUNIT_CASE_PARAM(moves_across_a_boundary, shape_gen_params),
	KUNIT_CASE_PARAM(deadlines_from_1_ns_to_years, tick_gen_params),
	KUNIT_CASE_PARAM(deadlines_beside_the_begin_of_a_slot, tick_gen_params),
	KUNIT_CASE_PARAM(no_deadline_wraps_around, tick_gen_params),
	KUNIT_CASE_PARAM(relative_is_from_now, tick_gen_params),
	KUNIT_CASE_PARAM(slack_never_goes_beyond_its_end, tick_gen_params),
	{}
};

static struct kunit_suite boundaries_suite = {
	.name		= "twheel_boundaries",
	.init		= suite_init,
	.exit		= suite_exit,
	.test_cases	= boundaries_cases,
};
