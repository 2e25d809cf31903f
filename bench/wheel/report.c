// SPDX-License-Identifier: GPL-2.0
/*
 * Makes of the raw data what people read: the wheel and whole timers beside others, their
 * goals and whether they are met.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../plot.h"
#include "../raw.h"
#include "../rows.h"

/* In the order of the columns. */
static const char *const columns[] = {
	"wheel", "timers", "fallback", "heap", "heap4", "libev", "libevent", "libuv",
};

/* Of those the columns that are event loops of the distribution. */
#define LOOPS	5

#define MILLION		"1M over 300k ticks"
#define FAR		"1M over 300M ticks"
#define HUNDRED		"100k over 300k ticks"
#define HUNDRED_FAR	"100k over 300M ticks"
#define THOUSAND	"1k over 300k ticks"

/* No operation may take more than this share of what it took at this commit. */
#define BASE		"7ed7b88"
#define BASE_GOAL	0.7

/* What share of another's time an operation may take. */
static const struct {
	const char	*part;
	const char	*name;
	const char	*peer;
	const char	*beside;
	double		goal;
} goals[] = {
	{ MILLION,  "arm, ids in sequence",		"timers", "libev",  0.8 },
	{ MILLION,  "arm, random ids",			"timers", "heap4",  2.4 },
	{ MILLION,  "re-arm, random",			"timers", "heap4",  0.55 },
	{ MILLION,  "push back, random",		"timers", "heap4",  0.5 },
	{ MILLION,  "cancel, second random order",	"timers", "heap4",  0.6 },
	{ MILLION,  "expire, armed at random",		"timers", "libev",  0.10 },
	{ HUNDRED,  "re-arm, random",			"timers", "libev",  0.5 },
	{ THOUSAND, "re-arm, random",			"timers", "libev",  1.0 },
	{ MILLION,  "arm, ids in sequence",		"wheel",  "libev",  0.24 },
	{ MILLION,  "re-arm, random",			"wheel",  "heap4",  0.25 },
	{ MILLION,  "cancel, second random order",	"wheel",  "heap4",  0.22 },
	{ MILLION,  "expire, armed at random",		"wheel",  "libev",  0.062 },
	{ FAR,      "expire, armed at random",		"wheel",  "heap4",  0.17 },
};

/* A re-arm of the hot set, in the table where it is dearest and cheapest. */
static void hot_goal(const char *name, const char *peer)
{
	const struct row *most = NULL, *least = NULL;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (!row->nr || strcmp(row->part, "hot set") || strcmp(row->name, name) ||
		    strcmp(row->peer, peer))
			continue;
		if (!most || row->median > most->median)
			most = row;
		if (!least || row->median < least->median)
			least = row;
	}
	ratio(name, most, least, AT_MOST, 1.2);
}

/* No operation of ours is to take longer than the best of the event loops. */
static void loop_goals(const char *peer)
{
	for (unsigned int i = 0, nr = nr_rows; i < nr; i++) {
		const struct row *row = &rows[i], *best = NULL;

		if (!row->nr || strcmp(row->peer, peer))
			continue;
		for (size_t c = LOOPS; c < COUNT(columns); c++) {
			const struct row *loop = find(row->part, row->bed, row->name, columns[c],
						      row->timers);

			if (loop && (!best || loop->median < best->median))
				best = loop;
		}
		ratio(row->name, row, best, AT_MOST, 1);
	}
}

/* Beside the same at another commit: run names its peers so. */
static void base_goals(void)
{
	enum sense sense = strncmp(fact_of("base"), BASE, strlen(BASE)) ? NO_GOAL : AT_MOST;

	for (unsigned int i = 0, nr = nr_rows; i < nr; i++) {
		const struct row *row = &rows[i];
		char base[sizeof(row->peer) + 8];

		snprintf(base, sizeof(base), "base %s", row->peer);
		ratio(row->name, row, find(row->part, row->bed, row->name, base, row->timers),
		      sense, BASE_GOAL);
	}
}

static void set_goals(void)
{
	static const char *const pass_parts[] = {
		"1M in one upper slot", "1M over 300k, tick by tick",
	};
	static const char *const beds[] = { "native", "um" };

	for (size_t i = 0; i < COUNT(goals); i++)
		ratio(goals[i].name,
		      find(goals[i].part, "native", goals[i].name, goals[i].peer, 0),
		      find(goals[i].part, "native", goals[i].name, goals[i].beside, 0),
		      AT_MOST, goals[i].goal);
	loop_goals("wheel");
	loop_goals("timers");
	loop_goals("fallback");
	hot_goal("re-arm, random", "timers");
	hot_goal("re-arm by cancel and arm, random", "timers");
	base_goals();
	for (size_t i = 0; i < COUNT(pass_parts) * COUNT(beds); i++) {
		const char *part = pass_parts[i / COUNT(beds)], *bed = beds[i % COUNT(beds)];

		/* As measured, and without what else the machine did. */
		set_goal(find(part, bed, "longest pass, in steps", "wheel", 0), AT_MOST, 60);
		set_goal(find(part, bed, "longest pass, in steps, undisturbed", "wheel", 0),
			 AT_MOST, 60);
		set_goal(find(part, bed, "longest step of 64", "wheel", 0), AT_MOST, 20);
		set_goal(find(part, bed, "longest step of 64, undisturbed", "wheel", 0),
			 AT_MOST, 20);
	}
	set_goal(find("memory", "native", "record of a timer", "wheel", 0), AT_MOST, 48);
}

/* Tables */

/* How far the runs of a figure are apart, in percent of the median. */
static double spread(const struct row *row)
{
	return row ? 100 * (row->max - row->min) / row->median : 0;
}

/* The figures of all columns, and the widest spread of our own and the heaps'. */
static void print_cells(const char *part, const char *bed, const char *name, unsigned int timers)
{
	double widest = 0;

	for (size_t c = 0; c < COUNT(columns); c++) {
		const struct row *row = find(part, bed, name, columns[c], timers);

		printf("  %8s", row ? number(row->median) : "");
		if (c < LOOPS && spread(row) > widest)
			widest = spread(row);
	}
	printf("  %5.0f %%\n", widest);
}

static void print_columns(const char *title)
{
	printf("\n  %-35s", title);
	for (size_t c = 0; c < COUNT(columns); c++)
		printf("  %8s", columns[c]);
	printf("  %7s\n", "spread");
}

static void print_ops(const char *part, const char *bed)
{
	bool head = false;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (!row->nr || strcmp(row->part, part) || strcmp(row->bed, bed) ||
		    strcmp(row->peer, columns[0]))
			continue;
		if (!head)
			print_columns(part);
		head = true;
		printf("  %-35s", row->name);
		print_cells(part, bed, row->name, row->timers);
	}
}

static void print_hot(void)
{
	static const char *const names[] = {
		"re-arm, random", "re-arm by cancel and arm, random",
	};

	for (size_t n = 0; n < COUNT(names); n++) {
		print_columns(names[n]);
		for (unsigned int i = 0; i < nr_rows; i++) {
			if (!rows[i].nr || strcmp(rows[i].part, "hot set") ||
			    strcmp(rows[i].name, names[n]) || strcmp(rows[i].peer, columns[0]))
				continue;
			printf("  a table of %-24s", number(rows[i].timers));
			print_cells("hot set", "native", names[n], rows[i].timers);
		}
	}
}

static void print_list(const char *part, const char *bed)
{
	bool head = false;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (!row->nr || strcmp(row->part, part) || strcmp(row->bed, bed))
			continue;
		if (!head)
			printf("\n  %-43s %7s %7s %7s\n", part, "median", "min", "max");
		head = true;
		printf("  %-41s  %7s %7s %7s", row->name, number(row->median),
		       number(row->min), number(row->max));
		printf("  %-6s", row->unit);
		print_goal(row);
		putchar('\n');
	}
}

/* Each part's rows, and what share they are of what they were at another commit. */
static void print_base(void)
{
	const char *part = "";

	if (!strcmp(fact_of("base"), "unknown"))
		return;
	print_head("Beside another commit", fact_of("base"));
	for (unsigned int i = 0; i < nr_rows; i++) {
		if (!strstr(rows[i].peer, " : base "))
			continue;
		if (strcmp(rows[i].part, part))
			printf("  %s\n", rows[i].part);
		part = rows[i].part;
		print_row(&rows[i]);
	}
}

static void print_clusters(void)
{
	print_head("Clustered expiry",
		   "All timeouts are of one length and begin in clusters; 95 % are cancelled. A step is\n"
		   "one timers_advance() of 64 timers. All at once: its budget has no bound.");
	print_part("clusters", "native");
}

static void print_passes(const char *bed)
{
	printf("\nThe longest pass\n"
	       "A million timers armed in a random order of ids, all in one slot of level 2 (4,096\n"
	       "ticks) or evenly over 300,000; ticks one by one. At once: what is to come down comes\n"
	       "down in one pass. In steps: of 64 timers, at a tick until all that is due is out and\n"
	       "a thousand are handled; with their events taken. A step is one wheel_advance().\n"
	       "Undisturbed: of each pass its shortest time in all runs, and the longest of those.\n");
	print_list("1M in one upper slot", bed);
	print_list("1M over 300k, tick by tick", bed);
}

static void print_all(void)
{
	printf("\nTimers beside those of others, in user space\n\n"
	       "  processor   %s, %s of them\n"
	       "  compiler    %s\n"
	       "  libraries   %s\n"
	       "  huge pages  %s; %s where it says 4 KiB\n"
	       "  runs        %s; medians, and how far they are apart for the first five\n"
	       "  share       %s %% of one processor\n",
	       fact_of("cpu"), fact_of("processors"), fact_of("compiler"), fact_of("libraries"),
	       fact_of("huge pages"), fact_of("small pages"), fact_of("native runs"),
	       fact_of("share"));
	if (atof(fact_of("share")) < 98)
		printf("\n  Others ran on this processor too, and are in the figures:\n"
		       "  measure again on a quiet machine.\n");
	printf("\nThe cost of an operation, ns\n"
	       "Processor time. All timers one after the other, in the order it says; random\n"
	       "deadlines. wheel: wheel.c alone. timers: a whole timer, as the device has it, with\n"
	       "what is written and read of an operation and an event. fallback: libtwheel without a\n"
	       "device, in shared memory of 4 KiB pages, with all locks and calls. heap: a binary one of\n"
	       "pointers; heap4: one of four ways with the deadlines in it; both know places. The\n"
	       "libraries: their own timers, at a time that is told them.\n"
	       "Fetched ahead, as TWHEEL_IOC_SUBMIT does: the timer 16 operations on, by all of them;\n"
	       "or none is. Behind a fence: no operation overlaps with the next, as single calls are.\n"
	       "Re-arm: as each does it best; by cancel and arm: taken out and put in. Expire: in\n"
	       "10,000 steps of the clock, an event written for each timer; each is checked to be in\n"
	       "its step. Pages of 2 MiB unless it says else, but for what a library allocates.\n");
	print_ops("1M over 300k ticks", "native");
	print_ops("1M over 300M ticks", "native");
	print_ops("100k over 300k ticks", "native");
	print_ops("100k over 300M ticks", "native");
	print_ops("10k over 300k ticks", "native");
	print_ops("1k over 300k ticks", "native");
	print_ops("1M over 300k, 4 KiB pages", "native");
	printf("\nA hot set: 1,000 timers re-armed at random, the others only lie there; ns\n");
	print_hot();
	printf("\nAn event on its whole way, from its slot to the program that takes it\n"
	       "A million timers armed at random over 300,000 ticks, in 10,000 steps of the clock;\n"
	       "the module's code and libtwheel's in one thread, without the way into the kernel.\n");
	print_list("delivery", "native");
	print_passes("native");
	print_clusters();
	printf("\nMemory: what a timer takes, and what the machine's costs\n");
	print_list("memory", "native");
	if (strcmp(fact_of("um runs"), "unknown")) {
		printf("\nIn the kernel: the same loops as a module, in User-Mode Linux, which\n"
		       "runs natively, on pages of 4 KiB. %s runs; ns\n", fact_of("um runs"));
		print_ops("1M over 300k ticks", "um");
		print_ops("100k over 300k ticks", "um");
		print_passes("um");
	}
	print_base();
	putchar('\n');
	print_goals();
}

/* The picture */

static bool is_shown(const struct row *row)
{
	static const char *const parts[] = { MILLION, HUNDRED, "10k over 300k ticks", THOUSAND };

	for (size_t i = 0; i < COUNT(parts); i++)
		if (!strcmp(row->part, parts[i]))
			return !strcmp(row->bed, "native");
	return false;
}

static const struct plot_panel panels[] = {
	{ "arm, random ids",		"arm it" },
	{ "re-arm, random",		"move it to any time" },
	{ "push back, random",		"push it back" },
	{ "cancel, second random order", "cancel it" },
	{ "expire, armed at random",	"expire it, with its event" },
	{ "re-arm, random, behind a fence", "move one, when none overlaps" },
};

static const struct plot_line lines[] = {
	{ "timers",	"twheel, a whole timer",	"#c2410c", "" },
	{ "wheel",	"twheel's wheel alone",		"#e08a4f", "" },
	{ "fallback",	"libtwheel without a device",	"#b0276b", "" },
	{ "heap",	"binary heap",			"#35507a", "5 3" },
	{ "heap4",	"heap of four ways",		"#6b8fb8", "5 3" },
	{ "libev",	"libev",			"#2f7d4f", "" },
	{ "libevent",	"libevent",			"#7a5aa6", "" },
	{ "libuv",	"libuv",			"#8a6d1d", "" },
};

static const struct plot plot = {
	.title		= "What it costs to ...",
	.machine	= "cpu",
	.runs		= "native runs",
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
