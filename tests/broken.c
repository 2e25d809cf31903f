// SPDX-License-Identifier: GPL-2.0
/*
 * A test that catches all the broken wheels of docs/course/broken, which check/course holds
 * against them: what a learner of the course is to come to.
 */
#include "trial.h"

#define MS	1000000ULL

static struct trial *wheel(void)
{
	return trial_new((struct trial_shape){ .tick = MS });
}

/* The next event is this timer's, neither early nor a tick late. */
static struct trial_event expect_event(struct trial *t, uint32_t id, uint64_t deadline)
{
	struct trial_event event;

	expect(trial_read(t, &event));
	expect(event.id == id);
	expect(event.deadline == deadline);
	expect(event.fired >= deadline);
	expect(event.fired < deadline + MS);
	return event;
}

static void expect_none(struct trial *t)
{
	struct trial_event event;

	expect(!trial_read(t, &event));
}

static void test_an_old_generation_cancels_nothing(void)
{
	struct trial *t = wheel();
	uint32_t first = trial_arm(t, 7, 10 * MS);
	uint32_t second = trial_arm(t, 7, 20 * MS);

	expect(second != first);
	expect(trial_cancel(t, 7, first) == TRIAL_STALE);
	trial_run(t, 30 * MS);
	expect(expect_event(t, 7, 20 * MS).generation == second);
	trial_free(t);
}

static void test_a_cancel_takes_the_event_back(void)
{
	struct trial *t = wheel();

	trial_arm(t, 7, 10 * MS);
	trial_run(t, 20 * MS);
	expect(trial_cancel(t, 7, 0) == TRIAL_EXPIRED);
	expect_none(t);
	trial_free(t);
}

static void test_a_late_reader_shifts_no_period(void)
{
	struct trial *t = wheel();

	trial_repeat(t, 7, 10 * MS, 10 * MS);
	trial_run(t, 14 * MS);
	expect_event(t, 7, 10 * MS);
	trial_run(t, 25 * MS);
	expect_event(t, 7, 20 * MS);
	trial_free(t);
}

/* Beside another one: a timer that is alone does not wait for its tick. */
static void test_no_event_is_early(void)
{
	struct trial *t = wheel();

	trial_arm(t, 7, 10 * MS + 1);
	trial_arm(t, 8, 10 * MS + MS / 2);
	trial_run(t, 10 * MS);
	expect_none(t);
	trial_run(t, 10 * MS + MS / 4);
	expect_none(t);
	trial_run(t, 12 * MS);
	for (int i = 0; i < 2; i++) {
		struct trial_event event;

		expect(trial_read(t, &event));
		expect(event.fired >= event.deadline);
	}
	trial_free(t);
}

static void test_each_batch_of_events_is_told_of(void)
{
	struct trial *t = wheel();

	trial_arm(t, 7, 10 * MS);
	trial_arm(t, 8, 20 * MS);
	trial_run(t, 15 * MS);
	expect(trial_told(t));
	expect(!trial_told(t));
	trial_run(t, 25 * MS);
	expect(trial_told(t));
	trial_free(t);
}

/* On both sides of where a level ends, on two levels. */
static void test_timers_of_all_lengths(void)
{
	for (uint64_t tick = 1; tick < 9000; tick += tick < 200 ? 1 : 61) {
		struct trial *t = wheel();

		trial_arm(t, 7, tick * MS);
		trial_run(t, (tick + 1) * MS);
		expect_event(t, 7, tick * MS);
		trial_free(t);
	}
}

/* One waits on an upper level; a step's worth and more is due before and behind it. */
static void test_a_leap_of_time_keeps_the_order(void)
{
	struct trial *t = wheel();
	struct trial_event event;
	uint64_t last = 0;

	trial_arm(t, 0, 130 * MS);
	trial_run(t, 20 * MS);
	for (uint32_t id = 1; id < 100; id++)
		trial_arm(t, id, (id < 50 ? 100 : 140) * MS);
	while (trial_step(t, 200 * MS) == 64)
		;
	for (int i = 0; i < 100; i++) {
		expect(trial_read(t, &event));
		expect(event.deadline >= last);
		last = event.deadline;
	}
	trial_free(t);
}

/* Both are in one slot of an upper level. */
static void test_a_sooner_timer_beside_a_later_one(void)
{
	struct trial *t = wheel();

	trial_arm(t, 7, 190 * MS);
	trial_arm(t, 8, 130 * MS);
	trial_run(t, 200 * MS);
	expect_event(t, 8, 130 * MS);
	expect_event(t, 7, 190 * MS);
	trial_free(t);
}

static void test_one_timer_takes_one_wakeup(void)
{
	struct trial *t = wheel();

	trial_arm(t, 7, 3600 * 1000 * MS);
	expect(trial_run(t, 3601 * 1000 * MS) == 1);
	trial_free(t);
}

static bool covered;

static void arm_again(struct trial *t)
{
	covered = trial_store(t, 7, 20 * MS);
}

static void test_a_store_while_the_hand_is_there(void)
{
	struct trial *t = trial_new((struct trial_shape){ .tick = MS, .words = true });

	trial_arm(t, 7, 10 * MS);
	expect(trial_store(t, 7, 0));
	trial_meanwhile(t, arm_again);
	trial_run(t, 10 * MS);
	if (!covered)
		trial_call(t, 7);
	trial_run(t, 30 * MS);
	expect_event(t, 7, 20 * MS);
	trial_free(t);
}

int main(void)
{
	test_an_old_generation_cancels_nothing();
	test_a_cancel_takes_the_event_back();
	test_a_late_reader_shifts_no_period();
	test_no_event_is_early();
	test_each_batch_of_events_is_told_of();
	test_timers_of_all_lengths();
	test_a_leap_of_time_keeps_the_order();
	test_a_sooner_timer_beside_a_later_one();
	test_one_timer_takes_one_wakeup();
	test_a_store_while_the_hand_is_there();
	return 0;
}
