// SPDX-License-Identifier: GPL-2.0
/* Options that say what is simulated. */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "sim/choice.h"

enum { KEY_AS = 256, KEY_TICK, KEY_SLOTS, KEY_LEVELS, KEY_CAPACITY, KEY_START };

static const struct argp_option argp_options[] = {
	{ "as", KEY_AS, "SYSTEM", 0, "twheel (default), or another one of twheel sim", 0 },
	{ "tick", KEY_TICK, "DURATION", 0, "resolution, 1ns to 1s, or as the system is known", 0 },
	{ "slots", KEY_SLOTS, "N", 0, "slots of a level, or as the system is known", 0 },
	{ "levels", KEY_LEVELS, "N", 0, "no more levels than N", 0 },
	{ "capacity", KEY_CAPACITY, "N", 0, "ids are below N (65536)", 0 },
	{ "start", KEY_START, "DURATION", 0, "what the clock tells at the beginning (0)", 0 },
	{ 0 }
};

static const struct sim_system *parse_system(const char *name, const char *text)
{
	const struct sim_system *system = sim_system_named(text);

	if (!system)
		usage_error("%s %s: no such system: use one that twheel sim --help tells", name,
			    text);
	return system;
}

static uint64_t parse_tick(const char *name, const char *text)
{
	uint64_t tick = option_duration(name, text);

	if (!tick || tick > NSEC_PER_SEC)
		usage_error("%s %s: give 1ns to 1s", name, text);
	return tick;
}

/* @name is for messages. */
static void set(struct choice *choice, int key, const char *name, const char *text)
{
	struct sim_shape *shape = &choice->shape;

	switch (key) {
	case KEY_AS:
		choice->system = parse_system(name, text);
		return;
	case KEY_TICK:
		shape->tick = parse_tick(name, text);
		return;
	case KEY_SLOTS:
		shape->slots = option_number(name, text, 2, 4096);
		return;
	case KEY_LEVELS:
		shape->levels = option_number(name, text, 1, 16);
		return;
	case KEY_CAPACITY:
		shape->capacity = option_number(name, text, 1, SIM_MAX_CAPACITY);
		return;
	case KEY_START:
		shape->start = option_duration(name, text);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;
	const struct argp_option *option = argp_options;
	char name[16];

	while (option->name && option->key != key)
		option++;
	if (!option->name)
		return ARGP_ERR_UNKNOWN;
	snprintf(name, sizeof(name), "--%s", option->name);
	set(choice, key, name, arg);
	choice->given = option->name;
	return 0;
}

void choice_set(struct choice *choice, const char *option, const char *name, const char *text)
{
	size_t i;

	for (i = 0; argp_options[i].name; i++) {
		if (!strcmp(argp_options[i].name, option))
			set(choice, argp_options[i].key, name, text);
	}
}

struct sim *choice_create(const struct choice *choice, const struct sim_observer *observer)
{
	enum sim_result result;
	struct sim *s = sim_create(choice->system, &choice->shape, observer, &result);

	if (result == SIM_BAD_SHAPE)
		usage_error("%s has no such shape: see --tick, --slots, --levels and --capacity",
			    sim_system_name(choice->system));
	if (!s)
		fail("out of memory");
	return s;
}

const struct argp choice_argp = { .options = argp_options, .parser = parse };
