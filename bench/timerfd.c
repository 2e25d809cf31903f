// SPDX-License-Identifier: GPL-2.0
/* timerfd: a file for each timer, watched by epoll. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench.h"

/* Expired timers that one epoll_wait() may tell. */
#define EVENTS_MAX	65536

static int *fds, epoll = -1;
static uint32_t nr_fds;
static struct epoll_event *events;

/* As many files as the system lets one process have. */
static void raise_limits(uint32_t nr)
{
	char most[32];
	struct rlimit files = { nr + 64, nr + 64 };

	snprintf(most, sizeof(most), "%u", nr + 64);
	if (figure("/proc/sys/fs/nr_open", "") < nr + 64)
		set_figure("/proc/sys/fs/nr_open", most);
	if (figure("/proc/sys/fs/epoll/max_user_watches", "") < nr + 64)
		set_figure("/proc/sys/fs/epoll/max_user_watches", most);
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE %u: %m", nr + 64);
}

static uint32_t timerfd_open(uint32_t nr, enum use use)
{
	raise_limits(nr);
	fds = calloc(nr, sizeof(*fds));
	if (use == USE_DELIVERY) {
		epoll = epoll_create1(EPOLL_CLOEXEC);
		events = calloc(EVENTS_MAX, sizeof(*events));
	}
	if (!fds || (use == USE_DELIVERY && (epoll < 0 || !events)))
		die("timerfd: %m");
	for (nr_fds = 0; nr_fds < nr; nr_fds++) {
		int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

		if (fd < 0)
			break;
		fds[nr_fds] = fd;
		if (use == USE_DELIVERY && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) {
			close(fd);
			break;
		}
	}
	return nr_fds;
}

static void timerfd_close(void)
{
	for (uint32_t i = 0; i < nr_fds; i++)
		close(fds[i]);
	free(fds);
	free(events);
	events = NULL;
	if (epoll >= 0)
		close(epoll);
	epoll = -1;
}

static void timerfd_arm(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--) {
		struct itimerspec when = {
			.it_value.tv_sec = work->deadline / NSEC,
			.it_value.tv_nsec = work->deadline % NSEC,
		};

		if (timerfd_settime(fds[work->id], TFD_TIMER_ABSTIME, &when, NULL))
			die("timerfd_settime: %m");
	}
}

static void timerfd_cancel(const struct work *work, uint32_t nr)
{
	const struct itimerspec never = {};

	for (; nr; work++, nr--)
		if (timerfd_settime(fds[work->id], 0, &never, NULL))
			die("timerfd_settime: %m");
}

static void timerfd_deliver(uint32_t nr)
{
	while (nr) {
		int ready = epoll_wait(epoll, events, EVENTS_MAX, -1);

		if (ready < 0 && errno != EINTR)
			die("epoll_wait: %m");
		for (int i = 0; i < ready; i++) {
			uint64_t expirations;

			if (read(events[i].data.fd, &expirations, 8) != 8)
				die("read of a timerfd: %m");
			nr -= expirations;
		}
	}
}

const struct peer peer_timerfd = {
	.name		= "timerfd",
	.open		= timerfd_open,
	.arm		= timerfd_arm,
	.move		= timerfd_arm,
	.cancel		= timerfd_cancel,
	.deliver	= timerfd_deliver,
	.close		= timerfd_close,
};
