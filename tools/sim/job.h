/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a simulation: for twheel sim, and for the verbs that draw one. */
#ifndef TWHEEL_SIM_JOB_H
#define TWHEEL_SIM_JOB_H

#include <argp.h>

#include "sim/show.h"

#define JOB_SYSTEMS	16

/**
 * struct job - what to simulate
 * @system: the systems that run the script; the first system if none is given
 * @systems: number of systems given
 * @has_options: an option is given that only a script uses
 * @quiet: do not print failed operations, nor the answers of where and stop
 * @file: of the script; NULL: standard input
 * @shape: of the wheel
 * @show: how to print
 * @script: the operations
 * @made_up: run @load instead of a script
 * @load: the made-up operations
 */
struct job {
	const struct sim_system *system[JOB_SYSTEMS];
	size_t systems;
	bool has_options;
	bool quiet;
	const char *file;
	struct sim_shape shape;
	struct show show;
	struct script script;
	bool made_up;
	struct load load;
};

/* The options, and the file, which may be a recording.  The input of argp is a struct job. */
extern const struct argp job_argp;

void job_init(struct job *job);
/* Print the systems, for --help. */
void job_about(FILE *file);
/* Check the options, and fill in the defaults. */
void job_check(struct job *job);
/* Run the job in a system.  @observer may be NULL.  The caller destroys the simulation. */
struct sim *job_run(struct job *job, const struct sim_system *system,
		    const struct sim_observer *observer);

#endif
