// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twenty-fifth round and the next: an interrupt counts that finds a
 * wheel due whose user has to wait for the next span, but not again and again.
 */
#include "beside.h"

/* Users with a wheel for each clock, and in each wheel a timer for each period. */
#define USERS		4
#define PERIOD		(400 * USEC)
#define WINDOW		(90 * MSEC)

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI,
};

/* All timers are armed, then their user only sleeps.  No two wheels are due at the same time. */
static void arm_and_sleep(unsigned int user, __u64 start)
{
	be(ALICE + user);
	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		const unsigned int wheel = user * ARRAY_SIZE(clocks) + i;
		const unsigned int wheels = USERS * ARRAY_SIZE(clocks);
		struct twheel_setup setup = {
			.flags = TWHEEL_SETUP_CLOCK, .clock = clocks[i],
			.tick = TWHEEL_MIN_TICK + wheel * 1009 + 7,
		};
		__u64 ahead = clock_ns(clocks[i]) - now_ns(), at = start + wheel * PERIOD / wheels;
		int fd = wheel_open(O_NONBLOCK);

		CHILD_CHECK(!set_up(fd, &setup));
		for (unsigned int id = 0; id < WINDOW / PERIOD; id++, at += PERIOD)
			CHILD_CHECK(!arm_at(fd, id, at + ahead, 0));
	}
	for (;;)
		pause();
}

/* How much somebody computes until then. */
static __u64 compute_until(__u64 end)
{
	__u64 count = 0;

	while (now_ns() < end) {
		for (unsigned int i = 0; i < 100; i++)
			__asm__ volatile("" : : "r"(i));
		count++;
	}
	return count;
}

TEST(lines_that_have_to_wait_are_counted)
{
	__u64 start = now_ns() + SEC, alone, beside;
	pid_t pid[USERS];
	int mode;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	ASSERT_EQ(0, pin(0));
	mode = device_for_all();
	ASSERT_LE(0, mode);
	for (unsigned int i = 0; i < USERS; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			arm_and_sleep(i, start);
	}
	sleep_until(start - 2 * WINDOW);
	alone = compute_until(start - WINDOW);
	sleep_until(start);
	beside = compute_until(start + WINDOW);
	for (unsigned int i = 0; i < USERS; i++)
		EXPECT_TRUE(child_end(pid[i]));
	chmod(DEVICE, mode);
	ASSERT_LT(0, alone);
	TH_LOG("timers take %llu of 1000 of a processor", 1000 - 1000 * beside / alone);
	/* An eighth, and they do take some of it. */
	EXPECT_GE(130, 1000 - 1000 * beside / alone);
	EXPECT_LE(60, 1000 - 1000 * beside / alone);
}

/* Arm a wheel, let its interrupt come, and disarm it, as often as one can. */
static void let_interrupts_come(void)
{
	enum { WHEELS = 24 };
	int fd[WHEELS];

	be(ALICE);
	for (unsigned int i = 0; i < WHEELS; i++) {
		struct twheel_setup setup = { .tick = TWHEEL_MIN_TICK + i * 97 + 3 };

		fd[i] = wheel_open(O_NONBLOCK);
		CHILD_CHECK(!set_up(fd[i], &setup));
	}
	for (;;) {
		__u64 now = now_ns() + 14 * USEC, begin = ~0ULL, tick, at;
		unsigned int soonest = 0;

		for (unsigned int i = 0; i < WHEELS; i++) {
			tick = TWHEEL_MIN_TICK + i * 97 + 3;
			at = (now / tick + 1) * tick;
			if (at < begin) {
				begin = at;
				soonest = i;
			}
		}
		CHILD_CHECK(!arm_at(fd[soonest], 0, begin, 0));
		while (now_ns() < begin + 4 * USEC)
			;
		CHILD_CHECK(wheel_cancel(fd[soonest], 0) >= 0);
	}
}

TEST(who_disarms_again_makes_no_span_longer)
{
	__u64 end = now_ns() + 600 * MSEC, late, worst = 0;
	int fd, mode;
	pid_t pid;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	ASSERT_EQ(0, pin(0));
	mode = device_for_all();
	ASSERT_LE(0, mode);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		let_interrupts_come();
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	sleep_until(now_ns() + 50 * MSEC);
	while (now_ns() < end) {
		late = found_late(fd, (now_ns() / MSEC + 2) * MSEC);
		ASSERT_NE(~0ULL, late);
		worst = late > worst ? late : worst;
	}
	EXPECT_TRUE(child_end(pid));
	chmod(DEVICE, mode);
	TH_LOG("at most %llu us late", worst / USEC);
	EXPECT_GE(2 * MSEC, worst);
	close(fd);
}

TEST_HARNESS_MAIN
