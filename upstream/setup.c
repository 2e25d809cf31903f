// SPDX-License-Identifier: GPL-2.0
/*
 * The user, the memory and the shape of a wheel.
 *
 * A wheel starts without memory.  An arm that needs some returns -EAGAIN; its caller drops the lock
 * and comes here.  All of it is charged to the cgroup of the caller, and counted for the wheel's
 * user: the first who uses it.  A limit that is lowered takes nothing away.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>

#include "twheel.h"

static_assert(sizeof(struct twheel_features) == 56);
static_assert(sizeof(struct twheel_setup) == 56);

/* Users */

/* What one user holds, over all their wheels. */
struct twheel_user {
	struct hlist_node node;	/* among all users; protected by users_lock */
	unsigned int	wheels;	/* how many; protected by users_lock */
	kuid_t		uid;	/* the user's; constant */
	atomic_long_t	timers;	/* for how many there is memory */
};

static unsigned int max_user_wheels = 256;
module_param(max_user_wheels, uint, 0644);
MODULE_PARM_DESC(max_user_wheels, "Wheels that one user may have");

static unsigned long max_user_timers;
module_param(max_user_timers, ulong, 0644);
MODULE_PARM_DESC(max_user_timers, "Timers that one user's wheels may hold together (0 at load: what fits into 1/16 of memory)");

/* Protects @users, and @wheels of each. */
static DEFINE_SPINLOCK(users_lock);
/* All users that have a wheel, by uid; @users_lock. */
static DEFINE_HASHTABLE(users, 8);

/* The user for whom the caller acts. */
static kuid_t user_current(void)
{
	kuid_t uid = current_uid();

	for (struct user_namespace *ns = current_user_ns(); ns->parent; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

/* Count another wheel for the caller's user. */
static struct twheel_user *user_get(void)
{
	struct twheel_user *user, *found, *new = kzalloc_obj(*new, GFP_CHARGED);

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->uid = user_current();
	user = new;
	spin_lock(&users_lock);
	hash_for_each_possible(users, found, node, __kuid_val(new->uid))
		if (uid_eq(found->uid, new->uid))
			user = found;
	if (user->wheels >= READ_ONCE(max_user_wheels))
		user = ERR_PTR(-EDQUOT);
	else if (!user->wheels++)
		hash_add(users, &user->node, __kuid_val(user->uid));
	spin_unlock(&users_lock);
	if (user != new)
		kfree(new);
	return user;
}

/* A user has one wheel less. */
static void user_put(struct twheel_user *user)
{
	bool left;

	spin_lock(&users_lock);
	left = !--user->wheels;
	if (left)
		hash_del(&user->node);
	spin_unlock(&users_lock);
	if (left)
		kfree(user);
}

/*
 * Charge a user for a chunk of timers: 0 or -EDQUOT.  The chunk that reaches the limit may exceed
 * it, so a limit means the same number of timers with every size of pages.
 */
static int charge_timers(struct twheel *tw, unsigned long nr)
{
	long charged = atomic_long_read(&tw->user->timers);

	lockdep_assert_held(&tw->grow);
	/* Not added and taken back: another request that fits would see it and fail. */
	do {
		if (charged >= READ_ONCE(max_user_timers))
			return -EDQUOT;
	} while (!atomic_long_try_cmpxchg(&tw->user->timers, &charged, charged + nr));
	tw->charged += nr;
	return 0;
}

/* Memory */

/* Make the caller's user the wheel's. */
static int take_over(struct twheel *tw)
{
	struct twheel_user *user = user_get();

	lockdep_assert_held(&tw->grow);
	if (IS_ERR(user))
		return PTR_ERR(user);
	tw->user = user;
	return 0;
}

/* The directory counts as timers of the same size. */
static int add_directory(struct twheel *tw, struct wheel *w)
{
	unsigned long nr = wheel_directory_bytes(w) / TIMER_BYTES;
	int ret = charge_timers(tw, nr);
	void *directory;

	if (ret)
		return ret;
	directory = __vmalloc(wheel_directory_bytes(w), WHEEL_GFP_ARRAY);
	if (!directory) {
		tw->charged -= nr;
		atomic_long_sub(nr, &tw->user->timers);
		return -ENOMEM;
	}
	twheel_begin(tw);
	wheel_add_directory(w, directory);
	twheel_end(tw);
	return 0;
}

/* Memory for a chunk of timers. */
static int add_chunk(struct twheel *tw, struct wheel *w, u32 id)
{
	void *timers, *intervals;
	int ret;

	/* Another thread has added it, or a setup came in between: try the arm again. */
	if (id >= w->ids || wheel_has_chunk(w, id))
		return 0;
	timers = kzalloc(WHEEL_PAGE_SIZE, WHEEL_GFP);
	intervals = kcalloc(WHEEL_CHUNK_TIMERS, sizeof(u64), GFP_CHARGED);
	ret = timers && intervals ? charge_timers(tw, WHEEL_CHUNK_TIMERS) : -ENOMEM;
	if (ret) {
		kfree(timers);
		kfree(intervals);
		return ret;
	}
	twheel_begin(tw);
	wheel_add_chunk(w, id, timers, intervals);
	twheel_end(tw);
	return 0;
}

static int add_blocks(struct twheel *tw, struct wheel *w)
{
	void *page;

	/* Another thread has added the last one. */
	if (w->nr_pages == wheel_max_pages(w))
		return 0;
	page = kzalloc(WHEEL_PAGE_SIZE, WHEEL_GFP);
	if (!page)
		return -ENOMEM;
	twheel_begin(tw);
	wheel_add_blocks(w, page);
	twheel_end(tw);
	return 0;
}

/* Give a wheel what an arm needs. */
static int memory_grow(struct twheel *tw, struct timers_need *need)
{
	struct wheel *w = &tw->timers.wheel;
	int ret;

	cond_resched();
	if (need->what == TIMERS_NEED_RETRY)
		return fatal_signal_pending(current) ? -EINTR : 0;
	ret = mutex_lock_killable(&tw->grow);
	if (ret)
		return ret;
	if (!tw->user)
		ret = take_over(tw);
	if (!ret && !w->directory)
		ret = add_directory(tw, w);
	if (!ret && need->what == TIMERS_NEED_CHUNK) {
		ret = add_chunk(tw, w, need->id);
	} else if (!ret) {
		ret = add_blocks(tw, w);
		if (ret && !need->scarce) {
			need->scarce = true;
			ret = 0;
		}
	}
	mutex_unlock(&tw->grow);
	return ret;
}

/* The shape of a wheel */

/* Return the ns that the caller's time namespace adds to a clock. */
static s64 caller_offset(enum twheel_clock clock)
{
	struct timespec64 offset = {};

	if (clock == TWHEEL_BOOTTIME)
		timens_add_boottime(&offset);
	else
		timens_add_monotonic(&offset);
	return timespec64_to_ns(&offset);
}

static int ioctl_features(struct twheel *tw, void *arg)
{
	/* To tell what would be allowed is no use of the capability. */
	bool any_tick = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);

	*(struct twheel_features *)arg = (struct twheel_features){
		.clocks		 = BIT(CLOCK_MONOTONIC) | BIT(CLOCK_BOOTTIME),
		.min_tick	 = any_tick ? 1 : TWHEEL_MIN_TICK,
		.max_capacity	 = TWHEEL_MAX_CAPACITY,
		.max_batch	 = TWHEEL_MAX_BATCH,
		.max_user_timers = READ_ONCE(max_user_timers),
		.max_user_wheels = READ_ONCE(max_user_wheels),
	};
	return 0;
}

static int ioctl_get_setup(struct twheel *tw, void *arg)
{
	twheel_begin(tw);
	*(struct twheel_setup *)arg = (struct twheel_setup){
		.flags		= TWHEEL_SETUP_CLOCK,
		.clock		= clock_id(tw->clock),
		.tick		= tw->timers.tick,
		.capacity	= tw->timers.wheel.capacity,
		.event_size	= sizeof(struct twheel_event),
		.now		= tw->timers.now,
		.clock_offset	= tw->offset[tw->clock] - caller_offset(tw->clock),
	};
	twheel_end(tw);
	return 0;
}

/* Fill in the defaults; refuse what makes no sense. */
static int setup_check(struct twheel_setup *setup)
{
	if (setup->flags & ~TWHEEL_SETUP_CLOCK)
		return -EOPNOTSUPP;
	if (setup->reserved[0] || setup->reserved[1] || setup->reserved2 ||
	    (setup->event_size && setup->event_size < sizeof(struct twheel_event)) ||
	    (setup->clock && !setup->flags))
		return -EINVAL;
	if (!setup->flags)
		setup->clock = CLOCK_MONOTONIC;
	if (setup->clock != CLOCK_MONOTONIC && setup->clock != CLOCK_BOOTTIME)
		return -EOPNOTSUPP;
	setup->tick = setup->tick ?: TWHEEL_DEFAULT_TICK;
	setup->capacity = setup->capacity ?: TWHEEL_DEFAULT_CAPACITY;
	if (setup->tick > NSEC_PER_SEC || setup->capacity > TWHEEL_MAX_CAPACITY)
		return -ERANGE;
	return 0;
}

/* Make an empty wheel that holds no memory. */
static void setup_shape(struct twheel *tw, const struct twheel_setup *setup)
{
	tw->clock = setup->clock == CLOCK_BOOTTIME ? TWHEEL_BOOTTIME : TWHEEL_MONOTONIC;
	timers_setup(&tw->timers, setup->capacity, setup->tick,
		     clock_now(tw->clock) + tw->offset[tw->clock]);
}

/* Shape a wheel that is being opened; no other thread knows it. */
static void setup_defaults(struct twheel *tw)
{
	struct twheel_setup setup = {};

	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		tw->offset[i] = caller_offset(i);
	setup_check(&setup);
	setup_shape(tw, &setup);
}

static int ioctl_setup(struct twheel *tw, void *arg)
{
	struct twheel_setup *setup = arg;
	int ret = setup_check(setup);

	if (ret)
		return ret;
	if (setup->tick < TWHEEL_MIN_TICK && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	ret = mutex_lock_killable(&tw->grow);
	if (ret)
		return ret;
	ret = tw->user ? -EBUSY : take_over(tw);
	if (!ret) {
		twheel_begin(tw);
		setup_shape(tw, setup);
		twheel_end(tw);
	}
	mutex_unlock(&tw->grow);
	return ret ?: ioctl_get_setup(tw, arg);
}
