// SPDX-License-Identifier: GPL-2.0
/* twheel arm: arm timers in a wheel of our own and print each event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <twheel.h>

#include "device.h"
#include "duration.h"
#include "json.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

#define EVENTS	64

struct arm {
	bool json;
	/* The wheel is in this process: with --fallback. */
	struct twheel *own;
	bool fallback;
	int wheel;
	bool setup;
	int clock;
	uint64_t tick;
	uint64_t capacity;
	bool has_id;
	uint32_t id;
	uint64_t every;
	uint64_t times;
	uint64_t slack;
	uint64_t cookie;
	/* When the first timer was armed, by the wheel's clock. */
	uint64_t start;
	size_t nr;
	/* By order of the command line; after arming sorted by id. */
	struct twheel_op *ops;
};

enum { KEY_TIMES = 256, KEY_CLOCK, KEY_TICK, KEY_CAPACITY, KEY_FALLBACK, KEY_JSON };

static const struct argp_option argp_options[] = {
	{ "id", 'i', "N", 0, "id of the first timer, then N+1...; default: the kernel chooses", 0 },
	{ "every", 'e', "DURATION", 0, "after the first expiry, expire every DURATION", 0 },
	{ "times", KEY_TIMES, "N", 0, "with --every: expire N times, not for ever", 0 },
	{ "slack", 's', "DURATION", 0, "a timer may be this late, to share a wake-up", 0 },
	{ "cookie", 'c', "N", 0, "number that each event returns", 0 },
	{ "clock", KEY_CLOCK, "NAME", 0, "monotonic (default), boottime or realtime", 0 },
	{ "tick", KEY_TICK, "DURATION", 0, "resolution of the wheel (1ms)", 0 },
	{ "capacity", KEY_CAPACITY, "N", 0, "number of ids of the wheel (65536)", 0 },
	{ "fallback", KEY_FALLBACK, NULL, 0,
	  "keep the timers in this process, as libtwheel does without a device", 0 },
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines", 0 },
	{ 0 }
};

static const char doc[] =
	"Arm a timer for each DURATION, print each event as it comes, and end when no more "
	"will come."
	"\v"
	"A DURATION is written 250ms, 1h30m, 1.5s, 2d, 100us; 0 is due at once.  The timers "
	"live as long as this command does: look at them with `twheel list --pid PID'.\n"
	"\n"
	"AFTER is the time from arming a timer until it was found due; LATE, the time "
	"from its deadline until this command had the event.\n"
	"\n"
	"Example: three events, the first after half a second\n"
	"  twheel arm --every 100ms --times 3 500ms";

static void add_duration(struct arm *arm, const char *text)
{
	struct twheel_op *op;

	arm->ops = reallocarray(arm->ops, arm->nr + 1, sizeof(*op));
	if (!arm->ops)
		fail("out of memory");
	op = &arm->ops[arm->nr++];
	memset(op, 0, sizeof(*op));
	op->deadline = option_duration("DURATION", text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arm *arm = state->input;

	switch (key) {
	case 'i':
		arm->has_id = true;
		arm->id = option_number("--id", arg, 0, TWHEEL_MAX_CAPACITY - 1);
		return 0;
	case 'e':
		arm->every = option_duration("--every", arg);
		if (!arm->every)
			usage_error("--every 0: give a longer period, as in --every 1s");
		return 0;
	case KEY_TIMES:
		arm->times = option_number("--times", arg, 1, TWHEEL_MAX_COUNT);
		return 0;
	case 's':
		arm->slack = option_duration("--slack", arg);
		return 0;
	case 'c':
		arm->cookie = option_number("--cookie", arg, 0, UINT64_MAX);
		return 0;
	case KEY_CLOCK:
		arm->clock = option_clock("--clock", arg);
		arm->setup = true;
		return 0;
	case KEY_TICK:
		arm->tick = option_duration("--tick", arg);
		arm->setup = true;
		if (!arm->tick || arm->tick > NSEC_PER_SEC)
			usage_error("--tick %s: give a tick from 1ns to 1s", arg);
		return 0;
	case KEY_CAPACITY:
		arm->capacity = option_number("--capacity", arg, 1, TWHEEL_MAX_CAPACITY);
		arm->setup = true;
		return 0;
	case KEY_FALLBACK:
		arm->fallback = true;
		return 0;
	case KEY_JSON:
		arm->json = true;
		return 0;
	case ARGP_KEY_ARG:
		add_duration(arm, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_error("say when: twheel arm 250ms 1h30m");
	case ARGP_KEY_END:
		if (arm->times && !arm->every)
			usage_error("--times needs --every: give the period, as in --every 1s");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static uint64_t now(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void check_ids(const struct arm *arm)
{
	uint64_t capacity = arm->capacity ? arm->capacity : TWHEEL_DEFAULT_CAPACITY;
	uint64_t need = (arm->has_id ? arm->id : 0) + (uint64_t)arm->nr;

	if (need > capacity)
		usage_error("the wheel has ids 0 to %llu: give it --capacity %llu",
			    (unsigned long long)capacity - 1, (unsigned long long)need);
}

static void open_own(struct arm *arm)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_NO_WORDS | TWHEEL_OPEN_CLOCK,
		.clock = arm->clock,
		.tick = arm->tick,
		.capacity = arm->capacity,
	};
	int err = twheel_open(&arm->own, &options);

	if (err)
		fail("set up the wheel: %s", wheel_explain(err));
}

static void open_wheel(struct arm *arm)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = arm->clock,
		.tick = arm->tick,
		.capacity = arm->capacity,
	};
	int err;

	if (arm->fallback) {
		open_own(arm);
		return;
	}
	arm->wheel = wheel_open();
	if (arm->wheel == -ENODEV)
		fail("%s, or see --fallback", wheel_explain_open(arm->wheel));
	if (arm->wheel < 0)
		fail("%s", wheel_explain_open(arm->wheel));
	err = arm->setup ? wheel_setup(arm->wheel, &setup) : 0;
	if (err)
		fail("set up the wheel: %s", wheel_explain(err));
}

static void fill_ops(struct arm *arm)
{
	size_t i;

	for (i = 0; i < arm->nr; i++) {
		struct twheel_op *op = &arm->ops[i];

		op->opcode = TWHEEL_OP_ARM;
		/* Absolute: CLOCK_REALTIME takes no relative deadline. */
		op->deadline += arm->start;
		op->interval = arm->every;
		op->count = arm->times;
		op->slack = arm->slack;
		op->cookie = arm->cookie;
		op->id = arm->has_id ? arm->id + i : TWHEEL_ID_ANY;
	}
}

static void print_armed(const struct twheel_op *op, uint64_t start)
{
	struct json_object *line = json_new();

	json_text(line, "what", "armed");
	json_number(line, "id", op->id);
	json_number(line, "generation", op->generation);
	json_number(line, "cookie", op->cookie);
	json_number(line, "after_ns", op->deadline - start);
	json_number(line, "interval_ns", op->interval);
	json_number(line, "count", op->count);
	json_number(line, "slack_ns", op->slack);
	json_line(line);
}

static int by_id(const void *a, const void *b)
{
	const struct twheel_op *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void arm_all(struct arm *arm)
{
	char text[DURATION_LEN];
	size_t done = arm->nr, i;
	int err;

	fill_ops(arm);
	if (arm->own)
		err = twheel_submit_ops(arm->own, arm->ops, arm->nr);
	else
		err = wheel_submit(arm->wheel, arm->ops, arm->nr, &done);
	/* The library tells how many have failed. */
	if (err > 0)
		err = 0;
	for (i = 0; i < done && !err; i++)
		err = arm->ops[i].result;
	if (err)
		fail("arm %s: %s",
		     duration_exact(text, arm->ops[i ? i - 1 : 0].deadline - arm->start),
		     wheel_explain(err));
	for (i = 0; i < arm->nr && arm->json; i++)
		print_armed(&arm->ops[i], arm->start);
	qsort(arm->ops, arm->nr, sizeof(*arm->ops), by_id);
}

static void print_head(const struct arm *arm)
{
	printf("%s%zu %s armed in a wheel of process %d; ^C ends %s%s\n",
	       colour(stdout, DIM), arm->nr, arm->nr == 1 ? "timer" : "timers", getpid(),
	       arm->nr == 1 ? "it" : "them", colour(stdout, PLAIN));
	printf("%s%10s  %10s  %8s  %10s  %8s  %8s  %s%s\n", colour(stdout, BOLD), "AFTER", "LATE",
	       "ID", "GENERATION", "OVERRUNS", "COOKIE", "TIMER", colour(stdout, PLAIN));
}

static void print_event(const struct twheel_event *event, const struct twheel_op *op,
			uint64_t start, uint64_t read_at)
{
	char after[DURATION_LEN], late[DURATION_LEN], timer[DURATION_LEN];

	printf("%10s  %10s  %8u  %10u  %8llu  %8llu  %s\n",
	       duration_short(after, event->fired - start),
	       /* This can't be, so it must not look like a large number if it is. */
	       read_at < event->deadline ? "EARLY" :
					   duration_short(late, read_at - event->deadline),
	       event->id, event->generation,
	       (unsigned long long)event->overruns, (unsigned long long)event->cookie,
	       duration_exact(timer, op->deadline - start));
}

static void print_event_json(const struct twheel_event *event, uint64_t read_at)
{
	struct json_object *line = json_new();

	json_text(line, "what", "expired");
	json_number(line, "id", event->id);
	json_number(line, "generation", event->generation);
	json_number(line, "cookie", event->cookie);
	json_number(line, "deadline_ns", event->deadline);
	json_number(line, "fired_ns", event->fired);
	json_number(line, "read_ns", read_at);
	json_number(line, "overruns", event->overruns);
	json_object_object_add(line, "last",
			       json_object_new_boolean(event->flags & TWHEEL_EVENT_LAST));
	json_line(line);
}

/* Returns how many of the timers have come to their end. */
static size_t take_events(const struct arm *arm)
{
	struct twheel_event events[EVENTS];
	const struct twheel_op *op;
	struct twheel_op key;
	size_t last = 0;
	uint64_t read_at;
	int nr, i;

	do {
		nr = arm->own ? twheel_wait(arm->own, events, EVENTS, -1) :
				wheel_read(arm->wheel, events, EVENTS);
	} while (nr == -EINTR);
	if (nr < 0)
		fail("read events: %s", wheel_explain(nr));

	read_at = now(arm->clock);
	for (i = 0; i < nr; i++) {
		key.id = events[i].id;
		op = bsearch(&key, arm->ops, arm->nr, sizeof(key), by_id);
		if (!op || op->generation != events[i].generation)
			fail("an event of id %u, generation %u, was never armed: please report it",
			     events[i].id, events[i].generation);
		if (arm->json)
			print_event_json(&events[i], read_at);
		else
			print_event(&events[i], op, arm->start, read_at);
		last += !!(events[i].flags & TWHEEL_EVENT_LAST);
	}
	output_check();
	return last;
}

int verb_arm(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "DURATION...", .doc = doc,
	};
	struct arm arm = { .clock = CLOCK_MONOTONIC };
	size_t left;

	options_parse(&argp, argc, argv, 0, &arm);
	check_ids(&arm);
	open_wheel(&arm);
	arm.start = now(arm.clock);
	arm_all(&arm);
	if (!arm.json)
		print_head(&arm);
	for (left = arm.nr; left; )
		left -= take_events(&arm);
	if (arm.own)
		twheel_close(arm.own);
	else
		close(arm.wheel);
	free(arm.ops);
	return 0;
}
