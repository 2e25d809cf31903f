// SPDX-License-Identifier: GPL-2.0
/*
 * Time namespaces: a wheel opened in one has its deadlines and events in the
 * namespace's time, and keeps that whoever uses it later.
 *
 * Bed: plain, storm
 */
#include "beside.h"

FIXTURE(timens) {
	int host;
};

FIXTURE_VARIANT(timens) {
	clockid_t clock;
	__s64 offset;
};

FIXTURE_VARIANT_ADD(timens, monotonic) { .clock = CLOCK_MONOTONIC, .offset = 100000 * SEC };
FIXTURE_VARIANT_ADD(timens, boottime) { .clock = CLOCK_BOOTTIME, .offset = 250000 * SEC };

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
	self->host = open_with_clock(variant->clock);
	ASSERT_LE(0, self->host);
}

FIXTURE_TEARDOWN(timens)
{
	close(self->host);
}

/* Let children of this process live where the clock is @offset ns ahead; 0 or a negative errno. */
static int enter_timens(clockid_t clock, __s64 offset)
{
	/* The nanoseconds count forward, always. */
	int before = offset < 0;

	if (unshare(CLONE_NEWTIME))
		return -errno;
	return write_file("/proc/self/timens_offsets", "%d %lld %lld\n", clock,
			  (long long)(offset / (__s64)SEC - before),
			  (long long)(offset % (__s64)SEC + before * (__s64)SEC));
}

static bool no_timens(int error)
{
	return error == -EINVAL || error == -ENOENT;
}

/* Where the clock shows about half of the host's time. */
static __s64 behind(clockid_t clock)
{
	return -(__s64)(clock_ns(clock) / 2);
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

TEST_F(timens, deadlines_and_events_are_in_the_time_of_the_namespace)
{
	__u64 before = clock_ns(variant->clock) + variant->offset;
	int ret = enter_timens(variant->clock, variant->offset);
	pid_t pid;

	if (no_timens(ret))
		SKIP(return, NO_TIMENS);
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
	int fd = self->host, ret = enter_timens(clock, variant->offset);
	struct twheel_event ev;
	pid_t pid;

	if (no_timens(ret))
		SKIP(return, NO_TIMENS);
	ASSERT_EQ(0, ret);
	pid = fork();
	if (!pid) {
		/* Opened in the host: the host's time, here too. */
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

TEST_F(timens, a_far_deadline_in_a_namespace_behind_delays_nobody)
{
	int ready[2], fd = self->host, ret;
	__u64 start;
	char byte;
	pid_t pid;

	if (getuid())
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, pipe(ready));
	ret = enter_timens(variant->clock, behind(variant->clock));
	if (no_timens(ret))
		SKIP(return, NO_TIMENS);
	ASSERT_EQ(0, ret);
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

/* A wheel has the time of where it was opened, and says so. */
FIXTURE(passed) {
	int fd, ends[2];
	__s64 offset;
	/* Of the attempt to enter a namespace with that offset. */
	int error;
};

FIXTURE_VARIANT(passed) {
	clockid_t clock;
	/* 0: the namespace's clock is behind the host's. */
	__s64 ahead;
};

FIXTURE_VARIANT_ADD(passed, monotonic) { .clock = CLOCK_MONOTONIC, .ahead = 100000 * SEC };
FIXTURE_VARIANT_ADD(passed, boottime) { .clock = CLOCK_BOOTTIME, .ahead = 250000 * SEC };
FIXTURE_VARIANT_ADD(passed, monotonic_behind) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(passed, boottime_behind) { .clock = CLOCK_BOOTTIME };

FIXTURE_SETUP(passed)
{
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->ends));
	self->fd = open_with_clock(variant->clock);
	ASSERT_LE(0, self->fd);
	self->offset = variant->ahead ?: behind(variant->clock);
	self->error = enter_timens(variant->clock, self->offset);
}

FIXTURE_TEARDOWN(passed)
{
	close(self->fd);
	close(self->ends[0]);
	close(self->ends[1]);
}

/* How far the wheel's clock is ahead of the caller's. */
static __s64 offset_of(int fd, clockid_t clock)
{
	__u64 before = clock_ns(clock), after;
	struct twheel_setup s;

	if (wheel_ioctl(fd, TWHEEL_IOC_GET_SETUP, &s))
		return INT64_MIN;
	after = clock_ns(clock);
	if (before + s.clock_offset > s.now || after + s.clock_offset < s.now)
		return INT64_MIN;
	return s.clock_offset;
}

/* A deadline that is reckoned by that is neither early nor late. */
static bool in_time(int fd, clockid_t clock, __s64 offset)
{
	__u64 deadline = clock_ns(clock) + offset + 100 * MSEC, now;
	struct twheel_event ev;

	if (arm_at(fd, 1, deadline, 0) || wheel_read(fd, &ev, 1) != 1)
		return false;
	now = clock_ns(clock) + offset;
	return ev.deadline == deadline && ev.fired >= deadline && now >= ev.fired &&
	       now <= deadline + LATE;
}

TEST_F(passed, a_wheel_passed_into_a_namespace_keeps_and_tells_its_time)
{
	pid_t pid;

	if (no_timens(self->error))
		SKIP(return, NO_TIMENS);
	ASSERT_EQ(0, self->error);
	pid = fork();
	if (!pid) {
		CHILD_CHECK(offset_of(self->fd, variant->clock) == -self->offset);
		CHILD_CHECK(in_time(self->fd, variant->clock, -self->offset));
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	/* Here it is as it was. */
	EXPECT_EQ(0, offset_of(self->fd, variant->clock));
	EXPECT_TRUE(in_time(self->fd, variant->clock, 0));
}

TEST_F(passed, a_wheel_passed_out_of_a_namespace_keeps_and_tells_its_time)
{
	pid_t pid;
	int fd;

	if (no_timens(self->error))
		SKIP(return, NO_TIMENS);
	ASSERT_EQ(0, self->error);
	pid = fork();
	if (!pid) {
		fd = open_with_clock(variant->clock);
		CHILD_CHECK(fd >= 0);
		CHILD_CHECK(offset_of(fd, variant->clock) == 0);
		CHILD_CHECK(in_time(fd, variant->clock, 0));
		CHILD_CHECK(!fd_pass(self->ends[0], fd));
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	fd = fd_receive(self->ends[1]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(self->offset, offset_of(fd, variant->clock));
	EXPECT_TRUE(in_time(fd, variant->clock, self->offset));
	close(fd);
}

TEST(the_wall_clock_has_no_offset_in_a_namespace)
{
	int fd = open_with_clock(CLOCK_REALTIME), error;
	pid_t pid;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, offset_of(fd, CLOCK_REALTIME));
	error = enter_timens(CLOCK_MONOTONIC, 1000 * SEC);
	if (no_timens(error))
		SKIP(return, NO_TIMENS);
	ASSERT_EQ(0, error);
	pid = fork();
	if (!pid) {
		CHILD_CHECK(offset_of(fd, CLOCK_REALTIME) == 0);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	close(fd);
}

TEST_HARNESS_MAIN
