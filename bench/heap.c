// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap in user space, as an event loop has one: no system call but
 * to wait. Each timer knows its place, so that it can be moved and cancelled.
 */
#include <stdlib.h>

#include "bench.h"

struct entry {
	uint64_t	deadline;
	uint32_t	id;
};

static struct entry *heap;	/* from 1 on */
static uint32_t *place;		/* of each timer */
static uint32_t size;

static uint32_t heap_open(uint32_t nr, enum use use)
{
	(void)use;
	heap = calloc(nr + 1, sizeof(*heap));
	place = calloc(nr, sizeof(*place));
	if (!heap || !place)
		die("no memory for a heap");
	/* Touched now, not while it is measured. */
	for (uint32_t i = 0; i < nr; i++) {
		heap[i + 1].id = i;
		place[i] = i + 1;
	}
	size = 0;
	return nr;
}

static void heap_close(void)
{
	free(heap);
	free(place);
}

static void put(uint32_t at, struct entry entry)
{
	heap[at] = entry;
	place[entry.id] = at;
}

/* Put an entry where it belongs, starting from a free place. */
static void settle(uint32_t at, struct entry entry)
{
	uint32_t child;

	while (at > 1 && entry.deadline < heap[at / 2].deadline) {
		put(at, heap[at / 2]);
		at /= 2;
	}
	while ((child = 2 * at) <= size) {
		if (child < size && heap[child + 1].deadline < heap[child].deadline)
			child++;
		if (entry.deadline <= heap[child].deadline)
			break;
		put(at, heap[child]);
		at = child;
	}
	put(at, entry);
}

static void take(uint32_t at)
{
	struct entry last = heap[size--];

	if (at <= size)
		settle(at, last);
}

static void heap_arm(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--) {
		size++;
		settle(size, (struct entry){ work->deadline, work->id });
	}
}

static void heap_move(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--)
		settle(place[work->id], (struct entry){ work->deadline, work->id });
}

static void heap_cancel(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--)
		take(place[work->id]);
}

static void heap_deliver(uint32_t nr)
{
	while (nr) {
		uint64_t now;

		sleep_until(heap[1].deadline);
		for (now = now_ns(); nr && heap[1].deadline <= now; nr--)
			take(1);
	}
}

const struct peer peer_heap = {
	.name		= "heap (user space)",
	.open		= heap_open,
	.arm		= heap_arm,
	.move		= heap_move,
	.cancel		= heap_cancel,
	.deliver	= heap_deliver,
	.close		= heap_close,
};
