// SPDX-License-Identifier: GPL-2.0
/*
 * On PREEMPT_RT a task of a higher priority that preempts the holder of a wheel's lock makes nobody
 * wait but users of that wheel.
 *
 * Bed: rt
 */
#include "beside.h"

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"
/* How often such a task takes the CPU, and for how long. */
#define RT_TIMES	6
#define RT_LONG		(1500 * MSEC)

FIXTURE(rt) {
	const char *reason;
	long long runtime;
	pid_t child[3];
};

FIXTURE_VARIANT(rt) {
	bool both;		/* the wheel is used here as well, not only turned */
};

FIXTURE_VARIANT_ADD(rt, softirq) { .both = false };
FIXTURE_VARIANT_ADD(rt, thread) { .both = true };

FIXTURE_SETUP(rt)
{
	if (!preempt_rt())
		self->reason = "not a kernel with PREEMPT_RT";
	else if (getuid())
		self->reason = "needs root for a realtime priority";
	else if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		self->reason = "needs two processors";
	if (self->reason)
		return;
	self->runtime = file_value(RT_RUNTIME, NULL);
	ASSERT_EQ(0, write_file(RT_RUNTIME, "-1"));
}

FIXTURE_TEARDOWN(rt)
{
	if (self->reason)
		return;
	for (int i = 0; i < ARRAY_SIZE(self->child); i++) {
		if (self->child[i] <= 0)
			continue;
		kill(self->child[i], SIGKILL);
		waitpid(self->child[i], NULL, 0);
	}
	write_file(RT_RUNTIME, "%lld", self->runtime);
}

/* Hold the lock of a wheel as much as one can. */
static void hold_the_lock(int fd, int cpu)
{
	static struct twheel_op ops[64];
	struct twheel_event ev[64];
	__u32 failed;

	CHILD_CHECK(!pin(cpu));
	for (__u32 n = 0;; n++) {
		for (int i = 0; i < ARRAY_SIZE(ops); i++)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM, .id = i, .deadline = now_ns() + HOUR,
			};
		CHILD_CHECK(wheel_submit(fd, ops, ARRAY_SIZE(ops), &failed) == ARRAY_SIZE(ops));
		if (n % 64 == 0)
			wheel_read(fd, ev, ARRAY_SIZE(ev));
	}
}

static void take_the_processor(void)
{
	const struct sched_param priority = { .sched_priority = 50 };
	__u64 until;

	CHILD_CHECK(!pin(1));
	CHILD_CHECK(!sched_setscheduler(0, SCHED_FIFO, &priority));
	for (int i = 0; i < RT_TIMES; i++) {
		sleep_until(now_ns() + 300 * MSEC);
		until = now_ns() + RT_LONG;
		while (now_ns() < until)
			;
	}
	_exit(0);
}

TEST_F(rt, a_preempted_lock_holder_holds_up_no_other_program)
{
	__u64 most = 0, end, start;
	int fd;

	if (self->reason)
		SKIP(return, "%s", self->reason);
	/* Due timers are found on this processor; the lock holder runs on the other one. */
	ASSERT_EQ(0, pin(0));
	fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (__u32 i = 0; i < 4000; i++)
		ASSERT_EQ(0, arm_in(fd, 100 + i, 200 * MSEC + i * 5 * MSEC, 0));
	self->child[0] = fork();
	if (!self->child[0])
		hold_the_lock(fd, 1);
	self->child[1] = fork();
	if (!self->child[1])
		take_the_processor();
	if (variant->both) {
		self->child[2] = fork();
		if (!self->child[2])
			hold_the_lock(fd, 0);
	}
	end = now_ns() + RT_TIMES * (RT_LONG + 300 * MSEC);
	while (now_ns() < end) {
		start = now_ns();
		sleep_until(start + 4 * MSEC);
		start = now_ns() - start;
		if (start > most)
			most = start;
	}
	EXPECT_EQ(0, child_result(self->child[1]));
	self->child[1] = 0;
	/* Held up, it sleeps as long as the processor is taken. */
	EXPECT_GE(RT_LONG * 2 / 3, most)
		TH_LOG("slept for %llu ms", most / MSEC);
	close(fd);
}

TEST_HARNESS_MAIN
