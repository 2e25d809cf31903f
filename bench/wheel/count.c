// SPDX-License-Identifier: GPL-2.0
/*
 * A fixed program of operations for callgrind to count the instructions of:
 * ./count runs it. Writes how often it did each; the loops around them are
 * counted too. Always the same: no clock, no addresses, one seed.
 */
#include "counting.h"

/* Not a variable by itself: the compiler is not to know where it is. */
static struct wheel *wheel;

static void open_wheel(void)
{
	wheel = host_alloc(sizeof(*wheel));
	if (!unit_open(wheel, TIMERS, 1000, START))
		fail("no memory");
	for (u32 i = 0; i < TIMERS; i++)
		work[i].id = i;
}

/* The operations, each a loop that is not part of anything else. */

static noinline void loop_file(void)
{
	struct wheel *w = wheel;

	for (u32 i = 0; i < TIMERS; i++)
		unit_file(w, work[i].id, START + work[i].ticks);
}

static noinline void loop_cancel(void)
{
	struct wheel *w = wheel;

	for (u32 i = 0; i < TIMERS; i++)
		wheel_unlink(w, work[i].id);
}

static noinline u64 loop_next(void)
{
	u64 sum = 0;

	for (u32 i = 0; i < TIMERS; i++) {
		sum += wheel_next(wheel);
		barrier();
	}
	return sum;
}

/* Ticks at which nothing is due. */
static noinline void loop_turn(void)
{
	for (u32 i = 0; i < TIMERS; i++)
		wheel_follow(wheel, START + i / 1000);
}

static noinline void loop_expire(struct seen *seen)
{
	u64 from = START;

	for (u64 step = 1; step <= STEPS; step++) {
		u64 to = START + SPAN * step / STEPS;
		unsigned int n;

		do {
			n = wheel_advance(wheel, to, WHEEL_STEP);
			unit_take(wheel, from, to, seen);
		} while (n == WHEEL_STEP);
		from = to;
	}
}

static noinline void loop_cascade(u64 now)
{
	while (wheel_advance(wheel, now, WHEEL_STEP) == WHEEL_STEP)
		;
}

static void count_operations(void)
{
	struct seen seen = {};
	u64 sum;

	open_wheel();
	deadlines(128, SPAN - 128);
	loop_file();
	loop_cancel();
	COUNT("arm", TIMERS, loop_file());
	shuffle();
	for (u32 i = 0; i < TIMERS; i++)
		work[i].ticks += 1 + random64() % 20000;
	COUNT("re-arm-later", TIMERS, loop_file());
	for (u32 i = 0; i < TIMERS; i++)
		work[i].ticks = 1 + random64() % (work[i].ticks - 1);
	COUNT("re-arm-earlier", TIMERS, loop_file());
	COUNT("next", TIMERS, sum = loop_next());
	if (!sum)
		fail("nothing is filed");
	shuffle();
	COUNT("cancel", TIMERS, loop_cancel());
	if (wheel->filed)
		fail("not all were cancelled");

	deadlines(128, SPAN - 128);
	loop_file();
	COUNT("turn", TIMERS, loop_turn());
	wheel_destroy(wheel);

	open_wheel();
	deadlines(1, SPAN);
	loop_file();
	for (u32 i = 0; i < TIMERS; i++)
		unit_record(wheel, work[i].id, START + work[i].ticks);
	COUNT("expire", TIMERS, loop_expire(&seen));
	if (seen.nr != TIMERS || seen.bad)
		fail("timers did not come due in their step");
	wheel_destroy(wheel);
}

/* All timers in one slot of level 2, brought down just before it is due. */
static void count_cascade(void)
{
	u32 first = 4096 * 4 - START % 4096 + 64;
	u64 now = START + first - 1;

	open_wheel();
	shuffle();
	deadlines(first, 4096 - 64);
	loop_file();
	COUNT("cascade", wheel->moves, loop_cascade(now));
	if (wheel->moves < TIMERS || wheel->queue[0].count)
		fail("the slot did not come down");
	wheel_destroy(wheel);
}

int main(void)
{
	work = host_alloc(TIMERS * sizeof(*work));
	count_operations();
	count_cascade();
	return 0;
}
