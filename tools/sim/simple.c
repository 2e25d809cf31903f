// SPDX-License-Identifier: GPL-2.0
/*
 * The simple wheel: a slot for each tick of one turn, and a hand that moves by a slot at each tick.
 * All timers in the slot that the hand comes to are due.  So a timer that is later than one turn is
 * refused.
 */
#include "system.h"

static enum sim_result simple_create(struct sim *s)
{
	s->state = sim_lists_alloc(s->shape.slots);
	return s->state ? SIM_OK : SIM_NO_MEMORY;
}

static void simple_destroy(struct sim *s)
{
	sim_free(s->state);
}

static struct sim_link *slot_of(const struct sim *s, uint64_t tick)
{
	return (struct sim_link *)s->state + tick % s->shape.slots;
}

static enum sim_result simple_arm(struct sim *s, struct sim_timer *timer)
{
	uint64_t tick = sim_tick_of(s, timer->deadline);

	if (tick - s->at > s->shape.slots)
		return SIM_REFUSED;
	sim_list_append(slot_of(s, tick), sim_part(timer));
	return SIM_OK;
}

static void simple_cancel(struct sim *s, struct sim_timer *timer)
{
	(void)s;
	sim_list_remove(sim_part(timer));
}

static void simple_wake(struct sim *s)
{
	struct sim_link *slot = slot_of(s, ++s->at);

	while (!sim_list_empty(slot)) {
		struct sim_link *first = slot->next;

		sim_list_remove(first);
		sim_expire(s, sim_timer_of(first), 0);
	}
}

static void simple_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	uint64_t tick = sim_tick_of(s, timer->deadline);

	where->slot = tick % s->shape.slots;
	where->position = sim_list_position(slot_of(s, tick), sim_part(timer));
	where->span = s->shape.tick;
	where->from = tick * s->shape.tick;
}

static uint64_t simple_memory(const struct sim *s)
{
	return s->shape.slots * sizeof(struct sim_link);
}

const struct sim_system sim_simple = {
	.name = "simple", .about = "one wheel, one turn: later timers are refused",
	.tick = 1000000, .slots = 512, .timer_size = sizeof(struct sim_link),
	.create = simple_create, .destroy = simple_destroy, .arm = simple_arm,
	.cancel = simple_cancel, .next = sim_next_tick, .wake = simple_wake,
	.where = simple_where, .memory = simple_memory,
};
