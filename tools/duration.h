/* SPDX-License-Identifier: GPL-2.0 */
/* Durations as people write them: 250ms, 1h30m, 1.5s. */
#ifndef TWHEEL_DURATION_H
#define TWHEEL_DURATION_H

#include <stdint.h>

#define NSEC_PER_USEC	1000ULL
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL

/* The limit of a relative time: below 2^63 ns, about 292 years. */
#define DURATION_MAX	((uint64_t)INT64_MAX)

/* Room for every text that the functions below write. */
#define DURATION_LEN	48

/**
 * duration_parse - read a duration
 * @text: one or more numbers with a unit (d, h, m, s, ms, us, ns), the larger
 *	unit first; a number may have a decimal fraction.  "0" needs no unit.
 * @ns: out: the duration in nanoseconds
 *
 * Returns NULL, or what is wrong with @text and what to do about it, to be
 * printed after "TEXT: ".
 */
const char *duration_parse(const char *text, uint64_t *ns);

/**
 * duration_exact - write a duration so that duration_parse() gives it back
 * @buf: at least DURATION_LEN bytes
 * @ns: the duration
 *
 * Returns @buf.
 */
char *duration_exact(char *buf, uint64_t ns);

/**
 * duration_short - write a duration for people: four digits are enough
 * @buf: at least DURATION_LEN bytes
 * @ns: the duration
 *
 * Returns @buf.
 */
char *duration_short(char *buf, uint64_t ns);

#endif
