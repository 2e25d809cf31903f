// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The timers of a wheel: what the calls do.  timer.h says what a timer is.
 *
 * A read claims events, copies them, and then commits them or puts them back,
 * with the lock dropped in between, because a copy may fault and sleep.  An arm or a
 * cancel of a claimed timer takes effect at once and ends the claim; commit and put back
 * then leave the timer alone.  So no event is lost to a fault, and none that was cancelled is
 * put back.
 *
 * Words are exchanged without the lock (words.c), so an arm or a cancel of a timer with a word
 * has two halves: the first checks, and returns -EAGAIN with a need for a word; the second,
 * after words_exchange(), files the timer by what the word holds.  A commit has timers_held(),
 * words_take() and timers_commit().  These sequences exclude each other.
 *
 * Free ids: an arm with TWHEEL_ID_ANY takes an id from the pool or, if the pool is empty, from
 * the ids below @fresh, downwards: a daemon that numbers its own timers does so from 0.
 */
#include "filing.h"
#include "timers.h"
#include "words.h"

static_assert(TWHEEL_MAX_CAPACITY == WHEEL_MAX_CAPACITY);
static_assert(TWHEEL_MAX_LEVELS == WHEEL_MAX_LEVELS);
static_assert(TWHEEL_MAX_SLOTS == WHEEL_MAX_SLOTS);

/*
 * Time in which one timer is brought down, cautiously: ns.  A slot with many timers is opened
 * earlier by that for each.  Softirq handles one in 5,400 (expiry.c), if nothing but this wheel
 * is behind; but other timers expire meanwhile or come down to other levels.
 */
#define MOVE_COST	21600

/*
 * The wheel asks whether timers are due, by their deadlines.  One that was moved later is not; nor
 * are timers after the clock was set back.
 */
static void timers_look(struct wheel *w, struct wheel_batch *batch)
{
	struct timers *ts = container_of(w, struct timers, wheel);

	for (unsigned int i = 0; i < batch->nr; i++) {
		struct timer *t = batch->timer[i];
		u32 id = batch->id[i];

		batch->tick[i] = look_again(ts, id, t->deadline, batch->tick[i]);
		if (likely(batch->tick[i] <= w->at))
			timer_found(ts, id, t);
	}
}

/**
 * timers_setup() - make an empty set of timers that holds no memory
 * @ts: the timers
 * @capacity: ids are below it
 * @levels: most levels; 0: as many as any deadline needs
 * @slots: of a level
 * @tick: ns, not 0
 * @now: ns
 */
TWHEEL_PART void timers_setup(struct timers *ts, u32 capacity, unsigned int levels,
			      unsigned int slots, u64 tick, u64 now)
{
	memset(ts, 0, sizeof(*ts));
	ts->tick = tick;
	ts->reciprocal = tick > 1 ? div64_u64(~0ULL, tick) : ~0ULL;
	ts->fresh = capacity;
	ts->now_tick = ticks_of(ts, now);
	wheel_init(&ts->wheel, capacity, levels, slots,
		   max(div64_u64(MOVE_COST * WHEEL_COST_ONE, tick), (u64)1), ts->now_tick,
		   timers_look);
}

/**
 * timers_check_shape() - fill in the defaults of a wheel's shape, and check what is given
 * @setup: tick, levels, slots and capacity
 *
 * Return: 0, or -ERANGE.
 */
TWHEEL_PART int timers_check_shape(struct twheel_setup *setup)
{
	if (!setup->tick)
		setup->tick = TWHEEL_DEFAULT_TICK;
	if (!setup->slots)
		setup->slots = TWHEEL_DEFAULT_SLOTS;
	if (!setup->capacity)
		setup->capacity = TWHEEL_DEFAULT_CAPACITY;
	if (setup->tick > NSEC_PER_SEC || setup->levels > TWHEEL_MAX_LEVELS ||
	    setup->slots > TWHEEL_MAX_SLOTS || setup->capacity > TWHEEL_MAX_CAPACITY)
		return -ERANGE;
	setup->slots = roundup_pow_of_two(max(setup->slots, WHEEL_MIN_SLOTS));
	return 0;
}

static u32 more_pages(const struct timers *ts)
{
	return DIV_ROUND_UP(ts->wheel.capacity, MORE_PER_PAGE);
}

/* Memory for timers_add_more_directory(), or NULL.  Sleeps. */
TWHEEL_PART struct timer_more **timers_more_alloc(const struct timers *ts)
{
	return wheel_array_alloc(more_pages(ts) * sizeof(*ts->more));
}

/* Bytes of the directories that these timers can have. */
TWHEEL_PART size_t timers_directory_bytes(const struct timers *ts)
{
	return wheel_directory_bytes(&ts->wheel) + more_pages(ts) * sizeof(*ts->more);
}

TWHEEL_PART void timers_add_more_directory(struct timers *ts, struct timer_more **directory)
{
	ts->more = directory;
	ts->more_memory = more_pages(ts) * sizeof(*ts->more);
}

/* Give a timer, and those that share its page, their struct timer_more: a page of zeroes. */
TWHEEL_PART void timers_add_more(struct timers *ts, u32 id, void *page)
{
	ts->more[id / MORE_PER_PAGE] = page;
	ts->more_memory += WHEEL_PAGE_SIZE;
}

/* Free all memory of timers.  Sleeps. */
TWHEEL_PART void timers_destroy(struct timers *ts)
{
	for (u32 i = 0; ts->more && i < more_pages(ts); i++) {
		kfree(ts->more[i]);
		cond_resched();
	}
	kvfree(ts->more);
	words_destroy(ts);
	wheel_destroy(&ts->wheel);
}

/* Bytes that timers take. */
TWHEEL_PART size_t timers_memory(const struct timers *ts)
{
	return ts->wheel.memory + ts->more_memory + words_memory(ts);
}

/* Time */

/*
 * What tick it is for the wheel.  Its time does not go back: when the clock was set back,
 * the wheel is ahead of it by that much from now on.  Timers that were filed before
 * then come out of their slots too early, and are filed again.
 */
static u64 wheel_time(struct timers *ts, u64 now)
{
	u64 tick = min(shifted(ts, ticks_of(ts, now)), WHEEL_LAST), at = ts->wheel.at;

	ts->now = now;
	if (unlikely(tick < at)) {
		ts->shift += at - tick;
		tick = at;
	}
	ts->now_tick = tick;
	ts->plain = ts->word || ts->settable || ts->shift || !ts->wheel.nr_levels ? 0 :
		    ts->wheel.ids;
	return tick;
}

/* States */

/* The state of a timer without a word. */
static __always_inline enum twheel_state timer_state(const struct timers *ts, u32 id,
						     const struct timer *t)
{
	if (t->deadline == TIMER_NONE)
		return TWHEEL_STATE_IDLE;
	if (t->deadline == TIMER_DELIVERED)
		return TWHEEL_STATE_DELIVERED;
	/* Its tick may have come, though the wheel has not come that far yet. */
	if (likely(wheel_where(t) == WHEEL_FILED))
		return unlikely(t->deadline <= ts->now) &&
		       tick_passed(ts, t->deadline, slack_of(ts, id)) ? TWHEEL_STATE_EXPIRED
								      : TWHEEL_STATE_PENDING;
	/* Its event waits, or a read holds it. */
	return TWHEEL_STATE_EXPIRED;
}

/* Free ids */

/*
 * Find a free id without taking it.  Return 0; -ENOSPC if all are in use; or -EAGAIN if @need says
 * what has to be done first.
 */
static int free_id(struct timers *ts, u32 *id, struct timers_need *need)
{
	struct wheel_queue *pool = wheel_queue(&ts->wheel, WHEEL_POOL);

	while (pool->head == WHEEL_NIL) {
		if (!ts->fresh)
			return -ENOSPC;
		if (!wheel_has(&ts->wheel, ts->fresh - 1)) {
			need->what = TIMERS_NEED_CHUNK;
			need->id = ts->fresh - 1;
			return -EAGAIN;
		}
		if (need->handled >= WHEEL_STEP) {
			need->what = TIMERS_NEED_RETRY;
			return -EAGAIN;
		}
		need->handled++;
		ts->fresh--;
		if (!timer_has_deadline(timer_of(ts, ts->fresh)))
			wheel_push(&ts->wheel, ts->fresh, WHEEL_POOL, true);
	}
	*id = pool->head;
	return 0;
}

/* Operations */

/**
 * timers_check_arm() - is this a sensible arm?
 * @ts: the timers
 * @op: untrusted
 *
 * Return: 0, -EOPNOTSUPP, -EINVAL or -ERANGE, as the ABI says.
 */
TWHEEL_PART int timers_check_arm(const struct timers *ts, const struct twheel_op *op)
{
	const u32 flags = TWHEEL_ARM_RELATIVE | TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE |
			  TWHEEL_ARM_STORED | TWHEEL_ARM_KEEP;

	if (op->flags & ~flags)
		return -EOPNOTSUPP;
	if (op->reserved || (op->flags & TWHEEL_ARM_RELATIVE && ts->settable))
		return -EINVAL;
	if (op->flags & TWHEEL_ARM_STORED) {
		if (op->flags != TWHEEL_ARM_STORED || op->deadline || op->interval ||
		    op->slack || op->cookie || op->count || op->generation)
			return -EINVAL;
		return op->id < ts->wheel.capacity ? 0 : -ERANGE;
	}
	if (op->flags & TWHEEL_ARM_NEW && op->flags & TWHEEL_ARM_MOVE)
		return -EINVAL;
	if (op->flags & TWHEEL_ARM_KEEP &&
	    (op->interval || op->slack || op->cookie || op->count || op->id == TWHEEL_ID_ANY))
		return -EINVAL;
	if (op->count && !op->interval)
		return -EINVAL;
	if (op->id == TWHEEL_ID_ANY) {
		if (ts->word)
			return -EOPNOTSUPP;
		if (op->flags & TWHEEL_ARM_MOVE || op->generation || !op->deadline)
			return -EINVAL;
	} else if (op->id >= ts->wheel.capacity) {
		return -ERANGE;
	}
	if (op->count > TWHEEL_MAX_COUNT || op->interval > KTIME_MAX || op->slack > KTIME_MAX ||
	    (op->flags & TWHEEL_ARM_RELATIVE && op->deadline > KTIME_MAX))
		return -ERANGE;
	return 0;
}

/**
 * timers_check_cancel() - is this a sensible cancel?
 * @ts: the timers
 * @op: untrusted
 *
 * Return: 0, -EOPNOTSUPP, -EINVAL or -ERANGE, as the ABI says.
 */
TWHEEL_PART int timers_check_cancel(const struct timers *ts, const struct twheel_op *op)
{
	if (op->flags)
		return -EOPNOTSUPP;
	if (op->reserved | op->deadline | op->interval | op->slack | op->cookie | op->count)
		return -EINVAL;
	return op->id < ts->wheel.capacity ? 0 : -ERANGE;
}

/* As timers_arm(), for all that is not plain. */
static noinline int arm_any(struct timers *ts, struct twheel_op *op, u64 now,
			    struct timers_need *need)
{
	struct wheel *w = &ts->wheel;
	enum twheel_state state = TWHEEL_STATE_IDLE;
	u64 deadline = min_t(u64, op->deadline, KTIME_MAX), tick = 0;
	u32 id = op->id, slack = slack_ticks(ts, op->slack);
	const u32 flags = op->flags;
	u64 interval = op->interval;
	struct twheel_word *word;
	struct timer *t;
	bool keeps;
	int ret = timers_check_arm(ts, op);

	if (ret)
		return ret;
	if (flags & TWHEEL_ARM_STORED || need->exchanged)
		return words_arm(ts, op, now, need);
	if (id == TWHEEL_ID_ANY) {
		ret = free_id(ts, &id, need);
		if (ret)
			return ret;
	}
	if (!timers_have(ts, &id)) {
		if (op->generation)
			return -ESTALE;
		if (flags & TWHEEL_ARM_MOVE)
			return -ENOENT;
		need->what = TIMERS_NEED_CHUNK;
		need->id = id;
		return -EAGAIN;
	}
	t = timer_of(ts, id);
	word = word_of(ts, id);
	if (op->generation && op->generation != t->generation)
		return -ESTALE;
	if (!word && op->id == id)
		state = timer_state(ts, id, t);
	if (flags) {
		ret = word ? 0 : arm_refused(flags, state_armed(state));
		if (ret)
			return ret;
		if (flags & TWHEEL_ARM_KEEP) {
			const struct timer_more *more = more_of(ts, id);

			interval = more ? more->interval : 0;
			slack = slack_of(ts, id);
		}
		if (flags & TWHEEL_ARM_RELATIVE && deadline)
			deadline = add_times(now, deadline);
	}
	if (deadline > now)
		tick = file_tick(ts, deadline, slack);
	/* Stale entries that have passed would wake the wheel for nothing. */
	if (!w->filed && w->entries)
		need->handled += wheel_advance(w, w->at, WHEEL_STEP - need->handled);
	keeps = !deadline || (tick && entry_serves(t, wheel_look_tick(w, tick)));
	if (wheel_full(w) && (word || !keeps))
		return timers_make_room(ts, need);
	if (level_missing(ts, tick, interval, slack, now)) {
		need->what = TIMERS_NEED_LEVEL;
		return -EAGAIN;
	}
	if (unlikely(interval | slack) && !more_of(ts, id)) {
		need->what = TIMERS_NEED_MORE;
		need->id = id;
		return -EAGAIN;
	}

	if (word)
		return words_need(ts, op, id, deadline, need);
	/* From here on nothing fails. */
	timer_begin(ts, id, op, deadline, slack);
	ts->arms++;
	op->id = id;
	op->generation = t->generation;
	op->state = state;

	if (wheel_where(t) >= WHEEL_DUE)
		wheel_unlink(w, id);
	if (deadline > now) {
		wheel_file(w, id, tick);
		trace_twheel_timer_arm(w, id, state);
		return 0;
	}
	trace_twheel_timer_arm(w, id, state);
	if (deadline)
		timer_due(ts, id);
	else
		timer_end(ts, id, TIMER_NONE);
	return 0;
}

/**
 * timers_arm() - arm or move a timer
 * @ts: the timers, after timers_set_time(@now)
 * @op: untrusted; the results are written to it
 * @now: ns
 * @need: what is missing, with -EAGAIN; the same for all tries of an arm.  Between a try that
 *	needs a word and the one that follows there must be no other arm, cancel or commit
 *
 * Return: 0; -EAGAIN: nothing was done, give the wheel what it needs and call
 * again; what timers_check_arm() returns; -EEXIST, -ENOENT, -ESTALE or -ENOSPC, as the ABI says.
 *
 * A plain arm, as nearly all of them are, is of a one-shot, for a tick that the wheel reaches, and
 * of a timer that is filed or idle: it can have no fault, and needs nothing.
 */
TWHEEL_PART int timers_arm(struct timers *ts, struct twheel_op *op, u64 now,
			   struct timers_need *need)
{
	struct wheel *w = &ts->wheel;
	const u64 deadline = op->deadline;
	u64 tick, link;
	struct timer *t;
	u32 id;

	if (unlikely((op->flags | op->reserved | op->count | op->generation | op->interval |
		      op->slack) || deadline <= now || deadline > KTIME_MAX || op->id >= ts->plain))
		return arm_any(ts, op, now, need);
	id = array_index_nospec(op->id, ts->plain);
	tick = first_tick(ts, deadline);
	if (unlikely(tick >= w->end[w->nr_levels - 1] || tick - w->at > WHEEL_HORIZON ||
		     wheel_full(w) || !w->filed || !wheel_has_chunk(w, id) || more_of(ts, id)))
		return arm_any(ts, op, now, need);
	t = timer_of(ts, id);
	link = t->link;
	if (link & LINK_WHERE(WHEEL_FILED)) {
		/* If it is filed, it may have come due. */
		if (unlikely(!(link & LINK_KEPT) && t->deadline <= now))
			return arm_any(ts, op, now, need);
	} else if (unlikely(link)) {
		return arm_any(ts, op, now, need);
	}
	op->state = timer_has_deadline(t) ? TWHEEL_STATE_PENDING :
		    t->deadline == TIMER_NONE ? TWHEEL_STATE_IDLE : TWHEEL_STATE_DELIVERED;
	if (!++t->generation)
		t->generation = 1;
	op->generation = t->generation;
	t->cookie = op->cookie;
	t->deadline = deadline;
	ts->arms++;
	wheel_file_inline(w, id, t, tick);
	trace_twheel_timer_arm(w, id, op->state);
	return 0;
}

/* As timers_cancel(), for all that is not plain. */
static noinline int cancel_any(struct timers *ts, struct twheel_op *op, struct timers_need *need)
{
	int ret = timers_check_cancel(ts, op);
	struct twheel_word *word;
	struct timer *t;
	u32 id;

	if (unlikely(ret))
		return ret;
	id = op->id;
	if (!timers_have(ts, &id)) {
		if (op->generation)
			return -ESTALE;
		op->state = TWHEEL_STATE_IDLE;
		return 0;
	}
	t = timer_of(ts, id);
	word = word_of(ts, id);
	if (op->generation && op->generation != t->generation)
		return -ESTALE;
	if (word && !need->exchanged) {
		/* The word may hold an earlier deadline by then, which takes another entry. */
		if (wheel_full(&ts->wheel))
			return timers_make_room(ts, need);
		return words_need(ts, op, id, 0, need);
	}
	op->generation = t->generation;
	op->state = word ? word_state(ts, id, need->before) : timer_state(ts, id, t);
	need->exchanged = false;
	if (state_armed(op->state)) {
		ts->cancels++;
		trace_twheel_timer_cancel(&ts->wheel, id, op->state);
	}
	if (!timer_has_deadline(t))
		return 0;
	wheel_unlink(&ts->wheel, id);
	if (word)
		word_let_go(ts, id, word);
	else
		timer_end(ts, id, TIMER_NONE);
	return 0;
}

/**
 * timers_cancel() - make sure that a timer is not armed
 * @ts: the timers, after timers_set_time()
 * @op: untrusted; the results are written to it
 * @need: what has to be done first, with -EAGAIN
 *
 * Return: 0; -EAGAIN: nothing was done, call again after words_exchange(); what
 * timers_check_cancel() returns; or -ESTALE.  A plain cancel is of a timer that is pending.
 */
TWHEEL_PART int timers_cancel(struct timers *ts, struct twheel_op *op, struct timers_need *need)
{
	struct timer *t;
	u32 id;

	if (unlikely((op->flags | op->reserved | op->count | op->generation | op->interval |
		      op->slack | op->deadline | op->cookie) ||
		     op->id >= min(ts->plain, ts->fresh)))
		return cancel_any(ts, op, need);
	id = array_index_nospec(op->id, ts->plain);
	if (unlikely(!wheel_has_chunk(&ts->wheel, id)))
		return cancel_any(ts, op, need);
	t = timer_of(ts, id);
	if (unlikely(wheel_where(t) != WHEEL_FILED || t->deadline <= ts->now))
		return cancel_any(ts, op, need);
	op->generation = t->generation;
	op->state = TWHEEL_STATE_PENDING;
	ts->cancels++;
	trace_twheel_timer_cancel(&ts->wheel, id, TWHEEL_STATE_PENDING);
	wheel_keep(&ts->wheel, t);
	t->deadline = TIMER_NONE;
	return 0;
}

/*
 * Fill in a record; for a timer that is not armed only id, generation and state.  The word is read
 * once, so that all fields are of one moment.  Returns whether the timer is armed.
 */
static bool timer_record(const struct timers *ts, u32 id, struct twheel_timer *record)
{
	const struct twheel_word *word = word_of(ts, id);
	const struct timer *t = timer_of(ts, id);
	const struct timer_more *more = more_of(ts, id);
	u64 deadline = word ? word_deadline(word) : t->deadline;
	enum twheel_state state = word ? word_state(ts, id, deadline) : timer_state(ts, id, t);

	*record = (struct twheel_timer){
		.id		= id,
		.generation	= t->generation,
		.state		= state,
	};
	if (!state_armed(state))
		return false;
	record->cookie = t->cookie;
	record->deadline = deadline;
	record->remaining = deadline > ts->now ? deadline - ts->now : 1;
	if (!more)
		return true;
	record->count = more->count;
	record->interval = more->interval;
	record->slack = more->slack * ts->tick;
	if (state == TWHEEL_STATE_EXPIRED)
		record->overruns = overruns_of(more, deadline, ts->now);
	return true;
}

/**
 * timers_get() - tell about one timer
 * @ts: the timers, after timers_set_time()
 * @record: names it; filled
 *
 * Return: 0, -ERANGE or -ESTALE.
 */
TWHEEL_PART int timers_get(const struct timers *ts, struct twheel_timer *record)
{
	u32 id = record->id, generation = record->generation;

	if (id >= ts->wheel.capacity)
		return -ERANGE;
	*record = (struct twheel_timer){ .id = id };
	if (!timers_have(ts, &id))
		return generation ? -ESTALE : 0;
	if (generation && generation != timer_of(ts, id)->generation)
		return -ESTALE;
	timer_record(ts, id, record);
	return 0;
}

/* Events */

/**
 * timers_drop_stale() - drop stale events in front of the due queue
 * @ts: the timers, after timers_set_time()
 * @most: how many
 *
 * An event is stale if its timer's word holds another deadline.
 *
 * Return: how many were dropped.  If fewer than @most, the first event now is not stale, or there
 * is none.
 */
TWHEEL_PART unsigned int timers_drop_stale(struct timers *ts, unsigned int most)
{
	struct wheel_queue *due = wheel_queue(&ts->wheel, WHEEL_DUE);
	unsigned int dropped;

	for (dropped = 0; dropped < most && due->head != WHEEL_NIL; dropped++) {
		u32 id = due->head;
		struct twheel_word *word = word_of(ts, id);

		if (!word || word_deadline(word) == timer_of(ts, id)->deadline)
			break;
		wheel_unlink(&ts->wheel, id);
		word_drop(ts, id, word);
	}
	return dropped;
}

/**
 * timers_claim() - take events from the due queue
 * @ts: the timers
 * @events: where to write them
 * @nr: how many; of more than TIMERS_CLAIM_MAX, these
 * @now: ns
 *
 * Each is claimed until timers_commit() or timers_put_back(); @ts->claims is the claim's number.
 *
 * Return: how many.
 */
TWHEEL_PART unsigned int timers_claim(struct timers *ts, struct twheel_event *events,
				      unsigned int nr, u64 now)
{
	u32 ids[TIMERS_CLAIM_MAX];

	ts->claims++;
	nr = wheel_take_due(&ts->wheel, ids, min(nr, TIMERS_CLAIM_MAX), ts->claims);
	for (unsigned int n = 0; n < nr; n++) {
		const struct timer *t = timer_of(ts, ids[n]);
		const struct timer_more *more = more_of(ts, ids[n]);
		u64 overruns = overruns_of(more, t->deadline, now);
		bool last = !more || !more->interval ||
			    (more->count && overruns + 1 >= more->count);

		events[n] = (struct twheel_event){
			.id		= ids[n],
			.generation	= t->generation,
			.cookie		= t->cookie,
			.deadline	= t->deadline,
			.fired		= t->deadline + late_decode(t->spare),
			.overruns	= overruns,
			.flags		= last ? TWHEEL_EVENT_LAST : 0,
		};
	}
	return nr;
}

/**
 * timers_held() - of how many events does the claim still hold?
 * @ts: the timers
 * @events: from timers_claim()
 * @nr: how many
 * @claim: the claim's number
 *
 * Return: how many of the first, up to one whose timer was armed or cancelled meanwhile.
 */
TWHEEL_PART unsigned int timers_held(const struct timers *ts, const struct twheel_event *events,
				     unsigned int nr, u32 claim)
{
	unsigned int i = 0;

	while (i < nr && claim_holds(ts, &events[i], claim))
		i++;
	return i;
}

/**
 * timers_commit() - events have reached their reader
 * @ts: the timers, after timers_set_time(@now)
 * @events: from timers_claim()
 * @nr: how many
 * @swapped: of how many words_take() has swapped the word; @nr for timers without words
 * @claim: the claim's number
 * @now: ns
 *
 * Periodic timers are filed for their next period, in phase.  With its last event a
 * timer's interval and count are gone.
 *
 * Return: how many count.  If not all, the next one is stale: its timer was armed or
 * cancelled meanwhile, by a call or a store.  It must not reach the reader; those behind it can
 * be committed still.
 */
TWHEEL_PART unsigned int timers_commit(struct timers *ts, const struct twheel_event *events,
				       unsigned int nr, unsigned int swapped, u32 claim, u64 now)
{
	for (unsigned int i = 0; i < nr; i++) {
		const struct twheel_event *event = &events[i];
		struct twheel_word *word = word_of(ts, event->id);
		bool holds = claim_holds(ts, event, claim);
		struct timer_more *more = more_of(ts, event->id);
		u64 next;

		/* The claim of a later arming, and what its word holds, are left alone. */
		if (unlikely(!holds))
			return i;
		if (unlikely(i == swapped)) {
			word_drop(ts, event->id, word);
			return i;
		}
		timer_delivered(ts, event, now);
		next = timer_after(more, event);
		if (unlikely(more)) {
			/* Without a limit it is 0, and stays 0. */
			more->count -= min_t(u64, event->overruns + 1, more->count);
			/* Armed by a store from here on, it is a one-shot. */
			if (!next)
				more->interval = 0;
		}
		if (!next) {
			timer_end(ts, event->id, TIMER_DELIVERED);
			continue;
		}
		timer_of(ts, event->id)->deadline = next;
		if (unlikely(word))
			word_resume(ts, event->id, word, now);
		else
			timer_resume(ts, event->id, now);
	}
	return nr;
}

/**
 * timers_put_back() - events could not be copied to their reader
 * @ts: the timers
 * @events: from timers_claim()
 * @nr: how many
 * @claim: the claim's number
 */
TWHEEL_PART void timers_put_back(struct timers *ts, const struct twheel_event *events,
				 unsigned int nr, u32 claim)
{
	while (nr--)
		if (claim_holds(ts, &events[nr], claim)) {
			wheel_push(&ts->wheel, events[nr].id, WHEEL_DUE, true);
			ts->news = true;
		}
}

/* Enumeration */

/**
 * timers_list() - tell about armed timers in order of their ids
 * @ts: the timers, after timers_set_time()
 * @records: where to write
 * @nr: how many at the most
 * @cursor: the id to start from; moved on
 *
 * Passes WHEEL_STEP ids at the most, armed or not; the end is when @cursor is the capacity.
 *
 * Return: how many were written.
 */
TWHEEL_PART unsigned int timers_list(const struct timers *ts, struct twheel_timer *records,
				     unsigned int nr, u32 *cursor)
{
	const struct wheel *w = &ts->wheel;
	unsigned int n = 0;
	u32 id = *cursor;

	for (unsigned int passed = 0; passed < WHEEL_STEP && n < nr && id < w->capacity; passed++) {
		if (!timers_have(ts, &id)) {
			id = (id | (WHEEL_CHUNK_TIMERS - 1)) + 1;
			continue;
		}
		if (wheel_where(timer_of(ts, id)) != WHEEL_CLAIMED)
			n += timer_record(ts, id, &records[n]);
		id++;
	}
	*cursor = min(id, w->capacity);
	return n;
}

/* Turning */

/**
 * timers_set_time() - say what time it is, before timers are armed, cancelled or committed
 * @ts: the timers
 * @now: ns
 *
 * From here on every call reports a timer whose tick has come by @now as expired, even before
 * timers_advance() finds it.
 */
TWHEEL_PART void timers_set_time(struct timers *ts, u64 now)
{
	wheel_follow(&ts->wheel, wheel_time(ts, now));
}

/**
 * timers_advance() - find timers that are due, and bring others down
 * @ts: the timers
 * @now: ns
 * @budget: how many to handle at the most
 *
 * Return: how many were handled; if that is less than @budget, all that are due.
 */
TWHEEL_PART unsigned int timers_advance(struct timers *ts, u64 now, unsigned int budget)
{
	u32 queued = timers_queued(ts);
	unsigned int done;

	if (!budget || !ts->wheel.nr_levels)
		return 0;
	done = wheel_advance(&ts->wheel, wheel_time(ts, now), budget);
	timers_found(ts, queued);
	return done;
}
