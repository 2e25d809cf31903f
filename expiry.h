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

/* In this time softirq handles at most WHEEL_STEP timers on a CPU, ns. */
#define EXPIRY_SPAN	250000U

/* The shortest time from now that an hrtimer is programmed for, ns. */
#define EXPIRY_GAP	10000U

struct expirer;

/**
 * struct expiry_line - the wheels of one user and clock that wait on one CPU
 * @expirer: the one that the line belongs to; constant
 * @share: the user's on that CPU; constant
 * @node: in the expirer's queue, by the soonest of @wheels, unless the line is due
 * @due: it is, and was taken out of that queue
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
	struct timerqueue_head	wheels;
};

/**
 * struct expiry_share - what one user has to do on one CPU
 * @list: in one of the CPU's lists of users with a line that is due; empty: in none
 * @span: in which of the CPU's spans a wheel of the user was visited last
 * @clock: the one whose line was visited last
 * @line: of each clock
 *
 * All are protected by the CPU's lock.
 */
struct expiry_share {
	struct list_head	list;
	unsigned long		span;
	unsigned int		clock;
	struct expiry_line	line[TWHEEL_CLOCKS];
};

/**
 * struct expiry_entry - how a wheel waits to be turned
 * @node: in @line; protected by the CPU's lock
 * @line: where it waits, NULL: nowhere; changes under @lock and the CPU's lock
 * @expires: when it wants to be turned, by the clock of @line; @lock
 * @lock: the wheel's; constant
 * @turn: turns the wheel through at most @budget timers, and says how many it handled,
 *	and whether to wake.  Called in softirq context with @lock
 *	held and the entry in no line; it may queue the entry again.  Constant
 * @wake: wakes readers and pollers; called after that, without @lock.  Constant
 * @kref: the open file's, until the entry is in no line for good, and one of each visit
 * @free: frees the wheel, from whichever context gives up the last of them.  Constant
 */
struct expiry_entry {
	struct timerqueue_node	node;
	struct expiry_line	*line;
	u64			expires;
	raw_spinlock_t		*lock;		/* the wheel's; protects @line and @expires */
	unsigned int		(*turn)(struct expiry_entry *entry, unsigned int budget,
					bool *news);
	void			(*wake)(struct expiry_entry *entry);
	struct kref		kref;
	void			(*free)(struct kref *kref);
};

static void expiry_init(void);
static void expiry_exit(void);

static struct expiry_share __percpu *expiry_shares_alloc(void);
static bool expiry_waits(const struct expiry_entry *entry, enum twheel_clock clock, u64 expires);
static void expiry_queue(struct expiry_entry *entry, const struct twheel_user *user,
			 enum twheel_clock clock, u64 expires);
static void expiry_dequeue(struct expiry_entry *entry);

#endif /* TWHEEL_EXPIRY_H */
