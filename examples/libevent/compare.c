// SPDX-License-Identifier: MIT
/*
 * What timers of libevent's cost, and those of a wheel behind one event of it:
 *
 *	compare NUMBER ...	with so many timers
 *
 * and whether the wheel's come as they should.  TAP.
 */
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wheel.h"

#define MS	1000000ULL
#define SECOND	(1000 * MS)

/* So long a timer has to go at first, and when it is pushed back. */
#define TIMEOUT	(30 * SECOND)
/* What is to expire expires within so long. */
#define SOON	(20 * MS)
#define REPEATS	5

enum kind { HEAP, COMMON, WHEEL, KINDS };
enum step { ADD, PUSH_BACK, DEL, EXPIRE, STEPS };

static const char *const kinds[] = { "heap", "common", "wheel" };
static const char *const steps[] = { "first add", "push back, at random", "delete, at random",
				     "add, and expire with its call" };

struct timers {
	enum kind		kind;
	uint32_t		nr;
	struct event_base	*base;
	struct event		**events;
	const struct timeval	*common;
	struct wheel		*wheel;
	uint32_t		*order;
	uint64_t		*due;
	uint32_t		called;
	uint32_t		wrong;
};

static void *must(void *pointer)
{
	if (pointer)
		return pointer;
	perror("compare");
	exit(1);
}

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Time that all processors were not idle, softirqs included, ns. */
static uint64_t busy(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *file = must(fopen("/proc/stat", "r"));
	int nr = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			&idle, &iowait, &irq, &softirq);

	fclose(file);
	return nr == 7 ? (user + nice + system + irq + softirq) * SECOND / sysconf(_SC_CLK_TCK)
		       : 0;
}

static void call(uint32_t id, void *arg)
{
	struct timers *timers = arg;

	timers->called++;
	/* Early, or for the second time. */
	timers->wrong += now(CLOCK_MONOTONIC) < timers->due[id] || !timers->due[id];
	timers->due[id] = 0;
	if (timers->called == timers->nr)
		event_base_loopbreak(timers->base);
}

struct libevent_timer {
	struct timers	*timers;
	uint32_t	id;
};

static void call_event(evutil_socket_t fd, short what, void *arg)
{
	const struct libevent_timer *timer = arg;

	(void)fd;
	(void)what;
	call(timer->id, timer->timers);
}

static void open_timers(struct timers *timers, struct libevent_timer *own)
{
	const struct timeval thirty = { TIMEOUT / SECOND, 0 };

	timers->base = must(event_base_new());
	if (timers->kind == WHEEL) {
		int ret = wheel_new(&timers->wheel, timers->base, timers->nr, call, timers);

		if (ret) {
			fprintf(stderr, "no wheel: %s\n", strerror(-ret));
			exit(1);
		}
		return;
	}
	if (timers->kind == COMMON)
		timers->common = must((void *)event_base_init_common_timeout(timers->base,
									     &thirty));
	timers->events = must(calloc(timers->nr, sizeof(*timers->events)));
	for (uint32_t id = 0; id < timers->nr; id++) {
		own[id] = (struct libevent_timer){ timers, id };
		timers->events[id] = must(evtimer_new(timers->base, call_event, &own[id]));
	}
}

static void close_timers(struct timers *timers)
{
	for (uint32_t id = 0; timers->events && id < timers->nr; id++)
		event_free(timers->events[id]);
	free(timers->events);
	if (timers->wheel)
		wheel_free(timers->wheel);
	event_base_free(timers->base);
}

static void add(struct timers *timers, uint32_t id, uint64_t ns)
{
	const struct timeval in = { ns / SECOND, ns % SECOND / 1000 };

	if (timers->wheel)
		wheel_add(timers->wheel, id, ns);
	else
		event_add(timers->events[id], timers->common ? timers->common : &in);
}

/* Another order each time. */
static void shuffle(struct timers *timers)
{
	for (uint32_t i = timers->nr - 1; i; i--) {
		uint32_t other = random() % (i + 1), id = timers->order[i];

		timers->order[i] = timers->order[other];
		timers->order[other] = id;
	}
}

/* All of them, once: ns of each. */
static double step(struct timers *timers, enum step what)
{
	uint64_t start;

	shuffle(timers);
	if (what == EXPIRE) {
		start = busy();
		for (uint32_t id = 0; id < timers->nr; id++) {
			uint64_t in = random() % SOON;

			timers->due[id] = now(CLOCK_MONOTONIC) + in;
			add(timers, id, in);
		}
		timers->called = 0;
		event_base_dispatch(timers->base);
		return (double)(busy() - start) / timers->nr;
	}
	start = now(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < timers->nr; i++) {
		uint32_t id = timers->order[i];

		if (what == DEL && timers->wheel)
			wheel_del(timers->wheel, id);
		else if (what == DEL)
			event_del(timers->events[id]);
		else
			add(timers, id, TIMEOUT);
	}
	return (double)(now(CLOCK_MONOTONIC) - start) / timers->nr;
}

static int smaller(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Medians of some runs; 0: there is none, as a common timeout is one for all. */
static void measure(struct timers *timers, double medians[STEPS])
{
	/* The clock of busy() is coarse. */
	const unsigned int rounds = timers->nr < 50000 ? 50000 / timers->nr : 1;
	struct libevent_timer *own = must(calloc(timers->nr, sizeof(*own)));
	double runs[STEPS][REPEATS] = { };

	for (unsigned int run = 0; run < REPEATS; run++) {
		open_timers(timers, own);
		for (enum step what = ADD; what < EXPIRE; what++)
			runs[what][run] = step(timers, what);
		for (unsigned int i = 0; timers->kind != COMMON && i < rounds; i++)
			runs[EXPIRE][run] += step(timers, EXPIRE) / rounds;
		close_timers(timers);
	}
	for (enum step what = 0; what < STEPS; what++) {
		qsort(runs[what], REPEATS, sizeof(double), smaller);
		medians[what] = runs[what][REPEATS / 2];
	}
	free(own);
}

/* The same for each kind; a line of TAP for the wheel. */
static bool compare(int test, uint32_t nr)
{
	double medians[KINDS][STEPS];
	uint32_t wrong = 0;

	printf("# %u timers: ns of each        ", nr);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct timers timers = {
			.kind = kind,
			.nr = nr,
			.order = must(calloc(nr, sizeof(uint32_t))),
			.due = must(calloc(nr, sizeof(uint64_t))),
		};

		for (uint32_t id = 0; id < nr; id++)
			timers.order[id] = id;
		measure(&timers, medians[kind]);
		if (kind == WHEEL)
			wrong = timers.wrong;
		free(timers.order);
		free(timers.due);
		printf("%10s", kinds[kind]);
	}
	printf("   wheel gains\n");
	for (enum step what = 0; what < STEPS; what++) {
		double best = medians[HEAP][what];

		if (medians[COMMON][what] && medians[COMMON][what] < best)
			best = medians[COMMON][what];
		printf("#   %-30s", steps[what]);
		for (enum kind kind = 0; kind < KINDS; kind++) {
			if (medians[kind][what])
				printf("%10.0f", medians[kind][what]);
			else
				printf("%10s", "-");
		}
		printf("   %s\n", medians[WHEEL][what] < best ? "yes" : "no");
	}
	printf("%sok %d - %u timers of the wheel call, each once, none early\n",
	       wrong ? "not " : "", test, nr);
	return !wrong;
}

int main(int argc, char **argv)
{
	bool good = true;

	if (argc < 2) {
		fprintf(stderr, "usage: compare NUMBER ...\n");
		return 2;
	}
	setlinebuf(stdout);
	printf("TAP version 13\n");
	for (int i = 1; i < argc; i++)
		good &= compare(i, strtoul(argv[i], NULL, 10));
	printf("1..%d\n", argc - 1);
	return !good;
}
