/* SPDX-License-Identifier: GPL-2.0 */
/* A simulation as the command line asks for it: of twheel sim, and of the verbs that draw one. */
#ifndef TWHEEL_SIM_JOB_H
#define TWHEEL_SIM_JOB_H

#include <argp.h>

#include "sim/show.h"

#define JOB_SYSTEMS	16

/**
 * struct job - what to simulate
 * @system: in which systems; none is given: in the first
 * @systems: how many are given
 * @quiet: nothing is printed of operations that were not carried out, nor of what is looked for
 * @file: of the script; NULL: standard input
 * @shape: of the wheel
 * @show: what is printed
 * @script: the operations
 * @made_up: by @load, instead of a script
 * @load: likewise
 */
struct job {
	const struct sim_system *system[JOB_SYSTEMS];
	size_t systems;
	bool quiet;
	const char *file;
	struct sim_shape shape;
	struct show show;
	struct script script;
	bool made_up;
	struct load load;
};

/* The options, and the file, which need not be a script; its input is a struct job. */
extern const struct argp job_argp;

void job_init(struct job *job);
/* The systems, for --help. */
void job_about(FILE *file);
/* After the options, and with @job->script read unless that is made up. */
void job_check(struct job *job);
/* Carry it out in a system.  @observer may be NULL.  The simulation is to be destroyed. */
struct sim *job_run(struct job *job, const struct sim_system *system,
		    const struct sim_observer *observer);

#endif
