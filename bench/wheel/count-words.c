// SPDX-License-Identifier: GPL-2.0
/*
 * As count-timers.c, for timers that have words: the call that a store needs if the kernel would
 * look too late, the look at a timer that was pushed back, and the read of one that was not.
 */
#include "counting.h"

/* ns */
#define TICK	1000000U

static struct timers *ts;
static struct twheel_op *ops;
/* In one piece, as a program maps them. */
static struct twheel_word *words;

static noinline void store(u64 now)
{
	for (u32 i = 0; i < TIMERS; i++)
		words[work[i].id].deadline = (now + work[i].ticks) * TICK;
}

static noinline void loop_call(u64 now)
{
	unsigned int failed = 0;

	for (u32 i = 0; i < TIMERS; i += 50)
		failed += owner_submit(ts, ops + i, 50, now * TICK);
	if (failed)
		fail("operations have failed");
}

static void arm(u64 now)
{
	for (u32 i = 0; i < TIMERS; i++)
		ops[i] = (struct twheel_op){
			.opcode	= TWHEEL_OP_ARM,
			.flags	= TWHEEL_ARM_STORED,
			.id	= work[i].id,
		};
	timers_set_time(ts, now * TICK);
	store(now);
}

static noinline u32 loop_read(u64 from)
{
	static struct twheel_event events[TIMERS_CLAIM_MAX];
	unsigned int done, dropped, nr;
	u32 seen = 0;

	for (u64 step = 1; step <= STEPS; step++) {
		u64 now = (from + SPAN * step / STEPS) * TICK;

		do {
			done = timers_advance(ts, now, WHEEL_STEP);
			do {
				dropped = timers_drop_stale(ts, WHEEL_STEP);
				nr = timers_claim(ts, events, TIMERS_CLAIM_MAX, now);
				seen += timers_commit(ts, events, nr, words_take(ts, events, nr),
						      ts->claims, now);
			} while (dropped || nr);
		} while (done == WHEEL_STEP);
	}
	return seen;
}

int main(void)
{
	u64 now = START;
	u32 seen;

	work = host_alloc(TIMERS * sizeof(*work));
	for (u32 i = 0; i < TIMERS; i++)
		work[i].id = i;
	ts = host_alloc(sizeof(*ts));
	ops = host_alloc(TIMERS * sizeof(*ops));
	words = host_alloc((TIMERS + WORDS_PER_PAGE) * sizeof(*words));
	timers_setup(ts, TIMERS, 0, 64, TICK, now * TICK);
	if (!owner_add_chunks(&ts->wheel) || !words_begin(ts))
		fail("no memory");
	for (u32 id = 0; id < TIMERS; id += WORDS_PER_PAGE)
		words_add(ts, id, words + id);

	/* Memory is touched for the first time. */
	deadlines(1, SPAN);
	arm(now);
	loop_call(now);
	if (loop_read(now) != TIMERS)
		fail("timers were lost or came twice");
	now += SPAN;

	shuffle();
	deadlines(1, SPAN);
	arm(now);
	COUNT("word-arm", TIMERS, loop_call(now));
	for (u32 i = 0; i < TIMERS; i++)
		work[i].ticks += SPAN;
	store(now);
	COUNT("word-look", TIMERS, seen = loop_read(now));
	if (seen)
		fail("timers have come that were pushed back");
	now += SPAN;
	COUNT("word-expire", TIMERS, seen = loop_read(now));
	if (seen != TIMERS)
		fail("timers were lost or came twice");
	wheel_destroy(&ts->wheel);
	return 0;
}
