// SPDX-License-Identifier: GPL-2.0
/*
 * Deadlines in an array, and a look at all of them each second: what many daemons
 * do. A change is a store, and an expiration comes up to a second late.
 */
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

static uint64_t *deadline, next;
static uint32_t nr_deadlines, at;
static int alarm_fd = -1;

static uint32_t sweep_open(uint32_t nr, enum use use)
{
	deadline = calloc(nr, sizeof(*deadline));
	if (!deadline)
		die("no memory for deadlines");
	nr_deadlines = nr;
	at = nr;
	next = 0;
	if (use == USE_DELIVERY)
		alarm_fd = alarm_open();
	return nr;
}

static void sweep_close(void)
{
	free(deadline);
	if (alarm_fd >= 0)
		close(alarm_fd);
	alarm_fd = -1;
}

static void sweep_arm(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--)
		deadline[work->id] = work->deadline;
}

static void sweep_cancel(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--)
		deadline[work->id] = 0;
}

static int sweep_ready(void)
{
	alarm_set(alarm_fd, next);
	return alarm_fd;
}

static uint32_t sweep_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	uint32_t n = 0;

	if (at == nr_deadlines) {
		if (now < next)
			return 0;
		next = now + NSEC;
		at = 0;
	}
	/* 0 is never. */
	for (; at < nr_deadlines && n < nr; at++) {
		if (deadline[at] - 1 >= now)
			continue;
		ids[n++] = at;
		deadline[at] = 0;
	}
	return n;
}

const struct peer peer_sweep = {
	.name	= "sweep each second",
	.open	= sweep_open,
	.arm	= sweep_arm,
	.move	= sweep_arm,
	.cancel	= sweep_cancel,
	.ready	= sweep_ready,
	.take	= sweep_take,
	.close	= sweep_close,
	.bytes	= sizeof(*deadline),
};
