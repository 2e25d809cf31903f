// SPDX-License-Identifier: GPL-2.0
/* Tests of /dev/twheel: what Documentation/userspace-api/twheel.rst promises. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/twheel.h>

#include "../../kselftest_harness.h"

#define DEVICE	"/dev/twheel"
#define WHEELS	"/sys/module/twheel/parameters/max_user_wheels"
#define MSEC	1000000ULL
#define SEC	1000000000ULL
/* Far enough not to come while a test runs. */
#define HOUR	(3600 * SEC)

static __u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

#define now_ns()	clock_ns(CLOCK_MONOTONIC)

/* The errno of a call, or 0. */
static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? errno : 0;
}

static int arm(int fd, __u32 id, __u64 deadline, __u64 interval, __u64 cookie)
{
	struct twheel_op op = {
		.id = id, .deadline = deadline, .interval = interval, .cookie = cookie,
	};

	return call(fd, TWHEEL_IOC_ARM, &op);
}

static unsigned int state_of(int fd, __u32 id)
{
	struct twheel_timer timer = { .id = id };

	return call(fd, TWHEEL_IOC_GET, &timer) ? ~0U : timer.state;
}

static int readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents == POLLIN;
}

FIXTURE(wheel) {
	int fd;
};

FIXTURE_SETUP(wheel)
{
	self->fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (self->fd < 0)
		SKIP(return, "no " DEVICE);
}

FIXTURE_TEARDOWN(wheel)
{
	close(self->fd);
}

TEST_F(wheel, never_early_and_each_once)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	enum { TIMERS = 3000 };

	for (int c = 0; c < 2; c++) {
		int fd = open(DEVICE, O_RDWR), seen[TIMERS] = {};
		struct twheel_setup setup = { .flags = TWHEEL_SETUP_CLOCK, .clock = clocks[c] };
		struct twheel_event event[100];

		ASSERT_EQ(0, call(fd, TWHEEL_IOC_SETUP, &setup));
		for (int i = 0; i < TIMERS; i++)
			ASSERT_EQ(0, arm(fd, i, setup.now + random() % (300 * MSEC), 0, 7 * i));
		for (int left = TIMERS; left;) {
			ssize_t nr = read(fd, event, sizeof(event)) / (ssize_t)sizeof(*event);

			ASSERT_LT(0, nr);
			for (int i = 0; i < nr; i++) {
				EXPECT_LE(event[i].deadline, clock_ns(clocks[c]));
				EXPECT_EQ(7 * event[i].id, event[i].cookie);
				EXPECT_EQ(TWHEEL_EVENT_LAST, event[i].flags);
				EXPECT_EQ(0, seen[event[i].id]++);
			}
			left -= nr;
		}
		close(fd);
	}
}

TEST_F(wheel, a_cancel_or_a_move_takes_back_the_event)
{
	struct twheel_op op = { .id = 5 }, last = { .id = 6 }, move;
	struct twheel_event event[4];

	for (int id = 4; id <= 6; id++)
		ASSERT_EQ(0, arm(self->fd, id, 1, 0, 0));
	ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_CANCEL, &op));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, op.state);
	ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_CANCEL, &last));
	ASSERT_EQ(0, arm(self->fd, 7, 1, 0, 0));
	EXPECT_EQ(2 * sizeof(*event), read(self->fd, event, sizeof(event)));
	EXPECT_EQ(4 + 7, event[0].id + event[1].id);
	EXPECT_EQ(-1, read(self->fd, event, sizeof(event)));
	EXPECT_EQ(EAGAIN, errno);

	ASSERT_EQ(0, arm(self->fd, 5, 1, 0, 0));
	ASSERT_TRUE(readable(self->fd, 0));
	move = (struct twheel_op){
		.id = 5, .deadline = HOUR, .flags = TWHEEL_ARM_RELATIVE, .cookie = 55,
	};
	ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_ARM, &move));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, move.state);
	EXPECT_FALSE(readable(self->fd, 0));
	/* An old handle stops no new timer. */
	EXPECT_NE(op.generation, move.generation);
	EXPECT_EQ(ESTALE, call(self->fd, TWHEEL_IOC_CANCEL, &op));
	EXPECT_EQ(TWHEEL_STATE_PENDING, state_of(self->fd, 5));

	op = (struct twheel_op){ .id = 5, .deadline = 1, .flags = TWHEEL_ARM_KEEP };
	ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_ARM, &op));
	EXPECT_EQ(sizeof(*event), read(self->fd, event, sizeof(event)));
	EXPECT_EQ(55, event->cookie);
}

TEST_F(wheel, a_periodic_timer_keeps_its_phase)
{
	__u64 first = now_ns() + 20 * MSEC;
	struct twheel_event event;

	ASSERT_EQ(0, arm(self->fd, 1, first, 10 * MSEC, 0));
	for (__u64 next = first; next < first + 200 * MSEC;) {
		usleep(35000);
		ASSERT_EQ(sizeof(event), read(self->fd, &event, sizeof(event)));
		EXPECT_EQ(next, event.deadline);
		EXPECT_EQ(0, event.flags);
		next += (event.overruns + 1) * 10 * MSEC;
		EXPECT_LT(now_ns(), next + 300 * MSEC);
	}
}

TEST_F(wheel, a_fault_loses_no_event)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct twheel_event event[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, arm(self->fd, i, 1, 0, 0));
	EXPECT_EQ(-1, read(self->fd, nowhere, sizeof(event)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, read(self->fd, event, sizeof(*event) - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(sizeof(event), read(self->fd, event, sizeof(event)));
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, state_of(self->fd, 0));
}

TEST_F(wheel, submit_and_list)
{
	enum { TIMERS = 1000 };
	static struct twheel_timer timers[TIMERS + 1];
	static struct twheel_op ops[TIMERS + 1];
	struct twheel_submit submit = {
		.ops = (__u64)ops, .nr = TIMERS + 1, .op_size = sizeof(*ops),
	};
	struct twheel_list list = {
		.timers = (__u64)timers, .nr = TIMERS + 1, .timer_size = sizeof(*timers),
	};

	for (int i = 0; i < TIMERS; i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = 3 * i, .deadline = now_ns() + HOUR,
		};
	ops[TIMERS].opcode = 9;
	ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_SUBMIT, &submit));
	EXPECT_EQ(TIMERS + 1, submit.done);
	EXPECT_EQ(1, submit.failed);
	EXPECT_EQ(-EINVAL, ops[TIMERS].result);
	submit.op_size--;
	EXPECT_EQ(EINVAL, call(self->fd, TWHEEL_IOC_SUBMIT, &submit));

	for (__u32 found = 0, done = 1; done; found += done) {
		ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_LIST, &list));
		done = list.done;
		for (__u32 i = 0; i < done; i++)
			EXPECT_EQ(3 * (found + i), timers[i].id);
		if (!done)
			EXPECT_EQ(TIMERS, found);
	}
	list = (struct twheel_list){ .timers = 1, .nr = 1, .timer_size = sizeof(*timers) };
	EXPECT_EQ(EFAULT, call(self->fd, TWHEEL_IOC_LIST, &list));
}

TEST_F(wheel, what_is_wrong_is_refused)
{
	const struct {
		struct twheel_op op;
		int why;
	} wrong[] = {
		{ { .flags = 1U << 31 }, EOPNOTSUPP },
		{ { .reserved = 1 }, EINVAL },
		{ { .reserved2 = { 0, 1 } }, EINVAL },
		{ { .opcode = TWHEEL_OP_ARM }, EINVAL },
		{ { .flags = TWHEEL_ARM_KEEP, .cookie = 1 }, EINVAL },
		{ { .flags = TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE }, EINVAL },
		{ { .id = TWHEEL_DEFAULT_CAPACITY }, ERANGE },
		{ { .interval = 1ULL << 63 }, ERANGE },
		{ { .flags = TWHEEL_ARM_RELATIVE, .deadline = 1ULL << 63 }, ERANGE },
		{ { .id = 1, .flags = TWHEEL_ARM_MOVE, .deadline = 1 }, ENOENT },
		{ { .id = 0, .flags = TWHEEL_ARM_NEW, .deadline = 1 }, EEXIST },
		{ { .id = 0, .generation = 77 }, ESTALE },
	};
	int fd = open(DEVICE, O_RDONLY);

	ASSERT_EQ(0, arm(self->fd, 0, now_ns() + HOUR, 0, 0));
	for (int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct twheel_op op = wrong[i].op;

		EXPECT_EQ(wrong[i].why, call(self->fd, TWHEEL_IOC_ARM, &op))
			TH_LOG("arm %d", i);
		EXPECT_EQ(0, memcmp(&op, &wrong[i].op, sizeof(op)));
	}
	EXPECT_EQ(EBADF, arm(fd, 0, 1, 0, 0));
	EXPECT_EQ(ENOTTY, call(self->fd, _IO(TWHEEL_IOC_MAGIC, 0x1f), NULL));
	EXPECT_EQ(EFAULT, call(self->fd, TWHEEL_IOC_ARM, NULL));
	close(fd);
}

TEST_F(wheel, a_wheel_is_set_up_once)
{
	struct twheel_setup setup = { .tick = TWHEEL_MIN_TICK - 1 };
	struct twheel_features features;
	int status;

	ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_FEATURES, &features));
	EXPECT_EQ(1U << CLOCK_MONOTONIC | 1U << CLOCK_BOOTTIME, features.clocks);
	if (!fork()) {
		if (!geteuid() && setuid(65534))
			_exit(1);
		_exit(call(self->fd, TWHEEL_IOC_SETUP, &setup) != EPERM);
	}
	wait(&status);
	EXPECT_EQ(0, status);
	setup = (struct twheel_setup){ .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_TAI };
	EXPECT_EQ(EOPNOTSUPP, call(self->fd, TWHEEL_IOC_SETUP, &setup));
	setup = (struct twheel_setup){ .capacity = TWHEEL_MAX_CAPACITY + 1 };
	EXPECT_EQ(ERANGE, call(self->fd, TWHEEL_IOC_SETUP, &setup));
	setup = (struct twheel_setup){ .reserved = { 1 } };
	EXPECT_EQ(EINVAL, call(self->fd, TWHEEL_IOC_SETUP, &setup));
	setup = (struct twheel_setup){ .capacity = 10 };
	ASSERT_EQ(0, call(self->fd, TWHEEL_IOC_SETUP, &setup));
	EXPECT_EQ(TWHEEL_DEFAULT_TICK, setup.tick);
	EXPECT_EQ(sizeof(struct twheel_event), setup.event_size);
	EXPECT_EQ(EBUSY, call(self->fd, TWHEEL_IOC_SETUP, &setup));
	EXPECT_EQ(ERANGE, arm(self->fd, 10, 1, 0, 0));
}

TEST_F(wheel, waiters_are_woken)
{
	struct epoll_event what = { .events = EPOLLIN | EPOLLET };
	int poller = epoll_create1(0), blocking = open(DEVICE, O_RDWR);
	struct twheel_event event;

	ASSERT_EQ(0, epoll_ctl(poller, EPOLL_CTL_ADD, self->fd, &what));
	for (int i = 0; i < 3; i++) {
		/* Unread events do not hide a later batch from an edge-triggered waiter. */
		ASSERT_EQ(0, arm(self->fd, i, now_ns() + 5 * MSEC, 0, 0));
		EXPECT_EQ(1, epoll_wait(poller, &what, 1, 10000));
		EXPECT_EQ(EPOLLIN, what.events);
	}
	ASSERT_EQ(0, arm(blocking, 0, now_ns() + 20 * MSEC, 0, 0));
	EXPECT_EQ(sizeof(event), read(blocking, &event, sizeof(event)));
	close(blocking);
	close(poller);
}

TEST_F(wheel, the_past_in_a_loop_stops_nobody)
{
	struct twheel_event event;
	__u64 end = now_ns() + SEC;
	int other = open(DEVICE, O_RDWR);

	while (now_ns() < end) {
		ASSERT_EQ(0, arm(self->fd, 0, 1, 1, 0));
		ASSERT_EQ(sizeof(event), read(self->fd, &event, sizeof(event)));
	}
	ASSERT_EQ(0, arm(other, 0, now_ns() + MSEC, 0, 0));
	EXPECT_EQ(sizeof(event), read(other, &event, sizeof(event)));
	EXPECT_LT(now_ns(), event.deadline + SEC);
	close(other);
}

TEST_F(wheel, wheels_are_limited)
{
	int fd = open(DEVICE, O_RDWR), limit = open(WHEELS, O_RDWR);
	char before[16] = "";

	if (limit < 0)
		SKIP(return, "needs root");
	ASSERT_LT(0, pread(limit, before, sizeof(before) - 1, 0));
	ASSERT_EQ(0, arm(self->fd, 0, now_ns() + HOUR, 0, 0));
	ASSERT_EQ(1, pwrite(limit, "1", 1, 0));
	EXPECT_EQ(EDQUOT, arm(fd, 0, now_ns() + HOUR, 0, 0));
	EXPECT_EQ(0, arm(self->fd, 1, now_ns() + HOUR, 0, 0));
	ASSERT_LT(0, pwrite(limit, before, strlen(before), 0));
	EXPECT_EQ(0, arm(fd, 0, now_ns() + HOUR, 0, 0));
	close(limit);
	close(fd);
}

TEST_HARNESS_MAIN
