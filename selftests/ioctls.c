// SPDX-License-Identifier: GPL-2.0
/*
 * Each ioctl of /dev/twheel, with good and with bad input.
 *
 * Each bad request has one error in it and is valid otherwise, so that nothing
 * else can explain the errno; after it the wheel must be as it was before.
 *
 * Bed: plain, storm, short
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
static_assert(sizeof(struct twheel_setup) == 56, "setup");
static_assert(offsetof(struct twheel_setup, tick) == 8, "setup.tick");
static_assert(offsetof(struct twheel_setup, event_size) == 28, "setup.event_size");
static_assert(offsetof(struct twheel_setup, words_offset) == 32, "setup.words_offset");
static_assert(offsetof(struct twheel_setup, clock_offset) == 48, "setup.clock_offset");
static_assert(sizeof(struct twheel_op) == 64, "op");
static_assert(offsetof(struct twheel_op, deadline) == 8, "op.deadline");
static_assert(offsetof(struct twheel_op, count) == 40, "op.count");
static_assert(offsetof(struct twheel_op, result) == 60, "op.result");
static_assert(sizeof(struct twheel_submit) == 32, "submit");
static_assert(sizeof(struct twheel_timer) == 64, "timer");
static_assert(offsetof(struct twheel_timer, cookie) == 16, "timer.cookie");
static_assert(sizeof(struct twheel_list) == 32, "list");
static_assert(sizeof(struct twheel_stats) == 280, "stats");
static_assert(TWHEEL_IOC_FEATURES == 0x8038bb00, "FEATURES");
static_assert(TWHEEL_IOC_SETUP == 0xc038bb01, "SETUP");
static_assert(TWHEEL_IOC_GET_SETUP == 0x8038bb02, "GET_SETUP");
static_assert(TWHEEL_IOC_ARM == 0xc040bb03, "ARM");
static_assert(TWHEEL_IOC_CANCEL == 0xc040bb04, "CANCEL");
static_assert(TWHEEL_IOC_GET == 0xc040bb05, "GET");
static_assert(TWHEEL_IOC_SUBMIT == 0xc020bb06, "SUBMIT");
static_assert(TWHEEL_IOC_LIST == 0xc020bb07, "LIST");
static_assert(TWHEEL_IOC_STATS == 0x8118bb08, "STATS");

/* A wheel in use: each state of a timer has one. */
enum {
	PENDING		= 1,
	PERIODIC	= 2,
	EXPIRED		= 3,
	DELIVERED	= 4,
	FREE		= 5,
};

#define CAPACITY	300U

FIXTURE(used) {
	int fd;
	struct snapshot before;
};

FIXTURE_SETUP(used)
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

FIXTURE_TEARDOWN(used)
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
	EXPECT_EQ(0, f.features & ~TWHEEL_FEATURE_WORDS);
	EXPECT_LT(0, f.min_tick);
	EXPECT_GE(TWHEEL_MIN_TICK, f.min_tick);
	EXPECT_EQ(TWHEEL_MAX_CAPACITY, f.max_capacity);
	EXPECT_EQ(TWHEEL_MAX_LEVELS, f.max_levels);
	EXPECT_EQ(TWHEEL_MAX_SLOTS, f.max_slots);
	EXPECT_EQ(TWHEEL_MAX_BATCH, f.max_batch);
	EXPECT_EQ(0, f.reserved);
	EXPECT_EQ(1 << CLOCK_MONOTONIC | 1 << CLOCK_BOOTTIME | 1 << CLOCK_REALTIME, f.clocks);

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

TEST_F(fresh, setup_of_nothing_gives_the_defaults)
{
	struct twheel_setup s = {}, again;

	EXPECT_EQ(CLOCK_MONOTONIC, self->defaults.clock);
	EXPECT_EQ(TWHEEL_DEFAULT_TICK, self->defaults.tick);
	EXPECT_LE(1, self->defaults.levels);
	EXPECT_GE(TWHEEL_MAX_LEVELS, self->defaults.levels);
	EXPECT_EQ(TWHEEL_DEFAULT_SLOTS, self->defaults.slots);
	EXPECT_EQ(TWHEEL_DEFAULT_CAPACITY, self->defaults.capacity);
	EXPECT_EQ(sizeof(struct twheel_event), self->defaults.event_size);

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
		/* Of a newer ABI: this kernel has its own. */
		.event_size = sizeof(struct twheel_event) + 16,
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
	EXPECT_EQ(sizeof(struct twheel_event), s.event_size);
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

TEST_F(fresh, setup_takes_the_extremes)
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

TEST_F(fresh, setup_refuses_what_is_wrong)
{
	static const struct {
		const char *what;
		struct twheel_setup setup;
		int error;
	} bad[] = {
		{ "flag", { .flags = 1U << 31 }, EOPNOTSUPP },
		{ "next flag", { .flags = TWHEEL_SETUP_WORDS << 1 }, EOPNOTSUPP },
		{ "clock 99", { .flags = TWHEEL_SETUP_CLOCK, .clock = 99 }, EOPNOTSUPP },
		{ "clock TAI", { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_TAI }, EOPNOTSUPP },
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
		{ "event_size", { .event_size = sizeof(struct twheel_event) - 1 }, EINVAL },
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

TEST_F(fresh, setup_works_once)
{
	struct twheel_setup s = { .capacity = 100 };

	ASSERT_EQ(0, set_up(self->fd, &s));
	s = (struct twheel_setup){ .capacity = 200 };
	EXPECT_EQ(-EBUSY, set_up(self->fd, &s));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_GET_SETUP, &s));
	EXPECT_EQ(100, s.capacity);
}

TEST_F(fresh, setup_is_refused_after_an_arm)
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

TEST_F(used, arm_tells_id_generation_and_state)
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

TEST_F(used, arm_tells_each_state)
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
TEST_F(used, arm_keeps_what_was_said)
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

TEST_F(used, arm_only_if_new_or_armed)
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

TEST_F(used, arm_with_a_generation_needs_that_one)
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

TEST_F(used, an_arm_at_zero_is_never_due)
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

TEST(deadlines_and_periods_saturate)
{
	const __u64 end = ~0ULL >> 1;
	int fd = wheel_open(O_NONBLOCK);
	struct twheel_event ev = {};
	struct twheel_timer t;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, arm_at(fd, 1, ~0ULL, 0));
	ASSERT_EQ(0, wheel_get(fd, 1, &t));
	EXPECT_EQ(end, t.deadline);
	EXPECT_EQ(-ERANGE, arm_in(fd, 2, end + 1, 0));
	ASSERT_EQ(0, arm_in(fd, 2, end, 0));
	ASSERT_EQ(0, wheel_get(fd, 2, &t));
	EXPECT_EQ(end, t.deadline);
	/* The first period ends now, the second never. */
	ASSERT_EQ(0, arm_every(fd, 3, 1, end, 0));
	ASSERT_EQ(1, collect(fd, &ev, 1));
	EXPECT_EQ(3, ev.id);
	EXPECT_EQ(0, ev.flags);
	ASSERT_EQ(0, wheel_get(fd, 3, &t));
	EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
	EXPECT_EQ(end, t.deadline);
	EXPECT_EQ(-ERANGE, arm_every(fd, 4, 1, end + 1, 0));
	EXPECT_EQ(-EAGAIN, wheel_read(fd, &ev, 1));
	close(fd);
}

TEST_F(used, an_arm_beyond_time_is_never_due)
{
	static const struct {
		__u32 flags;
		__u64 deadline;
	} far[] = {
		{ 0, 1ULL << 63 },
		{ 0, (1ULL << 63) - 1 },
		{ 0, ~0ULL },
		{ TWHEEL_ARM_RELATIVE, (1ULL << 63) - 1 },
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

TEST_F(used, arm_refuses_what_is_wrong)
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

/* The wall clock may be set, so a duration by it has no meaning. */
TEST_F(fresh, a_relative_arm_by_the_wall_clock_is_refused)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_REALTIME };

	ASSERT_EQ(0, set_up(self->fd, &s));
	EXPECT_EQ(-EINVAL, arm_in(self->fd, FREE, HOUR, 0));
	EXPECT_EQ(0, arm_at(self->fd, FREE, clock_ns(CLOCK_REALTIME) + HOUR, 0));
}

TEST_F(used, the_kernel_chooses_ids_from_the_top)
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

/* Ids: some are cancelled, others come due, and the kernel chooses none that is armed. */
TEST(the_kernel_chooses_no_id_that_is_armed)
{
	enum { NR_IDS = 512 };
	struct twheel_setup setup = { .capacity = NR_IDS };
	__u32 seed = 1, id, nr = 0, fired = 0, cancelled = 0;
	struct twheel_event ev[NR_IDS];
	int fd = wheel_open(O_NONBLOCK), n;
	bool armed[NR_IDS] = {};

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	for (int i = 0; i < 20000; i++) {
		struct twheel_op op = { .id = TWHEEL_ID_ANY };

		if (nr == NR_IDS) {
			/* All that are due are read; of the others a quarter are cancelled. */
			n = wheel_read(fd, ev, NR_IDS);
			for (int k = 0; k < n; k++) {
				ASSERT_TRUE(armed[ev[k].id]);
				armed[ev[k].id] = false;
				nr--;
				fired++;
			}
			for (id = next_random(&seed) % 4; id < NR_IDS; id += 4) {
				if (!armed[id])
					continue;
				ASSERT_LE(0, wheel_cancel(fd, id));
				armed[id] = false;
				nr--;
				cancelled++;
			}
			continue;
		}
		op.deadline = now_ns() + (next_random(&seed) % 4 ? HOUR :
					  next_random(&seed) % (2 * MSEC));
		ASSERT_EQ(0, wheel_arm(fd, &op))
			TH_LOG("arm %d, %u armed, %u fired, %u cancelled", i, nr, fired, cancelled);
		ASSERT_GT(NR_IDS, op.id);
		ASSERT_FALSE(armed[op.id])
			TH_LOG("arm %d: id %u", i, op.id);
		armed[op.id] = true;
		nr++;
	}
	EXPECT_LT(0, fired);
	EXPECT_LT(0, cancelled);
	close(fd);
}

TEST_F(used, cancel_tells_what_it_found)
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
	EXPECT_EQ(0, list_all(self->fd, self->before.timers, 1));

	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_cancel(self->fd, DELIVERED));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, FREE));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, PENDING));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, CAPACITY - 1));
}

TEST_F(used, cancel_of_what_is_not_armed_changes_nothing)
{
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_cancel(self->fd, DELIVERED));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, FREE));
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(used, cancel_refuses_what_is_wrong)
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

TEST_F(used, get_tells_all)
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
	EXPECT_EQ(1, t.remaining);

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

TEST_F(used, get_refuses_what_is_wrong)
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

/* SUBMIT */

TEST_F(used, submit_works_in_order_and_past_failures)
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

/* An operation that fails says why, and nothing of a timer. */
TEST_F(used, submit_tells_nothing_of_what_fails)
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

TEST_F(used, submit_of_nothing_does_nothing)
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

TEST_F(used, submit_refuses_what_is_wrong)
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
		{ "huge op_size", good, EINVAL },
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
	bad[4].submit.op_size = ~0U;
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

/* Records of a later ABI: longer by as much, which has to be 0 here. */
#define LONGER		(sizeof(struct twheel_op) + 16)

TEST_F(used, submit_takes_longer_records)
{
	char array[3][LONGER] __attribute__((aligned(8))) = {};
	struct twheel_submit s = {
		.ops = (uintptr_t)array, .nr = 3, .op_size = LONGER,
	};
	struct twheel_op *op[3];

	for (int i = 0; i < 3; i++) {
		op[i] = (struct twheel_op *)array[i];
		op[i]->opcode = TWHEEL_OP_CANCEL;
	}
	op[0]->id = PENDING;
	op[1]->id = EXPIRED;
	op[2]->id = PERIODIC;
	/* Where one asks for something unknown the call stops, or fails. */
	array[0][LONGER - 1] = 1;
	EXPECT_EQ(-E2BIG, wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &s));
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
	array[0][LONGER - 1] = 0;
	array[2][LONGER - 1] = 1;
	EXPECT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &s));
	EXPECT_EQ(2, s.done);
	EXPECT_EQ(0, s.failed);
	EXPECT_EQ(TWHEEL_STATE_PENDING, op[0]->state);
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, op[1]->state);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->fd, PERIODIC));
}

/* LIST */

TEST_F(used, list_tells_in_order_from_a_cursor)
{
	struct twheel_timer t[8];
	__u32 cursor = 0, i;

	/* One at a time. */
	for (i = 0; i < 3; i++) {
		memset(t, 0xaa, sizeof(t));
		ASSERT_EQ(1, wheel_list(self->fd, t, 1, &cursor));
		EXPECT_EQ(self->before.timers[i].id, t[0].id);
		t[0].remaining = 0;
		EXPECT_EQ(0, memcmp(&t[0], &self->before.timers[i], sizeof(t[0])));
		EXPECT_LT(t[0].id, cursor);
	}
	EXPECT_EQ(0, wheel_list(self->fd, t, 1, &cursor));
	EXPECT_EQ(0, wheel_list(self->fd, t, 8, &cursor));

	/* From the middle, and the whole. */
	cursor = PERIODIC;
	ASSERT_LE(1, wheel_list(self->fd, t, 8, &cursor));
	EXPECT_EQ(PERIODIC, t[0].id);
	EXPECT_EQ(3, list_all(self->fd, t, 8));
	EXPECT_EQ(PENDING, t[0].id);
	EXPECT_EQ(PERIODIC, t[1].id);
	EXPECT_EQ(EXPIRED, t[2].id);
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, t[2].state);
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(used, list_fills_longer_records)
{
	char array[4][LONGER] __attribute__((aligned(8)));
	struct twheel_list l = {
		.timers = (uintptr_t)array, .nr = 4, .timer_size = LONGER,
	};

	memset(array, 0xaa, sizeof(array));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_LIST, &l));
	ASSERT_EQ(3, l.done);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(self->before.timers[i].id, ((struct twheel_timer *)array[i])->id);
		for (int at = sizeof(struct twheel_timer); at < LONGER; at++)
			EXPECT_EQ(0, array[i][at]);
	}
}

TEST_F(used, list_refuses_what_is_wrong)
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
		{ "huge timer_size", good, EINVAL },
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
	bad[4].list.timer_size = ~0U;
	bad[5].list.flags = 1;
	bad[6].list.reserved = 1;
	bad[7].list.timers = 0;
	bad[8].list.timers = (uintptr_t)nowhere();
	bad[9].list.timers = (uintptr_t)edge(0, NULL, 0, PROT_READ);
	bad[10].list.timers = 0xffffffff81000000ULL;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-bad[i].error,
			  wheel_ioctl(self->fd, TWHEEL_IOC_LIST, &bad[i].list))
			TH_LOG("%s", bad[i].what);
		EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}
}

/*
 * A program drains a wheel by LIST and by cancels with the generations that it lists, while timers
 * expire, an event is read, and another thread arms them again.  Each arming ends once: replaced,
 * cancelled as pending or as expired, or read.
 */
#define DRAIN_IDS	256
#define DRAIN_ARMINGS	400000

struct drain {
	int fd;
	bool stop;
	/* How often each arming ended, by its cookie. */
	unsigned char *ended;
	__u32 armings;
	int error;
};

static bool is_armed(__u32 state)
{
	return state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
}

static void drain_end(struct drain *d, __u64 cookie)
{
	__atomic_fetch_add(&d->ended[cookie], 1, __ATOMIC_RELAXED);
}

static bool drain_stopped(const struct drain *d)
{
	return __atomic_load_n(&d->stop, __ATOMIC_ACQUIRE);
}

static void *drain_arm(void *arg)
{
	struct drain *d = arg;
	__u32 last[DRAIN_IDS] = {}, seed = 3;

	while (!drain_stopped(d) && d->armings < DRAIN_ARMINGS - 1 && !d->error) {
		struct twheel_op op = {
			.flags = TWHEEL_ARM_RELATIVE,
			.deadline = 1 + next_random(&seed) % (4 * MSEC),
			.cookie = ++d->armings,
			.id = next_random(&seed) % DRAIN_IDS,
		};

		d->error = wheel_arm(d->fd, &op);
		if (is_armed(op.state))
			drain_end(d, last[op.id]);
		last[op.id] = op.cookie;
	}
	return NULL;
}

static void *drain_read(void *arg)
{
	struct drain *d = arg;
	struct twheel_event ev[4];
	int n;

	do {
		wheel_poll(d->fd, 1);
		n = wheel_read(d->fd, ev, ARRAY_SIZE(ev));
		for (int i = 0; i < n; i++)
			drain_end(d, ev[i].cookie);
	} while (!drain_stopped(d) || n > 0);
	return NULL;
}

/* List all timers and cancel them; the number of them, or a negative errno. */
static int drain_once(struct drain *d, __u64 *cancelled)
{
	struct twheel_timer t[32];
	struct twheel_op ops[32];
	__u32 cursor = 0;
	int nr = 0, n, i;

	while ((n = wheel_list(d->fd, t, ARRAY_SIZE(t), &cursor)) > 0) {
		for (i = 0; i < n; i++)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_CANCEL,
				.id = t[i].id,
				.generation = t[i].generation,
			};
		if (wheel_submit(d->fd, ops, n, NULL) != n)
			return -EIO;
		for (i = 0; i < n; i++) {
			/* Armed again since: that arming is not the one that was listed. */
			if (ops[i].result == -ESTALE)
				continue;
			if (ops[i].result)
				return ops[i].result;
			if (!is_armed(ops[i].state))
				continue;
			cancelled[ops[i].state]++;
			drain_end(d, t[i].cookie);
		}
		nr += n;
	}
	return n < 0 ? n : nr;
}

TEST_F(fresh, list_and_cancel_drain_a_wheel)
{
	struct drain d = { .fd = self->fd, .ended = calloc(DRAIN_ARMINGS, 1) };
	__u64 end = now_ns() + SEC, cancelled[TWHEEL_STATE_DELIVERED + 1] = {}, wrong = 0;
	struct twheel_stats stats;
	pthread_t armer, reader;
	int ret;

	ASSERT_TRUE(!!d.ended);
	ASSERT_EQ(0, thread_start(&armer, drain_arm, &d));
	ASSERT_EQ(0, thread_start(&reader, drain_read, &d));
	do {
		ret = drain_once(&d, cancelled);
		ASSERT_LE(0, ret);
	} while (now_ns() < end);
	__atomic_store_n(&d.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(armer, NULL));
	ASSERT_EQ(0, pthread_join(reader, NULL));
	EXPECT_EQ(0, d.error);
	/* No reader holds an event any more: what is listed now is all there is. */
	ASSERT_LE(0, drain_once(&d, cancelled));
	d.armings++;
	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, d.armings));
	ASSERT_EQ(1, drain_once(&d, cancelled));
	ASSERT_EQ(0, drain_once(&d, cancelled));
	ASSERT_EQ(0, wheel_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending + stats.expired);
	for (__u32 i = 1; i <= d.armings; i++)
		wrong += d.ended[i] != 1;
	EXPECT_EQ(0, wrong)
		TH_LOG("of %u", d.armings);
	EXPECT_LT(0, cancelled[TWHEEL_STATE_PENDING]);
	EXPECT_LT(0, stats.delivered);
	free(d.ended);
}

/* STATS */

TEST_F(fresh, stats_count_what_was_done)
{
	struct twheel_stats s;
	struct twheel_event ev[4];

	memset(&s, 0xaa, sizeof(s));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_STATS, &s));
	EXPECT_LT(0, s.memory);
	EXPECT_EQ(0, s.pending | s.expired | s.arms | s.cancels | s.fired |
		     s.delivered | s.overruns | s.interrupts | s.next | s.max_late);

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

static __u64 sum_of(const __u64 *classes)
{
	__u64 sum = 0;

	for (int i = 0; i < TWHEEL_LATE_CLASSES; i++)
		sum += classes[i];
	return sum;
}

/* Late is when an event was found, whenever it was read; and a deadline in the past is late too. */
TEST_F(fresh, stats_tell_lateness)
{
	/* Far enough off to be asked for before, on a machine that is busy elsewhere. */
	__u64 due = now_ns() + SEC, past, late = 0;
	struct twheel_event ev[3];
	struct twheel_stats s;

	for (int i = 0; i < ARRAY_SIZE(ev); i++)
		ASSERT_EQ(0, arm_at(self->fd, i, due, 0));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_LE(due - MSEC, s.next);
	EXPECT_GE(due + MSEC, s.next);
	ASSERT_TRUE(wait_expired(self->fd, ARRAY_SIZE(ev)));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(0, s.next);
	EXPECT_EQ(0, sum_of(s.late));
	EXPECT_EQ(0, s.max_late);
	ASSERT_EQ(ARRAY_SIZE(ev), collect(self->fd, ev, ARRAY_SIZE(ev)));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(ARRAY_SIZE(ev), sum_of(s.late));
	for (int i = 0; i < ARRAY_SIZE(ev); i++)
		if (ev[i].fired - due > late)
			late = ev[i].fired - due;
	EXPECT_EQ(late, s.max_late);

	past = now_ns() / 2;
	ASSERT_EQ(0, arm_at(self->fd, 1, past, 0));
	ASSERT_EQ(1, collect(self->fd, ev, 1));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(ARRAY_SIZE(ev) + 1, sum_of(s.late));
	EXPECT_EQ(ev[0].fired - past, s.max_late);
}

/* Of 20,000 in one slot, which comes down early, one is due before the others. */
TEST_F(fresh, next_is_no_later_than_the_first)
{
	static struct twheel_op ops[20000];
	struct twheel_setup setup = { .tick = 100 * USEC };
	__u64 slot = 409600 * USEC, first;
	struct twheel_stats s;

	ASSERT_EQ(0, set_up(self->fd, &setup));
	/* Beyond the reach of level 1. */
	first = (now_ns() / slot + 4) * slot + 50 * MSEC;
	for (int i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = i,
			.deadline = i ? first + 200 * MSEC : first,
		};
	ASSERT_EQ(ARRAY_SIZE(ops), wheel_submit(self->fd, ops, ARRAY_SIZE(ops), NULL));
	for (;;) {
		ASSERT_EQ(0, wheel_stats(self->fd, &s));
		if (now_ns() >= first)
			break;
		ASSERT_LE(s.next, first + MSEC);
	}
	EXPECT_LT(0, s.interrupts);
}

/* All calls */

/* Larger than all structs, in u64. */
#define BUFFER	128

static const struct {
	const char *name;
	unsigned long cmd;
	bool in;
	/* Changes the wheel. */
	bool writes;
} all[] = {
	{ "FEATURES", TWHEEL_IOC_FEATURES, false, false },
	{ "SETUP", TWHEEL_IOC_SETUP, true, true },
	{ "GET_SETUP", TWHEEL_IOC_GET_SETUP, false, false },
	{ "ARM", TWHEEL_IOC_ARM, true, true },
	{ "CANCEL", TWHEEL_IOC_CANCEL, true, true },
	{ "GET", TWHEEL_IOC_GET, true, false },
	{ "SUBMIT", TWHEEL_IOC_SUBMIT, true, true },
	{ "LIST", TWHEEL_IOC_LIST, true, false },
	{ "STATS", TWHEEL_IOC_STATS, false, false },
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
		*(struct twheel_list *)buffer = (struct twheel_list){
			.timers = (uintptr_t)array,
			.nr = 1,
			.timer_size = sizeof(struct twheel_timer),
		};
		break;
	}
}

TEST_F(fresh, longer_structs_work_if_the_rest_is_zero)
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

TEST_F(fresh, shorter_structs_are_refused)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		int size = _IOC_SIZE(all[i].cmd);

		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		EXPECT_EQ(-EINVAL, wheel_ioctl(self->fd, resized(all[i].cmd, -8), buffer))
			TH_LOG("%s", all[i].name);
		EXPECT_EQ(-EINVAL, wheel_ioctl(self->fd, resized(all[i].cmd, -size), buffer))
			TH_LOG("%s, nothing", all[i].name);
	}
}

/* A file that is open for reading only tells all, and changes nothing. */
TEST(a_file_open_for_reading_only_changes_nothing)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct twheel_timer array[1];
	struct snapshot before;
	__u64 buffer[BUFFER];

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, snapshot_take(fd, &before));
	for (int i = 0; i < ARRAY_SIZE(all); i++) {
		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		EXPECT_EQ(all[i].writes ? -EBADF : 0, wheel_ioctl(fd, all[i].cmd, buffer))
			TH_LOG("%s", all[i].name);
	}
	EXPECT_TRUE(snapshot_holds(fd, &before));
	close(fd);
}

TEST_F(used, unknown_ioctls_are_refused)
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

TEST_F(fresh, bad_pointers_change_nothing)
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

TEST_F(used, fdinfo_tells_what_the_ioctls_do)
{
	static const char * const keys[] = {
		"number", "clock", "tick-ns", "levels", "slots", "capacity", "now-ns",
		"pending", "expired", "arms", "cancels", "fired", "delivered", "overruns",
		"interrupts", "memory", "next-ns", "max-late-ns", "late",
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
TEST_F(used, a_wheel_is_known_by_its_number)
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
