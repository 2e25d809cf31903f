// SPDX-License-Identifier: GPL-2.0
/*
 * What programs found that were written from the headers and the docs alone:
 * events, counts, ids, wake-ups and signals.  Each test is named after what must
 * hold.
 */

#include "outside.h"

#define CAPACITY	512

static int arm_any(int fd, __u64 deadline, __u32 *id)
{
	struct twheel_op op = { .deadline = deadline, .id = TWHEEL_ID_ANY };
	int ret = wheel_arm(fd, &op);

	*id = op.id;
	return ret;
}

/*
 * A read that holds an event, while somebody does something with its timer.
 */
FIXTURE(held_read) {
	struct shared s;
	struct held held;
	bool made;
	struct caller reader;
	struct twheel_op op;
	/* How often each generation was heard of. */
	unsigned int heard[4];
};

FIXTURE_VARIANT(held_read) {
	bool words;
};

FIXTURE_VARIANT_ADD(held_read, words) { .words = true };
FIXTURE_VARIANT_ADD(held_read, calls) { .words = false };

FIXTURE_SETUP(held_read)
{
	self->made = held_open(&self->held);
	if (variant->words) {
		ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	} else {
		self->s.fd = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, self->s.fd);
	}
	if (!self->made)
		return;
	ASSERT_EQ(0, arm_at(self->s.fd, 7, 1, 1));
	self->reader = (struct caller){
		.call = call_read, .fd = self->s.fd, .memory = self->held.page, .nr = 4,
	};
	ASSERT_EQ(0, caller_start(&self->reader));
	ASSERT_TRUE(held_wait(&self->held));
	self->op = (struct twheel_op){ .deadline = 1, .cookie = 2, .id = 7 };
}

FIXTURE_TEARDOWN(held_read)
{
	held_close(&self->held);
	shared_close(&self->s);
}

static void hear(unsigned int *heard, struct __test_metadata *_metadata,
		 const struct twheel_event *ev, int nr)
{
	for (int i = 0; i < nr; i++) {
		ASSERT_EQ(7, ev[i].id);
		ASSERT_GT(4, ev[i].generation);
		EXPECT_EQ(ev[i].generation, ev[i].cookie);
		heard[ev[i].generation]++;
	}
}

/* Let the read end, and hear of all that comes; of the @newest generation, surely. */
static void hear_all(struct __test_metadata *_metadata, struct shared *s, struct held *held,
		     struct caller *reader, unsigned int *heard, unsigned int newest)
{
	struct twheel_event ev[4];
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	int nr;

	ASSERT_EQ(0, held_let(held));
	ASSERT_EQ(0, pthread_join(reader->thread, NULL));
	if (reader->ret != -EAGAIN) {
		ASSERT_LT(0, reader->ret);
		hear(heard, _metadata, held->page, reader->ret);
	}
	/* A little longer, for what should not come. */
	do {
		wheel_poll(s->fd, 50);
		nr = wheel_read(s->fd, ev, 4);
		if (nr > 0)
			hear(heard, _metadata, ev, nr);
	} while (nr > 0 || (newest && !heard[newest] && now_ns() < limit));
}

TEST_F(held_read, new_arming_is_heard_of_after_a_read_of_the_old_one)
{
	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	EXPECT_EQ(2, self->op.generation);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 2);
	EXPECT_EQ(1, self->heard[2]);
	/* The call has told whether the old one is taken back. */
	EXPECT_EQ(self->op.state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, arming_for_later_is_heard_of_after_a_read_of_the_old_one)
{
	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	self->op.deadline = now_ns() + 100 * MSEC;
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 2);
	EXPECT_EQ(1, self->heard[2]);
	EXPECT_EQ(self->op.state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, cancel_tells_whether_the_event_is_heard_of)
{
	int state = wheel_cancel(self->s.fd, 7);

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_LE(0, state);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 0);
	EXPECT_EQ(state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, cancelled_and_armed_again_only_the_new_one_is_heard_of)
{
	int state = wheel_cancel(self->s.fd, 7);

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_LE(0, state);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	EXPECT_EQ(2, self->op.generation);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 2);
	EXPECT_EQ(1, self->heard[2]);
	EXPECT_EQ(state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, armed_thrice_the_last_one_is_heard_of)
{
	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	self->op = (struct twheel_op){ .deadline = 1, .cookie = 3, .id = 7 };
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	EXPECT_EQ(3, self->op.generation);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 3);
	EXPECT_EQ(0, self->heard[2]);
	EXPECT_EQ(1, self->heard[3]);
}

/* A read that fails after all takes nothing with it. */
TEST_F(held_read, new_arming_is_heard_of_after_a_read_that_failed)
{
	struct twheel_event ev[4];

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	ASSERT_EQ(0, held_refuse(&self->held));
	ASSERT_EQ(0, pthread_join(self->reader.thread, NULL));
	EXPECT_EQ(-EFAULT, self->reader.ret);
	ASSERT_EQ(1, collect(self->s.fd, ev, 1));
	EXPECT_EQ(2, ev[0].generation);
	EXPECT_EQ(2, ev[0].cookie);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, ev, 4));
}

/*
 * The same of a drain.
 */
FIXTURE(held_drain) {
	struct shared s;
	struct held held;
	bool made;
	struct caller drainer;
};

FIXTURE_SETUP(held_drain)
{
	self->made = held_open(&self->held);
	self->drainer = (struct caller){
		.call = call_drain, .memory = self->held.page, .nr = PAGE / 64,
	};
}

FIXTURE_TEARDOWN(held_drain)
{
	held_close(&self->held);
	shared_close(&self->s);
}

TEST_F(held_drain, promise_is_kept_while_a_drain_is_held_up)
{
	__u64 far = now_ns() + 300 * MSEC, deadline = far + 50 * MSEC;
	struct twheel_event ev = {};

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	ASSERT_EQ(1, want(&self->s, 7, far));
	self->drainer.fd = self->s.fd;
	ASSERT_EQ(0, caller_start(&self->drainer));
	ASSERT_TRUE(held_wait(&self->held));
	/* The rules say whether that takes a call; what they promise must hold. */
	ASSERT_LE(0, want(&self->s, 7, deadline));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, 2000));
	ASSERT_EQ(0, held_let(&self->held));
	ASSERT_EQ(0, pthread_join(self->drainer.thread, NULL));
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(7, ev.id);
	EXPECT_EQ(deadline, ev.deadline);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
}

TEST_F(held_drain, timer_armed_while_a_drain_holds_it_is_heard_of)
{
	struct twheel_op op = { .deadline = 1, .cookie = 2, .id = 7 };
	struct twheel_event ev = {};

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
	ASSERT_EQ(0, arm_at(self->s.fd, 7, 1, 1));
	self->drainer.fd = self->s.fd;
	ASSERT_EQ(0, caller_start(&self->drainer));
	ASSERT_TRUE(held_wait(&self->held));
	ASSERT_EQ(0, wheel_arm(self->s.fd, &op));
	ASSERT_EQ(0, held_let(&self->held));
	ASSERT_EQ(0, pthread_join(self->drainer.thread, NULL));
	/* It was replaced, so it is not the drain's to hand over. */
	ASSERT_EQ(0, self->drainer.ret);
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(2, ev.generation);
	EXPECT_EQ(2, ev.cookie);
}

/*
 * Ids.
 */
FIXTURE(ids) {
	struct shared s;
	struct twheel_timer t[CAPACITY];
	bool armed[CAPACITY];
};

FIXTURE_SETUP(ids)
{
	ASSERT_EQ(0, shared_open(&self->s, CAPACITY, 0));
}

FIXTURE_TEARDOWN(ids)
{
	shared_close(&self->s);
}

TEST_F(ids, cancelled_by_call_they_come_back)
{
	__u64 far = now_ns() + HOUR;
	unsigned int i;
	__u32 id;

	for (i = 0; i < 4 * CAPACITY; i++) {
		ASSERT_EQ(0, arm_any(self->s.fd, far, &id))
			TH_LOG("arm %u of %u", i, CAPACITY);
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, id));
	}
}

TEST_F(ids, cancelled_by_store_they_come_back)
{
	__u64 far = now_ns() + HOUR;
	unsigned int i;
	__u32 id;

	for (i = 0; i < 4 * CAPACITY; i++) {
		ASSERT_EQ(0, arm_any(self->s.fd, far, &id))
			TH_LOG("arm %u of %u", i, CAPACITY);
		cancel_by_store(&self->s, id);
	}
}

/* One among many that are in use is found, wherever it is. */
TEST_F(ids, the_only_one_cancelled_by_store_comes_back)
{
	__u64 far = now_ns() + HOUR;
	unsigned int i;
	__u32 id, free;

	for (i = 0; i < CAPACITY; i++)
		ASSERT_EQ(0, arm_any(self->s.fd, far, &id));
	EXPECT_EQ(-ENOSPC, arm_any(self->s.fd, far, &id));
	for (free = 0; free < CAPACITY; free += 37) {
		cancel_by_store(&self->s, free);
		ASSERT_EQ(0, arm_any(self->s.fd, far, &id))
			TH_LOG("id %u", free);
		ASSERT_EQ(free, id);
		EXPECT_EQ(-ENOSPC, arm_any(self->s.fd, far, &id));
	}
}

TEST_F(ids, armed_again_by_a_store_it_is_not_chosen)
{
	__u64 far = now_ns() + HOUR;
	unsigned int i;
	__u32 mine, other, id;

	ASSERT_EQ(0, arm_any(self->s.fd, far, &mine));
	ASSERT_EQ(0, arm_any(self->s.fd, far, &other));
	/* With its promise still standing, and without one. */
	cancel_by_store(&self->s, mine);
	ASSERT_EQ(0, want(&self->s, mine, far + 1));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, other));
	ASSERT_LE(0, want(&self->s, other, far + 1));
	for (i = 0; i < CAPACITY - 2; i++) {
		ASSERT_EQ(0, arm_any(self->s.fd, far, &id))
			TH_LOG("arm %u", i);
		ASSERT_GT(CAPACITY, id);
		ASSERT_NE(mine, id);
		ASSERT_NE(other, id);
		ASSERT_FALSE(self->armed[id]);
		self->armed[id] = true;
	}
	EXPECT_EQ(-ENOSPC, arm_any(self->s.fd, far, &id));
	EXPECT_EQ(far + 1, wanted(&self->s, mine));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->s.fd, mine));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->s.fd, other));
}

/* A wheel that never stops: some are cancelled either way, others come due. */
TEST_F(ids, chosen_one_is_free_until_then)
{
	struct twheel_event ev[CAPACITY];
	__u32 seed = 1, id, nr = 0, fired = 0, cancelled = 0;
	__u64 near = 0, far = now_ns() + HOUR;
	unsigned int i, k;
	int n;

	for (i = 0; i < 20000; i++) {
		if (nr == CAPACITY) {
			/* All that are due are read; of the others half are cancelled. */
			n = wheel_read(self->s.fd, ev, CAPACITY);
			for (k = 0; n > 0 && k < n; k++) {
				ASSERT_TRUE(self->armed[ev[k].id]);
				self->armed[ev[k].id] = false;
				nr--;
				fired++;
			}
			for (id = next_random(&seed) % 2; id < CAPACITY; id += 2) {
				if (!self->armed[id])
					continue;
				if (next_random(&seed) % 2)
					cancel_by_store(&self->s, id);
				else
					ASSERT_LE(0, wheel_cancel(self->s.fd, id));
				self->armed[id] = false;
				nr--;
				cancelled++;
			}
			continue;
		}
		near = now_ns() + next_random(&seed) % (2 * MSEC);
		ASSERT_EQ(0, arm_any(self->s.fd, next_random(&seed) % 4 ? far : near, &id))
			TH_LOG("arm %u, %u armed, %u fired, %u cancelled", i, nr, fired,
			       cancelled);
		ASSERT_GT(CAPACITY, id);
		ASSERT_FALSE(self->armed[id])
			TH_LOG("arm %u: id %u", i, id);
		self->armed[id] = true;
		nr++;
	}
	EXPECT_LT(0, fired);
	EXPECT_LT(0, cancelled);
}

TEST_F(ids, pending_is_what_the_list_says)
{
	__u64 far = now_ns() + HOUR;
	struct twheel_stats stats;
	__u32 id, i;

	for (i = 0; i < CAPACITY; i++)
		ASSERT_EQ(0, arm_any(self->s.fd, far, &id));
	for (id = 0; id < CAPACITY; id += 2)
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, id));
	ASSERT_EQ(0, wheel_stats(self->s.fd, &stats));
	EXPECT_EQ(CAPACITY / 2, list_all(self->s.fd, TWHEEL_IOC_LIST, self->t, CAPACITY));
	EXPECT_EQ(CAPACITY / 2, stats.pending);
	for (id = 1; id < CAPACITY; id += 2)
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->s.fd, id));
	ASSERT_EQ(0, wheel_stats(self->s.fd, &stats));
	EXPECT_EQ(0, list_all(self->s.fd, TWHEEL_IOC_LIST, self->t, CAPACITY));
	EXPECT_EQ(0, stats.pending);
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

TEST_F(count, run_out_late_a_store_arms_once)
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

TEST_F(count, run_out_period_by_period_a_store_arms_once)
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

TEST_F(count, run_out_a_call_arms_once)
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
TEST_F(count, stale_event_does_not_use_it_up)
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
TEST_F(count, event_that_counted_uses_it_up)
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

/*
 * Stale events in front of one that counts.
 */
#define MANY	4096

FIXTURE(stale) {
	struct shared s;
};

FIXTURE_VARIANT(stale) {
	unsigned int nr;
};

/* A step is of 64; one more, and many more. */
FIXTURE_VARIANT_ADD(stale, one) { .nr = 1 };
FIXTURE_VARIANT_ADD(stale, a_step) { .nr = 64 };
FIXTURE_VARIANT_ADD(stale, more_than_a_step) { .nr = 65 };
FIXTURE_VARIANT_ADD(stale, some_steps) { .nr = 200 };
FIXTURE_VARIANT_ADD(stale, many) { .nr = 3000 };

FIXTURE_SETUP(stale)
{
}

FIXTURE_TEARDOWN(stale)
{
	shared_close(&self->s);
}

static int read_with_stale(struct shared *s, unsigned int nr)
{
	unsigned int id;
	int ret = shared_open(s, MANY, 0);

	for (id = 0; !ret && id < nr; id++)
		ret = arm_at(s->fd, id, 1, 0);
	ret = ret ?: arm_at(s->fd, MANY - 1, 1, 0);
	for (id = 0; !ret && id < nr; id++)
		cancel_by_store(s, id);
	return ret;
}

TEST_F(stale, events_do_not_hide_one_that_counts_from_a_read_that_may_not_wait)
{
	struct twheel_event ev = {};

	ASSERT_EQ(0, read_with_stale(&self->s, variant->nr));
	ASSERT_EQ(1, wheel_read(self->s.fd, &ev, 1));
	EXPECT_EQ(MANY - 1, ev.id);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
}

TEST_F(stale, events_do_not_hide_one_that_counts_from_a_read_of_many)
{
	struct twheel_event ev[100] = {};

	ASSERT_EQ(0, read_with_stale(&self->s, variant->nr));
	ASSERT_EQ(1, wheel_read(self->s.fd, ev, 100));
	EXPECT_EQ(MANY - 1, ev[0].id);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, ev, 100));
}

TEST_F(stale, events_do_not_hide_one_that_counts_from_poll)
{
	struct twheel_event ev = {};

	ASSERT_EQ(0, read_with_stale(&self->s, variant->nr));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, 0));
	ASSERT_EQ(1, wheel_read(self->s.fd, &ev, 1));
	EXPECT_EQ(MANY - 1, ev.id);
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

/*
 * Signals over large wheels.
 */
#define LARGE	1048576U
/* Signals after which a test gives up: a call that has not ended will not. */
#define SIGNALS_MAX	20000

FIXTURE(signals) {
	int fd;
	/* Of the signals: many in the time that an undisturbed call takes. */
	__u64 period;
};

FIXTURE_VARIANT(signals) {
	unsigned long cmd;
	int flags;
};

FIXTURE_VARIANT_ADD(signals, list) {
	.cmd = TWHEEL_IOC_LIST,
};

FIXTURE_VARIANT_ADD(signals, list_restarted) {
	.cmd = TWHEEL_IOC_LIST, .flags = SA_RESTART,
};

FIXTURE_VARIANT_ADD(signals, drain) {
	.cmd = TWHEEL_IOC_DRAIN,
};

FIXTURE_VARIANT_ADD(signals, drain_restarted) {
	.cmd = TWHEEL_IOC_DRAIN, .flags = SA_RESTART,
};

static timer_t signal_timer;
static unsigned int signals_seen;

static void on_signal(int sig)
{
	if (++signals_seen == SIGNALS_MAX)
		timer_settime(signal_timer, 0, &(struct itimerspec){}, NULL);
}

FIXTURE_SETUP(signals)
{
	struct twheel_setup setup = { .capacity = LARGE };
	struct twheel_timer t;
	__u64 begin;
	__u32 id;

	signals_seen = 0;
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_up(self->fd, &setup));
	/* Each chunk of memory is there, so that each id is looked at. */
	for (id = 0; id < LARGE; id += 256) {
		ASSERT_EQ(0, arm_in(self->fd, id, HOUR, 0));
		ASSERT_LE(0, wheel_cancel(self->fd, id));
	}
	ASSERT_EQ(0, arm_in(self->fd, LARGE - 1, HOUR, 77));
	begin = now_ns();
	id = 0;
	ASSERT_EQ(1, wheel_list(self->fd, TWHEEL_IOC_LIST, &t, 1, &id));
	self->period = (now_ns() - begin) / 64;
	if (self->period > 10 * MSEC)
		self->period = 10 * MSEC;
	if (self->period < 20 * USEC)
		self->period = 20 * USEC;
}

FIXTURE_TEARDOWN(signals)
{
	close(self->fd);
}

static int signals_begin(__u64 period, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec often = {
		.it_interval.tv_nsec = period,
		.it_value.tv_nsec = period,
	};

	if (sigaction(SIGUSR1, &sa, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, &signal_timer) ||
	    timer_settime(signal_timer, 0, &often, NULL))
		return -errno;
	return 0;
}

TEST_F(signals, progress_is_kept)
{
	struct twheel_timer t = {};
	struct twheel_list l = {
		.timers = (uintptr_t)&t,
		.nr = 1,
		.timer_size = sizeof(t),
	};
	unsigned int calls = 0;
	__u32 before;
	int ret;

	ASSERT_EQ(0, signals_begin(self->period, variant->flags));
	do {
		before = l.cursor;
		l.done = 0;
		ret = wheel_ioctl(self->fd, variant->cmd, &l);
		calls++;
		ASSERT_TRUE(!ret || ret == -EINTR);
		EXPECT_LE(before, l.cursor);
		/* Each call looks at a step of 64 ids at least. */
		ASSERT_GE(LARGE / 64 + 1, calls);
	} while (!l.done && l.cursor < LARGE);
	timer_delete(signal_timer);
	EXPECT_GT(SIGNALS_MAX, signals_seen);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(1, l.done);
	EXPECT_EQ(LARGE - 1, t.id);
	EXPECT_EQ(77, t.cookie);
	if (variant->flags & SA_RESTART)
		EXPECT_EQ(1, calls);
	if (variant->cmd == TWHEEL_IOC_DRAIN)
		EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, LARGE - 1));
}

/* What the errno table says of a call that was interrupted. */
TEST_F(signals, interrupted_call_has_moved_on)
{
	struct twheel_timer t = {};
	struct twheel_list l = {
		.timers = (uintptr_t)&t,
		.nr = 1,
		.timer_size = sizeof(t),
	};
	int ret;

	if (variant->flags & SA_RESTART)
		SKIP(return, "restarted, it is not seen");
	ASSERT_EQ(0, signals_begin(self->period, 0));
	/* It may be quick for once. */
	do {
		l.cursor = 0;
		ASSERT_EQ(0, arm_in(self->fd, LARGE - 1, HOUR, 77));
		ret = wheel_ioctl(self->fd, variant->cmd, &l);
	} while (!ret && signals_seen < SIGNALS_MAX);
	timer_delete(signal_timer);
	ASSERT_EQ(-EINTR, ret);
	EXPECT_LT(0, l.cursor);
}

/*
 * Memory that may only be read, and numbers at their ends.
 */
TEST(words_are_mapped_for_reading_by_a_descriptor_for_reading)
{
	struct shared s = { .setup = { .capacity = CAPACITY } };
	__u64 deadline = now_ns() + HOUR;
	void *p;

	s.fd = open(DEVICE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, s.fd);
	ASSERT_EQ(0, shared_set_up(&s));
	s.capacity = CAPACITY;
	s.word = mmap(NULL, words_size(&s), PROT_READ, MAP_SHARED, s.fd, s.setup.words_offset);
	ASSERT_NE(MAP_FAILED, s.word);
	/* And it tells what the calls do. */
	ASSERT_EQ(0, arm_at(s.fd, 7, deadline, 0));
	EXPECT_EQ(deadline, wanted(&s, 7));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(s.fd, 7));
	EXPECT_EQ(0, wanted(&s, 7));
	/* It stays for reading. */
	EXPECT_EQ(-1, mprotect(s.word, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(s.word, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, s.setup.words_offset);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EACCES, errno);
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, s.fd, s.setup.words_offset);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EINVAL, errno);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, s.fd, s.setup.words_offset);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EINVAL, errno);
	shared_close(&s);
}

TEST(a_private_mapping_of_a_descriptor_for_writing_is_refused)
{
	struct shared s;
	void *p;

	ASSERT_EQ(0, shared_open(&s, CAPACITY, 0));
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, s.fd, s.setup.words_offset);
	EXPECT_EQ(MAP_FAILED, p);
	EXPECT_EQ(EINVAL, errno);
	/* Mapped for reading only, it may be written to later. */
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, s.fd, s.setup.words_offset);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_EQ(0, mprotect(p, PAGE, PROT_READ | PROT_WRITE));
	shared_close(&s);
}

TEST(deadlines_and_periods_saturate)
{
	const __u64 end = ~0ULL >> 1;
	int fd = wheel_open(O_NONBLOCK);
	struct twheel_event ev = {};
	struct twheel_timer t;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, arm_at(fd, 1, ~0ULL, 0));
	ASSERT_EQ(0, wheel_get(fd, 1, &t));
	EXPECT_EQ(end, t.deadline);
	ASSERT_EQ(0, arm_in(fd, 2, ~0ULL, 0));
	ASSERT_EQ(0, wheel_get(fd, 2, &t));
	EXPECT_EQ(end, t.deadline);
	/* The first period ends now, the second never. */
	ASSERT_EQ(0, arm_every(fd, 3, 1, end, 0));
	ASSERT_EQ(1, collect(fd, &ev, 1));
	EXPECT_EQ(3, ev.id);
	EXPECT_EQ(0, ev.flags);
	ASSERT_EQ(0, wheel_get(fd, 3, &t));
	EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
	EXPECT_EQ(end, t.deadline);
	EXPECT_EQ(-ERANGE, arm_every(fd, 4, 1, end + 1, 0));
	EXPECT_EQ(-EAGAIN, wheel_read(fd, &ev, 1));
	close(fd);
}

TEST_HARNESS_MAIN
