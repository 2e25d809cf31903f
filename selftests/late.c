// SPDX-License-Identifier: GPL-2.0
/*
 * How late timers are found: compared with a timerfd, during other calls, and with other users
 * and wheels.
 *
 * Exact bounds are checked only where time is counted in instructions (TWHEEL_COUNTED=1), because a
 * host may stop the guest otherwise.
 *
 * Bed: counted, quiet
 */
#include <sys/timerfd.h>

#include "beside.h"
#include "words_test.h"

#define NEEDS_COUNTED	"counted time only, and root: set TWHEEL_COUNTED=1"

static bool counted(void)
{
	return getenv("TWHEEL_COUNTED") && !getuid();
}

/* Of each length; where nothing is said of how late they are, a few. */
enum { SLEEPS = 100, SLEEPS_FEW = 10 };

FIXTURE(sleeps) {
	struct shared s;
	int timerfd;
	int sleeps;
	/* How late the sleeps of one length were, ns. */
	__u64 late_timerfd[SLEEPS];
	__u64 late_wheel[SLEEPS];
	/* What they may be later than a timerfd's, ns. */
	__u64 more;
};

FIXTURE_VARIANT(sleeps) {
	clockid_t clock;
	bool word;		/* armed by a store, not by a call */
};

FIXTURE_VARIANT_ADD(sleeps, monotonic) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(sleeps, realtime) { .clock = CLOCK_REALTIME };
FIXTURE_VARIANT_ADD(sleeps, word) { .clock = CLOCK_MONOTONIC, .word = true };

FIXTURE_SETUP(sleeps)
{
	self->more = TWHEEL_DEFAULT_TICK + (getenv("TWHEEL_COUNTED") ? 100 * USEC : LATE);
	self->sleeps = getenv("TWHEEL_COUNTED") ? SLEEPS : SLEEPS_FEW;
	self->s.setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock, .capacity = 256,
	};
	self->s.fd = wheel_open(0);
	ASSERT_LE(0, self->s.fd);
	ASSERT_EQ(0, shared_set_up(&self->s));
	ASSERT_EQ(0, shared_map(&self->s));
	self->timerfd = timerfd_create(variant->clock, 0);
	ASSERT_LE(0, self->timerfd);
}

FIXTURE_TEARDOWN(sleeps)
{
	shared_close(&self->s);
	close(self->timerfd);
}

static __u64 median(__u64 *late, int nr)
{
	qsort(late, nr, sizeof(*late), compare_u64);
	return late[nr / 2];
}

/* Never early, and no later than by a timerfd and a tick. */
TEST_F(sleeps, a_sleeper_is_no_later_than_a_tick_after_a_timerfd)
{
	static const unsigned int lengths[] = { 1, 2, 5, 10, 25 };
	const struct shared *s = &self->s;
	__u64 at, by_timerfd, by_wheel;
	struct twheel_event ev;

	for (int n = 0; n < ARRAY_SIZE(lengths); n++) {
		for (int i = 0; i < self->sleeps; i++) {
			struct itimerspec it = {};
			__u64 times;

			at = clock_ns(variant->clock) + lengths[n] * MSEC;
			it.it_value.tv_sec = at / SEC;
			it.it_value.tv_nsec = at % SEC;
			ASSERT_EQ(0, timerfd_settime(self->timerfd, TFD_TIMER_ABSTIME, &it, NULL));
			ASSERT_EQ(sizeof(times), read(self->timerfd, &times, sizeof(times)));
			self->late_timerfd[i] = clock_ns(variant->clock) - at;

			at = clock_ns(variant->clock) + lengths[n] * MSEC;
			ASSERT_LE(0, variant->word ? want(s, 1, at) : arm_at(s->fd, 2, at, 0));
			ASSERT_EQ(1, wheel_read(s->fd, &ev, 1));
			ASSERT_EQ(variant->word ? 1 : 2, ev.id);
			ASSERT_EQ(at, ev.deadline);
			ASSERT_LE(at, ev.fired);
			self->late_wheel[i] = clock_ns(variant->clock) - at;
		}
		by_timerfd = median(self->late_timerfd, self->sleeps);
		by_wheel = median(self->late_wheel, self->sleeps);
		TH_LOG("%2u ms: %llu us late, by timerfd %llu", lengths[n], by_wheel / USEC,
		       by_timerfd / USEC);
		EXPECT_GE(by_timerfd + self->more, by_wheel);
	}
}

/* Many sleepers with a wheel each: as many interrupts as they have deadlines, at most. */
TEST(many_sleepers_take_an_interrupt_each)
{
	enum { NR = 200 };
	static int fd[NR];
	struct twheel_event ev;
	struct twheel_stats s;
	__u64 start;

	for (int i = 0; i < NR; i++) {
		fd[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, fd[i]);
	}
	start = now_ns() + 200 * MSEC;
	for (int i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(fd[i], 1, start + i * 7919 % NR * 100 * USEC, i));
	sleep_until(start + NR * 100 * USEC + LATE);
	for (int i = 0; i < NR; i++) {
		ASSERT_EQ(1, wheel_read(fd[i], &ev, 1));
		EXPECT_LE(ev.deadline, ev.fired);
		ASSERT_EQ(0, wheel_stats(fd[i], &s));
		EXPECT_GE(1, s.interrupts);
		close(fd[i]);
	}
}

/* Calls do not put off a wheel that is due. */

/* Longer than a slow machine makes an interrupt late. */
#define LONG_TICK	(50 * MSEC)
#define ROUNDS		20

FIXTURE(calls) {
	struct twheel_setup setup;
	int fd;
};

FIXTURE_VARIANT(calls) {
	clockid_t clock;
};

FIXTURE_VARIANT_ADD(calls, monotonic) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(calls, realtime) { .clock = CLOCK_REALTIME };

FIXTURE_SETUP(calls)
{
	self->setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock, .tick = LONG_TICK,
		.capacity = 256,
	};
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_up(self->fd, &self->setup));
}

FIXTURE_TEARDOWN(calls)
{
	close(self->fd);
}

/*
 * Calls go on when the tick begins, and each sees that timers are due and an event is unread.
 * Softirq, whose interrupt is due at the same time, finds the timers.
 */
TEST_F(calls, calls_do_not_put_off_what_is_due)
{
	unsigned int late = 0;
	struct twheel_event ev[8];
	__u64 begin, worst = 0;

	for (int round = 0; round < ROUNDS; round++) {
		/* One that nobody reads. */
		ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
		begin = (clock_ns(variant->clock) / LONG_TICK + 2) * LONG_TICK;
		ASSERT_EQ(0, arm_at(self->fd, 2, begin, 0));
		ASSERT_EQ(0, arm_at(self->fd, 3, begin, 0));
		sleep_until(now_ns() + begin - clock_ns(variant->clock) - MSEC);
		while (clock_ns(variant->clock) < begin + 100 * USEC)
			ASSERT_EQ(0, arm_at(self->fd, 4, begin + HOUR, 0));
		sleep_until(now_ns() + 2 * LONG_TICK);
		ASSERT_EQ(3, wheel_read(self->fd, ev, ARRAY_SIZE(ev)));
		for (int i = 1; i < 3; i++) {
			EXPECT_LE(begin, ev[i].fired);
			worst = ev[i].fired - begin > worst ? ev[i].fired - begin : worst;
		}
		late += ev[1].fired - begin > LONG_TICK / 2;
	}
	TH_LOG("%u of %u late, by up to %llu us", late, ROUNDS, worst / USEC);
	/* A machine may stand still now and then, unless its time is instructions. */
	EXPECT_GE(getenv("TWHEEL_COUNTED") ? 0 : 1, late);
}

/*
 * With one level timers go round, each in a slot that the hand has to pass.  In front of the
 * one that is due there are thousands of these, and nobody else on the CPU stands still for it.
 */
TEST(slots_to_pass_stop_nobody_on_the_processor)
{
	struct twheel_setup setup = {
		.levels = 1, .slots = 4096, .capacity = 16384, .tick = 100 * USEC,
	};
	enum { NR = 8200 };
	__u64 start, due, last, now, gap = 0;
	struct twheel_event ev;
	int fd;

	if (!counted())
		SKIP(return, NEEDS_COUNTED);
	fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	start = now_ns();
	for (int i = 0; i < NR; i++) {
		ASSERT_EQ(0, arm_in(fd, i, 3600 * SEC, 0));
		sleep_until(start + (i + 1) * setup.tick);
	}
	due = now_ns() + (NR - 12) * setup.tick;
	ASSERT_EQ(0, arm_at(fd, NR, due, 0));
	sleep_until(due - 10 * MSEC);
	for (last = now_ns(); last < due + 50 * MSEC; last = now) {
		now = now_ns();
		if (now - last > gap)
			gap = now - last;
	}
	ASSERT_EQ(1, wheel_read(fd, &ev, 1));
	TH_LOG("a pass of %llu us; found %llu us after its deadline", gap / USEC,
	       (ev.fired - due) / USEC);
	EXPECT_GE(MSEC, gap);
	close(fd);
}

#define DISARMED	64
#define MANY		500000

/* Arm a wheel for the next tick of any, and take that back; again and again. */
static void arm_and_disarm(const int *fd, const __u64 *tick)
{
	for (;;) {
		__u64 soon = now_ns() + 14 * USEC, due = ~0ULL, next;
		int first = 0;

		for (int i = 0; i < DISARMED; i++) {
			next = (soon + tick[i] - 1) / tick[i] * tick[i];
			if (next < due) {
				due = next;
				first = i;
			}
		}
		CHILD_CHECK(!arm_at(fd[first], 1, due, 0));
		CHILD_CHECK(wheel_cancel(fd[first], 1) >= 0);
		while (now_ns() < due)
			;
	}
}

/*
 * A wheel that is behind for a while: its timers have all been moved to later, so that softirq
 * finds nothing but work.  If @disarm, interrupts come besides that find nothing at all.
 */
static void attack(int ready, bool disarm, __u64 due)
{
	struct twheel_setup many = { .capacity = MANY };
	int fd[DISARMED], behind = wheel_open(O_NONBLOCK);
	__u64 tick[DISARMED];

	CHILD_CHECK(behind >= 0);
	for (int i = 0; i < DISARMED; i++) {
		fd[i] = wheel_open(O_NONBLOCK);
		CHILD_CHECK(fd[i] >= 0);
	}
	be(BOB);
	CHILD_CHECK(!set_up(behind, &many) && !arm_many(behind, MANY, due, 0) &&
		    !arm_many(behind, MANY, due + HOUR, 0));
	for (int i = 0; i < DISARMED; i++) {
		/* Another clock: that of the wheel which is behind fires no more in this span. */
		struct twheel_setup setup = {
			.flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_BOOTTIME,
			.tick = 100 * USEC + i * 1571,
		};

		CHILD_CHECK(!set_up(fd[i], &setup));
		tick[i] = setup.tick;
	}
	child_ready(ready);
	if (disarm)
		arm_and_disarm(fd, tick);
	for (;;)
		pause();
}

FIXTURE(late) {
};

FIXTURE_VARIANT(late) {
	bool	disarm;
};

/* One wheel alone is behind. */
FIXTURE_VARIANT_ADD(late, behind) { .disarm = false };

/* Interrupts that find nothing come besides. */
FIXTURE_VARIANT_ADD(late, disarmed) { .disarm = true };

FIXTURE_SETUP(late)
{
}

FIXTURE_TEARDOWN(late)
{
}

/*
 * Tokens of a span are kept for a user who becomes due late in it, however much another user has to
 * do; and an interrupt that finds nothing makes the span no longer.
 */
TEST_F(late, a_user_who_comes_late_does_not_wait_for_the_next_span)
{
	enum { NR = 300 };
	/* The slot is opened a slot of its level ahead, and takes five seconds from then on. */
	__u64 due = now_ns() + 10 * SEC, late[NR];
	struct twheel_event ev;
	int ready, fd;
	pid_t pid;

	if (!counted())
		SKIP(return, NEEDS_COUNTED);
	pid = fork_beside(&ready);
	if (!pid)
		attack(ready, variant->disarm, due);
	ASSERT_LT(0, pid);
	ASSERT_GT(due - 4 * SEC, now_ns());
	sleep_until(due - 4 * SEC);
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	for (int i = 0; i < NR; i++) {
		__u64 deadline = (now_ns() / MSEC + 2) * MSEC;

		ASSERT_EQ(0, arm_at(fd, 1, deadline, 0));
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
		late[i] = ev.fired - deadline;
	}
	EXPECT_TRUE(child_end(pid));
	qsort(late, NR, sizeof(*late), compare_u64);
	TH_LOG("late by %llu us, and at p90 %llu", late[NR / 2] / USEC, late[NR * 9 / 10] / USEC);
	EXPECT_GE(60 * USEC, late[NR * 9 / 10]);
	close(fd);
}

/* Arm a wheel, let its interrupt come, and disarm it, as often as one can. */
static void let_interrupts_come(void)
{
	enum { WHEELS = 24 };
	int fd[WHEELS];

	be(ALICE);
	for (unsigned int i = 0; i < WHEELS; i++) {
		struct twheel_setup setup = { .tick = TWHEEL_MIN_TICK + i * 97 + 3 };

		fd[i] = wheel_open(O_NONBLOCK);
		CHILD_CHECK(!set_up(fd[i], &setup));
	}
	for (;;) {
		__u64 now = now_ns() + 14 * USEC, begin = ~0ULL, tick, at;
		unsigned int soonest = 0;

		for (unsigned int i = 0; i < WHEELS; i++) {
			tick = TWHEEL_MIN_TICK + i * 97 + 3;
			at = (now / tick + 1) * tick;
			if (at < begin) {
				begin = at;
				soonest = i;
			}
		}
		CHILD_CHECK(!arm_at(fd[soonest], 0, begin, 0));
		while (now_ns() < begin + 4 * USEC)
			;
		CHILD_CHECK(wheel_cancel(fd[soonest], 0) >= 0);
	}
}

/* An interrupt that finds no wheel due makes no span longer. */
TEST(disarming_again_makes_no_span_longer)
{
	__u64 end = now_ns() + 600 * MSEC, late, worst = 0;
	int fd, mode;
	pid_t pid;

	if (!counted())
		SKIP(return, NEEDS_COUNTED);
	ASSERT_EQ(0, pin(0));
	mode = device_for_all();
	ASSERT_LE(0, mode);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		let_interrupts_come();
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	sleep_until(now_ns() + 50 * MSEC);
	while (now_ns() < end) {
		late = found_late(fd, (now_ns() / MSEC + 2) * MSEC);
		ASSERT_NE(~0ULL, late);
		worst = late > worst ? late : worst;
	}
	EXPECT_TRUE(child_end(pid));
	chmod(DEVICE, mode);
	TH_LOG("at most %llu us late", worst / USEC);
	EXPECT_GE(2 * MSEC, worst);
	close(fd);
}

/* Of a program that only counts, in shared memory: how far does it get? */
static __u64 counted_in(const __u64 *count, __u64 ns)
{
	__u64 before = __atomic_load_n(count, __ATOMIC_RELAXED);

	sleep_until(now_ns() + ns);
	return __atomic_load_n(count, __ATOMIC_RELAXED) - before;
}

/*
 * Wheels that want to be turned one after the other take an interrupt each.  What that takes
 * is softirq's time as well, of which all wheels together have an eighth.
 */
TEST(interrupts_are_spent_of_the_eighth)
{
	enum { NR = 200, TIMERS = 300 };
	const __u64 period = 4 * MSEC, time = 600 * MSEC;
	static int fd[NR];
	__u64 alone, beside, start, *count;
	pid_t hog;

	if (!counted())
		SKIP(return, NEEDS_COUNTED);
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	ASSERT_NE(MAP_FAILED, count);
	hog = fork();
	while (!hog)
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	ASSERT_LT(0, hog);
	alone = counted_in(count, time);
	start = now_ns() + 5 * SEC;
	for (unsigned int i = 0; i < NR; i++) {
		struct twheel_setup setup = { .tick = 100 * USEC + i };

		fd[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, fd[i]);
		/* One user each: the wheel is of who uses it first. */
		ASSERT_EQ(0, setresuid(BOB + i, BOB + i, 0));
		ASSERT_EQ(0, set_up(fd[i], &setup));
		ASSERT_EQ(0, arm_many(fd[i], TIMERS, start + i * period / NR, period));
		ASSERT_EQ(0, setresuid(0, 0, 0));
	}
	ASSERT_GT(start, now_ns());
	sleep_until(start + 100 * MSEC);
	beside = counted_in(count, time);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	TH_LOG("a hog loses %llu permille", 1000 - 1000 * beside / alone);
	EXPECT_LE(7 * alone, 8 * beside);
	EXPECT_GT(999 * alone, 1000 * beside);
	for (unsigned int i = 0; i < NR; i++)
		close(fd[i]);
}

TEST_HARNESS_MAIN
