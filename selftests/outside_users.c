// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found of whose a wheel is: quotas of passed descriptors, wheels in
 * other namespaces, and memory that is given back.
 */
#include "beside.h"
#include "outside.h"

#define CHUNK		256

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
	CHILD_CHECK(!wheel_list(fd, TWHEEL_IOC_LIST, &t, 1, &cursor));
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
	enum { NR = 500 };
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

TEST(clocks_that_are_the_same_everywhere_have_no_offset)
{
	int fd = open_with_clock(CLOCK_REALTIME), tai = open_with_clock(CLOCK_TAI);
	pid_t pid;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, tai);
	EXPECT_EQ(0, offset_of(fd, CLOCK_REALTIME));
	EXPECT_EQ(0, offset_of(tai, CLOCK_TAI));
	if (enter_timens(CLOCK_MONOTONIC, 1000) == INT64_MIN)
		SKIP(return, "no time namespaces in this kernel");
	pid = fork();
	if (!pid) {
		CHILD_CHECK(offset_of(fd, CLOCK_REALTIME) == 0);
		CHILD_CHECK(offset_of(tai, CLOCK_TAI) == 0);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	close(fd);
	close(tai);
}

/*
 * Memory that is given back.
 */
FIXTURE(trim) {
	int fd;
	struct held held;
	bool made;
	struct twheel_timer t;
};

FIXTURE_SETUP(trim)
{
	self->made = held_open(&self->held);
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(trim)
{
	held_close(&self->held);
	close(self->fd);
}

/* Bytes that were freed, or a negative errno. */
static long long trim(int fd)
{
	struct twheel_trim t = { .freed = ~0ULL };
	int ret = wheel_ioctl(fd, TWHEEL_IOC_TRIM, &t);

	return ret ?: (long long)t.freed;
}

static __u64 memory(int fd)
{
	struct twheel_stats s;

	return wheel_stats(fd, &s) ? 0 : s.memory;
}

static int cancel_many(int fd, __u32 nr)
{
	__u32 id;

	for (id = 0; id < nr; id++)
		if (wheel_cancel(fd, id) < 0)
			return -1;
	return 0;
}

TEST_F(trim, gives_memory_back)
{
	enum { NR = 64 * CHUNK };
	__u64 empty, full;
	long long freed;
	int round;

	EXPECT_EQ(0, trim(self->fd));
	ASSERT_EQ(0, arm_in(self->fd, 0, HOUR, 0));
	empty = memory(self->fd);
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, arm_many(self->fd, NR, now_ns() + HOUR, 0));
		full = memory(self->fd);
		ASSERT_EQ(0, cancel_many(self->fd, NR));
		/* Nothing goes by itself. */
		EXPECT_EQ(full, memory(self->fd));
		freed = trim(self->fd);
		EXPECT_EQ(full - memory(self->fd), freed);
		EXPECT_GE(empty, memory(self->fd));
		EXPECT_EQ(0, trim(self->fd));
	}
}

TEST_F(trim, keeps_what_is_armed_or_waits)
{
	struct twheel_event ev[2];
	struct twheel_timer before[4], after[4];
	__u64 deadline = now_ns() + 500 * MSEC;
	unsigned int i;

	ASSERT_EQ(0, arm_at(self->fd, 0, deadline, 10));
	ASSERT_EQ(0, arm_at(self->fd, 2 * CHUNK, 1, 12));
	ASSERT_EQ(1, wheel_read(self->fd, ev, 1));
	ASSERT_EQ(0, arm_at(self->fd, CHUNK + 1, 1, 11));
	ASSERT_EQ(0, arm_in(self->fd, 3 * CHUNK, HOUR, 13));
	ASSERT_LE(0, wheel_cancel(self->fd, 3 * CHUNK));
	ASSERT_EQ(0, arm_every(self->fd, 4 * CHUNK, now_ns() + HOUR, SEC, 3));
	ASSERT_EQ(3, list_all(self->fd, TWHEEL_IOC_LIST, before, 4));
	/* The chunks of the one that was read, and of the one that was cancelled. */
	EXPECT_LT(0, trim(self->fd));
	ASSERT_EQ(3, list_all(self->fd, TWHEEL_IOC_LIST, after, 4));
	for (i = 0; i < 3; i++) {
		after[i].remaining = before[i].remaining;
		EXPECT_EQ(0, memcmp(&before[i], &after[i], sizeof(after[i])));
	}
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, 3 * CHUNK));
	ASSERT_EQ(1, wheel_read(self->fd, ev, 2));
	EXPECT_EQ(11, ev[0].cookie);
	ASSERT_EQ(1, collect(self->fd, ev, 1));
	EXPECT_EQ(10, ev[0].cookie);
	EXPECT_LE(deadline, ev[0].fired);
}

TEST_F(trim, generations_go_on)
{
	struct twheel_op op;
	__u32 last[2] = {}, i, id;

	for (i = 0; i < 50; i++) {
		for (id = 0; id < 2; id++) {
			op = (struct twheel_op){ .deadline = now_ns() + HOUR, .id = 5 + id };
			ASSERT_EQ(0, wheel_arm(self->fd, &op));
			ASSERT_LT(last[id], op.generation);
			if (i) {
				/* A handle of the earlier arming. */
				op = (struct twheel_op){
					.id = 5 + id, .generation = last[id],
				};
				EXPECT_EQ(-ESTALE, wheel_arm(self->fd, &op));
				EXPECT_EQ(-ESTALE,
					  wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op));
			}
			ASSERT_EQ(0, wheel_get(self->fd, 5 + id, &self->t));
			last[id] = self->t.generation;
		}
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 5));
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 6));
		ASSERT_LT(0, trim(self->fd));
	}
}

TEST_F(trim, ids_are_found_again)
{
	enum { NR = 1000 };
	struct twheel_setup setup = { .capacity = NR };
	struct twheel_op op;
	bool *seen = calloc(NR, sizeof(*seen));
	unsigned int i, round;

	ASSERT_EQ(0, set_up(self->fd, &setup));
	for (round = 0; round < 4; round++) {
		memset(seen, 0, NR * sizeof(*seen));
		for (i = 0; i < NR; i++) {
			op = (struct twheel_op){
				.deadline = now_ns() + HOUR, .id = TWHEEL_ID_ANY,
			};
			ASSERT_EQ(0, wheel_arm(self->fd, &op))
				TH_LOG("round %u, arm %u", round, i);
			ASSERT_GT(NR, op.id);
			ASSERT_FALSE(seen[op.id]);
			seen[op.id] = true;
		}
		op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
		EXPECT_EQ(-ENOSPC, wheel_arm(self->fd, &op));
		/* All of them; or all but one in the middle, and then that one. */
		for (i = 0; i < NR; i++)
			if (round % 2 == 0 || i != NR / 2)
				ASSERT_LE(0, wheel_cancel(self->fd, i));
		ASSERT_LT(0, trim(self->fd));
		ASSERT_LE(0, wheel_cancel(self->fd, NR / 2));
	}
	free(seen);
}

TEST_F(trim, leaves_words)
{
	__u64 deadline = now_ns() + HOUR;
	struct twheel_event ev;
	struct shared s;

	ASSERT_EQ(0, shared_open(&s, 4 * CHUNK, 0));
	ASSERT_EQ(1, want(&s, 7, deadline));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(s.fd, 7));
	EXPECT_EQ(0, trim(s.fd));
	EXPECT_EQ(1, want(&s, 7, 1));
	ASSERT_EQ(1, wheel_read(s.fd, &ev, 1));
	EXPECT_EQ(7, ev.id);
	EXPECT_EQ(0, trim(s.fd));
	shared_close(&s);
}

TEST_F(trim, leaves_what_a_read_holds)
{
	struct twheel_event *ev = NULL;
	struct caller reader = { .call = call_read, .fd = self->fd, .nr = 1 };

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ev = self->held.page;
	reader.memory = ev;
	ASSERT_EQ(0, arm_at(self->fd, 7, 1, 77));
	ASSERT_EQ(0, caller_start(&reader));
	ASSERT_TRUE(held_wait(&self->held));
	ASSERT_LE(0, trim(self->fd));
	ASSERT_EQ(0, held_let(&self->held));
	ASSERT_EQ(0, pthread_join(reader.thread, NULL));
	ASSERT_EQ(1, reader.ret);
	EXPECT_EQ(77, ev->cookie);
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_state(self->fd, 7));
	EXPECT_LT(0, trim(self->fd));
}

TEST_F(trim, leaves_what_a_drain_has_to_put_back)
{
	struct caller drainer = { .call = call_drain, .fd = self->fd, .nr = 1 };
	struct twheel_event ev = {};

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	drainer.memory = self->held.page;
	ASSERT_EQ(0, arm_at(self->fd, 7, 1, 77));
	ASSERT_EQ(0, caller_start(&drainer));
	ASSERT_TRUE(held_wait(&self->held));
	ASSERT_LE(0, trim(self->fd));
	ASSERT_EQ(0, held_refuse(&self->held));
	ASSERT_EQ(0, pthread_join(drainer.thread, NULL));
	EXPECT_EQ(-EFAULT, drainer.ret);
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_EQ(77, ev.cookie);
}

TEST_F(quota, trimmed_timers_come_back)
{
	int a = wheel_open(0), b = wheel_open(0);

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, set_limit("max_user_timers", 2 * CHUNK));
	ASSERT_EQ(0, arm_chunk(a, 0));
	ASSERT_EQ(0, arm_chunk(a, 1));
	EXPECT_EQ(-EDQUOT, arm_chunk(b, 0));
	ASSERT_LE(0, wheel_cancel(a, 0));
	ASSERT_LE(0, wheel_cancel(a, CHUNK));
	EXPECT_LT(0, trim(a));
	EXPECT_EQ(0, arm_chunk(b, 0));
	EXPECT_EQ(0, arm_chunk(b, 1));
	EXPECT_EQ(-EDQUOT, arm_chunk(a, 0));
	close(b);
	EXPECT_EQ(0, arm_chunk(a, 0));
	close(a);
}

/* While others arm, cancel and read. */
struct trimmer {
	pthread_t	thread;
	int		fd;
	unsigned int	some;
	int		error;
	bool		stop;
};

static void *trim_again(void *arg)
{
	struct trimmer *t = arg;
	long long freed;

	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
		freed = trim(t->fd);
		if (freed < 0)
			t->error = freed;
		t->some += freed > 0;
	}
	return NULL;
}

TEST_F(trim, among_arms_loses_nothing)
{
	struct trimmer t = { .fd = self->fd };
	__u64 end = now_ns() + 2 * SEC;
	struct twheel_event ev;
	struct twheel_op op;
	__u32 seed = 1, i;

	ASSERT_EQ(0, thread_start(&t.thread, trim_again, &t));
	for (i = 0; now_ns() < end; i++) {
		op = (struct twheel_op){
			.deadline = i % 4 ? 1 : now_ns() + next_random(&seed) % MSEC,
			.cookie = i,
			.id = i % 8 == 7 ? TWHEEL_ID_ANY : next_random(&seed) % (8 * CHUNK),
		};
		ASSERT_EQ(0, wheel_arm(self->fd, &op));
		if (i % 16 == 3) {
			ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, op.id));
			continue;
		}
		ASSERT_EQ(1, collect(self->fd, &ev, 1))
			TH_LOG("round %u", i);
		ASSERT_EQ(op.id, ev.id);
		ASSERT_EQ(op.generation, ev.generation);
		ASSERT_EQ(i, ev.cookie);
	}
	__atomic_store_n(&t.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(t.thread, NULL));
	EXPECT_EQ(0, t.error);
	EXPECT_LT(0, t.some);
}

TEST_HARNESS_MAIN
