/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device's own: what is behind an open /dev/twheel.
 */
#ifndef TWHEEL_H
#define TWHEEL_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "clocks.h"
#include "expiry.h"
#include "timers.h"
#include "users.h"

/* Where words are mapped from. */
#define WORDS_OFFSET	0x10000000UL

/* Records copied at a time between the kernel and a program. */
#define COPY_MAX	64

static_assert(COPY_MAX <= TIMERS_CLAIM_MAX);

/**
 * struct twheel - an open file of the device: a wheel
 * @lock: protects the fields that name it; held for one step of 64 timers at most
 * @timers: the timers; @lock
 * @interrupts: times that softirq turned the wheel; @lock
 * @handled: timers handled since @lock was taken, with CONFIG_PROVE_LOCKING; @lock
 * @entry: how the wheel waits to be turned in softirq; see there
 * @wait: readers and pollers
 * @exchange: with words, serializes calls that arm or cancel, and commits of reads; taken
 *	before @grow
 * @grow: only one adds memory, sets up or takes over; taken before @lock
 * @used: the wheel has memory or was set up, and is @user's for good; changes under
 *	@grow
 * @user: the wheel's user; NULL before the first use; changes under @grow and @lock, until
 *	@used
 * @clock: the wheel's; changes under @grow and @lock, before there are timers
 * @offset: what the wheel's time is ahead of the host's @clock, ns; like @clock
 * @number: of this wheel, of all that were opened; constant
 * @offsets: of the clocks that differ in the opener's time namespace; constant
 */
struct twheel {
	raw_spinlock_t		lock;		/* fields that name @lock */
	struct timers		timers;
	u64			interrupts;
	unsigned int		handled;
	struct expiry_entry	entry;
	wait_queue_head_t	wait;
	struct mutex		exchange;	/* before @grow */
	struct mutex		grow;		/* before @lock */
	bool			used;
	struct twheel_user	*user;
	enum twheel_clock	clock;
	s64			offset;
	u64			number;
	struct {
		s64		monotonic;
		s64		boottime;
	} offsets;
};

/*
 * Softirq waits for this lock, so a holder handles one step of 64 timers at most, and is not
 * preempted: softirqs are disabled, and on PREEMPT_RT it is a raw lock.  There softirqs stay
 * enabled: local_bh_disable() would take a per-CPU lock, and wait for whatever runs in softirq.
 */
static inline void twheel_lock(struct twheel *tw)
	__acquires(&tw->lock)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		raw_spin_lock(&tw->lock);
	else
		raw_spin_lock_bh(&tw->lock);
	tw->handled = 0;
}

/* Check that the parts of a hold handle at most a step of timers together. */
static inline void twheel_handled(struct twheel *tw, unsigned int nr)
{
	lockdep_assert_held(&tw->lock);
	if (IS_ENABLED(CONFIG_PROVE_LOCKING))
		WARN_ON_ONCE((tw->handled += nr) > WHEEL_STEP);
}

static inline void twheel_unlock(struct twheel *tw)
	__releases(&tw->lock)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		raw_spin_unlock(&tw->lock);
	else
		raw_spin_unlock_bh(&tw->lock);
}

#endif /* TWHEEL_H */
