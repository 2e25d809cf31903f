/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clocks that a wheel may have.
 */
#ifndef TWHEEL_CLOCKS_H
#define TWHEEL_CLOCKS_H

#include <linux/nsproxy.h>
#include <linux/time.h>
#include <linux/time64.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>

/**
 * enum twheel_clock - a clock that a wheel may have
 * @TWHEEL_MONOTONIC: CLOCK_MONOTONIC
 * @TWHEEL_BOOTTIME: CLOCK_BOOTTIME
 * @TWHEEL_REALTIME: CLOCK_REALTIME
 * @TWHEEL_TAI: CLOCK_TAI
 *
 * Each switch over it names all of them and has no default, so that the compiler
 * tells where a new one was forgotten.
 */
enum twheel_clock {
	TWHEEL_MONOTONIC,
	TWHEEL_BOOTTIME,
	TWHEEL_REALTIME,
	TWHEEL_TAI,
};

#define TWHEEL_CLOCKS	4

/* The ABI's names for them; the hrtimers' too. */
static const clockid_t clock_ids[TWHEEL_CLOCKS] = {
	[TWHEEL_MONOTONIC]	= CLOCK_MONOTONIC,
	[TWHEEL_BOOTTIME]	= CLOCK_BOOTTIME,
	[TWHEEL_REALTIME]	= CLOCK_REALTIME,
	[TWHEEL_TAI]		= CLOCK_TAI,
};

/* What a clock tells, by the host's time namespace. */
static inline u64 clock_now(enum twheel_clock clock)
{
	switch (clock) {
	case TWHEEL_BOOTTIME:
		return ktime_get_boottime_ns();
	case TWHEEL_REALTIME:
		return ktime_get_real_ns();
	case TWHEEL_TAI:
		return ktime_get_clocktai_ns();
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
	case TWHEEL_TAI:
		return ktime_mono_to_any(0, TK_OFFS_TAI);
	case TWHEEL_MONOTONIC:
		break;
	}
	return 0;
}

/* May somebody set the clock? */
static inline bool clock_settable(enum twheel_clock clock)
{
	switch (clock) {
	case TWHEEL_REALTIME:
	case TWHEEL_TAI:
		return true;
	case TWHEEL_MONOTONIC:
	case TWHEEL_BOOTTIME:
		break;
	}
	return false;
}

/*
 * What the clock of the caller's time namespace is ahead of the host's, in ns.
 * The helpers of <linux/time_namespace.h> turn times into the host's, and would clamp
 * an offset; here it is the offsets themselves that are wanted.
 */
static inline s64 timens_offset(clockid_t clock)
{
#ifdef CONFIG_TIME_NS
	const struct timens_offsets *offsets = &current->nsproxy->time_ns->offsets;

	return timespec64_to_ns(clock == CLOCK_BOOTTIME ? &offsets->boottime
							: &offsets->monotonic);
#else
	return 0;
#endif
}

#endif /* TWHEEL_CLOCKS_H */
