/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What JSON Lines of twheel sim --trace and of twheel trace tell: which timer waited where, from
 * when to when, and what became of it.  Of other lines, those of twheel sim --compare for example,
 * the counters.
 */
#ifndef TWHEEL_PLOT_STORY_H
#define TWHEEL_PLOT_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Levels from there on are drawn as one. */
#define STORY_LEVELS	5U

/**
 * enum story_place - where a timer waits
 * @STORY_LEVEL: the first of STORY_LEVELS: in a slot of this level, or of one further up
 * @STORY_QUEUE: in front of the slots
 * @STORY_ORDER: in one order of all timers
 * @STORY_UNKNOWN: it is armed, and nothing tells where
 * @STORY_UNREAD: it was found due, and its event waits to be delivered
 */
enum story_place {
	STORY_LEVEL,
	STORY_QUEUE = STORY_LEVELS,
	STORY_ORDER,
	STORY_UNKNOWN,
	STORY_UNREAD,
	STORY_PLACES,
};

/**
 * struct story_bar - a timer stays in one place
 * @timer: which, in the order in which they are told of
 * @place: enum story_place
 * @level: if it is in a slot
 * @slot: likewise
 * @from: ns
 * @to: ns
 */
struct story_bar {
	uint32_t	timer;
	uint32_t	place;
	uint32_t	level;
	uint32_t	slot;
	uint64_t	from;
	uint64_t	to;
};

enum story_what {
	STORY_MOVED,
	STORY_PUSHED_BACK,
	STORY_CANCELLED,
	STORY_EXPIRED,
	STORY_DELIVERED,
	STORY_STALE,
	STORY_WHATS,
};

/**
 * struct story_mark - something that happens to a timer at once
 * @what: enum story_what
 * @timer: which
 * @at: ns
 * @deadline: STORY_EXPIRED: when it was due
 * @late: STORY_EXPIRED: how long after its deadline, ns
 * @early: STORY_EXPIRED: it came before that
 */
struct story_mark {
	uint32_t	what;
	uint32_t	timer;
	uint64_t	at;
	uint64_t	deadline;
	uint64_t	late;
	bool		early;
};

/**
 * struct story_wake - somebody woke up, or an hrtimer has fired
 * @at: ns
 * @of_use: before the next one something was found due, was moved, or has left a queue
 */
struct story_wake {
	uint64_t	at;
	bool		of_use;
};

#define STORY_NAME	16

/**
 * struct story_costs - the counters of a system, as struct sim_counters has them
 * @system: which, in the order in which they are told of
 */
struct story_costs {
	uint32_t	system;
	uint64_t	slots;
	uint64_t	inserts;
	uint64_t	periods;
	uint64_t	moves;
	uint64_t	passed;
	uint64_t	wakeups;
	uint64_t	empty;
	uint64_t	late_mean;
	uint64_t	memory;
};

/**
 * struct story - all of it
 * @begin: the first time at which something is told of a timer
 * @end: the last one
 * @id: of each timer
 * @nr_timers: how many
 * @bar: @nr_bars of them, in the order in which they begin
 * @mark: @nr_marks of them, in their order
 * @count: marks, by what they are
 * @wake: @nr_wakes of them, in their order
 * @system: the names of @nr_systems, cut off
 * @costs: @nr_costs of them, in the order in which they are told
 * @lost: events that the kernel had no room for
 */
struct story {
	uint64_t		begin;
	uint64_t		end;
	uint32_t		*id;
	size_t			nr_timers;
	struct story_bar	*bar;
	size_t			nr_bars;
	struct story_mark	*mark;
	size_t			nr_marks;
	size_t			count[STORY_WHATS];
	struct story_wake	*wake;
	size_t			nr_wakes;
	char			(*system)[STORY_NAME];
	size_t			nr_systems;
	struct story_costs	*costs;
	size_t			nr_costs;
	uint64_t		lost;
};

/* Ends the program if there is a line that it does not understand. */
void story_read(struct story *story, FILE *file, const char *name);
void story_free(struct story *story);

#endif
