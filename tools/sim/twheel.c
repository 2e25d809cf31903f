// SPDX-License-Identifier: GPL-2.0
/*
 * twheel itself: the source of the module, wheel.c and timers.c, built for user space as in the
 * library and the tests.
 *
 * Its tracepoint tells which timers move.
 */
#include "system.h"

/* Not all functions of the module's device-independent parts are used here. */
#pragma GCC diagnostic ignored "-Wunused-function"

#define COMPAT_OWN_MEMORY
#define kvzalloc(size, gfp)		sim_alloc(size, 64)
#define kvfree(p)			sim_free(p)
#define kzalloc(size, gfp)	sim_alloc(size, size)
#define alloc_pages_exact(size, gfp)	sim_alloc(size, PAGE_SIZE)
#define kfree(p)		sim_free(p)
#define free_pages_exact(p, size)	sim_free(p)

#define TWHEEL_PART			static
#include "../../filing.h"
#include "../../trace.h"

static void tell_move(const struct wheel *w, u32 id, u64 from);
#define trace_twheel_timer_move		tell_move
#define trace_twheel_timer_move_enabled()	true

/* The page in the browser notes which lines of the wheel run. */
#ifdef SIM_WHEEL_LINES
#include SIM_WHEEL_LINES
#endif

#include "../../unit.c"
#include "../../tests/owner.h"

/**
 * struct state - a wheel
 * @timers: the wheel and its timers
 * @sim: to tell moves
 */
struct state {
	struct timers	timers;
	struct sim	*sim;
};

static enum sim_result twheel_create(struct sim *s)
{
	struct twheel_setup setup = {
		.tick = s->shape.tick, .slots = s->shape.slots, .levels = s->shape.levels,
		.capacity = s->shape.capacity,
	};

	if (timers_check_shape(&setup))
		return SIM_BAD_SHAPE;
	s->shape.slots = setup.slots;
	s->state = sim_alloc(sizeof(struct state), 64);
	if (!s->state)
		return SIM_NO_MEMORY;
	((struct state *)s->state)->sim = s;
	timers_setup(s->state, setup.capacity, setup.levels, setup.slots, setup.tick, s->now);
	return SIM_OK;
}

static void twheel_destroy(struct sim *s)
{
	struct state *state = s->state;

	if (state)
		timers_destroy(&state->timers);
	sim_free(state);
}

/* All moves, also without an observer. */
static void note_moves(struct sim *s)
{
	s->counters.moves = ((struct timers *)s->state)->wheel.moves;
}

/* As an arm of an armed timer moves it, this is what both do.  It may sift slots. */
static enum sim_result twheel_arm(struct sim *s, struct sim_timer *timer)
{
	struct twheel_op op = {
		.id = timer->id, .deadline = timer->deadline,
		.interval = timer->interval, .count = timer->times,
	};

	int ret = owner_arm(s->state, &op, s->now);

	note_moves(s);
	switch (ret) {
	case 0:
		return SIM_OK;
	case -ENOMEM:
		return SIM_NO_MEMORY;
	default:
		return SIM_REFUSED;
	}
}

static void twheel_cancel(struct sim *s, struct sim_timer *timer)
{
	struct twheel_op op = { .id = timer->id };

	timers_set_time(s->state, s->now);
	owner_cancel(s->state, &op);
}

static uint64_t twheel_next(struct sim *s)
{
	struct timers *ts = s->state;
	u64 next;

	if (timers_queued(ts) || timers_heavy(ts))
		return s->now;
	next = timers_next(ts);
	if (next == KTIME_MAX)
		return SIM_NEVER;
	return next > s->now ? next : s->now;
}

/*
 * Is a timer among the last @most of a slot?  Then @position is how many entries came there after
 * its own.
 */
static bool find_in(const struct wheel *w, const struct wheel_slot *slot, u32 id,
		    unsigned int most, unsigned int *position)
{
	u32 at = slot->tail;
	u64 entry;

	for (*position = 0; *position < most && owner_entry(w, &at, &entry); ++*position)
		if (entry_id(entry) == id && owner_own(w, entry))
			return true;
	return false;
}

static bool find_place(const struct timers *ts, u32 l, u64 number, u32 id, unsigned int most,
		       struct sim_where *where)
{
	const struct wheel *w = &ts->wheel;
	const struct wheel_level *level = &w->level[l];
	u32 place = number & w->mask;
	unsigned int position;

	if (!find_in(w, &level->slot[place], id, most, &position))
		return false;
	where->place = SIM_IN_SLOT;
	where->position = position;
	where->level = l;
	where->slot = place;
	where->span = ts->tick << level->shift;
	where->from = (level->hand + ((place - level->hand) & w->mask)) * where->span;
	return true;
}

static void twheel_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	const struct timers *ts = s->state;
	const struct wheel *w = &ts->wheel;
	const struct timer *t = wheel_timer(w, timer->id);
	u64 tick = near_tick(w->at, t->link);

	/* It has expired; or, as below, its slot is being sifted. */
	where->place = SIM_IN_QUEUE;
	if (wheel_where(t) != WHEEL_FILED)
		return;
	/* Of what was filed just now the entry is the last one. */
	for (unsigned int most = 1; most; most = most == 1 ? UINT_MAX : 0)
		for (u32 l = 0; l < w->nr_levels; l++)
			if (find_place(ts, l, tick >> w->level[l].shift, timer->id, most, where) ||
			    find_place(ts, l, w->level[l].hand + w->mask, timer->id, most, where))
				return;
	/* It was beyond the top level, and goes round what was that. */
	for (u32 l = 0; l < w->nr_levels; l++)
		for (u32 place = 0; place <= w->mask; place++)
			if (find_place(ts, l, place, timer->id, UINT_MAX, where))
				return;
}

/* An entry may also be filed again in its slot. */
static void tell_move(const struct wheel *w, u32 id, u64 from)
{
	struct sim *s = container_of(w, struct state, timers.wheel)->sim;
	struct sim_timer *timer = sim_timer_known(s, id);
	struct sim_where where = {};

	(void)from;
	if (!s->observer.tell)
		return;
	twheel_where(s, timer, &where);
	if (timer->level != where.level || timer->slot != where.slot)
		sim_moved(s, timer);
}

static void twheel_wake(struct sim *s)
{
	struct timers *ts = s->state;
	struct twheel_event event;

	owner_advance(ts, s->now);
	note_moves(s);
	while (owner_read(ts, &event, s->now))
		sim_expire(s, sim_timer_known(s, event.id), event.overruns);
}

/* It takes timers by the chunk, for ids that may be armed again; here each counts by itself. */
static uint64_t twheel_memory(const struct sim *s)
{
	const struct state *state = s->state;
	const struct wheel *w = &state->timers.wheel;

	return sizeof(*state) + w->memory - w->nr_chunks * WHEEL_PAGE_SIZE;
}

static const char *twheel_note(const struct sim *s)
{
	(void)s;
	return "twheel rounds slots up to a power of two, its rings hold two turns, and it opens a "
	       "slot when the first timer there is due: timers wait further down and move less "
	       "than on a blackboard, which --as hierarchical shows";
}

const struct sim_system sim_twheel = {
	.name = "twheel", .about = "the wheel of /dev/twheel, from its own source",
	.tick = TWHEEL_DEFAULT_TICK, .slots = TWHEEL_DEFAULT_SLOTS,
	.timer_size = sizeof(struct timer) - SIM_RECORD_BYTES,
	.periodic = true,
	.create = twheel_create, .destroy = twheel_destroy, .arm = twheel_arm,
	.move = twheel_arm, .cancel = twheel_cancel, .next = twheel_next, .wake = twheel_wake,
	.where = twheel_where, .memory = twheel_memory, .note = twheel_note,
};
