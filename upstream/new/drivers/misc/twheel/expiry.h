/* SPDX-License-Identifier: GPL-2.0 */
/* Expiry: when wheels are turned in softirq context, and how much of a CPU that may take. */
#ifndef TWHEEL_EXPIRY_H
#define TWHEEL_EXPIRY_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/time.h>
#include <linux/timekeeping.h>
#include <linux/timerqueue.h>
#include <linux/types.h>

/* The clocks that a wheel may have. */
enum twheel_clock {
	TWHEEL_MONOTONIC,
	TWHEEL_BOOTTIME,
	TWHEEL_CLOCKS,
};

/* The ABI's names for them; the hrtimers' too. */
static inline clockid_t clock_id(enum twheel_clock clock)
{
	return clock == TWHEEL_BOOTTIME ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
}

/* What a clock tells, by the host's time namespace. */
static inline u64 clock_now(enum twheel_clock clock)
{
	return clock == TWHEEL_BOOTTIME ? ktime_get_boottime_ns() : ktime_get_ns();
}

struct expirer;

/* How a wheel waits to be turned.  Fields without a lock are constant. */
struct expiry_entry {
	struct timerqueue_node	node;		/* in @expirer's queue; @lock, the CPU's lock */
	struct expirer		*expirer;	/* NULL: it waits nowhere; as @node */
	spinlock_t		*lock;		/* the wheel's */
	/* Turns the wheel through at most @budget timers, and returns how many; @news: wake. */
	unsigned int		(*turn)(struct expiry_entry *entry, unsigned int budget,
					bool *news);
	void			(*wake)(struct expiry_entry *entry);	/* called without @lock */
	struct kref		kref;		/* the open file's, and one of each visit */
	void			(*free)(struct kref *kref);
};

void expiry_init(void);
void expiry_exit(void);

bool expiry_waits(const struct expiry_entry *entry, u64 expires);
void expiry_queue(struct expiry_entry *entry, enum twheel_clock clock, u64 expires);
void expiry_dequeue(struct expiry_entry *entry);

#endif /* TWHEEL_EXPIRY_H */
