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

/* Goals */

static const char *const ops[] = { "arm", "re-arm", "cancel" };

#define NR_OPS	COUNT(ops)

/* Where most of them are told: as many as timerfds can well be. */
#define MANY	100000U
#define MILLION	1000000U

static void ops_goals(void)
{
	/* For ops[]: of timerfd_settime. */
	static const double of_timerfd[] = { 1 / 20., 1 / 20., 1 / 12. };
	char name[64];

	for (size_t i = 0; i < NR_OPS; i++) {
		const struct row *ours = find("ops", "guest", ops[i], "twheel", MANY);

		snprintf(name, sizeof(name), "%s : timerfd_settime", ops[i]);
		ratio(name, ours, find("ops", "guest", ops[i], "timerfd", MANY), AT_MOST,
		      of_timerfd[i]);
		snprintf(name, sizeof(name), "%s : timer_settime", ops[i]);
		ratio(name, ours, find("ops", "guest", ops[i], "POSIX timer", MANY), AT_MOST, 0.1);
	}
	ratio("timerfd_settime : a store that pushes back",
	      find("ops", "guest", "push back", "timerfd", MANY),
	      find("ops", "guest", "push back", "words", MANY), AT_LEAST, 300);
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

static void requests_goals(void)
{
	static const char *const beds[] = { "guest", "icount" };

	for (size_t i = 0; i < 2; i++) {
		const char *bed = beds[i];
		const struct row *words = find("requests", bed, "a request, all in", "words", 0);

		set_goal(find("requests", bed, "system calls", "words", 0), AT_MOST, 1);
		ratio("a request, all in: words : wheel", words,
		      find("requests", bed, "a request, all in", "wheel", 0), AT_MOST, 1);
		ratio("a request, all in: timerfd : words",
		      find("requests", bed, "a request, all in", "timerfd", 0), words,
		      AT_LEAST, 50);
	}
}

static void idle_goals(void)
{
	static const struct {
		const char *bed, *cost;
	} costs[] = {
		{ "guest", "processor time, all in" }, { "native", "all together" },
	};

	for (size_t i = 0; i < 2; i++) {
		ratio("processor time: words : sweep",
		      find("idle", costs[i].bed, costs[i].cost, "words", 0),
		      find("idle", costs[i].bed, costs[i].cost, "sweep each second", 0),
		      AT_MOST, 5);
		ratio("late by, p50: sweep : words",
		      find("idle", costs[i].bed, "late by, p50", "sweep each second", 0),
		      find("idle", costs[i].bed, "late by, p50", "words", 0), AT_LEAST, 500);
	}
	set_goal(find("idle", "native", "a look", "words", 0), AT_MOST, 40);
}

static const char *const event_loops[] = { "libev", "libevent", "libevent common", "libuv" };

/*
 * A wheel in the process beside the best of the event loops: the first to push back and to
 * cancel; for the rest first or level, which is no more than a tenth dearer.
 */
static void loops_goals(void)
{
	for (unsigned int i = 0, nr = nr_rows; i < nr; i++) {
		const struct row *row = &rows[i], *best = NULL;
		bool first = !strcmp(row->name, "push back") || !strcmp(row->name, "cancel");
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
		ratio(name, row, best, first ? BELOW : AT_MOST, first ? 1 : 1.1);
	}
}

static void million_goals(void)
{
	for (size_t i = 0; i < NR_OPS; i++)
		set_goal(find("million", "um", ops[i], "twheel", 0), AT_MOST, 40);
	set_goal(find("million", "um", "opening words", "words", 0), AT_MOST, 100);
}

static void other_goals(void)
{
	static const char *const peers[] = { "twheel", "words" };

	for (unsigned int i = 0; i < nr_rows; i++)
		if (!strcmp(rows[i].name, "early or stale") &&
		    (!strcmp(rows[i].peer, "twheel") || !strcmp(rows[i].peer, "words")))
			set_goal(&rows[i], AT_MOST, 0);

	for (size_t i = 0; i < 2; i++)
		set_goal(find("threads", "guest", "two threads : one", peers[i], 0),
			 AT_LEAST, 1.7);
	set_goal(find("threads", "native", "two threads : one", "wheel", 0), AT_LEAST, 1.9);
}

/* Instructions per operation, dearest count of timers against the cheapest. */
static void growth_goal(const char *op)
{
	const struct row *most = NULL, *least = NULL;
	char name[64];

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (strcmp(row->part, "growth") || strcmp(row->bed, "icount") ||
		    strcmp(row->name, op))
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
static void delivery_goals(void)
{
	static const char *const parts[] = { "storm", "delivery" };
	static const char *const peers[] = { "twheel", "words" };

	for (size_t p = 0; p < COUNT(parts); p++)
		for (size_t i = 0; i < COUNT(peers); i++)
			ratio("delivered : timerfd",
			      find(parts[p], "guest", "delivered", peers[i], MILLION),
			      find(parts[p], "guest", "delivered", "timerfd", MILLION),
			      AT_LEAST, 10);
	set_goal(find("delivery", "guest", "last one late by", "words", MILLION), AT_MOST, 100);
}

static void set_goals(void)
{
	static const char *const hows[] = {
		"by the wheel's stats", "by the cgroup", "by the free memory",
	};
	char name[64];

	ops_goals();
	stores_goals();
	requests_goals();
	idle_goals();
	loops_goals();
	million_goals();
	other_goals();
	for (size_t i = 0; i < NR_OPS; i++)
		growth_goal(ops[i]);
	delivery_goals();
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "an armed timer, %s", hows[i]);
		set_goal(find("memory", "guest", name, "twheel", 0), AT_MOST, 52);
		set_goal(find("memory", "guest", name, "words", 0), AT_MOST, 68);
		snprintf(name, sizeof(name), "an unused wheel, %s", hows[i]);
		set_goal(find("memory", "guest", name, "twheel", 0), AT_MOST, 4096);
	}
	for (unsigned int i = 0; i < 2; i++)
		set_goal(find("tickless", i ? "icount" : "guest",
			      "interrupts of a wheel with nothing due", "twheel", 0),
			 AT_MOST, 0);
	set_goal(find("tickless", "icount", "interrupts per sparse timer", "twheel", 0),
		 AT_MOST, 1.05);
}

/* Tables */

static void print_growth(const char *bed, const char *unit)
{
	static const char *const names[] = {
		"first arm", "arm", "re-arm", "push back", "cancel",
	};
	bool head = false;

	for (unsigned int n = 0; n < COUNT(names); n++) {
		const struct row *goal = NULL;

		for (unsigned int i = 0; i < nr_rows && !head; i++)
			head = !strcmp(rows[i].part, "growth") && !strcmp(rows[i].bed, bed);
		if (!head)
			return;
		if (!n) {
			printf("\n  %-42s", unit);
			for (unsigned int i = 0; i < nr_rows; i++)
				if (!strcmp(rows[i].part, "growth") && rows[i].nr &&
				    !strcmp(rows[i].bed, bed) &&
				    !strcmp(rows[i].name, names[0]))
					printf(" %12s", number(rows[i].timers));
			putchar('\n');
		}
		printf("  %-42s", names[n]);
		for (unsigned int i = 0; i < nr_rows; i++) {
			const struct row *row = &rows[i];

			if (strcmp(row->part, "growth") || strcmp(row->bed, bed))
				continue;
			if (row->nr && !strcmp(row->name, names[n]))
				printf(" %12s", number(row->median));
			if (!row->nr && !strncmp(row->name, names[n], strlen(names[n])))
				goal = row;
		}
		if (goal) {
			printf("   %.3f times", goal->median);
			print_goal(goal);
		}
		putchar('\n');
	}
}

/* Of the operations, a table each: who, and for how many timers. */
static void print_ops(const char *part, const char *bed)
{
	static const uint32_t counts[] = { 1000, 100000, 1000000 };
	const size_t nr_counts = COUNT(counts);
	const char *last = "";

	printf("  %-26s", "ns");
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
			printf("  %-10s %-15s",
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
	       "  guest      Linux %s, %s processors, %s, %s\n"
	       "  icount     %s processor, %s: %s\n"
	       "  QEMU       %s\n"
	       "  runs       %s; with icount %s\n",
	       fact_of("commit"), fact_of("date"), fact_of("cpu"), fact_of("processors"),
	       fact_of("kernel"), fact_of("guest processors"),
	       fact_of("guest memory"), fact_of("guest accelerator"),
	       fact_of("icount processors"), fact_of("icount memory"),
	       fact_of("icount accelerator"), fact_of("qemu"),
	       fact_of("guest runs"), fact_of("icount runs"));
	if (strcmp(fact_of("guest accelerator"), "KVM"))
		printf("\n"
		       "  The guest's kernel is emulated: compare its times with each other, not\n"
		       "  with those of another machine.\n");
}

static void print_tables(void)
{
	print_machine();

	printf("\nThe cost of an operation\n"
	       "Ids in sequence for arm, in random orders for the others; random deadlines 5 to 10 min ahead.\n"
	       "twheel by submit and io_uring in batches of 256. Of re-arms and cancels 64 are measured in a\n"
	       "run for io_uring, 20,000 for POSIX timers, else all: these walk lists, and a million POSIX\n"
	       "timers would take hours to make. A first arm allocates the timer's memory too, as create does\n"
	       "for others. A push back is a re-arm 30 s later. words: twheel by stores, with libtwheel; what\n"
	       "takes a call is submitted in batches. heap, wheel: in user space, no call but to sleep.\n\n");
	print_ops("ops", "guest");
	putchar('\n');
	print_ratios("ops", "guest");

	printf("\nThe same in user space, natively\n"
	       "words: the program's part alone, on words that are looked at in time.\n\n");
	print_ops("ops", "native");

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
	print_ops("loops", "native");
	putchar('\n');
	print_ratios("loops", "native");

	print_head("A million operations in one call, and words for a million ids",
		   "In User-Mode Linux, whose kernel runs natively, with its checks of locks. Ids and deadlines at\n"
		   "random. What is refused is copied in, and its result back, and nothing else is done.");
	print_part("million", "um");

	print_head("Request timeouts",
		   "100,000 connections. Every 2 s the answer comes: its timeout of 20 s is cancelled, and that of\n"
		   "the next request armed; 1 in 100 is never answered. All that the processors do, less what the\n"
		   "same load costs without timers; a request is a cancel and an arm.");
	print_part("requests", "guest");
	if (strcmp(fact_of("POSIX timer"), "unknown"))
		printf("  %-42s %s\n", "POSIX timer", fact_of("POSIX timer"));
	printf("  with icount, one processor\n");
	print_part("requests", "icount");

	print_head("Idle connections",
		   "A million timeouts of 30 s, a million refreshes a second at random, 5 % have fallen silent. The\n"
		   "guest: all that the processors do, less the same load without timers. Natively: in simulated\n"
		   "time, with the kernel's part of the words in the program; a look is the kernel's.");
	print_part("idle", "guest");
	printf("  natively\n");
	print_part("idle", "native");

	print_head("A storm: a million due within 10 ms",
		   "As below, but with deadlines within 10 ms.");
	print_part("storm", "guest");

	print_head("Two threads, each with a wheel or timers of its own",
		   "100,000 timers: arm in sequence, push back and cancel at random, for half a second.");
	print_part("threads", "guest");
	printf("  natively\n");
	print_part("threads", "native");

	printf("\nMore timers: does an operation stay as cheap?\n"
	       "As above. Instructions are counted, user space included; the time is the guest's.\n");
	print_growth("icount", "instructions");
	print_growth("guest", "ns");

	print_head("Where the instructions of a submit and a read go",
		   "16,384 timers, ids in sequence, batches of 256; per operation, unless it says per call.");
	print_part("submit", "icount");
	print_part("submit", "guest");

	print_head("Due in the same second: delivered for each second of processor time",
		   "Random deadlines within one second. Processor time is all that was not idle on all processors,\n"
		   "from the last arm to the last event: interrupts, softirqs, workers, the reader. Read by one\n"
		   "thread: a wheel by read(), timerfds by epoll_wait() and read(), POSIX timers from a signalfd.");
	print_part("delivery", "guest");
	printf("  with icount, one processor: a processor second is 10^9 instructions\n");
	print_part("delivery", "icount");

	print_head("Kernel memory, all in",
		   "What is charged to a fresh cgroup, and by how much the guest's free memory shrinks.");
	print_part("memory", "guest");

	print_head("Tickless",
		   "Nothing due: deadlines from 2 min to a day ahead. Sparse: 1,000 timers at random in 100 s.");
	print_part("tickless", "guest");
	printf("  with icount, one processor\n");
	print_part("tickless", "icount");
}

/* Summary, as it can stand in a README */

/* Of several counts of timers, the largest; of operations, those of many. */
static const char *cell(const char *part, const char *name, const char *peer)
{
	const struct row *found = NULL;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (row->nr && !strcmp(row->part, part) && !strcmp(row->bed, "guest") &&
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
	printf("| %-34s |", title);
	for (size_t i = 0; i < NR_PEERS; i++)
		printf(" %17s |", cell(part, name, peers[i]));
	putchar('\n');
}

static void print_summary(void)
{
	printf("\nSummary\n\n| %-34s |", "");
	for (size_t i = 0; i < NR_PEERS; i++)
		printf(" %17s |", peers[i]);
	printf("\n|%.36s|", DASHES);
	for (size_t i = 0; i < NR_PEERS; i++)
		printf("%.18s:|", DASHES);
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

static void print_all(void)
{
	print_tables();
	print_summary();
}

/* The picture */

static bool is_shown(const struct row *row)
{
	return !strcmp(row->part, "ops") && !strcmp(row->bed, "guest");
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

static const struct plot plot = {
	.title		= "What it costs to ...",
	.machine	= "guest accelerator",
	.runs		= "guest runs",
	.shows		= is_shown,
	.panels		= panels,
	.nr_panels	= COUNT(panels),
	.lines		= lines,
	.nr_lines	= COUNT(lines),
};

int report(int argc, char **argv)
{
	return rows_report(argc, argv, set_goals, print_all, &plot);
}
