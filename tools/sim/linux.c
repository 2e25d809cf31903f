// SPDX-License-Identifier: GPL-2.0
/*
 * The wheel of Linux since 4.8, which does not cascade.
 *
 * Eight levels of 64 slots, as where HZ is 100 (with more there are nine); a slot of level n is 8^n
 * ticks.  A timer goes to the level that suits how far off it is, into the first slot that begins
 * behind its deadline, and comes when that slot does: on level 0 up to a tick late, above that up
 * to an eighth of its timeout.  (The levels begin at 63 slots of the level below, so it is 8/63, at
 * the very most; and a tick more for each time that is rounded to one.)  Nothing is ever moved.
 *
 * What is further off than the last level reaches comes as late as that can tell, which is too
 * early.
 */
#include "system.h"

#define LEVELS		8
#define SLOTS		64
#define LEVEL_SHIFT	3

/* How far off, in ticks, a level begins. */
#define BEGIN(level)	((uint64_t)(SLOTS - 1) << LEVEL_SHIFT * ((level) - 1))
/* As far off as a timer can be: a slot of the last level less than where the next would begin. */
#define TICKS_MAX	(BEGIN(LEVELS) - (1ULL << LEVEL_SHIFT * (LEVELS - 1)))

struct part {
	struct sim_link	link;
	uint32_t	level;
	uint64_t	number;
};

/**
 * struct slot - the timers of some ticks
 * @timers: in it
 * @tick: when it comes, if there are any
 */
struct slot {
	struct sim_link	timers;
	uint64_t	tick;
};

static enum sim_result linux_create(struct sim *s)
{
	struct slot *slot = sim_alloc(LEVELS * SLOTS * sizeof(*slot), 64);

	s->state = slot;
	if (!slot)
		return SIM_NO_MEMORY;
	for (uint32_t i = 0; i < LEVELS * SLOTS; i++)
		sim_list_init(&slot[i].timers);
	return SIM_OK;
}

static void linux_destroy(struct sim *s)
{
	sim_free(s->state);
}

static struct slot *slot_of(const struct sim *s, const struct part *part)
{
	return (struct slot *)s->state + part->level * SLOTS + part->number % SLOTS;
}

static enum sim_result linux_arm(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);
	struct slot *slot;
	uint64_t tick;

	s->at = s->now / s->shape.tick;
	tick = sim_tick_of(s, timer->deadline);
	if (tick - s->at >= BEGIN(LEVELS))
		tick = s->at + TICKS_MAX;
	for (part->level = 0; tick - s->at >= BEGIN(part->level + 1);)
		part->level++;
	part->number = (tick >> LEVEL_SHIFT * part->level) + 1;
	slot = slot_of(s, part);
	slot->tick = part->number << LEVEL_SHIFT * part->level;
	sim_list_append(&slot->timers, &part->link);
	return SIM_OK;
}

static void linux_cancel(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	(void)s;
	sim_list_remove(&part->link);
}

static uint64_t linux_next(struct sim *s)
{
	const struct slot *slot = s->state;
	uint64_t tick = SIM_NEVER;

	for (uint32_t i = 0; i < LEVELS * SLOTS; i++)
		if (!sim_list_empty(&slot[i].timers) && slot[i].tick < tick)
			tick = slot[i].tick;
	return tick == SIM_NEVER ? SIM_NEVER : tick * s->shape.tick;
}

static void linux_wake(struct sim *s)
{
	struct slot *slot = s->state;

	s->at = s->now / s->shape.tick;
	for (uint32_t i = 0; i < LEVELS * SLOTS; i++) {
		while (!sim_list_empty(&slot[i].timers) && slot[i].tick <= s->at) {
			struct sim_link *first = slot[i].timers.next;

			sim_list_remove(first);
			sim_expire(s, sim_timer_of(first), 0);
		}
	}
}

static void linux_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	const struct part *part = sim_part(timer);

	where->level = part->level;
	where->slot = part->number % SLOTS;
	where->position = sim_list_position(&slot_of(s, part)->timers, &part->link);
	where->span = s->shape.tick << LEVEL_SHIFT * part->level;
	where->from = part->number * where->span;
}

static uint64_t linux_memory(const struct sim *s)
{
	(void)s;
	return LEVELS * SLOTS * sizeof(struct slot);
}

static const char *linux_note(const struct sim *s)
{
	(void)s;
	return "linux comes up to an eighth of the timeout late, and moves nothing for it; what is "
	       "more than 132,120,576 ticks off comes early";
}

const struct sim_system sim_linux = {
	.name = "linux", .about = "Linux since 4.8: 8 levels, no cascade, up to 1/8 late",
	.tick = 1000000, .timer_size = sizeof(struct part),
	.create = linux_create, .destroy = linux_destroy, .arm = linux_arm,
	.cancel = linux_cancel, .next = linux_next, .wake = linux_wake,
	.where = linux_where, .memory = linux_memory, .note = linux_note,
};
