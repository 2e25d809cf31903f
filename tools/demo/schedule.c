// SPDX-License-Identifier: GPL-2.0
/* The recorded schedule. */
#include <stdlib.h>

#include "duration.h"
#include "output.h"
#include "schedule.h"

/* Percent of the connections that fall silent. */
#define SILENT	60

/* splitmix64: a few lines, and the same numbers with every C library. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint64_t between(uint64_t *state, uint64_t from, uint64_t to)
{
	return from + next_random(state) % (to - from + 1);
}

static void add(struct schedule *schedule, size_t *size, uint64_t time, uint32_t connection,
		enum act act)
{
	if (schedule->nr_actions == *size) {
		*size = *size ? 2 * *size : 4096;
		schedule->actions = reallocarray(schedule->actions, *size,
						 sizeof(struct action));
		if (!schedule->actions)
			fail("out of memory for the schedule: use fewer --connections");
	}
	schedule->actions[schedule->nr_actions++] = (struct action){
		.time = time, .connection = connection, .act = act,
	};
}

static int by_time(const void *a, const void *b)
{
	const struct action *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->connection < y->connection ? -1 : x->connection > y->connection;
}

static void plan(struct schedule *schedule, size_t *size, uint32_t connection, uint64_t *random)
{
	struct plan *plan = &schedule->plans[connection];
	uint64_t until, time;

	plan->opens = schedule->ramp * connection / schedule->connections;
	plan->silent = next_random(random) % 100 < SILENT;
	/* Some are closed early enough that a timer left armed would come due. */
	until = plan->silent ? between(random, plan->opens, schedule->talk) :
		connection % 2 ? schedule->end : schedule->talk;

	add(schedule, size, plan->opens, connection, ACT_OPEN);
	for (time = plan->opens; ; plan->messages++) {
		if (plan->messages)
			add(schedule, size, time, connection, ACT_SAY);
		plan->last = time;
		time += between(random, schedule->min_gap, schedule->max_gap);
		if (time >= until) {
			plan->messages++;
			break;
		}
	}
	if (!plan->silent)
		add(schedule, size, until, connection, ACT_CLOSE);
	schedule->silent += plan->silent;
	schedule->messages += plan->messages;
}

void schedule_make(struct schedule *schedule)
{
	uint64_t random = schedule->seed;
	size_t size = 0;
	uint32_t i;

	schedule->ramp = schedule->timeout;
	schedule->talk = schedule->timeout * 28 / 10;
	/* The last deadline, and a second in which a late cut can be seen. */
	schedule->end = schedule->talk + schedule->timeout + NSEC_PER_SEC;
	/* A talking connection is far from its deadline, even on a slow machine. */
	schedule->min_gap = schedule->timeout / 4;
	schedule->max_gap = schedule->timeout / 2;

	schedule->plans = calloc(schedule->connections, sizeof(*schedule->plans));
	if (!schedule->plans)
		fail("out of memory for the schedule: use fewer --connections");
	for (i = 0; i < schedule->connections; i++)
		plan(schedule, &size, i, &random);
	qsort(schedule->actions, schedule->nr_actions, sizeof(struct action), by_time);
}

void schedule_free(struct schedule *schedule)
{
	free(schedule->plans);
	free(schedule->actions);
}
