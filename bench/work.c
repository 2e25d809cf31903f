// SPDX-License-Identifier: GPL-2.0
/*
 * Which timers are worked on, in which order, with which deadlines. All from
 * one fixed seed: every peer and every run of the benchmark gets the same.
 */
#include <stdlib.h>

#include "bench.h"

static uint64_t seed = 0x9e3779b97f4a7c15;

uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

struct work *work_alloc(uint32_t nr)
{
	struct work *work = calloc(nr, sizeof(*work));

	if (!work)
		die("no memory for %u timers", nr);
	for (uint32_t i = 0; i < nr; i++)
		work[i].id = i;
	return work;
}

/* Evenly spread over [from, from + span). */
void work_deadlines(struct work *work, uint32_t nr, uint64_t from, uint64_t span)
{
	for (uint32_t i = 0; i < nr; i++)
		work[i].deadline = from + random64() % span;
}

void work_later(struct work *work, uint32_t nr, uint64_t by)
{
	for (uint32_t i = 0; i < nr; i++)
		work[i].deadline += by;
}

void work_shuffle(struct work *work, uint32_t nr)
{
	for (uint32_t i = nr; i > 1; i--) {
		uint32_t j = random64() % i;
		struct work other = work[i - 1];

		work[i - 1] = work[j];
		work[j] = other;
	}
}
