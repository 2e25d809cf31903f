/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What has happened on a wheel, record by record, from either of two sources: the simulator, or the
 * tracepoints of a wheel in the kernel.
 *
 * A recording is text, a record on a line: what twheel sim --trace --json prints, or what tracefs,
 * trace-cmd report and perf script print of the events twheel:*.  Other lines are left out, but the
 * one that twheel top --record begins with.
 */
#ifndef TWHEEL_RECORDING_H
#define TWHEEL_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

/**
 * enum record_what - the kind of record
 * @RECORD_WOKEN: the system was woken, or an hrtimer has fired; it names no timer
 * @RECORD_PLACED: a timer was armed, or moved by its program
 * @RECORD_KEPT: likewise, and stays where it is
 * @RECORD_MOVED: a timer has come down
 * @RECORD_EXPIRED: a timer was found due
 * @RECORD_DELIVERED: its event was read; the simulator reads each event at once, and tells of none
 * @RECORD_CANCELLED: a timer was cancelled, or its event is not valid any more
 */
enum record_what {
	RECORD_WOKEN,
	RECORD_PLACED,
	RECORD_KEPT,
	RECORD_MOVED,
	RECORD_EXPIRED,
	RECORD_DELIVERED,
	RECORD_CANCELLED,
};

/* Beside the levels from 0 on: places that are no slots. */
enum {
	/* The trace does not tell the place. */
	LEVEL_UNKNOWN = -1,
	LEVEL_ORDER = -2,
	LEVEL_QUEUE = -3,
};

/**
 * struct record - what has happened
 * @what: the kind
 * @level: where the timer is now
 * @slot: of that level
 * @id: of the timer
 * @wheel: its number; 0: of the simulator, or of no wheel
 * @time: when, by the recording's clock
 * @deadline: when the timer is due, or was, by that clock; 0: nothing tells
 * @late: how long after its deadline it was found, if it has expired; less than 0: before that
 * @clock: what the wheel's clock told, if the record tells that, or 0
 * @rounds: that it has to wait still
 * @span: how long a slot of that level is; 0: the recording does not tell
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
 * @record: they
 * @nr: how many
 * @size: for how many there is room
 * @slots: of a level, if the recording tells
 * @tick: likewise
 * @is_trace: it is of tracepoints, whose clock began at no time that matters
 * @knows_ahead: it tells by how much the wheel's clock is ahead
 * @ahead: by that
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

/* How a line of twheel top --record begins that says tick, slots and ahead of a wheel. */
#define RECORDING_SHAPE	"# twheel-top:"

/* For a struct sim_observer, whose data is a recording. */
void recording_of_event(void *data, const struct sim_event *event);

/* Of a line of a recording; false: it tells of nothing that belongs there. */
bool recording_of_line(struct recording *recording, const char *line);

/* What the first line of a file says that the file is. */
enum recording_kind { RECORDING_NONE, RECORDING_JSON, RECORDING_TRACE, RECORDING_TEXT };
enum recording_kind recording_kind(const char *line);

/* All is there: tell deadlines by the recording's clock from now on, as far as that is known. */
void recording_end(struct recording *recording);

void recording_free(struct recording *recording);

#endif
