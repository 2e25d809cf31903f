// SPDX-License-Identifier: GPL-2.0
/* libevent, as a peer: a heap of pointers. */
#include <event2/event.h>
#include <event2/event_struct.h>

#define LOOP_NAME	"libevent"
#define LOOP_PEER	peer_libevent
#define LOOP_TIMER	struct event
#include "event-loop.h"

static struct event_base *loop;

static void expired(evutil_socket_t fd, short what, void *timer)
{
	(void)fd;
	(void)what;
	loop_expired(timer);
}

static bool loop_open(void)
{
	struct event_config *config = event_config_new();

	if (!config || event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK))
		return false;
	loop = event_base_new_with_config(config);
	event_config_free(config);
	return loop;
}

static void loop_init(struct loop_timer *timer)
{
	evtimer_assign(&timer->timer, loop, expired, timer);
}

static void loop_close(void)
{
	event_base_free(loop);
}

/* It asks for the time at each arm. */
static void loop_now(void)
{
}

static inline void loop_arm(struct loop_timer *timer, u32 ticks)
{
	struct timeval tv = { ticks / 1000, ticks % 1000 * 1000 };

	evtimer_add(&timer->timer, &tv);
}

static inline void loop_push(struct loop_timer *timer, u32 ticks)
{
	loop_arm(timer, ticks);
}

static inline void loop_cancel(struct loop_timer *timer)
{
	evtimer_del(&timer->timer);
}

static bool loop_armed(const struct loop_timer *timer)
{
	return evtimer_pending(&timer->timer, NULL);
}

static void loop_run(void)
{
	event_base_loop(loop, EVLOOP_NONBLOCK);
}
