/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A binary heap, smallest first: parent i, children 2i + 1 and 2i + 2.  Each item knows its place,
 * so that it can be taken out of the middle.
 */
#ifndef TWHEEL_SIM_BINARY_H
#define TWHEEL_SIM_BINARY_H

#include "sim.h"

/**
 * struct binary_item - what is in a heap
 * @when: the smallest comes first
 * @order: of equal ones the smallest comes first
 * @place: where it is in the heap
 */
struct binary_item {
	uint64_t	when;
	uint64_t	order;
	uint32_t	place;
};

/**
 * struct binary - a heap
 * @item: the items, the first of which is the smallest
 * @nr: how many there are
 * @size: for how many there is room
 * @passed: items that had to make way, counted
 */
struct binary {
	struct binary_item	**item;
	uint32_t		nr;
	uint32_t		size;
	uint64_t		passed;
};

static inline bool binary_before(const struct binary_item *a, const struct binary_item *b)
{
	return a->when < b->when || (a->when == b->when && a->order < b->order);
}

static inline void binary_put(struct binary *heap, uint32_t place, struct binary_item *item)
{
	heap->item[place] = item;
	item->place = place;
}

/* An item may stand too far down: parents that come after it make way. */
static inline void binary_rise(struct binary *heap, struct binary_item *item)
{
	uint32_t place = item->place;

	while (place && binary_before(item, heap->item[(place - 1) / 2])) {
		binary_put(heap, place, heap->item[(place - 1) / 2]);
		place = (place - 1) / 2;
		heap->passed++;
	}
	binary_put(heap, place, item);
}

/* Or too far up: of its children the smaller one makes way. */
static inline void binary_sink(struct binary *heap, struct binary_item *item)
{
	uint32_t place = item->place, child;

	while ((child = 2 * place + 1) < heap->nr) {
		if (child + 1 < heap->nr &&
		    binary_before(heap->item[child + 1], heap->item[child]))
			child++;
		if (!binary_before(heap->item[child], item))
			break;
		binary_put(heap, place, heap->item[child]);
		place = child;
		heap->passed++;
	}
	binary_put(heap, place, item);
}

/* Make room for @size items.  Returns false if there is no memory. */
static inline bool binary_reserve(struct binary *heap, uint32_t size)
{
	struct binary_item **more;

	if (size <= heap->size)
		return true;
	more = sim_alloc(size * sizeof(struct binary_item *), 64);
	if (!more)
		return false;
	for (uint32_t i = 0; i < heap->nr; i++)
		more[i] = heap->item[i];
	sim_free(heap->item);
	heap->item = more;
	heap->size = size;
	return true;
}

/* Returns false if there is no room and no memory. */
static inline bool binary_add(struct binary *heap, struct binary_item *item)
{
	if (heap->nr == heap->size && !binary_reserve(heap, heap->size ? 2 * heap->size : 64))
		return false;
	item->place = heap->nr;
	heap->item[heap->nr++] = item;
	binary_rise(heap, item);
	return true;
}

static inline void binary_remove(struct binary *heap, struct binary_item *item)
{
	struct binary_item *last = heap->item[--heap->nr];
	uint32_t place = item->place;

	if (last == item)
		return;
	binary_put(heap, place, last);
	binary_rise(heap, last);
	binary_sink(heap, last);
}

/* NULL: it is empty. */
static inline struct binary_item *binary_first(const struct binary *heap)
{
	return heap->nr ? heap->item[0] : NULL;
}

#endif
