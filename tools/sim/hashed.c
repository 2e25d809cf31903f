// SPDX-License-Identifier: GPL-2.0
/*
 * The hashed wheel with rounds, like Netty's HashedWheelTimer.
 *
 * The thread starts with the first timer, and counts ticks from then on.  It wakes up at each tick,
 * whether there is something to do or not.  An arm only puts the timer into a queue; it is refused
 * if the limit of pending timers is reached.  At the next tick the thread takes a bounded number of
 * timers from the queue, and files each in slot (deadline / tick) modulo the size, with its rounds:
 * the number of turns that must pass first.  When the hand comes to a slot, its timers with rounds
 * left lose one, and the others are due.
 *
 * Tick n is handled when it is over, so a timer comes up to one tick late, never early.  The size
 * is a power of two, so that a mask gives the slot.  A tick below 1 ms is raised to 1 ms.  A stop
 * returns all timers that wait.
 *
 * One thing differs: in Netty a cancelled timer stays in its slot until the next tick, and is
 * counted as pending until then; here it is taken out at once.
 */
#include "system.h"

/* Timers that are taken from the queue at a tick. */
#define TRANSFER_MAX	100000
/* A shorter tick is raised to this. */
#define TICK_MIN	1000000

/**
 * struct part - of a timer
 * @link: in the queue or in its slot
 * @tick: in which it is due, counted from @start of the wheel
 * @rounds: turns that are left
 * @filed: it is in its slot
 */
struct part {
	struct sim_link	link;
	uint64_t	tick;
	uint64_t	rounds;
	bool		filed;
};

/**
 * struct wheel - the wheel, and its thread
 * @queue: timers that are in no slot yet
 * @slot: the slots
 * @start: when the thread started
 * @turns: the thread has started
 * @raised: the given tick was too short, and was raised
 */
struct wheel {
	struct sim_link	queue;
	struct sim_link	*slot;
	uint64_t	start;
	bool		turns;
	bool		raised;
};

static enum sim_result hashed_create(struct sim *s)
{
	struct wheel *w = sim_alloc(sizeof(*w), 64);
	uint32_t slots = 1;

	while (slots < s->shape.slots)
		slots *= 2;
	s->shape.slots = slots;
	s->state = w;
	if (!w)
		return SIM_NO_MEMORY;
	sim_list_init(&w->queue);
	w->raised = s->shape.tick < TICK_MIN;
	if (w->raised)
		s->shape.tick = TICK_MIN;
	w->slot = sim_lists_alloc(slots);
	return w->slot ? SIM_OK : SIM_NO_MEMORY;
}

static void hashed_destroy(struct sim *s)
{
	struct wheel *w = s->state;

	if (w)
		sim_free(w->slot);
	sim_free(w);
}

static struct sim_link *slot_of(const struct sim *s, uint64_t tick)
{
	const struct wheel *w = s->state;

	return &w->slot[tick & (s->shape.slots - 1)];
}

static void enqueue(struct wheel *w, struct part *part)
{
	part->filed = false;
	sim_list_append(&w->queue, &part->link);
}

static enum sim_result hashed_arm(struct sim *s, struct sim_timer *timer)
{
	struct wheel *w = s->state;

	if (s->shape.pending && s->counters.armed >= s->shape.pending)
		return SIM_FULL;
	if (!w->turns) {
		w->turns = true;
		w->start = s->now;
		s->at = 0;
	}
	enqueue(w, sim_part(timer));
	return SIM_OK;
}

static enum sim_result hashed_move(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	sim_list_remove(&part->link);
	enqueue(s->state, part);
	return SIM_OK;
}

static void hashed_cancel(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	(void)s;
	sim_list_remove(&part->link);
}

/* From the queue into the slots, while tick @tick is handled. */
static void transfer(struct sim *s, uint64_t tick)
{
	struct wheel *w = s->state;

	for (uint32_t i = 0; i < TRANSFER_MAX && !sim_list_empty(&w->queue); i++) {
		struct part *part = (struct part *)w->queue.next;
		struct sim_timer *timer = sim_timer_of(part);
		uint64_t due = 0;

		if (timer->deadline > w->start)
			due = (timer->deadline - w->start) / s->shape.tick;
		/* It may have waited in the queue for too long. */
		part->tick = due > tick ? due : tick;
		part->rounds = (part->tick - tick) / s->shape.slots;
		part->filed = true;
		sim_list_remove(&part->link);
		sim_list_append(slot_of(s, part->tick), &part->link);
		sim_queued(s, timer);
	}
}

static uint64_t hashed_next(struct sim *s)
{
	const struct wheel *w = s->state;

	return w->turns ? w->start + sim_next_tick(s) : SIM_NEVER;
}

static void hashed_wake(struct sim *s)
{
	uint64_t tick = s->at++;
	struct sim_link *slot = slot_of(s, tick), *link, *next;

	transfer(s, tick);
	for (link = slot->next; link != slot; link = next) {
		struct part *part = (struct part *)link;

		next = link->next;
		if (part->rounds) {
			part->rounds--;
			s->counters.passed++;
			continue;
		}
		sim_list_remove(link);
		sim_expire(s, sim_timer_of(part), 0);
	}
}

static void hashed_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	struct wheel *w = s->state;
	const struct part *part = sim_part(timer);

	if (!part->filed) {
		where->place = SIM_IN_QUEUE;
		where->position = sim_list_position(&w->queue, &part->link);
		return;
	}
	where->slot = part->tick & (s->shape.slots - 1);
	where->position = sim_list_position(slot_of(s, part->tick), &part->link);
	where->rounds = part->rounds;
	where->span = s->shape.tick;
	where->from = w->start + part->tick * s->shape.tick;
}

/* Ticks are counted from the start of the thread. */
static uint64_t hashed_hand(const struct sim *s)
{
	const struct wheel *w = s->state;

	return w->turns ? s->at : 0;
}

static uint64_t hashed_memory(const struct sim *s)
{
	return sizeof(struct wheel) + s->shape.slots * sizeof(struct sim_link);
}

static const char *hashed_note(const struct sim *s)
{
	const struct wheel *w = s->state;

	if (w->raised)
		return "hashed has raised the tick to 1ms, as Netty does with a warning; it has a "
		       "power of two of slots, and handles a tick when it is over, so a timer "
		       "comes up to one tick late";
	return "hashed has a power of two of slots, and handles a tick when it is over, so a timer "
	       "comes up to one tick late";
}

const struct sim_system sim_hashed = {
	.name = "hashed", .about = "one wheel with rounds and a queue in front: Netty",
	.tick = 1000000, .slots = 512, .timer_size = sizeof(struct part),
	.create = hashed_create, .destroy = hashed_destroy, .arm = hashed_arm,
	.move = hashed_move, .cancel = hashed_cancel, .next = hashed_next, .wake = hashed_wake,
	.where = hashed_where, .hand = hashed_hand, .memory = hashed_memory, .note = hashed_note,
};
