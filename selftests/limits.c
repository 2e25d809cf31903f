// SPDX-License-Identifier: GPL-2.0
/*
 * The limits, each with its own errno: a full wheel, the user's wheels and
 * timers, the cgroup's memory, and what needs CAP_SYS_RESOURCE.
 *
 * Bed: plain, storm, short
 */
#include <linux/capability.h>

#include "user_fixture.h"

/* A full wheel */

TEST(a_full_wheel_refuses_arms_until_a_timer_ends)
{
	enum { CAPACITY = 300, TAKEN = 7 };
	struct twheel_setup s = { .capacity = CAPACITY };
	bool seen[CAPACITY] = {};
	struct twheel_event ev;
	struct twheel_op op;
	struct twheel_stats before, after;
	int i, fd = wheel_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &s));
	for (i = 0; i < TAKEN; i++) {
		ASSERT_EQ(0, arm_in(fd, 40 * i, HOUR, 0));
		seen[40 * i] = true;
	}
	for (i = TAKEN; i < CAPACITY; i++) {
		op = (struct twheel_op){ .deadline = ~0ULL, .id = TWHEEL_ID_ANY };
		ASSERT_EQ(0, wheel_arm(fd, &op))
			TH_LOG("%d armed", i);
		ASSERT_GT(CAPACITY, op.id);
		EXPECT_FALSE(seen[op.id]);
		seen[op.id] = true;
	}
	ASSERT_EQ(0, wheel_stats(fd, &before));
	EXPECT_EQ(CAPACITY, before.pending);
	for (i = 0; i < 3; i++) {
		op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
		EXPECT_EQ(-ENOSPC, wheel_arm(fd, &op));
	}
	ASSERT_EQ(0, wheel_stats(fd, &after));
	EXPECT_EQ(before.pending, after.pending);
	EXPECT_EQ(before.arms, after.arms);
	EXPECT_EQ(0, after.expired);

	/* Full does not mean stuck: what is armed can be moved ... */
	ASSERT_EQ(0, arm_at(fd, 100, 1, 5));
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	EXPECT_EQ(-ENOSPC, wheel_arm(fd, &op));
	/* ... and each that ends makes room. */
	ASSERT_EQ(1, collect(fd, &ev, 1));
	op = (struct twheel_op){ .deadline = ~0ULL, .id = TWHEEL_ID_ANY };
	EXPECT_EQ(0, wheel_arm(fd, &op));
	EXPECT_EQ(100, op.id);
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(fd, 200));
	op = (struct twheel_op){ .deadline = ~0ULL, .id = TWHEEL_ID_ANY };
	EXPECT_EQ(0, wheel_arm(fd, &op));
	EXPECT_EQ(200, op.id);
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	EXPECT_EQ(-ENOSPC, wheel_arm(fd, &op));
	close(fd);
}

/* The user's limits */

static void open_up_to(int limit)
{
	struct twheel_features f;
	int fds[64], i;

	for (i = 0; i < limit; i++) {
		fds[i] = wheel_used();
		CHILD_CHECK(fds[i] >= 0);
	}
	CHILD_CHECK(!wheel_ioctl(fds[0], TWHEEL_IOC_FEATURES, &f));
	CHILD_CHECK(f.max_user_wheels == limit);
	CHILD_CHECK(wheel_used() == -EDQUOT);
	CHILD_CHECK(wheel_used() == -EDQUOT);
	/* A wheel that nobody uses counts for nobody. */
	fds[limit] = wheel_open(0);
	CHILD_CHECK(fds[limit] >= 0);
	CHILD_CHECK(arm_in(fds[limit], 1, HOUR, 0) == -EDQUOT);
	close(fds[limit]);
	/* A wheel in use goes on working. */
	CHILD_CHECK(!arm_in(fds[0], 1, HOUR, 0));
	/* A second descriptor is no second wheel. */
	fds[limit] = dup(fds[0]);
	CHILD_CHECK(fds[limit] >= 0);
	close(fds[limit]);
	CHILD_CHECK(wheel_used() == -EDQUOT);
	/* Each close makes room for one. */
	close(fds[1]);
	fds[1] = wheel_used();
	CHILD_CHECK(fds[1] >= 0);
	CHILD_CHECK(wheel_used() == -EDQUOT);
}

TEST_F(user, a_user_has_no_more_wheels_than_the_limit)
{
	int i;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_wheels(5));
	/* Twice: the first has given all back when it ended. */
	for (i = 0; i < 2; i++) {
		pid = fork();
		if (!pid) {
			become(ALICE);
			open_up_to(5);
			_exit(0);
		}
		ASSERT_EQ(0, child_result(pid));
	}
}

/* Not even a first one; and one, as soon as it is allowed. */
TEST_F(user, a_limit_of_no_wheels_refuses_the_first)
{
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	for (int limit = 0; limit < 2; limit++) {
		ASSERT_EQ(0, limit_wheels(limit));
		pid = fork();
		if (!pid) {
			become(ALICE);
			for (int i = 0; i < limit; i++)
				CHILD_CHECK(wheel_used() >= 0);
			CHILD_CHECK(wheel_used() == -EDQUOT);
			_exit(0);
		}
		ASSERT_EQ(0, child_result(pid));
	}
}

TEST_F(user, a_limit_changed_at_run_time_holds_for_new_wheels)
{
	int to_child[2], from_child[2];
	char c;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, pipe(to_child));
	ASSERT_EQ(0, pipe(from_child));
	ASSERT_EQ(0, limit_wheels(2));
	pid = fork();
	if (!pid) {
		int a, b;

		become(ALICE);
		a = wheel_used();
		b = wheel_used();
		CHILD_CHECK(a >= 0 && b >= 0);
		CHILD_CHECK(wheel_used() == -EDQUOT);
		CHILD_CHECK(write(from_child[1], "1", 1) == 1);
		CHILD_CHECK(read(to_child[0], &c, 1) == 1);
		CHILD_CHECK(wheel_used() >= 0);
		CHILD_CHECK(wheel_used() == -EDQUOT);
		CHILD_CHECK(write(from_child[1], "2", 1) == 1);
		CHILD_CHECK(read(to_child[0], &c, 1) == 1);
		/* Lowered: what is there stays, and nothing new comes. */
		CHILD_CHECK(!arm_in(a, 1, HOUR, 0));
		CHILD_CHECK(wheel_used() == -EDQUOT);
		close(a);
		CHILD_CHECK(wheel_used() == -EDQUOT);
		_exit(0);
	}
	close(from_child[1]);
	EXPECT_EQ(1, read(from_child[0], &c, 1));
	EXPECT_EQ(0, limit_wheels(3));
	EXPECT_EQ(1, write(to_child[1], "1", 1));
	EXPECT_EQ(1, read(from_child[0], &c, 1));
	EXPECT_EQ(0, limit_wheels(1));
	EXPECT_EQ(1, write(to_child[1], "2", 1));
	EXPECT_EQ(0, child_result(pid));
}

static void arm_up_to(int limit)
{
	int a = wheel_open(O_NONBLOCK), b = wheel_open(O_NONBLOCK), i;
	struct twheel_op op;
	struct snapshot before;

	/* Over two wheels: the limit is the user's. */
	CHILD_CHECK(a >= 0 && b >= 0);
	for (i = 0; i < limit; i++)
		CHILD_CHECK(!arm_in(i < CHUNK ? a : b, i % (limit - CHUNK),
				    HOUR, 0));
	/* Beyond, in either, chosen by the program or by the kernel. */
	CHILD_CHECK(arm_in(a, 10 * CHUNK, HOUR, 0) == -EDQUOT);
	CHILD_CHECK(arm_in(b, 10 * CHUNK, HOUR, 0) == -EDQUOT);
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	CHILD_CHECK(wheel_arm(a, &op) == -EDQUOT);
	CHILD_CHECK(wheel_poll(a, 0) == 0);
	/* Refused, and nothing else: twice the same. */
	for (i = 1; i < CHUNK; i++)
		CHILD_CHECK(wheel_cancel(a, i) == TWHEEL_STATE_PENDING);
	CHILD_CHECK(!snapshot_take(a, &before));
	CHILD_CHECK(arm_in(a, 10 * CHUNK, HOUR, 0) == -EDQUOT);
	CHILD_CHECK(snapshot_holds(a, &before));
	/* What there is can be used again ... */
	CHILD_CHECK(!arm_in(a, 1, HOUR, 0));
	/* ... and what the other held, once it is closed. */
	close(b);
	CHILD_CHECK(!arm_in(a, 10 * CHUNK, HOUR, 0));
}

TEST_F(user, a_user_has_no_more_timers_than_the_limit)
{
	int i;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_timers(4 * CHUNK));
	for (i = 0; i < 2; i++) {
		pid = fork();
		if (!pid) {
			become(ALICE);
			arm_up_to(4 * CHUNK);
			_exit(0);
		}
		ASSERT_EQ(0, child_result(pid));
	}
}

/* The chunk that reaches the limit may exceed it. */
TEST_F(user, the_chunk_that_reaches_the_limit_may_exceed_it)
{
	int fd = wheel_open(0);

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, limit_timers(CHUNK + 1));
	EXPECT_EQ(0, arm_in(fd, 0, HOUR, 0));
	EXPECT_EQ(0, arm_in(fd, CHUNK, HOUR, 0));
	EXPECT_EQ(-EDQUOT, arm_in(fd, 2 * CHUNK, HOUR, 0));
	ASSERT_EQ(0, limit_timers(2 * CHUNK + 1));
	EXPECT_EQ(0, arm_in(fd, 2 * CHUNK, HOUR, 0));
	close(fd);
}

/* Directories of many ids are memory, whatever timers there are: 2 MB for 16 million. */
TEST_F(user, a_wheel_of_many_ids_counts_for_its_directories)
{
	struct twheel_setup s = { .capacity = TWHEEL_MAX_CAPACITY };
	int large = wheel_open(0), small = wheel_open(0);

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_LE(0, large);
	ASSERT_LE(0, small);
	ASSERT_EQ(0, limit_timers(200 * CHUNK));
	ASSERT_EQ(0, set_up(large, &s));
	EXPECT_EQ(0, arm_in(small, 0, HOUR, 0));
	EXPECT_EQ(0, arm_in(large, 0, HOUR, 0));
	EXPECT_EQ(-EDQUOT, arm_in(large, CHUNK, HOUR, 0));
	EXPECT_EQ(-EDQUOT, arm_in(small, CHUNK, HOUR, 0));
	close(large);
	for (int i = 1; i < 200; i++)
		EXPECT_EQ(0, arm_in(small, i * CHUNK, HOUR, 0));
	EXPECT_EQ(-EDQUOT, arm_in(small, 200 * CHUNK, HOUR, 0));
	close(small);
}

/* Words take their timers' memory at setup: all, or nothing. */
TEST_F(user, words_are_charged_by_setup)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_WORDS, .capacity = 4 * CHUNK };
	struct twheel_stats before, after;
	int fd, other, ret;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	fd = wheel_open(0);
	other = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, wheel_stats(fd, &before));
	ASSERT_EQ(0, limit_timers(3 * CHUNK));
	ret = set_up(fd, &s);
	if (ret == -EOPNOTSUPP)
		SKIP(return, NO_WORDS);
	EXPECT_EQ(-EDQUOT, ret);
	ASSERT_EQ(0, wheel_stats(fd, &after));
	EXPECT_EQ(before.memory, after.memory);
	/* Nothing is counted of it; fewer ids have room. */
	s.capacity = 3 * CHUNK;
	EXPECT_EQ(0, set_up(fd, &s));
	EXPECT_EQ(-EDQUOT, arm_in(other, 1, HOUR, 0));
	close(fd);
	EXPECT_EQ(0, arm_in(other, 1, HOUR, 0));
	close(other);
}

/* A setup that fails leaves nothing behind that the next one would forget. */
TEST_F(user, a_setup_after_one_that_failed_gets_all_levels)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_WORDS, .capacity = 1024 };
	struct twheel_stats before, after;
	int fd, err;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, wheel_stats(fd, &before));
	/* It has a page of words by the time when there is no room for their timers. */
	ASSERT_EQ(0, limit_timers(4 * CHUNK));
	err = set_up(fd, &setup);
	EXPECT_EQ(0, limit_timers(self->timers));
	if (err == -EOPNOTSUPP)
		SKIP(return, NO_WORDS);
	EXPECT_EQ(-EDQUOT, err);
	ASSERT_EQ(0, wheel_stats(fd, &after));
	EXPECT_EQ(before.memory, after.memory);
	EXPECT_EQ(0, set_up(fd, &setup));
	close(fd);
}

TEST_F(user, a_user_at_the_limit_leaves_others_theirs)
{
	int ready[2], go[2];
	char c;
	pid_t a, b;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, limit_wheels(3));
	ASSERT_EQ(0, limit_timers(2 * CHUNK));
	a = fork();
	if (!a) {
		int fd, i;

		/* Takes all that it can get, and holds it. */
		become(ALICE);
		fd = wheel_open(0);
		CHILD_CHECK(fd >= 0);
		for (i = 0; !arm_in(fd, i, HOUR, 0); i++)
			;
		CHILD_CHECK(i == 2 * CHUNK);
		while (wheel_used() >= 0)
			;
		CHILD_CHECK(write(ready[1], "x", 1) == 1);
		CHILD_CHECK(read(go[0], &c, 1) == 1);
		_exit(0);
	}
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &c, 1));
	b = fork();
	if (!b) {
		become(BOB);
		open_up_to(3);
		_exit(0);
	}
	EXPECT_EQ(0, child_result(b));
	EXPECT_EQ(1, write(go[1], "x", 1));
	EXPECT_EQ(0, child_result(a));
}

/* What needs CAP_SYS_RESOURCE */

static int drop_sys_resource(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {};

	if (syscall(SYS_capget, &head, data))
		return -errno;
	data[0].effective &= ~(1U << CAP_SYS_RESOURCE);
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static void set_up_without_privilege(int fd)
{
	static const struct twheel_setup refused[] = {
		{ .tick = TWHEEL_MIN_TICK - 1 },
		{ .tick = 1 },
		{ .levels = 1 },
		{ .levels = TWHEEL_MAX_LEVELS },
		{ .slots = 2 },
		{ .slots = TWHEEL_DEFAULT_SLOTS * 2 },
	};
	struct twheel_setup s, defaults, after;
	struct twheel_features f;
	int i;

	CHILD_CHECK(!wheel_ioctl(fd, TWHEEL_IOC_FEATURES, &f));
	CHILD_CHECK(f.min_tick == TWHEEL_MIN_TICK);
	CHILD_CHECK(!get_setup(fd, &defaults));
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		/* All levels may be just the default. */
		if (refused[i].levels == defaults.levels)
			continue;
		s = refused[i];
		CHILD_CHECK(set_up(fd, &s) == -EPERM);
		CHILD_CHECK(!get_setup(fd, &after));
		CHILD_CHECK(!memcmp(&after, &defaults, sizeof(after)));
	}
	/* The default shape by its numbers, and rounded, is the default shape. */
	s = (struct twheel_setup){
		.tick = TWHEEL_MIN_TICK,
		.levels = defaults.levels,
		.slots = TWHEEL_DEFAULT_SLOTS - 1,
		.capacity = TWHEEL_MAX_CAPACITY,
	};
	CHILD_CHECK(!set_up(fd, &s));
	CHILD_CHECK(s.tick == TWHEEL_MIN_TICK);
	CHILD_CHECK(s.slots == TWHEEL_DEFAULT_SLOTS);
	/* What the wheel has already takes no privilege. */
	s = refused[0];
	CHILD_CHECK(set_up(fd, &s) == -EBUSY);
}

TEST_F(user, an_expensive_shape_needs_cap_sys_resource)
{
	int inherited;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	inherited = wheel_open(0);
	ASSERT_LE(0, inherited);
	/* Its own, and one that root has opened: it is the caller who asks. */
	pid = fork();
	if (!pid) {
		int fd;

		become(ALICE);
		fd = wheel_open(0);
		CHILD_CHECK(fd >= 0);
		set_up_without_privilege(fd);
		set_up_without_privilege(inherited);
		_exit(0);
	}
	EXPECT_EQ(0, child_result(pid));
	/* Root without this one capability. */
	pid = fork();
	if (!pid) {
		int fd = wheel_open(0);

		CHILD_CHECK(fd >= 0);
		CHILD_CHECK(!drop_sys_resource());
		set_up_without_privilege(fd);
		_exit(0);
	}
	EXPECT_EQ(0, child_result(pid));
	close(inherited);
}

/* Memory */

static void fill_the_cgroup(int fd, const struct twheel_stats *start)
{
	struct twheel_op ops[256];
	struct twheel_stats s, again;
	struct twheel_event ev;
	char stack[64 << 10];
	__u64 armed = 0;
	__u32 failed, n;
	int i, ret;

	/*
	 * Each processor sets some memory of a cgroup aside, and is asked to
	 * give it back only when another has none: too late for that one.
	 */
	CHILD_CHECK(!pin(sched_getcpu()));
	/* The test's own pages must not be what is missing. */
	explicit_bzero(stack, sizeof(stack));
	CHILD_CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE));
	CHILD_CHECK(!write_file(GROUP "/cgroup.procs", "%d", getpid()));
	for (;;) {
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM,
				.deadline = ~0ULL,
				.id = armed + i,
			};
		ret = wheel_submit(fd, ops, ARRAY_SIZE(ops), &failed);
		CHILD_CHECK(ret == ARRAY_SIZE(ops));
		for (i = 0, n = 0; i < ARRAY_SIZE(ops); i++) {
			CHILD_CHECK(!ops[i].result || ops[i].result == -ENOMEM);
			n += !!ops[i].result;
		}
		CHILD_CHECK(n == failed);
		armed += ARRAY_SIZE(ops) - failed;
		if (failed)
			break;
		/* 64 MiB of them: the limit of 16 does not work. */
		CHILD_CHECK(armed < (64 << 20) / 48);
	}
	/* It is memory that has run out, and a good part of it is the wheel's. */
	CHILD_CHECK(!wheel_stats(fd, &s));
	CHILD_CHECK(s.pending == armed);
	CHILD_CHECK(s.memory - start->memory > (4 << 20));
	CHILD_CHECK(s.memory - start->memory < (16 << 20));
	/* Again and again: refused, and nothing lost of what there is. */
	for (i = 0; i < 20; i++)
		CHILD_CHECK(arm_in(fd, (1 << 23) + i * CHUNK, HOUR, 0) == -ENOMEM);
	CHILD_CHECK(!wheel_stats(fd, &again));
	CHILD_CHECK(again.pending == armed);
	CHILD_CHECK(again.arms == s.arms);
	/* What needs no new memory works as ever: cancel, move in place of it, expire, read. */
	CHILD_CHECK(wheel_cancel(fd, 6) == TWHEEL_STATE_PENDING);
	CHILD_CHECK(!arm_at(fd, 5, 1, 55));
	CHILD_CHECK(collect(fd, &ev, 1) == 1);
	CHILD_CHECK(ev.id == 5 && ev.cookie == 55);
	CHILD_CHECK(!arm_in(fd, 5, 20 * MSEC, 56));
	CHILD_CHECK(collect(fd, &ev, 1) == 1);
	CHILD_CHECK(ev.cookie == 56);
}

/*
 * Cancelled timers keep neither their memory nor their ids: the wheel is as
 * large after the hundredth round as after the first.
 * Seen in netty #2561, tokio #7384.
 */
TEST(cancelled_timers_keep_neither_memory_nor_ids)
{
	enum { NR = 1000 };
	struct twheel_op op[NR];
	int fd = wheel_open(O_NONBLOCK), i, round;
	struct twheel_stats first, last;
	__u32 failed;

	ASSERT_LE(0, fd);
	for (round = 0; round < 100; round++) {
		for (i = 0; i < NR; i++)
			op[i] = (struct twheel_op){
				.opcode		= TWHEEL_OP_ARM,
				.flags		= TWHEEL_ARM_RELATIVE,
				.deadline	= HOUR + i * SEC,
				.id		= TWHEEL_ID_ANY,
			};
		ASSERT_EQ(NR, wheel_submit(fd, op, NR, &failed));
		ASSERT_EQ(0, failed);
		for (i = 0; i < NR; i++)
			op[i] = (struct twheel_op){
				.opcode	= TWHEEL_OP_CANCEL,
				.id	= op[i].id,
			};
		ASSERT_EQ(NR, wheel_submit(fd, op, NR, &failed));
		ASSERT_EQ(0, failed);
		ASSERT_EQ(0, wheel_stats(fd, round ? &last : &first));
	}
	/* As many stale entries as there were timers, and not one for each arm. */
	EXPECT_GE(first.memory + NR * 16, last.memory);
	EXPECT_EQ(0, last.pending);
	close(fd);
}

TEST(a_cgroup_at_its_limit_refuses_memory_and_loses_no_timer)
{
	struct twheel_setup setup = { .capacity = TWHEEL_MAX_CAPACITY };
	struct twheel_stats start;
	int fd, ret;
	pid_t pid;

	if (group_make(16 << 20))
		SKIP(return, NO_GROUP);

	/* Opened outside: it is the caller who is charged. */
	fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	ASSERT_EQ(0, arm_in(fd, 0, HOUR, 0));
	ASSERT_EQ(0, wheel_stats(fd, &start));
	pid = fork();
	if (!pid) {
		fill_the_cgroup(fd, &start);
		_exit(0);
	}
	ret = child_result(pid);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, file_value(GROUP "/memory.events", "oom_kill "));
	EXPECT_LT(0, file_value(GROUP "/memory.events", "max "));
	/* Another cgroup is not at its limit. */
	EXPECT_EQ(0, arm_in(fd, 1 << 23, HOUR, 0));
	close(fd);
	EXPECT_EQ(0, rmdir(GROUP));
}

TEST_HARNESS_MAIN
