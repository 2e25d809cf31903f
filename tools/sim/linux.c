// SPDX-License-Identifier: GPL-2.0
/*
 * The wheel of Linux since 4.8, which does not cascade.
 *
 * Nine levels of 64 slots, or eight if a tick is 10 ms or more (HZ up to 100); a slot of level n is
 * 8^n ticks.  The timeout chooses the level; the timer goes into the first slot that begins after
 * its deadline, and expires with that slot.  A level begins at 63 slots of the level below, so a
 * timer is up to 8/63 of its timeout late; rounding to ticks adds less than two ticks.  No timer is
 * ever moved.
 *
 * A timer beyond the last level goes into the last slot of that level, so it comes early.
 */
#include "system.h"

#define LEVELS_MAX	9
/* With a tick of this length or more, a level less. */
#define LONG_TICK	10000000
#define SLOTS		64
#define LEVEL_SHIFT	3

/* How far off, in ticks, a level begins. */
#define BEGIN(level)	((uint64_t)(SLOTS - 1) << LEVEL_SHIFT * ((level) - 1))

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

static uint32_t nr_levels(const struct sim *s)
{
	return s->shape.tick < LONG_TICK ? LEVELS_MAX : LEVELS_MAX - 1;
}

static uint32_t nr_slots(const struct sim *s)
{
	return nr_levels(s) * SLOTS;
}

static enum sim_result linux_create(struct sim *s)
{
	struct slot *slot = sim_alloc(nr_slots(s) * sizeof(*slot), 64);

	s->state = slot;
	if (!slot)
		return SIM_NO_MEMORY;
	for (uint32_t i = 0; i < nr_slots(s); i++)
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
	const uint32_t levels = nr_levels(s);
	struct slot *slot;
	uint64_t tick;

	s->at = s->now / s->shape.tick;
	tick = sim_tick_of(s, timer->deadline);
	/* At most a slot of the last level less than where the next would begin. */
	if (tick - s->at >= BEGIN(levels))
		tick = s->at + BEGIN(levels) - (1ULL << LEVEL_SHIFT * (levels - 1));
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

	for (uint32_t i = 0; i < nr_slots(s); i++)
		if (!sim_list_empty(&slot[i].timers) && slot[i].tick < tick)
			tick = slot[i].tick;
	return tick == SIM_NEVER ? SIM_NEVER : tick * s->shape.tick;
}

static void linux_wake(struct sim *s)
{
	struct slot *slot = s->state;

	s->at = s->now / s->shape.tick;
	for (uint32_t i = 0; i < nr_slots(s); i++) {
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
	return nr_slots(s) * sizeof(struct slot);
}

static const char *linux_note(const struct sim *s)
{
	if (nr_levels(s) < LEVELS_MAX)
		return "linux comes up to 8/63 of the timeout and two ticks late, and moves "
		       "nothing for it; a timer more than 132,120,576 ticks ahead comes early";
	return "linux comes up to 8/63 of the timeout and two ticks late, and moves nothing "
	       "for it; a timer more than 1,056,964,608 ticks ahead comes early";
}

const struct sim_system sim_linux = {
	.name = "linux", .about = "Linux since 4.8: 9 levels, no cascade, up to 1/8 late",
	.tick = 1000000, .timer_size = sizeof(struct part),
	.create = linux_create, .destroy = linux_destroy, .arm = linux_arm,
	.cancel = linux_cancel, .next = linux_next, .wake = linux_wake,
	.where = linux_where, .memory = linux_memory, .note = linux_note,
};
