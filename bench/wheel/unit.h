/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wheel as a part of the unit that includes this, as twheel.c has it; in
 * user space with the benchmark's memory.
 */
#ifndef TWHEEL_BENCH_UNIT_H
#define TWHEEL_BENCH_UNIT_H

#include "loops.h"

#ifndef __KERNEL__
/* What is freed comes back with the next host_free_all(). */
static inline void unit_free(const void *p)
{
	(void)p;
}

#define alloc_pages_exact(size, gfp)	host_alloc(size)
#define free_pages_exact(p, size)	unit_free(p)
#define kvzalloc(size, gfp)		host_alloc(size)
#define kvfree(p)			unit_free(p)
#endif

#define WHEEL_API	static
#include "../../wheel.c"

/* @rate: timers that are brought down in a tick */
static inline bool unit_open(struct wheel *w, u32 nr, u64 rate, u64 now)
{
	struct wheel_chunk **directory;
	struct wheel_chunk *chunk;

	wheel_init(w, nr, 0, 64, rate, now);
	directory = wheel_directory_alloc(w);
	if (!directory)
		return false;
	wheel_add_directory(w, directory);
	for (u32 id = 0; id < nr; id += WHEEL_CHUNK_TIMERS) {
		chunk = wheel_chunk_alloc();
		if (!chunk) {
			wheel_destroy(w);
			return false;
		}
		wheel_add_chunk(w, id, chunk);
		cond_resched();
	}
	return true;
}

/* Add the levels that a tick needs. */
static noinline unsigned int unit_grow(struct wheel *w, u64 expiry)
{
	unsigned int level;

	while (wheel_level_missing(w, level = wheel_level(w, expiry))) {
		struct wheel_slot *slots = wheel_level_alloc(w);

		if (!slots)	/* the timer goes round: it is only slower */
			break;
		wheel_add_level(w, slots);
	}
	return level;
}

static inline unsigned int unit_level(struct wheel *w, u64 expiry)
{
	unsigned int level = wheel_level(w, expiry);

	return likely(level < w->nr_levels) ? level : unit_grow(w, expiry);
}

static inline void unit_file(struct wheel *w, u32 id, u64 expiry)
{
	wheel_file(w, id, expiry, unit_level(w, expiry));
}

static inline void unit_record(struct wheel *w, u32 id, u64 expiry)
{
	struct record *record = wheel_load(w, id);

	static_assert(sizeof(*record) == WHEEL_LOAD);
	record->cookie = cookie_of(id);
	record->deadline = expiry;
	record->generation++;
}

/* Hand out what is due, in batches as a read does. */
static inline void unit_take(struct wheel *w, u64 from, u64 to, struct seen *seen)
{
	static struct event events[WHEEL_STEP];
	u32 ids[WHEEL_STEP];
	unsigned int n;

	while (wheel_queue(w, WHEEL_DUE)->count) {
		n = wheel_take_due(w, ids, WHEEL_STEP);
		for (unsigned int i = 0; i < n; i++)
			see(seen, &events[i], wheel_load(w, ids[i]), ids[i], from, to);
		barrier();
	}
}

#endif /* TWHEEL_BENCH_UNIT_H */
