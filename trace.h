/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tracepoints: what becomes of each timer, and when the wheel turns.  docs/tracing.md has what can
 * be asked of them; the names are in the manner of <trace/events/timer.h>.
 *
 * The parts that know no device call these with what they know, and only here a wheel gets the
 * number that fdinfo tells: the fields are filled in by code that is compiled into twheel.c.
 * A tracepoint that nobody listens to is one nop, and its fields are not computed.  Only a look
 * counts what it files again, whether or not anybody listens.  Without TWHEEL_DEVICE there are none: functions that do nothing stand in their place.
 *
 * They are called with the wheel's lock held, or the CPU's, and read no more than that protects,
 * and no memory that is shared with a program.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM twheel

#if !defined(TWHEEL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TWHEEL_TRACE_H

#include "wheel.h"
#include "uapi/linux/twheel.h"

#ifdef TWHEEL_DEVICE
#include <linux/tracepoint.h>

TRACE_DEFINE_ENUM(TWHEEL_STATE_IDLE);
TRACE_DEFINE_ENUM(TWHEEL_STATE_PENDING);
TRACE_DEFINE_ENUM(TWHEEL_STATE_EXPIRED);
TRACE_DEFINE_ENUM(TWHEEL_STATE_DELIVERED);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define TP_PROTO(args...) args
#define TRACE_EVENT(name, proto, ...)	\
	static inline void trace_##name(proto) { }
#endif

/* What a call found of a timer. */
#define twheel_show_state(state)					\
	__print_symbolic(state,					\
		{ TWHEEL_STATE_IDLE,		"idle" },	\
		{ TWHEEL_STATE_PENDING,		"pending" },	\
		{ TWHEEL_STATE_EXPIRED,		"expired" },	\
		{ TWHEEL_STATE_DELIVERED,	"delivered" })

/**
 * twheel_timer_arm - a call has armed or moved a timer
 * @w: the wheel
 * @id: the timer
 * @found: enum twheel_state that was found
 * @now: ns
 *
 * @ahead_ns of the event is how far ahead the deadline is, 0 if it has passed.  @tick is by which
 * the timer is filed, in the slot @slot of @level; these are -1 if it is not filed, or was moved to
 * later and so stays where it is, which only the first timer of a list knows.
 */
TRACE_EVENT(twheel_timer_arm,

	TP_PROTO(const struct wheel *w, u32 id, u32 found, u64 now),

	TP_ARGS(w, id, found, now),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	cookie)
		__field(u64,	deadline)
		__field(u64,	ahead_ns)
		__field(u64,	interval)
		__field(u64,	tick)
		__field(s32,	level)
		__field(s32,	slot)
		__field(u32,	found)
	),

	TP_fast_assign(
		const struct timer *t = trace_timer(w, id);

		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= t->generation;
		__entry->cookie		= t->cookie;
		__entry->deadline	= t->deadline;
		__entry->ahead_ns	= t->deadline - min(t->deadline, now);
		__entry->interval	= t->interval;
		__entry->tick		= trace_tick(w, id);
		__entry->found		= found;
		trace_place(w, id, &__entry->level, &__entry->slot);
	),

	TP_printk("wheel=%llu id=%u generation=%u cookie=%llu deadline=%llu ahead_ns=%llu interval=%llu tick=%llu level=%d slot=%d found=%s",
		  __entry->wheel, __entry->id, __entry->generation, __entry->cookie,
		  __entry->deadline, __entry->ahead_ns, __entry->interval, __entry->tick,
		  __entry->level, __entry->slot, twheel_show_state(__entry->found))
);

/**
 * twheel_timer_cancel - a call has cancelled a timer that was armed
 * @w: the wheel
 * @id: the timer
 * @found: enum twheel_state that was found
 */
TRACE_EVENT(twheel_timer_cancel,

	TP_PROTO(const struct wheel *w, u32 id, u32 found),

	TP_ARGS(w, id, found),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	deadline)
		__field(u32,	found)
	),

	TP_fast_assign(
		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= trace_timer(w, id)->generation;
		__entry->deadline	= trace_timer(w, id)->deadline;
		__entry->found		= found;
	),

	TP_printk("wheel=%llu id=%u generation=%u deadline=%llu found=%s",
		  __entry->wheel, __entry->id, __entry->generation, __entry->deadline,
		  twheel_show_state(__entry->found))
);

/**
 * twheel_look - the wheel has asked when timers that came out of a slot are due
 * @w: the wheel
 * @timers: how many
 * @due: of these, are due
 * @later: are filed again; the others were cancelled by a store
 */
TRACE_EVENT(twheel_look,

	TP_PROTO(const struct wheel *w, u32 timers, u32 due, u32 later),

	TP_ARGS(w, timers, due, later),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	timers)
		__field(u32,	due)
		__field(u32,	later)
		__field(u32,	cancelled)
	),

	TP_fast_assign(
		__entry->wheel		= trace_number(w);
		__entry->timers		= timers;
		__entry->due		= due;
		__entry->later		= later;
		__entry->cancelled	= timers - due - later;
	),

	TP_printk("wheel=%llu timers=%u due=%u later=%u cancelled=%u",
		  __entry->wheel, __entry->timers, __entry->due, __entry->later,
		  __entry->cancelled)
);

/**
 * twheel_timer_extend - a look has found that a store has pushed a timer back
 * @w: the wheel
 * @id: the timer, which is filed again
 * @filed: the tick by which it was
 *
 * Or that its clock was set back.  @by_ns of the event is by how much.
 */
TRACE_EVENT(twheel_timer_extend,

	TP_PROTO(const struct wheel *w, u32 id, u64 filed),

	TP_ARGS(w, id, filed),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	deadline)
		__field(u64,	by_ns)
		__field(u64,	tick)
		__field(s32,	level)
		__field(s32,	slot)
	),

	TP_fast_assign(
		u64 tick = trace_tick(w, id);

		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= trace_timer(w, id)->generation;
		__entry->deadline	= trace_timer(w, id)->deadline;
		__entry->by_ns		= (tick - min(tick, filed)) * trace_timers(w)->tick;
		__entry->tick		= tick;
		trace_place(w, id, &__entry->level, &__entry->slot);
	),

	TP_printk("wheel=%llu id=%u generation=%u deadline=%llu by_ns=%llu tick=%llu level=%d slot=%d",
		  __entry->wheel, __entry->id, __entry->generation, __entry->deadline,
		  __entry->by_ns, __entry->tick, __entry->level, __entry->slot)
);

/**
 * twheel_timer_let_go - a look has found that a store has cancelled a timer
 * @w: the wheel
 * @id: the timer
 */
TRACE_EVENT(twheel_timer_let_go,

	TP_PROTO(const struct wheel *w, u32 id),

	TP_ARGS(w, id),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
	),

	TP_fast_assign(
		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= trace_timer(w, id)->generation;
	),

	TP_printk("wheel=%llu id=%u generation=%u",
		  __entry->wheel, __entry->id, __entry->generation)
);

/**
 * twheel_cascade - a slot of an upper level is opened, and comes down
 * @w: the wheel
 * @level: of the slot
 * @slot: its place in the ring of that level
 *
 * @timers of the event is how many it holds, counted as the wheel does: some of them may have been
 * cancelled since.
 */
TRACE_EVENT(twheel_cascade,

	TP_PROTO(const struct wheel *w, u32 level, u32 slot),

	TP_ARGS(w, level, slot),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	level)
		__field(u32,	slot)
		__field(u32,	timers)
		__field(u64,	tick)
	),

	TP_fast_assign(
		__entry->wheel		= trace_number(w);
		__entry->level		= level;
		__entry->slot		= slot;
		__entry->timers		= w->level[level].slot[slot].filed;
		__entry->tick		= w->at;
	),

	TP_printk("wheel=%llu level=%u slot=%u timers=%u tick=%llu",
		  __entry->wheel, __entry->level, __entry->slot, __entry->timers, __entry->tick)
);

/**
 * twheel_timer_move - the cascade has filed a timer again
 * @w: the wheel
 * @id: the timer
 * @from_level: of the slot that it came out of
 * @from_slot: that one's place in the ring; both are -1, if the owner was asked of the timer first
 */
TRACE_EVENT(twheel_timer_move,

	TP_PROTO(const struct wheel *w, u32 id, int from_level, int from_slot),

	TP_ARGS(w, id, from_level, from_slot),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(s32,	from_level)
		__field(s32,	from_slot)
		__field(s32,	level)
		__field(s32,	slot)
		__field(u64,	tick)
	),

	TP_fast_assign(
		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->from_level	= from_level;
		__entry->from_slot	= from_slot;
		__entry->tick		= trace_tick(w, id);
		trace_place(w, id, &__entry->level, &__entry->slot);
	),

	TP_printk("wheel=%llu id=%u from_level=%d from_slot=%d level=%d slot=%d tick=%llu",
		  __entry->wheel, __entry->id, __entry->from_level, __entry->from_slot,
		  __entry->level, __entry->slot, __entry->tick)
);

/**
 * twheel_timer_expire - a timer was found due
 * @w: the wheel
 * @id: the timer
 * @now: ns
 *
 * @late_ns of the event is how long after its deadline.  That is 0 for a timer which was armed for
 * a time that had passed, and has @overdue set: it is not the wheel's lateness.
 */
TRACE_EVENT(twheel_timer_expire,

	TP_PROTO(const struct wheel *w, u32 id, u64 now),

	TP_ARGS(w, id, now),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	deadline)
		__field(u64,	late_ns)
		__field(bool,	overdue)
	),

	TP_fast_assign(
		const struct timer *t = trace_timer(w, id);

		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= t->generation;
		__entry->deadline	= t->deadline;
		__entry->late_ns	= trace_late(t, now);
		__entry->overdue	= t->overdue;
	),

	TP_printk("wheel=%llu id=%u generation=%u deadline=%llu late_ns=%llu overdue=%d",
		  __entry->wheel, __entry->id, __entry->generation, __entry->deadline,
		  __entry->late_ns, __entry->overdue)
);

/**
 * twheel_timer_stale - an event that waited does not count any more
 * @w: the wheel
 * @id: the timer, which goes on by what is wanted now
 *
 * Because a store has moved or cancelled it, or its clock was set back.  After a call there is no
 * such event: that takes it back by itself.
 */
TRACE_EVENT(twheel_timer_stale,

	TP_PROTO(const struct wheel *w, u32 id),

	TP_ARGS(w, id),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	deadline)
	),

	TP_fast_assign(
		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= trace_timer(w, id)->generation;
		__entry->deadline	= trace_timer(w, id)->deadline;
	),

	TP_printk("wheel=%llu id=%u generation=%u deadline=%llu",
		  __entry->wheel, __entry->id, __entry->generation, __entry->deadline)
);

/**
 * twheel_timer_deliver - an event was read
 * @w: the wheel
 * @id: the timer
 * @fired: when it was found due, ns
 * @overruns: periods that it tells beside its own
 * @now: ns
 *
 * Of the event @late_ns is as of twheel_timer_expire, and @unread_ns how long it waited from then.
 */
TRACE_EVENT(twheel_timer_deliver,

	TP_PROTO(const struct wheel *w, u32 id, u64 fired, u64 overruns, u64 now),

	TP_ARGS(w, id, fired, overruns, now),

	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	cookie)
		__field(u64,	deadline)
		__field(u64,	late_ns)
		__field(u64,	unread_ns)
		__field(u64,	overruns)
		__field(bool,	overdue)
	),

	TP_fast_assign(
		const struct timer *t = trace_timer(w, id);

		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= t->generation;
		__entry->cookie		= t->cookie;
		__entry->deadline	= t->deadline;
		__entry->late_ns	= trace_late(t, fired);
		__entry->unread_ns	= now - min(now, fired);
		__entry->overruns	= overruns;
		__entry->overdue	= t->overdue;
	),

	TP_printk("wheel=%llu id=%u generation=%u cookie=%llu deadline=%llu late_ns=%llu unread_ns=%llu overruns=%llu overdue=%d",
		  __entry->wheel, __entry->id, __entry->generation, __entry->cookie,
		  __entry->deadline, __entry->late_ns, __entry->unread_ns, __entry->overruns,
		  __entry->overdue)
);

/* As users name clocks: CLOCK_*. */
#define twheel_show_clock(clock)					\
	__print_symbolic(clock,					\
		{ 0,	"realtime" },				\
		{ 1,	"monotonic" },				\
		{ 7,	"boottime" },				\
		{ 11,	"tai" })

/**
 * twheel_hrtimer_start - an hrtimer of this CPU is set, for all wheels of a clock
 * @clock: enum twheel_clock
 * @expires: to what, ns of the host's clock
 */
TRACE_EVENT(twheel_hrtimer_start,

	TP_PROTO(u32 clock, u64 expires),

	TP_ARGS(clock, expires),

	TP_STRUCT__entry(
		__field(u32,	clock)
		__field(u64,	expires)
	),

	TP_fast_assign(
		__entry->clock		= clock_ids[clock];
		__entry->expires	= expires;
	),

	TP_printk("clock=%s expires=%llu", twheel_show_clock(__entry->clock), __entry->expires)
);

/**
 * twheel_hrtimer_fire - such an hrtimer has fired
 * @clock: enum twheel_clock
 * @expires: what it was set to, ns; KTIME_MAX: another one has done its work
 *
 * @late_ns of the event is how long after that.
 */
TRACE_EVENT(twheel_hrtimer_fire,

	TP_PROTO(u32 clock, u64 expires),

	TP_ARGS(clock, expires),

	TP_STRUCT__entry(
		__field(u32,	clock)
		__field(u64,	expires)
		__field(u64,	late_ns)
	),

	TP_fast_assign(
		u64 now = clock_now(clock);

		__entry->clock		= clock_ids[clock];
		__entry->expires	= expires;
		__entry->late_ns	= now - min(now, expires);
	),

	TP_printk("clock=%s expires=%llu late_ns=%llu",
		  twheel_show_clock(__entry->clock), __entry->expires, __entry->late_ns)
);

#ifndef TWHEEL_DEVICE
#pragma GCC diagnostic pop
#endif

#endif /* TWHEEL_TRACE_H */

#ifdef CREATE_TRACE_POINTS
/* Of what the parts pass in. */

static inline const struct timers *trace_timers(const struct wheel *w)
{
	return container_of(w, struct timers, wheel);
}

static inline u64 trace_number(const struct wheel *w)
{
	return container_of(w, struct twheel, timers.wheel)->number;
}

static inline const struct timer *trace_timer(const struct wheel *w, u32 id)
{
	return timer_of(trace_timers(w), id);
}

/* The tick by which a timer is filed, or 0. */
static inline u64 trace_tick(const struct wheel *w, u32 id)
{
	const struct wheel_node *node = wheel_node(w, id);

	return wheel_where(node) == WHEEL_FILED ? node->expiry : 0;
}

/* The slot of a timer that was just filed: it is the first of its list.  Of another one: -1. */
static inline void trace_place(const struct wheel *w, u32 id, s32 *level, s32 *slot)
{
	struct wheel_place place;
	bool known = wheel_where(wheel_node(w, id)) == WHEEL_FILED && wheel_find(w, id, 0, &place);

	*level = known ? place.level : -1;
	*slot = known ? place.slot : -1;
}

static inline u64 trace_late(const struct timer *t, u64 found)
{
	return t->overdue ? 0 : found - min(found, t->deadline);
}
#endif

#ifdef TWHEEL_DEVICE
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
#endif
