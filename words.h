/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words and the event ring: what a daemon shares with the kernel of its timers.
 *
 * All that a daemon may write is data here and nothing else: a deadline is a
 * number that is looked at, and the head of the ring tells how much room there
 * is, never more than the ring has.
 */
#ifndef TWHEEL_WORDS_H
#define TWHEEL_WORDS_H

#include "timers.h"

/* Words to a page, which is that of a chunk; and entries of the ring. */
#define WORDS_PER_PAGE	WHEEL_CHUNK_TIMERS
#define WORDS_PAGE	4096U

/**
 * struct ring - the kernel's side of the event ring
 * @header: shared
 * @page: of the entries, 256 to each; shared
 * @entries: a power of two
 * @tail: entries written; what stands in @header is for the consumer only
 * @head: entries taken, as last seen
 */
struct ring {
	struct twheel_ring	*header;
	struct twheel_entry	**page;
	u32			entries;
	u32			tail;
	u32			head;
};

/* How many pages the words of all timers take. */
static inline u32 words_pages(const struct timers *ts)
{
	return DIV_ROUND_UP(ts->wheel.capacity, WORDS_PER_PAGE);
}

/* The word of a timer, or NULL: it is armed by calls alone. */
static inline struct twheel_word *word_of(const struct timers *ts, u32 id)
{
	struct twheel_word *page;

	if (likely(!ts->word))
		return NULL;
	page = ts->word[id / WORDS_PER_PAGE];
	return page ? page + id % WORDS_PER_PAGE : NULL;
}

/* Does a deadline come before all that a promise covers?  0 stands for never. */
static inline bool word_uncovered(u64 deadline, u64 filed)
{
	return deadline - 1 < filed - 1;
}

WHEEL_API struct twheel_word **words_directory_alloc(const struct timers *ts);
WHEEL_API struct twheel_word *words_alloc(void);
WHEEL_API void words_free(void *page);
WHEEL_API void words_destroy(struct timers *ts);
WHEEL_API size_t words_memory(const struct timers *ts);
WHEEL_API void words_add_directory(struct timers *ts, struct twheel_word **directory);
WHEEL_API void words_add(struct timers *ts, u32 id, struct twheel_word *page);
WHEEL_API bool words_drop_stale(struct timers *ts);

WHEEL_API int ring_alloc(struct ring *ring, u32 entries);
WHEEL_API void ring_free(struct ring *ring);
WHEEL_API size_t ring_memory(const struct ring *ring);
WHEEL_API bool ring_has_entries(const struct ring *ring);
WHEEL_API unsigned int ring_post(struct ring *ring, struct timers *ts, u64 now);

#endif /* TWHEEL_WORDS_H */
