/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the device does for the wheel and the timers that it owns: it gives them
 * memory on demand, and has an order of calls around an arm, a read and the passing
 * of time.  Here it is once for all tests and benchmarks without a device, in user
 * space and in the kernel.  Like the wheel itself it has no locks.
 */
#ifndef TWHEEL_TESTS_OWNER_H
#define TWHEEL_TESTS_OWNER_H

#include "../filing.h"
#include "../timers.h"
#include "../words.h"

/* Memory.  All of these return false if there is none to be had. */

static inline void *owner_page(void)
{
	return kzalloc(WHEEL_PAGE_SIZE, WHEEL_GFP);
}

static inline bool owner_add_directory(struct wheel *w)
{
	void *directory = wheel_directory_alloc(w);

	if (directory)
		wheel_add_directory(w, directory);
	return directory;
}

/* For an id and its neighbours, unless it is there. */
static inline bool owner_add_chunk(struct wheel *w, u32 id)
{
	void *page;

	if (wheel_has(w, id))
		return true;
	if (id >= w->ids && !owner_add_directory(w))
		return false;
	page = owner_page();
	if (page)
		wheel_add_chunk(w, id, page);
	return page;
}

/* For more entries. */
static inline bool owner_add_blocks(struct wheel *w)
{
	void *page;

	if (w->nr_pages == wheel_max_pages(w) ||
	    (w->nr_pages == WHEEL_FIRST_PAGES && !w->directory && !owner_add_directory(w)))
		return false;
	page = owner_page();
	if (page)
		wheel_add_blocks(w, page);
	return page;
}

/* For what more there may be of timers. */
static inline bool owner_add_more(struct timers *ts, u32 id)
{
	void *page;

	if (!ts->more) {
		struct timer_more **directory = timers_more_alloc(ts);

		if (!directory)
			return false;
		timers_add_more_directory(ts, directory);
	}
	page = owner_page();
	if (page)
		timers_add_more(ts, id, page);
	return page;
}

/* For all ids. */
static inline bool owner_add_chunks(struct wheel *w)
{
	for (u32 id = 0; id < w->capacity; id += WHEEL_CHUNK_TIMERS) {
		if (!owner_add_chunk(w, id))
			return false;
		cond_resched();
	}
	return true;
}

/* Up to a number of levels. */
static inline bool owner_add_levels(struct wheel *w, unsigned int levels)
{
	while (w->nr_levels < levels) {
		struct wheel_slot *slots = wheel_level_alloc(w);

		if (!slots)
			return false;
		wheel_add_level(w, slots);
	}
	return true;
}

/* The levels that a tick needs. */
static inline bool owner_add_reach(struct wheel *w, u64 tick)
{
	while (wheel_level_missing(w, tick))
		if (!owner_add_levels(w, w->nr_levels + 1))
			return false;
	return true;
}

/* What an arm or a cancel needs before it can be done. */
static inline bool owner_add(struct timers *ts, struct timers_need *need)
{
	struct wheel *w = &ts->wheel;

	switch (need->what) {
	case TIMERS_NEED_CHUNK:
		return owner_add_chunk(w, need->id);
	case TIMERS_NEED_MORE:
		return owner_add_more(ts, need->id);
	case TIMERS_NEED_LEVEL:
		return owner_add_levels(w, w->nr_levels + 1);
	case TIMERS_NEED_BLOCKS:
		return owner_add_blocks(w);
	case TIMERS_NEED_WORD:
		words_exchange(ts, need);
		break;
	case TIMERS_NEED_RETRY:
		need->handled = 0;
		break;
	}
	return true;
}

/* The words of an id and its neighbours. */
static inline bool owner_add_words(struct timers *ts, u32 id)
{
	struct twheel_word *page;

	if (!ts->word && !words_begin(ts))
		return false;
	page = alloc_pages_exact(PAGE_SIZE, WHEEL_GFP);
	if (!page)
		return false;
	words_add(ts, id & ~(WORDS_PER_PAGE - 1), page);
	return true;
}

/* The entries of a slot, from its last: @at begins as its tail.  False behind the first. */
static inline bool owner_entry(const struct wheel *w, u32 *at, u64 *entry)
{
	if (!*at)
		return false;
	*entry = *pool_word(w, --*at);
	if (*at % WHEEL_BLOCK == 1)
		*at = *pool_word(w, *at - 1);
	return true;
}

/* Is an entry the own one of a timer that is filed? */
static inline bool owner_own(const struct wheel *w, u64 entry)
{
	u64 link = wheel_timer(w, entry_id(entry))->link;

	return (link & ~(LINK_SPARE | LINK_SIFT)) ==
	       (LINK_WHERE(WHEEL_FILED) | (entry & WHEEL_TICK_MASK));
}

/* A wheel alone, whose timers have the tick at which they are due for a deadline. */

static inline void owner_look(struct wheel *w, struct wheel_batch *batch)
{
	(void)w;
	for (unsigned int i = 0; i < batch->nr; i++)
		batch->tick[i] = batch->timer[i]->deadline;
}

/* File a timer, or move it; false if there is no memory. */
static inline bool owner_file(struct wheel *w, u32 id, u64 tick)
{
	if (!owner_add_chunk(w, id) || !owner_add_reach(w, tick))
		return false;
	while (wheel_full(w))
		if (!(wheel_stale(w) && wheel_sift(w, WHEEL_STEP)) && !owner_add_blocks(w))
			return false;
	wheel_timer(w, id)->deadline = tick;
	if (wheel_where(wheel_timer(w, id)) >= WHEEL_DUE)
		wheel_unlink(w, id);
	wheel_file(w, id, tick);
	return true;
}

/* Calls */

/* Arm a timer; returns 0 or an errno, as the ABI says. */
static inline int owner_arm(struct timers *ts, struct twheel_op *op, u64 now)
{
	struct timers_need need = {};
	int ret;

	timers_set_time(ts, now);
	while ((ret = timers_arm(ts, op, now, &need)) == -EAGAIN)
		if (!owner_add(ts, &need))
			return -ENOMEM;
	return ret;
}

/* Cancel a timer; returns 0 or an errno, as the ABI says. */
static inline int owner_cancel(struct timers *ts, struct twheel_op *op)
{
	struct timers_need need = {};
	int ret;

	while ((ret = timers_cancel(ts, op, &need)) == -EAGAIN)
		if (!owner_add(ts, &need))
			return -ENOMEM;
	return ret;
}

/* Carry out operations as a submit does; returns how many have failed. */
static inline unsigned int owner_submit(struct timers *ts, struct twheel_op *ops,
					unsigned int nr, u64 now)
{
	struct timers_need need = {};
	unsigned int failed = 0;
	int ret;

	timers_set_time(ts, now);
	timers_prefetch_first(ts, ops, nr);
	for (unsigned int i = 0; i < nr; i++) {
		struct twheel_op *op = &ops[i];

		timers_prefetch_later(ts, op, nr - i);
		do
			ret = op->opcode == TWHEEL_OP_ARM ? timers_arm(ts, op, now, &need) :
							    timers_cancel(ts, op, &need);
		while (ret == -EAGAIN && owner_add(ts, &need));
		ret = ret == -EAGAIN ? -ENOMEM : ret;
		op->result = ret;
		failed += ret < 0;
	}
	return failed;
}

/* Find all that is due; returns how many timers that took. */
static inline u64 owner_advance(struct timers *ts, u64 now)
{
	u64 handled = 0;
	u32 done;

	do {
		done = timers_advance(ts, now, WHEEL_STEP);
		handled += done;
	} while (done == WHEEL_STEP);
	return handled;
}

/* Commit events as a read does; returns how many count. */
static inline unsigned int owner_commit(struct timers *ts, const struct twheel_event *events,
					unsigned int nr, u32 claim, u64 now)
{
	unsigned int swapped = words_take(ts, events, timers_held(ts, events, nr, claim));

	return timers_commit(ts, events, nr, swapped, claim, now);
}

/* Read an event that counts; false if there is none. */
static inline bool owner_read(struct timers *ts, struct twheel_event *event, u64 now)
{
	timers_set_time(ts, now);
	while (timers_claim(ts, event, 1, now))
		if (owner_commit(ts, event, 1, ts->claims, now))
			return true;
	return false;
}

#endif /* TWHEEL_TESTS_OWNER_H */
