// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The kernel's side of the event ring: events that are delivered in shared memory.
 *
 * The kernel never reads back what it wrote there.  Of what the consumer writes it reads
 * the head alone, to see how much room there is.
 */
#ifdef __KERNEL__
#include <linux/sched/signal.h>
#endif

#include "ring.h"

static_assert(sizeof(struct twheel_entry) * ENTRIES_PER_PAGE == PAGE_SIZE);
static_assert(sizeof(struct twheel_entry) * ENTRIES_OF_HEADER == TWHEEL_RING_HEADER);
static_assert(TWHEEL_RING_HEADER <= PAGE_SIZE);

/**
 * ring_alloc() - make an empty ring
 * @ring: all zeroes
 * @entries: a power of two, at least RING_MIN
 *
 * Return: 0, -ENOMEM, or -EINTR after a signal that kills.  Sleeps.
 */
TWHEEL_PART int ring_alloc(struct ring *ring, u32 entries)
{
	int ret = -ENOMEM;

	ring->entries = entries;
	ring->page = wheel_array_alloc(ring_pages(ring) * sizeof(*ring->page));
	if (!ring->page)
		goto fail;
	for (u32 i = 0; i < ring_pages(ring); i++) {
		ring->page[i] = (struct twheel_entry *)words_alloc();
		if (!ring->page[i])
			goto fail;
		cond_resched();
		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			goto fail;
		}
	}
	ring->header = (struct twheel_ring *)ring->page[0];
	ring->header->entries = entries;
	return 0;

fail:
	ring_free(ring);
	return ret;
}

/* Free a ring, or none; leaves it all zeroes.  Sleeps. */
TWHEEL_PART void ring_free(struct ring *ring)
{
	for (u32 i = 0; ring->page && i < ring_pages(ring); i++) {
		words_free(ring->page[i]);
		cond_resched();
	}
	kvfree(ring->page);
	*ring = (struct ring){};
}

/* Bytes that the ring takes. */
TWHEEL_PART size_t ring_memory(const struct ring *ring)
{
	return ring->header ? ring_pages(ring) * (PAGE_SIZE + sizeof(*ring->page)) : 0;
}

/*
 * How many entries can be written.  None if the consumer's head makes no sense: it has
 * to mend that itself, and harms nobody else.
 */
static u32 ring_room(struct ring *ring)
{
	u32 used;

	/* Pairs with the consumer's release: it has read what is overwritten now. */
	ring->head = smp_load_acquire(&ring->header->head);
	used = ring->tail - ring->head;
	return used < ring->entries ? ring->entries - used : 0;
}

/**
 * ring_has_entries() - had the consumer left entries in the ring?
 * @ring: the ring, after ring_post()
 *
 * Return: true or false.
 */
TWHEEL_PART bool ring_has_entries(const struct ring *ring)
{
	return ring->head != ring->tail;
}

/**
 * ring_has_room() - had the consumer left room in the ring?
 * @ring: the ring, after ring_post()
 *
 * Return: true or false.
 */
TWHEEL_PART bool ring_has_room(const struct ring *ring)
{
	return ring->tail - ring->head < ring->entries;
}

/*
 * Write the event of a timer into the ring, as entry @number.  A stale one is not written,
 * and its timer goes on by what is wanted now; returns whether it was written.
 */
static bool ring_write(struct ring *ring, struct timers *ts, u32 id, u32 number, u64 now)
{
	struct timer *t = timer_of(ts, id);
	u64 overruns, fired = wheel_node(&ts->wheel, id)->expiry;
	bool last;

	if (!event_counts(ts, id)) {
		event_drop(ts, id);
		return false;
	}
	overruns = overruns_of(t, t->deadline, now);
	last = !t->interval || (t->count && overruns + 1 >= t->count);
	*ring_entry(ring, number) = (struct twheel_entry){
		.id		= id,
		.generation	= t->generation,
		.cookie		= t->cookie,
		.deadline	= t->deadline,
		.fired		= fired,
		.overruns	= overruns,
		.flags		= last ? TWHEEL_EVENT_LAST : 0,
		.count		= t->count,
		.interval	= t->interval,
	};
	timer_delivered(ts, id, t, fired, overruns, now);
	t->deadline = TIMER_NONE;
	return true;
}

/**
 * ring_post() - move events from the due queue into the ring
 * @ring: the ring
 * @ts: the timers, turned to @now
 * @now: ns
 * @most: how many to take
 *
 * Takes at most @most of them, and WHEEL_STEP, stale ones included.  The promises of these timers
 * were raised when they came into the queue, so that a consumer who sees an entry sees
 * the raised promise as well, and calls for what it arms next.
 *
 * Return: how many were written.
 */
TWHEEL_PART unsigned int ring_post(struct ring *ring, struct timers *ts, u64 now,
				   unsigned int most)
{
	unsigned int written = 0, done = 0, nr;
	u32 ids[WHEEL_STEP], room, waiting;

	most = min(most, WHEEL_STEP);
	ts->ring = ring->header;
	waiting = timers_expired(ts);
	if (waiting) {
		WRITE_ONCE(ring->header->waiting, waiting);
		/*
		 * Pairs with the consumer's barrier between its store of head and its load
		 * of waiting: either there is seen to be room, or that something waits.
		 */
		smp_mb();
	}
	room = ring_room(ring);
	while ((nr = wheel_take_due(&ts->wheel, ids, min(room - written, most - done)))) {
		for (unsigned int i = 0; i < nr; i++)
			written += ring_write(ring, ts, ids[i], ring->tail + written, now);
		done += nr;
	}
	ring->tail += written;
	ring->handled += done;
	/* Pairs with the consumer's acquire: it sees the entries, and the raise. */
	smp_store_release(&ring->header->tail, ring->tail);
	waiting = timers_expired(ts);
	/*
	 * Timers are due that were not found yet.  A consumer that calls finds them, which is
	 * sooner than if it slept until softirq has done so and wakes it.
	 */
	if (!waiting && (timers_next(ts) <= now || wheel_heavy_due(&ts->wheel, ts->turned)))
		waiting = 1;
	WRITE_ONCE(ring->header->waiting, waiting);
	return written;
}
