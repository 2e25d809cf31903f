// SPDX-License-Identifier: GPL-2.0
/* The wheel, as a peer. */
#include "unit.h"

/* Not a variable by itself: the compiler is not to know where it is. */
static struct wheel *wheel;

static bool open_wheel(u32 nr, u64 now)
{
	wheel = host_alloc(sizeof(*wheel));
	/* More than timers.c has at a tick of 1 ms, which softirq alone must keep up with. */
	return wheel && unit_open(wheel, nr, 1000, now);
}

static_assert(AHEAD == WHEEL_AHEAD);

static __always_inline void fetch(const struct wheel *w, const struct work *work, u32 ahead)
{
	if (ahead)
		prefetchw(wheel_timer(w, work[ahead].id));
}

static void loop_arm(const struct batch *b)
{
	const struct work *work, *end = b->work + b->nr;
	struct wheel *w = wheel;
	u64 now = b->now;

	for (work = b->work; work < end; work++) {
		fetch(w, work, b->ahead);
		unit_file(w, work->id, now + work->ticks);
	}
}

/* Taken out and filed, whether it is due sooner or later than before. */
static void loop_move(const struct batch *b)
{
	const struct work *work, *end = b->work + b->nr;
	struct wheel *w = wheel;
	u64 now = b->now;

	for (work = b->work; work < end; work++) {
		fetch(w, work, b->ahead);
		wheel_unlink(w, work->id);
		unit_file(w, work->id, now + work->ticks);
	}
}

static void loop_cancel(const struct batch *b)
{
	const struct work *work, *end = b->work + b->nr;
	struct wheel *w = wheel;

	for (work = b->work; work < end; work++) {
		fetch(w, work, b->ahead);
		wheel_unlink(w, work->id);
	}
}

static void loop_record(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++)
		unit_record(wheel, b->work[i].id, b->now + b->work[i].ticks);
}

static void loop_expire(u64 from, u64 to, struct seen *seen)
{
	struct wheel *w = wheel;
	unsigned int done;

	do {
		done = wheel_advance(w, to, WHEEL_STEP);
		unit_take(w, from, to, seen);
	} while (done == WHEEL_STEP);
}

static u32 loop_armed(void)
{
	return wheel->filed + wheel_queue(wheel, WHEEL_DUE)->count;
}

static void close_wheel(void)
{
	wheel_destroy(wheel);
}

const struct peer peer_wheel = {
	.name	= "wheel",
	.open	= open_wheel,
	.arm	= loop_arm,
	.move	= loop_move,
	.push	= loop_arm,		/* a later deadline is only stored */
	.cancel	= loop_cancel,
	.record	= loop_record,
	.expire	= loop_expire,
	.armed	= loop_armed,
	.close	= close_wheel,
};
