// SPDX-License-Identifier: GPL-2.0
/*
 * twheel's own wheel in user space, and one timerfd: no system call but to wait.
 * What is more than the wheel itself, generations and the like, is left out.
 */
#include <unistd.h>

#include "../unit.c"
#include "../tests/owner.h"

#include "bench.h"

#define TICK		1000000ULL
#define LEVELS		5U

static _Thread_local struct wheel *wheel;
static _Thread_local int alarm_fd = -1;
static _Thread_local uint64_t alarm_at;

static uint32_t wheel_peer_open(uint32_t nr, enum use use)
{
	wheel = aligned_alloc(64, sizeof(*wheel));
	if (!wheel)
		die("no memory for a wheel");
	wheel_init(wheel, nr, 0, 64, WHEEL_COST_ONE / 1000, now_ns() / TICK, owner_look);
	if (!owner_add_chunks(wheel) || !owner_add_levels(wheel, LEVELS))
		die("no memory for a wheel");
	if (use == USE_DELIVERY)
		alarm_fd = alarm_open();
	alarm_at = 0;
	return nr;
}

static void wheel_peer_close(void)
{
	wheel_destroy(wheel);
	free(wheel);
	if (alarm_fd >= 0)
		close(alarm_fd);
	alarm_fd = -1;
}

/* Never early: a deadline within a tick is due at its end. */
static void wheel_peer_arm(const struct work *work, uint32_t nr)
{
	struct wheel *w = wheel;

	for (; nr; work++, nr--) {
		u64 tick = max(DIV_ROUND_UP(work->deadline, TICK), w->at + 1);

		if (nr > WHEEL_AHEAD)
			prefetchw(wheel_timer(w, work[WHEEL_AHEAD].id));
		if (!owner_file(w, work->id, tick))
			die("no memory for a timer");
	}
}

static void wheel_peer_cancel(const struct work *work, uint32_t nr)
{
	struct wheel *w = wheel;

	for (; nr; work++, nr--) {
		if (nr > WHEEL_AHEAD)
			prefetchw(wheel_timer(w, work[WHEEL_AHEAD].id));
		wheel_unlink(w, work->id);
	}
}

static int wheel_peer_ready(void)
{
	u64 next = wheel_next(wheel), at = next == WHEEL_NEVER ? 0 : next * TICK;

	if (at != alarm_at)
		alarm_set(alarm_fd, at);
	alarm_at = at;
	return alarm_fd;
}

static uint32_t wheel_peer_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	u64 tick = now / TICK;

	while (wheel_advance(wheel, tick, WHEEL_STEP) == WHEEL_STEP)
		;
	nr = wheel_take_due(wheel, ids, nr, 0);
	for (uint32_t i = 0; i < nr; i++)
		wheel_unlink(wheel, ids[i]);
	return nr;
}

const struct peer peer_wheel = {
	.name	= "wheel",
	.open	= wheel_peer_open,
	.arm	= wheel_peer_arm,
	.move	= wheel_peer_arm,
	.cancel	= wheel_peer_cancel,
	.ready	= wheel_peer_ready,
	.take	= wheel_peer_take,
	.close	= wheel_peer_close,
	.bytes	= sizeof(struct timer) + sizeof(u64),
};
