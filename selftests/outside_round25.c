// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twenty-fifth round: an interrupt counts that finds a wheel due whose
 * user has to wait for the next span.
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
	int status;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
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
	for (unsigned int i = 0; i < USERS; i++) {
		EXPECT_EQ(0, waitpid(pid[i], &status, WNOHANG));
		kill(pid[i], SIGKILL);
		waitpid(pid[i], &status, 0);
	}
	chmod(DEVICE, 0600);
	ASSERT_LT(0, alone);
	TH_LOG("timers take %llu of 1000 of a processor", 1000 - 1000 * beside / alone);
	/* An eighth, and they do take some of it. */
	EXPECT_GE(130, 1000 - 1000 * beside / alone);
	EXPECT_LE(60, 1000 - 1000 * beside / alone);
}

TEST_HARNESS_MAIN
