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
