// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A wheel in this process, where there is no device.
 *
 * Nobody turns it but those who call: each call goes by the clock, and sets the timerfd for
 * what has to be done next.  The timerfd is never read.  To set it makes it readable or not, so
 * that is all that a call has to do; and it is left alone where it would come too early, which
 * costs one call in vain, or where it is readable and there is something to take.
 *
 * A child after fork() shares the wheel, as it shares the device's: so all of it is in memory
 * that is mapped shared, at the same address in both, with its lock.
 */
/* A wheel that finds itself wrong ends the program, whatever else is compiled without checks. */
#undef NDEBUG
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "fallback.h"
#include "sys.h"

/* Of the parts that know no device, not all is needed here. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* Memory that is given out stays so, until all of it is unmapped. */
#define COMPAT_OWN_MEMORY
static void *give(size_t size, size_t align);
#define kvzalloc(size, gfp)		give(size, 64)
#define kvfree(p)			((void)(p))
#define alloc_pages_exact(size, gfp)	give(size, PAGE_SIZE)
#define free_pages_exact(p, size)	((void)(p))

#include "../unit.c"

/* Events that one call hands out, so that it keeps nobody else waiting for long. */
#define READ_MAX	1024U
/* So many timers are handled before the lock is given back. */
#define STEPS		(READ_MAX / WHEEL_STEP)

/* Levels, directories, and what is lost to alignment; and the part that each timer needs. */
#define ROOM		(1UL << 20)
#define ROOM_PER_TIMER	72UL

/**
 * struct fallback - a wheel in this process, and the beginning of its memory
 * @lock: for all that follows; shared by those who came from one another by fork()
 * @size: bytes mapped
 * @used: so many of them are given out
 * @setup: the wheel's shape
 * @fd: the timerfd
 * @set_for: when the timerfd is readable, in the wheel's time; KTIME_MAX: never.  If that has
 *	come, it is readable
 * @words: one for each id; NULL: there are none
 * @timers: the timers
 */
struct fallback {
	pthread_mutex_t		lock;
	size_t			size;
	size_t			used;
	struct twheel_setup	setup;
	int			fd;
	u64			set_for;
	struct twheel_word	*words;
	struct timers		timers;
};

/* The wheel that this thread is adding memory to, with its lock held. */
static _Thread_local struct fallback *giver;

static void *give(size_t size, size_t align)
{
	size_t begin = (giver->used + align - 1) & ~(align - 1);

	if (begin > giver->size || size > giver->size - begin)
		return NULL;
	giver->used = begin + size;
	return (char *)giver + begin;
}

/* With the lock: the timerfd becomes readable at that time, and not before. */
static void set(struct fallback *f, u64 when)
{
	f->set_for = when;
	twheel_sys_timer_set(f->fd, when);
}

/*
 * Who dies with the lock, a child that is killed for instance, leaves a wheel that is no use;
 * those who sleep on it are woken, and told by their next call.
 */
static int lock(struct fallback *f)
{
	int ret = pthread_mutex_lock(&f->lock);

	if (ret == EOWNERDEAD) {
		set(f, 0);
		pthread_mutex_unlock(&f->lock);
		ret = ENOTRECOVERABLE;
	}
	return -ret;
}

static u64 now_of(const struct fallback *f)
{
	return twheel_sys_now(f->setup.clock);
}

/* With the lock: what may depend on the time goes by this one. */
static int begin(struct fallback *f, u64 *now)
{
	int ret = lock(f);

	if (ret)
		return ret;
	*now = now_of(f);
	timers_turn(&f->timers, *now);
	return 0;
}

/*
 * When there is something to do, in the wheel's time: 0: there is.  A heavy slot is brought down
 * ahead of its time, and timers_next() does not count it.
 */
static u64 wanted(struct fallback *f)
{
	struct timers *ts = &f->timers;

	return timers_expired(ts) || timers_heavy(ts) ? 0 : timers_next(ts);
}

/* Give the lock back; @when: what is wanted, so that there is a call in time. */
static void end_for(struct fallback *f, u64 now, u64 when)
{
	bool readable = f->set_for <= now;

	if (readable ? when > now : when < f->set_for)
		set(f, when);
	pthread_mutex_unlock(&f->lock);
}

static void end(struct fallback *f, u64 now)
{
	end_for(f, now, wanted(f));
}

/* Arm and cancel */

/* What an arm needs before it can be done. */
static int grow(struct fallback *f, struct timers_need *need)
{
	struct wheel *w = &f->timers.wheel;
	struct wheel_slot *slots;
	struct wheel_chunk chunk;

	giver = f;
	switch (need->what) {
	case TIMERS_NEED_CHUNK:
		chunk = wheel_chunk_alloc();
		if (!chunk.node)
			return -ENOMEM;
		wheel_add_chunk(w, need->id, chunk);
		break;
	case TIMERS_NEED_LEVEL:
		slots = wheel_level_alloc(w);
		if (!slots)
			return -ENOMEM;
		wheel_add_level(w, slots);
		break;
	case TIMERS_NEED_NOTHING:
		break;
	}
	return 0;
}

/* Returns -EAGAIN if others are to get the lock before it is tried once more. */
static int do_op(struct fallback *f, struct twheel_op *op, u64 now, struct timers_need *need)
{
	struct timers *ts = &f->timers;
	int ret;

	switch (op->opcode) {
	case TWHEEL_OP_ARM:
		ret = timers_check_arm(ts, op);
		if (ret)
			return ret;
		while ((ret = timers_arm(ts, op, now, need)) == -EAGAIN) {
			if (need->what == TIMERS_NEED_NOTHING)
				return ret;
			ret = grow(f, need);
			if (ret)
				return ret;
		}
		return ret;
	case TWHEEL_OP_CANCEL:
		ret = timers_check_cancel(ts, op);
		return ret ? ret : timers_cancel(ts, op);
	default:
		return -EINVAL;
	}
}

static int single(struct fallback *f, struct twheel_op *op, u32 opcode)
{
	struct timers_need need = {};
	u64 now;
	int ret;

	op->opcode = opcode;
	do {
		ret = begin(f, &now);
		if (ret)
			break;
		ret = do_op(f, op, now, &need);
		end(f, now);
	} while (ret == -EAGAIN);
	op->opcode = 0;
	op->result = ret;
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

/* Get and list */

static int get(struct fallback *f, struct twheel_timer *timer)
{
	u64 now;
	int ret = begin(f, &now);

	if (ret)
		return ret;
	ret = timers_get(&f->timers, timer, now);
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
				 min(list->nr - list->done, WHEEL_STEP), &list->cursor, now);
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

/*
 * With the lock: find what is due and take it.  Sets @more if that is not all; what a heavy slot
 * has yet to bring down is not due, and is left to the next calls.
 */
static u32 take(struct fallback *f, struct twheel_event *events, u32 nr, u64 now, bool *more)
{
	struct timers *ts = &f->timers;
	u32 done = 0, claimed, count, dropped;

	/* By one reading of the clock, so that of a fast periodic timer there is one event. */
	for (u32 step = 0; step < STEPS && done < nr; step++) {
		struct twheel_event *to = &events[done];

		/* At first in any case: timers armed for "now" again and again hide no others. */
		if (!step || timers_expired(ts) < nr - done)
			timers_advance(ts, now, WHEEL_STEP);
		dropped = events_drop_stale(ts, WHEEL_STEP);
		claimed = timers_claim(ts, to, min(nr - done, WHEEL_STEP), now);
		*more = dropped || claimed || timers_behind(ts, now);
		if (!*more && !timers_heavy(ts))
			break;
		while (claimed) {
			count = timers_commit(ts, to, claimed, ts->claims, now);
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
	/* Twice through all timers on all levels, and no more: who stores holds nobody up. */
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
		when = wanted(f);
		/* Who waits for an edge, or beside this thread, is told of what is left. */
		if ((done || !more) && when <= now)
			set(f, when);
		/* A clock that may be set back does not say whether the timerfd has come. */
		if (!done && !more && f->timers.settable)
			set(f, when);
		end_for(f, now, when);
	}
	return (int)(done * sizeof(struct twheel_event));
}

/* Open and close */

static int clock_check(u32 clock, bool *settable)
{
	switch (clock) {
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
		*settable = false;
		return 0;
	case CLOCK_REALTIME:
		*settable = true;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* All the memory that words and their timers need, so that who stores never lacks any. */
static int add_words(struct fallback *f)
{
	struct timers *ts = &f->timers;
	u32 capacity = ts->wheel.capacity;
	struct timers_need need = { .what = TIMERS_NEED_LEVEL };
	struct twheel_word **directory = words_directory_alloc(ts);

	f->words = give((size_t)capacity * sizeof(*f->words), PAGE_SIZE);
	if (!directory || !f->words)
		return -ENOMEM;
	words_add_directory(ts, directory);
	for (u32 id = 0; id < capacity; id += WORDS_PER_PAGE)
		words_add(ts, id, f->words + id);
	while (ts->wheel.nr_levels < ts->wheel.max_levels)
		if (grow(f, &need))
			return -ENOMEM;
	need.what = TIMERS_NEED_CHUNK;
	for (need.id = 0; need.id < capacity; need.id += WHEEL_CHUNK_TIMERS)
		if (grow(f, &need))
			return -ENOMEM;
	f->setup.words_nr = capacity;
	return 0;
}

static int furnish(struct fallback *f, bool settable)
{
	struct timers *ts = &f->timers;
	struct wheel_chunk *directory;

	timers_setup(ts, f->setup.capacity, f->setup.levels, f->setup.slots, f->setup.tick,
		     now_of(f));
	ts->settable = settable;
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

int twheel_fallback_open(struct fallback **out, struct twheel_setup *setup)
{
	struct fallback *f;
	bool settable;
	size_t size;
	void *at;
	int ret;

	if (!(setup->flags & TWHEEL_SETUP_CLOCK))
		setup->clock = CLOCK_MONOTONIC;
	setup->flags |= TWHEEL_SETUP_CLOCK;
	ret = clock_check(setup->clock, &settable);
	if (!ret)
		ret = timers_check_shape(setup);
	if (ret)
		return ret;
	size = sizeof(*f) + ROOM + ROOM_PER_TIMER * (setup->capacity + WHEEL_CHUNK_TIMERS);
	ret = twheel_sys_memory(size, &at);
	if (ret)
		return ret;
	f = at;
	f->size = size;
	f->used = sizeof(*f);
	f->setup = *setup;
	f->set_for = KTIME_MAX;
	lock_init(&f->lock);
	ret = furnish(f, settable);
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
