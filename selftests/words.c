// SPDX-License-Identifier: GPL-2.0
/*
 * Words: timers that are armed, moved and cancelled by a store.
 *
 * Bed: plain, storm, short
 */
#include "words_test.h"

#define CAPACITY	1024
#define WORDS_SIZE	(CAPACITY * sizeof(struct twheel_word))

FIXTURE(words) {
	struct shared s;
};

FIXTURE_SETUP(words)
{
	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
}

FIXTURE_TEARDOWN(words)
{
	shared_close(&self->s);
}

TEST_F(words, setup_makes_a_word_for_each_id)
{
	struct twheel_features f = {};
	__u32 id;

	ASSERT_EQ(0, wheel_ioctl(self->s.fd, TWHEEL_IOC_FEATURES, &f));
	EXPECT_TRUE(f.features & TWHEEL_FEATURE_WORDS);
	EXPECT_NE(0, self->s.setup.words_offset);
	for (id = 0; id < CAPACITY; id++)
		ASSERT_EQ(0, self->s.word[id].deadline | self->s.word[id].promise);
}

TEST_F(words, bad_mappings_are_refused)
{
	const struct {
		size_t		size;
		int		prot, flags;
		unsigned long	beyond;
		int		error;
	} bad[] = {
		{ PAGE, PROT_READ, MAP_PRIVATE, 0, EINVAL },
		{ PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, 0, EPERM },
		{ WORDS_SIZE + PAGE, PROT_READ, MAP_SHARED, 0, EINVAL },
		{ PAGE, PROT_READ, MAP_SHARED, WORDS_SIZE, EINVAL },
		{ 2 * PAGE, PROT_READ, MAP_SHARED, WORDS_SIZE - PAGE, EINVAL },
	};
	void *p;
	int i;

	for (i = 0; i < (int)(sizeof(bad) / sizeof(bad[0])); i++) {
		p = mmap(NULL, bad[i].size, bad[i].prot, bad[i].flags, self->s.fd,
			 self->s.setup.words_offset + bad[i].beyond);
		EXPECT_EQ(MAP_FAILED, p) TH_LOG("mapping %d", i);
		EXPECT_EQ(bad[i].error, errno) TH_LOG("mapping %d", i);
	}
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->s.fd, 0));
	EXPECT_EQ(EINVAL, errno);
	/* Nor can they be made executable later, or longer. */
	EXPECT_EQ(-1, mprotect(self->s.word, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap(self->s.word, WORDS_SIZE, 2 * WORDS_SIZE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
}

/* Setup has made none, and nothing makes them later. */
TEST_F(words, there_are_no_words_without_the_flag)
{
	struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = 300 };
	int fd = wheel_open(O_NONBLOCK);
	struct twheel_setup s = {};

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &s));
	EXPECT_EQ(0, s.flags & TWHEEL_SETUP_WORDS);
	EXPECT_EQ(0, s.words_offset);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd,
				   self->s.setup.words_offset));
	EXPECT_EQ(EINVAL, errno);
	/* Without a word there is nothing stored. */
	EXPECT_EQ(-ENOENT, wheel_arm(fd, &op));
	s = (struct twheel_setup){ .flags = TWHEEL_SETUP_WORDS };
	EXPECT_EQ(-EBUSY, set_up(fd, &s));
	close(fd);
}

TEST_F(words, words_are_refused_when_timers_are_armed)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_WORDS };
	int fd = wheel_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, arm_in(fd, 300, HOUR, 0));
	EXPECT_EQ(-EBUSY, set_up(fd, &s));
	close(fd);
}

/* Of each id, whole pages of them. */
TEST_F(words, words_are_mapped_to_the_last_id)
{
	static const __u32 capacity[] = { 1, 255, 256, 257, 1000 };

	for (int i = 0; i < (int)ARRAY_SIZE(capacity); i++) {
		struct twheel_setup s = {
			.flags = TWHEEL_SETUP_WORDS, .capacity = capacity[i],
		};
		struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = capacity[i] - 1 };
		size_t size = (capacity[i] * sizeof(struct twheel_word) + PAGE - 1) / PAGE * PAGE;
		int fd = wheel_open(O_NONBLOCK);
		struct twheel_word *word;
		struct twheel_event ev;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, set_up(fd, &s)) TH_LOG("%u timers", capacity[i]);
		EXPECT_EQ(TWHEEL_SETUP_WORDS, s.flags & TWHEEL_SETUP_WORDS);
		word = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, s.words_offset);
		ASSERT_NE(MAP_FAILED, word) TH_LOG("%u timers", capacity[i]);
		/* Not a page more, at either end. */
		EXPECT_EQ(MAP_FAILED, mmap(NULL, size + PAGE, PROT_READ, MAP_SHARED, fd,
					   s.words_offset));
		EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED, fd,
					   s.words_offset - PAGE));
		__atomic_store_n(&word[op.id].deadline, now_ns() + 5 * MSEC, __ATOMIC_SEQ_CST);
		ASSERT_EQ(0, wheel_arm(fd, &op)) TH_LOG("%u timers", capacity[i]);
		ASSERT_EQ(1, collect(fd, &ev, 1));
		EXPECT_EQ(capacity[i] - 1, ev.id);
		munmap(word, size);
		close(fd);
	}
}

/* Nobody keeps a page of them beyond the life of the wheel. */
TEST_F(words, words_can_not_be_pinned)
{
	struct iovec iov = { self->s.word, PAGE };
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	EXPECT_EQ(-1, vmsplice(ends[1], &iov, 1, SPLICE_F_NONBLOCK));
	EXPECT_EQ(EFAULT, errno);
	close(ends[0]);
	close(ends[1]);
}

/* A store may arm or cancel a timer at any time, so the kernel does not know which ids are free. */
TEST_F(words, words_leave_no_id_to_the_kernel)
{
	struct twheel_op op = { .deadline = 1, .id = TWHEEL_ID_ANY };

	EXPECT_EQ(-EOPNOTSUPP, wheel_arm(self->s.fd, &op));
}

TEST_F(words, words_cost_no_memory_when_not_mapped)
{
	struct twheel_setup setup = { .capacity = CAPACITY };
	struct twheel_stats with, without;
	int fd = wheel_open(O_NONBLOCK), id;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	for (id = 0; id < CAPACITY; id += 256)
		ASSERT_EQ(0, arm_in(fd, id, HOUR, 0));
	ASSERT_EQ(0, wheel_stats(fd, &without));
	ASSERT_EQ(0, wheel_stats(self->s.fd, &with));
	EXPECT_LE(without.memory + WORDS_SIZE, with.memory);
	close(fd);
}

TEST_F(words, a_store_arms)
{
	__u64 deadline = now_ns() + HOUR;
	struct twheel_event ev;

	/* The first takes a call, since the kernel is not looking. */
	EXPECT_EQ(1, want(&self->s, 7, deadline));
	EXPECT_NE(0, promise(&self->s, 7));
	EXPECT_LE(promise(&self->s, 7), deadline);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->s.fd, 7));
	/* So does one for which it would look too late. */
	deadline = now_ns() + 20 * MSEC;
	EXPECT_EQ(1, want(&self->s, 7, deadline));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(7, ev.id);
	EXPECT_EQ(deadline, ev.deadline);
	EXPECT_LE(deadline, ev.fired);
	EXPECT_GE(now_ns(), deadline);
	/* Reading it has taken it. */
	EXPECT_EQ(0, wanted(&self->s, 7));
	EXPECT_EQ(0, promise(&self->s, 7));
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_state(self->s.fd, 7));
}

TEST_F(words, a_store_extends)
{
	struct twheel_stats before, after;
	__u64 deadline = now_ns() + SEC;
	struct twheel_event ev;
	int i;

	ASSERT_EQ(1, want(&self->s, 7, deadline));
	ASSERT_EQ(0, wheel_stats(self->s.fd, &before));
	for (i = 0; i < 1000; i++) {
		deadline += 100 * USEC;
		ASSERT_EQ(0, want(&self->s, 7, deadline));
	}
	/* By a plain store, too: here is who takes the events. */
	deadline += MSEC;
	__atomic_store_n(&self->s.word[7].deadline, deadline, __ATOMIC_RELAXED);
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline, ev.deadline);
	EXPECT_LE(deadline, ev.fired);
	ASSERT_EQ(0, wheel_stats(self->s.fd, &after));
	EXPECT_EQ(before.arms, after.arms);
	EXPECT_EQ(before.fired + 1, after.fired);
}

TEST_F(words, a_store_that_shortens_needs_a_call)
{
	__u64 far = now_ns() + HOUR, deadline = now_ns() + 10 * MSEC;
	struct twheel_event ev;

	ASSERT_EQ(1, want(&self->s, 7, far));
	/* Later and sooner again, but not sooner than is looked: no call. */
	EXPECT_EQ(0, want(&self->s, 7, far + HOUR));
	EXPECT_EQ(0, want(&self->s, 7, far + MSEC));
	EXPECT_EQ(1, want(&self->s, 7, deadline));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline, ev.deadline);
}

TEST_F(words, a_store_cancels)
{
	__u64 deadline = now_ns() + 20 * MSEC;
	struct twheel_stats stats;
	struct twheel_event ev;

	ASSERT_EQ(1, want(&self->s, 7, deadline));
	cancel_by_store(&self->s, 7);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->s.fd, 7));
	/* Another one, to see the time pass. */
	ASSERT_EQ(1, want(&self->s, 8, deadline + 20 * MSEC));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(8, ev.id);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
	ASSERT_EQ(0, wheel_stats(self->s.fd, &stats));
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, promise(&self->s, 7));
}

TEST_F(words, stores_cancel_and_arm_again_without_a_call)
{
	__u64 deadline = now_ns() + 500 * MSEC;
	struct twheel_event ev;
	int i;

	ASSERT_EQ(1, want(&self->s, 7, deadline));
	for (i = 0; i < 100; i++) {
		cancel_by_store(&self->s, 7);
		ASSERT_EQ(0, want(&self->s, 7, deadline + i));
	}
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline + 99, ev.deadline);
}

TEST_F(words, an_event_that_waits_is_cancelled_by_a_store)
{
	struct twheel_event ev;

	ASSERT_EQ(1, want(&self->s, 7, now_ns() + MSEC));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_state(self->s.fd, 7));
	cancel_by_store(&self->s, 7);
	EXPECT_EQ(0, wheel_poll(self->s.fd, 0));
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->s.fd, 7));
}

TEST_F(words, an_event_that_waits_is_replaced_by_a_store)
{
	struct twheel_event ev;
	__u64 deadline;

	ASSERT_EQ(1, want(&self->s, 7, now_ns() + MSEC));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
	deadline = now_ns() + LATE;
	/* Nobody is looking any more. */
	EXPECT_EQ(1, want(&self->s, 7, deadline));
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline, ev.deadline);
}

TEST_F(words, a_read_sees_what_was_stored_without_a_call)
{
	struct twheel_event ev;
	__u64 deadline;

	ASSERT_EQ(1, want(&self->s, 7, now_ns() + MSEC));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
	deadline = now_ns() + LATE;
	/* Against the rules; but the event does not count, and that is noticed. */
	__atomic_store_n(&self->s.word[7].deadline, deadline, __ATOMIC_SEQ_CST);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline, ev.deadline);
}

TEST_F(words, stale_events_leave_no_holes)
{
	struct twheel_event ev[100];
	__u32 id;
	int n;

	for (id = 0; id < 100; id++)
		ASSERT_EQ(1, want(&self->s, id, 1));
	for (id = 0; id < 100; id += 3)
		cancel_by_store(&self->s, id);
	n = wheel_read(self->s.fd, ev, 100);
	ASSERT_EQ(66, n);
	while (n--)
		EXPECT_NE(0, ev[n].id % 3);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, ev, 1));
}

TEST_F(words, a_call_stores_too)
{
	struct twheel_event ev;
	__u64 deadline = now_ns() + HOUR;

	ASSERT_EQ(0, arm_at(self->s.fd, 7, deadline, 77));
	EXPECT_EQ(deadline, wanted(&self->s, 7));
	EXPECT_EQ(deadline, promise(&self->s, 7));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, 7));
	EXPECT_EQ(0, wanted(&self->s, 7));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->s.fd, 7));
	/* It keeps its cookie when a store arms it again, which takes a call: it had ended. */
	EXPECT_EQ(0, promise(&self->s, 7));
	EXPECT_EQ(1, want(&self->s, 7, deadline));
	EXPECT_EQ(1, want(&self->s, 7, 1));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(77, ev.cookie);
}

TEST_F(words, a_cancel_tells_what_was_stored)
{
	__u64 deadline = now_ns() + HOUR;

	ASSERT_EQ(1, want(&self->s, 7, deadline));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, 7));
	ASSERT_EQ(1, want(&self->s, 8, 1));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->s.fd, 8));
	cancel_by_store(&self->s, 7);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->s.fd, 7));
}

TEST_F(words, periods_are_stored_by_the_read)
{
	__u64 start = now_ns() + 10 * MSEC, next = start;
	struct twheel_event ev;
	int i;

	ASSERT_EQ(0, arm_every(self->s.fd, 7, start, 10 * MSEC, 0));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
		EXPECT_EQ(next, ev.deadline);
		next += (ev.overruns + 1) * 10 * MSEC;
		EXPECT_EQ(next, wanted(&self->s, 7));
	}
	cancel_by_store(&self->s, 7);
	sleep_until(next + 20 * MSEC);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
}

TEST_F(words, a_list_tells_what_is_stored)
{
	struct twheel_timer t[4];
	__u64 deadline = now_ns() + HOUR;

	ASSERT_EQ(1, want(&self->s, 3, deadline));
	ASSERT_EQ(0, want(&self->s, 3, deadline + 5));
	ASSERT_EQ(1, want(&self->s, 900, deadline + 1));
	ASSERT_EQ(1, want(&self->s, 5, deadline));
	cancel_by_store(&self->s, 5);
	ASSERT_EQ(2, list_all(self->s.fd, t, 4));
	EXPECT_EQ(3, t[0].id);
	EXPECT_EQ(deadline + 5, t[0].deadline);
	EXPECT_EQ(900, t[1].id);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, 3));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, 900));
	EXPECT_EQ(0, wanted(&self->s, 3));
	EXPECT_EQ(0, promise(&self->s, 3));
	EXPECT_EQ(0, promise(&self->s, 900));
	EXPECT_EQ(0, list_all(self->s.fd, t, 4));
}

TEST_F(words, words_outlive_their_mapping)
{
	__u64 deadline = now_ns() + 20 * MSEC;
	struct twheel_event ev;

	ASSERT_EQ(1, want(&self->s, 7, deadline));
	ASSERT_EQ(0, munmap(self->s.word, WORDS_SIZE));
	self->s.word = NULL;
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline, ev.deadline);
	/* A successor maps them again. */
	self->s.word = mmap(NULL, WORDS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->s.fd,
			    self->s.setup.words_offset);
	ASSERT_NE(MAP_FAILED, self->s.word);
	EXPECT_EQ(0, wanted(&self->s, 7));
}

TEST_F(words, words_are_shared_with_a_child)
{
	__u64 deadline = now_ns() + HOUR;
	struct twheel_event ev;
	int status;
	pid_t pid;

	ASSERT_EQ(1, want(&self->s, 7, deadline));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(want(&self->s, 7, deadline + 1) == 0 && want(&self->s, 8, 1) == 1 ? 0 : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(deadline + 1, wanted(&self->s, 7));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(8, ev.id);
}

TEST_F(words, words_move_with_mremap)
{
	struct twheel_word *to = mmap(NULL, WORDS_SIZE, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, to);
	ASSERT_EQ(1, want(&self->s, 7, now_ns() + HOUR));
	ASSERT_EQ(to, mremap(self->s.word, WORDS_SIZE, WORDS_SIZE,
			     MREMAP_MAYMOVE | MREMAP_FIXED, to));
	self->s.word = to;
	EXPECT_NE(0, promise(&self->s, 7));
}

TEST_F(words, any_number_may_stand_in_a_word)
{
	static const __u64 numbers[] = {
		1, 2, ~0ULL, ~0ULL - 1, 1ULL << 63, (1ULL << 63) - 1, (1ULL << 63) + 1,
		1ULL << 32, 999999, 1000000, 1000001,
	};
	struct twheel_event ev[16];
	struct twheel_timer t[16];
	unsigned int i, nr = sizeof(numbers) / sizeof(numbers[0]), due = 0;
	int n;

	/* The clock gets to 1 << 32 after 4.3 s: that number must not become due meanwhile. */
	sleep_until((1ULL << 32) + 1);
	for (i = 0; i < nr; i++) {
		ASSERT_LE(0, want(&self->s, i, numbers[i]));
		due += numbers[i] < now_ns();
	}
	ASSERT_EQ(1, want(&self->s, 500, now_ns() + 20 * MSEC));
	ASSERT_EQ(due, collect(self->s.fd, ev, due));
	ASSERT_EQ(1, collect(self->s.fd, ev, 1));
	EXPECT_EQ(500, ev[0].id);
	n = list_all(self->s.fd, t, 16);
	EXPECT_EQ(nr - due, n);
}

static void want_by_store(const struct shared *s, __u32 id, __u64 deadline)
{
	__atomic_store_n(&s->word[id].deadline, deadline, __ATOMIC_SEQ_CST);
}

/* A read that drops a stale event leaves the wheel queued for its timer. */
static int stale_then_later(struct __test_metadata *_metadata, struct shared *s, __u32 trigger)
{
	struct epoll_event e = { .events = EPOLLIN | trigger };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct twheel_event ev[2];
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
	EXPECT_EQ(3, ev[0].id);
	EXPECT_EQ(later, ev[0].deadline);
	EXPECT_LE(later, ev[0].fired);
	return close(ep);
}

TEST_F(words, a_timer_moved_behind_its_event_is_an_edge)
{
	ASSERT_EQ(0, stale_then_later(_metadata, &self->s, EPOLLET));
}

TEST_F(words, a_timer_moved_behind_its_event_is_a_level)
{
	ASSERT_EQ(0, stale_then_later(_metadata, &self->s, 0));
}

/* Once without, and once with a poll in between, which looks as well. */
TEST_F(words, a_timer_moved_to_the_past_is_readable_at_once)
{
	const __u64 now = now_ns();
	const __u64 deadlines[][2] = {
		{ 80, 90 },
		{ now - now / 2, now - now / 4 },
		{ now - 3 * TWHEEL_DEFAULT_TICK, now - 2 * TWHEEL_DEFAULT_TICK },
	};
	struct twheel_event ev[2];
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(deadlines); i++) {
		const __u64 *deadline = deadlines[i / 2];

		want_by_store(&self->s, 2, deadline[0]);
		ASSERT_EQ(0, arm_stored(&self->s, 2));
		want_by_store(&self->s, 2, deadline[1]);
		if (i % 2)
			EXPECT_TRUE(wheel_poll(self->s.fd, 0) & POLLIN);
		ASSERT_EQ(1, wheel_read(self->s.fd, ev, 2))
			TH_LOG("round %u", i);
		EXPECT_EQ(2, ev[0].id);
		EXPECT_EQ(deadline[1], ev[0].deadline);
		EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, ev, 2));
	}
}

/*
 * What a read has taken may turn out to be stale, and what is wanted instead may have passed as
 * well: a read that has room for it does not leave that behind.
 */
TEST(a_read_leaves_nothing_behind_that_is_due)
{
	enum { NR = 20 };
	struct twheel_event ev[2 * NR];
	struct shared s;

	ASSERT_EQ(0, shared_open(&s, 256, 0));
	for (int i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(s.fd, i, now_ns() - 10 * MSEC, 0));
	ASSERT_TRUE(wheel_poll(s.fd, NEVER_MS) & POLLIN);
	/* Later than they were; it is this thread that consumes them. */
	for (int i = 3; i < NR; i += 7)
		__atomic_store_n(&s.word[i].deadline, now_ns() - 5 * MSEC, __ATOMIC_RELAXED);
	EXPECT_EQ(NR, wheel_read(s.fd, ev, 2 * NR));
	EXPECT_EQ(-EAGAIN, wheel_read(s.fd, ev, 2 * NR));
	shared_close(&s);
}

/*
 * A count that has run out.
 */
FIXTURE(count) {
	struct shared s;
};

FIXTURE_TEARDOWN(count)
{
	shared_close(&self->s);
}

FIXTURE_SETUP(count)
{
}

/* Expirations until the one that says that it is the last; 0 if none does. */
static unsigned int read_expirations(struct shared *s, unsigned int most)
{
	struct twheel_event ev;
	unsigned int nr = 0;

	while (nr <= most && wheel_poll(s->fd, 2000) && wheel_read(s->fd, &ev, 1) == 1) {
		nr += 1 + ev.overruns;
		if (ev.flags & TWHEEL_EVENT_LAST)
			return nr;
	}
	return 0;
}

TEST_F(count, after_a_count_read_at_once_a_store_arms_once)
{
	struct twheel_event ev;
	__u64 deadline;

	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	/* All three are read in one. */
	deadline = now_ns();
	ASSERT_EQ(0, arm_every(self->s.fd, 7, deadline, 5 * MSEC, 3));
	sleep_until(deadline + 50 * MSEC);
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(2, ev.overruns);
	EXPECT_EQ(TWHEEL_EVENT_LAST, ev.flags);

	deadline = now_ns() + 10 * MSEC;
	ASSERT_LE(0, want(&self->s, 7, deadline));
	sleep_until(deadline + 50 * MSEC);
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline, ev.deadline);
	EXPECT_EQ(0, ev.overruns);
	EXPECT_EQ(TWHEEL_EVENT_LAST, ev.flags);
	EXPECT_EQ(0, wheel_poll(self->s.fd, 50));
}

TEST_F(count, after_a_count_read_by_periods_a_store_arms_once)
{
	struct twheel_event ev;
	__u64 deadline;
	int i;

	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	ASSERT_EQ(0, arm_every(self->s.fd, 7, now_ns(), 5 * MSEC, 3));
	EXPECT_EQ(3, read_expirations(&self->s, 10));
	for (i = 0; i < 3; i++) {
		deadline = now_ns() + 10 * MSEC;
		ASSERT_LE(0, want(&self->s, 7, deadline));
		ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
		EXPECT_EQ(deadline, ev.deadline);
		EXPECT_EQ(0, ev.overruns);
		EXPECT_EQ(TWHEEL_EVENT_LAST, ev.flags);
		EXPECT_EQ(0, wheel_poll(self->s.fd, 50));
	}
}

TEST_F(count, after_a_count_a_call_arms_once)
{
	struct twheel_event ev;

	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	ASSERT_EQ(0, arm_every(self->s.fd, 7, now_ns(), 5 * MSEC, 3));
	EXPECT_EQ(3, read_expirations(&self->s, 10));
	ASSERT_EQ(0, arm_at(self->s.fd, 7, 1, 0));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(TWHEEL_EVENT_LAST, ev.flags);
	EXPECT_EQ(0, wheel_poll(self->s.fd, 50));
}

/* An event that never counted has used up nothing. */
TEST_F(count, a_stale_event_uses_up_no_count)
{
	struct twheel_event ev;

	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	ASSERT_EQ(0, arm_every(self->s.fd, 7, now_ns(), 20 * MSEC, 2));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
	ASSERT_LE(0, want(&self->s, 7, now_ns() + HOUR));
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
	ASSERT_LE(0, want(&self->s, 7, now_ns() + MSEC));
	EXPECT_EQ(2, read_expirations(&self->s, 10));
}

/* And one that has counted did, though the timer was moved on since. */
TEST_F(count, an_event_that_counted_uses_up_the_count_of_a_moved_timer)
{
	struct twheel_event ev;

	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	ASSERT_EQ(0, arm_every(self->s.fd, 7, now_ns(), 20 * MSEC, 3));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(0, ev.flags & TWHEEL_EVENT_LAST);
	ASSERT_LE(0, want(&self->s, 7, now_ns() + HOUR));
	ASSERT_LE(0, want(&self->s, 7, now_ns() + 50 * MSEC));
	EXPECT_EQ(2 - ev.overruns, read_expirations(&self->s, 10));
}

TEST_HARNESS_MAIN
