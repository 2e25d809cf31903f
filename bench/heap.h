/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A heap, as an event loop has one. Each timer knows its place, so that it can be
 * moved and cancelled. Who includes this says first what it holds:
 *
 *	HEAP_ITEM		the type of what stands in the array
 *	HEAP_DUE(item)		when it is due
 *	HEAP_PLACE(item)	where its place is kept
 *	HEAP_WAYS		how many stand below each; 2, if that is not said
 */
#ifndef TWHEEL_BENCH_HEAP_H
#define TWHEEL_BENCH_HEAP_H

#ifndef HEAP_WAYS
#define HEAP_WAYS	2
#endif

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
	uint32_t above, child, first;

	while (at > 1) {
		above = (at - 2) / HEAP_WAYS + 1;
		if (HEAP_DUE(item) >= HEAP_DUE(of[above]))
			break;
		heap_put(heap, at, of[above]);
		at = above;
	}
	while ((first = HEAP_WAYS * (at - 1) + 2) <= heap->size) {
		child = first;
		for (uint32_t i = 1; i < HEAP_WAYS && first + i <= heap->size; i++)
			if (HEAP_DUE(of[first + i]) < HEAP_DUE(of[child]))
				child = first + i;
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
