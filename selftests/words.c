// SPDX-License-Identifier: GPL-2.0
/*
 * Words and the event ring: timers that are armed, moved and cancelled by a store.
 */
#include "words_test.h"

#define CAPACITY	1024
#define RING		256
#define WORDS_SIZE	(CAPACITY * sizeof(struct twheel_word))

FIXTURE(words) {
	struct shared s;
};

FIXTURE_SETUP(words)
{
	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0, 0));
}

FIXTURE_TEARDOWN(words)
{
	shared_close(&self->s);
}

TEST_F(words, are_there)
{
	struct twheel_features f = {};
	__u32 id;

	ASSERT_EQ(0, wheel_ioctl(self->s.fd, TWHEEL_IOC_FEATURES, &f));
	EXPECT_EQ(TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_RING,
		  f.features & (TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_RING));
	EXPECT_NE(0, self->s.setup.words_offset);
	EXPECT_EQ(0, self->s.setup.ring_offset);
	for (id = 0; id < CAPACITY; id++)
		ASSERT_EQ(0, self->s.word[id].deadline | self->s.word[id].promise);
}

TEST_F(words, refused_mappings)
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
	/* There is no ring. */
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->s.fd, 0x20000000));
	EXPECT_EQ(EINVAL, errno);
	/* Nor can they be made executable later, or longer. */
	EXPECT_EQ(-1, mprotect(self->s.word, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap(self->s.word, WORDS_SIZE, 2 * WORDS_SIZE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
}

/* Setup has made none, and nothing makes them later. */
TEST_F(words, none_without_the_flag)
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

TEST_F(words, too_late_when_timers_are_armed)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_WORDS };
	int fd = wheel_open(O_NONBLOCK);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, arm_in(fd, 300, HOUR, 0));
	EXPECT_EQ(-EBUSY, set_up(fd, &s));
	close(fd);
}

TEST_F(words, a_range_of_ids)
{
	/* What is asked for, and what it becomes: whole pages, cut at the capacity. */
	const __u32 words = WORDS_PER_PAGE, capacity = 4 * words - 24;
	const struct {
		__u32 first, nr, got_first, got_nr;
	} range[] = {
		{ 0, 0, 0, capacity },
		{ 0, 1, 0, words },
		{ words - 1, 2, 0, 2 * words },
		{ words + 44, 0, words, capacity - words },
		{ words + 44, 100, words, words },
		{ capacity - 1, 1, 3 * words, capacity - 3 * words },
	};

	for (int i = 0; i < (int)ARRAY_SIZE(range); i++) {
		struct twheel_setup s = {
			.flags = TWHEEL_SETUP_WORDS,
			.capacity = capacity,
			.words_first = range[i].first,
			.words_nr = range[i].nr,
		};
		__u32 first = range[i].got_first, end = first + range[i].got_nr;
		size_t size = (range[i].got_nr * sizeof(struct twheel_word) + PAGE - 1) /
			      PAGE * PAGE;
		int fd = wheel_open(O_NONBLOCK);
		struct twheel_op op = { .flags = TWHEEL_ARM_STORED };
		struct twheel_event ev;
		struct twheel_word *word;
		__u64 deadline, at;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, set_up(fd, &s)) TH_LOG("range %d", i);
		EXPECT_EQ(TWHEEL_SETUP_WORDS, s.flags & TWHEEL_SETUP_WORDS);
		EXPECT_EQ(first, s.words_first) TH_LOG("range %d", i);
		EXPECT_EQ(range[i].got_nr, s.words_nr) TH_LOG("range %d", i);
		at = s.words_offset + first * sizeof(*word);
		word = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
		ASSERT_NE(MAP_FAILED, word) TH_LOG("range %d", i);
		/* Not a page more, at either end. */
		EXPECT_EQ(MAP_FAILED, mmap(NULL, size + PAGE, PROT_READ, MAP_SHARED, fd, at));
		EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED, fd, at - PAGE));

		/* The last id that has a word, and those around the range, by calls. */
		deadline = now_ns() + 5 * MSEC;
		__atomic_store_n(&word[range[i].got_nr - 1].deadline, deadline,
				 __ATOMIC_SEQ_CST);
		op.id = end - 1;
		ASSERT_EQ(0, wheel_arm(fd, &op)) TH_LOG("range %d", i);
		ASSERT_EQ(1, collect(fd, &ev, 1));
		EXPECT_EQ(end - 1, ev.id);
		EXPECT_EQ(deadline, ev.deadline);
		if (first) {
			op = (struct twheel_op){ .flags = TWHEEL_ARM_STORED, .id = first - 1 };
			EXPECT_EQ(-ENOENT, wheel_arm(fd, &op)) TH_LOG("range %d", i);
			ASSERT_EQ(0, arm_at(fd, first - 1, 1, 0));
			EXPECT_EQ(1, collect(fd, &ev, 1));
		}
		if (end < capacity) {
			op = (struct twheel_op){ .flags = TWHEEL_ARM_STORED, .id = end };
			EXPECT_EQ(-ENOENT, wheel_arm(fd, &op)) TH_LOG("range %d", i);
			ASSERT_EQ(0, arm_at(fd, end, 1, 0));
			EXPECT_EQ(1, collect(fd, &ev, 1));
		}
		munmap(word, size);
		close(fd);
	}
}

TEST_F(words, ranges_and_rings_that_make_no_sense)
{
	const __u32 words = WORDS_PER_PAGE, capacity = 4 * words;
	const struct {
		struct twheel_setup setup;
		int error;
	} bad[] = {
		{ { .words_first = capacity }, ERANGE },
		{ { .words_first = ~0U }, ERANGE },
		{ { .words_nr = capacity + 1 }, ERANGE },
		{ { .words_first = words, .words_nr = ~0U }, ERANGE },
		{ { .ring_entries = 256 }, EINVAL },
		/* An event counts by its word, so that each id needs one. */
		{ { .delivery = TWHEEL_DELIVER_RING, .words_first = words }, EINVAL },
		{ { .delivery = TWHEEL_DELIVER_RING, .words_nr = words }, EINVAL },
		{ { .delivery = TWHEEL_DELIVER_RING, .ring_entries = TWHEEL_MAX_RING + 1 },
		  ERANGE },
	};
	int fd = wheel_open(O_NONBLOCK);
	struct twheel_setup s;

	ASSERT_LE(0, fd);
	for (int i = 0; i < (int)ARRAY_SIZE(bad); i++) {
		s = bad[i].setup;
		s.flags = TWHEEL_SETUP_WORDS;
		s.capacity = capacity;
		EXPECT_EQ(-bad[i].error, set_up(fd, &s)) TH_LOG("setup %d", i);
	}
	/* None of these was the one setup that a wheel has. */
	s = (struct twheel_setup){ .flags = TWHEEL_SETUP_WORDS };
	EXPECT_EQ(0, set_up(fd, &s));
	close(fd);
}

/* Who may only read the file may see what others store. */
TEST_F(words, a_reader_maps_them_to_read)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC);
	struct twheel_setup s = { .flags = TWHEEL_SETUP_WORDS };
	__u64 deadline = now_ns() + HOUR;
	struct twheel_word *word;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &s));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				   s.words_offset));
	EXPECT_EQ(EACCES, errno);
	word = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, s.words_offset);
	ASSERT_NE(MAP_FAILED, word);
	ASSERT_EQ(0, arm_at(fd, 7, deadline, 0));
	EXPECT_EQ(deadline, __atomic_load_n(&word[7].deadline, __ATOMIC_SEQ_CST));
	EXPECT_NE(0, __atomic_load_n(&word[7].promise, __ATOMIC_SEQ_CST));
	EXPECT_EQ(-1, mprotect(word, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	munmap(word, PAGE);
	close(fd);
}

TEST_F(words, cost_no_memory_when_not_mapped)
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
	__u64 deadline = now_ns() + 20 * MSEC;
	struct twheel_event ev;

	/* The first takes a call, since the kernel is not looking. */
	EXPECT_EQ(1, want(&self->s, 7, deadline));
	EXPECT_NE(0, promise(&self->s, 7));
	EXPECT_LE(promise(&self->s, 7), deadline);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->s.fd, 7));
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
	__u64 deadline = now_ns() + 30 * MSEC;
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

TEST_F(words, cancelled_and_armed_again_without_a_call)
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
	deadline = now_ns() + 20 * MSEC;
	/* Nobody is looking any more. */
	EXPECT_EQ(1, want(&self->s, 7, deadline));
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(deadline, ev.deadline);
}

TEST_F(words, stored_but_not_called_for_is_seen_by_the_reader)
{
	struct twheel_event ev;
	__u64 deadline;

	ASSERT_EQ(1, want(&self->s, 7, now_ns() + MSEC));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
	deadline = now_ns() + 20 * MSEC;
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

TEST_F(words, cancel_tells_of_what_was_stored)
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

TEST_F(words, listed_and_drained_as_stored)
{
	struct twheel_timer t[4];
	__u64 deadline = now_ns() + HOUR;

	ASSERT_EQ(1, want(&self->s, 3, deadline));
	ASSERT_EQ(0, want(&self->s, 3, deadline + 5));
	ASSERT_EQ(1, want(&self->s, 900, deadline + 1));
	ASSERT_EQ(1, want(&self->s, 5, deadline));
	cancel_by_store(&self->s, 5);
	ASSERT_EQ(2, list_all(self->s.fd, TWHEEL_IOC_LIST, t, 4));
	EXPECT_EQ(3, t[0].id);
	EXPECT_EQ(deadline + 5, t[0].deadline);
	EXPECT_EQ(900, t[1].id);
	ASSERT_EQ(2, list_all(self->s.fd, TWHEEL_IOC_DRAIN, t, 4));
	EXPECT_EQ(0, wanted(&self->s, 3));
	EXPECT_EQ(0, promise(&self->s, 3));
	EXPECT_EQ(0, promise(&self->s, 900));
	EXPECT_EQ(0, list_all(self->s.fd, TWHEEL_IOC_LIST, t, 4));
}

TEST_F(words, outlive_the_mapping)
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

TEST_F(words, are_shared_with_a_child)
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

TEST_F(words, move_with_mremap)
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

TEST_F(words, any_number_may_stand_there)
{
	static const __u64 numbers[] = {
		1, 2, ~0ULL, ~0ULL - 1, 1ULL << 63, (1ULL << 63) - 1, (1ULL << 63) + 1,
		1ULL << 32, 999999, 1000000, 1000001,
	};
	unsigned int i, nr = sizeof(numbers) / sizeof(numbers[0]), came = 0, later = 0;
	__u64 deadline = now_ns() + 20 * MSEC;
	struct twheel_timer t[16];
	struct twheel_event ev;
	bool is_in[16] = {};
	int n;

	for (i = 0; i < nr; i++)
		ASSERT_LE(0, want(&self->s, i, numbers[i]));
	ASSERT_EQ(1, want(&self->s, 500, deadline));
	/* Any of the numbers may be now: a kernel that started 4.3 s ago is at 1 << 32. */
	for (;;) {
		ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
		if (ev.id == 500)
			break;
		ASSERT_GT(nr, ev.id);
		EXPECT_FALSE(is_in[ev.id]);
		EXPECT_GE(now_ns(), numbers[ev.id]);
		is_in[ev.id] = true;
		came++;
	}
	n = list_all(self->s.fd, TWHEEL_IOC_LIST, t, 16);
	for (i = 0; i < nr; i++) {
		EXPECT_TRUE(is_in[i] || numbers[i] >= deadline - self->s.setup.tick);
		later += numbers[i] > now_ns();
	}
	EXPECT_LE(later, n);
	EXPECT_GE(nr - came, n);
}

/* Timers that are due by what the wheel knows, and that stores have pushed back, all of them. */
static int push_back_many(struct shared *s, __u32 from, __u32 to)
{
	__u64 due = now_ns() + 2 * SEC;

	for (__u32 id = from; id < to; id++) {
		if (want(s, id, due) != 1)
			return -EINVAL;
		__atomic_store_n(&s->word[id].deadline, due + HOUR, __ATOMIC_RELAXED);
	}
	/* Else some were found due, and are stale events now. */
	if (now_ns() >= due)
		return -ETIME;
	sleep_until(due + MSEC);
	return 0;
}

/* Calls look for so many steps for what they would like to have as well. */
#define EAGER		64
#define MANY		8000

TEST(who_has_an_event_is_not_kept_by_what_was_pushed_back)
{
	struct twheel_stats before, after;
	struct twheel_event ev[64];
	struct shared s;

	ASSERT_EQ(0, shared_open(&s, MANY, 0, 0));
	ASSERT_EQ(1, want(&s, 0, 1));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(s.fd, NEVER_MS));
	ASSERT_EQ(0, push_back_many(&s, 1, MANY));
	ASSERT_EQ(0, wheel_stats(s.fd, &before));
	/* One read: in a storm of signals wheel_read() is several. */
	EXPECT_EQ(sizeof(ev[0]), read(s.fd, ev, sizeof(ev)));
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	EXPECT_GE(EAGER + 1, after.steps - before.steps);
	shared_close(&s);
}

FIXTURE(ring) {
	struct shared s;
};

FIXTURE_SETUP(ring)
{
	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, RING, 0));
}

FIXTURE_TEARDOWN(ring)
{
	shared_close(&self->s);
}

TEST_F(ring, is_set_up)
{
	struct twheel_setup s = {};
	struct twheel_event ev;

	ASSERT_EQ(0, wheel_ioctl(self->s.fd, TWHEEL_IOC_GET_SETUP, &s));
	EXPECT_EQ(TWHEEL_DELIVER_RING, s.delivery);
	EXPECT_EQ(RING, s.ring_entries);
	EXPECT_EQ(RING, self->s.ring->entries);
	EXPECT_EQ(0, self->s.ring->tail | self->s.ring->head | self->s.ring->waiting);
	EXPECT_EQ(-EOPNOTSUPP, wheel_read(self->s.fd, &ev, 1));
	EXPECT_EQ(-EOPNOTSUPP, arm_in(self->s.fd, TWHEEL_ID_ANY, HOUR, 0));
	EXPECT_EQ(0, wheel_poll(self->s.fd, 0));
}

TEST_F(ring, has_what_came_due)
{
	__u64 deadline = now_ns() + 10 * MSEC;
	struct twheel_entry entry;

	ASSERT_EQ(1, want(&self->s, 7, deadline));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
	ASSERT_EQ(1, ring_take(&self->s, &entry));
	EXPECT_LE(deadline, now_ns());
	EXPECT_EQ(7, entry.id);
	EXPECT_EQ(deadline, entry.deadline);
	EXPECT_EQ(TWHEEL_EVENT_LAST, entry.flags);
	EXPECT_EQ(0, promise(&self->s, 7));
	EXPECT_TRUE(claim(&self->s, &entry, 0));
	EXPECT_FALSE(claim(&self->s, &entry, 0));
	EXPECT_EQ(0, ring_take(&self->s, &entry));
	EXPECT_EQ(0, wheel_poll(self->s.fd, 0));
}

TEST_F(ring, an_entry_is_cancelled_by_a_store)
{
	struct twheel_entry entry;

	ASSERT_EQ(1, want(&self->s, 7, 1));
	cancel_by_store(&self->s, 7);
	ASSERT_EQ(1, want(&self->s, 8, 1));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->s.fd, 8));
	ASSERT_EQ(1, ring_take(&self->s, &entry));
	EXPECT_EQ(7, entry.id);
	EXPECT_FALSE(claim(&self->s, &entry, 0));
	ASSERT_EQ(1, ring_take(&self->s, &entry));
	EXPECT_FALSE(claim(&self->s, &entry, 0));
	EXPECT_EQ(0, ring_take(&self->s, &entry));
}

TEST_F(ring, full_and_flowing_on)
{
	__u64 deadline = now_ns() + 20 * MSEC;
	unsigned int n = 0, limit = 2000;
	bool seen[CAPACITY] = {};
	struct twheel_entry entry;
	__u32 id;

	for (id = 0; id < CAPACITY; id++)
		ASSERT_EQ(1, want(&self->s, id, deadline));
	sleep_until(deadline + MSEC);
	while (n < CAPACITY && limit) {
		if (!ring_take(&self->s, &entry)) {
			limit--;
			/* Where there is nothing, all of it may wait in the wheel. */
			if (!__atomic_load_n(&self->s.ring->waiting, __ATOMIC_ACQUIRE))
				sleep_until(now_ns() + MSEC);
			ASSERT_EQ(0, wheel_submit(self->s.fd, NULL, 0, NULL));
			continue;
		}
		ASSERT_GT(CAPACITY, entry.id);
		EXPECT_FALSE(seen[entry.id]);
		seen[entry.id] = true;
		EXPECT_TRUE(claim(&self->s, &entry, 0));
		n++;
	}
	EXPECT_EQ(CAPACITY, n);
	EXPECT_EQ(0, self->s.ring->waiting);
	EXPECT_EQ(0, wheel_poll(self->s.fd, 0));
}

/* Who takes a few entries, and arms as many timers that are due, leaves it full. */
TEST_F(ring, others_come_beside_those_that_are_armed_as_due_again_and_again)
{
	enum { BUSY = 2000, OTHERS = 100, TAKE = 16, LOOPS = 400 };
	__u64 due = now_ns() + 20 * MSEC;
	struct twheel_entry entry;
	struct twheel_op ops[TAKE];
	struct shared s;
	int loops, i, nr, others = 0;
	__u32 id, failed;

	ASSERT_EQ(0, shared_open(&s, BUSY + OTHERS, RING, 0));
	for (id = BUSY; id < BUSY + OTHERS; id++)
		ASSERT_EQ(1, want(&s, id, due));
	for (id = 0; id < BUSY; id++)
		ASSERT_EQ(1, want(&s, id, 1));
	sleep_until(due + MSEC);
	for (loops = 0; loops < LOOPS && others < OTHERS; loops++) {
		for (i = 0, nr = 0; i < TAKE && ring_take(&s, &entry); i++) {
			if (!claim(&s, &entry, entry.id < BUSY ? 1 : 0))
				continue;
			if (entry.id < BUSY)
				ops[nr++] = (struct twheel_op){
					.opcode = TWHEEL_OP_ARM, .id = entry.id,
					.flags = TWHEEL_ARM_STORED,
				};
			else
				others++;
		}
		ASSERT_EQ(nr, wheel_submit(s.fd, ops, nr, &failed));
	}
	EXPECT_EQ(OTHERS, others);
	shared_close(&s);
}

/* As many events wait that softirq leaves the rest to who submits. */
TEST_F(ring, who_gets_entries_is_not_kept_by_what_was_pushed_back)
{
	enum { ENTRIES = 2048, MORE = 1100 };
	struct twheel_stats before, after;
	struct twheel_entry entry;
	struct shared s;
	__u32 id, tries;

	ASSERT_EQ(0, shared_open(&s, MANY, ENTRIES, 0));
	for (id = 0; id < ENTRIES + MORE; id++)
		ASSERT_EQ(1, want(&s, id, 1));
	ASSERT_EQ(0, push_back_many(&s, id, MANY));
	for (id = 0; ring_take(&s, &entry); id++)
		EXPECT_TRUE(claim(&s, &entry, 0));
	ASSERT_EQ(ENTRIES, id);
	ASSERT_EQ(0, wheel_stats(s.fd, &before));
	ASSERT_EQ(0, wheel_submit(s.fd, NULL, 0, NULL));
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	EXPECT_GE(EAGER, after.steps - before.steps);
	/* A signal may have come before they were all in the ring. */
	for (id = 0, tries = 0; id < MORE && tries < MORE; tries++) {
		for (; ring_take(&s, &entry); id++)
			EXPECT_TRUE(claim(&s, &entry, 0));
		ASSERT_EQ(0, wheel_submit(s.fd, NULL, 0, NULL));
	}
	EXPECT_EQ(MORE, id);
	shared_close(&s);
}

/* Softirq goes through that, or who submits. */
TEST_F(ring, an_arm_by_a_call_takes_one_step)
{
	struct twheel_stats before, after;
	struct shared s;

	ASSERT_EQ(0, shared_open(&s, MANY, RING, 0));
	ASSERT_EQ(0, push_back_many(&s, 1, MANY));
	ASSERT_EQ(0, wheel_stats(s.fd, &before));
	ASSERT_EQ(0, arm_in(s.fd, 0, HOUR, 0));
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	EXPECT_GE(1, after.steps - before.steps);
	shared_close(&s);
}

TEST_F(ring, filled_by_one_call)
{
	struct twheel_entry entry;
	__u32 id, n;

	for (id = 0; id < 2 * RING; id++)
		ASSERT_EQ(1, want(&self->s, id, 1));
	for (n = 0; ring_take(&self->s, &entry); n++)
		EXPECT_TRUE(claim(&self->s, &entry, 0));
	EXPECT_EQ(RING, n);
	/* In a storm it takes a few. */
	do {
		ASSERT_EQ(0, wheel_submit(self->s.fd, NULL, 0, NULL));
	} while (storm_usec && self->s.ring->tail != 2 * RING);
	EXPECT_EQ(2 * RING, self->s.ring->tail);
	EXPECT_EQ(0, self->s.ring->waiting);
}

TEST_F(ring, nothing_is_written_over)
{
	static const __u32 heads[] = { 1U << 31, RING + 1, ~0U, RING * 2 };
	struct twheel_entry entry;
	__u32 id, n;

	for (id = 0; id < RING + 10; id++)
		ASSERT_EQ(1, want(&self->s, id, 1));
	EXPECT_EQ(RING, self->s.ring->tail);
	EXPECT_EQ(10, self->s.ring->waiting);
	/* A head that makes no sense is no room. */
	for (n = 0; n < 4; n++) {
		self->s.ring->head = heads[n];
		ASSERT_EQ(0, wheel_submit(self->s.fd, NULL, 0, NULL));
		EXPECT_EQ(RING, self->s.ring->tail);
	}
	self->s.ring->head = 0;
	for (n = 0; ring_take(&self->s, &entry); n++) {
		EXPECT_TRUE(claim(&self->s, &entry, 0));
		EXPECT_EQ(0, wheel_submit(self->s.fd, NULL, 0, NULL));
	}
	EXPECT_EQ(RING + 10, n);
}

TEST_F(ring, periods_are_stored_by_the_consumer)
{
	__u64 start = now_ns() + 10 * MSEC, next = start;
	struct twheel_entry entry;
	int i, last = 0;

	ASSERT_EQ(0, arm_every(self->s.fd, 7, start, 10 * MSEC, 50));
	for (i = 0; i < 50 && !last; i++) {
		__u32 overruns;

		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
		ASSERT_EQ(1, ring_take(&self->s, &entry));
		EXPECT_EQ(next, entry.deadline);
		EXPECT_LE(next, now_ns());
		overruns = entry.overruns;
		next = entry.deadline + (overruns + 1) * 10 * MSEC;
		last = entry.flags & TWHEEL_EVENT_LAST;
		EXPECT_TRUE(claim(&self->s, &entry, last ? 0 : next));
		EXPECT_EQ(0, arm_counted(&self->s, 7, overruns + 1));
	}
	EXPECT_TRUE(last);
	EXPECT_EQ(start + 50 * 10 * MSEC, next);
}

TEST_F(ring, is_adopted_with_what_was_not_taken)
{
	__u64 deadline = now_ns() + HOUR;
	struct twheel_entry entry;
	__u32 id;
	int n;

	/* One in the ring, one stored and not called for, one pending. */
	ASSERT_EQ(1, want(&self->s, 1, 1));
	__atomic_store_n(&self->s.word[2].deadline, 2, __ATOMIC_SEQ_CST);
	ASSERT_EQ(1, want(&self->s, 3, deadline));
	/* The entry is lost with who took it, and so was about to. */
	ASSERT_EQ(1, ring_take(&self->s, &entry));
	for (id = n = 0; id < CAPACITY; id++) {
		if (wanted(&self->s, id) - 1 < promise(&self->s, id) - 1) {
			ASSERT_EQ(0, arm_stored(&self->s, id));
			n++;
		}
	}
	EXPECT_EQ(2, n);
	for (n = 0; ring_take(&self->s, &entry); n++)
		EXPECT_TRUE(claim(&self->s, &entry, 0));
	EXPECT_EQ(2, n);
	EXPECT_EQ(deadline, wanted(&self->s, 3));
}

TEST_HARNESS_MAIN
