// SPDX-License-Identifier: GPL-2.0
/*
 * Turning a wheel: when, by whom, and who is told.
 *
 * Softirq turns a wheel through a bounded number of timers when expiry.c
 * says that it is its turn.  What is left then is done by those who read and poll, in
 * steps of the same bound: on the processor that wants the events, in the time of who
 * wants them.  With ENOUGH_UNREAD events unread softirq turns the wheel once a second: a
 * program that does nothing but sleep causes hardly any interrupts.
 *
 * A wheel's time is that of its clock, in the time namespace in which it was
 * opened.  The clock is read under the wheel's lock, so that time does not go back
 * from one holder to the next, unless somebody sets the clock: hrtimers know by
 * themselves when a clock is set forward, and when it was set back is noticed in
 * timers.c.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "turn.h"

/*
 * With as many events unread, those that could be added are no news, unless all of these are
 * stale, or who was woken for them does not read them.  So softirq turns the wheel even then, and
 * wakes who waits for what comes due, but no sooner than UNREAD_PAUSE after it did so last.  A
 * visit that finds no event before its tokens are spent is not followed by a pause. ns.
 */
#define ENOUGH_UNREAD	(16 * WHEEL_STEP)
#define UNREAD_PAUSE	NSEC_PER_SEC

/*
 * With any events unread, softirq leaves what else is due to a reader for a tick, but for no longer
 * than this. ns.
 */
#define READER_PAUSE	(10 * NSEC_PER_MSEC)

/**
 * twheel_now() - what the wheel's clock tells
 * @tw: the wheel, locked
 *
 * Return: the wheel's time, ns.
 */
TWHEEL_PART u64 twheel_now(const struct twheel *tw)
{
	lockdep_assert_held(&tw->lock);
	return clock_now(tw->clock) + tw->offset;
}

/**
 * twheel_opener_offset() - what a clock of the opener's time namespace is ahead of the host's
 * @tw: the wheel
 * @clock: the clock
 *
 * Return: ns.
 */
TWHEEL_PART s64 twheel_opener_offset(const struct twheel *tw, enum twheel_clock clock)
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

/* Is there work that does not wait for a time? */
static bool twheel_behind(const struct twheel *tw, u64 now)
{
	lockdep_assert_held(&tw->lock);
	return timers_next(&tw->timers) <= now || timers_heavy(&tw->timers);
}

/* How long softirq does not turn the wheel yet, because of events that nobody reads. ns. */
static u64 twheel_pause(const struct twheel *tw)
{
	u64 end = tw->turned + UNREAD_PAUSE, now;

	if (timers_expired(&tw->timers) < ENOUGH_UNREAD)
		return 0;
	now = ktime_get_ns();
	return end - min(end, now);
}

/*
 * When softirq should turn the wheel, by the host's @clock; KTIME_MAX: not at all.  What waits
 * for no time of the wheel's clock waits by the monotonic one: somebody may set the wheel's back
 * by hours.
 */
static u64 twheel_next(struct twheel *tw, u64 now, enum twheel_clock *clock)
{
	u64 next = timers_next(&tw->timers), wait = 0;

	if (tw->closing)
		return KTIME_MAX;
	if (!tw->sought && !tw->untold) {
		bool behind = twheel_behind(tw, now);
		u32 unread = timers_expired(&tw->timers);

		if (!behind && next == KTIME_MAX)
			return KTIME_MAX;
		wait = twheel_pause(tw);
		if (!behind && next - now > wait) {
			*clock = tw->clock;
			/*
			 * The host's clock may be ahead of the wheel's by years: beyond the last
			 * of all times a deadline would become one before all others.
			 */
			return min_t(u64, next - tw->offset, KTIME_MAX - 1);
		}
		/*
		 * A reader may be at it, and then softirq would only contend for the lock; unless
		 * its turn has come already, which is not put off.  Who waits for an edge is not to
		 * wait for timers that are not due any more either, however many there are; and a
		 * heavy slot has to be down in time.
		 */
		if (unread && timers_behind(&tw->timers, now) && !tw->vain &&
		    !expiry_due(&tw->entry))
			wait = max(wait, clamp_t(u64, tw->timers.tick, EXPIRY_SPAN, READER_PAUSE));
	}
	*clock = TWHEEL_MONOTONIC;
	return ktime_get_ns() + wait;
}

/*
 * After anything that may have changed when the wheel has to be turned.  Where that
 * is later than before, the wheel is visited once for nothing: to queue it anew at
 * each cancel would be dearer.
 */
static void twheel_program(struct twheel *tw, u64 now)
{
	enum twheel_clock clock;
	u64 expires = twheel_next(tw, now, &clock);

	lockdep_assert_held(&tw->lock);
	if (expires == KTIME_MAX)
		expiry_dequeue(&tw->entry);
	else if (!expiry_waits(&tw->entry, clock, expires))
		expiry_queue(&tw->entry, tw->user, clock, expires);
}

/**
 * twheel_deliver() - tell of the events that have come
 * @tw: the wheel, locked
 *
 * Return: does whoever waits have to be woken?  For twheel_end().
 */
TWHEEL_PART bool twheel_deliver(struct twheel *tw)
{
	bool news = tw->untold || tw->timers.news;

	lockdep_assert_held(&tw->lock);
	tw->untold = false;
	tw->timers.news = false;
	tw->wakeups += news;
	return news;
}

/**
 * twheel_wake() - wake who waits in a read or poll
 * @tw: the wheel, not locked
 */
TWHEEL_PART void twheel_wake(struct twheel *tw)
{
	wake_up_interruptible_poll(&tw->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * twheel_begin() - take the wheel's lock, to do what may depend on the time
 * @tw: the wheel
 *
 * Return: the wheel's time, ns.
 */
TWHEEL_PART u64 twheel_begin(struct twheel *tw)
	__acquires(&tw->lock)
{
	u64 now;

	twheel_lock(tw);
	now = twheel_now(tw);
	timers_turn(&tw->timers, now);
	return now;
}

/**
 * twheel_turn() - turn the wheel in softirq, or for it; an expiry_entry's turn
 * @entry: the wheel's, whose lock is held
 * @budget: timers to handle at most, but for one more
 * @news: set if twheel_turned() is to be called without the lock
 *
 * Return: how many timers were handled.
 */
TWHEEL_PART unsigned int twheel_turn(struct expiry_entry *entry, unsigned int budget, bool *news)
{
	struct twheel *tw = container_of(entry, struct twheel, entry);
	u64 now = twheel_now(tw);
	unsigned int done, left;
	bool sure = true;

	done = timers_advance(&tw->timers, now, budget);
	left = max(budget - done, 1U);
	if (unlikely(tw->sought)) {
		unsigned int dropped = events_drop_stale(&tw->timers, left);

		sure = dropped < left;
		tw->timers.news |= sure && timers_expired(&tw->timers);
		done += dropped;
	}
	tw->vain = !tw->timers.news && timers_behind(&tw->timers, now);
	if (!tw->vain && timers_expired(&tw->timers) >= ENOUGH_UNREAD)
		tw->turned = ktime_get_ns();
	*news = twheel_deliver(tw);
	if (unlikely(tw->sought))
		tw->sought = !*news && (!sure || timers_behind(&tw->timers, now));
	tw->interrupts++;
	tw->max_pass = max_t(u64, tw->max_pass, done);
	if (!*news)
		tw->idle_interrupts++;
	twheel_program(tw, now);
	return done;
}

/**
 * twheel_end() - give the lock back, and see to it that the wheel is turned in time
 * @tw: the wheel
 * @now: what twheel_begin() has returned
 * @news: what twheel_deliver() has, because events may have come whatever was done; true:
 *	who waits is woken
 */
TWHEEL_PART void twheel_end(struct twheel *tw, u64 now, bool news)
	__releases(&tw->lock)
{
	twheel_program(tw, now);
	twheel_unlock(tw);
	if (news && wq_has_sleeper(&tw->wait))
		twheel_wake(tw);
}

/**
 * twheel_turned() - wake who waits, after twheel_turn(); an expiry_entry's wake
 * @entry: the wheel's, not locked
 */
TWHEEL_PART void twheel_turned(struct expiry_entry *entry)
{
	twheel_wake(container_of(entry, struct twheel, entry));
}

/**
 * twheel_step() - turn the wheel by one step in the caller's time, if it is behind
 * @tw: the wheel, not locked
 * @enough: events; with as many nothing is done
 * @heavy: empty a heavy slot of which nothing is due yet: for callers who would only sleep
 *	instead
 *
 * Return: was there something to do?
 */
TWHEEL_PART bool twheel_step(struct twheel *tw, unsigned int enough, bool heavy)
{
	struct timers *ts = &tw->timers;
	u64 now = twheel_begin(tw);
	u32 expired = timers_expired(ts);
	bool behind;

	behind = timers_behind(ts, now) ? expired < enough
					: timers_heavy(ts) && heavy && !expired;
	if (!behind) {
		twheel_unlock(tw);
		return false;
	}
	timers_advance(ts, now, WHEEL_STEP);
	tw->steps++;
	/* Others may wait, and the caller may not want what was found. */
	twheel_end(tw, now, twheel_deliver(tw));
	return true;
}

/**
 * twheel_catch_up() - do what softirq left
 * @tw: the wheel, not locked
 * @enough: events that the caller wants
 * @heavy: see twheel_step()
 * @steps: how many to take at most; what is left of them
 *
 * Return: false if a signal came before there were enough events or all was done, or there
 * are no steps left.  Sleeps.
 */
TWHEEL_PART bool twheel_catch_up(struct twheel *tw, unsigned int enough, bool heavy,
				 unsigned int *steps)
{
	while (*steps && twheel_step(tw, enough, heavy)) {
		--*steps;
		if (signal_pending(current))
			return false;
		cond_resched();
	}
	return *steps;
}

/**
 * twheel_seek() - have softirq look for an event, and wake who waits if there is one
 * @tw: the wheel, not locked
 *
 * For a caller who was told that there may be none, and did not look to the end.
 */
TWHEEL_PART void twheel_seek(struct twheel *tw)
{
	u64 now = twheel_begin(tw);

	/* Else there is nothing to look for; and a wheel that is not used can't be queued. */
	tw->sought |= timers_expired(&tw->timers) || timers_behind(&tw->timers, now);
	twheel_end(tw, now, false);
}
