// SPDX-License-Identifier: GPL-2.0
/*
 * A user waits for no program of another user, and softirq does no more for a user with wheels of
 * several clocks than for one with wheels of one.
 *
 * Bed: plain, storm
 */
#include <sys/resource.h>

#include "user_fixture.h"
#include "words_test.h"

/* First use and close, while programs of another user wait for a processor. */
#define IDLE		24
#define HOGS		3
#define TIMES		300

/* Another one of Alice's. */
#define CAROL		1003

#define LIMIT		1024

/* Use a wheel for the first time, and close it. */
static int use_once(int fd)
{
	int ret = arm_in(fd, 1, HOUR, 0);

	close(fd);
	return ret;
}

/* How often this thread has slept, to wait for something. */
static long sleeps(void)
{
	struct rusage usage;

	CHILD_CHECK(!getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw;
}

/*
 * Open all wheels, because devices of this sort share a lock of the kernel then; use them when told
 * to, and tell how often that slept.
 */
static void be_victim(int ready, int begin, int result)
{
	int wheel[TIMES], first = wheel_open(0);
	long slept = 0, before;
	char byte;

	for (int i = 0; i < TIMES; i++) {
		wheel[i] = wheel_open(0);
		CHILD_CHECK(wheel[i] >= 0);
	}
	be(BOB);
	CHILD_CHECK(!pin(0));
	/* A user who is new needs memory, and that may sleep. */
	CHILD_CHECK(!arm_in(first, 1, HOUR, 0));
	child_ready(ready);
	CHILD_CHECK(read(begin, &byte, 1) == 1);
	for (int i = 0; i < TIMES; i++) {
		sleep_until(now_ns() + 4 * MSEC);
		before = sleeps();
		CHILD_CHECK(!use_once(wheel[i]));
		slept += sleeps() - before;
	}
	CHILD_CHECK(write(result, &slept, sizeof(slept)) == sizeof(slept));
	_exit(0);
}

/*
 * Have a wheel change hands between two of one's uids, again and again: it belongs to who uses it
 * as long as that has failed.
 */
static void change_hands(void)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_WORDS, .capacity = 2 * LIMIT,
	};
	int fd = wheel_open(0);

	CHILD_CHECK(fd >= 0);
	for (uid_t uid = ALICE;; uid = ALICE + CAROL - uid) {
		CHILD_CHECK(!setresuid(uid, ALICE + CAROL - uid, -1));
		CHILD_CHECK(set_up(fd, &setup) == -EDQUOT);
	}
}

/* Get a processor only when nobody else wants it. */
static void be_idle(int cpu)
{
	struct sched_param none = {};

	CHILD_CHECK(!pin(cpu));
	CHILD_CHECK(!sched_setscheduler(0, SCHED_IDLE, &none));
	change_hands();
}

static void be_hog(int cpu)
{
	CHILD_CHECK(!pin(cpu));
	while (true)
		;
}

TEST_F(user, first_use_and_close_wait_for_no_program_without_a_processor)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), ready, begin[2], result[2];
	pid_t other[IDLE + HOGS], victim;
	long slept;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	if (preempt_rt())
		SKIP(return, "with PREEMPT_RT one sleeps for spinlocks of the kernel as well");
	ASSERT_EQ(0, pipe(begin));
	ASSERT_EQ(0, pipe(result));
	victim = fork_beside(&ready);
	ASSERT_LE(0, victim);
	if (!victim)
		be_victim(ready, begin[0], result[1]);
	ASSERT_EQ(0, limit_timers(LIMIT));
	for (int i = 0; i < IDLE + HOGS; i++) {
		other[i] = fork_beside(&ready);
		ASSERT_LE(0, other[i]);
		if (other[i])
			continue;
		CHILD_CHECK(!setresuid(ALICE, CAROL, CAROL));
		CHILD_CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
		child_ready(ready);
		if (i < IDLE)
			be_idle(i % cpus);
		be_hog(cpus - 1);
	}
	ASSERT_EQ(1, write(begin[1], "", 1));
	/* A wait for a program without a CPU never ends; 300 uses take seconds in KASAN. */
	if (!(wheel_poll(result[0], 12 * NEVER_MS) & POLLIN) ||
	    read(result[0], &slept, sizeof(slept)) != sizeof(slept))
		slept = TIMES;
	/* Hogs first: others need a processor to end. */
	for (int i = IDLE + HOGS; i--;)
		EXPECT_TRUE(child_end(other[i]));
	EXPECT_EQ(0, child_result(victim));
	EXPECT_EQ(0, slept);
	for (int i = 0; i < 2; i++) {
		close(begin[i]);
		close(result[i]);
	}
}

/*
 * What softirq does for one user, and for one wheel.
 */
#define FAIR_WHEELS	3
/* The most that softirq may do in a visit. */
#define STEP		64
/* All together more than softirq may handle while the test looks. */
#define FAIR_TIMERS	12288

struct fair {
	int		fd[FAIR_WHEELS];
	bool		clocks;
	__u64		visits;
	__u64		left;
};

static bool fair_look(struct fair *f)
{
	struct twheel_stats st;
	unsigned int i;

	f->visits = 0;
	f->left = 0;
	for (i = 0; i < FAIR_WHEELS; i++) {
		if (wheel_stats(f->fd[i], &st))
			return false;
		f->visits += st.interrupts;
		f->left += st.pending;
	}
	return true;
}

/* In a child: timers that are cancelled by a store are work, and make no event. */
static void fair_arm(struct fair *f, uid_t uid, __u64 start)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME };
	unsigned int i, id;

	be(uid);
	for (i = 0; i < FAIR_WHEELS; i++) {
		struct shared s = {
			.fd = f->fd[i],
			.setup = {
				.flags = TWHEEL_SETUP_CLOCK,
				.clock = f->clocks ? clocks[i] : CLOCK_MONOTONIC,
				.capacity = FAIR_TIMERS,
			},
		};

		CHILD_CHECK(!shared_set_up(&s));
		CHILD_CHECK(!shared_map(&s));
		CHILD_CHECK(!arm_many(s.fd, FAIR_TIMERS, s.setup.now + (start - now_ns()), USEC));
		for (id = 0; id < FAIR_TIMERS; id++)
			cancel_by_store(&s, id);
	}
	_exit(0);
}

static void fair_close(struct fair *f)
{
	for (unsigned int i = 0; i < FAIR_WHEELS; i++)
		close(f->fd[i]);
}

/* Arm all timers of both users, to be due at @start.  Was that before @start? */
static bool fair_begin(struct fair user[2], __u64 start)
{
	pid_t pid[2];
	bool done = true;

	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < FAIR_WHEELS; k++)
			user[i].fd[k] = wheel_open(0);
		pid[i] = fork();
		if (!pid[i])
			fair_arm(&user[i], i ? BOB : ALICE, start);
	}
	for (int i = 0; i < 2; i++)
		done = !child_result(pid[i]) && done;
	return done && now_ns() < start;
}

TEST(wheels_of_three_clocks_are_turned_no_more_often_than_those_of_one)
{
	struct fair user[2] = { { .clocks = false }, { .clocks = true } }, before[2];
	__u64 ahead = 6 * SEC, start;
	unsigned int i;

	if (getuid())
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, pin(0));
	/* An arm that comes too late leaves softirq nothing to do: slow machines get more time. */
	while (!fair_begin(user, start = now_ns() + ahead)) {
		fair_close(&user[0]);
		fair_close(&user[1]);
		ahead *= 2;
		ASSERT_GT(120 * SEC, ahead);
	}
	/* The timers are due one after the other, and all of them now. */
	sleep_until(start + FAIR_TIMERS * USEC);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(fair_look(&user[i]));
		before[i] = user[i];
	}
	sleep_until(now_ns() + 200 * MSEC);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(fair_look(&user[i]));
		user[i].visits -= before[i].visits;
		EXPECT_LT(0, user[i].visits);
		/* Without timers left there is nothing to compare. */
		ASSERT_LT(0, user[i].left);
	}
	EXPECT_GE(2 * user[0].visits + STEP, user[1].visits);
	EXPECT_GE(2 * (before[0].left - user[0].left) + STEP * FAIR_WHEELS,
		  before[1].left - user[1].left);
	fair_close(&user[0]);
	fair_close(&user[1]);
}

TEST_HARNESS_MAIN
