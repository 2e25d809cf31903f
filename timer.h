/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a timer is: the record that is kept of it, how its times become ticks, the
 * states that it can be in, and how it gets from one to the next.
 *
 * Where a timer is in the wheel and its deadline together tell its state:
 *
 *	where		deadline		state
 *	filed		its next		pending; expired, if its tick has come
 *	due queue	of its event		expired
 *	claimed		of its event		expired: a read holds it
 *	else		TIMER_NONE		idle
 *	else		TIMER_DELIVERED		delivered
 *
 * All of it is inline, because the words and the calls are made of these few steps.  Like
 * wheel.h it has no locks of its own.
 */
#ifndef TWHEEL_TIMER_H
#define TWHEEL_TIMER_H

#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/nospec.h>
#endif

#include "trace.h"
#include "wheel.h"
#include "uapi/linux/twheel.h"

/*
 * Of struct timer, @cookie is the daemon's, handed back in events; @deadline, in ns, is the next
 * one, or that of the event which waits, or TIMER_NONE or TIMER_DELIVERED; @generation is that
 * of the last arming, 0 before the first; and @spare, in the due queue, is how late the event was
 * found, as late_encode() packs it.
 */

/**
 * struct timer_more - what is kept of a timer that has one of these, or a neighbour that has
 * @interval: ns; 0 for a one-shot
 * @count: expirations left; 0: no limit.  When the last of them is delivered, the
 *	interval goes too: the timer is a one-shot until it is armed with another
 * @slack: ticks
 */
struct timer_more {
	u64	interval;
	u32	count;
	u32	slack;
};

/* What a timer takes at most: with two entries, an interval and a word. */
#define TIMER_BYTES		(sizeof(struct timer) + 2 * sizeof(u64) + \
				 sizeof(struct timer_more) + sizeof(struct twheel_word))

/* As many are in a page. */
#define MORE_PER_PAGE		((u32)(WHEEL_PAGE_SIZE / sizeof(struct timer_more)))

/* Not armed. */
#define TIMER_NONE		0ULL
/* Not armed; its last event was delivered. */
#define TIMER_DELIVERED		(~0ULL)

/**
 * struct timers - a wheel and its timers
 * @wheel: by tick
 * @tick: how long one is, ns
 * @reciprocal: 2^64 / @tick, rounded down
 * @shift: what the wheel's time is ahead of the clock, in ticks: by how much
 *	the clock was set back so far
 * @now: the time that the owner has passed in last, ns
 * @now_tick: its tick; the wheel itself may be behind
 * @news: events were queued and no waiter was woken for them
 * @settable: the clock may be set; written by the owner after timers_setup()
 * @plain: ids below it have nothing special about them: no words, a clock that can't be set;
 *	brought up to date with @now
 * @word: the pages of words, WORDS_PER_PAGE to each; NULL: timers have none
 * @fresh: ids from here on are the pool's when they are free; those below are
 *	left to the daemon until the pool is empty
 * @more: the pages of struct timer_more, MORE_PER_PAGE to each; NULL: timers have none
 * @more_memory: bytes in these
 * @claims: the number of the last claim
 * @arms: arms and moves, counted
 * @cancels: cancels of armed timers, counted
 * @fired: expirations found, counted
 * @delivered: events handed out, counted
 * @overruns: periods counted in these events
 * @max_late: the latest that one of these events was found, ns after its deadline
 * @late: of these events, by classes as in struct twheel_stats
 */
struct timers {
	struct wheel	wheel;
	u64		tick;
	u64		reciprocal;
	u64		shift;
	u64		now;
	u64		now_tick;
	struct twheel_word **word;
	struct timer_more **more;
	size_t		more_memory;
	bool		news;
	bool		settable;
	u32		plain;
	u32		fresh;
	u32		claims;
	u64		arms;
	u64		cancels;
	u64		fired;
	u64		delivered;
	u64		overruns;
	u64		max_late;
	u64		late[TWHEEL_LATE_CLASSES];
};

/**
 * struct timers_need - what an arm or a cancel needs before it can be done
 * @what: memory for @id, or for its timer_more; another level; blocks; words_exchange(); or just
 *	another try, with the lock dropped in between
 * @id: which timer
 * @handled: timers handled under this hold of the lock
 * @scarce: no memory for blocks: drop any stale entry
 * @exchanged: words_exchange() has stored @deadline; cleared by the try that follows
 * @unless_changed: store it only if the word still holds @before
 * @deadline: what to store into the word of @id
 * @before: what the word held
 */
struct timers_need {
	enum {
		TIMERS_NEED_RETRY,
		TIMERS_NEED_CHUNK,
		TIMERS_NEED_MORE,
		TIMERS_NEED_LEVEL,
		TIMERS_NEED_BLOCKS,
		TIMERS_NEED_WORD,
	}	what;
	u32	id;
	u32	handled;
	bool	scarce;
	bool	exchanged;
	bool	unless_changed;
	u64	deadline;
	u64	before;
};

/*
 * Is there memory for the timer of this untrusted id?  If so, no processor speculates beyond the
 * wheel's own memory with it.
 */
static inline bool timers_have(const struct timers *ts, u32 *id)
{
	if (*id >= ts->wheel.ids)
		return false;
	*id = array_index_nospec(*id, ts->wheel.ids);
	return wheel_has_chunk(&ts->wheel, *id);
}

static inline struct timer *timer_of(const struct timers *ts, u32 id)
{
	return wheel_timer(&ts->wheel, id);
}

/* What more there is of a timer, or NULL: it is a one-shot without slack. */
static inline struct timer_more *more_of(const struct timers *ts, u32 id)
{
	if (likely(!ts->more) || !ts->more[id / MORE_PER_PAGE])
		return NULL;
	return &ts->more[id / MORE_PER_PAGE][id % MORE_PER_PAGE];
}

static inline u32 slack_of(const struct timers *ts, u32 id)
{
	const struct timer_more *more = more_of(ts, id);

	return unlikely(more) ? more->slack : 0;
}

/* Times and ticks */

/* Ticks that have begun at a time; exact, and without a division. */
static inline u64 ticks_of(const struct timers *ts, u64 ns)
{
	u64 ticks = mul_u64_u64_shr(ns, ts->reciprocal, 64);

	/* The reciprocal is rounded down, so this may be one too few. */
	return ticks + (ns - ticks * ts->tick >= ts->tick);
}

/* Slack in whole ticks; more than fits is as much as does. */
static inline u32 slack_ticks(const struct timers *ts, u64 slack)
{
	return unlikely(slack) ? min_t(u64, ticks_of(ts, slack), UINT_MAX) : 0;
}

/*
 * Lateness is kept in 32 bits: up to 2 s exactly, from there on the 25 highest bits, rounded
 * down, and how far to shift them.
 */
#define LATE_BITS		25
#define LATE_LARGE		BIT(31)

static inline u32 late_encode(u64 late)
{
	unsigned int shift;

	if (likely(late < LATE_LARGE))
		return late;
	shift = fls64(late) - LATE_BITS;
	return LATE_LARGE | shift << LATE_BITS | late >> shift;
}

static inline u64 late_decode(u32 late)
{
	if (likely(late < LATE_LARGE))
		return late;
	late -= LATE_LARGE;
	return (u64)(late & (BIT(LATE_BITS) - 1)) << (late >> LATE_BITS);
}

/* The first tick at or past a deadline. */
static inline u64 first_tick(const struct timers *ts, u64 deadline)
{
	u64 ticks = mul_u64_u64_shr(deadline, ts->reciprocal, 64);
	u64 left = deadline - ticks * ts->tick;

	/* As in ticks_of(); and one more, if it has begun before the deadline. */
	return ticks + (left > ts->tick) + (left > 0);
}

/*
 * The tick at which a timer with this deadline is due: the first at or past it.  With
 * slack it may come later, and is the roundest in reach: timers that are due at about
 * the same time then share a tick, and a wake-up.
 */
static inline u64 due_tick(const struct timers *ts, u64 deadline, u32 slack)
{
	u64 first = first_tick(ts, deadline), last;

	if (likely(!slack))
		return first;
	last = ticks_of(ts, deadline) + slack;
	if (last <= first)
		return first;
	/*
	 * The roundest of them has zeroes below the highest bit in which the last of them
	 * differs from the tick before the first.
	 */
	return last & (~0ULL << (fls64((first - 1) ^ last) - 1));
}

/*
 * The wheel's tick for one of the clock's, which comes later by what the clock was set back.
 * If it would come after the last one, it does not come: with ticks of 1 ns the clock was
 * set back by centuries then, and again.
 */
static inline u64 shifted(const struct timers *ts, u64 tick)
{
	return tick <= WHEEL_LAST - ts->shift ? tick + ts->shift : WHEEL_LAST + 1;
}

/*
 * The tick at which a timer is due that the wheel looks at in a tick: nearly always it is that
 * one, which takes less to find out than a conversion.
 */
static inline u64 look_again(const struct timers *ts, u32 id, u64 deadline, u64 tick)
{
	u32 slack = slack_of(ts, id);

	if (likely((tick - ts->shift) * ts->tick - deadline < ts->tick && !slack))
		return tick;
	return shifted(ts, due_tick(ts, deadline, slack));
}

/* The tick by which the wheel files a deadline, which lies ahead of the wheel's time. */
static inline u64 file_tick(const struct timers *ts, u64 deadline, u32 slack)
{
	return max(shifted(ts, due_tick(ts, deadline, slack)), ts->wheel.at + 1);
}

/* The sum of two times; what would be beyond the last of all times is that one. */
static inline u64 add_times(u64 a, u64 b)
{
	return min_t(u64, a + b, KTIME_MAX);
}

/* Has the tick of a deadline come?  The wheel may not have found that yet. */
static inline bool tick_passed(const struct timers *ts, u64 deadline, u32 slack)
{
	return shifted(ts, due_tick(ts, deadline, slack)) <= ts->now_tick;
}

/* Periods beyond the first that an event with this deadline has, if read now. */
static inline u64 overruns_of(const struct timer_more *more, u64 deadline, u64 now)
{
	u64 overruns;

	if (likely(!more) || !more->interval || now < deadline || now - deadline < more->interval)
		return 0;
	overruns = div64_u64(now - deadline, more->interval);
	return more->count ? min(overruns, (u64)more->count - 1) : overruns;
}

/* How many events wait to be read. */
static inline u32 timers_queued(const struct timers *ts)
{
	return ts->wheel.queue[0].count;
}

/**
 * timers_next() - when timers_advance() must be called
 * @ts: the timers
 *
 * Return: ns; KTIME_MAX: never; 0: at once.
 */
static inline u64 timers_next(const struct timers *ts)
{
	u64 tick = wheel_next(&ts->wheel);

	if (tick <= ts->shift)
		return 0;
	if (tick > WHEEL_LAST || tick - ts->shift >= KTIME_MAX / ts->tick)
		return KTIME_MAX;
	return (tick - ts->shift) * ts->tick;
}

/* No timer is due before this, which is @ts->now at least; ns; 0: none is filed. */
static inline u64 timers_bound(const struct timers *ts)
{
	if (!ts->wheel.filed)
		return 0;
	/* Of a slot that is half brought down nothing is known. */
	return ts->wheel.heavy ? ts->now : max(timers_next(ts), ts->now);
}

/* States */

/* Does the timer have a deadline, and none of the marks that stand in its place? */
static inline bool timer_has_deadline(const struct timer *t)
{
	return t->deadline - 1 < KTIME_MAX;
}

/* Begin another arming: a new generation, and what the call wants. */
static inline void timer_begin(struct timers *ts, u32 id, const struct twheel_op *op,
			       u64 deadline, u32 slack)
{
	struct timer *t = timer_of(ts, id);
	struct timer_more *more = more_of(ts, id);

	t->generation++;
	t->generation += !t->generation;
	t->deadline = deadline;
	if (unlikely(op->flags & TWHEEL_ARM_KEEP))
		return;
	t->cookie = op->cookie;
	if (unlikely(more))
		*more = (struct timer_more){ op->interval, op->count, slack };
}

/* When a timer is due again after an event; 0: never. */
static inline u64 timer_after(const struct timer_more *more, const struct twheel_event *event)
{
	if (event->flags & TWHEEL_EVENT_LAST)
		return 0;
	return add_times(event->deadline, (event->overruns + 1) * more->interval);
}

/* An event is delivered: count it, its periods and its lateness. */
static inline void timer_delivered(struct timers *ts, const struct twheel_event *event, u64 now)
{
	/* If the clock was set back, an event may have been found before its deadline. */
	u64 late = event->fired - min(event->fired, event->deadline);
	unsigned int class = fls64(late | 1023) - 10;

	trace_twheel_timer_deliver(&ts->wheel, event->id, event->fired, event->overruns, now);
	ts->delivered++;
	ts->overruns += event->overruns;
	ts->late[min(class, TWHEEL_LATE_CLASSES - 1U)]++;
	ts->max_late = max(ts->max_late, late);
}

/*
 * Does the claim of an event still hold?  An arm, a cancel or a later claim of the timer ends it,
 * also if the same deadline was stored again.
 */
static inline bool claim_holds(const struct timers *ts, const struct twheel_event *event,
			       u32 claim)
{
	const struct timer *t = timer_of(ts, event->id);

	return wheel_where(t) == WHEEL_CLAIMED && wheel_mark(t) == claim &&
	       t->generation == event->generation;
}

static inline bool state_armed(enum twheel_state state)
{
	return state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
}

/* Does an arm depend on whether the timer is armed, and is that not so? */
static inline int arm_refused(u32 flags, bool armed)
{
	if (flags & TWHEEL_ARM_NEW && armed)
		return -EEXIST;
	return flags & TWHEEL_ARM_MOVE && !armed ? -ENOENT : 0;
}

/*
 * A timer that is in no queue has ended: @how says whether its last event was delivered.
 * If its id is one of those that the kernel chooses from, it can be chosen again.
 */
static inline void timer_end(struct timers *ts, u32 id, u64 how)
{
	struct timer *t = timer_of(ts, id);

	t->deadline = how;
	if (unlikely(id >= ts->fresh))
		wheel_push(&ts->wheel, id, WHEEL_POOL, true);
	else if (wheel_where(t) == WHEEL_CLAIMED)
		wheel_give_up(&ts->wheel, t);
	else if (wheel_where(t) == WHEEL_FILED)
		wheel_unlink(&ts->wheel, id);
}

/* A timer is about to go into the due queue. */
static inline void timer_found(struct timers *ts, u32 id, struct timer *t)
{
	t->spare = late_encode(ts->now - min(ts->now, t->deadline));
	trace_twheel_timer_expire(&ts->wheel, id, ts->now, 0, ts->now);
}

/* A timer that is in no queue has come due. */
static inline void timer_due(struct timers *ts, u32 id)
{
	timer_found(ts, id, timer_of(ts, id));
	wheel_push(&ts->wheel, id, WHEEL_DUE, false);
	ts->news = true;
	ts->fired++;
}

/* The wheel has found timers that are due, since @queued events waited. */
static inline void timers_found(struct timers *ts, u32 queued)
{
	if (timers_queued(ts) == queued)
		return;
	ts->fired += timers_queued(ts) - queued;
	ts->news = true;
}

/* File a timer that is in no queue. */
static inline void timer_file(struct timers *ts, u32 id, u64 deadline)
{
	timer_of(ts, id)->deadline = deadline;
	wheel_file(&ts->wheel, id, file_tick(ts, deadline, slack_of(ts, id)));
	trace_twheel_timer_file(&ts->wheel, id, TWHEEL_STATE_PENDING);
}

/* Let a timer that is in no queue wait for its deadline, or be due. */
static inline void timer_resume(struct timers *ts, u32 id, u64 now)
{
	const struct timer *t = timer_of(ts, id);

	if (t->deadline > now)
		timer_file(ts, id, t->deadline);
	else
		timer_due(ts, id);
}

/*
 * Does a timer need a level that is missing: now, for a later period, or when its clock is set
 * back?  Levels are added before it is armed, because the softirq pass can't wait for memory.
 */
static inline bool level_missing(const struct timers *ts, u64 tick, u64 interval, u32 slack,
				 u64 now)
{
	const struct wheel *w = &ts->wheel;
	u64 period = 0;

	if (tick && wheel_level_missing(w, tick))
		return true;
	if (unlikely(interval)) {
		interval = add_times(interval, slack * ts->tick);
		period = file_tick(ts, add_times(now, interval), 0) + 1;
		if (wheel_level_missing(w, period))
			return true;
	}
	return unlikely(ts->settable) && wheel_reach_missing(w, max(tick, period));
}

/*
 * The wheel is full.  Drop stale entries if there are many, or if no blocks can be had; otherwise
 * more blocks are needed.
 */
static inline int timers_make_room(struct timers *ts, struct timers_need *need)
{
	const u32 queued = timers_queued(ts);
	struct wheel *w = &ts->wheel;

	need->what = TIMERS_NEED_BLOCKS;
	if (wheel_stale(w) || (need->scarce && w->entries > w->filed)) {
		need->what = TIMERS_NEED_RETRY;
		need->handled += wheel_sift(w, WHEEL_STEP - need->handled);
		timers_found(ts, queued);
	}
	return -EAGAIN;
}

#endif /* TWHEEL_TIMER_H */
