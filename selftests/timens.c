// SPDX-License-Identifier: GPL-2.0
/*
 * Time namespaces: a wheel opened in one has its deadlines and events in the
 * namespace's time, and keeps that whoever uses it later.
 */
#include <sched.h>

#include "beside.h"

/* Seconds; different for each clock, so that they can't be mixed up. */
#define OFFSET_MONOTONIC	100000
#define OFFSET_BOOTTIME		250000

FIXTURE(timens) {
	int outside;
};

FIXTURE_VARIANT(timens) {
	clockid_t clock;
	__u64 offset;
};

FIXTURE_VARIANT_ADD(timens, monotonic) {
	.clock = CLOCK_MONOTONIC,
	.offset = OFFSET_MONOTONIC * SEC,
};

FIXTURE_VARIANT_ADD(timens, boottime) {
	.clock = CLOCK_BOOTTIME,
	.offset = OFFSET_BOOTTIME * SEC,
};

static int open_with_clock(clockid_t clock)
{
	struct twheel_setup s = {
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = clock,
	};
	int fd = wheel_open(0), ret;

	if (fd < 0)
		return fd;
	ret = set_up(fd, &s);
	return ret ?: fd;
}

FIXTURE_SETUP(timens)
{
	self->outside = open_with_clock(variant->clock);
	ASSERT_LE(0, self->outside);
}

FIXTURE_TEARDOWN(timens)
{
	close(self->outside);
}

/* Children of this process live in a new time namespace. */
static int enter_timens(void)
{
	if (unshare(CLONE_NEWTIME))
		return -errno;
	return write_file("/proc/self/timens_offsets",
			  "monotonic %d 0\nboottime %d 0\n", OFFSET_MONOTONIC,
			  OFFSET_BOOTTIME);
}

static void inside(clockid_t clock, __u64 before)
{
	struct twheel_event ev;
	struct twheel_timer t;
	__u64 now, deadline;
	int fd;

	/* Is this the namespace that we think? */
	now = clock_ns(clock);
	CHILD_CHECK(now > before && now < before + HOUR);

	fd = open_with_clock(clock);
	CHILD_CHECK(fd >= 0);

	/* Absolute, told and delivered in the namespace's time. */
	deadline = now + 100 * MSEC;
	CHILD_CHECK(!arm_at(fd, 1, deadline, 0));
	CHILD_CHECK(!wheel_get(fd, 1, &t));
	CHILD_CHECK(t.deadline == deadline);
	CHILD_CHECK(t.remaining <= 100 * MSEC);
	CHILD_CHECK(wheel_read(fd, &ev, 1) == 1);
	now = clock_ns(clock);
	CHILD_CHECK(now >= deadline);
	CHILD_CHECK(now <= deadline + LATE);
	CHILD_CHECK(ev.deadline == deadline);
	CHILD_CHECK(ev.fired >= deadline && ev.fired <= now);

	/* Relative: the same everywhere. */
	now = clock_ns(clock);
	CHILD_CHECK(!arm_in(fd, 1, 50 * MSEC, 0));
	CHILD_CHECK(!wheel_get(fd, 1, &t));
	CHILD_CHECK(t.deadline >= now + 50 * MSEC);
	CHILD_CHECK(t.deadline <= clock_ns(clock) + 50 * MSEC);
	CHILD_CHECK(wheel_read(fd, &ev, 1) == 1);
	CHILD_CHECK(ev.deadline == t.deadline);
	CHILD_CHECK(clock_ns(clock) >= ev.deadline);

	/* In the namespace's past, though in the future of the host. */
	CHILD_CHECK(!arm_at(fd, 2, now - 1000 * SEC, 0));
	CHILD_CHECK(wheel_read(fd, &ev, 1) == 1);
	CHILD_CHECK(ev.deadline == now - 1000 * SEC);

	/* Before the namespace's host was booted, and at the end of time. */
	CHILD_CHECK(!arm_at(fd, 3, 1, 0));
	CHILD_CHECK(wheel_read(fd, &ev, 1) == 1);
	CHILD_CHECK(!arm_at(fd, 4, ~0ULL, 0));
	CHILD_CHECK(wheel_poll(fd, 50) == 0);
	CHILD_CHECK(wheel_state(fd, 4) == TWHEEL_STATE_PENDING);

	/* Periodic: in phase. */
	now = clock_ns(clock);
	CHILD_CHECK(!arm_every(fd, 5, now, 10 * MSEC, 2));
	CHILD_CHECK(wheel_read(fd, &ev, 1) == 1);
	CHILD_CHECK(ev.deadline == now);
	CHILD_CHECK(ev.overruns == 1 || wheel_read(fd, &ev, 1) == 1);
	CHILD_CHECK(ev.overruns == 1 || ev.deadline == now + 10 * MSEC);
}

TEST_F(timens, deadlines_and_events_are_in_the_namespace)
{
	__u64 before = clock_ns(variant->clock) + variant->offset;
	int ret = enter_timens();
	pid_t pid;

	if (ret == -EINVAL || ret == -ENOENT)
		SKIP(return, "no time namespaces in this kernel");
	ASSERT_EQ(0, ret);
	pid = fork();
	if (!pid) {
		inside(variant->clock, before);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
}

TEST_F(timens, a_wheel_keeps_the_time_it_was_opened_in)
{
	clockid_t clock = variant->clock;
	__u64 host = clock_ns(clock), deadline;
	int fd = self->outside, ret = enter_timens();
	struct twheel_event ev;
	pid_t pid;

	if (ret == -EINVAL || ret == -ENOENT)
		SKIP(return, "no time namespaces in this kernel");
	ASSERT_EQ(0, ret);
	pid = fork();
	if (!pid) {
		/* Opened outside: the host's time, here too. */
		CHILD_CHECK(clock_ns(clock) > host + variant->offset);
		deadline = host + 200 * MSEC;
		CHILD_CHECK(!arm_at(fd, 1, deadline, 0));
		CHILD_CHECK(wheel_read(fd, &ev, 1) == 1);
		CHILD_CHECK(ev.deadline == deadline);
		CHILD_CHECK(clock_ns(clock) - variant->offset >= deadline);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
}

/* A process whose children live where the clock shows about half of the host's time. */
static bool enter_behind(clockid_t clock)
{
	__u64 half = clock_ns(clock) / 2;

	/* The nanoseconds count forward, always. */
	return !unshare(CLONE_NEWTIME) &&
	       !write_file("/proc/self/timens_offsets", "%d -%llu %llu\n", clock,
			   half / SEC + 1, SEC - half % SEC - 1);
}

TEST_F(timens, a_far_deadline_where_the_clock_is_behind_delays_nobody)
{
	int ready[2], fd = self->outside;
	__u64 start;
	char byte;
	pid_t pid;

	if (getuid())
		SKIP(return, "needs root to be another user");
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, pipe(ready));
	if (!enter_behind(variant->clock))
		SKIP(return, "no time namespaces in this kernel");
	pid = fork();
	if (!pid) {
		/* Alice's wheel has the time of where it was opened. */
		int far = wheel_open(0);
		struct twheel_setup s = { .flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock };

		CHILD_CHECK(far >= 0);
		be(ALICE);
		CHILD_CHECK(!set_up(far, &s));
		CHILD_CHECK(!arm_at(far, 1, INT64_MAX - 100 * MSEC, 0));
		CHILD_CHECK(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	ASSERT_LT(0, pid);
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	start = now_ns();
	ASSERT_EQ(0, arm_in(fd, 1, 50 * MSEC, 0));
	EXPECT_TRUE(wheel_poll(fd, NEVER_MS) & POLLIN);
	EXPECT_GE(SEC + LATE, now_ns() - start);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_HARNESS_MAIN
