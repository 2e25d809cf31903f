// SPDX-License-Identifier: GPL-2.0
/*
 * One timer: ARM, CANCEL and GET, with good and with bad input.
 *
 * Bed: plain, storm, short
 */
#include "used_fixture.h"
#include "wheel_fixture.h"

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
TEST_F(wheel, a_relative_arm_by_the_wall_clock_is_refused)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_REALTIME };

	ASSERT_EQ(0, set_up(self->fd, &s));
	EXPECT_EQ(-EINVAL, arm_in(self->fd, FREE, HOUR, 0));
	EXPECT_EQ(0, arm_at(self->fd, FREE, clock_ns(CLOCK_REALTIME) + HOUR, 0));
}

/* CANCEL */

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

TEST_HARNESS_MAIN
