// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap, as a peer: an array of pointers to the program's own timers,
 * as most event loops have it. 72 bytes a timer, and 8 in the array.
 */
#include "loops.h"

struct heap_timer {
	u64		deadline;
	u64		place;
	u64		unused[2];	/* callback and its argument */
	struct record	record;
	u64		id;
};

#define HEAP_ITEM		struct heap_timer *
#define HEAP_DUE(timer)		((timer)->deadline)
#define HEAP_PLACE(timer)	((timer)->place)
#include "../heap.h"

static struct heap heap;
static struct heap_timer *timers;

static bool open_heap(u32 nr, u64 now)
{
	(void)now;
	static_assert(sizeof(struct heap_timer) == 72);
	timers = host_alloc((size_t)nr * sizeof(*timers));
	heap.item = host_alloc((nr + 1ULL) * sizeof(*heap.item));
	heap.size = 0;
	for (u32 id = 0; timers && id < nr; id++)
		timers[id].id = id;
	return timers && heap.item;
}

static inline struct heap_timer *next_timer(const struct batch *b, u32 i)
{
	if (b->ahead)
		prefetch(&timers[b->work[i + b->ahead].id]);
	return &timers[b->work[i].id];
}

static void arm(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct heap_timer *timer = next_timer(b, i);

		timer->deadline = b->now + b->work[i].ticks;
		heap_add(&heap, timer);
	}
}

/* Taken out and put in again. */
static void move(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct heap_timer *timer = next_timer(b, i);

		heap_take(&heap, timer->place);
		timer->deadline = b->now + b->work[i].ticks;
		heap_add(&heap, timer);
	}
}

static void push(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct heap_timer *timer = next_timer(b, i);

		timer->deadline = b->now + b->work[i].ticks;
		heap_settle(&heap, timer->place, timer);
	}
}

static void cancel(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++)
		heap_take(&heap, next_timer(b, i)->place);
}

static void record(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct record *r = &timers[b->work[i].id].record;

		r->cookie = cookie_of(b->work[i].id);
		r->deadline = b->now + b->work[i].ticks;
		r->generation++;
	}
}

static void expire(u64 from, u64 to, struct seen *seen)
{
	static struct told events[64];
	unsigned int n = 0;

	while (heap.size && heap.item[1]->deadline <= to) {
		struct heap_timer *timer = heap.item[1];

		heap_take(&heap, 1);
		see(seen, &events[n++ % 64], &timer->record, timer->id, from, to);
		barrier();
	}
}

static u32 armed(void)
{
	return heap.size;
}

static void close_heap(void)
{
}

const struct peer peer_heap = {
	.name	= "heap",
	.open	= open_heap,
	.arm	= arm,
	.move	= move,
	.push	= push,
	.cancel	= cancel,
	.record	= record,
	.expire	= expire,
	.armed	= armed,
	.close	= close_heap,
};
