// SPDX-License-Identifier: GPL-2.0
/* twheel sim: a script of operations on a wheel in simulated time, and on other systems. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "sim/choice.h"
#include "sim/operate.h"
#include "sim/show.h"
#include "verbs.h"

/* More timers than that take minutes where each arm, or each tick, looks at all of them. */
#define FEW_TIMERS	20000

/**
 * struct job - what to simulate
 * @choice: in which system, and in which shape
 * @compare: in all systems, one after the other
 * @file: of the script; NULL: standard input
 * @made_up: by @load, instead of a script
 * @ran: the system has run until no timer was armed
 * @load_option: an option that only @made_up can use, if one was given, for a message; or NULL
 */
struct job {
	struct choice choice;
	bool compare;
	const char *file;
	struct show show;
	struct script script;
	bool made_up;
	bool ran;
	const char *load_option;
	struct load load;
};

enum {
	KEY_COMPARE = 256,
	KEY_TRACE,
	KEY_LOAD,
	KEY_EXTENDED,
	KEY_CANCELLED,
	KEY_SEED,
	KEY_JSON,
};

static const struct argp_option argp_options[] = {
	{ "compare", KEY_COMPARE, NULL, 0, "one table of all systems", 0 },
	{ "trace", KEY_TRACE, NULL, 0, "each placement, move, cancel and wake-up, too", 0 },
	{ "load", KEY_LOAD, "N", 0, "no script: N requests with timeouts, in a minute", 0 },
	{ "extended", KEY_EXTENDED, "PERCENT", 0, "of these, pushed back after 500 ms (50)", 0 },
	{ "cancelled", KEY_CANCELLED, "PERCENT", 0, "of these, cancelled after 1 s (80)", 0 },
	{ "seed", KEY_SEED, "N", 0, "other random timeouts (1)", 0 },
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct job *job = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &job->choice;
		return 0;
	case ARGP_KEY_ARG:
		if (job->file)
			usage_error("%s: there is a script already, %s: give one", arg, job->file);
		job->file = arg;
		return 0;
	case KEY_COMPARE:
		job->compare = true;
		return 0;
	case KEY_TRACE:
		job->show.trace = true;
		return 0;
	case KEY_LOAD:
		job->load.timers = option_number("--load", arg, 1, SIM_MAX_CAPACITY);
		job->made_up = true;
		return 0;
	case KEY_EXTENDED:
		job->load_option = "--extended";
		job->load.extended = option_number("--extended", arg, 0, 100);
		return 0;
	case KEY_CANCELLED:
		job->load_option = "--cancelled";
		job->load.cancelled = option_number("--cancelled", arg, 0, 100);
		return 0;
	case KEY_SEED:
		job->load_option = "--seed";
		job->load.seed = option_number("--seed", arg, 0, UINT64_MAX);
		return 0;
	case KEY_JSON:
		job->show.json = true;
		return 0;
	case ARGP_KEY_END:
		if (job->load_option && !job->made_up)
			usage_error("%s needs --load: how many requests", job->load_option);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void read_script(struct job *job)
{
	FILE *file;

	if (!job->file || !strcmp(job->file, "-")) {
		script_read(&job->script, stdin, "standard input");
		return;
	}
	file = fopen(job->file, "r");
	if (!file)
		fail("%s: %s: give a script, or - for standard input", job->file, strerror(errno));
	script_read(&job->script, file, job->file);
	fclose(file);
}

/* The line of a script, for a message. */
static const char *at_line(const struct job *job, const struct op *op)
{
	static char text[4200];

	if (job->made_up)
		return "--load";
	snprintf(text, sizeof(text), "%s:%u", job->script.name, op->line);
	return text;
}

static const char too_long[] = "there are too many wake-ups, or looks at timers, to wait for";

/* Why one of several systems alone can't go on; NULL: it can, or no system could. */
static const char *why_left_out(const struct job *job, enum sim_result result)
{
	if (result == SIM_TOO_LONG)
		return too_long;
	/* Each system comes out of a run until no timer is armed at another time. */
	if (result == SIM_PAST && job->ran)
		return "its run has ended later than an at that follows";
	return NULL;
}

/*
 * Say what became of an operation; ends the program if nothing that follows makes sense.  Returns
 * why, if that goes for one of several systems alone.
 */
static const char *judge(struct job *job, struct sim *s, const struct op *op,
			 enum sim_result result)
{
	const bool tells = !job->compare && !job->made_up;
	const char *why = op_explain(s, op, result);

	if (job->compare && why_left_out(job, result))
		return why_left_out(job, result);
	if (why)
		fail("%s: %s", at_line(job, op), why);
	if (result == SIM_NOT_ARMED && tells)
		show_missed(&job->show, s, op);
	if (result == SIM_REFUSED && tells)
		show_refused(&job->show, s, op);
	job->ran |= op->kind == OP_RUN_ALL;
	return NULL;
}

static const char *do_op(struct job *job, struct sim *s, const struct op *op)
{
	enum sim_result result;
	struct sim_where where;
	uint64_t deadline;
	bool cancels;

	show_operation(&job->show, op->kind);
	cancels = op->kind == OP_CANCEL && job->show.trace &&
		  !sim_place(s, op->id, &where, &deadline);
	result = op_carry_out(s, op);
	if (cancels && !result)
		show_cancelled(&job->show, s, op->id, deadline);
	if (op->kind == OP_WHERE && !result && !job->compare)
		show_where(&job->show, s, op->id);
	if (op->kind == OP_STOP && !job->compare)
		show_left(&job->show, s);
	return judge(job, s, op, result);
}

/* Returns why this system is left out of several, or NULL. */
static const char *do_all(struct job *job, struct sim *s)
{
	struct load load = job->load;
	const char *why = NULL;
	struct op op;
	size_t i;

	job->ran = false;
	for (i = 0; i < job->script.nr && !why; i++) {
		why = do_op(job, s, &job->script.op[i]);
		/* Many short runs, and arms, add up. */
		if (!why && job->compare && sim_counters(s)->passed > SIM_LOOKS_MAX)
			why = too_long;
	}
	while (job->made_up && !why && load_next(&load, &op)) {
		if (op.kind == OP_AT)
			op.time += job->choice.shape.start;
		why = do_op(job, s, &op);
	}
	return why;
}

/* Does somebody want to see where a timer is? */
static bool wants_places(const struct job *job)
{
	size_t i;

	for (i = 0; i < job->script.nr; i++) {
		if (job->script.op[i].kind == OP_WHERE || job->script.op[i].kind == OP_STOP)
			return true;
	}
	return job->show.trace;
}

static struct sim *create(struct job *job)
{
	/* Without anybody to tell there is less to do. */
	const bool tells = !job->compare && (!job->made_up || job->show.trace);
	const struct sim_observer observer = {
		tells ? show_event : NULL, &job->show, .places = tells && wants_places(job),
		.positions = job->show.trace,
	};

	return choice_create(&job->choice, &observer);
}

/* Is it one that would take too long for so many timers? */
static bool is_left_out(const struct job *job, const struct sim_system *system)
{
	return job->made_up && job->load.timers > FEW_TIMERS &&
	       (system == sim_system_named("list") || system == sim_system_named("poll"));
}

/* A line, or a row of a table. */
static void show_system(struct job *job, const struct sim_system *system, struct sim *s)
{
	if (job->show.json)
		show_counters(&job->show, system, s);
	else
		show_row(system, s);
}

static void compare(struct job *job)
{
	const struct sim_system * const *system;
	const char *notes[16] = {};
	size_t nr = 0, shown = 0, i;
	const char *why;

	if (!job->show.json)
		show_head();
	for (system = sim_systems; *system; system++) {
		struct sim *s;

		if (is_left_out(job, *system)) {
			show_left_out(&job->show, *system, "with so many timers it takes minutes");
			continue;
		}
		job->choice.system = *system;
		s = create(job);
		why = do_all(job, s);
		if (why)
			show_left_out(&job->show, *system, why);
		else
			show_system(job, *system, s);
		shown += !why;
		/* The next one may take its time. */
		fflush(stdout);
		if (*sim_note(s))
			notes[nr++] = sim_note(s);
		sim_destroy(s);
	}
	if (!shown)
		fail("%s: no system is left, for the reasons above",
		     job->made_up ? "--load" : job->script.name);
	if (job->show.json)
		return;
	puts("refiled: put elsewhere at once while armed; passed: looked at on the way to others, "
	     "or too early;\nempty: wake-ups in which nothing has expired, was moved, or has left a "
	     "queue;\nB/TIMER: bytes kept of a timer, without what slots take");
	for (i = 0; i < nr; i++)
		printf("note: %s\n", notes[i]);
}

/* The systems say themselves what they are. */
static void write_help(char *text, size_t size)
{
	const struct sim_system * const *system;
	FILE *file = fmemopen(text, size, "w");

	if (!file)
		fail("out of memory");
	fputs("Carry out a script of operations on a wheel in simulated time, in this process, or "
	      "on other systems that keep timers."
	      "\vSystems:\n", file);
	for (system = sim_systems; *system; system++)
		fprintf(file, "  %-12s  %s\n", sim_system_name(*system),
			sim_system_about(*system));
	fputs("\n"
	      "A script has one operation on a line; # begins a comment:\n"
	      "  arm ID DURATION [every DURATION [times N]]\n"
	      "  extend ID DURATION     from now; +DURATION: from its deadline\n"
	      "  cancel ID\n"
	      "  at DURATION            let time pass until the clock tells this\n"
	      "  run DURATION           let so much time pass\n"
	      "  run                    until no timer is armed; when that is differs from system to\n"
	      "                         system, and so do all times behind it\n"
	      "  where ID               level, slot, position, moves so far\n"
	      "  stop                   tell which timers are left; none is taken or expires then\n"
	      "\n"
	      "With --load, 500 ms and 1 s are counted in requests, rounded down, one at least: "
	      "exact if N is a multiple of 120.\n"
	      "\n"
	      "Example: where Kafka's wheels have a timer of 450 ms, and how it comes down\n"
	      "  printf 'arm 1 450ms\\nrun\\n' | twheel sim --as hierarchical --trace", file);
	fclose(file);
}

int verb_sim(int argc, char **argv)
{
	static char help[4096];
	static const struct argp_child children[] = { { .argp = &choice_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "[SCRIPT]", .doc = help,
		.children = children,
	};
	struct job job = {
		.choice = CHOICE_INIT,
		.load = { .extended = 50, .cancelled = 80, .seed = 1 },
	};
	struct sim *s;

	write_help(help, sizeof(help));
	options_parse(&argp, argc, argv, 0, &job);
	if (job.made_up && job.file)
		usage_error("--load: it makes the operations up: give no script with it");
	if (job.compare && job.show.trace)
		usage_error("--compare: it prints a table: give no --trace with it");
	if (job.made_up && job.choice.shape.capacity < job.load.timers)
		job.choice.shape.capacity = job.load.timers;
	if (!job.made_up)
		read_script(&job);
	output_bulk();
	if (job.compare) {
		compare(&job);
	} else {
		s = create(&job);
		do_all(&job, s);
		show_counters(&job.show, job.choice.system, s);
		sim_destroy(s);
	}
	script_free(&job.script);
	return 0;
}
