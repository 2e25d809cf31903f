// SPDX-License-Identifier: GPL-2.0
/*
 * Turning a wheel: by softirq, and by callers.
 *
 * Softirq turns a wheel when its next tick comes, while fewer than ENOUGH_QUEUED events are
 * queued.  With more queued, the reader has been woken already, and read() and poll() turn the
 * wheel in process context, in steps of the same bound.
 *
 * A wheel's time is that of its clock, in the time namespace in which it was opened.  The
 * clock is read under the wheel's lock, so time does not go back from one holder to the next
 * unless the clock is set.  The hrtimer core notices when a clock is set forward; timers.c
 * notices at the next call that it was set back.
 */
#include <linux/poll.h>

#include "twheel.h"

/* With this many events queued, softirq leaves the wheel to its reader. */
#define ENOUGH_QUEUED	(16 * WHEEL_STEP)

/*
 * Softirq waits for this lock, so a holder handles one step of 64 timers at most, and is not
 * preempted.  Without PREEMPT_RT softirqs are disabled, too.  With it they stay enabled:
 * local_bh_disable() would take a per-CPU lock, and wait for whatever runs in softirq.
 */
static void twheel_lock(struct twheel *tw)
	__acquires(&tw->lock)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		raw_spin_lock(&tw->lock);
	else
		raw_spin_lock_bh(&tw->lock);
	tw->handled = 0;
}

static void twheel_unlock(struct twheel *tw)
	__releases(&tw->lock)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		raw_spin_unlock(&tw->lock);
	else
		raw_spin_unlock_bh(&tw->lock);
}

/**
 * twheel_handled() - check that the parts of a hold handle at most a step of timers together
 * @tw: the wheel, locked
 * @nr: how many timers this part has handled
 */
static void twheel_handled(struct twheel *tw, unsigned int nr)
{
	lockdep_assert_held(&tw->lock);
	if (IS_ENABLED(CONFIG_PROVE_LOCKING)) {
		tw->handled += nr;
		WARN_ON_ONCE(tw->handled > WHEEL_STEP);
	}
}

/* The wheel's time, ns. */
static u64 twheel_time(const struct twheel *tw)
{
	lockdep_assert_held(&tw->lock);
	return clock_now(tw->clock) + tw->offset[tw->clock];
}

/* When softirq has to turn the wheel, by the host's @clock; KTIME_MAX: not at all. */
static u64 twheel_next_turn(const struct twheel *tw, enum twheel_clock *clock)
{
	u64 next = timers_next(&tw->timers);

	if (timers_queued(&tw->timers) >= ENOUGH_QUEUED)
		return KTIME_MAX;
	/* Work that is due now waits by a clock that can't be set. */
	if (next <= tw->timers.now || timers_heavy(&tw->timers)) {
		*clock = clock_settable(tw->clock) ? TWHEEL_MONOTONIC : tw->clock;
		return clock_now(*clock);
	}
	*clock = tw->clock;
	/* With an offset of years the difference may lie beyond the last time of all. */
	return next == KTIME_MAX ? next : min_t(u64, next - tw->offset[tw->clock], KTIME_MAX - 1);
}

/*
 * Queue the wheel for softirq if it waits for a later time than it should.  If it waits for an
 * earlier one it stays: an empty visit is cheaper than to requeue it at each cancel.  If there is
 * nothing to wait for, it leaves the queue; the hrtimer stays, and may fire for nothing once.
 */
static void twheel_program(struct twheel *tw)
{
	enum twheel_clock clock;
	u64 expires = twheel_next_turn(tw, &clock);

	lockdep_assert_held(&tw->lock);
	if (expires == KTIME_MAX)
		expiry_dequeue(&tw->entry);
	else if (!expiry_waits(&tw->entry, clock, expires))
		expiry_queue(&tw->entry, tw->user, clock, expires);
}

/* Have events been queued that no waiter was woken for yet?  The caller wakes one. */
static bool twheel_take_news(struct twheel *tw)
{
	bool news = tw->timers.news;

	lockdep_assert_held(&tw->lock);
	tw->timers.news = false;
	return news;
}

/**
 * twheel_wake() - wake readers and pollers; an expiry_entry's wake
 * @entry: of the wheel, not locked
 */
static void twheel_wake(struct expiry_entry *entry)
{
	struct twheel *tw = container_of(entry, struct twheel, entry);

	if (wq_has_sleeper(&tw->wait))
		wake_up_interruptible_poll(&tw->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * twheel_begin() - lock the wheel, and bring its time up to date
 * @tw: the wheel
 *
 * Changes nothing that a program sees: hands pass empty slots, and no timer expires or moves.
 *
 * Return: the wheel's time, ns.
 */
static u64 twheel_begin(struct twheel *tw)
	__acquires(&tw->lock)
{
	u64 now;

	twheel_lock(tw);
	now = twheel_time(tw);
	timers_set_time(&tw->timers, now);
	return now;
}

/**
 * twheel_end() - program the next turn, unlock the wheel, and wake waiters if events have come
 * @tw: the wheel
 */
static void twheel_end(struct twheel *tw)
	__releases(&tw->lock)
{
	bool news = twheel_take_news(tw);

	twheel_program(tw);
	twheel_unlock(tw);
	if (news)
		twheel_wake(&tw->entry);
}

/**
 * twheel_stop() - keep softirq from the wheel for good
 * @tw: the wheel, which no call uses any more
 */
static void twheel_stop(struct twheel *tw)
{
	twheel_lock(tw);
	expiry_dequeue(&tw->entry);
	twheel_unlock(tw);
}

/**
 * twheel_turn() - turn the wheel in softirq; an expiry_entry's turn
 * @entry: of the wheel, locked
 * @budget: timers to handle at most
 * @news: set if waiters have to be woken once the lock is released
 *
 * Return: how many timers were handled.
 */
static unsigned int twheel_turn(struct expiry_entry *entry, unsigned int budget, bool *news)
{
	struct twheel *tw = container_of(entry, struct twheel, entry);
	u64 now = twheel_time(tw);
	unsigned int done = timers_advance(&tw->timers, now, budget);

	/* expiry.c took the lock. */
	tw->handled = 0;
	twheel_handled(tw, done);
	*news = twheel_take_news(tw);
	tw->interrupts++;
	twheel_program(tw);
	return done;
}
