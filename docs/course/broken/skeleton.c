// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of a timer wheel: copy this file, and write tests that fail on a wheel that is broken and
 * pass on the right one.  README.md has the hints, test.h the calls, and <linux/twheel.h> says what
 * a program may expect.
 */
#include "test.h"

/* Passes on all of them. */
static void a_timer_comes(void)
{
	__u64 deadline = now_ns() + 20 * MS;
	struct twheel_event event = { 0 };
	int wheel = wheel_open();

	arm(wheel, 7, deadline);
	check(take_until(wheel, &event, 1, deadline + 100 * MS) == 1, "a timer comes");
	check(event.id == 7 && event.deadline == deadline, "its event has its id and deadline");
	close(wheel);
}

int main(void)
{
	a_timer_comes();
	return done();
}
