/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations for a simulation: from a script, one on a line, or made up.
 *
 *	arm ID DURATION [every DURATION [times N]]
 *	extend ID DURATION	from now; with + in front, from its deadline
 *	cancel ID
 *	at DURATION		let time pass until the clock tells this
 *	run DURATION		let so much time pass
 *	run			until no timer is armed
 *	where ID		tell where it waits
 *	stop			take no more, and tell what is left
 */
#ifndef TWHEEL_SIM_SCRIPT_H
#define TWHEEL_SIM_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum op_kind { OP_ARM, OP_EXTEND, OP_PUSH_BACK, OP_CANCEL, OP_AT, OP_RUN, OP_RUN_ALL, OP_WHERE,
	       OP_STOP };

/**
 * struct op - an operation
 * @kind: which one; OP_PUSH_BACK is an extend with +
 * @line: of the script
 * @id: of the timer
 * @time: what it is told, in ns
 * @interval: arm: its period, or 0
 * @times: arm: how often; 0: for ever
 */
struct op {
	enum op_kind	kind;
	uint32_t	line;
	uint32_t	id;
	uint64_t	time;
	uint64_t	interval;
	uint32_t	times;
};

const char *op_name(enum op_kind kind);

/**
 * struct script - what a script says
 * @name: of its file, for messages
 * @op: the operations
 * @nr: how many
 * @size: for how many there is room
 */
struct script {
	const char	*name;
	struct op	*op;
	size_t		nr;
	size_t		size;
};

/* Ends the program if there is a line that it does not understand. */
void script_read(struct script *script, FILE *file, const char *name);
void script_free(struct script *script);

/* Timers are armed over that time, unless at once, for up to that time. */
#define LOAD_SPAN	(60 * 1000000000ULL)

/**
 * struct load - operations that are made up: a server that works off requests
 * @timers: so many are armed, evenly over LOAD_SPAN, each for a random time up to that
 * @at_once: all are armed at the beginning, for at least a second; after that the rest follows
 * @extended: of a hundred, how many are pushed back, half a second later, by the same rule
 * @cancelled: of a hundred, how many are cancelled, a second later
 * @seed: which random numbers
 * @nr: the timer that it has come to
 * @step: what is next for it
 */
struct load {
	uint32_t	timers;
	bool		at_once;
	uint32_t	extended;
	uint32_t	cancelled;
	uint64_t	seed;
	uint32_t	nr;
	uint32_t	step;
};

/* The next operation; false: there is none. */
bool load_next(struct load *load, struct op *op);

#endif
