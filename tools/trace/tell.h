/* SPDX-License-Identifier: GPL-2.0 */
/* What twheel trace prints: a line for each event, in the words of twheel sim --trace. */
#ifndef TWHEEL_TRACE_TELL_H
#define TWHEEL_TRACE_TELL_H

#include <linux/twheel.h>

#include "trace/event.h"

struct listed;

/**
 * struct tell - how
 * @json: a JSON object for each line
 * @begin: when the trace began, by the wheel's clock; people are told the time from then
 * @clock: what to add to a time of the trace, to have the wheel's
 * @last: the last time that was told, first of all @begin
 * @listed: timers that were armed already, by id
 * @nr_listed: how many
 */
struct tell {
	bool		json;
	uint64_t	begin;
	uint64_t	clock;
	uint64_t	last;
	struct listed	*listed;
	size_t		nr_listed;
};

/*
 * A timer that is armed when the trace begins; @where may be NULL.  They come by id, before all
 * events.
 */
void tell_armed(struct tell *tell, const struct twheel_timer *timer,
		const struct twheel_where *where);
void tell_event(struct tell *tell, const struct event *event);
void tell_end(struct tell *tell);

#endif
