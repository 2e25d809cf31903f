/* SPDX-License-Identifier: GPL-2.0 */
/* A wheel as its records so far have made it: the timers of each slot, and counters. */
#ifndef TWHEEL_TOP_MODEL_H
#define TWHEEL_TOP_MODEL_H

#include "plot/lives.h"
#include "recording.h"

#define MODEL_LEVELS	16
/* This many of the last moves down are kept, each from a slot to a level. */
#define MODEL_MOVES	8

/**
 * struct ring - a level
 * @count: number of timers, by slot
 * @size: number of slots
 * @timers: number of timers in all slots
 * @span: the length of a slot; 0: unknown
 */
struct ring {
	uint32_t	*count;
	uint32_t	size;
	uint32_t	timers;
	uint64_t	span;
};

/**
 * struct move - timers that came down together
 * @time: when
 * @from: the level that they left
 * @slot: of that level
 * @to: the level that they came to
 * @to_slot: the slot of the last of them
 * @timers: number of timers
 */
struct move {
	uint64_t	time;
	int32_t		from;
	uint32_t	slot;
	int32_t		to;
	uint32_t	to_slot;
	uint32_t	timers;
};

/**
 * struct counts - number of events of each kind
 */
struct counts {
	uint64_t	armed;
	uint64_t	moved;
	uint64_t	expired;
	uint64_t	cancelled;
	uint64_t	woken;
};

/**
 * struct waiting - a timer
 * @deadline: when it is due; 0: unknown
 * @level: its place
 * @slot: of that level
 * @is_armed: it waits there
 */
struct waiting {
	uint64_t	deadline;
	int32_t		level;
	uint32_t	slot;
	bool		is_armed;
};

/**
 * struct model - a wheel
 * @recording: has its shape, as far as that is known
 * @wheel: its number; records of other wheels are skipped
 * @time: of the last record
 * @zero: the time of tick 0
 * @has_zero: @zero is set
 * @ring: its levels
 * @levels: number of levels used so far
 * @elsewhere: number of timers in no slot, by -1 - level
 * @timer: timers by id
 * @ids: room for this many ids
 * @armed: number of armed timers
 * @counts: the events so far
 * @late: number of expired timers, by lateness_class()
 * @late_max: the largest lateness
 * @move: the last moves down, the newest first
 */
struct model {
	const struct recording	*recording;
	uint64_t		wheel;
	uint64_t		time;
	uint64_t		zero;
	bool			has_zero;
	struct ring		ring[MODEL_LEVELS];
	unsigned int		levels;
	uint32_t		elsewhere[-LEVEL_QUEUE];
	struct waiting		*timer;
	size_t			ids;
	uint32_t		armed;
	struct counts		counts;
	uint64_t		late[LATE_CLASSES];
	int64_t			late_max;
	struct move		move[MODEL_MOVES];
};

void model_start(struct model *model, const struct recording *recording, uint64_t wheel);
void model_end(struct model *model);
void model_take(struct model *model, const struct record *record);

/* The slot of a level's hand at @time.  Returns false if it is unknown. */
bool model_hand(const struct model *model, unsigned int level, uint64_t time, uint32_t *slot);
/* Returns the next deadline, or 0. */
uint64_t model_next(const struct model *model);

#endif
