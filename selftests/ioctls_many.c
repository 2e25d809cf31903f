// SPDX-License-Identifier: GPL-2.0
/*
 * ioctls of /dev/twheel for many timers: SUBMIT, LIST and DRAIN, with good and with bad input.
 *
 * Each bad request has one error in it and is valid otherwise, so that nothing
 * else can explain the errno; after it the wheel must be as it was before.
 */
#include "ioctls_test.h"

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

TEST_HARNESS_MAIN
