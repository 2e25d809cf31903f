// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a wheel's timers.
 *
 * A wheel starts with none.  An arm that needs memory returns -EAGAIN; its caller drops the lock
 * and comes here.  Memory is added in chunks of timers, and in levels, and is never copied or
 * moved.  Words need theirs before the first store, so setup allocates it.
 *
 * All of it is charged to the cgroup of the caller, and counted for the wheel's user: the user of
 * the first call that needs memory.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "memory.h"

/*
 * Make the caller's user the owner of a wheel that is about to be used, whatever user opened it or
 * failed to use it.  From the first memory on the owner stays the same.
 */
static int take_over(struct twheel *tw)
{
	struct twheel_user *user = tw->user;
	kuid_t uid = user_current();

	lockdep_assert_held(&tw->grow);
	if (user && uid_eq(uid, user->uid))
		return 0;
	user = user_get(uid);
	if (IS_ERR(user))
		return PTR_ERR(user);
	twheel_lock(tw);
	swap(tw->user, user);
	twheel_unlock(tw);
	if (user)
		user_put(user);
	return 0;
}

/**
 * memory_begin() - take @grow, to give memory to a wheel
 * @tw: the wheel
 *
 * The memory is counted for the wheel's user, which does not change while @grow is held.
 *
 * Return: 0, or -EINTR, -ENOMEM, -EDQUOT without @grow.  Sleeps.
 */
TWHEEL_PART int memory_begin(struct twheel *tw)
{
	int ret = mutex_lock_killable(&tw->grow);

	if (ret || tw->used)
		return ret;
	ret = take_over(tw);
	if (ret)
		mutex_unlock(&tw->grow);
	return ret;
}

/**
 * struct supply - memory for a chunk of timers, before the wheel has it
 * @directory: for all chunks, if this is the first
 * @chunk: for the timers
 */
struct supply {
	void			*directory;
	struct wheel_chunk	chunk;
};

static int supply_take(struct supply *s, const struct timers *ts, struct twheel_user *user)
{
	int ret = user_charge_timers(user, WHEEL_CHUNK_TIMERS);

	*s = (struct supply){};
	if (ret)
		return ret;
	if (!ts->wheel.node) {
		s->directory = wheel_directory_alloc(&ts->wheel);
		if (!s->directory)
			goto nomem;
	}
	s->chunk = wheel_chunk_alloc();
	if (s->chunk.node)
		return 0;
nomem:
	kvfree(s->directory);
	user_uncharge_timers(user, WHEEL_CHUNK_TIMERS);
	return -ENOMEM;
}

/* The wheel's own from now on. */
static void supply_give(const struct supply *s, struct timers *ts, u32 id)
{
	if (s->directory)
		wheel_add_directory(&ts->wheel, s->directory);
	wheel_add_chunk(&ts->wheel, id, s->chunk);
}

static int add_chunk(struct twheel *tw, u32 id)
{
	struct timers *ts = &tw->timers;
	struct supply supply;
	int ret;

	lockdep_assert_held(&tw->grow);
	/* Another thread has added it, or a setup came in between: try the arm again. */
	if (id >= ts->wheel.capacity || wheel_has(&ts->wheel, id))
		return 0;
	ret = supply_take(&supply, ts, tw->user);
	if (ret)
		return ret;
	twheel_lock(tw);
	supply_give(&supply, ts, id);
	twheel_unlock(tw);
	tw->used = true;
	return 0;
}

/*
 * If there is no memory for another level, a wheel that has WORDS_LEVELS makes do with these:
 * timers that they do not reach go round the last one.  So the arm of a timer with a word, whose
 * deadline is stored before the call, never fails for want of memory.
 */
static int add_level(struct twheel *tw, struct timers_need *need)
{
	struct wheel *w = &tw->timers.wheel;
	struct wheel_slot *slots;

	lockdep_assert_held(&tw->grow);
	/* Another thread has added the last one. */
	if (w->nr_levels == w->max_levels)
		return 0;
	slots = wheel_level_alloc(w);
	if (!slots) {
		need->few_levels = w->nr_levels >= WORDS_LEVELS;
		return need->few_levels ? 0 : -ENOMEM;
	}
	twheel_lock(tw);
	wheel_add_level(w, slots);
	twheel_unlock(tw);
	return 0;
}

/**
 * memory_grow() - give a wheel what an arm has told that it needs
 * @tw: the wheel
 * @need: what timers_arm() says; told if it has to make do with the levels that there are
 *
 * Return: 0: try again; -ENOMEM, -EDQUOT, -EINTR.  Sleeps.
 */
TWHEEL_PART int memory_grow(struct twheel *tw, struct timers_need *need)
{
	int ret;

	cond_resched();
	if (need->what != TIMERS_NEED_CHUNK && need->what != TIMERS_NEED_LEVEL)
		return fatal_signal_pending(current) ? -EINTR : 0;
	ret = memory_begin(tw);
	if (ret)
		return ret;
	if (need->what == TIMERS_NEED_CHUNK)
		ret = add_chunk(tw, need->id);
	else
		ret = add_level(tw, need);
	mutex_unlock(&tw->grow);
	return ret;
}

/* A chunk of timers, and the page of their words. */
static int add_words(struct timers *ts, struct twheel_user *user, u32 id)
{
	struct twheel_word *page = alloc_pages_exact(PAGE_SIZE, WHEEL_GFP);
	struct supply supply;
	int ret;

	if (!page)
		return -ENOMEM;
	words_add(ts, id, page);
	ret = supply_take(&supply, ts, user);
	if (!ret)
		supply_give(&supply, ts, id);
	return ret;
}

/**
 * memory_set_up() - take all the memory that words and their timers will need
 * @ts: the timers; not yet visible to other threads
 * @user: the wheel's user
 *
 * The softirq pass can't wait for memory, so the lowest levels are allocated here as well.
 * Timers beyond their reach go round the last one.
 *
 * Return: 0; -ENOMEM, -EDQUOT, -EINTR: then memory_free() gives back what there is.
 * Sleeps.
 */
TWHEEL_PART int memory_set_up(struct timers *ts, struct twheel_user *user)
{
	unsigned int levels = min(ts->wheel.max_levels, WORDS_LEVELS);
	int ret;

	if (!words_begin(ts))
		return -ENOMEM;
	for (u32 id = 0; id < ts->wheel.capacity; id += WHEEL_CHUNK_TIMERS) {
		ret = add_words(ts, user, id);
		if (ret)
			return ret;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	while (ts->wheel.nr_levels < levels) {
		struct wheel_slot *slots = wheel_level_alloc(&ts->wheel);

		if (!slots)
			return -ENOMEM;
		wheel_add_level(&ts->wheel, slots);
	}
	return 0;
}

/**
 * memory_free() - give all memory of timers back
 * @ts: the timers; no longer visible to other threads
 * @user: the wheel's user
 *
 * Sleeps.
 */
TWHEEL_PART void memory_free(struct timers *ts, struct twheel_user *user)
{
	user_uncharge_timers(user, wheel_timers_held(&ts->wheel));
	timers_destroy(ts);
}
