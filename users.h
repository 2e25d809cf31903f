/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users: accounting of wheels, timers and the time of expiry.
 *
 * A wheel belongs to the user who first uses it, because descriptors are passed on:
 * what opened it may be a broker.  Until then there is nothing to count but the memory of
 * an open file, which is charged to the opener's cgroup.
 */
#ifndef TWHEEL_USERS_H
#define TWHEEL_USERS_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "wheel.h"

struct expiry_share;

/**
 * struct twheel_user - what one user holds, over all their wheels
 * @node: among all users; protected by users_lock
 * @wheels: how many; protected by users_lock
 * @uid: the user's; constant
 * @timers: for how many there is memory
 * @shares: of each CPU (expiry.c); constant
 */
struct twheel_user {
	struct hlist_node node;
	unsigned int	wheels;
	kuid_t		uid;
	atomic_long_t	timers;
	struct expiry_share __percpu *shares;
};

static void users_init(void);
static unsigned int users_max_wheels(void);
static unsigned long users_max_timers(void);

static kuid_t user_current(void);
static struct twheel_user *user_get(kuid_t uid);
static void user_put(struct twheel_user *user);

static int user_charge_timers(struct twheel_user *user, unsigned long nr);
static void user_uncharge_timers(struct twheel_user *user, unsigned long nr);

#endif /* TWHEEL_USERS_H */
