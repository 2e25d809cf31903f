// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twenty-seventh round: who has interrupts come while softirq turns
 * their wheels makes the span no longer than those wheels can take.
 */
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "beside.h"

#define TIMERFDS	13000
/* Wheels, with so many timers each. */
#define WHEELS		6
#define TIMERS		64

/* Timerfds that expire together, a moment after a pass has begun. */
#define AHEAD		(5 * USEC)

/* Have all timerfds expire in the middle of a pass, as often as one can. */
static void interrupt_passes(void)
{
	static int timerfd[TIMERFDS];
	struct twheel_op op[TIMERS] = {};
	struct twheel_event ev[TIMERS];
	/* What it takes to get ready, ns; the first guess is too long. */
	__u64 takes = 100 * MSEC;
	int fd[WHEELS];

	for (int i = 0; i < TIMERFDS; i++) {
		timerfd[i] = timerfd_create(CLOCK_MONOTONIC, 0);
		CHILD_CHECK(timerfd[i] >= 0);
	}
	for (int i = 0; i < WHEELS; i++) {
		struct twheel_setup setup = { .tick = TWHEEL_MIN_TICK };

		fd[i] = wheel_open(O_NONBLOCK);
		CHILD_CHECK(!set_up(fd[i], &setup));
	}
	for (;;) {
		__u64 start = now_ns();
		__u64 begin = ((start + takes) / TWHEEL_MIN_TICK + 1) * TWHEEL_MIN_TICK;
		struct itimerspec it = {
			.it_value = { (begin + AHEAD) / SEC, (begin + AHEAD) % SEC },
		};

		for (int i = 0; i < TIMERS; i++)
			op[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM, .id = i, .deadline = begin,
			};
		for (int i = 0; i < WHEELS; i++)
			CHILD_CHECK(wheel_submit(fd[i], op, TIMERS, NULL) == TIMERS);
		for (int i = 0; i < TIMERFDS; i++)
			CHILD_CHECK(!timerfd_settime(timerfd[i], TFD_TIMER_ABSTIME, &it, NULL));
		takes = now_ns() - start + TWHEEL_MIN_TICK;
		while (now_ns() < begin + AHEAD)
			;
		for (int i = 0; i < WHEELS; i++)
			while (wheel_read(fd[i], ev, TIMERS) > 0)
				;
	}
}

TEST(who_interrupts_passes_makes_no_span_longer)
{
	const __u64 end = now_ns() + 3 * SEC;
	struct twheel_setup setup = { .tick = TWHEEL_MIN_TICK };
	struct rlimit files = { TIMERFDS + 64, TIMERFDS + 64 };
	struct sched_param urgent = { .sched_priority = 50 };
	__u64 deadline, late, worst = 0, sum = 0;
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
		interrupt_passes();
	}
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &urgent));
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	/* Until the attack has begun. */
	sleep_until(now_ns() + 300 * MSEC);
	while (now_ns() < end) {
		deadline = (now_ns() / TWHEEL_MIN_TICK + 21) * TWHEEL_MIN_TICK;
		late = found_late(fd, deadline);
		ASSERT_NE(~0ULL, late);
		worst = late > worst ? late : worst;
		sum += late;
		nr++;
	}
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){}));
	EXPECT_TRUE(child_end(pid));
	chmod(DEVICE, mode);
	TH_LOG("%u were waited for, %llu us late in the mean and %llu at most", nr,
	       sum / nr / USEC, worst / USEC);
	/* The timerfds' interrupt itself takes 2 ms, and there is a span behind it. */
	EXPECT_GE(5 * MSEC, worst);
	EXPECT_GE(MSEC, sum / nr);
	close(fd);
}

TEST_HARNESS_MAIN
