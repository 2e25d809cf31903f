// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the thirty-second round: who uses a wheel for the first time, or closes
 * it, waits for no program of another user that gets no processor.
 */
#include <sys/resource.h>
#include <sys/utsname.h>

#include "beside.h"
#include "outside.h"

#define IDLE		24
#define HOGS		3
#define TIMES		300

/* Another one of Alice's. */
#define CAROL		1003

#define MAX_TIMERS	PARAMETERS "max_user_timers"
#define LIMIT		1024

/* Use a wheel for the first time, and no more. */
static int use(int fd)
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
		CHILD_CHECK(!use(wheel[i]));
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
		.flags = TWHEEL_SETUP_WORDS, .words_nr = 2 * LIMIT, .capacity = 2 * LIMIT,
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

TEST(first_use_and_close_beside_programs_that_get_no_processor)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), mode, ready, begin[2], result[2];
	long long max = file_value(MAX_TIMERS, NULL);
	pid_t other[IDLE + HOGS], victim;
	struct utsname name;
	long slept;

	if (getuid())
		SKIP(return, "needs root to be several users");
	ASSERT_EQ(0, uname(&name));
	if (strstr(name.version, "PREEMPT_RT"))
		SKIP(return, "with PREEMPT_RT one sleeps for spinlocks of the kernel as well");
	ASSERT_EQ(0, pipe(begin));
	ASSERT_EQ(0, pipe(result));
	victim = fork_beside(&ready);
	ASSERT_LE(0, victim);
	if (!victim)
		be_victim(ready, begin[0], result[1]);
	ASSERT_EQ(0, write_file(MAX_TIMERS, "%d", LIMIT));
	mode = device_for_all();
	ASSERT_LE(0, mode);
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
	chmod(DEVICE, mode);
	write_file(MAX_TIMERS, "%lld", max);
	EXPECT_EQ(0, slept);
	for (int i = 0; i < 2; i++) {
		close(begin[i]);
		close(result[i]);
	}
}

TEST_HARNESS_MAIN
