// SPDX-License-Identifier: GPL-2.0
/*
 * The long horizon: deadlines from a nanosecond to decades, ten years of a mixed
 * load, and what each costs in interrupts.  Runs in simulated time (vm/run um),
 * where code takes none: what happens, happens to the nanosecond, and nothing
 * here allows for a slow machine.
 *
 * Bed: simulated
 */
#include "simulated.h"

/*
 * Is an event on time, if something was last done with the wheel, or the hrtimer fired
 * for another, at @touched?
 */
static bool on_time(__u64 fired, __u64 when, __u64 touched)
{
	if (touched + MIN_GAP <= when)
		return fired == when;
	return fired >= when && fired <= touched + MIN_GAP;
}

/* A timer that is due later than in 2^38 ticks is looked at then, and filed again. */
static __u64 looks(__u64 span, __u64 tick)
{
	return span / (tick ? tick : MS_TICK) >> 38;
}

/* Deadlines */

FIXTURE(shape) {
	struct twheel_setup setup;
	int fd;
};

FIXTURE_VARIANT(shape) {
	struct twheel_setup setup;
	/* Whether there are timers that are looked at on the way, and delay others then. */
	bool late;
};

FIXTURE_VARIANT_ADD(shape, default) {
	.setup = {},
};

FIXTURE_VARIANT_ADD(shape, boottime) {
	.setup = { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_BOOTTIME },
};

FIXTURE_VARIANT_ADD(shape, hashed) {
	.setup = { .levels = 1, .slots = 512 }, .late = true,
};

FIXTURE_VARIANT_ADD(shape, smallest) {
	.setup = { .levels = 1, .slots = 4 }, .late = true,
};

FIXTURE_VARIANT_ADD(shape, narrow) {
	.setup = { .levels = 3, .slots = 4 }, .late = true,
};

FIXTURE_VARIANT_ADD(shape, deep) {
	.setup = { .levels = 16, .slots = 8 },
};

FIXTURE_VARIANT_ADD(shape, wide) {
	.setup = { .levels = 2, .slots = 4096 }, .late = true,
};

FIXTURE_VARIANT_ADD(shape, nanosecond) {
	.setup = { .tick = 1 }, .late = true,
};

FIXTURE_VARIANT_ADD(shape, odd) {
	.setup = { .tick = 33333333 },
};

FIXTURE_VARIANT_ADD(shape, second) {
	.setup = { .tick = SEC },
};

FIXTURE_SETUP(shape)
{
	self->setup = variant->setup;
	self->fd = wheel_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_up(self->fd, &self->setup));
}

FIXTURE_TEARDOWN(shape)
{
	close(self->fd);
}

static const __u64 spans[] = {
	1, 2, 255, 256, 999, USEC, 9999, 10 * USEC, 10001, 100 * USEC,
	MSEC - 1, MSEC, MSEC + 1, 63 * MSEC, 64 * MSEC, 65 * MSEC, 127 * MSEC,
	128 * MSEC, SEC - 1, SEC, SEC + 1, 60 * SEC, HOUR - 1, HOUR, HOUR + 1,
	DAY - 1, DAY, DAY + 1, 7 * DAY, 30 * DAY, 100 * DAY + 12345, YEAR,
};

/* One after the other, each alone: one interrupt, at the first tick at or after the deadline. */
TEST_F(shape, one_timer_is_due_to_the_nanosecond)
{
	struct twheel_event ev;
	struct twheel_stats s;
	struct twheel_timer t;
	__u64 now, when, most = ARRAY_SIZE(spans);
	int i;

	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		most += looks(spans[i], self->setup.tick);
		ASSERT_EQ(0, arm_in(self->fd, i, spans[i], i));
		ASSERT_EQ(0, wheel_get(self->fd, i, &t));
		now = clock_ns(self->setup.clock);
		ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
		EXPECT_EQ(i, ev.cookie);
		EXPECT_EQ(t.deadline, ev.deadline);
		when = tick_at(t.deadline, self->setup.tick);
		EXPECT_TRUE(on_time(ev.fired, when, now))
			TH_LOG("in %llu ns: due at %llu, fired %lld ns later",
			       spans[i], t.deadline, (long long)(ev.fired - t.deadline));
		/* The reader was awake at that time. */
		now = clock_ns(self->setup.clock);
		EXPECT_LE(ev.fired, now);
		EXPECT_GE(ev.fired + FEW, now);
	}
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	/* Those that came due on the way to sleep needed no interrupt. */
	EXPECT_GE(most, s.interrupts);
	EXPECT_LE(most - 3, s.interrupts);
}

/* Together, over all levels. */
TEST_F(shape, many_timers_are_due_to_the_tick)
{
	enum { NR = 1000 };
	__u64 tick = self->setup.tick, touched, last = 0, deadline[NR], when, interrupts, most;
	struct twheel_event ev[64];
	struct twheel_stats s;
	bool seen[NR] = {};
	__u32 seed = 4711;
	int i, n, left, exact = 0, late = 0;

	for (i = 0; i < NR; i++) {
		deadline[i] = clock_ns(self->setup.clock) + MSEC +
			      random_span(&seed, tick + MSEC, YEAR / 2);
		ASSERT_EQ(0, arm_at(self->fd, i, deadline[i], i));
	}
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	touched = clock_ns(self->setup.clock);
	for (left = NR; left; left -= n) {
		interrupts = s.interrupts;
		n = wheel_read(self->fd, ev, ARRAY_SIZE(ev));
		ASSERT_LT(0, n);
		ASSERT_EQ(0, wheel_stats(self->fd, &s));
		interrupts = s.interrupts - interrupts;
		/* No more than all others may have to be looked at before. */
		most = variant->late ? NR / ALONE * SPAN : interrupts * SPAN;
		for (i = 0; i < n; i++) {
			ASSERT_GT(NR, ev[i].id);
			ASSERT_FALSE(seen[ev[i].id]);
			seen[ev[i].id] = true;
			EXPECT_EQ(deadline[ev[i].id], ev[i].deadline);
			when = tick_at(ev[i].deadline, tick);
			/*
			 * To the nanosecond, unless others have had tokens of the same span: those
			 * of the last read, or a slot that was opened ahead by an interrupt without
			 * an event.
			 */
			if (!variant->late && interrupts == 1 && touched + SPAN <= when) {
				most = 0;
				exact++;
			}
			EXPECT_LE(when, ev[i].fired);
			EXPECT_GE((when > touched ? when : touched) + most, ev[i].fired)
				TH_LOG("due at %llu, fired %lld ns later, %llu interrupts", when,
				       (long long)(ev[i].fired - when), interrupts);
			late += !on_time(ev[i].fired, when, touched);
			EXPECT_LE(last, ev[i].fired);
			last = ev[i].fired;
		}
		touched = clock_ns(self->setup.clock);
	}
	if (!variant->late) {
		EXPECT_LT(NR * 3 / 4, exact);
		/* Few have to wait for more than the gap between two interrupts. */
		EXPECT_GE(NR / 50, late);
	}
}

/* For decades there is the one wheel. */
TEST(one_wheel_serves_for_decades)
{
	static const __u64 years[] = { 1, 4, 5, 9 };
	int fd = wheel_open(0), i;
	struct twheel_event ev;
	struct twheel_stats s;
	__u64 start, when;

	ASSERT_LE(0, fd);
	start = now_ns();
	for (i = 0; i < ARRAY_SIZE(years); i++)
		ASSERT_EQ(0, arm_at(fd, i, start + years[i] * YEAR + i, i));
	for (i = 0; i < ARRAY_SIZE(years); i++) {
		when = tick_at(start + years[i] * YEAR + i, MS_TICK);
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
		EXPECT_EQ(i, ev.id);
		EXPECT_EQ(when, ev.fired);
		EXPECT_GE(when + FEW, now_ns());
	}
	ASSERT_EQ(0, wheel_stats(fd, &s));
	EXPECT_EQ(ARRAY_SIZE(years) + looks(9 * YEAR, MS_TICK), s.interrupts);
	close(fd);
}

/* Boundaries */

FIXTURE(boundary) {
	/* Until then more come due than softirq may handle, and by how much that is late. */
	__u64 crowded, late;
	__u64 when[2000];
	int nr;
};

FIXTURE_VARIANT(boundary) {
	__u64 tick;
	unsigned int slots;
	__u64 most;
};

/* With this tick every level's boundary lies within 40 years. */
FIXTURE_VARIANT_ADD(boundary, nanosecond) {
	.tick = 1, .slots = 64, .most = 37 * YEAR,
};

FIXTURE_VARIANT_ADD(boundary, 16_microseconds) {
	.tick = 16384, .slots = 64, .most = 3 * YEAR,
};

FIXTURE_VARIANT_ADD(boundary, millisecond) {
	.tick = MS_TICK, .slots = 64, .most = 5 * YEAR,
};

FIXTURE_VARIANT_ADD(boundary, millisecond_of_16) {
	.tick = MS_TICK, .slots = 16, .most = 3 * YEAR,
};

FIXTURE_SETUP(boundary)
{
	static const int times[] = { 1, 2, 3, 4, 63, 64, 65, 126, 127, 128, 129 };
	__u64 now = now_ns() / variant->tick + 2, most, size, base;
	int i, j, side;

	/*
	 * Deadlines @times slots of each level ahead, and at the start of the slot
	 * that lies there: that tick, and the ones before and after it.
	 */
	if (variant->tick < SPAN)
		self->crowded = now_ns() + 64 * SPAN;
	most = variant->most / variant->tick;
	for (size = 1; size <= most; size *= variant->slots) {
		for (i = 0; i < ARRAY_SIZE(times); i++) {
			for (j = 0; j < 2; j++) {
				if (times[i] > most / size)
					continue;
				base = now + times[i] * size;
				if (j)
					base = base / size * size;
				for (side = -1; side <= 1; side++) {
					if (base + side <= now + 1)
						continue;
					ASSERT_GT(ARRAY_SIZE(self->when), self->nr);
					self->when[self->nr++] =
						(base + side) * variant->tick;
				}
			}
		}
		if (size > most / variant->slots)
			break;
	}
	ASSERT_LT(100, self->nr);
	qsort(self->when, self->nr, sizeof(self->when[0]), compare_u64);
	/* Looks at the others come in between. */
	if (looks(self->when[self->nr - 1], variant->tick) > self->nr)
		self->crowded = ~0ULL;
	/* In the worst case all at once, each in a visit of its own. */
	for (i = 0; i < self->nr && self->when[i] < self->crowded; i++)
		self->late = (i + 1) * (VISIT + 1 + WAKE) * SPAN / (MAX_PASS - RESERVE) + SPAN;
}

FIXTURE_TEARDOWN(boundary)
{
}

static bool in_time(__u64 fired, __u64 when, __u64 touched, __u64 crowded, __u64 late)
{
	if (when < crowded)
		return fired >= when && fired <= when + late;
	return on_time(fired, when, touched);
}

TEST_F(boundary, boundaries_are_exact_in_one_wheel)
{
	struct twheel_setup setup = { .tick = variant->tick, .slots = variant->slots };
	__u64 touched, begin;
	struct twheel_event ev;
	struct twheel_stats s;
	int fd = wheel_open(0), i, ticks = 0;

	ASSERT_LE(0, fd);
	begin = now_ns();
	ASSERT_EQ(0, set_up(fd, &setup));
	for (i = 0; i < self->nr; i++)
		ASSERT_EQ(0, arm_at(fd, i, self->when[i], i));
	touched = now_ns();
	for (i = 0; i < self->nr; i++) {
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
		EXPECT_EQ(self->when[i], ev.deadline);
		EXPECT_TRUE(in_time(ev.fired, self->when[i], touched, self->crowded,
				    self->late))
			TH_LOG("%llu ticks ahead: %lld ns late",
			       (self->when[i] - begin) / variant->tick,
			       (long long)(ev.fired - self->when[i]));
		ticks += !i || self->when[i] != self->when[i - 1];
		touched = now_ns();
	}
	ASSERT_EQ(0, wheel_stats(fd, &s));
	/* Ticks below the gap share interrupts, and crowded ones do. */
	EXPECT_GE(ticks + 2 * looks(touched - begin, variant->tick), s.interrupts);
	if (variant->tick >= SPAN)
		EXPECT_EQ(ticks, s.interrupts);
	close(fd);
}

TEST_F(boundary, boundaries_are_exact_in_a_wheel_each)
{
	struct twheel_setup setup = { .tick = variant->tick, .slots = variant->slots };
	int *fds = calloc(self->nr, sizeof(*fds)), i;
	struct twheel_event ev;
	struct twheel_stats s;
	__u64 *touched = calloc(self->nr, sizeof(*touched)), last = 0, begin = now_ns();

	ASSERT_TRUE(fds && touched);
	for (i = 0; i < self->nr; i++) {
		fds[i] = wheel_open(0);
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, set_up(fds[i], &setup));
		ASSERT_EQ(0, arm_at(fds[i], 0, self->when[i], i));
		touched[i] = now_ns();
	}
	for (i = 0; i < self->nr; i++) {
		ASSERT_EQ(1, wheel_read(fds[i], &ev, 1));
		if (touched[i] < last)
			touched[i] = last;
		last = ev.fired;
		EXPECT_TRUE(in_time(ev.fired, self->when[i], touched[i], self->crowded,
				    self->late))
			TH_LOG("%d: %lld ns late, %lld after the last", i,
			       (long long)(ev.fired - self->when[i]),
			       (long long)(self->when[i] - touched[i]));
		ASSERT_EQ(0, wheel_stats(fds[i], &s));
		/* With a tick that short, a reader is there before it. */
		EXPECT_GE(1 + looks(last - begin, variant->tick), s.interrupts);
		if (variant->tick >= SPAN && self->when[i] >= touched[i])
			EXPECT_EQ(1, s.interrupts);
		close(fds[i]);
	}
	free(fds);
	free(touched);
}

/* Ten years */

struct model {
	bool armed;
	bool late;		/* the reader slept over it */
	__u32 generation;
	__u64 deadline;
	__u64 when;		/* the tick it is due at */
	__u64 interval;
	__u64 slack;		/* as the wheel keeps it */
	__u64 cookie;
	__u32 count;
};

enum { MODEL_IDS = 1000 };

static struct model model[MODEL_IDS];

static void model_due(struct model *m)
{
	m->when = tick_with_slack(m->deadline, m->slack, MS_TICK);
}

/* The soonest that the wheel still owes. */
static __u64 model_soonest(void)
{
	__u64 soonest = ~0ULL;
	int i;

	for (i = 0; i < MODEL_IDS; i++)
		if (model[i].armed && model[i].when < soonest)
			soonest = model[i].when;
	return soonest;
}

TEST(ten_years_of_a_mixed_load_lose_nothing)
{
	__u64 begin = now_ns(), end = begin + 10 * YEAR, act, cookie = 0;
	__u64 events = 0, cancels = 0, moves = 0, arms = 0, asleep = 0, overruns = 0;
	__u64 gaps = 0;
	int fd = wheel_open(O_NONBLOCK), i, n;
	struct twheel_event ev[64];
	struct twheel_timer t;
	struct twheel_stats s;
	__u32 seed = 1997, r;

	ASSERT_LE(0, fd);
	memset(model, 0, sizeof(model));
	/* Acts in the middle of a tick, where nothing comes due. */
	act = tick_at(begin, MS_TICK) + MS_TICK / 2;
	while (act < end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		__u64 before = now_ns(), after, wait;
		struct timespec ts;

		/* Until something is due, or it is time to act. */
		wait = act > before ? act - before : 0;
		ts = (struct timespec){ wait / SEC, wait % SEC };
		if (wait) {
			ASSERT_LE(0, ppoll(&p, 1, &ts, NULL));
			before = now_ns();
			n = wheel_read(fd, ev, ARRAY_SIZE(ev));
			after = now_ns();
			ASSERT_TRUE(n > 0 || n == -EAGAIN);
		} else {
			n = 0;
		}
		for (i = 0; i < n; i++) {
			struct model *m = &model[ev[i].id];
			__u64 passed = 0;

			events++;
			ASSERT_GT(MODEL_IDS, ev[i].id);
			ASSERT_TRUE(m->armed);
			ASSERT_EQ(m->generation, ev[i].generation);
			ASSERT_EQ(m->cookie, ev[i].cookie);
			ASSERT_EQ(m->deadline, ev[i].deadline);
			/* Lateness has 25 significant bits. */
			if (ev[i].fired < m->when && ev[i].fired + (m->slack >> 24) >= m->when)
				ev[i].fired = m->when;
			if (ev[i].fired != m->when) {
				/* The hrtimer had just fired for another, or for none. */
				ASSERT_TRUE(on_time(ev[i].fired, m->when, m->when))
					TH_LOG("event %llu: due %llu, fired %llu, slack %llu",
					       events, m->when, ev[i].fired, m->slack);
				gaps++;
			}
			if (!m->late)
				ASSERT_GE((m->when > ev[i].fired ? m->when : ev[i].fired) + FEW * n,
					  before);
			if (m->interval) {
				passed = (before - m->deadline) / m->interval;
				if (passed != (after - m->deadline) / m->interval)
					passed = ev[i].overruns;
				if (m->count && passed >= m->count)
					passed = m->count - 1;
			}
			ASSERT_EQ(passed, ev[i].overruns);
			overruns += passed;
			if (!m->interval || (m->count && m->count == passed + 1)) {
				ASSERT_EQ(TWHEEL_EVENT_LAST, ev[i].flags);
				m->armed = false;
				continue;
			}
			ASSERT_EQ(0, ev[i].flags);
			m->deadline += (passed + 1) * m->interval;
			if (m->count)
				m->count -= passed + 1;
			m->late = false;
			model_due(m);
		}
		if (n > 0) {
			/* Timers that came due while the reader slept come in turn. */
			continue;
		}
		/* Nothing may be owed now. */
		ASSERT_LT(now_ns(), model_soonest());

		while (act <= now_ns()) {
			struct twheel_op op = { .id = next_random(&seed) % MODEL_IDS };
			struct model *m = &model[op.id];
			bool was = m->armed;

			r = next_random(&seed) % 16;
			if (r == 0) {
				/* The reader is away for a while. */
				asleep++;
				act += random_span(&seed, HOUR, 3 * DAY) /
				       MS_TICK * MS_TICK;
				sleep_until(act);
				for (i = 0; i < MODEL_IDS; i++)
					model[i].late = model[i].when < act;
				act += MS_TICK;
				break;
			}
			act += random_span(&seed, 40 * 60 * SEC, 6 * HOUR) /
			       MS_TICK * MS_TICK;
			if (r < 5) {
				int state = wheel_cancel(fd, op.id);

				ASSERT_EQ(was, state == TWHEEL_STATE_PENDING);
				m->armed = false;
				cancels += was;
				continue;
			}
			op.cookie = ++cookie;
			op.deadline = now_ns() + random_span(&seed, 1, 2 * YEAR);
			if (was && r < 9)
				/* To be moved later, by little or by much. */
				op.deadline = m->when + random_span(&seed, 1, YEAR);
			else if (was && r < 11 && m->deadline > now_ns() + MSEC)
				op.deadline = now_ns() + MSEC +
					(m->deadline - now_ns() - MSEC) /
					(2 + next_random(&seed) % 100);
			moves += was;
			arms++;
			if (r >= 13) {
				op.interval = random_span(&seed, 20 * MSEC, YEAR);
				op.count = 1 + next_random(&seed) % 50;
			} else if (r == 12) {
				op.interval = random_span(&seed, 7 * DAY, YEAR);
			}
			if (next_random(&seed) % 4 == 0)
				op.slack = random_span(&seed, USEC, 30 * DAY);
			ASSERT_EQ(0, wheel_arm(fd, &op));
			ASSERT_EQ(was, op.state == TWHEEL_STATE_PENDING);
			ASSERT_EQ(0, wheel_get(fd, op.id, &t));
			*m = (struct model){
				.armed = true, .generation = op.generation,
				.deadline = op.deadline, .interval = op.interval,
				.slack = t.slack, .cookie = op.cookie,
				.count = op.count,
			};
			ASSERT_GE(op.slack, t.slack);
			ASSERT_EQ(op.deadline, t.deadline);
			model_due(m);
		}
	}
	ASSERT_EQ(0, wheel_stats(fd, &s));
	TH_LOG("%llu arms, %llu of them moves, %llu cancels, %llu events, %llu overruns; "
	       "away %llu times; %llu interrupts", arms, moves, cancels, events, overruns,
	       asleep, s.interrupts);
	EXPECT_GE(5, gaps);
	EXPECT_EQ(arms, s.arms);
	EXPECT_EQ(cancels, s.cancels);
	EXPECT_EQ(events, s.delivered);
	EXPECT_EQ(events + s.expired, s.fired);
	EXPECT_EQ(overruns, s.overruns);
	EXPECT_LT(50000, events);
	/* A move later or a cancel leaves an empty look behind. */
	EXPECT_GE(events + moves + cancels, s.interrupts);
	for (i = n = 0; i < MODEL_IDS; i++)
		n += model[i].armed;
	EXPECT_EQ(n, s.pending + s.expired);
	close(fd);
}

/* Tickless */

FIXTURE(tickless) {
	int fd;
	/* In the middle of a tick. */
	__u64 start;
};

FIXTURE_SETUP(tickless)
{
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->start = tick_at(now_ns(), MS_TICK) + MS_TICK / 2;
	sleep_until(self->start);
}

FIXTURE_TEARDOWN(tickless)
{
	close(self->fd);
}

#define EXPECT_INTERRUPTS(nr) do {					\
	struct twheel_stats _s;						\
	ASSERT_EQ(0, wheel_stats(self->fd, &_s));			\
	EXPECT_EQ(nr, _s.interrupts);					\
} while (0)

/* Read all there is; how many. */
static int read_all(int fd)
{
	struct twheel_event ev[64];
	int n, sum = 0;

	while ((n = wheel_read(fd, ev, ARRAY_SIZE(ev))) > 0)
		sum += n;
	return n == -EAGAIN ? sum : n;
}

TEST_F(tickless, an_idle_wheel_takes_one_look_at_most)
{
	int i;

	/* Never used. */
	sleep_until(self->start + YEAR);
	EXPECT_INTERRUPTS(0);
	/* Used, and empty again. */
	for (i = 0; i < 60; i++)
		ASSERT_EQ(0, arm_in(self->fd, i, HOUR << (i % 12), 0));
	for (i = 0; i < 60; i++)
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, i));
	sleep_until(self->start + 3 * YEAR);
	EXPECT_INTERRUPTS(0);
	/* Armed, and not due. */
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, arm_in(self->fd, i, 2 * YEAR + i * DAY, 0));
	sleep_until(self->start + 5 * YEAR - DAY);
	EXPECT_INTERRUPTS(0);
}

TEST_F(tickless, sparse_timers_take_an_interrupt_each)
{
	enum { NR = 1000 };
	static __u64 deadline[NR];
	struct twheel_event ev;
	__u32 seed = 31;
	int i;

	/* Far apart: one interrupt for each and none to bring it down. */
	for (i = 0; i < NR; i++) {
		deadline[i] = self->start + i * (2 * YEAR / NR) +
			      random_span(&seed, MSEC, YEAR / NR);
		ASSERT_EQ(0, arm_at(self->fd, (i * 7) % NR, deadline[i], i));
	}
	for (i = 0; i < NR; i++) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, -1));
		ASSERT_EQ(1, wheel_read(self->fd, &ev, 1));
		ASSERT_EQ(i, ev.cookie);
		ASSERT_EQ(tick_at(deadline[i], MS_TICK), ev.fired);
		EXPECT_INTERRUPTS(i + 1);
	}
}

TEST_F(tickless, timers_armed_one_by_one_take_an_interrupt_each)
{
	int i;

	/* Each armed when the one before was read, at distances of every level. */
	for (i = 0; i < 400; i++) {
		ASSERT_EQ(0, arm_in(self->fd, i, 3 * MSEC << (i % 30), 0));
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, -1));
		ASSERT_EQ(1, read_all(self->fd));
		EXPECT_INTERRUPTS(i + 1);
	}
}

TEST_F(tickless, a_timer_moved_later_takes_a_look_and_an_interrupt)
{
	__u64 at = self->start;

	/* A look at the tick it once had, and the one at which it is due. */
	ASSERT_EQ(0, arm_at(self->fd, 1, at + 10 * SEC, 0));
	ASSERT_EQ(0, arm_at(self->fd, 1, at + 10 * SEC + 1, 0));
	ASSERT_EQ(0, arm_at(self->fd, 1, at + DAY, 0));
	ASSERT_EQ(0, arm_at(self->fd, 1, at + 100 * DAY, 0));
	sleep_until(at + 9 * SEC);
	EXPECT_INTERRUPTS(0);
	sleep_until(at + 11 * SEC);
	EXPECT_INTERRUPTS(1);
	sleep_until(at + 100 * DAY - SEC);
	EXPECT_INTERRUPTS(1);
	sleep_until(at + 100 * DAY + SEC);
	EXPECT_INTERRUPTS(2);
	EXPECT_EQ(1, read_all(self->fd));

	/* Moved on within its tick: one look. */
	ASSERT_EQ(0, arm_at(self->fd, 1, at + 200 * DAY, 0));
	ASSERT_EQ(0, arm_at(self->fd, 1, at + 200 * DAY + 1, 0));
	sleep_until(at + 201 * DAY);
	EXPECT_INTERRUPTS(3);
}

TEST_F(tickless, a_timer_moved_earlier_takes_one_interrupt)
{
	__u64 at = self->start;

	ASSERT_EQ(0, arm_at(self->fd, 1, at + 100 * DAY, 0));
	ASSERT_EQ(0, arm_at(self->fd, 1, at + 10 * DAY, 0));
	ASSERT_EQ(0, arm_at(self->fd, 1, at + 10 * SEC, 0));
	sleep_until(at + 11 * SEC);
	EXPECT_INTERRUPTS(1);
	EXPECT_EQ(1, read_all(self->fd));
	sleep_until(at + 101 * DAY);
	EXPECT_INTERRUPTS(1);
}

TEST_F(tickless, a_refreshed_timeout_takes_a_look_for_each_timeout)
{
	static const __u64 timeouts[] = { 2 * SEC, 60 * SEC, 300 * SEC, HOUR };
	__u64 looks = 0, fires = 0;
	int i;

	/* A timeout that every packet pushes back: a look for each timeout. */
	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		__u64 filed = 0, now, deadline = 0, until;

		now = now_ns();
		until = now + 20 * timeouts[i];
		while (now < until) {
			deadline = now_ns() + timeouts[i];
			ASSERT_EQ(0, arm_at(self->fd, i, deadline, 0));
			if (!filed)
				filed = deadline;
			/* Never as a look takes place. */
			now += timeouts[i] / 7 + MSEC;
			sleep_until(now);
			if (tick_at(filed, MS_TICK) <= now) {
				looks++;
				filed = deadline;
			}
		}
		EXPECT_INTERRUPTS(looks + fires);
		/* Silence. */
		looks += filed < deadline;
		fires++;
		sleep_until(deadline + timeouts[i]);
		EXPECT_INTERRUPTS(looks + fires);
		EXPECT_EQ(1, read_all(self->fd));
	}
	EXPECT_LE(4 * 19, looks);
}

TEST_F(tickless, a_cancelled_timer_takes_one_look_at_most)
{
	__u64 at = self->start;

	/* The soonest of two: the hrtimer stays, which is one look. */
	ASSERT_EQ(0, arm_at(self->fd, 1, at + DAY, 0));
	ASSERT_EQ(0, arm_at(self->fd, 2, at + 90 * DAY, 0));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 1));
	sleep_until(at + 2 * DAY);
	EXPECT_INTERRUPTS(1);
	sleep_until(at + 89 * DAY);
	EXPECT_INTERRUPTS(1);
	sleep_until(at + 91 * DAY);
	EXPECT_INTERRUPTS(2);
	EXPECT_EQ(1, read_all(self->fd));

	/* The later of two. */
	at = now_ns();
	ASSERT_EQ(0, arm_at(self->fd, 1, at + DAY, 0));
	ASSERT_EQ(0, arm_at(self->fd, 2, at + 90 * DAY, 0));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 2));
	sleep_until(at + 100 * DAY);
	EXPECT_INTERRUPTS(3);
	EXPECT_EQ(1, read_all(self->fd));
}

TEST_F(tickless, a_hundred_cancelled_timers_take_few_looks)
{
	__u64 at = self->start;
	int i;

	/* The hundred soonest, each at another time: one look for 64 entries, or a day ahead. */
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, arm_at(self->fd, i, at + DAY + i * HOUR, 0));
	ASSERT_EQ(0, arm_at(self->fd, 100, at + 50 * DAY, 0));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, i));
	sleep_until(at + 51 * DAY);
	EXPECT_INTERRUPTS(4);
	EXPECT_EQ(1, read_all(self->fd));
}

TEST_F(tickless, requests_answered_in_time_take_no_interrupt)
{
	static const __u64 timeouts[] = { 30 * MSEC, SEC, 60 * SEC, HOUR, 30 * DAY };
	int i, j;

	/* One request after the other, each answered in time: none at all. */
	for (j = 0; j < ARRAY_SIZE(timeouts); j++) {
		for (i = 0; i < 20; i++) {
			ASSERT_EQ(0, arm_in(self->fd, 1, timeouts[j], 0));
			sleep_until(now_ns() + timeouts[j] / (i + 2));
			ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 1));
			sleep_until(now_ns() + 3 * timeouts[j]);
		}
		EXPECT_INTERRUPTS(0);
	}
	/* What the last ones left behind makes nobody look either. */
	ASSERT_EQ(0, arm_in(self->fd, 2, DAY, 0));
	sleep_until(now_ns() + 2 * DAY);
	EXPECT_INTERRUPTS(1);
}

TEST_F(tickless, timers_of_one_tick_share_an_interrupt)
{
	__u64 at = tick_at(self->start + 30 * DAY, MS_TICK);
	int i;

	/* All of a pass's worth in one tick: from its first ns to its last. */
	for (i = 0; i < ALONE; i++)
		ASSERT_EQ(0, arm_at(self->fd, i, at - i * (MS_TICK / ALONE), 0));
	sleep_until(at + DAY);
	EXPECT_INTERRUPTS(1);
	EXPECT_EQ(ALONE, read_all(self->fd));

	/* Brought together by slack. */
	at = now_ns();
	for (i = 0; i < ALONE; i++) {
		struct twheel_op op = {
			.id = i, .deadline = at + DAY + i * SEC, .slack = HOUR,
		};

		ASSERT_EQ(0, wheel_arm(self->fd, &op));
	}
	sleep_until(at + 2 * DAY);
	EXPECT_INTERRUPTS(2);
	EXPECT_EQ(ALONE, read_all(self->fd));
}

TEST_F(tickless, periods_take_an_interrupt_for_each_read)
{
	__u64 at = self->start;
	int i;

	/* One for each that is read; none for those that nobody reads. */
	ASSERT_EQ(0, arm_every(self->fd, 1, at + SEC, 7 * SEC, 0));
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, -1));
		ASSERT_EQ(1, read_all(self->fd));
		EXPECT_INTERRUPTS(i + 1);
	}
	sleep_until(now_ns() + 100 * DAY);
	EXPECT_INTERRUPTS(1001);
	EXPECT_EQ(1, read_all(self->fd));
}

TEST_F(tickless, a_crowd_takes_an_interrupt_more_than_its_ticks)
{
	int i;

	/* Over ten ticks, and more than a visit takes: the first tick needs two. */
	for (i = 0; i < MAX_PASS; i++)
		ASSERT_EQ(0, arm_at(self->fd, i,
				    self->start + 40 * DAY + i % 10 * MS_TICK, 0));
	sleep_until(self->start + 41 * DAY);
	EXPECT_INTERRUPTS(10 + 1);
	EXPECT_EQ(MAX_PASS, read_all(self->fd));
}

TEST_F(tickless, a_heavy_slot_takes_an_interrupt_for_each_step)
{
	int i;

	/*
	 * Ten passes' worth in one upper slot: ten more looks to bring it down, all in
	 * softirq, because no call is made.
	 */
	for (i = 0; i < 10 * ALONE; i++)
		ASSERT_EQ(0, arm_at(self->fd, i,
				    self->start + 40 * DAY + i % 10 * MS_TICK, 0));
	sleep_until(self->start + 41 * DAY);
	EXPECT_INTERRUPTS(10 + 10);
	EXPECT_EQ(10 * ALONE, read_all(self->fd));
}

/* In order */

/* An event that nobody reads does not keep softirq from that: the first of the slot is on time. */
TEST(a_heavy_slot_is_on_time_beside_an_unread_event)
{
	enum { FIRST = 20000 };
	const __u64 tick = 10 * MS_TICK;
	struct twheel_setup setup = { .tick = tick };
	struct twheel_event ev[2];
	int fd = wheel_open(O_NONBLOCK);
	__u64 due;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	ASSERT_EQ(0, arm_in(fd, FIRST + 1, 1, 0));
	due = now_ns() + 40 * DAY;
	ASSERT_EQ(0, arm_at(fd, FIRST, due, 0));
	for (int i = 0; i < FIRST; i++)
		ASSERT_EQ(0, arm_at(fd, i, due + 2 * tick, 0));
	sleep_until(due + tick);
	ASSERT_EQ(2, wheel_read(fd, ev, 2));
	EXPECT_EQ(FIRST, ev[1].id);
	EXPECT_LE(due, ev[1].fired);
	EXPECT_GE(tick_at(due, tick), ev[1].fired);
	close(fd);
}

TEST_F(tickless, events_come_in_order_of_ticks_from_heavy_slots)
{
	enum { NR = 1000 };
	__u64 base = self->start + DAY, last = 0, when;
	struct twheel_event ev[NR];
	__u32 seed = 1;
	int i;

	/* Armed in no order, some hundred in each slot that has to come down. */
	for (i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(self->fd, i, base + next_random(&seed) % (150 * MS_TICK),
				    0));
	sleep_until(base + DAY);
	ASSERT_EQ(NR, wheel_read(self->fd, ev, NR));
	for (i = 0; i < NR; i++) {
		when = tick_at(ev[i].deadline, MS_TICK);
		EXPECT_LE(last, when)
			TH_LOG("event %d", i);
		EXPECT_LE(when, ev[i].fired);
		EXPECT_GE(when + MS_TICK, ev[i].fired);
		last = when;
	}
}

/* Bounded */

FIXTURE(million) {
	struct twheel_event ev[4096];
	int fd;
};

FIXTURE_VARIANT(million) {
	/* Where the slot is: in so many ns; and how far its timers are apart. */
	__u64 in;
	__u64 apart;
};

/* Slots of 4 s, 4 min and 12 days. */
FIXTURE_VARIANT_ADD(million, at_one_tick) {
	.in = 12 * SEC, .apart = 0,
};

FIXTURE_VARIANT_ADD(million, over_a_slot_of_level_2) {
	.in = 12 * SEC, .apart = 4000,
};

FIXTURE_VARIANT_ADD(million, over_a_slot_of_level_3) {
	.in = 20 * 60 * SEC, .apart = 250000,
};

FIXTURE_VARIANT_ADD(million, in_a_slot_of_level_5) {
	.in = 60 * DAY, .apart = 4000,
};

FIXTURE_SETUP(million)
{
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(million)
{
	close(self->fd);
}

TEST_F(million, a_cascade_of_a_million_delays_others_by_bounded_steps)
{
	enum { NR = 1000000, OTHERS = 4000 };
	struct twheel_setup setup = { .capacity = NR + OTHERS };
	__u64 slot = MS_TICK << 12, first, last, others, when, latest = 0;
	__u64 seen = 0, late = 0;
	struct twheel_stats s;
	int i, n;

	ASSERT_EQ(0, set_up(self->fd, &setup));
	/* The start of a slot that has room for them. */
	while (slot < NR * variant->apart || slot < variant->in / 64)
		slot *= 64;
	first = tick_at(now_ns() + variant->in, slot);
	last = first + NR * variant->apart;
	ASSERT_EQ(0, arm_range(self->fd, 0, NR, first + 1, variant->apart));
	/* Others: at each tick around the time when the slot comes down. */
	others = first - 3500 * MS_TICK;
	ASSERT_EQ(0, arm_range(self->fd, NR, OTHERS, others, MS_TICK));

	while (seen < NR + OTHERS) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, -1));
		while ((n = wheel_read(self->fd, self->ev, ARRAY_SIZE(self->ev))) > 0) {
			seen += n;
			for (i = 0; i < n; i++) {
				when = tick_at(self->ev[i].deadline, MS_TICK);
				ASSERT_LE(when, self->ev[i].fired);
				late = self->ev[i].fired - when;
				if (late > latest)
					latest = late;
				if (self->ev[i].id >= NR)
					ASSERT_GE(MS_TICK, late);
			}
		}
		ASSERT_EQ(-EAGAIN, n);
	}
	EXPECT_LE(last, now_ns() + MS_TICK);
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	TH_LOG("%llu interrupts, at most %llu ns late", s.interrupts, latest);
	EXPECT_GE(MS_TICK, latest);
	EXPECT_EQ(NR + OTHERS, s.delivered);
}

/* Of timers that wait to be read, over many wheels. */
static __u64 sum_fired(const int *fds, int nr)
{
	struct twheel_stats s;
	__u64 sum = 0;
	int i;

	for (i = 0; i < nr; i++)
		sum += wheel_stats(fds[i], &s) ? 1000000000 : s.fired;
	return sum;
}

FIXTURE(thousand) {
	int fds[1000];
};

FIXTURE_VARIANT(thousand) {
	int timers;
};

FIXTURE_VARIANT_ADD(thousand, of_one) {
	.timers = 1,
};

FIXTURE_VARIANT_ADD(thousand, of_seven) {
	.timers = 7,
};

FIXTURE_VARIANT_ADD(thousand, of_a_hundred) {
	.timers = 100,
};

FIXTURE_SETUP(thousand)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(self->fds); i++) {
		self->fds[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, self->fds[i]);
	}
}

FIXTURE_TEARDOWN(thousand)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(self->fds); i++)
		close(self->fds[i]);
}

/* How long it takes to find so many timers of each of a user's wheels. */
static __u64 rounds(int wheels, int timers)
{
	__u64 ns = 0;
	int n;

	for (; timers; timers -= n) {
		n = timers < TURN ? timers : TURN;
		ns += wheels * (VISIT + n + WAKE) * SPAN / (MAX_PASS - RESERVE) + MS_TICK;
	}
	return ns;
}

TEST_F(thousand, a_thousand_wheels_share_the_bound_of_one)
{
	int nr = ARRAY_SIZE(self->fds), i, n, all = nr * variant->timers;
	__u64 when = tick_at(now_ns() + DAY, MS_TICK), worst = rounds(nr, variant->timers);
	static struct twheel_event ev[128];
	struct twheel_stats s;

	for (i = 0; i < nr; i++)
		ASSERT_EQ(0, arm_range(self->fds[i], 0, variant->timers, when, 0));
	sleep_until(when - MS_TICK / 2);
	EXPECT_EQ(0, sum_fired(self->fds, nr));
	/*
	 * All are due in the same softirq, and nobody reads: what is found in each span
	 * is what a user may have of it, over all wheels.
	 */
	for (i = 0; i < 10; i++) {
		sleep_until(when + i * SPAN + SPAN / 2);
		n = sum_fired(self->fds, nr);
		EXPECT_LT(0, n);
		EXPECT_GE((i + 1) * MAX_PASS, n);
	}
	/* Each wheel in its turn, until it is done. */
	sleep_until(when + worst);
	EXPECT_EQ(all, sum_fired(self->fds, nr));
	for (i = 0; i < nr; i++) {
		ASSERT_EQ(0, wheel_stats(self->fds[i], &s));
		/* Its turns, of which one may be shorter. */
		ASSERT_GE((variant->timers + TURN - 1) / TURN + 1, s.interrupts);
		n = wheel_read(self->fds[i], ev, ARRAY_SIZE(ev));
		ASSERT_EQ(variant->timers, n);
		while (n--) {
			EXPECT_LE(when, ev[n].fired);
			EXPECT_GE(when + worst, ev[n].fired);
		}
	}
}

/* Somebody who waits for one of them waits for a turn of the others, and no more. */
TEST_F(thousand, a_reader_waits_for_one_turn_of_a_thousand_wheels)
{
	__u64 when = tick_at(now_ns() + DAY, MS_TICK);
	int nr = ARRAY_SIZE(self->fds), i;
	struct twheel_event ev;

	for (i = 0; i < nr; i++)
		ASSERT_EQ(0, arm_range(self->fds[i], 0, variant->timers, when, 0));
	ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fds[nr - 1], -1));
	ASSERT_EQ(1, wheel_read(self->fds[nr - 1], &ev, 1));
	when += rounds(nr, variant->timers < TURN ? variant->timers : TURN);
	EXPECT_GE(when, ev.fired);
	EXPECT_GE(when + FEW, now_ns());
}

TEST_HARNESS_MAIN
