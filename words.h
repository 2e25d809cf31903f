/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Words: what a daemon shares with the kernel of its timers, to arm them by a store.
 *
 * A daemon may write there what it likes, at any time: the kernel takes deadlines from
 * there, for which any number will do, and nothing else.
 */
#ifndef TWHEEL_WORDS_H
#define TWHEEL_WORDS_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/compiler.h>
#endif

#include "timer.h"

/* Words are allocated, and mapped, by the page. */
#define WORDS_PER_PAGE	((u32)(PAGE_SIZE / sizeof(struct twheel_word)))

/* How many pages the words of all timers take. */
static inline u32 words_pages(const struct timers *ts)
{
	return DIV_ROUND_UP(ts->wheel.capacity, WORDS_PER_PAGE);
}

/* The word of a timer, or NULL: it is armed by calls alone. */
static inline struct twheel_word *word_of(const struct timers *ts, u32 id)
{
	if (likely(!ts->word))
		return NULL;
	return &ts->word[id / WORDS_PER_PAGE][id % WORDS_PER_PAGE];
}

/* What the daemon wants; any number may stand there. */
static inline u64 word_deadline(const struct twheel_word *word)
{
	return min_t(u64, READ_ONCE(word->deadline), KTIME_MAX);
}

/*
 * Put a deadline, or 0, in the place of the one that was seen.  Fails if that has changed:
 * an event of it is stale then, and what else was found by it has to be looked at again.
 */
static inline bool word_take(struct twheel_word *word, u64 seen, u64 next)
{
	u64 deadline = READ_ONCE(word->deadline);

	return min_t(u64, deadline, KTIME_MAX) == seen &&
	       cmpxchg(&word->deadline, deadline, next) == deadline;
}

/*
 * Does a deadline come before all those that a promise covers?  Then the kernel would be
 * late for it, unless it is called.  0 is never, and so comes after all others.
 */
static inline bool word_uncovered(u64 deadline, u64 promise)
{
	return deadline - 1 < promise - 1;
}

TWHEEL_PART enum twheel_state word_state(const struct timers *ts, u32 id, u64 deadline);
TWHEEL_PART void word_resume(struct timers *ts, u32 id, struct twheel_word *word, u64 now);
TWHEEL_PART void word_let_go(struct timers *ts, u32 id, struct twheel_word *word);
TWHEEL_PART void word_drop(struct timers *ts, u32 id, struct twheel_word *word);
TWHEEL_PART int words_need(const struct timers *ts, const struct twheel_op *op, u32 id,
			   u64 deadline, struct timers_need *need);
TWHEEL_PART bool words_exchange(const struct timers *ts, struct timers_need *need);
TWHEEL_PART unsigned int words_take(const struct timers *ts, const struct twheel_event *events,
				    unsigned int nr);
TWHEEL_PART int words_arm(struct timers *ts, struct twheel_op *op, u64 now,
			  struct timers_need *need);

TWHEEL_PART bool words_begin(struct timers *ts);
TWHEEL_PART void words_add(struct timers *ts, u32 id, struct twheel_word *page);
TWHEEL_PART void words_destroy(struct timers *ts);
TWHEEL_PART size_t words_memory(const struct timers *ts);

#endif /* TWHEEL_WORDS_H */
