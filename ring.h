/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The event ring: how a daemon takes events without a system call.
 */
#ifndef TWHEEL_RING_H
#define TWHEEL_RING_H

#include "words.h"

#define RING_MIN		256U

/* The ring is taken, and mapped, by the page; its header stands where entries could. */
#define ENTRIES_PER_PAGE	((u32)(PAGE_SIZE / sizeof(struct twheel_entry)))
#define ENTRIES_OF_HEADER	((u32)(TWHEEL_RING_HEADER / sizeof(struct twheel_entry)))

/**
 * struct ring - the kernel's side of the event ring
 * @header: at the start of the first page; NULL: there is no ring
 * @page: ring_pages() of them, shared: the header, and behind it the entries
 * @entries: a power of two
 * @tail: entries written; what stands in @header is for the consumer only
 * @head: entries taken, as last seen
 * @handled: events handled, stale ones too
 */
struct ring {
	struct twheel_ring	*header;
	struct twheel_entry	**page;
	u32			entries;
	u32			tail;
	u32			head;
	u32			handled;
};

/* How many pages a ring takes, for its header and its entries. */
static inline u32 ring_pages(const struct ring *ring)
{
	return DIV_ROUND_UP(ENTRIES_OF_HEADER + ring->entries, ENTRIES_PER_PAGE);
}

/* The place of an entry, by its number. */
static inline struct twheel_entry *ring_entry(const struct ring *ring, u32 number)
{
	u32 at = ENTRIES_OF_HEADER + (number & (ring->entries - 1));

	return &ring->page[at / ENTRIES_PER_PAGE][at % ENTRIES_PER_PAGE];
}

/* Entries that the consumer has yet to take; all, if its head makes no sense. */
static inline u32 ring_unread(const struct ring *ring)
{
	return ring->header ? min(ring->tail - READ_ONCE(ring->header->head), ring->entries) : 0;
}

TWHEEL_PART int ring_alloc(struct ring *ring, u32 entries);
TWHEEL_PART void ring_free(struct ring *ring);
TWHEEL_PART size_t ring_memory(const struct ring *ring);
TWHEEL_PART bool ring_has_entries(const struct ring *ring);
TWHEEL_PART bool ring_has_room(const struct ring *ring);
TWHEEL_PART unsigned int ring_post(struct ring *ring, struct timers *ts, u64 now,
				   unsigned int most);

#endif /* TWHEEL_RING_H */
