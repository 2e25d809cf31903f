// SPDX-License-Identifier: GPL-2.0
/* What all systems have in common: ids, periods, counters, and the passing of time. */
#include "system.h"

/* Timers have their memory by the block. */
#define BLOCK_SHIFT	8
#define BLOCK		(1U << BLOCK_SHIFT)

/* A system that is woken at each tick takes seconds for this many. */
#define WAKEUPS_MAX	(1U << 28)

const struct sim_system * const sim_systems[] = {
	&sim_twheel, &sim_simple, &sim_hashed, &sim_hierarchical, &sim_clock, &sim_keys, &sim_heap,
	&sim_list, &sim_poll, &sim_linux, NULL
};

static bool same_text(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct sim_system *sim_system_named(const char *name)
{
	const struct sim_system * const *system = sim_systems;

	while (*system && !same_text((*system)->name, name))
		system++;
	return *system;
}

const char *sim_system_name(const struct sim_system *system)
{
	return system->name;
}

const char *sim_system_about(const struct sim_system *system)
{
	return system->about;
}

struct sim_link *sim_lists_alloc(uint32_t nr)
{
	struct sim_link *lists = sim_alloc(nr * sizeof(*lists), sizeof(*lists));

	for (uint32_t i = 0; lists && i < nr; i++)
		sim_list_init(&lists[i]);
	return lists;
}

/* Timers */

static size_t timer_stride(const struct sim *s)
{
	return sizeof(struct sim_timer) + ((s->system->timer_size + 7) & ~7U);
}

static uint32_t blocks(const struct sim *s)
{
	return (s->shape.capacity + BLOCK - 1) >> BLOCK_SHIFT;
}

/* NULL: it was never armed. */
static struct sim_timer *find(const struct sim *s, uint32_t id)
{
	char *block = id < s->shape.capacity ? s->block[id >> BLOCK_SHIFT] : NULL;

	return block ? (void *)(block + id % BLOCK * timer_stride(s)) : NULL;
}

struct sim_timer *sim_timer_known(const struct sim *s, uint32_t id)
{
	return find(s, id);
}

static struct sim_timer *find_armed(const struct sim *s, uint32_t id)
{
	struct sim_timer *timer = find(s, id);

	return timer && timer->armed ? timer : NULL;
}

/* NULL: there is no memory. */
static struct sim_timer *find_or_add(struct sim *s, uint32_t id)
{
	void **block = &s->block[id >> BLOCK_SHIFT];
	struct sim_timer *timer;

	if (!*block)
		*block = sim_alloc(BLOCK * timer_stride(s), 64);
	if (!*block)
		return NULL;
	timer = find(s, id);
	timer->id = id;
	return timer;
}

/* Creation */

static void count_memory(struct sim *s)
{
	struct sim_counters *c = &s->counters;
	uint64_t memory = s->system->memory(s) + (uint64_t)c->armed * c->timer_bytes;

	if (memory > c->memory_max)
		c->memory_max = memory;
}

void sim_destroy(struct sim *s)
{
	s->system->destroy(s);
	for (uint32_t i = 0; s->block && i < blocks(s); i++)
		sim_free(s->block[i]);
	sim_free(s->block);
	sim_free(s);
}

struct sim *sim_create(const struct sim_system *system, const struct sim_shape *shape,
		       const struct sim_observer *observer, enum sim_result *result)
{
	struct sim *s;

	if (!shape->capacity || shape->capacity > SIM_MAX_CAPACITY || shape->start > SIM_LAST) {
		*result = SIM_BAD_SHAPE;
		return NULL;
	}
	*result = SIM_NO_MEMORY;
	s = sim_alloc(sizeof(*s), 64);
	if (!s)
		return NULL;
	s->system = system;
	s->shape = *shape;
	if (!s->shape.tick)
		s->shape.tick = system->tick;
	if (!s->shape.slots || !system->slots)
		s->shape.slots = system->slots;
	if (observer)
		s->observer = *observer;
	s->now = shape->start;
	s->at = s->now / s->shape.tick;
	s->until = SIM_NEVER;
	s->counters.timer_bytes = SIM_RECORD_BYTES + system->timer_size;
	s->block = sim_alloc(blocks(s) * sizeof(*s->block), 64);
	if (s->block)
		*result = system->create(s);
	if (*result) {
		sim_destroy(s);
		return NULL;
	}
	count_memory(s);
	return s;
}

/* Telling */

static void where_is(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	*where = (struct sim_where){ .moves = timer->moves };
	s->system->where(s, timer, where);
}

/* The timer has no place any more. */
static void tell_cancelled(struct sim *s, const struct sim_timer *timer, uint64_t deadline)
{
	const struct sim_event event = {
		.what = SIM_CANCELLED, .now = s->now, .id = timer->id, .deadline = deadline,
	};

	if (s->observer.tell)
		s->observer.tell(s->observer.data, &event);
}

static void tell(struct sim *s, enum sim_what what, struct sim_timer *timer)
{
	struct sim_event event = { .what = what, .now = s->now };

	if (!s->observer.tell)
		return;
	if (what == SIM_SLEEPS)
		event.deadline = s->until;
	if (timer) {
		event.id = timer->id;
		event.deadline = timer->deadline;
		event.from_level = timer->level;
		event.from_slot = timer->slot;
		where_is(s, timer, &event.where);
		timer->level = event.where.level;
		timer->slot = event.where.slot;
	}
	s->observer.tell(s->observer.data, &event);
}

void sim_moved(struct sim *s, struct sim_timer *timer)
{
	s->counters.moves++;
	timer->moves++;
	tell(s, SIM_MOVED, timer);
}

void sim_queued(struct sim *s, struct sim_timer *timer)
{
	tell(s, SIM_PLACED, timer);
}

/* Sleeping */

static void sleep_until(struct sim *s, uint64_t time)
{
	s->until = time;
	if (time != SIM_NEVER)
		tell(s, SIM_SLEEPS, NULL);
}

/* Wake the sleeping thread if the timer is the first, even if it was the first before. */
static void signal_first(struct sim *s, struct sim_timer *timer)
{
	struct sim_where where;

	if (!s->system->sleeps)
		return;
	where_is(s, timer, &where);
	if (where.position)
		return;
	s->counters.signals++;
	tell(s, SIM_SIGNALLED, NULL);
	sleep_until(s, timer->deadline);
}

/* Operations */

static bool is_for_ever(const struct sim_timer *timer)
{
	return timer->interval && !timer->times;
}

static void now_armed(struct sim *s, struct sim_timer *timer)
{
	struct sim_counters *c = &s->counters;

	timer->armed = true;
	s->for_ever += is_for_ever(timer);
	if (++c->armed > c->armed_max)
		c->armed_max = c->armed;
}

static void now_idle(struct sim *s, struct sim_timer *timer)
{
	timer->armed = false;
	s->for_ever -= is_for_ever(timer);
	s->counters.armed--;
}

/* Put a timer that is not armed into the system, unless that has done so itself. */
static enum sim_result insert(struct sim *s, struct sim_timer *timer, bool done)
{
	enum sim_result result;

	timer->order = s->order++;
	result = done ? SIM_OK : s->system->arm(s, timer);
	if (result) {
		s->counters.refused += result != SIM_NO_MEMORY;
		return result;
	}
	timer->moves = 0;
	s->counters.inserts++;
	now_armed(s, timer);
	count_memory(s);
	tell(s, SIM_PLACED, timer);
	return SIM_OK;
}

static void take_out(struct sim *s, struct sim_timer *timer)
{
	s->system->cancel(s, timer);
	now_idle(s, timer);
}

static bool is_too_short(const struct sim *s, uint64_t delay)
{
	return s->system->keyed && delay < s->shape.tick;
}

/* Would the system refuse this arm even if it had no other timer? */
static enum sim_result check_arm(const struct sim *s, const struct sim_timer *timer,
				 uint64_t delay, uint64_t interval)
{
	if (s->system->keyed && timer->armed)
		return SIM_EXISTS;
	if (is_too_short(s, delay) || (interval && is_too_short(s, interval)))
		return SIM_TOO_SHORT;
	return SIM_OK;
}

static uint64_t later(uint64_t time, uint64_t by)
{
	return by > SIM_LAST - time ? SIM_LAST : time + by;
}

enum sim_result sim_arm(struct sim *s, uint32_t id, uint64_t delay, uint64_t interval,
			uint32_t times)
{
	struct sim_timer *timer;
	enum sim_result result;
	uint64_t before;
	bool was_armed;

	if (s->stopped)
		return SIM_STOPPED;
	if (id >= s->shape.capacity)
		return SIM_BAD_ID;
	timer = find_or_add(s, id);
	if (!timer)
		return SIM_NO_MEMORY;
	result = check_arm(s, timer, delay, interval);
	if (result) {
		s->counters.refused++;
		return result;
	}
	was_armed = timer->armed;
	before = timer->deadline;
	if (was_armed)
		take_out(s, timer);
	timer->deadline = later(s->now, delay);
	timer->interval = interval;
	timer->times = interval ? times : 0;
	result = insert(s, timer, false);
	if (!result)
		signal_first(s, timer);
	else if (was_armed)
		tell_cancelled(s, timer, before);
	return result;
}

enum sim_result sim_extend(struct sim *s, uint32_t id, uint64_t deadline)
{
	struct sim_timer *timer = find_armed(s, id);
	enum sim_result result;
	uint64_t before;

	if (s->stopped)
		return SIM_STOPPED;
	if (!timer)
		return SIM_NOT_ARMED;
	if (is_too_short(s, deadline > s->now ? deadline - s->now : 0)) {
		s->counters.refused++;
		return SIM_TOO_SHORT;
	}
	before = timer->deadline;
	timer->deadline = deadline > SIM_LAST ? SIM_LAST : deadline;
	timer->order = s->order++;
	if (s->system->move) {
		result = s->system->move(s, timer);
	} else {
		s->system->cancel(s, timer);
		result = s->system->arm(s, timer);
		if (result) {
			/* For the deadline that it had, there was room. */
			timer->deadline = before;
			s->system->arm(s, timer);
		}
	}
	if (result) {
		timer->deadline = before;
		s->counters.refused++;
		return result;
	}
	timer->moves = 0;
	s->counters.extends++;
	count_memory(s);
	tell(s, SIM_PLACED, timer);
	signal_first(s, timer);
	return SIM_OK;
}

enum sim_result sim_cancel(struct sim *s, uint32_t id)
{
	struct sim_timer *timer = find_armed(s, id);

	if (s->stopped)
		return SIM_STOPPED;
	if (!timer)
		return SIM_NOT_ARMED;
	take_out(s, timer);
	s->counters.cancels++;
	tell_cancelled(s, timer, timer->deadline);
	return SIM_OK;
}

void sim_stop(struct sim *s)
{
	s->stopped = true;
}

/* Expiry */

/* It expires again: by when, and how often still.  Returns false if this was the last time. */
static bool next_period(struct sim_timer *timer, uint64_t periods)
{
	if (!timer->interval)
		return false;
	timer->deadline = later(timer->deadline, periods * timer->interval);
	if (!timer->times)
		return true;
	timer->times -= periods < timer->times ? (uint32_t)periods : timer->times;
	return timer->times;
}

/* Further periods that have passed since the one that expired, at most what is left of a count. */
static uint64_t overruns_of(const struct sim *s, const struct sim_timer *timer)
{
	uint64_t overruns = 0;

	if (timer->interval && s->now >= timer->deadline && !s->system->keyed)
		overruns = (s->now - timer->deadline) / timer->interval;
	return timer->times && overruns >= timer->times ? timer->times - 1 : overruns;
}

void sim_expire(struct sim *s, struct sim_timer *timer, uint64_t overruns)
{
	struct sim_counters *c = &s->counters;
	uint64_t late = s->now > timer->deadline ? s->now - timer->deadline : 0;
	uint64_t early = s->now < timer->deadline ? timer->deadline - s->now : 0;

	if (!s->system->periodic)
		overruns = overruns_of(s, timer);
	c->expired++;
	c->early += !!early;
	if (early > c->early_max)
		c->early_max = early;
	c->late_sum += late;
	if (late > c->late_max)
		c->late_max = late;
	if (s->observer.tell) {
		const struct sim_event event = {
			.what = SIM_EXPIRED, .now = s->now, .id = timer->id,
			.deadline = timer->deadline, .overruns = overruns,
		};

		s->observer.tell(s->observer.data, &event);
	}
	now_idle(s, timer);
	if (!next_period(timer, overruns + 1))
		return;
	/* Not now: the system may be walking over the slot that it would come into. */
	timer->again = s->again;
	s->again = timer;
}

static void arm_again(struct sim *s)
{
	struct sim_timer *timer = s->again, *first = NULL;

	/* In the order in which they have expired. */
	while (timer) {
		struct sim_timer *next = timer->again;

		timer->again = first;
		first = timer;
		timer = next;
	}
	s->again = NULL;
	for (timer = first; timer; timer = timer->again)
		if (insert(s, timer, s->system->periodic))
			tell_cancelled(s, timer, timer->deadline);
}

/* Time */

uint64_t sim_now(const struct sim *s)
{
	return s->now;
}

uint64_t sim_next(struct sim *s)
{
	if (s->stopped)
		return SIM_NEVER;
	return s->system->sleeps ? s->until : s->system->next(s);
}

void sim_wake(struct sim *s)
{
	uint64_t done = s->counters.expired + s->counters.moves, next = sim_next(s);

	if (next == SIM_NEVER)
		return;
	if (next > s->now)
		s->now = next;
	s->counters.wakeups++;
	tell(s, SIM_WOKEN, NULL);
	s->system->wake(s);
	arm_again(s);
	if (s->system->sleeps)
		sleep_until(s, s->system->next(s));
	s->counters.empty += s->counters.expired + s->counters.moves == done;
}

bool sim_endless(const struct sim *s)
{
	return s->for_ever && !s->stopped;
}

enum sim_result sim_run(struct sim *s, uint64_t until)
{
	bool to_the_end = until == SIM_NEVER;
	uint64_t last = until < SIM_LAST ? until : SIM_LAST;
	uint32_t wakeups = 0;

	if (to_the_end && sim_endless(s))
		return SIM_ENDLESS;
	while ((!to_the_end || s->counters.armed) && sim_next(s) <= last) {
		if (wakeups++ == WAKEUPS_MAX)
			return SIM_TOO_LONG;
		sim_wake(s);
	}
	if (!to_the_end && last > s->now)
		s->now = last;
	return SIM_OK;
}

/* Looking */

enum sim_result sim_where(struct sim *s, uint32_t id, struct sim_where *where, uint64_t *deadline)
{
	struct sim_timer *timer = find_armed(s, id);

	if (!timer)
		return SIM_NOT_ARMED;
	where_is(s, timer, where);
	if (deadline)
		*deadline = timer->deadline;
	return SIM_OK;
}

uint64_t sim_hand(const struct sim *s)
{
	return s->system->hand ? s->system->hand(s) : s->now / s->shape.tick;
}

uint32_t sim_armed_from(const struct sim *s, uint32_t id)
{
	while (id < s->shape.capacity && !find_armed(s, id))
		id = s->block[id >> BLOCK_SHIFT] ? id + 1 : (id | (BLOCK - 1)) + 1;
	return id < s->shape.capacity ? id : s->shape.capacity;
}

const struct sim_shape *sim_shape(const struct sim *s)
{
	return &s->shape;
}

const struct sim_counters *sim_counters(const struct sim *s)
{
	return &s->counters;
}

const char *sim_note(const struct sim *s)
{
	return s->system->note ? s->system->note(s) : "";
}
