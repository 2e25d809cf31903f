/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expiry: when wheels are turned in softirq context, in which order, and how much of
 * a CPU that may take.
 *
 * Expiry knows a wheel as an entry in a queue; what it means to turn one is the
 * device's to say.
 */
#ifndef TWHEEL_EXPIRY_H
#define TWHEEL_EXPIRY_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

#include "clocks.h"
#include "users.h"
#include "wheel.h"

/*
 * In this time the wheels of a CPU are turned through at most WHEEL_STEP timers, and
 * each visit to a wheel counts as some more. ns.
 */
#define EXPIRY_SPAN	250000U

/* An hrtimer is not set sooner than this from now. ns. */
#define EXPIRY_GAP	10000U

struct expirer;

/**
 * struct expiry_line - the wheels of one user and clock that wait on one CPU
 * @expirer: the one that the line belongs to; constant
 * @share: the user's on that CPU; constant
 * @node: in the expirer's queue, by the soonest of @wheels, unless the line is due
 * @due: it is, and was taken out of that queue
 * @collected: the span of the CPU in which it was last found to be due
 * @wheels: entries, by when they want to be turned; a line with none is not due, and in
 *	no queue
 *
 * All but what is constant are protected by the CPU's lock.
 */
struct expiry_line {
	struct expirer		*expirer;
	struct expiry_share	*share;
	struct timerqueue_node	node;
	bool			due;
	unsigned long		collected;
	struct timerqueue_head	wheels;
};

/**
 * struct expiry_share - what one user has to do on one CPU
 * @list: in one of the CPU's lists of users with a line that is due; empty: in none
 * @span: in which of the CPU's spans a wheel of the user was visited last
 * @visited: softirq visits a wheel of the user, and will write to the share after that
 * @paid: when the user's wake-ups are paid for, monotonic ns
 * @turn: the clock whose line was visited last
 * @line: of each clock
 *
 * All are protected by the CPU's lock.
 */
struct expiry_share {
	struct list_head	list;
	unsigned long		span;
	bool			visited;
	u64			paid;
	unsigned int		turn;
	struct expiry_line	line[TWHEEL_CLOCKS];
};

/**
 * struct expiry_entry - how a wheel waits to be turned
 * @node: in @line, unless in @skipped; protected by the CPU's lock
 * @skipped: in the CPU's list of wheels that wait for the next span; the CPU's lock
 * @line: where it waits, NULL: nowhere; changes under @lock and the CPU's lock
 * @expires: when it wants to be turned, by the clock of @line; @lock
 * @missed: softirq has found @lock held.  Who holds it turns the wheel before giving it back, if
 *	it is seen in time.  Read and written without a lock
 * @lock: the wheel's; constant
 * @turn: turns the wheel through at most @budget timers, and says how many timers and
 *	events it handled, and whether to wake.  Called in softirq context, or for
 *	softirq by who holds @lock, with @lock
 *	held and the entry in no line; it may queue the entry again.  Constant
 * @wake: wakes who waits for events; called after that, without @lock.  Constant
 * @kref: the owner's, until the entry is in no line for good, and one of each visit
 * @free: frees the wheel, from whichever context gives up the last of them.  Constant
 */
struct expiry_entry {
	struct timerqueue_node	node;
	struct list_head	skipped;
	struct expiry_line	*line;
	u64			expires;
	bool			missed;
	raw_spinlock_t		*lock;		/* see above */
	unsigned int		(*turn)(struct expiry_entry *entry, unsigned int budget,
					bool *news);
	void			(*wake)(struct expiry_entry *entry);
	struct kref		kref;
	void			(*free)(struct kref *kref);
};

TWHEEL_PART void expiry_init(void);
TWHEEL_PART void expiry_exit(void);

TWHEEL_PART struct expiry_share __percpu *expiry_shares_alloc(void);
TWHEEL_PART bool expiry_owes(struct expiry_share __percpu *shares);
TWHEEL_PART bool expiry_due(const struct expiry_entry *entry);
TWHEEL_PART bool expiry_waits(const struct expiry_entry *entry, enum twheel_clock clock,
			      u64 expires);
TWHEEL_PART void expiry_queue(struct expiry_entry *entry, const struct twheel_user *user,
			      enum twheel_clock clock, u64 expires);
TWHEEL_PART void expiry_dequeue(struct expiry_entry *entry);

#endif /* TWHEEL_EXPIRY_H */
