/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A load on timers, in slices of a millisecond: a daemon that does what the last
 * one brought, takes expirations, and sleeps until the next.
 */
#ifndef TWHEEL_BENCH_LOAD_H
#define TWHEEL_BENCH_LOAD_H

#include "bench.h"

#define SLICE		1000000ULL	/* ns */
#define WINDOWS		3

/**
 * struct slice - what a daemon has to do with its timers in a millisecond
 * @cancel: first; which
 * @arm: then, and until when
 * @extend: and these; armed, and to later
 * @nr_cancel: how many; likewise the others
 *
 * Room for TAKE_MAX of each.
 */
struct slice {
	struct work	*cancel;
	struct work	*arm;
	struct work	*extend;
	uint32_t	nr_cancel;
	uint32_t	nr_arm;
	uint32_t	nr_extend;
};

/**
 * struct load - what comes in
 * @ids: how many timers
 * @timeout: ns, of all of them
 * @warm: slices before anything is measured
 * @window: slices of which a figure is made
 * @fill: say what there is to do in the slice that begins @now
 * @expired: likewise for a timer that has expired; at most one arm
 */
struct load {
	uint32_t	ids;
	uint64_t	timeout;
	uint32_t	warm;
	uint32_t	window;
	void		(*fill)(struct slice *slice, uint64_t now);
	void		(*expired)(struct slice *slice, uint32_t id, uint64_t now);
};

/**
 * struct window - what was measured
 * @seconds: how long it was
 * @busy: seconds that processors were not idle; 0 natively, where time is simulated
 * @changes: seconds in calls of the peer that change timers
 * @takes: seconds in calls of the peer that take expirations
 * @ops: cancels, arms and extends
 * @calls: system calls made for them
 * @wakeups: for expirations
 * @looks: that the kernel had at timers
 * @expired: timers
 * @wrong: expirations that were early, or of a deadline that was no more
 * @p50: median lateness of these, ns
 * @p99: which 99 % did not exceed
 */
struct window {
	double		seconds;
	double		busy;
	double		changes;
	double		takes;
	uint64_t	ops;
	uint64_t	calls;
	uint64_t	wakeups;
	uint64_t	looks;
	uint64_t	expired;
	uint64_t	wrong;
	uint64_t	p50;
	uint64_t	p99;
};

/* The timers' deadlines as last armed, not as extended. */
extern uint64_t *load_due;

/*
 * Run a load on a peer that is not open. Returns false if the peer can't keep up:
 * it is then more than a second behind.
 */
bool load_run(const struct load *load, const struct peer *peer, struct window *windows);

#endif
