// SPDX-License-Identifier: GPL-2.0
/*
 * A heap in user space, and one timerfd: no system call but to wait. The deadlines stand in the
 * array, which is as fast as a binary heap gets.
 */
#include <stdlib.h>
#include <unistd.h>

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
static int alarm_fd = -1;
static uint64_t alarm_at;

static uint32_t heap_open(uint32_t nr, enum use use)
{
	if (use == USE_DELIVERY)
		alarm_fd = alarm_open();
	alarm_at = 0;
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
	if (alarm_fd >= 0)
		close(alarm_fd);
	alarm_fd = -1;
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

static int heap_ready(void)
{
	uint64_t next = heap.size ? heap.item[1].deadline : 0;

	if (next != alarm_at)
		alarm_set(alarm_fd, next);
	alarm_at = next;
	return alarm_fd;
}

static uint32_t heap_expired(uint32_t *ids, uint32_t nr, uint64_t now)
{
	uint32_t n;

	for (n = 0; n < nr && heap.size && heap.item[1].deadline <= now; n++) {
		ids[n] = heap.item[1].id;
		heap_take(&heap, 1);
	}
	return n;
}

const struct peer peer_heap = {
	.name		= "heap",
	.open		= heap_open,
	.arm		= heap_arm,
	.move		= heap_move,
	.cancel		= heap_cancel,
	.ready		= heap_ready,
	.take		= heap_expired,
	.close		= heap_close,
	.bytes		= sizeof(struct entry) + sizeof(*place),
};
