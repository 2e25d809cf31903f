// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>

#include "tap.h"

static unsigned int tap_nr;
static bool tap_failed, tap_bad;

bool tap_check(bool is, const char *what, const char *file, int line)
{
	if (!is) {
		tap_bad = true;
		printf("# %s:%d: not so: %s\n", file, line, what);
	}
	return is;
}

bool tap_is_bad(void)
{
	return tap_bad;
}

void tap_result(const char *format, ...)
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

int tap_end(void)
{
	printf("1..%u\n", tap_nr);
	return tap_failed;
}
