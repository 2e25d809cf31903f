/* SPDX-License-Identifier: GPL-2.0 */
/* Where a verb that shows what has happened takes that from: a script, or a recording. */
#ifndef TWHEEL_SOURCE_H
#define TWHEEL_SOURCE_H

#include "recording.h"
#include "sim/job.h"

/*
 * Read the file of @job, or standard input: a recording, or a script, which is carried out in each
 * system of @job.  Fills up to JOB_SYSTEMS of @recording, and returns how many.  Ends the program
 * with one line if there is nothing to be shown.
 */
size_t source_read(struct job *job, struct recording *recording);

#endif
