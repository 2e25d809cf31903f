/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel in the kernel, while it turns.
 *
 * If this process may see tracepoints, it reads them in an instance of tracefs, so other tracing is
 * not disturbed; the instance is removed at the end, or by the next such process.  Timers that were
 * armed before are listed, and placed by their deadlines, as the wheel would file them now.  They
 * are listed again after events were lost, at most once a second.  A process that may not see
 * tracepoints lists all timers once a second.
 */
#ifndef TWHEEL_TOP_LIVE_H
#define TWHEEL_TOP_LIVE_H

#include <stdio.h>

#include "info.h"
#include "recording.h"
#include "target.h"

/**
 * struct live - a wheel in the kernel
 * @target: the process that holds it
 * @info: its shape, and its counters as read last
 * @ahead: how far its clock is ahead of CLOCK_MONOTONIC
 * @instance: the folder in tracefs; "": timers are listed
 * @pipe: the events as text; -1: timers are listed
 * @part: the beginning of a line that is not complete yet
 * @len: length of @part
 * @record: the text is written here as well; or NULL
 * @list_again: when the timers may be listed again
 * @has_gap: events were lost since the timers were listed, or they could not be
 * @lost: number of events that the kernel or this process dropped
 * @is_closed: the wheel was closed
 */
struct live {
	struct target target;
	struct info info;
	int64_t ahead;
	char instance[128];
	int pipe;
	char part[1024];
	size_t len;
	FILE *record;
	uint64_t list_again;
	bool has_gap;
	uint64_t lost;
	bool is_closed;
};

/* Exits with a message if the wheel can be neither traced nor listed. */
void live_start(struct live *live, struct recording *recording, const struct target *target,
		const char *record);
/*
 * Add the records since the last call.  While a paused or slow screen leaves too many in
 * @recording, the events are written to the file of --record, and dropped.
 */
void live_poll(struct live *live, struct recording *recording);
/* Returns false if the recording could not be written completely. */
bool live_end(struct live *live);

/* CLOCK_MONOTONIC, the clock of the records. */
uint64_t live_now(void);

static inline bool live_is_traced(const struct live *live)
{
	return live->pipe >= 0;
}

#endif
