// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twentieth round: softirq that looks for an event, and stops to do
 * so for as long as a clock is set back.
 */
#include "outside.h"

/* Softirq drops 64 stale events in a quarter of a millisecond, and then finds one that counts. */
TEST(a_clock_that_is_set_back_puts_off_no_event)
{
	enum { NR = 1 << 15 };
	struct caller poller = { .call = call_poll };
	struct twheel_stats before, after;
	struct shared s;
	__u64 wall;

	ASSERT_EQ(0, wall_wheel_open(&s, NR, NR));
	for (int i = 1; i < NR; i++)
		cancel_by_store(&s, i);
	poller.fd = s.fd;
	ASSERT_EQ(0, caller_start(&poller));
	ASSERT_TRUE(caller_asleep(&poller));
	ASSERT_EQ(0, wheel_stats(s.fd, &before));
	wall = clock_ns(CLOCK_REALTIME);
	if (set_wall(wall - HOUR))
		SKIP(return, "needs root to set the clock");
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	EXPECT_TRUE(caller_done(&poller, NEVER_MS));
	EXPECT_EQ(POLLIN, poller.ret & POLLIN);
	set_wall(clock_ns(CLOCK_REALTIME) + HOUR);
	TH_LOG("%llu stale events left before the clock was set, %llu after", before.expired,
	       after.expired);
	/* Else there was nothing left to put off. */
	EXPECT_LT(1, after.expired);
	shared_close(&s);
}

TEST_HARNESS_MAIN
