/* SPDX-License-Identifier: GPL-2.0 */
/* What the demo shows: of each run a heading, progress and tables; one last line. */
#ifndef TWHEEL_DEMO_REPORT_H
#define TWHEEL_DEMO_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "run.h"

void report_heading(const struct run *run);
void report_progress(const struct progress *progress);
void report_table(const struct run *run);
/* Of the run, and of the one @without words if there was one. */
void report_calls(const struct run *run, const struct run *without);
void report_json(const struct run *run, const struct run *without, bool good);
/* "demo: N cut, N early, N missed" */
void report_last_line(FILE *file, const struct run *run, const struct run *without, bool good);

#endif
