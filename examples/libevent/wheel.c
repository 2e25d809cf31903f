// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>

#include <twheel.h>

#include "wheel.h"

/*
 * So many at the most before other events get their turn: the wheel's stays active while there
 * are more.
 */
#define TURN	64

struct wheel {
	struct twheel	*timers;
	struct event	*event;
	wheel_call	call;
	void		*arg;
};

static void is_due(evutil_socket_t fd, short what, void *arg)
{
	struct wheel *wheel = arg;
	struct twheel_event event;

	(void)fd;
	(void)what;
	/* One at a time: what a call deletes is not called. */
	for (int i = 0; i < TURN && twheel_next(wheel->timers, &event) == 1; i++)
		wheel->call(event.id, wheel->arg);
}

void wheel_free(struct wheel *wheel)
{
	if (wheel->event)
		event_free(wheel->event);
	twheel_close(wheel->timers);
	free(wheel);
}

int wheel_new(struct wheel **out, struct event_base *base, uint32_t capacity, wheel_call call,
	      void *arg)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.capacity = capacity,
	};
	struct wheel *wheel = calloc(1, sizeof(*wheel));
	int ret = wheel ? twheel_open(&wheel->timers, &options) : -ENOMEM;

	if (ret) {
		free(wheel);
		return ret;
	}
	wheel->call = call;
	wheel->arg = arg;
	wheel->event = event_new(base, twheel_fd(wheel->timers), EV_READ | EV_PERSIST, is_due,
				 wheel);
	if (!wheel->event || event_add(wheel->event, NULL)) {
		wheel_free(wheel);
		return -ENOMEM;
	}
	*out = wheel;
	return 0;
}

int wheel_add(struct wheel *wheel, uint32_t id, uint64_t ns)
{
	return twheel_arm(wheel->timers, id, twheel_now(wheel->timers) + ns);
}

int wheel_del(struct wheel *wheel, uint32_t id)
{
	return twheel_cancel(wheel->timers, id);
}
