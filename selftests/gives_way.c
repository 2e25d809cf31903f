// SPDX-License-Identifier: GPL-2.0
/*
 * A long call gives way to other tasks and to signals, and wheels that nobody reads leave the CPU
 * to other programs.
 *
 * Bed: alone
 */
#include "beside.h"
#include "signals.h"
#include "words_test.h"

/* So many that a call that does not give way takes long. */
#define MILLIONS	2097152U

/*
 * A thread of a higher priority than all others on the processor, which wants to
 * run each millisecond.
 */
struct observer {
	pthread_t	thread;
	unsigned int	beats;
	bool		stop;
};

static void *observe(void *arg)
{
	struct observer *o = arg;

	while (!__atomic_load_n(&o->stop, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(&o->beats, 1, __ATOMIC_RELEASE);
		sleep_until(now_ns() + MSEC);
	}
	return NULL;
}

static unsigned int beats(struct observer *o)
{
	return __atomic_load_n(&o->beats, __ATOMIC_ACQUIRE);
}

/* 0, or a negative errno: it takes privilege. */
static int observer_start(struct observer *o)
{
	struct sched_param param = { .sched_priority = 50 };
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	err = pthread_create(&o->thread, &attr, observe, o);
	if (err)
		return -err;
	while (!beats(o))
		sched_yield();
	return 0;
}

static void observer_stop(struct observer *o)
{
	__atomic_store_n(&o->stop, true, __ATOMIC_RELEASE);
	pthread_join(o->thread, NULL);
}

/*
 * A wheel of millions of stale events, and one that counts behind them; or of
 * millions of timers that are far away.
 */
FIXTURE(millions) {
	struct shared s;
	bool made;
	long long limit;
	struct observer o;
	__u64 begin;
	__u64 took;
	unsigned int beats;
};

FIXTURE_SETUP(millions)
{
	/* One processor, so that who does not give way is in the way. */
	ASSERT_EQ(0, pin(0));
	self->made = !getuid() && !observer_start(&self->o);
	/* By default it depends on the machine's memory. */
	self->limit = file_value(PARAMETERS "max_user_timers", NULL);
	if (self->made)
		ASSERT_EQ(0, write_file(PARAMETERS "max_user_timers", "%u", MILLIONS));
}

FIXTURE_TEARDOWN(millions)
{
	if (self->made) {
		observer_stop(&self->o);
		write_file(PARAMETERS "max_user_timers", "%lld", self->limit);
	}
	shared_close(&self->s);
}

static int fill(struct shared *s, __u64 deadline)
{
	__u32 id;
	int ret = shared_open(s, MILLIONS, 0);

	if (ret || arm_many(s->fd, MILLIONS, deadline, 0))
		return ret ?: -EIO;
	if (deadline > 1)
		return 0;
	for (id = 0; id < MILLIONS - 1; id++)
		cancel_by_store(s, id);
	return 0;
}

#define NO_PRIORITY	"needs root, and the right to a higher priority"

/* What a call takes; and how often the observer ran meanwhile. */
#define observed(self, call) do {					\
	(self)->begin = now_ns();					\
	(self)->beats = beats(&(self)->o);				\
	call;								\
	(self)->beats = beats(&(self)->o) - (self)->beats;		\
	(self)->took = now_ns() - (self)->begin;			\
	TH_LOG("%u beats in %llu ms", (self)->beats, (self)->took / MSEC); \
} while (0)

/* It wants to run twenty times as often; a host that is busy is no excuse for 0. */
#define GAVE_WAY(self)	((self)->took / (20 * MSEC) <= (self)->beats)

TEST_F(millions, a_read_over_stale_events_gives_way)
{
	struct twheel_event ev = {};

	if (!self->made)
		SKIP(return, NO_PRIORITY);
	ASSERT_EQ(0, fill(&self->s, 1));
	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, 0));
	observed(self, ASSERT_EQ(1, wheel_read(self->s.fd, &ev, 1)));
	EXPECT_TRUE(GAVE_WAY(self));
	EXPECT_EQ(MILLIONS - 1, ev.id);
}

TEST_F(millions, a_list_gives_way)
{
	struct twheel_timer t;
	__u64 far = now_ns() + HOUR;
	__u32 id, cursor = 0;

	if (!self->made)
		SKIP(return, NO_PRIORITY);
	ASSERT_EQ(0, fill(&self->s, far));
	for (id = 0; id < MILLIONS - 1; id++)
		cancel_by_store(&self->s, id);
	observed(self, ASSERT_EQ(1, wheel_list(self->s.fd, &t, 1, &cursor)));
	EXPECT_TRUE(GAVE_WAY(self));
	EXPECT_EQ(MILLIONS - 1, t.id);
}

/* Signals come every 5 ms, and at least one in ten must have ended a call. */
#define HEARD_SIGNALS(self, interrupted)	((self)->took / (50 * MSEC) <= (interrupted))

TEST_F(millions, a_read_over_stale_events_is_interrupted_by_signals)
{
	struct twheel_event ev = {};
	unsigned int interrupted = 0;
	int ret;

	if (!self->made)
		SKIP(return, NO_PRIORITY);
	ASSERT_EQ(0, fill(&self->s, 1));
	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, 0));
	self->begin = now_ns();
	ASSERT_EQ(0, signals_begin(5 * MSEC, 0));
	for (;;) {
		ret = wheel_read(self->s.fd, &ev, 1);
		if (ret == 1)
			break;
		ASSERT_EQ(-EINTR, ret);
		interrupted++;
	}
	timer_delete(signal_timer);
	self->took = now_ns() - self->begin;
	EXPECT_EQ(MILLIONS - 1, ev.id);
	EXPECT_TRUE(HEARD_SIGNALS(self, interrupted))
		TH_LOG("interrupted %u times in %llu ms", interrupted, self->took / MSEC);
}

/*
 * A program that has armed much for one time, and then does nothing but sleep: nobody
 * else has any wheel.
 */
#define IDLE_WHEELS	200
#define IDLE_TIMERS	3000

FIXTURE(sleeper) {
	pid_t pid;
	__u64 before;
	__u64 due;
};

static __u64 compute(__u64 ns)
{
	__u64 limit = now_ns() + ns, turns = 0;
	__u32 seed = 1, i;

	do {
		for (i = 0; i < 1000; i++)
			next_random(&seed);
		turns += seed != 0;
	} while (now_ns() < limit);
	return turns;
}

static void sleep_with_wheels(int ready)
{
	static int fd[IDLE_WHEELS];
	__u64 begin = now_ns(), due;
	struct twheel_setup setup;
	int i;

	for (i = 0; i < IDLE_WHEELS; i++) {
		setup = (struct twheel_setup){ .tick = TWHEEL_MIN_TICK, .capacity = IDLE_TIMERS };
		fd[i] = wheel_open(0);
		CHILD_CHECK(fd[i] >= 0);
		CHILD_CHECK(!set_up(fd[i], &setup));
		CHILD_CHECK(!arm_many(fd[i], IDLE_TIMERS, begin + HOUR, 0));
	}
	/* To move them all takes less; and none is due before that is done. */
	due = now_ns() + 3 * (now_ns() - begin);
	for (i = 0; i < IDLE_WHEELS; i++)
		CHILD_CHECK(!arm_many(fd[i], IDLE_TIMERS, due, 0));
	CHILD_CHECK(now_ns() < due);
	CHILD_CHECK(write(ready, &due, sizeof(due)) == sizeof(due));
	for (;;)
		pause();
}

/* In the best of some times, because a host takes the processor away at others. */
static __u64 compute_most(void)
{
	__u64 most = 0, turns;

	for (int i = 0; i < 4; i++) {
		turns = compute(150 * MSEC);
		if (turns > most)
			most = turns;
	}
	return most;
}

/* Start a program that sleeps, and tell when its first timer is due; the pid, or -1. */
static pid_t sleeper_start(__u64 *due)
{
	int ready[2];
	ssize_t told;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep_with_wheels(ready[1]);
	}
	close(ready[1]);
	told = read(ready[0], due, sizeof(*due));
	close(ready[0]);
	return told == sizeof(*due) ? pid : -1;
}

FIXTURE_SETUP(sleeper)
{
	ASSERT_EQ(0, pin(0));
	/* What a computation gets without them. */
	self->before = compute_most();
	self->pid = sleeper_start(&self->due);
	ASSERT_LT(0, self->pid);
	sleep_until(self->due);
}

FIXTURE_TEARDOWN(sleeper)
{
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
}

TEST_F(sleeper, timers_that_nobody_reads_leave_the_processor_to_others)
{
	__u64 after = compute_most();

	TH_LOG("%llu turns before, %llu beside it", self->before, after);
	/* More than half is what it should get; the host may have others to serve. */
	EXPECT_LE(self->before / 4, after);
}

TEST_F(sleeper, timers_that_nobody_reads_make_no_other_sleeper_late)
{
	__u64 until, passed, worst = now_ns() - self->due;
	int i;

	for (i = 0; i < 20; i++) {
		until = now_ns() + 50 * MSEC;
		sleep_until(until);
		passed = now_ns() - until;
		if (worst < passed)
			worst = passed;
	}
	TH_LOG("%llu us late", worst / USEC);
	EXPECT_GE(LATE, worst);
}

TEST_HARNESS_MAIN
