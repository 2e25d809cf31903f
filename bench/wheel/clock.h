/* SPDX-License-Identifier: GPL-2.0 */
/* The time of event loops: see clock.c. */
#ifndef TWHEEL_BENCH_CLOCK_H
#define TWHEEL_BENCH_CLOCK_H

#include <stdint.h>

/* ns: a tick of a loop, which count in ms */
#define LOOP_TICK	1000000ULL

extern uint64_t loop_clock;

#endif /* TWHEEL_BENCH_CLOCK_H */
