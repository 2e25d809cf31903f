// SPDX-License-Identifier: GPL-2.0
/* twheel get: all about one timer. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "device.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "target.h"
#include "timer.h"
#include "verbs.h"
#include "where.h"

struct get {
	struct target_options target;
	bool json;
	bool given;
	__u32 id;
};

enum { KEY_JSON = 256 };

static const struct argp_option argp_options[] = {
	{ "json", KEY_JSON, NULL, 0, "print JSON", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct get *get = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &get->target;
		return 0;
	case KEY_JSON:
		get->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (get->given)
			usage_error("%s: one timer at a time: twheel list shows many", arg);
		get->id = option_number("ID", arg, 0, TWHEEL_MAX_CAPACITY - 1);
		get->given = true;
		return 0;
	case ARGP_KEY_END:
		if (!get->given)
			usage_error("say which: the ID of a timer");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_time(const char *what, uint64_t ns, const char *note)
{
	char text[DURATION_LEN];

	output_row(what, ns ? duration_short(text, ns) : "-", note);
}

static void print_where(const struct twheel_where *where)
{
	char text[NUMBER_LEN];

	switch (where->place) {
	case TWHEEL_PLACE_SLOT:
		snprintf(text, sizeof(text), "%u", where->level);
		output_row("level", text, "");
		snprintf(text, sizeof(text), "%u", where->slot);
		output_row("slot", text, "its place in the ring of that level");
		snprintf(text, sizeof(text), "%u", where->list);
		output_row("list", text, "of the slot");
		output_row("before it", number(text, where->before), "in that list");
		return;
	case TWHEEL_PLACE_DUE:
		output_row("where", "due", "its event waits to be taken");
		return;
	case TWHEEL_PLACE_NONE:
		output_row("where", "nowhere", "it is not in the wheel");
		return;
	default:
		output_row("where", "unknown", "the wheel changes all the time: try again");
	}
}

static void print_timer(const struct twheel_timer *timer, const struct twheel_where *where,
			uint64_t now)
{
	bool armed = timer->state == TWHEEL_STATE_PENDING || timer->state == TWHEEL_STATE_EXPIRED;
	char text[NUMBER_LEN], left[TIMER_LEFT_LEN];

	printf("%stimer %u%s\n", colour(stdout, BOLD), timer->id, colour(stdout, PLAIN));
	output_row("state", timer_state(timer), "");
	output_row("generation", number(text, timer->generation), "of its last arming");
	if (armed) {
		print_time("remaining", timer->remaining, timer->remaining ? "" : "it is due");
		print_time("interval", timer->interval, "");
		output_row("left", timer_left(left, timer), "expirations");
		print_time("slack", timer->slack, "");
		output_row("overruns", number(text, timer->overruns), "");
		snprintf(text, sizeof(text), "%llu", (unsigned long long)timer->cookie);
		output_row("cookie", text, "");
	}
	if (!where) {
		output_row("where", "unknown", "this module does not tell: see twheel doctor");
		return;
	}
	print_where(where);
	if (where->filed)
		print_time("filed for", where->filed - (where->filed < now ? where->filed : now),
			   "from now");
}

int verb_get(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children, .args_doc = "ID",
		.doc = "Tell all about one timer of a wheel, and where in the wheel it is."
		       "\vWithout --pid or --fd: of the only wheel that is open.  It takes a call for "
		       "each 64 timers that stand before it in its list.\n"
		       "\n"
		       "Example: timer 0 of process 1234\n"
		       "  twheel get --pid 1234 0",
	};
	struct get get = { .target = TARGET_OPTIONS_INIT };
	struct twheel_timer timer = {};
	struct twheel_setup setup;
	struct twheel_where where;
	struct where seek;
	struct target target;
	int wheel, err;
	bool told;

	options_parse(&argp, argc, argv, 0, &get);
	target = target_resolve(&get.target);
	wheel = target_open_or_fail(&target);
	timer.id = get.id;
	err = wheel_get_setup(wheel, &setup);
	if (!err && get.id >= setup.capacity)
		usage_error("ID %u: the wheel has ids 0 to %u: give one of these", get.id,
			    setup.capacity - 1);
	if (!err)
		err = wheel_get(wheel, &timer);
	if (err)
		fail("timer %u: %s", get.id, wheel_explain(err));
	seek = (struct where){ .wheel = wheel, .calls = WHERE_CALLS };
	told = where_seek(&seek, get.id, timer.generation, &where);
	where_free(&seek);
	if (get.json) {
		struct json_object *line = json_new();

		timer_json(line, &timer, &where);
		json_line(line);
	} else {
		print_timer(&timer, told ? &where : NULL, setup.now);
	}
	close(wheel);
	return 0;
}
