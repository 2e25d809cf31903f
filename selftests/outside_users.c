// SPDX-License-Identifier: GPL-2.0
/*
 * Whose a wheel is: quotas of passed descriptors, wheels in other namespaces, and what users do for
 * one another.
 */
#include <sys/resource.h>
#include <sys/utsname.h>

#include "beside.h"
#include "outside.h"

#define CHUNK		128

/*
 * Quotas.
 */
static const char * const limits[] = { "max_user_wheels", "max_user_timers" };

FIXTURE(quota) {
	long long before[ARRAY_SIZE(limits)];
	bool made;
	int ends[2];
};

static int set_limit(const char *name, unsigned int limit)
{
	char path[128];

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	return write_file(path, "%u", limit);
}

FIXTURE_SETUP(quota)
{
	char path[128];
	unsigned int i;

	self->made = !getuid();
	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		snprintf(path, sizeof(path), PARAMETERS "%s", limits[i]);
		self->before[i] = file_value(path, NULL);
		ASSERT_LT(0, self->before[i])
			TH_LOG("%s", limits[i]);
	}
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->ends));
}

FIXTURE_TEARDOWN(quota)
{
	unsigned int i;

	for (i = 0; self->made && i < ARRAY_SIZE(limits); i++)
		set_limit(limits[i], self->before[i]);
}

/* The first timer of a chunk. */
static int arm_chunk(int fd, unsigned int chunk)
{
	return arm_in(fd, chunk * CHUNK, HOUR, 0);
}

TEST_F(quota, timers_of_a_passed_wheel_count_for_who_uses_it)
{
	int mine = wheel_open(0), passed = wheel_open(0);
	pid_t pid;
	int fd;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_LE(0, mine);
	ASSERT_LE(0, passed);
	ASSERT_EQ(0, set_limit("max_user_timers", 2 * CHUNK));
	pid = fork();
	if (!pid) {
		be(ALICE);
		fd = fd_receive(self->ends[1]);
		CHILD_CHECK(fd >= 0);
		CHILD_CHECK(!arm_chunk(fd, 0));
		CHILD_CHECK(!arm_chunk(fd, 1));
		CHILD_CHECK(arm_chunk(fd, 2) == -EDQUOT);
		_exit(0);
	}
	ASSERT_EQ(0, fd_pass(self->ends[0], passed));
	ASSERT_EQ(0, child_result(pid));
	/* The opener's own are all there yet; and the wheel stays whose it is. */
	EXPECT_EQ(0, arm_chunk(mine, 0));
	EXPECT_EQ(0, arm_chunk(mine, 1));
	EXPECT_EQ(-EDQUOT, arm_chunk(mine, 2));
	EXPECT_EQ(-EDQUOT, arm_chunk(passed, 2));
	ASSERT_EQ(0, close(mine));
	EXPECT_EQ(-EDQUOT, arm_chunk(passed, 2));
	ASSERT_EQ(0, close(passed));
}

TEST_F(quota, words_of_a_passed_wheel_count_for_who_uses_it)
{
	struct shared s = { .setup = { .capacity = 2 * CHUNK } };
	struct shared more = s;
	pid_t pid;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	s.fd = wheel_open(0);
	more.fd = wheel_open(0);
	ASSERT_LE(0, s.fd);
	ASSERT_LE(0, more.fd);
	ASSERT_EQ(0, set_limit("max_user_timers", 2 * CHUNK));
	pid = fork();
	if (!pid) {
		be(ALICE);
		CHILD_CHECK(!shared_set_up(&s));
		CHILD_CHECK(!shared_map(&s));
		CHILD_CHECK(shared_set_up(&more) == -EDQUOT);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	ASSERT_EQ(0, close(more.fd));
	ASSERT_EQ(0, shared_open(&more, 2 * CHUNK, 0));
	shared_close(&more);
	close(s.fd);
}

/* What uses a wheel for the first time. */
static int use_setup(int fd)
{
	struct twheel_setup setup = { .capacity = CHUNK };

	return set_up(fd, &setup);
}

static int use_arm(int fd)
{
	return arm_chunk(fd, 0);
}

static int use_submit(int fd)
{
	return arm_many(fd, 1, 1, 0);
}

static int use_both(int fd)
{
	return use_setup(fd) ?: use_arm(fd);
}

/* And what only looks. */
static void look_at(int fd)
{
	struct twheel_event ev;
	struct twheel_setup setup;
	struct twheel_stats stats;
	struct twheel_timer t;
	__u32 cursor = 0;

	CHILD_CHECK(!wheel_ioctl(fd, TWHEEL_IOC_GET_SETUP, &setup));
	CHILD_CHECK(!wheel_stats(fd, &stats));
	CHILD_CHECK(!wheel_get(fd, 0, &t));
	CHILD_CHECK(!wheel_list(fd, &t, 1, &cursor));
	CHILD_CHECK(!wheel_poll(fd, 0));
	CHILD_CHECK(wheel_read(fd, &ev, 1) == -EAGAIN);
}

TEST_F(quota, passed_wheels_count_for_who_uses_them)
{
	static int (*const use[])(int fd) = { use_setup, use_arm, use_submit, use_both };
	enum { NR = ARRAY_SIZE(use) };
	int fd[NR], more[NR], extra = wheel_open(0), ready[2], go[2];
	unsigned int i;
	char byte;
	pid_t pid;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_EQ(0, set_limit("max_user_wheels", NR));
	for (i = 0; i < NR; i++) {
		fd[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, fd[i]);
	}
	/* They count for nobody yet; also if others look at them. */
	ASSERT_LE(0, extra);
	pid = fork();
	if (!pid) {
		be(ALICE);
		for (i = 0; i < NR; i++)
			look_at(fd[i]);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));

	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		be(ALICE);
		for (i = 0; i < NR; i++)
			CHILD_CHECK(!use[i](fd[i]));
		CHILD_CHECK(write(ready[1], "", 1) == 1);
		/* One more than she may have. */
		fd[0] = fd_receive(self->ends[1]);
		CHILD_CHECK(use_arm(fd[0]) == -EDQUOT);
		CHILD_CHECK(use_setup(fd[0]) == -EDQUOT);
		CHILD_CHECK(use_submit(fd[0]));
		CHILD_CHECK(write(ready[1], "", 1) == 1);
		/* Somebody closes one of hers. */
		CHILD_CHECK(read(go[0], &byte, 1) == 1);
		close(fd[1]);
		CHILD_CHECK(!use_arm(fd[0]));
		_exit(0);
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	for (i = 0; i < NR; i++) {
		more[i] = wheel_used();
		ASSERT_LE(0, more[i]);
	}
	ASSERT_EQ(-EDQUOT, wheel_used());
	ASSERT_EQ(0, fd_pass(self->ends[0], extra));
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	close(fd[1]);
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(0, child_result(pid));
	for (i = 0; i < NR; i++) {
		close(more[i]);
		if (i != 1)
			close(fd[i]);
	}
	close(extra);
}

static int turn_of(const int *turn)
{
	return __atomic_load_n(turn, __ATOMIC_SEQ_CST);
}

/*
 * The wheel is set up in one process, and at this very moment somebody else tries to use it,
 * again and again.  Who sets it up pays.
 */
TEST_F(quota, who_sets_a_wheel_up_pays)
{
	enum { NR = 200 };
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_WORDS, .capacity = 2 * CHUNK };
	struct twheel_op op = { .id = TWHEEL_ID_ANY - 1, .deadline = 1 };
	int own = wheel_open(0), fd[NR], i, *turn;
	pid_t pid;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, turn);
	for (i = 0; i < NR; i++) {
		fd[i] = wheel_open(0);
		ASSERT_LE(0, fd[i]);
	}
	ASSERT_EQ(0, set_limit("max_user_timers", NR * 2 * CHUNK));
	__atomic_store_n(turn, -1, __ATOMIC_SEQ_CST);
	pid = fork();
	if (!pid) {
		be(ALICE);
		for (i = 0; i < NR; i++) {
			while (turn_of(turn) < i)
				sched_yield();
			do
				CHILD_CHECK(wheel_arm(fd[i], &op) < 0);
			while (turn_of(turn) == i);
		}
		while (turn_of(turn) != NR + 1)
			sched_yield();
		/* Has she to pay for any of them? */
		CHILD_CHECK(!arm_chunk(own, 0));
		CHILD_CHECK(!arm_chunk(own, 1));
		_exit(0);
	}
	for (i = 0; i < NR; i++) {
		__atomic_store_n(turn, i, __ATOMIC_SEQ_CST);
		ASSERT_EQ(0, set_up(fd[i], &setup));
		setup = (struct twheel_setup){
			.flags = TWHEEL_SETUP_WORDS, .capacity = 2 * CHUNK,
		};
	}
	__atomic_store_n(turn, NR, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, set_limit("max_user_timers", 2 * CHUNK));
	__atomic_store_n(turn, NR + 1, __ATOMIC_SEQ_CST);
	EXPECT_EQ(0, child_result(pid));
	for (i = 0; i < NR; i++)
		close(fd[i]);
	close(own);
	munmap(turn, sizeof(*turn));
}

TEST_F(quota, timers_come_back_when_a_passed_wheel_is_closed)
{
	int fd, round;
	pid_t pid;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_EQ(0, set_limit("max_user_timers", 2 * CHUNK));
	for (round = 0; round < 4; round++) {
		fd = wheel_open(0);
		ASSERT_LE(0, fd);
		pid = fork();
		if (!pid) {
			be(round % 2 ? ALICE : BOB);
			CHILD_CHECK(!arm_chunk(fd, 0));
			CHILD_CHECK(!arm_chunk(fd, 1));
			_exit(0);
		}
		ASSERT_EQ(0, child_result(pid));
		/* By somebody else than its user. */
		ASSERT_EQ(0, close(fd));
	}
}

TEST_F(quota, setup_that_fails_gives_back_all)
{
	struct shared s = { .setup = { .capacity = 16 * CHUNK } };
	struct twheel_stats before, after;
	int other = wheel_open(0);

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_LE(0, other);
	s.fd = wheel_open(0);
	ASSERT_LE(0, s.fd);
	ASSERT_EQ(0, set_limit("max_user_timers", 4 * CHUNK));
	ASSERT_EQ(0, wheel_stats(s.fd, &before));
	EXPECT_EQ(-EDQUOT, shared_set_up(&s));
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	EXPECT_EQ(before.memory, after.memory);
	/* Not one of them is missing. */
	EXPECT_EQ(0, arm_chunk(other, 0));
	EXPECT_EQ(0, arm_chunk(other, 1));
	EXPECT_EQ(0, arm_chunk(other, 2));
	EXPECT_EQ(0, arm_chunk(other, 3));
	EXPECT_EQ(-EDQUOT, arm_chunk(other, 4));
	close(other);
	/* And the same wheel may try again. */
	s.setup = (struct twheel_setup){ .capacity = 4 * CHUNK };
	EXPECT_EQ(0, shared_set_up(&s));
	close(s.fd);
}

static int use_words(int fd)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_WORDS, .capacity = 4 * CHUNK };

	return set_up(fd, &s);
}

/* What such a use by a user says. */
static int use_by(uid_t uid, int (*use)(int fd), int fd)
{
	pid_t pid = fork();

	if (!pid) {
		be(uid);
		_exit(-use(fd));
	}
	return -child_result(pid);
}

TEST_F(quota, a_first_use_that_fails_makes_nobody_the_owner)
{
	static int (*const use[])(int fd) = { use_arm, use_words };
	int full, fd;
	unsigned int i;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_EQ(0, set_limit("max_user_timers", CHUNK));
	full = wheel_open(0);
	ASSERT_LE(0, full);
	ASSERT_EQ(0, use_by(ALICE, use_arm, full));
	for (i = 0; i < ARRAY_SIZE(use); i++) {
		fd = wheel_open(0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(-EDQUOT, use_by(ALICE, use[i], fd))
			TH_LOG("use %u", i);
		EXPECT_EQ(0, use_by(BOB, use_arm, fd))
			TH_LOG("use %u", i);
		close(fd);
	}
	close(full);
}

/* A user namespace does not make many users of one. */
TEST_F(quota, sub_uids_count_for_who_has_made_their_namespace)
{
	int fd[2] = { wheel_open(0), wheel_open(0) }, ready[2], go[2];
	char path[64], byte;
	pid_t pid;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_LE(0, fd[0]);
	ASSERT_LE(0, fd[1]);
	ASSERT_EQ(0, set_limit("max_user_timers", CHUNK));
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		be(ALICE);
		CHILD_CHECK(!prctl(PR_SET_DUMPABLE, 1));
		CHILD_CHECK(!use_arm(fd[0]));
		byte = unshare(CLONE_NEWUSER) ? errno : 0;
		CHILD_CHECK(write(ready[1], &byte, 1) == 1);
		if (byte)
			_exit(0);
		CHILD_CHECK(read(go[0], &byte, 1) == 1);
		CHILD_CHECK(!setresgid(1, 1, 1));
		CHILD_CHECK(!setresuid(1, 1, 1));
		CHILD_CHECK(use_arm(fd[1]) == -EDQUOT);
		close(fd[0]);
		CHILD_CHECK(read(go[0], &byte, 1) == 1);
		CHILD_CHECK(!use_arm(fd[1]));
		_exit(0);
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	if (byte) {
		child_result(pid);
		SKIP(return, "no user namespaces in this kernel");
	}
	/* As newuidmap does. */
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	ASSERT_EQ(0, write_file(path, "0 %u 1\n1 100000 100\n", ALICE));
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	ASSERT_EQ(0, write_file(path, "0 %u 1\n1 100000 100\n", ALICE));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(0, close(fd[0]));
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(0, child_result(pid));
	close(fd[1]);
}

/*
 * Time namespaces: a wheel has the time of where it was opened, and says so.
 */
FIXTURE(timens) {
	int ends[2];
};

FIXTURE_VARIANT(timens) {
	clockid_t clock;
	/* Seconds; what is behind the host's clock is half of it. */
	int ahead;
};

FIXTURE_VARIANT_ADD(timens, monotonic) { .clock = CLOCK_MONOTONIC, .ahead = 100000 };
FIXTURE_VARIANT_ADD(timens, boottime) { .clock = CLOCK_BOOTTIME, .ahead = 250000 };
FIXTURE_VARIANT_ADD(timens, monotonic_behind) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(timens, boottime_behind) { .clock = CLOCK_BOOTTIME };

FIXTURE_SETUP(timens)
{
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->ends));
}

FIXTURE_TEARDOWN(timens)
{
}

static int open_with_clock(clockid_t clock)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_CLOCK, .clock = clock };
	int fd = wheel_open(0);

	return fd < 0 ? fd : set_up(fd, &s) ?: fd;
}

/* Children of this process live in a new time namespace; its offset, or INT64_MIN. */
static int64_t enter_timens(clockid_t clock, int ahead)
{
	int64_t offset = ahead ? ahead * (int64_t)SEC : -(int64_t)(clock_ns(clock) / 2);
	/* The nanoseconds count forward, always. */
	int before = offset < 0;

	if (unshare(CLONE_NEWTIME))
		return INT64_MIN;
	if (write_file("/proc/self/timens_offsets", "%d %lld %lld\n", clock,
		       (long long)(offset / (int64_t)SEC - before),
		       (long long)(offset % (int64_t)SEC + before * (int64_t)SEC)))
		return INT64_MIN;
	return offset;
}

/* The wheel's clock is the caller's, and so much. */
static int64_t offset_of(int fd, clockid_t clock)
{
	__u64 before = clock_ns(clock), after;
	struct twheel_setup s;

	if (wheel_ioctl(fd, TWHEEL_IOC_GET_SETUP, &s))
		return INT64_MIN;
	after = clock_ns(clock);
	if (before + s.clock_offset > s.now || after + s.clock_offset < s.now)
		return INT64_MIN;
	return s.clock_offset;
}

/* A deadline that is reckoned by that is neither early nor late. */
static bool in_time(int fd, clockid_t clock, int64_t offset)
{
	__u64 deadline = clock_ns(clock) + offset + 100 * MSEC, now;
	struct twheel_event ev;

	if (arm_at(fd, 1, deadline, 0) || wheel_read(fd, &ev, 1) != 1)
		return false;
	now = clock_ns(clock) + offset;
	return ev.deadline == deadline && ev.fired >= deadline && now >= ev.fired &&
	       now <= deadline + LATE;
}

TEST_F(timens, a_wheel_that_is_passed_in_tells_its_time)
{
	int fd = open_with_clock(variant->clock);
	int64_t offset;
	pid_t pid;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, offset_of(fd, variant->clock));
	offset = enter_timens(variant->clock, variant->ahead);
	if (offset == INT64_MIN)
		SKIP(return, "no time namespaces in this kernel");
	pid = fork();
	if (!pid) {
		CHILD_CHECK(offset_of(fd, variant->clock) == -offset);
		CHILD_CHECK(in_time(fd, variant->clock, -offset));
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	/* Here it is as it was. */
	EXPECT_EQ(0, offset_of(fd, variant->clock));
	EXPECT_TRUE(in_time(fd, variant->clock, 0));
	close(fd);
}

TEST_F(timens, a_wheel_that_is_passed_out_tells_its_time)
{
	int64_t offset = enter_timens(variant->clock, variant->ahead);
	pid_t pid;
	int fd;

	if (offset == INT64_MIN)
		SKIP(return, "no time namespaces in this kernel");
	pid = fork();
	if (!pid) {
		fd = open_with_clock(variant->clock);
		CHILD_CHECK(fd >= 0);
		CHILD_CHECK(offset_of(fd, variant->clock) == 0);
		CHILD_CHECK(in_time(fd, variant->clock, 0));
		CHILD_CHECK(!fd_pass(self->ends[0], fd));
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	fd = fd_receive(self->ends[1]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(offset, offset_of(fd, variant->clock));
	EXPECT_TRUE(in_time(fd, variant->clock, offset));
	close(fd);
}

TEST(the_wall_clock_has_no_offset)
{
	int fd = open_with_clock(CLOCK_REALTIME);
	pid_t pid;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, offset_of(fd, CLOCK_REALTIME));
	if (enter_timens(CLOCK_MONOTONIC, 1000) == INT64_MIN)
		SKIP(return, "no time namespaces in this kernel");
	pid = fork();
	if (!pid) {
		CHILD_CHECK(offset_of(fd, CLOCK_REALTIME) == 0);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	close(fd);
}

/*
 * A first use, and a close, wait for no program of another user that gets no processor.
 */
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

TEST_F(quota, first_use_and_close_beside_programs_that_get_no_processor)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), mode, ready, begin[2], result[2];
	pid_t other[IDLE + HOGS], victim;
	struct utsname name;
	long slept;

	if (!self->made)
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
	ASSERT_EQ(0, set_limit("max_user_timers", LIMIT));
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

TEST(wheels_of_three_clocks_are_turned_no_more_often_than_those_of_one)
{
	struct fair user[2] = { { .clocks = false }, { .clocks = true } }, before[2];
	/* Time to arm all of them: an arm that comes too late leaves softirq nothing to do. */
	__u64 start = now_ns() + 6 * SEC;
	unsigned int i, k;
	pid_t pid[2];

	if (getuid())
		SKIP(return, "needs root to be other users");
	ASSERT_EQ(0, pin(0));
	for (i = 0; i < 2; i++) {
		for (k = 0; k < FAIR_WHEELS; k++) {
			user[i].fd[k] = wheel_open(0);
			ASSERT_LE(0, user[i].fd[k]);
		}
		pid[i] = fork();
		if (!pid[i])
			fair_arm(&user[i], i ? BOB : ALICE, start);
	}
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, child_result(pid[i]));
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
		/* Else there is nothing to compare. */
		ASSERT_LT(0, user[i].left);
	}
	EXPECT_GE(2 * user[0].visits + STEP, user[1].visits);
	EXPECT_GE(2 * (before[0].left - user[0].left) + STEP * FAIR_WHEELS,
		  before[1].left - user[1].left);
	for (i = 0; i < 2; i++)
		for (k = 0; k < FAIR_WHEELS; k++)
			close(user[i].fd[k]);
}

TEST_HARNESS_MAIN
