// SPDX-License-Identifier: GPL-2.0
/*
 * The timers of a wheel.
 *
 * Where a timer is, is told by the list that its node is in and by its
 * deadline; there is no other state to keep true:
 *
 *	list		deadline		state
 *	filed		its next		pending
 *	due queue	of its event		expired
 *	none		of its event		claimed: a read holds the event
 *	none or pool	TIMER_NONE		idle
 *	none or pool	TIMER_DELIVERED		delivered
 *
 * A read claims events, copies them, and then commits them or puts them back,
 * with the lock dropped in between.  A claim lasts as long as nobody touches
 * the timer: an arm or a cancel of a claimed timer takes effect at once, and
 * commit and put back leave it alone.  That is how an event is never lost to a
 * fault, and how one that was cancelled is never put back.  A drain claims the
 * timers that it hands over in the same way.
 *
 * Free ids: the kernel chooses from the pool, and when that is empty from the
 * ids below @fresh, downward from the top, where a daemon that numbers its own
 * timers from 0 comes last.
 */
#ifdef __KERNEL__
#include <linux/ktime.h>
#include <linux/math64.h>
#endif

#include "timers.h"
#include "words.h"

static_assert(sizeof(struct timer) == WHEEL_LOAD);
static_assert(TWHEEL_MAX_CAPACITY == WHEEL_MAX_CAPACITY);
static_assert(TWHEEL_MAX_LEVELS == WHEEL_MAX_LEVELS);
static_assert(TWHEEL_MAX_SLOTS == WHEEL_MAX_SLOTS);

/* What one timer costs to bring down, cautiously: ns. */
#define MOVE_COST	1000

/* Ids looked at for a list under one hold of the lock. */
#define LIST_MAX	64

/* Ids in use that are passed over for one arm; a hold has room for many arms. */
#define PASS_OVER_MAX	8

/* Times and ticks */

/* Ticks that have begun at a time; exact, and without a division. */
static u64 ticks_of(const struct timers *ts, u64 ns)
{
	u64 ticks = mul_u64_u64_shr(ns, ts->reciprocal, 64);

	/* The reciprocal is rounded down, so this may be one too few. */
	return ticks + (ns - ticks * ts->tick >= ts->tick);
}

/*
 * Slack is kept in 8 bits, in ticks: up to 7 exactly, from there on the 4
 * highest bits and how far to shift them.
 */
static unsigned int slack_encode(u64 ticks)
{
	unsigned int shift;

	if (ticks < 8)
		return ticks;
	shift = fls64(ticks) - 4;
	if (shift > 30)
		return 255;
	return (shift + 1) << 3 | ((ticks >> shift) & 7);
}

static u64 slack_decode(unsigned int slack)
{
	return slack < 8 ? slack : (8ULL | (slack & 7)) << ((slack >> 3) - 1);
}

/* The tick for a deadline: the first at or past it; with slack, the roundest. */
static u64 expiry_of(const struct timers *ts, u64 deadline, unsigned int slack)
{
	u64 begun = ticks_of(ts, deadline);
	u64 first = begun + (begun * ts->tick != deadline);
	u64 last = begun + slack_decode(slack);

	if (last <= first)
		return first;
	/* Clear what lies below the highest bit in which they differ. */
	return last & (~0ULL << (fls64((first - 1) ^ last) - 1));
}

/*
 * Where the wheel files a deadline.  Never behind its time, not even if a clock
 * was set back so often that ticks overflow.
 */
static u64 file_tick(const struct timers *ts, u64 deadline, unsigned int slack)
{
	return max(expiry_of(ts, deadline, slack) + ts->shift, ts->wheel.at + 1);
}

static void timers_look(struct wheel *w, struct wheel_batch *batch);

/*
 * The wheel's time.  It does not go back: when the clock was set back, the wheel
 * is that much further from now on, and each timer that is filed already finds
 * out when its tick comes, and is filed again.
 */
static u64 wheel_time(struct timers *ts, u64 now)
{
	u64 tick = ticks_of(ts, now) + ts->shift, at = ts->wheel.at;

	if (likely(tick >= at))
		return tick;
	ts->shift += at - tick;
	ts->wheel.look = timers_look;
	return at;
}

static u64 add_times(u64 a, u64 b)
{
	return min_t(u64, a + b, KTIME_MAX);
}

/* How many whole periods have passed since a deadline. */
static u64 periods_passed(const struct timer *t, u64 now)
{
	if (!t->interval || now < t->deadline || now - t->deadline < t->interval)
		return 0;
	return div64_u64(now - t->deadline, t->interval);
}

/* Periods beyond the first that an event read now would tell. */
static u64 overruns_of(const struct timer *t, u64 now)
{
	u64 overruns = periods_passed(t, now);

	return t->count ? min(overruns, (u64)t->count - 1) : overruns;
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
WHEEL_API void timers_setup(struct timers *ts, u32 capacity, unsigned int levels,
			    unsigned int slots, u64 tick, u64 now)
{
	memset(ts, 0, sizeof(*ts));
	ts->tick = tick;
	ts->reciprocal = tick > 1 ? div64_u64(~0ULL, tick) : ~0ULL;
	ts->fresh = capacity;
	wheel_init(&ts->wheel, capacity, levels, slots,
		   max(tick / MOVE_COST, (u64)1), ticks_of(ts, now));
}

/* States */

static struct timer *timer_of(const struct timers *ts, u32 id)
{
	return wheel_load(&ts->wheel, id);
}

/* Is a read or a drain holding it? */
static bool timer_claimed(const struct timers *ts, u32 id)
{
	const struct timer *t = timer_of(ts, id);

	return wheel_where(wheel_node(&ts->wheel, id)) == WHEEL_OUT &&
	       t->deadline != TIMER_NONE && t->deadline != TIMER_DELIVERED;
}

/* Is it still the claim that was made of this arming and deadline? */
static bool claim_holds(const struct timers *ts, u32 id, u32 generation, u64 deadline)
{
	const struct timer *t = timer_of(ts, id);

	return t->generation == generation && t->deadline == deadline &&
	       wheel_where(wheel_node(&ts->wheel, id)) == WHEEL_OUT;
}

static enum twheel_state word_state(const struct timers *ts, u32 id, u64 deadline);
static u64 word_deadline(const struct twheel_word *word);

static enum twheel_state timer_state(const struct timers *ts, u32 id)
{
	enum wheel_where where = wheel_where(wheel_node(&ts->wheel, id));
	const struct twheel_word *word = word_of(ts, id);
	const struct timer *t = timer_of(ts, id);

	if (word)
		return word_state(ts, id, word_deadline(word));
	if (where == WHEEL_FILED)
		return TWHEEL_STATE_PENDING;
	if (where == WHEEL_DUE)
		return TWHEEL_STATE_EXPIRED;
	if (t->deadline == TIMER_NONE)
		return TWHEEL_STATE_IDLE;
	/* A periodic timer whose event is being read goes on. */
	if (t->interval && t->deadline != TIMER_DELIVERED)
		return TWHEEL_STATE_PENDING;
	return TWHEEL_STATE_DELIVERED;
}

static bool state_armed(enum twheel_state state)
{
	return state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
}

/* A timer has ended; it is in no list. */
static void timer_end(struct timers *ts, u32 id, u64 how)
{
	timer_of(ts, id)->deadline = how;
	if (id >= ts->fresh)
		wheel_push(&ts->wheel, id, WHEEL_POOL, true);
}

/* A timer that is in no list has come due. */
static void timer_due(struct timers *ts, u32 id, u64 now)
{
	wheel_node(&ts->wheel, id)->expiry = now;
	wheel_push(&ts->wheel, id, WHEEL_DUE, false);
	ts->fired++;
}

/* Go on with a timer that was taken out of its list. */
static void timer_resume(struct timers *ts, u32 id, u64 now)
{
	const struct timer *t = timer_of(ts, id);

	if (t->deadline > now) {
		u64 expiry = file_tick(ts, t->deadline, t->slack);

		wheel_file(&ts->wheel, id, expiry, wheel_level(&ts->wheel, expiry));
	} else {
		timer_due(ts, id, now);
	}
}

/* Free ids */

/*
 * Find a free id without taking it. Returns 0, -ENOSPC if all are in use, or
 * -EAGAIN if that needs memory, or time without the lock.
 */
static int free_id(struct timers *ts, u32 *id, enum timers_need *need)
{
	struct wheel_queue *pool = wheel_queue(&ts->wheel, WHEEL_POOL);

	for (int looks = 0; pool->head == WHEEL_NIL; looks++) {
		if (!ts->fresh)
			return -ENOSPC;
		*id = ts->fresh - 1;
		if (!wheel_has(&ts->wheel, *id)) {
			*need = TIMERS_NEED_CHUNK;
			return -EAGAIN;
		}
		if (looks == PASS_OVER_MAX) {
			*need = TIMERS_NEED_NOTHING;
			return -EAGAIN;
		}
		ts->fresh--;
		/* One that a word has cancelled comes when the wheel finds out. */
		if (wheel_where(wheel_node(&ts->wheel, *id)) == WHEEL_OUT &&
		    !state_armed(timer_state(ts, *id)) && !timer_claimed(ts, *id))
			wheel_push(&ts->wheel, *id, WHEEL_POOL, true);
	}
	*id = pool->head;
	return 0;
}

/* Operations */

/**
 * timers_check_arm() - is this a sensible arm?
 * @ts: the timers
 * @op: from a stranger
 *
 * Return: 0, -EOPNOTSUPP, -EINVAL or -ERANGE, as the ABI says.
 */
WHEEL_API int timers_check_arm(const struct timers *ts, const struct twheel_op *op)
{
	const u32 flags = TWHEEL_ARM_RELATIVE | TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE |
			  TWHEEL_ARM_STORED;

	/* The plain one-shot, which is nearly all of them. */
	if (!((op->flags & ~TWHEEL_ARM_RELATIVE) | op->reserved | op->count |
	      op->interval | op->slack) && op->id < ts->wheel.capacity)
		return 0;
	if (op->flags & ~flags)
		return -EOPNOTSUPP;
	if (op->reserved)
		return -EINVAL;
	if (op->flags & TWHEEL_ARM_STORED) {
		if (op->flags != TWHEEL_ARM_STORED || op->deadline || op->interval ||
		    op->slack || op->cookie || op->count || op->generation)
			return -EINVAL;
		return op->id < ts->wheel.capacity ? 0 : -ERANGE;
	}
	if (op->flags & TWHEEL_ARM_NEW && op->flags & TWHEEL_ARM_MOVE)
		return -EINVAL;
	if (op->count && !op->interval)
		return -EINVAL;
	if (op->id == TWHEEL_ID_ANY) {
		if (op->flags & TWHEEL_ARM_MOVE || op->generation || !op->deadline)
			return -EINVAL;
	} else if (op->id >= ts->wheel.capacity) {
		return -ERANGE;
	}
	if (op->count > TWHEEL_MAX_COUNT || op->interval > KTIME_MAX ||
	    op->slack > KTIME_MAX)
		return -ERANGE;
	return 0;
}

/**
 * timers_check_cancel() - is this a sensible cancel?
 * @ts: the timers
 * @op: from a stranger
 *
 * Return: 0, -EOPNOTSUPP, -EINVAL or -ERANGE, as the ABI says.
 */
WHEEL_API int timers_check_cancel(const struct timers *ts, const struct twheel_op *op)
{
	if (op->flags)
		return -EOPNOTSUPP;
	if (op->reserved || op->deadline || op->interval || op->slack ||
	    op->cookie || op->count)
		return -EINVAL;
	return op->id < ts->wheel.capacity ? 0 : -ERANGE;
}

/*
 * Does a timer need a level that is not there yet?  Now, or for a later period,
 * or when its clock is set back: there will be no memory for it then.
 */
static bool level_missing(const struct timers *ts, u64 expiry, unsigned int level,
			  u64 interval, u64 now)
{
	const struct wheel *w = &ts->wheel;
	u64 period = 0;

	if (expiry && wheel_level_missing(w, level))
		return true;
	if (interval) {
		period = file_tick(ts, add_times(now, interval), 0) + 1;
		if (wheel_level_missing(w, wheel_level(w, period)))
			return true;
	}
	return ts->settable && wheel_reach_missing(w, max(expiry, period));
}

#include "words.c"

/**
 * timers_arm() - arm or move a timer
 * @ts: the timers, turned to @now
 * @op: one that timers_check_arm() passed; the results are written to it
 * @now: ns
 * @need: what is missing, with -EAGAIN
 * @need_id: for which id, with TIMERS_NEED_CHUNK
 *
 * Return: 0; -EAGAIN: nothing was done, give the wheel what it needs and call
 * again; -EEXIST, -ENOENT, -ESTALE or -ENOSPC, as the ABI says.
 */
WHEEL_API int timers_arm(struct timers *ts, struct twheel_op *op, u64 now,
			 enum timers_need *need, u32 *need_id)
{
	struct wheel *w = &ts->wheel;
	enum twheel_state state = TWHEEL_STATE_IDLE;
	u64 deadline = min_t(u64, op->deadline, KTIME_MAX), expiry = 0;
	unsigned int level = 0;
	enum wheel_where where;
	unsigned int slack = op->slack ? slack_encode(ticks_of(ts, op->slack)) : 0;
	struct twheel_word *word;
	struct timer *t;
	u32 id = op->id;
	int ret;

	if (unlikely(op->flags & TWHEEL_ARM_STORED))
		return words_arm(ts, op, now, need);
	if (unlikely(id == TWHEEL_ID_ANY)) {
		ret = free_id(ts, need_id, need);
		if (ret)
			return ret;
		id = *need_id;
		t = timer_of(ts, id);
	} else if (likely(wheel_has(w, id))) {
		t = timer_of(ts, id);
		state = timer_state(ts, id);
		if (op->generation && op->generation != t->generation)
			return -ESTALE;
		if (op->flags & TWHEEL_ARM_NEW && state_armed(state))
			return -EEXIST;
		if (op->flags & TWHEEL_ARM_MOVE && !state_armed(state))
			return -ENOENT;
	} else {
		if (op->generation)
			return -ESTALE;
		if (op->flags & TWHEEL_ARM_MOVE)
			return -ENOENT;
		*need = TIMERS_NEED_CHUNK;
		*need_id = id;
		return -EAGAIN;
	}

	if (op->flags & TWHEEL_ARM_RELATIVE && deadline)
		deadline = add_times(now, deadline);
	if (likely(deadline > now)) {
		expiry = file_tick(ts, deadline, slack);
		level = wheel_level(w, expiry);
	}
	if (unlikely(level_missing(ts, expiry, level, op->interval, now))) {
		*need = TIMERS_NEED_LEVEL;
		return -EAGAIN;
	}

	/* From here on nothing fails. */
	if (!++t->generation)
		t->generation = 1;
	t->cookie = op->cookie;
	t->deadline = deadline;
	t->interval = op->interval;
	t->count = op->count;
	t->slack = slack;
	ts->arms++;
	op->id = id;
	op->generation = t->generation;
	op->state = state;

	word = word_of(ts, id);
	if (unlikely(word))
		xchg(&word->deadline, deadline);
	where = wheel_where(wheel_node(w, id));
	if (likely(deadline > now)) {
		if (unlikely(where == WHEEL_DUE || where == WHEEL_POOL))
			wheel_unlink(w, id);
		wheel_file(w, id, expiry, level);
	} else {
		if (where != WHEEL_OUT)
			wheel_unlink(w, id);
		if (deadline)
			timer_due(ts, id, now);
		else
			timer_end(ts, id, TIMER_NONE);
	}
	if (unlikely(word))
		word_promise(ts, id, word);
	return 0;
}

/**
 * timers_cancel() - make sure that a timer is not armed
 * @ts: the timers
 * @op: one that timers_check_cancel() passed; the results are written to it
 *
 * Return: 0, or -ESTALE.
 */
WHEEL_API int timers_cancel(struct timers *ts, struct twheel_op *op)
{
	struct twheel_word *word = word_of(ts, op->id);
	u32 id = op->id;
	struct timer *t;

	op->state = TWHEEL_STATE_IDLE;
	if (!wheel_has(&ts->wheel, id))
		return op->generation ? -ESTALE : 0;
	t = timer_of(ts, id);
	if (op->generation && op->generation != t->generation)
		return -ESTALE;
	op->generation = t->generation;
	op->state = word ? word_state(ts, id, word_cancel(word)) : timer_state(ts, id);
	if (state_armed(op->state))
		ts->cancels++;
	/* With a word it stays filed: that is found out when it is looked at. */
	if (word && wheel_where(wheel_node(&ts->wheel, id)) == WHEEL_FILED)
		return 0;
	if (timer_claimed(ts, id)) {
		timer_end(ts, id, TIMER_NONE);
	} else if (wheel_where(wheel_node(&ts->wheel, id)) != WHEEL_OUT && state_armed(op->state)) {
		wheel_unlink(&ts->wheel, id);
		timer_end(ts, id, TIMER_NONE);
	}
	return 0;
}

/*
 * Tell about a timer; of one that is not armed only who it is.  Its word is read
 * once, so that all of it is true at the same time.  Returns whether it is armed.
 */
static bool timer_tell(const struct timers *ts, u32 id, u64 now, struct twheel_timer *record)
{
	const struct twheel_word *word = word_of(ts, id);
	const struct timer *t = timer_of(ts, id);
	u64 deadline = word ? word_deadline(word) : t->deadline;
	enum twheel_state state = word ? word_state(ts, id, deadline) : timer_state(ts, id);

	*record = (struct twheel_timer){
		.id		= id,
		.generation	= t->generation,
		.state		= state,
	};
	if (!state_armed(state))
		return false;
	record->count = t->count;
	record->cookie = t->cookie;
	record->deadline = deadline;
	record->remaining = deadline > now ? deadline - now : 0;
	record->interval = t->interval;
	record->slack = slack_decode(t->slack) * ts->tick;
	record->overruns = state == TWHEEL_STATE_EXPIRED ? overruns_of(t, now) : 0;
	return true;
}

/**
 * timers_get() - tell about one timer
 * @ts: the timers
 * @record: names it; filled
 * @now: ns
 *
 * Return: 0, -ERANGE or -ESTALE.
 */
WHEEL_API int timers_get(const struct timers *ts, struct twheel_timer *record, u64 now)
{
	u32 id = record->id, generation = record->generation;

	if (id >= ts->wheel.capacity)
		return -ERANGE;
	*record = (struct twheel_timer){ .id = id };
	if (!wheel_has(&ts->wheel, id))
		return generation ? -ESTALE : 0;
	if (generation && generation != timer_of(ts, id)->generation)
		return -ESTALE;
	timer_tell(ts, id, now, record);
	return 0;
}

/* Events */

/**
 * timers_claim() - take events from the due queue
 * @ts: the timers
 * @events: where to write them
 * @nr: how many; of more than TIMERS_CLAIM_MAX, these
 * @now: ns
 *
 * Each is claimed until timers_commit() or timers_put_back().
 *
 * Return: how many.
 */
WHEEL_API unsigned int timers_claim(struct timers *ts, struct twheel_event *events,
				    unsigned int nr, u64 now)
{
	u32 ids[TIMERS_CLAIM_MAX];

	nr = wheel_take_due(&ts->wheel, ids, min(nr, TIMERS_CLAIM_MAX));
	for (unsigned int n = 0; n < nr; n++) {
		const struct timer *t = timer_of(ts, ids[n]);
		u64 overruns = overruns_of(t, now);
		bool last = !t->interval || (t->count && overruns + 1 >= t->count);

		events[n] = (struct twheel_event){
			.id		= ids[n],
			.generation	= t->generation,
			.cookie		= t->cookie,
			.deadline	= t->deadline,
			.fired		= wheel_node(&ts->wheel, ids[n])->expiry,
			.overruns	= overruns,
			.flags		= last ? TWHEEL_EVENT_LAST : 0,
		};
	}
	return nr;
}

/**
 * timers_commit() - events have reached their reader
 * @ts: the timers, turned to @now
 * @events: from timers_claim()
 * @nr: how many
 * @now: ns
 *
 * Periodic timers are filed for their next period, in phase.
 *
 * Return: how many count.  If not all, the next one is stale: it was cancelled or
 * moved by a store meanwhile.  It must not reach the reader; those behind it can
 * be committed still.
 */
WHEEL_API unsigned int timers_commit(struct timers *ts, const struct twheel_event *events,
				     unsigned int nr, u64 now)
{
	for (unsigned int i = 0; i < nr; i++) {
		const struct twheel_event *event = &events[i];
		struct twheel_word *word = word_of(ts, event->id);
		struct timer *t = timer_of(ts, event->id);
		bool last = event->flags & TWHEEL_EVENT_LAST;
		bool holds = claim_holds(ts, event->id, event->generation, event->deadline);
		u64 next = last ? 0 : add_times(event->deadline,
						(event->overruns + 1) * t->interval);

		if (unlikely(word) && !word_take(word, event->deadline, next)) {
			if (holds)
				word_restart(ts, event->id, word);
			return i;
		}
		ts->delivered++;
		ts->overruns += event->overruns;
		if (!holds)
			continue;
		if (last) {
			timer_end(ts, event->id, TIMER_DELIVERED);
			continue;
		}
		t->deadline = next;
		if (t->count)
			t->count -= event->overruns + 1;
		timer_resume(ts, event->id, now);
		if (unlikely(word))
			word_promise(ts, event->id, word);
	}
	return nr;
}

/**
 * timers_put_back() - events could not be copied to their reader
 * @ts: the timers
 * @events: from timers_claim()
 * @nr: how many
 */
WHEEL_API void timers_put_back(struct timers *ts, const struct twheel_event *events,
			       unsigned int nr)
{
	while (nr--)
		if (claim_holds(ts, events[nr].id, events[nr].generation,
				events[nr].deadline))
			wheel_push(&ts->wheel, events[nr].id, WHEEL_DUE, true);
}

/* Enumeration */

/* Claim a timer that a drain has told of. */
static void timer_take(struct timers *ts, u32 id, const struct twheel_timer *record, u64 now)
{
	struct wheel_node *node = wheel_node(&ts->wheel, id);
	enum wheel_where where = wheel_where(node);
	struct timer *t = timer_of(ts, id);

	if (where != WHEEL_OUT)
		wheel_unlink(&ts->wheel, id);
	/* Stored only, so far, perhaps over its event: this is where it is found due. */
	if (record->state == TWHEEL_STATE_EXPIRED &&
	    (where != WHEEL_DUE || t->deadline != record->deadline)) {
		node->expiry = now;
		ts->fired++;
	}
	t->deadline = record->deadline;
}

/**
 * timers_list() - tell about armed timers in order of their ids
 * @ts: the timers
 * @records: where to write
 * @nr: how many at the most
 * @cursor: the id to start from; moved on
 * @drain: also claim each, until timers_drained() or timers_undrain()
 * @now: ns
 *
 * Looks at a bounded number of ids; the end is when @cursor is the capacity.
 *
 * Return: how many were written.
 */
WHEEL_API unsigned int timers_list(struct timers *ts, struct twheel_timer *records,
				   unsigned int nr, u32 *cursor, bool drain,
				   u64 now)
{
	struct wheel *w = &ts->wheel;
	unsigned int n = 0;
	u32 id = *cursor;

	for (int looks = 0; looks < LIST_MAX && n < nr && id < w->capacity; looks++) {
		if (!wheel_has(w, id)) {
			id = (id | (WHEEL_CHUNK_TIMERS - 1)) + 1;
			continue;
		}
		if (!timer_claimed(ts, id) && timer_tell(ts, id, now, &records[n])) {
			if (drain)
				timer_take(ts, id, &records[n], now);
			n++;
		}
		id++;
	}
	*cursor = min(id, w->capacity);
	return n;
}

/**
 * timers_drained() - drained timers have reached the caller
 * @ts: the timers
 * @records: from timers_list()
 * @nr: how many
 */
WHEEL_API void timers_drained(struct timers *ts, const struct twheel_timer *records,
			      unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		const struct twheel_timer *r = &records[i];
		struct twheel_word *word;

		if (!claim_holds(ts, r->id, r->generation, r->deadline))
			continue;
		ts->cancels++;
		word = word_of(ts, r->id);
		if (word && !word_drain(word, r->deadline))
			word_restart(ts, r->id, word);
		else
			timer_end(ts, r->id, TIMER_NONE);
	}
}

/**
 * timers_undrain() - drained timers could not be copied to the caller
 * @ts: the timers, turned to @now
 * @records: from timers_list()
 * @nr: how many
 * @now: ns
 */
WHEEL_API void timers_undrain(struct timers *ts, const struct twheel_timer *records,
			      unsigned int nr, u64 now)
{
	while (nr--) {
		const struct twheel_timer *r = &records[nr];
		struct twheel_word *word;

		if (!claim_holds(ts, r->id, r->generation, r->deadline))
			continue;
		if (r->state == TWHEEL_STATE_EXPIRED)
			wheel_push(&ts->wheel, r->id, WHEEL_DUE, true);
		else
			timer_resume(ts, r->id, now);
		word = word_of(ts, r->id);
		if (word)
			word_promise(ts, r->id, word);
	}
}

/* Time */

/**
 * timers_turn() - before timers are armed, committed or put back
 * @ts: the timers
 * @now: ns
 */
WHEEL_API void timers_turn(struct timers *ts, u64 now)
{
	wheel_turn(&ts->wheel, wheel_time(ts, now));
}

/**
 * timers_advance() - find timers that are due, and bring others down
 * @ts: the timers
 * @now: ns
 * @budget: how many to handle at the most
 *
 * Return: how many were handled. Less than @budget: all that are due.
 */
WHEEL_API unsigned int timers_advance(struct timers *ts, u64 now, unsigned int budget)
{
	u32 expired = timers_expired(ts);
	unsigned int done;

	if (!budget || !ts->wheel.nr_levels)
		return 0;
	done = wheel_advance(&ts->wheel, wheel_time(ts, now), now, budget);
	ts->fired += timers_expired(ts) - expired;
	return done;
}

/**
 * timers_next() - when timers_advance() must be called
 * @ts: the timers
 *
 * Return: ns; KTIME_MAX: never; 0: at once.
 */
WHEEL_API u64 timers_next(const struct timers *ts)
{
	u64 next = wheel_next(&ts->wheel);

	if (next <= ts->shift)
		return 0;
	next -= ts->shift;
	return next < KTIME_MAX / ts->tick ? next * ts->tick : KTIME_MAX;
}
