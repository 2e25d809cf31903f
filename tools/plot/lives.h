/* SPDX-License-Identifier: GPL-2.0 */
/* The lives of timers: where each waited, from when to when, and how that ended. */
#ifndef TWHEEL_PLOT_LIVES_H
#define TWHEEL_PLOT_LIVES_H

#include "recording.h"

/**
 * enum stay_end - how a timer's stay in a place ended
 * @STAY_OPEN: it lasts beyond the end of the recording
 * @STAY_MOVED: the timer was moved
 * @STAY_REARMED: it was armed or filed again
 * @STAY_EXPIRED: it was found due
 * @STAY_CANCELLED: it was cancelled
 * @STAY_LISTED: all timers were listed; a timer that was still armed has a stay from then on
 */
enum stay_end { STAY_OPEN, STAY_MOVED, STAY_REARMED, STAY_EXPIRED, STAY_CANCELLED, STAY_LISTED };

#define NO_STAY		SIZE_MAX

/**
 * struct stay - a timer in a place
 * @id: of the timer
 * @level: of the place, or which kind of place
 * @slot: of that level
 * @rounds: turns of the wheel that it had to wait
 * @span: the length of a slot of that level
 * @from: when the timer came there
 * @to: when it left
 * @deadline: of the timer; 0: unknown
 * @came_down: the timer came from a stay that ended as STAY_MOVED
 * @end: how the stay ended
 * @late: lateness, if it expired
 * @delivered: when its event was read; 0: it was not, or it did not expire
 * @next: the stay that follows, or NO_STAY
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
	bool		came_down;
	enum stay_end	end;
	int64_t		late;
	uint64_t	delivered;
	size_t		next;
};

/**
 * struct wake - a wake-up of a system, or an hrtimer that has fired
 * @time: when
 * @of_use: a timer expired or was moved before the next wake-up
 */
struct wake {
	uint64_t	time;
	bool		of_use;
};

/**
 * struct lives - of the timers of one wheel
 * @name: of the system, or the wheel
 * @is_trace: from tracepoints
 * @slots: of a level; 0: unknown
 * @stay: the stays, by their beginnings
 * @nr: number of stays
 * @wake: the wake-ups
 * @wakes: number of wake-ups
 * @timers: number of ids
 * @begin: time of the first record of a timer
 * @end: time of the last
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
 * struct choice - the wanted part of a recording
 * @first: the smallest id
 * @last: the largest id
 * @from: leave out stays that ended earlier; a time since the first record for tracepoints
 * @to: leave out stays that began later
 */
struct choice {
	uint32_t	first;
	uint32_t	last;
	uint64_t	from;
	uint64_t	to;
};

/* Make the lives of one wheel.  Returns false if it has no timer. */
bool lives_of(struct lives *lives, const struct recording *recording, uint64_t wheel,
	      const struct choice *choice);
void lives_free(struct lives *lives);

/* Lateness, in classes that a picture can show. */
enum lateness_class { LATE_EARLY, LATE_NOT, LATE_100US, LATE_1MS, LATE_10MS, LATE_100MS, LATE_MORE,
		      LATE_CLASSES };
enum lateness_class lateness_class(int64_t late);

#endif
