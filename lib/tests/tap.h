/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of tests, in TAP. */
#ifndef TWHEEL_TESTS_TAP_H
#define TWHEEL_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_nr;
static bool tap_failed, tap_bad;

/* In a test: this must be so.  It goes on all the same. */
#define CHECK(what) tap_check((what), #what, __FILE__, __LINE__)

static inline bool tap_check(bool is, const char *what, const char *file, int line)
{
	if (!is) {
		tap_bad = true;
		printf("# %s:%d: not so: %s\n", file, line, what);
	}
	return is;
}

/* The end of a test. */
static inline __attribute__((format(printf, 1, 2))) void tap_result(const char *format, ...)
{
	va_list args;

	printf("%sok %u - ", tap_bad ? "not " : "", ++tap_nr);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	tap_failed |= tap_bad;
	tap_bad = false;
}

static inline int tap_end(void)
{
	printf("1..%u\n", tap_nr);
	return tap_failed;
}

#endif
