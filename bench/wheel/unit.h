/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wheel as a part of the unit that includes this, as the module has it; in
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

#include "../../unit.c"
#include "../../compat/owner.h"

/* @rate: timers that are brought down in a tick */
static inline bool unit_open(struct wheel *w, u32 nr, u64 rate, u64 now)
{
	wheel_init(w, nr, 0, 64, WHEEL_COST_ONE / rate, now);
	if (owner_add_chunks(w))
		return true;
	wheel_destroy(w);
	return false;
}

/* Add the levels that a tick needs. */
static noinline unsigned int unit_grow(struct wheel *w, u64 expiry)
{
	/* Without memory the timer goes round: it is only slower. */
	owner_add_reach(w, expiry);
	return wheel_level(w, expiry);
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
	struct record *record = wheel_owner_part(w, id);

	static_assert(sizeof(*record) == WHEEL_OWNER_SIZE);
	record->cookie = cookie_of(id);
	record->deadline = expiry;
	record->generation++;
}

/* Hand out what is due, in batches as a read does. */
static inline void unit_take(struct wheel *w, u64 from, u64 to, struct seen *seen)
{
	static struct told events[WHEEL_STEP];
	u32 ids[WHEEL_STEP];
	unsigned int n;

	while (wheel_queue(w, WHEEL_DUE)->count) {
		n = wheel_take_due(w, ids, WHEEL_STEP);
		for (unsigned int i = 0; i < n; i++)
			see(seen, &events[i], wheel_owner_part(w, ids[i]), ids[i], from, to);
		barrier();
	}
}

#endif /* TWHEEL_BENCH_UNIT_H */
