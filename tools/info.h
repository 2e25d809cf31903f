/* SPDX-License-Identifier: GPL-2.0 */
/* A wheel's fdinfo.  To read it takes fewer rights than to open the wheel itself. */
#ifndef TWHEEL_INFO_H
#define TWHEEL_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/twheel.h>

/**
 * struct info - a wheel, as far as fdinfo describes it
 * @number: of the wheel, the same for all its file descriptors; 0: the module is too old
 * @setup: its shape and its time; not words and clock_offset
 * @stats: its counters
 */
struct info {
	uint64_t number;
	struct twheel_setup setup;
	struct twheel_stats stats;
};

/* Returns false if this is not a wheel (any more), or may not be inspected. */
bool info_read(pid_t pid, int fd, struct info *info);

#endif
