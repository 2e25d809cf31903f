/* SPDX-License-Identifier: GPL-2.0 */
/* TAP output for the tests that run in user space. */
#ifndef TWHEEL_TESTS_TAP_H
#define TWHEEL_TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>

extern unsigned int tap_count, tap_failed;

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

#endif /* TWHEEL_TESTS_TAP_H */
