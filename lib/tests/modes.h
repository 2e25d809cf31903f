/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Handles as the tests of the simulated kernel open them: in which mode, and what to expect.
 */
#ifndef TWHEEL_TESTS_MODES_H
#define TWHEEL_TESTS_MODES_H

#include <stdint.h>

#include "kernel.h"
#include "tap.h"
#include "twheel.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define MS		1000000ULL
#define CAPACITY	256U
#define WORDS		TWHEEL_FEATURE_WORDS

enum { MODES = 10 };

/*
 * What a handle is opened with, and what it has then: TWHEEL_HAS_*.  A fallback needs nothing of
 * the kernel; its tick is 1 ns, so that all of its times are as exact as those of the kernel here.
 */
struct mode {
	const char	*name;
	uint64_t	features;
	uint32_t	flags;
	unsigned int	has;
};

extern const struct mode modes[MODES];

#define words_mode	(&modes[0])
#define batch_mode	(&modes[1])
#define calls_mode	(&modes[3])

/* Does one thread have the handle to itself? */
static inline bool one_thread(const struct mode *mode)
{
	return mode->flags & TWHEEL_OPEN_ONE_THREAD;
}

/* Is the wheel in this process? */
static inline bool in_process(const struct mode *mode)
{
	return mode->flags & TWHEEL_OPEN_FALLBACK;
}

/* A wheel on a kernel that has just started; ends the program if there is none. */
struct twheel *boot(const struct mode *mode);
/* The same, on CLOCK_REALTIME. */
struct twheel *boot_realtime(const struct mode *mode);
/* Another handle of an open file. */
struct twheel *open_again(const struct mode *mode, int fd);

/* The next event is that of @id, and comes exactly at @deadline. */
void expect(struct twheel *w, uint32_t id, uint64_t deadline);
/* No event comes for @ns. */
void expect_none(struct twheel *w, uint64_t ns);

/* Of test-fallback.c: what only a wheel in the process has. */
void test_fallback(void);

/* Of test-some.c: what only some modes have. */
void test_some(void);

/* Of test-open.c: before all else, since fork() is prepared for once; and the rest. */
void test_first_open(const char *program);
void test_open(void);

#endif
