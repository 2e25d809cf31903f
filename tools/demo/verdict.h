/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The judge.  It goes by the schedule and by the clock readings of both ends,
 * and by nothing that twheel says.
 */
#ifndef TWHEEL_DEMO_VERDICT_H
#define TWHEEL_DEMO_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"
#include "schedule.h"

struct lateness {
	uint64_t p50;
	uint64_t p99;
	uint64_t max;
};

struct verdict {
	/* Connections that fall silent, each to be cut: the schedule's, and @stalled. */
	uint64_t expected;
	/* Connections that the server cut. */
	uint64_t cut;
	uint64_t on_time;
	/* Before last message + timeout, by the server's clock or the client's. */
	uint64_t early;
	/* Silent and not cut by its deadline + bound, or cut though it talks. */
	uint64_t missed;
	/* Of the missed: those that were cut before they had fallen silent. */
	uint64_t talking;
	/* Those that should have talked on, but whose client was late. */
	uint64_t stalled;
	/* Where the ends contradict each other or the schedule. */
	uint64_t contradictions;
	/* Behind last message + timeout. */
	struct lateness event;
	struct lateness close;
	bool good;
};

/* @bound: how late a cut may be, ns. */
struct verdict verdict_find(const struct schedule *schedule, const struct records *records,
			    uint64_t bound);

#endif
