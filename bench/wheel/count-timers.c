// SPDX-License-Identifier: GPL-2.0
/*
 * As count.c, for whole timers: what the kernel does for each operation of a submit, and
 * for each event of a read, but for the copies from and to the caller. A program of its
 * own, as another one that calls the wheel changes what the compiler makes of it.
 */
#include "counting.h"

/* ns */
#define TICK	1000000U

static struct timers *ts;
static struct twheel_op *ops;

static noinline void loop_submit(void)
{
	unsigned int failed = 0;

	for (u32 i = 0; i < TIMERS; i += 50)
		failed += owner_submit(ts, ops + i, 50, START * TICK);
	if (failed)
		fail("operations have failed");
}

static noinline u32 loop_read(void)
{
	static struct twheel_event events[TIMERS_CLAIM_MAX];
	u32 seen = 0;

	for (u64 step = 1; step <= STEPS; step++) {
		u64 now = (START + SPAN * step / STEPS) * TICK;
		unsigned int done, nr;

		do {
			done = timers_advance(ts, now, WHEEL_STEP);
			while ((nr = timers_claim(ts, events, TIMERS_CLAIM_MAX, now)))
				seen += timers_commit(ts, events, nr, nr, ts->claims, now);
		} while (done == WHEEL_STEP);
	}
	return seen;
}

static void arms(void)
{
	for (u32 i = 0; i < TIMERS; i++)
		ops[i] = (struct twheel_op){
			.opcode		= TWHEEL_OP_ARM,
			.id		= work[i].id,
			.deadline	= (START + work[i].ticks) * TICK,
			.cookie		= cookie_of(work[i].id),
		};
}

static void cancels(void)
{
	for (u32 i = 0; i < TIMERS; i++)
		ops[i] = (struct twheel_op){ .opcode = TWHEEL_OP_CANCEL, .id = work[i].id };
}

static void open_timers(void)
{
	timers_setup(ts, TIMERS, 0, 64, TICK, START * TICK);
	if (!owner_add_chunks(&ts->wheel))
		fail("no memory");
}

int main(void)
{
	u32 seen;

	work = host_alloc(TIMERS * sizeof(*work));
	for (u32 i = 0; i < TIMERS; i++)
		work[i].id = i;
	ops = host_alloc(TIMERS * sizeof(*ops));
	ts = host_alloc(sizeof(*ts));
	open_timers();
	shuffle();
	deadlines(128, SPAN - 128);
	arms();
	loop_submit();
	cancels();
	loop_submit();
	arms();
	COUNT("timer-arm", TIMERS, loop_submit());
	shuffle();
	for (u32 i = 0; i < TIMERS; i++)
		work[i].ticks += 1 + random64() % 20000;
	arms();
	COUNT("timer-push-back", TIMERS, loop_submit());
	for (u32 i = 0; i < TIMERS; i++)
		work[i].ticks = 1 + random64() % (work[i].ticks - 1);
	arms();
	COUNT("timer-re-arm", TIMERS, loop_submit());
	shuffle();
	cancels();
	COUNT("timer-cancel", TIMERS, loop_submit());
	if (ts->wheel.filed)
		fail("not all were cancelled");
	shuffle();
	deadlines(1, SPAN);
	arms();
	loop_submit();
	/* Most of them have an entry of before the cancel, for an earlier tick. */
	COUNT("timer-expire-moved", TIMERS, seen = loop_read());
	timers_destroy(ts);
	open_timers();
	arms();
	loop_submit();
	COUNT("timer-expire", TIMERS, seen += loop_read());
	if (seen != 2 * TIMERS)
		fail("timers were lost or came twice");
	timers_destroy(ts);
	return 0;
}
