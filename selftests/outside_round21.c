// SPDX-License-Identifier: GPL-2.0
/*
 * A clock that is set back puts off nothing that softirq has to do for a wheel that has paused.
 */
#include "outside.h"

/* With 1,024 events unread, who waits is told of the next after a second: by no clock of theirs. */
TEST(a_clock_that_is_set_back_prolongs_no_pause)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_REALTIME };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	enum { UNREAD = 1100 };
	int fd = wheel_open(O_NONBLOCK), epoll = epoll_create1(0), told;
	__u64 start, wall;

	if (set_wall(clock_ns(CLOCK_REALTIME)))
		SKIP(return, "needs root to set the clock");
	ASSERT_LE(0, fd);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, set_up(fd, &setup));
	ASSERT_EQ(0, arm_many(fd, UNREAD, 1, 0));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	/* Softirq tells of one, and then pauses. */
	ASSERT_EQ(0, arm_at(fd, UNREAD, clock_ns(CLOCK_REALTIME) + 20 * MSEC, 0));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	start = now_ns();
	wall = clock_ns(CLOCK_REALTIME);
	ASSERT_EQ(0, arm_at(fd, UNREAD + 1, wall + 20 * MSEC, 0));
	/* The clock is set back, but never to before the deadline. */
	do {
		told = epoll_get(epoll, 500);
		set_wall(clock_ns(CLOCK_REALTIME) - 450 * MSEC);
	} while (told != EPOLLIN && now_ns() - start < 5 * SEC);
	TH_LOG("told after %llu ms", (now_ns() - start) / MSEC);
	EXPECT_EQ(EPOLLIN, told);
	EXPECT_GT(3 * SEC, now_ns() - start);
	set_wall(wall + now_ns() - start);
	close(epoll);
	close(fd);
}

TEST_HARNESS_MAIN
