/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TWHEEL_CLOCK_H
#define TWHEEL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns of CLOCK_MONOTONIC: the same in all processes, and a wheel's clock unless it has another. */
static inline uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#endif
