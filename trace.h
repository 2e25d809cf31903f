/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tracepoints: what becomes of each timer, and when the wheel turns.  docs/tracing.md says what
 * can be asked of them.
 *
 * They run with the wheel's lock held, or the CPU's, and read no memory that is shared with a
 * program.  Without TWHEEL_DEVICE they are empty functions.
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
	static inline void trace_##name(proto) { } \
	static inline bool trace_##name##_enabled(void) { return false; }
#define DEFINE_EVENT(class, name, proto, ...)	TRACE_EVENT(name, PARAMS(proto))
#define DECLARE_EVENT_CLASS(...)
#define PARAMS(args...) args
#endif

/* What a call found of a timer. */
#define twheel_show_state(state)					\
	__print_symbolic(state,					\
		{ TWHEEL_STATE_IDLE,		"idle" },	\
		{ TWHEEL_STATE_PENDING,		"pending" },	\
		{ TWHEEL_STATE_EXPIRED,		"expired" },	\
		{ TWHEEL_STATE_DELIVERED,	"delivered" })

/* A timer: @found is its enum twheel_state before; @tick, @level and @slot: where it is filed. */
DECLARE_EVENT_CLASS(twheel_timer,
	TP_PROTO(const struct wheel *w, u32 id, u32 found),
	TP_ARGS(w, id, found),
	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	cookie)
		__field(u64,	deadline)
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
		__entry->interval	= trace_interval(w, id);
		__entry->found		= found;
		__entry->tick = trace_place(w, id, &__entry->level, &__entry->slot);
	),
	TP_printk("wheel=%llu id=%u generation=%u cookie=%llu deadline=%llu interval=%llu tick=%llu level=%d slot=%d found=%s",
		  __entry->wheel, __entry->id, __entry->generation, __entry->cookie,
		  __entry->deadline, __entry->interval, __entry->tick, __entry->level,
		  __entry->slot, twheel_show_state(__entry->found))
);

/* A call has armed or moved a timer. */
DEFINE_EVENT(twheel_timer, twheel_timer_arm,
	TP_PROTO(const struct wheel *w, u32 id, u32 found), TP_ARGS(w, id, found));

/* A call has cancelled a timer that was armed. */
DEFINE_EVENT(twheel_timer, twheel_timer_cancel,
	TP_PROTO(const struct wheel *w, u32 id, u32 found), TP_ARGS(w, id, found));

/* A look has found that a store has cancelled a timer. */
DEFINE_EVENT(twheel_timer, twheel_timer_let_go,
	TP_PROTO(const struct wheel *w, u32 id, u32 found), TP_ARGS(w, id, found));

/* A queued event is dropped, because a store has moved or cancelled its timer. */
DEFINE_EVENT(twheel_timer, twheel_timer_stale,
	TP_PROTO(const struct wheel *w, u32 id, u32 found), TP_ARGS(w, id, found));

/*
 * A timer is filed for its next period, or by what its word holds: when a call arms it, or instead
 * of an event that has become stale.
 */
DEFINE_EVENT(twheel_timer, twheel_timer_file,
	TP_PROTO(const struct wheel *w, u32 id, u32 found), TP_ARGS(w, id, found));

/*
 * The cascade has filed a timer again.  If @from, the tick it was filed by, is not @tick, it was
 * moved meanwhile by a store, or to later by a call.  Of two ticks less than 2^31 apart.
 */
TRACE_EVENT(twheel_timer_move,
	TP_PROTO(const struct wheel *w, u32 id, u64 from),
	TP_ARGS(w, id, from),
	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	deadline)
		__field(u64,	from)
		__field(u64,	tick)
		__field(s32,	level)
		__field(s32,	slot)
	),
	TP_fast_assign(
		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= trace_timer(w, id)->generation;
		__entry->deadline	= trace_timer(w, id)->deadline;
		__entry->from		= from;
		__entry->tick = trace_place(w, id, &__entry->level, &__entry->slot);
	),
	TP_printk("wheel=%llu id=%u generation=%u deadline=%llu from=%llu tick=%llu level=%d slot=%d",
		  __entry->wheel, __entry->id, __entry->generation, __entry->deadline,
		  __entry->from, __entry->tick, __entry->level, __entry->slot)
);

/* An event: @late_ns from its deadline until it was found, @unread_ns from then. */
DECLARE_EVENT_CLASS(twheel_event,
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
	),
	TP_fast_assign(
		const struct timer *t = trace_timer(w, id);

		__entry->wheel		= trace_number(w);
		__entry->id		= id;
		__entry->generation	= t->generation;
		__entry->cookie		= t->cookie;
		__entry->deadline	= t->deadline;
		__entry->late_ns	= fired - min(fired, t->deadline);
		__entry->unread_ns	= now - min(now, fired);
		__entry->overruns	= overruns;
	),
	TP_printk("wheel=%llu id=%u generation=%u cookie=%llu deadline=%llu late_ns=%llu unread_ns=%llu overruns=%llu",
		  __entry->wheel, __entry->id, __entry->generation, __entry->cookie,
		  __entry->deadline, __entry->late_ns, __entry->unread_ns, __entry->overruns)
);

/* A timer was found due. */
DEFINE_EVENT(twheel_event, twheel_timer_expire,
	TP_PROTO(const struct wheel *w, u32 id, u64 fired, u64 overruns, u64 now),
	TP_ARGS(w, id, fired, overruns, now));

/* Its event was read. */
DEFINE_EVENT(twheel_event, twheel_timer_deliver,
	TP_PROTO(const struct wheel *w, u32 id, u64 fired, u64 overruns, u64 now),
	TP_ARGS(w, id, fired, overruns, now));

/* An upper slot is opened.  @timers counts its entries, stale ones too. */
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
		__entry->timers		= w->level[level].slot[slot].count;
		__entry->tick		= w->at;
	),
	TP_printk("wheel=%llu level=%u slot=%u timers=%u tick=%llu",
		  __entry->wheel, __entry->level, __entry->slot, __entry->timers, __entry->tick)
);

/* The hrtimer of this CPU and @clock, an enum twheel_clock. */
DECLARE_EVENT_CLASS(twheel_hrtimer,
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
	TP_printk("clock=%u expires=%llu late_ns=%llu",
		  __entry->clock, __entry->expires, __entry->late_ns)
);

/* It is programmed. */
DEFINE_EVENT(twheel_hrtimer, twheel_hrtimer_start,
	TP_PROTO(u32 clock, u64 expires), TP_ARGS(clock, expires));

/* It has fired.  @expires is KTIME_MAX if another callback has done its work. */
DEFINE_EVENT(twheel_hrtimer, twheel_hrtimer_fire,
	TP_PROTO(u32 clock, u64 expires), TP_ARGS(clock, expires));

#ifndef TWHEEL_DEVICE
#pragma GCC diagnostic pop
#endif

#endif /* TWHEEL_TRACE_H */

#ifdef CREATE_TRACE_POINTS
static inline u64 trace_number(const struct wheel *w)
{
	return container_of(w, struct twheel, timers.wheel)->number;
}

static inline const struct timer *trace_timer(const struct wheel *w, u32 id)
{
	return timer_of(container_of(w, struct timers, wheel), id);
}

static inline u64 trace_interval(const struct wheel *w, u32 id)
{
	const struct timer_more *more = more_of(container_of(w, struct timers, wheel), id);

	return more ? more->interval : 0;
}

/*
 * Return the tick of the entry that is a timer's own, or 0.  In which slot it is can be told
 * while it is the last one there.
 */
static inline u64 trace_place(const struct wheel *w, u32 id, s32 *level, s32 *slot)
{
	u64 link = trace_timer(w, id)->link, tick;
	unsigned int l;

	*level = -1;
	*slot = -1;
	if (wheel_where(trace_timer(w, id)) != WHEEL_FILED)
		return 0;
	tick = near_tick(w->at, link);
	for (l = 0; l < w->nr_levels; l++) {
		u32 place = (tick >> w->level[l].shift) & w->mask;
		const struct wheel_slot *at = &w->level[l].slot[place];

		if (!at->count || *pool_word(w, at->tail - 1) != entry_of(id, tick))
			continue;
		*level = l;
		*slot = place;
		break;
	}
	return tick;
}
#endif

#ifdef TWHEEL_DEVICE
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
#endif
