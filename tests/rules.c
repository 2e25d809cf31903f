// SPDX-License-Identifier: GPL-2.0
/*
 * The rules that hold inside a wheel between any two calls: R1 to R4 at the top
 * of wheel.c, the lower bounds, and that every chain and queue is whole.
 */
#include "../unit.c"
#include "owner.h"
#include "rules.h"

/* Which timers have an entry of their own. */
static bool has_entry[REF_MAX_CAPACITY];

static const char *check_entries(const struct wheel *w, const struct reference *r, u64 shift,
				 const struct wheel_slot *slot, u64 from)
{
	u32 at = slot->tail, count = 0;
	u64 entry;

	for (; owner_entry(w, &at, &entry); count++) {
		u64 tick = near_tick(slot->soonest, entry);
		u32 id = entry_id(entry);

		if (count == slot->count)
			return "a slot holds more than it counts";
		if (tick < slot->soonest)
			return "a slot's soonest is no lower bound";
		if (tick < from)
			return "R1: an entry stands after its tick";
		if ((wheel_timer(w, id)->link & ~(LINK_KEPT | LINK_SPARE | LINK_SIFT)) !=
		    (LINK_WHERE(WHEEL_FILED) | (tick & WHEEL_TICK_MASK)))
			continue;
		has_entry[id] = true;
		if (wheel_where(wheel_timer(w, id)) == WHEEL_KEPT)
			continue;
		if (r->timer[id].where != REF_PENDING)
			return "a timer is filed that is not pending";
		if (tick > max(r->timer[id].due + shift, w->at + 1))
			return "a timer is filed too late";
	}
	return count == slot->count ? NULL : "a slot holds less than it counts";
}

static const char *check_slot(const struct wheel *w, const struct reference *r,
			      u64 shift, unsigned int l, u32 place, u32 *entries)
{
	const struct wheel_level *level = &w->level[l];
	const struct wheel_slot *slot = &level->slot[place];
	u64 number = level->hand + 1 + ((place - (level->hand + 1)) & w->mask);
	bool at_hand = number == level->hand + ring_size(w);

	if (at_hand && !(w->open & BIT(l)))
		return "R3: timers at a hand that is not open";
	if (!slot->count)
		return "an empty slot is in the map";
	if (!at_hand && slot->soonest < level->next)
		return "a level's next is no lower bound";
	*entries += slot->count;
	return check_entries(w, r, shift, slot,
			     (at_hand ? level->hand : number) << level->shift);
}

/* All blocks are in a slot or free, and there is as much room as they give. */
static const char *check_blocks(const struct wheel *w)
{
	u32 blocks = 0;

	for (u32 free = w->free; free; free = *pool_word(w, free - 1))
		if (blocks++ > w->nr_pages * BLOCKS_PER_PAGE)
			return "the free blocks go round";
	for (unsigned int l = 0; l <= w->nr_levels; l++)
		for (u32 place = 0; place < ring_size(w); place++) {
			const struct wheel_slot *slot = l < w->nr_levels ?
				&w->level[l].slot[place] : &w->sift;

			blocks += DIV_ROUND_UP(slot->count, WHEEL_BLOCK - 1);
			if (!slot->count != !slot->tail)
				return "a slot has blocks for nothing";
			if (l == w->nr_levels)
				break;
		}
	if (blocks != w->nr_pages * BLOCKS_PER_PAGE)
		return "a block is lost";
	if (w->entries + w->queue[0].count + w->claimed > w->room)
		return "there may be more entries than there is room for";
	return w->room <= blocks * (WHEEL_BLOCK - 1) &&
	       blocks_for(w, w->room) <= blocks ? NULL : "there is less room than is said";
}

static const char *check_queue(struct wheel *w, enum wheel_where where)
{
	const struct wheel_queue *queue = wheel_queue(w, where);
	u32 prev = WHEEL_NIL, count = 0;

	for (u32 id = queue->head; id != WHEEL_NIL; id = link_next(wheel_timer(w, id)->link)) {
		if (wheel_where(wheel_timer(w, id)) != where)
			return "a timer in a queue is elsewhere";
		if (link_prev(wheel_timer(w, id)->link) != prev)
			return "a link back in a queue leads elsewhere";
		if (count++ == queue->count)
			return "a queue is longer than its count";
		prev = id;
	}
	return count == queue->count && prev == queue->tail ? NULL :
	       "a queue does not end where it should";
}

/* All memory is counted, and for how many timers it is. */
static const char *check_memory(const struct wheel *w)
{
	size_t memory = w->nr_levels * level_bytes(w);
	u32 timers = 0;

	if (w->directory)
		memory += wheel_directory_bytes(w);
	for (u32 id = 0; id < w->capacity; id += WHEEL_CHUNK_TIMERS) {
		if (!wheel_has(w, id))
			continue;
		memory += WHEEL_PAGE_SIZE;
		timers += WHEEL_CHUNK_TIMERS;
	}
	memory += w->nr_pages * WHEEL_PAGE_SIZE;
	return memory == w->memory && timers == w->nr_chunks * WHEEL_CHUNK_TIMERS ? NULL :
	       "memory is miscounted";
}

/**
 * rules_check() - do all rules hold?
 * @w: the wheel
 * @r: says which timers should be pending, and at which ticks
 * @shift: what the wheel's ticks are ahead of those of the reference
 *
 * Return: what is wrong, or NULL.
 */
const char *rules_check(struct wheel *w, const struct reference *r, u64 shift)
{
	const char *error;
	u32 entries = 0, filed = 0, claimed = 0;

	memset(has_entry, 0, w->capacity * sizeof(*has_entry));
	for (unsigned int l = 0; l < w->nr_levels; l++) {
		const struct wheel_level *level = &w->level[l];
		unsigned int used = 0;

		if (l && level->hand > (level[-1].hand >> w->bits) + 1)
			return "R2: a hand is ahead of the one below";
		for (u32 place = find_next_bit(level->map, ring_size(w), 0);
		     place < ring_size(w);
		     place = find_next_bit(level->map, ring_size(w), place + 1)) {
			error = check_slot(w, r, shift, l, place, &entries);
			if (error)
				return error;
			used++;
		}
		if (used != level->used || (!used && level->next != WHEEL_NEVER))
			return "a level's slots are miscounted";
		/* R4 is what makes this so: what comes down has room below. */
		if (l && w->open & BIT(l) && level->hand << w->bits > level[-1].hand +
						 w->mask + 1 - (1U << w->bits))
			return "R4: an open slot does not lie in the reach below";
		if (w->open & BIT(l) && !test_bit(level->hand & w->mask, level->map))
			return "an empty slot is open";
	}
	if (w->heavy & ~w->open)
		return "a slot is heavy that is not open";
	error = check_entries(w, r, shift, &w->sift, 0);
	if (error)
		return error;
	if (!w->sift.count != !(w->open & BIT(WHEEL_SIFT)))
		return "what is sifted is not open, or nothing is";
	if (entries + w->sift.count != w->entries)
		return "entries are miscounted";
	for (u32 id = 0; id < w->capacity; id++) {
		enum wheel_where where = wheel_has(w, id) ? wheel_where(wheel_timer(w, id)) :
							    WHEEL_OUT;

		filed += where == WHEEL_FILED;
		claimed += where == WHEEL_CLAIMED;
		if ((where == WHEEL_FILED || where == WHEEL_KEPT) && !has_entry[id])
			return "a timer has no entry";
	}
	if (filed != w->filed || filed != r->stats.pending)
		return "filed is miscounted";
	if (claimed != w->claimed)
		return "claimed is miscounted";
	error = check_blocks(w);
	if (error)
		return error;
	if (w->queue[0].count != r->stats.expired)
		return "the due queue is miscounted";
	error = check_queue(w, WHEEL_DUE);
	if (!error)
		error = check_queue(w, WHEEL_POOL);
	return error ? error : check_memory(w);
}

/**
 * rules_filed() - was a timer filed in the lowest level that reaches its tick?
 * @w: the wheel, in which nothing has happened since
 * @id: a timer that is filed
 *
 * Return: what is wrong, or NULL.
 */
const char *rules_filed(const struct wheel *w, u32 id)
{
	u64 tick = near_tick(w->at, wheel_timer(w, id)->link), number;
	const struct wheel_slot *slot;
	unsigned int l = 0;

	while (l < w->nr_levels - 1 &&
	       (tick >> w->level[l].shift) - w->level[l].hand > w->mask)
		l++;
	number = min(tick >> w->level[l].shift, w->level[l].hand + w->mask);
	slot = &w->level[l].slot[number & w->mask];
	return slot->count && *pool_word(w, slot->tail - 1) == entry_of(id, tick) ? NULL :
	       "filed in the wrong slot";
}

/**
 * rules_crowded() - may a heavy slot be late, so that order is not promised?
 * @w: the wheel
 *
 * A slot counts all its entries, stale ones too; and half a
 * step's worth is enough, because two such slots may come down into one.
 */
bool rules_crowded(const struct wheel *w)
{
	if (w->heavy)
		return true;
	for (unsigned int l = 1; l < w->nr_levels; l++) {
		const struct wheel_level *level = &w->level[l];

		for (u32 place = find_next_bit(level->map, ring_size(w), 0);
		     place < ring_size(w);
		     place = find_next_bit(level->map, ring_size(w), place + 1))
			if (level->slot[place].count > WHEEL_STEP / 2)
				return true;
	}
	return false;
}
