// SPDX-License-Identifier: GPL-2.0
/*
 * A wheel with keys and repeat counts, like those of many small libraries.
 *
 * A timer is named by a key.  Arming a key that is armed already is refused, and so is a delay
 * below one tick.  A delay of n whole ticks puts the timer n slots ahead, with a circle for each
 * whole turn in it: 20 ticks on 10 slots are slot 0 and 2 circles.  At each tick the timers in the
 * slot under the hand lose a circle, or are due if they have none left; then the hand moves.  So a
 * timer comes up to a tick late, and up to a tick early if it was armed between two ticks.  A timer
 * has a repeat count (-1: for ever): each time it is inserted again.
 *
 * The keys are the ids of sim.c, which has the table that finds a timer by its key.
 */
#include "system.h"

struct part {
	struct sim_link	link;
	uint64_t	tick;
	uint64_t	circle;
};

static enum sim_result keys_create(struct sim *s)
{
	s->state = sim_lists_alloc(s->shape.slots);
	return s->state ? SIM_OK : SIM_NO_MEMORY;
}

static void keys_destroy(struct sim *s)
{
	sim_free(s->state);
}

static struct sim_link *slot_of(const struct sim *s, uint64_t tick)
{
	return (struct sim_link *)s->state + tick % s->shape.slots;
}

static enum sim_result keys_arm(struct sim *s, struct sim_timer *timer)
{
	uint64_t delay = timer->deadline > s->now ? timer->deadline - s->now : 0;
	uint64_t ticks = delay / s->shape.tick;
	struct part *part = sim_part(timer);

	part->tick = s->at + ticks;
	part->circle = ticks / s->shape.slots;
	sim_list_append(slot_of(s, part->tick), &part->link);
	return SIM_OK;
}

static void keys_cancel(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	(void)s;
	sim_list_remove(&part->link);
}

static void keys_wake(struct sim *s)
{
	struct sim_link *slot = slot_of(s, s->at++), *link, *next;

	for (link = slot->next; link != slot; link = next) {
		struct part *part = (struct part *)link;

		next = link->next;
		if (part->circle) {
			part->circle--;
			s->counters.passed++;
			continue;
		}
		sim_list_remove(link);
		sim_expire(s, sim_timer_of(part), 0);
	}
}

static void keys_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	const struct part *part = sim_part(timer);

	where->slot = part->tick % s->shape.slots;
	where->position = sim_list_position(slot_of(s, part->tick), &part->link);
	where->rounds = part->circle;
	where->span = s->shape.tick;
	where->from = part->tick * s->shape.tick;
}

static uint64_t keys_memory(const struct sim *s)
{
	return s->shape.slots * sizeof(struct sim_link);
}

static const char *keys_note(const struct sim *s)
{
	(void)s;
	return "keys does as these libraries do: it counts a round for each whole turn of the "
	       "delay, so 20 ticks on 10 slots have 2, and it handles a slot before the hand moves, "
	       "so a timer comes up to a tick late or early";
}

const struct sim_system sim_keys = {
	.name = "keys", .about = "one wheel with circles, keys and repeat counts",
	.tick = 1000000000, .slots = 12, .timer_size = sizeof(struct part), .keyed = true,
	.create = keys_create, .destroy = keys_destroy, .arm = keys_arm,
	.cancel = keys_cancel, .next = sim_next_tick, .wake = keys_wake,
	.where = keys_where, .memory = keys_memory, .note = keys_note,
};
