// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of a wheel's timers.
 *
 * A wheel starts with none.  An arm or a cancel that needs memory returns -EAGAIN; its caller drops
 * the lock and comes here.  Memory is added in chunks of timers, pages of blocks, and levels, and
 * is never moved; the directory takes over the addresses of the first pages, and does not grow.
 * Words need theirs before the first store, so setup allocates it.
 *
 * All of it is charged to the cgroup of the caller, and counted for the wheel's user: the user of
 * the first call that needs memory.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "twheel.h"

/*
 * Make the caller's user the wheel's, which is about to be used, whatever user opened it or failed
 * to use it.  From the first memory on it stays the same.
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
	twheel_begin(tw);
	swap(tw->user, user);
	twheel_end(tw);
	if (user)
		user_put(user);
	return 0;
}

/**
 * memory_begin() - take @grow, to give memory to a wheel
 * @tw: the wheel
 *
 * The memory is counted for the wheel's user, which does not change until the caller unlocks @grow.
 *
 * Return: 0, or -EINTR, -ENOMEM, -EDQUOT without @grow.  Sleeps.
 */
static int memory_begin(struct twheel *tw)
{
	int ret = mutex_lock_killable(&tw->grow);

	if (ret || tw->used)
		return ret;
	ret = take_over(tw);
	if (ret)
		mutex_unlock(&tw->grow);
	return ret;
}

static void *page_alloc(void)
{
	return kzalloc(WHEEL_PAGE_SIZE, WHEEL_GFP);
}

static int add_directory(struct twheel *tw, struct wheel *w)
{
	void *directory = wheel_directory_alloc(w);

	if (!directory)
		return -ENOMEM;
	twheel_begin(tw);
	wheel_add_directory(w, directory);
	twheel_end(tw);
	return 0;
}

/* For how many timers a wheel with so many chunks is charged: its directories count as some. */
static unsigned long charge_of(const struct timers *ts, u32 nr_chunks)
{
	u32 directories = timers_directory_bytes(ts) / TIMER_BYTES / WHEEL_CHUNK_TIMERS;

	return nr_chunks ? (directories + nr_chunks) * WHEEL_CHUNK_TIMERS : 0;
}

/* Memory for a chunk of timers. */
static int add_chunk(struct twheel *tw, struct timers *ts, struct twheel_user *user, u32 id)
{
	struct wheel *w = &ts->wheel;
	unsigned long charge = charge_of(ts, w->nr_chunks + 1) - charge_of(ts, w->nr_chunks);
	void *page;
	int ret;

	/* Another thread has added it, or a setup came in between: try the arm again. */
	if (id >= w->capacity || wheel_has(w, id))
		return 0;
	ret = user_charge_timers(user, charge);
	if (ret)
		return ret;
	/* The directory last: a wheel that is not used has no memory that SETUP could lose. */
	page = page_alloc();
	if (!page || (id >= w->ids && add_directory(tw, w))) {
		kfree(page);
		user_uncharge_timers(user, charge);
		return -ENOMEM;
	}
	twheel_begin(tw);
	wheel_add_chunk(w, id, page);
	twheel_end(tw);
	return 0;
}

/* Memory for a page of struct timer_more. */
static int add_more(struct twheel *tw, u32 id)
{
	struct timers *ts = &tw->timers;
	struct timer_more **directory = NULL;
	void *page;

	if (id >= ts->wheel.capacity || more_of(ts, id))
		return 0;
	page = page_alloc();
	if (!ts->more)
		directory = timers_more_alloc(ts);
	if (!page || (!ts->more && !directory)) {
		kvfree(directory);
		kfree(page);
		return -ENOMEM;
	}
	twheel_begin(tw);
	if (directory)
		timers_add_more_directory(ts, directory);
	timers_add_more(ts, id, page);
	twheel_end(tw);
	return 0;
}

static int add_level(struct twheel *tw, struct wheel *w)
{
	struct wheel_slot *slots;

	/* Another thread has added the last one. */
	if (w->nr_levels == w->max_levels)
		return 0;
	slots = wheel_level_alloc(w);
	if (!slots)
		return -ENOMEM;
	twheel_begin(tw);
	wheel_add_level(w, slots);
	twheel_end(tw);
	return 0;
}

static int add_blocks(struct twheel *tw, struct wheel *w)
{
	void *page;

	/* Another thread has added the last one. */
	if (w->nr_pages == wheel_max_pages(w))
		return 0;
	if (w->nr_pages == WHEEL_FIRST_PAGES && !w->directory && add_directory(tw, w))
		return -ENOMEM;
	page = page_alloc();
	if (!page)
		return -ENOMEM;
	twheel_begin(tw);
	wheel_add_blocks(w, page);
	twheel_end(tw);
	return 0;
}

/**
 * memory_grow() - give a wheel what an arm needs
 * @tw: the wheel
 * @need: from timers_arm(); @scarce is set if there is no memory for blocks
 *
 * Return: 0: try again; -ENOMEM, -EDQUOT, -EINTR.  Sleeps.
 */
static int memory_grow(struct twheel *tw, struct timers_need *need)
{
	struct timers *ts = &tw->timers;
	int ret;

	cond_resched();
	if (need->what == TIMERS_NEED_RETRY || need->what == TIMERS_NEED_WORD)
		return fatal_signal_pending(current) ? -EINTR : 0;
	ret = memory_begin(tw);
	if (ret)
		return ret;
	lockdep_assert_held(&tw->grow);
	switch (need->what) {
	case TIMERS_NEED_CHUNK:
		ret = add_chunk(tw, ts, tw->user, need->id);
		if (!ret)
			tw->used = true;
		break;
	case TIMERS_NEED_MORE:
		ret = add_more(tw, need->id);
		break;
	case TIMERS_NEED_LEVEL:
		ret = add_level(tw, &ts->wheel);
		break;
	default:
		ret = add_blocks(tw, &ts->wheel);
		if (ret && !need->scarce) {
			need->scarce = true;
			ret = 0;
		}
	}
	mutex_unlock(&tw->grow);
	return ret;
}

/**
 * memory_set_up() - take all the memory that words and their timers will need
 * @tw: the wheel
 * @ts: its timers to be, which no other thread sees
 * @user: the wheel's user
 *
 * A deadline is stored without asking for memory, so all of it is taken here: timers, words,
 * levels, and blocks for as many stale entries as there are timers.
 *
 * Return: 0; -ENOMEM, -EDQUOT, -EINTR: then memory_free() gives back what there is.
 * Sleeps.
 */
static int memory_set_up(struct twheel *tw, struct timers *ts, struct twheel_user *user)
{
	struct wheel *w = &ts->wheel;
	int ret = 0;

	if (!words_begin(ts))
		return -ENOMEM;
	for (u32 id = 0; !ret && id < w->capacity; id += WORDS_PER_PAGE) {
		void *page = alloc_pages_exact(PAGE_SIZE, WHEEL_GFP);

		if (!page)
			return -ENOMEM;
		words_add(ts, id, page);
		for (u32 first = id; !ret && first < id + WORDS_PER_PAGE;
		     first += WHEEL_CHUNK_TIMERS)
			ret = add_chunk(tw, ts, user, first);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	while (!ret && w->nr_levels < w->max_levels)
		ret = add_level(tw, w);
	while (!ret && w->room < 2ULL * (w->capacity + WHEEL_STEP)) {
		ret = add_blocks(tw, w);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return ret;
}

/**
 * memory_free() - give all memory of timers back
 * @ts: the timers; no longer visible to other threads
 * @user: the wheel's user
 *
 * Sleeps.
 */
static void memory_free(struct timers *ts, struct twheel_user *user)
{
	user_uncharge_timers(user, charge_of(ts, ts->wheel.nr_chunks));
	timers_destroy(ts);
}
