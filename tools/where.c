// SPDX-License-Identifier: GPL-2.0
/*
 * In which slot a timer of a live wheel is.
 *
 * Only the first timer of a list knows which list that is, and a call passes 64 of them.  So the
 * way there is walked from front to front; and what was found of these is kept, because the
 * next timer that is asked of is likely to stand behind one of them.  The wheel's count of changes
 * tells whether it still holds.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "device.h"
#include "output.h"
#include "where.h"

/* So often a way is begun anew that the wheel has changed. */
#define TRIES	16

/**
 * struct place - where a timer was found
 * @id: the timer
 * @before: how many stand before it; on the way: only to the next one in front
 * @changes: it holds as long as the wheel has this count of them; 0: nothing is known
 * @behind: on the way: the one from which it was come to
 * @slot: of the ring of that level
 * @level: the level
 * @list: of the slot
 */
struct place {
	__u32		id;
	__u32		before;
	__u64		changes;
	struct place	*behind;
	__u16		slot;
	__u8		level;
	__u8		list;
};

static int compare(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/* The place of a timer that stands @before behind the next one on the way. */
static struct place *step(struct where *where, const struct twheel_where *told,
			  struct place *behind)
{
	struct place wanted = { .id = told->id }, **node, *place;

	node = tfind(&wanted, &where->places, compare);
	place = node ? *node : malloc(sizeof(*place));
	if (!place)
		fail("out of memory");
	*place = (struct place){ .id = told->id, .before = told->before, .behind = behind };
	if (!node && !tsearch(place, &where->places, compare))
		fail("out of memory");
	return place;
}

static void keep(struct place *place, const struct twheel_where *told)
{
	place->changes = told->changes;
	place->before = told->before;
	place->slot = told->slot;
	place->level = told->level;
	place->list = told->list;
}

/* Where is this one, by what was found before?  Returns whether that still holds. */
static bool recall(const struct where *where, __u32 id, struct twheel_where *told)
{
	const struct place wanted = { .id = id }, *place;
	struct place **node = tfind(&wanted, &where->places, compare);

	place = node ? *node : &wanted;
	if (!place->changes || place->changes != told->changes)
		return false;
	told->place = TWHEEL_PLACE_SLOT;
	told->before = place->before;
	told->slot = place->slot;
	told->level = place->level;
	told->list = place->list;
	return true;
}

/*
 * Walk to the first of the timer's list, with @calls at most.  Returns -EAGAIN if the timer or the
 * wheel has changed, -E2BIG if it is further away.
 */
static int walk(struct where *where, __u32 id, __u32 generation, unsigned int *calls,
		struct twheel_where *told)
{
	struct twheel_where front = { .id = id, .generation = generation };
	struct place *way = NULL;
	int err;

	for (;;) {
		if (!*calls)
			return -E2BIG;
		--*calls;
		err = wheel_where(where->wheel, &front);
		if (err)
			return err == -ESTALE ? -EAGAIN : err;
		if (!way)
			*told = front;
		if (front.changes != told->changes)
			return -EAGAIN;
		if (front.place != TWHEEL_PLACE_BEHIND)
			break;
		way = step(where, &front, way);
		if (recall(where, front.front, &front))
			break;
		front = (struct twheel_where){ .id = front.front };
	}
	if (!way)
		return 0;
	/* A store has cancelled it, and it was taken out of its list. */
	if (front.place != TWHEEL_PLACE_SLOT)
		return -EAGAIN;
	told->place = TWHEEL_PLACE_SLOT;
	told->level = front.level;
	told->slot = front.slot;
	told->list = front.list;
	told->before = front.before;
	for (; way; way = way->behind) {
		told->before += way->before;
		keep(way, told);
	}
	return 0;
}

bool where_seek(struct where *where, __u32 id, __u32 generation, struct twheel_where *told)
{
	unsigned int calls = where->calls;
	int err = -EAGAIN, tries;

	*told = (struct twheel_where){ .id = id, .place = TWHEEL_PLACE_BEHIND };
	for (tries = 0; err == -EAGAIN && tries < TRIES; tries++)
		err = walk(where, id, generation, &calls, told);
	if (err == -EAGAIN)
		*told = (struct twheel_where){ .id = id, .place = TWHEEL_PLACE_BEHIND };
	else if (err && err != -E2BIG && err != -ENOTTY)
		fail("where timer %u is: %s", id, wheel_explain(err));
	return err != -ENOTTY;
}

void where_free(struct where *where)
{
	tdestroy(where->places, free);
}
