/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TWHEEL_DEMO_SERVER_H
#define TWHEEL_DEMO_SERVER_H

#include <stdint.h>

#include <twheel.h>

#include "record.h"

/* What the server shows while it runs. */
struct progress {
	uint64_t time;		/* since the start, ns */
	uint64_t connections;
	uint64_t cut;
	uint64_t heard;
	uint64_t calls;		/* system calls for timers */
};

struct server_config {
	struct twheel *wheel;	/* file descriptors are below its capacity */
	int listener;
	int client_pidfd;	/* the server ends when the client has */
	uint32_t connections;
	uint64_t timeout;
	uint64_t start;
	uint64_t progress_interval;
	void (*progress)(const struct progress *progress);
};

/* Serve until the client has ended, then read the wheel's counters. */
void server_run(const struct server_config *config, const struct records *records,
		struct twheel_stats *stats);

#endif
