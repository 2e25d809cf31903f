// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel: timers for daemons that hold a million of them.
 *
 * Each open file is a wheel: ioctls arm and cancel its timers, an hrtimer is
 * set to the soonest thing that has to happen, and what comes due waits for
 * read() and poll().  What a timer is and how the wheel turns is in timers.c
 * and wheel.c; here is what makes a device of them: time, memory, limits,
 * locks, and everything a stranger may pass in.
 *
 * Expiry.  The hrtimer runs in softirq context and handles a bounded number
 * of timers, counted over all wheels of the CPU, and wakes who waits.  Where
 * there are several users, none has all of that, with however many wheels.  What is
 * left, heavy slots included, is done by readers when they come, in steps of
 * the same bound: on the processor that wants the events, and without two of
 * them at odds over the lock.  The hrtimer looks again a tick later; if no
 * reader has come by then, a thread does it.  The hrtimer is programmed under
 * the wheel's lock and nowhere else, never to a time that has passed, and never
 * sooner than MIN_GAP from now.
 *
 * Time.  A wheel's time is that of its clock, in the time namespace in which
 * it was opened.  The clock is read under the wheel's lock, so that time does
 * not go back from one holder to the next, unless somebody sets the clock: the
 * hrtimers of such a clock know by themselves when it is set forward, and when
 * it was set back is noticed in timers.c.
 *
 * Shared memory.  What is mapped stays as it is until the wheel is closed: pages
 * are added when somebody maps them, or with the timers that need them, and are
 * the kernel's and the daemon's at once.  What the daemon may write there is read
 * in words.c and nowhere else.
 *
 * Locks: twheel.grow, then twheel.lock.  users_lock stands alone.
 */
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/xarray.h>

#include "compat/kernel.h"

#define WHEEL_API static
#include "twheel.h"

#include "wheel.c"
#include "timers.c"

/*
 * A word is stored by 64 bits at once, and a page of words is a page: others may
 * use the wheel by calls alone.
 */
#define HAVE_WORDS	(IS_ENABLED(CONFIG_64BIT) && PAGE_SIZE == WORDS_PAGE)

/* Where they are mapped from; room for TWHEEL_MAX_CAPACITY words. */
#define WORDS_OFFSET	0x10000000UL
#define RING_OFFSET	0x20000000UL

/* A wheel with words has them from the start: 9 hours, with a tick of 1 ms. */
#define WORDS_LEVELS	4

/* Clocks that a wheel may have, as bits. */
#define CLOCKS		(BIT(CLOCK_MONOTONIC) | BIT(CLOCK_BOOTTIME) | \
			 BIT(CLOCK_REALTIME) | BIT(CLOCK_TAI))

/* The hrtimer is not set sooner than this from now. ns. */
#define MIN_GAP		10000

/* Softirq handles WHEEL_STEP timers of a CPU's wheels in this time. ns. */
#define PASS_SPAN	250000

/* Records copied at a time between the kernel and a program. */
#define COPY_MAX	64

static_assert(COPY_MAX <= TIMERS_CLAIM_MAX);

/* With as many events unread, nobody misses those that could be added. */
#define PLENTY		(16 * WHEEL_STEP)

/*
 * What outlives a call is charged to the caller's cgroup, and when that is at
 * its limit the call fails: nobody is killed for it.
 */
#define GFP_CHARGED	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static unsigned int max_user_wheels = 1024;
module_param(max_user_wheels, uint, 0644);
MODULE_PARM_DESC(max_user_wheels, "Wheels that one user may have open");

static unsigned long max_user_timers = TWHEEL_MAX_CAPACITY;
module_param(max_user_timers, ulong, 0644);
MODULE_PARM_DESC(max_user_timers, "Timers that one user's wheels may hold together");

/* Does what is left to do. */
static struct kthread_worker *twheel_worker;

/*
 * Others come first, so that nobody gains by leaving much; but not by so much that a
 * heavy slot is late because others compute.  It gets half as much as each of them.
 */
#define WORKER_NICE	3

/* Users */

static DEFINE_XARRAY(users);
/* Protects users, their number and the reference counts. */
static DEFINE_MUTEX(users_lock);
/* Read without the lock: it may be old for a moment. */
static unsigned int nr_users;

static void user_free(struct twheel_user *user)
{
	free_percpu(user->share);
	kfree(user);
}

/* Count another wheel of the caller; -EDQUOT if that is one too many. */
static struct twheel_user *user_get(kuid_t uid)
{
	unsigned long index = __kuid_val(uid);
	struct twheel_user *user;
	int ret;

	mutex_lock(&users_lock);
	user = xa_load(&users, index);
	if (!user) {
		user = kzalloc(sizeof(*user), GFP_CHARGED);
		if (!user) {
			user = ERR_PTR(-ENOMEM);
			goto out;
		}
		user->uid = uid;
		user->share = alloc_percpu_gfp(struct share, GFP_CHARGED);
		ret = user->share ? xa_err(xa_store(&users, index, user, GFP_CHARGED))
				  : -ENOMEM;
		if (ret) {
			user_free(user);
			user = ERR_PTR(ret);
			goto out;
		}
	}
	if (user->refs >= READ_ONCE(max_user_wheels)) {
		if (!user->refs) {
			xa_erase(&users, index);
			user_free(user);
		}
		user = ERR_PTR(-EDQUOT);
		goto out;
	}
	if (!user->refs++)
		WRITE_ONCE(nr_users, nr_users + 1);
out:
	mutex_unlock(&users_lock);
	return user;
}

static void user_put(struct twheel_user *user)
{
	mutex_lock(&users_lock);
	if (!--user->refs) {
		WRITE_ONCE(nr_users, nr_users - 1);
		xa_erase(&users, __kuid_val(user->uid));
		user_free(user);
	}
	mutex_unlock(&users_lock);
}

/* Count memory for more timers of a user. */
static int user_charge(struct twheel_user *user, unsigned int timers)
{
	if (atomic_long_add_return(timers, &user->timers) <= READ_ONCE(max_user_timers))
		return 0;
	atomic_long_sub(timers, &user->timers);
	return -EDQUOT;
}

static void user_uncharge(struct twheel_user *user, unsigned int timers)
{
	atomic_long_sub(timers, &user->timers);
}

/* Time and expiry */

static u64 twheel_now(const struct twheel *tw)
{
	lockdep_assert_held(&tw->lock);
	switch (tw->clock) {
	case CLOCK_REALTIME:
		return ktime_get_real_ns();
	case CLOCK_TAI:
		return ktime_get_clocktai_ns();
	case CLOCK_BOOTTIME:
		return ktime_get_boottime_ns() + tw->offset;
	default:
		return ktime_get_ns() + tw->offset;
	}
}

/* Is there work that does not wait for a time? */
static bool twheel_behind(const struct twheel *tw, u64 now)
{
	lockdep_assert_held(&tw->lock);
	return timers_next(&tw->timers) <= now || timers_heavy(&tw->timers);
}

/* Is some of it worth doing before a reader comes? */
static bool twheel_urgent(const struct twheel *tw, u64 now)
{
	return twheel_behind(tw, now) && timers_expired(&tw->timers) < PLENTY &&
	       !tw->closing;
}

/* What the hrtimer is set to, by the host's clock. */
static ktime_t twheel_expires(const struct twheel *tw, u64 now)
{
	u64 host = max(tw->programmed, now + MIN_GAP) - tw->offset;

	lockdep_assert_held(&tw->lock);
	return ns_to_ktime(min_t(u64, host, KTIME_MAX));
}

/*
 * Does the hrtimer have to be set, to tw->programmed?  That is what has to happen
 * next; if it is due already, to look again a tick later, or after @wait ns.  An
 * hrtimer that is set too soon, because a timer was cancelled, is left alone: that is
 * one empty look, and cheaper than moving it at each cancel.  A reader who is @helping
 * with what is due moves it away.
 */
static bool twheel_plan(struct twheel *tw, u64 now, u64 wait, bool helping)
{
	u64 next = timers_next(&tw->timers);
	bool too_soon = false;

	lockdep_assert_held(&tw->lock);
	if (tw->closing)
		return false;
	if (twheel_behind(tw, now)) {
		u64 look = now + max(tw->timers.tick, wait);

		next = next > now ? min(next, look) : look;
		/* While a reader is at it, softirq would only wait for the lock. */
		too_soon = helping && tw->programmed + tw->timers.tick / 2 < next;
	} else if (tw->left) {
		tw->left = false;
		too_soon = true;
	}
	if (next == KTIME_MAX) {
		if (tw->programmed != KTIME_MAX)
			hrtimer_try_to_cancel(&tw->hrtimer);
		tw->programmed = KTIME_MAX;
		return false;
	}
	if (next >= tw->programmed && !too_soon)
		return false;
	tw->programmed = next;
	return true;
}

static void twheel_program(struct twheel *tw, u64 now, bool helping)
{
	if (twheel_plan(tw, now, 0, helping))
		hrtimer_start(&tw->hrtimer, twheel_expires(tw, now), HRTIMER_MODE_ABS_SOFT);
}

/*
 * Are there more events than there were, so that whoever waits has to be woken?
 * If they are delivered in a ring, this is where.
 */
static bool twheel_has_news(struct twheel *tw, u32 expired, u64 now)
{
	lockdep_assert_held(&tw->lock);
	if (tw->ring.header ? !ring_post(&tw->ring, &tw->timers, now)
			    : timers_expired(&tw->timers) <= expired)
		return false;
	tw->wakeups++;
	return true;
}

static void twheel_wake(struct twheel *tw)
{
	wake_up_interruptible_poll(&tw->wait, EPOLLIN | EPOLLRDNORM);
}

/*
 * Is there an event?  Stale ones are none, and are dropped; those that wait for
 * room in the ring may have it by now.  In steps, and without a place to sleep,
 * because those ask who are about to.
 */
static bool twheel_readable(struct twheel *tw)
{
	bool readable, sure;
	u64 now;

	do {
		spin_lock_bh(&tw->lock);
		now = twheel_now(tw);
		timers_turn(&tw->timers, now);
		if (tw->ring.header) {
			ring_post(&tw->ring, &tw->timers, now);
			readable = ring_has_entries(&tw->ring);
			sure = readable || !timers_expired(&tw->timers);
		} else {
			sure = words_drop_stale(&tw->timers);
			readable = timers_expired(&tw->timers);
		}
		twheel_program(tw, now, false);
		spin_unlock_bh(&tw->lock);
	} while (!sure);
	return readable;
}

/**
 * struct pass - what softirq may still do on a CPU; used there alone
 * @since: when @left was filled up, ns
 * @left: timers that may be handled
 *
 * No lock: a CPU runs its soft hrtimers one after the other. On PREEMPT_RT, too,
 * where softirqs preempt each other: hrtimers hold a lock of their own then.  The
 * same goes for a user's share.
 */
struct pass {
	u64		since;
	unsigned int	left;
};

static DEFINE_PER_CPU(struct pass, pass);

/*
 * What is left for a user: each leaves a quarter for those who come later, if there
 * are any.
 */
static struct share *twheel_share(const struct twheel *tw, const struct pass *p)
{
	struct share *share = this_cpu_ptr(tw->user->share);

	if (share->since != p->since) {
		share->since = p->since;
		share->left = p->left;
		if (READ_ONCE(nr_users) > 1)
			share->left -= p->left / 4;
	}
	return share;
}

/*
 * How long a wheel waits that may have been left with something to do.  Where a user
 * has many, they take turns: to look costs time even if nothing can be done.  It is
 * time of other users.
 */
static u64 share_turn(struct share *share, u64 host)
{
	if (READ_ONCE(nr_users) <= 1)
		return 0;
	share->turn = max(share->turn + MIN_GAP, host);
	return share->turn - host;
}

static enum hrtimer_restart twheel_expire(struct hrtimer *hrtimer)
{
	struct twheel *tw = container_of(hrtimer, struct twheel, hrtimer);
	struct pass *p = this_cpu_ptr(&pass);
	u64 host = ktime_get_ns(), now;
	struct share *share;
	bool queued, news, waited, set_back;
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	unsigned int budget, done;
	u32 expired;

	if (host - p->since > PASS_SPAN) {
		p->since = host;
		p->left = WHEEL_STEP;
	}
	share = twheel_share(tw, p);
	budget = min(p->left, share->left);
	spin_lock(&tw->lock);
	now = twheel_now(tw);
	/*
	 * Called before its time, and nobody has set it again: the clock was set back
	 * meanwhile.  This CPU goes on by the time before; what is set from here may be
	 * due by that, again and again.
	 */
	queued = hrtimer_is_queued(hrtimer);
	set_back = !queued &&
		   now - tw->offset < ktime_to_ns(hrtimer_get_expires(hrtimer));
	tw->programmed = KTIME_MAX;
	/* Nobody comes to read what is in a ring; nor does a reader empty a heavy slot. */
	waited = tw->left && (!tw->helped || tw->ring.header || timers_heavy(&tw->timers));
	tw->left = false;
	tw->helped = false;
	tw->interrupts++;
	expired = timers_expired(&tw->timers);
	done = timers_advance(&tw->timers, now, budget);
	p->left -= done;
	share->left -= done;
	tw->max_pass = max_t(u64, tw->max_pass, done);
	news = twheel_has_news(tw, expired, now);
	if (!news)
		tw->idle_interrupts++;
	if (!set_back &&
	    twheel_plan(tw, now, done < budget ? 0 : share_turn(share, host), false)) {
		/* Somebody has set it meanwhile; else to restart it is cheaper. */
		if (queued) {
			hrtimer_start(hrtimer, twheel_expires(tw, now), HRTIMER_MODE_ABS_SOFT);
		} else {
			hrtimer_set_expires(hrtimer, twheel_expires(tw, now));
			restart = HRTIMER_RESTART;
		}
	}
	tw->left = twheel_behind(tw, now);
	if (set_back || (waited && twheel_urgent(tw, now)))
		kthread_queue_work(twheel_worker, &tw->work);
	spin_unlock(&tw->lock);
	if (news)
		twheel_wake(tw);
	return restart;
}

/*
 * What softirq and readers left, in steps of the same size.  After each, it is the
 * turn of other wheels, if any wait: their owners may be others.
 */
static void twheel_work(struct kthread_work *work)
{
	struct twheel *tw = container_of(work, struct twheel, work);
	u32 expired;
	bool news;
	u64 now;

	spin_lock_bh(&tw->lock);
	now = twheel_now(tw);
	tw->works++;
	expired = timers_expired(&tw->timers);
	timers_advance(&tw->timers, now, WHEEL_STEP);
	news = twheel_has_news(tw, expired, now);
	if (twheel_urgent(tw, now))
		kthread_queue_work(twheel_worker, work);
	else
		twheel_program(tw, now, false);
	spin_unlock_bh(&tw->lock);
	if (news)
		twheel_wake(tw);
	/* Else lazy preemption lets this thread go on until the next jiffy. */
	if (test_thread_flag(TIF_NEED_RESCHED_LAZY))
		schedule();
}

/*
 * Do what softirq left, until there are enough events or all is done.  A heavy
 * slot is for those who would only sleep instead.
 */
static void twheel_help(struct twheel *tw, unsigned int enough, bool may_sleep)
{
	struct timers *ts = &tw->timers;
	bool more;
	u32 have;
	u64 now;

	do {
		spin_lock_bh(&tw->lock);
		now = twheel_now(tw);
		have = timers_expired(ts);
		more = timers_next(ts) <= now ? have < enough
					      : timers_heavy(ts) && may_sleep && !have;
		if (more) {
			timers_advance(ts, now, WHEEL_STEP);
			tw->helped = true;
			twheel_program(tw, now, true);
		}
		spin_unlock_bh(&tw->lock);
		cond_resched();
	} while (more && !signal_pending(current));
}

/* Do events go to a ring?  A setup may come at any time, also while a read waits. */
static bool twheel_has_ring(struct twheel *tw)
{
	bool ring;

	spin_lock_bh(&tw->lock);
	ring = tw->ring.header;
	spin_unlock_bh(&tw->lock);
	return ring;
}

/* Move events into the ring, as long as there are any, and there is room. */
static void twheel_fill_ring(struct twheel *tw)
{
	unsigned int nr;
	u64 now;

	do {
		twheel_help(tw, WHEEL_STEP, false);
		spin_lock_bh(&tw->lock);
		now = twheel_now(tw);
		timers_turn(&tw->timers, now);
		nr = ring_post(&tw->ring, &tw->timers, now);
		twheel_program(tw, now, false);
		spin_unlock_bh(&tw->lock);
	} while (nr && !signal_pending(current));
}

/* Memory */

/*
 * Add memory for a timer and its neighbours, with words: if they are to be mapped,
 * or if events, which are taken by them, come in a ring.
 */
static int twheel_add_chunk(struct twheel *tw, u32 id, bool mapped)
{
	bool words = mapped || tw->ring.header;
	struct timers *ts = &tw->timers;
	struct wheel *w = &ts->wheel;
	struct wheel_chunk *chunk = NULL, **directory = NULL;
	struct twheel_word *page = NULL, **pages = NULL;
	int ret;

	lockdep_assert_held(&tw->grow);
	/* A setup came in between; the operation is tried again, and refused. */
	if (id >= w->capacity)
		return 0;
	if (wheel_has(w, id))
		return mapped && !word_of(ts, id) ? -EBUSY : 0;
	ret = user_charge(tw->user, WHEEL_CHUNK_TIMERS);
	if (ret)
		return ret;
	if (!w->chunk) {
		directory = wheel_directory_alloc(w);
		if (!directory)
			goto nomem;
	}
	if (words && !ts->word) {
		pages = words_directory_alloc(ts);
		if (!pages)
			goto nomem;
	}
	if (words) {
		page = words_alloc();
		if (!page)
			goto nomem;
	}
	chunk = wheel_chunk_alloc();
	if (!chunk)
		goto nomem;
	spin_lock_bh(&tw->lock);
	if (directory)
		wheel_add_directory(w, directory);
	if (pages)
		words_add_directory(ts, pages);
	if (page)
		words_add(ts, id, page);
	wheel_add_chunk(w, id, chunk);
	spin_unlock_bh(&tw->lock);
	return 0;

nomem:
	words_free(page);
	kvfree(pages);
	kvfree(directory);
	user_uncharge(tw->user, WHEEL_CHUNK_TIMERS);
	return -ENOMEM;
}

static int twheel_add_level(struct twheel *tw)
{
	struct wheel *w = &tw->timers.wheel;
	struct wheel_slot *slots;

	lockdep_assert_held(&tw->grow);
	/* Somebody else may have added the last one. */
	if (w->nr_levels == w->max_levels)
		return 0;
	slots = wheel_level_alloc(w);
	if (!slots)
		return -ENOMEM;
	spin_lock_bh(&tw->lock);
	wheel_add_level(w, slots);
	spin_unlock_bh(&tw->lock);
	return 0;
}

static int twheel_grow(struct twheel *tw, enum timers_need need, u32 id)
{
	int ret = 0;

	cond_resched();
	mutex_lock(&tw->grow);
	if (need == TIMERS_NEED_CHUNK)
		ret = twheel_add_chunk(tw, id, false);
	else if (need == TIMERS_NEED_LEVEL)
		ret = twheel_add_level(tw);
	mutex_unlock(&tw->grow);
	return ret;
}

/* Arm, cancel and submit */

static int twheel_do_op(struct twheel *tw, struct twheel_op *op, u64 now,
			enum timers_need *need, u32 *need_id)
{
	struct timers *ts = &tw->timers;
	int ret;

	switch (op->opcode) {
	case TWHEEL_OP_ARM:
		ret = timers_check_arm(ts, op);
		/* Nobody tells when an event was taken from the ring, and the id is free. */
		if (!ret && op->id == TWHEEL_ID_ANY && tw->ring.header)
			ret = -EOPNOTSUPP;
		return ret ? ret : timers_arm(ts, op, now, need, need_id);
	case TWHEEL_OP_CANCEL:
		ret = timers_check_cancel(ts, op);
		return ret ? ret : timers_cancel(ts, op);
	default:
		return -EINVAL;
	}
}

/* Carry out at most COPY_MAX operations; each gets its result. */
static void twheel_do_ops(struct twheel *tw, struct twheel_op *ops, unsigned int nr)
{
	struct timers *ts = &tw->timers;
	enum timers_need need;
	unsigned int i = 0;
	u32 expired, id;
	bool news;
	u64 now;
	int ret;

	while (i < nr) {
		spin_lock_bh(&tw->lock);
		now = twheel_now(tw);
		timers_turn(ts, now);
		expired = timers_expired(ts);
		for (; i < nr; i++) {
			if (i + WHEEL_AHEAD < nr)
				timers_prefetch(ts, ops[i + WHEEL_AHEAD].id);
			ret = twheel_do_op(tw, &ops[i], now, &need, &id);
			if (ret == -EAGAIN)
				break;
			ops[i].result = ret;
		}
		twheel_program(tw, now, false);
		news = twheel_has_news(tw, expired, now);
		spin_unlock_bh(&tw->lock);
		if (news)
			twheel_wake(tw);
		if (i == nr)
			break;
		ret = twheel_grow(tw, need, id);
		if (ret)
			ops[i++].result = ret;
	}
}

/* Which of the operations leave the id to the kernel, as bits. */
static u64 chosen_ids(const struct twheel_op *ops, unsigned int nr)
{
	u64 chosen = 0;

	static_assert(COPY_MAX <= 64);
	for (unsigned int i = 0; i < nr; i++)
		if (ops[i].id == TWHEEL_ID_ANY)
			chosen |= BIT_ULL(i);
	return chosen;
}

/*
 * The daemon could not be told the results of these.  It knows of its own ids,
 * but a timer with an id that the kernel chose would be lost to it.
 */
static void twheel_undo(struct twheel *tw, const struct twheel_op *ops,
			unsigned int nr, u64 chosen)
{
	spin_lock_bh(&tw->lock);
	for (unsigned int i = 0; i < nr; i++) {
		struct twheel_op op = { .id = ops[i].id, .generation = ops[i].generation };

		if (chosen & BIT_ULL(i) && !ops[i].result)
			timers_cancel(&tw->timers, &op);
	}
	twheel_program(tw, twheel_now(tw), false);
	spin_unlock_bh(&tw->lock);
}

static int twheel_single(struct twheel *tw, struct twheel_op *op, u32 opcode)
{
	if (op->opcode)
		return -EINVAL;
	op->opcode = opcode;
	twheel_do_ops(tw, op, 1);
	op->opcode = 0;
	return op->result;
}

static int twheel_arm(struct twheel *tw, void *arg)
{
	return twheel_single(tw, arg, TWHEEL_OP_ARM);
}

static int twheel_cancel(struct twheel *tw, void *arg)
{
	return twheel_single(tw, arg, TWHEEL_OP_CANCEL);
}

/* Of @nr records of @size bytes, how many are whole if @left bytes are not. */
static unsigned int whole(unsigned int nr, size_t size, size_t left)
{
	return nr - DIV_ROUND_UP(left, size);
}

/*
 * What an operation writes back: its last 16 bytes.  Operations must not be
 * carried out if their results have no place to go, so these are first written
 * as they were read.
 */
#define RESULT_SIZE	(sizeof(struct twheel_op) - offsetof(struct twheel_op, id))

static bool result_writable(struct twheel_op __user *user, const struct twheel_op *op)
{
	return !copy_to_user(&user->id, &op->id, RESULT_SIZE);
}

/* For how many of the operations can results be written? */
static unsigned int results_writable(struct twheel_op __user *array,
				     const struct twheel_op *ops, unsigned int nr)
{
	unsigned int n;

	/* A copy's worth touches two pages at the most. */
	static_assert((COPY_MAX - 1) * sizeof(*ops) + RESULT_SIZE <= PAGE_SIZE);
	if (result_writable(array, ops) && result_writable(array + nr - 1, ops + nr - 1))
		return nr;
	for (n = 0; n < nr; n++)
		if (!result_writable(array + n, ops + n))
			break;
	return n;
}

/* Tell the results; returns how many could be. */
static unsigned int write_results(struct twheel_op __user *array,
				  const struct twheel_op *ops, unsigned int nr)
{
	unsigned int n = 0;

	if (!user_write_access_begin(array, nr * sizeof(*ops)))
		return 0;
	for (; n < nr; n++) {
		unsafe_put_user(ops[n].id, &array[n].id, out);
		unsafe_put_user(ops[n].generation, &array[n].generation, out);
		unsafe_put_user(ops[n].state, &array[n].state, out);
		unsafe_put_user(ops[n].result, &array[n].result, out);
	}
out:
	user_write_access_end();
	return n;
}

static int twheel_submit(struct twheel *tw, void *arg)
{
	struct twheel_submit *submit = arg;
	struct twheel_op __user *array = u64_to_user_ptr(submit->ops);
	const size_t size = sizeof(struct twheel_op);
	struct twheel_op *ops;
	unsigned int nr, told;
	u64 chosen;

	if (submit->flags)
		return -EOPNOTSUPP;
	if (submit->reserved || submit->op_size != size)
		return -EINVAL;
	if (submit->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	submit->done = 0;
	submit->failed = 0;
	if (!submit->nr) {
		if (twheel_has_ring(tw))
			twheel_fill_ring(tw);
		return 0;
	}
	ops = kmalloc_array(min_t(u32, submit->nr, COPY_MAX), size, GFP_KERNEL);
	if (!ops)
		return -ENOMEM;

	do {
		nr = min_t(u32, submit->nr - submit->done, COPY_MAX);
		nr = whole(nr, size, copy_from_user(ops, array, nr * size));
		if (nr)
			nr = results_writable(array, ops, nr);
		if (!nr)
			break;
		chosen = chosen_ids(ops, nr);
		twheel_do_ops(tw, ops, nr);
		told = write_results(array, ops, nr);
		/* Only if the array was unmapped meanwhile. */
		if (unlikely(told < nr))
			twheel_undo(tw, ops + told, nr - told, chosen >> told);
		for (unsigned int i = 0; i < told; i++)
			submit->failed += ops[i].result < 0;
		submit->done += told;
		array += told;
		cond_resched();
	} while (told == nr && submit->done < submit->nr && !task_sigpending(current));

	kfree(ops);
	return submit->done ? 0 : -EFAULT;
}

/* Get, list and drain */

static int twheel_get(struct twheel *tw, void *arg)
{
	int ret;

	spin_lock_bh(&tw->lock);
	ret = timers_get(&tw->timers, arg, twheel_now(tw));
	spin_unlock_bh(&tw->lock);
	return ret;
}

static void twheel_list_end(struct twheel *tw, const struct twheel_timer *records,
			    unsigned int nr, unsigned int told)
{
	u64 now;

	spin_lock_bh(&tw->lock);
	now = twheel_now(tw);
	timers_turn(&tw->timers, now);
	timers_drained(&tw->timers, records, told);
	timers_undrain(&tw->timers, records + told, nr - told, now);
	twheel_program(tw, now, false);
	spin_unlock_bh(&tw->lock);
	if (told < nr)
		twheel_wake(tw);
}

static int twheel_enumerate(struct twheel *tw, struct twheel_list *list, bool drain)
{
	struct twheel_timer __user *array = u64_to_user_ptr(list->timers);
	const size_t size = sizeof(struct twheel_timer);
	struct twheel_timer *records;
	unsigned int nr, told;
	int ret = 0;
	bool end;

	if (list->flags)
		return -EOPNOTSUPP;
	if (list->reserved || list->timer_size != size || !list->nr)
		return -EINVAL;
	if (list->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	records = kmalloc_array(min_t(u32, list->nr, COPY_MAX), size, GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	list->done = 0;

	do {
		spin_lock_bh(&tw->lock);
		nr = timers_list(&tw->timers, records,
				 min_t(u32, list->nr - list->done, COPY_MAX),
				 &list->cursor, drain, twheel_now(tw));
		end = list->cursor == tw->timers.wheel.capacity;
		spin_unlock_bh(&tw->lock);
		told = whole(nr, size, copy_to_user(array, records, nr * size));
		if (drain)
			twheel_list_end(tw, records, nr, told);
		list->done += told;
		array += told;
		if (told < nr) {
			list->cursor = records[told].id;
			ret = list->done ? 0 : -EFAULT;
			break;
		}
		cond_resched();
	} while (list->done < list->nr && !end && !signal_pending(current));

	kfree(records);
	if (!ret && !list->done && !end)
		return -ERESTARTSYS;
	return ret;
}

static int twheel_list(struct twheel *tw, void *arg)
{
	return twheel_enumerate(tw, arg, false);
}

static int twheel_drain(struct twheel *tw, void *arg)
{
	return twheel_enumerate(tw, arg, true);
}

/* Setup and statistics */

static u64 min_tick(void)
{
	return capable(CAP_SYS_RESOURCE) ? 1 : TWHEEL_MIN_TICK;
}

static int twheel_features(struct twheel *tw, void *arg)
{
	*(struct twheel_features *)arg = (struct twheel_features){
		.abi		 = TWHEEL_ABI,
		.clocks		 = CLOCKS,
		.min_tick	 = min_tick(),
		.max_capacity	 = TWHEEL_MAX_CAPACITY,
		.max_levels	 = TWHEEL_MAX_LEVELS,
		.max_slots	 = TWHEEL_MAX_SLOTS,
		.max_batch	 = TWHEEL_MAX_BATCH,
		.max_user_timers = READ_ONCE(max_user_timers),
		.max_user_wheels = READ_ONCE(max_user_wheels),
		.features	 = HAVE_WORDS ? TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_RING : 0,
	};
	return 0;
}

static int twheel_get_setup(struct twheel *tw, void *arg)
{
	const struct timers *ts = &tw->timers;

	spin_lock_bh(&tw->lock);
	*(struct twheel_setup *)arg = (struct twheel_setup){
		.flags		= TWHEEL_SETUP_CLOCK,
		.clock		= tw->clock,
		.tick		= ts->tick,
		.levels		= ts->wheel.max_levels,
		.slots		= 1U << ts->wheel.bits,
		.capacity	= ts->wheel.capacity,
		.delivery	= tw->ring.header ? TWHEEL_DELIVER_RING : TWHEEL_DELIVER_READ,
		.ring_entries	= tw->ring.entries,
		.words_offset	= HAVE_WORDS ? WORDS_OFFSET : 0,
		.ring_offset	= tw->ring.header ? RING_OFFSET : 0,
	};
	spin_unlock_bh(&tw->lock);
	return 0;
}

/* Fill in the defaults; refuse what makes no sense or is not allowed. */
static int setup_check(struct twheel_setup *setup)
{
	if (setup->flags & ~TWHEEL_SETUP_CLOCK || setup->delivery > TWHEEL_DELIVER_RING ||
	    (setup->delivery == TWHEEL_DELIVER_RING && !HAVE_WORDS))
		return -EOPNOTSUPP;
	if (setup->reserved ||
	    (setup->delivery != TWHEEL_DELIVER_RING && setup->ring_entries))
		return -EINVAL;
	if (!(setup->flags & TWHEEL_SETUP_CLOCK)) {
		if (setup->clock)
			return -EINVAL;
		setup->clock = CLOCK_MONOTONIC;
	}
	if (setup->clock >= BITS_PER_LONG || !(CLOCKS & BIT(setup->clock)))
		return -EOPNOTSUPP;
	if (!setup->tick)
		setup->tick = TWHEEL_DEFAULT_TICK;
	if (!setup->slots)
		setup->slots = TWHEEL_DEFAULT_SLOTS;
	if (!setup->capacity)
		setup->capacity = TWHEEL_DEFAULT_CAPACITY;
	if (setup->tick > NSEC_PER_SEC || setup->levels > TWHEEL_MAX_LEVELS ||
	    setup->slots > TWHEEL_MAX_SLOTS || setup->capacity > TWHEEL_MAX_CAPACITY ||
	    setup->ring_entries > TWHEEL_MAX_RING)
		return -ERANGE;
	if (setup->delivery == TWHEEL_DELIVER_RING) {
		if (!setup->ring_entries)
			setup->ring_entries = TWHEEL_DEFAULT_RING;
		setup->ring_entries = roundup_pow_of_two(max(setup->ring_entries,
							     WORDS_PER_PAGE));
	}
	if (setup->tick < min_tick())
		return -EPERM;
	if (((setup->levels && setup->levels != TWHEEL_DEFAULT_LEVELS) ||
	     setup->slots != TWHEEL_DEFAULT_SLOTS) && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	return 0;
}

/* Make an empty wheel; nothing is armed in it and nothing allocated. */
static void twheel_set(struct twheel *tw, const struct twheel_setup *setup)
{
	lockdep_assert_held(&tw->lock);
	tw->clock = setup->clock;
	tw->offset = setup->clock == CLOCK_MONOTONIC ? tw->offsets.monotonic :
		     setup->clock == CLOCK_BOOTTIME ? tw->offsets.boottime : 0;
	tw->programmed = KTIME_MAX;
	hrtimer_setup(&tw->hrtimer, twheel_expire, tw->clock, HRTIMER_MODE_ABS_SOFT);
	timers_setup(&tw->timers, setup->capacity, setup->levels, setup->slots,
		     setup->tick, twheel_now(tw));
	tw->timers.settable = tw->clock == CLOCK_REALTIME || tw->clock == CLOCK_TAI;
}

static int twheel_setup(struct twheel *tw, void *arg)
{
	struct twheel_setup *setup = arg;
	struct ring ring = {};
	int ret;

	ret = setup_check(setup);
	if (ret)
		return ret;
	mutex_lock(&tw->grow);
	if (tw->setup_done || tw->timers.wheel.chunk)
		ret = -EBUSY;
	else if (setup->ring_entries)
		ret = ring_alloc(&ring, setup->ring_entries);
	if (!ret) {
		tw->setup_done = true;
		spin_lock_bh(&tw->lock);
		tw->ring = ring;
		twheel_set(tw, setup);
		spin_unlock_bh(&tw->lock);
	}
	mutex_unlock(&tw->grow);
	return ret ? ret : twheel_get_setup(tw, setup);
}

static int twheel_stats(struct twheel *tw, void *arg)
{
	const struct timers *ts = &tw->timers;

	spin_lock_bh(&tw->lock);
	*(struct twheel_stats *)arg = (struct twheel_stats){
		.pending	 = ts->wheel.filed,
		.expired	 = timers_expired(ts),
		.arms		 = ts->arms,
		.cancels	 = ts->cancels,
		.fired		 = ts->fired,
		.delivered	 = ts->delivered,
		.overruns	 = ts->overruns,
		.moves		 = ts->wheel.moves,
		.cascades	 = ts->wheel.cascades,
		.interrupts	 = tw->interrupts,
		.idle_interrupts = tw->idle_interrupts,
		.works		 = tw->works,
		.max_pass	 = tw->max_pass,
		.wakeups	 = tw->wakeups,
		.memory		 = sizeof(*tw) + ts->wheel.memory + words_memory(ts) +
				   ring_memory(&tw->ring),
	};
	spin_unlock_bh(&tw->lock);
	return 0;
}

/* The table of ioctls */

static_assert(sizeof(struct twheel_event) == 48);
static_assert(sizeof(struct twheel_features) == 56);
static_assert(sizeof(struct twheel_setup) == 56);
static_assert(sizeof(struct twheel_op) == 64);
static_assert(sizeof(struct twheel_submit) == 32);
static_assert(sizeof(struct twheel_timer) == 64);
static_assert(sizeof(struct twheel_list) == 32);
static_assert(sizeof(struct twheel_stats) == 120);

union twheel_arg {
	struct twheel_features	features;
	struct twheel_setup	setup;
	struct twheel_op	op;
	struct twheel_submit	submit;
	struct twheel_timer	timer;
	struct twheel_list	list;
	struct twheel_stats	stats;
};

/**
 * struct twheel_ioctl - a call
 * @cmd: its number, with the direction and size of this kernel's struct
 * @min_size: of the struct when the call was introduced
 * @run: called without locks; the struct is copied to and fro around it
 */
struct twheel_ioctl {
	unsigned int	cmd;
	unsigned int	min_size;
	int		(*run)(struct twheel *tw, void *arg);
};

#define IOCTL(name, fn, min)			\
	[_IOC_NR(TWHEEL_IOC_##name)] = {	\
		.cmd		= TWHEEL_IOC_##name, \
		.min_size	= (min),	\
		.run		= (fn),		\
	}

static const struct twheel_ioctl twheel_ioctls[] = {
	IOCTL(FEATURES,	 twheel_features,  56),
	IOCTL(SETUP,	 twheel_setup,	   56),
	IOCTL(GET_SETUP, twheel_get_setup, 56),
	IOCTL(ARM,	 twheel_arm,	   64),
	IOCTL(CANCEL,	 twheel_cancel,	   64),
	IOCTL(GET,	 twheel_get,	   64),
	IOCTL(SUBMIT,	 twheel_submit,	   32),
	IOCTL(LIST,	 twheel_list,	   32),
	IOCTL(DRAIN,	 twheel_drain,	   32),
	IOCTL(STATS,	 twheel_stats,	   120),
};

static long twheel_ioctl(struct file *file, unsigned int cmd, unsigned long user_arg)
{
	struct twheel *tw = file->private_data;
	void __user *user = (void __user *)user_arg;
	const struct twheel_ioctl *ioctl;
	size_t size, user_size;
	union twheel_arg arg = {};
	u64 chosen = 0;
	int ret;

	if (_IOC_TYPE(cmd) != TWHEEL_IOC_MAGIC || _IOC_NR(cmd) >= ARRAY_SIZE(twheel_ioctls))
		return -ENOIOCTLCMD;
	ioctl = &twheel_ioctls[_IOC_NR(cmd)];
	if (_IOC_DIR(cmd) != _IOC_DIR(ioctl->cmd))
		return -ENOIOCTLCMD;
	user_size = _IOC_SIZE(cmd);
	if (user_size < ioctl->min_size)
		return -EINVAL;
	size = min_t(size_t, user_size, _IOC_SIZE(ioctl->cmd));

	if (_IOC_DIR(cmd) & _IOC_WRITE) {
		ret = copy_struct_from_user(&arg, _IOC_SIZE(ioctl->cmd), user, user_size);
		if (ret)
			return ret;
		/* A call whose results can't be told must change nothing. */
		if (copy_to_user(user, &arg, size))
			return -EFAULT;
	}
	if (ioctl->run == twheel_arm)
		chosen = chosen_ids(&arg.op, 1);
	ret = ioctl->run(tw, &arg);
	if (ret)
		return ret;
	if (copy_to_user(user, &arg, size)) {
		if (chosen)
			twheel_undo(tw, &arg.op, 1, chosen);
		return -EFAULT;
	}
	/* The part of a newer struct that this kernel does not know. */
	if (_IOC_DIR(cmd) == _IOC_READ && clear_user(user + size, user_size - size))
		return -EFAULT;
	return 0;
}

/* Read and poll */

static unsigned int twheel_claim(struct twheel *tw, struct twheel_event *events,
				 unsigned int nr)
{
	spin_lock_bh(&tw->lock);
	nr = timers_claim(&tw->timers, events, nr, twheel_now(tw));
	spin_unlock_bh(&tw->lock);
	return nr;
}

/*
 * Of @nr claimed events, @told have reached the reader.  Returns how many count;
 * if those are less, the one behind them is stale, and what stands behind that is
 * claimed still.
 */
static unsigned int twheel_claim_end(struct twheel *tw, const struct twheel_event *events,
				     unsigned int nr, unsigned int told)
{
	unsigned int count;
	bool more;
	u64 now;

	spin_lock_bh(&tw->lock);
	now = twheel_now(tw);
	timers_turn(&tw->timers, now);
	timers_put_back(&tw->timers, events + told, nr - told);
	count = timers_commit(&tw->timers, events, told, now);
	twheel_program(tw, now, false);
	more = timers_expired(&tw->timers);
	spin_unlock_bh(&tw->lock);
	/* Events that are left are for the next who waits. */
	if (more && wq_has_sleeper(&tw->wait))
		twheel_wake(tw);
	return count;
}

/*
 * Hand events to a reader.  A record reaches the reader before it counts, so that
 * no fault loses it; the place of one that turns out to be stale is taken by those
 * behind it.  Returns how many count; sets @fault if the reader's memory failed.
 */
static unsigned int twheel_tell(struct twheel *tw, struct twheel_event *events,
				unsigned int nr, struct iov_iter *to, bool *fault)
{
	const size_t size = sizeof(*events);
	unsigned int done = 0, told, count;
	size_t copied;

	while (nr) {
		copied = copy_to_iter(events, nr * size, to);
		told = copied / size;
		*fault = told < nr;
		count = twheel_claim_end(tw, events, nr, told);
		done += count;
		iov_iter_revert(to, copied - count * size);
		if (count == told)
			break;
		nr = told - count - 1;
		memmove(events, events + count + 1, nr * size);
	}
	return done;
}

static ssize_t twheel_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct twheel *tw = iocb->ki_filp->private_data;
	/* fcntl may change O_NONBLOCK at any time; each read goes by what it was at first. */
	bool may_sleep = !(data_race(iocb->ki_filp->f_flags) & O_NONBLOCK ||
			   iocb->ki_flags & IOCB_NOWAIT);
	const size_t size = sizeof(struct twheel_event);
	size_t room = iov_iter_count(to) / size, done = 0;
	struct twheel_event *events;
	int ret = 0;

	if (!room)
		return -EINVAL;
	events = kmalloc_array(min_t(size_t, room, COPY_MAX), size, GFP_KERNEL);
	if (!events)
		return -ENOMEM;

	for (;;) {
		unsigned int want = min_t(size_t, room - done, COPY_MAX), nr;
		bool fault = false;

		if (twheel_has_ring(tw)) {
			ret = -EOPNOTSUPP;
			break;
		}
		twheel_help(tw, want, may_sleep && !done);
		nr = twheel_claim(tw, events, want);
		done += twheel_tell(tw, events, nr, to, &fault);
		if (fault) {
			ret = -EFAULT;
			break;
		}
		/* Not until nothing is due: a fast periodic timer always is. */
		if (done && (nr < want || done == room || signal_pending(current)))
			break;
		cond_resched();
		if (done)
			continue;
		if (!may_sleep) {
			ret = -EAGAIN;
			break;
		}
		ret = wait_event_interruptible_exclusive(tw->wait, twheel_readable(tw));
		if (ret)
			break;
	}
	kfree(events);
	return done ? done * size : ret;
}

static __poll_t twheel_poll(struct file *file, poll_table *wait)
{
	struct twheel *tw = file->private_data;

	poll_wait(file, &tw->wait, wait);
	return twheel_readable(tw) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Shared memory */

/* The page of the wheel's file at an offset in pages, or NULL. */
static void *twheel_page(struct twheel *tw, unsigned long at)
{
	const struct timers *ts = &tw->timers;
	struct twheel_word **words = READ_ONCE(ts->word);

	if (at >= RING_OFFSET / WORDS_PAGE) {
		at -= RING_OFFSET / WORDS_PAGE;
		if (!tw->ring.header || at > tw->ring.entries / WORDS_PER_PAGE)
			return NULL;
		return at ? (void *)tw->ring.page[at - 1] : tw->ring.header;
	}
	at -= WORDS_OFFSET / WORDS_PAGE;
	if (!words || at >= words_pages(ts))
		return NULL;
	return READ_ONCE(words[at]);
}

static vm_fault_t twheel_fault(struct vm_fault *vmf)
{
	void *page = twheel_page(vmf->vma->vm_private_data, vmf->pgoff);

	if (!page)
		return VM_FAULT_SIGBUS;
	vmf->page = virt_to_page(page);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct twheel_vm_ops = {
	.fault	= twheel_fault,
};

/* Is all of the ring's part there? */
static int twheel_map_ring(struct twheel *tw, unsigned long at, unsigned long pages)
{
	unsigned long all;
	int ret;

	mutex_lock(&tw->grow);
	all = tw->ring.header ? 1 + tw->ring.entries / WORDS_PER_PAGE : 0;
	ret = pages > all || at > all - pages ? -EINVAL : 0;
	mutex_unlock(&tw->grow);
	return ret;
}

/* Add what the words of these pages need; none of their timers is armed. */
static int twheel_map_words(struct twheel *tw, unsigned long at, unsigned long pages)
{
	struct wheel *w = &tw->timers.wheel;
	int ret = 0;

	mutex_lock(&tw->grow);
	if (pages > words_pages(&tw->timers) || at > words_pages(&tw->timers) - pages)
		ret = -EINVAL;
	/* A chunk comes first: who has one has no setup any more. */
	for (; !ret && pages; pages--, at++) {
		ret = twheel_add_chunk(tw, at * WORDS_PER_PAGE, true);
		cond_resched();
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
	}
	/* Looks can't wait for memory: what is further off is looked at on the way. */
	while (!ret && w->nr_levels < min_t(unsigned int, w->max_levels, WORDS_LEVELS))
		ret = twheel_add_level(tw);
	mutex_unlock(&tw->grow);
	return ret;
}

static int twheel_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct twheel *tw = file->private_data;
	unsigned long at = vma->vm_pgoff, pages = vma_pages(vma);
	int ret;

	if (!HAVE_WORDS)
		return -ENODEV;
	/* Stores to a private copy would be lost. */
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (at >= RING_OFFSET / WORDS_PAGE)
		ret = twheel_map_ring(tw, at - RING_OFFSET / WORDS_PAGE, pages);
	else if (at >= WORDS_OFFSET / WORDS_PAGE)
		ret = twheel_map_words(tw, at - WORDS_OFFSET / WORDS_PAGE, pages);
	else
		ret = -EINVAL;
	if (ret)
		return ret;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = tw;
	vma->vm_ops = &twheel_vm_ops;
	return 0;
}

/* Open and release */

static int twheel_open(struct inode *inode, struct file *file)
{
	static const struct twheel_setup defaults = {
		.clock		= CLOCK_MONOTONIC,
		.tick		= TWHEEL_DEFAULT_TICK,
		.levels		= TWHEEL_DEFAULT_LEVELS,
		.slots		= TWHEEL_DEFAULT_SLOTS,
		.capacity	= TWHEEL_DEFAULT_CAPACITY,
	};
	struct twheel_user *user;
	struct twheel *tw;

	user = user_get(current_uid());
	if (IS_ERR(user))
		return PTR_ERR(user);
	tw = kzalloc(sizeof(*tw), GFP_CHARGED);
	if (!tw) {
		user_put(user);
		return -ENOMEM;
	}
	tw->user = user;
	spin_lock_init(&tw->lock);
	mutex_init(&tw->grow);
	init_waitqueue_head(&tw->wait);
	kthread_init_work(&tw->work, twheel_work);
	tw->offsets.monotonic = timens_offset(CLOCK_MONOTONIC);
	tw->offsets.boottime = timens_offset(CLOCK_BOOTTIME);
	spin_lock_bh(&tw->lock);
	twheel_set(tw, &defaults);
	spin_unlock_bh(&tw->lock);
	file->private_data = tw;
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

static int twheel_release(struct inode *inode, struct file *file)
{
	struct twheel *tw = file->private_data;

	spin_lock_bh(&tw->lock);
	tw->closing = true;
	spin_unlock_bh(&tw->lock);
	hrtimer_cancel(&tw->hrtimer);
	kthread_cancel_work_sync(&tw->work);
	user_uncharge(tw->user, wheel_timers_held(&tw->timers.wheel));
	words_destroy(&tw->timers);
	ring_free(&tw->ring);
	wheel_destroy(&tw->timers.wheel);
	user_put(tw->user);
	kfree(tw);
	return 0;
}

static void twheel_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct twheel *tw = file->private_data;
	union { struct twheel_setup setup; struct twheel_stats stats; } u;

	twheel_get_setup(tw, &u.setup);
	seq_printf(m, "twheel-clock:\t%u\n", u.setup.clock);
	seq_printf(m, "twheel-tick-ns:\t%llu\n", u.setup.tick);
	seq_printf(m, "twheel-levels:\t%u\n", u.setup.levels);
	seq_printf(m, "twheel-slots:\t%u\n", u.setup.slots);
	seq_printf(m, "twheel-capacity:\t%u\n", u.setup.capacity);
	seq_printf(m, "twheel-delivery:\t%u\n", u.setup.delivery);
	twheel_stats(tw, &u.stats);
	seq_printf(m, "twheel-pending:\t%llu\n", u.stats.pending);
	seq_printf(m, "twheel-expired:\t%llu\n", u.stats.expired);
	seq_printf(m, "twheel-fired:\t%llu\n", u.stats.fired);
	seq_printf(m, "twheel-delivered:\t%llu\n", u.stats.delivered);
	seq_printf(m, "twheel-moves:\t%llu\n", u.stats.moves);
	seq_printf(m, "twheel-cascades:\t%llu\n", u.stats.cascades);
	seq_printf(m, "twheel-interrupts:\t%llu\n", u.stats.interrupts);
	seq_printf(m, "twheel-memory:\t%llu\n", u.stats.memory);
}

static const struct file_operations twheel_fops = {
	.owner		= THIS_MODULE,
	.open		= twheel_open,
	.release	= twheel_release,
	.read_iter	= twheel_read_iter,
	.poll		= twheel_poll,
	.mmap		= twheel_mmap,
	.unlocked_ioctl	= twheel_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.show_fdinfo	= twheel_show_fdinfo,
};

static struct miscdevice twheel_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "twheel",
	.fops	= &twheel_fops,
	.mode	= 0600,
};

static int __init twheel_init(void)
{
	int ret;

	twheel_worker = kthread_run_worker(0, "twheel");
	if (IS_ERR(twheel_worker))
		return PTR_ERR(twheel_worker);
	set_user_nice(twheel_worker->task, WORKER_NICE);
	ret = misc_register(&twheel_misc);
	if (ret)
		kthread_destroy_worker(twheel_worker);
	return ret;
}
module_init(twheel_init);

static void __exit twheel_exit(void)
{
	misc_deregister(&twheel_misc);
	kthread_destroy_worker(twheel_worker);
}
module_exit(twheel_exit);

MODULE_DESCRIPTION("Timers for daemons that hold a million of them");
MODULE_LICENSE("GPL");
