/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the reports share: the figures, their goals, how they are printed.
 */
#ifndef TWHEEL_BENCH_ROWS_H
#define TWHEEL_BENCH_ROWS_H

#define VALUES_MAX	64
#define ROWS_MAX	4096

/* The elements of an array. */
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

enum sense { NO_GOAL, AT_MOST, BELOW, AT_LEAST };

/**
 * struct row - a figure
 * @part: of the benchmark
 * @bed: where it was measured: "guest", "icount", "native" or "um"
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
	char		part[32];
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

extern struct row rows[ROWS_MAX];
extern unsigned int nr_rows;

const char *fact_of(const char *key);

/* The measured figure of this name; @timers may be 0: any count. */
struct row *find(const char *part, const char *bed, const char *name,
		 const char *peer, unsigned int timers);
struct row *new_row(const char *part, const char *bed, const char *name,
		    const char *peer, unsigned int timers, const char *unit);

/* A number as people read it: three digits at least, thousands apart. */
const char *number(double value);

void set_goal(struct row *row, enum sense sense, double goal);
bool met(const struct row *row);
/* @a as a share of @b; min and max are the worst that the runs allow. */
struct row *ratio(const char *name, const struct row *a, const struct row *b,
		  enum sense sense, double goal);

void print_goal(const struct row *row);
void print_row(const struct row *row);
void print_head(const char *title, const char *text);
/* All figures of a part, those of the same name together. */
void print_part(const char *part, const char *bed);
/* What was missed, and how many goals there are. */
void print_goals(void);

struct plot;

/* A report: argv is [--json FILE] [--plot FILE] [--fact KEY=VALUE]... RAW... */
int rows_report(int argc, char **argv, void (*set_goals)(void),
		void (*print_tables)(void), const struct plot *plot);

/* What each program has: the rest of its argv is that of rows_report(). */
int report(int argc, char **argv);

#endif /* TWHEEL_BENCH_ROWS_H */
