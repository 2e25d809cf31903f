// SPDX-License-Identifier: GPL-2.0
/* An interrupt that finds no wheel due makes no span longer. */
#include "beside.h"

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
