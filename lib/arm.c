// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arms and cancels for which a store is not enough, one by one or in batches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "handle.h"

/* Timers in one call of a drain. */
#define DRAIN_MAX	64U

/* Many operations, in as many calls as it takes.  How many have failed. */
static int submit(struct twheel *w, struct twheel_op *ops, uint32_t nr)
{
	int ret, failed = 0;

	while (nr) {
		struct twheel_submit call = {
			.ops = (uintptr_t)ops,
			.nr = nr < TWHEEL_MAX_BATCH ? nr : TWHEEL_MAX_BATCH,
			.op_size = sizeof(*ops),
		};

		ret = twheel_call(w, TWHEEL_IOC_SUBMIT, &call);
		if (ret == -EINTR)
			continue;
		if (ret) {
			while (nr)
				ops[--nr].result = ret;
			return ret;
		}
		failed += (int)call.failed;
		ops += call.done;
		nr -= call.done;
	}
	return failed;
}

/* The batch */

/* Make an arm by a call of its own. */
static int arm_stored_at_once(const struct twheel *w, struct twheel_op *op)
{
	op->opcode = 0;
	op->result = 0;
	return twheel_call(w, TWHEEL_IOC_ARM, op);
}

static struct twheel_op stored_op(uint32_t id)
{
	return (struct twheel_op){
		.opcode = TWHEEL_OP_ARM,
		.flags = TWHEEL_ARM_STORED,
		.id = id,
	};
}

/* So many are on the batch.  Others look at that without the lock. */
static void batch_is(struct twheel *w, uint32_t nr)
{
	__atomic_store_n(&w->batch_nr, nr, __ATOMIC_RELAXED);
}

/* With the lock held: submit what is on the batch.  Returns the first error. */
static int batch_submit(struct twheel *w)
{
	uint32_t nr = w->batch_nr;
	int ret = 0;

	if (!nr)
		return 0;
	if (submit(w, w->batch, nr)) {
		/* A submit needs memory for its operations, a call for one needs none. */
		for (uint32_t i = 0; i < nr; i++) {
			int error = w->batch[i].result ? arm_stored_at_once(w, &w->batch[i]) : 0;

			if (!ret)
				ret = error;
		}
	}
	batch_is(w, 0);
	return ret;
}

/* With the lock held: put a timer on the batch.  A batch that is full is submitted first. */
static int batch_add(struct twheel *w, uint32_t id)
{
	int ret = w->batch_nr == BATCH_MAX ? batch_submit(w) : 0;

	w->batch[w->batch_nr] = stored_op(id);
	batch_is(w, w->batch_nr + 1);
	return ret;
}

PUBLIC int twheel_flush(struct twheel *w)
{
	int ret;

	if (!__atomic_load_n(&w->batch_nr, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&w->lock);
	ret = batch_submit(w);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

/* By the word */

static int arm_stored(struct twheel *w, uint32_t id)
{
	struct twheel_op op = stored_op(id);
	int ret;

	if (!w->batching)
		return arm_stored_at_once(w, &op);
	pthread_mutex_lock(&w->lock);
	ret = batch_add(w, id);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

PUBLIC int twheel_cancel_state(const struct twheel *w, uint64_t deadline)
{
	return twheel_now(w) < deadline ? TWHEEL_STATE_PENDING : TWHEEL_STATE_EXPIRED;
}

/* By value */

PUBLIC int twheel_arm_slow(struct twheel *w, uint32_t id, uint64_t deadline)
{
	struct twheel_op op = { .flags = TWHEEL_ARM_KEEP, .deadline = deadline, .id = id };

	if (id < w->shared.mapped)
		return arm_stored(w, id);
	/* Not an id that the kernel takes for a request to choose one. */
	return id < w->shared.capacity ? twheel_call(w, TWHEEL_IOC_ARM, &op) : -ERANGE;
}

PUBLIC int twheel_cancel_slow(struct twheel *w, uint32_t id)
{
	struct twheel_op op = { .id = id };
	int ret;

	if (id >= w->shared.capacity)
		return -ERANGE;
	ret = twheel_call(w, TWHEEL_IOC_CANCEL, &op);
	if (ret)
		return ret;
	return op.state == TWHEEL_STATE_DELIVERED ? TWHEEL_STATE_IDLE : (int)op.state;
}

PUBLIC int twheel_arm_with(struct twheel *w, uint32_t id, const struct twheel_arming *arming)
{
	struct twheel_op op = {
		.flags		= arming->flags,
		.deadline	= arming->deadline,
		.interval	= arming->interval,
		.slack		= arming->slack,
		.cookie		= arming->cookie,
		.count		= arming->count,
		.generation	= arming->generation,
		.id		= id,
	};

	/* Not an id that the kernel takes for a request to choose one. */
	if (id >= w->shared.capacity)
		return -ERANGE;
	for (unsigned int i = 0; i < sizeof(arming->reserved) / sizeof(arming->reserved[0]); i++)
		if (arming->reserved[i])
			return -EINVAL;
	/* The deadline is in @arming, not in the word, and so are the terms. */
	if (op.flags & ~(TWHEEL_ARM_RELATIVE | TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE))
		return -EOPNOTSUPP;
	return twheel_call(w, TWHEEL_IOC_ARM, &op);
}

PUBLIC int twheel_submit_ops(struct twheel *w, struct twheel_op *ops, uint32_t nr)
{
	return submit(w, ops, nr);
}

/* Free ids */

PUBLIC int twheel_id_get(struct twheel *w, uint32_t *id)
{
	uint32_t given, max;
	int ret = 0;

	pthread_mutex_lock(&w->lock);
	given = w->shared.capacity - w->fresh;
	/* Room to put all of them back, so that this can't fail. */
	if (!w->free_nr && given == w->free_max) {
		max = given ? 2 * given : 64;
		uint32_t *free = realloc(w->free, max * sizeof(*free));

		if (free) {
			w->free = free;
			w->free_max = max;
		} else {
			ret = -ENOMEM;
		}
	}
	if (w->free_nr)
		*id = w->free[--w->free_nr];
	else if (!ret && w->fresh)
		*id = --w->fresh;
	else if (!ret)
		ret = -ENOSPC;
	pthread_mutex_unlock(&w->lock);
	return ret;
}

PUBLIC void twheel_id_put(struct twheel *w, uint32_t id)
{
	pthread_mutex_lock(&w->lock);
	if (w->free_nr < w->free_max)
		w->free[w->free_nr++] = id;
	pthread_mutex_unlock(&w->lock);
}

PUBLIC int twheel_get(struct twheel *w, uint32_t id, struct twheel_timer *timer)
{
	memset(timer, 0, sizeof(*timer));
	timer->id = id;
	return twheel_call(w, TWHEEL_IOC_GET, timer);
}

/* All timers */

static int list(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers, uint32_t nr)
{
	struct twheel_list call = {
		.timers = (uintptr_t)timers,
		.nr = nr,
		.timer_size = sizeof(*timers),
		.cursor = *cursor,
	};
	int ret;

	/* After a signal the search goes on from call.cursor. */
	do
		ret = twheel_call(w, TWHEEL_IOC_LIST, &call);
	while (ret == -EINTR);
	*cursor = call.cursor;
	return ret ? ret : (int)call.done;
}

PUBLIC int twheel_list_armed(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers,
			     uint32_t nr)
{
	/* The kernel looks at the words as well: what fails here is armed all the same. */
	twheel_flush(w);
	return list(w, cursor, timers, nr);
}

/* Cancel what was listed.  Leaves those in @timers that were armed still; how many. */
static uint32_t cancel_listed(struct twheel *w, struct twheel_timer *timers, uint32_t nr)
{
	struct twheel_op ops[DRAIN_MAX];
	uint32_t done = 0;

	for (uint32_t i = 0; i < nr; i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_CANCEL,
			.id = timers[i].id,
			.generation = timers[i].generation,
		};
	submit(w, ops, nr);
	for (uint32_t i = 0; i < nr; i++) {
		/* Armed again or delivered meanwhile. */
		if (ops[i].result || (ops[i].state != TWHEEL_STATE_PENDING &&
				      ops[i].state != TWHEEL_STATE_EXPIRED))
			continue;
		timers[done] = timers[i];
		timers[done++].state = ops[i].state;
	}
	return done;
}

PUBLIC int twheel_drain(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers,
			uint32_t nr)
{
	uint32_t done = 0;
	int ret;

	twheel_flush(w);
	/* The kernel refuses what is too many. */
	do {
		ret = list(w, cursor, &timers[done],
			   nr - done > DRAIN_MAX && nr <= TWHEEL_MAX_BATCH ? DRAIN_MAX : nr - done);
		if (ret > 0)
			done += cancel_listed(w, &timers[done], (uint32_t)ret);
	} while (ret > 0 && done < nr);
	return done ? (int)done : ret;
}

/* After exec or crash */

/* Was it perhaps armed by a store, which is not to be seen here? */
static bool word_unmapped(const struct twheel *w, uint32_t id)
{
	return id >= w->shared.mapped && id >= w->words_first && id < w->words_end;
}

/* Armed timers, with the lock held.  How many may have to be armed. */
static int adopt_listed(struct twheel *w, const struct twheel_timer *timers, int nr)
{
	int ret, armed = 0;

	for (; nr > 0; timers++, nr--) {
		if (!word_unmapped(w, timers->id))
			continue;
		ret = batch_add(w, timers->id);
		if (ret)
			return ret;
		armed++;
	}
	ret = batch_submit(w);
	return ret ? ret : armed;
}

/* All armed timers. */
static int adopt_all(struct twheel *w)
{
	struct twheel_timer timers[64] = { 0 };
	uint32_t cursor = 0;
	int nr, ret, armed = 0;

	while ((nr = list(w, &cursor, timers,
			  sizeof(timers) / sizeof(timers[0]))) > 0) {
		pthread_mutex_lock(&w->lock);
		ret = adopt_listed(w, timers, nr);
		pthread_mutex_unlock(&w->lock);
		if (ret < 0)
			return ret;
		armed += ret;
	}
	return nr ? nr : armed;
}

/* Of some ids, arm what may have been stored and not called.  How many that were. */
static int adopt_stored(struct twheel *w, uint32_t id, uint32_t end)
{
	int ret, armed = 0;

	for (; id < end; id++) {
		const struct twheel_word *word = &w->shared.words[id];
		uint64_t deadline = __atomic_load_n(&word->deadline, __ATOMIC_SEQ_CST);

		if (!twheel_uncovered(deadline, __atomic_load_n(&word->promise, __ATOMIC_SEQ_CST)))
			continue;
		ret = batch_add(w, id);
		if (ret)
			return ret;
		armed++;
	}
	ret = batch_submit(w);
	return ret ? ret : armed;
}

PUBLIC int twheel_adopt(struct twheel *w)
{
	int ret, armed = 0;

	if (w->shared.mapped < w->words_end)
		armed = adopt_all(w);
	if (armed < 0)
		return armed;
	for (uint32_t id = 0, end; id < w->shared.mapped; id = end) {
		end = id + (w->shared.mapped - id < PART ? w->shared.mapped - id : PART);
		pthread_mutex_lock(&w->lock);
		ret = adopt_stored(w, id, end);
		pthread_mutex_unlock(&w->lock);
		if (ret < 0)
			return ret;
		armed += ret;
	}
	return armed;
}
