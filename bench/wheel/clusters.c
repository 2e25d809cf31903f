// SPDX-License-Identifier: GPL-2.0
/*
 * The longest steps where all timeouts are of one length, as they are in a server: connections
 * come in clusters, and each arms a timer. Most timers are cancelled. The rest of a cluster
 * is due in one tick. A wheel that drains a slot in one go pays for the cluster at once.
 *
 * A step is one timers_advance(). Its cost is in instructions, which this program counts itself:
 * see ./counted. Two runs of one build give the same figures: there is one seed and no clock.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "../../tests/rnd.h"
#include "../raw.h"
#include "unit.h"

/* ns */
#define TICK		1000000ULL

/* Ticks: the length of all timeouts */
#define TIMEOUT		30000U

/* Clusters of connections, one a second, each in one tick */
#define CLUSTERS	30U
#define PERIOD		(TIMEOUT / CLUSTERS)

/* Percent of a cluster's timers, evenly over the timeout, and ticks from cancels to cancels */
#define CANCELLED	95U
#define CANCELS		10U

/* Steps to measure, so that ten are above the 99.99th percentile */
#define STEPS		100000U

/* Timers to bring down in one tick ahead of need */
#define SHARE		1000U

/* Bytes: 2^24 timers */
#define ARENA		(3ULL << 30)

/**
 * struct cluster - connections that have come in one tick
 * @id: of their timers
 * @nr: how many
 * @cancelled: how many of them are cancelled, the first ones
 * @armed: tick at which all were
 */
struct cluster {
	u32	*id;
	u32	nr;
	u32	cancelled;
	u64	armed;
};

/**
 * struct load - where the program is
 * @ts: the timers
 * @cluster: all connections
 * @tick: it is
 * @armed: timers so far
 * @cancelled: timers so far
 * @seen: events so far
 * @late: of the latest event, ticks
 * @budget: of a step
 * @all: the instructions of all steps
 * @steps: the instructions of each measured step
 * @nr_steps: how many
 */
struct load {
	struct timers	*ts;
	struct cluster	cluster[CLUSTERS];
	u64		tick;
	u64		armed;
	u64		cancelled;
	u64		seen;
	u64		late;
	unsigned int	budget;
	u64		all;
	u32		*steps;
	u32		nr_steps;
};

/* All that the program has executed of this unit; ./counted adds to it. */
u64 instructions;
/* Where ./counted keeps a register meanwhile */
u64 counted_rax;

static char *arena;
static size_t used;

void *host_alloc(size_t size)
{
	void *p = arena + used;

	used += (size + 4095) & ~4095UL;
	if (used > ARENA)
		die("no memory");
	return p;
}

static void submit(struct load *load, struct twheel_op *ops, unsigned int nr)
{
	if (owner_submit(load->ts, ops, nr, load->tick * TICK))
		die("operations have failed");
}

/* Arm, or cancel, the timers of a cluster from the @from-th to before the @to-th. */
static void do_ops(struct load *load, const struct cluster *cluster, u32 from, u32 to, u32 opcode)
{
	static struct twheel_op ops[64];

	while (from < to) {
		unsigned int nr = 0;

		for (; from < to && nr < ARRAY_SIZE(ops); from++)
			ops[nr++] = (struct twheel_op){
				.opcode	  = opcode,
				.id	  = cluster->id[from],
				.deadline = opcode == TWHEEL_OP_ARM ?
					    (load->tick + TIMEOUT) * TICK : 0,
			};
		submit(load, ops, nr);
	}
}

static void arrive(struct load *load, struct cluster *cluster)
{
	for (u32 i = cluster->nr; i > 1; i--) {
		u32 j = rnd() % i, id = cluster->id[i - 1];

		cluster->id[i - 1] = cluster->id[j];
		cluster->id[j] = id;
	}
	cluster->cancelled = 0;
	cluster->armed = load->tick;
	do_ops(load, cluster, 0, cluster->nr, TWHEEL_OP_ARM);
	load->armed += cluster->nr;
}

static void cancel(struct load *load, struct cluster *cluster)
{
	u64 all = (u64)cluster->nr * CANCELLED / 100;
	u32 to = min(all, all * (load->tick - cluster->armed) / (TIMEOUT - CANCELS));

	do_ops(load, cluster, cluster->cancelled, to, TWHEEL_OP_CANCEL);
	load->cancelled += to - cluster->cancelled;
	cluster->cancelled = to;
}

static void take(struct load *load, u64 now)
{
	static struct twheel_event events[TIMERS_CLAIM_MAX];
	unsigned int nr;

	while ((nr = timers_claim(load->ts, events, TIMERS_CLAIM_MAX, now))) {
		nr = timers_commit(load->ts, events, nr, nr, load->ts->claims, now);
		for (unsigned int i = 0; i < nr; i++)
			load->late = max(load->late, load->tick - events[i].deadline / TICK);
		load->seen += nr;
	}
}

static noinline unsigned int step(struct timers *ts, u64 now, unsigned int budget)
{
	return timers_advance(ts, now, budget);
}

static void expire(struct load *load, bool measured)
{
	u64 now = load->tick * TICK, taken;
	unsigned int done, all = 0;

	if (timers_next(load->ts) > now && !timers_heavy(load->ts))
		return;
	do {
		taken = -READ_ONCE(instructions);
		done = step(load->ts, now, load->budget);
		taken += READ_ONCE(instructions);
		load->all += taken;
		if (measured && load->nr_steps < 2 * STEPS)
			load->steps[load->nr_steps++] = taken;
		all += done;
		take(load, now);
	} while (done == load->budget && (all < SHARE || timers_behind(load->ts)));
}

/* Until each cluster has come once more. */
static void run_of_timeout(struct load *load, bool measured)
{
	for (u64 end = load->tick + TIMEOUT; load->tick < end; load->tick++) {
		expire(load, measured);
		for (unsigned int i = 0; i < CLUSTERS && !(load->tick % CANCELS); i++)
			if (load->cluster[i].armed)
				cancel(load, &load->cluster[i]);
		if (!(load->tick % PERIOD))
			arrive(load, &load->cluster[load->tick / PERIOD % CLUSTERS]);
	}
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static void tell(const char *name, const char *unit, u32 nr, u64 value)
{
	sample("clusters", name, "timers", nr, unit, value);
}

/* The step that @parts of 10,000 are not above. */
static void tell_step(const struct load *load, const char *name, u32 nr, u64 parts)
{
	tell(name, "instructions", nr,
	     load->steps[DIV_ROUND_UP(load->nr_steps * parts, 10000) - 1]);
}

/* Returns the instructions of all steps. */
static u64 run(u32 nr, unsigned int budget, u32 steps)
{
	struct load load = { .tick = START - START % TIMEOUT, .budget = budget };
	u32 *ids;

	used = 0;
	if (madvise(arena, ARENA, MADV_DONTNEED))
		die("madvise: %m");
	rnd_seed(1, 1);
	load.ts = host_alloc(sizeof(*load.ts));
	load.steps = host_alloc(2 * STEPS * sizeof(*load.steps));
	ids = host_alloc(nr * sizeof(*ids));
	timers_setup(load.ts, nr, 0, 64, TICK, load.tick * TICK);
	if (!owner_add_chunks(&load.ts->wheel))
		die("no memory");
	for (u32 id = 0; id < nr; id++) {
		u32 i = rnd() % (id + 1);

		ids[id] = ids[i];
		ids[i] = id;
	}
	for (unsigned int i = 0; i < CLUSTERS; i++) {
		load.cluster[i].id = ids + (u64)nr * i / CLUSTERS;
		load.cluster[i].nr = (u64)nr * (i + 1) / CLUSTERS - (u64)nr * i / CLUSTERS;
	}
	run_of_timeout(&load, false);
	while (load.nr_steps < steps)
		run_of_timeout(&load, true);
	if (load.armed - load.cancelled - load.seen != load.ts->wheel.filed)
		die("timers were lost or came twice");

	qsort(load.steps, load.nr_steps, sizeof(*load.steps), compare);
	if (budget == WHEEL_STEP) {
		tell_step(&load, "a step: p50", nr, 5000);
		tell_step(&load, "a step: p99", nr, 9900);
		tell_step(&load, "a step: p99.99", nr, 9999);
		tell_step(&load, "a step: longest", nr, 10000);
		tell("the last event late by", "ticks", nr, load.late);
	} else {
		tell_step(&load, "all at once: longest", nr, 10000);
	}
	return load.all;
}

int main(int argc, char **argv)
{
	static const u32 counts[] = { 1000, 1000000, 16000000 };

	if (argc != 2 && (argc != 3 || strcmp(argv[2], "check")))
		die("usage: wheel-clusters RAW [check]");
	this_bed = "native";
	samples_open(argv[1]);
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena == MAP_FAILED)
		die("mmap: %m");
	/* Little enough for callgrind to count it too */
	if (argc == 3) {
		printf("%llu\n", (unsigned long long)run(30000, WHEEL_STEP, 1));
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		progress("clusters of %u timers", counts[i]);
		run(counts[i], WHEEL_STEP, STEPS);
		run(counts[i], ~0U, 1);
	}
	return 0;
}
