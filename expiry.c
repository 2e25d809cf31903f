// SPDX-License-Identifier: GPL-2.0
/*
 * Expiry: softirq turns the wheels that are due, within a budget shared by all users of a CPU.
 *
 * What the budget does not cover is left to the users: read() and poll() turn the wheel in
 * their own time.  A thread would compute for one user in the name of another.
 *
 *	CPU: tokens, a span
 *	 +- fresh, visited: users with a due line, by whether they had a visit in this span
 *	 +- expirer, one for each clock: a pinned hrtimer
 *	     +- line: a user's wheels of that clock, by when they want to be turned
 *	         +- entry: a wheel
 *
 * 1. A CPU has WHEEL_STEP tokens for a span of at least EXPIRY_SPAN.  A visit to a wheel costs
 *    EXPIRY_VISIT tokens, a timer one, a wake-up EXPIRY_WAKE.
 * 2. Users without a visit in the span come first, one visit each; the others while more than
 *    EXPIRY_RESERVE tokens are left.  So a user's number of wheels and clocks delays another user
 *    by a few visits only.
 * 3. A span lasts EXPIRY_DUTY times as long as softirq worked in it, at most EXPIRY_SPAN_MAX.  So
 *    expiry takes an eighth of a CPU, however slow that is, and a pass that the host or an
 *    interrupt held up costs other users no more than EXPIRY_SPAN_MAX.
 *
 * Each clock has an hrtimer of its own, so the hrtimer core handles clocks that are set and
 * suspend.  Users who wait for the next span wait by the monotonic hrtimer.  The hrtimers
 * are pinned: the core would move those of idle CPUs to busy ones, and the wheels with them.
 *
 * A wheel waits on the CPU that last queued or turned it.  CPU hotplug needs no code: the
 * hrtimers of a dead CPU move to another one, and the wheels follow when these fire.
 *
 * Locking: the wheel's lock, then the CPU's, then the hrtimer core's.  A pass finds an entry
 * under the CPU's lock, drops that, takes the wheel's lock, which is held for a bounded time, and
 * checks that the entry still waits in the same line.  These are raw locks, so that on PREEMPT_RT
 * no task preempts a holder.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "compat/kernel.h"

#include "expiry.h"
#include "trace.h"
#include "users.h"

/* Tokens for a visit to a wheel, and for a wake-up, in addition to one for each timer. */
#define EXPIRY_VISIT	2U
#define EXPIRY_WAKE	1U

/* Tokens of a span kept for users who have had no visit in it. */
#define EXPIRY_RESERVE	16U

/* Timers in a visit while other users wait; while the same user has another wheel due. */
#define EXPIRY_PER_USER	16U
#define EXPIRY_PER_WHEEL	4U

/* A span lasts at least this many times as long as softirq worked in it. */
#define EXPIRY_DUTY	8U

/* CPU time of an interrupt outside of its callback, ns: 1.6 us on 6.1. */
#define EXPIRY_CALL	2500U

/* The longest span, ns. */
#define EXPIRY_SPAN_MAX	20000000U

struct expiry_cpu;

/**
 * struct expirer - what fires for the wheels of a CPU that have one clock
 * @hrtimer: set for the soonest of @lines; started under the CPU's lock
 * @cpu: the CPU's part; constant
 * @clock: which clock; constant
 * @lines: by the soonest of their wheels; without those that are due; the CPU's lock
 * @set: what @hrtimer is set to, KTIME_MAX: it is not; the CPU's lock
 * @ahead: what @clock was ahead of CLOCK_MONOTONIC at that moment, ns; the CPU's lock
 */
struct expirer {
	struct hrtimer		hrtimer;
	struct expiry_cpu	*cpu;
	enum twheel_clock	clock;
	struct timerqueue_head	lines;
	u64			set;
	s64			ahead;
};

/**
 * struct expiry_cpu - what a CPU may do for wheels
 * @lock: protects all of it, and the lines of the CPU
 * @fresh: users with a due line and no visit in this span
 * @visited: users with a due line who had a visit in this span
 * @tokens: left in this span
 * @span: number of the span
 * @since: start of the span, monotonic ns
 * @refill: earliest start of the next span, monotonic ns
 * @spent: time spent in this span, ns
 * @running: a pass runs, and sets the hrtimers at its end
 * @again: its clock was set back, and the monotonic hrtimer starts it; or NULL
 * @expirer: one for each clock
 */
struct expiry_cpu {
	raw_spinlock_t		lock;		/* all fields, and the lines of the CPU */
	struct list_head	fresh;
	struct list_head	visited;
	unsigned int		tokens;
	unsigned long		span;
	u64			since;
	u64			refill;
	u64			spent;
	bool			running;
	struct expirer		*again;
	struct expirer		expirer[TWHEEL_CLOCKS];
};

static DEFINE_PER_CPU(struct expiry_cpu, expiry_cpus);

/*
 * Return the time to program, or KTIME_MAX if the hrtimer already fires early enough.  Without
 * tokens it waits for the next span.  An hrtimer that fires too early stays: one empty interrupt
 * is cheaper than to reprogram it at each cancel.  One that has expired is about to fire, and must
 * not be postponed, unless its clock was set since: the core may notice that a jiffy later.
 */
static u64 expirer_next(struct expirer *e)
{
	const struct timerqueue_node *first = timerqueue_getnext(&e->lines);
	u64 set = e->ahead == clock_ahead(e->clock) ? e->set : KTIME_MAX;
	u64 next = first ? first->expires : KTIME_MAX, earliest, now;
	const struct expiry_cpu *c = e->cpu;

	lockdep_assert_held(&c->lock);
	/* By this clock users wait for the next span, and an hrtimer whose clock was set back. */
	if (e->clock == TWHEEL_MONOTONIC) {
		if (c->again)
			next = 0;
		else if (!list_empty(&c->fresh) || !list_empty(&c->visited))
			next = min(next, c->refill);
	}
	if (next >= set)
		return KTIME_MAX;
	earliest = clock_now(e->clock) + EXPIRY_GAP;
	now = ktime_get_ns();
	if (!c->tokens && c->refill > now)
		earliest += c->refill - now;
	next = max(next, earliest);
	return next < set ? next : KTIME_MAX;
}

/* Program an hrtimer of this CPU if it would fire too late. */
static void expirer_set(struct expirer *e)
{
	u64 next = expirer_next(e);

	if (next == KTIME_MAX)
		return;
	e->set = next;
	e->ahead = clock_ahead(e->clock);
	trace_twheel_hrtimer_start(e->clock, next);
	hrtimer_start(&e->hrtimer, ns_to_ktime(next), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * The first wheel of a line that is not due has changed.  The hrtimer stays: the line's new time
 * is later, and the caller may run on another CPU, to which a pinned hrtimer would move.
 */
static void line_requeue(struct expiry_line *line)
{
	struct expirer *e = line->expirer;
	const struct timerqueue_node *first = timerqueue_getnext(&line->wheels);

	lockdep_assert_held(&e->cpu->lock);
	if (!RB_EMPTY_NODE(&line->node.node))
		timerqueue_del(&e->lines, &line->node);
	if (!first)
		return;
	line->node.expires = first->expires;
	timerqueue_add(&e->lines, &line->node);
}

/* Has the user a due line of another clock? */
static bool others_due(const struct expiry_share *share, const struct expiry_line *line)
{
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		if (share->line[i].due && &share->line[i] != line)
			return true;
	return false;
}

/* A line is not due any more.  A user without a due line waits for no visit. */
static void line_not_due(struct expiry_line *line)
{
	line->due = false;
	if (!others_due(line->share, line))
		list_del_init(&line->share->list);
}

/* The first wheel of a line has changed, or is gone. */
static void line_changed(struct expiry_line *line)
{
	if (!line->due)
		line_requeue(line);
	else if (!timerqueue_getnext(&line->wheels))
		line_not_due(line);
}

/**
 * expiry_dequeue() - remove a wheel from its line
 * @entry: of the wheel; in a line, or in none
 *
 * Context: the wheel's lock is held, and softirqs are disabled unless on PREEMPT_RT.
 */
static void expiry_dequeue(struct expiry_entry *entry)
{
	struct expiry_line *line = entry->line;
	struct expiry_cpu *c;
	bool first;

	lockdep_assert_held(entry->lock);
	if (!line)
		return;
	c = line->expirer->cpu;
	raw_spin_lock(&c->lock);
	first = timerqueue_getnext(&line->wheels) == &entry->node;
	timerqueue_del(&line->wheels, &entry->node);
	entry->line = NULL;
	if (first)
		line_changed(line);
	raw_spin_unlock(&c->lock);
}

/**
 * expiry_waits() - is a wheel queued by a clock, for no later than a time?
 * @entry: of the wheel; in a line, or in none
 * @clock: of @expires
 * @expires: by the host's @clock, ns
 *
 * Being queued by another clock does not count: that clock may be set, or stop in suspend.
 *
 * Return: true or false.
 *
 * Context: the wheel's lock is held.
 */
static bool expiry_waits(const struct expiry_entry *entry, enum twheel_clock clock, u64 expires)
{
	lockdep_assert_held(entry->lock);
	return entry->line && entry->line->expirer->clock == clock && entry->expires <= expires;
}

/**
 * expiry_queue() - have a wheel turned at a time, on this CPU
 * @entry: of the wheel; in a line, or in none
 * @user: the wheel's; has shares
 * @clock: the wheel's, or CLOCK_MONOTONIC to be independent of a clock that may be set
 * @expires: by the host's @clock, ns; a time that has passed means as soon as possible
 *
 * Context: the wheel's lock is held, and softirqs are disabled unless on PREEMPT_RT.
 */
static void expiry_queue(struct expiry_entry *entry, const struct twheel_user *user,
			 enum twheel_clock clock, u64 expires)
{
	struct expiry_line *line = &this_cpu_ptr(user->shares)->line[clock];
	struct expiry_cpu *c = line->expirer->cpu;

	expiry_dequeue(entry);
	raw_spin_lock(&c->lock);
	entry->expires = expires;
	entry->node.expires = expires;
	entry->line = line;
	if (timerqueue_add(&line->wheels, &entry->node)) {
		line_changed(line);
		if (!c->running)
			expirer_set(line->expirer);
	}
	raw_spin_unlock(&c->lock);
}

/* Begin a new span if the last one is over. */
static void refill(struct expiry_cpu *c, u64 now)
{
	lockdep_assert_held(&c->lock);
	if (now < c->refill)
		return;
	c->tokens = WHEEL_STEP;
	c->span++;
	c->since = now;
	c->refill = now + EXPIRY_SPAN;
	c->spent = 0;
	list_splice_tail_init(&c->visited, &c->fresh);
}

/* Mark the lines that are due by a clock; no more than a span can visit. */
static void collect(struct expiry_cpu *c, struct expirer *e)
{
	u64 now;

	lockdep_assert_held(&c->lock);
	if (!timerqueue_getnext(&e->lines))
		return;
	now = clock_now(e->clock);
	for (unsigned int i = 0; i < WHEEL_STEP; i++) {
		struct timerqueue_node *node = timerqueue_getnext(&e->lines);
		struct expiry_line *line;

		if (!node || node->expires > now)
			break;
		timerqueue_del(&e->lines, node);
		line = container_of(node, struct expiry_line, node);
		line->due = true;
		if (list_empty(&line->share->list))
			list_add_tail(&line->share->list,
				      line->share->span == c->span ? &c->visited : &c->fresh);
	}
}

/* The user to visit next, or NULL. */
static struct expiry_share *next_share(struct expiry_cpu *c)
{
	lockdep_assert_held(&c->lock);
	if (c->tokens && !list_empty(&c->fresh))
		return list_first_entry(&c->fresh, struct expiry_share, list);
	if (c->tokens > EXPIRY_RESERVE + EXPIRY_VISIT && !list_empty(&c->visited))
		return list_first_entry(&c->visited, struct expiry_share, list);
	return NULL;
}

/* The next due line of a user, round robin over the clocks. */
static struct expiry_line *rotate_line(struct expiry_share *share)
{
	do {
		share->clock = (share->clock + 1) % TWHEEL_CLOCKS;
	} while (!share->line[share->clock].due);
	return &share->line[share->clock];
}

/*
 * Turn a wheel, if it still waits in the line.  Return the tokens spent.  If it does not, the line
 * may be freed, so it is only compared.
 */
static unsigned int visit(const struct expiry_line *line, struct expiry_entry *entry,
			  unsigned int budget)
{
	unsigned int cost = EXPIRY_VISIT;
	bool news = false;

	raw_spin_lock(entry->lock);
	if (entry->line == line) {
		expiry_dequeue(entry);
		cost += entry->turn(entry, budget, &news);
	}
	raw_spin_unlock(entry->lock);
	if (news) {
		entry->wake(entry);
		cost += EXPIRY_WAKE;
	}
	return cost;
}

/* How many timers a visit to the first wheel of a line may handle. */
static unsigned int visit_budget(const struct expiry_cpu *c, struct expiry_line *line, u64 now)
{
	struct timerqueue_node *second = timerqueue_iterate_next(timerqueue_getnext(&line->wheels));
	/* A user who becomes due late in the span can still use the reserve. */
	unsigned int left = c->tokens - min(c->tokens, EXPIRY_VISIT + EXPIRY_RESERVE);
	unsigned int budget = EXPIRY_PER_WHEEL;

	if ((!second || second->expires > now) && !others_due(line->share, line)) {
		budget = EXPIRY_PER_USER;
		if (list_empty(&c->fresh) && list_is_singular(&c->visited))
			budget = WHEEL_STEP;
	}
	return max(min(budget, left), 1U);
}

/* Visit the wheels that are due, while there are tokens. */
static void pass(struct expiry_cpu *c)
	__must_hold(&c->lock)
{
	struct expiry_share *share;

	lockdep_assert_held(&c->lock);
	while ((share = next_share(c))) {
		struct expiry_line *line = rotate_line(share);
		struct timerqueue_node *first = timerqueue_getnext(&line->wheels);
		u64 now = clock_now(line->expirer->clock);
		unsigned int budget, cost = 1;
		struct expiry_entry *entry;

		if (first->expires > now) {
			line_not_due(line);
			line_requeue(line);
		} else {
			share->span = c->span;
			list_move_tail(&share->list, &c->visited);
			budget = visit_budget(c, line, now);
			entry = container_of(first, struct expiry_entry, node);
			/* The wheel, and its user, may be gone before its lock is taken. */
			kref_get(&entry->kref);
			raw_spin_unlock(&c->lock);
			cost = visit(line, entry, budget);
			kref_put(&entry->kref, entry->free);
			raw_spin_lock(&c->lock);
		}
		c->tokens -= min(c->tokens, cost);
	}
}

static enum hrtimer_restart expirer_fire(struct hrtimer *hrtimer)
{
	struct expirer *e = container_of(hrtimer, struct expirer, hrtimer);
	struct expiry_cpu *c = e->cpu;
	u64 began = ktime_get_ns();
	bool set_back = false;
	unsigned int tokens;

	raw_spin_lock(&c->lock);
	trace_twheel_hrtimer_fire(e->clock, e->set);
	if (!hrtimer_is_queued(hrtimer)) {
		set_back = clock_now(e->clock) < e->set && clock_settable(e->clock);
		e->set = KTIME_MAX;
	}
	/* After hotplug two callbacks of a CPU may run at once; the pass sets this hrtimer too. */
	if (c->running)
		goto out;
	c->running = true;
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		collect(c, &c->expirer[i]);
	/* Users who had no visit in the last span come before those who had. */
	refill(c, began);
	tokens = c->tokens;
	pass(c);
	/* Without a visit there is nothing to charge a span with. */
	if (c->tokens != tokens) {
		c->spent += ktime_get_ns() - began + EXPIRY_CALL;
		c->refill = max(c->refill, c->since + min_t(u64, EXPIRY_DUTY * c->spent,
							    EXPIRY_SPAN_MAX));
	}
	c->running = false;
	/*
	 * Called before its time, because the clock was set back: the core still goes by the
	 * earlier reading, and would call an hrtimer that is started here in a loop.  The
	 * monotonic one fires at once and starts it when the core knows the new time.
	 */
	c->again = set_back ? e : NULL;
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		if (&c->expirer[i] != c->again)
			expirer_set(&c->expirer[i]);
out:
	raw_spin_unlock(&c->lock);
	return HRTIMER_NORESTART;
}

/**
 * expiry_shares_alloc() - allocate a user's share of each CPU
 *
 * Return: shares, for free_percpu() once no wheel of the user is queued; or NULL.  Sleeps.
 */
static struct expiry_share __percpu *expiry_shares_alloc(void)
{
	/* The percpu allocator ignores __GFP_RETRY_MAYFAIL for its pages, but not __GFP_NORETRY. */
	struct expiry_share __percpu *shares =
		alloc_percpu_gfp(struct expiry_share, GFP_CHARGED | __GFP_NORETRY);
	int cpu;

	if (!shares)
		return NULL;
	for_each_possible_cpu(cpu) {
		struct expiry_share *share = per_cpu_ptr(shares, cpu);

		INIT_LIST_HEAD(&share->list);
		for (int i = 0; i < TWHEEL_CLOCKS; i++) {
			struct expiry_line *line = &share->line[i];

			line->expirer = &per_cpu(expiry_cpus, cpu).expirer[i];
			line->share = share;
			timerqueue_init(&line->node);
			timerqueue_init_head(&line->wheels);
		}
	}
	return shares;
}

/* Call before the device exists. */
static void expiry_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct expiry_cpu *c = &per_cpu(expiry_cpus, cpu);

		raw_spin_lock_init(&c->lock);
		INIT_LIST_HEAD(&c->fresh);
		INIT_LIST_HEAD(&c->visited);
		for (int i = 0; i < TWHEEL_CLOCKS; i++) {
			struct expirer *e = &c->expirer[i];

			e->cpu = c;
			e->clock = i;
			e->set = KTIME_MAX;
			timerqueue_init_head(&e->lines);
			hrtimer_setup(&e->hrtimer, expirer_fire, clock_ids[i],
				      HRTIMER_MODE_ABS_PINNED_SOFT);
		}
	}
}

/* Call when all wheels are closed.  Sleeps. */
static void expiry_exit(void)
{
	int cpu;

	/* Other clocks' callbacks may start the monotonic hrtimer, so it is cancelled last. */
	static_assert(TWHEEL_MONOTONIC == 0);
	for_each_possible_cpu(cpu)
		for (int i = TWHEEL_CLOCKS - 1; i >= 0; i--)
			hrtimer_cancel(&per_cpu(expiry_cpus, cpu).expirer[i].hrtimer);
}
