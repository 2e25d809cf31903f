// SPDX-License-Identifier: GPL-2.0
/*
 * Makes of the raw data what people and programs read: tables, the goals and
 * whether they are met, a summary, JSON.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define VALUES_MAX	64
#define ROWS_MAX	512

enum sense { NO_GOAL, AT_MOST, BELOW, AT_LEAST };

/**
 * struct row - a figure
 * @part: of the benchmark
 * @bed: where it was measured, "guest" or "icount"
 * @name: what was measured
 * @peer: on whom
 * @unit: of the values
 * @timers: armed, or due
 * @values: one for each run, sorted; none if it was derived from other rows
 * @nr: how many
 * @median: of the values; likewise @min and @max
 * @sense: which side of @goal is good
 * @goal: what it should be
 */
struct row {
	char		part[16];
	char		bed[16];
	char		name[64];
	char		peer[40];
	char		unit[32];
	unsigned int	timers;
	double		values[VALUES_MAX];
	unsigned int	nr;
	double		median;
	double		min;
	double		max;
	enum sense	sense;
	double		goal;
};

static struct row rows[ROWS_MAX];
static unsigned int nr_rows;

static struct {
	char	key[64];
	char	value[128];
} facts[64];
static unsigned int nr_facts;

/* Reading */

static void add_fact(const char *key, const char *value)
{
	unsigned int i = 0;

	while (i < nr_facts && strcmp(facts[i].key, key))
		i++;
	if (i == sizeof(facts) / sizeof(*facts))
		die("too many facts");
	snprintf(facts[i].key, sizeof(facts[i].key), "%s", key);
	snprintf(facts[i].value, sizeof(facts[i].value), "%s", value);
	if (i == nr_facts)
		nr_facts++;
}

static const char *fact_of(const char *key)
{
	for (unsigned int i = 0; i < nr_facts; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].value;
	return "unknown";
}

static struct row *new_row(const char *part, const char *bed, const char *name,
			   const char *peer, unsigned int timers, const char *unit)
{
	struct row *row = &rows[nr_rows];

	if (nr_rows++ == ROWS_MAX)
		die("too many figures");
	snprintf(row->part, sizeof(row->part), "%s", part);
	snprintf(row->bed, sizeof(row->bed), "%s", bed);
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->peer, sizeof(row->peer), "%s", peer);
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
	row->timers = timers;
	return row;
}

/* The measured figure of this name; @timers may be 0: any count. */
static struct row *find(const char *part, const char *bed, const char *name,
			const char *peer, unsigned int timers)
{
	for (unsigned int i = 0; i < nr_rows; i++) {
		struct row *row = &rows[i];

		if (row->nr && !strcmp(row->part, part) && !strcmp(row->bed, bed) &&
		    !strcmp(row->name, name) && !strcmp(row->peer, peer) &&
		    (!timers || row->timers == timers))
			return row;
	}
	return NULL;
}

static void add_sample(char *fields[7])
{
	unsigned int timers = strtoul(fields[4], NULL, 10);
	struct row *row = find(fields[0], fields[1], fields[2], fields[3], timers);

	if (!row)
		row = new_row(fields[0], fields[1], fields[2], fields[3], timers,
			      fields[5]);
	if (row->nr == VALUES_MAX)
		die("too many runs");
	row->values[row->nr++] = strtod(fields[6], NULL);
}

static void read_raw(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024];

	if (!file)
		die("%s: %m", path);
	while (fgets(line, sizeof(line), file)) {
		char *rest = line, *kind, *fields[7];
		unsigned int n = 0;

		line[strcspn(line, "\n")] = 0;
		kind = strsep(&rest, "\t");
		while (n < 7 && rest)
			fields[n++] = strsep(&rest, "\t");
		if (!strcmp(kind, "sample") && n == 7)
			add_sample(fields);
		else if (!strcmp(kind, "fact") && n == 2)
			add_fact(fields[0], fields[1]);
		else
			die("%s: not raw data of this program", path);
	}
	fclose(file);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sum_up(struct row *row)
{
	unsigned int n = row->nr;

	qsort(row->values, n, sizeof(*row->values), compare);
	row->median = (row->values[n / 2] + row->values[(n - 1) / 2]) / 2;
	row->min = row->values[0];
	row->max = row->values[n - 1];
}

/* A number as people read it: three digits at least, thousands apart. */
static const char *number(double value)
{
	static char buffers[8][32];
	static unsigned int turn;
	char *out = buffers[turn++ % 8], digits[32];
	int len, n = 0;

	if (value < 1 && value > 0) {
		snprintf(out, 32, "%.3f", value);
	} else if (value < 10 && value != floor(value)) {
		snprintf(out, 32, "%.2f", value);
	} else if (value < 100 && value != floor(value)) {
		snprintf(out, 32, "%.1f", value);
	} else {
		len = snprintf(digits, sizeof(digits), "%.0f", value);
		for (int i = 0; i < len && n < 30; i++) {
			out[n++] = digits[i];
			if ((len - i - 1) % 3 == 0 && i < len - 1)
				out[n++] = ',';
		}
		out[n] = 0;
	}
	return out;
}

/* Goals */

static void set_goal(struct row *row, enum sense sense, double goal)
{
	if (!row)
		return;
	row->sense = sense;
	row->goal = goal;
}

static bool met(const struct row *row)
{
	switch (row->sense) {
	case AT_MOST:
		return row->median <= row->goal;
	case BELOW:
		return row->median < row->goal;
	case AT_LEAST:
		return row->median >= row->goal;
	default:
		return true;
	}
}

/* @a as a share of @b; min and max are the worst that the runs allow. */
static void ratio(const char *name, const struct row *a, const struct row *b,
		  enum sense sense, double goal)
{
	struct row *row;
	char peer[40];

	if (!a || !b)
		return;
	snprintf(peer, sizeof(peer), "%.16s : %.16s", a->peer, b->peer);
	row = new_row(a->part, a->bed, name, peer, a->timers, "times");
	row->median = a->median / b->median;
	row->min = a->min / b->max;
	row->max = a->max / b->min;
	set_goal(row, sense, goal);
}

static const char *const ops[] = { "arm", "re-arm", "cancel" };

#define NR_OPS	(sizeof(ops) / sizeof(*ops))

static void ops_goals(void)
{
	char name[64];

	for (size_t i = 0; i < NR_OPS; i++) {
		const struct row *ours = find("ops", "guest", ops[i], "twheel", 0);

		snprintf(name, sizeof(name), "%s : timerfd_settime", ops[i]);
		ratio(name, ours, find("ops", "guest", ops[i], "timerfd", 0), AT_MOST, 0.2);
		snprintf(name, sizeof(name), "%s : timer_settime", ops[i]);
		ratio(name, ours, find("ops", "guest", ops[i], "POSIX timer", 0), AT_MOST, 0.1);
	}
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

/* The goal is against as many timerfds as there can be. */
static void delivery_goals(void)
{
	const struct row *row, *most = NULL;
	char title[64];

	for (unsigned int i = 0, nr = nr_rows; i < nr; i++) {
		row = &rows[i];
		if (strcmp(row->part, "delivery") || strcmp(row->name, "delivered") ||
		    strcmp(row->peer, "timerfd"))
			continue;
		if (!strcmp(row->bed, "guest") && (!most || row->timers > most->timers))
			most = row;
	}
	for (unsigned int i = 0, nr = nr_rows; i < nr; i++) {
		const struct row *ours;

		row = &rows[i];
		if (strcmp(row->part, "delivery") || strcmp(row->name, "delivered") ||
		    strcmp(row->peer, "timerfd"))
			continue;
		ours = find("delivery", row->bed, "delivered", "twheel", row->timers);
		/* The limits may have allowed fewer timerfds. */
		if (!ours)
			ours = find("delivery", row->bed, "delivered", "twheel", 0);
		snprintf(title, sizeof(title), "delivered : %s timerfds",
			 number(row->timers));
		ratio(title, ours, row, row == most ? AT_LEAST : NO_GOAL, 8);
	}
}

static void set_goals(void)
{
	static const char *const hows[] = {
		"by the wheel's stats", "by the cgroup", "by the free memory",
	};
	char name[64];

	ops_goals();
	for (size_t i = 0; i < NR_OPS; i++)
		growth_goal(ops[i]);
	delivery_goals();
	for (unsigned int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "an armed timer, %s", hows[i]);
		set_goal(find("memory", "guest", name, "twheel", 0), AT_MOST, 52);
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

static void print_goal(const struct row *row)
{
	static const char *const sign[] = {
		[AT_MOST] = "<=", [BELOW] = "<", [AT_LEAST] = ">=",
	};

	if (row->sense == NO_GOAL)
		return;
	printf("  %2s %-6s %s", sign[row->sense], number(row->goal),
	       met(row) ? "met" : "MISSED");
}

static void print_row(const struct row *row)
{
	printf("  %-42s %-22s %9s %12s %12s %12s  %-15s", row->name, row->peer,
	       row->timers ? number(row->timers) : "", number(row->median),
	       number(row->min), number(row->max), row->unit);
	print_goal(row);
	putchar('\n');
}

static void print_head(const char *title, const char *text)
{
	printf("\n%s\n%s\n\n", title, text);
	printf("  %-42s %-22s %9s %12s %12s %12s  %-15s  %s\n", "", "", "timers",
	       "median", "min", "max", "unit", "goal");
}

/* All figures of a part, those of the same name together. */
static void print_part(const char *part, const char *bed)
{
	for (unsigned int i = 0; i < nr_rows; i++) {
		bool told = false;

		if (strcmp(rows[i].part, part) || strcmp(rows[i].bed, bed))
			continue;
		for (unsigned int j = 0; j < i && !told; j++)
			told = !strcmp(rows[j].part, part) &&
			       !strcmp(rows[j].bed, bed) &&
			       !strcmp(rows[j].name, rows[i].name);
		for (unsigned int j = i; j < nr_rows && !told; j++)
			if (!strcmp(rows[j].part, part) && !strcmp(rows[j].bed, bed) &&
			    !strcmp(rows[j].name, rows[i].name))
				print_row(&rows[j]);
	}
}

static void print_growth(const char *bed, const char *unit)
{
	static const char *const names[] = {
		"first arm", "arm", "re-arm", "push back", "cancel",
	};
	bool head = false;

	for (unsigned int n = 0; n < sizeof(names) / sizeof(*names); n++) {
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

static void print_machine(void)
{
	printf("\ntwheel beside its peers\n\n"
	       "  processor  %s\n"
	       "  guest      Linux %s, %s processors, %s, %s\n"
	       "  icount     %s processor, %s: %s\n"
	       "  QEMU       %s\n"
	       "  runs       %s; with icount %s\n",
	       fact_of("cpu"), fact_of("kernel"), fact_of("guest processors"),
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

	print_head("100,000 armed: the cost of an operation",
		   "Ids in sequence for arm, in random orders for the others; random deadlines 1 to 6 min ahead.\n"
		   "twheel by submit and io_uring in batches of 256. Of re-arms and cancels 64 are measured in a\n"
		   "run for io_uring, 20,000 for POSIX timers, else all: these walk lists. A first arm allocates\n"
		   "the timer's memory too, as create does for others. A push back is a re-arm 30 s later.");
	print_part("ops", "guest");

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

/* Of several counts of timers, the largest. */
static const char *cell(const char *part, const char *name, const char *peer)
{
	const struct row *found = NULL;

	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		if (row->nr && !strcmp(row->part, part) && !strcmp(row->bed, "guest") &&
		    !strcmp(row->name, name) && !strcmp(row->peer, peer) &&
		    (!found || row->timers > found->timers))
			found = row;
	}
	return found ? number(found->median) : "-";
}

static const char *const peers[] = {
	"twheel", "timerfd", "POSIX timer", "io_uring", "heap (user space)",
};

#define NR_PEERS	(sizeof(peers) / sizeof(*peers))
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
	unsigned int goals = 0, missed = 0;

	printf("\nSummary\n\n| %-34s |", "");
	for (size_t i = 0; i < NR_PEERS; i++)
		printf(" %17s |", peers[i]);
	printf("\n|%.36s|", DASHES);
	for (size_t i = 0; i < NR_PEERS; i++)
		printf("%.18s:|", DASHES);
	putchar('\n');
	print_cells("arm, ns", "ops", "arm");
	print_cells("re-arm at random, ns", "ops", "re-arm");
	print_cells("cancel at random, ns", "ops", "cancel");
	print_cells("delivered per CPU-second", "delivery", "delivered");
	print_cells("kernel memory of a timer, bytes", "memory",
		    "an armed timer, by the free memory");
	printf("\n");
	for (unsigned int i = 0; i < nr_rows; i++) {
		if (rows[i].sense == NO_GOAL)
			continue;
		goals++;
		if (met(&rows[i]))
			continue;
		missed++;
		printf("missed: %s (%s, %s): %s %s", rows[i].name, rows[i].peer,
		       rows[i].bed, number(rows[i].median), rows[i].unit);
		print_goal(&rows[i]);
		printf("\n");
	}
	printf("%u goals, %u met, %u missed\n", goals, goals - missed, missed);
}

/* JSON */

static void json_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
}

static void json_string(FILE *file, const char *text)
{
	fputc('"', file);
	json_text(file, text);
	fputc('"', file);
}

static void write_json(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		die("%s: %m", path);
	fputs("[", file);
	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		fprintf(file, "%s\n{\"name\": \"%s: ", i ? "," : "", row->part);
		json_text(file, row->name);
		fputs(strcmp(row->bed, "icount") ? "\", \"peer\": " :
						   " (icount)\", \"peer\": ", file);
		json_string(file, row->peer);
		fprintf(file, ", \"n\": %u, \"median\": %.9g, ", row->timers, row->median);
		fprintf(file, "\"min\": %.9g, \"max\": %.9g, \"unit\": ", row->min, row->max);
		json_string(file, row->unit);
		if (row->sense == NO_GOAL)
			fputs(", \"goal\": null, \"met\": null", file);
		else
			fprintf(file, ", \"goal\": %g, \"met\": %s", row->goal,
				met(row) ? "true" : "false");
		fputs(", \"values\": [", file);
		for (unsigned int j = 0; j < row->nr; j++)
			fprintf(file, "%s%.9g", j ? ", " : "", row->values[j]);
		fputs("]}", file);
	}
	fputs("\n]\n", file);
	if (fclose(file))
		die("%s: %m", path);
}

int report(int argc, char **argv)
{
	const char *json = NULL;

	for (; argc; argc--, argv++) {
		if (!strcmp(argv[0], "--json") && argc > 1) {
			json = argv[1];
			argc--;
			argv++;
		} else if (!strcmp(argv[0], "--fact") && argc > 1) {
			char *value = strchr(argv[1], '=');

			if (!value)
				die("--fact wants KEY=VALUE");
			*value++ = 0;
			add_fact(argv[1], value);
			argc--;
			argv++;
		} else {
			read_raw(argv[0]);
		}
	}
	if (!nr_rows)
		die("no raw data");
	for (unsigned int i = 0; i < nr_rows; i++)
		sum_up(&rows[i]);
	set_goals();
	print_tables();
	print_summary();
	if (json)
		write_json(json);
	return 0;
}
