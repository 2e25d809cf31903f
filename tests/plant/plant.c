// SPDX-License-Identifier: GPL-2.0
/*
 * A bug for each detector that the tests rely on, to see that it would be heard
 * of: writing a name to /sys/module/twheel/parameters/plant runs one.
 *
 * Only `vm/build --plant`, for tests/plant/check, compiles this into twheel.ko; so
 * the detectors see it just as they see the module's own code.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../../compat/kernel.h"

static DEFINE_SPINLOCK(plant_a);
static DEFINE_SPINLOCK(plant_b);
static DEFINE_RAW_SPINLOCK(plant_raw);

struct plant {
	struct hrtimer timer;
	unsigned int n;
};

static struct plant *plant_kept;
static unsigned int plant_counter;

static enum hrtimer_restart plant_expired(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

static struct plant *plant_new(void)
{
	struct plant *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (p)
		hrtimer_setup(&p->timer, plant_expired, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_SOFT);
	return p;
}

/* KASAN. */
static void plant_freed(void)
{
	struct plant *p = plant_new();

	kfree(p);
	plant_counter = READ_ONCE(p->n);
}

/* UBSAN. */
static void plant_shift(void)
{
	struct plant *p = plant_new();

	p->n = 40;
	OPTIMIZER_HIDE_VAR(p->n);
	p->n = 1 << p->n;
	kfree(p);
}

/* Lockdep: two locks, each taken under the other. */
static void plant_order(void)
{
	spin_lock(&plant_a);
	spin_lock(&plant_b);
	spin_unlock(&plant_b);
	spin_unlock(&plant_a);

	spin_lock(&plant_b);
	spin_lock(&plant_a);
	spin_unlock(&plant_a);
	spin_unlock(&plant_b);
}

/* PROVE_RAW_LOCK_NESTING: on PREEMPT_RT the inner lock sleeps. */
static void plant_nesting(void)
{
	raw_spin_lock(&plant_raw);
	spin_lock(&plant_a);
	spin_unlock(&plant_a);
	raw_spin_unlock(&plant_raw);
}

/* DEBUG_ATOMIC_SLEEP. */
static void plant_sleep(void)
{
	raw_spin_lock(&plant_raw);
	might_sleep();
	raw_spin_unlock(&plant_raw);
}

/* DEBUG_OBJECTS_TIMERS: freed while it is due. */
static void plant_timer(void)
{
	struct plant *p = plant_new();

	hrtimer_start(&p->timer, ms_to_ktime(1000), HRTIMER_MODE_REL_SOFT);
	kfree(p);
}

/* Kmemleak. */
static void plant_leak(void)
{
	int i;

	/* Some pointer stays in a register. */
	for (i = 0; i < 16; i++)
		WRITE_ONCE(plant_kept, plant_new());
	WRITE_ONCE(plant_kept, NULL);
}

/* KCSAN: neither of two threads marks what they share. */
static int plant_count(void *unused)
{
	unsigned int i;

	for (i = 0; i < 10 * 1000 * 1000; i++) {
		plant_counter++;
		barrier();
		if (!(i % 1024))
			cond_resched();
	}
	return 0;
}

static void plant_race(void)
{
	struct task_struct *other = kthread_run(plant_count, NULL, "plant");

	if (IS_ERR(other))
		return;
	/* It may not end before it is stopped, nor go away. */
	get_task_struct(other);
	plant_count(NULL);
	kthread_stop(other);
	put_task_struct(other);
}

static const struct {
	const char *name;
	void (*bug)(void);
} plants[] = {
	{ "freed",	plant_freed },
	{ "shift",	plant_shift },
	{ "order",	plant_order },
	{ "nesting",	plant_nesting },
	{ "sleep",	plant_sleep },
	{ "timer",	plant_timer },
	{ "leak",	plant_leak },
	{ "race",	plant_race },
};

static int plant_set(const char *name, const struct kernel_param *kp)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(plants); i++) {
		if (sysfs_streq(name, plants[i].name)) {
			plants[i].bug();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops plant_ops = { .set = plant_set };
module_param_cb(plant, &plant_ops, NULL, 0200);
