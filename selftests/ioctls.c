// SPDX-License-Identifier: GPL-2.0
/*
 * Each ioctl of /dev/twheel, with good and with bad input.
 *
 * Each bad request has one error in it and is valid otherwise, so that nothing
 * else can explain the errno; after it the wheel must be as it was before.
 */
#include <assert.h>

#include "twheel_test.h"

/*
 * The layout is the ABI: it must not differ between 32-bit and 64-bit
 * programs, nor change.
 */
static_assert(sizeof(struct twheel_event) == 48, "event");
static_assert(offsetof(struct twheel_event, cookie) == 8, "event.cookie");
static_assert(offsetof(struct twheel_event, flags) == 40, "event.flags");
static_assert(sizeof(struct twheel_features) == 56, "features");
static_assert(offsetof(struct twheel_features, features) == 8, "features.features");
static_assert(offsetof(struct twheel_features, max_user_timers) == 40, "features.max_user_timers");
static_assert(sizeof(struct twheel_setup) == 64, "setup");
static_assert(offsetof(struct twheel_setup, tick) == 8, "setup.tick");
static_assert(offsetof(struct twheel_setup, words_offset) == 40, "setup.words_offset");
static_assert(offsetof(struct twheel_setup, clock_offset) == 56, "setup.clock_offset");
static_assert(sizeof(struct twheel_op) == 64, "op");
static_assert(offsetof(struct twheel_op, deadline) == 8, "op.deadline");
static_assert(offsetof(struct twheel_op, count) == 40, "op.count");
static_assert(offsetof(struct twheel_op, result) == 60, "op.result");
static_assert(sizeof(struct twheel_submit) == 32, "submit");
static_assert(sizeof(struct twheel_timer) == 64, "timer");
static_assert(offsetof(struct twheel_timer, cookie) == 16, "timer.cookie");
static_assert(sizeof(struct twheel_list) == 32, "list");
static_assert(sizeof(struct twheel_stats) == 544, "stats");
static_assert(TWHEEL_IOC_FEATURES == 0x8038bb00, "FEATURES");
static_assert(TWHEEL_IOC_SETUP == 0xc040bb01, "SETUP");
static_assert(TWHEEL_IOC_GET_SETUP == 0x8040bb02, "GET_SETUP");
static_assert(TWHEEL_IOC_ARM == 0xc040bb03, "ARM");
static_assert(TWHEEL_IOC_CANCEL == 0xc040bb04, "CANCEL");
static_assert(TWHEEL_IOC_GET == 0xc040bb05, "GET");
static_assert(TWHEEL_IOC_SUBMIT == 0xc020bb06, "SUBMIT");
static_assert(TWHEEL_IOC_LIST == 0xc020bb07, "LIST");
static_assert(TWHEEL_IOC_DRAIN == 0xc020bb08, "DRAIN");
static_assert(TWHEEL_IOC_STATS == 0x8220bb09, "STATS");
static_assert(TWHEEL_IOC_TRIM == 0x8008bb0a, "TRIM");
static_assert(TWHEEL_IOC_WHERE == 0xc028bb0b, "WHERE");

/* A wheel in use: each state of a timer has one. */
enum {
	PENDING		= 1,
	PERIODIC	= 2,
	EXPIRED		= 3,
	DELIVERED	= 4,
	FREE		= 5,
};

#define CAPACITY	300U

FIXTURE(wheel) {
	int fd;
	struct snapshot before;
};

FIXTURE_SETUP(wheel)
{
	struct twheel_setup s = { .capacity = CAPACITY };
	struct twheel_event ev;

	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_up(self->fd, &s));
	ASSERT_EQ(0, arm_at(self->fd, DELIVERED, 1, 44));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	ASSERT_EQ(0, arm_in(self->fd, PENDING, HOUR, 11));
	ASSERT_EQ(0, arm_every(self->fd, PERIODIC, now_ns() + HOUR, SEC, 7));
	ASSERT_EQ(0, arm_at(self->fd, EXPIRED, 1, 33));
	ASSERT_TRUE(wait_expired(self->fd, 1));
	ASSERT_EQ(0, snapshot_take(self->fd, &self->before));
	ASSERT_EQ(3, self->before.nr);
}

FIXTURE_TEARDOWN(wheel)
{
	close(self->fd);
}

/* A wheel that nobody has used yet. */
FIXTURE(fresh) {
	int fd;
	struct twheel_setup defaults;
};

FIXTURE_SETUP(fresh)
{
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, get_setup(self->fd, &self->defaults));
}

FIXTURE_TEARDOWN(fresh)
{
	close(self->fd);
}

/* FEATURES */

TEST_F(fresh, features_say_what_there_is)
{
	struct twheel_features f;
	struct twheel_setup s;
	int clock, fd, ret;

	memset(&f, 0xaa, sizeof(f));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_FEATURES, &f));
	EXPECT_EQ(TWHEEL_ABI, f.abi);
	EXPECT_EQ(0, f.features & ~(TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_WHERE));
	EXPECT_LT(0, f.min_tick);
	EXPECT_GE(TWHEEL_MIN_TICK, f.min_tick);
	EXPECT_EQ(TWHEEL_MAX_CAPACITY, f.max_capacity);
	EXPECT_EQ(TWHEEL_MAX_LEVELS, f.max_levels);
	EXPECT_EQ(TWHEEL_MAX_SLOTS, f.max_slots);
	EXPECT_EQ(TWHEEL_MAX_BATCH, f.max_batch);
	EXPECT_EQ(0, f.reserved);
	EXPECT_TRUE(f.clocks & (1 << CLOCK_MONOTONIC));
	EXPECT_TRUE(f.clocks & (1 << CLOCK_BOOTTIME));

	/* Each clock in the mask works, and no other does. */
	for (clock = 0; clock < 32; clock++) {
		fd = wheel_open(0);
		ASSERT_LE(0, fd);
		s = (struct twheel_setup){
			.flags = TWHEEL_SETUP_CLOCK,
			.clock = clock,
		};
		ret = set_up(fd, &s);
		EXPECT_EQ(f.clocks & (1U << clock) ? 0 : -EOPNOTSUPP, ret)
			TH_LOG("clock %d", clock);
		close(fd);
	}

	/* The smallest tick works. */
	s = (struct twheel_setup){ .tick = f.min_tick };
	EXPECT_EQ(0, set_up(self->fd, &s));
}

TEST_F(fresh, features_tell_the_limits)
{
	struct twheel_features f;

	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_FEATURES, &f));
	EXPECT_EQ(file_value(PARAMETERS "max_user_timers", NULL),
		  (long long)f.max_user_timers);
	EXPECT_EQ(file_value(PARAMETERS "max_user_wheels", NULL),
		  (long long)f.max_user_wheels);
}

/* SETUP and GET_SETUP */

TEST_F(fresh, setup_defaults)
{
	struct twheel_setup s = {}, again;

	EXPECT_EQ(CLOCK_MONOTONIC, self->defaults.clock);
	EXPECT_EQ(TWHEEL_DEFAULT_TICK, self->defaults.tick);
	EXPECT_LE(1, self->defaults.levels);
	EXPECT_GE(TWHEEL_MAX_LEVELS, self->defaults.levels);
	EXPECT_EQ(TWHEEL_DEFAULT_SLOTS, self->defaults.slots);
	EXPECT_EQ(TWHEEL_DEFAULT_CAPACITY, self->defaults.capacity);
	EXPECT_EQ(0, self->defaults.reserved);

	/* Asking for nothing gives the same. */
	ASSERT_EQ(0, set_up(self->fd, &s));
	s.now = 0;
	EXPECT_EQ(0, memcmp(&s, &self->defaults, sizeof(s)));
	ASSERT_EQ(0, get_setup(self->fd, &again));
	EXPECT_EQ(0, memcmp(&s, &again, sizeof(s)));
}

TEST_F(fresh, setup_tells_what_it_made_of_it)
{
	struct twheel_setup again, s = {
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = CLOCK_BOOTTIME,
		.tick = 250000,
		.levels = 3,
		.slots = 33,
		.capacity = 1000,
		/* Out: not read. */
		.words_offset = ~0ULL,
		.now = ~0ULL,
		.clock_offset = -1,
	};
	__u64 before = clock_ns(CLOCK_BOOTTIME);

	ASSERT_EQ(0, set_up(self->fd, &s));
	EXPECT_EQ(CLOCK_BOOTTIME, s.clock);
	EXPECT_EQ(250000, s.tick);
	EXPECT_EQ(3, s.levels);
	EXPECT_EQ(64, s.slots);
	EXPECT_EQ(1000, s.capacity);
	EXPECT_EQ(0, s.reserved);
	EXPECT_EQ(0, s.words_offset);
	EXPECT_LE(before, s.now);
	EXPECT_GE(clock_ns(CLOCK_BOOTTIME), s.now);
	EXPECT_EQ(0, s.clock_offset);
	s.now = 0;
	ASSERT_EQ(0, get_setup(self->fd, &again));
	EXPECT_EQ(0, memcmp(&s, &again, sizeof(s)));

	/* The capacity is in force. */
	EXPECT_EQ(0, arm_in(self->fd, 999, HOUR, 0));
	EXPECT_EQ(-ERANGE, arm_in(self->fd, 1000, HOUR, 0));
}

TEST_F(fresh, setup_extremes)
{
	static const struct twheel_setup extremes[] = {
		{ .tick = SEC },
		{ .tick = TWHEEL_MIN_TICK },
		{ .levels = 1 },
		{ .levels = 1, .slots = 1 },
		{ .slots = 2 },
		{ .slots = TWHEEL_MAX_SLOTS },
		{ .levels = TWHEEL_MAX_LEVELS },
		{ .levels = TWHEEL_MAX_LEVELS, .slots = TWHEEL_MAX_SLOTS },
		{ .capacity = 1 },
		{ .capacity = TWHEEL_MAX_CAPACITY },
	};
	struct twheel_event ev;
	struct twheel_setup s;
	int i, fd;

	for (i = 0; i < ARRAY_SIZE(extremes); i++) {
		fd = wheel_open(0);
		ASSERT_LE(0, fd);
		s = extremes[i];
		EXPECT_EQ(0, set_up(fd, &s))
			TH_LOG("case %d", i);
		/* A power of two, and at least 4. */
		EXPECT_EQ(extremes[i].slots && extremes[i].slots < 4 ? 4 :
			  extremes[i].slots ?: TWHEEL_DEFAULT_SLOTS, s.slots);
		/* The wheel turns. */
		EXPECT_EQ(0, arm_in(fd, 0, MSEC, i));
		ASSERT_EQ(1, collect(fd, &ev, 1))
			TH_LOG("case %d", i);
		EXPECT_EQ(i, ev.cookie);
		EXPECT_LE(ev.deadline, now_ns());
		close(fd);
	}
}

TEST_F(fresh, setup_refuses)
{
	static const struct {
		const char *what;
		struct twheel_setup setup;
		int error;
	} bad[] = {
		{ "flag", { .flags = 1U << 31 }, EOPNOTSUPP },
		{ "next flag", { .flags = TWHEEL_SETUP_WORDS << 1 }, EOPNOTSUPP },
		{ "clock 99", { .flags = TWHEEL_SETUP_CLOCK, .clock = 99 }, EOPNOTSUPP },
		{ "clock -1", { .flags = TWHEEL_SETUP_CLOCK, .clock = ~0U }, EOPNOTSUPP },
		{ "clock not flagged", { .clock = CLOCK_BOOTTIME }, EINVAL },
		{ "tick", { .tick = SEC + 1 }, ERANGE },
		{ "huge tick", { .tick = ~0ULL }, ERANGE },
		{ "levels", { .levels = TWHEEL_MAX_LEVELS + 1 }, ERANGE },
		{ "all levels", { .levels = ~0U }, ERANGE },
		{ "slots", { .slots = TWHEEL_MAX_SLOTS + 1 }, ERANGE },
		{ "all slots", { .slots = ~0U }, ERANGE },
		{ "capacity", { .capacity = TWHEEL_MAX_CAPACITY + 1 }, ERANGE },
		{ "all capacity", { .capacity = ~0U }, ERANGE },
		{ "words_first not flagged", { .words_first = 256 }, EINVAL },
		{ "words_nr not flagged", { .words_nr = 256 }, EINVAL },
		{ "reserved", { .reserved = 1 }, EINVAL },
	};
	struct twheel_setup s, after;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		s = bad[i].setup;
		EXPECT_EQ(-bad[i].error, set_up(self->fd, &s))
			TH_LOG("%s", bad[i].what);
		ASSERT_EQ(0, get_setup(self->fd, &after));
		EXPECT_EQ(0, memcmp(&after, &self->defaults, sizeof(after)))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}

	/* None of these was the one setup that a wheel has. */
	s = (struct twheel_setup){ .capacity = 5 };
	EXPECT_EQ(0, set_up(self->fd, &s));
}

TEST_F(fresh, setup_only_once)
{
	struct twheel_setup s = { .capacity = 100 };

	ASSERT_EQ(0, set_up(self->fd, &s));
	s = (struct twheel_setup){ .capacity = 200 };
	EXPECT_EQ(-EBUSY, set_up(self->fd, &s));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_GET_SETUP, &s));
	EXPECT_EQ(100, s.capacity);
}

TEST_F(fresh, setup_not_after_an_arm)
{
	struct twheel_setup s = { .capacity = 100 };
	struct twheel_timer t;

	ASSERT_EQ(0, arm_in(self->fd, 7, HOUR, 70));
	EXPECT_EQ(-EBUSY, set_up(self->fd, &s));
	/* Not even when nothing is armed any more. */
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 7));
	s = (struct twheel_setup){ .capacity = 100 };
	EXPECT_EQ(-EBUSY, set_up(self->fd, &s));
	ASSERT_EQ(0, get_setup(self->fd, &s));
	EXPECT_EQ(0, memcmp(&s, &self->defaults, sizeof(s)));
	EXPECT_EQ(0, wheel_get(self->fd, 7, &t));
}

/* ARM */

TEST_F(wheel, arm_reports)
{
	struct twheel_op op = {
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = HOUR,
		.cookie = 0x123456789abcdef0,
		.id = FREE,
		/* Out: not read. */
		.state = 99,
		.result = 99,
	};
	struct twheel_timer t;
	__u32 generation;
	__u64 before = now_ns();

	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(FREE, op.id);
	EXPECT_NE(0, op.generation);
	EXPECT_EQ(TWHEEL_STATE_IDLE, op.state);
	EXPECT_EQ(0, op.result);

	ASSERT_EQ(0, wheel_get(self->fd, FREE, &t));
	EXPECT_EQ(FREE, t.id);
	EXPECT_EQ(op.generation, t.generation);
	EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
	EXPECT_EQ(op.cookie, t.cookie);
	EXPECT_LE(before + HOUR, t.deadline);
	EXPECT_GE(now_ns() + HOUR, t.deadline);
	EXPECT_GE(HOUR, t.remaining);
	EXPECT_LE(HOUR - 10 * SEC, t.remaining);
	EXPECT_EQ(0, t.interval);
	EXPECT_EQ(0, t.slack);
	EXPECT_EQ(0, t.count);
	EXPECT_EQ(0, t.overruns);

	/* Again, absolute: a new generation, and the old state is told. */
	generation = op.generation;
	op = (struct twheel_op){
		.deadline = before + 2 * HOUR,
		.interval = 5 * SEC,
		.count = 9,
		.cookie = 2,
		.id = FREE,
	};
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_PENDING, op.state);
	EXPECT_NE(generation, op.generation);
	EXPECT_NE(0, op.generation);
	ASSERT_EQ(0, wheel_get(self->fd, FREE, &t));
	EXPECT_EQ(op.generation, t.generation);
	EXPECT_EQ(2, t.cookie);
	EXPECT_EQ(before + 2 * HOUR, t.deadline);
	EXPECT_EQ(5 * SEC, t.interval);
	EXPECT_EQ(9, t.count);
}

TEST_F(wheel, arm_tells_each_state)
{
	static const int found[][2] = {
		{ FREE, TWHEEL_STATE_IDLE },
		{ PENDING, TWHEEL_STATE_PENDING },
		{ PERIODIC, TWHEEL_STATE_PENDING },
		{ EXPIRED, TWHEEL_STATE_EXPIRED },
		{ DELIVERED, TWHEEL_STATE_DELIVERED },
	};
	struct twheel_timer t;
	struct twheel_op op;
	int i;

	for (i = 0; i < ARRAY_SIZE(found); i++) {
		ASSERT_EQ(0, wheel_get(self->fd, found[i][0], &t));
		EXPECT_EQ(found[i][1], t.state);
		op = (struct twheel_op){
			.flags = TWHEEL_ARM_RELATIVE,
			.deadline = HOUR,
			.id = found[i][0],
		};
		ASSERT_EQ(0, wheel_arm(self->fd, &op));
		EXPECT_EQ(found[i][1], op.state)
			TH_LOG("timer %d", found[i][0]);
		EXPECT_EQ(TWHEEL_STATE_PENDING,
			  wheel_state(self->fd, found[i][0]));
	}
	/* The event of the expired one is gone. */
	EXPECT_EQ(0, wheel_poll(self->fd, 0));
}

/* What an arm has said stays with the timer, whatever becomes of that arming. */
TEST_F(wheel, arm_keeps_what_was_said)
{
	struct twheel_op op = {
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = HOUR,
		.interval = 3 * SEC,
		.slack = 5 * MSEC,
		.cookie = 77,
		.count = 9,
		.id = FREE,
	};
	struct twheel_timer t;

	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	for (int i = 0; i < 2; i++) {
		op = (struct twheel_op){
			.flags = TWHEEL_ARM_RELATIVE | TWHEEL_ARM_KEEP,
			.deadline = 2 * HOUR,
			.id = FREE,
		};
		ASSERT_EQ(0, wheel_arm(self->fd, &op));
		ASSERT_EQ(0, wheel_get(self->fd, FREE, &t));
		EXPECT_EQ(op.generation, t.generation);
		EXPECT_LT(HOUR, t.remaining);
		EXPECT_EQ(3 * SEC, t.interval);
		EXPECT_EQ(5 * MSEC, t.slack);
		EXPECT_EQ(77, t.cookie);
		EXPECT_EQ(9, t.count);
		/* Cancelled, it has all of that still. */
		ASSERT_LE(0, wheel_cancel(self->fd, FREE));
	}
}

TEST_F(wheel, arm_only_if_new_or_armed)
{
	static const struct {
		__u32 id, flags;
		int error;
	} cases[] = {
		{ FREE, TWHEEL_ARM_MOVE, ENOENT },
		{ DELIVERED, TWHEEL_ARM_MOVE, ENOENT },
		{ PENDING, TWHEEL_ARM_NEW, EEXIST },
		{ PERIODIC, TWHEEL_ARM_NEW, EEXIST },
		{ EXPIRED, TWHEEL_ARM_NEW, EEXIST },
		/* These change the wheel: last. */
		{ FREE, TWHEEL_ARM_NEW, 0 },
		{ DELIVERED, TWHEEL_ARM_NEW, 0 },
		{ PENDING, TWHEEL_ARM_MOVE, 0 },
		{ EXPIRED, TWHEEL_ARM_MOVE, 0 },
	};
	struct twheel_op op;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		op = (struct twheel_op){
			.flags = cases[i].flags | TWHEEL_ARM_RELATIVE,
			.deadline = HOUR,
			.id = cases[i].id,
		};
		EXPECT_EQ(-cases[i].error, wheel_arm(self->fd, &op))
			TH_LOG("timer %u flags %#x", cases[i].id, cases[i].flags);
		if (cases[i].error) {
			EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
				TH_LOG("timer %u flags %#x", cases[i].id,
				       cases[i].flags);
		} else {
			EXPECT_EQ(TWHEEL_STATE_PENDING,
				  wheel_state(self->fd, cases[i].id));
		}
	}
}

TEST_F(wheel, arm_with_a_generation)
{
	struct twheel_op op = {
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = HOUR,
		.id = PENDING,
	};
	__u32 generation = self->before.timers[0].generation;

	ASSERT_EQ(PENDING, self->before.timers[0].id);
	op.generation = generation + 1;
	EXPECT_EQ(-ESTALE, wheel_arm(self->fd, &op));
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
	/* A timer that was never armed has no generation to match. */
	op.id = FREE;
	op.generation = generation;
	EXPECT_EQ(-ESTALE, wheel_arm(self->fd, &op));
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));

	op.id = PENDING;
	op.generation = generation;
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_PENDING, op.state);
	EXPECT_NE(generation, op.generation);
	/* Used once, it is stale. */
	op.generation = generation;
	EXPECT_EQ(-ESTALE, wheel_arm(self->fd, &op));
}

TEST_F(wheel, arm_at_zero_is_never)
{
	struct twheel_event ev;
	struct twheel_op op;

	op = (struct twheel_op){ .id = PENDING };
	EXPECT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_PENDING, op.state);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, PENDING));

	op = (struct twheel_op){ .id = EXPIRED };
	EXPECT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, op.state);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));

	/* As with timerfd_settime(), zero from now is zero. */
	op = (struct twheel_op){ .id = PERIODIC, .flags = TWHEEL_ARM_RELATIVE };
	EXPECT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_PENDING, op.state);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, PERIODIC));

	op = (struct twheel_op){ .id = FREE };
	EXPECT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_IDLE, op.state);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, FREE));
}

TEST_F(wheel, arm_beyond_time_is_never_due)
{
	static const struct {
		__u32 flags;
		__u64 deadline;
	} far[] = {
		{ 0, 1ULL << 63 },
		{ 0, (1ULL << 63) - 1 },
		{ 0, ~0ULL },
		{ TWHEEL_ARM_RELATIVE, 1ULL << 63 },
		{ TWHEEL_ARM_RELATIVE, (1ULL << 63) - 1 },
		{ TWHEEL_ARM_RELATIVE, ~0ULL },
	};
	struct twheel_stats stats;
	struct twheel_timer t;
	struct twheel_op op;
	__u64 now;
	int i;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		op = (struct twheel_op){
			.flags = far[i].flags,
			.deadline = far[i].deadline,
			/* Must not wrap either. */
			.slack = (1ULL << 63) - 1,
			.id = 100 + i,
		};
		EXPECT_EQ(0, wheel_arm(self->fd, &op))
			TH_LOG("case %d", i);
	}
	/* A turn of the wheel with something due in it. */
	now = now_ns();
	ASSERT_EQ(0, arm_in(self->fd, FREE, 20 * MSEC, 0));
	ASSERT_TRUE(wait_expired(self->fd, 2));
	EXPECT_LE(now + 20 * MSEC, now_ns());
	for (i = 0; i < ARRAY_SIZE(far); i++) {
		ASSERT_EQ(0, wheel_get(self->fd, 100 + i, &t));
		EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
		/* Over a hundred years. */
		EXPECT_LT(100ULL * 365 * 24 * HOUR, t.remaining)
			TH_LOG("case %d", i);
	}
	ASSERT_EQ(0, wheel_stats(self->fd, &stats));
	EXPECT_EQ(2, stats.expired);
}

TEST_F(wheel, arm_refuses)
{
	static const struct {
		const char *what;
		struct twheel_op op;
		int error;
	} bad[] = {
		{ "opcode", { .opcode = TWHEEL_OP_ARM, .deadline = 1, .id = FREE }, EINVAL },
		{ "flag", { .flags = 1U << 31, .deadline = 1, .id = FREE }, EOPNOTSUPP },
		{ "next flag", { .flags = TWHEEL_ARM_KEEP << 1, .deadline = 1, .id = FREE },
		  EOPNOTSUPP },
		{ "stored, without a word", { .flags = TWHEEL_ARM_STORED, .id = FREE }, ENOENT },
		{ "stored, and a deadline", { .flags = TWHEEL_ARM_STORED, .deadline = 1,
		  .id = FREE }, EINVAL },
		{ "stored, and a cookie", { .flags = TWHEEL_ARM_STORED, .cookie = 1,
		  .id = FREE }, EINVAL },
		{ "stored, and a generation", { .flags = TWHEEL_ARM_STORED, .generation = 1,
		  .id = FREE }, EINVAL },
		{ "stored, and a count", { .flags = TWHEEL_ARM_STORED, .count = 1,
		  .id = FREE }, EINVAL },
		{ "stored and new", { .flags = TWHEEL_ARM_STORED | TWHEEL_ARM_NEW,
		  .id = FREE }, EINVAL },
		{ "stored, any", { .flags = TWHEEL_ARM_STORED, .id = TWHEEL_ID_ANY }, ERANGE },
		{ "new and move", { .flags = TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE, .deadline = 1,
		  .id = FREE }, EINVAL },
		{ "interval", { .deadline = 1, .interval = 1ULL << 63, .id = FREE }, ERANGE },
		{ "slack", { .deadline = 1, .slack = 1ULL << 63, .id = FREE }, ERANGE },
		{ "count", { .deadline = 1, .interval = 1, .count = TWHEEL_MAX_COUNT + 1,
		  .id = FREE }, ERANGE },
		{ "count of a one-shot", { .deadline = 1, .count = 1, .id = FREE }, EINVAL },
		{ "reserved", { .deadline = 1, .reserved = 1, .id = FREE }, EINVAL },
		{ "id", { .deadline = 1, .id = CAPACITY }, ERANGE },
		{ "last id but any", { .deadline = 1, .id = TWHEEL_ID_ANY - 1 }, ERANGE },
		{ "keep, and an interval", { .flags = TWHEEL_ARM_KEEP, .deadline = 1, .id = FREE,
		  .interval = 1 }, EINVAL },
		{ "keep, and a slack", { .flags = TWHEEL_ARM_KEEP, .deadline = 1, .id = FREE,
		  .slack = 1 }, EINVAL },
		{ "keep, and a cookie", { .flags = TWHEEL_ARM_KEEP, .deadline = 1, .id = FREE,
		  .cookie = 1 }, EINVAL },
		{ "keep, any", { .flags = TWHEEL_ARM_KEEP, .deadline = 1, .id = TWHEEL_ID_ANY },
		  EINVAL },
		{ "stored and keep", { .flags = TWHEEL_ARM_STORED | TWHEEL_ARM_KEEP,
		  .id = FREE }, EINVAL },
		{ "move any", { .flags = TWHEEL_ARM_MOVE, .deadline = 1, .id = TWHEEL_ID_ANY },
		  EINVAL },
		{ "any, with a generation", { .deadline = 1, .id = TWHEEL_ID_ANY,
		  .generation = 1 }, EINVAL },
		{ "any, never", { .id = TWHEEL_ID_ANY }, EINVAL },
	};
	struct twheel_op op;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		op = bad[i].op;
		EXPECT_EQ(-bad[i].error, wheel_arm(self->fd, &op))
			TH_LOG("%s", bad[i].what);
		EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}

	/* No id was used up by those that asked for any. */
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	EXPECT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(CAPACITY - 1, op.id);
}

TEST_F(wheel, arm_any_comes_from_the_top)
{
	struct twheel_op op;
	struct twheel_event ev[2];
	__u32 first, i;

	/* Below one that the program has taken. */
	ASSERT_EQ(0, arm_in(self->fd, CAPACITY - 2, HOUR, 0));
	for (i = 0; i < 3; i++) {
		static const __u32 want[] = { CAPACITY - 1, CAPACITY - 3, CAPACITY - 4 };

		op = (struct twheel_op){
			.flags = TWHEEL_ARM_RELATIVE,
			.deadline = HOUR,
			.id = TWHEEL_ID_ANY,
		};
		ASSERT_EQ(0, wheel_arm(self->fd, &op));
		EXPECT_EQ(want[i], op.id);
		EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->fd, op.id));
	}

	/* A cancelled one is free again, the last one first. */
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, CAPACITY - 1));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, CAPACITY - 3));
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(CAPACITY - 3, op.id);
	first = op.generation;

	/* Expired is not free; once its event is read it is. */
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(CAPACITY - 1, op.id);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, EXPIRED));
	ASSERT_EQ(2, collect(self->fd, ev, 2));
	op = (struct twheel_op){
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = HOUR,
		.id = TWHEEL_ID_ANY,
	};
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_TRUE(op.id == CAPACITY - 1 || op.id == CAPACITY - 3)
		TH_LOG("id %u", op.id);

	/* The old holder of the id can't stop the new timer. */
	if (op.id == CAPACITY - 3) {
		EXPECT_NE(first, op.generation);
		op.generation = first;
		op.flags = 0;
		op.deadline = 0;
		EXPECT_EQ(-ESTALE,
			  wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op));
		EXPECT_EQ(TWHEEL_STATE_PENDING,
			  wheel_state(self->fd, CAPACITY - 3));
	}
}

/* CANCEL */

TEST_F(wheel, cancel_tells_what_it_found)
{
	struct twheel_event ev;
	struct twheel_op op;
	int i;

	for (i = 0; i < self->before.nr; i++) {
		struct twheel_timer *t = &self->before.timers[i];

		op = (struct twheel_op){ .id = t->id, .state = 99, .result = 99 };
		ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op));
		EXPECT_EQ(t->state, op.state);
		EXPECT_EQ(t->generation, op.generation);
		EXPECT_EQ(0, op.result);
		EXPECT_EQ(t->id, op.id);
		EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, t->id));
	}
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(0, list_all(self->fd, TWHEEL_IOC_LIST, self->before.timers, 1));

	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_cancel(self->fd, DELIVERED));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, FREE));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, PENDING));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, CAPACITY - 1));
}

TEST_F(wheel, cancel_of_what_is_not_armed_changes_nothing)
{
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_cancel(self->fd, DELIVERED));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, FREE));
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(wheel, cancel_refuses)
{
	static const struct {
		const char *what;
		struct twheel_op op;
		int error;
	} bad[] = {
		{ "opcode", { .opcode = TWHEEL_OP_CANCEL, .id = PENDING }, EINVAL },
		{ "flag", { .flags = 1U << 31, .id = PENDING }, EOPNOTSUPP },
		{ "deadline", { .deadline = 1, .id = PENDING }, EINVAL },
		{ "interval", { .interval = 1, .id = PENDING }, EINVAL },
		{ "slack", { .slack = 1, .id = PENDING }, EINVAL },
		{ "cookie", { .cookie = 1, .id = PENDING }, EINVAL },
		{ "count", { .count = 1, .id = PENDING }, EINVAL },
		{ "reserved", { .reserved = 1, .id = PENDING }, EINVAL },
		{ "id", { .id = CAPACITY }, ERANGE },
		{ "any id", { .id = TWHEEL_ID_ANY }, ERANGE },
		{ "generation", { .id = PENDING, .generation = 0x7fffffff }, ESTALE },
		{ "generation, expired", { .id = EXPIRED, .generation = 0x7fffffff }, ESTALE },
		{ "generation, never armed", { .id = FREE, .generation = 1 }, ESTALE },
	};
	struct twheel_op op;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		op = bad[i].op;
		EXPECT_EQ(-bad[i].error,
			  wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op))
			TH_LOG("%s", bad[i].what);
		EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}

	/* A flag of arm is none of cancel, whichever way it is refused. */
	op = (struct twheel_op){ .flags = TWHEEL_ARM_RELATIVE, .id = PENDING };
	EXPECT_GT(0, wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op));
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));

	/* The right generation is taken. */
	op = (struct twheel_op){
		.id = PENDING,
		.generation = self->before.timers[0].generation,
	};
	EXPECT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op));
	EXPECT_EQ(TWHEEL_STATE_PENDING, op.state);
}

/* GET */

TEST_F(wheel, get_tells_all)
{
	struct twheel_timer t;

	memset(&t, 0xaa, sizeof(t));
	t.id = PERIODIC;
	t.generation = 0;
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_GET, &t));
	EXPECT_EQ(PERIODIC, t.id);
	EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
	EXPECT_EQ(7, t.count);
	EXPECT_EQ(SEC, t.interval);
	EXPECT_LT(0, t.remaining);
	EXPECT_EQ(0, t.overruns);

	ASSERT_EQ(0, wheel_get(self->fd, EXPIRED, &t));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, t.state);
	EXPECT_EQ(33, t.cookie);
	EXPECT_EQ(1, t.deadline);
	EXPECT_EQ(0, t.remaining);

	/* Of the others only what they are. */
	ASSERT_EQ(0, wheel_get(self->fd, DELIVERED, &t));
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, t.state);
	EXPECT_NE(0, t.generation);
	EXPECT_EQ(0, t.deadline | t.remaining | t.interval);
	ASSERT_EQ(0, wheel_get(self->fd, FREE, &t));
	EXPECT_EQ(TWHEEL_STATE_IDLE, t.state);
	EXPECT_EQ(0, t.deadline | t.remaining | t.interval | t.cookie);
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(wheel, get_refuses)
{
	struct twheel_timer t = { .id = CAPACITY };

	EXPECT_EQ(-ERANGE, wheel_ioctl(self->fd, TWHEEL_IOC_GET, &t));
	t = (struct twheel_timer){ .id = TWHEEL_ID_ANY };
	EXPECT_EQ(-ERANGE, wheel_ioctl(self->fd, TWHEEL_IOC_GET, &t));
	t = (struct twheel_timer){
		.id = PENDING,
		.generation = self->before.timers[0].generation,
	};
	EXPECT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_GET, &t));
	t = (struct twheel_timer){
		.id = PENDING,
		.generation = self->before.timers[0].generation + 1,
	};
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_GET, &t));
	t = (struct twheel_timer){ .id = FREE, .generation = 1 };
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_GET, &t));
}

/* WHERE */

static int wheel_where(int fd, __u32 id, struct twheel_where *where)
{
	*where = (struct twheel_where){ .id = id };
	return wheel_ioctl(fd, TWHEEL_IOC_WHERE, where);
}

TEST_F(wheel, where_tells_of_each_state)
{
	struct twheel_where where;

	ASSERT_EQ(0, wheel_where(self->fd, PENDING, &where));
	EXPECT_EQ(TWHEEL_PLACE_SLOT, where.place);
	EXPECT_EQ(self->before.timers[0].generation, where.generation);
	EXPECT_LE(self->before.timers[0].deadline, where.filed);
	EXPECT_GT(self->before.timers[0].deadline + TWHEEL_DEFAULT_TICK, where.filed);
	ASSERT_EQ(0, wheel_where(self->fd, EXPIRED, &where));
	EXPECT_EQ(TWHEEL_PLACE_DUE, where.place);
	EXPECT_EQ(0, where.filed);
	ASSERT_EQ(0, wheel_where(self->fd, DELIVERED, &where));
	EXPECT_EQ(TWHEEL_PLACE_NONE, where.place);
	EXPECT_NE(0, where.generation);
	ASSERT_EQ(0, wheel_where(self->fd, FREE, &where));
	EXPECT_EQ(TWHEEL_PLACE_NONE, where.place);
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(wheel, where_refuses)
{
	struct twheel_where where;

	EXPECT_EQ(-ERANGE, wheel_where(self->fd, CAPACITY, &where));
	EXPECT_EQ(-ERANGE, wheel_where(self->fd, TWHEEL_ID_ANY, &where));
	where = (struct twheel_where){
		.id = PENDING,
		.generation = self->before.timers[0].generation,
	};
	EXPECT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_WHERE, &where));
	where = (struct twheel_where){
		.id = PENDING,
		.generation = self->before.timers[0].generation + 1,
	};
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_WHERE, &where));
	where = (struct twheel_where){ .id = FREE, .generation = 1 };
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_WHERE, &where));
	where = (struct twheel_where){ .id = CAPACITY - 1, .generation = 1 };
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_WHERE, &where));
}

/*
 * Of 2,000 in one slot the eight lists have 250 each.  No call looks further than 64 timers, and
 * four calls come from the last to the first.
 */
TEST_F(fresh, where_in_a_full_slot)
{
	__u64 slot = 64 * TWHEEL_DEFAULT_TICK, when = (now_ns() / slot + 10) * slot;
	unsigned int calls = 0, most = 0, of_list[8] = {}, before, most_before = 0;
	struct twheel_where where;

	ASSERT_EQ(0, arm_many(self->fd, 2000, when, 10 * USEC));
	for (__u32 id = 0; id < 2000; id++) {
		__u32 at = id;

		before = 0;
		for (calls = 1; ; calls++) {
			ASSERT_EQ(0, wheel_where(self->fd, at, &where));
			before += where.before;
			if (where.place != TWHEEL_PLACE_BEHIND)
				break;
			ASSERT_EQ(64, where.before);
			ASSERT_NE(at, where.front);
			at = where.front;
		}
		if (now_ns() > when - slot)
			SKIP(return, "this machine is too slow");
		ASSERT_EQ(TWHEEL_PLACE_SLOT, where.place);
		EXPECT_EQ(1, where.level);
		EXPECT_EQ(when / slot % 128, where.slot);
		ASSERT_GT(8, where.list);
		of_list[where.list]++;
		most = calls > most ? calls : most;
		most_before = before > most_before ? before : most_before;
	}
	for (int i = 0; i < 8; i++)
		EXPECT_EQ(250, of_list[i]);
	EXPECT_EQ(249, most_before);
	EXPECT_EQ(4, most);
}

/* Pushed back it stays where it is; brought forward it is filed anew. */
TEST_F(fresh, where_after_a_move)
{
	struct twheel_where first, later, sooner;
	__u64 base = now_ns() + HOUR;

	ASSERT_EQ(0, arm_at(self->fd, FREE, base, 0));
	ASSERT_EQ(0, wheel_where(self->fd, FREE, &first));
	ASSERT_EQ(0, arm_at(self->fd, FREE, 2 * base, 0));
	ASSERT_EQ(0, wheel_where(self->fd, FREE, &later));
	EXPECT_EQ(first.level, later.level);
	EXPECT_EQ(first.slot, later.slot);
	EXPECT_LT(first.filed, later.filed);
	ASSERT_EQ(0, arm_at(self->fd, FREE, base - HOUR / 2, 0));
	ASSERT_EQ(0, wheel_where(self->fd, FREE, &sooner));
	EXPECT_TRUE(sooner.level < first.level || sooner.slot != first.slot);
	EXPECT_GT(first.filed, sooner.filed);
}

/* SUBMIT */

TEST_F(wheel, submit_in_order_and_past_failures)
{
	struct twheel_op ops[] = {
		{ .opcode = TWHEEL_OP_ARM, .deadline = ~0ULL, .cookie = 1, .id = FREE },
		/* Moves the one above: order matters. */
		{ .opcode = TWHEEL_OP_ARM, .flags = TWHEEL_ARM_MOVE, .deadline = ~0ULL,
		  .cookie = 2, .id = FREE },
		{ .opcode = TWHEEL_OP_ARM, .flags = TWHEEL_ARM_NEW, .deadline = ~0ULL,
		  .cookie = 3, .id = FREE },
		{ .opcode = TWHEEL_OP_CANCEL, .id = FREE },
		{ .opcode = TWHEEL_OP_CANCEL, .id = FREE },
		{ .opcode = 0, .id = FREE },
		{ .opcode = 77, .id = FREE },
		{ .opcode = TWHEEL_OP_CANCEL, .id = CAPACITY },
		{ .opcode = TWHEEL_OP_ARM, .deadline = ~0ULL, .cookie = 8, .id = TWHEEL_ID_ANY },
		{ .opcode = TWHEEL_OP_ARM, .flags = 1U << 31, .deadline = 1, .id = 9 },
	};
	static const int results[] = {
		0, 0, -EEXIST, 0, 0, -EINVAL, -EINVAL, -ERANGE, 0, -EOPNOTSUPP,
	};
	static const __u32 states[] = {
		TWHEEL_STATE_IDLE, TWHEEL_STATE_PENDING, TWHEEL_STATE_PENDING,
		TWHEEL_STATE_PENDING, TWHEEL_STATE_IDLE,
	};
	struct twheel_timer t;
	__u32 failed;
	int i;

	ASSERT_EQ(ARRAY_SIZE(ops), wheel_submit(self->fd, ops, ARRAY_SIZE(ops), &failed));
	EXPECT_EQ(5, failed);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		EXPECT_EQ(results[i], ops[i].result)
			TH_LOG("op %d", i);
	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (!results[i])
			EXPECT_EQ(states[i], ops[i].state)
				TH_LOG("op %d", i);
	EXPECT_EQ(ops[1].generation, ops[3].generation);
	EXPECT_EQ(CAPACITY - 1, ops[8].id);
	ASSERT_EQ(0, wheel_get(self->fd, ops[8].id, &t));
	EXPECT_EQ(8, t.cookie);
	EXPECT_EQ(ops[8].generation, t.generation);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, FREE));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, 9));
}

/* An operation that fails says why, and nothing of a timer (round 45). */
TEST_F(wheel, submit_tells_nothing_of_what_fails)
{
	const __u32 stale = self->before.timers[0].generation + 1;
	const struct {
		struct twheel_op op;
		int error;
	} bad[] = {
		{ { .opcode = TWHEEL_OP_CANCEL, .id = PENDING, .generation = stale }, ESTALE },
		{ { .opcode = TWHEEL_OP_CANCEL, .id = FREE, .generation = stale }, ESTALE },
		{ { .opcode = TWHEEL_OP_CANCEL, .id = CAPACITY }, ERANGE },
		{ { .opcode = TWHEEL_OP_ARM, .id = PENDING, .generation = stale, .deadline = 1 },
		  ESTALE },
		{ { .opcode = TWHEEL_OP_ARM, .id = PENDING, .flags = TWHEEL_ARM_NEW,
		    .deadline = 1 }, EEXIST },
		{ { .opcode = TWHEEL_OP_ARM, .id = FREE, .flags = TWHEEL_ARM_MOVE,
		    .deadline = 1 }, ENOENT },
	};
	struct twheel_op ops[ARRAY_SIZE(bad)];
	__u32 failed;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ops[i] = bad[i].op;
		ops[i].state = 77;
	}
	ASSERT_EQ(ARRAY_SIZE(bad), wheel_submit(self->fd, ops, ARRAY_SIZE(bad), &failed));
	EXPECT_EQ(ARRAY_SIZE(bad), failed);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-bad[i].error, ops[i].result)
			TH_LOG("op %d", i);
		EXPECT_EQ(77, ops[i].state)
			TH_LOG("op %d", i);
		EXPECT_EQ(bad[i].op.generation, ops[i].generation)
			TH_LOG("op %d", i);
		EXPECT_EQ(bad[i].op.id, ops[i].id)
			TH_LOG("op %d", i);
	}
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(wheel, submit_of_nothing)
{
	struct twheel_submit s = {
		.op_size = sizeof(struct twheel_op),
		.done = 99,
		.failed = 99,
	};

	EXPECT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &s));
	EXPECT_EQ(0, s.done);
	EXPECT_EQ(0, s.failed);
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(wheel, submit_refuses)
{
	struct twheel_op ops[2] = {
		{ .opcode = TWHEEL_OP_CANCEL, .id = PENDING },
		{ .opcode = TWHEEL_OP_CANCEL, .id = EXPIRED },
	};
	const struct twheel_submit good = {
		.ops = (uintptr_t)ops,
		.nr = 2,
		.op_size = sizeof(ops[0]),
	};
	struct {
		const char *what;
		struct twheel_submit submit;
		int error;
	} bad[] = {
		{ "nr", good, EOVERFLOW },
		{ "all nr", good, EOVERFLOW },
		{ "no op_size", good, EINVAL },
		{ "smaller op_size", good, EINVAL },
		{ "larger op_size", good, EINVAL },
		{ "flag", good, EOPNOTSUPP },
		{ "reserved", good, EINVAL },
		{ "no ops", good, EFAULT },
		{ "unmapped ops", good, EFAULT },
		{ "ops in the kernel", good, EFAULT },
		{ "ops out of the address space", good, EFAULT },
	};
	int i;

	bad[0].submit.nr = TWHEEL_MAX_BATCH + 1;
	bad[1].submit.nr = ~0U;
	bad[2].submit.op_size = 0;
	bad[3].submit.op_size = sizeof(ops[0]) - 8;
	bad[4].submit.op_size = sizeof(ops[0]) + 8;
	bad[5].submit.flags = 1;
	bad[6].submit.reserved = 1;
	bad[7].submit.ops = 0;
	bad[8].submit.ops = (uintptr_t)nowhere();
	bad[9].submit.ops = 0xffffffff81000000ULL;
	bad[10].submit.ops = ~0ULL - 63;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-bad[i].error,
			  wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &bad[i].submit))
			TH_LOG("%s", bad[i].what);
		EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}
	EXPECT_EQ(2, wheel_submit(self->fd, ops, 2, NULL));
}

/* LIST and DRAIN */

TEST_F(wheel, list_in_order_from_a_cursor)
{
	struct twheel_timer t[8];
	__u32 cursor = 0, i;

	/* One at a time. */
	for (i = 0; i < 3; i++) {
		memset(t, 0xaa, sizeof(t));
		ASSERT_EQ(1, wheel_list(self->fd, TWHEEL_IOC_LIST, t, 1, &cursor));
		EXPECT_EQ(self->before.timers[i].id, t[0].id);
		t[0].remaining = 0;
		EXPECT_EQ(0, memcmp(&t[0], &self->before.timers[i], sizeof(t[0])));
		EXPECT_LT(t[0].id, cursor);
	}
	EXPECT_EQ(0, wheel_list(self->fd, TWHEEL_IOC_LIST, t, 1, &cursor));
	EXPECT_EQ(0, wheel_list(self->fd, TWHEEL_IOC_LIST, t, 8, &cursor));

	/* From the middle, and the whole. */
	cursor = PERIODIC;
	ASSERT_LE(1, wheel_list(self->fd, TWHEEL_IOC_LIST, t, 8, &cursor));
	EXPECT_EQ(PERIODIC, t[0].id);
	EXPECT_EQ(3, list_all(self->fd, TWHEEL_IOC_LIST, t, 8));
	EXPECT_EQ(PENDING, t[0].id);
	EXPECT_EQ(PERIODIC, t[1].id);
	EXPECT_EQ(EXPIRED, t[2].id);
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, t[2].state);
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(wheel, drain_cancels_what_it_returns)
{
	struct twheel_timer t[8];
	struct twheel_event ev;
	__u32 cursor = 0;

	ASSERT_EQ(1, wheel_list(self->fd, TWHEEL_IOC_DRAIN, t, 1, &cursor));
	t[0].remaining = 0;
	EXPECT_EQ(0, memcmp(&t[0], &self->before.timers[0], sizeof(t[0])));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, PENDING));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->fd, PERIODIC));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_state(self->fd, EXPIRED));

	ASSERT_EQ(2, list_all(self->fd, TWHEEL_IOC_DRAIN, t, 8));
	t[0].remaining = 0;
	EXPECT_EQ(0, memcmp(&t[0], &self->before.timers[1], sizeof(t[0])));
	EXPECT_EQ(0, memcmp(&t[1], &self->before.timers[2], sizeof(t[0])));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, EXPIRED));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(0, wheel_poll(self->fd, 0));
	EXPECT_EQ(0, list_all(self->fd, TWHEEL_IOC_LIST, t, 8));
	EXPECT_EQ(0, list_all(self->fd, TWHEEL_IOC_DRAIN, t, 8));
}

TEST_F(wheel, drain_frees_the_kernels_ids)
{
	struct twheel_timer t[8];
	struct twheel_op op = {
		.deadline = ~0ULL,
		.id = TWHEEL_ID_ANY,
	};

	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	ASSERT_EQ(4, list_all(self->fd, TWHEEL_IOC_DRAIN, t, 8));
	EXPECT_EQ(op.id, t[3].id);
	EXPECT_EQ(op.generation, t[3].generation);
	op = (struct twheel_op){ .deadline = ~0ULL, .id = TWHEEL_ID_ANY };
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(t[3].id, op.id);
	EXPECT_NE(t[3].generation, op.generation);
}

FIXTURE(either) {
	int fd;
	struct snapshot before;
};

FIXTURE_VARIANT(either) {
	unsigned long cmd;
};

FIXTURE_VARIANT_ADD(either, list) { .cmd = TWHEEL_IOC_LIST };
FIXTURE_VARIANT_ADD(either, drain) { .cmd = TWHEEL_IOC_DRAIN };

FIXTURE_SETUP(either)
{
	self->fd = wheel_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	ASSERT_EQ(0, arm_in(self->fd, 2, HOUR, 0));
	ASSERT_EQ(0, snapshot_take(self->fd, &self->before));
}

FIXTURE_TEARDOWN(either)
{
	close(self->fd);
}

TEST_F(either, refuses)
{
	struct twheel_timer t[2];
	const struct twheel_list good = {
		.timers = (uintptr_t)t,
		.nr = 2,
		.timer_size = sizeof(t[0]),
	};
	struct {
		const char *what;
		struct twheel_list list;
		int error;
	} bad[] = {
		{ "nothing", good, EINVAL },
		{ "nr", good, EOVERFLOW },
		{ "all nr", good, EOVERFLOW },
		{ "no timer_size", good, EINVAL },
		{ "larger timer_size", good, EINVAL },
		{ "flag", good, EOPNOTSUPP },
		{ "reserved", good, EINVAL },
		{ "no timers", good, EFAULT },
		{ "unmapped timers", good, EFAULT },
		{ "read-only timers", good, EFAULT },
		{ "timers in the kernel", good, EFAULT },
	};
	int i;

	bad[0].list.nr = 0;
	bad[1].list.nr = TWHEEL_MAX_BATCH + 1;
	bad[2].list.nr = ~0U;
	bad[3].list.timer_size = 0;
	bad[4].list.timer_size = sizeof(t[0]) + 8;
	bad[5].list.flags = 1;
	bad[6].list.reserved = 1;
	bad[7].list.timers = 0;
	bad[8].list.timers = (uintptr_t)nowhere();
	bad[9].list.timers = (uintptr_t)edge(0, NULL, 0, PROT_READ);
	bad[10].list.timers = 0xffffffff81000000ULL;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-bad[i].error,
			  wheel_ioctl(self->fd, variant->cmd, &bad[i].list))
			TH_LOG("%s", bad[i].what);
		EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}
	EXPECT_EQ(2, list_all(self->fd, variant->cmd, t, 2));
}

/* STATS */

TEST_F(fresh, stats_count)
{
	struct twheel_stats s;
	struct twheel_event ev[4];

	memset(&s, 0xaa, sizeof(s));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_STATS, &s));
	EXPECT_LT(0, s.memory);
	EXPECT_EQ(0, s.pending | s.expired | s.arms | s.cancels | s.fired |
		     s.delivered | s.overruns | s.moves | s.cascades |
		     s.interrupts | s.idle_interrupts | s.steps | s.max_pass |
		     s.wakeups);

	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	ASSERT_EQ(0, arm_in(self->fd, 1, 2 * HOUR, 0));
	ASSERT_EQ(0, arm_in(self->fd, 2, 5 * MSEC, 0));
	ASSERT_EQ(0, arm_in(self->fd, 3, 5 * MSEC, 0));
	ASSERT_EQ(0, arm_in(self->fd, 4, HOUR, 0));
	ASSERT_TRUE(wait_expired(self->fd, 2));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 4));
	ASSERT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, 5));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(1, s.pending);
	EXPECT_EQ(2, s.expired);
	EXPECT_EQ(5, s.arms);
	EXPECT_EQ(1, s.cancels);
	EXPECT_EQ(2, s.fired);
	EXPECT_EQ(0, s.delivered);
	EXPECT_LE(1, s.interrupts);

	ASSERT_EQ(1, wheel_read(self->fd, ev, 1));
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, ev[0].id ^ 1));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(1, s.pending);
	EXPECT_EQ(0, s.expired);
	EXPECT_EQ(2, s.cancels);
	EXPECT_EQ(2, s.fired);
	EXPECT_EQ(1, s.delivered);
}

/* TRIM */

TEST_F(fresh, trim_gives_back_what_is_idle)
{
	/* A chunk of 256 timers: three pages. */
	const __u64 chunk = 3 * 4096;
	struct twheel_op op = { .id = 5, .generation = 1, .deadline = now_ns() + HOUR };
	struct twheel_stats full, left;
	struct twheel_trim trim;
	struct twheel_timer t;
	__u32 id;

	memset(&trim, 0xaa, sizeof(trim));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, &trim));
	EXPECT_EQ(0, trim.freed);
	for (id = 0; id < 1000; id++)
		ASSERT_EQ(0, arm_in(self->fd, id, HOUR, 0));
	ASSERT_EQ(0, wheel_stats(self->fd, &full));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, &trim));
	EXPECT_EQ(0, trim.freed);
	for (id = 0; id < 1000; id++)
		if (id != 300)
			ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, id));
	/* Who can't be told of it gives nothing back. */
	ASSERT_EQ(-EFAULT, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, nowhere()));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, &trim));
	EXPECT_EQ(3 * chunk, trim.freed);
	ASSERT_EQ(0, wheel_stats(self->fd, &left));
	EXPECT_EQ(full.memory - trim.freed, left.memory);
	EXPECT_EQ(1, left.pending);
	ASSERT_EQ(0, wheel_get(self->fd, 300, &t));
	EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);

	/* A handle of the time before does not fit, then or later. */
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_ARM, &op));
	op.generation = 0;
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_ARM, &op));
	EXPECT_EQ(2, op.generation);
	op.generation = 1;
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_ARM, &op));
	ASSERT_EQ(0, wheel_stats(self->fd, &left));
	EXPECT_EQ(full.memory - 2 * chunk, left.memory);
}

/* What holds for all of them */

/* Larger than all structs, in u64. */
#define BUFFER	128

/* @first: the size when the call was introduced, if the struct has grown since */
static const struct {
	const char *name;
	unsigned long cmd;
	bool in;
	int first;
} all[] = {
	{ "FEATURES", TWHEEL_IOC_FEATURES, false },
	{ "SETUP", TWHEEL_IOC_SETUP, true },
	{ "GET_SETUP", TWHEEL_IOC_GET_SETUP, false },
	{ "ARM", TWHEEL_IOC_ARM, true },
	{ "CANCEL", TWHEEL_IOC_CANCEL, true },
	{ "GET", TWHEEL_IOC_GET, true },
	{ "SUBMIT", TWHEEL_IOC_SUBMIT, true },
	{ "LIST", TWHEEL_IOC_LIST, true },
	{ "DRAIN", TWHEEL_IOC_DRAIN, true },
	{ "STATS", TWHEEL_IOC_STATS, false, 120 },
	{ "TRIM", TWHEEL_IOC_TRIM, false },
	{ "WHERE", TWHEEL_IOC_WHERE, true },
};

/* The same number with another size. */
static unsigned long resized(unsigned long cmd, int by)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd),
		    _IOC_SIZE(cmd) + by);
}

/* A request that is valid for any wheel, at the start of a larger buffer. */
static void make_good(unsigned long cmd, void *buffer, size_t size, void *array)
{
	memset(buffer, 0, size);
	switch (cmd) {
	case TWHEEL_IOC_ARM:
		*(struct twheel_op *)buffer = (struct twheel_op){
			.deadline = ~0ULL,
			.id = FREE,
		};
		break;
	case TWHEEL_IOC_SUBMIT:
		*(struct twheel_submit *)buffer = (struct twheel_submit){
			.op_size = sizeof(struct twheel_op),
		};
		break;
	case TWHEEL_IOC_LIST:
	case TWHEEL_IOC_DRAIN:
		*(struct twheel_list *)buffer = (struct twheel_list){
			.timers = (uintptr_t)array,
			.nr = 1,
			.timer_size = sizeof(struct twheel_timer),
			/* Past what is armed, so that drain takes nothing. */
			.cursor = 200,
		};
		break;
	}
}

TEST_F(fresh, longer_structs)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	size_t size;
	int i, fd;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		size = _IOC_SIZE(all[i].cmd);
		fd = wheel_open(0);
		ASSERT_LE(0, fd);
		if (all[i].in) {
			make_good(all[i].cmd, buffer, sizeof(buffer), array);
			buffer[size / 8] = 1;
			EXPECT_EQ(-E2BIG,
				  wheel_ioctl(fd, resized(all[i].cmd, 16), buffer))
				TH_LOG("%s", all[i].name);
			make_good(all[i].cmd, buffer, sizeof(buffer), array);
			((char *)buffer)[size + 15] = 1;
			EXPECT_EQ(-E2BIG,
				  wheel_ioctl(fd, resized(all[i].cmd, 16), buffer))
				TH_LOG("%s, last byte", all[i].name);
		}
		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		EXPECT_EQ(0, wheel_ioctl(fd, resized(all[i].cmd, 16), buffer))
			TH_LOG("%s", all[i].name);
		close(fd);
	}
}

TEST_F(fresh, shorter_structs)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		int size = _IOC_SIZE(all[i].cmd), first = all[i].first ?: size;

		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		EXPECT_EQ(-EINVAL,
			  wheel_ioctl(self->fd, resized(all[i].cmd, first - size - 8), buffer))
			TH_LOG("%s", all[i].name);
		EXPECT_EQ(-EINVAL,
			  wheel_ioctl(self->fd,
				      resized(all[i].cmd,
					      -(int)_IOC_SIZE(all[i].cmd)),
				      buffer))
			TH_LOG("%s, nothing", all[i].name);
	}
}

/* A program that was compiled before a struct has grown gets what it knows, and no more. */
TEST_F(wheel, structs_of_before)
{
	struct twheel_stats now, then;

	ASSERT_EQ(0, wheel_stats(self->fd, &now));
	memset(&then, 0xaa, sizeof(then));
	ASSERT_EQ(0, wheel_ioctl(self->fd, resized(TWHEEL_IOC_STATS, 120 - (int)sizeof(then)),
				 &then));
	EXPECT_EQ(now.delivered, then.delivered);
	EXPECT_EQ(now.memory, then.memory);
	EXPECT_EQ(0xaaaaaaaaaaaaaaaaULL, then.next);
	EXPECT_EQ(0xaaaaaaaaaaaaaaaaULL, then.unread[TWHEEL_LATE_CLASSES - 1]);
}

TEST_F(wheel, no_such_ioctl)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	unsigned long cmd;
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		int dir = _IOC_DIR(all[i].cmd);

		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		/* The other direction, and none. */
		cmd = _IOC(dir ^ _IOC_WRITE, TWHEEL_IOC_MAGIC,
			   _IOC_NR(all[i].cmd), _IOC_SIZE(all[i].cmd));
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("%s, direction", all[i].name);
		cmd = _IOC(_IOC_NONE, TWHEEL_IOC_MAGIC, _IOC_NR(all[i].cmd),
			   _IOC_SIZE(all[i].cmd));
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("%s, no direction", all[i].name);
		cmd = _IOC(dir, TWHEEL_IOC_MAGIC - 1, _IOC_NR(all[i].cmd),
			   _IOC_SIZE(all[i].cmd));
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("%s, magic", all[i].name);
	}
	for (i = ARRAY_SIZE(all); i < 256; i++) {
		memset(buffer, 0, sizeof(buffer));
		cmd = _IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC, i, 64);
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("number %d", i);
	}
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(fresh, bad_pointers)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	void *readonly;
	struct snapshot before;
	int i;

	ASSERT_EQ(0, snapshot_take(self->fd, &before));
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		EXPECT_EQ(-EFAULT, wheel_ioctl(self->fd, all[i].cmd, NULL))
			TH_LOG("%s, null", all[i].name);
		EXPECT_EQ(-EFAULT, wheel_ioctl(self->fd, all[i].cmd, nowhere()))
			TH_LOG("%s, unmapped", all[i].name);
		/* Where the answer does not fit, nothing may be done. */
		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		readonly = edge(0, buffer, sizeof(buffer), PROT_READ);
		EXPECT_EQ(-EFAULT, wheel_ioctl(self->fd, all[i].cmd, readonly))
			TH_LOG("%s, read-only", all[i].name);
		EXPECT_TRUE(snapshot_holds(self->fd, &before))
			TH_LOG("%s: changed the wheel", all[i].name);
	}
	/* Not even the one setup is used up. */
	EXPECT_EQ(0, set_up(self->fd, &(struct twheel_setup){}));
}

/* What else the file can and can't do */

TEST_F(wheel, fdinfo)
{
	static const char * const keys[] = {
		"number", "clock", "tick-ns", "levels", "slots", "capacity", "now-ns",
		"pending", "expired", "arms", "cancels", "fired", "delivered", "overruns", "moves",
		"cascades", "interrupts", "idle-interrupts", "steps", "max-pass", "wakeups",
		"memory", "next-ns", "storms", "oldest-ns", "max-late-ns", "max-unread-ns", "late",
		"unread",
	};
	struct twheel_stats s;
	char path[64], key[64], text[4096];
	__u64 before = now_ns(), now;
	int i;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	ASSERT_LT(0, read_file(path, text, sizeof(text)));
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(key, sizeof(key), "\ntwheel-%s:\t", keys[i]);
		EXPECT_TRUE(!!strstr(text, key))
			TH_LOG("%s", keys[i]);
	}
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(TWHEEL_DEFAULT_TICK, file_value(path, "twheel-tick-ns:\t"));
	EXPECT_EQ(CAPACITY, file_value(path, "twheel-capacity:\t"));
	EXPECT_EQ(2, file_value(path, "twheel-pending:\t"));
	EXPECT_EQ(1, file_value(path, "twheel-expired:\t"));
	EXPECT_EQ(s.fired, file_value(path, "twheel-fired:\t"));
	EXPECT_EQ(1, file_value(path, "twheel-delivered:\t"));
	EXPECT_EQ(s.arms, file_value(path, "twheel-arms:\t"));
	EXPECT_EQ(s.memory, file_value(path, "twheel-memory:\t"));
	now = file_value(path, "twheel-now-ns:\t");
	EXPECT_LE(before, now);
	EXPECT_GE(now_ns(), now);
}

/* By its number one wheel is known from others, whoever holds it. */
TEST_F(wheel, numbers)
{
	int same = dup(self->fd), other = wheel_open(0);

	ASSERT_LE(0, same);
	ASSERT_LE(0, other);
	EXPECT_LT(0, number_of(self->fd));
	EXPECT_EQ(number_of(self->fd), number_of(same));
	EXPECT_LT(number_of(self->fd), number_of(other));
	EXPECT_EQ(0, close(same));
	EXPECT_EQ(0, close(other));
}

TEST_HARNESS_MAIN
