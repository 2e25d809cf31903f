// SPDX-License-Identifier: GPL-2.0
/*
 * The wheel's benchmark in user space: memory of 4 KiB or 2 MiB pages, a clock,
 * raw data; and `report`, which makes tables of that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <ev.h>
#include <event2/event.h>
#include <uv.h>

#include "../raw.h"
#include "../rows.h"
#include "loops.h"

#define HUGE		(2UL << 20)
#define ARENA		(384UL << 20)

/*
 * Memory: one mapping, handed out from its start to its end, and then anew.
 * Its pages are there before anything is measured.
 */
static char *arena;
static size_t used;

static void arena_pages(bool huge)
{
	static void *mapping;
	static size_t size = ARENA + HUGE;

	if (mapping)
		munmap(mapping, size);
	mapping = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapping == MAP_FAILED)
		die("mmap: %m");
	arena = (char *)(((uintptr_t)mapping + HUGE - 1) & ~(HUGE - 1));
	if (madvise(arena, ARENA, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
		progress("madvise: %m");
	memset(arena, 1, ARENA);
	used = 0;
}

/* How much of the arena is in huge pages, in MiB. */
static unsigned long huge_pages(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long from, to, kib, found = 0;
	bool here = false;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = from < (uintptr_t)arena + ARENA && to > (uintptr_t)arena;
		else if (here && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			found += kib / 1024;
	}
	if (file)
		fclose(file);
	return found;
}

void *host_alloc(size_t size)
{
	void *p = arena + used;

	size = (size + 4095) & ~4095UL;
	if (size > ARENA - used)
		return NULL;
	used += size;
	return memset(p, 0, size);
}

void host_free_all(void)
{
	used = 0;
}

u64 host_ns(void)
{
	return now_ns();
}

u64 host_busy_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void host_tell(const char *part, const char *name, const char *peer, u32 nr,
	       const char *unit, u64 total, u64 count)
{
	sample(part, name, peer, nr, unit, count ? (double)total / count : 0);
}

void host_progress(const char *part, unsigned int run, unsigned int runs)
{
	progress("%s: run %u of %u", part, run + 1, runs);
}

int host_fail(const char *what, u64 figure)
{
	die("%s %llu", what, (unsigned long long)figure);
}

const struct peer *const peers[] = {
	&peer_wheel, &peer_timers, &peer_fallback, &peer_heap, &peer_heap4,
	&peer_libev, &peer_libevent, &peer_libuv, NULL,
};

struct part {
	const char	*name;
	bool		huge;
	u32		nr;
	u32		span;
};

static const struct part parts[] = {
	{ "1M over 300k ticks",		true,	1000000, 300000 },
	{ "1M over 300M ticks",		true,	1000000, 300000000 },
	{ "100k over 300k ticks",	true,	100000,	 300000 },
	{ "100k over 300M ticks",	true,	100000,	 300000000 },
	{ "10k over 300k ticks",	true,	10000,	 300000 },
	{ "1k over 300k ticks",		true,	1000,	 300000 },
	{ "1M over 300k, 4 KiB pages",	false,	1000000, 300000 },
};

static const u32 tables[] = { 1000, 10000, 100000, 1000000, 4000000 };

static void run_parts(unsigned int runs)
{
	bool huge = true;

	arena_pages(huge);
	fact("huge pages", "%lu of %lu MiB in them", huge_pages(), ARENA >> 20);
	loops_memory("memory");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct part *part = &parts[i];

		if (part->huge != huge)
			arena_pages(huge = part->huge);
		for (unsigned int run = 0; run < runs; run++) {
			host_progress(part->name, run, runs);
			loops_ops(part->name, part->nr, part->span, run);
		}
	}
	fact("small pages", "%lu of %lu MiB in them", huge_pages(), ARENA >> 20);
	arena_pages(true);
	for (unsigned int run = 0; run < runs; run++) {
		host_progress("a hot set of 1000 in tables of 1k to 4M", run, runs);
		for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
			loops_hot("hot set", tables[i], run);
	}
	for (unsigned int run = 0; run < runs; run++) {
		host_progress("delivery", run, runs);
		loops_delivery("delivery", run);
	}
	for (unsigned int run = 0; run < runs; run++)
		loops_misses("memory");
	loops_passes("1M in one upper slot", true, runs);
	loops_passes("1M over 300k, tick by tick", false, runs);
}

/* What a program can have without a module, in memory as malloc() gives it. */
static void run_daemon(unsigned int runs)
{
	static const struct peer *const loops[] = {
		&peer_fallback, &peer_libev, &peer_libevent, &peer_libevent_common, &peer_libuv,
	};
	static const u32 counts[] = { 1000, 10000, 100000, 1000000 };

	arena_pages(false);
	for (size_t n = 0; n < ARRAY_SIZE(counts); n++)
		for (unsigned int run = 0; run < runs; run++) {
			progress("a daemon with %u timers: run %u of %u", counts[n], run + 1, runs);
			for (size_t i = 0; i < ARRAY_SIZE(loops); i++)
				daemon_days("loops", loops[i], counts[n], run);
		}
}

static const struct {
	const char	*name;
	/* As the raw data calls how often each figure is taken, and what a processor gave. */
	const char	*runs, *share;
	void		(*run)(unsigned int runs);
} commands[] = {
	{ "run",	"native runs",	"share",	run_parts },
	{ "daemon",	"loops runs",	"loops share",	run_daemon },
};

static int usage(void)
{
	fprintf(stderr,
		"usage: wheel-bench run RUNS RAW\n"
		"       wheel-bench daemon RUNS RAW\n"
		"       wheel-bench report [--json FILE] [--plot FILE] [--fact KEY=VALUE]... RAW...\n"
		"\n"
		"run measures the wheel and all its peers; daemon libtwheel without a device\n"
		"beside event loops, and twheel-bench makes the report of it.\n");
	return 2;
}

int main(int argc, char **argv)
{
	unsigned int runs;
	size_t i = 0;
	u64 start;

	if (argc >= 2 && !strcmp(argv[1], "report"))
		return report(argc - 2, argv + 2);
	if (argc != 4)
		return usage();
	while (i < ARRAY_SIZE(commands) && strcmp(commands[i].name, argv[1]))
		i++;
	if (i == ARRAY_SIZE(commands))
		return usage();
	runs = strtoul(argv[2], NULL, 10);
	if (!runs)
		die("RUNS is a number, at least 1");
	this_bed = "native";
	samples_open(argv[3]);
	fact(commands[i].runs, "%u", runs);
	fact("libraries", "libev %d.%d, libevent %s, libuv %s", ev_version_major(),
	     ev_version_minor(), event_get_version(), uv_version_string());
	pin(true);
	start = now_ns();
	commands[i].run(runs);
	/* Less than all of it: somebody else is in the figures. */
	fact(commands[i].share, "%.1f", 100.0 * host_busy_ns() / (now_ns() - start));
	return 0;
}
