// SPDX-License-Identifier: GPL-2.0
/* twheel list: the armed timers of a wheel. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "device.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "target.h"
#include "timer.h"
#include "verbs.h"

/* In one call. */
#define TIMERS	512

enum key { BY_ID, BY_REMAINING, BY_COOKIE, BY_OVERRUNS };

static const char * const keys[] = {
	[BY_ID] = "id",
	[BY_REMAINING] = "remaining",
	[BY_COOKIE] = "cookie",
	[BY_OVERRUNS] = "overruns",
};

/**
 * struct list - what to list, and what was
 * @wheel: of which
 * @state: only those in this state; 0: in any
 * @first: the smallest id
 * @last: the largest
 * @within: only those that are due that soon, ns
 * @periodic: only those that expire again
 * @limit: no more than that
 * @sort: by what
 * @reverse: the largest first
 * @kept: timers to be sorted, before they are printed
 * @nr: how many
 * @size: for how many there is room
 */
struct list {
	struct target_options target;
	int wheel;
	bool json;
	__u32 state;
	uint64_t first;
	uint64_t last;
	uint64_t within;
	bool periodic;
	uint64_t limit;
	enum key sort;
	bool reverse;
	struct twheel_timer *kept;
	size_t nr;
	size_t size;
	uint64_t pending;
	uint64_t expired;
};

enum {
	KEY_JSON = 256,
	KEY_STATE,
	KEY_ID,
	KEY_WITHIN,
	KEY_PERIODIC,
	KEY_LIMIT,
	KEY_SORT,
	KEY_REVERSE,
};

static const struct argp_option argp_options[] = {
	{ "state", KEY_STATE, "STATE", 0, "only pending timers, or only expired ones", 0 },
	{ "id", KEY_ID, "A[-B]", 0, "only the timer A, or those from A to B", 0 },
	{ "within", KEY_WITHIN, "DURATION", 0, "only timers that are due within DURATION", 0 },
	{ "periodic", KEY_PERIODIC, NULL, 0, "only timers with an interval", 0 },
	{ "sort", KEY_SORT, "KEY", 0, "sort by id (default), remaining, cookie or overruns", 0 },
	{ "reverse", KEY_REVERSE, NULL, 0, "the largest first", 0 },
	{ "limit", KEY_LIMIT, "N", 0, "no more than N", 0 },
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines", 0 },
	{ 0 }
};

static void parse_ids(struct list *list, char *text)
{
	char *last = strchr(text, '-');

	if (last)
		*last++ = 0;
	list->first = option_number("--id", text, 0, TWHEEL_MAX_CAPACITY - 1);
	list->last = last ? option_number("--id A-", last, list->first, TWHEEL_MAX_CAPACITY - 1) :
			    list->first;
}

static __u32 parse_state(const char *text)
{
	if (!strcmp(text, "pending"))
		return TWHEEL_STATE_PENDING;
	if (!strcmp(text, "expired"))
		return TWHEEL_STATE_EXPIRED;
	usage_error("--state %s: an armed timer is pending or expired", text);
}

static enum key parse_key(const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!strcmp(keys[i], text))
			return i;
	}
	usage_error("--sort %s: use id, remaining, cookie or overruns", text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list *list = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &list->target;
		return 0;
	case KEY_STATE:
		list->state = parse_state(arg);
		return 0;
	case KEY_ID:
		parse_ids(list, arg);
		return 0;
	case KEY_WITHIN:
		list->within = option_duration("--within", arg);
		return 0;
	case KEY_PERIODIC:
		list->periodic = true;
		return 0;
	case KEY_SORT:
		list->sort = parse_key(arg);
		return 0;
	case KEY_REVERSE:
		list->reverse = true;
		return 0;
	case KEY_LIMIT:
		list->limit = option_number("--limit", arg, 1, UINT64_MAX);
		return 0;
	case KEY_JSON:
		list->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
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
	char left[TIMER_LEFT_LEN];

	printf("%8u  %10u  %-9s  %10s  %10s  %8s  %10s  %8llu  %8llu\n", timer->id,
	       timer->generation, timer_state(timer),
	       duration_short(remaining, timer_remaining(timer)),
	       or_none(interval, timer->interval), timer_left(left, timer),
	       or_none(slack, timer->slack), (unsigned long long)timer->overruns,
	       (unsigned long long)timer->cookie);
}

static bool is_wanted(const struct list *list, const struct twheel_timer *timer)
{
	return timer->id >= list->first && timer->id <= list->last &&
	       (!list->state || timer->state == list->state) &&
	       timer->remaining <= list->within && (!list->periodic || timer->interval);
}

static void print(struct list *list, const struct twheel_timer *timer)
{
	if (timer->state == TWHEEL_STATE_EXPIRED)
		list->expired++;
	else
		list->pending++;
	if (list->json)
		timer_json(timer);
	else
		print_timer(timer);
}

static bool is_full(const struct list *list)
{
	return list->pending + list->expired >= list->limit;
}

/* To be printed when all have come and are sorted. */
static void keep(struct list *list, const struct twheel_timer *timer)
{
	if (list->nr == list->size) {
		list->size = list->size ? 2 * list->size : TIMERS;
		list->kept = reallocarray(list->kept, list->size, sizeof(*timer));
		if (!list->kept)
			fail("out of memory");
	}
	list->kept[list->nr++] = *timer;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int in_order(const void *a, const void *b, void *data)
{
	const struct twheel_timer *x = a, *y = b;
	const struct list *list = data;
	int order = 0;

	switch (list->sort) {
	case BY_REMAINING:
		order = compare(x->remaining, y->remaining);
		break;
	case BY_COOKIE:
		order = compare(x->cookie, y->cookie);
		break;
	case BY_OVERRUNS:
		order = compare(x->overruns, y->overruns);
		break;
	case BY_ID:
		break;
	}
	if (!order)
		order = compare(x->id, y->id);
	return list->reverse ? -order : order;
}

static void print_sorted(struct list *list)
{
	size_t i;

	if (list->nr)
		qsort_r(list->kept, list->nr, sizeof(*list->kept), in_order, list);
	for (i = 0; i < list->nr && !is_full(list); i++)
		print(list, &list->kept[i]);
	free(list->kept);
}

/* They come by id. */
static void print_all(struct list *list)
{
	bool sorted = list->sort != BY_ID || list->reverse;
	struct twheel_timer timers[TIMERS];
	__u32 cursor = list->first;
	int nr = 1, i;

	while (cursor <= list->last && !is_full(list) &&
	       (nr = wheel_list(list->wheel, &cursor, timers, TIMERS)) > 0) {
		for (i = 0; i < nr && !is_full(list); i++) {
			if (!is_wanted(list, &timers[i]))
				continue;
			if (sorted)
				keep(list, &timers[i]);
			else
				print(list, &timers[i]);
		}
	}
	if (nr < 0)
		fail("list: %s", wheel_explain(nr));
	if (sorted)
		print_sorted(list);
}

int verb_list(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children,
		.doc = "List the armed timers of a wheel, pending and expired, by id."
		       "\vWithout --pid or --fd there must be exactly one open wheel.  --sort "
		       "comes before --limit: all timers are sorted, and the first N printed.\n"
		       "\n"
		       "Example: the ten timers of process 1234 that are due next\n"
		       "  twheel list --pid 1234 --state pending --sort remaining --limit 10",
	};
	struct list list = {
		.target = TARGET_OPTIONS_INIT,
		.last = UINT32_MAX, .within = UINT64_MAX, .limit = UINT64_MAX,
	};
	char pending[NUMBER_LEN], expired[NUMBER_LEN];
	struct target target;

	options_parse(&argp, argc, argv, 0, &list);
	target = target_resolve(&list.target);
	list.wheel = target_open_or_fail(&target);
	output_bulk();
	if (!list.json)
		print_head();
	print_all(&list);
	if (!list.json)
		printf("%s%s pending, %s expired%s\n", colour(stdout, DIM),
		       number(pending, list.pending), number(expired, list.expired),
		       colour(stdout, PLAIN));
	close(list.wheel);
	return 0;
}
