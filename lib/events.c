// SPDX-License-Identifier: LGPL-2.1-or-later
/* Take events, and wait for them. */
#include <errno.h>
#include <time.h>

#include "handle.h"

/* Events in one read, so that its bytes fit an int. */
#define READ_MAX	(1U << 20)

static int read_events(struct twheel *w, struct twheel_event *events, uint32_t nr)
{
	int ret;

	do
		ret = w->fallback ?
			twheel_fallback_read(w->fallback, events, nr * sizeof(*events)) :
			twheel_sys_read(w->fd, events, nr * sizeof(*events));
	while (ret == -EINTR);
	return ret < 0 ? ret : ret / (int)sizeof(*events);
}

PUBLIC int twheel_take(struct twheel *w, struct twheel_event *events, uint32_t nr)
{
	int ret, cancel;

	if (!nr)
		return 0;
	if (nr > READ_MAX)
		nr = READ_MAX;
	/* A thread that is cancelled on return from read() would lose the events. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = read_events(w, events, nr);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

PUBLIC int twheel_wait(struct twheel *w, struct twheel_event *events, uint32_t nr, int64_t timeout)
{
	uint64_t end = 0, now;
	int ret;

	if (!nr)
		return -EINVAL;
	if (timeout > 0) {
		now = twheel_sys_now(CLOCK_MONOTONIC);
		end = now + (uint64_t)timeout;
	}
	for (;;) {
		ret = twheel_flush(w);
		if (ret)
			return ret;
		ret = twheel_take(w, events, nr);
		if (ret || !timeout)
			return ret;
		ret = twheel_sys_poll(w->fd, timeout);
		if (ret < 0)
			return ret;
		if (timeout > 0) {
			now = twheel_sys_now(CLOCK_MONOTONIC);
			timeout = now < end ? (int64_t)(end - now) : 0;
		}
	}
}
