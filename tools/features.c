// SPDX-License-Identifier: GPL-2.0
/* twheel features: what this kernel's twheel can do. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "duration.h"
#include "json.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

enum { KEY_JSON = 256 };

static const struct argp_option argp_options[] = {
	{ "json", KEY_JSON, NULL, 0, "print JSON", 0 },
	{ 0 }
};

struct name {
	uint64_t bit;
	const char *name;
};

static const struct name clocks[] = {
	{ 1U << CLOCK_MONOTONIC, "monotonic" },
	{ 1U << CLOCK_BOOTTIME, "boottime" },
	{ 1U << CLOCK_REALTIME, "realtime" },
	{ 0 }
};

static const struct name features_names[] = {
	{ TWHEEL_FEATURE_WORDS, "words" },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	(void)arg;
	switch (key) {
	case KEY_JSON:
		*json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct json_object *json_names(const struct name *names, uint64_t bits)
{
	struct json_object *array = json_object_new_array();

	for (; names->bit; names++) {
		if (bits & names->bit)
			json_object_array_add(array, json_object_new_string(names->name));
	}
	return array;
}

static void print_json(const struct twheel_features *features)
{
	struct json_object *line = json_new();

	json_number(line, "abi", features->abi);
	json_object_object_add(line, "clocks", json_names(clocks, features->clocks));
	json_object_object_add(line, "features", json_names(features_names, features->features));
	json_number(line, "min_tick_ns", features->min_tick);
	json_number(line, "max_capacity", features->max_capacity);
	json_number(line, "max_levels", features->max_levels);
	json_number(line, "max_slots", features->max_slots);
	json_number(line, "max_batch", features->max_batch);
	json_number(line, "max_user_timers", features->max_user_timers);
	json_number(line, "max_user_wheels", features->max_user_wheels);
	json_line(line);
}

static void print_names(const char *what, const struct name *names, uint64_t bits)
{
	const char *between = "";

	printf("  %-24s ", what);
	for (; names->bit; names++) {
		if (!(bits & names->bit))
			continue;
		printf("%s%s", between, names->name);
		between = ", ";
	}
	puts(*between ? "" : "none");
}

static void print_number(const char *what, uint64_t value)
{
	char text[NUMBER_LEN];

	printf("  %-24s %s\n", what, number(text, value));
}

static void print_features(const struct twheel_features *features)
{
	char text[DURATION_LEN];

	printf("  %-24s %u%s\n", "ABI", features->abi,
	       features->abi ? "" : " (it may change)");
	print_names("clocks", clocks, features->clocks);
	print_names("features", features_names, features->features);
	printf("  %-24s %s\n", "smallest tick for you", duration_exact(text, features->min_tick));
	print_number("largest capacity", features->max_capacity);
	print_number("levels, at most", features->max_levels);
	print_number("slots, at most", features->max_slots);
	print_number("entries in one call", features->max_batch);
	print_number("timers of one user", features->max_user_timers);
	print_number("wheels of one user", features->max_user_wheels);
}

int verb_features(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse,
		.doc = "Print what this kernel's twheel can do, and its limits."
		       "\vExample: for another program\n"
		       "  twheel features --json",
	};
	struct twheel_features features;
	bool json = false;
	int wheel, err;

	options_parse(&argp, argc, argv, 0, &json);
	wheel = wheel_open();
	if (wheel < 0)
		fail("%s", wheel_explain_open(wheel));
	err = wheel_features(wheel, &features);
	if (err)
		fail("%s", wheel_explain(err));
	close(wheel);
	if (json)
		print_json(&features);
	else
		print_features(&features);
	return 0;
}
