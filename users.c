// SPDX-License-Identifier: GPL-2.0
/*
 * Users and their limits.
 *
 * Each limit is a module parameter.  A limit that is lowered takes nothing away: it
 * holds for what is asked for from then on.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/list.h>
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
MODULE_PARM_DESC(max_user_timers, "Timers that one user's wheels may hold together (0: what fits into 1/16 of memory)");

/*
 * Protects who is a user, how many wheels each has, and their shares while they are added.  All
 * users wait for it, so it is a raw lock, and held for a moment: who holds it goes on, also if
 * programs that are more urgent want the CPU, and takes or frees no memory.
 */
static DEFINE_RAW_SPINLOCK(users_lock);
/* All users that have a wheel, by uid; @users_lock. */
static DEFINE_HASHTABLE(users, 8);

/* Call before the device exists. */
TWHEEL_PART void users_init(void)
{
	const size_t bytes = WHEEL_CHUNK_BYTES / WHEEL_CHUNK_TIMERS + sizeof(struct twheel_word);

	if (!max_user_timers)
		max_user_timers = totalram_pages() / 16 * (PAGE_SIZE / bytes);
}

/* Wheels that one user may have. */
TWHEEL_PART unsigned int users_max_wheels(void)
{
	return READ_ONCE(max_user_wheels);
}

/* Timers that one user's wheels may hold together. */
TWHEEL_PART unsigned long users_max_timers(void)
{
	return READ_ONCE(max_user_timers);
}

/**
 * user_current() - for whom does the caller act?
 *
 * That is the caller's uid; but who makes a user namespace may have 65,536 uids in
 * it, and they are not to be 65,536 users with a share each.  So they all count as
 * the creator of the outermost namespace that somebody other than root has made.
 * What root makes is a container, whose uids root has chosen.
 *
 * Return: a uid.
 */
TWHEEL_PART kuid_t user_current(void)
{
	kuid_t uid = current_uid();

	for (struct user_namespace *ns = current_user_ns(); ns->parent; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

static void user_free(struct twheel_user *user)
{
	free_percpu(user->shares);
	kfree(user);
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
TWHEEL_PART struct twheel_user *user_get(kuid_t uid)
{
	/* Most often there is one already, and this one is not needed. */
	struct twheel_user *spare = kzalloc(sizeof(*spare), GFP_CHARGED), *user;

	if (!spare)
		return ERR_PTR(-ENOMEM);
	spare->uid = uid;
	raw_spin_lock(&users_lock);
	user = user_find(uid);
	if ((user ? user->wheels : 0) >= users_max_wheels()) {
		user = ERR_PTR(-EDQUOT);
	} else {
		if (!user) {
			user = spare;
			spare = NULL;
			hash_add(users, &user->node, __kuid_val(uid));
		}
		user->wheels++;
	}
	raw_spin_unlock(&users_lock);
	kfree(spare);
	return user;
}

/**
 * user_put() - a user has one wheel less
 * @user: from user_get(); charged with nothing of that wheel any more
 */
TWHEEL_PART void user_put(struct twheel_user *user)
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

/**
 * user_add_shares() - make sure that a user's wheels can wait on any CPU
 * @user: the user
 *
 * Return: 0 or -ENOMEM.  Sleeps.
 */
TWHEEL_PART int user_add_shares(struct twheel_user *user)
{
	struct expiry_share __percpu *shares;

	/*
	 * Once there they stay, as long as the user has the wheel that this is for.  Pairs
	 * with the release below: who sees them sees what is in them.
	 */
	if (smp_load_acquire(&user->shares))
		return 0;
	shares = expiry_shares_alloc();
	if (!shares)
		return -ENOMEM;
	raw_spin_lock(&users_lock);
	if (!user->shares) {
		/* Pairs with the acquire above. */
		smp_store_release(&user->shares, shares);
		shares = NULL;
	}
	raw_spin_unlock(&users_lock);
	free_percpu(shares);
	return 0;
}

/*
 * Charge a user for a chunk of timers: 0 or -EDQUOT.  The chunk that reaches the limit may exceed it:
 * a limit means as many timers whatever the size of a page.
 */
TWHEEL_PART int user_charge_timers(struct twheel_user *user, unsigned long nr)
{
	long charged = atomic_long_read(&user->timers);

	/* Not added and taken back: another request that fits would see it and fail. */
	do {
		if (charged >= users_max_timers())
			return -EDQUOT;
	} while (!atomic_long_try_cmpxchg(&user->timers, &charged, charged + nr));
	return 0;
}

TWHEEL_PART void user_uncharge_timers(struct twheel_user *user, unsigned long nr)
{
	atomic_long_sub(nr, &user->timers);
}
