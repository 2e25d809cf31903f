// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the forty-second round: of submits to a ring, of readers beside a setup,
 * and of ids that become free within a batch.
 */
#include <pthread.h>
#include <sys/epoll.h>

#include "words_test.h"

/* Who sees that something waits, and calls, finds an entry, whatever call it is. */
TEST(any_submit_finds_what_is_due)
{
	enum { NR = 10000, ENTRIES = 1024, CAPACITY = 16384 };
	struct twheel_entry entry;
	struct shared s;
	__u64 limit;
	__u32 taken = 0;

	ASSERT_EQ(0, shared_open(&s, CAPACITY, ENTRIES, 0));
	ASSERT_EQ(0, arm_many(s.fd, NR, now_ns() + 200 * MSEC, 0));
	limit = now_ns() + NEVER_MS * MSEC;
	while (taken < NR && now_ns() < limit) {
		while (ring_take(&s, &entry))
			taken += claim(&s, &entry, 0);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&s.ring->waiting, __ATOMIC_RELAXED))
			continue;
		ASSERT_LE(0, wheel_cancel(s.fd, CAPACITY - 1));
		ASSERT_TRUE(storm_usec || s.ring->head != s.ring->tail || !s.ring->waiting)
			TH_LOG("%u of %u taken: %u wait", taken, NR, s.ring->waiting);
	}
	EXPECT_EQ(NR, taken);
	shared_close(&s);
}

struct storer {
	struct shared	s;
	__u32		nr;
	bool		stop;
};

/* Push all timers back, by stores, again and again. */
static void *push_back(void *arg)
{
	struct storer *b = arg;

	while (!__atomic_load_n(&b->stop, __ATOMIC_RELAXED))
		for (__u32 id = 0; id < b->nr; id++)
			__atomic_store_n(&b->s.word[id].deadline, now_ns() + 2 * MSEC,
					 __ATOMIC_RELAXED);
	return NULL;
}

/* A step is for 32 timers here, and each of them may take part in two. */
TEST(who_stores_all_the_time_does_not_keep_a_submit_in_the_kernel)
{
	enum { NR = 20000, STEP = 32 };
	struct storer b = { .nr = NR };
	struct twheel_stats before, after;
	pthread_t thread;

	ASSERT_EQ(0, shared_open(&b.s, 32768, 1024, 100 * USEC));
	ASSERT_EQ(0, arm_many(b.s.fd, NR, now_ns() + 50 * MSEC, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, push_back, &b));
	for (int i = 0; i < 20; i++) {
		sleep_until(now_ns() + 5 * MSEC);
		ASSERT_EQ(0, wheel_stats(b.s.fd, &before));
		/* A call that goes on as long as the stores do is ended by this. */
		alarm(10);
		ASSERT_EQ(0, wheel_submit(b.s.fd, NULL, 0, NULL));
		alarm(0);
		ASSERT_EQ(0, wheel_stats(b.s.fd, &after));
		/* A poll, which nobody does here, would count steps as well. */
		EXPECT_GE(2 * (NR / STEP + 1), after.steps - before.steps);
		b.s.ring->head = b.s.ring->tail;
	}
	__atomic_store_n(&b.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	shared_close(&b.s);
}

#define READERS		3

struct reader {
	int		fd;
	pthread_t	thread;
	int		ret;
};

static void *read_one(void *arg)
{
	struct reader *r = arg;
	struct twheel_event ev;

	do {
		r->ret = read(r->fd, &ev, sizeof(ev)) < 0 ? -errno : 0;
	} while (r->ret == -EINTR);
	return NULL;
}

static void *wait_in_epoll(void *epoll)
{
	epoll_get(*(int *)epoll, NEVER_MS);
	return NULL;
}

/* With a ring there is nothing to read: all readers hear of it, and not only the first waiter. */
TEST(a_setup_with_a_ring_ends_all_reads)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_WORDS, .capacity = 256,
		.delivery = TWHEEL_DELIVER_RING, .ring_entries = 256,
	};
	struct reader readers[READERS];
	int fd = wheel_open(0), epoll = epoll_create1(0);
	pthread_t sleeper;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	ASSERT_EQ(0, pthread_create(&sleeper, NULL, wait_in_epoll, &epoll));
	sleep_until(now_ns() + 50 * MSEC);
	for (int i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ .fd = fd };
		ASSERT_EQ(0, pthread_create(&readers[i].thread, NULL, read_one, &readers[i]));
	}
	sleep_until(now_ns() + 100 * MSEC);
	ASSERT_EQ(0, set_up(fd, &setup));
	/* The limit of the test ends it, if one of them sleeps on. */
	for (int i = 0; i < READERS; i++) {
		ASSERT_EQ(0, pthread_join(readers[i].thread, NULL));
		EXPECT_EQ(-EOPNOTSUPP, readers[i].ret);
	}
	/* An event in the ring ends the wait of the epoll. */
	ASSERT_EQ(0, arm_in(fd, 0, MSEC, 0));
	ASSERT_EQ(0, pthread_join(sleeper, NULL));
	close(epoll);
	close(fd);
}

/* An arm without an id finds the one that an operation before it in the batch has made free. */
TEST(ids_that_become_free_in_a_batch_are_found)
{
	enum { CAPACITY = 256, STORED = 7 };
	__u64 far = now_ns() + 3600 * SEC;
	struct twheel_op ops[CAPACITY] = {};
	struct shared s;
	__u32 failed;

	ASSERT_EQ(0, shared_open(&s, CAPACITY, 0, 0));
	/* Its call is yet to come. */
	__atomic_store_n(&s.word[STORED].deadline, far, __ATOMIC_SEQ_CST);
	for (int i = 0; i < CAPACITY; i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = TWHEEL_ID_ANY, .deadline = far,
		};
	ASSERT_EQ(CAPACITY - 1, wheel_submit(s.fd, ops, CAPACITY - 1, &failed));
	ASSERT_EQ(0, failed);
	for (int i = 0; i < 3; i++)
		ops[i] = ops[CAPACITY - 1];
	ops[1] = (struct twheel_op){ .opcode = TWHEEL_OP_CANCEL, .id = STORED };
	ASSERT_EQ(3, wheel_submit(s.fd, ops, 3, &failed));
	EXPECT_EQ(-ENOSPC, ops[0].result);
	EXPECT_EQ(0, ops[1].result);
	EXPECT_EQ(0, ops[2].result);
	EXPECT_EQ(STORED, ops[2].id);
	shared_close(&s);
}

TEST_HARNESS_MAIN
