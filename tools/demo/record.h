/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each end noted about each connection, by its own clock readings and
 * without asking twheel.  In memory that client, server and judge share.
 */
#ifndef TWHEEL_DEMO_RECORD_H
#define TWHEEL_DEMO_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "schedule.h"

/* Absolute ns of CLOCK_MONOTONIC; 0: it has not happened. */
struct client_record {
	uint64_t connected;
	/* Before the last message was sent. */
	uint64_t last_said;
	/* When it saw that the server had closed. */
	uint64_t saw_close;
	uint32_t said;
	bool closed;		/* by the client itself */
};

struct server_record {
	/* When the last message was received. */
	uint64_t last_heard;
	/* When the event was read; before and after the connection was closed. */
	uint64_t event_read;
	uint64_t cut;
	uint64_t cut_done;
	uint32_t heard;
	uint32_t cuts;
};

/* What the server does with timers. */
enum change { ARMED, PUSHED_BACK, CANCELLED, EXPIRED, NR_CHANGES };

struct tally {
	uint64_t times;
	uint64_t calls;		/* system calls that it took */
};

struct totals {
	/* The client: how far it fell behind the schedule. */
	uint64_t max_lag;
	uint64_t refused;	/* connections that could not be opened */
	bool client_done;	/* it came to its end */
	/* The server: */
	struct tally timers[NR_CHANGES];
	uint64_t heard;		/* messages */
	uint64_t socket_calls;	/* epoll_wait and recv */
	uint64_t stale;		/* events of no armed timer: must be 0 */
	uint64_t strangers;	/* cut before they said who they are */
};

struct records {
	struct client_record *client;
	struct server_record *server;
	struct totals *totals;
};

/*
 * Write a line for each connection: its plan and what both ends noted, so that the
 * verdict can be checked.
 */
void records_write(FILE *file, const struct schedule *schedule,
		   const struct records *records, uint64_t start);

#endif
