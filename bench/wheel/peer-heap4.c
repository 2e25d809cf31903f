// SPDX-License-Identifier: GPL-2.0
/*
 * A heap of four ways, as a peer: the deadlines stand in the array, so that to find a place
 * looks at no timer. 16 bytes in the array, and the place and the record of each timer.
 */
#include "loops.h"

struct heap_item {
	u64	due;
	u32	id;
};

static u32 *place;
static struct record *records;

#define HEAP_ITEM		struct heap_item
#define HEAP_DUE(item)		((item).due)
#define HEAP_PLACE(item)	(place[(item).id])
#define HEAP_WAYS		4
#include "../heap.h"

static struct heap heap;

static bool open_heap(u32 nr, u64 now)
{
	(void)now;
	place = host_alloc((size_t)nr * sizeof(*place));
	records = host_alloc((size_t)nr * sizeof(*records));
	heap.item = host_alloc((nr + 1ULL) * sizeof(*heap.item));
	heap.size = 0;
	return place && records && heap.item;
}

static inline struct heap_item next_item(const struct batch *b, u32 i)
{
	const struct work *work = &b->work[i];

	if (b->ahead)
		prefetch(&place[work[b->ahead].id]);
	return (struct heap_item){ b->now + work->ticks, work->id };
}

static void arm(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++)
		heap_add(&heap, next_item(b, i));
}

/* Taken out and put in again. */
static void move(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct heap_item item = next_item(b, i);

		heap_take(&heap, place[item.id]);
		heap_add(&heap, item);
	}
}

static void push(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct heap_item item = next_item(b, i);

		heap_settle(&heap, place[item.id], item);
	}
}

static void cancel(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++)
		heap_take(&heap, place[next_item(b, i).id]);
}

static void record(const struct batch *b)
{
	for (u32 i = 0; i < b->nr; i++) {
		struct record *r = &records[b->work[i].id];

		r->cookie = cookie_of(b->work[i].id);
		r->deadline = b->now + b->work[i].ticks;
		r->generation++;
	}
}

static void expire(u64 from, u64 to, struct seen *seen)
{
	static struct told told[64];
	unsigned int n = 0;

	while (heap.size && heap.item[1].due <= to) {
		u32 id = heap.item[1].id;

		heap_take(&heap, 1);
		see(seen, &told[n++ % 64], &records[id], id, from, to);
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

const struct peer peer_heap4 = {
	.name	= "heap4",
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
