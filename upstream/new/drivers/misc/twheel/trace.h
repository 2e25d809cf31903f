/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints: what becomes of timers, with the wheel's lock held; when the hrtimers fire. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM twheel

#if !defined(TWHEEL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TWHEEL_TRACE_H

#include <linux/tracepoint.h>
#include <linux/twheel.h>

#include "wheel.h"

/* A timer: @state is the enum twheel_state that a call found, or that it has come to. */
DECLARE_EVENT_CLASS(twheel_timer,
	TP_PROTO(const struct wheel *w, u32 id, u32 state),
	TP_ARGS(w, id, state),
	TP_STRUCT__entry(
		__field(u64,	wheel)
		__field(u32,	id)
		__field(u32,	generation)
		__field(u64,	cookie)
		__field(u64,	deadline)
		__field(u64,	interval)
		__field(u64,	late_ns)
		__field(u32,	state)
	),
	TP_fast_assign(
		const struct timers *ts = container_of(w, struct timers, wheel);
		const struct timer *t = timer_of(ts, id);

		__entry->wheel		= container_of(ts, struct twheel, timers)->number;
		__entry->id		= id;
		__entry->generation	= t->generation;
		__entry->cookie		= t->cookie;
		__entry->deadline	= t->deadline;
		__entry->interval	= *wheel_interval(w, id);
		__entry->late_ns	= ts->now - min(ts->now, t->deadline);
		__entry->state		= state;
	),
	TP_printk("wheel=%llu id=%u generation=%u cookie=%llu deadline=%llu interval=%llu late_ns=%llu state=%u",
		  __entry->wheel, __entry->id, __entry->generation, __entry->cookie,
		  __entry->deadline, __entry->interval, __entry->late_ns, __entry->state)
);

/* A call has armed or moved a timer. */
DEFINE_EVENT(twheel_timer, twheel_timer_arm,
	TP_PROTO(const struct wheel *w, u32 id, u32 state), TP_ARGS(w, id, state));

/* A call has cancelled a timer that was armed. */
DEFINE_EVENT(twheel_timer, twheel_timer_cancel,
	TP_PROTO(const struct wheel *w, u32 id, u32 state), TP_ARGS(w, id, state));

/* A timer was found due. */
DEFINE_EVENT(twheel_timer, twheel_timer_expire,
	TP_PROTO(const struct wheel *w, u32 id, u32 state), TP_ARGS(w, id, state));

/* Its event was read. */
DEFINE_EVENT(twheel_timer, twheel_timer_deliver,
	TP_PROTO(const struct wheel *w, u32 id, u32 state), TP_ARGS(w, id, state));

/* An upper slot is opened.  @timers counts its entries, stale ones too. */
TRACE_EVENT(twheel_cascade,
	TP_PROTO(const struct wheel *w, u32 level, u32 slot),
	TP_ARGS(w, level, slot),
	TP_STRUCT__entry(
		__field(u32,	level)
		__field(u32,	slot)
		__field(u32,	timers)
		__field(u64,	tick)
	),
	TP_fast_assign(
		__entry->level		= level;
		__entry->slot		= slot;
		__entry->timers		= w->level[level].slot[slot].count;
		__entry->tick		= w->at;
	),
	TP_printk("level=%u slot=%u timers=%u tick=%llu",
		  __entry->level, __entry->slot, __entry->timers, __entry->tick)
);

/* An hrtimer of this CPU has fired.  @expires is KTIME_MAX if another one has done its work. */
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

		__entry->clock		= clock_id(clock);
		__entry->expires	= expires;
		__entry->late_ns	= now - min(now, expires);
	),
	TP_printk("clock=%u expires=%llu late_ns=%llu",
		  __entry->clock, __entry->expires, __entry->late_ns)
);

#endif /* TWHEEL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
