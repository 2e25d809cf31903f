// SPDX-License-Identifier: GPL-2.0
/*
 * libtwheel where there is no device, as a peer: the wheel is in the process, most changes are
 * stores, and the others are collected until the program would sleep.  As with an event loop, one
 * thread has it to itself.
 */
#include <sys/epoll.h>
#include <unistd.h>

#include "../../lib/twheel.h"

#include "inside.h"
#include "loops.h"

#define TICK_SHIFT	20

static struct twheel *wheel;
/* Where the program sleeps, as the event loops do. */
static int epoll;
/* What the program knows of a timer; with the others it is a part of the timer. */
static struct record *records;

static bool open_fallback(u32 nr, u64 now)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_BATCH | TWHEEL_OPEN_ONE_THREAD,
		.tick = 1ULL << TICK_SHIFT,
		.capacity = nr,
	};

	struct epoll_event readable = { .events = EPOLLIN };

	inside_clock(now << TICK_SHIFT);
	records = host_alloc((size_t)nr * sizeof(*records));
	if (!records || twheel_open(&wheel, &options))
		return false;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	return !epoll_ctl(epoll, EPOLL_CTL_ADD, twheel_fd(wheel), &readable);
}

static void close_fallback(void)
{
	close(epoll);
	twheel_close(wheel);
}

static inline u64 deadline_of(const struct batch *b, const struct work *work)
{
	return (b->now + work->ticks) << TICK_SHIFT;
}

static void arm(const struct batch *b)
{
	inside_clock(b->now << TICK_SHIFT);
	for (const struct work *work = b->work; work < b->work + b->nr; work++)
		twheel_arm(wheel, work->id, deadline_of(b, work));
	twheel_flush(wheel);
}

static void push(const struct batch *b)
{
	inside_clock(b->now << TICK_SHIFT);
	for (const struct work *work = b->work; work < b->work + b->nr; work++)
		twheel_extend(wheel, work->id, deadline_of(b, work));
	twheel_flush(wheel);
}

static void cancel(const struct batch *b)
{
	for (const struct work *work = b->work; work < b->work + b->nr; work++)
		twheel_cancel(wheel, work->id);
}

static void record(const struct batch *b)
{
	for (const struct work *work = b->work; work < b->work + b->nr; work++) {
		struct record *r = &records[work->id];

		r->cookie = cookie_of(work->id);
		r->deadline = b->now + work->ticks;
		r->generation++;
	}
}

static void expire(u64 from, u64 to, struct seen *seen)
{
	static struct twheel_event events[256];
	static struct told told[256];
	struct epoll_event readable;
	int nr;

	inside_clock(to << TICK_SHIFT);
	/* Of the real time the timerfd does not know that it has come. */
	epoll_wait(epoll, &readable, 1, 0);
	while ((nr = twheel_take(wheel, events, ARRAY_SIZE(events))) > 0)
		for (int i = 0; i < nr; i++)
			see(seen, &told[i], &records[events[i].id], events[i].id, from, to);
}

static u32 armed(void)
{
	static struct twheel_timer timers[256];
	u32 cursor = 0, all = 0;
	int nr;

	while ((nr = twheel_list_armed(wheel, &cursor, timers, ARRAY_SIZE(timers))) > 0)
		all += nr;
	return all;
}

const struct peer peer_fallback = {
	.name	= "fallback",
	.open	= open_fallback,
	.arm	= arm,
	.move	= arm,
	.push	= push,
	.cancel	= cancel,
	.record	= record,
	.expire	= expire,
	.armed	= armed,
	.close	= close_fallback,
};
