// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap by deadline, as libuv has it, and, with differences, Java's
 * ScheduledThreadPoolExecutor and Go.  Exact, and woken for nothing but expiry; to arm, extend and
 * cancel costs up to log n steps.
 *
 * What differs: libuv's heap is this one, but its clock is not.  It has timeouts of whole ms, and
 * counts them from the time that its loop has read last, cut off to ms.  That is before now by up
 * to 1 ms, and by as long as the callbacks of this turn of the loop have run, and by so much a
 * timer may come too early.
 *
 * Java leaves a task that was cancelled in the heap until it is due, and wakes a thread for it
 * then, unless its removeOnCancelPolicy is set.
 *
 * Go's heap has four children to a parent.  Since Go 1.23 a timer that is stopped or moved, to
 * later or to earlier, is only marked, and the soonest time that one was moved to is kept.  When
 * that has come the whole heap is gone through, O(n), and all that are marked are put in their
 * places, or taken out.  So it is if more than a quarter were stopped.  Else a timer that is marked
 * is seen to when it comes to the front, and one that was stopped also where it is the last of the
 * heap.  Here each is done at once.
 */
#include "binary.h"
#include "system.h"

static enum sim_result heap_create(struct sim *s)
{
	/* It has none, whatever was asked for. */
	s->shape.tick = 1;
	s->state = sim_alloc(sizeof(struct binary), 64);
	return s->state ? SIM_OK : SIM_NO_MEMORY;
}

static void heap_destroy(struct sim *s)
{
	struct binary *heap = s->state;

	if (heap)
		sim_free(heap->item);
	sim_free(heap);
}

/* Who made way counts as passed. */
static void count(struct sim *s)
{
	struct binary *heap = s->state;

	s->counters.passed += heap->passed;
	heap->passed = 0;
}

static enum sim_result heap_arm(struct sim *s, struct sim_timer *timer)
{
	struct binary_item *item = sim_part(timer);

	item->when = timer->deadline;
	item->order = timer->order;
	if (!binary_add(s->state, item))
		return SIM_NO_MEMORY;
	count(s);
	return SIM_OK;
}

static enum sim_result heap_move(struct sim *s, struct sim_timer *timer)
{
	struct binary_item *item = sim_part(timer);

	item->when = timer->deadline;
	item->order = timer->order;
	binary_rise(s->state, item);
	binary_sink(s->state, item);
	s->counters.refiled++;
	count(s);
	return SIM_OK;
}

static void heap_cancel(struct sim *s, struct sim_timer *timer)
{
	binary_remove(s->state, sim_part(timer));
	count(s);
}

static uint64_t heap_next(struct sim *s)
{
	struct binary_item *first = binary_first(s->state);

	return first ? first->when : SIM_NEVER;
}

static void heap_wake(struct sim *s)
{
	struct binary_item *first;

	while ((first = binary_first(s->state)) && first->when <= s->now) {
		binary_remove(s->state, first);
		count(s);
		sim_expire(s, sim_timer_of(first), 0);
	}
}

static void heap_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	(void)s;
	(void)timer;
	where->place = SIM_IN_ORDER;
}

static uint32_t heap_position(struct sim *s, struct sim_timer *timer)
{
	const struct binary_item *item = sim_part(timer);

	(void)s;
	return item->place;
}

static uint64_t heap_memory(const struct sim *s)
{
	const struct binary *heap = s->state;

	return heap->size * sizeof(struct binary_item *);
}

const struct sim_system sim_heap = {
	.name = "heap", .about = "a binary heap: libuv, and nearly so Java and Go",
	.tick = 1, .timer_size = sizeof(struct binary_item),
	.create = heap_create, .destroy = heap_destroy, .arm = heap_arm, .move = heap_move,
	.cancel = heap_cancel, .next = heap_next, .wake = heap_wake, .where = heap_where,
	.position = heap_position, .memory = heap_memory,
};
