// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events: from the ring or by read, and the wait for them. */
#include <errno.h>
#include <limits.h>
#include <time.h>

#include "handle.h"

/* Events in one read: what it returns fits an int. */
#define READ_MAX	(1U << 20)

/* Of what is due or stale the kernel gets more than this done in a call, 64 mostly. */
#define KERNEL_STEP	8U

/* So many entries of the ring ahead is what is fetched meanwhile. */
#define AHEAD		16U

/*
 * An event may wait behind stale ones, which the kernel drops some at a time: so a take goes
 * on calling while there is something to find.  How often it may come back with nothing:
 * twice what it takes to go through all timers, so that a wheel that never gets done holds
 * up nobody for ever.
 */
static uint32_t empty_calls(const struct twheel *w)
{
	return 2 * (w->shared.capacity / KERNEL_STEP + 1);
}

/* May the wheel's clock be set back, so that the deadline of an event is to come again? */
static bool settable(const struct twheel *w)
{
	return w->clock == CLOCK_REALTIME || w->clock == CLOCK_TAI;
}

/* From a ring */

/*
 * How many expirations of a count are left, this one included: the kernel knows, but for what is
 * on the batch, and the entry may be older than what was told since.  Returns false if the
 * timer was cancelled or moved meanwhile.
 */
static bool count_left(struct twheel *w, const struct twheel_entry *entry, uint32_t *left)
{
	struct twheel_timer timer;

	if (twheel_get(w, entry->id, &timer) || timer.deadline != entry->deadline)
		return false;
	*left = timer.generation == entry->generation ? timer.count : entry->count;
	/* An entry may have anything written over it. */
	if (*left > TWHEEL_MAX_COUNT)
		*left = TWHEEL_MAX_COUNT;
	for (uint32_t i = 0; i < w->batch_nr; i++) {
		const struct twheel_op *op = &w->batch[i];

		if (op->id == entry->id && op->generation == entry->generation)
			*left -= op->count < *left ? op->count : *left;
	}
	return true;
}

/* Of the periods that had passed when the event came, those that have passed by this clock. */
static uint64_t overruns(const struct twheel *w, const struct twheel_entry *entry)
{
	uint64_t now, passed;

	if (!settable(w) || !entry->interval)
		return entry->overruns;
	now = twheel_now(w);
	passed = now < entry->deadline ? 0 : (now - entry->deadline) / entry->interval;
	return passed < entry->overruns ? passed : entry->overruns;
}

/*
 * What an entry tells, if it counts; returns false if it does not.  The fields are written out
 * one by one, because who shares the wheel may write anything into the others.
 */
static bool tell(struct twheel *w, const struct twheel_entry *entry, struct twheel_event *event)
{
	uint32_t left;

	*event = (struct twheel_event){
		.id		= entry->id,
		.generation	= entry->generation,
		.cookie		= entry->cookie,
		.deadline	= entry->deadline,
		.fired		= entry->fired,
		.overruns	= overruns(w, entry),
		.flags		= entry->interval ? 0 : TWHEEL_EVENT_LAST,
	};
	if (!entry->count)
		return true;
	if (!count_left(w, entry, &left))
		return false;
	if (event->overruns + 1 >= left) {
		event->overruns = left ? left - 1 : 0;
		event->flags = TWHEEL_EVENT_LAST;
	}
	return true;
}

/* When the timer of an event goes on; 0: never. */
static uint64_t next_deadline(const struct twheel_entry *entry, const struct twheel_event *event)
{
	uint64_t span, next;

	if (event->flags & TWHEEL_EVENT_LAST)
		return 0;
	if (__builtin_mul_overflow(event->overruns + 1, entry->interval, &span) ||
	    __builtin_add_overflow(event->deadline, span, &next))
		return UINT64_MAX;
	return next;
}

/* Was the timer of an entry armed again by a call, be it for the same deadline? */
static bool rearmed(const struct twheel *w, const struct twheel_entry *entry)
{
	return twheel_earlier(entry->generation, w->generation[entry->id]);
}

/*
 * See if an entry of the ring counts: then its deadline is still that of the word,
 * and goes from there, in one step, so that it is nobody else's.
 */
static bool claim(struct twheel *w, const struct twheel_entry *entry, struct twheel_event *event)
{
	struct twheel_word *word = &w->shared.words[entry->id];
	__u64 deadline = __atomic_load_n(&word->deadline, __ATOMIC_SEQ_CST), next;
	uint32_t told = 0;
	bool counts = false;

	if (deadline == entry->deadline && !rearmed(w, entry) &&
	    !(settable(w) && twheel_now(w) < deadline) && tell(w, entry, event)) {
		next = next_deadline(entry, event);
		counts = __atomic_compare_exchange_n(&word->deadline, &deadline, next, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		if (counts) {
			deadline = next;
			told = entry->count ? (uint32_t)event->overruns + 1 : 0;
		}
	}
	/*
	 * The kernel does not go on by itself, to a next period or to a later arm; nor does it
	 * know what was taken of a count.  To tell it fails only if somebody has closed the file.
	 */
	if (told ||
	    twheel_uncovered(deadline, __atomic_load_n(&word->promise, __ATOMIC_SEQ_CST)))
		twheel_batch_add(w, entry->id, told, entry->generation);
	return counts;
}

/*
 * Let the kernel put more into the ring: any submit does.  Others get the lock meanwhile if
 * nothing is to be told, as the kernel may have to pass over millions of stale timers; or else
 * afterwards.
 */
static int call_kernel(struct twheel *w)
{
	struct twheel_submit call = { .op_size = sizeof(struct twheel_op) };
	int ret;

	if (w->batch_nr) {
		ret = twheel_batch_submit(w);
		twheel_lock_again(w);
		return ret;
	}
	pthread_mutex_unlock(&w->lock);
	ret = twheel_call(w, TWHEEL_IOC_SUBMIT, &call);
	twheel_lock(w);
	return ret;
}

static const struct twheel_entry *entry_at(const struct twheel *w, uint32_t number)
{
	const struct twheel_entry *entries =
		(const void *)((const char *)w->shared.ring + TWHEEL_RING_HEADER);

	return &entries[number & w->ring_mask];
}

/*
 * Fetch what the claim of an entry will look at.  It stands anywhere among all timers, so it
 * is hardly ever in a cache.
 */
static inline __attribute__((always_inline)) void fetch(const struct twheel *w, uint32_t number)
{
	uint32_t id = entry_at(w, number)->id;

	if (id >= w->shared.mapped)
		return;
	__builtin_prefetch(&w->shared.words[id], 1);
	__builtin_prefetch(&w->generation[id]);
}

/*
 * What the kernel has written.  Whoever shares the wheel may have written anything over both
 * numbers; but no more entries than there are in the ring can be yet to be taken.
 */
static uint32_t tail_from(const struct twheel *w, uint32_t *head)
{
	uint32_t tail = __atomic_load_n(&w->shared.ring->tail, __ATOMIC_ACQUIRE);

	if (tail - *head > w->ring_mask + 1)
		*head = tail - (w->ring_mask + 1);
	return tail;
}

/* The same for some entries, with the lock held. */
static int adopt_entries(struct twheel *w, uint32_t number, uint32_t end)
{
	int ret = 0;

	for (; number != end && !ret; number++) {
		struct twheel_entry entry = *entry_at(w, number);
		struct twheel_timer timer;

		/* Where entries are many, most are of an arming before one that is known by now. */
		if (entry.id >= w->shared.mapped || rearmed(w, &entry))
			continue;
		ret = twheel_get(w, entry.id, &timer);
		if (!ret)
			w->generation[entry.id] = timer.generation;
	}
	return ret;
}

int twheel_ring_adopt(struct twheel *w)
{
	uint32_t head = __atomic_load_n(&w->shared.ring->head, __ATOMIC_RELAXED);
	uint32_t tail = tail_from(w, &head), end;
	int ret = 0;

	for (; head != tail && !ret; head = end) {
		end = tail - head > AHEAD ? head + AHEAD : tail;
		/* Those who take events, or fork, wait for a few entries only. */
		twheel_lock(w);
		ret = adopt_entries(w, head, end);
		pthread_mutex_unlock(&w->lock);
	}
	return ret;
}

/*
 * Claim entries, at most up to @end, and leave @head behind the last one that was looked at.  How
 * many events that makes.
 */
static uint32_t claim_entries(struct twheel *w, uint32_t *head, uint32_t end,
			      struct twheel_event *events, uint32_t nr)
{
	uint32_t taken = 0, number = *head, next = number;

	while (next != end && next - number < AHEAD && next - number < nr)
		fetch(w, next++);
	while (number != end && taken < nr) {
		struct twheel_entry entry = *entry_at(w, number);

		if (next != end && next - number < nr - taken)
			fetch(w, next++);
		number++;
		/* Who shares the wheel may write anything there, and 0 is no deadline. */
		if (entry.id < w->shared.mapped && entry.deadline)
			taken += claim(w, &entry, &events[taken]);
	}
	*head = number;
	return taken;
}

/* Tell the kernel of what was claimed, before somebody else gets the lock. */
static int tell_kernel(struct twheel *w)
{
	return !w->batching || w->telling ? twheel_batch_submit(w) : 0;
}

/*
 * Claim what is in the ring by now.  Between parts of that the lock is given back, because other
 * threads arm timers.
 */
static uint32_t claim_ring(struct twheel *w, struct twheel_event *events, uint32_t nr, int *error)
{
	struct twheel_ring *ring = w->shared.ring;
	uint32_t taken = 0, head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED), from, now;
	uint32_t left = tail_from(w, &head) - head;
	int ret;

	while (left) {
		from = head;
		taken += claim_entries(w, &head, from + (left < PART ? left : PART),
				       &events[taken], nr - taken);
		left -= head - from;
		/* Only now may the kernel write where these stood. */
		__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
		if (!left || taken == nr)
			break;
		ret = tell_kernel(w);
		if (ret)
			*error = ret;
		twheel_lock_again(w);
		head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
		now = tail_from(w, &head) - head;
		if (left > now)
			left = now;
	}
	return taken;
}

static bool ring_empty(const struct twheel *w)
{
	const struct twheel_ring *ring = w->shared.ring;

	return __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
}

/* Does twheel_take() go on, having taken so many? */
static bool goes_on(const struct twheel *w, uint32_t taken)
{
	/* Pairs with the kernel's: it sees this head, or waiting is not 0 here. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&w->shared.ring->waiting, __ATOMIC_RELAXED))
		return true;
	/* Behind stale entries there may be an event, once the kernel has put it there. */
	return !taken && ((!w->batching && w->batch_nr) || !ring_empty(w));
}

static int take_from_ring(struct twheel *w, struct twheel_event *events, uint32_t nr)
{
	uint32_t taken = 0, calls = empty_calls(w), some;
	uint64_t begin = 0;
	int ret = 0, told;
	bool over;

	twheel_lock(w);
	for (;;) {
		some = claim_ring(w, &events[taken], nr - taken, &ret);
		taken += some;
		if (taken == nr || !goes_on(w, taken))
			break;
		if (some)
			calls = empty_calls(w);
		/*
		 * What was not due when it began is for the next take: of periodic timers there
		 * may be more each time that the kernel is told of what was taken.  Who waits for
		 * an edge gets one by this call.
		 */
		over = begin && some && events[taken - 1].deadline > begin;
		ret = call_kernel(w);
		if (over || (ret && ring_empty(w)) || !calls--)
			break;
		if (!begin)
			begin = twheel_now(w);
	}
	told = tell_kernel(w);
	pthread_mutex_unlock(&w->lock);
	if (taken)
		return (int)taken;
	return ret ? ret : told;
}

/* By read */

/* Has a read that brought nothing left something to find? */
static bool again(struct twheel *w, int ret)
{
	if (w->fallback)
		return false;
	if (ret == -EINTR)
		return true;
	/* Only where there are words, or a clock is set back, can an event be stale. */
	return !ret && (w->words_end || settable(w)) && twheel_sys_poll(w->fd, 0);
}

static int read_events(struct twheel *w, struct twheel_event *events, size_t size)
{
	return w->fallback ? twheel_fallback_read(w->fallback, events, size)
			   : twheel_sys_read(w->fd, events, size);
}

static int take_by_read(struct twheel *w, struct twheel_event *events, uint32_t nr)
{
	uint32_t calls = empty_calls(w);
	int ret;

	do
		ret = read_events(w, events, nr * sizeof(*events));
	while (again(w, ret) && calls--);
	return ret < 0 ? ret : ret / (int)sizeof(*events);
}

PUBLIC int twheel_take(struct twheel *w, struct twheel_event *events, uint32_t nr)
{
	int ret, cancel;

	if (!nr)
		return 0;
	if (w->shared.ring)
		return take_from_ring(w, events, nr < INT_MAX ? nr : INT_MAX);
	/* Who waits for an edge gets one from a read that has left something. */
	if (nr > READ_MAX)
		nr = READ_MAX;
	/* A thread that is cancelled in read() may have the events already: they would be lost. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = take_by_read(w, events, nr);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

PUBLIC int twheel_wait(struct twheel *w, struct twheel_event *events, uint32_t nr, int64_t timeout)
{
	uint64_t end = 0, now;
	int ret;

	if (!nr)
		return -EINVAL;
	if (timeout > 0) {
		now = twheel_sys_now(CLOCK_MONOTONIC);
		end = now + (uint64_t)timeout;
	}
	for (;;) {
		uint32_t calls = empty_calls(w);

		/* What is taken and stale may have to be armed. */
		do {
			ret = twheel_flush(w);
			if (ret)
				return ret;
			ret = twheel_take(w, events, nr);
			if (ret)
				return ret;
		} while (calls-- && __atomic_load_n(&w->batch_nr, __ATOMIC_RELAXED));
		if (!timeout)
			return 0;
		ret = twheel_sys_poll(w->fd, timeout);
		if (ret < 0)
			return ret;
		if (timeout > 0) {
			now = twheel_sys_now(CLOCK_MONOTONIC);
			timeout = now < end ? (int64_t)(end - now) : 0;
		}
	}
}
