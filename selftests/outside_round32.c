// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the thirty-second round: who opens, uses and closes a wheel waits for no
 * program of another user that gets no processor.
 */
#include <sys/mman.h>
#include <sys/timerfd.h>

#include "beside.h"
#include "outside.h"

#define IDLE		40
#define HOGS		3
#define TIMES		400

/* Another one of Alice's. */
#define CAROL		1003

#define MAX_TIMERS	PARAMETERS "max_user_timers"
#define LIMIT		1024

/* How long the longest took, ns. */
struct longest {
	__u64 timerfd;
	__u64 wheel;
};

/* Use it for the first time, and no more. */
static int use_wheel(int fd)
{
	int ret = arm_in(fd, 1, HOUR, 0);

	close(fd);
	return ret;
}

static int use_timerfd(int fd)
{
	struct itimerspec hour = { .it_value.tv_sec = HOUR / SEC };
	int ret = timerfd_settime(fd, 0, &hour, NULL) ? -errno : 0;

	close(fd);
	return ret;
}

static __u64 longest_use(const int *fd, int (*use)(int fd))
{
	__u64 longest = 0, start, took;

	for (int i = 0; i < TIMES; i++) {
		sleep_until(now_ns() + 8 * MSEC);
		start = now_ns();
		CHILD_CHECK(!use(fd[i]));
		took = now_ns() - start;
		longest = took > longest ? took : longest;
	}
	return longest;
}

/* Open all, because devices of this sort share a lock of the kernel then; use them when told to. */
static void be_victim(struct longest *l, int ready, int begin)
{
	int timerfds[TIMES], wheels[TIMES];
	char byte;

	for (int i = 0; i < TIMES; i++) {
		timerfds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		wheels[i] = wheel_open(0);
		CHILD_CHECK(timerfds[i] >= 0 && wheels[i] >= 0);
	}
	be(BOB);
	CHILD_CHECK(!pin(0));
	child_ready(ready);
	CHILD_CHECK(read(begin, &byte, 1) == 1);
	l->timerfd = longest_use(timerfds, use_timerfd);
	l->wheel = longest_use(wheels, use_wheel);
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
	struct longest *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), mode, ready, begin[2];
	long long max = file_value(MAX_TIMERS, NULL);
	pid_t other[IDLE + HOGS], victim;

	ASSERT_NE(MAP_FAILED, l);
	if (getuid())
		SKIP(return, "needs root to be several users");
	ASSERT_EQ(0, pipe(begin));
	victim = fork_beside(&ready);
	ASSERT_LE(0, victim);
	if (!victim)
		be_victim(l, ready, begin[0]);
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
	EXPECT_EQ(0, child_result(victim));
	/* Hogs first: others need a processor to end. */
	for (int i = IDLE + HOGS; i--;)
		EXPECT_TRUE(child_end(other[i]));
	chmod(DEVICE, mode);
	write_file(MAX_TIMERS, "%lld", max);
	TH_LOG("%llu us at most, with a timerfd %llu", l->wheel / USEC, l->timerfd / USEC);
	EXPECT_GE(l->timerfd + 5 * LATE, l->wheel);
	munmap(l, sizeof(*l));
	close(begin[0]);
	close(begin[1]);
}

TEST_HARNESS_MAIN
