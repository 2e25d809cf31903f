/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event loop of the distribution, as a peer.  Who includes this says first what a timer
 * is there, and what the loop calls it:
 *
 *	LOOP_NAME	as it stands in the tables
 *	LOOP_PEER	the peer
 *	LOOP_TIMER	the type of the loop's own part of a timer
 *
 * and behind it what is declared here.
 */
#include "clock.h"
#include "loops.h"

struct loop_timer {
	LOOP_TIMER	timer;
	struct record	record;
	u32		id;
};

/* Open the loop; make a timer; close it all. */
static bool loop_open(void);
static void loop_init(struct loop_timer *timer);
static void loop_close(void);
/* It is another time. */
static void loop_now(void);
/* Arm a timer; arm one that is armed, in the cheapest way; cancel it. */
static inline void loop_arm(struct loop_timer *timer, u32 ticks);
static inline void loop_push(struct loop_timer *timer, u32 ticks);
static inline void loop_cancel(struct loop_timer *timer);
static bool loop_armed(const struct loop_timer *timer);
/* Call all that are due, which call loop_expired(). */
static void loop_run(void);

static struct loop_timer *timers;
static u32 nr_timers;

/* The step in which time goes on. */
static struct {
	u64		from, to;
	struct seen	*seen;
} step;

static inline void loop_expired(const struct loop_timer *timer)
{
	static struct told told[64];
	static unsigned int n;

	see(step.seen, &told[n++ % 64], &timer->record, timer->id, step.from, step.to);
}

static bool open_loop(u32 nr, u64 now)
{
	timers = host_alloc((size_t)nr * sizeof(*timers));
	if (!timers)
		return false;
	loop_clock = now * LOOP_TICK;
	nr_timers = nr;
	if (!loop_open())
		return false;
	for (u32 id = 0; id < nr; id++) {
		timers[id].id = id;
		loop_init(&timers[id]);
	}
	return true;
}

static void close_loop(void)
{
	loop_close();
	loop_clock = 0;
}

static inline struct loop_timer *next_timer(const struct batch *b, u32 i)
{
	if (b->ahead)
		prefetch(&timers[b->work[i + b->ahead].id]);
	return &timers[b->work[i].id];
}

static void at(u64 now)
{
	loop_clock = now * LOOP_TICK;
	loop_now();
}

static void arm(const struct batch *b)
{
	at(b->now);
	for (u32 i = 0; i < b->nr; i++)
		loop_arm(next_timer(b, i), b->work[i].ticks);
}

static void move(const struct batch *b)
{
	at(b->now);
	for (u32 i = 0; i < b->nr; i++) {
		struct loop_timer *timer = next_timer(b, i);

		loop_cancel(timer);
		loop_arm(timer, b->work[i].ticks);
	}
}

static void push(const struct batch *b)
{
	at(b->now);
	for (u32 i = 0; i < b->nr; i++)
		loop_push(next_timer(b, i), b->work[i].ticks);
}

static void cancel(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++)
		loop_cancel(next_timer(b, i));
}

static void record(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct record *r = &timers[b->work[i].id].record;

		r->cookie = cookie_of(b->work[i].id);
		r->deadline = b->now + b->work[i].ticks;
		r->generation++;
	}
}

static void expire(u64 from, u64 to, struct seen *seen)
{
	step.from = from;
	step.to = to;
	step.seen = seen;
	/* In floating point the end of a tick may be before it, or behind. */
	loop_clock = to * LOOP_TICK + LOOP_TICK / 2;
	loop_run();
}

static u32 armed(void)
{
	u32 nr = 0;

	for (u32 id = 0; id < nr_timers; id++)
		nr += loop_armed(&timers[id]);
	return nr;
}

const struct peer LOOP_PEER = {
	.name	= LOOP_NAME,
	.open	= open_loop,
	.arm	= arm,
	.move	= move,
	.push	= push,
	.cancel	= cancel,
	.record	= record,
	.expire	= expire,
	.armed	= armed,
	.close	= close_loop,
};
