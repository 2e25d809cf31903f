/* SPDX-License-Identifier: GPL-2.0 */
/* The records of a script or of a recording, for the verbs that draw them. */
#ifndef TWHEEL_SOURCE_H
#define TWHEEL_SOURCE_H

#include "recording.h"
#include "sim/job.h"

/*
 * Read the file of @job, or standard input: a recording, or a script, which is run in each system
 * of @job.  Fills up to JOB_SYSTEMS of @recording, and returns how many.  Exits with a message if
 * there are no records.
 */
size_t source_read(struct job *job, struct recording *recording);

#endif
