/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A binary heap, as an event loop has one. Each timer knows its place, so that
 * it can be moved and cancelled. Who includes this says first what it holds:
 *
 *	HEAP_ITEM		the type of what stands in the array
 *	HEAP_DUE(item)		when it is due
 *	HEAP_PLACE(item)	where its place is kept
 */
#ifndef TWHEEL_BENCH_HEAP_H
#define TWHEEL_BENCH_HEAP_H

/**
 * struct heap - items, each due no sooner than the one above it
 * @item: from 1 on
 * @size: how many
 */
struct heap {
	HEAP_ITEM	*item;
	uint32_t	size;
};

static inline void heap_put(struct heap *heap, uint32_t at, HEAP_ITEM item)
{
	heap->item[at] = item;
	HEAP_PLACE(item) = at;
}

/* Put an item where it belongs, starting from a free place. */
static inline void heap_settle(struct heap *heap, uint32_t at, HEAP_ITEM item)
{
	HEAP_ITEM *of = heap->item;
	uint32_t child;

	while (at > 1 && HEAP_DUE(item) < HEAP_DUE(of[at / 2])) {
		heap_put(heap, at, of[at / 2]);
		at /= 2;
	}
	while ((child = 2 * at) <= heap->size) {
		if (child < heap->size && HEAP_DUE(of[child + 1]) < HEAP_DUE(of[child]))
			child++;
		if (HEAP_DUE(item) <= HEAP_DUE(of[child]))
			break;
		heap_put(heap, at, of[child]);
		at = child;
	}
	heap_put(heap, at, item);
}

static inline void heap_add(struct heap *heap, HEAP_ITEM item)
{
	heap_settle(heap, ++heap->size, item);
}

static inline void heap_take(struct heap *heap, uint32_t at)
{
	HEAP_ITEM last = heap->item[heap->size--];

	if (at <= heap->size)
		heap_settle(heap, at, last);
}

#endif /* TWHEEL_BENCH_HEAP_H */
