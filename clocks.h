/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clocks that a wheel may have.
 */
#ifndef TWHEEL_CLOCKS_H
#define TWHEEL_CLOCKS_H

#include <linux/time.h>
#include <linux/timekeeping.h>

/**
 * enum twheel_clock - a clock that a wheel may have
 * @TWHEEL_MONOTONIC: CLOCK_MONOTONIC
 * @TWHEEL_BOOTTIME: CLOCK_BOOTTIME
 * @TWHEEL_REALTIME: CLOCK_REALTIME
 *
 * Each switch over it names all of them and has no default, so that the compiler
 * tells where a new one was forgotten.
 */
enum twheel_clock {
	TWHEEL_MONOTONIC,
	TWHEEL_BOOTTIME,
	TWHEEL_REALTIME,
};

#define TWHEEL_CLOCKS	3

/* The ABI's names for them; the hrtimers' too. */
static const clockid_t clock_ids[TWHEEL_CLOCKS] = {
	[TWHEEL_MONOTONIC]	= CLOCK_MONOTONIC,
	[TWHEEL_BOOTTIME]	= CLOCK_BOOTTIME,
	[TWHEEL_REALTIME]	= CLOCK_REALTIME,
};

/* What a clock tells, by the host's time namespace. */
static inline u64 clock_now(enum twheel_clock clock)
{
	switch (clock) {
	case TWHEEL_BOOTTIME:
		return ktime_get_boottime_ns();
	case TWHEEL_REALTIME:
		return ktime_get_real_ns();
	case TWHEEL_MONOTONIC:
		break;
	}
	return ktime_get_ns();
}

/*
 * What a clock is ahead of CLOCK_MONOTONIC, in ns; changes when it is set, and in
 * suspend.
 */
static inline s64 clock_ahead(enum twheel_clock clock)
{
	switch (clock) {
	case TWHEEL_BOOTTIME:
		return ktime_mono_to_any(0, TK_OFFS_BOOT);
	case TWHEEL_REALTIME:
		return ktime_mono_to_any(0, TK_OFFS_REAL);
	case TWHEEL_MONOTONIC:
		break;
	}
	return 0;
}

/* May the clock be set? */
static inline bool clock_settable(enum twheel_clock clock)
{
	return clock == TWHEEL_REALTIME;
}

#endif /* TWHEEL_CLOCKS_H */
