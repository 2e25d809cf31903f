// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for events: blocking reads, poll, epoll in all its modes, io_uring.
 *
 * Bed: plain, storm
 */
#include <arpa/inet.h>
#include <sys/uio.h>

/* Reads wait. */
#define WHEEL_FLAGS	0
#define WORDS_OPTIONAL
#include "beside.h"
#include "held.h"
#include "uring.h"
#include "wheel_fixture.h"
#include "words_test.h"

/* Blocking reads */

TEST_F(wheel, a_read_blocks_until_the_deadline)
{
	__u64 deadline = now_ns() + 50 * MSEC;
	struct twheel_event ev;

	ASSERT_EQ(0, arm_at(self->fd, 1, deadline, 9));
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_LE(deadline, now_ns());
	EXPECT_GE(deadline + LATE, now_ns());
	EXPECT_EQ(9, ev.cookie);
}

struct sleeper {
	pthread_t thread;
	pid_t tid;
	int fd;
	int epoll;
	int ret;
	int error;
	struct twheel_event ev;
	long long switches;
};

static void *read_one(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	s->ret = read(s->fd, &s->ev, sizeof(s->ev));
	s->error = errno;
	__atomic_store_n(&s->tid, -1, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_done(struct sleeper *s)
{
	return __atomic_load_n(&s->tid, __ATOMIC_ACQUIRE) == -1;
}

static long long switches(struct sleeper *s)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", s->tid);
	return file_value(path, "\nvoluntary_ctxt_switches:\t");
}

/* What epoll_wait() calls: newer processors have only the call with a mask of signals. */
#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait
#endif

/* Does the thread sleep in the call? */
static bool is_asleep(struct sleeper *s)
{
	pid_t tid = __atomic_load_n(&s->tid, __ATOMIC_ACQUIRE);
	char path[64], text[1024];

	if (tid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	/* "running", or the number of the call it sleeps in. */
	if (read_file(path, text, sizeof(text)) < 0)
		return false;
	return atoi(text) == (s->epoll ? SYS_epoll_wait : SYS_read) &&
	       text[0] >= '0' && text[0] <= '9';
}

static bool wait_asleep(struct sleeper *s, int nr)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	int i = 0;

	while (i < nr && now_ns() < limit) {
		if (is_asleep(&s[i]))
			i++;
		else
			sleep_until(now_ns() + MSEC);
	}
	for (i = 0; i < nr; i++)
		s[i].switches = switches(&s[i]);
	return i == nr;
}

static bool wait_done(struct sleeper *s, int nr, int want)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	int i, n;

	do {
		for (i = 0, n = 0; i < nr; i++)
			n += is_done(&s[i]);
		if (n >= want)
			return n == want;
		sleep_until(now_ns() + MSEC);
	} while (now_ns() < limit);
	return false;
}

static void on_signal(int sig)
{
}

static void handle_signal(int flags)
{
	struct sigaction sa = {
		.sa_handler = on_signal,
		.sa_flags = flags,
	};

	sigaction(SIGUSR1, &sa, NULL);
}

TEST_F(wheel, a_signal_interrupts_a_read_that_waits)
{
	struct sleeper s = { .fd = self->fd };
	struct twheel_event ev;

	handle_signal(0);
	/* With nothing armed a read blocks as well.  No storm: one signal, and in the call. */
	ASSERT_EQ(0, pthread_create(&s.thread, NULL, read_one, &s));
	ASSERT_TRUE(wait_asleep(&s, 1));
	ASSERT_EQ(0, pthread_kill(s.thread, SIGUSR1));
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(-1, s.ret);
	EXPECT_EQ(EINTR, s.error);

	/* A later event is there for the next read. */
	ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
	EXPECT_EQ(1, wheel_read(self->fd, &ev, 1));
}

/* What TWHEEL_STORM makes of all tests, and here without it. */
TEST_F(wheel, a_storm_of_signals_changes_no_result)
{
	struct sleeper s[4] = {};
	__u64 limit = now_ns() + NEVER_MS * MSEC, deadline;
	int i;

	if (!storm_usec) {
		storm_usec = 200;
		storm_begin();
	}
	while (!__atomic_load_n(&storm_hits, __ATOMIC_RELAXED))
		ASSERT_GT(limit, now_ns());
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		s[i].fd = self->fd;
		ASSERT_EQ(0, thread_start(&s[i].thread, read_one, &s[i]));
	}
	deadline = now_ns() + 200 * MSEC;
	for (i = 0; i <= ARRAY_SIZE(s); i++)
		ASSERT_EQ(0, arm_at(self->fd, i, deadline, 0));
	/* The one that nobody reads. */
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, NEVER_MS));
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		ASSERT_EQ(0, pthread_join(s[i].thread, NULL));
		EXPECT_EQ(sizeof(s[i].ev), s[i].ret);
		EXPECT_EQ(deadline, s[i].ev.deadline);
		EXPECT_LE(deadline, s[i].ev.fired);
	}
	/* Each of five threads, in 200 ms; a slow machine merges them. */
	EXPECT_LT(50, storm_hits);
}

TEST_F(wheel, a_read_that_waits_is_restarted)
{
	struct sleeper s = { .fd = self->fd };

	handle_signal(SA_RESTART);
	ASSERT_EQ(0, thread_start(&s.thread, read_one, &s));
	ASSERT_TRUE(wait_asleep(&s, 1));
	ASSERT_EQ(0, pthread_kill(s.thread, SIGUSR1));
	ASSERT_EQ(0, arm_in(self->fd, 1, 20 * MSEC, 6));
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(sizeof(s.ev), s.ret);
	EXPECT_EQ(6, s.ev.cookie);
}

TEST_F(wheel, a_read_returns_what_there_is)
{
	struct twheel_event ev[8];

	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	ASSERT_EQ(0, arm_at(self->fd, 2, 1, 0));
	/* It does not wait for the buffer to be full. */
	EXPECT_EQ(1, wheel_read(self->fd, ev, 8));
}

TEST_F(wheel, a_sleeping_reader_sees_what_is_armed_later)
{
	struct sleeper s = { .fd = self->fd };

	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 1));
	ASSERT_EQ(0, thread_start(&s.thread, read_one, &s));
	ASSERT_TRUE(wait_asleep(&s, 1));
	/* Sooner than all that was armed; then due at once. */
	ASSERT_EQ(0, arm_in(self->fd, 2, 20 * MSEC, 2));
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(sizeof(s.ev), s.ret);
	EXPECT_EQ(2, s.ev.cookie);

	s = (struct sleeper){ .fd = self->fd };
	ASSERT_EQ(0, thread_start(&s.thread, read_one, &s));
	ASSERT_TRUE(wait_asleep(&s, 1));
	ASSERT_EQ(0, arm_at(self->fd, 3, 1, 3));
	ASSERT_EQ(0, pthread_join(s.thread, NULL));
	EXPECT_EQ(3, s.ev.cookie);
}

TEST_F(wheel, one_event_wakes_one_reader)
{
	struct sleeper s[4] = {};
	int i;

	handle_signal(0);
	/* Without a storm: each time that one wakes is counted. */
	for (i = 0; i < 4; i++) {
		s[i].fd = self->fd;
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, read_one, &s[i]));
	}
	ASSERT_TRUE(wait_asleep(s, 4));
	ASSERT_EQ(0, arm_in(self->fd, 1, 10 * MSEC, 1));
	ASSERT_TRUE(wait_done(s, 4, 1));
	sleep_until(now_ns() + 20 * MSEC);
	for (i = 0; i < 4; i++) {
		if (is_done(&s[i]))
			continue;
		/* It slept on: it did not even look. */
		EXPECT_TRUE(is_asleep(&s[i]));
		EXPECT_EQ(s[i].switches, switches(&s[i]));
		pthread_kill(s[i].thread, SIGUSR1);
	}
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_join(s[i].thread, NULL));
}

TEST_F(wheel, a_read_that_leaves_events_wakes_the_next_reader)
{
	enum { NR = 8 };
	struct sleeper s[NR] = {};
	struct twheel_op ops[NR] = {};
	__u64 deadline;
	bool seen[NR] = {};
	int i;

	for (i = 0; i < NR; i++) {
		s[i].fd = self->fd;
		ASSERT_EQ(0, thread_start(&s[i].thread, read_one, &s[i]));
	}
	ASSERT_TRUE(wait_asleep(s, NR));
	/* All in one batch: the wheel wakes once, the readers each other. */
	deadline = now_ns() + 20 * MSEC;
	for (i = 0; i < NR; i++) {
		ops[i].opcode = TWHEEL_OP_ARM;
		ops[i].deadline = deadline;
		ops[i].id = i;
	}
	ASSERT_EQ(NR, wheel_submit(self->fd, ops, NR, NULL));
	ASSERT_TRUE(wait_done(s, NR, NR));
	for (i = 0; i < NR; i++) {
		ASSERT_EQ(0, pthread_join(s[i].thread, NULL));
		ASSERT_EQ(sizeof(s[i].ev), s[i].ret);
		EXPECT_FALSE(seen[s[i].ev.id]);
		seen[s[i].ev.id] = true;
	}
}

/* poll */

TEST_F(wheel, poll_tells_of_events_and_nothing_else)
{
	struct twheel_event ev[2];

	EXPECT_EQ(0, wheel_poll(self->fd, 0));
	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	EXPECT_EQ(0, wheel_poll(self->fd, 0));
	ASSERT_EQ(0, arm_in(self->fd, 2, 10 * MSEC, 0));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, NEVER_MS));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 0));
	ASSERT_EQ(0, arm_at(self->fd, 3, 1, 0));
	ASSERT_EQ(1, wheel_read(self->fd, ev, 1));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 0));
	ASSERT_EQ(1, wheel_read(self->fd, ev, 1));
	EXPECT_EQ(0, wheel_poll(self->fd, 0));
}

TEST_F(wheel, poll_wakes_at_the_deadline)
{
	__u64 deadline = now_ns() + 100 * MSEC;

	/* Level by level: above the lowest one of a default wheel. */
	ASSERT_EQ(0, arm_at(self->fd, 1, deadline, 0));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, NEVER_MS));
	EXPECT_LE(deadline, now_ns());
	EXPECT_GE(deadline + LATE, now_ns());
}

/* epoll */

static int epoll_on(int fd, __u32 events)
{
	struct epoll_event e = { .events = events };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	if (ep < 0)
		return ep;
	return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) ? -1 : ep;
}

TEST_F(wheel, epoll_tells_of_unread_events_again)
{
	int ep = epoll_on(self->fd, EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLPRI);
	struct twheel_event ev;
	int i;

	ASSERT_LE(0, ep);
	EXPECT_EQ(0, epoll_get(ep, 0));
	ASSERT_EQ(0, arm_in(self->fd, 1, 5 * MSEC, 0));
	ASSERT_EQ(0, arm_in(self->fd, 2, 5 * MSEC, 0));
	ASSERT_TRUE(wait_expired(self->fd, 2));
	/* As long as there is an event. */
	for (i = 0; i < 3; i++)
		EXPECT_EQ(EPOLLIN | EPOLLRDNORM, epoll_get(ep, NEVER_MS));
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(EPOLLIN | EPOLLRDNORM, epoll_get(ep, NEVER_MS));
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(0, epoll_get(ep, 0));
	/* A cancel can take the reason away, too. */
	ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
	EXPECT_EQ(EPOLLIN | EPOLLRDNORM, epoll_get(ep, NEVER_MS));
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, 1));
	EXPECT_EQ(0, epoll_get(ep, 0));
	close(ep);
}

TEST_F(wheel, epoll_edge_tells_of_each_batch)
{
	int ep = epoll_on(self->fd, EPOLLIN | EPOLLET);
	struct twheel_event ev[8];
	int i;

	ASSERT_LE(0, ep);
	/* Nothing is ever read here: still each expiry is a new edge. */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, arm_in(self->fd, i, 10 * MSEC, 0));
		EXPECT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS))
			TH_LOG("timer %d", i);
		EXPECT_EQ(0, epoll_get(ep, 20))
			TH_LOG("timer %d", i);
	}
	/* One that is due at once is no different. */
	ASSERT_EQ(0, arm_at(self->fd, 3, 1, 0));
	EXPECT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS));
	EXPECT_EQ(0, epoll_get(ep, 20));
	EXPECT_EQ(4, wheel_read(self->fd, ev, 8));
	/* After draining, the usual edge. */
	ASSERT_EQ(0, arm_in(self->fd, 0, 10 * MSEC, 0));
	EXPECT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS));
	close(ep);
}

TEST_F(wheel, epoll_oneshot_tells_once)
{
	int ep = epoll_on(self->fd, EPOLLIN | EPOLLONESHOT);
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
	EXPECT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS));
	ASSERT_EQ(0, arm_at(self->fd, 2, 1, 0));
	EXPECT_EQ(0, epoll_get(ep, 20));
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_MOD, self->fd, &e));
	EXPECT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS));
	close(ep);
}

TEST_F(wheel, a_batch_wakes_once)
{
	enum { NR = 1000 };
	int ep = epoll_on(self->fd, EPOLLIN | EPOLLET);
	struct twheel_op *ops = calloc(NR, sizeof(*ops));
	struct twheel_stats s;
	__u64 deadline = now_ns() + 100 * MSEC;
	int i, wakeups = 0;

	ASSERT_LE(0, ep);
	for (i = 0; i < NR; i++) {
		ops[i].opcode = TWHEEL_OP_ARM;
		ops[i].deadline = deadline;
		ops[i].id = i;
	}
	ASSERT_EQ(NR, wheel_submit(self->fd, ops, NR, NULL));
	do {
		ASSERT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS));
		wakeups++;
		ASSERT_EQ(0, wheel_stats(self->fd, &s));
	} while (s.expired < NR);
	/* Passes are of a few dozen timers; not one wake-up for each timer. */
	EXPECT_GE(NR / 10, wakeups);
	close(ep);
}

static void *epoll_and_read_one(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	s->ret = -ETIME;
	if (epoll_get(s->epoll, NEVER_MS) == EPOLLIN)
		s->ret = wheel_read(s->fd, &s->ev, 1);
	__atomic_store_n(&s->tid, -1, __ATOMIC_RELEASE);
	return NULL;
}

FIXTURE(exclusive) {
	int fd;
	struct sleeper s[4];
};

FIXTURE_VARIANT(exclusive) {
	__u32 events;
};

FIXTURE_VARIANT_ADD(exclusive, level) { .events = EPOLLIN | EPOLLEXCLUSIVE };
FIXTURE_VARIANT_ADD(exclusive, edge) {
	.events = EPOLLIN | EPOLLEXCLUSIVE | EPOLLET
};

FIXTURE_SETUP(exclusive)
{
	int i;

	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	for (i = 0; i < 4; i++) {
		self->s[i].fd = self->fd;
		self->s[i].epoll = epoll_on(self->fd, variant->events);
		ASSERT_LT(0, self->s[i].epoll);
	}
}

FIXTURE_TEARDOWN(exclusive)
{
	close(self->fd);
}

TEST_F(exclusive, each_event_finds_a_waiter)
{
	struct twheel_op ops[4] = {};
	bool seen[4] = {};
	__u64 deadline;
	int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, thread_start(&self->s[i].thread, epoll_and_read_one, &self->s[i]));
	ASSERT_TRUE(wait_asleep(self->s, 4));
	deadline = now_ns() + 20 * MSEC;
	for (i = 0; i < 4; i++) {
		ops[i].opcode = TWHEEL_OP_ARM;
		ops[i].deadline = deadline;
		ops[i].id = i;
	}
	ASSERT_EQ(4, wheel_submit(self->fd, ops, 4, NULL));
	/* One batch, one wake-up; each leaves the rest to the next. */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(self->s[i].thread, NULL));
		ASSERT_EQ(1, self->s[i].ret)
			TH_LOG("waiter %d", i);
		EXPECT_FALSE(seen[self->s[i].ev.id]);
		seen[self->s[i].ev.id] = true;
	}
}

TEST_F(exclusive, one_event_wakes_one_waiter)
{
	int i, awake = 0;

	/* Without a storm: each time that one wakes is counted. */
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&self->s[i].thread, NULL,
					    epoll_and_read_one, &self->s[i]));
	ASSERT_TRUE(wait_asleep(self->s, 4));
	ASSERT_EQ(0, arm_in(self->fd, 1, 10 * MSEC, 0));
	ASSERT_TRUE(wait_done(self->s, 4, 1));
	sleep_until(now_ns() + 20 * MSEC);
	for (i = 0; i < 4; i++) {
		if (is_done(&self->s[i]))
			awake++;
		else
			EXPECT_EQ(self->s[i].switches, switches(&self->s[i]));
	}
	EXPECT_EQ(1, awake);
	/*
	 * One each for the others, so that they end.  One after the other: who leaves
	 * an event to the next wakes them, and so does who arms it.
	 */
	for (i = 2; i < 5; i++) {
		ASSERT_EQ(0, arm_at(self->fd, i, 1, 0));
		ASSERT_TRUE(wait_done(self->s, 4, i));
	}
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(self->s[i].thread, NULL));
		EXPECT_EQ(1, self->s[i].ret);
	}
}

/* A process that waits for a wheel can be killed, and ends when one of its threads exits. */
FIXTURE(killed) {
	int fd;
};

FIXTURE_VARIANT(killed) {
	bool polls;
	bool exits;
};

FIXTURE_VARIANT_ADD(killed, read) { .polls = false };
FIXTURE_VARIANT_ADD(killed, read_beside_exit) { .exits = true };
FIXTURE_VARIANT_ADD(killed, poll) { .polls = true };
FIXTURE_VARIANT_ADD(killed, poll_beside_exit) { .polls = true, .exits = true };

FIXTURE_SETUP(killed)
{
	self->fd = wheel_open(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(killed)
{
	close(self->fd);
}

static void *wait_in_read(void *fd)
{
	struct twheel_event ev;

	for (;;)
		wheel_read(*(int *)fd, &ev, 1);
	return NULL;
}

static void *wait_in_poll(void *fd)
{
	for (;;)
		wheel_poll(*(int *)fd, NEVER_MS);
	return NULL;
}

TEST_F(killed, a_waiter_that_is_killed_dies_at_once)
{
	void *(*how)(void *fd) = variant->polls ? wait_in_poll : wait_in_read;
	__u64 start, end = 0;
	pthread_t thread;
	pid_t pid;

	pid = fork();
	if (!pid) {
		/* A user without any other wheel. */
		if (!getuid())
			be(BOB);
		if (!variant->exits)
			how(&self->fd);
		CHILD_CHECK(!pthread_create(&thread, NULL, how, &self->fd));
		sleep_until(now_ns() + 100 * MSEC);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	sleep_until(now_ns() + 100 * MSEC);
	if (!variant->exits)
		kill(pid, SIGKILL);
	for (start = now_ns(); !end && now_ns() < start + 5 * SEC;) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			end = now_ns();
		sleep_until(now_ns() + MSEC);
	}
	EXPECT_LT(0, end);
}

/* One thread polls and finds the event, so another that sleeps in poll() is woken. */
TEST(a_poll_that_finds_an_event_wakes_others)
{
	int fd = wheel_open(O_NONBLOCK);
	struct caller poller;
	struct twheel_event ev;

	ASSERT_LE(0, fd);
	for (int i = 0; i < 50; i++) {
		poller = (struct caller){ .call = call_poll, .fd = fd };
		ASSERT_EQ(0, caller_start(&poller));
		ASSERT_TRUE(caller_asleep(&poller));
		ASSERT_EQ(0, arm_in(fd, 1, 3 * MSEC, 0));
		while (!wheel_poll(fd, 0))
			;
		ASSERT_TRUE(caller_done(&poller, 5000))
			TH_LOG("round %d", i);
		ASSERT_EQ(0, pthread_join(poller.thread, NULL));
		EXPECT_EQ(POLLIN | POLLRDNORM, poller.ret);
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
	}
	close(fd);
}

static void *read_an_event(void *fd)
{
	static struct twheel_event ev;

	return wheel_read(*(int *)fd, &ev, 1) == 1 ? &ev : NULL;
}

/* Two events come at the same time for two readers, and the copy of one takes long. */
TEST(a_reader_is_woken_beside_one_whose_copy_is_held_up)
{
	struct caller slow = { .call = call_read };
	struct held held;
	pthread_t other;
	void *event;
	int fd = wheel_open(0);
	__u64 due;

	if (!held_open(&held))
		SKIP(return, NO_USERFAULTFD);
	ASSERT_LE(0, fd);
	slow.fd = fd;
	slow.memory = held.page;
	slow.nr = 1;
	due = now_ns() + 300 * MSEC;
	ASSERT_EQ(0, arm_at(fd, 1, due, 0));
	ASSERT_EQ(0, arm_at(fd, 2, due, 0));
	/* The first who sleeps is the first to be woken. */
	ASSERT_EQ(0, caller_start(&slow));
	ASSERT_TRUE(caller_asleep(&slow));
	ASSERT_EQ(0, pthread_create(&other, NULL, read_an_event, &fd));
	ASSERT_TRUE(held_wait(&held));
	ASSERT_EQ(0, pthread_join(other, &event));
	EXPECT_NE(NULL, event);
	EXPECT_FALSE(caller_done(&slow, 0));
	EXPECT_EQ(0, held_let(&held));
	EXPECT_TRUE(caller_done(&slow, NEVER_MS));
	held_close(&held);
	close(fd);
}

/* How many threads io_uring has made to sleep for us. */
static int uring_workers(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *d;
	char path[300], comm[32];
	int n = 0;

	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		if (read_file(path, comm, sizeof(comm)) > 0 &&
		    !strncmp(comm, "iou-wrk", 7))
			n++;
	}
	if (dir)
		closedir(dir);
	return dir ? n : -1;
}

FIXTURE(uring) {
	int fd;
	struct uring ring;
	struct twheel_event ev[4];
	struct io_uring_sqe read, poll;
};

FIXTURE_SETUP(uring)
{
	self->fd = wheel_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, uring_open(&self->ring));
	self->read = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.fd = self->fd,
		.off = ~0ULL,
		.addr = (uintptr_t)self->ev,
		.len = sizeof(self->ev),
		.user_data = 1,
	};
	self->poll = (struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD,
		.fd = self->fd,
		/* The ABI has its halves swapped on big-endian processors. */
		.poll32_events = htons(1) == 1 ? POLLIN << 16 : POLLIN,
		.user_data = 2,
	};
}

FIXTURE_TEARDOWN(uring)
{
	uring_close(&self->ring);
	close(self->fd);
}

TEST_F(uring, uring_read_waits_without_a_worker)
{
	struct io_uring_cqe cqe;
	__u64 deadline;

	ASSERT_EQ(0, uring_submit(&self->ring, &self->read));
	EXPECT_FALSE(uring_peek(&self->ring, &cqe));
	EXPECT_EQ(0, uring_workers());
	deadline = now_ns() + 30 * MSEC;
	ASSERT_EQ(0, arm_at(self->fd, 1, deadline, 5));
	ASSERT_TRUE(uring_wait(&self->ring, &cqe));
	EXPECT_LE(deadline, now_ns());
	EXPECT_EQ(1, cqe.user_data);
	EXPECT_EQ(sizeof(self->ev[0]), cqe.res);
	EXPECT_EQ(5, self->ev[0].cookie);
	EXPECT_EQ(0, uring_workers());
}

TEST_F(uring, uring_read_returns_what_is_there)
{
	struct io_uring_cqe cqe;

	ASSERT_EQ(0, arm_at(self->fd, 1, 1, 1));
	ASSERT_EQ(0, arm_at(self->fd, 2, 1, 2));
	ASSERT_TRUE(wait_expired(self->fd, 2));
	ASSERT_EQ(0, uring_submit(&self->ring, &self->read));
	/* At once, in the call. */
	ASSERT_TRUE(uring_peek(&self->ring, &cqe));
	EXPECT_EQ(2 * sizeof(self->ev[0]), cqe.res);
	EXPECT_EQ(3, self->ev[0].cookie + self->ev[1].cookie);
	EXPECT_EQ(0, uring_workers());
}

TEST_F(uring, uring_read_that_may_not_wait_does_not)
{
	struct io_uring_cqe cqe;

	self->read.rw_flags = RWF_NOWAIT;
	ASSERT_EQ(0, uring_submit(&self->ring, &self->read));
	ASSERT_TRUE(uring_wait(&self->ring, &cqe));
	EXPECT_EQ(-EAGAIN, cqe.res);
	EXPECT_EQ(0, uring_workers());
}

TEST_F(uring, uring_read_of_a_nonblocking_file_waits_without_a_worker)
{
	struct io_uring_cqe cqe;

	/* io_uring itself polls for it: the read waits, but no thread does. */
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, uring_submit(&self->ring, &self->read));
	EXPECT_FALSE(uring_peek(&self->ring, &cqe));
	ASSERT_EQ(0, arm_in(self->fd, 1, 20 * MSEC, 3));
	ASSERT_TRUE(uring_wait(&self->ring, &cqe));
	EXPECT_EQ(sizeof(self->ev[0]), cqe.res);
	EXPECT_EQ(3, self->ev[0].cookie);
	EXPECT_EQ(0, uring_workers());
}

TEST_F(uring, uring_read_that_is_cancelled_takes_no_event)
{
	struct io_uring_sqe cancel = {
		.opcode = IORING_OP_ASYNC_CANCEL,
		.fd = -1,
		.addr = 1,
		.user_data = 3,
	};
	struct io_uring_cqe cqe;
	int i;

	ASSERT_EQ(0, uring_submit(&self->ring, &self->read));
	ASSERT_EQ(0, uring_submit(&self->ring, &cancel));
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(uring_wait(&self->ring, &cqe));
		EXPECT_EQ(cqe.user_data == 1 ? -ECANCELED : 0, cqe.res);
	}
	ASSERT_EQ(0, arm_at(self->fd, 1, 1, 1));
	EXPECT_EQ(1, wheel_read(self->fd, self->ev, 4));
}

/*
 * A read that has stale events in its way works for a while.  What else the ring completes
 * meanwhile is news for the task, as a signal would be, but it is none: the read waits on.
 */
TEST_F(uring, uring_read_waits_while_other_requests_complete)
{
	struct __kernel_timespec past = { .tv_nsec = 1 };
	struct io_uring_sqe timeout = {
		.opcode = IORING_OP_TIMEOUT,
		.fd = -1,
		.addr = (uintptr_t)&past,
		.len = 1,
		.timeout_flags = IORING_TIMEOUT_ABS,
		.user_data = 2,
	};
	struct shared s = { .fd = self->fd };
	const unsigned int others = 4;
	struct io_uring_cqe cqe;

	ASSERT_EQ(0, leave_stale(&s, 4096));
	for (unsigned int i = 0; i < others; i++)
		uring_queue(&self->ring, &timeout);
	uring_queue(&self->ring, &self->read);
	ASSERT_EQ(0, uring_enter(&self->ring, others + 1));
	for (unsigned int i = 0; i < others; i++) {
		ASSERT_TRUE(uring_wait(&self->ring, &cqe));
		ASSERT_EQ(2, cqe.user_data) TH_LOG("the read: %d", cqe.res);
	}
	ASSERT_EQ(0, arm_in(self->fd, 1, MSEC, 7));
	ASSERT_TRUE(uring_wait(&self->ring, &cqe));
	EXPECT_EQ(1, cqe.user_data);
	EXPECT_EQ(sizeof(self->ev[0]), cqe.res);
	EXPECT_EQ(7, self->ev[0].cookie);
}

TEST_F(uring, uring_reads_get_an_event_each)
{
	struct io_uring_cqe cqe;
	bool seen[4] = {};
	int i;

	for (i = 0; i < 4; i++) {
		self->read.addr = (uintptr_t)&self->ev[i];
		self->read.len = sizeof(self->ev[i]);
		self->read.user_data = i;
		ASSERT_EQ(0, uring_submit(&self->ring, &self->read));
	}
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, arm_in(self->fd, i, 20 * MSEC, i));
	for (i = 0; i < 4; i++) {
		ASSERT_TRUE(uring_wait(&self->ring, &cqe));
		ASSERT_EQ(sizeof(self->ev[0]), cqe.res);
		EXPECT_FALSE(seen[self->ev[cqe.user_data].id]);
		seen[self->ev[cqe.user_data].id] = true;
	}
	EXPECT_EQ(0, uring_workers());
}

TEST_F(uring, uring_poll_tells_once)
{
	struct io_uring_cqe cqe;

	ASSERT_EQ(0, uring_submit(&self->ring, &self->poll));
	EXPECT_FALSE(uring_peek(&self->ring, &cqe));
	ASSERT_EQ(0, arm_in(self->fd, 1, 20 * MSEC, 0));
	ASSERT_TRUE(uring_wait(&self->ring, &cqe));
	EXPECT_EQ(2, cqe.user_data);
	EXPECT_TRUE(cqe.res & POLLIN);
	EXPECT_EQ(0, cqe.res & (POLLERR | POLLHUP));
	EXPECT_EQ(0, uring_workers());
}

TEST_F(uring, uring_poll_tells_again_and_again)
{
	struct io_uring_cqe cqe;
	int i;

	self->poll.len = IORING_POLL_ADD_MULTI;
	ASSERT_EQ(0, uring_submit(&self->ring, &self->poll));
	/* Edge by edge, whether it is read or not. */
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, arm_in(self->fd, i, 10 * MSEC, 0));
		ASSERT_TRUE(uring_wait(&self->ring, &cqe));
		EXPECT_TRUE(cqe.res & POLLIN);
		EXPECT_TRUE(cqe.flags & IORING_CQE_F_MORE);
	}
	EXPECT_EQ(3, wheel_read(self->fd, self->ev, 4));
	EXPECT_EQ(0, uring_workers());
}

TEST_F(uring, uring_ends_with_a_read_under_way)
{
	struct io_uring_sqe hold = { .opcode = IORING_OP_POLL_ADD };
	struct uring ring;
	int ends[2];

	/* A ring ends in its own time: when its end of this pipe is closed. */
	ASSERT_EQ(0, pipe(ends));
	hold.fd = ends[1];
	ASSERT_EQ(0, uring_open(&ring));
	ASSERT_EQ(0, uring_submit(&ring, &self->read));
	ASSERT_EQ(0, uring_submit(&ring, &hold));
	close(ends[1]);
	EXPECT_EQ(0, wheel_poll(ends[0], 0));
	uring_close(&ring);
	ASSERT_EQ(POLLHUP, wheel_poll(ends[0], NEVER_MS));
	close(ends[0]);
	/* Now nobody else takes the wheel's events. */
	ASSERT_EQ(0, arm_in(self->fd, 1, 5 * MSEC, 0));
	ASSERT_EQ(0, arm_in(self->fd, 2, 10 * MSEC, 7));
	ASSERT_EQ(2, collect(self->fd, self->ev, 2));
	EXPECT_EQ(7, self->ev[1].cookie);
}

TEST_HARNESS_MAIN
