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
			usage_error("say which timer: give its ID");
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

static void print_timer(const struct twheel_timer *timer)
{
	bool armed = timer->state == TWHEEL_STATE_PENDING || timer->state == TWHEEL_STATE_EXPIRED;
	char text[NUMBER_LEN], left[TIMER_LEFT_LEN];

	printf("%stimer %u%s\n", colour(stdout, BOLD), timer->id, colour(stdout, PLAIN));
	output_row("state", timer_state(timer), "");
	output_row("generation", number(text, timer->generation), "of its last arming");
	if (armed) {
		print_time("remaining", timer_remaining(timer),
			   timer_remaining(timer) ? "" : "it is due");
		print_time("interval", timer->interval, "");
		output_row("left", timer_left(left, timer), "expirations");
		print_time("slack", timer->slack, "");
		output_row("overruns", number(text, timer->overruns), "");
		snprintf(text, sizeof(text), "%llu", (unsigned long long)timer->cookie);
		output_row("cookie", text, "");
	}
}

int verb_get(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children, .args_doc = "ID",
		.doc = "Print everything about one timer of a wheel."
		       "\vWithout --pid or --fd there must be exactly one open wheel.\n"
		       "\n"
		       "Example: timer 0 of process 1234\n"
		       "  twheel get --pid 1234 0",
	};
	struct get get = { .target = TARGET_OPTIONS_INIT };
	struct twheel_timer timer = {};
	struct target target;
	int wheel, err;

	options_parse(&argp, argc, argv, 0, &get);
	target = target_resolve(&get.target);
	wheel = target_open_or_fail(&target);
	timer.id = get.id;
	err = wheel_get(wheel, &timer);
	if (err)
		fail("timer %u: %s", get.id, wheel_explain(err));
	if (get.json)
		timer_json(&timer);
	else
		print_timer(&timer);
	close(wheel);
	return 0;
}
