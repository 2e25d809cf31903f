/* SPDX-License-Identifier: GPL-2.0 */
/* What the demo shows: a heading, progress, a table and one last line. */
#ifndef TWHEEL_DEMO_REPORT_H
#define TWHEEL_DEMO_REPORT_H

#include <stdbool.h>

#include <linux/twheel.h>

#include "record.h"
#include "schedule.h"
#include "server.h"
#include "verdict.h"

struct report {
	const struct schedule *schedule;
	const struct verdict *verdict;
	const struct totals *totals;
	const struct twheel_stats *stats;
	uint64_t heard;
	uint64_t bound;
};

void report_heading(const struct schedule *schedule);
void report_progress(const struct progress *progress);
void report_table(const struct report *report);
void report_json(const struct report *report);
/* "demo: N cut, N early, N missed" */
void report_last_line(FILE *file, const struct verdict *verdict);

#endif
