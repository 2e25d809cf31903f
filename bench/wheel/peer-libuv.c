// SPDX-License-Identifier: GPL-2.0
/* libuv, as a peer: a heap of nodes with pointers to each other. */
#include <uv.h>

#define LOOP_NAME	"libuv"
#define LOOP_PEER	peer_libuv
#define LOOP_TIMER	uv_timer_t
#include "event-loop.h"

static uv_loop_t loop;

static void expired(uv_timer_t *timer)
{
	loop_expired((struct loop_timer *)timer);
}

static bool loop_open(void)
{
	return !uv_loop_init(&loop);
}

static void loop_init(struct loop_timer *timer)
{
	uv_timer_init(&loop, &timer->timer);
}

static void loop_close(void)
{
	for (u32 id = 0; id < nr_timers; id++)
		uv_close((uv_handle_t *)&timers[id].timer, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
}

static void loop_now(void)
{
	uv_update_time(&loop);
}

static inline void loop_arm(struct loop_timer *timer, u32 ticks)
{
	uv_timer_start(&timer->timer, expired, ticks, 0);
}

static inline void loop_push(struct loop_timer *timer, u32 ticks)
{
	loop_arm(timer, ticks);
}

static inline void loop_cancel(struct loop_timer *timer)
{
	uv_timer_stop(&timer->timer);
}

static bool loop_armed(const struct loop_timer *timer)
{
	return uv_is_active((const uv_handle_t *)&timer->timer);
}

static void loop_run(void)
{
	uv_run(&loop, UV_RUN_NOWAIT);
}
