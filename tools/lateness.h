/* SPDX-License-Identifier: GPL-2.0 */
/* The histograms of struct twheel_stats. */
#ifndef TWHEEL_LATENESS_H
#define TWHEEL_LATENESS_H

#include <stdint.h>

#include <linux/twheel.h>

/* What is in @class is less than that many ns; the last one has no end. */
static inline uint64_t lateness_end(unsigned int class)
{
	return 1024ULL << class;
}

/* How many there are in all classes. */
uint64_t lateness_events(const __u64 *classes);

/* So many in a hundred of the events are less than the end of the class that is returned. */
unsigned int lateness_class(const __u64 *classes, unsigned int percent);

/* Rows about the events, and a bar for each class from the first that is not empty to the last. */
void lateness_print(const __u64 *classes, uint64_t max);

#endif
