// SPDX-License-Identifier: GPL-2.0
/*
 * A test of a wheel.  In a copy of this file write tests of your own, then:
 *
 *	make grade-broken TEST=FILE
 *
 * trial.h says what you can do with a wheel, and docs/course/broken.md what is wrong with those
 * that your test has to catch.
 */
#include "trial.h"

#define MS	1000000ULL

/* A worked example: a timer comes once, at its deadline or in the tick after it. */
static void test_one_timer(void)
{
	struct trial *t = trial_new((struct trial_shape){ .tick = MS });
	struct trial_event event;
	uint32_t generation = trial_arm(t, 7, 30 * MS);

	trial_run(t, 29 * MS);
	expect(!trial_read(t, &event));
	trial_run(t, 31 * MS);
	expect(trial_told(t));
	expect(trial_read(t, &event));
	expect(event.id == 7 && event.generation == generation);
	expect(event.fired >= 30 * MS && event.fired <= 31 * MS);
	expect(!trial_read(t, &event));
	trial_free(t);
}

int main(void)
{
	test_one_timer();
	return 0;
}
