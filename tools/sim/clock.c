// SPDX-License-Identifier: GPL-2.0
/*
 * The face of a clock: a wheel of 24 hours, one of 60 minutes, one of 60 seconds.
 *
 * A timer that is due in another hour waits in that hour; one that is due in another minute of this
 * hour, in that minute; any other, in its second.  When an hour begins, its timers go to their
 * minutes, and when a minute begins, to their seconds.  The clock shows 10:24:30, and a
 * timer is armed for 50 minutes and 45 seconds: it waits in hour 11, from 11:00:00 in minute 15,
 * from 11:15:00 in second 15.
 *
 * A timer due on another day waits in its hour, and is looked at each day.  With another tick than
 * one second the hands go by that.
 */
#include "system.h"

#define LEVELS		3
#define SLOTS_MAX	60

static const uint32_t slots[LEVELS] = { 60, 60, 24 };
/* Ticks of a slot. */
static const uint32_t spans[LEVELS] = { 1, 60, 3600 };

struct part {
	struct sim_link	link;
	uint64_t	tick;
	uint32_t	level;
};

static enum sim_result clock_create(struct sim *s)
{
	s->state = sim_lists_alloc(LEVELS * SLOTS_MAX);
	return s->state ? SIM_OK : SIM_NO_MEMORY;
}

static void clock_destroy(struct sim *s)
{
	sim_free(s->state);
}

static struct sim_link *slot_of(const struct sim *s, uint32_t level, uint64_t tick)
{
	return (struct sim_link *)s->state + level * SLOTS_MAX +
	       tick / spans[level] % slots[level];
}

/* Where the digits of the tick and of now differ first. */
static void file(struct sim *s, struct part *part)
{
	part->level = LEVELS - 1;
	while (part->level && part->tick / spans[part->level] == s->at / spans[part->level])
		part->level--;
	sim_list_append(slot_of(s, part->level, part->tick), &part->link);
}

static enum sim_result clock_arm(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	part->tick = sim_tick_of(s, timer->deadline);
	file(s, part);
	return SIM_OK;
}

static void clock_cancel(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	(void)s;
	sim_list_remove(&part->link);
}

/* A hand has come to a slot. */
static void strike(struct sim *s, uint32_t level)
{
	struct sim_link *slot = slot_of(s, level, s->at), timers;

	sim_list_take(slot, &timers);
	while (!sim_list_empty(&timers)) {
		struct part *part = (struct part *)timers.next;

		sim_list_remove(&part->link);
		if (part->tick == s->at) {
			sim_expire(s, sim_timer_of(part), 0);
			continue;
		}
		file(s, part);
		if (part->level < level)
			sim_moved(s, sim_timer_of(part));
		else
			s->counters.passed++;
	}
}

static void clock_wake(struct sim *s)
{
	s->at++;
	for (uint32_t level = LEVELS; level--;)
		if (s->at % spans[level] == 0)
			strike(s, level);
}

static void clock_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	const struct part *part = sim_part(timer);
	uint64_t number = part->tick / spans[part->level];

	where->level = part->level;
	where->slot = number % slots[part->level];
	where->position = sim_list_position(slot_of(s, part->level, part->tick), &part->link);
	where->span = spans[part->level] * s->shape.tick;
	where->from = number * where->span;
	if (part->level == LEVELS - 1)
		where->rounds = (number - s->at / spans[part->level] - 1) / slots[part->level];
}

static uint64_t clock_memory(const struct sim *s)
{
	(void)s;
	return LEVELS * SLOTS_MAX * sizeof(struct sim_link);
}

const struct sim_system sim_clock = {
	.name = "clock", .about = "the face of a clock: hours, minutes, seconds",
	.tick = 1000000000, .timer_size = sizeof(struct part),
	.create = clock_create, .destroy = clock_destroy, .arm = clock_arm,
	.cancel = clock_cancel, .next = sim_next_tick, .wake = clock_wake,
	.where = clock_where, .memory = clock_memory,
};
