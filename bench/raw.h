/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every benchmark needs, that of the device and that of the wheel alone:
 * raw data, progress, a clock.
 */
#ifndef TWHEEL_BENCH_RAW_H
#define TWHEEL_BENCH_RAW_H

#include <stdbool.h>
#include <stdint.h>

/* Where this runs, as the raw data names it. */
extern const char *this_bed;

/* samples.c: one line of the raw data, for a report; bed_fact() is of this bed */
void samples_open(const char *path);
void sample(const char *part, const char *name, const char *peer, uint32_t nr,
	    const char *unit, double value);
void fact(const char *key, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void bed_fact(const char *key, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* cpu.c */
uint64_t now_ns(void);
void pin(bool on);

#endif /* TWHEEL_BENCH_RAW_H */
