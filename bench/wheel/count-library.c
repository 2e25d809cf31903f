// SPDX-License-Identifier: GPL-2.0
/*
 * As count.c, for libtwheel without a device: what a program pays for the timeouts of its
 * connections, all of one length, 64 in a turn of its loop.  The timerfd is the only part of it
 * that is the kernel's, and is not counted.
 */
#include "../../lib/twheel.h"

#include "counting.h"
#include "inside.h"

#define TICK_SHIFT	20
#define TURN		64U
#define TIMEOUT		60000U

static struct twheel *wheel;
/* The tick that it is. */
static u64 now = START;

static noinline void loop_arm(void)
{
	for (u32 i = 0; i < TIMERS; now++) {
		inside_clock(now << TICK_SHIFT);
		for (u32 end = min(TIMERS, i + TURN); i < end; i++)
			twheel_arm(wheel, work[i].id, (now + TIMEOUT) << TICK_SHIFT);
		twheel_flush(wheel);
	}
}

static noinline void loop_extend(void)
{
	for (u32 i = 0; i < TIMERS; now++) {
		inside_clock(now << TICK_SHIFT);
		for (u32 end = min(TIMERS, i + TURN); i < end; i++)
			twheel_extend(wheel, work[i].id, (now + TIMEOUT) << TICK_SHIFT);
		twheel_flush(wheel);
	}
}

static noinline void loop_cancel(void)
{
	for (u32 i = 0; i < TIMERS; i++)
		twheel_cancel(wheel, work[i].id);
}

static noinline u32 loop_take(u64 end)
{
	static struct twheel_event events[256];
	u32 seen = 0;
	int nr;

	for (; now < end; now++) {
		inside_clock(now << TICK_SHIFT);
		while ((nr = twheel_take(wheel, events, ARRAY_SIZE(events))) > 0)
			seen += nr;
	}
	return seen;
}

/* From the first to the last of those that were armed turn by turn. */
static void expire(void)
{
	u64 end = now + TIMEOUT + 1;

	now = end - TIMERS / TURN - 2;
	if (loop_take(end) != TIMERS)
		fail("timers were lost or came twice");
}

static void open_wheel(u32 flags)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_BATCH | flags,
		.tick = 1ULL << TICK_SHIFT,
		.capacity = TIMERS,
	};

	inside_clock(now << TICK_SHIFT);
	if (twheel_open(&wheel, &options))
		fail("no wheel");
	/* Memory is touched for the first time. */
	shuffle();
	loop_arm();
	expire();
	shuffle();
}

int main(void)
{
	work = host_alloc(TIMERS * sizeof(*work));
	for (u32 i = 0; i < TIMERS; i++)
		work[i].id = i;

	open_wheel(TWHEEL_OPEN_ONE_THREAD);
	COUNT("library-arm", TIMERS, loop_arm());
	shuffle();
	COUNT("library-extend", TIMERS, loop_extend());
	shuffle();
	COUNT("library-cancel", TIMERS, loop_cancel());
	shuffle();
	COUNT("library-again", TIMERS, loop_arm());
	COUNT("library-expire", TIMERS, expire());
	twheel_close(wheel);

	/* As other threads and processes may use it. */
	open_wheel(0);
	COUNT("shared-arm", TIMERS, loop_arm());
	COUNT("shared-expire", TIMERS, expire());
	twheel_close(wheel);
	return 0;
}
