// SPDX-License-Identifier: GPL-2.0
/* Time, and who used the processors meanwhile. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
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

/* Sleep until a file is readable, and tell; or until it is time. */
bool wait_until(int fd, uint64_t when)
{
	struct pollfd what = { .fd = fd, .events = POLLIN };
	uint64_t now = now_ns(), span = when > now ? when - now : 0;
	struct timespec ts = { .tv_sec = span / NSEC, .tv_nsec = span % NSEC };
	int nr = ppoll(&what, 1, &ts, NULL);

	if (nr < 0 && errno != EINTR)
		die("ppoll: %m");
	return nr > 0;
}

/* The one timerfd of those who keep their timers themselves. */
int alarm_open(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0)
		die("timerfd_create: %m");
	return fd;
}

/* 0: never; also, it is not readable any more. */
void alarm_set(int fd, uint64_t when)
{
	struct itimerspec timer = {
		.it_value = { .tv_sec = when / NSEC, .tv_nsec = when % NSEC },
	};

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &timer, NULL))
		die("timerfd_settime: %m");
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
