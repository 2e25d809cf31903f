// SPDX-License-Identifier: GPL-2.0
/*
 * ioctls of /dev/twheel for one timer: ARM, CANCEL, GET and WHERE, with good and with bad input.
 *
 * Each bad request has one error in it and is valid otherwise, so that nothing
 * else can explain the errno; after it the wheel must be as it was before.
 */
#include "fresh_test.h"
#include "ioctls_test.h"

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
		{ "stored, and a count", { .flags = TWHEEL_ARM_STORED, .id = FREE,
		  .count = TWHEEL_MAX_COUNT + 1 }, ERANGE },
		{ "stored, and a count, without a ring", { .flags = TWHEEL_ARM_STORED,
		  .id = FREE, .count = 1 }, EINVAL },
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

/* Whatever files a timer is counted, so that who walks a list knows that it is the same still. */
TEST_F(wheel, where_counts_changes)
{
	struct twheel_where before, where;
	struct twheel_event ev;

	ASSERT_EQ(0, wheel_where(self->fd, PENDING, &before));
	ASSERT_EQ(0, wheel_where(self->fd, FREE, &where));
	EXPECT_EQ(before.changes, where.changes);
	ASSERT_EQ(0, arm_at(self->fd, FREE, now_ns() + HOUR, 0));
	ASSERT_EQ(0, wheel_where(self->fd, PENDING, &where));
	EXPECT_LT(before.changes, where.changes);
	before = where;
	/* It fires, and at the read its next period is filed. */
	ASSERT_EQ(0, arm_every(self->fd, FREE, now_ns() + 5 * MSEC, HOUR, 2));
	ASSERT_TRUE(wait_expired(self->fd, 2));
	ASSERT_EQ(0, wheel_where(self->fd, PENDING, &where));
	EXPECT_LE(before.changes + 2, where.changes);
	before = where;
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	ASSERT_EQ(0, wheel_where(self->fd, PENDING, &where));
	EXPECT_EQ(before.changes + 1, where.changes);
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

TEST_HARNESS_MAIN
