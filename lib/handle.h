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

/* Timers that are adopted under one hold of the lock. */
#define PART		128U

/**
 * struct twheel - a handle
 * @shared: what inline functions use; constant
 * @fd: of the wheel; with @fallback its timerfd; constant
 * @fallback: the wheel, if it is in this process; NULL: it is the kernel's; constant
 * @clock: of the wheel; constant
 * @clock_offset: ns that the wheel's time is ahead of what this process reads of @clock; constant
 * @batching: calls are collected until they are flushed; constant
 * @words_first: the first id that has a word, whether it is mapped here or not; constant
 * @words_end: the first behind those; constant
 * @words_size: bytes mapped, 0: none; constant
 * @next: handle of this process
 * @link: what leads to this one; both belong to fork.c
 * @lock: protects what follows
 * @batch_nr: ids on the batch; read without the lock to see if there are any
 * @batch: arms of timers by what is stored in their words.  A timer that is armed twice is twice on
 *	it: the second arm does nothing, and to find that out costs more
 * @fresh: ids from here on have been given out by twheel_id_get()
 * @free: those that were put back
 * @free_nr: how many
 * @free_max: room in @free, for all that were given out
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
	struct twheel		*next;
	struct twheel		**link;
	pthread_mutex_t		lock;
	uint32_t		batch_nr;
	struct twheel_op	batch[BATCH_MAX];
	uint32_t		fresh;
	uint32_t		*free;
	uint32_t		free_nr;
	uint32_t		free_max;
};

/* Make a call of the device, or of the fallback. */
static inline int twheel_call(const struct twheel *w, unsigned long request, void *arg)
{
	return w->fallback ? twheel_fallback_call(w->fallback, request, arg)
			   : twheel_sys_ioctl(w->fd, request, arg);
}

/* Have the lock of a handle free in a child, whoever holds it when a thread forks. */
int twheel_fork_add(struct twheel *w);
void twheel_fork_remove(struct twheel *w);

#endif
