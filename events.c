// SPDX-License-Identifier: GPL-2.0
/*
 * How a program waits for events, and takes them by read().
 *
 * A read claims events, copies them, and then takes those out of the wheel that have
 * reached the reader and are not stale.  It looks until it is sure; a poll looks for a
 * bounded number of steps.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "compat/kernel.h"

#include "events.h"
#include "turn.h"

/*
 * Steps that a poll takes before it says "perhaps", and a read with RWF_NOWAIT, or of an
 * io_uring that would rather poll, before it says EAGAIN.
 */
#define POLL_STEPS	16U

/*
 * Take stale events from the front of those that wait.  Sets @sure if @readable is more than a
 * guess.
 */
static bool twheel_look_for_event(struct twheel *tw, bool *sure)
{
	struct timers *ts = &tw->timers;
	u64 now = twheel_begin(tw);
	bool readable;

	*sure = events_drop_stale(ts, WHEEL_STEP) < WHEEL_STEP;
	readable = timers_expired(ts);
	if (!readable && timers_behind(ts, now))
		*sure = false;
	twheel_end(tw, now, twheel_deliver(tw));
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
		bool behind = twheel_step(tw, 1, true);

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

/*
 * Claim events that are not stale, as far as one knows by now.  Sets @more if stale ones
 * were in front and there may be others behind them, and @claim to the claim's number.
 */
static unsigned int twheel_claim(struct twheel *tw, struct twheel_event *events,
				 unsigned int nr, u32 *claim, bool *more)
{
	u64 now = twheel_begin(tw);
	u32 expired = timers_expired(&tw->timers);
	bool news;

	*more = events_drop_stale(&tw->timers, WHEEL_STEP) == WHEEL_STEP ||
		timers_expired(&tw->timers) != expired;
	nr = *more ? 0 : timers_claim(&tw->timers, events, nr, now);
	*claim = tw->timers.claims;
	/* Those that were dropped are filed anew, or have an event again. */
	news = twheel_deliver(tw);
	/* Events that are left are for the next who waits, however long this one's copy takes. */
	twheel_end(tw, now, news || (nr && timers_expired(&tw->timers)));
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

	timers_put_back(&tw->timers, events + told, nr - told, claim);
	count = timers_commit(&tw->timers, events, told, claim, now);
	twheel_end(tw, now, twheel_deliver(tw));
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
	more = timers_expired(&tw->timers);
	twheel_unlock(tw);
	if (more)
		twheel_wake(tw);
}

/**
 * twheel_read_iter() - hand events to a reader; a file operation
 * @iocb: the read
 * @to: the reader's memory
 *
 * Return: bytes, of whole events; or an errno.  Sleeps, unless the read must not.
 */
TWHEEL_PART ssize_t twheel_read_iter(struct kiocb *iocb, struct iov_iter *to)
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
	if (!events) {
		if (!at_once)
			return -ENOMEM;
		twheel_seek(tw);
		return -EAGAIN;
	}

	for (;;) {
		unsigned int want = min_t(size_t, room - done, COPY_MAX), nr, told;
		bool fault = false, more, all;
		u32 claim;

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
			/* No edge would tell of what this did not come to. */
			if (!steps)
				twheel_seek(tw);
			ret = -EAGAIN;
			break;
		}
		ret = wait_event_interruptible_exclusive(tw->wait, twheel_may_read(tw));
		if (ret)
			break;
	}
	kfree(events);
	if (!done && ret != -EAGAIN)
		twheel_pass_on(tw);
	return done ? done * size : ret;
}

/**
 * twheel_poll() - may a read find an event?  A file operation
 * @file: the wheel's
 * @wait: where to wait
 *
 * Poll does not take long.  What it does not come to is left to the read of who does not sleep
 * there; else to softirq, which wakes the caller if there is an event.  A killed caller, which
 * does not look to the end, must not say that there is nothing: an epoll that it shares with
 * others would then not tell them of an event that waits.
 *
 * Return: EPOLLIN and EPOLLRDNORM, or 0.
 */
TWHEEL_PART __poll_t twheel_poll(struct file *file, poll_table *wait)
{
	struct twheel *tw = file->private_data;
	bool sure;

	poll_wait(file, &tw->wait, wait);
	if (twheel_readable(tw, &sure))
		return EPOLLIN | EPOLLRDNORM;
	if (sure)
		return 0;
	/* As a read will see it, unless fcntl changes it meanwhile. */
	if ((data_race(file->f_flags) & O_NONBLOCK) || fatal_signal_pending(current))
		return EPOLLIN | EPOLLRDNORM;
	twheel_seek(tw);
	return 0;
}
