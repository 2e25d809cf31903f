// SPDX-License-Identifier: GPL-2.0
/*
 * What read() returns: whole events, in order, with what the timer was armed
 * with; nothing stale, and of a periodic timer each period once.
 *
 * Bed: plain, storm, short
 */
#include <sys/uio.h>

#include "wheel_fixture.h"

TEST_F(wheel, event_has_what_was_armed)
{
	struct twheel_event ev;
	struct twheel_op op = {
		.deadline = now_ns() + 3 * MSEC + 123,
		.cookie = 0xfedcba9876543210,
		.id = 4321,
	};

	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	memset(&ev, 0xaa, sizeof(ev));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_EQ(4321, ev.id);
	EXPECT_EQ(op.generation, ev.generation);
	EXPECT_EQ(op.cookie, ev.cookie);
	EXPECT_EQ(op.deadline, ev.deadline);
	EXPECT_LE(ev.deadline, ev.fired);
	EXPECT_GE(now_ns(), ev.fired);
	EXPECT_EQ(0, ev.overruns);
	EXPECT_EQ(TWHEEL_EVENT_LAST, ev.flags);
	EXPECT_EQ(0, ev.reserved);
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_state(self->fd, 4321));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
}

TEST_F(wheel, a_buffer_below_one_event_is_refused)
{
	char buf[sizeof(struct twheel_event)];
	struct twheel_event ev;
	size_t n;

	/* With and without something to read. */
	for (n = 0; n < sizeof(buf); n++) {
		EXPECT_EQ(-1, read(self->fd, buf, n));
		EXPECT_EQ(EINVAL, errno)
			TH_LOG("%zu bytes, empty", n);
	}
	ASSERT_EQ(0, expire(self->fd, 1));
	for (n = 0; n < sizeof(buf); n++) {
		EXPECT_EQ(-1, read(self->fd, buf, n));
		EXPECT_EQ(EINVAL, errno)
			TH_LOG("%zu bytes", n);
	}
	EXPECT_EQ(1, wheel_read(self->fd, &ev, 1));
}

TEST_F(wheel, a_read_returns_whole_events_only)
{
	struct twheel_event ev[8];
	const size_t size = sizeof(ev[0]);
	bool seen[6] = {};
	char *end = (char *)ev;
	int i;

	ASSERT_EQ(0, expire(self->fd, 6));
	memset(ev, 0x55, sizeof(ev));
	ASSERT_EQ(size, read(self->fd, end, 2 * size - 1));
	/* Bytes beyond an event are not touched. */
	for (i = size; i < 2 * size; i++)
		ASSERT_EQ(0x55, end[i]);
	end += size;
	ASSERT_EQ(2 * size, read(self->fd, end, 2 * size));
	end += 2 * size;
	/* More room than events. */
	ASSERT_EQ(3 * size, read(self->fd, end, 5 * size - 1));
	for (i = 0; i < 6; i++) {
		ASSERT_GT(6, ev[i].id);
		EXPECT_FALSE(seen[ev[i].id]);
		seen[ev[i].id] = true;
		EXPECT_EQ(ev[i].id, ev[i].cookie);
	}
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, ev, 8));
}

TEST_F(wheel, a_readv_fills_scattered_buffers)
{
	char a[32], b[20], c[100];
	struct iovec iov[] = {
		{ a, sizeof(a) }, { b, sizeof(b) }, { c, sizeof(c) },
	};
	struct twheel_event ev[3];
	char all[152];

	ASSERT_EQ(0, expire(self->fd, 4));
	ASSERT_EQ(3 * sizeof(ev[0]), readv(self->fd, iov, 3));
	memcpy(all, a, 32);
	memcpy(all + 32, b, 20);
	memcpy(all + 52, c, 100);
	memcpy(ev, all, sizeof(ev));
	EXPECT_EQ(3, (ev[0].id < 4) + (ev[1].id < 4) + (ev[2].id < 4));
	EXPECT_EQ(ev[0].id, ev[0].cookie);
	EXPECT_EQ(ev[1].id, ev[1].cookie);
	EXPECT_EQ(ev[2].id, ev[2].cookie);
	EXPECT_TRUE(ev[0].id != ev[1].id && ev[1].id != ev[2].id &&
		    ev[0].id != ev[2].id);
	/* One event is left; the sum is what counts, and here it is too small. */
	iov[0].iov_len = 20;
	iov[1].iov_len = 20;
	EXPECT_EQ(-1, readv(self->fd, iov, 2));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(1, wheel_read(self->fd, ev, 3));
}

TEST_F(wheel, a_read_returns_many_events_at_once)
{
	enum { NR = 5000 };
	struct twheel_event *ev = calloc(NR + 1, sizeof(*ev));
	bool *seen = calloc(NR, sizeof(*seen));
	int i;

	ASSERT_EQ(0, expire(self->fd, NR));
	/* One call for all of them, however it is done inside. */
	ASSERT_EQ(NR, wheel_read(self->fd, ev, NR + 1));
	for (i = 0; i < NR; i++) {
		ASSERT_GT(NR, ev[i].id);
		EXPECT_FALSE(seen[ev[i].id]);
		seen[ev[i].id] = true;
	}
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, ev, 1));
}

/*
 * Who looks late finds all that came due meanwhile, not the first tick of it.
 * Seen in zeebe #767.
 */
TEST_F(wheel, a_late_read_returns_all_that_came_due)
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

TEST_F(wheel, an_empty_wheel_is_not_the_end_of_the_file)
{
	struct twheel_event ev;
	struct iovec iov = { &ev, sizeof(ev) };
	int i;

	/* Nothing armed; armed; drained: never 0. */
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
	ASSERT_EQ(0, expire(self->fd, 1));
	EXPECT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));

	/* One call may ask not to wait, whatever the file says. */
	i = fcntl(self->fd, F_GETFL);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, i & ~O_NONBLOCK));
	EXPECT_EQ(-1, preadv2(self->fd, &iov, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, expire(self->fd, 1));
	EXPECT_EQ(sizeof(ev), preadv2(self->fd, &iov, 1, -1, RWF_NOWAIT));

	/* And F_SETFL counts at once. */
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, i));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
}

TEST_F(wheel, a_wheel_is_no_seekable_file)
{
	struct twheel_event ev;

	ASSERT_EQ(0, expire(self->fd, 1));
	EXPECT_EQ(-1, pread(self->fd, &ev, sizeof(ev), 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, write(self->fd, &ev, sizeof(ev)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(1, wheel_read(self->fd, &ev, 1));
}

TEST_F(wheel, events_come_in_order_of_ticks)
{
	enum { NR = 200 };
	struct twheel_event ev[NR];
	__u64 base = now_ns() + 500 * MSEC, tick = 0;
	__u32 seed = 1;
	int i;

	/*
	 * Armed in no order, over some turns of the lowest level, and far apart: so
	 * that no slot is heavy, which may be late among others if the host is (such
	 * slots in horizon.c, where time is exact).
	 */
	for (i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(self->fd, i,
				    base + next_random(&seed) % (600 * MSEC), 0));
	/* Timers that are armed too late have no order. */
	ASSERT_GT(base, now_ns());
	ASSERT_TRUE(wait_expired(self->fd, NR));
	ASSERT_EQ(NR, wheel_read(self->fd, ev, NR));
	for (i = 0; i < NR; i++) {
		__u64 t = (ev[i].deadline + TWHEEL_DEFAULT_TICK - 1) /
			  TWHEEL_DEFAULT_TICK;

		EXPECT_LE(tick, t)
			TH_LOG("event %d", i);
		tick = t;
	}
}

/* Never stale: a queued event is taken back by whatever comes over it. */

TEST_F(wheel, cancel_takes_back_the_event)
{
	struct twheel_event ev;

	ASSERT_EQ(0, expire(self->fd, 1));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 0));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, 0));
	EXPECT_EQ(0, wheel_poll(self->fd, 0));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, 0));
	/* A later event is not harmed. */
	ASSERT_EQ(0, expire(self->fd, 3));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, 1));
	EXPECT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_NE(1, ev.id);
	EXPECT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_NE(1, ev.id);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
}

/*
 * An event that waits is taken back by the cancel, and by the move: poll has
 * nothing to tell of it any more.
 * Seen in VPP-1923 (#696).
 */
TEST_F(wheel, a_cancel_or_a_move_takes_back_an_event_that_poll_tells_of)
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

TEST_F(wheel, rearm_takes_back_the_event)
{
	struct twheel_event ev;
	struct twheel_op op = {
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = 30 * MSEC,
		.cookie = 77,
		.id = 0,
	};
	__u64 now;

	ASSERT_EQ(0, expire(self->fd, 1));
	now = now_ns();
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, op.state);
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_LE(now + 30 * MSEC, now_ns());
	EXPECT_EQ(77, ev.cookie);
	EXPECT_EQ(op.generation, ev.generation);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));

	/* Into the past again: one event, not two. */
	ASSERT_EQ(0, expire(self->fd, 1));
	op = (struct twheel_op){ .deadline = 2, .cookie = 88, .id = 0 };
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, op.state);
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_EQ(88, ev.cookie);
	EXPECT_EQ(2, ev.deadline);
	EXPECT_EQ(op.generation, ev.generation);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
}

/*
 * A timer that is cancelled while its own event is handled was the one that the
 * hrtimer was set for: it must be set again for the others.
 * Seen in seastar #3013, PR 3092.
 */
TEST_F(wheel, a_cancel_after_its_own_event_loses_no_other_timer)
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

TEST_F(wheel, a_stale_generation_stops_nothing)
{
	struct twheel_event ev;
	struct twheel_op op = { .deadline = 1, .id = 0 };
	__u32 old;

	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	old = op.generation;
	ASSERT_TRUE(wait_expired(self->fd, 1));
	op = (struct twheel_op){ .deadline = 1, .cookie = 5, .id = 0 };
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	ASSERT_TRUE(wait_expired(self->fd, 1));
	op = (struct twheel_op){ .id = 0, .generation = old };
	EXPECT_EQ(-ESTALE, wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op));
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(5, ev.cookie);
	EXPECT_NE(old, ev.generation);

	/* A generation outlives delivery, so that the holder can re-arm. */
	op = (struct twheel_op){
		.deadline = ~0ULL,
		.id = 0,
		.generation = ev.generation,
	};
	EXPECT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, op.state);
}

/* Periodic timers */

TEST_F(wheel, a_periodic_timer_keeps_its_phase)
{
	const __u64 interval = 7 * MSEC + 13;
	__u64 first, due, before, after;
	struct twheel_event ev;
	int i;

	first = now_ns() + 5 * MSEC;
	due = first;
	ASSERT_EQ(0, arm_every(self->fd, 1, first, interval, 0));
	for (i = 0; i < 12; i++) {
		/* Some are read in time, some after several periods. */
		if (i % 3 == 2)
			sleep_until(due + 4 * interval + MSEC);
		else if (!wheel_poll(self->fd, NEVER_MS))
			break;
		before = now_ns();
		ASSERT_EQ(1, collect(self->fd, &ev, 1));
		after = now_ns();
		EXPECT_EQ(due, ev.deadline)
			TH_LOG("event %d", i);
		EXPECT_LE(due, ev.fired);
		EXPECT_EQ(0, ev.flags);
		/* The periods that had passed when it was read. */
		EXPECT_GE((after - due) / interval, ev.overruns)
			TH_LOG("event %d", i);
		/* A period is seen at a tick, never before. */
		EXPECT_LE((before - due - TWHEEL_DEFAULT_TICK) / interval *
			  (before > due + TWHEEL_DEFAULT_TICK), ev.overruns)
			TH_LOG("event %d", i);
		if (i % 3 == 2)
			EXPECT_LE(3, ev.overruns);
		due += (ev.overruns + 1) * interval;
	}
	EXPECT_EQ(12, i);
}

TEST_F(wheel, unread_periods_wait_as_one_event)
{
	const __u64 interval = 2 * MSEC;
	__u64 first = now_ns() + interval;
	struct twheel_event ev[4];
	struct twheel_timer t;
	struct twheel_stats s;

	ASSERT_EQ(0, arm_every(self->fd, 1, first, interval, 0));
	sleep_until(first + 50 * interval);
	ASSERT_TRUE(wait_expired(self->fd, 1));
	ASSERT_EQ(0, wheel_get(self->fd, 1, &t));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, t.state);
	EXPECT_EQ(first, t.deadline);
	EXPECT_LE(49, t.overruns);
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(1, s.fired);
	EXPECT_EQ(1, s.expired);
	/* As the kernel has it: a period later there would be another. */
	ASSERT_EQ(sizeof(*ev), read(self->fd, ev, sizeof(ev)));
	EXPECT_EQ(first, ev[0].deadline);
	EXPECT_LE(t.overruns, ev[0].overruns);
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(ev[0].overruns, s.overruns);
}

TEST_F(wheel, a_periodic_timer_ends_with_its_count)
{
	enum { COUNT = 15 };
	struct twheel_timer t;
	struct twheel_event ev;
	__u64 sum = 0, events = 0;

	ASSERT_EQ(0, arm_every(self->fd, 1, now_ns() + MSEC, 3 * MSEC, COUNT));
	do {
		ASSERT_EQ(1, collect(self->fd, &ev, 1));
		sum += 1 + ev.overruns;
		ASSERT_GE(COUNT, sum);
		EXPECT_EQ(sum == COUNT ? TWHEEL_EVENT_LAST : 0, ev.flags);
		ASSERT_EQ(0, wheel_get(self->fd, 1, &t));
		EXPECT_EQ(COUNT - sum, t.count);
		/* Periods that pass unread count as well. */
		if (sum == 3)
			sleep_until(now_ns() + 16 * MSEC);
		events++;
	} while (!(ev.flags & TWHEEL_EVENT_LAST));
	EXPECT_EQ(COUNT, sum);
	EXPECT_GT(COUNT, events);
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_state(self->fd, 1));
	/* No period more. */
	sleep_until(now_ns() + 20 * MSEC);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
}

TEST_F(wheel, a_count_passes_unread)
{
	struct twheel_event ev;
	__u64 first = now_ns() + MSEC;

	ASSERT_EQ(0, arm_every(self->fd, 1, first, MSEC, 5));
	ASSERT_EQ(0, arm_every(self->fd, 2, first, MSEC, 1));
	sleep_until(first + 40 * MSEC);
	ASSERT_TRUE(wait_expired(self->fd, 2));
	while (wheel_read(self->fd, &ev, 1) == 1) {
		EXPECT_EQ(ev.id == 1 ? 4 : 0, ev.overruns);
		EXPECT_EQ(TWHEEL_EVENT_LAST, ev.flags);
		EXPECT_EQ(first, ev.deadline);
	}
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_state(self->fd, 1));
	EXPECT_EQ(TWHEEL_STATE_DELIVERED, wheel_state(self->fd, 2));
}

TEST_F(wheel, a_periodic_timer_can_be_cancelled)
{
	struct twheel_event ev;

	/* Between two periods, and with its event unread. */
	ASSERT_EQ(0, arm_every(self->fd, 1, 1, HOUR, 0));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 1));
	ASSERT_EQ(0, arm_every(self->fd, 1, now_ns(), MSEC, 0));
	ASSERT_TRUE(wait_expired(self->fd, 1));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, 1));
	sleep_until(now_ns() + 20 * MSEC);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &ev, 1));
}

TEST_F(wheel, the_shortest_and_longest_periods_are_counted)
{
	static const __u64 intervals[] = {
		1, 2, TWHEEL_DEFAULT_TICK - 1, TWHEEL_DEFAULT_TICK + 1,
		1ULL << 32, (1ULL << 63) - 1,
	};
	struct twheel_event ev;
	__u64 before, after;
	int i;

	for (i = 0; i < ARRAY_SIZE(intervals); i++) {
		/* Since boot, or nearly: as many periods as there can be. */
		before = now_ns();
		ASSERT_EQ(0, arm_every(self->fd, 1, 1, intervals[i], 0));
		ASSERT_EQ(1, collect(self->fd, &ev, 1));
		after = now_ns();
		EXPECT_EQ(1, ev.deadline);
		EXPECT_LE((before - TWHEEL_DEFAULT_TICK - 1) / intervals[i],
			  ev.overruns)
			TH_LOG("interval %llu", intervals[i]);
		EXPECT_GE((after - 1) / intervals[i], ev.overruns)
			TH_LOG("interval %llu", intervals[i]);
		ASSERT_LE(0, wheel_cancel(self->fd, 1));
	}
}

/* Slack */

TEST_F(wheel, slack_gathers_timers)
{
	enum { NR = 60 };
	const __u64 slack = 200 * MSEC;
	struct twheel_event ev[NR];
	struct twheel_stats s;
	struct twheel_timer t;
	struct twheel_op op;
	__u64 base = now_ns() + 30 * MSEC;
	int i;

	for (i = 0; i < NR; i++) {
		op = (struct twheel_op){
			.deadline = base + i * MSEC,
			.slack = slack,
			.id = i,
		};
		ASSERT_EQ(0, wheel_arm(self->fd, &op));
	}
	ASSERT_EQ(0, wheel_get(self->fd, 0, &t));
	EXPECT_EQ(slack, t.slack);
	ASSERT_EQ(NR, collect(self->fd, ev, NR));
	for (i = 0; i < NR; i++) {
		EXPECT_EQ(base + ev[i].id * MSEC, ev[i].deadline);
		EXPECT_LE(ev[i].deadline, ev[i].fired);
		EXPECT_GE(ev[i].deadline + slack + LATE, ev[i].fired);
	}
	/*
	 * A window of 200 ticks has a multiple of 128 in it, and the roundest
	 * tick of each is one of the few multiples of 64 in 260 ticks.
	 */
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_GE(5, s.interrupts);
	EXPECT_EQ(NR, s.fired);
}

TEST_F(wheel, slack_may_exceed_the_period)
{
	const __u64 interval = 2 * MSEC, slack = 300 * MSEC;
	__u64 first = now_ns(), due = first;
	struct twheel_event ev;
	struct twheel_op op = {
		.deadline = first,
		.interval = interval,
		.slack = slack,
		.id = 1,
	};
	int i;

	/* Each period may be filed much further away than the interval says. */
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(1, collect(self->fd, &ev, 1));
		EXPECT_EQ(due, ev.deadline);
		EXPECT_LE(due, ev.fired);
		EXPECT_GE(due + slack + LATE, ev.fired);
		due += (ev.overruns + 1) * interval;
	}
}

TEST_F(wheel, slack_below_a_tick_is_none)
{
	struct twheel_timer t;
	struct twheel_op op = {
		.deadline = now_ns() + HOUR,
		.slack = TWHEEL_DEFAULT_TICK - 1,
		.id = 1,
	};

	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	ASSERT_EQ(0, wheel_get(self->fd, 1, &t));
	EXPECT_EQ(0, t.slack);
	EXPECT_EQ(op.deadline, t.deadline);
}

TEST_HARNESS_MAIN
