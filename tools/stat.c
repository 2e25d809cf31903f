// SPDX-License-Identifier: GPL-2.0
/* twheel stat: all about one wheel, or which wheels are open. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "device.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "stats.h"
#include "target.h"
#include "verbs.h"

struct stat_options {
	struct target_options target;
	bool json;
};

enum { KEY_JSON = 256 };

static const struct argp_option argp_options[] = {
	{ "json", KEY_JSON, NULL, 0, "print JSON, for several wheels JSON Lines", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat_options *options = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->target;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *clock_name(const struct twheel_setup *setup)
{
	static char unknown[16];
	__u32 clock = setup->flags & TWHEEL_SETUP_CLOCK ? setup->clock : CLOCK_MONOTONIC;

	switch (clock) {
	case CLOCK_MONOTONIC:
		return "monotonic";
	case CLOCK_BOOTTIME:
		return "boottime";
	case CLOCK_REALTIME:
		return "realtime";
	case CLOCK_TAI:
		return "tai";
	default:
		snprintf(unknown, sizeof(unknown), "%u", clock);
		return unknown;
	}
}

static const char *delivery_name(const struct twheel_setup *setup)
{
	return setup->delivery == TWHEEL_DELIVER_RING ? "ring" : "read";
}

static void print_json(const struct target *target, const struct twheel_setup *setup,
		       const struct twheel_stats *stats)
{
	struct json_object *line = json_new();
	struct json_object *shape = json_new();

	json_number(line, "pid", target->pid ? target->pid : getpid());
	json_number(line, "fd", target->fd);
	json_text(line, "comm", target->comm);
	json_text(shape, "clock", clock_name(setup));
	json_number(shape, "tick_ns", setup->tick);
	json_number(shape, "levels", setup->levels);
	json_number(shape, "slots", setup->slots);
	json_number(shape, "capacity", setup->capacity);
	json_text(shape, "delivery", delivery_name(setup));
	json_number(shape, "ring_entries", setup->ring_entries);
	json_number(shape, "words_first", setup->words_first);
	json_number(shape, "words_nr", setup->words_nr);
	json_number(shape, "now_ns", setup->now);
	json_object_object_add(shape, "clock_offset_ns",
			       json_object_new_int64(setup->clock_offset));
	json_object_object_add(line, "setup", shape);
	json_object_object_add(line, "stats", stats_json(stats));
	json_line(line);
}

static void row(const char *what, const char *value, const char *note)
{
	printf("  %-26s %14s%s%s\n", what, value, *note ? "  " : "", note);
}

static void head(const char *text)
{
	printf("%s%s%s\n", colour(stdout, BOLD), text, colour(stdout, PLAIN));
}

/* What the wheel's clock tells, which is not always what it tells here. */
static void print_time(const struct twheel_setup *setup)
{
	char text[DURATION_LEN], offset[DURATION_LEN], note[96] = "";
	__s64 ahead = setup->clock_offset;

	if (ahead)
		snprintf(note, sizeof(note), "%s %s this program's: another time namespace",
			 duration_short(offset, ahead < 0 ? -(uint64_t)ahead : (uint64_t)ahead),
			 ahead < 0 ? "behind" : "ahead of");
	row("clock", clock_name(setup), "");
	row("its time", duration_short(text, setup->now), note);
}

static void print_words(const struct twheel_setup *setup)
{
	char nr[NUMBER_LEN], first[NUMBER_LEN], note[64] = "";

	if (setup->words_nr && setup->words_nr != setup->capacity)
		snprintf(note, sizeof(note), "of timers from id %s on",
			 number(first, setup->words_first));
	row("words", setup->words_nr ? number(nr, setup->words_nr) : "none", note);
}

static void print_setup(const struct twheel_setup *setup)
{
	char text[DURATION_LEN], shape[64];

	head("setup");
	print_time(setup);
	row("tick", duration_exact(text, setup->tick), "");
	if (setup->levels)
		snprintf(shape, sizeof(shape), "%u x %u", setup->levels, setup->slots);
	else
		snprintf(shape, sizeof(shape), "%u", setup->slots);
	row("shape", shape, setup->levels ? "levels x slots" : "slots, as many levels as needed");
	row("capacity", number(text, setup->capacity), "timers");
	print_words(setup);
	row("delivery", delivery_name(setup), "");
	if (setup->delivery == TWHEEL_DELIVER_RING)
		row("ring", number(text, setup->ring_entries), "entries");
}

static void print_stats(const struct twheel_stats *stats)
{
	struct stats_field field;
	char value[NUMBER_LEN], note[96];
	size_t i;

	head("timers");
	for (i = 0; stats_field(stats, i, &field); i++) {
		if (!strcmp(field.name, "memory"))
			continue;
		row(field.words, number(value, field.value), "");
	}
	head("costs");
	row("moves per timer fired", ratio(value, stats->moves, stats->fired), "");
	row("interrupts per timer fired", ratio(value, stats->interrupts, stats->fired), "");
	note[0] = 0;
	/* Below that it is the price of the empty wheel. */
	if (stats->pending + stats->expired >= 1000)
		snprintf(note, sizeof(note), "%llu bytes an armed timer",
			 (unsigned long long)(stats->memory / (stats->pending + stats->expired)));
	row("memory", bytes(value, stats->memory), note);
}

static int stat_one(const struct stat_options *options)
{
	struct target target = target_resolve(&options->target);
	int wheel = target_open_or_fail(&target);
	struct twheel_setup setup;
	struct twheel_stats stats;
	int err;

	err = wheel_get_setup(wheel, &setup);
	if (!err)
		err = wheel_stats(wheel, &stats);
	close(wheel);
	if (err)
		fail("%s", wheel_explain(err));
	if (options->json) {
		print_json(&target, &setup, &stats);
		return 0;
	}
	if (target.pid)
		printf("wheel of process %d (%s), file descriptor %d\n", target.pid, target.comm,
		       target.fd);
	else
		printf("wheel inherited as file descriptor %d\n", target.fd);
	print_setup(&setup);
	print_stats(&stats);
	return 0;
}

/*
 * The table of all wheels, from fdinfo: this needs fewer rights than to reach
 * the wheel itself.  What the keys are is the kernel's affair: those that fit
 * on a line become columns, the JSON has them all.
 */
#define COLUMNS		12
#define LINE_WIDTH	100

struct column {
	char key[32];
	int width;
};

struct table {
	struct column columns[COLUMNS];
	size_t nr;
	bool json;
	/* Of the wheel at hand. */
	char values[COLUMNS][64];
	struct json_object *line;
};

static void take_column(void *data, const char *key, const char *value)
{
	struct table *table = data;
	struct column *column;
	int width = strlen(key) > 10 ? strlen(key) : 10, sum = 34;
	size_t i;

	(void)value;
	for (i = 0; i < table->nr; i++) {
		if (!strcmp(table->columns[i].key, key))
			return;
		sum += table->columns[i].width + 2;
	}
	if (table->nr == COLUMNS || sum + width > LINE_WIDTH)
		return;
	column = &table->columns[table->nr++];
	snprintf(column->key, sizeof(column->key), "%s", key);
	column->width = width;
}

/* What one looks for first; the others come behind, as far as they fit. */
static void take_first_columns(void *data, const char *key, const char *value)
{
	static const char * const first[] = {
		"pending", "expired", "fired", "interrupts", "memory"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(first); i++) {
		if (!strcmp(first[i], key))
			take_column(data, key, value);
	}
}

static void take_value(void *data, const char *key, const char *value)
{
	struct table *table = data;
	size_t i;

	if (table->json)
		json_value(table->line, key, value);
	for (i = 0; i < table->nr; i++) {
		if (!strcmp(table->columns[i].key, key))
			snprintf(table->values[i], sizeof(table->values[i]), "%s", value);
	}
}

static void print_table_head(const struct table *table)
{
	size_t i;
	const char *p;

	printf("%s%8s  %4s  %-16s", colour(stdout, BOLD), "PID", "FD", "COMMAND");
	for (i = 0; i < table->nr; i++) {
		printf("  %*s", table->columns[i].width - (int)strlen(table->columns[i].key), "");
		for (p = table->columns[i].key; *p; p++)
			putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	}
	printf("%s\n", colour(stdout, PLAIN));
}

static void print_wheel(struct table *table, const struct target *target)
{
	size_t i;

	memset(table->values, 0, sizeof(table->values));
	if (table->json) {
		table->line = json_new();
		json_number(table->line, "pid", target->pid);
		json_number(table->line, "fd", target->fd);
		json_text(table->line, "comm", target->comm);
	}
	/* It may have been closed since: then there is nothing to tell. */
	if (target_fdinfo(target->pid, target->fd, take_value, table) <= 0) {
		json_object_put(table->line);
		table->line = NULL;
		return;
	}
	if (table->json) {
		json_line(table->line);
		table->line = NULL;
		return;
	}
	printf("%8d  %4d  %-16s", target->pid, target->fd, target->comm);
	for (i = 0; i < table->nr; i++)
		printf("  %*s", table->columns[i].width,
		       *table->values[i] ? table->values[i] : "-");
	putchar('\n');
}

static int stat_all(const struct stat_options *options)
{
	struct table table = { .json = options->json };
	struct target *targets;
	size_t nr, denied, i;

	targets = target_scan(0, &nr, &denied);
	for (i = 0; i < nr && !table.nr; i++) {
		target_fdinfo(targets[i].pid, targets[i].fd, take_first_columns, &table);
		target_fdinfo(targets[i].pid, targets[i].fd, take_column, &table);
	}
	if (nr && !table.json)
		print_table_head(&table);
	for (i = 0; i < nr; i++)
		print_wheel(&table, &targets[i]);
	free(targets);
	if (table.json)
		return 0;
	printf("%s%zu %s open", colour(stdout, DIM), nr, nr == 1 ? "wheel" : "wheels");
	if (denied)
		printf("; %zu processes could not be looked into: be root to see them all", denied);
	printf("%s\n", colour(stdout, PLAIN));
	return 0;
}

int verb_stat(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children,
		.doc = "Tell all about a wheel; without --pid or --fd, which wheels are open."
		       "\vExample: all about the wheel of process 1234\n"
		       "  twheel stat --pid 1234",
	};
	struct stat_options options = { .target = TARGET_OPTIONS_INIT };

	options_parse(&argp, argc, argv, 0, &options);
	return target_is_given(&options.target) ? stat_one(&options) : stat_all(&options);
}
