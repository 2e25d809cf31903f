// SPDX-License-Identifier: GPL-2.0
/*
 * twheel trace: what a wheel does with each timer, as the module's tracepoints tell.
 *
 * The wheel is borrowed to ask which timers it has, and given back: it is not kept alive by being
 * traced.
 */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "device.h"
#include "duration.h"
#include "info.h"
#include "options.h"
#include "output.h"
#include "target.h"
#include "timer.h"
#include "trace/tell.h"
#include "trace/tracefs.h"
#include "verbs.h"
#include "where.h"

/* How often the kernel is asked: a trace_pipe can't be waited for until it is half full. */
#define LOOK_MS		50
/* Lines from one look at the time to the next. */
#define LINES		4096
/* Of more timers it takes long to tell in which slot each is. */
#define SOUGHT_MAX	4096

struct trace {
	struct target_options target;
	struct tell tell;
	uint64_t number;
	uint64_t duration;
	const char *output;
};

enum { KEY_FOR = 256, KEY_JSON };

static const struct argp_option argp_options[] = {
	{ "for", KEY_FOR, "DURATION", 0, "end then; else with Ctrl-C, or the wheel", 0 },
	{ "output", 'o', "FILE", 0, "write FILE; else to standard output", 0 },
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct trace *trace = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &trace->target;
		return 0;
	case KEY_FOR:
		trace->duration = option_duration("--for", arg);
		if (!trace->duration)
			usage_error("--for %s: give at least 1ns", arg);
		return 0;
	case 'o':
		trace->output = arg;
		return 0;
	case KEY_JSON:
		trace->tell.json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static atomic_bool interrupted;

static void interrupt(int nr)
{
	(void)nr;
	interrupted = true;
}

/*
 * A first one ends the trace.  A second one ends the process, which may wait for somebody who reads
 * its output.  That nobody does is seen as it writes.
 */
static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESETHAND };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Those that were armed before anybody listened. */
static void tell_pending(struct tell *tell, int wheel, bool seek)
{
	struct where where = { .wheel = wheel, .calls = WHERE_CALLS };
	struct twheel_timer timers[256];
	struct twheel_where told;
	__u32 cursor = 0;
	int nr, i;

	while ((nr = wheel_list(wheel, &cursor, timers, ARRAY_SIZE(timers))) > 0) {
		for (i = 0; i < nr; i++) {
			if (seek && !where_seek(&where, timers[i].id, timers[i].generation, &told))
				fail("this module does not tell of slots: see twheel doctor");
			tell_armed(tell, &timers[i], seek ? &told : NULL);
		}
	}
	where_free(&where);
	if (nr < 0)
		fail("%s", wheel_explain(nr));
}

static void begin(struct trace *trace, const struct target *target)
{
	int wheel = target_open_or_fail(target), err;
	struct twheel_setup setup;
	struct twheel_stats stats;
	struct info info;

	if (!info_read(getpid(), wheel, &info) || !info.number)
		fail("this module does not tell which wheel is which: see twheel doctor");
	trace->number = info.number;
	tracefs_begin(info.number, info.setup.clock);
	err = wheel_get_setup(wheel, &setup);
	if (!err)
		err = wheel_stats(wheel, &stats);
	if (err)
		fail("%s", wheel_explain(err));
	/* Not before it is known that there is something to write. */
	if (trace->output)
		output_to(trace->output);
	trace->tell.begin = setup.now;
	trace->tell.last = setup.now;
	/* The trace has CLOCK_MONOTONIC; another one was read a moment later. */
	if (info.setup.clock == CLOCK_MONOTONIC)
		trace->tell.clock = setup.clock_offset;
	else
		trace->tell.clock = setup.now - now();
	tell_pending(&trace->tell, wheel, stats.pending <= SOUGHT_MAX);
	close(wheel);
}

/* @nr lines at most.  Returns whether there may be more. */
static bool tell_lines(struct tell *tell, size_t nr)
{
	struct event event;
	char *line;
	size_t i;

	for (i = 0; i < nr && (line = tracefs_line()); i++) {
		if (event_read(&event, line))
			tell_event(tell, &event);
	}
	output_check();
	return i == nr;
}

/* Has the process closed it?  An inherited one is open as long as we are here. */
static bool was_closed(const struct trace *trace, const struct target *target)
{
	struct info info;

	return target->pid && (!info_read(target->pid, target->fd, &info) ||
			       info.number != trace->number);
}

static void trace_wheel(struct trace *trace, const struct target *target)
{
	/* poll() passes over a negative one: an inherited wheel has no process. */
	int pidfd = target->pid ? (int)syscall(SYS_pidfd_open, target->pid, 0) : -1;
	struct pollfd process = { .fd = pidfd, .events = POLLIN };
	uint64_t end = trace->duration ? now() + trace->duration : UINT64_MAX, time;
	bool ended = false, more = false;

	while (!ended && !interrupted && (time = now()) < end) {
		uint64_t left = (end - time) / NSEC_PER_MSEC + 1;
		int wait = left < LOOK_MS ? (int)left : LOOK_MS;

		/* The kernel's buffer goes on filling up. */
		ended = poll(&process, 1, more ? 0 : wait) > 0 || was_closed(trace, target);
		more = tell_lines(&trace->tell, LINES);
	}
	tracefs_stop();
	tell_lines(&trace->tell, SIZE_MAX);
	if (pidfd >= 0)
		close(pidfd);
}

int verb_trace(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children,
		.doc = "Tell what a wheel does with each timer, as it does it: where it is filed, "
		       "how it comes down, when it is found due and when delivered, and when the "
		       "hrtimer fires.  Root sees that, by the module's tracepoints."
		       "\vWithout --pid or --fd: of the only wheel that is open.  First come the "
		       "timers that are armed already.  Nobody else's tracing is disturbed, and "
		       "nothing is left of it.\n"
		       "\n"
		       "Example: a second of the wheel of process 1234; with --json, for twheel plot\n"
		       "  twheel trace --pid 1234 --for 1s",
	};
	struct trace trace = { .target = TARGET_OPTIONS_INIT };
	struct target target;

	options_parse(&argp, argc, argv, 0, &trace);
	target = target_resolve(&trace.target);
	catch_signals();
	begin(&trace, &target);
	trace_wheel(&trace, &target);
	tell_end(&trace.tell);
	return 0;
}
