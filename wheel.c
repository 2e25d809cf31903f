// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A hierarchical timing wheel that cascades, exactly and in bounded steps.
 *
 * Time is cut into ticks.  Level 0 has a slot for each tick, a slot of level
 * L + 1 spans as many ticks as all slots of one turn of level L.  A timer is
 * filed in the lowest level whose ring reaches its tick:
 *
 *	           hand                              ring of level 1
 *	            v
 *	  | . . . . O a b c d e f g ... |      each slot: 64 ticks by default
 *	           /|
 *	          / |   brought down in steps of at most 64 timers
 *	         v  v
 *	  | . . O 1 2 3 ............... |      level 0, each slot: one tick
 *
 * When a slot's first deadline comes near it is opened: the hand of its level
 * moves onto it, and its timers are filed again, each in a lower level, or go
 * to the due queue.  That is the cascade.
 *
 * Each level has a hand of its own, and these rules hold between any two calls:
 *
 * R1. The ring of a level holds the slots hand + 1 to hand + 2 * slots - 1,
 *     counted from tick 0, so each place in it stands for one slot at a time.
 * R2. hand(L + 1) <= hand(L) / slots + 1.  So if level L does not reach a tick,
 *     the tick lies past the hand of level L + 1: some level always takes it.
 * R3. A hand passes no slot that holds timers without opening it.
 * R4. A slot is opened only when all of it lies in the reach of the level
 *     below, because the ring has room for two turns: it can come down
 *     while the level below still turns through the slot before.
 *
 * A timer that not even the top level reaches waits in its furthest slot and
 * goes round; the wheel does not touch it before its time comes near.  With one
 * level that is the hashed wheel with rounds.
 *
 * A slot with no more than a step's worth of timers (a light one) is opened at
 * its first deadline, so a lone timer costs one wake-up and not one per level.  A
 * heavy one is opened early enough to be down by then, and emptied behind
 * whatever else is due, so it delays nobody.  Timers come due in order of
 * their ticks, except those of a heavy slot that was late itself.
 *
 * Moving a timer later only stores the new tick: the timer is filed again when
 * its old slot is opened.
 */
#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#endif

#include "filing.h"
#include "trace.h"

static_assert(sizeof(struct wheel_node) == 16);
static_assert(sizeof(struct wheel_slot) == 64);
static_assert(WHEEL_LISTS <= 1 << LIST_PLACE_SHIFT);
static_assert(2 * WHEEL_MAX_SLOTS <= 1 << (LIST_LEVEL_SHIFT - LIST_PLACE_SHIFT));
static_assert(WHEEL_MAX_LEVELS << LIST_LEVEL_SHIFT <= 1 << WHEEL_WHERE_SHIFT);
static_assert(WHEEL_MAX_CAPACITY <= 1 << WHEEL_WHERE_SHIFT);
static_assert(WHEEL_CHUNK_TIMERS * sizeof(struct wheel_node) == PAGE_SIZE);
static_assert(WHEEL_CHUNK_TIMERS == 2 * WHEEL_OWNER_TIMERS);

/* Memory */

static unsigned int ring_size(const struct wheel *w)
{
	return w->mask + 1;
}

/* A ring and, if it does not fit into the level, its map behind it. */
static size_t level_bytes(const struct wheel *w)
{
	size_t bytes = ring_size(w) * sizeof(struct wheel_slot);

	if (ring_size(w) > 128)
		bytes += BITS_TO_LONGS(ring_size(w)) * sizeof(long);
	return bytes;
}

static u32 max_chunks(const struct wheel *w)
{
	return DIV_ROUND_UP(w->capacity, WHEEL_CHUNK_TIMERS);
}

static size_t directory_bytes(const struct wheel *w)
{
	return max_chunks(w) * (sizeof(*w->node) + 2 * sizeof(*w->owner));
}

/**
 * wheel_array_alloc() - allocate zeroed memory of any size
 * @bytes: how much
 *
 * More than a page of it is in pages that are not neighbours: see struct wheel_chunk.
 *
 * Return: the memory, for kvfree(), or NULL.  Sleeps.
 */
TWHEEL_PART void *wheel_array_alloc(size_t bytes)
{
	return bytes <= PAGE_SIZE ? kvzalloc(bytes, WHEEL_GFP) : __vmalloc(bytes, WHEEL_GFP_ARRAY);
}

/**
 * wheel_init() - make an empty wheel that holds no memory
 * @w: the wheel
 * @capacity: number of ids, 1 to WHEEL_MAX_CAPACITY
 * @levels: most levels, up to WHEEL_MAX_LEVELS; 0: as many as ticks of 64 bits
 *	need
 * @slots: of a level, 1 to WHEEL_MAX_SLOTS; rounded up to a power of two, and
 *	to at least 4
 * @cost: ticks in which one timer is brought down, times WHEEL_COST_ONE; at least 1
 * @now: the tick it starts from
 */
TWHEEL_PART void wheel_init(struct wheel *w, u32 capacity, unsigned int levels,
			    unsigned int slots, u64 cost, u64 now)
{
	memset(w, 0, sizeof(*w));
	w->capacity = capacity;
	w->bits = ilog2(roundup_pow_of_two(max(slots, WHEEL_MIN_SLOTS)));
	w->mask = (2U << w->bits) - 1;
	w->max_levels = DIV_ROUND_UP(64, w->bits);
	w->max_levels = min(w->max_levels, levels ? levels : WHEEL_MAX_LEVELS);
	w->cost = cost;
	w->at = now;
	w->end[0] = WHEEL_NEVER;
	for (int i = 0; i < 2; i++)
		w->queue[i] = (struct wheel_queue){ WHEEL_NIL, WHEEL_NIL, 0 };
}

/**
 * wheel_destroy() - free all memory of a wheel, timers and all
 * @w: the wheel
 *
 * Sleeps.
 */
TWHEEL_PART void wheel_destroy(struct wheel *w)
{
	unsigned int i;

	for (i = 0; w->node && i < max_chunks(w); i++) {
		wheel_chunk_free((struct wheel_chunk){
			w->node[i], { w->owner[2 * i], w->owner[2 * i + 1] }
		});
		cond_resched();
	}
	kvfree(w->node);
	for (i = 0; i < w->nr_levels; i++)
		kvfree(w->level[i].slot);
}

/**
 * wheel_directory_alloc() - room for all chunks
 * @w: the wheel it is for
 *
 * Its size follows from the capacity, so it is never copied to grow.
 *
 * Return: the directory, for wheel_add_directory() or kvfree(), or NULL.
 * Sleeps.
 */
TWHEEL_PART void *wheel_directory_alloc(const struct wheel *w)
{
	return wheel_array_alloc(directory_bytes(w));
}

/**
 * wheel_add_directory() - give a wheel its directory
 * @w: a wheel without one
 * @directory: from wheel_directory_alloc(); the wheel owns it from now on
 */
TWHEEL_PART void wheel_add_directory(struct wheel *w, void *directory)
{
	w->node = directory;
	w->owner = (void *)(w->node + max_chunks(w));
	w->ids = w->capacity;
	w->memory += directory_bytes(w);
}

/**
 * wheel_chunk_alloc() - memory for timers that are in no list
 *
 * Return: the chunk, for wheel_add_chunk() or wheel_chunk_free(); without nodes, if
 * there is no memory.  Sleeps.
 */
TWHEEL_PART struct wheel_chunk wheel_chunk_alloc(void)
{
	struct wheel_chunk chunk = {
		.node		= alloc_pages_exact(PAGE_SIZE, WHEEL_GFP),
		.owner[0]	= alloc_pages_exact(PAGE_SIZE, WHEEL_GFP),
		.owner[1]	= alloc_pages_exact(PAGE_SIZE, WHEEL_GFP),
	};

	if (!chunk.node || !chunk.owner[0] || !chunk.owner[1]) {
		wheel_chunk_free(chunk);
		return (struct wheel_chunk){};
	}
	for (unsigned int i = 0; i < WHEEL_CHUNK_TIMERS; i++)
		chunk.node[i].prev = PREV_OUT;
	return chunk;
}

/* Free a chunk, or none. */
TWHEEL_PART void wheel_chunk_free(struct wheel_chunk chunk)
{
	if (chunk.node)
		free_pages_exact(chunk.node, PAGE_SIZE);
	for (int i = 0; i < 2; i++)
		if (chunk.owner[i])
			free_pages_exact(chunk.owner[i], PAGE_SIZE);
}

/**
 * wheel_add_chunk() - give a wheel the memory for an id and its neighbours
 * @w: a wheel with a directory
 * @id: one that has no memory yet
 * @chunk: from wheel_chunk_alloc(); the wheel owns it from now on
 */
TWHEEL_PART void wheel_add_chunk(struct wheel *w, u32 id, struct wheel_chunk chunk)
{
	w->owner[id / WHEEL_OWNER_TIMERS & ~1U] = chunk.owner[0];
	w->owner[id / WHEEL_OWNER_TIMERS | 1] = chunk.owner[1];
	w->node[id >> WHEEL_CHUNK_SHIFT] = chunk.node;
	w->nr_chunks++;
	w->memory += WHEEL_CHUNK_BYTES;
}

/**
 * wheel_level_alloc() - memory for a level
 * @w: the wheel it is for
 *
 * Return: its slots, for wheel_add_level() or kvfree(), or NULL.  Sleeps.
 */
TWHEEL_PART struct wheel_slot *wheel_level_alloc(const struct wheel *w)
{
	struct wheel_slot *slots = wheel_array_alloc(level_bytes(w));

	for (unsigned int i = 0; slots && i < ring_size(w); i++) {
		slots[i].soonest = WHEEL_NEVER;
		memset(slots[i].head, 0xff, sizeof(slots[i].head));
	}
	return slots;
}

static unsigned long *level_map(const struct wheel *w, struct wheel_level *level)
{
	return ring_size(w) > 128 ? (unsigned long *)(level->slot + ring_size(w))
				  : level->small_map;
}

/**
 * wheel_moved() - after the struct of a wheel was copied to where it is to stay
 * @w: the copy; the original is not used any more
 */
TWHEEL_PART void wheel_moved(struct wheel *w)
{
	for (unsigned int l = 0; l < w->nr_levels; l++)
		w->level[l].map = level_map(w, &w->level[l]);
}

/* Move the hand of a level, and the end of its reach with it. */
static void set_hand(struct wheel *w, unsigned int l, u64 hand)
{
	struct wheel_level *level = &w->level[l];
	u64 end = hand + ring_size(w);

	level->hand = hand;
	w->end[l] = end <= WHEEL_NEVER >> level->shift ? end << level->shift : WHEEL_NEVER;
}

/**
 * wheel_add_level() - put a new top level to use
 * @w: a wheel with fewer levels than it may have
 * @slots: from wheel_level_alloc(); the wheel owns them from now on
 */
TWHEEL_PART void wheel_add_level(struct wheel *w, struct wheel_slot *slots)
{
	unsigned int l = w->nr_levels++;
	struct wheel_level *level = &w->level[l];

	level->slot = slots;
	level->shift = l * w->bits;
	set_hand(w, l, l ? level[-1].hand >> w->bits : w->at);
	w->end[l + 1] = WHEEL_NEVER;
	level->next = WHEEL_NEVER;
	level->map = level_map(w, level);
	w->memory += level_bytes(w);
}

/* Lists */

static bool slot_empty(const struct wheel_slot *slot)
{
	u32 all = WHEEL_NIL;

	for (unsigned int i = 0; i < WHEEL_LISTS; i++)
		all &= slot->head[i];
	return all == WHEEL_NIL;
}

/* A slot has lost its last timer. */
static void slot_close(struct wheel *w, unsigned int l, u32 place)
{
	struct wheel_level *level = &w->level[l];

	level->slot[place].soonest = WHEEL_NEVER;
	level->slot[place].filed = 0;
	__clear_bit(place, level->map);
	if (!--level->used)
		level->next = WHEEL_NEVER;
	if ((level->hand & w->mask) == place) {
		w->open &= ~BIT(l);
		w->heavy &= ~BIT(l);
	}
}

/* The first timer of a slot's list is gone; perhaps it was the only one. */
TWHEEL_PART noinline void wheel_slot_unlink(struct wheel *w, u32 name, u32 next)
{
	unsigned int l = name >> LIST_LEVEL_SHIFT;
	u32 place = (name >> LIST_PLACE_SHIFT) & w->mask;
	struct wheel_slot *slot = &w->level[l].slot[place];

	slot->head[name % WHEEL_LISTS] = next;
	if (next == WHEEL_NIL && slot_empty(slot))
		slot_close(w, l, place);
}

/* Take a timer out of the due queue or the pool. */
static void unlink_queued(struct wheel *w, struct wheel_node *node)
{
	struct wheel_queue *queue = wheel_queue(w, wheel_where(node));
	u32 next = node->next;
	u32 prev = node->prev & PREV_HEAD ? WHEEL_NIL : node->prev & PREV_ID;

	if (next == WHEEL_NIL)
		queue->tail = prev;
	else
		wheel_node(w, next)->prev = node->prev;
	if (prev == WHEEL_NIL)
		queue->head = next;
	else
		wheel_node(w, prev)->next = next;
	node->prev = PREV_OUT;
	queue->count--;
}

/**
 * wheel_unlink() - take a timer out of the list that it is in
 * @w: the wheel
 * @id: a timer that is filed, due or in the pool
 */
TWHEEL_PART void wheel_unlink(struct wheel *w, u32 id)
{
	struct wheel_node *node = wheel_node(w, id);

	if (likely(wheel_where(node) == WHEEL_FILED))
		wheel_unlink_filed(w, node);
	else
		unlink_queued(w, node);
}

/* Put a timer at the end of the due queue or the pool. */
static void queue_append(struct wheel *w, struct wheel_queue *queue, u32 id,
			 struct wheel_node *node, enum wheel_where where)
{
	u32 kind = (u32)where << WHEEL_WHERE_SHIFT;

	node->next = WHEEL_NIL;
	if (likely(queue->tail != WHEEL_NIL)) {
		node->prev = kind | queue->tail;
		wheel_node(w, queue->tail)->next = id;
	} else {
		node->prev = PREV_HEAD | kind;
		queue->head = id;
	}
	queue->tail = id;
	queue->count++;
}

/**
 * wheel_push() - put a timer into the due queue or the pool
 * @w: the wheel
 * @id: a timer that is in no list
 * @where: WHEEL_DUE or WHEEL_POOL
 * @front: before all others, or behind them
 *
 * The timer itself is the entry: there is always room.
 */
TWHEEL_PART void wheel_push(struct wheel *w, u32 id, enum wheel_where where, bool front)
{
	struct wheel_queue *queue = wheel_queue(w, where);
	struct wheel_node *node = wheel_node(w, id);
	u32 kind = (u32)where << WHEEL_WHERE_SHIFT;

	if (!front || queue->head == WHEEL_NIL) {
		queue_append(w, queue, id, node, where);
		return;
	}
	node->next = queue->head;
	node->prev = PREV_HEAD | kind;
	wheel_node(w, queue->head)->prev = kind | id;
	queue->head = id;
	queue->count++;
}

/**
 * wheel_take_due() - take timers from the front of the due queue
 * @w: the wheel
 * @ids: where to write which
 * @nr: how many at the most
 *
 * Return: how many.
 */
TWHEEL_PART unsigned int wheel_take_due(struct wheel *w, u32 *ids, unsigned int nr)
{
	struct wheel_queue *due = wheel_queue(w, WHEEL_DUE);
	u32 id = due->head;
	unsigned int n;

	for (n = 0; n < nr && id != WHEEL_NIL; n++) {
		struct wheel_node *node = wheel_node(w, id);

		ids[n] = id;
		prefetch(wheel_owner_part(w, id));
		id = node->next;
		if (id != WHEEL_NIL)
			prefetch(wheel_node(w, id));
		node->prev = PREV_OUT;
	}
	due->count -= n;
	due->head = id;
	if (id == WHEEL_NIL)
		due->tail = WHEEL_NIL;
	else
		wheel_node(w, id)->prev = PREV_HEAD | WHEEL_DUE << WHEEL_WHERE_SHIFT;
	return n;
}

/* Filing */

/*
 * When a slot should be opened: for its first deadline, or early enough to
 * bring down a heavy one, but not before R4 allows it, which the last + 1
 * makes sure of wherever the hand below has been held up.
 */
static u64 slot_opens(const struct wheel *w, unsigned int l, u64 number)
{
	const struct wheel_slot *slot = &w->level[l].slot[number & w->mask];
	u64 lead, soonest, earliest;

	if (!l || slot->filed <= WHEEL_STEP)
		return slot->soonest;
	earliest = (((number - 1) << w->bits) + 1) << w->level[l - 1].shift;
	/* One tick until the owner calls, one to find the timers, one for rounding. */
	lead = slot->filed * w->cost / WHEEL_COST_ONE + 3;
	soonest = slot->soonest > lead ? slot->soonest - lead : 0;
	return min(slot->soonest, max(earliest, soonest));
}

/*
 * A timer was filed that changes when its slot has to be opened: the first one, the
 * soonest, or one that may make the slot heavy.
 */
TWHEEL_PART noinline void wheel_note_slot(struct wheel *w, unsigned int l, u64 number, u64 tick)
{
	struct wheel_level *level = &w->level[l];
	u32 place = number & w->mask;
	struct wheel_slot *slot = &level->slot[place];

	/* An unlink does not know the slot, so what comes and goes is counted on and on. */
	if (unlikely(slot->filed / 2 > w->filed))
		slot->filed = w->filed;
	slot->soonest = min(slot->soonest, tick);
	level->used += !__test_and_set_bit(place, level->map);
	level->next = min(level->next, slot_opens(w, l, number));
}

/* Not inline, so that the code for all other timers stays short. */
TWHEEL_PART noinline void wheel_move_earlier(struct wheel *w, u32 id, struct wheel_node *node,
					     u64 expiry, unsigned int level)
{
	wheel_unlink_filed(w, node);
	wheel_file_timer(w, id, node, expiry, level);
}

/* As wheel_file_inline(). */
TWHEEL_PART void wheel_file(struct wheel *w, u32 id, u64 expiry, unsigned int level)
{
	wheel_file_inline(w, id, wheel_node(w, id), expiry, level);
}

/* Turning */

/* The first slot of a level that holds timers, behind one in its ring, or 0. */
static u64 first_slot(const struct wheel *w, const struct wheel_level *level, u64 after)
{
	unsigned int from = (after + 1) & w->mask, word = from / BITS_PER_LONG;
	unsigned int stride = min_t(unsigned int, ring_size(w), BITS_PER_LONG);
	unsigned long bits = level->map[word] >> from % BITS_PER_LONG;
	u64 number = after + 1, end = level->hand + ring_size(w);

	if (!bits) {
		number -= from % BITS_PER_LONG;
		do {
			number += stride;
			if (number >= end)
				return 0;
			word = (word + 1) & (w->mask / BITS_PER_LONG);
			bits = level->map[word];
		} while (!bits);
	}
	number += __ffs(bits);
	/* All the way round is the slot at the hand, which is open. */
	return number < end ? number : 0;
}

/* When the level's next slot has to be opened, exactly. */
static u64 level_next(const struct wheel *w, unsigned int l)
{
	const struct wheel_level *level = &w->level[l];
	u64 next = WHEEL_NEVER, number = level->hand;

	/* No slot opens before the one in front of it starts. */
	while (number << level->shift < next && (number = first_slot(w, level, number)))
		next = min(next, slot_opens(w, l, number));
	return next;
}

/*
 * Timers that go round the top level need no attention before the soonest of them:
 * a place in the ring may as well stand for the slot some turns later.  Turns
 * the hand by as many whole turns as its bound @to and the timers allow.
 */
static void skip_turns(struct wheel *w, struct wheel_level *level, u64 to)
{
	unsigned int size = ring_size(w);
	u64 next = level->next >> level->shift, last = level->hand + size - 1;

	if (next > last)
		level->hand += min(next - last, to - level->hand) & ~(u64)w->mask;
}

/* Let the hands follow the time, as far as R2 and R3 allow. */
static void turn(struct wheel *w, u64 now)
{
	u64 to = now;

	w->at = max(w->at, now);
	for (unsigned int l = 0; l < w->nr_levels; l++) {
		struct wheel_level *level = &w->level[l];

		if (to > level->hand && !(w->open & BIT(l))) {
			u64 first;

			if (l == w->max_levels - 1)
				skip_turns(w, level, to);
			first = first_slot(w, level, level->hand);
			set_hand(w, l, first ? min(to, first - 1) : to);
		}
		to = level->hand >> w->bits;
	}
}

/*
 * Move the hand of a level onto its next slot, so that it can be emptied.
 * Returns false if R4 does not allow it, because the level below is held up.
 */
static bool open_slot(struct wheel *w, unsigned int l, u64 number)
{
	struct wheel_level *level = &w->level[l];
	u64 opens = slot_opens(w, l, number);

	if (l) {
		if (level[-1].hand < (number - 1) << w->bits)
			return false;
		w->cascades++;
		trace_twheel_cascade(w, l, number & w->mask);
		if (level->slot[number & w->mask].filed > WHEEL_STEP)
			w->heavy |= BIT(l);
	}
	set_hand(w, l, number);
	w->open |= BIT(l);
	/* A slot that opens only because the hand has to pass it is not the next. */
	if (opens <= level->next)
		level->next = level_next(w, l);
	return true;
}

/* Insertion sort: a batch is small, and most of its timers come in order. */
static void due_insert(struct wheel_batch *batch, u64 expiry, u32 id)
{
	u64 *at = &batch->expiry[batch->nr];
	u32 *id_at = &batch->id[batch->nr++];

	for (; at != batch->expiry && at[-1] > expiry; at--, id_at--) {
		*at = at[-1];
		*id_at = id_at[-1];
	}
	*at = expiry;
	*id_at = id;
}

/*
 * Ask the owner of a batch; leaves those in it that are due, in order.  Others
 * are filed again, or let go.
 */
static noinline void look_at(struct wheel *w, struct wheel_batch *batch)
{
	unsigned int nr = batch->nr;

	w->look(w, batch);
	batch->nr = 0;
	for (unsigned int i = 0; i < nr; i++) {
		u64 filed, expiry = batch->expiry[i];
		u32 id = batch->id[i];

		filed = wheel_node(w, id)->expiry;
		if (expiry <= w->at) {
			due_insert(batch, expiry, id);
		} else if (expiry != WHEEL_NEVER) {
			wheel_file_timer(w, id, wheel_node(w, id), expiry, wheel_level(w, expiry));
			w->moves++;
			trace_twheel_timer_move(w, id, filed);
		} else {
			trace_twheel_timer_let_go(w, id, TWHEEL_STATE_PENDING);
		}
	}
}

/* Put a batch at the end of the due queue, and begin a new one. */
static void due_append(struct wheel *w, struct wheel_batch *batch, u64 stamp)
{
	const u32 kind = (u32)WHEEL_DUE << WHEEL_WHERE_SHIFT;
	struct wheel_queue *due = wheel_queue(w, WHEEL_DUE);
	u32 prev = PREV_HEAD, *link = &due->head;

	if (unlikely(w->look) && batch->nr)
		look_at(w, batch);
	if (!batch->nr)
		return;
	if (due->tail != WHEEL_NIL) {
		prev = due->tail;
		link = &wheel_node(w, due->tail)->next;
	}
	for (unsigned int i = 0; i < batch->nr; i++) {
		u32 id = batch->id[i];
		struct wheel_node *node = wheel_node(w, id);

		node->expiry = stamp;
		node->prev = kind | prev;
		trace_twheel_timer_expire(w, id, stamp, 0, stamp);
		prev = id;
		*link = id;
		link = &node->next;
	}
	*link = WHEEL_NIL;
	due->tail = prev;
	due->count += batch->nr;
	batch->nr = 0;
}

/*
 * Take timers out of the open slot of a level, from each list in turn: those
 * that are due go to the batch, the others are filed again.  If there is an owner to ask, all
 * of them go to the batch.
 * Returns how many.
 */
static unsigned int empty_slot(struct wheel *w, unsigned int l, struct wheel_batch *due,
			       unsigned int budget)
{
	u32 place = w->level[l].hand & w->mask;
	struct wheel_slot *slot = &w->level[l].slot[place];
	unsigned int list, n;

	budget = min3(budget, WHEEL_STEP - due->nr, slot->filed);
	for (n = 0, list = 0; n < budget; list = (list + 1) % WHEEL_LISTS) {
		u32 id = slot->head[list];
		struct wheel_node *node;
		u64 expiry;

		if (id == WHEEL_NIL) {
			if (slot_empty(slot))
				break;
			continue;
		}
		node = wheel_node(w, id);
		slot->head[list] = node->next;
		if (node->next != WHEEL_NIL)
			prefetch(wheel_node(w, node->next));
		n++;
		expiry = node->expiry;
		if (unlikely(w->look)) {
			node->prev = PREV_OUT;
			due->id[due->nr] = id;
			due->expiry[due->nr++] = expiry;
		} else if (expiry > w->at) {
			wheel_file_timer(w, id, node, expiry, wheel_level(w, expiry));
			w->moves++;
			trace_twheel_timer_move(w, id, expiry);
		} else {
			due_insert(due, expiry, id);
		}
	}
	w->filed -= n;
	slot->filed -= n;
	if (!slot->filed || slot_empty(slot)) {
		slot_close(w, l, place);
		return n;
	}
	/* The lists have new first timers, or none. */
	for (list = 0; list < WHEEL_LISTS; list++)
		if (slot->head[list] != WHEEL_NIL)
			wheel_node(w, slot->head[list])->prev = list_name(l, place, list);
	return n;
}

/* Of the levels below @end, the one to attend to first; the upper one, where two are at a tie. */
static unsigned int soonest_level(const struct wheel *w, unsigned int end)
{
	unsigned int best = 0;

	for (unsigned int l = 1; l < end; l++)
		if (w->level[l].next <= w->level[best].next)
			best = l;
	return best;
}

/* When the first of the levels above level 0, and below @end, has to open a slot. */
static u64 upper_next(const struct wheel *w, unsigned int end)
{
	u64 next = WHEEL_NEVER;

	for (unsigned int l = 1; l < end; l++)
		next = min(next, w->level[l].next);
	return next;
}

/**
 * wheel_next() - when something comes due, or has to come down
 * @w: the wheel
 *
 * Return: a tick, at most one empty wake-up too early; one that has passed, if
 * such a step is half done; WHEEL_NEVER if nothing is filed. What wheel_heavy()
 * tells of is not counted.
 */
TWHEEL_PART u64 wheel_next(const struct wheel *w)
{
	if (w->open & ~w->heavy)
		return 0;
	if (!w->filed)
		return WHEEL_NEVER;
	return w->level[soonest_level(w, w->nr_levels)].next;
}

/**
 * wheel_heavy_due() - is something due in a heavy slot that is coming down?
 * @w: the wheel
 * @now: the tick that it is
 *
 * A slot is told of until it is empty, because its first timer is.
 */
TWHEEL_PART bool wheel_heavy_due(const struct wheel *w, u64 now)
{
	for (u32 heavy = w->heavy; heavy; heavy &= heavy - 1) {
		const struct wheel_level *level = &w->level[__ffs(heavy)];

		if (level->slot[level->hand & w->mask].soonest <= now)
			return true;
	}
	return false;
}

/**
 * wheel_turn() - let the hands follow the time, before timers are filed
 * @w: the wheel
 * @now: the tick that it is
 *
 * Stops short of what is due and not handled yet.
 */
TWHEEL_PART void wheel_turn(struct wheel *w, u64 now)
{
	u64 next;

	if (now <= w->at)
		return;
	next = wheel_next(w);
	if (next)
		turn(w, min(now, next - 1));
}

/*
 * Empty slots of level 0, one after the other, until one of them is left open,
 * or has sent timers up, or lies behind @until.  Returns how many timers.  No
 * timers go round level 0, because there are others above it.
 */
static unsigned int run_ticks(struct wheel *w, u64 until, struct wheel_batch *due,
			      unsigned int budget)
{
	struct wheel_level *level = &w->level[0];
	u64 moves = w->moves;
	unsigned int done = 0;
	u64 number;

	while ((number = first_slot(w, level, level->hand)) && number <= until &&
	       done < budget && due->nr < WHEEL_STEP &&
	       w->moves == moves && !(w->open & BIT(0))) {
		set_hand(w, 0, number);
		/* Behind a heavy slot that is in the way it is late already. */
		w->at = max(w->at, number);
		w->open |= BIT(0);
		done += empty_slot(w, 0, due, budget - done);
	}
	level->next = number ? number : WHEEL_NEVER;
	return done;
}

/*
 * What was unlinked from a slot is counted still, so it may only seem heavy.  It is,
 * if it holds more than a step's worth, and no more than that is counted here.
 */
static noinline void count_again(const struct wheel *w, struct wheel_slot *slot)
{
	u32 count = 0;

	for (unsigned int list = 0; list < WHEEL_LISTS; list++) {
		u32 id = slot->head[list];

		for (; id != WHEEL_NIL && count <= WHEEL_STEP; id = wheel_node(w, id)->next)
			count++;
	}
	if (count <= WHEEL_STEP)
		slot->filed = count;
}

/*
 * Where timers go round, the hand has slots to pass before it comes to the one that has to be
 * opened next.  Is this one of them?  Then it is not looked for each time.
 */
static bool only_passed(const struct wheel *w, const struct wheel_level *level, u64 number,
			u64 next)
{
	const struct wheel_slot *slot = &level->slot[number & w->mask];

	return number << level->shift <= next && slot->soonest >> level->shift > number;
}

/*
 * Open the slot that a level has to open next.  Returns false if R4 keeps it
 * closed, because a heavy slot is being emptied below.
 */
static bool run_level(struct wheel *w, unsigned int l, u64 now, unsigned int budget)
{
	struct wheel_level *level = &w->level[l];
	u64 next = level->next, number = first_slot(w, level, level->hand);

	if (l && number && level->slot[number & w->mask].filed > WHEEL_STEP)
		count_again(w, &level->slot[number & w->mask]);
	/* After a cancel @next may be too early. */
	if (!number || (slot_opens(w, l, number) != next && !only_passed(w, level, number, next))) {
		level->next = level_next(w, l);
		if (level->next > next)
			return true;
	}
	turn(w, next ? next - 1 : 0);
	w->at = max(w->at, next);
	number = first_slot(w, level, level->hand);
	if (!open_slot(w, l, number))
		return false;
	/* If it can be emptied at once, then for all ticks before the next slot. */
	if (level->slot[number & w->mask].filed <= budget)
		w->at = max(w->at, min(now, w->level[soonest_level(w, w->nr_levels)].next - 1));
	return true;
}

/**
 * wheel_advance() - bring timers down and find those that are due
 * @w: a wheel with at least one level
 * @now: the tick up to which timers are due; ticks do not go back
 * @stamp: left in the node of each timer that is put into the due queue
 * @budget: how many timers to handle at the most
 *
 * Can be called again to go on where the budget ran out; timers may be filed,
 * moved and unlinked in between.
 *
 * Return: how many timers were handled. Less than @budget: all are.
 */
TWHEEL_PART unsigned int wheel_advance(struct wheel *w, u64 now, u64 stamp,
				       unsigned int budget)
{
	unsigned int done = 0, end = w->nr_levels;
	struct wheel_batch due;

	for (due.nr = 0; done < budget;) {
		u32 light = w->open & ~w->heavy;
		unsigned int l, heavy;

		if (due.nr == WHEEL_STEP)
			due_append(w, &due, stamp);
		if (light) {
			done += empty_slot(w, __ffs(light), &due, budget - done);
			continue;
		}
		l = soonest_level(w, end);
		if (w->level[l].next > now) {
			if (end == w->nr_levels)
				turn(w, now);
			/* What the owner is asked of yet is due now, or after now. */
			if (!w->open)
				break;
		} else if (!l && w->nr_levels > 1) {
			done += run_ticks(w, min(now, upper_next(w, end) - 1), &due, budget - done);
			continue;
		} else if (!(w->open & BIT(l)) &&
			   run_level(w, l, now, min(budget - done, WHEEL_STEP - due.nr))) {
			continue;
		}
		if (WARN_ON_ONCE(!w->open))
			break;
		/*
		 * A heavy slot, behind all others or in the way of the next of its level or of
		 * one above.  What is due on the levels below is not to wait for it.
		 */
		heavy = __ffs(w->open);
		if (heavy && heavy < end) {
			end = heavy;
			continue;
		}
		done += empty_slot(w, heavy, &due, budget - done);
		end = w->nr_levels;
	}
	due_append(w, &due, stamp);
	/* Else upper hands would fall behind if each pass were to end like this. */
	if (done >= budget)
		turn(w, w->at);
	return done;
}
