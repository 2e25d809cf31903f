/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device's own: what is behind an open /dev/twheel.
 */
#ifndef TWHEEL_H
#define TWHEEL_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

#include "timers.h"
#include "words.h"

/**
 * struct share - what softirq may still do for a user on a CPU; used there alone
 * @since: of the pass that it is a part of, ns
 * @left: timers that may be handled
 * @turn: when the last of the wheels may look again that have more to do, ns
 */
struct share {
	u64		since;
	unsigned int	left;
	u64		turn;
};

/**
 * struct twheel_user - what one user holds, over all their wheels
 * @refs: wheels; protected by users_lock
 * @uid: of the opener
 * @share: of what softirq does, on each CPU
 * @timers: for how many there is memory
 */
struct twheel_user {
	unsigned int	refs;
	kuid_t		uid;
	struct share __percpu *share;
	atomic_long_t	timers;
};

/**
 * struct twheel - an open file of the device: a wheel
 * @lock: protects what says so; taken with _bh, in softirq without
 * @timers: the timers; @lock
 * @programmed: what @hrtimer is set to, in the wheel's time; KTIME_MAX: it is
 *	not; @lock
 * @left: @hrtimer is set to look after timers that are due and were left to
 *	readers; @lock
 * @helped: a reader has done some of that since; @lock
 * @closing: nothing is to be started any more; @lock
 * @interrupts: times that @hrtimer fired; @lock
 * @idle_interrupts: those that found nothing due; @lock
 * @works: passes in process context; @lock
 * @max_pass: most timers handled in one pass in softirq; @lock
 * @wakeups: wake-ups; @lock
 * @ring: the event ring; its pages change under @grow, before there are timers,
 *	the rest is protected by @lock
 * @hrtimer: fires for what has to happen next; started under @lock
 * @work: does what softirq and readers leave; queued under @lock
 * @wait: readers and pollers
 * @grow: only one adds memory or sets up; taken before @lock
 * @setup_done: setup was called; @grow
 * @clock: the wheel's; changes under @grow and @lock
 * @offset: what the wheel's time is ahead of the host's @clock, ns; like @clock
 * @offsets: of the clocks that differ in the opener's time namespace; constant
 * @user: who opened it; constant
 */
struct twheel {
	spinlock_t		lock;		/* taken for a bounded time */
	struct timers		timers;
	u64			programmed;
	bool			left;
	bool			helped;
	bool			closing;
	u64			interrupts;
	u64			idle_interrupts;
	u64			works;
	u64			max_pass;
	u64			wakeups;
	struct ring		ring;
	struct hrtimer		hrtimer;
	struct kthread_work	work;
	wait_queue_head_t	wait;
	struct mutex		grow;		/* before @lock */
	bool			setup_done;
	clockid_t		clock;
	s64			offset;
	struct {
		s64		monotonic;
		s64		boottime;
	} offsets;
	struct twheel_user	*user;
};

#endif /* TWHEEL_H */
