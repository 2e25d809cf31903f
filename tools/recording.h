/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a wheel as records, from the simulator or from the tracepoints of a wheel in the
 * kernel.
 *
 * A recording is text with a record on each line: the output of twheel sim --trace --json, or the
 * events twheel:* as tracefs, trace-cmd report and perf script print them.  Other lines are
 * skipped, except the first line of twheel top --record, and so are records with numbers that no
 * wheel has.
 */
#ifndef TWHEEL_RECORDING_H
#define TWHEEL_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

/**
 * enum record_what - the kind of record
 * @RECORD_WOKEN: the system was woken, or an hrtimer has fired; no timer is named
 * @RECORD_PLACED: a timer was armed, or moved by its program
 * @RECORD_KEPT: likewise, and the timer stays where it is
 * @RECORD_FILED: a timer is filed for its next period, or by its word
 * @RECORD_MOVED: the system has moved a timer
 * @RECORD_EXPIRED: a timer was found due
 * @RECORD_DELIVERED: its event was read; not from the simulator, which reads each event at once
 * @RECORD_CANCELLED: a timer was cancelled, or its event has become stale
 * @RECORD_LISTED: what is known of the timers ends here; a list of them follows, as @RECORD_PLACED
 */
enum record_what {
	RECORD_WOKEN,
	RECORD_PLACED,
	RECORD_KEPT,
	RECORD_FILED,
	RECORD_MOVED,
	RECORD_EXPIRED,
	RECORD_DELIVERED,
	RECORD_CANCELLED,
	RECORD_LISTED,
};

/* Places other than slots, in addition to the levels from 0 on. */
enum {
	/* The trace does not have the place. */
	LEVEL_UNKNOWN = -1,
	LEVEL_ORDER = -2,
	LEVEL_QUEUE = -3,
};

/**
 * struct record - an event
 * @what: its kind
 * @level: where the timer is now
 * @slot: of that level
 * @id: of the timer
 * @wheel: its number; 0: of the simulator, or of no wheel
 * @time: when, by the recording's clock
 * @deadline: when the timer is due, or was, by that clock; 0: unknown
 * @late: lateness of an expired timer; negative: it was early
 * @clock: the time of the wheel's clock; 0: unknown
 * @rounds: turns of the wheel before its own
 * @span: the length of a slot of that level; 0: unknown
 */
struct record {
	enum record_what	what;
	int32_t			level;
	uint32_t		slot;
	uint32_t		id;
	uint64_t		wheel;
	uint64_t		time;
	uint64_t		deadline;
	int64_t			late;
	uint64_t		clock;
	uint64_t		rounds;
	uint64_t		span;
};

/**
 * struct recording - records, in their order
 * @name: of the system, or of the file
 * @record: the records
 * @nr: number of records
 * @size: room for this many
 * @slots: of a level; 0: unknown
 * @tick: of the wheel; 0: unknown
 * @is_trace: it has tracepoints, and the zero of their clock has no meaning
 * @knows_ahead: the recording has @ahead
 * @ahead: how far the wheel's clock is ahead of the recording's clock
 */
struct recording {
	char		name[64];
	struct record	*record;
	size_t		nr;
	size_t		size;
	uint32_t	slots;
	uint64_t	tick;
	bool		is_trace;
	bool		knows_ahead;
	int64_t		ahead;
};

/* The line of twheel top --record with tick, slots and ahead of a wheel begins with this. */
#define RECORDING_SHAPE	"# twheel-top:"

/* Callback of a struct sim_observer; its data is a recording. */
void recording_of_event(void *data, const struct sim_event *event);

/* Add the record of a line.  Returns false if the line has none. */
bool recording_of_line(struct recording *recording, const char *line);

/* Does a text begin as a recording, which may have no record? */
bool recording_begins(const char *text);

/* After the last line: convert deadlines to the recording's clock, as far as that is known. */
void recording_end(struct recording *recording);

void recording_free(struct recording *recording);

#endif
