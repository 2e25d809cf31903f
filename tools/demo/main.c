// SPDX-License-Identifier: GPL-2.0
/*
 * twheel-demo: a server whose idle timeouts live in /dev/twheel, a client that
 * puts it under load by a recorded schedule, and a judge.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "run.h"

struct demo {
	struct run run;
	/* The same with a system call for each change, to compare. */
	struct run without;
	FILE *record;
	bool quick;
	bool json;
};

enum {
	KEY_SEED = 256,
	KEY_QUICK,
	KEY_TICK,
	KEY_BOUND,
	KEY_RECORD,
	KEY_JSON,
	KEY_NO_WORDS,
	KEY_FALLBACK,
};

static const struct argp_option argp_options[] = {
	{ "connections", 'n', "N", 0, "number of connections (4000)", 0 },
	{ "timeout", 't', "DURATION", 0, "idle timeout; all other times scale with it (5s)", 0 },
	{ "seed", KEY_SEED, "N", 0, "seed of the schedule (1)", 0 },
	{ "quick", KEY_QUICK, NULL, 0, "500 connections, timeout 2s; takes 13 s", 0 },
	{ "tick", KEY_TICK, "DURATION", 0, "resolution of the wheel (1ms)", 0 },
	{ "bound", KEY_BOUND, "DURATION", 0, "a cut later than this counts as missed (2s)", 0 },
	{ "no-words", KEY_NO_WORDS, NULL, 0,
	  "only one run, with a system call for each change", 0 },
	{ "fallback", KEY_FALLBACK, NULL, 0,
	  "only one run, with the wheel in the server's process", 0 },
	{ "record", KEY_RECORD, "FILE", 0,
	  "write the plan and the observations of each connection", 0 },
	{ "json", KEY_JSON, NULL, 0, "print the result as JSON, nothing else on stdout", 0 },
	{ 0 }
};

static const char doc[] =
	"A TCP server whose idle timeouts live in /dev/twheel, under load."
	"\v"
	"On every message the server pushes the connection's timer back, with a store to "
	"memory that it shares with the kernel.  A second, shorter run at the same pace does so "
	"with system calls, and the calls of both runs are counted.\n\n"
	"The demo judges the server by a schedule recorded beforehand and by the clocks of "
	"client and server, not by what twheel reports.  The exit status is 0 only if every "
	"connection that fell silent was cut, none early and none missed.\n\n"
	"Example: a short one, on any machine\n"
	"  twheel demo --fallback --connections 200 --timeout 500ms";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct demo *demo = state->input;

	switch (key) {
	case 'n':
		demo->run.schedule.connections = option_number("--connections", arg, 1, 1000000);
		return 0;
	case 't':
		demo->run.schedule.timeout = option_duration("--timeout", arg);
		if (demo->run.schedule.timeout < 100 * NSEC_PER_MSEC ||
		    demo->run.schedule.timeout > 3600 * NSEC_PER_SEC)
			usage_error("--timeout %s: give one from 100ms to 1h", arg);
		return 0;
	case KEY_SEED:
		demo->run.schedule.seed = option_number("--seed", arg, 0, UINT64_MAX);
		return 0;
	case KEY_QUICK:
		demo->quick = true;
		return 0;
	case KEY_TICK:
		demo->run.tick = option_duration("--tick", arg);
		if (!demo->run.tick || demo->run.tick > NSEC_PER_SEC)
			usage_error("--tick %s: give a tick from 1ns to 1s", arg);
		return 0;
	case KEY_BOUND:
		demo->run.bound = option_duration("--bound", arg);
		return 0;
	case KEY_NO_WORDS:
		demo->run.no_words = true;
		return 0;
	case KEY_FALLBACK:
		demo->run.fallback = true;
		return 0;
	case KEY_RECORD:
		/* Open it now: a failure at the end would lose the run. */
		demo->record = fopen(arg, "we");
		if (!demo->record)
			fail("--record %s: %s", arg, strerror(errno));
		return 0;
	case KEY_JSON:
		demo->json = true;
		return 0;
	case ARGP_KEY_END:
		if (!demo->run.schedule.connections)
			demo->run.schedule.connections = demo->quick ? 500 : 4000;
		if (!demo->run.schedule.timeout)
			demo->run.schedule.timeout = (demo->quick ? 2 : 5) * NSEC_PER_SEC;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void no_progress(const struct progress *progress)
{
	(void)progress;
}

/* As many messages a second, in less time: 9 s at most. */
static void make_shorter(struct run *to, const struct run *from)
{
	uint64_t timeout = from->schedule.timeout;
	uint64_t shorter = timeout / 5 * 2;

	if (shorter > 2 * NSEC_PER_SEC)
		shorter = 2 * NSEC_PER_SEC;
	/* A slow machine must keep up. */
	if (shorter < 500 * NSEC_PER_MSEC)
		shorter = 500 * NSEC_PER_MSEC;
	if (shorter > timeout)
		shorter = timeout;
	*to = (struct run){
		.schedule = {
			.connections = from->schedule.connections * shorter / timeout,
			.seed = from->schedule.seed,
			.timeout = shorter,
		},
		.tick = from->tick,
		.bound = from->bound,
		.no_words = true,
		.brief = true,
		.progress = from->progress,
		.progress_interval = from->progress_interval,
	};
	if (!to->schedule.connections)
		to->schedule.connections = 1;
}

static void carry_out(const struct demo *demo, struct run *run)
{
	run_prepare(run);
	if (!demo->json)
		report_heading(run);
	run_go(run);
	if (!demo->json)
		report_table(run);
	if (demo->record)
		records_write(demo->record, &run->schedule, &run->records, run->start);
}

static void close_record(FILE *file)
{
	bool good = !ferror(file);

	if (fclose(file) || !good)
		fail("--record: the file could not be written: is the disk full?");
}

int main(int argc, char **argv)
{
	static const struct argp argp = { .options = argp_options, .parser = parse, .doc = doc };
	static char as_verb[] = "twheel demo", by_itself[] = "twheel-demo";
	struct demo demo = { .run.schedule.seed = 1, .run.bound = 2 * NSEC_PER_SEC };
	struct run *without = NULL;
	bool good;

	output_begin();
	argv[0] = strcmp(argv[0], as_verb) ? by_itself : as_verb;
	options_parse(&argp, argc, argv, 0, &demo);
	demo.run.progress = demo.json ? no_progress : report_progress;
	demo.run.progress_interval = NSEC_PER_SEC / (is_terminal(stdout) ? 5 : 1);

	carry_out(&demo, &demo.run);
	/* A run without words differs only if the first one shared words with the kernel. */
	if (demo.run.words && !demo.run.fallback) {
		without = &demo.without;
		make_shorter(without, &demo.run);
		carry_out(&demo, without);
	}
	if (demo.record)
		close_record(demo.record);
	good = demo.run.verdict.good && (!without || without->verdict.good);
	if (demo.json)
		report_json(&demo.run, without, good);
	else
		report_calls(&demo.run, without);
	report_last_line(demo.json ? stderr : stdout, &demo.run, without, good);
	run_free(&demo.run);
	if (without)
		run_free(without);
	return good ? 0 : EXIT_RUNTIME;
}
