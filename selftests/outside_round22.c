// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twenty-second round: what softirq does with a wheel that has more
 * events unread than it waits for.
 */
#include "outside.h"

/* With as many unread softirq turns the wheel once a second. */
#define ENOUGH		1024

/*
 * There are so many that the wheel has paused by CLOCK_MONOTONIC.  They are read, and then it waits
 * by its own clock, which is set ahead.
 */
TEST(a_clock_that_is_set_ahead_is_noticed_behind_a_pause)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_REALTIME };
	int fd = wheel_open(O_NONBLOCK), nr = 0, n;
	struct caller poller = { .call = call_poll, .fd = fd };
	struct twheel_event ev[64];
	__u64 wall, start, late;

	if (!getenv("TWHEEL_COUNTED") || set_wall(clock_ns(CLOCK_REALTIME)))
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	wall = clock_ns(CLOCK_REALTIME);
	ASSERT_EQ(0, arm_many(fd, ENOUGH, wall + 20 * MSEC, 0));
	ASSERT_EQ(0, arm_at(fd, ENOUGH, wall + 700 * MSEC, 0));
	ASSERT_EQ(0, arm_at(fd, ENOUGH + 1, wall + 600 * SEC, 0));
	sleep_until(now_ns() + 100 * MSEC);
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(fd, ENOUGH));
	while ((n = wheel_read(fd, ev, 64)) > 0)
		nr += n;
	ASSERT_EQ(ENOUGH, nr);
	ASSERT_EQ(0, caller_start(&poller));
	ASSERT_TRUE(caller_asleep(&poller));
	start = now_ns();
	ASSERT_EQ(0, set_wall(clock_ns(CLOCK_REALTIME) + HOUR));
	EXPECT_TRUE(caller_done(&poller, NEVER_MS));
	EXPECT_EQ(POLLIN, poller.ret & POLLIN);
	late = now_ns() - start;
	EXPECT_EQ(1, wheel_read(fd, ev, 64));
	EXPECT_EQ(ENOUGH + 1, ev[0].id);
	set_wall(clock_ns(CLOCK_REALTIME) - HOUR);
	TH_LOG("%llu us late", late / USEC);
	EXPECT_GT(20 * MSEC, late);
	close(fd);
}

/* A program that does nothing but sleep: nor does it cause interrupts by what is not due yet. */
TEST(a_heavy_slot_waits_where_nobody_reads)
{
	struct twheel_setup setup = { .capacity = 1 << 17 };
	struct twheel_stats before, after;
	int fd = wheel_open(O_NONBLOCK);
	__u64 now;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	now = now_ns();
	/* Two levels up. */
	ASSERT_EQ(0, arm_many(fd, setup.capacity, now + 10 * SEC, 0));
	ASSERT_EQ(0, arm_many(fd, ENOUGH, now + 20 * MSEC, 0));
	sleep_until(now + 2 * SEC);
	ASSERT_EQ(0, wheel_stats(fd, &before));
	ASSERT_LE(ENOUGH, before.expired);
	sleep_until(now + 9900 * MSEC);
	ASSERT_EQ(0, wheel_stats(fd, &after));
	TH_LOG("%llu interrupts", after.interrupts - before.interrupts);
	EXPECT_GE(10, after.interrupts - before.interrupts);
	close(fd);
}

TEST_HARNESS_MAIN
