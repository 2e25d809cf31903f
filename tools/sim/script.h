/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations for a simulation: from a script, one on a line, or made up.
 *
 *	arm ID DURATION [every DURATION [times N]]
 *	extend ID DURATION	from now; with + in front, from its deadline
 *	cancel ID
 *	at DURATION		let time pass until the clock shows this
 *	run DURATION		let this much time pass
 *	run			let time pass until no timer is armed
 *	where ID		print where it waits
 *	stop			end, and print what is left
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
 * @time: its DURATION, ns
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

/* Exits if it does not understand a line. */
void script_read(struct script *script, FILE *file, const char *name);
void script_free(struct script *script);

/* Timers are armed over this time, unless at once, and for up to this time. */
#define LOAD_SPAN	(60 * 1000000000ULL)

/**
 * struct load - operations that are made up: a server that works off requests
 * @timers: how many are armed, evenly over LOAD_SPAN, each for a random time up to that
 * @at_once: arm all of them at the beginning, each for a second at least
 * @extended: of a hundred, how many are pushed back, half a second later, by the same rule
 * @cancelled: of a hundred, how many are cancelled, a second later
 * @seed: which random numbers
 * @nr: the timer that it has come to
 * @step: its next operation
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
