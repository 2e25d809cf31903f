// SPDX-License-Identifier: GPL-2.0
/* twheel list: the armed timers of a wheel. */
#include <unistd.h>

#include "device.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "target.h"
#include "verbs.h"

#define TIMERS	512

struct list {
	struct target_options target;
	bool json;
	uint64_t pending;
	uint64_t expired;
};

enum { KEY_JSON = 256 };

static const struct argp_option argp_options[] = {
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list *list = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &list->target;
		return 0;
	case KEY_JSON:
		list->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *state_name(__u32 state)
{
	switch (state) {
	case TWHEEL_STATE_PENDING:
		return "pending";
	case TWHEEL_STATE_EXPIRED:
		return "expired";
	case TWHEEL_STATE_DELIVERED:
		return "delivered";
	case TWHEEL_STATE_IDLE:
		return "idle";
	default:
		return "?";
	}
}

static void print_json(const struct twheel_timer *timer)
{
	struct json_object *line = json_new();

	json_number(line, "id", timer->id);
	json_number(line, "generation", timer->generation);
	json_text(line, "state", state_name(timer->state));
	json_number(line, "count", timer->count);
	json_number(line, "cookie", timer->cookie);
	json_number(line, "deadline_ns", timer->deadline);
	json_number(line, "remaining_ns", timer->remaining);
	json_number(line, "interval_ns", timer->interval);
	json_number(line, "slack_ns", timer->slack);
	json_number(line, "overruns", timer->overruns);
	json_line(line);
}

static void print_head(void)
{
	printf("%s%8s  %10s  %-9s  %10s  %10s  %8s  %10s  %8s  %8s%s\n", colour(stdout, BOLD),
	       "ID", "GENERATION", "STATE", "REMAINING", "INTERVAL", "LEFT", "SLACK", "OVERRUNS",
	       "COOKIE", colour(stdout, PLAIN));
}

/* "-" where a timer has none. */
static const char *or_none(char *buf, uint64_t ns)
{
	return ns ? duration_short(buf, ns) : "-";
}

static void print_timer(const struct twheel_timer *timer)
{
	char remaining[DURATION_LEN], interval[DURATION_LEN], slack[DURATION_LEN];
	char left[16] = "-";

	if (timer->count)
		snprintf(left, sizeof(left), "%u", timer->count);
	else if (timer->interval)
		snprintf(left, sizeof(left), "for ever");
	printf("%8u  %10u  %-9s  %10s  %10s  %8s  %10s  %8llu  %8llu\n", timer->id,
	       timer->generation, state_name(timer->state),
	       duration_short(remaining, timer->remaining),
	       or_none(interval, timer->interval), left,
	       or_none(slack, timer->slack), (unsigned long long)timer->overruns,
	       (unsigned long long)timer->cookie);
}

static void print_all(struct list *list, int wheel)
{
	struct twheel_timer timers[TIMERS];
	__u32 cursor = 0;
	int nr, i;

	while ((nr = wheel_list(wheel, &cursor, timers, TIMERS)) > 0) {
		for (i = 0; i < nr; i++) {
			if (timers[i].state == TWHEEL_STATE_EXPIRED)
				list->expired++;
			else
				list->pending++;
			if (list->json)
				print_json(&timers[i]);
			else
				print_timer(&timers[i]);
		}
	}
	if (nr < 0)
		fail("list: %s", wheel_explain(nr));
}

int verb_list(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children,
		.doc = "List the armed timers of a wheel, pending and expired, by id."
		       "\vWithout --pid or --fd: of the only wheel that is open.\n"
		       "\n"
		       "Example: the timers of process 1234\n"
		       "  twheel list --pid 1234",
	};
	struct list list = { .target = TARGET_OPTIONS_INIT };
	char pending[NUMBER_LEN], expired[NUMBER_LEN];
	struct target target;
	int wheel;

	options_parse(&argp, argc, argv, 0, &list);
	target = target_resolve(&list.target);
	wheel = target_open_or_fail(&target);
	if (!list.json)
		print_head();
	print_all(&list, wheel);
	if (!list.json)
		printf("%s%s pending, %s expired%s\n", colour(stdout, DIM),
		       number(pending, list.pending), number(expired, list.expired),
		       colour(stdout, PLAIN));
	close(wheel);
	return 0;
}
