// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel: timers for daemons that hold a million of them.
 *
 * Each open file is a wheel: ioctls arm and cancel its timers, and what comes due
 * waits for read() and poll(), or goes to an event ring.  What a timer is and how the
 * wheel turns is in timer.h and wheel.c, who pays in users.c, whose time it takes in
 * expiry.c; here is what makes a device of them: the clock, locks, and everything that
 * a stranger may pass in.
 *
 * Turning.  Softirq turns a wheel through a bounded number of timers when expiry.c
 * says that it is its turn.  What is left then is done by those who read and poll, in
 * steps of the same bound: on the processor that wants the events, in the time of who
 * wants them.  With ENOUGH_UNREAD events unread softirq turns the wheel once a second: a
 * program that does nothing but sleep causes hardly any interrupts.
 *
 * Time.  A wheel's time is that of its clock, in the time namespace in which it was
 * opened.  The clock is read under the wheel's lock, so that time does not go back
 * from one holder to the next, unless somebody sets the clock: hrtimers know by
 * themselves when a clock is set forward, and when it was set back is noticed in
 * timers.c.
 *
 * Shared memory.  What is mapped stays as it is until the wheel is closed: setup takes
 * its pages, and they are the kernel's and the daemon's at once.  What the daemon may
 * write there is read in words.c and ring.c, and nowhere else.
 *
 * Loops.  Whatever a stranger can make long gives way and looks at signals after each
 * step, and has done something for good in each.  But an arm that is to move a timer with a
 * word begins anew when a store comes between: then it is the store that was done.
 *
 * Locks: twheel.grow, then twheel.lock, then what expiry.c takes.
 */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "compat/kernel.h"

#include "memory.h"
#include "twheel.h"

/*
 * A page of words is a page: kernels with others have wheels that are used by calls
 * alone.
 */
#define HAVE_WORDS	(PAGE_SIZE == WORDS_PAGE)

/* Where they are mapped from; room for TWHEEL_MAX_CAPACITY words. */
#define WORDS_OFFSET	0x10000000UL
#define RING_OFFSET	0x20000000UL

/* Records copied at a time between the kernel and a program. */
#define COPY_MAX	64

static_assert(COPY_MAX <= TIMERS_CLAIM_MAX);

/*
 * With as many events unread, those that could be added are no news, unless all of these are
 * stale, or who was woken for them does not read them.  So who waits is woken again for what
 * comes due, but no sooner than after UNREAD_PAUSE. ns.
 */
#define ENOUGH_UNREAD	(16 * WHEEL_STEP)
#define UNREAD_PAUSE	NSEC_PER_SEC

/*
 * Steps that a poll takes before it says "perhaps", and a read with RWF_NOWAIT, or of an
 * io_uring that would rather poll, before it says EAGAIN.
 */
#define POLL_STEPS	16U

/*
 * So long after others were woken a poll wakes nobody for what it has found, but leaves that to
 * softirq, where each user pays for wake-ups.  A wheel may be polled by thousands of names at
 * once, and each poll would wake all of them.  ns.
 */
#define POLL_PAUSE	NSEC_PER_MSEC

/* Time */

static u64 twheel_now(const struct twheel *tw)
{
	lockdep_assert_held(&tw->lock);
	return clock_now(tw->clock) + tw->offset;
}

/* What the clock of the opener's time namespace is ahead of the host's. */
static s64 opener_offset(const struct twheel *tw, enum twheel_clock clock)
{
	switch (clock) {
	case TWHEEL_MONOTONIC:
		return tw->offsets.monotonic;
	case TWHEEL_BOOTTIME:
		return tw->offsets.boottime;
	case TWHEEL_REALTIME:
	case TWHEEL_TAI:
		break;
	}
	return 0;
}

/* What has to be added to the caller's reading of the clock to get the wheel's. */
static s64 caller_offset(const struct twheel *tw)
{
	switch (tw->clock) {
	case TWHEEL_MONOTONIC:
	case TWHEEL_BOOTTIME:
		return tw->offset - timens_offset(clock_ids[tw->clock]);
	case TWHEEL_REALTIME:
	case TWHEEL_TAI:
		break;
	}
	return 0;
}

/* Turning */

/* Do events wait for the ring, in which there is room? */
static bool twheel_can_post(const struct twheel *tw)
{
	return tw->ring.header && ring_more(&tw->ring, &tw->timers);
}

/* Is there work that does not wait for a time? */
static bool twheel_behind(const struct twheel *tw, u64 now)
{
	lockdep_assert_held(&tw->lock);
	return timers_next(&tw->timers) <= now || timers_heavy(&tw->timers) ||
	       twheel_can_post(tw);
}

/* When softirq should turn the wheel, by the wheel's time; KTIME_MAX: not at all. */
static u64 twheel_next(const struct twheel *tw, u64 now)
{
	u64 next = timers_next(&tw->timers), unread = timers_expired(&tw->timers), pause = 0;

	if (tw->closing)
		return KTIME_MAX;
	if (twheel_can_post(tw) || tw->sought || tw->untold)
		return now;
	if (unread >= ENOUGH_UNREAD) {
		/* The ring is full.  Who has emptied it sees that events wait, and calls. */
		if (tw->ring.header)
			return KTIME_MAX;
		/* Unless the clock was set back. */
		if (now >= tw->told)
			pause = tw->told + UNREAD_PAUSE;
	}
	if (!twheel_behind(tw, now))
		return max(next, pause);
	if (!unread)
		return now;
	/* A reader may be at it, and then softirq would only contend for the lock. */
	return max(now + max_t(u64, tw->timers.tick, EXPIRY_SPAN), pause);
}

/*
 * After anything that may have changed when the wheel has to be turned.  Where that
 * is later than before, the wheel is visited once for nothing: to queue it anew at
 * each cancel would be dearer.
 */
static void twheel_program(struct twheel *tw, u64 now)
{
	u64 next = twheel_next(tw, now), expires;

	lockdep_assert_held(&tw->lock);
	if (next == KTIME_MAX) {
		expiry_dequeue(&tw->entry);
		return;
	}
	/*
	 * By the host's clock, which may be ahead of the wheel's by years: beyond the last
	 * of all times a deadline would become one before all others.
	 */
	expires = min_t(u64, max(next, now) - tw->offset, KTIME_MAX - 1);
	if (!tw->entry.line || expires < tw->entry.expires)
		expiry_queue(&tw->entry, tw->user, tw->clock, expires);
}

/*
 * Hand on the events that have come since this was called last: to the ring, if they are
 * delivered in one, at most so many.
 */
static void twheel_hand_on(struct twheel *tw, u64 now, unsigned int most)
{
	bool news = tw->timers.news;

	lockdep_assert_held(&tw->lock);
	tw->timers.news = false;
	if (tw->ring.header)
		news = ring_post(&tw->ring, &tw->timers, now, most);
	tw->untold |= news;
}

/* Have events come that nobody was woken for yet?  Then the caller wakes who waits. */
static bool twheel_tell_news(struct twheel *tw, u64 now)
{
	bool news = tw->untold;

	lockdep_assert_held(&tw->lock);
	tw->untold = false;
	if (news) {
		tw->told = now;
		tw->wakeups++;
	}
	return news;
}

/* Hand events on; returns whether whoever waits has to be woken. */
static bool twheel_deliver(struct twheel *tw, u64 now, unsigned int most)
{
	twheel_hand_on(tw, now, most);
	return twheel_tell_news(tw, now);
}

/* The same in a poll, which may leave it to softirq to wake. */
static bool twheel_deliver_polled(struct twheel *tw, u64 now, unsigned int most)
{
	twheel_hand_on(tw, now, most);
	/* If the clock was set back since, the difference is a huge number. */
	return now - tw->told >= POLL_PAUSE && twheel_tell_news(tw, now);
}

/* Of a step, what is for the timers to be found; the rest is for the ring. */
static unsigned int twheel_half(const struct twheel *tw, unsigned int step)
{
	return tw->ring.header ? (step + 1) / 2 : step;
}

static void twheel_wake(struct twheel *tw)
{
	wake_up_interruptible_poll(&tw->wait, EPOLLIN | EPOLLRDNORM);
}

/* Take the wheel's lock, to do what may depend on the time, which is returned. */
static u64 twheel_begin(struct twheel *tw)
	__acquires(&tw->lock)
{
	u64 now;

	twheel_lock(tw);
	now = twheel_now(tw);
	timers_turn(&tw->timers, now);
	return now;
}

/*
 * Give the lock back, after twheel_deliver(), because events may have come whatever was
 * done; if there is @news, who waits is woken.
 */
static void twheel_end(struct twheel *tw, u64 now, bool news)
	__releases(&tw->lock)
{
	twheel_program(tw, now);
	twheel_unlock(tw);
	if (news && wq_has_sleeper(&tw->wait))
		twheel_wake(tw);
}

/* It is the wheel's turn in softirq. */
static unsigned int twheel_turn(struct expiry_entry *entry, unsigned int budget, bool *news)
{
	struct twheel *tw = container_of(entry, struct twheel, entry);
	u64 now = twheel_now(tw);
	u32 handled = tw->ring.handled;
	unsigned int done, left;
	bool sure = true;

	done = timers_advance(&tw->timers, now, twheel_half(tw, budget));
	left = max(budget - done, 1U);
	if (unlikely(tw->sought) && !tw->ring.header) {
		unsigned int dropped = events_drop_stale(&tw->timers, left);

		sure = dropped < left;
		tw->timers.news |= sure && timers_expired(&tw->timers);
		done += dropped;
	}
	*news = twheel_deliver(tw, now, left);
	if (unlikely(tw->sought))
		tw->sought = !*news && (!sure || timers_behind(&tw->timers, now) ||
					twheel_can_post(tw));
	done += tw->ring.handled - handled;
	/* What the ring did not want; what is found now is posted by the next visit. */
	if (tw->ring.header && done < budget)
		done += timers_advance(&tw->timers, now, budget - done);
	tw->interrupts++;
	tw->max_pass = max_t(u64, tw->max_pass, done);
	if (!*news)
		tw->idle_interrupts++;
	twheel_program(tw, now);
	return done;
}

static void twheel_turned(struct expiry_entry *entry)
{
	twheel_wake(container_of(entry, struct twheel, entry));
}

/*
 * Take one step in the caller's time, if the wheel is behind and has fewer than
 * @enough events.  A heavy slot, of which nothing is due yet, is for callers who would
 * only sleep instead.  Returns whether there was something to do.
 */
static bool twheel_step(struct twheel *tw, unsigned int enough, bool heavy, bool polls)
{
	struct timers *ts = &tw->timers;
	u64 now = twheel_begin(tw);
	u32 expired = timers_expired(ts);
	bool behind, news;

	behind = timers_behind(ts, now) ? expired < enough
					: timers_heavy(ts) && heavy && !expired;
	if (!behind) {
		twheel_unlock(tw);
		return false;
	}
	timers_advance(ts, now, twheel_half(tw, WHEEL_STEP));
	tw->steps++;
	/* Others may wait, and the caller may not want what was found. */
	news = polls ? twheel_deliver_polled(tw, now, WHEEL_STEP / 2)
		     : twheel_deliver(tw, now, WHEEL_STEP / 2);
	twheel_end(tw, now, news);
	return true;
}

/*
 * Do what softirq left, until there are enough events or all is done.  Returns false if a
 * signal came before that, or there are no @steps left.
 */
static bool twheel_catch_up(struct twheel *tw, unsigned int enough, bool heavy,
			    unsigned int *steps)
{
	while (*steps && twheel_step(tw, enough, heavy, false)) {
		--*steps;
		if (signal_pending(current))
			return false;
		cond_resched();
	}
	return *steps;
}

/*
 * Take stale events from the front of those that wait, and post to the ring what has
 * room there.  Sets @sure if @readable is more than a guess.
 */
static bool twheel_look_for_event(struct twheel *tw, bool *sure)
{
	struct timers *ts = &tw->timers;
	u64 now = twheel_begin(tw);
	bool readable, news;

	*sure = tw->ring.header || events_drop_stale(ts, WHEEL_STEP) < WHEEL_STEP;
	news = twheel_deliver_polled(tw, now, WHEEL_STEP);
	if (tw->ring.header) {
		readable = ring_has_entries(&tw->ring);
		*sure = readable || !timers_expired(ts);
	} else {
		readable = timers_expired(ts);
	}
	if (!readable && timers_behind(ts, now))
		*sure = false;
	twheel_end(tw, now, news);
	return readable;
}

/*
 * Is there an event?  After a bounded number of steps, @sure says that the answer is no more
 * than a guess.  Meanwhile the caller helps with a heavy slot that is not due yet, but does
 * not stay awake for it.
 */
static bool twheel_readable(struct twheel *tw, bool *sure)
{
	bool readable;

	*sure = false;
	/* Who polls very many names looks at no signal in between. */
	for (unsigned int n = 0; n < POLL_STEPS && !fatal_signal_pending(current); n++) {
		bool behind = twheel_step(tw, 1, true, true);

		readable = twheel_look_for_event(tw, sure);
		if (*sure && (readable || !behind))
			return readable;
		cond_resched();
	}
	return false;
}

/*
 * May a read that is about to sleep stay awake?  Also if it is not sure that there is an
 * event: it goes on to look for one, and may be interrupted.  A killed one goes to sleep,
 * which ends it.
 */
static bool twheel_may_read(struct twheel *tw)
{
	bool sure;

	if (fatal_signal_pending(current))
		return false;
	return twheel_readable(tw, &sure) || !sure;
}

/* Do events go to a ring?  A setup may come at any time, also while a read waits. */
static bool twheel_has_ring(struct twheel *tw)
{
	bool ring;

	twheel_lock(tw);
	ring = tw->ring.header;
	twheel_unlock(tw);
	return ring;
}

/*
 * Move events into the ring, as long as there are any and there is room.  Each round
 * moves some, or drops some that are stale.
 */
static void twheel_fill_ring(struct twheel *tw)
{
	unsigned int steps = UINT_MAX;
	u32 before, waiting;
	bool news;
	u64 now;

	do {
		twheel_catch_up(tw, WHEEL_STEP, false, &steps);
		now = twheel_begin(tw);
		before = timers_expired(&tw->timers);
		news = twheel_deliver(tw, now, WHEEL_STEP);
		waiting = timers_expired(&tw->timers);
		twheel_end(tw, now, news);
		cond_resched();
	} while (waiting && waiting < before && !signal_pending(current));
}

/* Owners */

/*
 * The wheel is about to be used: it belongs to the caller's user, whoever has opened it.
 * That is for good when it has memory, which memory.c takes in that user's name; until
 * then there is nothing that would have to be counted anew.
 */
static int twheel_take_over(struct twheel *tw)
{
	struct twheel_user *user = tw->user;
	kuid_t uid = user_current();
	int ret;

	lockdep_assert_held(&tw->grow);
	if (uid_eq(uid, user->uid))
		return user_add_shares(user);
	user = user_get(uid);
	if (IS_ERR(user))
		return PTR_ERR(user);
	ret = user_add_shares(user);
	if (ret) {
		user_put(user);
		return ret;
	}
	twheel_lock(tw);
	swap(tw->user, user);
	twheel_unlock(tw);
	user_put(user);
	return 0;
}

/*
 * Take @grow, to give memory to the wheel.  Its user pays for that, who stays the same as long
 * as @grow is held.
 */
static int twheel_begin_grow(struct twheel *tw)
{
	int ret = mutex_lock_killable(&tw->grow);

	if (ret || tw->used)
		return ret;
	ret = twheel_take_over(tw);
	if (ret)
		mutex_unlock(&tw->grow);
	return ret;
}

/* Give a wheel what an arm needs.  Returns 0, for another try, or an errno. */
static int twheel_grow(struct twheel *tw, const struct timers_need *need)
{
	int ret;

	cond_resched();
	/* A search for an id may take millions of steps, one for each 64 of them. */
	if (need->what == TIMERS_NEED_NOTHING)
		return fatal_signal_pending(current) ? -EINTR : 0;
	ret = twheel_begin_grow(tw);
	if (ret)
		return ret;
	ret = memory_grow(tw, need);
	mutex_unlock(&tw->grow);
	return ret;
}

/* The structs of the calls */

static_assert(sizeof(struct twheel_event) == 48);
static_assert(sizeof(struct twheel_features) == 64);
static_assert(sizeof(struct twheel_setup) == 80);
static_assert(sizeof(struct twheel_op) == 64);
static_assert(sizeof(struct twheel_submit) == 32);
static_assert(sizeof(struct twheel_timer) == 64);
static_assert(sizeof(struct twheel_list) == 32);
static_assert(sizeof(struct twheel_stats) == 120);
static_assert(sizeof(struct twheel_trim) == 8);

/**
 * union twheel_arg - the struct of a call, in the kernel
 * @features: of TWHEEL_IOC_FEATURES
 * @setup: of _SETUP and _GET_SETUP
 * @op: of _ARM and _CANCEL
 * @submit: of _SUBMIT
 * @timer: of _GET
 * @list: of _LIST and _DRAIN
 * @stats: of _STATS
 * @trim: of _TRIM
 */
union twheel_arg {
	struct twheel_features	features;
	struct twheel_setup	setup;
	struct twheel_op	op;
	struct twheel_submit	submit;
	struct twheel_timer	timer;
	struct twheel_list	list;
	struct twheel_stats	stats;
	struct twheel_trim	trim;
};

/* Arm, cancel and submit */

static int twheel_do_op(struct twheel *tw, struct twheel_op *op, u64 now,
			struct timers_need *need)
{
	struct timers *ts = &tw->timers;
	int ret;

	switch (op->opcode) {
	case TWHEEL_OP_ARM:
		ret = timers_check_arm(ts, op);
		/* Nobody tells when an event was taken from the ring, and the id is free. */
		if (!ret && op->id == TWHEEL_ID_ANY && tw->ring.header)
			ret = -EOPNOTSUPP;
		/* Without a ring the kernel hands out the events, and counts by itself. */
		if (!ret && op->flags & TWHEEL_ARM_STORED && op->count && !tw->ring.header)
			ret = -EINVAL;
		return ret ? ret : timers_arm(ts, op, now, need);
	case TWHEEL_OP_CANCEL:
		ret = timers_check_cancel(ts, op);
		return ret ? ret : timers_cancel(ts, op);
	default:
		return -EINVAL;
	}
}

/* Carry out at most COPY_MAX operations; each gets its result. */
static void twheel_do_ops(struct twheel *tw, struct twheel_op *ops, unsigned int nr)
{
	struct timers *ts = &tw->timers;
	struct timers_need need = {};
	bool news, more = false;
	unsigned int i = 0;
	u64 now;
	int ret;

	while (i < nr) {
		now = twheel_begin(tw);
		timers_prefetch_first(ts, &ops[i], nr - i);
		for (; i < nr; i++) {
			timers_prefetch_later(ts, &ops[i], nr - i);
			ret = twheel_do_op(tw, &ops[i], now, &need);
			if (ret == -EAGAIN)
				break;
			ops[i].result = ret;
		}
		/* No more than a step in all. */
		news = twheel_deliver(tw, now, max(WHEEL_STEP - i, 1U));
		more = tw->ring.header && !news && ring_more(&tw->ring, ts);
		twheel_end(tw, now, news);
		if (i == nr)
			break;
		ret = twheel_grow(tw, &need);
		if (ret)
			ops[i++].result = ret;
	}
	/* Stale events are in front of those that the consumer calls for. */
	if (more)
		twheel_fill_ring(tw);
}

/* Which of the operations leave the id to the kernel, as bits. */
static u64 chosen_ids(const struct twheel_op *ops, unsigned int nr)
{
	u64 chosen = 0;

	static_assert(COPY_MAX <= 64);
	for (unsigned int i = 0; i < nr; i++)
		if (ops[i].id == TWHEEL_ID_ANY)
			chosen |= BIT_ULL(i);
	return chosen;
}

/*
 * The daemon could not be told the results of these.  It knows of its own ids,
 * but a timer with an id that the kernel chose would be lost to it.
 */
static void twheel_undo(struct twheel *tw, const struct twheel_op *ops,
			unsigned int nr, u64 chosen)
{
	u64 now = twheel_begin(tw);

	for (unsigned int i = 0; i < nr; i++) {
		struct twheel_op op = { .id = ops[i].id, .generation = ops[i].generation };

		if (chosen & BIT_ULL(i) && !ops[i].result)
			timers_cancel(&tw->timers, &op);
	}
	twheel_end(tw, now, twheel_deliver(tw, now, WHEEL_STEP));
}

static int twheel_single(struct twheel *tw, struct twheel_op *op, u32 opcode)
{
	if (op->opcode)
		return -EINVAL;
	op->opcode = opcode;
	twheel_do_ops(tw, op, 1);
	op->opcode = 0;
	return op->result;
}

static int twheel_arm(struct twheel *tw, union twheel_arg *arg)
{
	return twheel_single(tw, &arg->op, TWHEEL_OP_ARM);
}

/* The caller could not be told which id the kernel has chosen. */
static void twheel_undo_arm(struct twheel *tw, const union twheel_arg *arg)
{
	twheel_undo(tw, &arg->op, 1, 1);
}

static int twheel_cancel(struct twheel *tw, union twheel_arg *arg)
{
	return twheel_single(tw, &arg->op, TWHEEL_OP_CANCEL);
}

/* Of @nr records of @size bytes, how many were copied in full if @left bytes were not? */
static unsigned int copied_in_full(unsigned int nr, size_t size, size_t left)
{
	return nr - DIV_ROUND_UP(left, size);
}

/*
 * What an operation writes back: its last 16 bytes.  Operations must not be
 * carried out if their results have no place to go, so these are first written
 * as they were read.
 */
#define RESULT_SIZE	(sizeof(struct twheel_op) - offsetof(struct twheel_op, id))

static bool result_writable(struct twheel_op __user *user, const struct twheel_op *op)
{
	return !copy_to_user(&user->id, &op->id, RESULT_SIZE);
}

/* For how many of the operations can results be written? */
static unsigned int results_writable(struct twheel_op __user *array,
				     const struct twheel_op *ops, unsigned int nr)
{
	unsigned int n;

	/* A copy's worth touches two pages at the most. */
	static_assert((COPY_MAX - 1) * sizeof(*ops) + RESULT_SIZE <= PAGE_SIZE);
	if (result_writable(array, ops) && result_writable(array + nr - 1, ops + nr - 1))
		return nr;
	for (n = 0; n < nr; n++)
		if (!result_writable(array + n, ops + n))
			break;
	return n;
}

/* Tell the results; returns how many could be. */
static unsigned int write_results(struct twheel_op __user *array,
				  const struct twheel_op *ops, unsigned int nr)
{
	unsigned int n = 0;

	if (!user_write_access_begin(array, nr * sizeof(*ops)))
		return 0;
	for (; n < nr; n++) {
		unsafe_put_user(ops[n].id, &array[n].id, out);
		unsafe_put_user(ops[n].generation, &array[n].generation, out);
		unsafe_put_user(ops[n].state, &array[n].state, out);
		unsafe_put_user(ops[n].result, &array[n].result, out);
	}
out:
	user_write_access_end();
	return n;
}

static int twheel_submit(struct twheel *tw, union twheel_arg *arg)
{
	struct twheel_submit *submit = &arg->submit;
	struct twheel_op __user *array = u64_to_user_ptr(submit->ops);
	const size_t size = sizeof(struct twheel_op);
	struct twheel_op *ops;
	unsigned int nr, told;
	u64 chosen;

	if (submit->flags)
		return -EOPNOTSUPP;
	if (submit->reserved || submit->op_size != size)
		return -EINVAL;
	if (submit->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	submit->done = 0;
	submit->failed = 0;
	if (!submit->nr) {
		if (twheel_has_ring(tw))
			twheel_fill_ring(tw);
		return 0;
	}
	ops = kmalloc_array(min_t(u32, submit->nr, COPY_MAX), size, GFP_BRIEF);
	if (!ops)
		return -ENOMEM;

	do {
		nr = min_t(u32, submit->nr - submit->done, COPY_MAX);
		nr = copied_in_full(nr, size, copy_from_user(ops, array, nr * size));
		if (nr)
			nr = results_writable(array, ops, nr);
		if (!nr)
			break;
		chosen = chosen_ids(ops, nr);
		twheel_do_ops(tw, ops, nr);
		told = write_results(array, ops, nr);
		/* Only if the array was unmapped meanwhile. */
		if (unlikely(told < nr))
			twheel_undo(tw, ops + told, nr - told, chosen >> told);
		for (unsigned int i = 0; i < told; i++)
			submit->failed += ops[i].result < 0;
		submit->done += told;
		array += told;
		cond_resched();
	} while (told == nr && submit->done < submit->nr && !task_sigpending(current));

	kfree(ops);
	return submit->done ? 0 : -EFAULT;
}

/* Get, list and drain */

static int twheel_get(struct twheel *tw, union twheel_arg *arg)
{
	int ret;

	twheel_lock(tw);
	ret = timers_get(&tw->timers, &arg->timer, twheel_now(tw));
	twheel_unlock(tw);
	return ret;
}

/*
 * Of @nr drained timers, @told have reached the caller.  Returns how many count; if those
 * are less, the one behind them was armed or cancelled meanwhile, and what stands behind
 * that is claimed still.
 */
static unsigned int twheel_drain_end(struct twheel *tw, const struct twheel_timer *records,
				     unsigned int nr, unsigned int told, u32 claim)
{
	u64 now = twheel_begin(tw);
	unsigned int count;

	timers_undrain(&tw->timers, records + told, nr - told, claim, now);
	count = timers_drained(&tw->timers, records, told, claim);
	twheel_end(tw, now, twheel_deliver(tw, now, WHEEL_STEP));
	return count;
}

/*
 * Hand timers over.  Those of a drain reach the caller before they are cancelled, so that
 * no fault loses one; the place of one that somebody has armed or cancelled in between
 * is taken by those behind it.  Returns how many count; sets @fault to the first that
 * could not be told, or NULL.
 */
static unsigned int twheel_hand_over(struct twheel *tw, struct twheel_timer __user *array,
				     struct twheel_timer *records, unsigned int nr, bool drain,
				     u32 claim, const struct twheel_timer **fault)
{
	const size_t size = sizeof(*records);
	unsigned int done = 0, told, count;

	*fault = NULL;
	while (nr) {
		told = copied_in_full(nr, size, copy_to_user(array + done, records, nr * size));
		if (told < nr)
			*fault = records + told;
		count = drain ? twheel_drain_end(tw, records, nr, told, claim) : told;
		done += count;
		if (count == told)
			break;
		nr = told - count - 1;
		records += count + 1;
	}
	return done;
}

static int twheel_enumerate(struct twheel *tw, struct twheel_list *list, bool drain)
{
	struct twheel_timer __user *array = u64_to_user_ptr(list->timers);
	const size_t size = sizeof(struct twheel_timer);
	const struct twheel_timer *fault;
	struct twheel_timer *records;
	unsigned int nr, told;
	int ret = 0;
	u32 claim;
	bool end;

	if (list->flags)
		return -EOPNOTSUPP;
	if (list->reserved || list->timer_size != size || !list->nr)
		return -EINVAL;
	if (list->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	records = kmalloc_array(min_t(u32, list->nr, COPY_MAX), size, GFP_BRIEF);
	if (!records)
		return -ENOMEM;
	list->done = 0;

	do {
		twheel_lock(tw);
		nr = timers_list(&tw->timers, records,
				 min_t(u32, list->nr - list->done, COPY_MAX),
				 &list->cursor, drain, twheel_now(tw));
		end = list->cursor == tw->timers.wheel.capacity;
		claim = tw->timers.claims;
		twheel_unlock(tw);
		told = twheel_hand_over(tw, array, records, nr, drain, claim, &fault);
		list->done += told;
		array += told;
		if (fault) {
			list->cursor = fault->id;
			ret = list->done ? 0 : -EFAULT;
			break;
		}
		cond_resched();
	} while (list->done < list->nr && !end && !signal_pending(current));

	kfree(records);
	if (!ret && !list->done && !end)
		return -ERESTARTSYS;
	return ret;
}

static int twheel_list(struct twheel *tw, union twheel_arg *arg)
{
	return twheel_enumerate(tw, &arg->list, false);
}

static int twheel_drain(struct twheel *tw, union twheel_arg *arg)
{
	return twheel_enumerate(tw, &arg->list, true);
}

/* Setup and statistics */

/* To tell what would be allowed is no use of the capability. */
static u64 min_tick(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE) ? 1 : TWHEEL_MIN_TICK;
}

/* A bit for each clock that a wheel may have. */
static u32 clocks(void)
{
	u32 bits = 0;

	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		bits |= BIT(clock_ids[i]);
	return bits;
}

static int twheel_features(struct twheel *tw, union twheel_arg *arg)
{
	arg->features = (struct twheel_features){
		.abi		 = TWHEEL_ABI,
		.clocks		 = clocks(),
		.min_tick	 = min_tick(),
		.max_capacity	 = TWHEEL_MAX_CAPACITY,
		.max_levels	 = TWHEEL_MAX_LEVELS,
		.max_slots	 = TWHEEL_MAX_SLOTS,
		.max_batch	 = TWHEEL_MAX_BATCH,
		.max_user_timers = users_max_timers(),
		.max_user_wheels = users_max_wheels(),
		.max_user_ring	 = users_max_ring(),
		.features	 = HAVE_WORDS ? TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_RING : 0,
	};
	return 0;
}

static int twheel_get_setup(struct twheel *tw, union twheel_arg *arg)
{
	const struct timers *ts = &tw->timers;

	twheel_lock(tw);
	arg->setup = (struct twheel_setup){
		.flags		= TWHEEL_SETUP_CLOCK | (tw->words_nr ? TWHEEL_SETUP_WORDS : 0),
		.clock		= clock_ids[tw->clock],
		.tick		= ts->tick,
		.levels		= ts->wheel.max_levels,
		.slots		= 1U << ts->wheel.bits,
		.capacity	= ts->wheel.capacity,
		.delivery	= tw->ring.header ? TWHEEL_DELIVER_RING : TWHEEL_DELIVER_READ,
		.ring_entries	= tw->ring.entries,
		.words_first	= tw->words_first,
		.words_nr	= tw->words_nr,
		.words_offset	= tw->words_nr ? WORDS_OFFSET : 0,
		.ring_offset	= tw->ring.header ? RING_OFFSET : 0,
		.now		= twheel_now(tw),
		.clock_offset	= caller_offset(tw),
	};
	twheel_unlock(tw);
	return 0;
}

/* Fill in which ids have words, and how large the ring is. */
static int setup_check_shared(struct twheel_setup *setup)
{
	u32 end = setup->capacity;

	if (!(setup->flags & TWHEEL_SETUP_WORDS))
		return setup->delivery == TWHEEL_DELIVER_RING || setup->words_first ||
		       setup->words_nr || setup->ring_entries ? -EINVAL : 0;
	if (setup->words_first >= end || setup->words_nr > end - setup->words_first)
		return -ERANGE;
	if (setup->words_nr)
		end = min(round_up(setup->words_first + setup->words_nr, WORDS_PER_PAGE), end);
	setup->words_first = round_down(setup->words_first, WORDS_PER_PAGE);
	setup->words_nr = end - setup->words_first;

	if (setup->delivery != TWHEEL_DELIVER_RING)
		return setup->ring_entries ? -EINVAL : 0;
	if (setup->words_nr != setup->capacity)
		return -EINVAL;
	if (!setup->ring_entries)
		setup->ring_entries = TWHEEL_DEFAULT_RING;
	if (setup->ring_entries > TWHEEL_MAX_RING)
		return -ERANGE;
	setup->ring_entries = roundup_pow_of_two(max(setup->ring_entries, RING_MIN));
	return 0;
}

/* Fill in the defaults; refuse what makes no sense or is not allowed. */
static int setup_check(struct twheel_setup *setup, enum twheel_clock *clock)
{
	const u32 flags = TWHEEL_SETUP_CLOCK | (HAVE_WORDS ? TWHEEL_SETUP_WORDS : 0);
	int ret;

	if (setup->flags & ~flags || setup->delivery > TWHEEL_DELIVER_RING ||
	    (setup->delivery == TWHEEL_DELIVER_RING && !HAVE_WORDS))
		return -EOPNOTSUPP;
	if (setup->reserved)
		return -EINVAL;
	*clock = TWHEEL_MONOTONIC;
	if (setup->flags & TWHEEL_SETUP_CLOCK) {
		for (*clock = 0; clock_ids[*clock] != setup->clock; ++*clock)
			if (*clock == TWHEEL_CLOCKS - 1)
				return -EOPNOTSUPP;
	} else if (setup->clock) {
		return -EINVAL;
	}
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
	ret = setup_check_shared(setup);
	if (ret)
		return ret;
	if ((setup->tick < TWHEEL_MIN_TICK ||
	     (setup->levels && setup->levels != TWHEEL_DEFAULT_LEVELS) ||
	     setup->slots != TWHEEL_DEFAULT_SLOTS) && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	return 0;
}

/* Make an empty wheel; nothing is armed in it and nothing allocated. */
static void twheel_shape(struct timers *ts, const struct twheel_setup *setup,
			 enum twheel_clock clock, u64 now)
{
	timers_setup(ts, setup->capacity, setup->levels, setup->slots, setup->tick, now);
	ts->settable = clock_settable(clock);
}

/*
 * Take what the wheel needs from the start, in a copy of it: if something fails, it
 * was never there, whatever other threads did meanwhile.
 */
static int setup_take(struct twheel *tw, const struct twheel_setup *setup,
		      enum twheel_clock clock, struct timers *ts, struct ring *ring)
{
	int ret;

	lockdep_assert_held(&tw->grow);
	twheel_shape(ts, setup, clock, clock_now(clock) + opener_offset(tw, clock));
	if (!setup->words_nr)
		return 0;
	ret = memory_set_up(ts, tw->user, setup->words_first, setup->words_nr);
	if (!ret && setup->ring_entries) {
		ret = user_charge_ring(tw->user, setup->ring_entries);
		if (!ret) {
			ret = ring_alloc(ring, setup->ring_entries);
			if (ret)
				user_uncharge_ring(tw->user, setup->ring_entries);
		}
	}
	if (ret)
		memory_free(ts, tw->user);
	return ret;
}

static int twheel_setup(struct twheel *tw, union twheel_arg *arg)
{
	struct twheel_setup *setup = &arg->setup;
	enum twheel_clock clock;
	struct ring ring = {};
	struct timers *ts;
	int ret;

	ret = setup_check(setup, &clock);
	if (ret)
		return ret;
	ts = kmalloc(sizeof(*ts), GFP_BRIEF);
	if (!ts)
		return -ENOMEM;
	ret = twheel_begin_grow(tw);
	if (ret)
		goto free;
	ret = tw->set_up || tw->timers.wheel.chunk ? -EBUSY :
	      setup_take(tw, setup, clock, ts, &ring);
	if (!ret) {
		tw->set_up = true;
		tw->used = true;
		twheel_lock(tw);
		tw->ring = ring;
		tw->timers = *ts;
		wheel_moved(&tw->timers.wheel);
		tw->clock = clock;
		tw->offset = opener_offset(tw, clock);
		tw->words_first = setup->words_first;
		tw->words_nr = setup->words_nr;
		twheel_unlock(tw);
		/* Who waits in a read is told that events go to a ring now. */
		if (ring.header)
			twheel_wake(tw);
	}
	mutex_unlock(&tw->grow);
free:
	kfree(ts);
	return ret ? ret : twheel_get_setup(tw, arg);
}

static int twheel_stats(struct twheel *tw, union twheel_arg *arg)
{
	const struct timers *ts = &tw->timers;

	twheel_lock(tw);
	arg->stats = (struct twheel_stats){
		.pending	 = ts->wheel.filed,
		.expired	 = timers_expired(ts),
		.arms		 = ts->arms,
		.cancels	 = ts->cancels,
		.fired		 = ts->fired,
		.delivered	 = ts->delivered,
		.overruns	 = ts->overruns,
		.moves		 = ts->wheel.moves,
		.cascades	 = ts->wheel.cascades,
		.interrupts	 = tw->interrupts,
		.idle_interrupts = tw->idle_interrupts,
		.steps		 = tw->steps,
		.max_pass	 = tw->max_pass,
		.wakeups	 = tw->wakeups,
		.memory		 = sizeof(*tw) + ts->wheel.memory + words_memory(ts) +
				   ring_memory(&tw->ring),
	};
	twheel_unlock(tw);
	return 0;
}

static int twheel_trim(struct twheel *tw, union twheel_arg *arg)
{
	arg->trim.freed = memory_trim(tw);
	return 0;
}

/* The table of ioctls */

/**
 * struct twheel_ioctl - a call
 * @cmd: its number, with the direction and size of this kernel's struct
 * @min_size: of the struct when the call was introduced
 * @run: called without locks; the struct is copied to and fro around it
 * @undo: if the results of a call that has succeeded can't be told; NULL if the caller
 *	knows what was done
 */
struct twheel_ioctl {
	unsigned int	cmd;
	unsigned int	min_size;
	int		(*run)(struct twheel *tw, union twheel_arg *arg);
	void		(*undo)(struct twheel *tw, const union twheel_arg *arg);
};

/* @last: the last field of struct @type when the call was introduced */
#define IOCTL(name, fn, type, last, ...)				\
	[_IOC_NR(TWHEEL_IOC_##name)] = {				\
		.cmd		= TWHEEL_IOC_##name +			\
				  BUILD_BUG_ON_ZERO(sizeof(struct type) > \
						    sizeof(union twheel_arg)), \
		.min_size	= offsetofend(struct type, last),	\
		.run		= (fn),					\
		__VA_ARGS__						\
	}

static const struct twheel_ioctl twheel_ioctls[] = {
	IOCTL(FEATURES,  twheel_features,  twheel_features, max_user_ring),
	IOCTL(SETUP,	 twheel_setup,	   twheel_setup,    clock_offset),
	IOCTL(GET_SETUP, twheel_get_setup, twheel_setup,    clock_offset),
	IOCTL(ARM,	 twheel_arm,	   twheel_op,	    result, .undo = twheel_undo_arm),
	IOCTL(CANCEL,	 twheel_cancel,	   twheel_op,	    result),
	IOCTL(GET,	 twheel_get,	   twheel_timer,    overruns),
	IOCTL(SUBMIT,	 twheel_submit,	   twheel_submit,   reserved),
	IOCTL(LIST,	 twheel_list,	   twheel_list,     reserved),
	IOCTL(DRAIN,	 twheel_drain,	   twheel_list,     reserved),
	IOCTL(STATS,	 twheel_stats,	   twheel_stats,    memory),
	IOCTL(TRIM,	 twheel_trim,	   twheel_trim,	    freed),
};

static long twheel_ioctl(struct file *file, unsigned int cmd, unsigned long user_arg)
{
	unsigned int nr = _IOC_NR(cmd), user_size = _IOC_SIZE(cmd);
	struct twheel *tw = file->private_data;
	void __user *user = (void __user *)user_arg;
	const struct twheel_ioctl *ioctl;
	union twheel_arg arg = {};
	bool choice;
	size_t size;
	int ret;

	if (_IOC_TYPE(cmd) != TWHEEL_IOC_MAGIC || nr >= ARRAY_SIZE(twheel_ioctls))
		return -ENOIOCTLCMD;
	ioctl = &twheel_ioctls[array_index_nospec(nr, ARRAY_SIZE(twheel_ioctls))];
	if (_IOC_DIR(cmd) != _IOC_DIR(ioctl->cmd))
		return -ENOIOCTLCMD;
	if (user_size < ioctl->min_size)
		return -EINVAL;
	size = min(user_size, _IOC_SIZE(ioctl->cmd));

	/* A call whose results can't be told must change nothing. */
	if (_IOC_DIR(cmd) & _IOC_WRITE) {
		ret = copy_struct_from_user(&arg, _IOC_SIZE(ioctl->cmd), user, user_size);
		if (ret)
			return ret;
		if (copy_to_user(user, &arg, size))
			return -EFAULT;
	} else if (clear_user(user, user_size)) {
		/* The part of a newer struct that this kernel does not know stays 0. */
		return -EFAULT;
	}
	choice = ioctl->undo && arg.op.id == TWHEEL_ID_ANY;
	ret = ioctl->run(tw, &arg);
	/* Who is interrupted goes on where it was, if only the struct tells where. */
	if (ret && ret != -ERESTARTSYS)
		return ret;
	if (copy_to_user(user, &arg, size)) {
		if (choice && !ret)
			ioctl->undo(tw, &arg);
		return -EFAULT;
	}
	return ret;
}

/* Read and poll */

/*
 * Claim events that are not stale, as far as one knows by now.  Sets @more if stale ones
 * were in front and there may be others behind them, and @claim to the claim's number.
 */
static unsigned int twheel_claim(struct twheel *tw, struct twheel_event *events,
				 unsigned int nr, u32 *claim, bool *more)
{
	u64 now = twheel_begin(tw);
	u32 expired = timers_expired(&tw->timers);

	/* A ring that was set up meanwhile has the events: the reader looks again, and is told. */
	*more = tw->ring.header || events_drop_stale(&tw->timers, WHEEL_STEP) == WHEEL_STEP ||
		timers_expired(&tw->timers) != expired;
	nr = *more ? 0 : timers_claim(&tw->timers, events, nr, now);
	*claim = tw->timers.claims;
	/* Those that were dropped are filed anew, or have an event again. */
	twheel_end(tw, now, twheel_deliver(tw, now, 0));
	return nr;
}

/*
 * Of @nr claimed events, @told have reached the reader.  Returns how many count;
 * if those are less, the one behind them is stale, and what stands behind that is
 * claimed still.
 */
static unsigned int twheel_claim_end(struct twheel *tw, const struct twheel_event *events,
				     unsigned int nr, unsigned int told, u32 claim)
{
	u64 now = twheel_begin(tw);
	unsigned int count;
	bool news;

	timers_put_back(&tw->timers, events + told, nr - told, claim);
	count = timers_commit(&tw->timers, events, told, claim, now);
	news = twheel_deliver(tw, now, 0);
	/* Events that are left are for the next who waits. */
	twheel_end(tw, now, news || timers_expired(&tw->timers));
	return count;
}

/*
 * Hand events to a reader.  A record reaches the reader before it counts, so that
 * no fault loses it; the place of one that turns out to be stale is taken by those
 * behind it.  Returns how many count; sets @fault if the reader's memory failed.
 */
static unsigned int twheel_tell(struct twheel *tw, struct twheel_event *events,
				unsigned int nr, u32 claim, struct iov_iter *to, bool *fault)
{
	const size_t size = sizeof(*events);
	unsigned int done = 0, told, count;
	size_t copied;

	while (nr) {
		copied = copy_to_iter(events, nr * size, to);
		told = copied / size;
		*fault |= told < nr;
		count = twheel_claim_end(tw, events, nr, told, claim);
		done += count;
		iov_iter_revert(to, copied - count * size);
		if (count == told)
			break;
		nr = told - count - 1;
		memmove(events, events + count + 1, nr * size);
	}
	return done;
}

/* The caller leaves without an event, and may have been woken in the place of another. */
static void twheel_pass_on(struct twheel *tw)
{
	bool more;

	twheel_lock(tw);
	more = tw->ring.header || timers_expired(&tw->timers);
	twheel_unlock(tw);
	if (more)
		twheel_wake(tw);
}

static ssize_t twheel_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct twheel *tw = iocb->ki_filp->private_data;
	bool at_once = iocb->ki_flags & IOCB_NOWAIT;
	/* fcntl may change O_NONBLOCK at any time; each read goes by what it was at first. */
	bool may_sleep = !at_once && !(data_race(iocb->ki_filp->f_flags) & O_NONBLOCK);
	const size_t size = sizeof(struct twheel_event);
	size_t room = iov_iter_count(to) / size, done = 0;
	unsigned int steps = at_once ? POLL_STEPS : UINT_MAX;
	struct twheel_event *events;
	int ret = 0;

	if (!room)
		return -EINVAL;
	/* Who sleeps keeps this for as long, so it is charged. */
	events = kmalloc_array(min_t(size_t, room, COPY_MAX), size,
			       at_once ? GFP_NOWAIT | __GFP_NOWARN :
			       may_sleep ? GFP_CHARGED : GFP_BRIEF);
	if (!events)
		return at_once ? -EAGAIN : -ENOMEM;

	for (;;) {
		unsigned int want = min_t(size_t, room - done, COPY_MAX), nr, told;
		bool fault = false, more, all;
		u32 claim;

		if (twheel_has_ring(tw)) {
			ret = -EOPNOTSUPP;
			break;
		}
		all = twheel_catch_up(tw, want, may_sleep && !done, &steps);
		nr = twheel_claim(tw, events, want, &claim, &more);
		told = twheel_tell(tw, events, nr, claim, to, &fault);
		done += told;
		if (fault) {
			ret = -EFAULT;
			break;
		}
		/*
		 * Not until nothing is due: a fast periodic timer always is.  But whose event was
		 * stale may be due by what is wanted now.
		 */
		if (done && ((nr < want && !more && told == nr) || done == room))
			break;
		cond_resched();
		/* All of these were stale, or there is room for more than a copy's worth. */
		if (steps && (nr || more || !all)) {
			steps--;
			/* What io_uring has completed meanwhile looks like a signal. */
			if (at_once || !signal_pending(current))
				continue;
			ret = -ERESTARTSYS;
			break;
		}
		if (!may_sleep) {
			ret = -EAGAIN;
			break;
		}
		ret = wait_event_interruptible_exclusive(tw->wait, twheel_may_read(tw) ||
							 twheel_has_ring(tw));
		if (ret)
			break;
	}
	kfree(events);
	if (!done && ret != -EAGAIN)
		twheel_pass_on(tw);
	return done ? done * size : ret;
}

/*
 * Poll does not take long.  What it does not come to is left to the read of who does not sleep
 * there; else to softirq, which wakes the caller if there is an event.  A killed caller, which
 * does not look to the end, must not say that there is nothing: an epoll that it shares with
 * others would then not tell them of an event that waits.
 */
static __poll_t twheel_poll(struct file *file, poll_table *wait)
{
	struct twheel *tw = file->private_data;
	bool sure;
	u64 now;

	poll_wait(file, &tw->wait, wait);
	if (twheel_readable(tw, &sure))
		return EPOLLIN | EPOLLRDNORM;
	if (sure)
		return 0;
	/* As a read will see it, unless fcntl changes it meanwhile. */
	if ((data_race(file->f_flags) & O_NONBLOCK) || fatal_signal_pending(current))
		return EPOLLIN | EPOLLRDNORM;
	now = twheel_begin(tw);
	tw->sought = true;
	twheel_end(tw, now, false);
	return 0;
}

/* Shared memory */

/* The page of the wheel's file at an offset in pages, or NULL. */
static void *twheel_page(struct twheel *tw, unsigned long at)
{
	const struct timers *ts = &tw->timers;
	struct twheel_word **words = READ_ONCE(ts->word);
	u32 pages;

	if (at >= RING_OFFSET / WORDS_PAGE) {
		at -= RING_OFFSET / WORDS_PAGE;
		pages = 1 + tw->ring.entries / ENTRIES_PER_PAGE;
		if (!tw->ring.header || at >= pages)
			return NULL;
		at = array_index_nospec(at, pages);
		return at ? (void *)tw->ring.page[at - 1] : tw->ring.header;
	}
	at -= WORDS_OFFSET / WORDS_PAGE;
	if (!words || at >= words_pages(ts))
		return NULL;
	return READ_ONCE(words[array_index_nospec(at, words_pages(ts))]);
}

static vm_fault_t twheel_fault(struct vm_fault *vmf)
{
	void *page = twheel_page(vmf->vma->vm_private_data, vmf->pgoff);

	if (!page)
		return VM_FAULT_SIGBUS;
	vmf->page = virt_to_page(page);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct twheel_vm_ops = {
	.fault	= twheel_fault,
};

/* Is all of a part of the file there, which begins at @first and has @nr pages? */
static bool is_within(unsigned long at, unsigned long pages, unsigned long first,
		      unsigned long nr)
{
	return at >= first && pages <= nr && at - first <= nr - pages;
}

/* Does the wheel have these pages of its file? */
static bool twheel_has_pages(struct twheel *tw, unsigned long at, unsigned long pages)
{
	const unsigned long words = WORDS_OFFSET / WORDS_PAGE, ring = RING_OFFSET / WORDS_PAGE;
	bool has;

	twheel_lock(tw);
	has = (tw->words_nr &&
	       is_within(at, pages, words + tw->words_first / WORDS_PER_PAGE,
			 DIV_ROUND_UP(tw->words_nr, WORDS_PER_PAGE))) ||
	      (tw->ring.header &&
	       is_within(at, pages, ring, 1 + tw->ring.entries / ENTRIES_PER_PAGE));
	twheel_unlock(tw);
	return has;
}

static int twheel_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct twheel *tw = file->private_data;

	if (!HAVE_WORDS)
		return -ENODEV;
	/*
	 * Stores to a private copy would be lost.  VM_SHARED is not there where the file
	 * was opened to be read only.
	 */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (!twheel_has_pages(tw, vma->vm_pgoff, vma_pages(vma)))
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = tw;
	vma->vm_ops = &twheel_vm_ops;
	return 0;
}

/* Open and release */

static void twheel_free(struct kref *kref)
{
	kfree(container_of(kref, struct twheel, entry.kref));
}

static int twheel_open(struct inode *inode, struct file *file)
{
	static const struct twheel_setup defaults = {
		.clock		= CLOCK_MONOTONIC,
		.tick		= TWHEEL_DEFAULT_TICK,
		.levels		= TWHEEL_DEFAULT_LEVELS,
		.slots		= TWHEEL_DEFAULT_SLOTS,
		.capacity	= TWHEEL_DEFAULT_CAPACITY,
	};
	struct twheel_user *user;
	struct twheel *tw;

	user = user_get(user_current());
	if (IS_ERR(user))
		return PTR_ERR(user);
	tw = kzalloc(sizeof(*tw), GFP_CHARGED);
	if (!tw) {
		user_put(user);
		return -ENOMEM;
	}
	tw->user = user;
	spin_lock_init(&tw->lock);
	mutex_init(&tw->grow);
	init_waitqueue_head(&tw->wait);
	tw->entry.lock = &tw->lock;
	tw->entry.turn = twheel_turn;
	tw->entry.wake = twheel_turned;
	tw->entry.free = twheel_free;
	kref_init(&tw->entry.kref);
	timerqueue_init(&tw->entry.node);
	tw->offsets.monotonic = timens_offset(CLOCK_MONOTONIC);
	tw->offsets.boottime = timens_offset(CLOCK_BOOTTIME);
	tw->clock = TWHEEL_MONOTONIC;
	tw->offset = opener_offset(tw, tw->clock);
	twheel_shape(&tw->timers, &defaults, tw->clock, clock_now(tw->clock) + tw->offset);
	file->private_data = tw;
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

/* Nothing here waits for softirq longer than for a step. */
static int twheel_release(struct inode *inode, struct file *file)
{
	struct twheel *tw = file->private_data;

	twheel_lock(tw);
	tw->closing = true;
	expiry_dequeue(&tw->entry);
	twheel_unlock(tw);
	memory_free(&tw->timers, tw->user);
	user_uncharge_ring(tw->user, tw->ring.entries);
	ring_free(&tw->ring);
	user_put(tw->user);
	/* One after the other: thousands that are freed together delay others on the CPU. */
	kref_put(&tw->entry.kref, twheel_free);
	return 0;
}

static void twheel_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct twheel *tw = file->private_data;
	union twheel_arg u;

	twheel_get_setup(tw, &u);
	seq_printf(m, "twheel-clock:\t%u\n", u.setup.clock);
	seq_printf(m, "twheel-tick-ns:\t%llu\n", u.setup.tick);
	seq_printf(m, "twheel-levels:\t%u\n", u.setup.levels);
	seq_printf(m, "twheel-slots:\t%u\n", u.setup.slots);
	seq_printf(m, "twheel-capacity:\t%u\n", u.setup.capacity);
	seq_printf(m, "twheel-delivery:\t%u\n", u.setup.delivery);
	twheel_stats(tw, &u);
	seq_printf(m, "twheel-pending:\t%llu\n", u.stats.pending);
	seq_printf(m, "twheel-expired:\t%llu\n", u.stats.expired);
	seq_printf(m, "twheel-fired:\t%llu\n", u.stats.fired);
	seq_printf(m, "twheel-delivered:\t%llu\n", u.stats.delivered);
	seq_printf(m, "twheel-moves:\t%llu\n", u.stats.moves);
	seq_printf(m, "twheel-cascades:\t%llu\n", u.stats.cascades);
	seq_printf(m, "twheel-interrupts:\t%llu\n", u.stats.interrupts);
	seq_printf(m, "twheel-memory:\t%llu\n", u.stats.memory);
}

static const struct file_operations twheel_fops = {
	.owner		= THIS_MODULE,
	.open		= twheel_open,
	.release	= twheel_release,
	.read_iter	= twheel_read_iter,
	.poll		= twheel_poll,
	.mmap		= twheel_mmap,
	.unlocked_ioctl	= twheel_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.show_fdinfo	= twheel_show_fdinfo,
};

static struct miscdevice twheel_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "twheel",
	.fops	= &twheel_fops,
	.mode	= 0600,
};

static int __init twheel_init(void)
{
	expiry_init();
	return misc_register(&twheel_misc);
}
module_init(twheel_init);

static void __exit twheel_exit(void)
{
	misc_deregister(&twheel_misc);
	expiry_exit();
	users_exit();
}
module_exit(twheel_exit);

MODULE_DESCRIPTION("Timers for daemons that hold a million of them");
MODULE_LICENSE("GPL");
