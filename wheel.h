/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The wheel: a hierarchical timing wheel that cascades, in bounded steps.
 *
 * It knows ids and the ticks at which they expire, and nothing of devices,
 * clocks or users.  The same source runs in the module and in user space.
 * docs/wheel.md explains it; wheel.c says how.
 *
 * Locking: none of its own.  The owner serialises all calls on one wheel,
 * except the allocations, which change nothing.
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

/*
 * Memory that outlives a call is charged to the caller's cgroup.  At its limit the call fails and
 * no process is killed.
 */
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

/* "No timer": ends a list. */
#define WHEEL_NIL		0xffffffffU
/* "No tick": later than all others. */
#define WHEEL_NEVER		(~0ULL)
/*
 * The last tick that a wheel can be turned to.  Rings reach beyond their hands, and the
 * numbers of their slots are still to fit 64 bits then.  A timer may be filed for any later
 * tick: it stays where it is, for good.
 */
#define WHEEL_LAST		(WHEEL_NEVER - 4 * WHEEL_MAX_SLOTS)

/* Timers that a step may handle; a slot with more is brought down early. */
#define WHEEL_STEP		64U

/* Timers in a chunk: their nodes fill a page, so 256 with pages of 4 KiB. */
#define WHEEL_CHUNK_SHIFT	(PAGE_SHIFT - 4)
#define WHEEL_CHUNK_TIMERS	((u32)BIT(WHEEL_CHUNK_SHIFT))

/*
 * The cost of what takes one tick.  Costs are told in parts of a tick, because to bring a timer
 * down takes much less than a tick of 1 ms, and many ticks of 1 ns.
 */
#define WHEEL_COST_ONE		BIT_ULL(20)

/* Lists in a slot: walking eight at a time overlaps their cache misses. */
#define WHEEL_LISTS		8U

/**
 * struct wheel_node - the part of a timer that the wheel works on
 * @expiry: tick at which it is due.  May be later than its slot tells, after
 *	a lazy move.  In the due queue: the owner's stamp of the pass that
 *	found it due.
 * @next: id of the next timer in the list, or WHEEL_NIL
 * @prev: which kind of list, and the id of the previous timer; of the first
 *	timer, the name of the list instead.  So unlinking computes nothing.
 *
 * 16 bytes, four to a cache line, apart from what only the owner needs.
 */
struct wheel_node {
	u64	expiry;
	u32	next;
	u32	prev;
};

/**
 * enum wheel_where - where a timer is
 * @WHEEL_FILED: in a slot
 * @WHEEL_DUE: in the due queue
 * @WHEEL_POOL: in the pool of free ids
 * @WHEEL_OUT: in no list
 */
enum wheel_where {
	WHEEL_FILED	= 0,
	WHEEL_DUE	= 1,
	WHEEL_POOL	= 2,
	WHEEL_OUT	= 3,
};

/* Bytes beside each node for the owner. */
#define WHEEL_OWNER_SIZE	32

/* What the owner keeps of this many timers fills a page. */
#define WHEEL_OWNER_TIMERS	((unsigned int)(PAGE_SIZE / WHEEL_OWNER_SIZE))

/* What the owner keeps of a timer. */
struct wheel_owner_part {
	u64	data[WHEEL_OWNER_SIZE / sizeof(u64)];
};

/**
 * struct wheel_chunk - memory for timers: three pages, which are not neighbours
 * @node: what the wheel works on; NULL: there is no memory
 * @owner: what the owner keeps of each timer, for half of them each; the wheel neither
 *	reads nor writes it
 *
 * Pages are taken one by one, because blocks of several pages are split and joined
 * with interrupts off, for milliseconds where thousands are given back.
 */
struct wheel_chunk {
	struct wheel_node	*node;
	struct wheel_owner_part	*owner[2];
};

/* Bytes in these pages. */
#define WHEEL_CHUNK_BYTES	(WHEEL_CHUNK_TIMERS * \
				 (sizeof(struct wheel_node) + WHEEL_OWNER_SIZE))

/**
 * struct wheel_slot - the timers of one span of ticks
 * @soonest: lower bound of their expiries, at most one empty wake-up too early;
 *	WHEEL_NEVER, if there are none
 * @filed: how many it holds, those that were unlinked counted with them: an
 *	upper bound, which is corrected now and then.  They go to each list in
 *	turn, so that the lists are of one length.
 * @head: first timer of each list, or WHEEL_NIL
 *
 * One cache line.
 */
struct wheel_slot {
	u64	soonest;
	u32	filed;
	u32	head[WHEEL_LISTS];
} __aligned(64);

/**
 * struct wheel_level - a ring of slots
 * @hand: number of the slot opened last, counted from tick 0.  Its ring holds
 *	the slots from hand + 1 to hand + 2 * slots - 1; the slot at the hand
 *	itself is empty, unless it is open.
 * @next: lower bound of the tick at which a slot has to be opened
 * @shift: a slot spans 1 << shift ticks
 * @used: how many slots hold timers
 * @slot: the ring: twice as many slots as the level below turns through in
 *	one slot of this one, so that the next slot can come down while the
 *	level below still turns
 * @map: a bit for each slot that holds timers
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
 * struct wheel_queue - a list outside the slots, with two ends
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
 * struct wheel_batch - timers that were taken out of their slots together
 * @expiry: their ticks
 * @id: which they are
 * @nr: how many
 */
struct wheel_batch {
	u64		expiry[WHEEL_STEP];
	u32		id[WHEEL_STEP];
	unsigned int	nr;
};

struct wheel;

/**
 * typedef wheel_look - an owner's answer to when timers really are due
 * @w: the wheel
 * @batch: timers in no list, with the ticks that they were filed for; to be
 *	changed to the real ones.  WHEEL_NEVER: the timer is let go, and its
 *	owner's.
 */
typedef void wheel_look(struct wheel *w, struct wheel_batch *batch);

/**
 * struct wheel - a timing wheel
 * @node: directory of the pages of nodes, by id; NULL until there is one
 * @owner: directory of the pages with the owner's part, in the same memory
 * @nr_chunks: how many there are
 * @capacity: ids are below this
 * @ids: the same once there is a directory, 0 before
 * @bits: log2 of the slots that a level turns through
 * @mask: of a place in a ring
 * @nr_levels: levels in use
 * @max_levels: levels that may come into use
 * @at: tick up to which timers are due; never before the hand of level 0
 * @cost: ticks in which one timer is brought down, a cautious guess, times WHEEL_COST_ONE
 * @open: levels whose slot at the hand is being emptied, as bits
 * @heavy: those of them with more than a step's worth, as bits
 * @filed: timers in slots
 * @moves: timers filed again, counted
 * @cascades: upper slots opened, counted
 * @queue: the due queue and the pool, by enum wheel_where - 1
 * @memory: bytes allocated
 * @look: asked of timers that come out of a slot, at each level;
 *	NULL: each is due at the tick that it was filed for
 * @end: of each level, the first tick that its ring does not reach; behind the
 *	last level, WHEEL_NEVER
 * @level: the levels, finest first
 */
struct wheel {
	struct wheel_node	**node;
	struct wheel_owner_part	**owner;
	u32			nr_chunks;
	u32			capacity;
	u32			ids;
	unsigned int		bits;
	u32			mask;
	unsigned int		nr_levels;
	unsigned int		max_levels;
	u64			at;
	u64			cost;
	u32			open;
	u32			heavy;
	u32			filed;
	u64			moves;
	u64			cascades;
	struct wheel_queue	queue[2];
	size_t			memory;
	wheel_look		*look;
	u64			end[WHEEL_MAX_LEVELS + 1];
	struct wheel_level	level[WHEEL_MAX_LEVELS];
};

TWHEEL_PART void wheel_init(struct wheel *w, u32 capacity, unsigned int levels,
			    unsigned int slots, u64 cost, u64 now);
TWHEEL_PART void wheel_destroy(struct wheel *w);
TWHEEL_PART void wheel_moved(struct wheel *w);

TWHEEL_PART void *wheel_array_alloc(size_t bytes);
TWHEEL_PART void *wheel_directory_alloc(const struct wheel *w);
TWHEEL_PART void wheel_add_directory(struct wheel *w, void *directory);
TWHEEL_PART struct wheel_chunk wheel_chunk_alloc(void);
TWHEEL_PART void wheel_chunk_free(struct wheel_chunk chunk);
TWHEEL_PART void wheel_add_chunk(struct wheel *w, u32 id, struct wheel_chunk chunk);
TWHEEL_PART struct wheel_slot *wheel_level_alloc(const struct wheel *w);
TWHEEL_PART void wheel_add_level(struct wheel *w, struct wheel_slot *slots);

TWHEEL_PART void wheel_file(struct wheel *w, u32 id, u64 expiry, unsigned int level);
TWHEEL_PART void wheel_unlink(struct wheel *w, u32 id);
TWHEEL_PART unsigned int wheel_take_due(struct wheel *w, u32 *ids, unsigned int nr);
TWHEEL_PART void wheel_push(struct wheel *w, u32 id, enum wheel_where where, bool front);

TWHEEL_PART void wheel_turn(struct wheel *w, u64 now);
TWHEEL_PART unsigned int wheel_advance(struct wheel *w, u64 now, u64 stamp,
				       unsigned int budget);
TWHEEL_PART u64 wheel_next(const struct wheel *w);

/* For how many timers is there memory? */
static inline u32 wheel_timers_held(const struct wheel *w)
{
	return w->nr_chunks << WHEEL_CHUNK_SHIFT;
}

/* Is there memory for this timer, whose id is below @ids? */
static inline bool wheel_has_chunk(const struct wheel *w, u32 id)
{
	return w->node[id >> WHEEL_CHUNK_SHIFT];
}

/* Is there memory for this timer? */
static inline bool wheel_has(const struct wheel *w, u32 id)
{
	return id < w->ids && wheel_has_chunk(w, id);
}

/**
 * wheel_level() - the lowest level whose ring reaches a tick
 * @w: the wheel
 * @expiry: a tick after the one the wheel has been turned to
 *
 * A loop, because its branches are foreseen, and a level that was computed
 * would have to be waited for.
 *
 * Return: a level for wheel_file(); the number of levels, if none reaches it.
 * A timer that is filed there all the same goes round.
 */
static inline unsigned int wheel_level(const struct wheel *w, u64 expiry)
{
	unsigned int l = 0;

	while (expiry >= w->end[l])
		l++;
	return l;
}

/* May levels be added, so that this one can be reached? */
static inline bool wheel_level_missing(const struct wheel *w, unsigned int level)
{
	return level >= w->nr_levels && w->nr_levels < w->max_levels;
}

/* May levels be added, so that a tick this far off can be reached from anywhere? */
static inline bool wheel_reach_missing(const struct wheel *w, u64 ticks)
{
	return w->nr_levels < w->max_levels && ticks >> w->nr_levels * w->bits;
}

static inline struct wheel_node *wheel_node(const struct wheel *w, u32 id)
{
	return &w->node[id >> WHEEL_CHUNK_SHIFT][id & (WHEEL_CHUNK_TIMERS - 1)];
}

static inline void *wheel_owner_part(const struct wheel *w, u32 id)
{
	return &w->owner[id / WHEEL_OWNER_TIMERS][id % WHEEL_OWNER_TIMERS];
}

/* The kind of list is kept in two bits of prev. */
#define WHEEL_WHERE_SHIFT	29

/* Where a timer is. */
static inline enum wheel_where wheel_where(const struct wheel_node *node)
{
	return (node->prev >> WHEEL_WHERE_SHIFT) & 3;
}

/* Of a batch, the timer that is fetched while another is filed or unlinked. */
#define WHEEL_AHEAD	16U

/*
 * Fetch a timer that has memory, to be written by an operation that comes soon.  Not left
 * to the compiler: gcc drops calls of a function that does no more than prefetch.
 */
static __always_inline void wheel_prefetch(const struct wheel *w, u32 id)
{
	prefetchw(wheel_node(w, id));
	prefetchw(wheel_owner_part(w, id));
}

/* Fetch what it takes to unlink a filed timer, beside itself. */
static __always_inline void wheel_prefetch_neighbours(const struct wheel *w,
						      const struct wheel_node *node)
{
	if (node->next != WHEEL_NIL)
		prefetchw(wheel_node(w, node->next));
	/* Of the first in a list it is a name, which is no id. */
	if (node->prev < w->capacity)
		prefetchw(wheel_node(w, node->prev));
}

static inline struct wheel_queue *wheel_queue(struct wheel *w, enum wheel_where where)
{
	return &w->queue[where - 1];
}

/* Is a heavy slot coming down, so that wheel_advance() has work at any time? */
static inline bool wheel_heavy(const struct wheel *w)
{
	return w->heavy;
}

TWHEEL_PART bool wheel_heavy_due(const struct wheel *w, u64 now);

#endif /* TWHEEL_WHEEL_H */
