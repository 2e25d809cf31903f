// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the sixteenth round: a poll that wakes others again and again, and
 * looks at no signal.
 */
#include <sys/resource.h>

#include "beside.h"
#include "outside.h"

#define NAMES		3000
#define TIMERS		4096

/* Make each event that waits a stale one whose timer is due by another deadline. */
static void store_all(const struct shared *s)
{
	for (__u64 past = 2; ; past++)
		for (int i = 0; i < TIMERS; i++)
			__atomic_store_n(&s->word[i].deadline, past, __ATOMIC_RELAXED);
}

/* Ask of a wheel by so many names in one call, again and again. */
static void poll_by_many_names(int wheel, int ready)
{
	const struct rlimit files = { NAMES + 100, NAMES + 100 };
	struct epoll_event event = { .events = EPOLLIN };
	static struct epoll_event events[NAMES];
	int epoll = epoll_create1(0), fd;
	char byte = 0;

	CHILD_CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	for (int i = 0; i < NAMES; i++) {
		fd = dup(wheel);
		CHILD_CHECK(fd >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	}
	CHILD_CHECK(write(ready, &byte, 1) == 1);
	for (;;)
		epoll_wait(epoll, events, NAMES, 0);
}

/* It wakes the others once in a while only, and who is killed does not go on with it. */
TEST(a_poll_by_many_names_can_be_killed)
{
	pid_t storing, polling;
	__u64 start, took;
	struct shared s;
	int ready[2];
	char byte;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, shared_open(&s, TIMERS, 0, 0));
	for (int i = 0; i < TIMERS; i++)
		ASSERT_EQ(0, arm_at(s.fd, i, 1, 0));
	polling = fork();
	if (!polling)
		poll_by_many_names(s.fd, ready[1]);
	ASSERT_LT(0, polling);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	storing = fork();
	if (!storing)
		store_all(&s);
	ASSERT_LT(0, storing);
	sleep_until(now_ns() + 500 * MSEC);
	EXPECT_EQ(0, waitpid(polling, NULL, WNOHANG));
	start = now_ns();
	kill(polling, SIGKILL);
	waitpid(polling, NULL, 0);
	took = now_ns() - start;
	kill(storing, SIGKILL);
	waitpid(storing, NULL, 0);
	TH_LOG("%llu ms from SIGKILL to its end", took / MSEC);
	EXPECT_GE(SEC, took);
	shared_close(&s);
}

TEST_HARNESS_MAIN
