// SPDX-License-Identifier: GPL-2.0
/*
 * libevent, as a peer: a heap of pointers; with COMMON_TIMEOUT a list, for timers that are all
 * of one length.
 */
#include <event2/event.h>
#include <event2/event_struct.h>

#ifdef COMMON_TIMEOUT
#define LOOP_NAME	"libevent common"
#define LOOP_PEER	peer_libevent_common
#else
#define LOOP_NAME	"libevent"
#define LOOP_PEER	peer_libevent
#endif
#define LOOP_TIMER	struct event
#include "event-loop.h"

static struct event_base *loop;
/* The length of all timers; NULL: each has its own. */
static const struct timeval *common;

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
#ifdef COMMON_TIMEOUT
	if (loop)
		common = event_base_init_common_timeout(loop, &(struct timeval){
			DAEMON_TIMEOUT / 1000, DAEMON_TIMEOUT % 1000 * 1000,
		});
#endif
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

	evtimer_add(&timer->timer, common ? common : &tv);
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
