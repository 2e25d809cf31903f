// SPDX-License-Identifier: GPL-2.0
/* libev, as a peer: a heap of four ways, with the deadlines in it. */
#include <ev.h>

#define LOOP_NAME	"libev"
#define LOOP_PEER	peer_libev
#define LOOP_TIMER	ev_timer
#include "event-loop.h"

static struct ev_loop *loop;

static void expired(struct ev_loop *of, struct ev_timer *ev, int revents)
{
	struct loop_timer *timer = (struct loop_timer *)ev;

	(void)revents;
	/* One that was moved in place has a period. */
	if (ev->repeat > 0)
		ev_timer_stop(of, ev);
	loop_expired(timer);
}

static bool loop_open(void)
{
	loop = ev_loop_new(EVFLAG_AUTO);
	return loop;
}

static void loop_init(struct loop_timer *timer)
{
	ev_timer_init(&timer->timer, expired, 0, 0);
}

static void loop_close(void)
{
	ev_loop_destroy(loop);
}

static void loop_now(void)
{
	ev_now_update(loop);
}

static inline void loop_arm(struct loop_timer *timer, u32 ticks)
{
	ev_timer_set(&timer->timer, ticks / 1000.0, 0.);
	ev_timer_start(loop, &timer->timer);
}

static inline void loop_push(struct loop_timer *timer, u32 ticks)
{
	timer->timer.repeat = ticks / 1000.0;
	ev_timer_again(loop, &timer->timer);
}

static inline void loop_cancel(struct loop_timer *timer)
{
	ev_timer_stop(loop, &timer->timer);
}

static bool loop_armed(const struct loop_timer *timer)
{
	return ev_is_active(&timer->timer);
}

static void loop_run(void)
{
	ev_run(loop, EVRUN_NOWAIT);
}
