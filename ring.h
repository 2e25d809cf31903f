/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The event ring: how a daemon takes events without a system call.
 */
#ifndef TWHEEL_RING_H
#define TWHEEL_RING_H

#include "words.h"

#define ENTRIES_PER_PAGE	((u32)(WORDS_PAGE / sizeof(struct twheel_entry)))
#define RING_MIN		256U

/**
 * struct ring - the kernel's side of the event ring
 * @header: shared
 * @page: of the entries, ENTRIES_PER_PAGE to each; shared
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

TWHEEL_PART int ring_alloc(struct ring *ring, u32 entries);
TWHEEL_PART void ring_free(struct ring *ring);
TWHEEL_PART size_t ring_memory(const struct ring *ring);
TWHEEL_PART bool ring_has_entries(const struct ring *ring);
TWHEEL_PART bool ring_has_room(const struct ring *ring);
TWHEEL_PART unsigned int ring_post(struct ring *ring, struct timers *ts, u64 now,
				   unsigned int most);

#endif /* TWHEEL_RING_H */
