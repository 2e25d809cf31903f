// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of a simulation: a script of twheel sim, whose time passes as slowly as one likes.
 *
 * A step is an operation, or a wake-up of the system, or the end of an operation in which time
 * passes.  Between two of them nothing happens but that the hands go on, so the simulation's own
 * time stands still and the frame's is what is shown.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "duration.h"
#include "output.h"
#include "sim/operate.h"
#include "top/source.h"

/* Of more timers about so many are looked for. */
#define SAMPLE		1024

/* Computed for a frame; what takes longer goes on in the next one, and keys are seen meanwhile. */
#define FRAME_TIME	(50 * NSEC_PER_MSEC)

/* Computed at most to come to where a link leads. */
#define SEEK_TIME	(5 * NSEC_PER_SEC)

/**
 * struct simulation - a script that is carried out
 * @source: what it looks like
 * @system: what keeps the timers
 * @sim: the simulation
 * @script: its operations
 * @done: how many are done
 * @passing: time passes in the next one
 * @end: until then
 * @wake: when the system wants to be woken, if @asked
 * @asked: whether it was asked since something has happened: to be asked changes a wheel
 * @now: the time that is shown
 * @pace: ns that pass in a second
 * @levels: the most that timers were seen on
 * @found: of each place, how many timers are there
 * @opened: places from which timers were moved since the frame before
 * @from_time: the slot that was brought down last: when,
 * @from_level: its level
 * @from_slot: and its place
 * @last: the event that was told last, if @told; its position is not looked for
 * @told: it came after all that @source.frame.said tells
 * @before: what was counted when time stood elsewhere, for the rates
 * @error: room for what is wrong
 */
struct simulation {
	struct source			source;
	const struct sim_system		*system;
	struct sim			*sim;
	const struct script		*script;
	size_t				done;
	bool				passing;
	uint64_t			end;
	uint64_t			wake;
	bool				asked;
	uint64_t			now;
	uint64_t			pace;
	unsigned int			levels;
	uint32_t			found[FRAME_LEVELS][FRAME_PLACES];
	bool				opened[FRAME_LEVELS][FRAME_PLACES];
	uint64_t			from_time;
	uint32_t			from_level;
	uint32_t			from_slot;
	struct sim_event		last;
	bool				told;
	struct frame			before;
	char				error[4400];
};

/* What is told of an event */

__attribute__((format(printf, 2, 3)))
static void say(struct simulation *simulation, const char *format, ...)
{
	va_list args;

	simulation->told = false;
	va_start(args, format);
	vsnprintf(simulation->source.frame.said, FRAME_TEXT, format, args);
	va_end(args);
}

static const char *place_text(char *buf, size_t size, struct sim *sim,
			      const struct sim_event *event)
{
	struct sim_where where = event->where;

	if (where.place == SIM_IN_SLOT) {
		snprintf(buf, size, "level %u, slot %u", where.level, where.slot);
		return buf;
	}
	sim_where(sim, event->id, &where, NULL);
	snprintf(buf, size, "place %u of the %s", where.position,
		 where.place == SIM_IN_QUEUE ? "queue" : "order");
	return buf;
}

static void say_expired(struct simulation *simulation, const struct sim_event *event)
{
	char text[DURATION_LEN];

	if (event->now > event->deadline)
		say(simulation, "timer %u has expired, %s late", event->id,
		    duration_short(text, event->now - event->deadline));
	else
		say(simulation, "timer %u has expired", event->id);
}

/* In words, which none but the last event of a frame needs. */
static void say_last(struct simulation *simulation)
{
	const struct sim_event *event = &simulation->last;
	char due[DURATION_LEN], place[64];

	if (!simulation->told)
		return;
	switch (event->what) {
	case SIM_WOKEN:
		say(simulation, "woken");
		break;
	case SIM_PLACED:
		say(simulation, "timer %u is due %s: %s", event->id,
		    duration_short(due, event->deadline),
		    place_text(place, sizeof(place), simulation->sim, event));
		break;
	case SIM_MOVED:
		say(simulation, "timer %u has come down from level %u, slot %u to %s", event->id,
		    event->from_level, event->from_slot,
		    place_text(place, sizeof(place), simulation->sim, event));
		break;
	case SIM_EXPIRED:
		say_expired(simulation, event);
		break;
	case SIM_ENDED:
		say(simulation, "every %u: refused: that is later than the wheel reaches",
		    event->id);
		break;
	}
}

static void note_moved(struct simulation *simulation, const struct sim_event *event)
{
	if (event->from_level < FRAME_LEVELS && event->from_slot < FRAME_PLACES)
		simulation->opened[event->from_level][event->from_slot] = true;
	if (event->now == simulation->from_time && event->from_level == simulation->from_level &&
	    event->from_slot == simulation->from_slot)
		return;
	simulation->from_time = event->now;
	simulation->from_level = event->from_level;
	simulation->from_slot = event->from_slot;
	simulation->source.frame.count[FRAME_CASCADES]++;
}

static void note_expired(struct simulation *simulation, const struct sim_event *event)
{
	uint64_t late = event->now > event->deadline ? event->now - event->deadline : 0;
	struct frame *frame = &simulation->source.frame;
	unsigned int class = 0;

	while (class < TWHEEL_LATE_CLASSES - 1 && late >= 1024ULL << class)
		class++;
	frame->late[class]++;
	if (late > frame->max_late)
		frame->max_late = late;
}

static void tell(void *data, const struct sim_event *event)
{
	struct simulation *simulation = data;

	if (event->what == SIM_MOVED)
		note_moved(simulation, event);
	if (event->what == SIM_EXPIRED)
		note_expired(simulation, event);
	simulation->last = *event;
	simulation->told = true;
}

/* Steps */

static uint64_t next_wake(struct simulation *simulation)
{
	if (!simulation->asked)
		simulation->wake = sim_next(simulation->sim);
	simulation->asked = true;
	return simulation->wake;
}

static const struct op *next_op(const struct simulation *simulation)
{
	const struct script *script = simulation->script;

	return simulation->done < script->nr ? &script->op[simulation->done] : NULL;
}

static bool takes_time(const struct simulation *simulation, const struct op *op)
{
	return (op->kind == OP_AT && !op_is_past(simulation->sim, op)) || op->kind == OP_RUN ||
	       op->kind == OP_RUN_ALL;
}

static void begin(struct simulation *simulation, const struct op *op)
{
	if (simulation->passing)
		return;
	simulation->passing = true;
	simulation->end = op->kind == OP_AT ? op->time :
			  op->kind == OP_RUN ? sim_now(simulation->sim) + op->time : SIM_NEVER;
	/* No run goes beyond the end of the clock. */
	if (op->kind != OP_RUN_ALL && simulation->end > SIM_LAST)
		simulation->end = SIM_LAST;
}

static void finish(struct simulation *simulation)
{
	simulation->passing = false;
	simulation->asked = false;
	simulation->done++;
	simulation->now = sim_now(simulation->sim);
}

static void operate(struct simulation *simulation, const struct op *op)
{
	enum sim_result result;
	const char *why;

	say(simulation, "%s %u", op_name(op->kind), op->id);
	result = op_carry_out(simulation->sim, op);
	why = op_explain(simulation->sim, op, result);
	if (why) {
		snprintf(simulation->error, sizeof(simulation->error), "%s:%u: %s",
			 simulation->script->name, op->line, why);
		simulation->source.error = simulation->error;
	}
	if (result == SIM_NOT_ARMED)
		say(simulation, "%s %u: it is not armed", op_name(op->kind), op->id);
	if (result == SIM_REFUSED)
		say(simulation, "%s %u: refused: that is later than the wheel reaches",
		    op_name(op->kind), op->id);
	finish(simulation);
}

/* A run until no timer is armed has come to its end, which is nothing that one could see. */
static bool has_run(struct simulation *simulation)
{
	return simulation->passing && simulation->end == SIM_NEVER &&
	       (!sim_counters(simulation->sim)->armed || next_wake(simulation) == SIM_NEVER);
}

static void wake_up(struct simulation *simulation)
{
	sim_wake(simulation->sim);
	simulation->asked = false;
	simulation->now = sim_now(simulation->sim);
}

/* What comes next, if it comes by @last. */
static bool advance(struct simulation *simulation, uint64_t last)
{
	struct sim *sim = simulation->sim;
	const struct op *op;
	uint64_t wake;

	for (;;) {
		op = next_op(simulation);
		if (!op || simulation->source.error)
			return false;
		if (!takes_time(simulation, op)) {
			operate(simulation, op);
			return true;
		}
		begin(simulation, op);
		if (!has_run(simulation))
			break;
		finish(simulation);
	}
	wake = next_wake(simulation);
	if (wake <= simulation->end && wake <= last) {
		wake_up(simulation);
		return true;
	}
	if (simulation->end <= last) {
		sim_run(sim, simulation->end);
		say(simulation, "%s", "");
		finish(simulation);
		return true;
	}
	simulation->now = last;
	return false;
}

/* The picture of it */

/* Places of a level's ring: those of twheel hold two turns. */
static uint32_t places_of(const struct simulation *simulation, unsigned int level)
{
	static const uint32_t clock[] = { 60, 60, 24 };
	const char *name = sim_system_name(simulation->system);
	uint32_t slots = sim_shape(simulation->sim)->slots;

	if (!strcmp(name, "clock"))
		return clock[level];
	if (!strcmp(name, "linux"))
		return 64;
	return strcmp(name, "twheel") ? slots : 2 * slots;
}

/* How many slots of a level are one of the next. */
static uint64_t factor_of(const struct simulation *simulation)
{
	const char *name = sim_system_name(simulation->system);

	if (!strcmp(name, "clock"))
		return 60;
	return strcmp(name, "linux") ? sim_shape(simulation->sim)->slots : 8;
}

/* Levels to begin with. */
static unsigned int levels_of(const struct simulation *simulation)
{
	const char *name = sim_system_name(simulation->system);

	if (!strcmp(name, "clock"))
		return 3;
	if (!strcmp(name, "linux"))
		return 1;
	return sim_shape(simulation->sim)->slots ? 1 : 0;
}

static void add_levels(struct simulation *simulation, struct frame *frame)
{
	uint64_t span = sim_shape(simulation->sim)->tick, factor = factor_of(simulation);
	unsigned int l;
	uint32_t i;

	frame->levels = 0;
	for (l = 0; l < simulation->levels; l++) {
		struct frame_level *level = frame_add_level(frame, span,
							    places_of(simulation, l));

		level->hand = simulation->now / span % level->places;
		for (i = 0; i < level->places; i++) {
			level->timers[i] = frame_scale(frame, simulation->found[l][i]);
			level->opened[i] = simulation->opened[l][i];
		}
		span = span > UINT64_MAX / factor ? UINT64_MAX : span * factor;
	}
}

/* True for one in @of ids, scattered, for ids in a row may have deadlines in a row. */
static bool is_picked(uint32_t id, uint32_t of)
{
	return (uint32_t)(id * 2654435769U) >> 8 < (1U << 24) / of;
}

/* Where each timer is, and which is due first. */
static void look_for_timers(struct simulation *simulation, struct frame *frame)
{
	struct sim *sim = simulation->sim;
	uint32_t capacity = sim_shape(sim)->capacity, id;
	uint32_t of = ((uint32_t)frame->pending + SAMPLE - 1) / SAMPLE;

	memset(simulation->found, 0, sizeof(simulation->found));
	frame->outside = 0;
	frame->looked_at = 0;
	frame->next = 0;
	for (id = sim_armed_from(sim, 0); id < capacity; id = sim_armed_from(sim, id + 1)) {
		struct sim_where where;
		uint64_t deadline;

		if (of > 1 && !is_picked(id, of))
			continue;
		sim_place(sim, id, &where, &deadline);
		frame->looked_at++;
		if (!frame->next || deadline < frame->next)
			frame->next = deadline;
		if (where.place != SIM_IN_SLOT || where.level >= FRAME_LEVELS ||
		    where.slot >= FRAME_PLACES) {
			frame->outside++;
			continue;
		}
		simulation->found[where.level][where.slot]++;
		if (where.level >= simulation->levels)
			simulation->levels = where.level + 1;
	}
	frame->outside = frame_scale(frame, frame->outside);
	/* Of those that were not looked at one may be due before. */
	if (frame->looked_at < frame->pending)
		frame->next = next_wake(simulation);
}

static void count(struct simulation *simulation, struct frame *frame)
{
	const struct sim_counters *c = sim_counters(simulation->sim);

	frame->pending = c->armed;
	frame->memory = sim_memory(simulation->sim);
	frame->count[FRAME_ARMS] = c->inserts - c->periods + c->extends;
	frame->count[FRAME_CANCELS] = c->cancels;
	frame->count[FRAME_FIRED] = c->expired;
	frame->count[FRAME_DELIVERED] = c->expired;
	frame->count[FRAME_MOVES] = c->moves;
	frame->count[FRAME_INTERRUPTS] = c->wakeups;
	frame->count[FRAME_IDLE] = c->empty;
}

static void show(struct simulation *simulation)
{
	struct frame *frame = &simulation->source.frame;
	uint64_t passed = simulation->now - simulation->before.now;

	say_last(simulation);
	frame->now = simulation->now;
	count(simulation, frame);
	/* Where no time has passed there is no rate: that of before stands. */
	if (passed) {
		frame_rates(frame, &simulation->before, passed);
		memcpy(simulation->before.count, frame->count, sizeof(frame->count));
		simulation->before.now = frame->now;
	}
	look_for_timers(simulation, frame);
	add_levels(simulation, frame);
	memset(simulation->opened, 0, sizeof(simulation->opened));
}

/* A source */

static bool simulation_step(struct source *source)
{
	struct simulation *simulation = (struct simulation *)source;
	bool goes_on = advance(simulation, SIM_NEVER);

	show(simulation);
	if (!goes_on)
		source->end = "the script is over";
	return goes_on;
}

static bool simulation_pass(struct source *source, uint64_t ns)
{
	struct simulation *simulation = (struct simulation *)source;
	double passed = (double)ns * simulation->pace / NSEC_PER_SEC;
	uint64_t last = passed < SIM_LAST - simulation->now ?
			simulation->now + (uint64_t)passed : SIM_LAST;
	uint64_t end = now() + FRAME_TIME;

	if (!next_op(simulation)) {
		source->end = "the script is over";
		return false;
	}
	while (advance(simulation, last) && now() < end)
		;
	show(simulation);
	return true;
}

static void simulation_close(struct source *source)
{
	struct simulation *simulation = (struct simulation *)source;

	sim_destroy(simulation->sim);
	frame_free(&source->frame);
	free(simulation);
}

/* The same, and time passes behind the end of the script, too. */
static bool pass_on(struct simulation *simulation, uint64_t last)
{
	if (next_op(simulation))
		return advance(simulation, last);
	if (next_wake(simulation) > last) {
		simulation->now = last;
		return false;
	}
	wake_up(simulation);
	return true;
}

/* As the page of docs/play goes to the place that a link names. */
static void seek(struct simulation *simulation, const struct start *start)
{
	uint64_t end = now() + SEEK_TIME;
	bool in_time = true;

	while (in_time && simulation->done < start->done && advance(simulation, SIM_NEVER))
		in_time = now() < end;
	while (in_time && simulation->done == start->done && simulation->now < start->now &&
	       pass_on(simulation, start->now))
		in_time = now() < end;
	if (!in_time)
		fail("%s: it leads too far off to be waited for", simulation->script->name);
}

struct source *simulation_open(const struct choice *choice, const struct script *script,
			       uint64_t pace, const struct start *start)
{
	struct simulation *simulation = calloc(1, sizeof(*simulation));
	const struct sim_observer observer = { tell, simulation, .places = true };
	struct source *source;

	if (!simulation)
		fail("out of memory");
	source = &simulation->source;
	source->pass = simulation_pass;
	source->step = simulation_step;
	source->close = simulation_close;
	simulation->system = choice->system;
	simulation->script = script;
	simulation->pace = pace;
	simulation->sim = choice_create(choice, &observer);
	simulation->levels = levels_of(simulation);
	simulation->now = sim_now(simulation->sim);
	simulation->before.now = simulation->now;
	snprintf(source->frame.title, FRAME_TEXT, "%s as %s", script->name,
		 sim_system_name(choice->system));
	make_printable(source->frame.title);
	source->frame.tick = sim_shape(simulation->sim)->tick;
	source->frame.reached = true;
	seek(simulation, start);
	if (source->error)
		fail("%s", source->error);
	show(simulation);
	return source;
}
