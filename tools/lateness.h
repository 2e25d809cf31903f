/* SPDX-License-Identifier: GPL-2.0 */
/* The histograms of struct twheel_stats. */
#ifndef TWHEEL_LATENESS_H
#define TWHEEL_LATENESS_H

#include <stdint.h>

#include <linux/twheel.h>

/* Lateness in @class is less than this number of ns; the last class has no end. */
static inline uint64_t lateness_end(unsigned int class)
{
	return 1024ULL << class;
}

/* How many there are in all classes. */
uint64_t lateness_events(const __u64 *classes);

/* Rows about the events, and a bar for each class from the first that is not empty to the last. */
void lateness_print(const __u64 *classes, uint64_t max);

#endif
