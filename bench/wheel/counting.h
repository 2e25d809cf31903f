/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs whose instructions are counted have in common: always the same work,
 * for it knows no clock and no addresses, and has one seed.
 */
#ifndef TWHEEL_BENCH_COUNTING_H
#define TWHEEL_BENCH_COUNTING_H

#include <stdio.h>
#ifdef COUNT_BY_CLOCK
#include <time.h>
#else
#include <valgrind/callgrind.h>
#endif

#include "unit.h"

#define TIMERS	100000U
#define SPAN	300000U
#define STEPS	1000U

static struct work *work;
static u64 seed = 0x9e3779b97f4a7c15ULL;

void *host_alloc(size_t size)
{
	void *p = aligned_alloc(4096, (size + 4095) & ~4095UL);

	if (!p) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return memset(p, 0, size);
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* Counts what runs in between as that of @nr operations. */
#ifdef COUNT_BY_CLOCK
/* In a machine whose time is its instructions, 1 ns each: vm/run --icount. */
static u64 instructions(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

#define COUNT(name, nr, ...) do {					\
	u64 before = instructions();					\
									\
	__VA_ARGS__;							\
	printf("%s %llu %llu\n", name, (unsigned long long)(nr),	\
	       (unsigned long long)(instructions() - before));		\
} while (0)
#else
#define COUNT(name, nr, ...) do {					\
	CALLGRIND_ZERO_STATS;						\
	__VA_ARGS__;							\
	CALLGRIND_DUMP_STATS_AT(name);					\
	printf("%s %llu\n", name, (unsigned long long)(nr));		\
} while (0)
#endif

static u64 random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void shuffle(void)
{
	for (u32 i = TIMERS; i > 1; i--) {
		u32 j = random64() % i;
		struct work other = work[i - 1];

		work[i - 1] = work[j];
		work[j] = other;
	}
}

static void deadlines(u32 first, u32 span)
{
	for (u32 i = 0; i < TIMERS; i++)
		work[i].ticks = first + random64() % span;
}

#endif /* TWHEEL_BENCH_COUNTING_H */
