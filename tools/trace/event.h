/* SPDX-License-Identifier: GPL-2.0 */
/* A line that a tracepoint of the module has written: ../trace.h has these. */
#ifndef TWHEEL_TRACE_EVENT_H
#define TWHEEL_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the table of names. */
enum event_kind {
	EVENT_ARM,
	EVENT_CANCEL,
	EVENT_EXTEND,
	EVENT_RESUME,
	EVENT_LET_GO,
	EVENT_CASCADE,
	EVENT_MOVE,
	EVENT_EXPIRE,
	EVENT_STALE,
	EVENT_DELIVER,
	EVENT_FIRE,
	/* Not a tracepoint: the kernel had no room for some. */
	EVENT_LOST,
};

/**
 * struct event - what a line tells
 * @kind: which tracepoint
 * @time: of the trace's clock, ns; 0 with EVENT_LOST
 * @cpu: where
 * @armed: EVENT_ARM: it was armed before
 * @overdue: EVENT_EXPIRE, EVENT_DELIVER: it was armed for a time that had passed
 * @lost: EVENT_LOST: how many
 *
 * All others are as ../trace.h has them; 0 where the tracepoint has no such field.
 */
struct event {
	enum event_kind	kind;
	uint64_t	time;
	uint32_t	cpu;
	uint64_t	id;
	uint64_t	generation;
	uint64_t	cookie;
	uint64_t	deadline;
	uint64_t	ahead;
	uint64_t	late;
	uint64_t	unread;
	uint64_t	overruns;
	uint64_t	timers;
	int64_t		level;
	int64_t		slot;
	int64_t		from_level;
	int64_t		from_slot;
	bool		armed;
	bool		overdue;
	uint64_t	lost;
};

/* Of a tracepoint, without "twheel_"; NULL behind the last. */
const char *event_name(size_t i);
/* Is it about one arming of a timer? */
bool event_has_generation(enum event_kind kind);
/* Does it tell the wheel?  Else it tells a clock. */
bool event_is_of_wheel(size_t i);

/* Returns false if the line tells nothing. */
bool event_read(struct event *event, const char *line);

#endif
