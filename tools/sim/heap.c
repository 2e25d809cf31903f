// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap by deadline, as in Java's ScheduledThreadPoolExecutor and in libuv; in Go's each
 * parent has four children.  It is exact; arming, extending and cancelling take up to log n steps.
 *
 * A thread waits as in Java's DelayQueue: the leader sleeps until the first timer is due.  A timer
 * that becomes the first wakes the leader, which then sleeps until that timer is due.  A cancel
 * does not wake it, so it wakes up at the cancelled deadline, finds nothing, and sleeps again.
 */
#include "binary.h"
#include "system.h"

static enum sim_result heap_create(struct sim *s)
{
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

/* An item that made way counts as passed. */
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
	const struct binary_item *item = sim_part(timer);

	(void)s;
	where->place = SIM_IN_ORDER;
	where->position = item->place;
}

static uint64_t heap_memory(const struct sim *s)
{
	const struct binary *heap = s->state;

	return heap->size * sizeof(struct binary_item *);
}

static const char *heap_note(const struct sim *s)
{
	(void)s;
	return "heap has a thread that sleeps until the first timer is due, like Java's "
	       "DelayQueue: an earlier timer wakes it, and a cancelled timer wakes it for nothing";
}

const struct sim_system sim_heap = {
	.name = "heap", .about = "a binary heap: Java, libuv, and nearly so Go",
	.tick = 1, .timer_size = sizeof(struct binary_item), .sleeps = true,
	.create = heap_create, .destroy = heap_destroy, .arm = heap_arm, .move = heap_move,
	.cancel = heap_cancel, .next = heap_next, .wake = heap_wake, .where = heap_where,
	.memory = heap_memory, .note = heap_note,
};
