// SPDX-License-Identifier: GPL-2.0
/*
 * A heap in user space: no system call but to wait. The deadlines stand in the
 * array, which is as fast as a binary heap gets.
 */
#include <stdlib.h>

#include "bench.h"

struct entry {
	uint64_t	deadline;
	uint32_t	id;
};

static uint32_t *place;		/* of each timer */

#define HEAP_ITEM	struct entry
#define HEAP_DUE(entry)	((entry).deadline)
#define HEAP_PLACE(entry) (place[(entry).id])
#include "heap.h"

static struct heap heap;

static uint32_t heap_open(uint32_t nr, enum use use)
{
	(void)use;
	heap.item = calloc(nr + 1, sizeof(*heap.item));
	place = calloc(nr, sizeof(*place));
	if (!heap.item || !place)
		die("no memory for a heap");
	/* Touched now, not while it is measured. */
	for (uint32_t i = 0; i < nr; i++) {
		heap.item[i + 1].id = i;
		place[i] = i + 1;
	}
	heap.size = 0;
	return nr;
}

static void heap_close(void)
{
	free(heap.item);
	free(place);
}

static void heap_arm(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--)
		heap_add(&heap, (struct entry){ work->deadline, work->id });
}

static void heap_move(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--)
		heap_settle(&heap, place[work->id],
			    (struct entry){ work->deadline, work->id });
}

static void heap_cancel(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--)
		heap_take(&heap, place[work->id]);
}

static void heap_deliver(uint32_t nr)
{
	while (nr) {
		uint64_t now;

		sleep_until(heap.item[1].deadline);
		for (now = now_ns(); nr && heap.item[1].deadline <= now; nr--)
			heap_take(&heap, 1);
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
