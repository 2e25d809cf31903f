// SPDX-License-Identifier: GPL-2.0
/* A wheel that is due by its own clock is not put off because others call meanwhile. */
#include "twheel_test.h"

/* So long that to come a tick late is no matter of a slow machine. */
#define TICK		(50 * MSEC)
#define ROUNDS		20

FIXTURE(calls) {
	struct twheel_setup setup;
	int fd;
};

FIXTURE_VARIANT(calls) {
	clockid_t clock;
};

FIXTURE_VARIANT_ADD(calls, monotonic) { .clock = CLOCK_MONOTONIC };
FIXTURE_VARIANT_ADD(calls, boottime) { .clock = CLOCK_BOOTTIME };
FIXTURE_VARIANT_ADD(calls, realtime) { .clock = CLOCK_REALTIME };
FIXTURE_VARIANT_ADD(calls, tai) { .clock = CLOCK_TAI };

FIXTURE_SETUP(calls)
{
	self->setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK, .clock = variant->clock, .tick = TICK,
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
 * Calls go on when the tick begins, each of which sees that something is due and an event unread.
 * Softirq, whose interrupt is due at the same time, finds the timers all the same.
 */
TEST_F(calls, do_not_put_off_what_is_due)
{
	unsigned int late = 0;
	struct twheel_event ev[8];
	__u64 begin, worst = 0;

	for (int round = 0; round < ROUNDS; round++) {
		/* One that nobody reads. */
		ASSERT_EQ(0, arm_at(self->fd, 1, 1, 0));
		begin = (clock_ns(variant->clock) / TICK + 2) * TICK;
		ASSERT_EQ(0, arm_at(self->fd, 2, begin, 0));
		ASSERT_EQ(0, arm_at(self->fd, 3, begin, 0));
		sleep_until(now_ns() + begin - clock_ns(variant->clock) - MSEC);
		while (clock_ns(variant->clock) < begin + 100 * USEC)
			ASSERT_EQ(0, arm_at(self->fd, 4, begin + HOUR, 0));
		sleep_until(now_ns() + 2 * TICK);
		ASSERT_EQ(3, wheel_read(self->fd, ev, ARRAY_SIZE(ev)));
		for (int i = 1; i < 3; i++) {
			EXPECT_LE(begin, ev[i].fired);
			worst = ev[i].fired - begin > worst ? ev[i].fired - begin : worst;
		}
		late += ev[1].fired - begin > TICK / 2;
	}
	TH_LOG("%u of %u late, by up to %llu us", late, ROUNDS, worst / USEC);
	/* A machine may stand still now and then, unless its time is instructions. */
	EXPECT_GE(getenv("TWHEEL_COUNTED") ? 0 : 1, late);
}

TEST_HARNESS_MAIN
