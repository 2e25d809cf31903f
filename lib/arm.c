// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arms and cancels for which a store is not enough, one by one or in batches. */
#include <errno.h>
#include <string.h>

#include "handle.h"

/* Ids in use that are passed over before one is taken that never was. */
#define SEARCH_MAX	64U

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

int twheel_batch_submit(struct twheel *w)
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
	w->telling = false;
	return ret;
}

int twheel_batch_add(struct twheel *w, uint32_t id, uint32_t told, uint32_t generation)
{
	int ret = w->batch_nr == BATCH_MAX ? twheel_batch_submit(w) : 0;
	struct twheel_op *op = &w->batch[w->batch_nr];

	*op = stored_op(id);
	if (told) {
		op->count = told;
		op->generation = generation;
		w->telling = true;
	}
	batch_is(w, w->batch_nr + 1);
	return ret;
}

PUBLIC int twheel_flush(struct twheel *w)
{
	int ret;

	if (!__atomic_load_n(&w->batch_nr, __ATOMIC_RELAXED))
		return 0;
	twheel_lock(w);
	ret = twheel_batch_submit(w);
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
	twheel_lock(w);
	ret = twheel_batch_add(w, id, 0, 0);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

PUBLIC int twheel_cancel_state(const struct twheel *w, uint64_t deadline)
{
	return twheel_now(w) < deadline ? TWHEEL_STATE_PENDING : TWHEEL_STATE_EXPIRED;
}

/* By value */

/* Arm a timer; with a ring the lock is held. */
static int arm(struct twheel *w, struct twheel_op *op)
{
	int ret = twheel_call(w, TWHEEL_IOC_ARM, op);

	if (!ret && w->generation)
		w->generation[op->id] = op->generation;
	return ret;
}

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

static int arm_with(struct twheel *w, uint32_t *id, const struct twheel_arming *arming,
		    int (*how)(struct twheel *w, struct twheel_op *op))
{
	struct twheel_op op = {
		.flags		= arming->flags,
		.deadline	= arming->deadline,
		.interval	= arming->interval,
		.slack		= arming->slack,
		.cookie		= arming->cookie,
		.count		= arming->count,
		.generation	= arming->generation,
		.id		= *id,
	};
	int ret;

	for (unsigned int i = 0; i < sizeof(arming->reserved) / sizeof(arming->reserved[0]); i++)
		if (arming->reserved[i])
			return -EINVAL;
	/* The deadline is in @arming, not in the word, and so are the terms. */
	if (op.flags & ~(TWHEEL_ARM_RELATIVE | TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE))
		return -EOPNOTSUPP;
	if (!w->generation) {
		ret = how(w, &op);
	} else {
		twheel_lock(w);
		ret = how(w, &op);
		pthread_mutex_unlock(&w->lock);
	}
	if (!ret)
		*id = op.id;
	return ret;
}

PUBLIC int twheel_arm_with(struct twheel *w, uint32_t id, const struct twheel_arming *arming)
{
	/* Not an id that the kernel takes for a request to choose one. */
	return id < w->shared.capacity ? arm_with(w, &id, arming, arm) : -ERANGE;
}

/* Arm a timer if it is free; -EEXIST: it is not. */
static int arm_if_free(struct twheel *w, const struct twheel_op *how, uint32_t id,
		       struct twheel_op *op)
{
	if (__atomic_load_n(&w->shared.words[id].deadline, __ATOMIC_RELAXED))
		return -EEXIST;
	*op = *how;
	op->flags |= TWHEEL_ARM_NEW;
	op->id = id;
	return arm(w, op);
}

/* Of the ids from @fresh on, look at the next @nr, round and round. */
static int arm_reused(struct twheel *w, const struct twheel_op *how, uint32_t nr,
		      struct twheel_op *op)
{
	int ret = -EEXIST;

	if (w->fresh == w->shared.capacity)
		return ret;
	while (ret == -EEXIST && nr--) {
		if (w->search <= w->fresh)
			w->search = w->shared.capacity;
		ret = arm_if_free(w, how, --w->search, op);
	}
	return ret;
}

/*
 * The kernel is not told when an event was taken from the ring, and the id of its timer is
 * free again; the words tell.  As the kernel does, go from the top down, and take what
 * was used before if some is soon found.
 */
static int arm_free(struct twheel *w, struct twheel_op *op)
{
	const struct twheel_op how = *op;
	int ret;

	if (how.flags & TWHEEL_ARM_MOVE || how.generation || !how.deadline)
		return -EINVAL;
	ret = arm_reused(w, &how, SEARCH_MAX, op);
	while (ret == -EEXIST && w->fresh) {
		ret = arm_if_free(w, &how, w->fresh - 1, op);
		if (!ret || ret == -EEXIST)
			w->fresh--;
	}
	if (ret == -EEXIST)
		ret = arm_reused(w, &how, w->shared.capacity, op);
	return ret == -EEXIST ? -ENOSPC : ret;
}

PUBLIC int twheel_arm_any(struct twheel *w, const struct twheel_arming *arming, uint32_t *id)
{
	uint32_t any = TWHEEL_ID_ANY;
	int ret = arm_with(w, &any, arming, w->shared.ring ? arm_free : arm);

	if (!ret)
		*id = any;
	return ret;
}

/* With a ring: the lock is held until the new generations are known. */
static int submit_part(struct twheel *w, struct twheel_op *ops, uint32_t nr)
{
	int ret;

	twheel_lock(w);
	ret = submit(w, ops, nr);
	for (uint32_t i = 0; i < nr; i++)
		if (ops[i].opcode == TWHEEL_OP_ARM && !ops[i].result)
			w->generation[ops[i].id] = ops[i].generation;
	pthread_mutex_unlock(&w->lock);
	return ret;
}

PUBLIC int twheel_submit_ops(struct twheel *w, struct twheel_op *ops, uint32_t nr)
{
	int ret, failed = 0;

	if (!w->generation)
		return submit(w, ops, nr);
	for (uint32_t part; nr; ops += part, nr -= part) {
		part = nr < PART ? nr : PART;
		ret = submit_part(w, ops, part);
		if (ret < 0) {
			while (nr > part)
				ops[--nr].result = ret;
			return ret;
		}
		failed += ret;
	}
	return failed;
}

PUBLIC int twheel_get(struct twheel *w, uint32_t id, struct twheel_timer *timer)
{
	memset(timer, 0, sizeof(*timer));
	timer->id = id;
	return twheel_call(w, TWHEEL_IOC_GET, timer);
}

/* All timers */

static int list(struct twheel *w, unsigned long request, uint32_t *cursor,
		struct twheel_timer *timers, uint32_t nr)
{
	struct twheel_list call = {
		.timers = (uintptr_t)timers,
		.nr = nr,
		.timer_size = sizeof(*timers),
		.cursor = *cursor,
	};
	int ret;

	/* Where a signal has ended the search, call.cursor says: there it goes on. */
	do
		ret = twheel_call(w, request, &call);
	while (ret == -EINTR);
	*cursor = call.cursor;
	return ret ? ret : (int)call.done;
}

PUBLIC int twheel_list_armed(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers,
			     uint32_t nr)
{
	/* The kernel looks at the words as well: what fails here is armed all the same. */
	twheel_flush(w);
	return list(w, TWHEEL_IOC_LIST, cursor, timers, nr);
}

/* With a ring: what a take has claimed of a count, it tells before it unlocks. */
static int drain_part(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers, uint32_t nr)
{
	int ret;

	twheel_lock(w);
	ret = list(w, TWHEEL_IOC_DRAIN, cursor, timers, nr);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

PUBLIC int twheel_drain(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers,
			uint32_t nr)
{
	uint32_t done = 0, part;
	int ret;

	twheel_flush(w);
	/* The kernel refuses what is too many. */
	if (!w->shared.ring || nr > TWHEEL_MAX_BATCH)
		return list(w, TWHEEL_IOC_DRAIN, cursor, timers, nr);
	do {
		part = nr - done < PART ? nr - done : PART;
		ret = drain_part(w, cursor, &timers[done], part);
		if (ret > 0)
			done += (uint32_t)ret;
	} while (ret == (int)part && done < nr);
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
		/* A thread may have armed it since it was listed. */
		if (w->generation && !twheel_earlier(timers->generation, w->generation[timers->id]))
			w->generation[timers->id] = timers->generation;
		if (!word_unmapped(w, timers->id))
			continue;
		ret = twheel_batch_add(w, timers->id, 0, 0);
		if (ret)
			return ret;
		armed++;
	}
	ret = twheel_batch_submit(w);
	return ret ? ret : armed;
}

/* All armed timers, and those with an event in the ring. */
static int adopt_all(struct twheel *w)
{
	struct twheel_timer timers[64] = { 0 };
	uint32_t cursor = 0;
	int nr, ret, armed = 0;

	while ((nr = list(w, TWHEEL_IOC_LIST, &cursor, timers,
			  sizeof(timers) / sizeof(timers[0]))) > 0) {
		twheel_lock(w);
		ret = adopt_listed(w, timers, nr);
		pthread_mutex_unlock(&w->lock);
		if (ret < 0)
			return ret;
		armed += ret;
	}
	if (nr || !w->shared.ring)
		return nr ? nr : armed;
	ret = twheel_ring_adopt(w);
	return ret < 0 ? ret : armed;
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
		ret = twheel_batch_add(w, id, 0, 0);
		if (ret)
			return ret;
		armed++;
	}
	ret = twheel_batch_submit(w);
	return ret ? ret : armed;
}

PUBLIC int twheel_adopt(struct twheel *w)
{
	int ret, armed = 0;

	if (w->generation || w->shared.mapped < w->words_end)
		armed = adopt_all(w);
	if (armed < 0)
		return armed;
	for (uint32_t id = 0, end; id < w->shared.mapped; id = end) {
		end = id + (w->shared.mapped - id < PART ? w->shared.mapped - id : PART);
		twheel_lock(w);
		ret = adopt_stored(w, id, end);
		pthread_mutex_unlock(&w->lock);
		if (ret < 0)
			return ret;
		armed += ret;
	}
	return armed;
}
