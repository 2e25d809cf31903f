// SPDX-License-Identifier: GPL-2.0
/* Time, and who used the processors meanwhile. */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

void sleep_until(uint64_t when)
{
	struct timespec ts = { .tv_sec = when / NSEC, .tv_nsec = when % NSEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* To the last processor, away from what interrupts the first; or to none. */
void pin(bool on)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (long cpu = on ? nr - 1 : 0; cpu < nr; cpu++)
		CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity: %m");
}

/*
 * How long the processors have not been idle, all together: whatever ran,
 * in interrupts, softirqs, workers or programs.
 *
 * Taken as what is left of the time when idle and iowait are subtracted. On a
 * kernel with tickless idle these two are measured, from each entry into idle
 * to the next interrupt, and only told in steps of 10 ms. The other columns
 * of /proc/stat are counted by the tick, which sees little of what timers do:
 * they run right before or after it.
 */
double busy_seconds(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long long user, nice, system, idle, iowait;
	FILE *file = fopen("/proc/stat", "r");
	double hz = sysconf(_SC_CLK_TCK);
	double now;

	if (!file || fscanf(file, "cpu %llu %llu %llu %llu %llu", &user, &nice,
			    &system, &idle, &iowait) != 5)
		die("/proc/stat: %m");
	now = now_ns() / (double)NSEC;
	fclose(file);
	return now * nr - (idle + iowait) / hz;
}

/* Of all processors' own timers; the hrtimers' and the tick's. */
uint64_t timer_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	uint64_t sum = 0;
	char line[4096];

	if (!file)
		die("/proc/interrupts: %m");
	while (fgets(line, sizeof(line), file)) {
		char *at = strstr(line, "LOC:");

		if (!at)
			continue;
		for (at += 4; *at; ) {
			while (*at == ' ')
				at++;
			if (!isdigit(*at))
				break;
			sum += strtoull(at, &at, 10);
		}
	}
	fclose(file);
	return sum;
}
