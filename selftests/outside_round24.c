// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twenty-fourth round: a wheel that is due by its own clock is not put
 * off because others call meanwhile, and who holds interrupts off makes nobody else's spans longer.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "beside.h"
#include "outside.h"

/* So long that to come a tick late is no matter of a slow machine. */
#define TICK		(50 * MSEC)
#define ROUNDS		20

FIXTURE(calls) {
	struct twheel_setup setup;
	int fd;
};

FIXTURE_VARIANT(calls) {
	clockid_t clock;
};

FIXTURE_VARIANT_ADD(calls, monotonic) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(calls, boottime) { .clock = CLOCK_BOOTTIME };
FIXTURE_VARIANT_ADD(calls, realtime) { .clock = CLOCK_REALTIME };
FIXTURE_VARIANT_ADD(calls, tai) { .clock = CLOCK_TAI };

FIXTURE_SETUP(calls)
{
	self->setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock, .tick = TICK,
		.capacity = 256,
	};
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_up(self->fd, &self->setup));
}

FIXTURE_TEARDOWN(calls)
{
	close(self->fd);
}

/*
 * Calls go on when the tick begins, each of which sees that something is due and an event unread.
 * Softirq, whose interrupt is due at the same time, finds the timers all the same.
 */
TEST_F(calls, do_not_put_off_what_is_due)
{
	unsigned int late = 0;
	struct twheel_event ev[8];
	__u64 begin, worst = 0;

	for (int round = 0; round < ROUNDS; round++) {
		/* One that nobody reads. */
		ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
		begin = (clock_ns(variant->clock) / TICK + 2) * TICK;
		ASSERT_EQ(0, arm_at(self->fd, 2, begin, 0));
		ASSERT_EQ(0, arm_at(self->fd, 3, begin, 0));
		sleep_until(now_ns() + begin - clock_ns(variant->clock) - MSEC);
		while (clock_ns(variant->clock) < begin + 100 * USEC)
			ASSERT_EQ(0, arm_at(self->fd, 4, begin + HOUR, 0));
		sleep_until(now_ns() + 2 * TICK);
		ASSERT_EQ(3, wheel_read(self->fd, ev, ARRAY_SIZE(ev)));
		for (int i = 1; i < 3; i++) {
			EXPECT_LE(begin, ev[i].fired);
			worst = ev[i].fired - begin > worst ? ev[i].fired - begin : worst;
		}
		late += ev[1].fired - begin > TICK / 2;
	}
	TH_LOG("%u of %u late, by up to %llu us", late, ROUNDS, worst / USEC);
	/* A machine may stand still now and then, unless its time is instructions. */
	EXPECT_GE(getenv("TWHEEL_COUNTED") ? 0 : 1, late);
}

/* An eventfd that so many epolls watch: to write to it holds interrupts off meanwhile. */
#define WATCHERS	1200

/*
 * Have an interrupt come while none can, again and again: one for a wheel with a timer, and three
 * for wheels that are disarmed again.
 */
static void hold_interrupts_off(void)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI,
	};
	struct epoll_event in = { .events = EPOLLIN | EPOLLET };
	int fd[ARRAY_SIZE(clocks)], watched = eventfd(0, EFD_NONBLOCK);
	struct twheel_event ev;

	for (int i = 0; i < WATCHERS; i++)
		CHILD_CHECK(!epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, watched, &in));
	for (int i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct twheel_setup setup = {
			.flags = TWHEEL_SETUP_CLOCK, .clock = clocks[i], .tick = TWHEEL_MIN_TICK,
		};

		fd[i] = wheel_open(O_NONBLOCK);
		CHILD_CHECK(!set_up(fd[i], &setup));
	}
	for (__u64 one = 1;;) {
		/* All of them at the begin of the tick that comes next. */
		__u64 begin = (now_ns() / TWHEEL_MIN_TICK + 1) * TWHEEL_MIN_TICK;

		CHILD_CHECK(!arm_at(fd[0], 0, begin, 0));
		for (int i = 1; i < ARRAY_SIZE(clocks); i++) {
			__u64 left = begin - now_ns();

			CHILD_CHECK(!arm_at(fd[i], 0, clock_ns(clocks[i]) + left, 0));
			CHILD_CHECK(wheel_cancel(fd[i], 0) >= 0);
		}
		while (now_ns() + 15 * USEC < begin)
			;
		CHILD_CHECK(write(watched, &one, sizeof(one)) == sizeof(one));
		wheel_read(fd[0], &ev, 1);
	}
}

TEST(who_holds_interrupts_off_puts_off_nobody_else)
{
	const __u64 period = 3 * MSEC, end = now_ns() + SEC;
	struct rlimit files = { 4096, 4096 };
	__u64 deadline, late, worst = 0;
	unsigned int nr = 0;
	int fd, mode;
	pid_t pid;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	mode = device_for_all();
	ASSERT_LE(0, mode);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		be(ALICE);
		hold_interrupts_off();
	}
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	for (deadline = now_ns() + 100 * MSEC; deadline < end; deadline += period) {
		if (deadline <= now_ns())
			continue;
		late = found_late(fd, deadline);
		ASSERT_NE(~0ULL, late);
		worst = late > worst ? late : worst;
		nr++;
	}
	EXPECT_TRUE(child_end(pid));
	chmod(DEVICE, mode);
	TH_LOG("%u of %u were waited for, at most %llu us late", nr,
	       (unsigned int)(900 * MSEC / period), worst / USEC);
	/* A tick, a span, and what interrupts are off for. */
	EXPECT_GE(2 * MSEC, worst);
	close(fd);
}

TEST_HARNESS_MAIN
