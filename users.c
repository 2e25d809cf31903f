// SPDX-License-Identifier: GPL-2.0
/*
 * Users and their limits.
 *
 * Each limit is a module parameter.  A limit that is lowered takes nothing away: it
 * holds for what is asked for from then on.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "expiry.h"
#include "users.h"

static unsigned int max_user_wheels = 256;
module_param(max_user_wheels, uint, 0644);
MODULE_PARM_DESC(max_user_wheels, "Wheels that one user may have");

static unsigned long max_user_timers;
module_param(max_user_timers, ulong, 0644);
MODULE_PARM_DESC(max_user_timers, "Timers that one user's wheels may hold together (0 at load: what fits into 1/16 of memory)");

/* Protects @users, and @wheels of each.  A raw lock, so that no task preempts its holder. */
static DEFINE_RAW_SPINLOCK(users_lock);
/* All users that have a wheel, by uid; @users_lock. */
static DEFINE_HASHTABLE(users, 8);

/* Call before the device exists. */
static void users_init(void)
{
	if (!max_user_timers)
		max_user_timers = totalram_pages() / 16 * (PAGE_SIZE / TIMER_BYTES);
}

static unsigned int users_max_wheels(void)
{
	return READ_ONCE(max_user_wheels);
}

static unsigned long users_max_timers(void)
{
	return READ_ONCE(max_user_timers);
}

/**
 * user_current() - the user for whom the caller acts
 *
 * The caller's uid; but a user namespace may have 65,536 uids, so all of them count as the
 * creator of the outermost namespace that root has not made.  A namespace made by root is a
 * container, whose uids root has chosen.
 *
 * Return: a uid.
 */
static kuid_t user_current(void)
{
	kuid_t uid = current_uid();

	for (struct user_namespace *ns = current_user_ns(); ns->parent; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

static void user_free(struct twheel_user *user)
{
	if (user)
		free_percpu(user->shares);
	kfree(user);
}

static struct twheel_user *user_alloc(kuid_t uid)
{
	struct twheel_user *user = kzalloc(sizeof(*user), GFP_CHARGED);

	if (user) {
		user->uid = uid;
		user->shares = expiry_shares_alloc();
		if (user->shares)
			return user;
	}
	user_free(user);
	return NULL;
}

static struct twheel_user *user_find(kuid_t uid)
{
	struct twheel_user *user;

	lockdep_assert_held(&users_lock);
	hash_for_each_possible(users, user, node, __kuid_val(uid))
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/**
 * user_get() - count another wheel for a user
 * @uid: the user's
 *
 * Return: the user, for user_put(); -EDQUOT, -ENOMEM.  Sleeps.
 */
static struct twheel_user *user_get(kuid_t uid)
{
	struct twheel_user *user, *spare = NULL;

	for (;;) {
		raw_spin_lock(&users_lock);
		user = user_find(uid) ?: spare;
		if (user && user->wheels >= users_max_wheels()) {
			user = ERR_PTR(-EDQUOT);
		} else if (user && !user->wheels++) {
			hash_add(users, &user->node, __kuid_val(uid));
			spare = NULL;
		}
		raw_spin_unlock(&users_lock);
		if (user)
			break;
		spare = user_alloc(uid);
		if (!spare)
			return ERR_PTR(-ENOMEM);
	}
	user_free(spare);
	return user;
}

/**
 * user_put() - a user has one wheel less
 * @user: from user_get(), whose wheel is charged with nothing, and queued nowhere
 */
static void user_put(struct twheel_user *user)
{
	bool left;

	raw_spin_lock(&users_lock);
	left = !--user->wheels;
	if (left)
		hash_del(&user->node);
	raw_spin_unlock(&users_lock);
	if (left)
		user_free(user);
}

/*
 * Charge a user for timers: 0 or -EDQUOT.  The request that reaches the limit may exceed it, so a
 * limit means the same number of timers with every size of pages.
 */
static int user_charge_timers(struct twheel_user *user, unsigned long nr)
{
	long charged = atomic_long_read(&user->timers);

	/* Not added and taken back: another request that fits would see it and fail. */
	do {
		if (charged >= users_max_timers())
			return -EDQUOT;
	} while (!atomic_long_try_cmpxchg(&user->timers, &charged, charged + nr));
	return 0;
}

static void user_uncharge_timers(struct twheel_user *user, unsigned long nr)
{
	atomic_long_sub(nr, &user->timers);
}
