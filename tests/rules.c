// SPDX-License-Identifier: GPL-2.0
/*
 * The rules that hold inside a wheel between any two calls: R1 to R4 at the top
 * of wheel.c, the lower bounds, and that every list is whole.
 */
#include "../unit.c"
#include "rules.h"

/* The timers of one list of a slot. */
static const char *check_list(const struct wheel *w, const struct reference *r,
			      u64 shift, unsigned int l, u32 place,
			      unsigned int list, u64 number, u32 *count)
{
	const struct wheel_level *level = &w->level[l];
	const struct wheel_slot *slot = &level->slot[place];
	u32 prev = list_name(l, place, list);

	for (u32 id = slot->head[list]; id != WHEEL_NIL; id = wheel_node(w, id)->next) {
		const struct wheel_node *node = wheel_node(w, id);

		if (wheel_where(node) != WHEEL_FILED || node->prev != prev)
			return "a link back leads elsewhere";
		if (r->timer[id].where != REF_PENDING)
			return "a timer is filed that is not pending";
		/* A clock that was set back makes ticks later, at the next look. */
		if (w->look ? node->expiry > r->timer[id].due + shift :
			      node->expiry != r->timer[id].due)
			return "a tick was changed";
		if (node->expiry < slot->soonest)
			return "a slot's soonest is no lower bound";
		if (node->expiry >> level->shift < number)
			return "R1: a timer is filed after its tick";
		prev = id;
		if (++*count > w->filed)
			return "more timers in slots than are filed";
	}
	return NULL;
}

static const char *check_slot(const struct wheel *w, const struct reference *r,
			      u64 shift, unsigned int l, u32 place, u32 *filed)
{
	const struct wheel_level *level = &w->level[l];
	const struct wheel_slot *slot = &level->slot[place];
	u64 number = level->hand + 1 + ((place - (level->hand + 1)) & w->mask);
	bool at_hand = number == level->hand + ring_size(w);
	u32 count = 0;

	if (at_hand && !(w->open & BIT(l)))
		return "R3: timers at a hand that is not open";
	for (unsigned int list = 0; list < WHEEL_LISTS; list++) {
		const char *error = check_list(w, r, shift, l, place, list,
					       at_hand ? level->hand : number, &count);

		if (error)
			return error;
	}
	if (!count)
		return "an empty slot is in the map";
	if (count > slot->filed)
		return "a slot holds more than were filed in it";
	if (!at_hand && slot->soonest < level->next)
		return "a level's next is no lower bound";
	*filed += count;
	return NULL;
}

static const char *check_queue(struct wheel *w, enum wheel_where where)
{
	const struct wheel_queue *queue = wheel_queue(w, where);
	u32 kind = (u32)where << WHEEL_WHERE_SHIFT;
	u32 prev = PREV_HEAD | kind, last = WHEEL_NIL, count = 0;

	for (u32 id = queue->head; id != WHEEL_NIL; id = wheel_node(w, id)->next) {
		if (wheel_node(w, id)->prev != prev)
			return "a link back in a queue leads elsewhere";
		if (count++ == queue->count)
			return "a queue is longer than its count";
		prev = kind | id;
		last = id;
	}
	return count == queue->count && last == queue->tail ? NULL :
	       "a queue does not end where it should";
}

/* All memory is counted, and for how many timers it is. */
static const char *check_memory(const struct wheel *w)
{
	size_t memory = w->nr_levels * level_bytes(w);
	u32 timers = 0;

	if (w->node)
		memory += directory_bytes(w);
	for (u32 id = 0; id < w->capacity; id += WHEEL_CHUNK_TIMERS) {
		if (!wheel_has(w, id))
			continue;
		memory += WHEEL_CHUNK_BYTES;
		timers += WHEEL_CHUNK_TIMERS;
	}
	return memory == w->memory && timers == wheel_timers_held(w) ? NULL :
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
	u32 filed = 0;

	for (unsigned int l = 0; l < w->nr_levels; l++) {
		const struct wheel_level *level = &w->level[l];
		unsigned int used = 0;

		if (l && level->hand > (level[-1].hand >> w->bits) + 1)
			return "R2: a hand is ahead of the one below";
		for (u32 place = find_next_bit(level->map, ring_size(w), 0);
		     place < ring_size(w);
		     place = find_next_bit(level->map, ring_size(w), place + 1)) {
			error = check_slot(w, r, shift, l, place, &filed);
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
	if (filed != w->filed || filed != r->stats.pending)
		return "filed is miscounted";
	if (w->queue[WHEEL_DUE - 1].count != r->stats.expired)
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
	u64 expiry = wheel_node(w, id)->expiry;
	u32 name = wheel_node(w, id)->prev & PREV_ID;
	unsigned int l = 0;

	/* Only the first timer of a list knows the list. */
	if (!(wheel_node(w, id)->prev & PREV_HEAD))
		return "a timer is not filed in front of others";
	while (l < w->nr_levels - 1 &&
	       (expiry >> w->level[l].shift) - w->level[l].hand > w->mask)
		l++;
	return name >> LIST_LEVEL_SHIFT == l ? NULL : "filed in the wrong level";
}

/**
 * rules_crowded() - may a heavy slot be late, so that order is not promised?
 * @w: the wheel
 *
 * A slot counts what was filed in it, whatever was unlinked since; and half a
 * step's worth is enough, because two such slots may come down into one.
 */
bool rules_crowded(const struct wheel *w)
{
	if (wheel_heavy(w))
		return true;
	for (unsigned int l = 1; l < w->nr_levels; l++) {
		const struct wheel_level *level = &w->level[l];

		for (u32 place = find_next_bit(level->map, ring_size(w), 0);
		     place < ring_size(w);
		     place = find_next_bit(level->map, ring_size(w), place + 1))
			if (level->slot[place].filed > WHEEL_STEP / 2)
				return true;
	}
	return false;
}
