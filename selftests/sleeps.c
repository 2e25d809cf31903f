// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeps of a program that has nothing else to wait for, beside a timerfd's: never early, and no
 * later than by that, though a tick is a millisecond.  How late is only said where time is
 * counted in instructions (TWHEEL_COUNTED=1); elsewhere a host may stop the guest.
 */
#include <sys/timerfd.h>

#include "words_test.h"

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
FIXTURE_VARIANT_ADD(sleeps, monotonic_word) { .clock = CLOCK_MONOTONIC, .word = true };
FIXTURE_VARIANT_ADD(sleeps, boottime) { .clock = CLOCK_BOOTTIME };
FIXTURE_VARIANT_ADD(sleeps, realtime) { .clock = CLOCK_REALTIME };
FIXTURE_VARIANT_ADD(sleeps, realtime_word) { .clock = CLOCK_REALTIME, .word = true };

FIXTURE_SETUP(sleeps)
{
	self->more = getenv("TWHEEL_COUNTED") ? 100 * USEC : LATE;
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

static int compare_u64(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

static __u64 median(__u64 *late, int nr)
{
	qsort(late, nr, sizeof(*late), compare_u64);
	return late[nr / 2];
}

TEST_F(sleeps, no_later_than_by_a_timerfd)
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

/* A thousand sleepers with a wheel each: as many interrupts as they have deadlines, at most. */
TEST(sleepers_of_many_wheels)
{
	enum { NR = 1000 };
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
		EXPECT_EQ(0, s.idle_interrupts);
		close(fd[i]);
	}
}

/* How many softirqs of hrtimers there were on all CPUs. */
static unsigned long long hrtimer_softirqs(void)
{
	unsigned long long sum = 0;
	char text[65536], *at;

	if (read_file("/proc/softirqs", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "HRTIMER:");
	if (!at)
		return 0;
	for (at += strlen("HRTIMER:"); *at && *at != '\n';)
		sum += strtoull(at, &at, 10);
	return sum;
}

/*
 * A timeout for less than a tick that is cancelled, one after the other: the hrtimer fires once in
 * a tick for them, and not for each.
 */
TEST(timeouts_that_are_given_up)
{
	enum { NR = 2000 };
	int fd = wheel_open(O_NONBLOCK);
	unsigned long long softirqs;
	__u64 start, ticks;

	ASSERT_LE(0, fd);
	start = now_ns();
	softirqs = hrtimer_softirqs();
	for (int i = 0; i < NR; i++) {
		__u64 next = now_ns() + 50 * USEC;

		ASSERT_EQ(0, arm_in(fd, 1, 25 * USEC, 0));
		ASSERT_LE(0, wheel_cancel(fd, 1));
		while (now_ns() < next)
			;
	}
	softirqs = hrtimer_softirqs() - softirqs;
	ticks = (now_ns() - start) / TWHEEL_DEFAULT_TICK;
	TH_LOG("%llu softirqs in %llu ticks, %d timeouts", softirqs, (unsigned long long)ticks, NR);
	/* Others have some as well. */
	if (getenv("TWHEEL_COUNTED"))
		EXPECT_GE(ticks + ticks / 4, softirqs);
	close(fd);
}

/*
 * A timer that gets its tick to itself, because the other one was cancelled, when its deadline has
 * passed: it is due with its tick at the latest, also where an event is unread.
 */
TEST(a_timer_that_is_alone_too_late)
{
	const __u64 tick = 50 * MSEC;
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_BOOTTIME, .tick = tick,
		.levels = 3, .slots = 4, .capacity = 256,
	};
	struct twheel_event ev[4];
	__u64 end;
	int fd;

	if (getuid())
		SKIP(return, "a wheel of 4 slots needs root");
	fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	ASSERT_EQ(0, arm_at(fd, 1, 1, 0));
	end = (clock_ns(CLOCK_BOOTTIME) / tick + 9) * tick;
	/* On an upper level, and below it. */
	ASSERT_EQ(0, arm_at(fd, 2, end - MSEC, 0));
	sleep_until(now_ns() + end - 2 * tick - tick / 2 - clock_ns(CLOCK_BOOTTIME));
	ASSERT_EQ(0, arm_at(fd, 3, end - tick + 10 * MSEC, 0));
	sleep_until(now_ns() + end - tick / 2 - clock_ns(CLOCK_BOOTTIME));
	ASSERT_LE(0, wheel_cancel(fd, 2));
	sleep_until(now_ns() + 2 * tick);
	ASSERT_EQ(2, wheel_read(fd, ev, ARRAY_SIZE(ev)));
	EXPECT_EQ(3, ev[1].id);
	EXPECT_GE(end + LATE, ev[1].fired);
	TH_LOG("%lld us after its tick", (long long)(ev[1].fired - end) / (long long)USEC);
	if (getenv("TWHEEL_COUNTED"))
		EXPECT_GE(end + 100 * USEC, ev[1].fired);
	close(fd);
}

TEST_HARNESS_MAIN
