/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Filing: the inline part of wheel.c, which is what an arm and a cancel do most often.
 */
#ifndef TWHEEL_FILING_H
#define TWHEEL_FILING_H

#include "wheel.h"

/*
 * prev: a flag, two bits for the kind of list, and either the id of the
 * previous timer or, with the flag, the name of the list: for a slot's list
 * its level, its place in the ring, and which of the lists of the slot.
 */
#define PREV_HEAD		0x80000000U
#define PREV_ID			((1U << WHEEL_WHERE_SHIFT) - 1)
#define PREV_OUT		0xffffffffU
#define LIST_LEVEL_SHIFT	16
#define LIST_PLACE_SHIFT	3

TWHEEL_PART void wheel_slot_unlink(struct wheel *w, u32 name, u32 next);
TWHEEL_PART void wheel_note_slot(struct wheel *w, unsigned int l, u64 number, u64 tick);
TWHEEL_PART void wheel_move_earlier(struct wheel *w, u32 id, struct wheel_node *node,
				    u64 expiry, unsigned int level);

/* What the first timer of a slot's list has for its predecessor. */
static inline u32 list_name(unsigned int l, u32 place, unsigned int list)
{
	return PREV_HEAD | l << LIST_LEVEL_SHIFT | place << LIST_PLACE_SHIFT | list;
}

/* Take a timer out of its slot. */
static __always_inline void wheel_unlink_filed(struct wheel *w, struct wheel_node *node)
{
	u32 next = node->next, prev = node->prev;

	node->prev = PREV_OUT;
	w->filed--;
	if (next != WHEEL_NIL)
		wheel_node(w, next)->prev = prev;
	if (prev & PREV_HEAD)
		wheel_slot_unlink(w, prev & PREV_ID, next);
	else
		wheel_node(w, prev)->next = next;
}

/* File a timer that is in no list. */
static __always_inline void wheel_file_timer(struct wheel *w, u32 id, struct wheel_node *node,
					     u64 expiry, unsigned int l)
{
	struct wheel_level *level;
	struct wheel_slot *slot;
	u64 number, soonest = expiry;
	u32 place, filed, next;

	if (likely(l < w->nr_levels)) {
		level = &w->level[l];
		number = expiry >> level->shift;
	} else {
		level = &w->level[--l];
		number = level->hand + w->mask;
		/* It goes round the top level; below that, no hand may stop for it. */
		if (w->nr_levels < w->max_levels)
			soonest = number << level->shift;
	}
	place = number & w->mask;
	slot = &level->slot[place];
	filed = slot->filed++;
	next = slot->head[filed % WHEEL_LISTS];
	slot->head[filed % WHEEL_LISTS] = id;
	node->expiry = expiry;
	node->next = next;
	node->prev = list_name(l, place, filed % WHEEL_LISTS);
	if (next != WHEEL_NIL)
		wheel_node(w, next)->prev = id;
	w->filed++;
	if (soonest < slot->soonest || unlikely(!(filed % WHEEL_STEP)))
		wheel_note_slot(w, l, number, soonest);
}

/**
 * wheel_file_inline() - put a timer where its tick belongs, or move it there
 * @w: a wheel with at least one level
 * @id: a timer that is filed or in no list
 * @node: its node
 * @expiry: a tick after the one the wheel has been turned to
 * @level: what wheel_level() says of it
 *
 * To move a timer later, its new tick is only stored: the slot that it is in
 * is opened too early, once.
 */
static __always_inline void wheel_file_inline(struct wheel *w, u32 id, struct wheel_node *node,
					      u64 expiry, unsigned int level)
{
	if (wheel_where(node) != WHEEL_FILED)
		wheel_file_timer(w, id, node, expiry, level);
	else if (expiry >= node->expiry)
		node->expiry = expiry;
	else
		wheel_move_earlier(w, id, node, expiry, level);
}

#endif /* TWHEEL_FILING_H */
