// SPDX-License-Identifier: GPL-2.0
/*
 * A wheel with keys and repeat counts, like those of many small libraries.
 *
 * A timer is named by a key, and arming the same key again replaces it.  It goes into the slot of
 * its tick, with a circle for each whole turn before.  When the hand comes to a slot, its timers
 * with circles left lose one, and the others are due.  A timer has a repeat count (-1: for ever):
 * each time it is inserted again, one interval away.
 *
 * The keys are the ids of sim.c, which has the table that finds a timer by its key.
 */
#include "system.h"

struct part {
	struct sim_link	link;
	uint32_t	slot;
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
	uint64_t tick = sim_tick_of(s, timer->deadline);
	struct part *part = sim_part(timer);

	/* The hand comes to its own slot again one turn from now. */
	part->slot = tick % s->shape.slots;
	part->circle = (tick - s->at - 1) / s->shape.slots;
	sim_list_append(slot_of(s, tick), &part->link);
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
	struct sim_link *slot = slot_of(s, ++s->at), *link, *next;

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
	uint64_t tick = sim_tick_of(s, timer->deadline);

	where->slot = part->slot;
	where->position = sim_list_position(slot_of(s, part->slot), &part->link);
	where->rounds = part->circle;
	where->span = s->shape.tick;
	where->from = tick * s->shape.tick;
}

static uint64_t keys_memory(const struct sim *s)
{
	return s->shape.slots * sizeof(struct sim_link);
}

const struct sim_system sim_keys = {
	.name = "keys", .about = "one wheel with circles, keys and repeat counts",
	.tick = 1000000, .slots = 60, .timer_size = sizeof(struct part),
	.create = keys_create, .destroy = keys_destroy, .arm = keys_arm,
	.cancel = keys_cancel, .next = sim_next_tick, .wake = keys_wake,
	.where = keys_where, .memory = keys_memory,
};
