// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls of /dev/twheel, with good and with bad input: what holds for all of them, and those
 * for a wheel as a whole. ioctls_timer.c has those for one timer, ioctls_many.c those for many.
 *
 * Each bad request has one error in it and is valid otherwise, so that nothing
 * else can explain the errno; after it the wheel must be as it was before.
 */
#include <assert.h>

#include "fresh_test.h"
#include "ioctls_test.h"

/*
 * The layout is the ABI: it must not differ between 32-bit and 64-bit
 * programs, nor change.
 */
static_assert(sizeof(struct twheel_event) == 48, "event");
static_assert(offsetof(struct twheel_event, cookie) == 8, "event.cookie");
static_assert(offsetof(struct twheel_event, flags) == 40, "event.flags");
static_assert(sizeof(struct twheel_features) == 64, "features");
static_assert(offsetof(struct twheel_features, features) == 8, "features.features");
static_assert(offsetof(struct twheel_features, max_user_timers) == 40, "features.max_user_timers");
static_assert(sizeof(struct twheel_setup) == 80, "setup");
static_assert(offsetof(struct twheel_setup, tick) == 8, "setup.tick");
static_assert(offsetof(struct twheel_setup, words_offset) == 48, "setup.words_offset");
static_assert(offsetof(struct twheel_setup, clock_offset) == 72, "setup.clock_offset");
static_assert(sizeof(struct twheel_op) == 64, "op");
static_assert(offsetof(struct twheel_op, deadline) == 8, "op.deadline");
static_assert(offsetof(struct twheel_op, count) == 40, "op.count");
static_assert(offsetof(struct twheel_op, result) == 60, "op.result");
static_assert(sizeof(struct twheel_submit) == 32, "submit");
static_assert(sizeof(struct twheel_timer) == 64, "timer");
static_assert(offsetof(struct twheel_timer, cookie) == 16, "timer.cookie");
static_assert(sizeof(struct twheel_list) == 32, "list");
static_assert(sizeof(struct twheel_stats) == 552, "stats");
static_assert(TWHEEL_IOC_FEATURES == 0x8040bb00, "FEATURES");
static_assert(TWHEEL_IOC_SETUP == 0xc050bb01, "SETUP");
static_assert(TWHEEL_IOC_GET_SETUP == 0x8050bb02, "GET_SETUP");
static_assert(TWHEEL_IOC_ARM == 0xc040bb03, "ARM");
static_assert(TWHEEL_IOC_CANCEL == 0xc040bb04, "CANCEL");
static_assert(TWHEEL_IOC_GET == 0xc040bb05, "GET");
static_assert(TWHEEL_IOC_SUBMIT == 0xc020bb06, "SUBMIT");
static_assert(TWHEEL_IOC_LIST == 0xc020bb07, "LIST");
static_assert(TWHEEL_IOC_DRAIN == 0xc020bb08, "DRAIN");
static_assert(TWHEEL_IOC_STATS == 0x8228bb09, "STATS");
static_assert(TWHEEL_IOC_TRIM == 0x8008bb0a, "TRIM");
static_assert(TWHEEL_IOC_WHERE == 0xc030bb0b, "WHERE");

/* FEATURES */

TEST_F(fresh, features_say_what_there_is)
{
	struct twheel_features f;
	struct twheel_setup s;
	int clock, fd, ret;

	memset(&f, 0xaa, sizeof(f));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_FEATURES, &f));
	EXPECT_EQ(TWHEEL_ABI, f.abi);
	EXPECT_EQ(0, f.features & ~(TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_RING |
				    TWHEEL_FEATURE_WHERE));
	EXPECT_LT(0, f.min_tick);
	EXPECT_GE(TWHEEL_MIN_TICK, f.min_tick);
	EXPECT_EQ(TWHEEL_MAX_CAPACITY, f.max_capacity);
	EXPECT_EQ(TWHEEL_MAX_LEVELS, f.max_levels);
	EXPECT_EQ(TWHEEL_MAX_SLOTS, f.max_slots);
	EXPECT_EQ(TWHEEL_MAX_BATCH, f.max_batch);
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
	EXPECT_EQ(file_value(PARAMETERS "max_user_capacity", NULL),
		  (long long)f.max_user_capacity);
	EXPECT_EQ(file_value(PARAMETERS "max_user_ring", NULL),
		  (long long)f.max_user_ring);
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
	EXPECT_EQ(TWHEEL_DELIVER_READ, self->defaults.delivery);
	EXPECT_EQ(0, self->defaults.ring_entries);
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
		.ring_offset = ~0ULL,
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
	EXPECT_EQ(TWHEEL_DELIVER_READ, s.delivery);
	EXPECT_EQ(0, s.reserved);
	EXPECT_EQ(0, s.words_offset);
	EXPECT_EQ(0, s.ring_offset);
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
		{ "delivery", { .delivery = 7 }, EOPNOTSUPP },
		{ "ring_entries", { .ring_entries = 8 }, EINVAL },
		{ "ring without words", { .delivery = TWHEEL_DELIVER_RING }, EINVAL },
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

TEST_F(fresh, setup_has_the_ring_only_if_the_features_say_so)
{
	struct twheel_setup s = {
		.flags = TWHEEL_SETUP_WORDS,
		.delivery = TWHEEL_DELIVER_RING,
		.ring_entries = 64,
	};
	struct twheel_features f;

	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_FEATURES, &f));
	EXPECT_EQ(f.features & TWHEEL_FEATURE_RING ? 0 : -EOPNOTSUPP,
		  set_up(self->fd, &s));
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
	const __u32 nr = 4 * CHUNK - 24, kept = CHUNK + 44;
	struct twheel_op op = { .id = 5, .generation = 1, .deadline = now_ns() + HOUR };
	struct twheel_stats full, left;
	struct twheel_trim trim;
	struct twheel_timer t;
	__u32 id;

	memset(&trim, 0xaa, sizeof(trim));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, &trim));
	EXPECT_EQ(0, trim.freed);
	for (id = 0; id < nr; id++)
		ASSERT_EQ(0, arm_in(self->fd, id, HOUR, 0));
	ASSERT_EQ(0, wheel_stats(self->fd, &full));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, &trim));
	EXPECT_EQ(0, trim.freed);
	for (id = 0; id < nr; id++)
		if (id != kept)
			ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, id));
	/* Who can't be told of it gives nothing back. */
	ASSERT_EQ(-EFAULT, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, nowhere()));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_TRIM, &trim));
	EXPECT_EQ(3 * CHUNK_BYTES, trim.freed);
	ASSERT_EQ(0, wheel_stats(self->fd, &left));
	EXPECT_EQ(full.memory - trim.freed, left.memory);
	EXPECT_EQ(1, left.pending);
	ASSERT_EQ(0, wheel_get(self->fd, kept, &t));
	EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);

	/* A handle of the time before does not fit, then or later. */
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_ARM, &op));
	op.generation = 0;
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_ARM, &op));
	EXPECT_EQ(2, op.generation);
	op.generation = 1;
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_ARM, &op));
	ASSERT_EQ(0, wheel_stats(self->fd, &left));
	EXPECT_EQ(full.memory - 2 * CHUNK_BYTES, left.memory);
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
		"number", "clock", "tick-ns", "levels", "slots", "capacity", "delivery",
		"now-ns", "pending", "expired", "arms", "cancels", "fired", "delivered",
		"overruns", "moves", "cascades", "interrupts", "idle-interrupts", "steps",
		"max-pass", "wakeups", "memory", "next-ns", "storms", "oldest-ns", "in-ring",
		"max-late-ns", "max-unread-ns", "late", "unread",
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
