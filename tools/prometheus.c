// SPDX-License-Identifier: GPL-2.0
/*
 * All wheels that may be seen, in the text format of Prometheus, for the textfile
 * collector of node_exporter.
 *
 * A time series for each wheel would be one for each open(), without end.  So what is told
 * are sums over the wheels of all processes of a name.  A process can name itself as it
 * likes: behind the first names, what is left is one sum.
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
	{ "pending_timers", "gauge", "Timers that are armed and not yet due.", AT(pending) },
	{ "expired_timers", "gauge", "Timers that are due and whose events were not taken yet.",
	  AT(expired) },
	{ "ring_entries", "gauge", "Events in a ring that were not taken yet.", AT(in_ring) },
	{ "memory_bytes", "gauge", "Kernel memory that the wheels hold.", AT(memory) },
	{ "arms_total", "counter", "Timers armed and moved.", AT(arms) },
	{ "cancels_total", "counter", "Timers cancelled.", AT(cancels) },
	{ "fired_total", "counter", "Timers found due.", AT(fired) },
	{ "delivered_total", "counter", "Events read, or written to a ring.", AT(delivered) },
	{ "overruns_total", "counter", "Periods that came due while an event waited to be taken.",
	  AT(overruns) },
	{ "moves_total", "counter", "Timers moved down a level, or filed again.", AT(moves) },
	{ "cascades_total", "counter", "Slots emptied into the levels below.", AT(cascades) },
	{ "interrupts_total", "counter", "Turns of a wheel in softirq.", AT(interrupts) },
	{ "idle_interrupts_total", "counter", "Turns in softirq that had nothing to tell.",
	  AT(idle_interrupts) },
	{ "steps_total", "counter", "Turns of a wheel in the time of callers.", AT(steps) },
	{ "wakeups_total", "counter", "Times that readers and pollers were woken.", AT(wakeups) },
	{ "storms_total", "counter",
	  "Ticks at which more than 64 timers of a wheel came due and were found in time.",
	  AT(storms) },
}, maxima[] = {
	{ "oldest_event_seconds", "gauge",
	  "How long the event has waited that is read next; 0: none waits.", AT(oldest) },
	{ "max_late_seconds", "gauge", "The latest that an event was found after its deadline.",
	  AT(max_late) },
	{ "max_unread_seconds", "gauge",
	  "The longest that an event has waited to be read, or for room in a ring.",
	  AT(max_unread) },
}, histograms[] = {
	{ "late_seconds", "histogram",
	  "Events delivered, by how long after their deadlines they were found.", AT(late) },
	{ "unread_seconds", "histogram",
	  "Events delivered, by how long they had waited to be read, or for room in a ring.",
	  AT(unread) },
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
	size_t i, j;

	group->wheels++;
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		*to(&group->sum, counts[i].offset) += *from(stats, counts[i].offset);
	for (i = 0; i < ARRAY_SIZE(maxima); i++) {
		if (*from(stats, maxima[i].offset) > *from(&group->sum, maxima[i].offset))
			*to(&group->sum, maxima[i].offset) = *from(stats, maxima[i].offset);
	}
	for (i = 0; i < ARRAY_SIZE(histograms); i++) {
		for (j = 0; j < TWHEEL_LATE_CLASSES; j++)
			to(&group->sum, histograms[i].offset)[j] +=
				from(stats, histograms[i].offset)[j];
	}
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
 * A bucket is told by the largest value in it, which is 1 ns less than the end of its class.  The
 * sum of all values nobody knows: without one, node_exporter would tell that it is 0.
 */
static void print_histogram(FILE *file, const char *name, const struct group *group,
			    const uint64_t *classes)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < TWHEEL_LATE_CLASSES; i++) {
		sum += classes[i];
		print_name(file, name, "_bucket", group);
		fputs(",le=\"", file);
		if (i < TWHEEL_LATE_CLASSES - 1)
			print_seconds(file, lateness_end(i) - 1);
		else
			fputs("+Inf", file);
		fprintf(file, "\"} %llu\n", (unsigned long long)sum);
	}
	print_name(file, name, "_sum", group);
	fputs("} NaN\n", file);
	print_name(file, name, "_count", group);
	fprintf(file, "} %llu\n", (unsigned long long)sum);
}

static void print_metric(FILE *file, const struct metric *metric, const struct groups *groups)
{
	const struct group *group;
	size_t i;

	print_head(file, metric->name, metric->type, metric->help);
	for (i = 0; i < groups->nr; i++) {
		group = &groups->group[i];
		if (!strcmp(metric->type, "histogram"))
			print_histogram(file, metric->name, group,
					from(&group->sum, metric->offset));
		else if (strstr(metric->name, "_seconds"))
			print_duration(file, metric->name, group,
				       *from(&group->sum, metric->offset));
		else
			print_number(file, metric->name, group,
				     *from(&group->sum, metric->offset));
	}
}

static void print_wheels(FILE *file, const struct groups *groups)
{
	size_t i;

	print_head(file, "wheels", "gauge", "Wheels that are open.");
	for (i = 0; i < groups->nr; i++)
		print_number(file, "wheels", &groups->group[i], groups->group[i].wheels);
	print_head(file, "next_due_seconds", "gauge",
		   "How long it is until a timer may be due; if one is armed.");
	for (i = 0; i < groups->nr; i++) {
		if (groups->group[i].armed)
			print_duration(file, "next_due_seconds", &groups->group[i],
				       groups->group[i].next);
	}
}

static void print_all(FILE *file, const struct groups *groups, size_t denied)
{
	size_t i;

	print_head(file, "unseen_processes", "gauge",
		   "Processes that could not be looked into: run this as root.");
	fprintf(file, "twheel_unseen_processes %zu\n", denied);
	print_wheels(file, groups);
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		print_metric(file, &counts[i], groups);
	for (i = 0; i < ARRAY_SIZE(maxima); i++)
		print_metric(file, &maxima[i], groups);
	for (i = 0; i < ARRAY_SIZE(histograms); i++)
		print_metric(file, &histograms[i], groups);
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

/* Whoever reads the file finds the old one or the new one, whole. */
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
