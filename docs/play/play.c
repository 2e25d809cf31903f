// SPDX-License-Identifier: GPL-2.0
/*
 * The model of twheel sim for the page: what tools/sim/sim.h offers, for JavaScript.
 *
 * It is compiled to WebAssembly.  An instance keeps one simulation: to begin anew, the page makes
 * an instance anew.
 */
#include "sim.h"

/* A function for the page to call; and one that the page has. */
#define EXPORT(name)	__attribute__((export_name(#name)))
#define IMPORT(name)	__attribute__((import_module("page"), import_name(#name)))

/* A system is woken: that may be millions of times, so nothing is passed on. */
IMPORT(woken)
void page_woken(void);
/* What else has happened; as in struct sim_event and struct sim_where. */
IMPORT(event)
void page_event(enum sim_what what, uint64_t now, uint32_t id, uint64_t deadline,
		uint64_t overruns, uint32_t from_level, uint32_t from_slot, enum sim_place place,
		uint32_t level, uint32_t slot, uint32_t position, uint64_t rounds, uint64_t span,
		uint64_t from, uint32_t moves);
/* Where an armed timer is. */
IMPORT(timer)
void page_timer(uint32_t id, uint64_t deadline, enum sim_place place, uint32_t level,
		uint32_t slot, uint32_t position, uint64_t rounds, uint64_t span, uint64_t from,
		uint32_t moves);
/* A system, and what it has to say; a counter, or a measure of the shape. */
IMPORT(system)
void page_system(const char *name, const char *about);
IMPORT(number)
void page_number(const char *name, uint64_t value);

static struct sim *s;

/* Calls */

static void tell(void *data, const struct sim_event *e)
{
	const struct sim_where *w = &e->where;

	(void)data;
	if (e->what == SIM_WOKEN) {
		page_woken();
		return;
	}
	page_event(e->what, e->now, e->id, e->deadline, e->overruns, e->from_level, e->from_slot,
		   w->place, w->level, w->slot, w->position, w->rounds, w->span, w->from,
		   w->moves);
}

/* Tell of all systems; the page calls them by their numbers. */
EXPORT(systems)
void play_systems(void)
{
	for (const struct sim_system * const *system = sim_systems; *system; system++)
		page_system(sim_system_name(*system), sim_system_about(*system));
}

EXPORT(create)
enum sim_result play_create(uint32_t system, uint64_t tick, uint32_t slots, uint32_t levels,
			    uint32_t capacity, uint64_t start)
{
	const struct sim_shape shape = {
		.tick = tick, .slots = slots, .levels = levels, .capacity = capacity,
		.start = start,
	};
	const struct sim_observer observer = { tell, NULL };
	enum sim_result result;

	s = sim_create(sim_systems[system], &shape, &observer, &result);
	return s ? SIM_OK : result;
}

EXPORT(arm)
enum sim_result play_arm(uint32_t id, uint64_t delay, uint64_t interval, uint32_t times)
{
	return sim_arm(s, id, delay, interval, times);
}

EXPORT(extend)
enum sim_result play_extend(uint32_t id, uint64_t deadline)
{
	return sim_extend(s, id, deadline);
}

EXPORT(cancel)
enum sim_result play_cancel(uint32_t id)
{
	return sim_cancel(s, id);
}

EXPORT(stop)
void play_stop(void)
{
	sim_stop(s);
}

EXPORT(now)
uint64_t play_now(void)
{
	return sim_now(s);
}

/* The tick that the hands show. */
EXPORT(hand)
uint64_t play_hand(void)
{
	return sim_hand(s);
}

EXPORT(next)
uint64_t play_next(void)
{
	return sim_next(s);
}

EXPORT(endless)
bool play_endless(void)
{
	return sim_endless(s);
}

EXPORT(run)
enum sim_result play_run(uint64_t until)
{
	return sim_run(s, until);
}

/* Tell of a timer, if it is armed. */
EXPORT(timer)
void play_timer(uint32_t id)
{
	struct sim_where w;
	uint64_t deadline;

	if (sim_where(s, id, &w, &deadline) == SIM_OK)
		page_timer(id, deadline, w.place, w.level, w.slot, w.position, w.rounds, w.span,
			   w.from, w.moves);
}

/* Tell of all timers that are armed, the lowest id first. */
EXPORT(timers)
void play_timers(void)
{
	uint32_t capacity = sim_shape(s)->capacity, id;

	for (id = sim_armed_from(s, 0); id < capacity; id = sim_armed_from(s, id + 1))
		play_timer(id);
}

/*
 * Tell of the shape and of all counters but those of memory: pointers have half the size here, so
 * they would be others than in the kernel.
 */
EXPORT(numbers)
void play_numbers(void)
{
	const struct sim_shape *shape = sim_shape(s);
	const struct sim_counters *c = sim_counters(s);

	page_number("tick", shape->tick);
	page_number("slots", shape->slots);
	page_number("levels", shape->levels);
	page_number("inserts", c->inserts);
	page_number("extends", c->extends);
	page_number("cancels", c->cancels);
	page_number("refused", c->refused);
	page_number("moves", c->moves);
	page_number("passed", c->passed);
	page_number("wakeups", c->wakeups);
	page_number("empty", c->empty);
	page_number("signals", c->signals);
	page_number("expired", c->expired);
	page_number("early", c->early);
	page_number("early_max", c->early_max);
	page_number("armed", c->armed);
	page_number("armed_max", c->armed_max);
	page_number("late_max", c->late_max);
	page_number("late_sum", c->late_sum);
}

EXPORT(note)
const char *play_note(void)
{
	return sim_note(s);
}
