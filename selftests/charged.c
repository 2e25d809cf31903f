// SPDX-License-Identifier: GPL-2.0
/*
 * A wheel and its timers count for the user whose call uses it first, wherever it was opened and
 * whichever user has it later; a use that fails counts for nobody.
 *
 * Bed: plain, storm
 */
#define WORDS_OPTIONAL
#include "words_test.h"
#include "user_fixture.h"

static int open_as(uid_t uid)
{
	int fd;

	CHILD_CHECK(!setresuid(uid, uid, 0));
	fd = wheel_open(O_NONBLOCK);
	CHILD_CHECK(!setresuid(0, 0, 0));
	return fd;
}

static int used_as(uid_t uid)
{
	int fd;

	CHILD_CHECK(!setresuid(uid, uid, 0));
	fd = wheel_used();
	CHILD_CHECK(!setresuid(0, 0, 0));
	return fd;
}

TEST_F(user, the_first_user_is_charged)
{
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_timers(CHUNK));
	pid = fork();
	if (!pid) {
		int passed = open_as(ALICE), own = open_as(ALICE), mine, i;
		pid_t other;

		CHILD_CHECK(passed >= 0 && own >= 0);
		other = fork();
		if (!other) {
			/* Opened by A, used by B: it is B's, and stays so. */
			become(BOB);
			for (i = 0; i < CHUNK; i++)
				CHILD_CHECK(!arm_in(passed, i, HOUR, 0));
			CHILD_CHECK(arm_in(passed, CHUNK, HOUR, 0) == -EDQUOT);
			mine = wheel_open(0);
			CHILD_CHECK(mine >= 0);
			CHILD_CHECK(arm_in(mine, 1, HOUR, 0) == -EDQUOT);
			_exit(0);
		}
		CHILD_CHECK(!child_result(other));
		/* It has cost A nothing; and whoever uses it now, B pays. */
		become(ALICE);
		CHILD_CHECK(!arm_in(own, 1, HOUR, 0));
		CHILD_CHECK(!arm_in(passed, 1, 2 * HOUR, 0));
		CHILD_CHECK(arm_in(passed, CHUNK, HOUR, 0) == -EDQUOT);
		close(own);
		CHILD_CHECK(arm_in(passed, CHUNK, HOUR, 0) == -EDQUOT);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
}

/* Each call that uses a wheel for the first time, and what it must not have changed. */
static int first_arm(int fd)
{
	return arm_in(fd, 1, HOUR, 0);
}

static int first_submit(int fd)
{
	struct twheel_op op = { .opcode = TWHEEL_OP_ARM, .deadline = 1 };
	int ret = wheel_submit(fd, &op, 1, NULL);

	return ret < 0 ? ret : op.result;
}

static int first_setup(int fd)
{
	return set_up(fd, &(struct twheel_setup){});
}

TEST_F(user, a_passed_wheel_counts_for_its_first_user)
{
	static int (* const first[])(int fd) = {
		first_arm, first_submit, first_setup,
	};
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_wheels(2));
	pid = fork();
	if (!pid) {
		int a[3] = { open_as(ALICE), open_as(ALICE), open_as(ALICE) }, b[2], i;
		struct snapshot before;

		/* As many as may be opened: they count for nobody yet. */
		for (i = 0; i < 3; i++)
			CHILD_CHECK(a[i] >= 0);
		for (i = 0; i < 2; i++) {
			b[i] = used_as(BOB);
			CHILD_CHECK(b[i] >= 0);
		}
		/* B has as many as may be: one more is refused, and is nobody's still. */
		CHILD_CHECK(!snapshot_take(a[0], &before));
		CHILD_CHECK(!setresuid(BOB, BOB, 0));
		for (i = 0; i < ARRAY_SIZE(first); i++) {
			CHILD_CHECK(first[i](a[0]) == -EDQUOT);
			CHILD_CHECK(snapshot_holds(a[0], &before));
		}
		CHILD_CHECK(!setresuid(0, 0, 0));
		/* With one less it is B's, and A may use as many as before. */
		close(b[0]);
		CHILD_CHECK(!setresuid(BOB, BOB, 0));
		CHILD_CHECK(!arm_in(a[0], 1, HOUR, 0));
		CHILD_CHECK(!setresuid(0, 0, 0));
		CHILD_CHECK(used_as(BOB) == -EDQUOT);
		CHILD_CHECK(!setresuid(ALICE, ALICE, 0));
		CHILD_CHECK(!arm_in(a[1], 1, HOUR, 0));
		CHILD_CHECK(!arm_in(a[2], 1, HOUR, 0));
		CHILD_CHECK(!setresuid(0, 0, 0));
		CHILD_CHECK(used_as(ALICE) == -EDQUOT);
		/* Once it is somebody's, it stays, and closed it makes room there. */
		CHILD_CHECK(!setresuid(ALICE, ALICE, 0));
		CHILD_CHECK(!arm_in(a[0], 2, HOUR, 0));
		CHILD_CHECK(!setresuid(0, 0, 0));
		close(a[0]);
		CHILD_CHECK(used_as(ALICE) == -EDQUOT);
		CHILD_CHECK(used_as(BOB) >= 0);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
}

/*
 * A user namespace has 65,536 uids for who makes one.  They are one user, unless root
 * has made it: such a one is a container.
 */
static void in_namespace(uid_t owner, int limit)
{
	int up[2], down[2], fd;
	char c, path[64];
	pid_t pid;

	CHILD_CHECK(!pipe(up) && !pipe(down));
	pid = fork();
	if (!pid) {
		if (owner)
			become(owner);
		if (unshare(CLONE_NEWUSER))
			_exit(4);
		CHILD_CHECK(write(up[1], "x", 1) == 1);
		CHILD_CHECK(read(down[0], &c, 1) == 1);
		for (uid_t uid = 5; uid < 8; uid++) {
			CHILD_CHECK(!setresuid(uid, uid, 0));
			fd = wheel_used();
			CHILD_CHECK(uid - 5 < limit ? fd >= 0 : fd == -EDQUOT);
			CHILD_CHECK(!setresuid(0, 0, 0));
		}
		_exit(0);
	}
	close(up[1]);
	if (read(up[0], &c, 1) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
		CHILD_CHECK(!write_file(path, "0 100000 65536"));
		CHILD_CHECK(write(down[1], "x", 1) == 1);
	}
	fd = child_result(pid);
	if (fd)
		_exit(fd);
}

TEST_F(user, a_user_namespace_makes_no_further_users)
{
	pid_t pid;
	int ret;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_wheels(2));
	pid = fork();
	if (!pid) {
		/* One of the two is the outer one's. */
		int fd = used_as(ALICE);

		CHILD_CHECK(fd >= 0);
		in_namespace(ALICE, 1);
		in_namespace(0, 3);
		_exit(0);
	}
	ret = child_result(pid);
	if (ret == 4)
		SKIP(return, NO_USERNS);
	EXPECT_EQ(0, ret);
}

/* The first timer of a chunk. */
static int arm_chunk(int fd, unsigned int chunk)
{
	return arm_in(fd, chunk * CHUNK, HOUR, 0);
}

TEST_F(user, timers_of_a_passed_wheel_count_for_its_user)
{
	int mine = wheel_open(0), passed = wheel_open(0);
	pid_t pid;
	int fd;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_LE(0, mine);
	ASSERT_LE(0, passed);
	ASSERT_EQ(0, limit_timers(2 * CHUNK));
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

TEST_F(user, words_of_a_passed_wheel_count_for_its_user)
{
	struct shared s = { .setup = { .capacity = 2 * CHUNK } };
	struct shared more = s;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	s.fd = wheel_open(0);
	more.fd = wheel_open(0);
	ASSERT_LE(0, s.fd);
	ASSERT_LE(0, more.fd);
	ASSERT_EQ(0, limit_timers(2 * CHUNK));
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

TEST_F(user, passed_wheels_count_for_their_users)
{
	static int (*const use[])(int fd) = { use_setup, use_arm, use_submit, use_both };
	enum { NR = ARRAY_SIZE(use) };
	int fd[NR], more[NR], extra = wheel_open(0), ready[2], go[2];
	unsigned int i;
	char byte;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_wheels(NR));
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
TEST_F(user, the_user_who_sets_a_wheel_up_pays)
{
	enum { NR = 200 };
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_WORDS, .capacity = 2 * CHUNK };
	struct twheel_op op = { .id = TWHEEL_ID_ANY - 1, .deadline = 1 };
	int own = wheel_open(0), fd[NR], i, *turn;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, turn);
	for (i = 0; i < NR; i++) {
		fd[i] = wheel_open(0);
		ASSERT_LE(0, fd[i]);
	}
	ASSERT_EQ(0, limit_timers(NR * 2 * CHUNK));
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
	ASSERT_EQ(0, limit_timers(2 * CHUNK));
	__atomic_store_n(turn, NR + 1, __ATOMIC_SEQ_CST);
	EXPECT_EQ(0, child_result(pid));
	for (i = 0; i < NR; i++)
		close(fd[i]);
	close(own);
	munmap(turn, sizeof(*turn));
}

TEST_F(user, timers_are_given_back_when_a_passed_wheel_is_closed)
{
	int fd, round;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_timers(2 * CHUNK));
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

TEST_F(user, a_setup_that_fails_gives_back_all)
{
	struct shared s = { .setup = { .capacity = 16 * CHUNK } };
	struct twheel_stats before, after;
	int other = wheel_open(0);

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_LE(0, other);
	s.fd = wheel_open(0);
	ASSERT_LE(0, s.fd);
	ASSERT_EQ(0, limit_timers(4 * CHUNK));
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

TEST_F(user, a_first_use_that_fails_makes_nobody_the_owner)
{
	static int (*const use[])(int fd) = { use_arm, use_words };
	int full, fd;
	unsigned int i;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_EQ(0, limit_timers(CHUNK));
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
TEST_F(user, sub_uids_count_for_the_user_who_made_their_namespace)
{
	int fd[2] = { wheel_open(0), wheel_open(0) }, ready[2], go[2];
	char path[64], byte;
	pid_t pid;

	if (!self->root)
		SKIP(return, NEEDS_ROOT);
	ASSERT_LE(0, fd[0]);
	ASSERT_LE(0, fd[1]);
	ASSERT_EQ(0, limit_timers(CHUNK));
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
		SKIP(return, NO_USERNS);
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

TEST_HARNESS_MAIN
