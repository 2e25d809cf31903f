/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of operations, in bytes: see program.c. */
#ifndef TWHEEL_TESTS_PROGRAM_H
#define TWHEEL_TESTS_PROGRAM_H

#include "../compat/user.h"

/* The first bytes say what the wheel is like, then come as many for a step. */
#define PROGRAM_STEP	8

/* The first bytes, for programs that are to have a certain shape. */
enum program_head {
	PROGRAM_LEVELS,		/* 0: as many as needed */
	PROGRAM_SLOTS,		/* an index */
	PROGRAM_TICK,		/* an index */
	PROGRAM_CAPACITY,	/* an index */
	PROGRAM_REACH,		/* how far deadlines are, as bits */
	PROGRAM_PACE,		/* how long steps of time are, as bits */
	PROGRAM_START,		/* the time at first */
	PROGRAM_CALM,		/* 1 of 4; and 2 of 4 have a clock that can be set */
};

/* What PROGRAM_SLOTS chooses from. */
#define PROGRAM_SLOT_COUNTS	{ 64, 4, 8, 16, 32, 128, 256, 512, 4096, 1, 5, 2048 }

const char *program_run(const u8 *bytes, size_t size, bool tell);
unsigned long program_operations(void);

#endif /* TWHEEL_TESTS_PROGRAM_H */
