// SPDX-License-Identifier: GPL-2.0
/* twheel stat: all about one wheel, or which wheels are open. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "duration.h"
#include "info.h"
#include "json.h"
#include "lateness.h"
#include "options.h"
#include "output.h"
#include "prometheus.h"
#include "stats.h"
#include "target.h"
#include "verbs.h"

struct stat_options {
	struct target_options target;
	bool json;
	bool prometheus;
	const char *output;
};

enum { KEY_JSON = 256, KEY_PROMETHEUS };

static const struct argp_option argp_options[] = {
	{ "json", KEY_JSON, NULL, 0, "print JSON; for several wheels, JSON Lines", 0 },
	{ "prometheus", KEY_PROMETHEUS, NULL, 0,
	  "print sums over all wheels, for each command, for Prometheus", 0 },
	{ "output", 'o', "FILE", 0,
	  "with --prometheus: write to FILE, which is replaced as a whole", 0 },
	{ 0 }
};

static void check(const struct stat_options *options)
{
	if (options->output && !options->prometheus)
		usage_error("--output is for --prometheus: give both");
	if (options->prometheus && options->json)
		usage_error("--prometheus and --json are two formats: give one of them");
	if (options->prometheus && target_is_given(&options->target))
		usage_error("--prometheus covers all wheels: leave --pid and --fd out");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->target;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_PROMETHEUS:
		options->prometheus = true;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case ARGP_KEY_END:
		check(options);
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
	default:
		snprintf(unknown, sizeof(unknown), "%u", clock);
		return unknown;
	}
}

/* Not in fdinfo, so known only if the wheel was opened. */
static void add_rest(struct json_object *shape, const struct twheel_setup *setup)
{
	json_object_object_add(shape, "words",
			       json_object_new_boolean(setup->flags & TWHEEL_SETUP_WORDS));
	json_object_object_add(shape, "clock_offset_ns",
			       json_object_new_int64(setup->clock_offset));
}

static void print_json(const struct target *target, const struct info *wheel, bool reached)
{
	const struct twheel_setup *setup = &wheel->setup;
	struct json_object *line = json_new();
	struct json_object *shape = json_new();

	json_number(line, "pid", target->pid ? target->pid : getpid());
	json_number(line, "fd", target->fd);
	json_text(line, "comm", target->comm);
	json_number(line, "number", wheel->number);
	json_text(shape, "clock", clock_name(setup));
	json_number(shape, "tick_ns", setup->tick);
	json_number(shape, "levels", setup->levels);
	json_number(shape, "slots", setup->slots);
	json_number(shape, "capacity", setup->capacity);
	json_number(shape, "now_ns", setup->now);
	if (reached)
		add_rest(shape, setup);
	json_object_object_add(line, "setup", shape);
	json_object_object_add(line, "stats", stats_json(&wheel->stats));
	json_line(line);
}

static void head(const char *text)
{
	printf("%s%s%s\n", colour(stdout, BOLD), text, colour(stdout, PLAIN));
}

/* The time of the wheel's clock; in another time namespace it is not this program's. */
static void print_time(const struct twheel_setup *setup)
{
	char text[DURATION_LEN], offset[DURATION_LEN], note[96] = "";
	__s64 ahead = setup->clock_offset;

	if (ahead)
		snprintf(note, sizeof(note), "%s %s this program's: another time namespace",
			 duration_short(offset, ahead < 0 ? -(uint64_t)ahead : (uint64_t)ahead),
			 ahead < 0 ? "behind" : "ahead of");
	output_row("clock", clock_name(setup), "");
	output_row("its time", duration_short(text, setup->now), note);
}

static void print_words(const struct twheel_setup *setup)
{
	output_row("words", setup->flags & TWHEEL_SETUP_WORDS ? "yes" : "none", "");
}

static void print_setup(const struct twheel_setup *setup)
{
	char text[DURATION_LEN], shape[64];

	head("setup");
	print_time(setup);
	output_row("tick", duration_exact(text, setup->tick), "");
	if (setup->levels)
		snprintf(shape, sizeof(shape), "%u x %u", setup->levels, setup->slots);
	else
		snprintf(shape, sizeof(shape), "%u", setup->slots);
	output_row("shape", shape,
		   setup->levels ? "levels x slots" : "slots, as many levels as needed");
	output_row("capacity", number(text, setup->capacity), "timers");
	print_words(setup);
}

/* For how long from now no timer is due, for sure; "-" if none is armed. */
static char *next_due(char *buf, const struct info *wheel)
{
	uint64_t now = wheel->setup.now, next = wheel->stats.next;

	if (next)
		duration_short(buf, next > now ? next - now : 0);
	else
		strcpy(buf, "-");
	return buf;
}

static void print_stats(const struct info *wheel)
{
	const struct twheel_stats *stats = &wheel->stats;
	char value[DURATION_LEN], note[96] = "";
	struct stats_field field;
	size_t i;

	head("timers");
	for (i = 0; stats_field(stats, i, &field); i++) {
		if (field.words)
			output_row(field.words, number(value, field.value), "");
		if (!strcmp(field.name, "pending"))
			output_row("none due for", next_due(value, wheel), "");
	}
	head("found late, after their deadlines");
	lateness_print(stats->late, stats->max_late);
	head("costs");
	output_row("interrupts per timer fired", ratio(value, stats->interrupts, stats->fired), "");
	/* Below that it is the price of the empty wheel. */
	if (stats->pending + stats->expired >= 1000)
		snprintf(note, sizeof(note), "%llu bytes an armed timer",
			 (unsigned long long)(stats->memory / (stats->pending + stats->expired)));
	output_row("memory", bytes(value, stats->memory), note);
}

static int stat_one(const struct stat_options *options)
{
	struct target target = target_resolve(&options->target);
	int fd = target_open_or_fail(&target), err;
	struct info wheel;

	/* Only fdinfo has the number. */
	info_read(getpid(), fd, &wheel);
	err = wheel_get_setup(fd, &wheel.setup);
	if (!err)
		err = wheel_stats(fd, &wheel.stats);
	close(fd);
	if (err)
		fail("%s", wheel_explain(err));
	if (options->json) {
		print_json(&target, &wheel, true);
		return 0;
	}
	if (target.pid)
		printf("wheel of process %d (%s), file descriptor %d\n", target.pid, target.comm,
		       target.fd);
	else
		printf("wheel inherited as file descriptor %d\n", target.fd);
	print_setup(&wheel.setup);
	print_stats(&wheel);
	return 0;
}

static void print_table_head(void)
{
	printf("%s%8s  %4s  %-16s  %10s  %10s  %12s  %9s  %9s  %9s%s\n",
	       colour(stdout, BOLD), "PID", "FD", "COMMAND", "PENDING", "EXPIRED", "FIRED", "NEXT",
	       "MAX LATE", "MEMORY", colour(stdout, PLAIN));
}

static void print_wheel(const struct target *target, const struct info *wheel)
{
	const struct twheel_stats *stats = &wheel->stats;
	char pending[NUMBER_LEN], expired[NUMBER_LEN], fired[NUMBER_LEN];
	char next[DURATION_LEN], late[DURATION_LEN], memory[NUMBER_LEN];

	printf("%8d  %4d  %-16s  %10s  %10s  %12s  %9s  %9s  %9s\n", target->pid,
	       target->fd, target->comm, number(pending, stats->pending),
	       number(expired, stats->expired), number(fired, stats->fired),
	       next_due(next, wheel),
	       lateness_events(stats->late) ? duration_short(late, stats->max_late) : "-",
	       bytes(memory, stats->memory));
}

static int stat_all(const struct stat_options *options)
{
	struct target *targets;
	size_t nr, denied, i;
	struct info wheel;

	targets = target_scan(0, &nr, &denied);
	if (nr && !options->json)
		print_table_head();
	for (i = 0; i < nr; i++) {
		/* It may have been closed since. */
		if (!info_read(targets[i].pid, targets[i].fd, &wheel))
			continue;
		if (options->json)
			print_json(&targets[i], &wheel, false);
		else
			print_wheel(&targets[i], &wheel);
	}
	free(targets);
	if (options->json)
		return 0;
	printf("%s%zu %s open", colour(stdout, DIM), nr, nr == 1 ? "wheel" : "wheels");
	if (denied)
		printf("; %zu processes could not be inspected: be root to see all wheels", denied);
	printf("%s\n", colour(stdout, PLAIN));
	return 0;
}

int verb_stat(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children,
		.doc = "Print everything about a wheel; without --pid or --fd, list all open "
		       "wheels."
		       "\v\"Found late\" is the time from a deadline until the kernel found the "
		       "timer due.  While 1,024 events wait, only read and poll look for more due "
		       "timers.  A wheel that several processes hold is listed once.\n"
		       "\n"
		       "Example: everything about the wheel of process 1234\n"
		       "  twheel stat --pid 1234",
	};
	struct stat_options options = { .target = TARGET_OPTIONS_INIT };

	options_parse(&argp, argc, argv, 0, &options);
	if (options.prometheus) {
		prometheus(options.output);
		return 0;
	}
	return target_is_given(&options.target) ? stat_one(&options) : stat_all(&options);
}
