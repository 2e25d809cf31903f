// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A hierarchical timing wheel that cascades, exactly and in bounded steps.
 *
 * Time is cut into ticks.  Level 0 has a slot for each tick; a slot of the next level spans one
 * turn of this one.  A timer is filed in the lowest level whose ring reaches its tick.  With 64
 * slots and ticks of 1 ms:
 *
 *	level	a slot spans	the ring reaches
 *	0	1 ms		127 ms
 *	1	64 ms		8 s
 *	2	4.1 s		8.7 min
 *	3	4.4 min		9.3 h
 *	4	4.7 h		25 days
 *	5	12.4 days	4.3 years
 *	6	2.2 years	279 years; no entry is beyond WHEEL_HORIZON, 8.7 years
 *
 * When a slot's first deadline comes near it is opened: the hand of its level moves onto it, and
 * its timers are filed again in lower levels, or go to the due queue.  That is the cascade.
 *
 * Each level has a hand of its own, and these rules hold between any two calls:
 *
 * R1. The ring of a level holds the slots hand + 1 to hand + 2 * slots - 1, counted from tick 0,
 *     so each place in it stands for one slot at a time.
 * R2. hand(L + 1) <= hand(L) / slots + 1.  So if level L does not reach a tick, the tick lies past
 *     the hand of level L + 1: some level always takes it.
 * R3. A hand passes no slot that holds timers without opening it.
 * R4. A slot is opened only when all of it lies in the reach of the level below.  The ring has room
 *     for two turns, so it can come down while that level turns through the slot before.
 *
 * A timer that the top level does not reach waits in its furthest slot and goes round.  With one
 * level that is the hashed wheel with rounds.
 *
 * A light slot, of at most WHEEL_STEP timers, is opened at its first deadline, so a lone timer
 * costs one wake-up and not one per level.  A heavy one is opened early enough to be down by then,
 * and emptied behind whatever else is due, so it delays no other timer.  Timers come due in order
 * of their ticks, except those of a heavy slot that was late itself.
 *
 * Slots hold entries by value, {id, tick}, in chains of blocks from a pool.  An entry is a
 * timer's own if its tick is the one that the timer is filed by; all others are stale, and are
 * dropped where they are met.  So to move a timer later, or to cancel it, is a store, and to move
 * it earlier adds an entry.  The cascade streams entries and reads no timer.  When an entry is
 * due, the timer's owner is asked whether the timer is.
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

static_assert(sizeof(struct timer) == 32);
static_assert(sizeof(struct wheel_slot) == 16);
static_assert(WHEEL_CHUNK_TIMERS * sizeof(struct timer) == WHEEL_PAGE_SIZE);
static_assert(WHEEL_MAX_CAPACITY <= 1 << (64 - WHEEL_TICK_BITS));
static_assert(WHEEL_MAX_CAPACITY < LINK_ID);
static_assert(2 * LINK_ID_BITS <= WHEEL_WHERE_SHIFT);

/*
 * Stale entries that are brought along in a slot, instead of the slot of a level: it is emptied
 * like that, behind all others.
 */
#define WHEEL_SIFT	WHEEL_MAX_LEVELS

#define BLOCKS_PER_PAGE	((u32)(WHEEL_PAGE_SIZE / sizeof(u64) / WHEEL_BLOCK))

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

static u32 nr_chunks(u32 ids)
{
	return DIV_ROUND_UP(ids, WHEEL_CHUNK_TIMERS);
}

/* Blocks that hold this many entries, however these are spread over the slots. */
static u64 blocks_for(const struct wheel *w, u64 entries)
{
	u64 slots = w->max_levels * ring_size(w) + 1;

	return entries <= slots ? entries : slots + DIV_ROUND_UP(entries - slots, WHEEL_BLOCK - 1);
}

/**
 * wheel_max_pages() - how many pages of blocks a wheel may have
 * @w: the wheel
 *
 * Before it needs more than two entries for each timer, stale ones are dropped.
 *
 * Return: how many.
 */
TWHEEL_PART u32 wheel_max_pages(const struct wheel *w)
{
	return DIV_ROUND_UP(blocks_for(w, 2ULL * (w->capacity + WHEEL_STEP)), BLOCKS_PER_PAGE);
}

/**
 * wheel_directory_bytes() - the size of a wheel's directory
 * @w: the wheel, which need not have it yet
 *
 * Return: bytes.
 */
TWHEEL_PART size_t wheel_directory_bytes(const struct wheel *w)
{
	return nr_chunks(w->capacity) * sizeof(*w->timer) + wheel_max_pages(w) * sizeof(*w->pool);
}

/**
 * wheel_array_alloc() - allocate zeroed memory of any size
 * @bytes: how much
 *
 * More than a page of it is in pages that are not neighbours: blocks of several pages are split
 * and joined with interrupts off, for milliseconds where thousands are given back.
 *
 * Return: the memory, for kvfree(), or NULL.  Sleeps.
 */
TWHEEL_PART void *wheel_array_alloc(size_t bytes)
{
	return bytes <= PAGE_SIZE ? kvzalloc(bytes, WHEEL_GFP) : __vmalloc(bytes, WHEEL_GFP_ARRAY);
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
 * wheel_init() - make an empty wheel that holds no memory
 * @w: the wheel
 * @capacity: number of ids, 1 to WHEEL_MAX_CAPACITY
 * @levels: most levels, up to WHEEL_MAX_LEVELS; 0: as many as reach the horizon
 * @slots: of a level, 1 to WHEEL_MAX_SLOTS; rounded up to a power of two, and
 *	to at least 4
 * @cost: ticks in which one timer is brought down, times WHEEL_COST_ONE; at least 1
 * @now: the tick it starts from
 * @look: asked when timers are due
 */
TWHEEL_PART void wheel_init(struct wheel *w, u32 capacity, unsigned int levels,
			    unsigned int slots, u64 cost, u64 now, wheel_look *look)
{
	memset(w, 0, sizeof(*w));
	w->capacity = capacity;
	w->bits = ilog2(roundup_pow_of_two(max(slots, WHEEL_MIN_SLOTS)));
	w->mask = (2U << w->bits) - 1;
	w->max_levels = DIV_ROUND_UP(WHEEL_TICK_BITS - 2, w->bits);
	w->max_levels = min(w->max_levels, levels ? levels : WHEEL_MAX_LEVELS);
	w->look = look;
	w->cost = cost;
	w->at = now;
	w->looked = now;
	w->end[0] = WHEEL_NEVER;
	w->ids = min(capacity, WHEEL_FIRST_PAGES * WHEEL_CHUNK_TIMERS);
	wheel_moved(w);
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

	for (i = 0; i < nr_chunks(w->ids); i++) {
		kfree(w->timer[i]);
		cond_resched();
	}
	for (i = 0; i < w->nr_pages; i++) {
		kfree(w->pool[i]);
		cond_resched();
	}
	kvfree(w->directory);
	for (i = 0; i < w->nr_levels; i++)
		kvfree(w->level[i].slot);
}

/**
 * wheel_directory_alloc() - room for the addresses of all pages
 * @w: the wheel it is for
 *
 * Its size follows from the capacity: it does not grow.
 *
 * Return: the directory, for wheel_add_directory() or kvfree(), or NULL.
 * Sleeps.
 */
TWHEEL_PART void *wheel_directory_alloc(const struct wheel *w)
{
	return wheel_array_alloc(wheel_directory_bytes(w));
}

/**
 * wheel_add_directory() - let a wheel have more than its first pages
 * @w: a wheel without a directory
 * @directory: from wheel_directory_alloc(); the wheel owns it from now on
 */
TWHEEL_PART void wheel_add_directory(struct wheel *w, void *directory)
{
	w->directory = directory;
	w->timer = directory;
	w->pool = (void *)(w->timer + nr_chunks(w->capacity));
	memcpy(w->timer, w->first_timer, nr_chunks(w->ids) * sizeof(*w->timer));
	memcpy(w->pool, w->first_pool, w->nr_pages * sizeof(*w->pool));
	w->ids = w->capacity;
	w->memory += wheel_directory_bytes(w);
}

/**
 * wheel_add_chunk() - give a wheel the memory for an id and its neighbours
 * @w: the wheel
 * @id: one below its @ids that has no memory yet
 * @page: of zeroes; the wheel owns it from now on
 */
TWHEEL_PART void wheel_add_chunk(struct wheel *w, u32 id, void *page)
{
	w->timer[id >> WHEEL_CHUNK_SHIFT] = page;
	w->nr_chunks++;
	w->memory += WHEEL_PAGE_SIZE;
}

/**
 * wheel_add_blocks() - give a wheel room for more entries
 * @w: a wheel that has a directory or fewer than WHEEL_FIRST_PAGES pages of blocks
 * @page: the wheel owns it from now on
 */
TWHEEL_PART void wheel_add_blocks(struct wheel *w, void *page)
{
	u32 word = w->nr_pages << POOL_SHIFT, slots = w->max_levels * ring_size(w) + 1, blocks;

	w->pool[w->nr_pages++] = page;
	w->memory += WHEEL_PAGE_SIZE;
	for (u32 i = 0; i < BLOCKS_PER_PAGE; i++, word += WHEEL_BLOCK) {
		*pool_word(w, word) = w->free;
		w->free = word + 1;
	}
	blocks = w->nr_pages * BLOCKS_PER_PAGE;
	w->room = blocks <= slots ? blocks : slots + (blocks - slots) * (WHEEL_BLOCK - 1);
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

	for (unsigned int i = 0; slots && i < ring_size(w); i++)
		slots[i].soonest = WHEEL_NEVER;
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
	if (!w->directory) {
		w->timer = w->first_timer;
		w->pool = w->first_pool;
	}
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

/* Slots */

/* The slot of a level that is open, or what is sifted. */
static struct wheel_slot *open_slot_of(struct wheel *w, unsigned int l)
{
	if (l == WHEEL_SIFT)
		return &w->sift;
	return &w->level[l].slot[w->level[l].hand & w->mask];
}

/* The tick of an entry of a slot with this bound. */
static u64 entry_tick(u64 soonest, u64 entry)
{
	return soonest + ((entry - soonest) & WHEEL_TICK_MASK);
}

/* A slot has lost its last entry. */
static void slot_close(struct wheel *w, unsigned int l, u64 number)
{
	struct wheel_level *level = &w->level[l];

	level->slot[number & w->mask].soonest = WHEEL_NEVER;
	__clear_bit(number & w->mask, level->map);
	if (!--level->used)
		level->next = WHEEL_NEVER;
	if (level->hand == number) {
		w->open &= ~BIT(l);
		w->heavy &= ~BIT(l);
	}
}

/* Add a block to a slot whose blocks are full; returns the first word for entries, or 0. */
TWHEEL_PART noinline u32 wheel_add_block(struct wheel *w, struct wheel_slot *slot)
{
	u32 word = w->free - 1;
	u64 *header;

	/* wheel_full() has seen to that. */
	if (WARN_ON_ONCE(!w->free))
		return 0;
	header = pool_word(w, word);
	w->free = *header;
	*header = slot->tail;
	return word + 1;
}

/*
 * Take up to @nr entries from the end of a slot, all from one block, which is copied to @block.
 * Returns the first of them, and in @nr how many.
 */
static const u64 *slot_pop(struct wheel *w, struct wheel_slot *slot, u64 *block,
			   unsigned int *nr)
{
	u32 word = (slot->tail - 1) & ~(WHEEL_BLOCK - 1);
	unsigned int in = slot->tail - 1 - word;
	u64 *header = pool_word(w, word);

	*nr = min(*nr, in);
	memcpy(block, header + 1, (WHEEL_BLOCK - 1) * sizeof(*block));
	slot->count -= *nr;
	slot->tail -= *nr;
	w->entries -= *nr;
	if (*nr == in) {
		slot->tail = *header;
		if (slot->tail)
			prefetch(pool_word(w, slot->tail - WHEEL_BLOCK));
		*header = w->free;
		w->free = word + 1;
	}
	return block + in - *nr;
}

/* Queues */

static u64 queue_link(enum wheel_where where, u32 prev, u32 next)
{
	return LINK_WHERE(where) | (u64)(prev & LINK_ID) << LINK_ID_BITS | (next & LINK_ID);
}

static u32 link_next(u64 link)
{
	u32 next = link & LINK_ID;

	return next == LINK_ID ? WHEEL_NIL : next;
}

static u32 link_prev(u64 link)
{
	return link_next(link >> LINK_ID_BITS);
}

static void set_next(struct wheel *w, u32 id, u32 next)
{
	u64 *link = &wheel_timer(w, id)->link;

	*link = (*link & ~(u64)LINK_ID) | (next & LINK_ID);
}

static void set_prev(struct wheel *w, u32 id, u32 prev)
{
	u64 *link = &wheel_timer(w, id)->link;

	*link = (*link & ~((u64)LINK_ID << LINK_ID_BITS)) | (u64)(prev & LINK_ID) << LINK_ID_BITS;
}

/**
 * wheel_unlink() - a timer is not to come due, or is out of its queue
 * @w: the wheel
 * @id: the timer
 */
TWHEEL_PART void wheel_unlink(struct wheel *w, u32 id)
{
	struct timer *t = wheel_timer(w, id);
	enum wheel_where where = wheel_where(t);
	u64 link = t->link;

	t->link = link & LINK_WHERE(WHEEL_FILED) ? link | LINK_KEPT : 0;
	w->filed -= where == WHEEL_FILED;
	w->claimed -= where == WHEEL_CLAIMED;
	if (where == WHEEL_DUE || where == WHEEL_POOL) {
		struct wheel_queue *queue = wheel_queue(w, where);
		u32 next = link_next(link), prev = link_prev(link);

		queue->count--;
		if (next == WHEEL_NIL)
			queue->tail = prev;
		else
			set_prev(w, next, prev);
		if (prev == WHEEL_NIL)
			queue->head = next;
		else
			set_next(w, prev, next);
	}
}

/**
 * wheel_push() - put a timer into the due queue, or among the free ids
 * @w: the wheel
 * @id: a timer that is in neither
 * @where: WHEEL_DUE or WHEEL_POOL
 * @front: before all others, or behind them
 *
 * The timer itself is the entry: there is always room.
 */
TWHEEL_PART void wheel_push(struct wheel *w, u32 id, enum wheel_where where, bool front)
{
	struct wheel_queue *queue = wheel_queue(w, where);
	struct timer *t = wheel_timer(w, id);
	u32 prev = front ? WHEEL_NIL : queue->tail, next = front ? queue->head : WHEEL_NIL;

	w->filed -= wheel_where(t) == WHEEL_FILED;
	w->claimed -= wheel_where(t) == WHEEL_CLAIMED;
	t->link = queue_link(where, prev, next);
	if (prev == WHEEL_NIL)
		queue->head = id;
	else
		set_next(w, prev, id);
	if (next == WHEEL_NIL)
		queue->tail = id;
	else
		set_prev(w, next, id);
	queue->count++;
}

/**
 * wheel_take_due() - take timers from the front of the due queue
 * @w: the wheel
 * @ids: where to write which
 * @nr: how many at the most
 * @mark: left in each, for wheel_mark()
 *
 * Return: how many.
 */
TWHEEL_PART unsigned int wheel_take_due(struct wheel *w, u32 *ids, unsigned int nr, u32 mark)
{
	struct wheel_queue *due = wheel_queue(w, WHEEL_DUE);
	u32 id = due->head;
	unsigned int n;

	for (n = 0; n < nr && id != WHEEL_NIL; n++) {
		struct timer *t = wheel_timer(w, id);

		ids[n] = id;
		id = link_next(t->link);
		if (id != WHEEL_NIL)
			prefetch(wheel_timer(w, id));
		t->link = LINK_WHERE(WHEEL_CLAIMED) | mark;
	}
	w->claimed += n;
	due->count -= n;
	due->head = id;
	if (id == WHEEL_NIL)
		due->tail = WHEEL_NIL;
	else
		set_prev(w, id, WHEEL_NIL);
	return n;
}

/* Filing */

/*
 * When a slot should be opened: for its first deadline, or early enough to bring down a heavy one,
 * but not before R4 allows it, wherever the hand below is: hence the + 1.
 */
static u64 slot_opens(const struct wheel *w, unsigned int l, u64 number)
{
	const struct wheel_slot *slot = &w->level[l].slot[number & w->mask];
	u64 lead, soonest, earliest;

	if (!l || slot->count <= WHEEL_STEP)
		return slot->soonest;
	earliest = (((number - 1) << w->bits) + 1) << w->level[l - 1].shift;
	/* One tick until the owner calls, one to find the timers, one for rounding. */
	lead = slot->count * w->cost / WHEEL_COST_ONE + 3;
	soonest = slot->soonest > lead ? slot->soonest - lead : 0;
	return min(slot->soonest, max(earliest, soonest));
}

/*
 * An entry was put that changes when its slot has to be opened: the first one, the soonest, or
 * one that makes the slot heavy or heavier.
 */
TWHEEL_PART noinline void wheel_note_slot(struct wheel *w, unsigned int l, u64 number, u64 tick)
{
	struct wheel_level *level = &w->level[l];
	u32 place = number & w->mask;
	struct wheel_slot *slot = &level->slot[place];

	slot->soonest = min(slot->soonest, tick);
	level->used += !__test_and_set_bit(place, level->map);
	level->next = min(level->next, slot_opens(w, l, number));
}

/**
 * wheel_file() - have a timer looked at when it is due
 * @w: a wheel with at least one level, that is not full
 * @id: a timer that is in no queue
 * @tick: one after that which the wheel has come to
 */
TWHEEL_PART void wheel_file(struct wheel *w, u32 id, u64 tick)
{
	wheel_file_inline(w, id, wheel_timer(w, id), wheel_look_tick(w, tick));
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
static void hands_follow(struct wheel *w, u64 now)
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
		if (level->slot[number & w->mask].count > WHEEL_STEP)
			w->heavy |= BIT(l);
	}
	set_hand(w, l, number);
	w->open |= BIT(l);
	/* A slot that opens only because the hand has to pass it is not the next. */
	if (opens <= level->next)
		level->next = level_next(w, l);
	return true;
}

/* What marks the timers whose entries this sift has put back. */
static u64 sift_mark(const struct wheel *w)
{
	return LINK_SPARE | (w->sifts >> 32 << WHEEL_TICK_BITS & LINK_SIFT);
}

/*
 * An entry has come out of its slot: if it is its timer's own, the timer is out.  Return whether it
 * was filed.  Of several entries with one tick each is its own, but if the slot is sifted all but
 * the first are stale.
 */
static bool entry_take(struct wheel *w, struct timer *t, u64 tick, bool sifted)
{
	const u64 own = LINK_WHERE(WHEEL_FILED) | (tick & WHEEL_TICK_MASK);
	u64 link = t->link;

	if ((link & ~(LINK_KEPT | LINK_SPARE | LINK_SIFT)) == own) {
		if (sifted && (link & (LINK_SPARE | LINK_SIFT)) == sift_mark(w) &&
		    t->spare == (u32)w->sifts)
			return false;
		t->link = 0;
		w->filed -= !(link & LINK_KEPT);
		return !(link & LINK_KEPT);
	}
	return false;
}

/* An entry was filed again; if it is its timer's own, so was the timer. */
static noinline void trace_move(const struct wheel *w, u32 id, u64 tick)
{
	if ((wheel_timer(w, id)->link & ~(LINK_SPARE | LINK_SIFT)) ==
	    (LINK_WHERE(WHEEL_FILED) | (tick & WHEEL_TICK_MASK)))
		trace_twheel_timer_move(w, id, tick);
}

/* Drop the stale entries of a batch, and ask the owner about the others. */
static void look_at(struct wheel *w, struct wheel_batch *batch, bool sifted)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < batch->nr; i++) {
		struct timer *t = batch->timer[i];
		u64 tick = batch->tick[i];

		if (!entry_take(w, t, tick, sifted))
			continue;
		/* It is out, so @spare is free. */
		if (trace_twheel_timer_move_enabled())
			t->spare = tick;
		batch->timer[nr] = t;
		batch->id[nr] = batch->id[i];
		batch->tick[nr++] = tick;
	}
	batch->nr = nr;
	if (nr)
		w->look(w, batch);
}

/* A timer that was looked at is not due: it is filed again, or is let go. */
static void not_due(struct wheel *w, struct timer *t, u32 id, u64 tick, bool sifted)
{
	u64 look = wheel_look_tick(w, tick);
	u32 from = t->spare;

	if (unlikely(tick == WHEEL_NEVER)) {
		trace_twheel_timer_let_go(w, id, TWHEEL_STATE_PENDING);
		return;
	}
	t->link = LINK_WHERE(WHEEL_FILED) | (look & WHEEL_TICK_MASK);
	if (sifted) {
		t->link |= sift_mark(w);
		t->spare = w->sifts;
	}
	w->filed++;
	w->moves++;
	wheel_put(w, id, look);
	trace_twheel_timer_move(w, id, w->at + (s64)(int)(from - (u32)w->at));
}

/*
 * Put those timers of a batch that are due at the end of the due queue, in order, and file the
 * others again.  Begin a new batch.
 */
static noinline void due_append(struct wheel *w, struct wheel_batch *batch, bool sifted)
{
	struct wheel_queue *due = wheel_queue(w, WHEEL_DUE);
	u64 sorted[WHEEL_STEP];
	u8 order[WHEEL_STEP];
	unsigned int nr = 0;
	u32 prev = due->tail;

	look_at(w, batch, sifted);
	for (unsigned int i = 0; i < batch->nr; i++) {
		u64 tick = batch->tick[i];
		unsigned int at;

		if (unlikely(tick > w->at)) {
			not_due(w, batch->timer[i], batch->id[i], tick, sifted);
			continue;
		}
		/* Insertion sort: most of them come in order. */
		for (at = nr++; at && sorted[at - 1] > tick; at--) {
			sorted[at] = sorted[at - 1];
			order[at] = order[at - 1];
		}
		sorted[at] = tick;
		order[at] = i;
	}
	batch->nr = 0;
	if (!nr)
		return;
	if (prev == WHEEL_NIL)
		due->head = batch->id[order[0]];
	else
		set_next(w, prev, batch->id[order[0]]);
	for (unsigned int i = 0; i < nr; i++) {
		u32 next = i + 1 < nr ? batch->id[order[i + 1]] : WHEEL_NIL;

		batch->timer[order[i]]->link = queue_link(WHEEL_DUE, prev, next);
		prev = batch->id[order[i]];
	}
	due->tail = prev;
	due->count += nr;
}

/* Add an entry to a batch. */
static __always_inline void batch_add(const struct wheel *w, struct wheel_batch *batch, u64 tick,
				      u32 id)
{
	struct timer *t = wheel_timer(w, id);

	prefetchw(t);
	batch->tick[batch->nr] = tick;
	batch->id[batch->nr] = id;
	batch->timer[batch->nr++] = t;
}

/*
 * Take entries out of the open slot of a level: those that are due go to the batch, the others
 * are filed again.  If timers are to be looked at, or many entries are stale, all of them go to
 * the batch.
 * Returns how many.
 */
static unsigned int empty_slot(struct wheel *w, unsigned int l, struct wheel_batch *batch,
			       unsigned int budget)
{
	struct wheel_slot *slot = open_slot_of(w, l);
	bool ask = w->look_always || l == WHEEL_SIFT || w->entries - w->filed > w->filed;
	const u64 base = slot->soonest;
	u64 block[WHEEL_BLOCK - 1];
	unsigned int done, nr;

	budget = min3(budget, WHEEL_STEP - batch->nr, slot->count);
	for (done = 0; done < budget; done += nr) {
		const u64 *entry;

		nr = budget - done;
		entry = slot_pop(w, slot, block, &nr);
		for (unsigned int i = 0; i < nr; i++) {
			u64 tick = entry_tick(base, entry[i]);
			u32 id = entry_id(entry[i]);

			if (ask || tick <= w->at) {
				batch_add(w, batch, tick, id);
			} else {
				wheel_put(w, id, tick);
				w->moves++;
				if (trace_twheel_timer_move_enabled())
					trace_move(w, id, tick);
			}
		}
	}
	if (slot->count)
		return done;
	if (l == WHEEL_SIFT) {
		w->open &= ~BIT(l);
		w->heavy &= ~BIT(l);
	} else {
		slot_close(w, l, w->level[l].hand);
	}
	return done;
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
 * such a step is half done; WHEEL_NEVER if nothing is filed and at most a step's
 * worth of stale entries is left. The slots of @heavy are not counted.
 */
TWHEEL_PART u64 wheel_next(const struct wheel *w)
{
	if (w->open & ~w->heavy)
		return 0;
	/* A step's worth of stale entries is left to the next arm. */
	if (!w->filed && w->entries <= WHEEL_STEP)
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
	if (w->heavy & BIT(WHEEL_SIFT) && w->sift.soonest <= now)
		return true;
	for (u32 heavy = w->heavy & ~BIT(WHEEL_SIFT); heavy; heavy &= heavy - 1) {
		const struct wheel_level *level = &w->level[__ffs(heavy)];

		if (level->slot[level->hand & w->mask].soonest <= now)
			return true;
	}
	return false;
}

/**
 * wheel_follow() - let the hands follow the time, before timers are filed
 * @w: the wheel
 * @now: the tick that it is
 *
 * Stops short of what is due and not handled yet.
 */
TWHEEL_PART void wheel_follow(struct wheel *w, u64 now)
{
	u64 next;

	if (now <= w->at)
		return;
	next = wheel_next(w);
	if (next)
		hands_follow(w, min(now, next - 1));
}

/*
 * Empty slots of level 0, one after the other, as long as they lie before @until and fit into the
 * batch; or one that does not, of which the rest is left.  Returns how many entries.  Timers go
 * round level 0 only if they were filed while there was no other.
 */
static unsigned int run_ticks(struct wheel *w, u64 until, struct wheel_batch *batch,
			      unsigned int budget)
{
	struct wheel_level *level = &w->level[0];
	u64 number, last = level->hand;
	u64 block[WHEEL_BLOCK - 1];
	unsigned int done = 0;

	budget = min(budget, WHEEL_STEP - batch->nr);
	while ((number = first_slot(w, level, last)) && number <= until) {
		struct wheel_slot *slot = &level->slot[number & w->mask];

		if (done + slot->count > budget)
			break;
		done += slot->count;
		while (slot->count) {
			unsigned int nr = WHEEL_STEP;
			const u64 *entry = slot_pop(w, slot, block, &nr);

			for (unsigned int i = 0; i < nr; i++)
				batch_add(w, batch, entry_tick(slot->soonest, entry[i]),
					  entry_id(entry[i]));
		}
		slot->soonest = WHEEL_NEVER;
		__clear_bit(number & w->mask, level->map);
		level->used--;
		last = number;
	}
	if (!done && number && number <= until) {
		last = number;
		w->open |= BIT(0);
	}
	/* Behind a heavy slot that is in the way they are late already. */
	w->at = max(w->at, last);
	set_hand(w, 0, last);
	if (w->open & BIT(0)) {
		done = empty_slot(w, 0, batch, budget);
		number = first_slot(w, level, last);
	}
	level->next = number ? number : WHEEL_NEVER;
	return done;
}

/*
 * Open the slot that a level has to open next.  Returns false if R4 keeps it
 * closed, because a heavy slot is being emptied below.
 */
static bool run_level(struct wheel *w, unsigned int l, u64 now, unsigned int budget)
{
	struct wheel_level *level = &w->level[l];
	u64 next = level->next, number;

	hands_follow(w, next ? next - 1 : 0);
	w->at = max(w->at, next);
	number = first_slot(w, level, level->hand);
	if (!open_slot(w, l, number))
		return false;
	/* If it can be emptied at once, then for all ticks before the next slot. */
	if (level->slot[number & w->mask].count <= budget)
		w->at = max(w->at, min(now, w->level[soonest_level(w, w->nr_levels)].next - 1));
	return true;
}

/* Take the entries of a slot out of its ring, so that stale ones are dropped. */
static void sift_slot(struct wheel *w, unsigned int l, u64 number)
{
	struct wheel_slot *slot = &w->level[l].slot[number & w->mask];

	w->sift = *slot;
	*slot = (struct wheel_slot){};
	slot_close(w, l, number);
	w->level[l].next = level_next(w, l);
	w->open |= BIT(WHEEL_SIFT);
	w->heavy |= BIT(WHEEL_SIFT);
	w->sifts++;
}

/*
 * After an empty look the next one may be empty too: sift the slot that has to be opened next, if
 * one step can do that.  Stop where a sift has left a timer at @ahead.  Look ahead at most twice as
 * far as the last look lies back, so that no timer is looked at more than three times as often.
 */
static bool sift_next(struct wheel *w, u64 *ahead, unsigned int budget)
{
	unsigned int l = soonest_level(w, w->nr_levels);
	struct wheel_level *level = &w->level[l];
	u64 number = first_slot(w, level, level->hand);

	if (!number || level->next <= *ahead || level->next - w->at > 2 * (w->at - w->looked) ||
	    level->slot[number & w->mask].count > budget)
		return false;
	*ahead = level->next;
	sift_slot(w, l, number);
	return true;
}

/* Sift slots, one after the other. */
static bool sift_any(struct wheel *w)
{
	for (unsigned int i = 0; i <= w->nr_levels; i++) {
		unsigned int l = w->sift_level;
		u64 number = first_slot(w, &w->level[l], max(w->sift_after, w->level[l].hand));

		w->sift_after = number;
		if (number) {
			sift_slot(w, l, number);
			return true;
		}
		w->sift_level = (l + 1) % w->nr_levels;
	}
	return false;
}

/**
 * wheel_sift() - look at entries, to drop stale ones
 * @w: the wheel
 * @budget: at how many at the most
 *
 * Return: at how many.
 */
TWHEEL_PART unsigned int wheel_sift(struct wheel *w, unsigned int budget)
{
	struct wheel_batch batch;
	unsigned int done = 0;

	for (batch.nr = 0; done < budget && (w->open || sift_any(w));) {
		const bool sifted = w->open & BIT(WHEEL_SIFT);

		done += empty_slot(w, __fls(w->open), &batch, budget - done);
		due_append(w, &batch, sifted);
	}
	return done;
}

/**
 * wheel_advance() - bring timers down and find those that are due
 * @w: a wheel with at least one level
 * @now: the tick up to which timers are due; ticks do not go back
 * @budget: how many timers to handle at the most
 *
 * Can be called again to go on where the budget ran out; timers may be filed,
 * moved and unlinked in between.
 *
 * Return: how many timers were handled. Less than @budget: all are.
 */
TWHEEL_PART unsigned int wheel_advance(struct wheel *w, u64 now, unsigned int budget)
{
	const u32 queued = wheel_queue(w, WHEEL_DUE)->count;
	unsigned int done = 0, end = w->nr_levels;
	struct wheel_batch batch;
	u64 ahead = now;

	for (batch.nr = 0; done < budget;) {
		u32 light = w->open & ~w->heavy;
		unsigned int l, heavy;

		if (batch.nr == WHEEL_STEP)
			due_append(w, &batch, false);
		if (light) {
			done += empty_slot(w, __ffs(light), &batch, budget - done);
			continue;
		}
		l = soonest_level(w, end);
		if (w->level[l].next > now) {
			if (end == w->nr_levels)
				hands_follow(w, now);
			if (!w->open) {
				/* What the owner is asked of yet is due now, or after now. */
				due_append(w, &batch, false);
				if (!done || wheel_queue(w, WHEEL_DUE)->count != queued ||
				    !sift_next(w, &ahead, budget - done))
					break;
			}
		} else if (!l && w->nr_levels > 1) {
			done += run_ticks(w, min(now, upper_next(w, end) - 1), &batch,
					  budget - done);
			continue;
		} else if (!(w->open & BIT(l)) &&
			   run_level(w, l, now, min(budget - done, WHEEL_STEP - batch.nr))) {
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
		if (w->open & BIT(WHEEL_SIFT) &&
		    w->sift.soonest < open_slot_of(w, heavy)->soonest)
			heavy = WHEEL_SIFT;
		/* Keep sifted timers apart from the others. */
		if (heavy == WHEEL_SIFT)
			due_append(w, &batch, false);
		done += empty_slot(w, heavy, &batch, budget - done);
		if (heavy == WHEEL_SIFT)
			due_append(w, &batch, true);
		end = w->nr_levels;
	}
	due_append(w, &batch, false);
	if (done)
		w->looked = w->at;
	/* Otherwise upper hands would fall behind if each pass were to end like this. */
	if (done >= budget)
		hands_follow(w, w->at);
	return done;
}
