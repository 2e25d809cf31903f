/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel in the kernel, while it turns.
 *
 * Its tracepoints tell what happens, if this process may see them.  They are read in an instance of
 * tracefs, so no other tracing is disturbed; it is removed at the end.  Timers that were armed
 * before are listed, and placed by their deadlines, as the wheel would file them now.  A process
 * that may not see tracepoints lists all timers once a second.
 */
#ifndef TWHEEL_TOP_LIVE_H
#define TWHEEL_TOP_LIVE_H

#include <stdio.h>

#include "info.h"
#include "recording.h"
#include "target.h"

/**
 * struct live - a wheel that is looked at
 * @target: who holds it
 * @info: its shape, and its counters when they were read last
 * @ahead: its clock is ahead of CLOCK_MONOTONIC by that
 * @instance: the folder in tracefs, or "": timers are listed
 * @pipe: what happens, as text; -1: timers are listed
 * @part: of a line that has not ended yet
 * @len: of that
 * @record: where the text goes, too; or NULL
 * @listed: by id, the timers of the last list
 * @ids: how many
 * @list_again: when they are listed again
 * @lost: events that the kernel had to drop
 * @is_closed: the wheel is not there any more
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
	bool *listed;
	uint32_t ids;
	uint64_t list_again;
	uint64_t lost;
	bool is_closed;
};

/* Ends the program with one line if that can't be. */
void live_start(struct live *live, struct recording *recording, const struct target *target,
		const char *record);
/* What has happened since. */
void live_poll(struct live *live, struct recording *recording);
/* False if not all could be recorded. */
bool live_end(struct live *live);

/* CLOCK_MONOTONIC, by which records tell their times. */
uint64_t live_now(void);

static inline bool live_is_traced(const struct live *live)
{
	return live->pipe >= 0;
}

#endif
