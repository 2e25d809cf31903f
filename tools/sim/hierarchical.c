// SPDX-License-Identifier: GPL-2.0
/*
 * Wheels above wheels, like Kafka's.
 *
 * The first wheel has 20 slots of a tick of 1 ms.  A timer that is later than its turn goes to an
 * overflow wheel, which is made when it is first needed: 20 slots of 20 ms, then 20 of 400 ms, and
 * so on.  Each slot with timers, a bucket, stands in a queue by the time at which it begins, and
 * the system wakes up only for the first bucket.  Then the hands of all wheels move to that time,
 * and each timer of the bucket is inserted again: it is due, or goes to a lower wheel.  That is the
 * cascade, a whole bucket at once.
 *
 * A deadline between two ticks is rounded down, so a timer fires up to a tick early, and a timer
 * that is due in the current tick fires at once.  With round_up a timer is up to a tick late, never
 * early.
 *
 * The hands do not move with the clock, only with the buckets.  A bucket whose timers were all
 * cancelled stays in the queue, and costs an empty wake-up.
 */
#include "binary.h"
#include "system.h"

#define LEVELS_MAX	64

/**
 * struct bucket - a slot
 * @item: in the queue, by the tick at which it begins
 * @timers: in it
 * @queued: it stands in the queue
 */
struct bucket {
	struct binary_item	item;
	struct sim_link		timers;
	bool			queued;
};

/**
 * struct level - a wheel
 * @span: ticks of a slot
 * @hand: the tick that it is, rounded down to @span
 * @slot: the buckets
 */
struct level {
	uint64_t	span;
	uint64_t	hand;
	struct bucket	*slot;
};

/**
 * struct part - a timer's part
 * @link: in its bucket, or in @due of the wheels
 * @tick: at which it is due
 * @bucket: where it waits; NULL: it is due
 * @level: of the bucket
 */
struct part {
	struct sim_link	link;
	uint64_t	tick;
	struct bucket	*bucket;
	uint32_t	level;
};

/**
 * struct wheels - all of them
 * @levels: how many there are
 * @hand: the current tick
 * @due: timers that were already due when they were armed
 * @queue: the buckets with timers
 * @level: the wheels
 */
struct wheels {
	uint32_t	levels;
	uint64_t	hand;
	struct sim_link	due;
	struct binary	queue;
	struct level	level[LEVELS_MAX];
};

/* Another wheel, on top.  Returns false if there is no memory. */
static bool add_level(struct sim *s)
{
	struct wheels *w = s->state;
	struct level *level = &w->level[w->levels];
	uint32_t slots = s->shape.slots;

	/* Reserve a place in the queue for each bucket, because joining it must not fail. */
	if (!binary_reserve(&w->queue, (w->levels + 1) * slots))
		return false;
	level->slot = sim_alloc(slots * sizeof(*level->slot), 64);
	if (!level->slot)
		return false;
	level->span = w->levels ? level[-1].span * slots : 1;
	level->hand = w->hand - w->hand % level->span;
	for (uint32_t i = 0; i < slots; i++)
		sim_list_init(&level->slot[i].timers);
	w->levels++;
	return true;
}

static enum sim_result hierarchical_create(struct sim *s)
{
	struct wheels *w = sim_alloc(sizeof(*w), 64);

	s->state = w;
	if (s->shape.slots < 2 || s->shape.levels > LEVELS_MAX)
		return SIM_BAD_SHAPE;
	if (!w)
		return SIM_NO_MEMORY;
	w->hand = s->at;
	sim_list_init(&w->due);
	return add_level(s) ? SIM_OK : SIM_NO_MEMORY;
}

static void hierarchical_destroy(struct sim *s)
{
	struct wheels *w = s->state;

	for (uint32_t l = 0; w && l < w->levels; l++)
		sim_free(w->level[l].slot);
	if (w)
		sim_free(w->queue.item);
	sim_free(w);
}

/* The end of what a wheel reaches. */
static uint64_t reach(const struct sim *s, const struct level *level)
{
	if (level->span > (UINT64_MAX - level->hand) / s->shape.slots)
		return UINT64_MAX;
	return level->hand + level->span * s->shape.slots;
}

static enum sim_result file(struct sim *s, struct part *part)
{
	struct wheels *w = s->state;
	struct level *level = w->level;
	uint64_t number;

	if (part->tick <= w->hand) {
		part->bucket = NULL;
		sim_list_append(&w->due, &part->link);
		return SIM_OK;
	}
	while (part->tick >= reach(s, level)) {
		if (++level < w->level + w->levels)
			continue;
		if (w->levels == (s->shape.levels ? s->shape.levels : LEVELS_MAX))
			return SIM_REFUSED;
		if (!add_level(s))
			return SIM_NO_MEMORY;
	}
	number = part->tick / level->span;
	part->level = level - w->level;
	part->bucket = &level->slot[number % s->shape.slots];
	if (!part->bucket->queued) {
		part->bucket->item.when = number * level->span;
		part->bucket->queued = binary_add(&w->queue, &part->bucket->item);
	}
	sim_list_append(&part->bucket->timers, &part->link);
	return SIM_OK;
}

static enum sim_result hierarchical_arm(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	s->at = s->now / s->shape.tick;
	part->tick = s->shape.round_up ? sim_tick_of(s, timer->deadline) :
					 timer->deadline / s->shape.tick;
	return file(s, part);
}

static void hierarchical_cancel(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	(void)s;
	sim_list_remove(&part->link);
}

static uint64_t hierarchical_next(struct sim *s)
{
	const struct wheels *w = s->state;
	const struct binary_item *first = binary_first(&w->queue);

	if (!sim_list_empty(&w->due))
		return s->now;
	return first ? first->when * s->shape.tick : SIM_NEVER;
}

/* Insert the timers again, of a bucket that has left the queue or of the due list. */
static void flush(struct sim *s, struct sim_link *from)
{
	struct wheels *w = s->state;
	struct sim_link timers;

	sim_list_take(from, &timers);
	while (!sim_list_empty(&timers)) {
		struct part *part = (struct part *)timers.next;

		sim_list_remove(&part->link);
		if (part->tick <= w->hand) {
			sim_expire(s, sim_timer_of(part), 0);
		} else {
			/* A lower wheel reaches it, and is there. */
			file(s, part);
			sim_moved(s, sim_timer_of(part));
		}
	}
}

static void hierarchical_wake(struct sim *s)
{
	struct wheels *w = s->state;
	struct binary_item *first;

	flush(s, &w->due);
	while ((first = binary_first(&w->queue)) && first->when * s->shape.tick <= s->now) {
		struct bucket *bucket = (struct bucket *)first;

		binary_remove(&w->queue, first);
		bucket->queued = false;
		if (first->when > w->hand)
			w->hand = first->when;
		for (uint32_t l = 0; l < w->levels; l++)
			w->level[l].hand = w->hand - w->hand % w->level[l].span;
		flush(s, &bucket->timers);
	}
}

static void hierarchical_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	const struct wheels *w = s->state;
	const struct part *part = sim_part(timer);
	const struct level *level = &w->level[part->level];

	if (!part->bucket) {
		where->place = SIM_IN_QUEUE;
		where->position = sim_list_position(&w->due, &part->link);
		return;
	}
	where->level = part->level;
	where->slot = part->bucket - level->slot;
	where->position = sim_list_position(&part->bucket->timers, &part->link);
	where->span = level->span * s->shape.tick;
	where->from = part->bucket->item.when * s->shape.tick;
}

static uint64_t hierarchical_hand(const struct sim *s)
{
	const struct wheels *w = s->state;

	return w->hand;
}

static uint64_t hierarchical_memory(const struct sim *s)
{
	const struct wheels *w = s->state;

	return sizeof(*w) + (uint64_t)w->levels * s->shape.slots * sizeof(struct bucket) +
	       w->queue.size * sizeof(struct binary_item *);
}

static const char *hierarchical_note(const struct sim *s)
{
	if (s->shape.round_up)
		return "";
	return "hierarchical rounds deadlines down, as these systems do, so timers fire up to a "
	       "tick early; with --round up they fire up to a tick late";
}

const struct sim_system sim_hierarchical = {
	.name = "hierarchical", .about = "wheels above wheels, timers come down: Kafka",
	.tick = 1000000, .slots = 20, .timer_size = sizeof(struct part),
	.create = hierarchical_create, .destroy = hierarchical_destroy, .arm = hierarchical_arm,
	.cancel = hierarchical_cancel, .next = hierarchical_next, .wake = hierarchical_wake,
	.where = hierarchical_where, .hand = hierarchical_hand, .memory = hierarchical_memory,
	.note = hierarchical_note,
};
