// SPDX-License-Identifier: GPL-2.0
/*
 * The reference: what timers should do, with nothing clever in it.
 *
 * Armed timers stand in a list that is sorted by their ticks. When its tick has
 * come, a timer moves to the end of the list of the expired; a read takes the
 * first of that list and holds it, until the event has reached its reader or is
 * put back. Whatever the wheel does must look like this from outside.
 */
#include "reference.h"

/* Lists */

static void list_add(struct ref_timer **place, struct ref_timer *t)
{
	t->next = *place;
	*place = t;
}

static void list_remove(struct ref_timer **list, struct ref_timer *t)
{
	while (*list != t)
		list = &(*list)->next;
	*list = t->next;
}

static void take_out(struct reference *r, struct ref_timer *t)
{
	if (t->where == REF_PENDING) {
		list_remove(&r->pending, t);
		r->stats.pending--;
	} else if (t->where == REF_EXPIRED) {
		list_remove(&r->expired, t);
		r->stats.expired--;
	}
	t->where = REF_NOWHERE;
}

static void make_pending(struct reference *r, struct ref_timer *t)
{
	struct ref_timer **place = &r->pending;

	while (*place && (*place)->due < t->due)
		place = &(*place)->next;
	list_add(place, t);
	t->where = REF_PENDING;
	r->stats.pending++;
}

static void make_expired(struct reference *r, struct ref_timer *t, bool front)
{
	struct ref_timer **place = &r->expired;

	while (!front && *place)
		place = &(*place)->next;
	list_add(place, t);
	t->where = REF_EXPIRED;
	r->stats.expired++;
}

/* Ticks */

/* The roundest tick from the deadline, rounded up, to deadline + slack. */
static u64 tick_of(u64 tick, u64 deadline, u64 slack)
{
	u64 first = deadline / tick + (deadline % tick != 0);
	u64 last = deadline / tick + slack;
	u64 best = first;

	for (u64 unit = 2; unit && last - last % unit >= first; unit *= 2)
		best = last - last % unit;
	return best;
}

static u64 add_times(u64 a, u64 b)
{
	return a + b > KTIME_MAX ? KTIME_MAX : a + b;
}

/* States */

void ref_init(struct reference *r, u32 capacity, u64 tick, bool settable)
{
	r->tick = tick;
	r->now = 0;
	r->settable = settable;
	r->capacity = capacity;
	r->pending = NULL;
	r->expired = NULL;
	r->stats = (struct twheel_stats){};
	for (u32 id = 0; id < capacity; id++)
		r->timer[id] = (struct ref_timer){ .id = id };
}

static enum twheel_state state_of(const struct reference *r, const struct ref_timer *t)
{
	switch (t->where) {
	case REF_PENDING:
		/* Also if nobody had the time to find it. */
		return t->due <= r->now / r->tick ? TWHEEL_STATE_EXPIRED : TWHEEL_STATE_PENDING;
	case REF_EXPIRED:
	case REF_HELD:
		/* Also if the clock was set back since. */
		return TWHEEL_STATE_EXPIRED;
	default:
		return t->delivered ? TWHEEL_STATE_DELIVERED : TWHEEL_STATE_IDLE;
	}
}

bool ref_armed(const struct reference *r, const struct ref_timer *t)
{
	enum twheel_state state = state_of(r, t);

	return state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
}

/* May the kernel choose it? */
bool ref_free(const struct ref_timer *t)
{
	return t->where == REF_NOWHERE;
}

static void end(struct reference *r, struct ref_timer *t, bool delivered)
{
	take_out(r, t);
	t->delivered = delivered;
}

static void found_due(struct reference *r, struct ref_timer *t, u64 now)
{
	t->fired = now;
	r->stats.fired++;
	make_expired(r, t, false);
}

/* Wait for the deadline, which may have passed. */
static void wait_for(struct reference *r, struct ref_timer *t, u64 now)
{
	t->due = tick_of(r->tick, t->deadline, t->slack);
	if (t->deadline > now)
		make_pending(r, t);
	else
		found_due(r, t, now);
}

/* Operations */

int ref_check_arm(const struct reference *r, const struct twheel_op *op)
{
	bool any = op->id == TWHEEL_ID_ANY;
	bool new = op->flags & TWHEEL_ARM_NEW, move = op->flags & TWHEEL_ARM_MOVE;
	bool keep = op->flags & TWHEEL_ARM_KEEP;

	if (op->flags >= 32)
		return -EOPNOTSUPP;
	if (op->flags & TWHEEL_ARM_RELATIVE && r->settable)
		return -EINVAL;
	/* No timer has a word here. */
	if (op->flags & TWHEEL_ARM_STORED) {
		if (op->flags != TWHEEL_ARM_STORED || op->reserved || op->deadline ||
		    op->interval || op->slack || op->cookie || op->count || op->generation)
			return -EINVAL;
		return op->id >= r->capacity ? -ERANGE : 0;
	}
	if (op->reserved || (new && move) || (op->count && !op->interval) ||
	    (any && (move || keep || op->generation || !op->deadline)) ||
	    (keep && (op->interval || op->slack || op->cookie || op->count)))
		return -EINVAL;
	if ((!any && op->id >= r->capacity) || op->count > TWHEEL_MAX_COUNT ||
	    op->interval > KTIME_MAX || op->slack > KTIME_MAX ||
	    (op->flags & TWHEEL_ARM_RELATIVE && op->deadline > KTIME_MAX))
		return -ERANGE;
	return 0;
}

int ref_check_cancel(const struct reference *r, const struct twheel_op *op)
{
	if (op->flags)
		return -EOPNOTSUPP;
	if (op->reserved || op->deadline || op->interval || op->slack ||
	    op->cookie || op->count)
		return -EINVAL;
	return op->id >= r->capacity ? -ERANGE : 0;
}

/* @chosen: which timer; the kernel's choice, if @op leaves it to the kernel. */
int ref_arm(struct reference *r, struct twheel_op *op, u32 chosen, u64 now)
{
	struct ref_timer *t = &r->timer[chosen];
	u64 deadline = min(op->deadline, (u64)KTIME_MAX);

	if (op->flags & TWHEEL_ARM_STORED)
		return -ENOENT;
	if (op->generation && op->generation != t->generation)
		return -ESTALE;
	if (op->flags & TWHEEL_ARM_NEW && ref_armed(r, t))
		return -EEXIST;
	if (op->flags & TWHEEL_ARM_MOVE && !ref_armed(r, t))
		return -ENOENT;
	if (op->flags & TWHEEL_ARM_RELATIVE && deadline)
		deadline = add_times(now, deadline);

	op->state = op->id == TWHEEL_ID_ANY ? TWHEEL_STATE_IDLE : state_of(r, t);
	end(r, t, false);
	t->generation = t->generation == ~0U ? 1 : t->generation + 1;
	t->deadline = deadline;
	if (!(op->flags & TWHEEL_ARM_KEEP)) {
		t->cookie = op->cookie;
		t->interval = op->interval;
		t->count = op->count;
		t->slack = min(op->slack / r->tick, (u64)UINT_MAX);
	}
	if (deadline)
		wait_for(r, t, now);
	op->id = chosen;
	op->generation = t->generation;
	r->stats.arms++;
	return 0;
}

int ref_cancel(struct reference *r, struct twheel_op *op)
{
	struct ref_timer *t = &r->timer[op->id];

	op->state = TWHEEL_STATE_IDLE;
	if (op->generation && op->generation != t->generation)
		return -ESTALE;
	op->generation = t->generation;
	op->state = state_of(r, t);
	r->stats.cancels += ref_armed(r, t);
	if (t->where != REF_NOWHERE)
		end(r, t, false);
	return 0;
}

/* Periods that have passed beyond the first, which an event tells of. */
static u64 overruns_of(const struct ref_timer *t, u64 now)
{
	u64 overruns;

	if (!t->interval || now < t->deadline)
		return 0;
	overruns = (now - t->deadline) / t->interval;
	return t->count ? min(overruns, (u64)t->count - 1) : overruns;
}

int ref_get(const struct reference *r, struct twheel_timer *record, u64 now)
{
	const struct ref_timer *t = &r->timer[record->id];
	u32 generation = record->generation;

	if (record->id >= r->capacity)
		return -ERANGE;
	*record = (struct twheel_timer){ .id = record->id };
	if (generation && generation != t->generation)
		return -ESTALE;
	record->generation = t->generation;
	record->state = state_of(r, t);
	if (!ref_armed(r, t))
		return 0;
	record->count = t->count;
	record->cookie = t->cookie;
	record->deadline = t->deadline;
	record->remaining = t->deadline > now ? t->deadline - now : 1;
	record->interval = t->interval;
	record->slack = t->slack * r->tick;
	record->overruns = record->state == TWHEEL_STATE_EXPIRED ? overruns_of(t, now) : 0;
	return 0;
}

/* Events */

/* A pending timer's tick has come. */
void ref_expire(struct reference *r, struct ref_timer *t, u64 now)
{
	take_out(r, t);
	found_due(r, t, now);
}

/* Lateness beyond 2 s is kept to 25 significant bits. */
static u64 kept_fired(const struct ref_timer *t)
{
	u64 late = t->fired - min(t->fired, t->deadline), unit = 1;

	while (late >> 31 && late / unit >= 1 << 25)
		unit *= 2;
	return t->deadline + late / unit * unit;
}

/* A read takes the first of the expired. */
struct twheel_event ref_claim(struct reference *r, u64 now)
{
	struct ref_timer *t = r->expired;
	u64 overruns = overruns_of(t, now);
	bool last = !t->interval || (t->count && overruns == t->count - 1);

	take_out(r, t);
	t->where = REF_HELD;
	return (struct twheel_event){
		.id		= t->id,
		.generation	= t->generation,
		.cookie		= t->cookie,
		.deadline	= t->deadline,
		.fired		= kept_fired(t),
		.overruns	= overruns,
		.flags		= last ? TWHEEL_EVENT_LAST : 0,
	};
}

/* Is it still what was taken, or has somebody armed or cancelled it since? */
static bool still_held(const struct ref_timer *t, u32 generation)
{
	return t->where == REF_HELD && t->generation == generation;
}

void ref_commit(struct reference *r, const struct twheel_event *event, u64 now)
{
	struct ref_timer *t = &r->timer[event->id];

	if (!still_held(t, event->generation))
		return;
	r->stats.delivered++;
	r->stats.overruns += event->overruns;
	if (event->flags & TWHEEL_EVENT_LAST) {
		t->interval = 0;
		t->count = 0;
		end(r, t, true);
		return;
	}
	if (t->count)
		t->count -= event->overruns + 1;
	t->deadline = add_times(t->deadline, (event->overruns + 1) * t->interval);
	wait_for(r, t, now);
}

void ref_put_back(struct reference *r, const struct twheel_event *event)
{
	struct ref_timer *t = &r->timer[event->id];

	if (still_held(t, event->generation))
		make_expired(r, t, true);
}
