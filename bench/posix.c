// SPDX-License-Identifier: GPL-2.0
/* POSIX timers: a signal for each expiration, read from a signalfd. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static timer_t *timers;
static uint32_t nr_timers;
static int signals = -1;
static struct signalfd_siginfo *infos;

static uint32_t posix_open(uint32_t nr, enum use use)
{
	/* SIGEV_NONE would be cheaper, but such a timer is never armed. */
	struct sigevent notify = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGRTMIN,
	};
	struct rlimit pending = { nr + 64, nr + 64 };
	sigset_t set;

	if (setrlimit(RLIMIT_SIGPENDING, &pending))
		die("RLIMIT_SIGPENDING %u: %m", nr + 64);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	timers = calloc(nr, sizeof(*timers));
	if (use == USE_DELIVERY) {
		signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
		infos = calloc(TAKE_MAX, sizeof(*infos));
	}
	if (!timers || (use == USE_DELIVERY && (signals < 0 || !infos)))
		die("POSIX timers: %m");
	for (nr_timers = 0; nr_timers < nr; nr_timers++) {
		notify.sigev_value.sival_int = nr_timers;
		if (timer_create(CLOCK_MONOTONIC, &notify, &timers[nr_timers]))
			break;
	}
	return nr_timers;
}

static void posix_close(void)
{
	for (uint32_t i = 0; i < nr_timers; i++)
		timer_delete(timers[i]);
	free(timers);
	free(infos);
	infos = NULL;
	if (signals >= 0)
		close(signals);
	signals = -1;
}

static void posix_arm(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--) {
		struct itimerspec when = {
			.it_value.tv_sec = work->deadline / NSEC,
			.it_value.tv_nsec = work->deadline % NSEC,
		};

		if (timer_settime(timers[work->id], TIMER_ABSTIME, &when, NULL))
			die("timer_settime: %m");
	}
}

static void posix_cancel(const struct work *work, uint32_t nr)
{
	const struct itimerspec never = {};

	for (; nr; work++, nr--)
		if (timer_settime(timers[work->id], 0, &never, NULL))
			die("timer_settime: %m");
}

static int posix_ready(void)
{
	return signals;
}

static uint32_t posix_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	ssize_t len = read(signals, infos, (nr < TAKE_MAX ? nr : TAKE_MAX) * sizeof(*infos));

	(void)now;
	if (len < 0 && errno != EAGAIN)
		die("read of a signalfd: %m");
	nr = len < 0 ? 0 : len / sizeof(*infos);
	for (uint32_t i = 0; i < nr; i++)
		ids[i] = infos[i].ssi_int;
	return nr;
}

const struct peer peer_posix = {
	.name		= "POSIX timer",
	.most		= 100000,
	.sample		= 20000,
	.open		= posix_open,
	.arm		= posix_arm,
	.move		= posix_arm,
	.cancel		= posix_cancel,
	.ready		= posix_ready,
	.take		= posix_take,
	.close		= posix_close,
	.bytes		= sizeof(*timers),
};
