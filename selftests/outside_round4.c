// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found from a fourth round on: counts that come out wrong where a
 * ring delivers.  What else they found is in abuse.c, outside_loops.c, outside_round3.c and
 * tests/timers-test.c.
 */
#include "beside.h"
#include "outside.h"

FIXTURE(successor) {
	struct shared s;
};

FIXTURE_VARIANT(successor) {
	int calls;		/* while the entry waits */
	int periods;		/* pass before each of them */
};

FIXTURE_VARIANT_ADD(successor, at_once) { .calls = 1 };
FIXTURE_VARIANT_ADD(successor, later) { .calls = 1, .periods = 2 };
FIXTURE_VARIANT_ADD(successor, twice) { .calls = 2, .periods = 1 };
FIXTURE_VARIANT_ADD(successor, past_the_last) { .calls = 1, .periods = 9 };

FIXTURE_SETUP(successor)
{
	ASSERT_EQ(0, shared_open(&self->s, 256, 256, 0));
}

FIXTURE_TEARDOWN(successor)
{
	shared_close(&self->s);
}

/*
 * The event of a timer with a count waits in the ring.  Who starts anew there calls for each
 * timer once, because it can't know for which one that went lost: neither may a
 * count end early for that, nor get back what was told.
 */
TEST_F(successor, keeps_the_count)
{
	enum { COUNT = 5, INTERVAL = 4 * MSEC };
	const struct shared *s = &self->s;
	struct twheel_entry entry;
	unsigned int told = 0, last = 0;
	__u64 next, periods;

	ASSERT_EQ(0, arm_every(s->fd, 3, now_ns() + INTERVAL, INTERVAL, COUNT));
	while (told < COUNT) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(s->fd, NEVER_MS));
		for (int i = 0; i < variant->calls; i++) {
			sleep_until(now_ns() + variant->periods * INTERVAL);
			ASSERT_EQ(0, arm_stored(s, 3));
		}
		while (ring_take(s, &entry)) {
			periods = 1 + entry.overruns;
			next = entry.flags & TWHEEL_EVENT_LAST ? 0 :
			       entry.deadline + periods * INTERVAL;
			if (!claim(s, &entry, next))
				periods = 0;
			told += periods;
			last += periods && !next;
			ASSERT_EQ(0, arm_counted(s, 3, periods));
		}
	}
	EXPECT_EQ(COUNT, told);
	EXPECT_EQ(1, last);
	sleep_until(now_ns() + 4 * INTERVAL);
	while (ring_take(s, &entry))
		EXPECT_FALSE(claim(s, &entry, 0));
	EXPECT_EQ(0, wanted(s, 3));
}

/* What is left of a timer's count. */
static __u32 count_left(const struct shared *s, __u32 id)
{
	struct twheel_timer t = {};

	return wheel_get(s->fd, id, &t) ? ~0U : t.count;
}

FIXTURE(told) {
	struct shared s;
	struct twheel_entry entry;
};

#define PERIOD	HOUR

FIXTURE_SETUP(told)
{
	ASSERT_EQ(0, shared_open(&self->s, 256, 256, 0));
	ASSERT_EQ(0, arm_every(self->s.fd, 3, now_ns(), PERIOD, 5));
	ASSERT_EQ(1, ring_take(&self->s, &self->entry));
}

FIXTURE_TEARDOWN(told)
{
	shared_close(&self->s);
}

/* Somebody moves the timer before the consumer has told what it took. */
TEST_F(told, late)
{
	const struct shared *s = &self->s;

	ASSERT_TRUE(claim(s, &self->entry, self->entry.deadline + PERIOD));
	EXPECT_EQ(1, want(s, 3, now_ns() + 2 * PERIOD));
	EXPECT_EQ(0, arm_counted(s, 3, 1));
	EXPECT_EQ(4, count_left(s, 3));
}

/* Whoever pushes a timer back by just a period has taken nothing. */
TEST_F(told, of_nothing)
{
	const struct shared *s = &self->s;
	__u64 next = self->entry.deadline + PERIOD;

	__atomic_store_n(&s->word[3].deadline, next, __ATOMIC_SEQ_CST);
	EXPECT_FALSE(claim(s, &self->entry, next));
	EXPECT_EQ(1, want_looked_at(s, 3, next));
	EXPECT_EQ(5, count_left(s, 3));
}

/* What was taken of an earlier arming is not taken from the count of this one. */
TEST_F(told, of_another_arming)
{
	const struct shared *s = &self->s;
	struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = 3, .count = 1, .generation = 1 };

	ASSERT_TRUE(claim(s, &self->entry, self->entry.deadline + PERIOD));
	ASSERT_EQ(0, arm_every(s->fd, 3, now_ns() + PERIOD, PERIOD, 2));
	EXPECT_EQ(0, wheel_arm(s->fd, &op));
	EXPECT_EQ(2, op.generation);
	EXPECT_EQ(2, count_left(s, 3));
}

/* More than there is, and of a timer that has no count: the rest is nobody's. */
TEST_F(told, more_than_there_is)
{
	const struct shared *s = &self->s;

	ASSERT_TRUE(claim(s, &self->entry, self->entry.deadline + PERIOD));
	EXPECT_EQ(0, arm_counted(s, 3, TWHEEL_MAX_COUNT));
	EXPECT_EQ(0, count_left(s, 3));
	ASSERT_EQ(0, arm_every(s->fd, 4, now_ns() + PERIOD, PERIOD, 0));
	EXPECT_EQ(0, arm_counted(s, 4, 7));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(s->fd, 4));
	EXPECT_EQ(0, count_left(s, 4));
}

/*
 * Who is woken has a higher priority than softirq, which on PREEMPT_RT may so be interrupted
 * while it wakes.  What the program does then is not the price of waking it.
 */
TEST(a_wake_up_costs_not_what_is_done_after_it)
{
	enum { TIMES = 50, PERIOD_MS = 20, WORK_MS = 10 };
	const struct sched_param priority = { .sched_priority = 50 };
	__u64 deadline, took, until;
	struct twheel_event ev;
	int fd, nr, over = 0;

	if (getuid())
		SKIP(return, "needs root for a realtime priority");
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &priority));
	for (int i = 0; i < TIMES; i++) {
		deadline = now_ns() + (PERIOD_MS - WORK_MS) * MSEC;
		ASSERT_EQ(0, arm_at(fd, 1, deadline, 0));
		do {
			nr = wheel_read(fd, &ev, 1);
		} while (nr == -EINTR);
		ASSERT_EQ(1, nr);
		took = now_ns() - deadline;
		over += took > PERIOD_MS * MSEC;
		until = now_ns() + WORK_MS * MSEC;
		while (now_ns() < until)
			;
	}
	/* A host may take the processor away now and then, but not each time. */
	EXPECT_GT(TIMES / 4, over);
	close(fd);
}

TEST_HARNESS_MAIN
