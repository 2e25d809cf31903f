// SPDX-License-Identifier: GPL-2.0
/* timerfd: a file for each timer, watched by epoll. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench.h"

static _Thread_local int *fds, epoll = -1;
static _Thread_local uint32_t nr_fds;
static struct epoll_event *events;

/* More files than any part opens, in all its threads. */
#define FILES_MAX	"1048576"

static void raise_limits(void)
{
	rlim_t most = strtoul(FILES_MAX, NULL, 10);

	set_figure("/proc/sys/fs/nr_open", FILES_MAX);
	set_figure("/proc/sys/fs/epoll/max_user_watches", FILES_MAX);
	if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){ most, most }))
		die("RLIMIT_NOFILE " FILES_MAX ": %m");
}

static uint32_t timerfd_open(uint32_t nr, enum use use)
{
	raise_limits();
	fds = calloc(nr, sizeof(*fds));
	if (use == USE_DELIVERY) {
		epoll = epoll_create1(EPOLL_CLOEXEC);
		events = calloc(TAKE_MAX, sizeof(*events));
	}
	if (!fds || (use == USE_DELIVERY && (epoll < 0 || !events)))
		die("timerfd: %m");
	for (nr_fds = 0; nr_fds < nr; nr_fds++) {
		int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
		struct epoll_event event = { .events = EPOLLIN, .data.u32 = nr_fds };

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

static int timerfd_ready(void)
{
	return epoll;
}

static uint32_t timerfd_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	int ready = epoll_wait(epoll, events, nr < TAKE_MAX ? nr : TAKE_MAX, 0);

	(void)now;
	if (ready < 0 && errno != EINTR)
		die("epoll_wait: %m");
	for (int i = 0; i < ready; i++) {
		uint64_t expirations;

		ids[i] = events[i].data.u32;
		if (read(fds[ids[i]], &expirations, 8) != 8)
			die("read of a timerfd: %m");
	}
	return ready < 0 ? 0 : ready;
}

const struct peer peer_timerfd = {
	.name		= "timerfd",
	.open		= timerfd_open,
	.arm		= timerfd_arm,
	.move		= timerfd_arm,
	.cancel		= timerfd_cancel,
	.ready		= timerfd_ready,
	.take		= timerfd_take,
	.close		= timerfd_close,
	.bytes		= sizeof(*fds),
};
