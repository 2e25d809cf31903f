// SPDX-License-Identifier: GPL-2.0
/*
 * All wheels that may be seen, in the text format of Prometheus, for the textfile
 * collector of node_exporter.
 *
 * A time series for each wheel would be one for each open(), without bound.  So the metrics
 * are sums over the wheels of all processes of a name.  A process can choose its name, so
 * after the first names all others share one sum.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "duration.h"
#include "info.h"
#include "lateness.h"
#include "output.h"
#include "prometheus.h"
#include "target.h"

#define MAX_GROUPS	50
#define OTHERS		"(others)"

/* The wheels of one command. */
struct group {
	char comm[COMM_LEN];
	uint64_t wheels;
	/* Of the maxima the largest. */
	struct twheel_stats sum;
	/* From now, ns; if a timer is armed. */
	uint64_t next;
	bool armed;
};

struct groups {
	struct group group[MAX_GROUPS + 1];
	size_t nr;
};

#define AT(field)	offsetof(struct twheel_stats, field)

static const struct metric {
	const char *name;
	const char *type;
	const char *help;
	size_t offset;
} counts[] = {
	{ "pending_timers", "gauge", "Timers that are armed and not due yet.", AT(pending) },
	{ "expired_timers", "gauge", "Timers that are due and whose events are not read yet.",
	  AT(expired) },
	{ "memory_bytes", "gauge", "Kernel memory that the wheels hold.", AT(memory) },
	{ "arms_total", "counter", "Timers armed and moved.", AT(arms) },
	{ "cancels_total", "counter", "Timers cancelled.", AT(cancels) },
	{ "fired_total", "counter", "Timers found due.", AT(fired) },
	{ "delivered_total", "counter", "Events that were read.", AT(delivered) },
	{ "overruns_total", "counter", "Periods that passed while an event waited to be read.",
	  AT(overruns) },
	{ "interrupts_total", "counter", "Turns of a wheel in softirq.", AT(interrupts) },
};

static const uint64_t *from(const struct twheel_stats *stats, size_t offset)
{
	return (const uint64_t *)((const char *)stats + offset);
}

static uint64_t *to(struct twheel_stats *stats, size_t offset)
{
	return (uint64_t *)((char *)stats + offset);
}

static struct group *find(struct groups *groups, const char *comm)
{
	size_t i;

	for (i = 0; i < groups->nr; i++) {
		if (!strcmp(groups->group[i].comm, comm))
			return &groups->group[i];
	}
	return NULL;
}

static struct group *group_of(struct groups *groups, const char *comm)
{
	struct group *group = find(groups, comm);

	if (!group && groups->nr >= MAX_GROUPS) {
		comm = OTHERS;
		group = find(groups, comm);
	}
	if (!group) {
		group = &groups->group[groups->nr++];
		strcpy(group->comm, comm);
	}
	return group;
}

static void add(struct group *group, const struct info *wheel)
{
	const struct twheel_stats *stats = &wheel->stats;
	uint64_t next;
	size_t i;

	group->wheels++;
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		*to(&group->sum, counts[i].offset) += *from(stats, counts[i].offset);
	if (stats->max_late > group->sum.max_late)
		group->sum.max_late = stats->max_late;
	for (i = 0; i < TWHEEL_LATE_CLASSES; i++)
		group->sum.late[i] += stats->late[i];
	if (!stats->next)
		return;
	next = stats->next > wheel->setup.now ? stats->next - wheel->setup.now : 0;
	if (!group->armed || next < group->next)
		group->next = next;
	group->armed = true;
}

static void print_head(FILE *file, const char *name, const char *type, const char *help)
{
	fprintf(file, "# HELP twheel_%s %s\n# TYPE twheel_%s %s\n", name, help, name, type);
}

/* The name of a metric, with the label of a group, and open for another one. */
static void print_name(FILE *file, const char *name, const char *suffix, const struct group *group)
{
	const char *p = group->comm;

	fprintf(file, "twheel_%s%s{comm=\"", name, suffix);
	for (; *p; p++)
		fprintf(file, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	fputc('"', file);
}

static void print_number(FILE *file, const char *name, const struct group *group, uint64_t value)
{
	print_name(file, name, "", group);
	fprintf(file, "} %llu\n", (unsigned long long)value);
}

static void print_seconds(FILE *file, uint64_t ns)
{
	fprintf(file, "%llu.%09llu", (unsigned long long)(ns / NSEC_PER_SEC),
		(unsigned long long)(ns % NSEC_PER_SEC));
}

static void print_duration(FILE *file, const char *name, const struct group *group, uint64_t ns)
{
	print_name(file, name, "", group);
	fputs("} ", file);
	print_seconds(file, ns);
	fputc('\n', file);
}

/*
 * The label of a bucket is the largest value in it, which is 1 ns less than the end of its class.
 * The sum of all values is not known: if it were missing, node_exporter would export 0.
 */
static void print_histogram(FILE *file, const struct group *group)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < TWHEEL_LATE_CLASSES; i++) {
		sum += group->sum.late[i];
		print_name(file, "late_seconds", "_bucket", group);
		fputs(",le=\"", file);
		if (i < TWHEEL_LATE_CLASSES - 1)
			print_seconds(file, lateness_end(i) - 1);
		else
			fputs("+Inf", file);
		fprintf(file, "\"} %llu\n", (unsigned long long)sum);
	}
	print_name(file, "late_seconds", "_sum", group);
	fputs("} NaN\n", file);
	print_name(file, "late_seconds", "_count", group);
	fprintf(file, "} %llu\n", (unsigned long long)sum);
}

static void print_wheels(FILE *file, const struct groups *groups)
{
	size_t i;

	print_head(file, "wheels", "gauge", "Wheels that are open.");
	for (i = 0; i < groups->nr; i++)
		print_number(file, "wheels", &groups->group[i], groups->group[i].wheels);
	print_head(file, "next_due_seconds", "gauge",
		   "Time until the soonest timer may be due, if one is armed.");
	for (i = 0; i < groups->nr; i++) {
		if (groups->group[i].armed)
			print_duration(file, "next_due_seconds", &groups->group[i],
				       groups->group[i].next);
	}
}

static void print_counts(FILE *file, const struct groups *groups)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		print_head(file, counts[i].name, counts[i].type, counts[i].help);
		for (j = 0; j < groups->nr; j++)
			print_number(file, counts[i].name, &groups->group[j],
				     *from(&groups->group[j].sum, counts[i].offset));
	}
}

static void print_lateness(FILE *file, const struct groups *groups)
{
	size_t i;

	print_head(file, "max_late_seconds", "gauge",
		   "Longest time from a deadline until the kernel found the timer due.");
	for (i = 0; i < groups->nr; i++)
		print_duration(file, "max_late_seconds", &groups->group[i],
			       groups->group[i].sum.max_late);
	print_head(file, "late_seconds", "histogram",
		   "Events read, by the time from deadline until the kernel found the timer due.");
	for (i = 0; i < groups->nr; i++)
		print_histogram(file, &groups->group[i]);
}

static void print_all(FILE *file, const struct groups *groups, size_t denied)
{
	print_head(file, "unseen_processes", "gauge",
		   "Processes that could not be inspected: run this as root.");
	fprintf(file, "twheel_unseen_processes %zu\n", denied);
	print_wheels(file, groups);
	print_counts(file, groups);
	print_lateness(file, groups);
}

static size_t collect(struct groups *groups)
{
	struct target *targets;
	size_t nr, denied, i;
	struct info wheel;

	targets = target_scan(0, &nr, &denied);
	for (i = 0; i < nr; i++) {
		/* It may have been closed since. */
		if (info_read(targets[i].pid, targets[i].fd, &wheel))
			add(group_of(groups, targets[i].comm), &wheel);
	}
	free(targets);
	return denied;
}

/* A reader finds the old file or the new one, whole. */
static void replace(const char *path, const struct groups *groups, size_t denied)
{
	char *temporary;
	struct stat st;
	FILE *file;
	int fd, err;

	/* A device is not replaced by a file. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		fail("--output %s: not a file; leave --output out to print", path);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		fail("out of memory");
	fd = mkstemp(temporary);
	if (fd < 0)
		fail("--output %s: %s", path, strerror(errno));
	file = fdopen(fd, "w");
	if (!file)
		fail("out of memory");
	print_all(file, groups, denied);
	/* The exporter is another user. */
	err = ferror(file) || fchmod(fd, 0644);
	err |= fclose(file);
	if (err || rename(temporary, path)) {
		err = errno;
		unlink(temporary);
		fail("--output %s: %s", path, strerror(err));
	}
	free(temporary);
}

void prometheus(const char *path)
{
	struct groups *groups = calloc(1, sizeof(*groups));
	size_t denied;

	if (!groups)
		fail("out of memory");
	denied = collect(groups);
	if (path) {
		replace(path, groups, denied);
	} else {
		output_bulk();
		print_all(stdout, groups, denied);
	}
	free(groups);
}
