// SPDX-License-Identifier: GPL-2.0
/*
 * A wheel belongs to the open file: threads, children, successors by exec and
 * by SCM_RIGHTS share it, and it ends with the last of them.
 *
 * Bed: plain, storm, short
 */
/* Reads wait. */
#define WHEEL_FLAGS	0
#include "beside.h"
#include "wheel_fixture.h"

TEST_F(wheel, each_open_is_its_own)
{
	int other = wheel_open(0);
	struct twheel_event ev;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, arm_at(self->fd, 1, 1, 10));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(other, 1));
	EXPECT_EQ(0, wheel_poll(other, 50));
	ASSERT_EQ(0, arm_in(other, 1, HOUR, 20));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(other, 1));
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(10, ev.cookie);
	close(other);
}

/* Threads */

struct worker {
	pthread_t thread;
	int fd;
	__u32 seed;
	__u64 until;
	bool *stop;
	/* Of what this thread did, the calls that returned ... */
	__u64 arms;
	__u64 replaced;
	__u64 cancelled;
	__u64 events;
	__u64 twice;
	int error;
	/* Shared: one for each arming. */
	unsigned char *seen;
	__u64 *cookie;
};

#define HAMMER_IDS	64
#define HAMMER_ARMS	4000000

static void *hammer(void *arg)
{
	struct worker *w = arg;
	struct twheel_op op;
	int ret;

	while (now_ns() < w->until) {
		__u32 r = next_random(&w->seed);

		op = (struct twheel_op){ .id = r % HAMMER_IDS };
		if (r & 0x10000) {
			ret = wheel_ioctl(w->fd, TWHEEL_IOC_CANCEL, &op);
			if (!ret && (op.state == TWHEEL_STATE_PENDING ||
				     op.state == TWHEEL_STATE_EXPIRED))
				w->cancelled++;
		} else {
			op.flags = TWHEEL_ARM_RELATIVE;
			/* From due at once to a few ticks. */
			op.deadline = 1 + (r >> 17) % 8 * 500 * USEC;
			op.cookie = __atomic_fetch_add(w->cookie, 1,
						       __ATOMIC_RELAXED);
			if (op.cookie >= HAMMER_ARMS)
				break;
			ret = wheel_arm(w->fd, &op);
			if (!ret && (op.state == TWHEEL_STATE_PENDING ||
				     op.state == TWHEEL_STATE_EXPIRED))
				w->replaced++;
			w->arms += !ret;
		}
		if (ret)
			w->error = ret;
	}
	return NULL;
}

static void *reader(void *arg)
{
	struct worker *w = arg;
	struct twheel_event ev[5];
	int i, n;

	for (;;) {
		bool stop = __atomic_load_n(w->stop, __ATOMIC_ACQUIRE);

		n = wheel_read(w->fd, ev, ARRAY_SIZE(ev));
		if (n == -EAGAIN) {
			if (stop)
				break;
			wheel_poll(w->fd, 10);
			continue;
		}
		if (n < 0) {
			w->error = n;
			break;
		}
		for (i = 0; i < n; i++)
			if (__atomic_exchange_n(&w->seen[ev[i].cookie], 1,
						__ATOMIC_RELAXED))
				w->twice++;
		w->events += n;
	}
	return NULL;
}

/*
 * Several threads arm, cancel and read the same few timers.  Each arming ends
 * in exactly one way, so that the sums must match to the last one.
 */
TEST_F(wheel, each_arming_ends_once_beside_other_threads)
{
	struct worker w[4] = {}, sum = {};
	unsigned char *seen = calloc(HAMMER_ARMS, 1);
	struct twheel_stats stats;
	__u64 cookie = 0;
	bool stop = false;
	int i;

	ASSERT_TRUE(!!seen);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	for (i = 0; i < 4; i++) {
		w[i].fd = self->fd;
		w[i].seed = i + 1;
		w[i].until = now_ns() + 1500 * MSEC;
		w[i].stop = &stop;
		w[i].seen = seen;
		w[i].cookie = &cookie;
		ASSERT_EQ(0, thread_start(&w[i].thread, i < 2 ? hammer : reader, &w[i]));
	}
	ASSERT_EQ(0, pthread_join(w[0].thread, NULL));
	ASSERT_EQ(0, pthread_join(w[1].thread, NULL));
	for (i = 0; i < HAMMER_IDS; i++) {
		int state = wheel_cancel(self->fd, i);

		ASSERT_LE(0, state);
		sum.cancelled += state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(w[2].thread, NULL));
	ASSERT_EQ(0, pthread_join(w[3].thread, NULL));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, w[i].error);
		EXPECT_EQ(0, w[i].twice);
		sum.arms += w[i].arms;
		sum.replaced += w[i].replaced;
		sum.cancelled += w[i].cancelled;
		sum.events += w[i].events;
	}
	TH_LOG("%llu arms: %llu replaced, %llu cancelled, %llu delivered",
	       sum.arms, sum.replaced, sum.cancelled, sum.events);
	EXPECT_EQ(sum.arms, sum.replaced + sum.cancelled + sum.events);
	/* Each way was taken. */
	EXPECT_LT(0, sum.replaced);
	EXPECT_LT(0, sum.cancelled);
	EXPECT_LT(0, sum.events);
	ASSERT_EQ(0, wheel_stats(self->fd, &stats));
	EXPECT_EQ(sum.arms, stats.arms);
	EXPECT_EQ(sum.events, stats.delivered);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, stats.expired);
	free(seen);
}

/* Processes */

/*
 * A thread arms while another reads what is due: neither waits for the other,
 * and nothing is lost.
 * Seen in RussellLuo/timingwheel #25, #53.
 */
static void *arm_them(void *arg)
{
	int fd = *(int *)arg;
	long failed = 0;
	__u32 id;

	for (id = 0; id < 20000; id++)
		failed += arm_in(fd, id, 1 + id % (3 * MSEC), id) != 0;
	return (void *)failed;
}

TEST_F(wheel, arms_and_reads_of_two_threads_lose_nothing)
{
	static struct twheel_event ev[20000];
	static bool seen[20000];
	pthread_t thread;
	void *failed;
	int i;

	ASSERT_EQ(0, thread_start(&thread, arm_them, &self->fd));
	ASSERT_EQ(20000, collect(self->fd, ev, 20000));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(0, (long)failed);
	for (i = 0; i < 20000; i++) {
		ASSERT_GT(20000, ev[i].id);
		ASSERT_FALSE(seen[ev[i].id]);
		seen[ev[i].id] = true;
	}
}

/*
 * An arm that waits for memory while a setup makes the wheel smaller: its id is
 * beyond the end of what there is by then.
 */
static void *arm_high(void *arg)
{
	return (void *)(long)arm_in(*(int *)arg, TWHEEL_DEFAULT_CAPACITY - 1, HOUR, 0);
}

TEST(an_arm_beside_a_setup_keeps_no_memory_beyond_its_end)
{
	struct twheel_setup setup, small = {
		.flags = TWHEEL_SETUP_WORDS, .capacity = TWHEEL_DEFAULT_CAPACITY / 2,
	};
	struct twheel_stats stats;
	unsigned int i, races = 0;
	__u64 memory;
	pthread_t thread;
	void *armed;
	int fd, err;

	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	setup = small;
	err = set_up(fd, &setup);
	if (err == -EOPNOTSUPP)
		SKIP(return, NO_WORDS);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, wheel_stats(fd, &stats));
	memory = stats.memory;
	close(fd);

	for (i = 0; i < 30; i++) {
		fd = wheel_open(0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, pthread_create(&thread, NULL, arm_high, &fd));
		/* The words take long, and the arm comes in between. */
		setup = small;
		err = set_up(fd, &setup);
		ASSERT_EQ(0, pthread_join(thread, &armed));
		ASSERT_EQ(0, wheel_stats(fd, &stats));
		if (err) {
			EXPECT_EQ(-EBUSY, err);
			EXPECT_EQ(0, (long)armed);
		} else {
			EXPECT_EQ(-ERANGE, (long)armed);
			EXPECT_EQ(memory, stats.memory);
			races++;
		}
		close(fd);
	}
	EXPECT_LT(0, races);
}

TEST_F(wheel, a_fork_shares_the_wheel)
{
	struct twheel_event ev;
	pid_t pid = fork();

	if (!pid) {
		CHILD_CHECK(!arm_in(self->fd, 1, 20 * MSEC, 5));
		CHILD_CHECK(!arm_in(self->fd, 2, HOUR, 6));
		/* What the parent armed comes to the child. */
		CHILD_CHECK(wheel_cancel(self->fd, 3) == TWHEEL_STATE_IDLE);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	/* The child is gone, its timers are not. */
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(5, ev.cookie);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->fd, 2));

	ASSERT_EQ(0, arm_in(self->fd, 4, 20 * MSEC, 7));
	pid = fork();
	if (!pid) {
		CHILD_CHECK(wheel_read(self->fd, &ev, 1) == 1);
		CHILD_CHECK(ev.cookie == 7);
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_state(self->fd, 4));
}

#define EXEC_FD		"TWHEEL_TEST_FD"

/* What this program does when a test has exec'ed it. */
static int successor(int fd)
{
	struct twheel_setup s;
	struct twheel_timer t[4];
	struct twheel_event ev;

	CHILD_CHECK(!wheel_ioctl(fd, TWHEEL_IOC_GET_SETUP, &s));
	CHILD_CHECK(s.capacity == 123);
	CHILD_CHECK(list_all(fd, t, 4) == 2);
	CHILD_CHECK(t[0].id == 1 && t[0].cookie == 11);
	CHILD_CHECK(t[1].id == 2 && t[1].cookie == 22);
	CHILD_CHECK(wheel_read(fd, &ev, 1) == 1);
	CHILD_CHECK(ev.id == 1 && ev.cookie == 11);
	CHILD_CHECK(now_ns() >= ev.deadline);
	CHILD_CHECK(wheel_cancel(fd, 2) == TWHEEL_STATE_PENDING);
	return 0;
}

TEST_F(wheel, an_exec_keeps_the_wheel)
{
	struct twheel_setup s = { .capacity = 123 };
	char value[16];
	pid_t pid;

	ASSERT_EQ(0, set_up(self->fd, &s));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFD, 0));
	ASSERT_EQ(0, arm_in(self->fd, 1, 150 * MSEC, 11));
	ASSERT_EQ(0, arm_in(self->fd, 2, HOUR, 22));
	snprintf(value, sizeof(value), "%d", self->fd);
	ASSERT_EQ(0, setenv(EXEC_FD, value, 1));
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "sharing", NULL);
		_exit(127);
	}
	ASSERT_EQ(0, child_result(pid));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, 2));
}

TEST_F(wheel, a_wheel_passed_by_scm_rights_keeps_its_timers)
{
	struct twheel_event ev;
	int pair[2], fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		/* Opened, armed, passed on and left. */
		fd = wheel_open(0);
		CHILD_CHECK(fd >= 0);
		CHILD_CHECK(!arm_in(fd, 5, 50 * MSEC, 55));
		CHILD_CHECK(!arm_every(fd, 6, now_ns() + HOUR, SEC, 3));
		CHILD_CHECK(!fd_pass(pair[0], fd));
		_exit(0);
	}
	ASSERT_EQ(0, child_result(pid));
	/* While it is in nobody's hands the wheel turns. */
	sleep_until(now_ns() + 100 * MSEC);
	fd = fd_receive(pair[1]);
	ASSERT_LE(0, fd);
	ASSERT_EQ(1, wheel_read(fd, &ev, 1));
	EXPECT_EQ(55, ev.cookie);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(fd, 6));
	close(fd);
}

TEST_F(wheel, a_wheel_passed_and_never_received_ends)
{
	int pair[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, arm_every(fd, 1, now_ns(), MSEC, 0));
	ASSERT_EQ(0, fd_pass(pair[0], fd));
	close(fd);
	close(pair[0]);
	close(pair[1]);
	/* The next wheel is a new one. */
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(fd, 1));
	close(fd);
}

TEST_F(wheel, the_last_close_ends_the_wheel)
{
	struct twheel_event ev;
	int copy = dup(self->fd);

	ASSERT_LE(0, copy);
	ASSERT_EQ(0, arm_in(self->fd, 1, 20 * MSEC, 1));
	close(self->fd);
	ASSERT_EQ(1, wheel_read(copy, &ev, 1));
	EXPECT_EQ(1, ev.cookie);
	self->fd = copy;
}

static void *read_forever(void *arg)
{
	struct worker *w = arg;
	struct twheel_event ev;

	w->error = wheel_read(w->fd, &ev, 1);
	return NULL;
}

TEST_F(wheel, a_close_leaves_a_sleeping_reader_its_wheel)
{
	struct worker w = { .fd = self->fd };
	int copy = dup(self->fd);

	ASSERT_LE(0, copy);
	/* Without a storm: a call that is restarted looks for its file anew. */
	ASSERT_EQ(0, pthread_create(&w.thread, NULL, read_forever, &w));
	sleep_until(now_ns() + 20 * MSEC);
	/* The call in progress holds the file. */
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(0, arm_in(copy, 1, 10 * MSEC, 0));
	ASSERT_EQ(0, pthread_join(w.thread, NULL));
	EXPECT_EQ(1, w.error);
	close(copy);
}

/* Close */

static int open_with_many(__u32 many, __u64 base, __u64 spread)
{
	struct twheel_setup s = { .capacity = many };
	struct twheel_op *ops = calloc(4096, sizeof(*ops));
	__u32 failed, i, n, seed = 1;
	int ret, fd = wheel_open(O_NONBLOCK);

	if (fd < 0 || !ops)
		return -1;
	ret = set_up(fd, &s);
	for (i = 0; !ret && i < many; i += n) {
		for (n = 0; n < 4096 && i + n < many; n++)
			ops[n] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM,
				.deadline = base + (__u64)next_random(&seed) *
					    (spread / (1ULL << 32) + 1),
				.id = i + n,
			};
		if (wheel_submit(fd, ops, n, &failed) != n || failed)
			ret = -1;
	}
	free(ops);
	if (ret) {
		close(fd);
		return -1;
	}
	return fd;
}

TEST_F(wheel, a_close_gives_back_a_million_timers)
{
	/* With a kernel that looks for races it would take a minute each time. */
	const __u32 many = access("/sys/kernel/debug/kcsan", F_OK) ? 1000000 : 100000;
	long long old = file_value(PARAMETERS "max_user_timers", NULL);
	struct twheel_stats s;
	__u64 now;
	int fd;

	ASSERT_LT(0, old);
	if (old < 2 * many)
		ASSERT_EQ(0, write_file(PARAMETERS "max_user_timers", "%d",
					2 * many));
	/* All far; and over levels, some of them due and unread. */
	fd = open_with_many(many, now_ns() + HOUR, 10 * HOUR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, wheel_stats(fd, &s));
	EXPECT_EQ(many, s.pending);
	now = now_ns();
	EXPECT_EQ(0, close(fd));
	TH_LOG("closed in %llu ms", (now_ns() - now) / MSEC);

	fd = open_with_many(many, now_ns() - SEC, 20 * SEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, wheel_stats(fd, &s));
	EXPECT_EQ(many, s.pending + s.expired);
	EXPECT_LT(0, s.expired);
	EXPECT_LT(0, s.pending);
	EXPECT_EQ(0, close(fd));

	/* All of it is given back: as much again fits under the limit. */
	fd = open_with_many(many, now_ns() + HOUR, HOUR);
	EXPECT_LE(0, fd);
	close(fd);
	if (old < 2 * many)
		ASSERT_EQ(0, write_file(PARAMETERS "max_user_timers", "%lld", old));
}

TEST_F(wheel, a_wheel_may_be_closed_with_its_hrtimer_under_way)
{
	__u64 until = now_ns() + 500 * MSEC;
	int i, fd;

	/* With the hrtimer, the worker or nothing under way. */
	for (i = 0; now_ns() < until; i++) {
		fd = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, arm_in(fd, 1, 1 + i % 5 * 300 * USEC, 0));
		ASSERT_EQ(0, arm_every(fd, 2, now_ns() + MSEC, MSEC, 0));
		if (i % 2)
			sleep_until(now_ns() + MSEC);
		ASSERT_EQ(0, close(fd));
	}
	EXPECT_LT(10, i);
}

/* Checkpoint and rebuild */

/*
 * A wheel that is closed gives back all it had, whatever its timers were doing.
 * Seen in RussellLuo/timingwheel PR 50.
 */
TEST_F(wheel, a_close_gives_back_all_whatever_its_timers_do)
{
	long long limit = file_value(PARAMETERS "max_user_wheels", NULL);
	struct twheel_event ev;
	int i, n;

	/* More than may be open at a time: one that leaks is noticed. */
	n = limit > 0 && limit < 2000 ? (int)limit + 100 : 2000;
	for (i = 0; i < n; i++) {
		int fd = wheel_open(O_NONBLOCK);

		ASSERT_LE(0, fd) {
			TH_LOG("open %d of %d: %d", i, n, fd);
		}
		ASSERT_EQ(0, arm_at(fd, 1, 1, 0));
		ASSERT_EQ(0, arm_in(fd, 2, MSEC, 0));
		ASSERT_EQ(0, arm_every(fd, 3, 1, MSEC, 0));
		ASSERT_EQ(0, arm_in(fd, 4, HOUR, 0));
		if (i % 2)
			ASSERT_EQ(1, wheel_read(fd, &ev, 1));
		if (i % 3)
			ASSERT_LE(0, wheel_cancel(fd, 2));
		ASSERT_EQ(0, close(fd));
	}
}

TEST_F(wheel, a_list_is_enough_to_rebuild_the_wheel)
{
	enum { NR = 600 };
	struct twheel_timer *old = calloc(NR + 1, sizeof(*old));
	struct twheel_timer *new = calloc(NR + 1, sizeof(*new));
	struct twheel_op *ops = calloc(NR, sizeof(*ops));
	__u64 now = now_ns();
	__u32 cursor = 0, failed, nr = 0;
	int i, n, fd;

	/* Of each kind some: far, periodic, counted, with slack, expired. */
	for (i = 0; i < NR; i++) {
		ops[i].opcode = TWHEEL_OP_ARM;
		ops[i].id = i * 7;
		ops[i].cookie = i * 1000003ULL;
		ops[i].deadline = now + HOUR + i * 12345678ULL;
		if (i % 5 == 1)
			ops[i].interval = SEC + i;
		if (i % 10 == 1)
			ops[i].count = i + 1;
		if (i % 5 == 2)
			ops[i].slack = i * MSEC;
		if (i % 5 == 3)
			ops[i].deadline = 1 + i;
	}
	ASSERT_EQ(NR, wheel_submit(self->fd, ops, NR, &failed));
	ASSERT_EQ(0, failed);
	ASSERT_TRUE(wait_expired(self->fd, NR / 5));

	/* In small portions, as a daemon with little memory would. */
	for (;;) {
		n = wheel_list(self->fd, old + nr,
			       nr + 7 < NR ? 7 : NR + 1 - nr, &cursor);
		ASSERT_LE(0, n);
		if (!n)
			break;
		nr += n;
		ASSERT_GE(NR, nr);
	}
	ASSERT_EQ(NR, nr);

	/* All that is told of a timer is what it takes to arm it. */
	fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (i = 0; i < NR; i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM,
			.id = old[i].id,
			.cookie = old[i].cookie,
			.deadline = old[i].deadline,
			.interval = old[i].interval,
			.slack = old[i].slack,
			.count = old[i].count,
		};
	ASSERT_EQ(NR, wheel_submit(fd, ops, NR, &failed));
	EXPECT_EQ(0, failed);
	ASSERT_TRUE(wait_expired(fd, NR / 5));
	ASSERT_EQ(NR, list_all(fd, new, NR + 1));
	for (i = 0; i < NR; i++) {
		EXPECT_EQ(old[i].id, new[i].id);
		EXPECT_EQ(old[i].state, new[i].state);
		EXPECT_EQ(old[i].cookie, new[i].cookie);
		EXPECT_EQ(old[i].deadline, new[i].deadline);
		EXPECT_EQ(old[i].interval, new[i].interval);
		EXPECT_EQ(old[i].slack, new[i].slack);
		EXPECT_EQ(old[i].count, new[i].count);
		/* And it was what had been armed. */
		EXPECT_EQ(old[i].id / 7 * 1000003ULL, old[i].cookie);
	}
	close(fd);
}

#define main run_tests
TEST_HARNESS_MAIN
#undef main

int main(int argc, char **argv)
{
	const char *fd = getenv(EXEC_FD);

	return fd ? successor(atoi(fd)) : run_tests(argc, argv);
}
