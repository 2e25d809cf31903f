// SPDX-License-Identifier: GPL-2.0
/*
 * The bugs that timing wheels have had, where it takes a device, a clock that
 * runs and somebody who waits to have them. Named after what they prevent; the
 * others are in tests/bugs.c.
 */
#include "beside.h"

FIXTURE(wheel) {
	int fd;
};

FIXTURE_SETUP(wheel)
{
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(wheel)
{
	close(self->fd);
}

/*
 * A timer that is cancelled while its own event is handled was the one that the
 * hrtimer was set for: it must be set again for the others.
 * Seen in seastar #3013, PR 3092.
 */
TEST_F(wheel, cancel_in_its_own_event_loses_the_others)
{
	__u64 begin = now_ns(), next = begin + 40 * MSEC, last = begin + 80 * MSEC;
	struct twheel_event ev;

	ASSERT_EQ(0, arm_every(self->fd, 1, begin + 10 * MSEC, 25 * MSEC, 0));
	ASSERT_EQ(0, arm_at(self->fd, 2, next, 0));
	ASSERT_EQ(0, arm_at(self->fd, 3, last, 0));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	ASSERT_EQ(1, ev.id);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 1));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_EQ(2, ev.id);
	EXPECT_LE(next, ev.fired);

	/* Armed again in its own event, and cancelled before any look. */
	ASSERT_EQ(0, arm_at(self->fd, 2, 1, 0));
	EXPECT_LE(0, wheel_cancel(self->fd, 2));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_EQ(3, ev.id);
	EXPECT_LE(last, ev.fired);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
}

/*
 * An event that waits is taken back by the cancel, and by the move: poll has
 * nothing to tell of it any more.
 * Seen in VPP-1923 (#696).
 */
TEST_F(wheel, stale_expiry_after_a_cancel_or_a_move)
{
	struct twheel_event ev;
	__u64 later;

	ASSERT_EQ(0, expire(self->fd, 2));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 0));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, 0));
	later = now_ns() + 50 * MSEC;
	ASSERT_EQ(0, arm_at(self->fd, 1, later, 77));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_EQ(1, ev.id);
	EXPECT_EQ(77, ev.cookie);
	EXPECT_LE(later, ev.fired);
}

/*
 * A timer that is due again each time it is read does not keep others from
 * coming due, nor from being read.
 * Seen in libuv #4245, #4250.
 */
TEST_F(wheel, zero_delay_rearm_starves_the_loop)
{
	__u64 due = now_ns() + 30 * MSEC, limit = now_ns() + NEVER_MS * MSEC;
	struct twheel_event ev = {};

	ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
	ASSERT_EQ(0, arm_at(self->fd, 2, due, 0));
	while (ev.id != 2 && now_ns() < limit) {
		ASSERT_EQ(1, collect(self->fd, &ev, 1));
		if (ev.id == 1)
			ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
	}
	EXPECT_EQ(2, ev.id);
	EXPECT_GE(due + LATE, now_ns());
}

/*
 * Who looks late finds all that came due meanwhile, not the first tick of it.
 * Seen in zeebe #767.
 */
TEST_F(wheel, late_poll_handles_one_tick_only)
{
	enum { NR = 200 };
	__u64 begin = now_ns();
	struct twheel_event ev[NR + 1];
	int i;

	for (i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(self->fd, i, begin + (i + 1) * MSEC / 2, i));
	sleep_until(begin + NR * MSEC / 2 + 20 * MSEC);
	ASSERT_TRUE(wait_expired(self->fd, NR));
	EXPECT_EQ(NR, wheel_read(self->fd, ev, NR + 1));
}

/*
 * A deadline that was handled is not waited for again: no interrupt without a reason.
 * Seen in glommio PR 44, libevent #958, HAProxy 77015ab.
 */
TEST_F(wheel, next_expiry_in_the_past_spins)
{
	struct twheel_stats before, after;
	struct twheel_event ev[8];
	int i;

	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, arm_in(self->fd, i, (i + 1) * MSEC / 3, i));
	ASSERT_EQ(8, collect(self->fd, ev, 8));
	/* Cancelled, it costs one look at the most; moved away, another. */
	ASSERT_EQ(0, arm_in(self->fd, 0, 20 * MSEC, 0));
	ASSERT_LE(0, wheel_cancel(self->fd, 0));
	ASSERT_EQ(0, arm_in(self->fd, 1, 30 * MSEC, 0));
	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	ASSERT_EQ(0, wheel_stats(self->fd, &before));
	sleep_until(now_ns() + 100 * MSEC);
	ASSERT_EQ(0, wheel_stats(self->fd, &after));
	EXPECT_GE(2, after.interrupts - before.interrupts);
	EXPECT_EQ(before.fired, after.fired);
}

/*
 * A wheel that is closed gives back all it had, whatever its timers were doing.
 * Seen in RussellLuo/timingwheel PR 50.
 */
TEST_F(wheel, leak_after_stop)
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

/*
 * Cancelled timers keep neither their memory nor their ids: the wheel is as
 * large after the hundredth round as after the first.
 * Seen in netty #2561, tokio #7384.
 */
TEST_F(wheel, cancelled_but_kept_memory)
{
	enum { NR = 1000 };
	struct twheel_op op[NR];
	struct twheel_stats first, last;
	__u32 failed;
	int i, round;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < NR; i++)
			op[i] = (struct twheel_op){
				.opcode		= TWHEEL_OP_ARM,
				.flags		= TWHEEL_ARM_RELATIVE,
				.deadline	= HOUR + i * SEC,
				.id		= TWHEEL_ID_ANY,
			};
		ASSERT_EQ(NR, wheel_submit(self->fd, op, NR, &failed));
		ASSERT_EQ(0, failed);
		for (i = 0; i < NR; i++)
			op[i] = (struct twheel_op){
				.opcode	= TWHEEL_OP_CANCEL,
				.id	= op[i].id,
			};
		ASSERT_EQ(NR, wheel_submit(self->fd, op, NR, &failed));
		ASSERT_EQ(0, failed);
		ASSERT_EQ(0, wheel_stats(self->fd, round ? &last : &first));
	}
	/* As many stale entries as there were timers, and not one for each arm. */
	EXPECT_GE(first.memory + NR * 16, last.memory);
	EXPECT_EQ(0, last.pending);
}

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

TEST_F(wheel, add_during_a_flush_deadlocks)
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
 * And those that this one has had.
 */

/* A setup that fails leaves nothing behind that the next one would forget. */
TEST(levels_lost_by_a_setup_after_one_that_failed)
{
	long long limit = file_value(PARAMETERS "max_user_timers", NULL);
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_WORDS, .capacity = 1024 };
	struct twheel_stats before, after;
	int fd, err;

	if (getuid())
		SKIP(return, "needs root to set limits");
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, wheel_stats(fd, &before));
	ASSERT_LT(0, limit);
	/* It has a page of words by the time when there is no room for their timers. */
	ASSERT_EQ(0, write_file(PARAMETERS "max_user_timers", "512"));
	err = set_up(fd, &setup);
	EXPECT_EQ(0, write_file(PARAMETERS "max_user_timers", "%lld", limit));
	if (err == -EOPNOTSUPP)
		SKIP(return, "this kernel has no words");
	EXPECT_EQ(-EDQUOT, err);
	ASSERT_EQ(0, wheel_stats(fd, &after));
	EXPECT_EQ(before.memory, after.memory);
	EXPECT_EQ(0, set_up(fd, &setup));
	close(fd);
}

/*
 * An arm that waits for memory while a setup makes the wheel smaller: its id is
 * beyond the end of what there is by then.
 */
static void *arm_high(void *arg)
{
	return (void *)(long)arm_in(*(int *)arg, TWHEEL_DEFAULT_CAPACITY - 1, HOUR, 0);
}

TEST(memory_for_an_id_that_a_setup_has_done_away_with)
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
		SKIP(return, "this kernel has no words");
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

/*
 * The clock is set back while hrtimers are called that were due before: those that are
 * set again are due at once, by the time that the kernel still goes by, and so is the
 * next one.  It went on until the clock was again where it had been.
 */
#define WHEELS	128

struct busy {
	int fd[WHEELS];
	bool stop;
};

/* Each wheel looks in each tick, on this processor; a move needs no event for that. */
static void *keep_busy(void *arg)
{
	struct busy *b = arg;
	int ret = pin(0);

	while (!ret && !__atomic_load_n(&b->stop, __ATOMIC_RELAXED))
		for (int i = 0; i < WHEELS && !ret; i++)
			ret = arm_at(b->fd[i], 0, clock_ns(CLOCK_REALTIME) + MSEC, 0);
	return (void *)(long)ret;
}

TEST(clock_set_back_while_hrtimers_are_called)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = CLOCK_REALTIME,
	};
	__u64 start = now_ns(), ahead = clock_ns(CLOCK_REALTIME) - start, most;
	const int sets = 100;
	struct busy b = {};
	struct twheel_stats stats;
	pthread_t thread;
	void *failed;

	if (getuid())
		SKIP(return, "only root may set the clock");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	for (int i = 0; i < WHEELS; i++) {
		b.fd[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, b.fd[i]);
		ASSERT_EQ(0, set_up(b.fd[i], &setup));
	}
	ASSERT_EQ(0, pthread_create(&thread, NULL, keep_busy, &b));
	ASSERT_EQ(0, pin(1));
	for (int i = 0; i < sets; i++) {
		ASSERT_EQ(0, set_wall(now_ns() + ahead + 2 * SEC));
		sleep_until(now_ns() + 2 * MSEC);
		ASSERT_EQ(0, set_wall(now_ns() + ahead));
		sleep_until(now_ns() + 20 * MSEC);
	}
	__atomic_store_n(&b.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
	/* One in a tick, and one for each time that it is set. */
	most = (now_ns() - start) / MSEC + 2 * sets;
	for (int i = 0; i < WHEELS; i++) {
		ASSERT_EQ(0, wheel_stats(b.fd[i], &stats));
		EXPECT_GE(most, stats.interrupts);
		close(b.fd[i]);
	}
}

TEST_HARNESS_MAIN
