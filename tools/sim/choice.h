/* SPDX-License-Identifier: GPL-2.0 */
/* Options that say what is simulated: which system, and in which shape. */
#ifndef TWHEEL_SIM_CHOICE_H
#define TWHEEL_SIM_CHOICE_H

#include <argp.h>

#include "sim/sim.h"

/**
 * struct choice - the input of choice_argp
 * @system: which system
 * @shape: in which shape
 * @given: the name of an option that was given, or NULL
 */
struct choice {
	const struct sim_system	*system;
	struct sim_shape	shape;
	const char		*given;
};

#define CHOICE_CAPACITY	65536
#define CHOICE_INIT	{ .system = sim_systems[0], .shape = { .capacity = CHOICE_CAPACITY } }

extern const struct argp choice_argp;

/*
 * What one of the options is told, by its long name.  Exits with one line if it makes no sense, in
 * which it is called @name.
 */
void choice_set(struct choice *choice, const char *option, const char *name, const char *text);

/* A simulation of it, or exit with one line. */
struct sim *choice_create(const struct choice *choice, const struct sim_observer *observer);

#endif
