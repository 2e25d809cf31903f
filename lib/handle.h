/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TWHEEL_HANDLE_H
#define TWHEEL_HANDLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "fallback.h"
#include "sys.h"
#include "twheel.h"

#define PUBLIC __attribute__((visibility("default")))

/* Arms that are collected. */
#define BATCH_MAX	128U

/* What takes longer gives the lock back after so many entries, operations or timers. */
#define PART		128U

/**
 * struct twheel - a handle
 * @shared: what inline functions use; does not change once it is open
 * @fd: of the wheel; with @fallback its timerfd
 * @fallback: the wheel, if it is in this process; NULL: it is the kernel's
 * @clock: of the wheel
 * @clock_offset: ns that the wheel's time is ahead of what this process reads of @clock
 * @batching: calls are collected until they are flushed
 * @words_first: the first id that has a word, whether it is mapped here or not
 * @words_end: the first behind those
 * @words_size: bytes mapped, 0: none
 * @ring_size: bytes mapped, 0: none
 * @ring_mask: entries of the ring less 1
 * @generation: with an event ring, of each id that of its last arming by a call; 0: of none.
 *	An entry of an earlier one is stale.  Else NULL.  Pages of it are zero, and take no
 *	memory, until they are written.
 * @next: handle of this process
 * @link: what leads to this one; both belong to fork.c
 * @door: who waits for @lock holds it, and so is next
 * @lock: for what follows, for @generation and for the head of the ring.  With a ring it is
 *	held over a call that arms, so that no event of before is claimed meanwhile.
 * @fresh: with an event ring: ids from here on are chosen by twheel_arm_any() when they
 *	are free; those below are left to the program until there is none
 * @search: the one above which it looked last
 * @telling: the batch tells what was taken of a count, and a handler may not run before
 *	the kernel knows that: what dies in it is not to come again
 * @batch_nr: ids on the batch; read without the lock to see if there are any
 * @batch: arms of timers by what is stored in their words, which need no memory in the
 *	kernel.  One that is armed twice is twice on it: the second does nothing, and to find
 *	that out costs more
 */
struct twheel {
	struct twheel_shared	shared;
	int			fd;
	struct fallback		*fallback;
	uint32_t		clock;
	uint64_t		clock_offset;
	bool			batching;
	uint32_t		words_first;
	uint32_t		words_end;
	size_t			words_size;
	size_t			ring_size;
	uint32_t		ring_mask;
	uint32_t		*generation;
	struct twheel		*next;
	struct twheel		**link;
	pthread_mutex_t		door;
	pthread_mutex_t		lock;
	uint32_t		fresh;
	uint32_t		search;
	bool			telling;
	uint32_t		batch_nr;
	struct twheel_op	batch[BATCH_MAX];
};

/* To whoever has the wheel. */
static inline int twheel_call(const struct twheel *w, unsigned long request, void *arg)
{
	return w->fallback ? twheel_fallback_call(w->fallback, request, arg)
			   : twheel_sys_ioctl(w->fd, request, arg);
}

/* Is a generation earlier than another one?  They wrap, and 0 is none: nothing is earlier. */
static inline bool twheel_earlier(uint32_t generation, uint32_t other)
{
	return other && (int32_t)(generation - other) < 0;
}

static inline void twheel_lock(struct twheel *w)
{
	pthread_mutex_lock(&w->door);
	pthread_mutex_lock(&w->lock);
	pthread_mutex_unlock(&w->door);
}

/*
 * In the middle of something long: others first.  A mutex alone would go to who has just given it
 * back, because who waits for it has to wake up first.
 */
static inline void twheel_lock_again(struct twheel *w)
{
	pthread_mutex_unlock(&w->lock);
	twheel_lock(w);
}

/*
 * With the lock held: put a timer on the batch, and if its event is being taken, how many periods
 * of its count that is.  A batch that is full is submitted first.
 */
int twheel_batch_add(struct twheel *w, uint32_t id, uint32_t told, uint32_t generation);
/* With the lock held: submit what is on the batch.  Returns the first error. */
int twheel_batch_submit(struct twheel *w);

/* Learn the last arming of each timer that has an entry yet to be taken. */
int twheel_ring_adopt(struct twheel *w);

/* Have the lock of a handle free in a child, whoever holds it when a thread forks. */
int twheel_fork_add(struct twheel *w);
void twheel_fork_remove(struct twheel *w);

#endif
