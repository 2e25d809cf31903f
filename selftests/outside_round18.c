// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the eighteenth round: who is killed while it polls hides an event from
 * those with whom it shares an epoll; and what an idle timer keeps does not outlive a trim.
 */
#include "beside.h"
#include "outside.h"

#define KILLS		1000

static void poll_on_and_on(int epoll)
{
	struct epoll_event event;

	for (;;)
		epoll_wait(epoll, &event, 1, 0);
}

/* An event waits all the time, so each look at a level-triggered epoll sees it. */
TEST(killed_poller_hides_no_event)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = wheel_open(0), epoll = epoll_create1(0), hidden = 0;
	/* An emulated processor may take 30 ms to start a process and to kill it. */
	__u64 end = now_ns() + 20 * SEC;
	pid_t pid;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	ASSERT_EQ(0, arm_at(fd, 0, 1, 0));
	ASSERT_EQ(1, epoll_wait(epoll, &event, 1, -1));
	for (int i = 0; i < KILLS && now_ns() < end; i++) {
		pid = fork();
		if (!pid)
			poll_on_and_on(epoll);
		ASSERT_LT(0, pid);
		/* Some are killed before they begin, and most in the midst of it. */
		sleep_until(now_ns() + i % 10 * 100 * USEC);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		if (epoll_wait(epoll, &event, 1, 0) == 1)
			continue;
		hidden++;
		/* What is hidden stays so; the next kill begins anew. */
		ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event));
	}
	EXPECT_EQ(0, hidden);
	close(epoll);
	close(fd);
}

/* Interval and cookie of an idle timer go with its memory. */
TEST(a_trim_takes_what_an_idle_timer_keeps)
{
	const struct twheel_op first = {
		.id = 5, .deadline = now_ns() + HOUR, .interval = 77 * SEC, .cookie = 4711,
	};
	const struct twheel_op again = {
		.id = 5, .deadline = now_ns() + HOUR, .flags = TWHEEL_ARM_KEEP,
	};
	struct twheel_trim trim = {};
	int fd = wheel_open(0);
	struct twheel_timer t;
	struct twheel_op op;

	ASSERT_LE(0, fd);
	for (int trimmed = 0; trimmed < 2; trimmed++) {
		op = first;
		ASSERT_EQ(0, wheel_arm(fd, &op));
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(fd, 5));
		if (trimmed) {
			ASSERT_EQ(0, wheel_ioctl(fd, TWHEEL_IOC_TRIM, &trim));
			ASSERT_LT(0, trim.freed);
		}
		op = again;
		ASSERT_EQ(0, wheel_arm(fd, &op));
		ASSERT_EQ(0, wheel_get(fd, 5, &t));
		EXPECT_EQ(trimmed ? 0 : first.interval, t.interval);
		EXPECT_EQ(trimmed ? 0 : first.cookie, t.cookie);
	}
	close(fd);
}

TEST_HARNESS_MAIN
