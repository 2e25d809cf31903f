// SPDX-License-Identifier: GPL-2.0
/*
 * What wheels there may be, and what a wheel was made: FEATURES, SETUP and GET_SETUP.
 *
 * Bed: plain, storm, short
 */
#include "twheel_test.h"

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

TEST_HARNESS_MAIN
