/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Filing: the inline part of wheel.c, which is what an arm does most often.
 */
#ifndef TWHEEL_FILING_H
#define TWHEEL_FILING_H

#include "wheel.h"

/*
 * The link of a timer has, below where it is,
 *
 *	filed, kept	the tick of the entry that is its own, as it stands in the entry; with
 *			LINK_SPARE, @spare and the bits above the tick are the number of the
 *			sift that has put the entry where it is
 *	due, pool	the previous timer and the next one in the queue
 *	claimed		the mark: the number of the claim
 */
#define LINK_WHERE(where)	((u64)(where) << WHEEL_WHERE_SHIFT)
/* What makes a timer kept that would be filed. */
#define LINK_KEPT		(LINK_WHERE(WHEEL_FILED) ^ LINK_WHERE(WHEEL_KEPT))
#define LINK_SPARE		BIT_ULL(60)
#define LINK_SIFT		(BIT_ULL(58) - BIT_ULL(WHEEL_TICK_BITS))
#define LINK_ID_BITS		25
#define LINK_ID			((u32)BIT(LINK_ID_BITS) - 1)

TWHEEL_PART u32 wheel_add_block(struct wheel *w, struct wheel_slot *slot);
TWHEEL_PART void wheel_note_slot(struct wheel *w, unsigned int l, u64 number, u64 tick);

static inline u64 entry_of(u32 id, u64 tick)
{
	return (u64)id << WHEEL_TICK_BITS | (tick & WHEEL_TICK_MASK);
}

static inline u32 entry_id(u64 entry)
{
	return entry >> WHEEL_TICK_BITS;
}

/* The tick whose low bits are those of a link or an entry, of those near another tick. */
static inline u64 near_tick(u64 near, u64 low)
{
	return near + (u64)((s64)((low - near) << (64 - WHEEL_TICK_BITS)) >>
			    (64 - WHEEL_TICK_BITS));
}

/* Words of the block pool in a page. */
#define POOL_SHIFT		(WHEEL_PAGE_SHIFT - 3)

static __always_inline u64 *pool_word(const struct wheel *w, u32 word)
{
	return &w->pool[word >> POOL_SHIFT][word & (BIT(POOL_SHIFT) - 1)];
}

/* Put an entry into the slot where its tick belongs. */
static __always_inline void wheel_put(struct wheel *w, u32 id, u64 tick)
{
	unsigned int l = wheel_level(w, tick);
	u64 number, soonest = tick;
	struct wheel_slot *slot;
	u32 tail;

	if (likely(l < w->nr_levels)) {
		number = tick >> w->level[l].shift;
	} else {
		number = w->level[--l].hand + w->mask;
		/* It goes round the top level; below that, no hand may stop for it. */
		if (w->nr_levels < w->max_levels)
			soonest = number << w->level[l].shift;
	}
	slot = &w->level[l].slot[number & w->mask];
	tail = slot->tail;
	if (!(tail % WHEEL_BLOCK)) {
		tail = wheel_add_block(w, slot);
		if (!tail)
			return;
	}
	*pool_word(w, tail) = entry_of(id, tick);
	slot->tail = tail + 1;
	w->entries++;
	if (unlikely(!(slot->count++ % WHEEL_STEP) || soonest < slot->soonest))
		wheel_note_slot(w, l, number, soonest);
}

/* Will the entry that a timer has, or has kept, do for a tick? */
static __always_inline bool entry_serves(const struct timer *t, u64 tick)
{
	/* The difference of two ticks that are less than half of their range apart. */
	return t->link & LINK_WHERE(WHEEL_FILED) &&
	       (s64)((tick - t->link) << (64 - WHEEL_TICK_BITS)) >= 0;
}

/**
 * wheel_file_inline() - have a timer looked at when it is due
 * @w: a wheel with at least one level, that is not full
 * @id: a timer that is in no queue
 * @t: the timer itself
 * @tick: after the one the wheel has come to, and not beyond the horizon
 *
 * If one of the entries is its own and is not too late, that will do: the look comes too early,
 * once.  Otherwise it gets another entry, and the one that it had is stale.
 */
static __always_inline void wheel_file_inline(struct wheel *w, u32 id, struct timer *t,
					      u64 tick)
{
	u64 link = t->link;

	if (link & LINK_WHERE(WHEEL_FILED)) {
		w->filed += !!(link & LINK_KEPT);
		if (entry_serves(t, tick)) {
			t->link = link & ~LINK_KEPT;
			return;
		}
	} else {
		w->filed++;
		w->claimed -= wheel_where(t) == WHEEL_CLAIMED;
	}
	t->link = LINK_WHERE(WHEEL_FILED) | (tick & WHEEL_TICK_MASK);
	wheel_put(w, id, tick);
}

/* A timer that is filed is not to come due, but keeps its entry. */
static __always_inline void wheel_keep(struct wheel *w, struct timer *t)
{
	t->link |= LINK_KEPT;
	w->filed--;
}

#endif /* TWHEEL_FILING_H */
