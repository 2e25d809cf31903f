// SPDX-License-Identifier: GPL-2.0
/*
 * Expiry: softirq turns the wheels that are due, within a budget for each CPU.
 *
 * What the budget does not cover is left to the users: read() and poll() turn the wheel in
 * their own time.  A thread would compute for one user in the name of another.
 *
 * 1. A CPU has WHEEL_STEP tokens for a span of at least EXPIRY_SPAN.  A visit to a wheel costs
 *    EXPIRY_VISIT tokens, a timer one, a wake-up EXPIRY_WAKE.
 * 2. Wheels are visited in the order in which they came due, the clocks in turn.  A visit handles
 *    EXPIRY_PER_WHEEL timers; a wheel with more to do waits behind the others.
 * 3. A span lasts EXPIRY_DUTY times as long as softirq worked in it, at most EXPIRY_SPAN_MAX.  So
 *    expiry takes an eighth of a CPU, however slow that is.
 *
 * The hrtimers are pinned: the core would move those of idle CPUs to busy ones, and the wheels with
 * them.  With CPU hotplug those of a dead CPU move, and the wheels follow when they fire.
 *
 * Locking: the wheel's lock, then the CPU's, then the hrtimer core's.  A pass finds a wheel under
 * the CPU's lock, drops that, takes the wheel's lock, which is held for a bounded time, and checks
 * that the wheel still waits there.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/percpu.h>

#include "expiry.h"
#include "trace.h"
#include "wheel.h"

/* The shortest span, and the longest, ns. */
#define EXPIRY_SPAN		250000U
#define EXPIRY_SPAN_MAX		20000000U

/* A span lasts at least this many times as long as softirq worked in it. */
#define EXPIRY_DUTY		8U

/* Tokens for a visit to a wheel, and for a wake-up, in addition to one for each timer. */
#define EXPIRY_VISIT		2U
#define EXPIRY_WAKE		1U

/* Timers in a visit: 256 wheels that are always due delay others by 11 ms at least. */
#define EXPIRY_PER_WHEEL	8U

/* CPU time of an interrupt outside of its callback, ns. */
#define EXPIRY_CALL		2500U

/* The shortest time from now that an hrtimer is programmed for, ns. */
#define EXPIRY_GAP		10000U

struct expiry_cpu;

/* What fires for the wheels of a CPU that have one clock.  @wheels and @set: the CPU's lock. */
struct expirer {
	struct hrtimer		hrtimer;	/* started under the CPU's lock */
	struct expiry_cpu	*cpu;		/* constant */
	enum twheel_clock	clock;		/* constant */
	struct timerqueue_head	wheels;		/* by when they want to be turned */
	u64			set;		/* what @hrtimer is set to, or KTIME_MAX */
};

/* What a CPU may do for wheels. */
struct expiry_cpu {
	spinlock_t		lock;		/* all fields, and the queues of the CPU */
	unsigned int		tokens;		/* left in this span */
	unsigned int		clock;		/* whose wheel was visited last */
	u64			since;		/* start of the span, monotonic ns */
	u64			refill;		/* earliest start of the next one */
	u64			spent;		/* time spent in this span, ns */
	bool			running;	/* a pass, which sets the hrtimers at its end */
	struct expirer		expirer[TWHEEL_CLOCKS];
};

static DEFINE_PER_CPU(struct expiry_cpu, expiry_cpus);

/*
 * Program an hrtimer of this CPU if it would fire too late.  Without tokens it waits for the next
 * span.  An hrtimer that fires too early stays: one empty interrupt is cheaper than to reprogram it
 * at each cancel.
 */
static void expirer_set(struct expirer *e)
{
	const struct timerqueue_node *first = timerqueue_getnext(&e->wheels);
	const struct expiry_cpu *c = e->cpu;
	u64 next, now;

	lockdep_assert_held(&c->lock);
	if (!first || first->expires >= e->set)
		return;
	next = clock_now(e->clock) + EXPIRY_GAP;
	now = ktime_get_ns();
	if (!c->tokens && c->refill > now)
		next += c->refill - now;
	next = max_t(u64, next, first->expires);
	/* One that has expired is about to fire, and must not be postponed. */
	if (next >= e->set)
		return;
	e->set = next;
	hrtimer_start(&e->hrtimer, ns_to_ktime(next), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Remove a wheel from its queue. */
void expiry_dequeue(struct expiry_entry *entry)
{
	struct expirer *e = entry->expirer;

	lockdep_assert_held(entry->lock);
	if (!e)
		return;
	spin_lock(&e->cpu->lock);
	timerqueue_del(&e->wheels, &entry->node);
	entry->expirer = NULL;
	spin_unlock(&e->cpu->lock);
}

/* Is a wheel queued for no later than a time? */
bool expiry_waits(const struct expiry_entry *entry, u64 expires)
{
	lockdep_assert_held(entry->lock);
	return entry->expirer && entry->node.expires <= expires;
}

/* Have a wheel turned at a time, on this CPU. */
void expiry_queue(struct expiry_entry *entry, enum twheel_clock clock, u64 expires)
{
	struct expirer *e = &this_cpu_ptr(&expiry_cpus)->expirer[clock];

	expiry_dequeue(entry);
	spin_lock(&e->cpu->lock);
	entry->node.expires = expires;
	entry->expirer = e;
	if (timerqueue_add(&e->wheels, &entry->node) && !e->cpu->running)
		expirer_set(e);
	spin_unlock(&e->cpu->lock);
}

/* The wheel to visit next, or NULL. */
static struct expiry_entry *next_due(struct expiry_cpu *c)
{
	lockdep_assert_held(&c->lock);
	for (int i = 0; i < TWHEEL_CLOCKS; i++) {
		struct timerqueue_node *first;

		c->clock = (c->clock + 1) % TWHEEL_CLOCKS;
		first = timerqueue_getnext(&c->expirer[c->clock].wheels);
		if (first && first->expires <= clock_now(c->clock))
			return container_of(first, struct expiry_entry, node);
	}
	return NULL;
}

/* Visit the wheels that are due, while there are tokens. */
static void pass(struct expiry_cpu *c)
	__must_hold(&c->lock)
{
	struct expiry_entry *entry;

	while (c->tokens && (entry = next_due(c))) {
		const struct expirer *e = entry->expirer;
		unsigned int cost = EXPIRY_VISIT;
		bool news = false;

		/* The wheel may be gone before its lock is taken. */
		kref_get(&entry->kref);
		spin_unlock(&c->lock);
		spin_lock(entry->lock);
		if (entry->expirer == e) {
			expiry_dequeue(entry);
			cost += entry->turn(entry, EXPIRY_PER_WHEEL, &news);
		}
		spin_unlock(entry->lock);
		if (news) {
			entry->wake(entry);
			cost += EXPIRY_WAKE;
		}
		kref_put(&entry->kref, entry->free);
		spin_lock(&c->lock);
		c->tokens -= min(c->tokens, cost);
	}
}

static enum hrtimer_restart expirer_fire(struct hrtimer *hrtimer)
{
	struct expirer *e = container_of(hrtimer, struct expirer, hrtimer);
	struct expiry_cpu *c = e->cpu;
	u64 began = ktime_get_ns();

	spin_lock(&c->lock);
	trace_twheel_hrtimer_fire(e->clock, e->set);
	if (!hrtimer_is_queued(hrtimer))
		e->set = KTIME_MAX;

	/* After hotplug two callbacks of a CPU may run at once; the pass sets this hrtimer too. */
	if (c->running)
		goto out;
	c->running = true;
	if (began >= c->refill) {
		c->tokens = WHEEL_STEP;
		c->since = began;
		c->refill = began + EXPIRY_SPAN;
		c->spent = 0;
	}
	pass(c);
	c->spent += ktime_get_ns() - began + EXPIRY_CALL;
	c->refill = max(c->refill, c->since + min_t(u64, EXPIRY_DUTY * c->spent, EXPIRY_SPAN_MAX));
	c->running = false;
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		expirer_set(&c->expirer[i]);
out:
	spin_unlock(&c->lock);
	return HRTIMER_NORESTART;
}

/* Call before the device exists. */
void expiry_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct expiry_cpu *c = &per_cpu(expiry_cpus, cpu);

		spin_lock_init(&c->lock);
		for (int i = 0; i < TWHEEL_CLOCKS; i++) {
			struct expirer *e = &c->expirer[i];

			e->cpu = c;
			e->clock = i;
			e->set = KTIME_MAX;
			timerqueue_init_head(&e->wheels);
			hrtimer_setup(&e->hrtimer, expirer_fire, clock_id(i),
				      HRTIMER_MODE_ABS_PINNED_SOFT);
		}
	}
}

/* Call when all wheels are closed.  Sleeps. */
void expiry_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		for (int i = 0; i < TWHEEL_CLOCKS; i++)
			hrtimer_cancel(&per_cpu(expiry_cpus, cpu).expirer[i].hrtimer);
}
