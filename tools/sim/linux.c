// SPDX-License-Identifier: GPL-2.0
/*
 * The wheel of Linux since 4.8, which does not cascade.
 *
 * It has levels of 64 slots: nine where HZ, the ticks in a second, is more than 100, else eight.  A
 * slot of level n is 8^n ticks.  A timeout is rounded up to ticks, and these count from the last
 * tick.  A timer goes to the level that suits how far off it is, into the first slot that begins
 * behind its deadline, and comes when that slot does.  Nothing is ever moved.  What is pushed back
 * within its slot stays in its list, where it is; so does what gets the deadline that it has, in
 * ticks, although a finer slot would suit it by then.
 *
 * So it is late by up to a slot; and by less than a tick more, if its timeout is not of whole ticks
 * or does not begin at one.  A level begins where a timeout is 63 slots of the level below, and a
 * slot is eight of these: above level 0 a slot is at most 8/63 of the timeout, 12.7 %.  (Of 64
 * slots it would be the 12.5 % that are said of this wheel.)
 *
 * How far off a timer is counts from the wheel's clock.  That is the last tick; but once timers
 * have expired at a tick it is the next one, until that comes, in their callbacks and for all
 * others.  So who arms a timer then has a tick less to go: 63 ticks are on level 0.
 *
 * What is as far off as the next level would begin, or more, is taken for a slot of the last level
 * less than that, and comes too early.
 */
#include "system.h"

#define LEVELS_MAX	9
#define SLOTS		64
#define LEVEL_SHIFT	3
/* The tick of the fastest HZ, 100, that has a level less. */
#define TICK_LEVEL_LESS	10000000

/* How far off, in ticks, a level begins. */
#define BEGIN(level)	((uint64_t)(SLOTS - 1) << LEVEL_SHIFT * ((level) - 1))

/**
 * struct place - where a timer belongs
 * @level: the level
 * @number: of the slot, counted on and on
 */
struct place {
	uint32_t	level;
	uint64_t	number;
};

/**
 * struct part - of a timer
 * @link: in a slot
 * @expires: its deadline in ticks, rounded up
 * @level: where it is
 * @slot: there
 */
struct part {
	struct sim_link	link;
	uint64_t	expires;
	uint32_t	level;
	uint32_t	slot;
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

/**
 * struct wheel - the wheel
 * @clock: by which it is said how far off a timer is
 * @slot: of all levels, from level 0 on
 */
struct wheel {
	uint64_t	clock;
	struct slot	slot[];
};

static uint32_t levels(const struct sim *s)
{
	return s->shape.tick < TICK_LEVEL_LESS ? LEVELS_MAX : LEVELS_MAX - 1;
}

static uint64_t linux_memory(const struct sim *s)
{
	return sizeof(struct wheel) + levels(s) * SLOTS * sizeof(struct slot);
}

static enum sim_result linux_create(struct sim *s)
{
	struct wheel *w = sim_alloc(linux_memory(s), 64);

	s->state = w;
	if (!w)
		return SIM_NO_MEMORY;
	for (uint32_t i = 0; i < levels(s) * SLOTS; i++)
		sim_list_init(&w->slot[i].timers);
	return SIM_OK;
}

static void linux_destroy(struct sim *s)
{
	sim_free(s->state);
}

static struct slot *slot_of(const struct sim *s, const struct part *part)
{
	struct wheel *w = s->state;

	return &w->slot[part->level * SLOTS + part->slot];
}

static uint64_t expires_of(struct sim *s, uint64_t deadline)
{
	s->at = s->now / s->shape.tick;
	return s->at + sim_ticks_to(s, deadline);
}

static struct place place_of(struct sim *s, uint64_t expires)
{
	struct wheel *w = s->state;
	struct place place = {};
	uint64_t ahead;

	if (w->clock < s->at)
		w->clock = s->at;
	if (expires < w->clock)
		return (struct place){ .number = w->clock };
	ahead = expires - w->clock;
	if (ahead >= BEGIN(levels(s)))
		ahead = BEGIN(levels(s)) - (1ULL << LEVEL_SHIFT * (levels(s) - 1));
	while (ahead >= BEGIN(place.level + 1))
		place.level++;
	place.number = ((w->clock + ahead) >> LEVEL_SHIFT * place.level) + 1;
	return place;
}

static void put(struct sim *s, struct part *part, struct place place)
{
	struct slot *slot;

	part->level = place.level;
	part->slot = place.number % SLOTS;
	slot = slot_of(s, part);
	slot->tick = place.number << LEVEL_SHIFT * place.level;
	/* Linux's lists are stacks: of one slot the last that was armed comes first. */
	sim_list_insert(&slot->timers, &part->link);
}

static enum sim_result linux_arm(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);

	part->expires = expires_of(s, timer->deadline);
	put(s, part, place_of(s, part->expires));
	return SIM_OK;
}

static enum sim_result linux_move(struct sim *s, struct sim_timer *timer)
{
	struct part *part = sim_part(timer);
	uint64_t expires = expires_of(s, timer->deadline);
	struct place place;

	if (expires == part->expires)
		return SIM_OK;
	part->expires = expires;
	place = place_of(s, expires);
	if (place.level == part->level && place.number % SLOTS == part->slot)
		return SIM_OK;
	sim_list_remove(&part->link);
	put(s, part, place);
	s->counters.refiled++;
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
	const struct wheel *w = s->state;
	const struct slot *slot = w->slot;
	uint64_t tick = SIM_NEVER;

	for (uint32_t i = 0; i < levels(s) * SLOTS; i++)
		if (!sim_list_empty(&slot[i].timers) && slot[i].tick < tick)
			tick = slot[i].tick;
	return tick == SIM_NEVER ? SIM_NEVER : tick * s->shape.tick;
}

static void linux_wake(struct sim *s)
{
	struct wheel *w = s->state;

	s->at = s->now / s->shape.tick;
	w->clock = s->at + 1;
	/* The upper levels come first, as in Linux. */
	for (uint32_t level = levels(s); level--;) {
		struct slot *slot = w->slot + level * SLOTS;

		for (uint32_t i = 0; i < SLOTS; i++)
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
	where->slot = part->slot;
	where->span = s->shape.tick << LEVEL_SHIFT * part->level;
	where->from = slot_of(s, part)->tick * s->shape.tick;
}

static uint32_t linux_position(struct sim *s, struct sim_timer *timer)
{
	const struct part *part = sim_part(timer);

	return sim_list_position(&slot_of(s, part)->timers, &part->link);
}

static const char *linux_note(const struct sim *s)
{
	(void)s;
	/* BEGIN(9) and BEGIN(8). */
	return "linux comes up to a slot late, 8/63 of the timeout (12.7 %), and a tick by "
	       "rounding, and moves nothing for it; what is 1,056,964,608 ticks off comes early, "
	       "and with ticks of 10 ms or more, where Linux has a level less, 132,120,576";
}

const struct sim_system sim_linux = {
	.name = "linux", .about = "Linux since 4.8: no cascade, late by up to 8/63 of the timeout",
	.tick = 1000000, .timer_size = sizeof(struct part),
	.create = linux_create, .destroy = linux_destroy, .arm = linux_arm, .move = linux_move,
	.cancel = linux_cancel, .next = linux_next, .wake = linux_wake,
	.where = linux_where, .position = linux_position, .memory = linux_memory,
	.note = linux_note,
};
