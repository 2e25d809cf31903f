/* SPDX-License-Identifier: GPL-2.0 */
/* What a simulation prints: a line for each event, and the counters at the end. */
#ifndef TWHEEL_SIM_SHOW_H
#define TWHEEL_SIM_SHOW_H

#include "sim/script.h"
#include "sim/sim.h"

/**
 * struct show - how
 * @json: a JSON object for each line
 * @trace: also placements, moves and wake-ups, not only what has expired
 * @operation: the one that is carried out: a placed timer was armed or extended, or has come from
 *	a queue
 * @woken: wake-ups that are not printed yet, because many empty ones in a row are one line
 * @first: when the first of them was
 * @before: when the last but one
 * @last: when the last
 */
struct show {
	bool		json;
	bool		trace;
	enum op_kind	operation;
	uint64_t	woken;
	uint64_t	first;
	uint64_t	before;
	uint64_t	last;
};

/* An operation begins. */
void show_operation(struct show *show, enum op_kind operation);

/* Of an observer: @data is a struct show. */
void show_event(void *data, const struct sim_event *event);
/* The result of an operation that could not be carried out. */
void show_missed(struct show *show, struct sim *s, const struct op *op);
void show_refused(struct show *show, struct sim *s, const struct op *op, enum sim_result why);
void show_where(struct show *show, struct sim *s, uint32_t id);
/* All timers that are armed still. */
void show_left(struct show *show, struct sim *s);

/* What one system has done. */
void show_counters(struct show *show, const struct sim_system *system, struct sim *s);
/* A table with a row for each system. */
void show_head(void);
void show_row(const struct sim_system *system, struct sim *s);

#endif
