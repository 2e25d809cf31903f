// SPDX-License-Identifier: GPL-2.0
/*
 * Events: read and poll.
 *
 * A read claims events under the lock, copies them without it, and then commits those that
 * reached the reader and are not stale.  Both turn the wheel in the caller's time, by steps of
 * at most WHEEL_STEP timers and stale events.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "compat/kernel.h"

#include "twheel.h"

/* Steps of a poll, and of a read that must not wait. */
#define POLL_STEPS	16U

/*
 * Look for an event, turning the wheel; a condition to wait for.  If POLL_STEPS do not tell, say
 * that there is one: a poll may wake for nothing, but must miss nothing.  Meanwhile help with a
 * heavy slot, but do not stay awake for one that is not due.
 */
static bool twheel_find_event(struct twheel *tw)
{
	struct timers *ts = &tw->timers;
	bool readable, unsure = true;

	for (unsigned int n = 0; n < POLL_STEPS; n++) {
		u64 now = twheel_begin(tw);
		unsigned int left = WHEEL_STEP - timers_drop_stale(ts, WHEEL_STEP);
		bool heavy = timers_heavy(ts);

		readable = left && timers_queued(ts);
		unsure = !left || timers_behind(ts);
		if (!readable && (unsure || heavy))
			left -= timers_advance(ts, now, left);
		twheel_handled(tw, WHEEL_STEP - left);
		twheel_end(tw);
		if (readable || !(unsure || heavy))
			return readable;
		cond_resched();
	}
	return unsure;
}

/**
 * struct claim - events that a read has taken out of the queue
 * @events: room for them
 * @want: how many there is room for
 * @nr: how many there are
 * @number: of the claim
 * @made: they have been claimed, if there were any
 * @more: stale ones were dropped, so there may be others
 */
struct claim {
	struct twheel_event	*events;
	unsigned int		want;
	unsigned int		nr;
	u32			number;
	bool			made;
	bool			more;
};

/* Claim events.  They and the stale ones in front, which are dropped, are at most @left. */
static void twheel_claim(struct twheel *tw, struct claim *c, unsigned int left, u64 now)
{
	struct timers *ts = &tw->timers;
	unsigned int dropped = timers_drop_stale(ts, left);

	c->made = true;
	c->more = dropped;
	c->nr = timers_claim(ts, c->events, min(c->want, left - dropped), now);
	c->number = ts->claims;
	twheel_handled(tw, dropped + c->nr);
	/* The events that are left are for the next waiter, however long this copy takes. */
	ts->news = timers_queued(ts);
}

/*
 * Turn the wheel by a step, and claim events with what is left of it.  Return whether to go on:
 * something is due, and fewer events are queued than are wanted.  With @help empty a heavy slot
 * that is not due, too.
 */
static bool twheel_step(struct twheel *tw, struct claim *c, bool help)
{
	struct timers *ts = &tw->timers;
	u64 now = twheel_begin(tw);
	unsigned int left = WHEEL_STEP;
	bool behind = timers_behind(ts) ||
		      (help && timers_heavy(ts) && !timers_queued(ts));

	if (behind) {
		left -= timers_advance(ts, now, left);
		twheel_handled(tw, WHEEL_STEP - left);
		behind = !left && timers_queued(ts) < c->want;
	}
	if (!behind && min(c->want, timers_queued(ts)) <= left)
		twheel_claim(tw, c, left, now);
	twheel_end(tw);
	return behind;
}

/* Of @nr claimed events, take from their words as many as are not stale. */
static unsigned int twheel_take_words(struct twheel *tw, const struct twheel_event *events,
				      unsigned int nr, u32 claim)
{
	twheel_begin(tw);
	lockdep_assert_held(&tw->exchange);
	twheel_handled(tw, nr);
	nr = timers_held(&tw->timers, events, nr, claim);
	twheel_end(tw);
	return words_take(&tw->timers, events, nr);
}

/*
 * Commit the first @copied of @nr claimed events, of which @swapped are not stale, and put back
 * those that were not copied.  Return how many were committed.  If fewer than @copied, the one
 * behind them is stale and was dropped: call again for the rest, which are still claimed.
 */
static unsigned int twheel_claim_end(struct twheel *tw, const struct twheel_event *events,
				     unsigned int nr, unsigned int copied, unsigned int swapped,
				     u32 claim)
{
	u64 now = twheel_begin(tw);
	unsigned int count;

	twheel_handled(tw, nr);
	if (copied < nr)
		timers_put_back(&tw->timers, events + copied, nr - copied, claim);
	count = timers_commit(&tw->timers, events, copied, swapped, claim, now);
	twheel_end(tw);
	return count;
}

/*
 * Copy events to the reader.  Return how many fit.  A copy that faults may stop short of what there
 * is: go on one by one.
 */
static unsigned int copy_events(const struct twheel_event *events, unsigned int nr,
				struct iov_iter *to)
{
	const size_t size = sizeof(*events);
	size_t bytes = copy_to_iter(events, nr * size, to);
	unsigned int n = bytes / size;

	while (n < nr) {
		iov_iter_revert(to, bytes % size);
		bytes = copy_to_iter(&events[n], size, to);
		if (bytes < size) {
			iov_iter_revert(to, bytes);
			break;
		}
		n++;
	}
	return n;
}

/*
 * Copy claimed events to the reader.  A record is copied before it is committed, so no fault loses
 * it; events behind a stale one take its place.  Return how many were committed; set @fault if
 * a copy failed.
 */
static unsigned int twheel_deliver(struct twheel *tw, struct twheel_event *events, unsigned int nr,
				   u32 claim, struct iov_iter *to, bool nowait, bool *fault)
{
	/* It does not change once there are timers. */
	const bool words = nr && tw->timers.word;
	const size_t size = sizeof(*events);
	unsigned int done = 0, fit, copied, swapped, count;

	while (nr) {
		fit = copy_events(events, nr, to);
		copied = fit;
		*fault |= fit < nr;
		/* Calls and commits exclude each other. */
		if (words && copied && !(nowait ? mutex_trylock(&tw->exchange) :
						  !mutex_lock_killable(&tw->exchange)))
			copied = 0;
		swapped = words && copied ? twheel_take_words(tw, events, copied, claim) : copied;
		count = twheel_claim_end(tw, events, nr, copied, swapped, claim);
		if (words && copied)
			mutex_unlock(&tw->exchange);
		done += count;
		iov_iter_revert(to, (fit - count) * size);
		if (count == copied)
			break;
		nr = copied - count - 1;
		memmove(events, events + count + 1, nr * size);
	}
	return done;
}

/* The caller leaves without looking to the end: if there may be an event, wake the next waiter. */
static void twheel_pass_on(struct twheel *tw)
{
	twheel_begin(tw);
	tw->timers.news |= timers_queued(&tw->timers) || timers_behind(&tw->timers);
	twheel_end(tw);
}

/**
 * fops_read_iter() - hand events to a reader
 * @iocb: the read
 * @to: the reader's memory
 *
 * Return: bytes, of whole events; or an errno.  Sleeps, unless the read must not.
 */
static ssize_t fops_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct twheel *tw = iocb->ki_filp->private_data;
	bool nowait = iocb->ki_flags & IOCB_NOWAIT;
	/* fcntl() may change O_NONBLOCK meanwhile. */
	bool may_sleep = !nowait && !(data_race(iocb->ki_filp->f_flags) & O_NONBLOCK);
	unsigned int steps = nowait ? POLL_STEPS : UINT_MAX;
	const size_t size = sizeof(struct twheel_event);
	size_t room = iov_iter_count(to) / size, done = 0;
	struct twheel_event *events;
	int ret = 0;

	if (!room)
		return -EINVAL;
	/* A sleeping reader keeps this, so it is charged. */
	events = kmalloc_array(min_t(size_t, room, COPY_MAX), size,
			       nowait ? GFP_NOWAIT | __GFP_NOWARN :
			       may_sleep ? GFP_CHARGED : GFP_BRIEF);
	if (!events) {
		/* To an edge-triggered reader EAGAIN says that there is nothing. */
		twheel_pass_on(tw);
		return nowait ? -EAGAIN : -ENOMEM;
	}

	for (;;) {
		struct claim c = { .events = events, .want = min_t(size_t, room - done, COPY_MAX) };
		unsigned int delivered;
		bool fault = false, behind;

		/* At least one step: timers that are armed for "now" again hide no others. */
		do {
			behind = twheel_step(tw, &c, may_sleep && !done);
			cond_resched();
			/* To io_uring, completed requests look like a signal. */
		} while (--steps && behind && (nowait || !signal_pending(current)));
		if (!c.made) {
			u64 now = twheel_begin(tw);

			twheel_claim(tw, &c, WHEEL_STEP, now);
			twheel_end(tw);
		}
		delivered = twheel_deliver(tw, events, c.nr, c.number, to, nowait, &fault);
		done += delivered;
		/* Do not retry while a call holds @exchange: its task may need this CPU. */
		if (nowait && c.nr && !delivered)
			steps = 0;
		if (fault)
			ret = -EFAULT;
		else if (done && (done == room ||
				  (c.nr < c.want && !c.more && delivered == c.nr)))
			break;
		else if (steps && (c.nr || c.more || behind))
			ret = nowait || !signal_pending(current) ? 0 : -ERESTARTSYS;
		else if (!may_sleep)
			ret = -EAGAIN;
		else
			ret = wait_event_interruptible_exclusive(tw->wait, twheel_find_event(tw));
		if (ret)
			break;
	}
	kfree(events);
	/* A signal came, or the steps of a read that must not wait are spent. */
	if (!done && (ret == -ERESTARTSYS || !steps))
		twheel_pass_on(tw);
	return done ? done * size : ret;
}

/**
 * fops_poll() - may a read find an event?
 * @file: the wheel's
 * @wait: where to wait
 *
 * A poll takes at most POLL_STEPS steps, and then says yes.
 *
 * Return: EPOLLIN and EPOLLRDNORM, or 0.
 */
static __poll_t fops_poll(struct file *file, poll_table *wait)
{
	struct twheel *tw = file->private_data;

	poll_wait(file, &tw->wait, wait);
	return twheel_find_event(tw) ? EPOLLIN | EPOLLRDNORM : 0;
}
