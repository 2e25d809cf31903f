// SPDX-License-Identifier: GPL-2.0
/*
 * Every state that a small wheel can get into.
 *
 * From an empty wheel each operation leads to other states, from each of those every
 * operation to others, and so on until no new one comes: breadth first, so that the way to
 * a fault is the shortest there is.  It is the module's own wheel.c, with levels of 4 slots,
 * a handful of timers, and steps of two timers in place of 64, so that they make heavy slots.
 *
 * Two states are one if they differ only in which timer is which, or by whole slots of the
 * top level: then the same happens to both, at other ticks and in other places.  So there
 * are finitely many.  What is left out: a state is known by a hash of 64 bits.
 *
 *	states			what the lane quick runs
 *	states all		larger wheels too, which takes minutes
 *	states NAME...		wheels by their names
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

/* So small that all blocks are soon made anew. */
#undef PAGE_SHIFT
#define PAGE_SHIFT	8

#include "../wheel.h"

/* So small that a few timers make a slot heavy. */
static unsigned int step;

#undef WHEEL_STEP
#define WHEEL_STEP	step
/* Blocks of an entry each, so that a few timers take several. */
#undef WHEEL_BLOCK
#define WHEEL_BLOCK	2U
/* With the module's unit, as small as this. */
#include "rules.c"
#include "tap.h"

unsigned int tap_count, tap_failed;

#define TIMERS_MAX	4
#define SLOTS		4
/* Far from tick 0, so that no bound runs into it; and the ticks of entries begin anew soon. */
#define START		((1ULL << WHEEL_TICK_BITS) - (1ULL << 2 * shape->levels))
/* The number of the last sift: in its upper half there is something. */
#define SIFTS		(2ULL << 32)
/* How far the wheel may be behind when stores make more work than the steps do, in ticks. */
#define BEHIND		1
/* Seconds of a processor that one operation may take. */
#define HANGS		10
/* More states than these are one that goes on without an end, if the shape is not slow. */
#define STATES_MAX	(2U << 20)
/* So many hashes there is room for. */
#define KNOWN_MAX	(1UL << 28)

/**
 * struct shape - what is tried
 * @levels: of the wheel
 * @timers: how many
 * @look: the owner changes ticks by stores, which the wheel learns when it asks
 * @grows: it begins with one level, and the others are added at any time
 * @step: of how many timers one step of the cascade is
 * @stale: more stale entries than these are dropped
 * @slow: not for each run of the tests; it may have more than STATES_MAX states
 * @most: after so many states it ends, if there are too many; 0: after all
 * @arms: how many ticks from now timers are armed for; 0 ends all three
 * @stores: how many ticks after the one that a timer is filed for is stored, 1 more
 * @steps: by how many ticks the time goes on, 1 more; and always to wheel_next()
 */
struct shape {
	const char	*name;
	unsigned int	levels;
	unsigned int	timers;
	unsigned int	step;
	unsigned int	stale;
	bool		look;
	bool		grows;
	bool		slow;
	u32		most;
	u8		arms[16];
	u8		stores[4];
	u8		steps[6];
};

/*
 * Ticks on both sides of what a ring reaches (7 slots ahead of its hand), of a slot's ends,
 * and beyond the top level, where timers go round.
 */
static const struct shape shapes[] = {
	{ "one level, 1 timer", 1, 1, 2, 2, .arms = { 2, 9 }, .steps = { 2 } },
	{ "one level, 2 timers", 1, 2, 2, 0, .arms = { 2, 9 }, .steps = { 2 } },
	{ "one level, 2 timers, more stale", 1, 2, 2, 2, .arms = { 2, 4 }, .steps = { 2 } },
	{ "one level, 3 timers", 1, 3, 2, 0, .arms = { 2, 4 }, .steps = { 2 } },
	{ "two levels, 1 timer", 2, 1, 2, 0, .arms = { 1, 9, 33 }, .steps = { 2, 6 } },
	{ "two levels, 1 timer, more stale", 2, 1, 2, 3, .arms = { 2, 7 }, .steps = { 2 } },
	{ "two levels, 2 timers", 2, 2, 2, 0, .arms = { 2, 9 }, .steps = { 2 } },
	{ "two levels, 2 timers, which are many", 2, 2, 1, 0,
	  .arms = { 5, 9 }, .steps = { 2 } },
	{ "two levels, 3 timers", 2, 3, 2, 0, .most = 1U << 19,
	  .arms = { 6, 8 }, .steps = { 5 } },
	{ "three levels, 1 timer", 3, 1, 2, 1, .arms = { 9, 33 }, .steps = { 6 } },
	{ "three levels, 1 timer, further off", 3, 1, 2, 0,
	  .arms = { 9, 130 }, .steps = { 6 } },
	{ "up to two levels, 2 timers", 2, 2, 2, 0, .grows = true,
	  .arms = { 2, 7 }, .steps = { 2 } },
	{ "up to three levels, 1 timer", 3, 1, 2, 0, .grows = true,
	  .arms = { 2, 9, 20 }, .steps = { 2, 6 } },
	{ "one level, 1 stored timer", 1, 1, 2, 1, .look = true,
	  .arms = { 1, 2, 7, 9 }, .stores = { 1, 2, 6 }, .steps = { 1, 2 } },
	{ "one level, 2 stored timers", 1, 2, 2, 0, .look = true,
	  .arms = { 2, 4 }, .stores = { 1, 2 }, .steps = { 2 } },
	{ "two levels, 1 stored timer", 2, 1, 2, 1, .look = true,
	  .arms = { 2, 9, 20 }, .stores = { 2, 6 }, .steps = { 2 } },
	{ "two levels, 2 stored timers", 2, 2, 2, 0, .look = true,
	  .arms = { 5 }, .stores = { 1, 2 }, .steps = { 2 } },
	{ "one level, 4 timers", 1, 4, 2, 1, .arms = { 2 }, .steps = { 2 } },
	{ "three levels, 2 timers", 3, 2, 2, 0, .slow = true, .arms = { 9, 20 }, .steps = { 2 } },
	{ "two levels, 3 timers, which are many", 2, 3, 1, 1, .slow = true,
	  .arms = { 9 }, .steps = { 2 } },
	{ "two levels, 2 timers, more stale", 2, 2, 2, 1, .slow = true,
	  .arms = { 2, 9 }, .steps = { 2 } },
	{ "two levels, 2 stored timers, which are many", 2, 2, 1, 0, .look = true, .slow = true,
	  .arms = { 9 }, .stores = { 2 }, .steps = { 2 } },
	{ "two levels, 2 stored timers, further off", 2, 2, 2, 1, .look = true,
	  .arms = { 9 }, .stores = { 2 }, .steps = { 2 } },
	{ "three levels, 2 timers, which are many", 3, 2, 1, 0, .slow = true,
	  .arms = { 9, 33 }, .steps = { 25 } },
	{ "one level, 2 timers, more ticks", 1, 2, 2, 0, .slow = true,
	  .arms = { 1, 2, 3, 6, 7, 8, 9 }, .steps = { 1, 2, 3 } },
};

static const struct shape *shape;

/* The state that is looked at, and what should be in it. */
static struct wheel w;
static struct wheel_slot *rings[WHEEL_MAX_LEVELS];
static struct reference ref;
static u64 now;

/* What is known of states: a hash, and how the first way there came to it. */
struct way {
	u32	from;
	u32	op;
};

static u64 *known;
static size_t known_size;
static struct way *ways;
static u32 nr_states;

/* The states whose operations have yet to be tried, one after the other. */
static u8 *pending;
static size_t pending_size, pending_head, pending_tail;

/* What has to happen in some of the operations, or little is tried. */

enum event {
	CASCADE, HEAVY, ROUND, GROWN, MOVE, STALE, SIFT, AHEAD, SIFT_HALF, KEPT, TWINS, NR_EVENTS
};

static const char *const events[NR_EVENTS] = {
	[CASCADE] = "cascade", [HEAVY] = "heavy", [ROUND] = "round", [GROWN] = "grown",
	[MOVE] = "move", [STALE] = "stale", [SIFT] = "sift", [AHEAD] = "ahead",
	[SIFT_HALF] = "half", [KEPT] = "kept", [TWINS] = "twins",
};

/* In how many operations: on this wheel, and on all. */
static u64 happened[NR_EVENTS], happened_ever[NR_EVENTS];

/* Operations */

enum kind { ARM, STORE, UNLINK, TAKE, GROW, STEP, NR_KINDS };

/*
 * struct op - one operation
 * @id: of the timer
 * @ticks: for ARM and STORE, or WHEEL_NEVER; for a step, WHEEL_NEVER is to wheel_next()
 * @budget: of a step
 */
struct op {
	enum kind	kind;
	u32		id;
	u64		ticks;
	unsigned int	budget;
};

static const unsigned int budgets[] = { 1, 2, 64 };

/* The operation with a number; false behind the last. */
static bool op_get(unsigned int number, struct op *op)
{
	unsigned int nr;

	*op = (struct op){};
	nr = strlen((const char *)shape->arms) * shape->timers;
	if (number < nr) {
		op->kind = ARM;
		op->id = number % shape->timers;
		op->ticks = shape->arms[number / shape->timers];
		return true;
	}
	number -= nr;
	nr = shape->look ? (strlen((const char *)shape->stores) + 1) * shape->timers : 0;
	if (number < nr) {
		op->kind = STORE;
		op->id = number % shape->timers;
		number /= shape->timers;
		op->ticks = number ? shape->stores[number - 1] - 1ULL : WHEEL_NEVER;
		return true;
	}
	number -= nr;
	if (number < shape->timers) {
		op->kind = UNLINK;
		op->id = number;
		return true;
	}
	number -= shape->timers;
	if (!number) {
		op->kind = TAKE;
		return true;
	}
	number--;
	if (shape->grows && !number) {
		op->kind = GROW;
		return true;
	}
	number -= shape->grows;
	op->budget = budgets[number % ARRAY_SIZE(budgets)];
	number /= ARRAY_SIZE(budgets);
	op->kind = STEP;
	nr = strlen((const char *)shape->steps);
	op->ticks = number < nr ? shape->steps[number] - 1ULL : WHEEL_NEVER;
	return number <= nr;
}

static void op_print(const struct op *op)
{
	static const char *const names[NR_KINDS] = {
		[ARM] = "arm", [STORE] = "store", [UNLINK] = "unlink", [TAKE] = "take",
		[GROW] = "another level", [STEP] = "step",
	};

	printf("#   %s", names[op->kind]);
	if (op->kind < TAKE)
		printf(" timer %u", op->id);
	if (op->kind == ARM || op->kind == STORE || op->kind == STEP) {
		if (op->ticks != WHEEL_NEVER)
			printf(" +%llu", (unsigned long long)op->ticks);
		else
			printf(op->kind == STORE ? " never" : " to wheel_next()");
	}
	if (op->kind == STEP)
		printf(", at most %u timers", op->budget);
	printf("\n");
}

static void set_where(u32 id, enum ref_where where)
{
	enum ref_where was = ref.timer[id].where;

	ref.stats.pending += (where == REF_PENDING) - (was == REF_PENDING);
	ref.stats.expired += (where == REF_EXPIRED) - (was == REF_EXPIRED);
	ref.timer[id].where = where;
}

/* Was the owner asked at a tick that no entry can have? */
static bool wrong_tick;

/* The owner: what was stored counts, and a timer that is not wanted is let go. */
static void look(struct wheel *wheel, struct wheel_batch *batch)
{
	(void)wheel;
	for (unsigned int i = 0; i < batch->nr; i++) {
		wrong_tick |= batch->tick[i] - (now - 256) > 512;
		batch->tick[i] = ref.timer[batch->id[i]].due;
		if (batch->tick[i] == WHEEL_NEVER)
			set_where(batch->id[i], REF_NOWHERE);
	}
}

static u32 next_in_queue(u32 id)
{
	return link_next(wheel_timer(&w, id)->link);
}

/* Timers were put into the due queue, behind one or WHEEL_NIL. */
static const char *found_due(u32 last, bool ordered)
{
	u32 id = last == WHEEL_NIL ? w.queue[0].head : next_in_queue(last);
	u64 before = 0;

	for (; id != WHEEL_NIL; id = next_in_queue(id)) {
		const struct ref_timer *t = &ref.timer[id];

		if (t->where != REF_PENDING)
			return "a timer came that was not armed";
		if (t->due > now)
			return "a timer came early";
		if (ordered && t->due < before)
			return "timers did not come in the order of their ticks";
		before = t->due;
		set_where(id, REF_EXPIRED);
	}
	return NULL;
}

/* As timers_arm(): make room before an entry is added. */
static const char *make_room(void)
{
	u32 last = w.queue[0].tail;

	unsigned int n;

	/* All slots once, as long as it takes: what is left then has to be put up with. */
	for (n = 0; w.entries >= shape->timers + shape->stale && n < 8; n++)
		if (!wheel_sift(&w, WHEEL_STEP))
			return "there are entries, and none to be looked at";
	if (n == 8 && w.entries > shape->timers * w.nr_levels)
		return "sifts leave more than an entry of each timer in a level";
	return found_due(last, false);
}

static const char *do_arm(const struct op *op)
{
	struct timer *t = wheel_timer(&w, op->id);
	u64 expiry = now + op->ticks, link;
	const char *error;

	wheel_follow(&w, now);
	error = make_room();
	if (error)
		return error;
	if (wheel_where(t) == WHEEL_DUE)
		wheel_unlink(&w, op->id);
	if (wheel_full(&w))
		return "stale entries take all the room";
	link = t->link;
	wheel_file(&w, op->id, expiry);
	happened[KEPT] += wheel_where(t) == WHEEL_FILED && (t->link ^ link) == LINK_KEPT;
	set_where(op->id, REF_PENDING);
	ref.timer[op->id].due = expiry;
	return NULL;
}

static u64 furthest_arm(void)
{
	u64 furthest = 0;

	for (const u8 *arm = shape->arms; *arm; arm++)
		furthest = max(furthest, (u64)*arm);
	return furthest;
}

static bool do_store(const struct op *op)
{
	u64 tick = near_tick(w.at, wheel_timer(&w, op->id)->link);

	/* Else stores and looks lead on and on while no time passes. */
	if (ref.timer[op->id].where != REF_PENDING || tick > now + furthest_arm())
		return false;
	ref.timer[op->id].due = op->ticks == WHEEL_NEVER ? WHEEL_NEVER : tick + op->ticks;
	return true;
}

static bool do_unlink(const struct op *op)
{
	if (ref.timer[op->id].where == REF_NOWHERE)
		return false;
	wheel_unlink(&w, op->id);
	set_where(op->id, REF_NOWHERE);
	return true;
}

static bool do_take(void)
{
	u32 id, first = w.queue[0].head;

	if (!wheel_take_due(&w, &id, 1, 0))
		return false;
	wheel_unlink(&w, id);
	if (id == first)
		set_where(id, REF_NOWHERE);
	return true;
}

static bool do_grow(void)
{
	if (w.nr_levels == shape->levels)
		return false;
	wheel_add_level(&w, rings[w.nr_levels]);
	happened[GROWN] += w.filed > 0;
	return true;
}

/* Is the order of ticks promised?  Not where a heavy slot may be late. */
static bool in_order(void)
{
	if (w.heavy)
		return false;
	for (unsigned int l = 1; l < w.nr_levels; l++)
		for (u32 place = 0; place < ring_size(&w); place++)
			if (w.level[l].slot[place].count > WHEEL_STEP / 2)
				return false;
	return true;
}

/* When the first of those is due that wait for a slot to be opened. */
static u64 first_due(void)
{
	u64 first = WHEEL_NEVER;

	for (u32 id = 0; id < shape->timers; id++)
		if (ref.timer[id].where == REF_PENDING)
			first = min(first, ref.timer[id].due);
	return first;
}

/*
 * Else a wheel whose timers are stored or armed faster than they are looked at has states
 * without end: its ticks fall behind the time, or the hand of a heavy level behind its ticks.
 */
static bool time_waits(const struct op *op)
{
	if (op->ticks == WHEEL_NEVER)
		return false;
	if (now > w.at + BEHIND)
		return true;
	if (w.sift.count && now > w.sift.soonest + BEHIND)
		return true;
	for (unsigned int l = 1; l < w.nr_levels; l++)
		if (w.heavy & BIT(l) && now > ((w.level[l].hand + 1) << w.level[l].shift) + BEHIND)
			return true;
	return false;
}

static const char *do_step(const struct op *op)
{
	u32 last = w.queue[0].tail;
	const u64 moves = w.moves;
	bool ordered = in_order();
	const char *error;
	unsigned int done;

	if (op->ticks != WHEEL_NEVER)
		now += op->ticks;
	else if (!w.heavy && wheel_next(&w) != WHEEL_NEVER)
		now = max(now, wheel_next(&w));
	done = wheel_advance(&w, now, op->budget);
	if (done > op->budget)
		return "a step has handled more than it may";
	/* What came down may have made a slot heavy. */
	if (w.nr_levels > 1 && w.moves - moves > WHEEL_STEP / 2)
		ordered = false;
	error = found_due(last, ordered);
	if (error)
		return error;
	if (done == op->budget)
		return NULL;
	if (first_due() <= now)
		return "a timer was not found";
	if (wheel_next(&w) <= now)
		return "what has to be done next is not done";
	/* R2 allows it to be a slot further. */
	for (unsigned int l = 0; l < w.nr_levels; l++)
		if (!w.level[l].used && w.level[l].hand < (l ? w.level[l - 1].hand >> w.bits : now))
			return "the hand of an empty level stays behind";
	return NULL;
}

/* Returns what is wrong, or NULL; @done: there was something to do. */
static const char *op_do(const struct op *op, bool *done)
{
	const u32 stale = w.entries - w.filed;
	const u64 sifts = w.sifts, moves = w.moves, cascades = w.cascades;
	const char *error = NULL;

	*done = true;
	switch (op->kind) {
	case ARM:
		error = do_arm(op);
		break;
	case STORE:
		*done = do_store(op);
		break;
	case UNLINK:
		*done = do_unlink(op);
		break;
	case TAKE:
		*done = do_take();
		break;
	case GROW:
		*done = do_grow();
		break;
	default:
		*done = !time_waits(op);
		error = *done ? do_step(op) : NULL;
	}
	if (error || !*done)
		return error;
	happened[CASCADE] += w.cascades != cascades;
	happened[MOVE] += w.moves != moves;
	happened[STALE] += op->kind == STEP && w.entries - w.filed < stale;
	happened[op->kind == STEP ? AHEAD : SIFT] += w.sifts != sifts;
	for (u32 id = 0; id < shape->timers; id++) {
		static const enum ref_where where[] = {
			[WHEEL_FILED] = REF_PENDING, [WHEEL_DUE] = REF_EXPIRED,
			[WHEEL_OUT] = REF_NOWHERE, [WHEEL_KEPT] = REF_NOWHERE,
			[WHEEL_POOL] = REF_HELD, [WHEEL_CLAIMED] = REF_HELD,
		};

		if (where[wheel_where(wheel_timer(&w, id))] != ref.timer[id].where)
			return "a timer was lost";
	}
	if (wrong_tick)
		return "an entry came out with another tick";
	error = rules_check(&w, &ref, 0);
	if (error)
		return error;
	return w.heavy || wheel_next(&w) <= first_due() ? NULL :
	       "wheel_next() is too late";
}

/* Do two entries of a slot count for one timer, or either of them? */
static bool has_twins(u32 at)
{
	u64 entry, other;

	while (owner_entry(&w, &at, &entry)) {
		u32 behind = at;

		if (!owner_own(&w, entry))
			continue;
		while (owner_entry(&w, &behind, &other))
			if (entry == other)
				return true;
	}
	return false;
}

/* What the state is that an operation has led to. */
static void look_around(void)
{
	bool twins = has_twins(w.sift.tail), round = false;

	for (unsigned int l = 0; l < w.nr_levels; l++)
		for (u32 ahead = 1; ahead <= w.mask; ahead++) {
			u64 number = w.level[l].hand + ahead;
			const struct wheel_slot *slot = &w.level[l].slot[number & w.mask];

			twins |= has_twins(slot->tail);
			round |= slot->count && slot->soonest >> w.level[l].shift > number;
		}
	happened[TWINS] += twins;
	happened[ROUND] += round;
	happened[HEAVY] += !!(w.heavy & ~BIT(WHEEL_SIFT));
	happened[SIFT_HALF] += w.sift.count > 0;
}

/* States as bytes, which is how they are kept, compared and gone on from */

struct bytes {
	u8		byte[512];
	unsigned int	nr;
	unsigned int	read;
	/* From here count all ticks of the state. */
	u64		base;
	/* The timers in the order in which the state names them. */
	u8		name[TIMERS_MAX];
	unsigned int	named;
};

static void put(struct bytes *b, unsigned int value)
{
	assert(value < 256 && b->nr < sizeof(b->byte));
	b->byte[b->nr++] = value;
}

static void put_tick(struct bytes *b, u64 tick, unsigned int shift)
{
	u64 from = tick == WHEEL_NEVER ? 0xffff : tick - (b->base >> shift) + 0x4000;

	assert(from == 0xffff || from < 0x8000);
	put(b, from & 255);
	put(b, from >> 8);
}

static unsigned int get(struct bytes *b)
{
	return b->byte[b->read++];
}

static u64 get_tick(struct bytes *b, unsigned int shift)
{
	u64 low = get(b), from = low | (u64)get(b) << 8;

	return from == 0xffff ? WHEEL_NEVER : from - 0x4000 + (b->base >> shift);
}

/* Timers are named in the order in which a state speaks of them. */
static void put_name(struct bytes *b, u32 id)
{
	unsigned int name = 0;

	while (name < b->named && b->name[name] != id)
		name++;
	if (name == b->named)
		b->name[b->named++] = id;
	put(b, name);
}

static void put_slot(struct bytes *b, const struct wheel_slot *slot)
{
	u32 at = slot->tail;
	u64 entry;

	put(b, slot->count);
	if (!slot->count)
		return;
	put_tick(b, slot->soonest, 0);
	while (owner_entry(&w, &at, &entry)) {
		put_name(b, entry_id(entry));
		put_tick(b, near_tick(slot->soonest, entry), 0);
	}
}

static void get_slot(struct bytes *b, struct wheel_slot *slot)
{
	unsigned int nr = get(b);
	u64 entries[64];

	assert(nr <= ARRAY_SIZE(entries));
	if (nr)
		slot->soonest = get_tick(b, 0);
	for (unsigned int i = 0; i < nr; i++) {
		u32 id = get(b);

		entries[i] = entry_of(id, get_tick(b, 0));
	}
	while (nr--) {
		u32 tail = slot->tail;

		if (!(tail % WHEEL_BLOCK))
			tail = wheel_add_block(&w, slot);
		*pool_word(&w, tail) = entries[nr];
		slot->tail = tail + 1;
		slot->count++;
		w.entries++;
	}
}

/* Has the slot that is sifted had an entry of this timer? */
static bool has_mark(const struct timer *t)
{
	return (t->link & (LINK_SPARE | LINK_SIFT)) == sift_mark(&w) && t->spare == (u32)w.sifts;
}

static void encode(struct bytes *b)
{
	const struct wheel_level *level;
	unsigned int ago;

	b->nr = 0;
	b->named = 0;
	b->base = now & ~0ULL << (shape->levels - 1) * w.bits;
	put_tick(b, now, 0);
	put_tick(b, w.at, 0);
	/* How far to look ahead is a guess, so a few of them will do. */
	ago = min(w.at - w.looked, furthest_arm() / 2 + 4);
	put(b, ago ? roundup_pow_of_two(ago) : 0);
	put(b, w.nr_levels);
	put(b, w.open & 255);
	put(b, w.heavy & 255);
	put(b, w.queue[0].count);
	for (u32 id = w.queue[0].head; id != WHEEL_NIL; id = next_in_queue(id))
		put_name(b, id);
	for (unsigned int l = 0; l < w.nr_levels; l++) {
		level = &w.level[l];
		put_tick(b, level->hand, level->shift);
		put_tick(b, level->next, 0);
		put(b, level->used);
		for (u32 ahead = 1; ahead <= ring_size(&w); ahead++) {
			u32 place = (level->hand + ahead) & w.mask;

			if (!(level->map[0] & BIT(place)))
				continue;
			put(b, ahead);
			put_slot(b, &level->slot[place]);
		}
	}
	put_slot(b, &w.sift);
	put(b, w.sift_level);
	level = &w.level[w.sift_level];
	put(b, max(w.sift_after, level->hand) - level->hand);
	put(b, b->named);
	for (unsigned int name = 0; name < b->named; name++) {
		const struct timer *t = wheel_timer(&w, b->name[name]);

		put(b, wheel_where(t));
		if (wheel_where(t) == WHEEL_FILED || wheel_where(t) == WHEEL_KEPT) {
			put(b, w.sift.count && has_mark(t));
			put_tick(b, near_tick(w.at, t->link), 0);
		}
		if (wheel_where(t) == WHEEL_FILED)
			put_tick(b, ref.timer[b->name[name]].due, 0);
	}
}

static void decode(struct bytes *b)
{
	u32 nr;

	b->read = 0;
	b->base = START;
	for (u32 id = 0; id < shape->timers; id++) {
		set_where(id, REF_NOWHERE);
		wheel_timer(&w, id)->link = 0;
	}
	w.free = 0;
	w.nr_pages = 0;
	w.memory -= WHEEL_PAGE_SIZE;
	wheel_add_blocks(&w, w.pool[0]);
	now = get_tick(b, 0);
	w.at = get_tick(b, 0);
	w.looked = w.at - get(b);
	w.memory -= w.nr_levels * level_bytes(&w);
	w.nr_levels = get(b);
	w.memory += w.nr_levels * level_bytes(&w);
	w.open = get(b);
	w.heavy = get(b);
	w.filed = 0;
	w.entries = 0;
	w.sifts = SIFTS;
	w.queue[0] = (struct wheel_queue){ WHEEL_NIL, WHEEL_NIL, 0 };
	for (nr = get(b); nr; nr--) {
		u32 id = get(b);

		wheel_push(&w, id, WHEEL_DUE, false);
		set_where(id, REF_EXPIRED);
	}
	for (unsigned int l = 0; l < shape->levels; l++) {
		struct wheel_level *level = &w.level[l];

		level->used = 0;
		level->small_map[0] = 0;
		for (u32 place = 0; place < ring_size(&w); place++)
			rings[l][place] = (struct wheel_slot){ .soonest = WHEEL_NEVER };
		w.end[l + 1] = WHEEL_NEVER;
		if (l >= w.nr_levels)
			continue;
		set_hand(&w, l, get_tick(b, level->shift));
		level->next = get_tick(b, 0);
		level->used = get(b);
		for (unsigned int i = 0; i < level->used; i++) {
			u32 place = (level->hand + get(b)) & w.mask;

			level->map[0] |= BIT(place);
			get_slot(b, &level->slot[place]);
		}
	}
	w.sift = (struct wheel_slot){};
	get_slot(b, &w.sift);
	if (w.sift.count) {
		w.open |= BIT(WHEEL_SIFT);
		w.heavy |= BIT(WHEEL_SIFT);
	}
	w.sift_level = get(b);
	w.sift_after = w.level[w.sift_level].hand + get(b);
	nr = get(b);
	for (u32 id = 0; id < nr; id++) {
		struct timer *t = wheel_timer(&w, id);
		enum wheel_where where = get(b);

		if (where != WHEEL_FILED && where != WHEEL_KEPT)
			continue;
		/* Else one that differs from the mark to come in one of its halves. */
		w.sifts = get(b) ? SIFTS : SIFTS + !w.sift.count - (id & 1 ? 1 : 1ULL << 32);
		t->link = sift_mark(&w);
		t->spare = w.sifts;
		w.sifts = SIFTS;
		t->link |= LINK_WHERE(where) | (get_tick(b, 0) & WHEEL_TICK_MASK);
		if (where == WHEEL_KEPT)
			continue;
		w.filed++;
		set_where(id, REF_PENDING);
		ref.timer[id].due = get_tick(b, 0);
	}
}

/* The search */

static u64 hash_of(const struct bytes *b)
{
	u64 hash = 0x9e3779b97f4a7c15ULL, word;

	for (unsigned int i = 0; i < b->nr; i += sizeof(word)) {
		word = 0;
		memcpy(&word, b->byte + i, min(b->nr - i, (unsigned int)sizeof(word)));
		hash = (hash ^ word) * 0x2127599bf4325c37ULL;
		hash ^= hash >> 32;
	}
	hash = (hash ^ b->nr) * 0x2127599bf4325c37ULL;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

/* Memory that is there when it is touched. */
static void *reserve(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		perror("states: no memory");
		exit(2);
	}
	return p;
}

/* A state that is new is remembered, and its operations are to be tried. */
static void found(const struct bytes *b, u32 from, unsigned int op)
{
	u64 hash = hash_of(b);
	size_t at = hash & (known_size - 1);

	for (; known[at]; at = (at + 1) & (known_size - 1))
		if (known[at] == hash)
			return;
	if (nr_states > known_size / 4 * 3 || pending_tail + b->nr + 1 > pending_size) {
		printf("Bail out! %s: more states than there is room for\n", shape->name);
		exit(2);
	}
	assert(b->nr < 256);
	known[at] = hash;
	ways[nr_states++] = (struct way){ from, op };
	pending[pending_tail++] = b->nr;
	memcpy(pending + pending_tail, b->byte, b->nr);
	pending_tail += b->nr;
	look_around();
}

/* Memory of states that are done with goes back, some MiB at a time. */
static void forget(void)
{
	static const size_t some = 64UL << 20;
	static size_t given;

	if (!pending_head)
		given = 0;
	while (pending_head - given >= some) {
		madvise(pending + given, some, MADV_DONTNEED);
		given += some;
	}
}

/* The way to a state, from the first. */
static void print_way(u32 state)
{
	struct op op;

	if (state)
		print_way(ways[state].from);
	else
		return;
	op_get(ways[state].op, &op);
	op_print(&op);
}

static void set_up(void)
{
	step = shape->step;
	wheel_init(&w, shape->timers, shape->levels, SLOTS, WHEEL_COST_ONE, START, look);
	wheel_add_directory(&w, wheel_directory_alloc(&w));
	wheel_add_chunk(&w, 0, owner_page());
	wheel_add_blocks(&w, owner_page());
	for (unsigned int l = 0; l < shape->levels; l++) {
		rings[l] = wheel_level_alloc(&w);
		if (!l || !shape->grows)
			wheel_add_level(&w, rings[l]);
	}
	w.look_always = shape->look;
	memset(&ref, 0, sizeof(ref));
	now = START;
	nr_states = 0;
	pending_head = 0;
	pending_tail = 0;
	memset(happened, 0, sizeof(happened));
	/* As few pages as will do, because all are touched. */
	known_size = shape->slow ? KNOWN_MAX : 4 * STATES_MAX;
	/* Which makes it all zeroes. */
	madvise(known, known_size * sizeof(*known), MADV_DONTNEED);
}

/* On a terminal, a line that is written over. */
static void progress(u32 state)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\33[K%s: %u of %u states\r", shape->name, state, nr_states);
}

/* Try all operations on all states; returns what is wrong with the first that is. */
static const char *search(u64 *tried)
{
	const struct itimerval hangs = { .it_value.tv_sec = HANGS };
	struct bytes from, to;
	const char *error;
	struct op op;
	bool done;

	encode(&to);
	found(&to, 0, 0);
	for (u32 state = 0; state < nr_states && (!shape->most || state < shape->most); state++) {
		from.nr = pending[pending_head++];
		memcpy(from.byte, pending + pending_head, from.nr);
		pending_head += from.nr;
		if (!(state % 65536)) {
			setitimer(ITIMER_PROF, &hangs, NULL);
			forget();
			progress(state);
			if (!shape->slow && !shape->most && nr_states > STATES_MAX) {
				print_way(nr_states - 1);
				return "something goes on without an end";
			}
		}
		for (unsigned int number = 0; op_get(number, &op); number++) {
			decode(&from);
			error = op_do(&op, &done);
			if (error) {
				printf("# the way there, each timer by its number of the time:\n");
				print_way(state);
				op_print(&op);
				return error;
			}
			if (!done)
				continue;
			++*tried;
			encode(&to);
			found(&to, state, number);
		}
	}
	return NULL;
}

static void print_events(void)
{
	printf("#");
	for (unsigned int e = 0; e < NR_EVENTS; e++) {
		happened_ever[e] += happened[e];
		if (happened[e])
			printf(" %s %llu", events[e], (unsigned long long)happened[e]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	known = reserve(KNOWN_MAX * sizeof(*known));
	ways = reserve(KNOWN_MAX * sizeof(*ways));
	pending_size = 64UL << 30;
	pending = reserve(pending_size);
	setvbuf(stdout, NULL, _IOLBF, 0);

	printf("TAP version 13\n");
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		bool chosen = argc < 2 ? !shapes[i].slow : !strcmp(argv[1], "all");
		const char *error;
		u64 tried = 0;

		shape = &shapes[i];
		for (int a = 1; a < argc; a++)
			chosen |= !strcmp(argv[a], shape->name);
		if (!chosen)
			continue;
		set_up();
		error = search(&tried);
		if (error)
			tap(0, "%s: %s", shape->name, error);
		else
			tap(1, "%s: %u states%s, %llu operations", shape->name, nr_states,
			    shape->most ? " of more" : "", (unsigned long long)tried);
		print_events();
		/* It has them all then. */
		while (do_grow())
			;
		wheel_destroy(&w);
	}
	for (unsigned int e = 0; e < NR_EVENTS && (argc < 2 || !strcmp(argv[1], "all")); e++)
		if (!happened_ever[e])
			tap(0, "%s: never", events[e]);
	printf("1..%u\n", tap_count);
	return tap_failed ? 1 : 0;
}
