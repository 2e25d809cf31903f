/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The timers of a wheel: what an id means.  States, generations, periods,
 * free ids, and the way of an event from the wheel to its reader.
 *
 * Knows the wheel and the structs of the ABI, but no device and no clock: the
 * owner passes the time in.  Like wheel.h it has no locks of its own.
 */
#ifndef TWHEEL_TIMERS_H
#define TWHEEL_TIMERS_H

#include "wheel.h"
#include "uapi/linux/twheel.h"

/**
 * struct timer - what is kept of a timer beside its node in the wheel
 * @cookie: the daemon's, handed back in events
 * @deadline: ns; next one, or that of the event which waits.  Or TIMER_NONE,
 *	or TIMER_DELIVERED.
 * @interval: ns; 0 for a one-shot
 * @generation: of the last arming; 0 before the first
 * @count: expirations left; 0: no limit
 * @slack: in ticks, as slack_encode() packs it
 *
 * 32 bytes, two to a cache line.  With the wheel's 16 that is all there is of
 * a timer.
 */
struct timer {
	u64	cookie;
	u64	deadline;
	u64	interval;
	u32	generation;
	u32	count : 24;
	u32	slack : 8;
};

/* Not armed. */
#define TIMER_NONE		0ULL
/* Not armed; its last event was delivered. */
#define TIMER_DELIVERED		(~0ULL)

/**
 * struct timers - a wheel and its timers
 * @wheel: by tick
 * @tick: ns
 * @reciprocal: 2^64 / @tick, rounded down
 * @shift: what the wheel's time is ahead of the clock, in ticks: by how much
 *	the clock was set back so far
 * @settable: the clock may be set back, to 0 even; for the owner to say, after
 *	timers_setup()
 * @word: the pages of words, one for each chunk; NULL until there are some
 * @nr_words: pages of words
 * @fresh: ids from here on are the pool's when they are free; those below are
 *	left to the daemon until the pool is empty
 * @arms: arms and moves, counted
 * @cancels: cancels of armed timers, counted
 * @fired: expirations found, counted
 * @delivered: events handed out, counted
 * @overruns: periods counted in these events
 */
struct timers {
	struct wheel	wheel;
	u64		tick;
	u64		reciprocal;
	u64		shift;
	struct twheel_word **word;
	u32		nr_words;
	bool		settable;
	u32		fresh;
	u64		arms;
	u64		cancels;
	u64		fired;
	u64		delivered;
	u64		overruns;
};

/**
 * enum timers_need - what an arm needs before it can be done
 * @TIMERS_NEED_NOTHING: just another try, with the lock dropped in between
 * @TIMERS_NEED_CHUNK: memory for an id
 * @TIMERS_NEED_LEVEL: another level
 */
enum timers_need {
	TIMERS_NEED_NOTHING,
	TIMERS_NEED_CHUNK,
	TIMERS_NEED_LEVEL,
};

WHEEL_API void timers_setup(struct timers *ts, u32 capacity, unsigned int levels,
			    unsigned int slots, u64 tick, u64 now);

WHEEL_API int timers_check_arm(const struct timers *ts, const struct twheel_op *op);
WHEEL_API int timers_check_cancel(const struct timers *ts, const struct twheel_op *op);
WHEEL_API int timers_arm(struct timers *ts, struct twheel_op *op, u64 now,
			 enum timers_need *need, u32 *need_id);
WHEEL_API int timers_cancel(struct timers *ts, struct twheel_op *op);
WHEEL_API int timers_get(const struct timers *ts, struct twheel_timer *record, u64 now);

/* Events in one claim. */
#define TIMERS_CLAIM_MAX	64U

WHEEL_API unsigned int timers_claim(struct timers *ts, struct twheel_event *events,
				    unsigned int nr, u64 now);
WHEEL_API unsigned int timers_commit(struct timers *ts, const struct twheel_event *events,
				     unsigned int nr, u64 now);
WHEEL_API void timers_put_back(struct timers *ts, const struct twheel_event *events,
			       unsigned int nr);

WHEEL_API unsigned int timers_list(struct timers *ts, struct twheel_timer *records,
				   unsigned int nr, u32 *cursor, bool drain,
				   u64 now);
WHEEL_API void timers_drained(struct timers *ts, const struct twheel_timer *records,
			      unsigned int nr);
WHEEL_API void timers_undrain(struct timers *ts, const struct twheel_timer *records,
			      unsigned int nr, u64 now);

WHEEL_API unsigned int timers_advance(struct timers *ts, u64 now, unsigned int budget);
WHEEL_API u64 timers_next(const struct timers *ts);
WHEEL_API void timers_turn(struct timers *ts, u64 now);

/* Is there work for timers_advance() that had better be done soon? */
static inline bool timers_heavy(const struct timers *ts)
{
	return wheel_heavy(&ts->wheel);
}

/* How many events wait to be read. */
static inline u32 timers_expired(const struct timers *ts)
{
	return ts->wheel.queue[WHEEL_DUE - 1].count;
}

/* Fetch a timer for an operation that comes soon; any id will do. */
static __always_inline void timers_prefetch(const struct timers *ts, u32 id)
{
	if (id < ts->wheel.capacity)
		wheel_prefetch(&ts->wheel, id);
}

#endif /* TWHEEL_TIMERS_H */
