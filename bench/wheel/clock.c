// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of the event loops that are measured beside the wheel: they ask the C library
 * what time it is, which is answered here, with the time of the program that they run.
 */
#include <dlfcn.h>
#include <time.h>

#include "clock.h"

/* ns; 0: the time that it really is */
uint64_t loop_clock;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	static int (*real)(clockid_t clock, struct timespec *ts);

	if (loop_clock && clock != CLOCK_PROCESS_CPUTIME_ID) {
		ts->tv_sec = loop_clock / 1000000000;
		ts->tv_nsec = loop_clock % 1000000000;
		return 0;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	return real(clock, ts);
}
