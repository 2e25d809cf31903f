/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel as its device has it, in the process that uses it: libtwheel is linked with this
 * in place of its system calls, so that what is measured is the library and the module's
 * own code without the way into the kernel.  One wheel, one thread, no locks.
 */
#ifndef TWHEEL_BENCH_INSIDE_H
#define TWHEEL_BENCH_INSIDE_H

#include "loops.h"

/* The only file descriptor that a device has here. */
#define INSIDE_FD	3

/* What time it is, ns; for a wheel in the process too. */
void inside_clock(u64 now);

/**
 * inside_start() - make the wheel that the next twheel_open() finds
 * @capacity: a multiple of 256; there is memory for all of them from the start
 * @now: ns
 *
 * Return: false if there is no memory.
 */
bool inside_start(u32 capacity, u64 now);

/* What softirq does when its hrtimer fires: find what is due. */
void inside_turn(u64 now);

/* How many timers are armed, or have an event that nobody has been handed. */
u32 inside_armed(void);

#endif
