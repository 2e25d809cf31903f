/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device's own: what is behind an open /dev/twheel, and what its files have for each other.
 */
#ifndef TWHEEL_H
#define TWHEEL_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
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
 * @lock: protects the fields that name it
 * @handled: timers handled since @lock was taken, with CONFIG_PROVE_LOCKING; @lock
 * @clock: the wheel's; changes before there are timers; @lock
 * @used: the wheel has memory or was set up, and is @user's for good; changes under
 *	@grow
 * @user: the wheel's user; NULL before the first use; changes under @grow and @lock, until
 *	@used
 * @offset: ns that the opener's time namespace adds to each clock; constant
 * @number: of this wheel, of all that were opened; constant
 * @interrupts: times that softirq turned the wheel; @lock
 * @timers: the timers; @lock
 * @entry: how the wheel waits to be turned in softirq
 * @wait: readers and pollers
 * @exchange: with words, serializes calls that arm or cancel, and commits of reads; taken
 *	before @grow
 * @grow: only one adds memory, sets up or takes over; taken before @lock
 *
 * twheel_begin() takes @lock alone: the mutexes are held across several of its holds, by a caller
 * that may sleep, and that gives up when it is killed.
 *
 * On a kernel without debugging it takes 2 KiB, and is allocated as such: one field more takes 4.
 */
struct twheel {
	raw_spinlock_t		lock;		/* fields that name @lock */
	unsigned int		handled;
	enum twheel_clock	clock;
	bool			used;
	struct twheel_user	*user;
	s64			offset[TWHEEL_CLOCKS];
	u64			number;
	u64			interrupts;
	struct timers		timers;
	struct expiry_entry	entry;
	wait_queue_head_t	wait;
	struct mutex		exchange;	/* before @grow */
	struct mutex		grow;		/* before @lock */
};

/* turn.c: calls work between twheel_begin() and twheel_end(), softirq in twheel_turn(). */
static u64 twheel_begin(struct twheel *tw) __acquires(&tw->lock);
static void twheel_end(struct twheel *tw) __releases(&tw->lock);
static void twheel_handled(struct twheel *tw, unsigned int nr);
static void twheel_stop(struct twheel *tw);
static void twheel_wake(struct expiry_entry *entry);
static unsigned int twheel_turn(struct expiry_entry *entry, unsigned int budget, bool *news);

/* memory.c: a wheel gets memory, and its user is charged. */
static int memory_begin(struct twheel *tw);
static int memory_grow(struct twheel *tw, struct timers_need *need);
static int memory_set_up(struct twheel *tw, struct timers *ts, struct twheel_user *user);
static void memory_free(struct timers *ts, struct twheel_user *user);

/* setup.c, stats.c: ioctls, and what open and fdinfo have in common with them. */
static void setup_defaults(struct twheel *tw);
static void setup_tell(const struct twheel *tw, struct twheel_setup *setup);
static int ioctl_features(struct twheel *tw, void *arg);
static int ioctl_setup(struct twheel *tw, void *arg);
static int ioctl_get_setup(struct twheel *tw, void *arg);
static int ioctl_stats(struct twheel *tw, void *arg);

/* stats.c, events.c, ioctls.c: file operations. */
static void fops_show_fdinfo(struct seq_file *m, struct file *file);
static ssize_t fops_read_iter(struct kiocb *iocb, struct iov_iter *to);
static __poll_t fops_poll(struct file *file, poll_table *wait);
static long fops_ioctl(struct file *file, unsigned int cmd, unsigned long user_arg);

#endif /* TWHEEL_H */
