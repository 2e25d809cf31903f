/* SPDX-License-Identifier: GPL-2.0 */
/* A wheel with its time, and what a daemon does with it, for cases by name. */
#ifndef TWHEEL_TESTS_FIXTURE_H
#define TWHEEL_TESTS_FIXTURE_H

#include "owner.h"

/* Three chunks, of which the last is not full. */
#define CHUNK		WHEEL_CHUNK_TIMERS
#define CAPACITY	(2 * CHUNK + 188)

static struct timers ts;
static u64 now;

static inline int arm(struct twheel_op *op)
{
	return owner_arm(&ts, op, now);
}

static inline int cancel(struct twheel_op *op)
{
	timers_set_time(&ts, now);
	return owner_cancel(&ts, op);
}

static inline void start(u64 tick)
{
	now = 1000 * tick;
	timers_setup(&ts, CAPACITY, 0, 64, tick, now);
}

/* Give a wheel words, and the levels without which nothing can be stored in them. */
static inline struct twheel_word *start_words(u64 tick)
{
	bool good;

	start(tick);
	good = owner_add_chunks(&ts.wheel) && owner_add_levels(&ts.wheel, 4);
	while (good && ts.wheel.room < 2 * CAPACITY)
		good = owner_add_blocks(&ts.wheel);
	for (u32 id = 0; id < CAPACITY; id += WORDS_PER_PAGE)
		good = good && owner_add_words(&ts, id);
	if (!good)
		abort();
	return ts.word[0];
}

static inline void end_words(void)
{
	timers_destroy(&ts);
}

/* Arm by what is stored. */
static inline void arm_stored(u32 id)
{
	struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = id };

	arm(&op);
}

/* What a daemon does after it has changed a word. */
static inline void test_word(u32 id)
{
	const struct twheel_word *word = word_of(&ts, id);

	if (word_uncovered(word->deadline, word->promise))
		arm_stored(id);
}

/* What a daemon does: an exchange, and a call if the promise does not cover it. */
static inline void store(u32 id, u64 deadline)
{
	xchg(&word_of(&ts, id)->deadline, deadline);
	test_word(id);
}

static inline u32 cancel_id(u32 id)
{
	struct twheel_op op = { .id = id };

	cancel(&op);
	return op.state;
}

/* Time passes, and all that is due is found. */
static inline void pass(u64 ns)
{
	now += ns;
	timers_advance(&ts, now, 1 << 20);
}

#endif /* TWHEEL_TESTS_FIXTURE_H */
