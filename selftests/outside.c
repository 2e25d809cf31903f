// SPDX-License-Identifier: GPL-2.0
/* Events, ids, counts, wake-ups and signals, while other threads use the same timers. */
#include "outside.h"

#define CAPACITY	512

/* A read that holds an event, while its timer is armed or cancelled. */
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

/* Ids: some are cancelled, others come due, and the kernel chooses none that is armed. */
TEST(chosen_id_is_free_until_then)
{
	struct twheel_setup setup = { .capacity = CAPACITY };
	__u32 seed = 1, id, nr = 0, fired = 0, cancelled = 0;
	struct twheel_event ev[CAPACITY];
	int fd = wheel_open(O_NONBLOCK), n;
	bool armed[CAPACITY] = {};

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	for (int i = 0; i < 20000; i++) {
		struct twheel_op op = { .id = TWHEEL_ID_ANY };

		if (nr == CAPACITY) {
			/* All that are due are read; of the others a quarter are cancelled. */
			n = wheel_read(fd, ev, CAPACITY);
			for (int k = 0; k < n; k++) {
				ASSERT_TRUE(armed[ev[k].id]);
				armed[ev[k].id] = false;
				nr--;
				fired++;
			}
			for (id = next_random(&seed) % 4; id < CAPACITY; id += 4) {
				if (!armed[id])
					continue;
				ASSERT_LE(0, wheel_cancel(fd, id));
				armed[id] = false;
				nr--;
				cancelled++;
			}
			continue;
		}
		op.deadline = now_ns() + (next_random(&seed) % 4 ? HOUR :
					  next_random(&seed) % (2 * MSEC));
		ASSERT_EQ(0, wheel_arm(fd, &op))
			TH_LOG("arm %d, %u armed, %u fired, %u cancelled", i, nr, fired, cancelled);
		ASSERT_GT(CAPACITY, op.id);
		ASSERT_FALSE(armed[op.id])
			TH_LOG("arm %d: id %u", i, op.id);
		armed[op.id] = true;
		nr++;
	}
	EXPECT_LT(0, fired);
	EXPECT_LT(0, cancelled);
	close(fd);
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

/* A step is of 64; one more, and more than a poll passes. */
FIXTURE_VARIANT_ADD(stale, a_step) { .nr = 64 };
FIXTURE_VARIANT_ADD(stale, more_than_a_step) { .nr = 65 };
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

static void *read_one(void *fd)
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
	ASSERT_EQ(0, pthread_create(&other, NULL, read_one, &fd));
	ASSERT_TRUE(held_wait(&held));
	ASSERT_EQ(0, pthread_join(other, &event));
	EXPECT_NE(NULL, event);
	EXPECT_FALSE(caller_done(&slow, 0));
	EXPECT_EQ(0, held_let(&held));
	EXPECT_TRUE(caller_done(&slow, NEVER_MS));
	held_close(&held);
	close(fd);
}

/*
 * Signals over large wheels.
 */
#define LARGE	524288U
/* Signals after which a test gives up: a call that has not ended will not. */
#define SIGNALS_MAX	20000

FIXTURE(signals) {
	int fd;
	/* Of the signals: many in the time that an undisturbed call takes. */
	__u64 period;
};

FIXTURE_VARIANT(signals) {
	int flags;
};

FIXTURE_VARIANT_ADD(signals, interrupted) { .flags = 0 };
FIXTURE_VARIANT_ADD(signals, restarted) { .flags = SA_RESTART };

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
	ASSERT_EQ(1, wheel_list(self->fd, &t, 1, &id));
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
		ret = wheel_ioctl(self->fd, TWHEEL_IOC_LIST, &l);
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
		ret = wheel_ioctl(self->fd, TWHEEL_IOC_LIST, &l);
	} while (!ret && signals_seen < SIGNALS_MAX);
	timer_delete(signal_timer);
	ASSERT_EQ(-EINTR, ret);
	EXPECT_LT(0, l.cursor);
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
	EXPECT_EQ(-ERANGE, arm_in(fd, 2, end + 1, 0));
	ASSERT_EQ(0, arm_in(fd, 2, end, 0));
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
