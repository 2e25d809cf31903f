/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recorded schedule: what each connection does and when, written down
 * before the first one opens.  The client follows it; the judge goes by it.
 */
#ifndef TWHEEL_DEMO_SCHEDULE_H
#define TWHEEL_DEMO_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All times are ns from the start. */
struct plan {
	uint64_t opens;
	/* Its last message. */
	uint64_t last;
	/* How many messages, the first one at once after it opens. */
	uint32_t messages;
	/* It says nothing after its last message; otherwise the client closes it. */
	bool silent;
};

enum act { ACT_OPEN, ACT_SAY, ACT_CLOSE };

struct action {
	uint64_t time;
	uint32_t connection;
	uint32_t act;
};

struct schedule {
	/* Given: */
	uint32_t connections;
	uint64_t seed;
	uint64_t timeout;
	/* Made of these: */
	uint64_t ramp;		/* all are open by then */
	uint64_t talk;		/* the silent ones are silent by then */
	uint64_t end;		/* the others are closed then, or at the end of talk */
	uint64_t min_gap;	/* between two messages of a connection */
	uint64_t max_gap;
	uint32_t silent;	/* connections that fall silent */
	uint64_t messages;
	struct plan *plans;
	struct action *actions;	/* in order of time */
	size_t nr_actions;
};

/* Fill in the rest; the same for the same connections, seed and timeout. */
void schedule_make(struct schedule *schedule);
void schedule_free(struct schedule *schedule);

#endif
