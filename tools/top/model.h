/* SPDX-License-Identifier: GPL-2.0 */
/* A wheel after so many records: which timers are in which slot, and what was done. */
#ifndef TWHEEL_TOP_MODEL_H
#define TWHEEL_TOP_MODEL_H

#include "plot/lives.h"
#include "recording.h"

#define MODEL_LEVELS	16
/* Falls that are remembered: from a slot to a level. */
#define MODEL_FALLS	8

/**
 * struct ring - a level
 * @count: timers, by slot
 * @size: slots of the ring
 * @timers: in all of them
 * @span: how long a slot is; 0: not known
 */
struct ring {
	uint32_t	*count;
	uint32_t	size;
	uint32_t	timers;
	uint64_t	span;
};

/**
 * struct fall - timers that have come down together
 * @time: when
 * @from: the level
 * @slot: of that
 * @to: the level that they came to
 * @to_slot: of the last of them
 * @timers: how many
 */
struct fall {
	uint64_t	time;
	int32_t		from;
	uint32_t	slot;
	int32_t		to;
	uint32_t	to_slot;
	uint32_t	timers;
};

/**
 * struct counts - how often
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
 * @deadline: when it is due, or 0
 * @level: where it is
 * @slot: of that level
 * @is_armed: and it waits there
 */
struct waiting {
	uint64_t	deadline;
	int32_t		level;
	uint32_t	slot;
	bool		is_armed;
};

/**
 * struct model - a wheel
 * @recording: what is known of its shape
 * @wheel: its number; records of others are left out
 * @time: of the last record
 * @ring: its levels
 * @levels: how many were used so far
 * @elsewhere: timers that are in no slot, by -1 - level
 * @timer: by id
 * @ids: how many there are of these
 * @armed: timers that wait
 * @counts: what has happened
 * @late: timers that have expired, by lateness_class()
 * @late_max: the latest
 * @fall: the last falls, the newest first
 */
struct model {
	const struct recording	*recording;
	uint64_t		wheel;
	uint64_t		time;
	struct ring		ring[MODEL_LEVELS];
	unsigned int		levels;
	uint32_t		elsewhere[-LEVEL_QUEUE];
	struct waiting		*timer;
	size_t			ids;
	uint32_t		armed;
	struct counts		counts;
	uint64_t		late[LATE_CLASSES];
	int64_t			late_max;
	struct fall		fall[MODEL_FALLS];
};

void model_start(struct model *model, const struct recording *recording, uint64_t wheel);
void model_end(struct model *model);
void model_take(struct model *model, const struct record *record);

/* The slot that a level's hand is at when the clock tells @time; false: it is not known. */
bool model_hand(const struct model *model, unsigned int level, uint64_t time, uint32_t *slot);
/* The next deadline, or 0. */
uint64_t model_next(const struct model *model);

#endif
