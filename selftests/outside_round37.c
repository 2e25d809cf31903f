// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the thirty-seventh round: what is due is found soon, also if events wait
 * that nobody reads, and the tick is long.
 */
#include "outside.h"

#define NR		1000

/* How many timers softirq has found, as soon as that many are, or after a while. */
static __u64 found(int fd, __u64 many)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	struct twheel_stats s = {};

	while (!wheel_stats(fd, &s) && s.fired < many && now_ns() < limit)
		sleep_until(now_ns() + 50 * MSEC);
	return s.fired;
}

/* 64 of them at a time: it is not to take a tick for each of these, which is a second here. */
TEST(events_that_wait_put_nothing_off_by_ticks)
{
	struct twheel_setup setup = { .tick = SEC };
	int fd = wheel_open(0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	/* An event that nobody reads. */
	ASSERT_EQ(0, arm_at(fd, NR, 1, 0));
	ASSERT_EQ(1, found(fd, 1));
	ASSERT_EQ(0, arm_many(fd, NR, now_ns() + 50 * MSEC, 0));
	EXPECT_EQ(NR + 1, found(fd, NR + 1));
	close(fd);
}

TEST_HARNESS_MAIN
