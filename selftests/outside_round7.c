// SPDX-License-Identifier: GPL-2.0
/*
 * Stores beside calls, edges behind events that nobody reads, clocks that are set back, and the
 * part of a CPU that interrupts take.
 */
#include "beside.h"
#include "outside.h"

struct storer {
	pthread_t		thread;
	struct twheel_word	*word;
	bool			stop;
};

/* Arm a timer and cancel it, by stores alone, at moments that wander. */
static void *store(void *arg)
{
	struct storer *s = arg;
	unsigned int wait = 1;

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		__u64 deadline = wait & 1 ? 0 : 1ULL << 60;

		__atomic_exchange_n(&s->word->deadline, deadline, __ATOMIC_SEQ_CST);
		wait = wait * 5 % 509;
		for (unsigned int i = 0; i < wait; i++)
			__asm__ volatile("");
	}
	return NULL;
}

/*
 * An arm that depends on whether the timer is armed is refused or not by the state that it
 * puts an end to, also if another thread stores deadlines meanwhile.
 */
TEST(only_new_and_only_move_hold_beside_stores)
{
	unsigned long armed[2] = {}, wrong = 0;
	struct storer storer = {};
	struct shared s;
	__u64 end;

	ASSERT_EQ(0, shared_open(&s, 256, 0));
	storer.word = s.word;
	ASSERT_EQ(0, thread_start(&storer.thread, store, &storer));
	end = now_ns() + 2 * SEC;
	for (unsigned int i = 0; now_ns() < end; i++) {
		struct twheel_op op = {
			.flags = i & 1 ? TWHEEL_ARM_NEW : TWHEEL_ARM_MOVE,
			.deadline = 1ULL << 59,
		};

		if (ioctl(s.fd, TWHEEL_IOC_ARM, &op))
			continue;
		armed[i & 1]++;
		wrong += (op.state == TWHEEL_STATE_IDLE) != (i & 1);
	}
	__atomic_store_n(&storer.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(storer.thread, NULL));
	TH_LOG("%lu moved, %lu armed, %lu of them wrongly", armed[0], armed[1], wrong);
	EXPECT_LT(0, armed[0]);
	EXPECT_LT(0, armed[1]);
	EXPECT_EQ(0, wrong);
	shared_close(&s);
}

/*
 * However many events wait that nobody reads, who sleeps in epoll hears of one more; within a
 * second, if they are more than a thousand.  Here all of them are stale.
 */
TEST(an_edge_comes_behind_any_number_of_events)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	enum { NR = 4000 };
	struct twheel_event ev;
	struct shared s;
	int epoll, n;

	ASSERT_EQ(0, shared_open(&s, 4096, 0));
	epoll = epoll_create1(0);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, s.fd, &event));
	ASSERT_EQ(0, arm_many(s.fd, NR, now_ns() + 5 * MSEC, 0));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	/* Whoever asks has all of them found. */
	sleep_until(now_ns() + 50 * MSEC);
	ASSERT_TRUE(wheel_poll(s.fd, 0) & POLLIN);
	epoll_get(epoll, 0);
	for (__u32 i = 0; i < NR; i++)
		cancel_by_store(&s, i);
	ASSERT_EQ(0, arm_in(s.fd, NR, 20 * MSEC, 1));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	n = wheel_read(s.fd, &ev, 1);
	/* One edge may have been for what is stale by now, all of which the read has dropped. */
	if (n == -EAGAIN) {
		ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
		n = wheel_read(s.fd, &ev, 1);
	}
	EXPECT_EQ(1, n);
	EXPECT_EQ(NR, ev.id);
	close(epoll);
	shared_close(&s);
}

/*
 * So does one behind timers that are due by what was stored before, in a wheel that stands still
 * for a second at a time.
 */
TEST(an_edge_comes_behind_what_is_not_due_any_more)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	enum { NR = 4000 };
	struct shared s;
	__u64 due;
	int epoll;

	ASSERT_EQ(0, shared_open(&s, 4096, SEC));
	epoll = epoll_create1(0);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, s.fd, &event));
	/* An event that nobody reads. */
	ASSERT_EQ(0, arm_at(s.fd, NR, 1, 0));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	/* All are cancelled by then. */
	due = now_ns() + LATE;
	ASSERT_EQ(0, arm_many(s.fd, NR, due, 0));
	for (__u32 i = 0; i < NR; i++)
		cancel_by_store(&s, i);
	ASSERT_EQ(0, arm_at(s.fd, NR + 1, due + SEC, 0));
	ASSERT_EQ(0, epoll_get(epoll, 0));
	EXPECT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	close(epoll);
	shared_close(&s);
}

/* Of a program that only counts, in shared memory: how far does it get? */
static __u64 counted_in(const __u64 *count, __u64 ns)
{
	__u64 before = __atomic_load_n(count, __ATOMIC_RELAXED);

	sleep_until(now_ns() + ns);
	return __atomic_load_n(count, __ATOMIC_RELAXED) - before;
}

/*
 * Wheels that want to be turned one after the other take an interrupt each.  What that takes
 * is softirq's time as well, of which all wheels together have an eighth.
 */
TEST(interrupts_are_spent_of_the_eighth)
{
	enum { NR = 200, TIMERS = 300 };
	const __u64 period = 4 * MSEC, time = 600 * MSEC;
	static int fd[NR];
	__u64 alone, beside, start, *count;
	pid_t hog;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	count = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, count);
	hog = fork();
	while (!hog)
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	ASSERT_LT(0, hog);
	alone = counted_in(count, time);
	start = now_ns() + 5 * SEC;
	for (unsigned int i = 0; i < NR; i++) {
		struct twheel_setup setup = { .tick = 100 * USEC + i };

		fd[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, fd[i]);
		/* One user each: the wheel is of who uses it first. */
		ASSERT_EQ(0, setresuid(BOB + i, BOB + i, 0));
		ASSERT_EQ(0, set_up(fd[i], &setup));
		ASSERT_EQ(0, arm_many(fd[i], TIMERS, start + i * period / NR, period));
		ASSERT_EQ(0, setresuid(0, 0, 0));
	}
	ASSERT_GT(start, now_ns());
	sleep_until(start + 100 * MSEC);
	beside = counted_in(count, time);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	TH_LOG("a hog loses %llu permille", 1000 - 1000 * beside / alone);
	EXPECT_LE(7 * alone, 8 * beside);
	EXPECT_GT(999 * alone, 1000 * beside);
	for (unsigned int i = 0; i < NR; i++)
		close(fd[i]);
}

/* A wall clock that is set back while an event waits, and forward again at the end. */
FIXTURE(set_back)
{
	struct shared s;
};

FIXTURE_VARIANT(set_back)
{
	bool words;
	int (*again)(struct shared *s, __u32 id, __u64 deadline);
};

static int by_the_word(struct shared *s, __u32 id, __u64 deadline)
{
	int ret = want(s, id, deadline);

	return ret < 0 ? ret : 0;
}

static int cancelled_by_a_store(struct shared *s, __u32 id, __u64 deadline)
{
	cancel_by_store(s, id);
	return by_the_word(s, id, deadline);
}

static int by_call(struct shared *s, __u32 id, __u64 deadline)
{
	return arm_at(s->fd, id, deadline, 0);
}

/* To extend a timer that is this thread's alone no more is needed. */
static int by_a_store_alone(struct shared *s, __u32 id, __u64 deadline)
{
	__atomic_store_n(&s->word[id].deadline, deadline, __ATOMIC_RELAXED);
	return 0;
}

static int not_at_all(struct shared *s, __u32 id, __u64 deadline)
{
	return 0;
}

FIXTURE_VARIANT_ADD(set_back, no_words_call) { false, by_call };
FIXTURE_VARIANT_ADD(set_back, no_words_as_it_is) { false, not_at_all };
FIXTURE_VARIANT_ADD(set_back, word) { true, by_the_word };
FIXTURE_VARIANT_ADD(set_back, cancel) { true, cancelled_by_a_store };
FIXTURE_VARIANT_ADD(set_back, call) { true, by_call };
FIXTURE_VARIANT_ADD(set_back, store) { true, by_a_store_alone };
FIXTURE_VARIANT_ADD(set_back, as_it_is) { true, not_at_all };

FIXTURE_SETUP(set_back)
{
	if (getuid())
		SKIP(return, "only root sets the clock");
	memset(&self->s, 0, sizeof(self->s));
	self->s.setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = CLOCK_REALTIME,
		.capacity = 256,
	};
	self->s.fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->s.fd);
	if (variant->words) {
		ASSERT_EQ(0, shared_set_up(&self->s));
		ASSERT_EQ(0, shared_map(&self->s));
	} else {
		ASSERT_EQ(0, set_up(self->s.fd, &self->s.setup));
	}
}

FIXTURE_TEARDOWN(set_back)
{
	shared_close(&self->s);
}

/*
 * An event waits, the clock is set back, and the timer is armed again for the deadline that
 * it had, or left as it is.  The deadline is to come once more, and until then the timer is
 * pending.
 */
TEST_F(set_back, the_same_deadline_comes_again)
{
	const __u64 back = 10 * SEC;
	__u64 deadline = clock_ns(CLOCK_REALTIME) + 20 * MSEC;
	struct twheel_event ev;
	int early, state;

	ASSERT_EQ(0, (variant->words ? by_the_word : by_call)(&self->s, 7, deadline));
	ASSERT_TRUE(wheel_poll(self->s.fd, NEVER_MS) & POLLIN);
	ASSERT_EQ(0, set_wall(deadline - back));
	EXPECT_EQ(0, variant->again(&self->s, 7, deadline));
	state = wheel_state(self->s.fd, 7);
	early = wheel_read(self->s.fd, &ev, 1);
	ASSERT_EQ(0, set_wall(deadline + MSEC));
	ASSERT_TRUE(wheel_poll(self->s.fd, NEVER_MS) & POLLIN);
	EXPECT_EQ(-EAGAIN, early);
	EXPECT_EQ(TWHEEL_STATE_PENDING, state);
	EXPECT_EQ(1, wheel_read(self->s.fd, &ev, 1));
}

/* Arm a timer, and leave it to the kernel which; returns that, or a negative errno. */
static int arm_any_in(int fd, __u64 ns)
{
	struct twheel_op op = {
		.flags = TWHEEL_ARM_RELATIVE, .deadline = ns, .id = TWHEEL_ID_ANY,
	};

	return wheel_arm(fd, &op) ?: (int)op.id;
}

/*
 * An id that the kernel has chosen is free when its event was read, until a deadline is stored
 * in its word: from then on it is not chosen again, though the call for it has yet to come.
 */
TEST(id_armed_by_a_store_is_not_chosen)
{
	struct twheel_event ev;
	__u64 deadline;
	struct shared s;
	int id, other;

	ASSERT_EQ(0, shared_open(&s, 256, 0));
	id = arm_any_in(s.fd, MSEC);
	ASSERT_LE(0, id);
	ASSERT_TRUE(wheel_poll(s.fd, NEVER_MS) & POLLIN);
	ASSERT_EQ(1, wheel_read(s.fd, &ev, 1));
	ASSERT_EQ(id, ev.id);
	deadline = now_ns() + 50 * MSEC;
	__atomic_exchange_n(&s.word[id].deadline, deadline, __ATOMIC_SEQ_CST);
	other = arm_any_in(s.fd, HOUR);
	EXPECT_LE(0, other);
	EXPECT_NE(id, other);
	EXPECT_EQ(deadline, wanted(&s, id));
	ASSERT_EQ(0, arm_stored(&s, id));
	ASSERT_TRUE(wheel_poll(s.fd, NEVER_MS) & POLLIN);
	ASSERT_EQ(1, wheel_read(s.fd, &ev, 1));
	EXPECT_EQ(id, ev.id);
	EXPECT_EQ(deadline, ev.deadline);
	shared_close(&s);
}

TEST_HARNESS_MAIN
