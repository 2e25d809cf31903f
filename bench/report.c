// SPDX-License-Identifier: GPL-2.0
/*
 * Makes of the guests' raw data what people read: tables, the goals and whether
 * they are met, a summary.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "plot.h"
#include "rows.h"

/* Kernels */

/* Those that guests were booted with, oldest first: the fact "kernels". */
static char kernels[4][8];
static size_t nr_kernels;

static void find_kernels(void)
{
	char list[64], *rest = list, *name;

	snprintf(list, sizeof(list), "%s", fact_of("kernels"));
	while ((name = strsep(&rest, " ")) && nr_kernels < COUNT(kernels))
		snprintf(kernels[nr_kernels++], sizeof(*kernels), "%s", name);
}

/* What @kind, "guest" or "icount", of a kernel is called as a bed. */
static const char *bed_of(size_t kernel, const char *kind)
{
	static char beds[COUNT(kernels)][2][40];
	char *bed = beds[kernel][!strcmp(kind, "icount")];

	snprintf(bed, sizeof(beds[0][0]), "%s %s", kernels[kernel], kind);
	return bed;
}

static const char *bed_fact_of(const char *bed, const char *what)
{
	char key[64];

	snprintf(key, sizeof(key), "%.31s %.31s", bed, what);
	return fact_of(key);
}

/* Goals */

static const char *const ops[] = { "arm", "re-arm", "cancel" };

#define NR_OPS	COUNT(ops)

/* Where most of them are told: as many as timerfds can well be. */
#define MANY	100000U
/* As many as timerfd_settime is fastest with. */
#define FEW	1000U
#define MILLION	1000000U

static void ops_goals(const char *bed)
{
	/* For ops[]: of timerfd_settime. */
	static const double of_timerfd[] = { 1 / 20., 1 / 20., 1 / 12. };
	char name[64];

	for (size_t i = 0; i < NR_OPS; i++) {
		const struct row *ours = find("ops", bed, ops[i], "twheel", MANY);

		snprintf(name, sizeof(name), "%s : timerfd_settime", ops[i]);
		ratio(name, ours, find("ops", bed, ops[i], "timerfd", MANY), AT_MOST,
		      of_timerfd[i]);
		snprintf(name, sizeof(name), "%s : timer_settime", ops[i]);
		ratio(name, ours, find("ops", bed, ops[i], "POSIX timer", MANY), AT_MOST, 0.1);
	}
	ratio("timerfd_settime : a store that pushes back",
	      find("ops", bed, "push back", "timerfd", MANY),
	      find("ops", bed, "push back", "words", MANY), AT_LEAST, 300);
	ratio("timerfd_settime in place : a store",
	      find("ops", bed, "push back, in place", "timerfd", FEW),
	      find("ops", bed, "push back, in place", "words", FEW), NO_GOAL, 0);
}

static void stores_goals(void)
{
	static const struct {
		const char	*name;
		uint32_t	timers;
		double		ns;
	} goals[] = {
		{ "extend, known to be armed", 1000, 0.5 },
		{ "extend, known to be armed", 1000000, 2 },
		{ "arm or shorten", 1000, 3 },
		{ "arm or shorten", 1000000, 5 },
	};

	for (size_t i = 0; i < COUNT(goals); i++)
		set_goal(find("stores", "native", goals[i].name, "words", goals[i].timers),
			 AT_MOST, goals[i].ns);
}

static void requests_goals(const char *bed, double most)
{
	const struct row *words = find("requests", bed, "a request, all in", "words", 0);

	set_goal(find("requests", bed, "system calls", "words", 0), AT_MOST, 1);
	ratio("a request, all in: words : wheel", words,
	      find("requests", bed, "a request, all in", "wheel", 0), AT_MOST, most);
	ratio("a request, all in: timerfd : words",
	      find("requests", bed, "a request, all in", "timerfd", 0), words, AT_LEAST, 50);
}

static void idle_goals(const char *bed, const char *cost)
{
	ratio("processor time: words : sweep", find("idle", bed, cost, "words", 0),
	      find("idle", bed, cost, "sweep each second", 0), AT_MOST, 5);
	ratio("late by, p50: sweep : words",
	      find("idle", bed, "late by, p50", "sweep each second", 0),
	      find("idle", bed, "late by, p50", "words", 0), AT_LEAST, 500);
}

/* The kernel of User-Mode Linux that is measured. */
#define UM	"um-plain"

static const char *const event_loops[] = { "libev", "libevent", "libevent common", "libuv" };

/* At most what a wheel in the process may take of what the best of the event loops takes. */
static double loops_goal(const char *name)
{
	if (!strcmp(name, "push back") || !strcmp(name, "cancel"))
		return 0.1;
	return !strcmp(name, "arm") ? 1.5 : !strcmp(name, "expire") ? 1.0 : 1.1;
}

static void loops_goals(void)
{
	for (unsigned int i = 0, nr = nr_rows; i < nr; i++) {
		const struct row *row = &rows[i], *best = NULL;
		char name[64];

		if (!row->nr || strcmp(row->part, "loops") || strcmp(row->peer, "fallback"))
			continue;
		for (size_t p = 0; p < COUNT(event_loops); p++) {
			const struct row *loop = find("loops", row->bed, row->name, event_loops[p],
						      row->timers);

			if (loop && (!best || loop->median < best->median))
				best = loop;
		}
		snprintf(name, sizeof(name), "%.32s : the best loop", row->name);
		ratio(name, row, best, AT_MOST, loops_goal(row->name));
	}
}

static void million_goals(void)
{
	for (size_t i = 0; i < NR_OPS; i++)
		set_goal(find("million", UM, ops[i], "twheel", 0), AT_MOST, 40);
	set_goal(find("opening", UM, "opening words", "words", 0), AT_MOST, 100);
}

/* The device, by calls and by stores. */
static const char *const ways[] = { "twheel", "words" };

#define NR_WAYS	COUNT(ways)

static void wrong_goals(void)
{
	for (unsigned int i = 0; i < nr_rows; i++)
		for (size_t p = 0; p < NR_WAYS; p++)
			if (!strcmp(rows[i].name, "early or stale") &&
			    !strcmp(rows[i].peer, ways[p]))
				set_goal(&rows[i], AT_MOST, 0);
}

/* Instructions per operation, dearest count of timers against the cheapest. */
static void growth_goal(const char *bed, const char *op, const char *peer)
{
	const struct row *most = NULL, *least = NULL;
	char name[64];

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (strcmp(row->part, "growth") || strcmp(row->bed, bed) ||
		    strcmp(row->name, op) || strcmp(row->peer, peer))
			continue;
		if (!most || row->median > most->median)
			most = row;
		if (!least || row->median < least->median)
			least = row;
	}
	if (!most)
		return;
	snprintf(name, sizeof(name), "%s, most : least", op);
	ratio(name, most, least, BELOW, 1.1);
}

/* A million due in 10 ms, and in one second: beside timerfds. */
static void delivery_goals(const char *bed)
{
	static const char *const parts[] = { "storm", "delivery" };

	for (size_t p = 0; p < COUNT(parts); p++)
		for (size_t i = 0; i < NR_WAYS; i++)
			ratio("delivered : timerfd",
			      find(parts[p], bed, "delivered", ways[i], MILLION),
			      find(parts[p], bed, "delivered", "timerfd", MILLION),
			      AT_LEAST, 10);
	set_goal(find("delivery", bed, "last one late by", "words", MILLION), AT_MOST, 100);
}

static void memory_goals(const char *bed)
{
	static const char *const hows[] = {
		"by the wheel's stats", "by the cgroup", "by the free memory",
	};
	char name[64];

	for (unsigned int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "an armed timer, %s", hows[i]);
		set_goal(find("memory", bed, name, "twheel", 0), AT_MOST, 52);
		set_goal(find("memory", bed, name, "words", 0), AT_MOST, 68);
		snprintf(name, sizeof(name), "an unused wheel, %s", hows[i]);
		set_goal(find("memory", bed, name, "twheel", 0), AT_MOST, 4096);
	}
}

static void tickless_goals(const char *bed)
{
	for (size_t p = 0; p < NR_WAYS; p++) {
		set_goal(find("tickless", bed, "interrupts of a wheel with nothing due", ways[p],
			      0), AT_MOST, 0);
		set_goal(find("tickless", bed, "interrupts per sparse timer", ways[p], 0),
			 AT_MOST, 1.05);
	}
}

/* Those that are judged by the time of a guest, and those by its instructions. */
static void guest_goals(const char *bed)
{
	ops_goals(bed);
	requests_goals(bed, 1.3);
	idle_goals(bed, "processor time, all in");
	for (size_t i = 0; i < NR_WAYS; i++)
		set_goal(find("threads", bed, "two threads : one", ways[i], 0), AT_LEAST, 1.7);
	delivery_goals(bed);
	memory_goals(bed);
	tickless_goals(bed);
}

static void icount_goals(const char *bed)
{
	requests_goals(bed, 1.1);
	for (size_t i = 0; i < NR_OPS; i++)
		growth_goal(bed, ops[i], "twheel");
	/* How many of the arms need a call depends on how often the same timer was armed before. */
	growth_goal(bed, "push back", "words");
	growth_goal(bed, "cancel", "words");
	tickless_goals(bed);
}

static void set_goals(void)
{
	find_kernels();
	for (size_t k = 0; k < nr_kernels; k++) {
		guest_goals(bed_of(k, "guest"));
		icount_goals(bed_of(k, "icount"));
	}
	stores_goals();
	idle_goals("native", "all together");
	set_goal(find("idle", "native", "a look", "words", 0), AT_MOST, 40);
	loops_goals();
	million_goals();
	wrong_goals();
	set_goal(find("threads", "native", "two threads : one", "wheel", 0), AT_LEAST, 1.9);
}

/* Tables */

static const uint32_t ops_counts[] = { 1000, 100000, 1000000 };
static const uint32_t loops_counts[] = { 1000, 10000, 100000, 1000000 };
static const uint32_t growth_counts[] = { 1024, 10240, 102400, 1024000 };

/* Of the operations, a table each: who, and for how many timers. */
static void print_ops(const char *part, const char *bed, const char *unit,
		      const uint32_t *counts, size_t nr_counts)
{
	const char *last = "";

	printf("  %-36s", unit);
	for (size_t n = 0; n < nr_counts; n++)
		printf(" %12s", number(counts[n]));
	printf(" timers\n");
	for (unsigned int i = 0; i < nr_rows; i++) {
		bool told = false;

		if (!rows[i].nr || strcmp(rows[i].part, part) || strcmp(rows[i].bed, bed))
			continue;
		for (unsigned int j = 0; j < i && !told; j++)
			told = !strcmp(rows[j].part, part) && !strcmp(rows[j].bed, bed) &&
			       !strcmp(rows[j].name, rows[i].name);
		for (unsigned int j = i; j < nr_rows && !told; j++) {
			const struct row *row = &rows[j];

			/* By its first count; or its only one, if limits allowed no more. */
			if (!row->nr || strcmp(row->part, part) || strcmp(row->bed, bed) ||
			    strcmp(row->name, rows[i].name) || row->timers != counts[0])
				continue;
			printf("  %-20s %-15s",
			       strcmp(last, row->name) ? row->name : "", row->peer);
			last = row->name;
			for (size_t n = 0; n < nr_counts; n++) {
				const struct row *cell = find(part, bed, row->name, row->peer,
							      counts[n]);

				printf(" %12s", cell ? number(cell->median) : "-");
			}
			putchar('\n');
		}
	}
}

/* The goals of a part that are made of two figures. */
static void print_ratios(const char *part, const char *bed)
{
	for (unsigned int i = 0; i < nr_rows; i++)
		if (!rows[i].nr && !strcmp(rows[i].part, part) && !strcmp(rows[i].bed, bed))
			print_row(&rows[i]);
}

static void print_machine(void)
{
	printf("\ntwheel beside its peers\n\n"
	       "  commit     %s, of %s\n"
	       "  processor  %s, %s of them\n"
	       "  QEMU       %s\n",
	       fact_of("commit"), fact_of("date"), fact_of("cpu"), fact_of("processors"),
	       fact_of("qemu"));
	for (size_t k = 0; k < nr_kernels; k++) {
		for (size_t i = 0; i < 2; i++) {
			const char *bed = bed_of(k, i ? "icount" : "guest");

			printf("  %-10s Linux %s, %s processors, %s, %s; %s runs\n", bed,
			       bed_fact_of(bed, "kernel"), bed_fact_of(bed, "processors"),
			       bed_fact_of(bed, "memory"), bed_fact_of(bed, "accelerator"),
			       bed_fact_of(bed, "runs"));
		}
	}
	if (nr_kernels && strcmp(bed_fact_of(bed_of(0, "guest"), "accelerator"), "KVM"))
		printf("\n"
		       "  The guests' kernels are emulated: compare their times with each other, not\n"
		       "  with those of another machine.\n");
}

/* A part of the benchmark, on each kernel. */
static void print_guests(const char *part, const char *kind)
{
	for (size_t k = 0; k < nr_kernels; k++) {
		const char *bed = bed_of(k, kind);

		printf("  %s\n", bed);
		print_part(part, bed);
	}
}

static void print_guests_ops(const char *part, const char *kind, const uint32_t *counts,
			     size_t nr_counts)
{
	for (size_t k = 0; k < nr_kernels; k++) {
		const char *bed = bed_of(k, kind);

		printf("  %s\n", bed);
		print_ops(part, bed, strcmp(kind, "icount") ? "ns" : "instructions", counts,
			  nr_counts);
		putchar('\n');
		print_ratios(part, bed);
	}
}

static void print_tables(void)
{
	print_machine();

	printf("\nThe cost of an operation\n"
	       "Ids in sequence for arm, in random orders for the others; random deadlines 5 to 10 min ahead.\n"
	       "twheel by submit and io_uring in batches of 256. Of re-arms and cancels 64 are measured in a\n"
	       "run for io_uring, 20,000 for POSIX timers, else all: these walk lists, and a million POSIX\n"
	       "timers would take hours to make. To create is to open files, or the wheel with its words. A\n"
	       "first arm allocates the timer's memory too. A push back is a re-arm 30 s later; in place, it is\n"
	       "one timer's, the last one due, with a call each. words: twheel by stores, with libtwheel; what\n"
	       "takes a call is submitted in batches. heap, wheel: in user space, no call but to sleep.\n\n");
	print_guests_ops("ops", "guest", ops_counts, COUNT(ops_counts));
	print_guests_ops("ops", "icount", ops_counts, COUNT(ops_counts));

	printf("\nThe same in user space, natively\n"
	       "words: the program's part alone, on words that are looked at in time.\n\n");
	print_ops("ops", "native", "ns", ops_counts, COUNT(ops_counts));

	print_head("Stores, natively",
		   "By libtwheel's inline functions, from a list of ids in a random order, all to one deadline;\n"
		   "words on pages of 4 KiB. 1,000 are hot. An extend looks if the timer is armed, unless it is\n"
		   "known to be.");
	print_part("stores", "native");

	printf("\nWithout a device, beside event loops, natively\n"
	       "Timeouts of a daemon's connections, all of one length, worked on at random, 64 in a\n"
	       "turn of its loop. fallback: libtwheel's wheel in the process. libevent common: by its\n"
	       "list for timers of one length. arm: a timer that has expired; again: one that was\n"
	       "cancelled, before it was due. To expire includes the looks for what was pushed back or\n"
	       "cancelled. Processor time; the program had %s %% of one.\n"
	       "%s.\n\n", fact_of("loops share"), fact_of("libraries"));
	print_ops("loops", "native", "ns", loops_counts, COUNT(loops_counts));
	putchar('\n');
	print_ratios("loops", "native");

	print_head("A million operations in one call",
		   "In User-Mode Linux, whose kernel runs natively. Ids and deadlines at random. What is refused is\n"
		   "copied in, and its result back, and nothing else is done.");
	print_part("million", UM);

	print_head("Words for a million ids",
		   "SETUP allocates them when they are opened; the first store to a page of them is a fault.");
	print_part("opening", UM);
	print_guests("opening", "guest");

	print_head("Request timeouts",
		   "100,000 connections. Every 2 s the answer comes: its timeout of 20 s is cancelled, and that of\n"
		   "the next request armed; 1 in 100 is never answered. All that the processors do, less what the\n"
		   "same load costs without timers; a request is a cancel and an arm.");
	print_guests("requests", "guest");
	for (size_t k = 0; k < nr_kernels; k++) {
		const char *bed = bed_of(k, "guest"), *posix = bed_fact_of(bed, "POSIX timer");

		if (strcmp(posix, "unknown"))
			printf("  %-42s %s\n", bed, posix);
	}
	print_guests("requests", "icount");

	print_head("Idle connections",
		   "A million timeouts of 30 s, a million refreshes a second at random, 5 % have fallen silent. The\n"
		   "guest: all that the processors do, less the same load without timers. Natively: in simulated\n"
		   "time, with the kernel's part of the words in the program; a look is the kernel's.");
	print_guests("idle", "guest");
	printf("  natively\n");
	print_part("idle", "native");

	print_head("A storm: a million due within 10 ms",
		   "As below, but with deadlines within 10 ms.");
	print_guests("storm", "guest");

	print_head("Two threads, each with a wheel or timers of its own",
		   "100,000 timers: arm in sequence, push back and cancel at random, for half a second.");
	print_guests("threads", "guest");
	printf("  natively\n");
	print_part("threads", "native");

	printf("\nMore timers: does an operation stay as cheap?\n"
	       "As above. Instructions are counted, user space included; the time is the guest's.\n\n");
	print_guests_ops("growth", "icount", growth_counts, COUNT(growth_counts));
	print_guests_ops("growth", "guest", growth_counts, COUNT(growth_counts));

	print_head("Where the instructions of a submit and a read go",
		   "16,384 timers, ids in sequence, batches of 256; per operation, unless it says per call.");
	print_guests("submit", "icount");
	print_guests("submit", "guest");

	print_head("Due in the same second: delivered for each second of processor time",
		   "Random deadlines within one second. Processor time is all that was not idle on all processors,\n"
		   "from the last arm to the last event: interrupts, softirqs, workers, the reader. Read by one\n"
		   "thread: a wheel by read(), timerfds by epoll_wait() and read(), POSIX timers from a signalfd.\n"
		   "With icount there is one processor, and a processor second is 10^9 instructions.");
	print_guests("delivery", "guest");
	print_guests("delivery", "icount");

	print_head("Kernel memory, all in",
		   "What is charged to a fresh cgroup, and by how much the guest's free memory shrinks. An unused\n"
		   "wheel by words is what libtwheel opens: it has words for 65,536 ids.");
	print_guests("memory", "guest");

	print_head("Tickless",
		   "Nothing due: deadlines from 2 min to a day ahead. Sparse: 1,000 timers at random in 100 s.");
	print_guests("tickless", "guest");
	print_guests("tickless", "icount");
}

/* Summary, as it can stand in a README */

/* Of several counts of timers, the largest; of operations, those of many. */
static const char *cell(const char *part, const char *bed, const char *name, const char *peer)
{
	const struct row *found = NULL;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (row->nr && !strcmp(row->part, part) && !strcmp(row->bed, bed) &&
		    !strcmp(row->name, name) && !strcmp(row->peer, peer) &&
		    (strcmp(part, "ops") || row->timers == MANY) &&
		    (!found || row->timers > found->timers))
			found = row;
	}
	return found ? number(found->median) : "-";
}

static const char *const peers[] = {
	"words", "twheel", "timerfd", "POSIX timer", "io_uring", "heap", "wheel",
};

#define NR_PEERS	COUNT(peers)
#define DASHES		"----------------------------------------"

static void print_cells(const char *title, const char *part, const char *name)
{
	for (size_t k = 0; k < nr_kernels; k++) {
		printf("| %-34s | %-5s |", k ? "" : title, kernels[k]);
		for (size_t i = 0; i < NR_PEERS; i++)
			printf(" %11s |", cell(part, bed_of(k, "guest"), name, peers[i]));
		putchar('\n');
	}
}

static void print_summary(void)
{
	printf("\nSummary\n\n| %-34s | Linux |", "");
	for (size_t i = 0; i < NR_PEERS; i++)
		printf(" %11s |", peers[i]);
	printf("\n|%.36s|%.7s|", DASHES, DASHES);
	for (size_t i = 0; i < NR_PEERS; i++)
		printf("%.12s:|", DASHES);
	putchar('\n');
	print_cells("arm, ns", "ops", "arm");
	print_cells("re-arm at random, ns", "ops", "re-arm");
	print_cells("push back at random, ns", "ops", "push back");
	print_cells("cancel at random, ns", "ops", "cancel");
	print_cells("delivered per CPU-second", "delivery", "delivered");
	print_cells("in a storm", "storm", "delivered");
	print_cells("kernel memory of a timer, bytes", "memory",
		    "an armed timer, by the free memory");
	printf("\n");
	print_goals();
}

/* The picture */

/* Of the newest kernel. */
static const char *shown = "";

static bool is_shown(const struct row *row)
{
	return !strcmp(row->part, "ops") && !strcmp(row->bed, shown);
}

static const struct plot_panel panels[] = {
	{ "push back",	"push it back, as every packet does" },
	{ "arm",	"arm it" },
	{ "cancel",	"cancel it" },
};

static const struct plot_line lines[] = {
	{ "words",	 "twheel, by a store",	"#c2410c", "" },
	{ "twheel",	 "twheel, by calls",	"#e08a4f", "" },
	{ "wheel",	 "wheel in user space",	"#35507a", "5 3" },
	{ "heap",	 "heap in user space",	"#6b8fb8", "5 3" },
	{ "timerfd",	 "timerfd",		"#2f7d4f", "" },
	{ "POSIX timer", "POSIX timers",	"#7a5aa6", "" },
	{ "io_uring",	 "io_uring",		"#8a6d1d", "" },
};

static char title[160], accelerator[64], runs[64];

static const struct plot plot = {
	.title		= title,
	.machine	= accelerator,
	.runs		= runs,
	.shows		= is_shown,
	.panels		= panels,
	.nr_panels	= COUNT(panels),
	.lines		= lines,
	.nr_lines	= COUNT(lines),
};

/* The newest kernel that was measured. */
static void choose_shown(void)
{
	for (size_t k = 0; k < nr_kernels; k++)
		if (find("ops", bed_of(k, "guest"), "push back", "words", 0))
			shown = bed_of(k, "guest");
	snprintf(title, sizeof(title), "What it costs on Linux %s to ...",
		 bed_fact_of(shown, "kernel"));
	snprintf(accelerator, sizeof(accelerator), "%s accelerator", shown);
	snprintf(runs, sizeof(runs), "%s runs", shown);
}

static void print_all(void)
{
	choose_shown();
	print_tables();
	print_summary();
}

int report(int argc, char **argv)
{
	return rows_report(argc, argv, set_goals, print_all, &plot);
}
