// SPDX-License-Identifier: GPL-2.0
/* twheel sim: a script of operations on a wheel in simulated time, and on other systems. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "sim/job.h"
#include "verbs.h"

#define CAPACITY	65536
/* With more timers, a system whose arm or tick looks at all timers takes minutes. */
#define FEW_TIMERS	20000
/* With ticks this long, polling does not. */
#define LONG_TICK	(100 * NSEC_PER_MSEC)

/**
 * struct sim_options - the options of twheel sim
 * @job: what to simulate
 * @compare: run all systems, one after the other
 */
struct sim_options {
	struct job job;
	bool compare;
};

enum {
	/* Of a job; ends with KEY_SEED. */
	KEY_AS = 256,
	KEY_TICK,
	KEY_SLOTS,
	KEY_LEVELS,
	KEY_CAPACITY,
	KEY_START,
	KEY_PENDING,
	KEY_ROUND,
	KEY_LOAD,
	KEY_AT_ONCE,
	KEY_EXTENDED,
	KEY_CANCELLED,
	KEY_SEED,
	KEY_COMPARE,
	KEY_TRACE,
	KEY_JSON,
};

static const struct argp_option job_options[] = {
	{ "as", KEY_AS, "SYSTEM", 0, "twheel (default), or one of those below", 0 },
	{ "tick", KEY_TICK, "DURATION", 0, "resolution, 1ns to 1s (the system's own)", 0 },
	{ "slots", KEY_SLOTS, "N", 0, "slots of a level (the system's own)", 0 },
	{ "levels", KEY_LEVELS, "N", 0, "at most N levels", 0 },
	{ "capacity", KEY_CAPACITY, "N", 0, "ids are below N (65536)", 0 },
	{ "start", KEY_START, "DURATION", 0, "time of the clock at the beginning (0)", 0 },
	{ "pending", KEY_PENDING, "N", 0, "hashed: at most N timers pending (no limit)", 0 },
	{ "round", KEY_ROUND, "HOW", 0, "hierarchical: deadlines to ticks, down or up (down)", 0 },
	{ "load", KEY_LOAD, "N", 0, "no script, but N requests with timeouts in a minute", 0 },
	{ "at-once", KEY_AT_ONCE, NULL, 0, "all requests come at the beginning", 0 },
	{ "extended", KEY_EXTENDED, "PERCENT", 0,
	  "requests pushed back after 500 ms; with --at-once after 1 s (50)", 0 },
	{ "cancelled", KEY_CANCELLED, "PERCENT", 0, "requests cancelled after 1 s (80)", 0 },
	{ "seed", KEY_SEED, "N", 0, "seed of the random timeouts (1)", 0 },
	{ 0 }
};

static const struct argp_option argp_options[] = {
	{ "compare", KEY_COMPARE, NULL, 0, "run all systems, and print a table", 0 },
	{ "trace", KEY_TRACE, NULL, 0, "print each placement, move and wake-up as well", 0 },
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines", 0 },
	{ 0 }
};

static const struct sim_system *parse_system(const char *name)
{
	const struct sim_system *system = sim_system_named(name);

	if (!system)
		usage_error("--as %s: no such system: --help lists them", name);
	return system;
}

static error_t parse_job(int key, char *arg, struct argp_state *state)
{
	struct job *job = state->input;

	if (key >= KEY_AS && key <= KEY_SEED)
		job->has_options = true;
	switch (key) {
	case ARGP_KEY_ARG:
		if (job->file)
			usage_error("%s: there is a script already, %s: give one", arg, job->file);
		job->file = arg;
		return 0;
	case KEY_AS:
		if (job->systems == JOB_SYSTEMS)
			usage_error("--as %s: too many systems: give at most %u", arg,
				    JOB_SYSTEMS);
		job->system[job->systems++] = parse_system(arg);
		return 0;
	case KEY_TICK:
		job->shape.tick = option_duration("--tick", arg);
		if (!job->shape.tick || job->shape.tick > NSEC_PER_SEC)
			usage_error("--tick %s: give 1ns to 1s", arg);
		return 0;
	case KEY_SLOTS:
		job->shape.slots = option_number("--slots", arg, 2, 4096);
		return 0;
	case KEY_LEVELS:
		job->shape.levels = option_number("--levels", arg, 1, 16);
		return 0;
	case KEY_CAPACITY:
		job->shape.capacity = option_number("--capacity", arg, 1, SIM_MAX_CAPACITY);
		return 0;
	case KEY_START:
		job->shape.start = option_duration("--start", arg);
		return 0;
	case KEY_PENDING:
		job->shape.pending = option_number("--pending", arg, 1, SIM_MAX_CAPACITY);
		return 0;
	case KEY_ROUND:
		job->shape.round_up = !strcmp(arg, "up");
		if (!job->shape.round_up && strcmp(arg, "down"))
			usage_error("--round %s: give up or down", arg);
		return 0;
	case KEY_LOAD:
		job->load.timers = option_number("--load", arg, 1, SIM_MAX_CAPACITY);
		job->made_up = true;
		return 0;
	case KEY_AT_ONCE:
		job->load.at_once = true;
		return 0;
	case KEY_EXTENDED:
		job->load.extended = option_number("--extended", arg, 0, 100);
		return 0;
	case KEY_CANCELLED:
		job->load.cancelled = option_number("--cancelled", arg, 0, 100);
		return 0;
	case KEY_SEED:
		job->load.seed = option_number("--seed", arg, 0, UINT64_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp job_argp = { .options = job_options, .parser = parse_job };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sim_options *options = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->job;
		return 0;
	case KEY_COMPARE:
		options->compare = true;
		options->job.quiet = true;
		return 0;
	case KEY_TRACE:
		options->job.show.trace = true;
		return 0;
	case KEY_JSON:
		options->job.show.json = true;
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

/* Report the result of an operation; exit if the rest of the script makes no sense. */
static void judge(struct job *job, struct sim *s, const struct op *op, enum sim_result result)
{
	switch (result) {
	case SIM_OK:
		return;
	case SIM_NOT_ARMED:
		if (!job->quiet && !job->made_up)
			show_missed(&job->show, s, op);
		return;
	case SIM_REFUSED:
	case SIM_EXISTS:
	case SIM_TOO_SHORT:
	case SIM_FULL:
		if (!job->quiet && !job->made_up)
			show_refused(&job->show, s, op, result);
		return;
	case SIM_BAD_ID:
		fail("%s: %s %u: ids are below %u: raise --capacity", at_line(job, op),
		     op_name(op->kind), op->id, sim_shape(s)->capacity);
	case SIM_STOPPED:
		fail("%s: %s: no operation may follow stop: put stop last", at_line(job, op),
		     op_name(op->kind));
	case SIM_ENDLESS:
		fail("%s: run: a timer repeats for ever: say how long, as in run 1s, or cancel it",
		     at_line(job, op));
	case SIM_TOO_LONG:
		fail("%s: %s: there are too many wake-ups to wait for: give a longer --tick, or "
		     "another system with --as", at_line(job, op), op_name(op->kind));
	case SIM_BAD_SHAPE:
	case SIM_NO_MEMORY:
		fail("%s: %s: out of memory", at_line(job, op), op_name(op->kind));
	}
}

static enum sim_result push_back(struct sim *s, const struct op *op)
{
	struct sim_where where;
	uint64_t deadline;

	if (sim_where(s, op->id, &where, &deadline))
		return SIM_NOT_ARMED;
	return sim_extend(s, op->id, deadline + op->time);
}

static enum sim_result tell_where(struct job *job, struct sim *s, uint32_t id)
{
	struct sim_where where;
	enum sim_result result = sim_where(s, id, &where, NULL);

	if (!result && !job->quiet)
		show_where(&job->show, s, id);
	return result;
}

static enum sim_result stop(struct job *job, struct sim *s)
{
	sim_stop(s);
	if (!job->quiet)
		show_left(&job->show, s);
	return SIM_OK;
}

static enum sim_result carry_out(struct job *job, struct sim *s, const struct op *op)
{
	switch (op->kind) {
	case OP_ARM:
		return sim_arm(s, op->id, op->time, op->interval, op->times);
	case OP_EXTEND:
		return sim_extend(s, op->id, sim_now(s) + op->time);
	case OP_PUSH_BACK:
		return push_back(s, op);
	case OP_CANCEL:
		return sim_cancel(s, op->id);
	case OP_AT:
		return sim_run(s, op->time);
	case OP_RUN:
		return sim_run(s, sim_now(s) + op->time);
	case OP_RUN_ALL:
		return sim_run(s, SIM_NEVER);
	case OP_WHERE:
		return tell_where(job, s, op->id);
	case OP_STOP:
		return stop(job, s);
	}
	return SIM_OK;
}

static void do_op(struct job *job, struct sim *s, const struct op *op)
{
	show_operation(&job->show, op->kind);
	judge(job, s, op, carry_out(job, s, op));
}

static void do_all(struct job *job, struct sim *s)
{
	struct load load = job->load;
	struct op op;
	size_t i;

	for (i = 0; i < job->script.nr; i++)
		do_op(job, s, &job->script.op[i]);
	if (!job->made_up)
		return;
	while (load_next(&load, &op)) {
		if (op.kind == OP_AT)
			op.time += job->shape.start;
		do_op(job, s, &op);
	}
}

struct sim *job_run(struct job *job, const struct sim_system *system,
		    const struct sim_observer *observer)
{
	enum sim_result result;
	struct sim *s = sim_create(system, &job->shape, observer, &result);

	if (result == SIM_BAD_SHAPE)
		usage_error("%s has no such shape: see --tick, --slots, --levels and --capacity",
			    sim_system_name(system));
	if (!s)
		fail("out of memory");
	do_all(job, s);
	return s;
}

/* Would the system take too long for this many timers? */
static bool is_left_out(const struct job *job, const struct sim_system *system)
{
	if (!job->made_up || job->load.timers <= FEW_TIMERS)
		return false;
	return system == sim_system_named("list") ||
	       (system == sim_system_named("poll") && job->shape.tick < LONG_TICK);
}

static void compare(struct job *job)
{
	const struct sim_system * const *system;
	const char *notes[16] = {};
	size_t nr = 0, i;

	if (!job->show.json)
		show_head();
	for (system = sim_systems; *system; system++) {
		struct sim *s;

		if (is_left_out(job, *system)) {
			if (!job->show.json)
				printf("%-12s  left out: with so many timers it takes minutes\n",
				       sim_system_name(*system));
			continue;
		}
		s = job_run(job, *system, NULL);
		if (job->show.json)
			show_counters(&job->show, *system, s);
		else
			show_row(*system, s);
		if (*sim_note(s))
			notes[nr++] = sim_note(s);
		sim_destroy(s);
	}
	if (job->show.json)
		return;
	puts("passed: looked at on the way to others, or too early; empty: wake-ups in which "
	     "nothing has expired\nor moved; HELD: the most timers armed at once; B/TIMER: bytes "
	     "of a timer, without those\nof slots");
	for (i = 0; i < nr; i++)
		printf("note: %s\n", notes[i]);
}

void job_init(struct job *job)
{
	*job = (struct job){
		.shape = { .capacity = CAPACITY },
		.load = { .extended = 50, .cancelled = 80, .seed = 1 },
	};
}

/* With a table of all systems it is run, too. */
static bool is_run(const struct job *job, const char *name)
{
	size_t i;

	for (i = 0; i < job->systems; i++)
		if (job->system[i] == sim_system_named(name))
			return true;
	return job->quiet;
}

void job_check(struct job *job)
{
	if (job->shape.pending && !is_run(job, "hashed"))
		usage_error("--pending is for hashed: give --as hashed with it");
	if (job->shape.round_up && !is_run(job, "hierarchical"))
		usage_error("--round is for hierarchical: give --as hierarchical with it");
	if (job->made_up && job->file)
		usage_error("--load makes up the operations: give no script with it");
	if (job->load.at_once && !job->made_up)
		usage_error("--at-once needs --load: give --load N with it");
	if (!job->systems)
		job->system[job->systems++] = sim_systems[0];
	if (job->made_up && job->shape.capacity < job->load.timers)
		job->shape.capacity = job->load.timers;
}

/* Each system describes itself. */
void job_about(FILE *file)
{
	const struct sim_system * const *system;

	fputs("Systems:\n", file);
	for (system = sim_systems; *system; system++)
		fprintf(file, "  %-12s  %s\n", sim_system_name(*system),
			sim_system_about(*system));
}

static void write_help(char *text, size_t size, const char *program)
{
	FILE *file = fmemopen(text, size, "w");

	if (!file)
		fail("out of memory");
	fputs("Run a script of operations in simulated time, in this process, on a wheel or on "
	      "another system that keeps timers."
	      "\v", file);
	job_about(file);
	fputs("\n"
	      "A script has one operation on a line; # begins a comment:\n"
	      "  arm ID DURATION [every DURATION [times N]]  times -1: for ever\n"
	      "  extend ID DURATION     from now; +DURATION: from its deadline\n"
	      "  cancel ID\n"
	      "  at DURATION            let time pass until the clock shows this\n"
	      "  run DURATION           let this much time pass\n"
	      "  run                    let time pass until no timer is armed\n"
	      "  where ID               level, slot, position, moves so far\n"
	      "  stop                   end, and print which timers are left\n"
	      "\n"
	      "Example: where Kafka's wheels keep a timer of 450 ms, and how it comes down\n",
	      file);
	fprintf(file, "  printf 'arm 1 450ms\\nrun\\n' | %s --as hierarchical --trace", program);
	fclose(file);
}

int verb_sim(int argc, char **argv)
{
	static char help[4096];
	static const struct argp_child children[] = { { .argp = &job_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "[SCRIPT]", .doc = help,
		.children = children,
	};
	struct sim_options options = {};
	struct job *job = &options.job;
	struct sim_observer observer = { show_event, &job->show };
	const struct sim_system *system;
	struct sim *s;

	write_help(help, sizeof(help), argv[0]);
	job_init(job);
	options_parse(&argp, argc, argv, 0, &options);
	job_check(job);
	if (options.compare && job->show.trace)
		usage_error("--compare prints only a table: give no --trace with it");
	if (!job->made_up)
		read_script(job);
	output_bulk();
	if (options.compare) {
		compare(job);
	} else {
		/* Without an observer there is less to do. */
		if (job->made_up && !job->show.trace)
			observer.tell = NULL;
		system = job->system[job->systems - 1];
		s = job_run(job, system, &observer);
		show_counters(&job->show, system, s);
		sim_destroy(s);
	}
	script_free(&job->script);
	return 0;
}
