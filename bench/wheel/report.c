// SPDX-License-Identifier: GPL-2.0
/*
 * Makes of the raw data what people read: the wheel beside the heap, its goals
 * and whether they are met.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../raw.h"
#include "../rows.h"

#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

/* How many times as long as the wheel's the heap's time should be, at least. */
static const struct {
	const char	*part;
	const char	*name;
	double		goal;
} goals[] = {
	{ "1M over 300k ticks",   "arm, ids in sequence",		5 },
	{ "1M over 300k ticks",   "re-arm, random",			13 },
	{ "1M over 300k ticks",   "re-arm by cancel and arm, random",	13 },
	{ "1M over 300k ticks",   "cancel, second random order",	16 },
	{ "1M over 300k ticks",   "expire, armed in sequence",		16 },
	{ "1M over 300k ticks",   "expire, armed at random",		16 },
	{ "1M over 300M ticks",   "expire, armed in sequence",		10 },
	{ "1M over 300M ticks",   "expire, armed at random",		10 },
	{ "100k over 300k ticks", "arm, ids in sequence",		4 },
	{ "100k over 300k ticks", "re-arm, random",			6 },
	{ "100k over 300k ticks", "re-arm by cancel and arm, random",	6 },
	{ "100k over 300k ticks", "cancel, second random order",	9 },
	{ "100k over 300k ticks", "expire, armed in sequence",		5 },
	{ "100k over 300k ticks", "expire, armed at random",		5 },
};

static double goal_of(const struct row *row)
{
	if (strcmp(row->bed, "native"))
		return 0;
	for (size_t i = 0; i < COUNT(goals); i++)
		if (!strcmp(goals[i].part, row->part) && !strcmp(goals[i].name, row->name))
			return goals[i].goal;
	return 0;
}

/* A re-arm of the hot set, in the table where it is dearest and cheapest. */
static void hot_goal(const char *name)
{
	const struct row *most = NULL, *least = NULL;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (!row->nr || strcmp(row->part, "hot set") || strcmp(row->name, name))
			continue;
		if (!most || row->median > most->median)
			most = row;
		if (!least || row->median < least->median)
			least = row;
	}
	ratio(name, most, least, AT_MOST, 1.2);
}

static void set_goals(void)
{
	static const char *const pass_parts[] = {
		"1M in one upper slot", "1M over 300k, tick by tick",
	};
	static const char *const beds[] = { "native", "um" };

	for (unsigned int i = 0, nr = nr_rows; i < nr; i++) {
		const struct row *row = &rows[i];
		double goal = goal_of(row);

		if (strcmp(row->peer, "wheel"))
			continue;
		ratio(row->name, find(row->part, row->bed, row->name, "heap", 0), row,
		      goal ? AT_LEAST : NO_GOAL, goal);
	}
	hot_goal("re-arm, random");
	hot_goal("re-arm by cancel and arm, random");
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

/* The ratio that was made of two figures. */
static const struct row *ratio_of(const struct row *of)
{
	for (unsigned int i = 0; i < nr_rows; i++)
		if (!rows[i].nr && !strcmp(rows[i].part, of->part) &&
		    !strcmp(rows[i].bed, of->bed) && !strcmp(rows[i].name, of->name))
			return &rows[i];
	return NULL;
}

static void print_figure(const struct row *row)
{
	if (row)
		printf("  %7s %7s %7s", number(row->median), number(row->min),
		       number(row->max));
	else
		printf("  %7s %7s %7s", "-", "", "");
}

static void print_ops(const char *part, const char *bed)
{
	bool head = false;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i], *times;

		if (!row->nr || strcmp(row->part, part) || strcmp(row->bed, bed) ||
		    strcmp(row->peer, "wheel"))
			continue;
		if (!head)
			printf("\n  %-35s  %7s %7s %7s  %7s %7s %7s  %6s\n", part, "wheel",
			       "min", "max", "heap", "min", "max", "times");
		head = true;
		times = ratio_of(row);
		printf("  %-35s", row->name);
		print_figure(row);
		print_figure(find(part, bed, row->name, "heap", 0));
		if (times) {
			printf("  %6.1f", times->median);
			print_goal(times);
		}
		putchar('\n');
	}
}

static void print_hot(void)
{
	static const char *const names[] = {
		"re-arm, random", "re-arm by cancel and arm, random",
	};

	for (size_t n = 0; n < COUNT(names); n++) {
		const struct row *most = NULL;

		if (!n) {
			printf("\n  %-35s", "timers in the table");
			for (unsigned int i = 0; i < nr_rows; i++)
				if (!strcmp(rows[i].part, "hot set") && rows[i].nr &&
				    !strcmp(rows[i].name, names[0]))
					printf(" %10s", number(rows[i].timers));
			printf("  most : least\n");
		}
		printf("  %-35s", names[n]);
		for (unsigned int i = 0; i < nr_rows; i++) {
			if (strcmp(rows[i].part, "hot set") || strcmp(rows[i].name, names[n]))
				continue;
			if (rows[i].nr)
				printf(" %10s", number(rows[i].median));
			else
				most = &rows[i];
		}
		if (most) {
			printf("  %6.2f times", most->median);
			print_goal(most);
		}
		putchar('\n');
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
		printf("  %-41s", row->name);
		print_figure(row);
		printf("  %-6s", row->unit);
		print_goal(row);
		putchar('\n');
	}
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
	printf("\nThe wheel beside a binary heap, in user space\n\n"
	       "  processor   %s, %s of them\n"
	       "  compiler    %s\n"
	       "  huge pages  %s; %s where it says 4 KiB\n"
	       "  runs        %s; medians\n"
	       "  share       %s %% of one processor\n",
	       fact_of("cpu"), fact_of("processors"), fact_of("compiler"), fact_of("huge pages"),
	       fact_of("small pages"), fact_of("native runs"), fact_of("share"));
	if (atof(fact_of("share")) < 98)
		printf("\n  Others ran on this processor too, and are in the figures:\n"
		       "  measure again on a quiet machine.\n");
	printf("\nThe cost of an operation, ns\n"
	       "Processor time. All timers one after the other, in the order it says; random\n"
	       "deadlines. In random order, the record of the 16th timer from here is fetched, as\n"
	       "TWHEEL_SUBMIT does with a batch, for both; or none is. Re-arm: as the wheel and the\n"
	       "heap do it best (the wheel only stores a later deadline, the heap moves in place); by\n"
	       "cancel and arm: taken out and put in. Expire: in 10,000 steps of the clock, an event\n"
	       "of 32 bytes written for each timer; each is checked to be in its step. The heap:\n"
	       "pointers, each timer knows its place, 80 bytes. Pages of 2 MiB unless it says else.\n"
	       "Times: the heap's median to the wheel's.\n");
	print_ops("1M over 300k ticks", "native");
	print_ops("1M over 300M ticks", "native");
	print_ops("100k over 300k ticks", "native");
	print_ops("10k over 300k ticks", "native");
	print_ops("1M over 300k, 4 KiB pages", "native");
	printf("\nA hot set: 1,000 timers re-armed at random, the others only lie there; ns\n");
	print_hot();
	print_passes("native");
	print_list("memory", "native");
	if (strcmp(fact_of("um runs"), "unknown")) {
		printf("\nIn the kernel: the same loops as a module, in User-Mode Linux, which\n"
		       "runs natively, on pages of 4 KiB. %s runs; ns\n", fact_of("um runs"));
		print_ops("1M over 300k ticks", "um");
		print_ops("100k over 300k ticks", "um");
		print_passes("um");
	}
	putchar('\n');
	print_goals();
}

int report(int argc, char **argv)
{
	return rows_report(argc, argv, set_goals, print_all);
}
