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
static void poll_by_names(int wheel, int names, int ready)
{
	const struct rlimit files = { names + 100, names + 100 };
	struct epoll_event event = { .events = EPOLLIN };
	static struct epoll_event events[NAMES];
	int epoll = epoll_create1(0), fd;

	CHILD_CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	for (int i = 0; i < names; i++) {
		fd = dup(wheel);
		CHILD_CHECK(fd >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	}
	child_ready(ready);
	for (;;)
		epoll_wait(epoll, events, names, 0);
}

FIXTURE(polled)
{
	struct shared s;
	pid_t storing, polling;
};

FIXTURE_VARIANT(polled)
{
	int	names;
};

FIXTURE_VARIANT_ADD(polled, by_some)
{
	.names = 100,
};

FIXTURE_VARIANT_ADD(polled, by_many)
{
	.names = NAMES,
};

FIXTURE_SETUP(polled)
{
	int ready;

	ASSERT_EQ(0, shared_open(&self->s, TIMERS, 0, 0));
	for (int i = 0; i < TIMERS; i++)
		ASSERT_EQ(0, arm_at(self->s.fd, i, 1, 0));
	self->polling = fork_beside(&ready);
	if (!self->polling)
		poll_by_names(self->s.fd, variant->names, ready);
	ASSERT_LT(0, self->polling);
	self->storing = fork();
	if (!self->storing)
		store_all(&self->s);
	ASSERT_LT(0, self->storing);
}

FIXTURE_TEARDOWN(polled)
{
	EXPECT_TRUE(child_end(self->storing));
	shared_close(&self->s);
}

/* A poll wakes the others once in a while only, and who is killed does not go on with it. */
TEST_F(polled, wakes_seldom_and_can_be_killed)
{
	struct twheel_stats before, after;
	__u64 start = now_ns(), polled, took;

	ASSERT_EQ(0, wheel_stats(self->s.fd, &before));
	sleep_until(start + 500 * MSEC);
	ASSERT_EQ(0, wheel_stats(self->s.fd, &after));
	polled = now_ns() - start;
	start = now_ns();
	EXPECT_TRUE(child_end(self->polling));
	took = now_ns() - start;
	TH_LOG("%llu wake-ups in %llu ms; %llu ms from SIGKILL to its end",
	       after.wakeups - before.wakeups, polled / MSEC, took / MSEC);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	/* One in a millisecond by polls, and one in each span of softirq. */
	EXPECT_GE(5 * (polled / MSEC + 1), after.wakeups - before.wakeups);
	/* A second; more where TWHEEL_LATE_MS says that the kernel is slow. It took 17 s once. */
	EXPECT_GE(2 * LATE, took);
}

TEST_HARNESS_MAIN
