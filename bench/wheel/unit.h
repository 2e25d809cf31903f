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

#define kzalloc(size, gfp)		host_alloc(size)
#define alloc_pages_exact(size, gfp)	host_alloc(size)
#define kfree(p)			unit_free(p)
#define free_pages_exact(p, size)	unit_free(p)
#define kvzalloc(size, gfp)		host_alloc(size)
#define kvfree(p)			unit_free(p)
#endif

#include "../../unit.c"
#include "../../tests/owner.h"

/* @rate: timers that are brought down in a tick */
static inline bool unit_open(struct wheel *w, u32 nr, u64 rate, u64 now)
{
	wheel_init(w, nr, 0, 64, WHEEL_COST_ONE / rate, now, owner_look);
	if (owner_add_chunks(w))
		return true;
	wheel_destroy(w);
	return false;
}

/* What a timer needs before it can be filed. */
static noinline bool unit_grow(struct wheel *w, u64 expiry)
{
	if (!owner_add_reach(w, expiry))
		return false;
	while (wheel_full(w))
		if (!(wheel_stale(w) && wheel_sift(w, WHEEL_STEP)) && !owner_add_blocks(w))
			return false;
	return true;
}

static inline void unit_file(struct wheel *w, u32 id, u64 expiry)
{
	if (unlikely(wheel_level_missing(w, expiry) || wheel_full(w)) && !unit_grow(w, expiry))
		return;
	wheel_timer(w, id)->deadline = expiry;
	wheel_file(w, id, expiry);
}

static inline void unit_record(struct wheel *w, u32 id, u64 expiry)
{
	struct timer *t = wheel_timer(w, id);

	t->cookie = cookie_of(id);
	t->deadline = expiry;
	t->generation++;
}

/* Take timers out of the due queue; returns how many. */
static inline unsigned int unit_due(struct wheel *w, struct told *events, struct seen *seen,
				    u64 from, u64 to)
{
	u32 ids[WHEEL_STEP];
	unsigned int n = wheel_take_due(w, ids, WHEEL_STEP, 0);

	for (unsigned int i = 0; i < n; i++) {
		const struct timer *t = wheel_timer(w, ids[i]);
		const struct record record = {
			.cookie = t->cookie, .deadline = t->deadline, .generation = t->generation,
		};

		see(seen, &events[i], &record, ids[i], from, to);
		wheel_unlink(w, ids[i]);
	}
	return n;
}

/* Hand out what is due, in batches as a read does. */
static inline void unit_take(struct wheel *w, u64 from, u64 to, struct seen *seen)
{
	static struct told events[WHEEL_STEP];

	while (unit_due(w, events, seen, from, to))
		barrier();
}

#endif /* TWHEEL_BENCH_UNIT_H */
