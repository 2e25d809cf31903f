// SPDX-License-Identifier: GPL-2.0
/* No timers: what a load costs by itself, to be subtracted. */
#include <unistd.h>

#include "bench.h"

static int alarm_fd = -1;

static uint32_t none_open(uint32_t nr, enum use use)
{
	(void)use;
	alarm_fd = alarm_open();
	return nr;
}

static void none_op(const struct work *work, uint32_t nr)
{
	(void)work;
	(void)nr;
}

static int none_ready(void)
{
	return alarm_fd;
}

static uint32_t none_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	(void)ids;
	(void)nr;
	(void)now;
	return 0;
}

static void none_close(void)
{
	close(alarm_fd);
}

const struct peer peer_none = {
	.name	= "no timers",
	.open	= none_open,
	.arm	= none_op,
	.move	= none_op,
	.cancel	= none_op,
	.ready	= none_ready,
	.take	= none_take,
	.close	= none_close,
};
