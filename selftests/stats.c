// SPDX-License-Identifier: GPL-2.0
/*
 * What a wheel tells of itself by TWHEEL_IOC_STATS: how late events were, when the next timer is
 * due, and what waits.
 */
#include "twheel_test.h"

/* A wheel with a timer far ahead; one whose event was read, and one whose event waits. */
FIXTURE(wheel) {
	int fd;
};

FIXTURE_SETUP(wheel)
{
	struct twheel_event ev;

	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	/* Both are armed for a time that has passed. */
	ASSERT_EQ(0, arm_at(self->fd, 10, 1, 0));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	ASSERT_EQ(0, arm_in(self->fd, 11, HOUR, 0));
	ASSERT_EQ(0, arm_at(self->fd, 12, 1, 0));
	ASSERT_TRUE(wait_expired(self->fd, 1));
}

FIXTURE_TEARDOWN(wheel)
{
	close(self->fd);
}

static __u64 sum_of(const __u64 *classes)
{
	__u64 sum = 0;

	for (int i = 0; i < TWHEEL_LATE_CLASSES; i++)
		sum += classes[i];
	return sum;
}

/* The events of which some were due for 300 ms before they were read. */
TEST_F(wheel, stats_tell_lateness)
{
	struct twheel_stats s;
	struct twheel_event ev[8];
	__u64 due = now_ns() + 20 * MSEC;

	/* Of those that were armed for a time that has passed, how long they waited. */
	ASSERT_EQ(1, collect(self->fd, ev, 1));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(2, s.delivered);
	EXPECT_EQ(0, sum_of(s.late));
	EXPECT_EQ(2, sum_of(s.unread));
	EXPECT_EQ(0, s.max_late);

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, arm_at(self->fd, i, due, 0));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_LE(due - MSEC, s.next);
	EXPECT_GE(due + MSEC, s.next);
	ASSERT_TRUE(wait_expired(self->fd, 3));
	sleep_until(due + 300 * MSEC);
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_LE(300 * MSEC - s.max_late, s.oldest + 200 * MSEC);
	EXPECT_GE(now_ns() - due, s.oldest);
	ASSERT_EQ(3, collect(self->fd, ev, 3));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(5, s.delivered);
	EXPECT_EQ(3, sum_of(s.late));
	EXPECT_EQ(5, sum_of(s.unread));
	EXPECT_EQ(ev[0].fired - due, s.max_late);
	EXPECT_EQ(0, s.oldest);
	/* What was found late was not found and unread. */
	EXPECT_LE(300 * MSEC, s.max_late + s.max_unread);
	EXPECT_GE(now_ns() - due, s.max_unread);
	/* The next one is an hour away, or a part of that: what is far off comes down before. */
	EXPECT_LE(now_ns(), s.next);
	EXPECT_GE(now_ns() + HOUR, s.next);
}

/* Of 20,000 in one slot, which comes down early, one is due before the others. */
TEST(next_is_no_promise_beyond_the_next)
{
	struct twheel_setup setup = { .tick = 100 * USEC };
	static struct twheel_op ops[20000];
	__u64 base = now_ns(), slot = 409600 * USEC, first;
	struct twheel_stats s;
	int fd = wheel_open(O_NONBLOCK);
	__u64 moves = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	/* Beyond the reach of level 1. */
	first = (base / slot + 4) * slot + 50 * MSEC;
	for (int i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = i,
			.deadline = i ? first + 200 * MSEC : first,
		};
	ASSERT_EQ(ARRAY_SIZE(ops), wheel_submit(fd, ops, ARRAY_SIZE(ops), NULL));
	while (now_ns() < first - 10 * MSEC) {
		ASSERT_EQ(0, wheel_stats(fd, &s));
		ASSERT_LE(s.next, first + MSEC);
		moves = s.moves;
	}
	/* Else nothing was seen. */
	EXPECT_LT(0, moves);
	close(fd);
}

TEST_HARNESS_MAIN
