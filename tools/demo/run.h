/* SPDX-License-Identifier: GPL-2.0 */
/* One run: a schedule, a wheel, a client and a server that follow it, a verdict. */
#ifndef TWHEEL_DEMO_RUN_H
#define TWHEEL_DEMO_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/twheel.h>

#include "record.h"
#include "schedule.h"
#include "server.h"
#include "verdict.h"

struct run {
	/* Given: */
	struct schedule schedule;
	uint64_t tick;
	uint64_t bound;
	bool fallback;		/* the wheel in this process, without the device */
	bool no_words;		/* a system call for each change, even where there are words */
	bool brief;		/* print only a short report */
	void (*progress)(const struct progress *progress);
	uint64_t progress_interval;
	/* Known once it is prepared: */
	struct twheel *wheel;
	bool words;
	int listener;
	uint16_t port;
	/* Found: */
	struct records records;
	struct twheel_stats stats;
	struct verdict verdict;
	uint64_t start;
};

/* Make the schedule, and a wheel for it. */
void run_prepare(struct run *run);
/* Takes as long as the schedule does. */
void run_go(struct run *run);
void run_free(struct run *run);

#endif
