// SPDX-License-Identifier: GPL-2.0
/*
 * A whole timer, as a peer: what the kernel runs for each operation of a submit, and for
 * each event of a read, but for the copies from and to the caller.
 */
#include "unit.h"

/* About 1 ms, so that a deadline tells its tick without a division. */
#define TICK_SHIFT	20

static struct timers *ts;

static bool open_timers(u32 nr, u64 now)
{
	ts = host_alloc(sizeof(*ts));
	if (!ts)
		return false;
	timers_setup(ts, nr, 0, 64, 1ULL << TICK_SHIFT, now << TICK_SHIFT);
	if (owner_add_chunks(&ts->wheel))
		return true;
	timers_destroy(ts);
	return false;
}

static struct twheel_op arm_op(const struct work *work, u64 now)
{
	return (struct twheel_op){
		.opcode		= TWHEEL_OP_ARM,
		.id		= work->id,
		.deadline	= now + ((u64)work->ticks << TICK_SHIFT),
		.cookie		= cookie_of(work->id),
	};
}

static struct twheel_op cancel_op(const struct work *work)
{
	return (struct twheel_op){ .opcode = TWHEEL_OP_CANCEL, .id = work->id };
}

/*
 * Do so many operations with each timer, the last of which arms it if @arm: in calls of
 * 64, as a submit copies them, or where none is fetched ahead one by one.
 */
static __always_inline void loop(const struct batch *b, bool cancel, bool arm)
{
	const struct work *work = b->work, *end = b->work + b->nr;
	static struct twheel_op ops[64];
	u64 now = b->now << TICK_SHIFT;
	unsigned int nr, failed = 0;

	while (work < end) {
		for (nr = 0; work < end && nr < ARRAY_SIZE(ops); work++) {
			if (cancel)
				ops[nr++] = cancel_op(work);
			if (arm)
				ops[nr++] = arm_op(work, now);
		}
		if (b->ahead) {
			failed += owner_submit(ts, ops, nr, now);
			continue;
		}
		for (unsigned int i = 0; i < nr; i++)
			failed += ops[i].opcode == TWHEEL_OP_ARM ?
				  !!owner_arm(ts, &ops[i], now) :
				  !!owner_cancel(ts, &ops[i]);
	}
	if (failed)
		host_fail("operations have failed:", failed);
}

static void loop_arm(const struct batch *b)
{
	loop(b, false, true);
}

static void loop_move(const struct batch *b)
{
	loop(b, true, true);
}

static void loop_cancel(const struct batch *b)
{
	loop(b, true, false);
}

/* An arm has written all of it. */
static void loop_record(const struct batch *b)
{
	(void)b;
}

static void take(u64 now, u64 from, u64 to, struct seen *seen)
{
	static struct twheel_event events[TIMERS_CLAIM_MAX];
	unsigned int nr;

	while ((nr = timers_claim(ts, events, TIMERS_CLAIM_MAX, now))) {
		nr = timers_commit(ts, events, nr, nr, ts->claims, now);
		for (unsigned int i = 0; i < nr; i++) {
			seen->nr++;
			seen->cookies += events[i].cookie;
			seen->bad += (events[i].deadline >> TICK_SHIFT) - from - 1 >= to - from;
		}
		barrier();
	}
}

static void loop_expire(u64 from, u64 to, struct seen *seen)
{
	u64 now = to << TICK_SHIFT;
	unsigned int done;

	do {
		done = timers_advance(ts, now, WHEEL_STEP);
		take(now, from, to, seen);
	} while (done == WHEEL_STEP);
}

static u32 loop_armed(void)
{
	return ts->wheel.filed + timers_queued(ts);
}

static void close_timers(void)
{
	timers_destroy(ts);
}

const struct peer peer_timers = {
	.name	= "timers",
	.open	= open_timers,
	.arm	= loop_arm,
	.move	= loop_move,
	.push	= loop_arm,
	.cancel	= loop_cancel,
	.record	= loop_record,
	.expire	= loop_expire,
	.armed	= loop_armed,
	.close	= close_timers,
};
