// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the fifteenth round: ways to make others wait until softirq has time
 * again.
 */
#include "beside.h"
#include "outside.h"

#define WHEELS		64
#define TIMERS		1000000

/* Arm a wheel for the next tick of any, and take that back; again and again. */
static void arm_and_disarm(const int *fd, const __u64 *tick)
{
	for (;;) {
		__u64 soon = now_ns() + 14 * USEC, due = ~0ULL, next;
		int first = 0;

		for (int i = 0; i < WHEELS; i++) {
			next = (soon + tick[i] - 1) / tick[i] * tick[i];
			if (next < due) {
				due = next;
				first = i;
			}
		}
		CHILD_CHECK(!arm_at(fd[first], 1, due, 0));
		CHILD_CHECK(wheel_cancel(fd[first], 1) >= 0);
		while (now_ns() < due)
			;
	}
}

/*
 * A wheel that is behind for a while: its timers have all been moved to later, so that softirq
 * finds nothing but work.  If @disarm, interrupts come besides that find nothing at all.
 */
static void attack(int ready, bool disarm, __u64 due)
{
	struct twheel_setup many = { .capacity = TIMERS };
	int fd[WHEELS], behind = wheel_open(O_NONBLOCK);
	__u64 tick[WHEELS];

	CHILD_CHECK(behind >= 0);
	for (int i = 0; i < WHEELS; i++) {
		fd[i] = wheel_open(O_NONBLOCK);
		CHILD_CHECK(fd[i] >= 0);
	}
	be(BOB);
	CHILD_CHECK(!set_up(behind, &many) && !arm_many(behind, TIMERS, due, 0) &&
		    !arm_many(behind, TIMERS, due + HOUR, 0));
	for (int i = 0; i < WHEELS; i++) {
		/* Another clock: that of the wheel which is behind fires no more in this span. */
		struct twheel_setup setup = {
			.flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_BOOTTIME,
			.tick = 100 * USEC + i * 1571,
		};

		CHILD_CHECK(!set_up(fd[i], &setup));
		tick[i] = setup.tick;
	}
	child_ready(ready);
	if (disarm)
		arm_and_disarm(fd, tick);
	for (;;)
		pause();
}

FIXTURE(late)
{
};

FIXTURE_VARIANT(late)
{
	bool	disarm;
};

/* One wheel alone is behind. */
FIXTURE_VARIANT_ADD(late, behind)
{
};

/* Interrupts that find nothing come besides. */
FIXTURE_VARIANT_ADD(late, disarmed)
{
	.disarm = true,
};

FIXTURE_SETUP(late)
{
}

FIXTURE_TEARDOWN(late)
{
}

/*
 * Of a span some time is left for a user who comes late, whatever a user alone has to do; and
 * an interrupt that finds nothing makes it no longer.
 */
TEST_F(late, a_user_who_comes_late_does_not_wait_for_the_next_span)
{
	enum { NR = 300 };
	/* The slot is opened a slot of its level ahead, and takes five seconds from then on. */
	__u64 due = now_ns() + 10 * SEC, late[NR];
	struct twheel_event ev;
	int ready, fd;
	pid_t pid;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	pid = fork_beside(&ready);
	if (!pid)
		attack(ready, variant->disarm, due);
	ASSERT_LT(0, pid);
	ASSERT_GT(due - 4 * SEC, now_ns());
	sleep_until(due - 4 * SEC);
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	for (int i = 0; i < NR; i++) {
		__u64 deadline = (now_ns() / MSEC + 2) * MSEC;

		ASSERT_EQ(0, arm_at(fd, 1, deadline, 0));
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
		late[i] = ev.fired - deadline;
	}
	EXPECT_TRUE(child_end(pid));
	qsort(late, NR, sizeof(*late), by_lateness);
	TH_LOG("late by %llu us, and at p90 %llu", late[NR / 2] / USEC, late[NR * 9 / 10] / USEC);
	EXPECT_GE(60 * USEC, late[NR * 9 / 10]);
	close(fd);
}

TEST_HARNESS_MAIN
