/* SPDX-License-Identifier: GPL-2.0 */
/* The lives of timers: where each has waited, from when to when, and how that ended. */
#ifndef TWHEEL_PLOT_LIVES_H
#define TWHEEL_PLOT_LIVES_H

#include "recording.h"

/**
 * enum stay_end - how a timer's stay in a place has ended
 * @STAY_OPEN: the recording has ended before
 * @STAY_MOVED: the timer has come down
 * @STAY_REARMED: it was armed again
 * @STAY_EXPIRED: it was found due
 * @STAY_CANCELLED: it was cancelled
 */
enum stay_end { STAY_OPEN, STAY_MOVED, STAY_REARMED, STAY_EXPIRED, STAY_CANCELLED };

#define NO_STAY		SIZE_MAX

/**
 * struct stay - a timer in a place
 * @id: of the timer
 * @level: of the place, or which kind of place
 * @slot: of that level
 * @rounds: that it had to wait
 * @span: of a slot of that level
 * @from: when it came there
 * @to: when it left
 * @deadline: when it was to be due; 0: not known
 * @end: how it ended
 * @late: of an expired one
 * @delivered: when the event of an expired one was read, or 0
 * @next: the stay that the timer moved to, or NO_STAY
 */
struct stay {
	uint32_t	id;
	int32_t		level;
	uint32_t	slot;
	uint64_t	rounds;
	uint64_t	span;
	uint64_t	from;
	uint64_t	to;
	uint64_t	deadline;
	enum stay_end	end;
	int64_t		late;
	uint64_t	delivered;
	size_t		next;
};

/**
 * struct wake - a wake-up of a system, or an hrtimer that has fired
 * @time: when
 * @of_use: a timer has expired or was moved before the next
 */
struct wake {
	uint64_t	time;
	bool		of_use;
};

/**
 * struct lives - of the timers of one wheel
 * @name: of the system, or the wheel
 * @is_trace: of tracepoints
 * @slots: of a level, as far as is known
 * @stay: they, in the order in which they began
 * @nr: how many
 * @wake: wake-ups
 * @wakes: how many
 * @timers: ids that were seen
 * @begin: when the first record of a timer was
 * @end: when the last
 */
struct lives {
	char		name[64];
	bool		is_trace;
	uint32_t	slots;
	struct stay	*stay;
	size_t		nr;
	struct wake	*wake;
	size_t		wakes;
	uint32_t	timers;
	uint64_t	begin;
	uint64_t	end;
};

/**
 * struct choice - what of a recording is wanted
 * @first: no smaller ids
 * @last: no larger ones
 * @from: nothing that ended before, by the time since the recording began if it is of tracepoints
 * @to: nothing that began later
 */
struct choice {
	uint32_t	first;
	uint32_t	last;
	uint64_t	from;
	uint64_t	to;
};

/* The lives of one wheel.  Returns false if no timer is there. */
bool lives_of(struct lives *lives, const struct recording *recording, uint64_t wheel,
	      const struct choice *choice);
void lives_free(struct lives *lives);

/* How late, in classes that a picture can show. */
enum lateness_class { LATE_EARLY, LATE_NOT, LATE_100US, LATE_1MS, LATE_10MS, LATE_100MS, LATE_MORE,
		      LATE_CLASSES };
enum lateness_class lateness_class(int64_t late);

#endif
