// SPDX-License-Identifier: GPL-2.0
/*
 * Reads raw data and makes figures of it: medians, ratios, goals and whether
 * they are met, lines of a table, JSON.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "raw.h"
#include "rows.h"

struct row rows[ROWS_MAX];
unsigned int nr_rows;

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

const char *fact_of(const char *key)
{
	for (unsigned int i = 0; i < nr_facts; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].value;
	return "unknown";
}

struct row *new_row(const char *part, const char *bed, const char *name,
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

struct row *find(const char *part, const char *bed, const char *name,
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

const char *number(double value)
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

void set_goal(struct row *row, enum sense sense, double goal)
{
	if (!row)
		return;
	row->sense = sense;
	row->goal = goal;
}

bool met(const struct row *row)
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

struct row *ratio(const char *name, const struct row *a, const struct row *b,
		  enum sense sense, double goal)
{
	struct row *row;
	char peer[40];

	/* What is left of a share of a processor, without the load's own, may be nothing. */
	if (!a || !b || b->min <= 0)
		return NULL;
	snprintf(peer, sizeof(peer), "%.16s : %.16s", a->peer, b->peer);
	row = new_row(a->part, a->bed, name, peer, a->timers, "times");
	row->median = a->median / b->median;
	row->min = a->min / b->max;
	row->max = a->max / b->min;
	set_goal(row, sense, goal);
	return row;
}

/* Tables */

void print_goal(const struct row *row)
{
	static const char *const sign[] = {
		[AT_MOST] = "<=", [BELOW] = "<", [AT_LEAST] = ">=",
	};

	if (row->sense == NO_GOAL)
		return;
	printf("  %2s %-6s %s", sign[row->sense], number(row->goal),
	       met(row) ? "met" : "MISSED");
}

void print_row(const struct row *row)
{
	printf("  %-42s %-22s %9s %12s %12s %12s  %-15s", row->name, row->peer,
	       row->timers ? number(row->timers) : "", number(row->median),
	       number(row->min), number(row->max), row->unit);
	print_goal(row);
	putchar('\n');
}

void print_head(const char *title, const char *text)
{
	printf("\n%s\n%s\n\n", title, text);
	printf("  %-42s %-22s %9s %12s %12s %12s  %-15s  %s\n", "", "", "timers",
	       "median", "min", "max", "unit", "goal");
}

void print_part(const char *part, const char *bed)
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

void print_goals(void)
{
	unsigned int goals = 0, missed = 0;

	for (unsigned int i = 0; i < nr_rows; i++) {
		if (rows[i].sense == NO_GOAL)
			continue;
		goals++;
		if (met(&rows[i]))
			continue;
		missed++;
		printf("missed: %s: %s (%s, %s): %s %s", rows[i].part, rows[i].name,
		       rows[i].peer, rows[i].bed, number(rows[i].median), rows[i].unit);
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

/* A line for each fact and each figure: a diff shows which have changed. */
static void write_json(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		die("%s: %m", path);
	fputs("{\n\"measured\": {", file);
	for (unsigned int i = 0; i < nr_facts; i++) {
		fprintf(file, "%s\n", i ? "," : "");
		json_string(file, facts[i].key);
		fputs(": ", file);
		json_string(file, facts[i].value);
	}
	fputs("\n},\n\"figures\": [", file);
	for (unsigned int i = 0; i < nr_rows; i++) {
		const struct row *row = &rows[i];

		fprintf(file, "%s\n{\"name\": \"%s: ", i ? "," : "", row->part);
		json_text(file, row->name);
		fputs("\", \"bed\": ", file);
		json_string(file, row->bed);
		fputs(", \"peer\": ", file);
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
	fputs("\n]\n}\n", file);
	if (fclose(file))
		die("%s: %m", path);
}

int rows_report(int argc, char **argv, void (*set_goals)(void),
		void (*print_tables)(void), const struct plot *plot)
{
	const char *json = NULL, *picture = NULL;

	for (; argc; argc--, argv++) {
		if (!strcmp(argv[0], "--json") && argc > 1) {
			json = argv[1];
			argc--;
			argv++;
		} else if (!strcmp(argv[0], "--plot") && argc > 1) {
			picture = argv[1];
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
	if (json)
		write_json(json);
	if (picture)
		plot_write(plot, picture);
	return 0;
}
