/* SPDX-License-Identifier: GPL-2.0 */
/* TAP output for the tests that run in user space. */
#ifndef TWHEEL_TESTS_TAP_H
#define TWHEEL_TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>

static unsigned int tap_count, tap_failed;

static inline void tap_plan(unsigned int n)
{
	printf("TAP version 13\n1..%u\n", n);
}

__attribute__((format(printf, 2, 3)))
static inline void tap(int good, const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", good ? "" : "not ", ++tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	tap_failed += !good;
}

static inline int tap_done(void)
{
	return tap_failed ? 1 : 0;
}

#endif /* TWHEEL_TESTS_TAP_H */
