/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The wheel: a hierarchical timing wheel that cascades, in bounded steps.
 *
 * It knows ids and the ticks at which they expire, and nothing of devices,
 * clocks or users.  The same source runs in the module and in user space.
 * docs/wheel.md explains it; wheel.c says how.
 *
 * Locking: none of its own.  The owner serialises all calls but the allocations.
 */
#ifndef TWHEEL_WHEEL_H
#define TWHEEL_WHEEL_H

#ifdef __KERNEL__
#include <linux/gfp.h>
#include <linux/prefetch.h>
#include <linux/types.h>
#else
#include "compat/user.h"
#endif

/* How the functions are declared: static, where all is built as one unit. */
#ifndef TWHEEL_PART
#define TWHEEL_PART
#endif

/* Charged to the caller's cgroup: at its limit the call fails, and no process is killed. */
#define GFP_CHARGED	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
#define WHEEL_GFP	(GFP_CHARGED | __GFP_ZERO)
/* vmalloc() refuses __GFP_RETRY_MAYFAIL on some kernels. */
#define WHEEL_GFP_ARRAY	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN | __GFP_ZERO)
/* What a call needs while it lasts fails in the same way. */
#define GFP_BRIEF	(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

#define WHEEL_MAX_LEVELS	16
#define WHEEL_MIN_SLOTS		4U
#define WHEEL_MAX_SLOTS		4096
#define WHEEL_MAX_CAPACITY	0x1000000U

/* "No timer": ends a queue. */
#define WHEEL_NIL		0xffffffffU
/* "No tick": later than all others. */
#define WHEEL_NEVER		(~0ULL)
/*
 * The last tick that a wheel can come to.  Rings reach beyond their hands, and the
 * numbers of their slots are still to fit 64 bits then.  A timer may be filed for any later
 * tick: it stays where it is, for good.
 */
#define WHEEL_LAST		(WHEEL_NEVER - 4 * WHEEL_MAX_SLOTS)

/* Entries that a step may handle; a slot with more is brought down early. */
#define WHEEL_STEP		64U

/* Memory comes in pieces of 4 KiB where pages are larger, too: the first timer stays cheap. */
#define WHEEL_PAGE_SHIFT	(PAGE_SHIFT < 12 ? PAGE_SHIFT : 12)
#define WHEEL_PAGE_SIZE		BIT(WHEEL_PAGE_SHIFT)

/* Timers in a chunk: they fill a page, so 128. */
#define WHEEL_CHUNK_SHIFT	(WHEEL_PAGE_SHIFT - 5)
#define WHEEL_CHUNK_TIMERS	((u32)BIT(WHEEL_CHUNK_SHIFT))

/* How many pages of timers, and of blocks, a wheel has room for before it needs a directory. */
#define WHEEL_FIRST_PAGES	4

/* The cost of what takes one tick: to bring a timer down takes a part of one of 1 ms. */
#define WHEEL_COST_ONE		BIT_ULL(20)

/* An entry: an id, and the low bits of the tick of the look.  None is beyond the horizon. */
#define WHEEL_TICK_BITS		40
#define WHEEL_TICK_MASK		(BIT_ULL(WHEEL_TICK_BITS) - 1)
#define WHEEL_HORIZON		BIT_ULL(WHEEL_TICK_BITS - 2)

/* Words in a block: a header, and entries. */
#define WHEEL_BLOCK		8U

/**
 * struct timer - a timer: all that there is of one that is plain
 * @link: where it is, and its place there, as filing.h packs them; 0: nowhere
 * @spare: the wheel's, of a timer that is filed; the owner's, of one in the due queue
 * @generation: the owner's, as all that follows: see timer.h
 * @cookie: the owner's
 * @deadline: the owner's
 *
 * 32 bytes, two to a cache line.
 */
struct timer {
	u64	link;
	u32	spare;
	u32	generation;
	u64	cookie;
	u64	deadline;
};

/**
 * enum wheel_where - where a timer is
 * @WHEEL_OUT: nowhere
 * @WHEEL_FILED: one of the entries in the slots is its own
 * @WHEEL_CLAIMED: out of the due queue for a read, and may come back
 * @WHEEL_KEPT: out; its entry serves again if it is filed no earlier
 * @WHEEL_DUE: in the due queue
 * @WHEEL_POOL: in the pool of free ids
 *
 * Bit 0: an entry is its own.  Bit 2: it is in a queue.
 */
enum wheel_where {
	WHEEL_OUT	= 0,
	WHEEL_FILED	= 1,
	WHEEL_CLAIMED	= 2,
	WHEEL_KEPT	= 3,
	WHEEL_DUE	= 4,
	WHEEL_POOL	= 6,
};

/**
 * struct wheel_slot - the entries of one span of ticks
 * @soonest: lower bound of their ticks; WHEEL_NEVER: there are none
 * @tail: pool word for the next entry; 0 mod WHEEL_BLOCK: a new block
 * @count: how many there are
 *
 * All blocks of a slot but the last are full.
 */
struct wheel_slot {
	u64	soonest;
	u32	tail;
	u32	count;
};

/**
 * struct wheel_level - a ring of slots
 * @hand: number of the slot opened or passed last
 * @next: no slot has to be opened before this tick
 * @shift: a slot spans 1 << shift ticks
 * @used: how many slots hold entries
 * @slot: two turns of the level below
 * @map: a bit for each slot that holds entries
 * @small_map: @map, when it is small
 */
struct wheel_level {
	u64			hand;
	u64			next;
	unsigned int		shift;
	unsigned int		used;
	struct wheel_slot	*slot;
	unsigned long		*map;
	unsigned long		small_map[128 / (8 * sizeof(long))];
} __aligned(64);

/**
 * struct wheel_queue - timers outside the slots, linked both ways
 * @head: first timer, or WHEEL_NIL
 * @tail: last timer, or WHEEL_NIL
 * @count: how many
 */
struct wheel_queue {
	u32	head;
	u32	tail;
	u32	count;
};

/**
 * struct wheel_batch - timers whose entries were taken out of their slots together
 * @tick: those of the entries
 * @timer: the timers
 * @id: their ids
 * @nr: how many
 */
struct wheel_batch {
	u64		tick[WHEEL_STEP];
	struct timer	*timer[WHEEL_STEP];
	u32		id[WHEEL_STEP];
	unsigned int	nr;
};

struct wheel;

/**
 * typedef wheel_look - an owner's answer to when timers really are due
 * @w: the wheel
 * @batch: timers that are out, with the ticks that the wheel has looked at them; to be changed to
 *	the real ones.  WHEEL_NEVER: the timer is let go, and its owner's.
 */
typedef void wheel_look(struct wheel *w, struct wheel_batch *batch);

/**
 * struct wheel - a timing wheel
 * @timer: the pages of timers, by id
 * @pool: the block pool: its pages
 * @nr_chunks: how many pages of timers there are
 * @nr_pages: how many pages of blocks there are
 * @capacity: ids are below this
 * @ids: those that have a place in @timer are below this
 * @bits: log2 of the slots that a level turns through
 * @mask: of a place in a ring
 * @nr_levels: levels in use
 * @max_levels: levels that may come into use
 * @at: timers are due up to this tick
 * @looked: tick at which entries were taken out last
 * @cost: ticks to bring one timer down, times WHEEL_COST_ONE
 * @open: bits of levels that are being emptied, and WHEEL_SIFT
 * @heavy: those of them with more than a step's worth
 * @free: first word + 1 of the first free block; 0: none
 * @room: entries that the blocks hold, however spread
 * @entries: in slots
 * @filed: timers that are filed; the other entries are stale
 * @claimed: timers whose events are claimed
 * @look_always: the owner is asked at each level, and not only of what is due
 * @moves: entries filed again, counted
 * @cascades: upper slots opened, counted
 * @sift: a slot whose stale entries are dropped
 * @sifts: how many slots were, counted
 * @sift_level: the level of the slot that was sifted last
 * @sift_after: the number of that slot
 * @queue: the due queue and the free ids
 * @memory: bytes allocated
 * @look: asked when timers are due
 * @directory: memory for @timer and @pool; NULL as long as @first_timer and @first_pool do
 * @first_timer: the first pages of timers
 * @first_pool: the first pages of blocks
 * @end: first tick beyond each; WHEEL_NEVER
 * @level: the levels, finest first
 */
struct wheel {
	struct timer		**timer;
	u64			**pool;
	u32			nr_chunks;
	u32			nr_pages;
	u32			capacity;
	u32			ids;
	unsigned int		bits;
	u32			mask;
	unsigned int		nr_levels;
	unsigned int		max_levels;
	u64			at;
	u64			looked;
	u64			cost;
	u32			open;
	u32			heavy;
	u32			free;
	u32			room;
	u32			entries;
	u32			filed;
	u32			claimed;
	bool			look_always;
	u64			moves;
	u64			cascades;
	struct wheel_slot	sift;
	u64			sifts;
	unsigned int		sift_level;
	u64			sift_after;
	struct wheel_queue	queue[2];
	size_t			memory;
	wheel_look		*look;
	void			*directory;
	struct timer		*first_timer[WHEEL_FIRST_PAGES];
	u64			*first_pool[WHEEL_FIRST_PAGES];
	u64			end[WHEEL_MAX_LEVELS + 1];
	struct wheel_level	level[WHEEL_MAX_LEVELS];
};

TWHEEL_PART void wheel_init(struct wheel *w, u32 capacity, unsigned int levels,
			    unsigned int slots, u64 cost, u64 now, wheel_look *look);
TWHEEL_PART void wheel_destroy(struct wheel *w);
TWHEEL_PART void wheel_moved(struct wheel *w);

TWHEEL_PART void *wheel_array_alloc(size_t bytes);
TWHEEL_PART size_t wheel_directory_bytes(const struct wheel *w);
TWHEEL_PART void *wheel_directory_alloc(const struct wheel *w);
TWHEEL_PART void wheel_add_directory(struct wheel *w, void *directory);
TWHEEL_PART u32 wheel_max_pages(const struct wheel *w);
TWHEEL_PART void wheel_add_chunk(struct wheel *w, u32 id, void *page);
TWHEEL_PART void wheel_add_blocks(struct wheel *w, void *page);
TWHEEL_PART struct wheel_slot *wheel_level_alloc(const struct wheel *w);
TWHEEL_PART void wheel_add_level(struct wheel *w, struct wheel_slot *slots);

TWHEEL_PART void wheel_file(struct wheel *w, u32 id, u64 tick);
TWHEEL_PART void wheel_unlink(struct wheel *w, u32 id);
TWHEEL_PART unsigned int wheel_take_due(struct wheel *w, u32 *ids, unsigned int nr, u32 mark);
TWHEEL_PART void wheel_push(struct wheel *w, u32 id, enum wheel_where where, bool front);
TWHEEL_PART unsigned int wheel_sift(struct wheel *w, unsigned int budget);

TWHEEL_PART void wheel_follow(struct wheel *w, u64 now);
TWHEEL_PART unsigned int wheel_advance(struct wheel *w, u64 now, unsigned int budget);
TWHEEL_PART u64 wheel_next(const struct wheel *w);

/* Is there memory for this timer, whose id is below @ids? */
static inline bool wheel_has_chunk(const struct wheel *w, u32 id)
{
	return w->timer[id >> WHEEL_CHUNK_SHIFT];
}

/* Is there memory for this timer? */
static inline bool wheel_has(const struct wheel *w, u32 id)
{
	return id < w->ids && wheel_has_chunk(w, id);
}

/**
 * wheel_level() - the lowest level whose ring reaches a tick
 * @w: the wheel
 * @tick: one after that which the wheel has come to
 *
 * A loop, because its branches are foreseen, and a level that was computed
 * would have to be waited for.
 *
 * Return: the level; the number of levels, if none reaches it.
 * A timer that is filed there all the same goes round.
 */
static inline unsigned int wheel_level(const struct wheel *w, u64 tick)
{
	unsigned int l = 0;

	while (tick >= w->end[l])
		l++;
	return l;
}

/* The tick at which the wheel looks at a timer that is due at @tick. */
static inline u64 wheel_look_tick(const struct wheel *w, u64 tick)
{
	return w->at + min(tick - w->at, (u64)WHEEL_HORIZON);
}

/* May levels be added, so that this tick can be reached? */
static inline bool wheel_level_missing(const struct wheel *w, u64 tick)
{
	return unlikely(!w->nr_levels) ||
	       (wheel_look_tick(w, tick) >= w->end[w->nr_levels - 1] &&
		w->nr_levels < w->max_levels);
}

/* May levels be added, so that a tick this far off can be reached from anywhere? */
static inline bool wheel_reach_missing(const struct wheel *w, u64 ticks)
{
	return w->nr_levels < w->max_levels &&
	       min(ticks, (u64)WHEEL_HORIZON) >> w->nr_levels * w->bits;
}

/* Is there no room for an entry?  Timers that are due or claimed may be filed without asking. */
static inline bool wheel_full(const struct wheel *w)
{
	return w->entries + w->queue[0].count + w->claimed >= w->room;
}

/* Had stale entries better be dropped than room be made for more? */
static inline bool wheel_stale(const struct wheel *w)
{
	return w->entries - w->filed > w->filed + WHEEL_STEP;
}

static inline struct timer *wheel_timer(const struct wheel *w, u32 id)
{
	return &w->timer[id >> WHEEL_CHUNK_SHIFT][id & (WHEEL_CHUNK_TIMERS - 1)];
}

/* Where a timer is stands in the highest bits of its link. */
#define WHEEL_WHERE_SHIFT	61

/* Where a timer is. */
static inline enum wheel_where wheel_where(const struct timer *t)
{
	return t->link >> WHEEL_WHERE_SHIFT;
}

/* The mark of a timer that is claimed: the number of the claim. */
static inline u32 wheel_mark(const struct timer *t)
{
	return t->link;
}

/* The claim of a timer ends: it is out. */
static inline void wheel_give_up(struct wheel *w, struct timer *t)
{
	t->link = 0;
	w->claimed--;
}

/* Of a batch, the timer that is fetched while another is filed or unlinked. */
#define WHEEL_AHEAD	16U

static inline struct wheel_queue *wheel_queue(struct wheel *w, enum wheel_where where)
{
	return &w->queue[where == WHEEL_POOL];
}

TWHEEL_PART bool wheel_heavy_due(const struct wheel *w, u64 now);

#endif /* TWHEEL_WHEEL_H */
