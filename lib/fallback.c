// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A wheel in this process, for where there is no device.
 *
 * Nothing runs in the background: each call reads the clock, turns the wheel, and sets the
 * timerfd for the next work.  The timerfd is never read; to set it makes it readable or not.  It
 * is not set where it would only fire too early, which costs one fruitless call, nor while it is
 * readable and there is work.
 *
 * A child after fork() shares the wheel, as it would share the device's.  So the wheel and its
 * lock are in memory that is mapped shared, at the same address in both.  A wheel that one thread
 * has to itself takes no lock, and a child has a copy of its memory.
 *
 * All is done under the lock, so an event is claimed and committed in one go.
 */
/* WARN_ON_ONCE() needs assert(): a wheel that is corrupt ends the program. */
#undef NDEBUG
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "fallback.h"
#include "sys.h"

/* The fallback does not call every function of the unit. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* Allocate from the mapping, which is freed as a whole. */
#define COMPAT_OWN_MEMORY
static void *give(size_t size, size_t align);
#define kvzalloc(size, gfp)		give(size, 64)
#define kvfree(p)			((void)(p))
#define kzalloc(size, gfp)		give(size, size)
#define kfree(p)			((void)(p))
#define free_pages_exact(p, size)	((void)(p))

#include "../unit.c"

/* Events in one read, which bounds how long it holds the lock. */
#define READ_MAX	1024U
/* Steps under one hold of the lock. */
#define STEPS		(READ_MAX / WHEEL_STEP)

/* Bytes for levels, directories and alignment, and bytes for each timer. */
#define ROOM		(1UL << 20)
#define ROOM_PER_TIMER	88UL

/**
 * struct fallback - a wheel in this process, and the beginning of its memory
 * @lock: protects all that follows; shared by processes
 * @alone: there is one thread at a time, and no other process: @lock is not taken; constant
 * @size: bytes mapped
 * @used: bytes allocated
 * @setup: the wheel's shape
 * @fd: the timerfd
 * @set_for: the timerfd is readable from this time on; KTIME_MAX: never
 * @words: one for each id; NULL: there are none
 * @timers: the timers
 */
struct fallback {
	pthread_mutex_t		lock;
	bool			alone;
	size_t			size;
	size_t			used;
	struct twheel_setup	setup;
	int			fd;
	u64			set_for;
	struct twheel_word	*words;
	struct timers		timers;
};

/* The wheel that this thread allocates for, with its lock held. */
static _Thread_local struct fallback *giver;

static void *give(size_t size, size_t align)
{
	size_t begin = (giver->used + align - 1) & ~(align - 1);

	if (begin > giver->size || size > giver->size - begin)
		return NULL;
	giver->used = begin + size;
	return (char *)giver + begin;
}

/* Make the timerfd readable from a time on.  The caller holds the lock. */
static void set(struct fallback *f, u64 when)
{
	f->set_for = when;
	twheel_sys_timer_set(f->fd, when);
}

/*
 * A process that died with the lock leaves a corrupt wheel: wake the sleepers, so that their next
 * call fails.
 */
static int lock(struct fallback *f)
{
	int ret;

	if (f->alone)
		return 0;
	ret = pthread_mutex_lock(&f->lock);
	if (ret == EOWNERDEAD) {
		set(f, 0);
		pthread_mutex_unlock(&f->lock);
		ret = ENOTRECOVERABLE;
	}
	return -ret;
}

static void unlock(struct fallback *f)
{
	if (!f->alone)
		pthread_mutex_unlock(&f->lock);
}

/* Take the lock, read the clock and turn the wheel. */
static int begin(struct fallback *f, u64 *now)
{
	int ret = lock(f);

	if (ret)
		return ret;
	*now = twheel_sys_now(f->setup.clock);
	timers_set_time(&f->timers, *now);
	return 0;
}

/*
 * When is there work, in the wheel's time?  0: now.  timers_next() leaves out a heavy slot, which
 * is brought down ahead of its time.
 */
static u64 next_work(struct fallback *f)
{
	struct timers *ts = &f->timers;

	return timers_queued(ts) || timers_heavy(ts) ? 0 : timers_next(ts);
}

/* Set the timerfd if it would miss the next work, and release the lock. */
static void end(struct fallback *f, u64 now)
{
	bool readable = f->set_for <= now;
	u64 when = next_work(f);

	if (readable ? when > now : when < f->set_for)
		set(f, when);
	unlock(f);
}

/* Arm and cancel */

/* Add what an arm needs.  Returns -EAGAIN if that is only another hold of the lock. */
static int grow(struct fallback *f, struct timers_need *need)
{
	struct timers *ts = &f->timers;
	struct timer_more **directory;
	struct wheel_slot *slots;
	void *page = NULL;

	giver = f;
	if (need->what == TIMERS_NEED_CHUNK || need->what == TIMERS_NEED_MORE ||
	    need->what == TIMERS_NEED_BLOCKS) {
		page = kzalloc(WHEEL_PAGE_SIZE, WHEEL_GFP);
		if (!page)
			return -ENOMEM;
	}
	switch (need->what) {
	case TIMERS_NEED_CHUNK:
		wheel_add_chunk(&ts->wheel, need->id, page);
		return 0;
	case TIMERS_NEED_BLOCKS:
		wheel_add_blocks(&ts->wheel, page);
		return 0;
	case TIMERS_NEED_MORE:
		if (!ts->more) {
			directory = timers_more_alloc(ts);
			if (!directory)
				return -ENOMEM;
			timers_add_more_directory(ts, directory);
		}
		timers_add_more(ts, need->id, page);
		return 0;
	case TIMERS_NEED_LEVEL:
		slots = wheel_level_alloc(&ts->wheel);
		if (!slots)
			return -ENOMEM;
		wheel_add_level(&ts->wheel, slots);
		return 0;
	case TIMERS_NEED_WORD:
		words_exchange(&f->timers, need);
		return 0;
	case TIMERS_NEED_RETRY:
		break;
	}
	return -EAGAIN;
}

/* Carry out an operation.  Returns -EAGAIN if it needs another hold of the lock. */
static int do_op(struct fallback *f, struct twheel_op *op, u64 now, struct timers_need *need)
{
	const bool arm = op->opcode == TWHEEL_OP_ARM;
	struct timers *ts = &f->timers;
	int ret;

	if (!arm && op->opcode != TWHEEL_OP_CANCEL)
		return -EINVAL;
	do {
		ret = arm ? timers_arm(ts, op, now, need) : timers_cancel(ts, op, need);
		if (ret != -EAGAIN)
			return ret;
		ret = grow(f, need);
	} while (!ret);
	return ret;
}

static int submit(struct fallback *f, struct twheel_submit *call)
{
	struct twheel_op *ops = (struct twheel_op *)(uintptr_t)call->ops;
	struct timers_need need = {};
	u64 now;
	int ret;

	call->done = 0;
	call->failed = 0;
	while (call->done < call->nr) {
		u32 last = call->done + min(call->nr - call->done, WHEEL_STEP);

		ret = begin(f, &now);
		if (ret)
			return call->done ? 0 : ret;
		need.handled = 0;
		timers_prefetch_first(&f->timers, &ops[call->done], last - call->done);
		for (; call->done < last; call->done++) {
			struct twheel_op *op = &ops[call->done];

			timers_prefetch_later(&f->timers, op, last - call->done);
			ret = do_op(f, op, now, &need);
			if (ret == -EAGAIN)
				break;
			op->result = ret;
			call->failed += ret < 0;
		}
		end(f, now);
	}
	return 0;
}

/**
 * struct filing - what the timers of a batch have in common
 * @from: for deadlines from here on, and for as long as a tick takes, the others hold, ns.  A
 *	program that arms many timers at a time arms most of them for the same tick
 * @expiry: the tick of the wheel's
 */
struct filing {
	u64		from;
	u64		expiry;
};

/*
 * File a timer that is in no queue by what its word holds.  Nothing was promised of it, so this
 * lowers the promise, and takes no barrier.  Returns false if there is more to do.
 */
static inline bool file(struct fallback *f, u32 id, struct filing *in)
{
	struct timers *ts = &f->timers;
	struct twheel_word *word = &f->words[id];
	struct timer *t = timer_of(ts, id);
	enum wheel_where where = wheel_where(t);
	u64 deadline = word_deadline(word);

	if (unlikely((where != WHEEL_OUT && where != WHEEL_KEPT) || deadline <= ts->now ||
		     slack_of(ts, id) || wheel_full(&ts->wheel)))
		return (where == WHEEL_OUT || where == WHEEL_KEPT) && !deadline;
	if (deadline - in->from >= ts->tick) {
		in->expiry = file_tick(ts, deadline, 0);
		in->from = (in->expiry - 1 - ts->shift) * ts->tick + 1;
	}
	wheel_file_inline(&ts->wheel, id, t, wheel_look_tick(&ts->wheel, in->expiry));
	t->deadline = deadline;
	WRITE_ONCE(word->promise, deadline);
	ts->arms++;
	return true;
}

static noinline int arm_stored(struct fallback *f, u32 id, struct timers_need *need)
{
	struct twheel_op op = {
		.opcode = TWHEEL_OP_ARM,
		.flags = TWHEEL_ARM_STORED,
		.id = id,
	};

	return do_op(f, &op, f->timers.now, need);
}

int twheel_fallback_arm(struct fallback *f, const u32 *ids, u32 nr)
{
	for (u32 done = 0, last; done < nr;) {
		/* No deadline is less than a tick from there. */
		struct filing in = { .from = KTIME_MAX + 1ULL };
		struct timers_need need = {};
		u64 now;
		int ret = begin(f, &now);

		if (ret)
			return ret;
		last = done + min(nr - done, WHEEL_STEP);
		for (u32 i = done; i < last; i++)
			prefetchw(timer_of(&f->timers, ids[i]));
		while (done < last && (file(f, ids[done], &in) ||
				       arm_stored(f, ids[done], &need) != -EAGAIN))
			done++;
		end(f, now);
	}
	return 0;
}

static int single(struct fallback *f, struct twheel_op *op, u32 opcode)
{
	struct twheel_submit call = { .ops = (uintptr_t)op, .nr = 1 };
	int ret;

	op->opcode = opcode;
	ret = submit(f, &call);
	op->opcode = 0;
	return ret ? ret : op->result;
}

/* Get and list */

static int get(struct fallback *f, struct twheel_timer *timer)
{
	u64 now;
	int ret = begin(f, &now);

	if (ret)
		return ret;
	ret = timers_get(&f->timers, timer);
	end(f, now);
	return ret;
}

static int enumerate(struct fallback *f, struct twheel_list *list)
{
	struct twheel_timer *timers = (struct twheel_timer *)(uintptr_t)list->timers;
	struct timers *ts = &f->timers;
	u64 now;
	u32 nr;
	int ret;

	if (!list->nr)
		return -EINVAL;
	if (list->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	list->done = 0;
	do {
		ret = begin(f, &now);
		if (ret)
			return list->done ? 0 : ret;
		nr = timers_list(ts, timers + list->done,
				 min(list->nr - list->done, WHEEL_STEP), &list->cursor);
		list->done += nr;
		end(f, now);
	} while (list->done < list->nr && list->cursor < ts->wheel.capacity);
	return 0;
}

int twheel_fallback_call(struct fallback *f, unsigned long request, void *arg)
{
	switch (request) {
	case TWHEEL_IOC_ARM:
		return single(f, arg, TWHEEL_OP_ARM);
	case TWHEEL_IOC_CANCEL:
		return single(f, arg, TWHEEL_OP_CANCEL);
	case TWHEEL_IOC_SUBMIT:
		return submit(f, arg);
	case TWHEEL_IOC_GET:
		return get(f, arg);
	case TWHEEL_IOC_LIST:
		return enumerate(f, arg);
	default:
		return -ENOTTY;
	}
}

/* Events */

/* As words_take(), which need not be atomic where there is one thread. */
static u32 take_words(struct fallback *f, const struct twheel_event *events, u32 nr)
{
	if (!f->alone || !f->words)
		return words_take(&f->timers, events, nr);
	for (u32 i = 0; i < nr; i++) {
		struct twheel_word *word = &f->words[events[i].id];

		if (word_deadline(word) != events[i].deadline)
			return i;
		word->deadline = timer_after(more_of(&f->timers, events[i].id), &events[i]);
	}
	return nr;
}

/*
 * Find due timers and take their events.  Sets @more if there may be others; a heavy slot that is
 * not due yet is left to later calls.  The caller holds the lock.
 */
static u32 take(struct fallback *f, struct twheel_event *events, u32 nr, u64 now, bool *more)
{
	struct timers *ts = &f->timers;
	u32 done = 0, claimed, taken, count, dropped;

	/* All steps go by one reading of the clock, so a fast periodic timer has one event. */
	for (u32 step = 0; step < STEPS && done < nr; step++) {
		struct twheel_event *to = &events[done];

		/* Timers that are armed for now again and again must not hide others. */
		if (!step || timers_queued(ts) < nr - done)
			timers_advance(ts, now, WHEEL_STEP);
		dropped = timers_drop_stale(ts, WHEEL_STEP);
		claimed = timers_claim(ts, to, min(nr - done, WHEEL_STEP), now);
		*more = dropped || claimed || timers_behind(ts);
		if (!*more && !timers_heavy(ts))
			break;
		while (claimed) {
			taken = take_words(f, to, claimed);
			count = timers_commit(ts, to, claimed, taken, ts->claims, now);
			done += count;
			if (count == claimed)
				break;
			to += count;
			claimed -= count + 1;
			memmove(to, to + 1, claimed * sizeof(*to));
		}
	}
	return done;
}

int twheel_fallback_read(struct fallback *f, void *to, size_t size)
{
	u32 nr = min_t(size_t, size / sizeof(struct twheel_event), READ_MAX), done = 0;
	/* Bounded, because other threads may store and so make events stale all the time. */
	u32 rounds = 2 * WHEEL_MAX_LEVELS * (f->setup.capacity / READ_MAX + 1);
	bool more = true;
	u64 now, when;
	int ret;

	while (more && !done && rounds--) {
		ret = begin(f, &now);
		if (ret)
			return ret;
		more = false;
		done = take(f, to, nr, now, &more);
		when = next_work(f);
		/*
		 * Make an edge if the last round leaves work, for epoll and for other readers.
		 * After a clock was set back, @set_for does not tell if the timerfd is readable.
		 */
		if ((done || !more || !rounds) &&
		    (when <= now || (!done && f->timers.settable)))
			set(f, when);
		end(f, now);
	}
	return (int)(done * sizeof(struct twheel_event));
}

/* Open and close */

/* Add words, and all the memory that their timers can need: a store cannot fail. */
static int add_words(struct fallback *f)
{
	struct timers *ts = &f->timers;
	u32 capacity = ts->wheel.capacity;
	struct timers_need need = { .what = TIMERS_NEED_LEVEL };

	f->words = give((size_t)capacity * sizeof(*f->words), PAGE_SIZE);
	if (!f->words || !words_begin(ts))
		return -ENOMEM;
	for (u32 id = 0; id < capacity; id += WORDS_PER_PAGE)
		words_add(ts, id, f->words + id);
	while (ts->wheel.nr_levels < ts->wheel.max_levels)
		if (grow(f, &need))
			return -ENOMEM;
	need.what = TIMERS_NEED_CHUNK;
	for (need.id = 0; need.id < capacity; need.id += WHEEL_CHUNK_TIMERS)
		if (grow(f, &need))
			return -ENOMEM;
	need.what = TIMERS_NEED_BLOCKS;
	while (ts->wheel.room < 2ULL * (capacity + WHEEL_STEP))
		if (grow(f, &need))
			return -ENOMEM;
	return 0;
}

/* Set up the timers with their directory, and with words if asked for. */
static int setup_timers(struct fallback *f)
{
	struct timers *ts = &f->timers;
	void *directory;

	timers_setup(ts, f->setup.capacity, f->setup.levels, f->setup.slots, f->setup.tick,
		     twheel_sys_now(f->setup.clock));
	ts->settable = f->setup.clock == CLOCK_REALTIME;
	giver = f;
	directory = wheel_directory_alloc(&ts->wheel);
	if (!directory)
		return -ENOMEM;
	wheel_add_directory(&ts->wheel, directory);
	return f->setup.flags & TWHEEL_SETUP_WORDS ? add_words(f) : 0;
}

static void lock_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t how;

	pthread_mutexattr_init(&how);
	pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(mutex, &how);
	pthread_mutexattr_destroy(&how);
}

int twheel_fallback_open(struct fallback **out, struct twheel_setup *setup, bool alone)
{
	struct fallback *f;
	size_t size;
	void *at;
	int ret;

	if (!(setup->flags & TWHEEL_SETUP_CLOCK))
		setup->clock = CLOCK_MONOTONIC;
	setup->flags |= TWHEEL_SETUP_CLOCK;
	if (setup->clock != CLOCK_MONOTONIC && setup->clock != CLOCK_BOOTTIME &&
	    setup->clock != CLOCK_REALTIME)
		return -EOPNOTSUPP;
	ret = timers_check_shape(setup);
	if (ret)
		return ret;
	size = sizeof(*f) + ROOM + ROOM_PER_TIMER * (setup->capacity + WHEEL_CHUNK_TIMERS);
	ret = twheel_sys_memory(size, !alone, &at);
	if (ret)
		return ret;
	f = at;
	f->alone = alone;
	f->size = size;
	f->used = sizeof(*f);
	f->setup = *setup;
	f->set_for = KTIME_MAX;
	lock_init(&f->lock);
	ret = setup_timers(f);
	if (!ret)
		ret = twheel_sys_timer(setup->clock);
	if (ret < 0) {
		twheel_fallback_close(f);
		return ret;
	}
	f->fd = ret;
	*setup = f->setup;
	*out = f;
	return ret;
}

void twheel_fallback_close(struct fallback *f)
{
	twheel_sys_unmap(f, f->size);
}

struct twheel_word *twheel_fallback_words(struct fallback *f)
{
	return f->words;
}
