/* SPDX-License-Identifier: GPL-2.0 */
/* A signal to the process in each period. */
#ifndef TWHEEL_SIGNALS_H
#define TWHEEL_SIGNALS_H

#include "twheel_test.h"

/* Signals after which a test gives up: a call that has not ended will not. */
#define SIGNALS_MAX	20000

static timer_t signal_timer;
static unsigned int signals_seen;

static void on_signal(int sig)
{
	if (++signals_seen == SIGNALS_MAX)
		timer_settime(signal_timer, 0, &(struct itimerspec){}, NULL);
}

/* @flags: SA_RESTART, or 0. */
static inline int signals_begin(__u64 period, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec often = {
		.it_interval.tv_nsec = period,
		.it_value.tv_nsec = period,
	};

	signals_seen = 0;
	if (sigaction(SIGUSR1, &sa, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, &signal_timer) ||
	    timer_settime(signal_timer, 0, &often, NULL))
		return -errno;
	return 0;
}

#endif /* TWHEEL_SIGNALS_H */
