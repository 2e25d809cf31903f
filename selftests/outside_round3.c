// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in a third round: a wake-up that went lost, a read that computed
 * although it was told not to wait, and, on PREEMPT_RT, a lock that held up everybody.
 * What else they found is in abuse.c and in tests/timers-test.c.
 */
#include <sys/uio.h>
#include <sys/utsname.h>

#include "beside.h"
#include "outside.h"

/*
 * A drain hands over a timer that is wanted for a past time before the drain has ended: its
 * event comes then, and who sleeps in a read has to learn of that.
 */
FIXTURE(drain) {
	struct shared s;
	struct held held;
	bool made;
};

FIXTURE_SETUP(drain)
{
	self->made = held_open(&self->held);
	ASSERT_EQ(0, shared_open(&self->s, 256, 0));
}

FIXTURE_TEARDOWN(drain)
{
	held_close(&self->held);
	shared_close(&self->s);
}

TEST_F(drain, that_meets_a_store_wakes_who_reads)
{
	struct caller drain = {
		.call = call_drain, .fd = self->s.fd, .memory = self->held.page, .nr = 1,
	};
	struct twheel_event ev = {};
	struct caller read = { .call = call_read, .fd = self->s.fd, .memory = &ev, .nr = 1 };
	__u64 past = now_ns() - MSEC;
	bool woken;

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, arm_in(self->s.fd, 5, HOUR, 55));
	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, 0));
	ASSERT_EQ(0, caller_start(&read));
	ASSERT_TRUE(caller_asleep(&read));
	ASSERT_EQ(0, caller_start(&drain));
	ASSERT_TRUE(held_wait(&self->held));
	/* Whoever stores has yet to call when the drain ends. */
	ASSERT_EQ(0, promise(&self->s, 5));
	__atomic_exchange_n(&self->s.word[5].deadline, past, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, held_let(&self->held));
	pthread_join(drain.thread, NULL);
	EXPECT_EQ(0, drain.ret);
	EXPECT_EQ(0, arm_stored(&self->s, 5));
	woken = caller_done(&read, NEVER_MS);
	EXPECT_TRUE(woken);
	/* Or it would sleep until the test is killed. */
	if (!woken)
		EXPECT_EQ(0, arm_at(self->s.fd, 6, 1, 0));
	pthread_join(read.thread, NULL);
	EXPECT_EQ(1, read.ret);
	EXPECT_EQ(5, ev.id);
	EXPECT_EQ(past, ev.deadline);
}

/* Who may not wait is told to come again, after a bounded number of steps. */
TEST(read_without_waiting_is_bounded)
{
	enum { IDS = 65536, MOST = 32 * 64 };
	struct twheel_stats before, after;
	struct twheel_event ev = {};
	struct iovec iov = { &ev, sizeof(ev) };
	unsigned int calls = 0;
	struct shared s;
	sigset_t storm;
	ssize_t ret;

	/* A call that is interrupted would begin anew, with as many steps. */
	sigemptyset(&storm);
	sigaddset(&storm, STORM_SIGNAL);
	ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &storm, NULL));
	ASSERT_EQ(0, shared_open(&s, IDS, 0));
	ASSERT_EQ(0, arm_many(s.fd, IDS, 1, 0));
	for (__u32 id = 0; id < IDS - 1; id++)
		__atomic_store_n(&s.word[id].deadline, now_ns() + HOUR, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	ASSERT_EQ(IDS, after.expired);
	do {
		before = after;
		ret = preadv2(s.fd, &iov, 1, -1, RWF_NOWAIT);
		if (ret < 0)
			ASSERT_EQ(EAGAIN, errno);
		ASSERT_EQ(0, wheel_stats(s.fd, &after));
		ASSERT_GE(MOST, before.expired - after.expired);
		/* Each gets on, so this comes to an end. */
		ASSERT_LT(after.expired, before.expired);
		calls++;
	} while (ret < 0);
	EXPECT_LT(IDS / MOST, calls);
	EXPECT_EQ(sizeof(ev), ret);
	EXPECT_EQ(IDS - 1, ev.id);
	shared_close(&s);
}

/*
 * On PREEMPT_RT who holds a wheel's lock may lose the processor to somebody of a higher
 * priority.  Nobody on another processor is to wait for that, but who uses the wheel.
 */
#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"
/* How often somebody takes the processor, and for how long. */
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
	struct utsname name;

	uname(&name);
	if (!strstr(name.version, "PREEMPT_RT"))
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

TEST_F(rt, a_lock_whose_holder_is_preempted_holds_up_nobody)
{
	__u64 most = 0, end, start;
	int fd;

	if (self->reason)
		SKIP(return, "%s", self->reason);
	/* What is due is found here, and its holder is there. */
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
