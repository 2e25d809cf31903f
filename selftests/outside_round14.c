// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the fourteenth round: two ways to keep softirq busy for longer than
 * it has time for, and a read that leaves an event behind.
 */
#include <sys/resource.h>

#include "beside.h"
#include "outside.h"

/* Each of the wheels is watched by so many, who are woken when its timer is due. */
#define WHEELS		16
#define WATCHERS	4000

/* All wheels of one user are due at the same time, again and again. */
static void wake_many_of_each(int ready)
{
	const struct rlimit files = { WATCHERS + 100, WATCHERS + 100 };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct twheel_event ev;
	int fd[WHEELS], epoll;
	__u64 start;

	CHILD_CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	for (int i = 0; i < WHEELS; i++) {
		fd[i] = wheel_open(O_NONBLOCK);
		CHILD_CHECK(fd[i] >= 0);
	}
	be(BOB);
	for (int i = 0; i < WATCHERS; i++) {
		epoll = epoll_create1(0);
		CHILD_CHECK(epoll >= 0);
		for (int j = 0; j < WHEELS; j++)
			CHILD_CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd[j], &event));
	}
	child_ready(ready);
	for (;;) {
		start = (now_ns() / (100 * MSEC) + 2) * 100 * MSEC;
		for (int i = 0; i < WHEELS; i++)
			CHILD_CHECK(!arm_at(fd[i], 0, start, 0));
		sleep_until(start + 50 * MSEC);
		for (int i = 0; i < WHEELS; i++)
			wheel_read(fd[i], &ev, 1);
	}
}

/*
 * Each wake-up takes 0.6 ms.  Whoever else has a wheel waits for one of them, and not for those
 * of all wheels that were due when softirq began.
 */
TEST(wake_ups_of_many_wheels_put_off_nobody_else)
{
	enum { NR = 1500 };
	__u64 first, late, latest = 0;
	struct twheel_event ev;
	int ready, fd;
	pid_t pid;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	pid = fork_beside(&ready);
	if (!pid)
		wake_many_of_each(ready);
	ASSERT_LT(0, pid);
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	first = (now_ns() / MSEC + 30) * MSEC;
	for (int i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(fd, i, first + i * MSEC, 0));
	for (int i = 0; i < NR; i++) {
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
		late = ev.fired - ev.deadline;
		if (late > latest)
			latest = late;
	}
	EXPECT_TRUE(child_end(pid));
	TH_LOG("late by %llu us at most", latest / USEC);
	/* Some wake-ups, for softirq that goes on for long is left to a thread. */
	EXPECT_GE(4 * MSEC, latest);
	close(fd);
}

/*
 * With one level timers go round, each in a slot that the hand has to pass.  In front of the
 * one that is due there are thousands of these, and nobody else on the CPU stands still for it.
 */
TEST(slots_to_pass_take_no_longer_than_others)
{
	struct twheel_setup setup = {
		.levels = 1, .slots = 4096, .capacity = 16384, .tick = 100 * USEC,
	};
	enum { NR = 8200 };
	__u64 start, due, last, now, gap = 0;
	struct twheel_event ev;
	int fd;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	start = now_ns();
	for (int i = 0; i < NR; i++) {
		ASSERT_EQ(0, arm_in(fd, i, 3600 * SEC, 0));
		sleep_until(start + (i + 1) * setup.tick);
	}
	due = now_ns() + (NR - 12) * setup.tick;
	ASSERT_EQ(0, arm_at(fd, NR, due, 0));
	sleep_until(due - 10 * MSEC);
	for (last = now_ns(); last < due + 50 * MSEC; last = now) {
		now = now_ns();
		if (now - last > gap)
			gap = now - last;
	}
	ASSERT_EQ(1, wheel_read(fd, &ev, 1));
	TH_LOG("a pass of %llu us; found %llu us after its deadline", gap / USEC,
	       (ev.fired - due) / USEC);
	EXPECT_GE(MSEC, gap);
	close(fd);
}

/*
 * What a read has taken may turn out to be stale, and what is wanted instead may have passed as
 * well: a read that has room for it does not leave that behind.
 */
TEST(a_read_leaves_nothing_behind_that_is_due)
{
	enum { NR = 20 };
	struct twheel_event ev[2 * NR];
	struct shared s;

	ASSERT_EQ(0, shared_open(&s, 256, 0, 0));
	for (int i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(s.fd, i, now_ns() - 10 * MSEC, 0));
	ASSERT_TRUE(wheel_poll(s.fd, NEVER_MS) & POLLIN);
	/* Later than they were; it is this thread that consumes them. */
	for (int i = 3; i < NR; i += 7)
		__atomic_store_n(&s.word[i].deadline, now_ns() - 5 * MSEC, __ATOMIC_RELAXED);
	EXPECT_EQ(NR, wheel_read(s.fd, ev, 2 * NR));
	EXPECT_EQ(-EAGAIN, wheel_read(s.fd, ev, 2 * NR));
	shared_close(&s);
}

TEST_HARNESS_MAIN
