/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The timers of a wheel, by id: arm, cancel, get, list, free ids, and the way of an event
 * from the wheel to its reader.
 *
 * Knows the wheel, the words and the structs of the ABI, but no device and no
 * clock: the owner passes the time in.  Like wheel.h it has no locks of its own.
 */
#ifndef TWHEEL_TIMERS_H
#define TWHEEL_TIMERS_H

#include "timer.h"
#include "words.h"

TWHEEL_PART void timers_setup(struct timers *ts, u32 capacity, unsigned int levels,
			      unsigned int slots, u64 tick, u64 now);

TWHEEL_PART int timers_check_shape(struct twheel_setup *setup);
TWHEEL_PART struct timer_more **timers_more_alloc(const struct timers *ts);
TWHEEL_PART void timers_add_more_directory(struct timers *ts, struct timer_more **directory);
TWHEEL_PART void timers_add_more(struct timers *ts, u32 id, void *page);
TWHEEL_PART void timers_destroy(struct timers *ts);
TWHEEL_PART size_t timers_memory(const struct timers *ts);
TWHEEL_PART size_t timers_directory_bytes(const struct timers *ts);

TWHEEL_PART int timers_check_arm(const struct timers *ts, const struct twheel_op *op);
TWHEEL_PART int timers_check_cancel(const struct timers *ts, const struct twheel_op *op);
TWHEEL_PART int timers_arm(struct timers *ts, struct twheel_op *op, u64 now,
			   struct timers_need *need);
TWHEEL_PART int timers_cancel(struct timers *ts, struct twheel_op *op, struct timers_need *need);
TWHEEL_PART int timers_get(const struct timers *ts, struct twheel_timer *record);

/* Events in one claim. */
#define TIMERS_CLAIM_MAX	64U

TWHEEL_PART unsigned int timers_drop_stale(struct timers *ts, unsigned int most);
TWHEEL_PART unsigned int timers_claim(struct timers *ts, struct twheel_event *events,
				      unsigned int nr, u64 now);
TWHEEL_PART unsigned int timers_held(const struct timers *ts, const struct twheel_event *events,
				     unsigned int nr, u32 claim);
TWHEEL_PART unsigned int timers_commit(struct timers *ts, const struct twheel_event *events,
				       unsigned int nr, unsigned int swapped, u32 claim, u64 now);
TWHEEL_PART void timers_put_back(struct timers *ts, const struct twheel_event *events,
				 unsigned int nr, u32 claim);

TWHEEL_PART unsigned int timers_list(const struct timers *ts, struct twheel_timer *records,
				     unsigned int nr, u32 *cursor);

TWHEEL_PART unsigned int timers_advance(struct timers *ts, u64 now, unsigned int budget);
TWHEEL_PART void timers_set_time(struct timers *ts, u64 now);

/* Is there work for timers_advance() that had better be done soon? */
static inline bool timers_heavy(const struct timers *ts)
{
	return ts->wheel.heavy;
}

/* Is something due that is not found yet?  A slot that comes down ahead of time is not. */
static inline bool timers_behind(const struct timers *ts)
{
	return wheel_next(&ts->wheel) <= ts->now_tick || wheel_heavy_due(&ts->wheel, ts->now_tick);
}

/* Fetch the timer of an operation; any id will do. */
static __always_inline void timers_prefetch(const struct timers *ts, u32 id)
{
	const struct twheel_word *word;

	if (!timers_have(ts, &id))
		return;
	prefetchw(timer_of(ts, id));
	word = word_of(ts, id);
	if (unlikely(word))
		prefetchw(word);
}

/* Fetch what the first of many operations will write. */
static __always_inline void timers_prefetch_first(const struct timers *ts,
						  const struct twheel_op *ops, unsigned int nr)
{
	for (unsigned int i = 0; i < min(nr, WHEEL_AHEAD); i++)
		timers_prefetch(ts, ops[i].id);
}

/* Before the first of @nr operations that are left: fetch what later ones will write. */
static __always_inline void timers_prefetch_later(const struct timers *ts,
						  const struct twheel_op *ops, unsigned int nr)
{
	if (nr > WHEEL_AHEAD)
		timers_prefetch(ts, ops[WHEEL_AHEAD].id);
}

#endif /* TWHEEL_TIMERS_H */
