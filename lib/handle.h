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

/* Arms on a batch. */
#define BATCH_MAX	128U

/**
 * struct twheel - a handle
 * @shared: what the inline functions read; constant
 * @fd: the file of the wheel, or the timerfd of @fallback; constant
 * @fallback: the wheel in this process; NULL: the wheel is the kernel's; constant
 * @clock: of the wheel; constant
 * @clock_offset: ns to add to this process's reading of @clock; constant
 * @batching: arms by words are batched; constant
 * @one_thread: @lock is not taken; constant
 * @has_words: timers have words, mapped here or not; constant
 * @words_size: bytes to unmap; constant
 * @next: next handle of this process; fork.c protects it
 * @link: the pointer to this handle; fork.c protects it
 * @lock: protects the members below
 * @batch_nr: timers on @batch; also read without the lock
 * @batch: timers to arm by their words.  One may be on it twice: the second arm does nothing, and
 *	to look for the first would cost more
 * @fresh: twheel_id_get() has never given out ids below this
 * @free: ids that were put back, with room for all; NULL until the first twheel_id_get()
 * @free_nr: ids in @free
 */
struct twheel {
	struct twheel_shared	shared;
	int			fd;
	struct fallback		*fallback;
	uint32_t		clock;
	uint64_t		clock_offset;
	bool			batching;
	bool			one_thread;
	bool			has_words;
	size_t			words_size;
	struct twheel		*next;
	struct twheel		**link;
	pthread_mutex_t		lock;
	uint32_t		batch_nr;
	uint32_t		batch[BATCH_MAX];
	uint32_t		fresh;
	uint32_t		*free;
	uint32_t		free_nr;
};

static inline void twheel_lock(struct twheel *w)
{
	if (!w->one_thread)
		pthread_mutex_lock(&w->lock);
}

static inline void twheel_unlock(struct twheel *w)
{
	if (!w->one_thread)
		pthread_mutex_unlock(&w->lock);
}

/* Call the device or the fallback. */
static inline int twheel_call(const struct twheel *w, unsigned long request, void *arg)
{
	return w->fallback ? twheel_fallback_call(w->fallback, request, arg)
			   : twheel_sys_ioctl(w->fd, request, arg);
}

/* From add to remove, fork() waits for the handle's lock.  False: out of memory. */
bool twheel_fork_add(struct twheel *w);
void twheel_fork_remove(struct twheel *w);

#endif
