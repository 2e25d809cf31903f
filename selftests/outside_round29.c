// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twenty-ninth round and the next: softirq does not wait for who works
 * on a wheel, and the wheel's timers come in time all the same, whatever else computes.
 */
#include <pthread.h>

#include "beside.h"
#include "outside.h"

#define PERIOD		MSEC
#define ROUNDS		400
#define THREADS		3
#define HOGS		4

static bool stop;

/* Hold the wheel's lock nearly all the time, and turn it never. */
static void *work_on(void *wheel)
{
	int fd = *(const int *)wheel;
	struct twheel_op op[64];

	for (int i = 0; i < ARRAY_SIZE(op); i++)
		op[i] = (struct twheel_op){ .opcode = TWHEEL_OP_CANCEL, .id = 100 + i };
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		wheel_submit(fd, op, ARRAY_SIZE(op), NULL);
	return NULL;
}

TEST(timers_of_a_wheel_on_which_threads_work)
{
	struct twheel_setup setup = { .tick = TWHEEL_MIN_TICK };
	struct sched_param urgent = { .sched_priority = 1 };
	__u64 deadline, by, worst = 0, sum = 0;
	pthread_t thread[THREADS];
	pid_t hog[HOGS];
	int fd;

	if (getuid())
		SKIP(return, "needs root");
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	for (int i = 0; i < HOGS; i++) {
		hog[i] = fork();
		ASSERT_LE(0, hog[i]);
		if (!hog[i]) {
			be(ALICE);
			for (;;)
				;
		}
	}
	stop = false;
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, work_on, &fd));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &urgent));
	for (int i = 0; i < ROUNDS; i++) {
		deadline = (now_ns() / PERIOD + 2) * PERIOD;
		by = found_late(fd, deadline);
		ASSERT_NE(~0ULL, by);
		worst = by > worst ? by : worst;
		sum += by;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){}));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < HOGS; i++)
		EXPECT_TRUE(child_end(hog[i]));
	TH_LOG("%llu us late in the mean, and %llu at most", sum / ROUNDS / USEC, worst / USEC);
	/* The lock is held for 50 us, and a span takes 250. */
	EXPECT_GE(getenv("TWHEEL_COUNTED") ? 150 * USEC : LATE, worst);
	close(fd);
}

TEST_HARNESS_MAIN
