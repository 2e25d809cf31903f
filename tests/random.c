// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs, for wheels of all shapes.
 *
 * Each shape has a process of its own, so that a program which crashes or never
 * ends is found too; as many run at once as there are processors.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explain.h"
#include "program.h"
#include "rnd.h"
#include "tap.h"
#include "tests.h"

#define MAX_STEPS	2000

static const struct shape {
	const char *name;
	u8 levels;		/* 0: as many as needed; 17 and more: any */
	u32 slots;		/* 0: any */
} shapes[] = {
	{ "as many levels of 64 slots as needed",	0, 64 },
	{ "one level of 4 slots",			1, 4 },
	{ "one level of 64 slots",			1, 64 },
	{ "one level of 512 slots",			1, 512 },
	{ "two levels of 4 slots",			2, 4 },
	{ "two levels of 64 slots",			2, 64 },
	{ "two levels of 4096 slots",			2, 4096 },
	{ "three levels of 8 slots",			3, 8 },
	{ "three levels of 16 slots",			3, 16 },
	{ "four levels of 256 slots",			4, 256 },
	{ "five levels of 32 slots",			5, 32 },
	{ "16 levels of 4 slots",			16, 4 },
	{ "as many levels of 128 slots as needed",	0, 128 },
	{ "any levels and slots",			255, 0 },
};

/* What a process tells of its work, in memory that it shares with us. */
struct worker {
	pid_t pid;
	u64 seed;
	unsigned long programs, ops;
};

/* The bytes that follow from a seed; returns how many. */
static size_t make(u8 *bytes, unsigned int shape, u64 seed)
{
	static const u32 slots[] = PROGRAM_SLOT_COUNTS;
	size_t size;

	rnd_seed(seed, shape);
	size = PROGRAM_STEP * (2 + rnd() % (MAX_STEPS - 1));
	for (size_t i = 0; i < size; i += 4) {
		u32 r = rnd() >> 20;

		memcpy(bytes + i, &r, 4);
	}
	if (shapes[shape].levels < 17)
		bytes[PROGRAM_LEVELS] = shapes[shape].levels;
	for (u8 i = 0; i < ARRAY_SIZE(slots); i++)
		if (slots[i] == shapes[shape].slots)
			bytes[PROGRAM_SLOTS] = i;
	return size;
}

static void work(struct worker *worker, unsigned int shape, unsigned long ops, u64 from)
{
	static u8 bytes[PROGRAM_MAX];
	const char *error;

	for (u64 seed = from; worker->ops < ops; seed++) {
		size_t size = make(bytes, shape, seed);

		worker->seed = seed;
		limit_time(PROGRAM_TIMEOUT);
		error = program_run(bytes, size, false);
		if (error) {
			printf("# seed %llu: %s\n", (unsigned long long)seed, error);
			exit(1);
		}
		worker->programs++;
		worker->ops = program_operations();
	}
	exit(0);
}

static unsigned int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/**
 * random_programs() - run random programs for all shapes
 * @ops: how many operations for each shape
 * @from: the first seed
 */
void random_programs(unsigned long ops, u64 from)
{
	struct worker *workers = mmap(NULL, ARRAY_SIZE(shapes) * sizeof(*workers),
				      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				      -1, 0);
	static u8 bytes[PROGRAM_MAX];
	unsigned int started = 0, most = processors();
	unsigned long sum = 0;

	if (workers == MAP_FAILED)
		exit(1);
	fflush(stdout);
	for (unsigned int shape = 0; shape < ARRAY_SIZE(shapes); shape++) {
		struct worker *worker = &workers[shape];
		int status;

		for (; started < ARRAY_SIZE(shapes) && started < shape + most; started++) {
			pid_t pid = fork();

			if (!pid)
				work(&workers[started], started, ops, from);
			/* Not by the child too, who sees the same memory. */
			workers[started].pid = pid;
		}
		if (waitpid(worker->pid, &status, 0) != worker->pid) {
			perror("tests: waitpid");
			exit(1);
		}
		if (status) {
			printf("# seed %llu: %s\n", (unsigned long long)worker->seed,
			       WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended");
			explain(bytes, make(bytes, shape, worker->seed));
		}
		sum += worker->ops;
		tap(!status, "random programs, %s: as the reference", shapes[shape].name);
	}
	printf("# %lu operations\n", sum);
	munmap(workers, ARRAY_SIZE(shapes) * sizeof(*workers));
}
