// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arms and cancels for which a store is not enough, one by one or batched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "handle.h"

/* Timers that a drain lists and cancels at a time. */
#define DRAIN_MAX	64U

/* Not inline, so that the code of what is done most often stays short. */
#define COLD		__attribute__((__noinline__))

/* Submit operations, in as few calls as possible.  Returns the number that failed. */
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

/*
 * Submit operations, and repeat each that failed by a call of its own: a submit allocates
 * memory, a single call does not.  Returns the first error that remains.
 */
static int submit_or_call(struct twheel *w, struct twheel_op *ops, uint32_t nr)
{
	int ret = 0;

	if (!submit(w, ops, nr))
		return 0;
	for (struct twheel_op *op = ops; op < ops + nr; op++) {
		unsigned long request = op->opcode == TWHEEL_OP_ARM ? TWHEEL_IOC_ARM
								    : TWHEEL_IOC_CANCEL;

		if (!op->result)
			continue;
		op->opcode = 0;
		op->result = 0;
		op->result = twheel_call(w, request, op);
		if (!ret)
			ret = op->result;
	}
	return ret;
}

/* The batch */

/* Set the length of the batch, which twheel_flush() reads without the lock. */
static void batch_set_nr(struct twheel *w, uint32_t nr)
{
	__atomic_store_n(&w->batch_nr, nr, __ATOMIC_RELAXED);
}

/* Submit and empty the batch.  The caller holds the lock. */
static COLD int batch_submit(struct twheel *w)
{
	struct twheel_op ops[BATCH_MAX];
	int ret;

	if (w->fallback) {
		ret = twheel_fallback_arm(w->fallback, w->batch, w->batch_nr);
	} else {
		for (uint32_t i = 0; i < w->batch_nr; i++)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM,
				.flags = TWHEEL_ARM_STORED,
				.id = w->batch[i],
			};
		ret = submit_or_call(w, ops, w->batch_nr);
	}
	batch_set_nr(w, 0);
	return ret;
}

PUBLIC int twheel_flush(struct twheel *w)
{
	int ret;

	if (!__atomic_load_n(&w->batch_nr, __ATOMIC_RELAXED))
		return 0;
	twheel_lock(w);
	ret = batch_submit(w);
	twheel_unlock(w);
	return ret;
}

static COLD int batch_begin(struct twheel *w, uint32_t id)
{
	int ret = batch_submit(w);

	w->batch[0] = id;
	batch_set_nr(w, 1);
	return ret;
}

/*
 * Add an arm to the batch.  A full batch is submitted first: the error returned is its.  The
 * caller holds the lock.
 */
static inline int batch_add_locked(struct twheel *w, uint32_t id)
{
	uint32_t nr = w->batch_nr;

	if (nr == BATCH_MAX)
		return batch_begin(w, id);
	w->batch[nr] = id;
	batch_set_nr(w, nr + 1);
	return 0;
}

static COLD int batch_add(struct twheel *w, uint32_t id)
{
	int ret;

	twheel_lock(w);
	ret = batch_add_locked(w, id);
	twheel_unlock(w);
	return ret;
}

/* Arm and cancel */

/* Arm a timer by what its word holds, or without a word by @deadline. */
static COLD int arm_by_call(struct twheel *w, uint32_t id, uint64_t deadline)
{
	const bool stored = id < w->shared.mapped;
	struct twheel_op op = {
		.flags = stored ? TWHEEL_ARM_STORED : TWHEEL_ARM_KEEP,
		.deadline = stored ? 0 : deadline,
		.id = id,
	};

	/* The kernel would take TWHEEL_ID_ANY for a request to choose an id. */
	if (id >= w->shared.capacity)
		return -ERANGE;
	if (stored && w->fallback)
		return twheel_fallback_arm(w->fallback, &id, 1);
	return twheel_call(w, TWHEEL_IOC_ARM, &op);
}

PUBLIC int twheel_arm_slow(struct twheel *w, uint32_t id, uint64_t deadline)
{
	if (!w->batching || id >= w->shared.mapped)
		return arm_by_call(w, id, deadline);
	return w->one_thread ? batch_add_locked(w, id) : batch_add(w, id);
}

PUBLIC int twheel_cancel_state(const struct twheel *w, uint64_t deadline)
{
	return twheel_now(w) < deadline ? TWHEEL_STATE_PENDING : TWHEEL_STATE_EXPIRED;
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

	/* The kernel would take TWHEEL_ID_ANY for a request to choose an id. */
	if (id >= w->shared.capacity)
		return -ERANGE;
	for (unsigned int i = 0; i < sizeof(arming->reserved) / sizeof(arming->reserved[0]); i++)
		if (arming->reserved[i])
			return -EINVAL;
	/* TWHEEL_ARM_STORED and _KEEP would ignore what @arming says. */
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
	int ret = 0;

	twheel_lock(w);
	/* Allocate room for all ids at once, so that twheel_id_put() cannot fail. */
	if (!w->free)
		w->free = malloc(w->shared.capacity * sizeof(*w->free));
	if (!w->free)
		ret = -ENOMEM;
	else if (w->free_nr)
		*id = w->free[--w->free_nr];
	else if (w->fresh)
		*id = --w->fresh;
	else
		ret = -ENOSPC;
	twheel_unlock(w);
	return ret;
}

PUBLIC void twheel_id_put(struct twheel *w, uint32_t id)
{
	twheel_lock(w);
	if (w->free && w->free_nr < w->shared.capacity)
		w->free[w->free_nr++] = id;
	twheel_unlock(w);
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

	/* After a signal the call resumes from call.cursor. */
	do
		ret = twheel_call(w, TWHEEL_IOC_LIST, &call);
	while (ret == -EINTR);
	*cursor = call.cursor;
	return ret ? ret : (int)call.done;
}

PUBLIC int twheel_list_armed(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers,
			     uint32_t nr)
{
	/* A timer whose flush fails is listed too, because the kernel reads its word. */
	twheel_flush(w);
	return list(w, cursor, timers, nr);
}

/* Cancel listed timers, keep in @timers those that were still armed, return their number. */
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
	submit_or_call(w, ops, nr);
	for (uint32_t i = 0; i < nr; i++) {
		/* Skip timers that were armed again or delivered since. */
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
	/* Pass an @nr that is too large on, so that the kernel refuses it. */
	do {
		ret = list(w, cursor, &timers[done],
			   nr - done > DRAIN_MAX && nr <= TWHEEL_MAX_BATCH ? DRAIN_MAX : nr - done);
		if (ret > 0)
			done += cancel_listed(w, &timers[done], (uint32_t)ret);
	} while (ret > 0 && done < nr);
	return done ? (int)done : ret;
}

/* After exec or crash */

/* Words that are not mapped here only the kernel can read: arm what it lists. */
static int adopt_unmapped(struct twheel *w)
{
	struct twheel_timer timers[64] = { 0 };
	uint32_t cursor = 0;
	int nr, ret, armed = 0;

	while ((nr = list(w, &cursor, timers, sizeof(timers) / sizeof(timers[0]))) > 0) {
		for (int i = 0; i < nr; i++) {
			ret = batch_add(w, timers[i].id);
			if (ret)
				return ret;
			armed++;
		}
	}
	return nr ? nr : armed;
}

PUBLIC int twheel_adopt(struct twheel *w)
{
	int ret, armed = 0;

	if (w->has_words && !w->shared.mapped)
		armed = adopt_unmapped(w);
	if (armed < 0)
		return armed;
	for (uint32_t id = 0; id < w->shared.mapped; id++) {
		const struct twheel_word *word = &w->shared.words[id];
		uint64_t deadline = __atomic_load_n(&word->deadline, __ATOMIC_SEQ_CST);

		if (!twheel_uncovered(deadline, __atomic_load_n(&word->promise, __ATOMIC_SEQ_CST)))
			continue;
		ret = batch_add(w, id);
		if (ret)
			return ret;
		armed++;
	}
	ret = twheel_flush(w);
	return ret ? ret : armed;
}
