/* SPDX-License-Identifier: GPL-2.0 */
/* What a wheel's fdinfo tells, which takes fewer rights than to reach the wheel itself. */
#ifndef TWHEEL_INFO_H
#define TWHEEL_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/twheel.h>

/**
 * struct info - a wheel, as far as fdinfo tells of it
 * @number: of the wheel, whichever file descriptor leads to it; 0: the module is too old for that
 * @setup: its shape and its time; not words and clock_offset
 * @stats: its counters
 */
struct info {
	uint64_t number;
	struct twheel_setup setup;
	struct twheel_stats stats;
};

/* False if this is not a wheel (any more), or may not be looked at. */
bool info_read(pid_t pid, int fd, struct info *info);

#endif
