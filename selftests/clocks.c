// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks that jump: the wall clock, set back and forth, and BOOTTIME over a suspend.  Runs in
 * simulated time (vm/run um), where nothing else can be at fault if an event is a nanosecond off.
 *
 * Bed: simulated
 */
#include "simulated.h"

#define ALARM	"/sys/class/rtc/rtc0/wakealarm"

/* Between two ticks of the kernel itself: HZ is 100 in User-Mode Linux. */
#define JIFFY	(10 * MSEC)

/* What makes a clock jump. */
enum jump_kind {
	BY_SETTIME,
	BY_SUSPEND,
};

FIXTURE(clock) {
	clockid_t clock;
	int fd;
	const char *missing;
	/* The wall clock as it was. */
	__u64 wall;
};

FIXTURE_VARIANT(clock) {
	clockid_t clock;
	enum jump_kind kind;
};

FIXTURE_VARIANT_ADD(clock, realtime) {
	.clock = CLOCK_REALTIME, .kind = BY_SETTIME,
};

FIXTURE_VARIANT_ADD(clock, boottime_suspend) {
	.clock = CLOCK_BOOTTIME, .kind = BY_SUSPEND,
};

FIXTURE_VARIANT_ADD(clock, realtime_suspend) {
	.clock = CLOCK_REALTIME, .kind = BY_SUSPEND,
};

/* Sleep as a machine does, until the alarm of its clock: whole seconds. */
static int suspend(__u64 ns)
{
	int ret;

	write_file(ALARM, "0");
	ret = write_file(ALARM, "+%llu", ns / SEC);
	return ret ?: write_file("/sys/power/state", "mem");
}

/* Make a clock jump by @ns; rounded to a second, except for BY_SETTIME. */
static int jump(enum jump_kind kind, __s64 ns)
{
	switch (kind) {
	case BY_SETTIME:
		return set_wall(clock_ns(CLOCK_REALTIME) + ns);
	case BY_SUSPEND:
		return suspend(ns);
	}
	return -EINVAL;
}

#define FAR		(5 * HOUR)

/* A suspend leads nowhere but forward. */
static bool can_jump(enum jump_kind kind, __s64 ns)
{
	return kind != BY_SUSPEND || ns > 0;
}

/* Until the clock shows it, if nobody sets it. */
static void sleep_to(clockid_t clock, __u64 when)
{
	__u64 now = clock_ns(clock);

	if (when > now)
		sleep_until(now_ns() + (when - now));
}

/* Longer than any event here may take; for ever would be a test that hangs. */
static int wait_long(int fd)
{
	struct timespec ts = { .tv_sec = 4 * YEAR / SEC };
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return ppoll(&p, 1, &ts, NULL) < 0 ? -errno : p.revents;
}

FIXTURE_SETUP(clock)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock,
	};
	self->clock = variant->clock;
	self->wall = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	if (variant->kind == BY_SUSPEND && access(ALARM, W_OK))
		self->missing = "no alarm that could end a suspend";
	else
		ASSERT_EQ(0, set_up(self->fd, &setup));
}

FIXTURE_TEARDOWN(clock)
{
	set_wall(self->wall + clock_ns(CLOCK_BOOTTIME));
	close(self->fd);
}

/* Each test skips for itself: with the harness of 6.1 a setup can't. */

TEST_F(clock, a_clock_is_as_exact_as_others)
{
	static const __u64 spans[] = {
		MSEC, MSEC + 1, 64 * MSEC, SEC, 60 * SEC, HOUR, 30 * DAY, YEAR,
	};
	struct twheel_event ev;
	struct twheel_stats s;
	__u64 when;
	int i;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		__u64 deadline = clock_ns(self->clock) + spans[i];

		when = tick_at(deadline, MS_TICK);
		ASSERT_EQ(0, arm_at(self->fd, i, deadline, i));
		ASSERT_EQ(POLLIN, wait_long(self->fd));
		ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
		EXPECT_EQ(deadline, ev.deadline);
		EXPECT_EQ(when, ev.fired);
		EXPECT_GE(when + FEW, clock_ns(self->clock));
	}
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(ARRAY_SIZE(spans), s.interrupts);
}

/* What the jump passes is due at once; what lies beyond, when it comes. */
TEST_F(clock, a_jump_forward_makes_due_what_it_passes)
{
	static const __u64 jumps[] = { 2 * SEC, 100 * SEC, DAY, 30 * DAY, 3 * YEAR };
	struct twheel_event ev[8];
	__u64 at, mono, when, far;
	int i, n, nr;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	for (i = 0; i < ARRAY_SIZE(jumps); i++) {
		if (!can_jump(variant->kind, jumps[i]))
			continue;
		at = clock_ns(self->clock);
		far = at + jumps[i] + HOUR;
		ASSERT_EQ(0, arm_at(self->fd, 0, at + SEC + 1, 0));
		ASSERT_EQ(0, arm_at(self->fd, 1, at + jumps[i] / 2, 1));
		ASSERT_EQ(0, arm_at(self->fd, 2, at + jumps[i] - 10 * MSEC, 2));
		ASSERT_EQ(0, arm_at(self->fd, 3, far, 3));
		ASSERT_EQ(0, jump(variant->kind, jumps[i]));
		EXPECT_LE(at + jumps[i], clock_ns(self->clock));
		mono = now_ns();
		for (nr = 0; nr < 3; nr += n) {
			ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 1000));
			n = wheel_read(self->fd, ev + nr, ARRAY_SIZE(ev) - nr);
			ASSERT_LT(0, n);
		}
		ASSERT_EQ(3, nr);
		/*
		 * At once; but the processor that sets a clock is itself told
		 * of it only by its next interrupt (clock_was_set() in 6.1).
		 */
		EXPECT_GE(mono + JIFFY + MS_TICK + FEW, now_ns());
		for (n = 0; n < nr; n++) {
			EXPECT_GT(3, ev[n].cookie);
			EXPECT_LE(ev[n].deadline, ev[n].fired);
			/* Lateness has 25 significant bits. */
			EXPECT_LE(at + jumps[i] - (jumps[i] >> 24), ev[n].fired);
		}
		when = tick_at(far, MS_TICK);
		ASSERT_EQ(POLLIN, wait_long(self->fd));
		ASSERT_EQ(1, wheel_read(self->fd, ev, ARRAY_SIZE(ev)));
		EXPECT_EQ(3, ev->cookie);
		EXPECT_EQ(when, ev->fired);
	}
}

/* Near deadlines are far again: timers wait until the clock gets there. */
TEST_F(clock, a_jump_backward_makes_timers_wait_again)
{
	static const __u64 jumps[] = { 2 * SEC, 100 * SEC, DAY, 30 * DAY, 3 * YEAR };
	__u64 at, when, early;
	struct twheel_event ev;
	struct twheel_stats s;
	int i;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	if (!can_jump(variant->kind, -1))
		SKIP(return, "a suspend does not lead back");
	for (i = 0; i < ARRAY_SIZE(jumps); i++) {
		if (!can_jump(variant->kind, -(__s64)jumps[i]))
			continue;
		at = clock_ns(self->clock);
		/* The wheel has turned to here. */
		ASSERT_EQ(0, arm_at(self->fd, 9, at - 1, 9));
		ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
		ASSERT_EQ(0, arm_at(self->fd, 0, at + SEC, 0));
		ASSERT_EQ(0, jump(variant->kind, -(__s64)jumps[i]));
		EXPECT_GE(at + FEW - jumps[i], clock_ns(self->clock));
		/* One that lies in the time that the wheel has passed. */
		early = at - jumps[i] + SEC;
		ASSERT_EQ(0, arm_at(self->fd, 1, early, 1));
		/* Both share a tick of the wheel, which was not set back. */
		when = tick_at(early, MS_TICK);
		ASSERT_EQ(POLLIN, wait_long(self->fd));
		ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
		EXPECT_EQ(1, ev.cookie);
		EXPECT_EQ(when, ev.fired)
			TH_LOG("back by %llu s: %lld ns late", jumps[i] / SEC,
			       (long long)(ev.fired - when));
		when = tick_at(at + SEC, MS_TICK);
		ASSERT_EQ(POLLIN, wait_long(self->fd));
		ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
		EXPECT_EQ(0, ev.cookie);
		EXPECT_EQ(when, ev.fired);
	}
	/* For each jump one that finds out, and those of the two timers. */
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	TH_LOG("%llu interrupts", s.interrupts);
	EXPECT_GE(4 * ARRAY_SIZE(jumps), s.interrupts);
}

/* Nobody calls: the hrtimer's look is what notices. */
TEST_F(clock, a_jump_backward_is_noticed_without_a_call)
{
	struct twheel_event ev;
	__u64 at, when;
	int i;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	if (!can_jump(variant->kind, -1))
		SKIP(return, "a suspend does not lead back");
	at = clock_ns(self->clock);
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, arm_at(self->fd, i, at + (i + 1) * 40 * SEC, i));
	for (i = 0; i < 10; i++) {
		/* A little before each, by more than half of it. */
		sleep_to(self->clock, at + (i + 1) * 40 * SEC - 100 * MSEC);
		ASSERT_EQ(0, jump(variant->kind, -25 * (__s64)SEC));
		when = tick_at(at + (i + 1) * 40 * SEC, MS_TICK);
		EXPECT_EQ(0, wheel_poll(self->fd, 25000));
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 102));
		ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
		EXPECT_EQ(i, ev.cookie);
		EXPECT_EQ(when, ev.fired);
	}
}

/* An expired timer stays expired, and its next period waits for the clock. */
TEST_F(clock, a_jump_backward_takes_back_no_event)
{
	struct twheel_event ev[4];
	struct twheel_timer t;
	__u64 at;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	if (!can_jump(variant->kind, -1))
		SKIP(return, "a suspend does not lead back");
	at = clock_ns(self->clock);
	ASSERT_EQ(0, arm_at(self->fd, 1, at + SEC, 1));
	ASSERT_EQ(0, arm_every(self->fd, 2, at + SEC, 3 * SEC, 0));
	sleep_to(self->clock, at + 2 * SEC);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_state(self->fd, 1));
	ASSERT_EQ(0, jump(variant->kind, -(__s64)FAR));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_state(self->fd, 1));
	ASSERT_EQ(0, wheel_get(self->fd, 2, &t));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, t.state);
	EXPECT_EQ(at + SEC, t.deadline);
	EXPECT_EQ(0, t.overruns);
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 0));
	ASSERT_EQ(2, wheel_read(self->fd, ev, 4));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(at + SEC, ev[i].deadline);
		EXPECT_EQ(tick_at(at + SEC, MS_TICK), ev[i].fired);
		EXPECT_EQ(0, ev[i].overruns);
	}
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, ev, 4));
	ASSERT_EQ(0, wheel_get(self->fd, 2, &t));
	EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
	EXPECT_EQ(at + 4 * SEC, t.deadline);
	ASSERT_EQ(POLLIN, wait_long(self->fd));
	ASSERT_EQ(1, wheel_read(self->fd, ev, 4));
	EXPECT_EQ(2, ev->id);
	EXPECT_EQ(tick_at(at + 4 * SEC, MS_TICK), ev->fired);
}

TEST_F(clock, a_jump_forward_counts_the_periods)
{
	struct twheel_event ev;
	struct twheel_timer t;
	__u64 at, now;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	at = clock_ns(self->clock);
	ASSERT_EQ(0, arm_every(self->fd, 1, at + 7 * SEC, 7 * SEC, 0));
	ASSERT_EQ(0, jump(variant->kind, FAR));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 1000));
	now = clock_ns(self->clock);
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(at + 7 * SEC, ev.deadline);
	EXPECT_EQ((now - at - 7 * SEC) / (7 * SEC), ev.overruns);
	/* In phase. */
	ASSERT_EQ(0, wheel_get(self->fd, 1, &t));
	EXPECT_EQ(0, (t.deadline - at) % (7 * SEC));
	EXPECT_LT(now, t.deadline);
	EXPECT_GE(now + 7 * SEC, t.deadline);
	ASSERT_EQ(POLLIN, wait_long(self->fd));
	ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
	EXPECT_EQ(tick_at(t.deadline, MS_TICK), ev.fired);
}

/* Jumps of all sizes in both directions while timers come and go. */
TEST_F(clock, jumps_back_and_forth_lose_nothing)
{
	enum { IDS = 200, STEPS = 1500 };
	static struct {
		bool armed;
		__u64 deadline;
		/* The latest the clock has been since. */
		__u64 latest;
	} timers[IDS];
	struct twheel_event ev[IDS];
	__u64 arms = 0, events = 0, cancels = 0, now, after, start, soonest;
	struct twheel_stats s;
	__u32 seed = 20260, id;
	int i, j, n;
	__s64 by;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	if (variant->kind == BY_SUSPEND)
		SKIP(return, "takes years");
	start = clock_ns(self->clock);
	for (i = 0; i < STEPS; i++) {
		for (j = 0; j < 5; j++) {
			id = next_random(&seed) % IDS;
			now = clock_ns(self->clock);
			if (next_random(&seed) % 8 == 0) {
				int state = wheel_cancel(self->fd, id);

				ASSERT_EQ(timers[id].armed,
					  state == TWHEEL_STATE_PENDING ||
					  state == TWHEEL_STATE_EXPIRED);
				cancels += timers[id].armed;
				timers[id].armed = false;
				continue;
			}
			cancels += timers[id].armed;
			timers[id].armed = true;
			timers[id].deadline = now + random_span(&seed, 1, 300 * DAY);
			timers[id].latest = now;
			ASSERT_EQ(0, arm_at(self->fd, id, timers[id].deadline, id));
			arms++;
		}
		/* Timers that are due by now stay due if the clock is set back. */
		now = clock_ns(self->clock);
		for (j = 0; j < IDS; j++)
			if (timers[j].latest < now)
				timers[j].latest = now;
		switch (next_random(&seed) % 4) {
		case 0:
			by = random_span(&seed, SEC, YEAR / 4);
			ASSERT_EQ(0, jump(variant->kind, by));
			break;
		case 1:
			by = random_span(&seed, SEC, YEAR / 4);
			now = clock_ns(self->clock);
			/* Not before the wheel was there, less some years. */
			if (now - by > start - 2 * YEAR)
				ASSERT_EQ(0, jump(variant->kind, -by));
			break;
		default:
			sleep_until(now_ns() + random_span(&seed, 1, DAY));
		}
		/* Two ticks are enough for all that is due to be seen. */
		now = clock_ns(self->clock);
		sleep_until(now_ns() + 2 * MS_TICK + USEC);
		n = wheel_read(self->fd, ev, IDS);
		after = clock_ns(self->clock);
		for (j = 0; j < IDS; j++)
			if (timers[j].latest < after)
				timers[j].latest = after;
		ASSERT_TRUE(n == -EAGAIN || n > 0);
		for (j = 0; j < n; j++) {
			id = ev[j].id;
			ASSERT_TRUE(timers[id].armed);
			ASSERT_EQ(timers[id].deadline, ev[j].deadline);
			/* Never before the clock was there. */
			ASSERT_LE(ev[j].deadline, ev[j].fired);
			ASSERT_LE(ev[j].fired, timers[id].latest);
			timers[id].armed = false;
			events++;
		}
		for (j = 0, soonest = ~0ULL; j < IDS; j++)
			if (timers[j].armed && timers[j].deadline < soonest)
				soonest = timers[j].deadline;
		ASSERT_LT(now, soonest)
			TH_LOG("step %d: owed for %llu ns", i, now - soonest);
	}
	/* None is lost: all come in the end. */
	for (j = n = 0; j < IDS; j++)
		n += timers[j].armed;
	while (n) {
		ASSERT_EQ(POLLIN, wait_long(self->fd));
		i = wheel_read(self->fd, ev, IDS);
		ASSERT_LT(0, i);
		for (j = 0; j < i; j++) {
			ASSERT_TRUE(timers[ev[j].id].armed);
			EXPECT_EQ(tick_at(ev[j].deadline, MS_TICK), ev[j].fired);
			timers[ev[j].id].armed = false;
		}
		n -= i;
		events += i;
	}
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(arms, s.arms);
	EXPECT_EQ(events, s.delivered);
	EXPECT_EQ(arms, events + cancels);
	EXPECT_EQ(0, s.pending);
	TH_LOG("%llu arms, %llu events, %llu interrupts", arms, events, s.interrupts);
}

/* A jump with very many armed is taken in bounded steps too. */
TEST_F(clock, a_jump_over_many_timers_is_taken_in_bounded_steps)
{
	enum { NR = 200000 };
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock, .capacity = NR,
	};
	static struct twheel_event ev[4096];
	int fd = wheel_open(O_NONBLOCK), n, sum, past;
	__u64 at, mono;

	if (self->missing)
		SKIP(return, "%s", self->missing);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	at = clock_ns(self->clock);
	/* A timer every 10 ms. */
	ASSERT_EQ(0, arm_range(fd, 0, NR, at + SEC, 10 * MSEC));
	if (can_jump(variant->kind, -1)) {
		ASSERT_EQ(0, jump(variant->kind, -(__s64)FAR));
		EXPECT_EQ(0, wheel_poll(fd, 3600000));
		ASSERT_EQ(0, jump(variant->kind, FAR - HOUR));
	}
	/* Over half of them, and then over the rest. */
	ASSERT_EQ(0, jump(variant->kind, NR / 2 * 10 * MSEC));
	past = (clock_ns(self->clock) - at - SEC) / (10 * MSEC);
	mono = now_ns();
	for (sum = 0; sum < past; sum += n) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(fd, 1000));
		n = wheel_read(fd, ev, ARRAY_SIZE(ev));
		ASSERT_LT(0, n);
	}
	EXPECT_GE(mono + 100 * MSEC, now_ns());
	EXPECT_GE(past + 11, sum);
	ASSERT_EQ(0, jump(variant->kind, NR * 10 * MSEC));
	mono = now_ns();
	for (; sum < NR; sum += n) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(fd, 1000));
		n = wheel_read(fd, ev, ARRAY_SIZE(ev));
		ASSERT_LT(0, n);
	}
	EXPECT_GE(mono + 100 * MSEC, now_ns());
	EXPECT_EQ(NR, sum);
	close(fd);
}

/* Clocks that a suspend does not move stand still over it. */
TEST(monotonic_stands_still_over_a_suspend)
{
	__u64 at = now_ns(), boot = clock_ns(CLOCK_BOOTTIME);
	int fd = wheel_open(O_NONBLOCK);
	struct twheel_event ev;
	struct twheel_stats s;

	ASSERT_LE(0, fd);
	if (access(ALARM, W_OK))
		SKIP(return, "no clock that could end a suspend");
	ASSERT_EQ(0, arm_at(fd, 1, at + 10 * SEC, 0));
	ASSERT_EQ(0, suspend(DAY));
	EXPECT_LE(boot + DAY - SEC, clock_ns(CLOCK_BOOTTIME));
	EXPECT_GE(at + SEC, now_ns());
	EXPECT_EQ(0, wheel_poll(fd, 0));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(fd, -1));
	ASSERT_EQ(1, wheel_read(fd, &ev, 1));
	EXPECT_EQ(tick_at(at + 10 * SEC, MS_TICK), ev.fired);
	ASSERT_EQ(0, wheel_stats(fd, &s));
	EXPECT_EQ(1, s.interrupts);
	close(fd);
}

TEST_HARNESS_MAIN
