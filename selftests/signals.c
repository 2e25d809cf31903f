// SPDX-License-Identifier: GPL-2.0
/*
 * A call that a signal interrupts keeps what it has done: its successor goes on from there, and
 * nothing is done twice.
 *
 * Bed: plain
 */
#include "signals.h"

/* Ids, so many that a list of them takes long. */
#define LARGE	524288U

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

FIXTURE_SETUP(signals)
{
	struct twheel_setup setup = { .capacity = LARGE };
	struct twheel_timer t;
	__u64 begin;
	__u32 id;

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

TEST_F(signals, a_list_gets_on_with_each_interrupted_call)
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
TEST_F(signals, an_interrupted_list_has_moved_its_cursor)
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

TEST(a_submit_in_a_storm_carries_out_each_operation_once)
{
	enum { NR = 200000 };
	struct twheel_setup s = { .capacity = NR };
	struct twheel_op *ops = calloc(NR, sizeof(*ops));
	struct twheel_stats stats;
	int fd, i, n, early = 0;
	__u32 failed;

	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &s));
	ASSERT_TRUE(!!ops);
	for (i = 0; i < NR; i++) {
		ops[i].opcode = TWHEEL_OP_ARM;
		ops[i].deadline = ~0ULL;
		ops[i].id = i % 2 ? TWHEEL_ID_ANY : i / 2;
	}
	ASSERT_EQ(0, signals_begin(MSEC, 0));
	for (i = 0; i < NR; i += n) {
		n = submit_once(fd, ops + i, NR - i, &failed);
		if (n == -EINTR)
			n = 0;
		ASSERT_LE(0, n);
		ASSERT_EQ(0, failed);
		early += i + n < NR;
	}
	ASSERT_EQ(0, timer_delete(signal_timer));
	/* Each was carried out once, and the signals were let in. */
	ASSERT_EQ(0, wheel_stats(fd, &stats));
	EXPECT_EQ(NR, stats.arms);
	EXPECT_EQ(NR, stats.pending);
	for (i = 0; i < NR; i++)
		ASSERT_EQ(0, ops[i].result);
	EXPECT_LT(0, early);
	close(fd);
}

TEST_HARNESS_MAIN
