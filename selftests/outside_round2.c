// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in a second round: users who delayed others, and events and
 * armings that went lost, or counted twice, when two things happened at once.
 */

#include "beside.h"
#include "outside.h"

#define CHUNK		256

/* The most that softirq may do in a visit. */
#define STEP		64

#define NO_OTHERS	"needs root to be other users"

/*
 * A far deadline of another user.
 */
FIXTURE(behind) {
	bool made;
};

FIXTURE_VARIANT(behind) {
	clockid_t clock;
};

FIXTURE_VARIANT_ADD(behind, monotonic) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(behind, boottime) { .clock = CLOCK_BOOTTIME };

FIXTURE_SETUP(behind)
{
	self->made = !getuid();
}

FIXTURE_TEARDOWN(behind)
{
}

static int open_with_clock(clockid_t clock)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_CLOCK, .clock = clock };
	int fd = wheel_open(0);

	return fd < 0 ? fd : set_up(fd, &s) ?: fd;
}

/* A process whose children live where the clock shows about half of the host's time. */
static bool enter_behind(clockid_t clock)
{
	__u64 half = clock_ns(clock) / 2;

	/* The nanoseconds count forward, always. */
	return !unshare(CLONE_NEWTIME) &&
	       !write_file("/proc/self/timens_offsets", "%d -%llu %llu\n", clock,
			   half / SEC + 1, SEC - half % SEC - 1);
}

TEST_F(behind, a_far_deadline_where_the_clock_is_behind_delays_nobody)
{
	int ready[2], fd;
	__u64 start;
	char byte;
	pid_t pid;

	if (!self->made)
		SKIP(return, NO_OTHERS);
	ASSERT_EQ(0, pin(0));
	fd = open_with_clock(variant->clock);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(ready));
	if (!enter_behind(variant->clock))
		SKIP(return, "no time namespaces in this kernel");
	pid = fork();
	if (!pid) {
		/* Alice's wheel has the time of where it was opened. */
		int far = wheel_open(0);
		struct twheel_setup s = { .flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock };

		CHILD_CHECK(far >= 0);
		be(ALICE);
		CHILD_CHECK(!set_up(far, &s));
		CHILD_CHECK(!arm_at(far, 1, INT64_MAX - 100 * MSEC, 0));
		CHILD_CHECK(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	ASSERT_LT(0, pid);
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	start = now_ns();
	ASSERT_EQ(0, arm_in(fd, 1, 50 * MSEC, 0));
	EXPECT_TRUE(wheel_poll(fd, NEVER_MS) & POLLIN);
	EXPECT_GE(SEC + LATE, now_ns() - start);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
}

/*
 * Stale events that are read.
 */
FIXTURE(stale) {
	struct shared s;
	struct twheel_event ev[2];
};

FIXTURE_SETUP(stale)
{
	ASSERT_EQ(0, shared_open(&self->s, CHUNK, 0));
}

FIXTURE_TEARDOWN(stale)
{
	shared_close(&self->s);
}

static void want_by_store(const struct shared *s, __u32 id, __u64 deadline)
{
	__atomic_store_n(&s->word[id].deadline, deadline, __ATOMIC_SEQ_CST);
}

static int stale_then_later(struct __test_metadata *_metadata, struct shared *s,
			    struct twheel_event *ev, __u32 trigger)
{
	struct epoll_event e = { .events = EPOLLIN | trigger };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	__u64 later;

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, s->fd, &e));
	ASSERT_EQ(1, want(s, 3, now_ns() + 20 * MSEC));
	ASSERT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS));
	/* Extended while its event waits, and long enough for the read to come before. */
	later = now_ns() + SEC;
	want_by_store(s, 3, later);
	EXPECT_EQ(-EAGAIN, wheel_read(s->fd, ev, 1));
	EXPECT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS));
	EXPECT_GE(later + SEC + LATE, now_ns());
	ASSERT_EQ(1, wheel_read(s->fd, ev, 2));
	EXPECT_EQ(3, ev->id);
	EXPECT_EQ(later, ev->deadline);
	EXPECT_LE(later, ev->fired);
	return close(ep);
}

TEST_F(stale, a_read_that_finds_only_them_leaves_the_wheel_queued_for_an_edge)
{
	ASSERT_EQ(0, stale_then_later(_metadata, &self->s, self->ev, EPOLLET));
}

TEST_F(stale, a_read_that_finds_only_them_leaves_the_wheel_queued_for_a_level)
{
	ASSERT_EQ(0, stale_then_later(_metadata, &self->s, self->ev, 0));
}

/* Once without, and once with a poll in between, which looks as well. */
TEST_F(stale, one_whose_timer_is_wanted_for_a_past_time_is_readable_at_once)
{
	const __u64 now = now_ns();
	const __u64 deadlines[][2] = {
		{ 80, 90 },
		{ now - now / 2, now - now / 4 },
		{ now - 3 * TWHEEL_DEFAULT_TICK, now - 2 * TWHEEL_DEFAULT_TICK },
	};
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(deadlines); i++) {
		const __u64 *deadline = deadlines[i / 2];

		want_by_store(&self->s, 2, deadline[0]);
		ASSERT_EQ(0, arm_stored(&self->s, 2));
		want_by_store(&self->s, 2, deadline[1]);
		if (i % 2)
			EXPECT_TRUE(wheel_poll(self->s.fd, 0) & POLLIN);
		ASSERT_EQ(1, wheel_read(self->s.fd, self->ev, 2))
			TH_LOG("round %u", i);
		EXPECT_EQ(2, self->ev[0].id);
		EXPECT_EQ(deadline[1], self->ev[0].deadline);
		EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, self->ev, 2));
	}
}

/*
 * What softirq does for one user, and for one wheel.
 */
#define FAIR_CLOCKS	4
/* Two of each clock, where there are four. */
#define FAIR_WHEELS	FAIR_CLOCKS
/* All together more than softirq may handle while the test looks. */
#define FAIR_TIMERS	8192

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
	static const clockid_t clocks[FAIR_CLOCKS] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI,
	};
	unsigned int i, id;

	be(uid);
	for (i = 0; i < FAIR_WHEELS; i++) {
		struct shared s = {
			.fd = f->fd[i],
			.setup = {
				.flags = TWHEEL_SETUP_CLOCK,
				.clock = f->clocks ? clocks[i % FAIR_CLOCKS] : CLOCK_MONOTONIC,
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

TEST(wheels_of_four_clocks_are_turned_no_more_often_than_those_of_one)
{
	struct fair user[2] = { { .clocks = false }, { .clocks = true } }, before[2];
	/* Late arms only mean that softirq is at work already. */
	__u64 start = now_ns() + 2 * SEC;
	unsigned int i, k;
	pid_t pid[2];

	if (getuid())
		SKIP(return, NO_OTHERS);
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

/*
 * An arming ends once.
 */
#define MAX_ARMINGS	1000000U

FIXTURE(drain) {
	struct shared s;
	unsigned char *replaced, *drained;
};

FIXTURE_VARIANT(drain) {
	bool words;
};

FIXTURE_VARIANT_ADD(drain, plain) { .words = false };
FIXTURE_VARIANT_ADD(drain, words) { .words = true };

FIXTURE_SETUP(drain)
{
	if (variant->words) {
		ASSERT_EQ(0, shared_open(&self->s, CHUNK, 0));
	} else {
		self->s.fd = wheel_open(0);
		ASSERT_LE(0, self->s.fd);
	}
	self->replaced = calloc(MAX_ARMINGS, 1);
	self->drained = calloc(MAX_ARMINGS, 1);
	ASSERT_TRUE(self->replaced && self->drained);
}

FIXTURE_TEARDOWN(drain)
{
	free(self->replaced);
	free(self->drained);
	shared_close(&self->s);
}

struct armer {
	pthread_t	thread;
	int		fd;
	unsigned char	*replaced;
	__u32		last;
	int		error;
	bool		stop;
};

static void *arm_again(void *arg)
{
	struct armer *a = arg;

	while (!__atomic_load_n(&a->stop, __ATOMIC_ACQUIRE) && a->last < MAX_ARMINGS - 1) {
		struct twheel_op op = { .deadline = now_ns() + HOUR };

		a->error = wheel_arm(a->fd, &op);
		if (!a->error && op.state != TWHEEL_STATE_IDLE && op.state != TWHEEL_STATE_PENDING)
			a->error = -EBADMSG;
		if (!a->error && op.generation != a->last + 1)
			a->error = -EILSEQ;
		if (a->error)
			break;
		if (op.state == TWHEEL_STATE_PENDING)
			a->replaced[a->last]++;
		a->last = op.generation;
	}
	return NULL;
}

TEST_F(drain, beside_arms_of_the_same_id_ends_no_arming_twice)
{
	struct armer a = { .fd = self->s.fd, .replaced = self->replaced };
	__u64 end = now_ns() + SEC;
	unsigned int wrong = 0;
	struct twheel_timer t;
	__u32 i, cursor;
	int ret;

	ASSERT_EQ(0, thread_start(&a.thread, arm_again, &a));
	do {
		cursor = 0;
		ret = wheel_list(self->s.fd, TWHEEL_IOC_DRAIN, &t, 1, &cursor);
		ASSERT_LE(0, ret);
		if (!ret)
			continue;
		ASSERT_GT(MAX_ARMINGS, t.generation);
		self->drained[t.generation]++;
	} while (now_ns() < end);
	__atomic_store_n(&a.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(a.thread, NULL));
	EXPECT_EQ(0, a.error);
	EXPECT_LT(1, a.last);
	/* The last one may be pending yet. */
	for (i = 1; i < a.last; i++)
		wrong += self->replaced[i] + self->drained[i] != 1;
	EXPECT_EQ(0, wrong)
		TH_LOG("of %u", a.last);
}

/*
 * Whose a wheel is.
 */
#define LIMIT		"max_user_timers"

FIXTURE(owner) {
	long long before;
	bool made;
};

FIXTURE_SETUP(owner)
{
	self->made = !getuid();
	self->before = file_value(PARAMETERS LIMIT, NULL);
	ASSERT_LT(0, self->before);
}

FIXTURE_TEARDOWN(owner)
{
	if (self->made)
		write_file(PARAMETERS LIMIT, "%lld", self->before);
}

static int use_arm(int fd)
{
	return arm_in(fd, 0, HOUR, 0);
}

static int use_setup(int fd)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_WORDS, .capacity = 4 * CHUNK };

	return set_up(fd, &s);
}

static int use_submit(int fd)
{
	struct twheel_op op = { .opcode = TWHEEL_OP_ARM, .deadline = now_ns() + HOUR };
	int ret = wheel_submit(fd, &op, 1, NULL);

	return ret < 0 ? ret : op.result;
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

TEST_F(owner, a_first_use_that_fails_makes_nobody_the_owner)
{
	static int (*const use[])(int fd) = { use_arm, use_setup, use_submit };
	int full, fd;
	unsigned int i;

	if (!self->made)
		SKIP(return, "needs root to set limits");
	ASSERT_EQ(0, write_file(PARAMETERS LIMIT, "%u", CHUNK));
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

TEST_HARNESS_MAIN
