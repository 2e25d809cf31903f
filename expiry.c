// SPDX-License-Identifier: GPL-2.0
/*
 * Expiry: whose time it takes to turn wheels.
 *
 * To find out what is due is work that nobody has asked for at that moment, in softirq
 * context, where it delays everybody else on the CPU.  So it is rationed, by CPU and
 * then by user, and what the ration does not cover is left to the owners' own calls:
 * a read or a poll turns its wheel for as long as it takes, in its own time.  There is
 * no thread, which would compute for one user in the name of another, and for which
 * close() would have to wait.
 *
 *	expirer (one for each CPU and clock: a pinned hrtimer, and a queue of lines)
 *	   line (a user's wheels of that clock on that CPU, by when they want to be turned)
 *	      entry (a wheel)
 *
 * A CPU has WHEEL_STEP tokens for a span of EXPIRY_SPAN.  A timer costs one, and so
 * does an event posted to a ring; a visit costs two more, because a wheel with nothing
 * to do costs time as well.  A user with a line that is due is fresh if none of their
 * wheels was visited in this span, and the user owes nothing for wake-ups (see below).  Fresh
 * users come first, each in their turn; the others get visits while more than EXPIRY_RESERVE
 * tokens are left, which are for users who come later in the span.  However many wheels a user
 * has, and of however many clocks, they delay another user's by a few visits.
 *
 * On a slow CPU tokens say too little about time, so a span lasts at least EXPIRY_DUTY
 * times as long as was spent in it, and EXPIRY_SPAN_MAX at the most.  So softirq takes
 * an eighth of a CPU, as long as tokens take no longer than TOKEN_QUEUED tells.  The one
 * thing that may take longer is to wake who waits: thousands of epolls may watch a wheel,
 * and no token tells of that, nor is it spent of the span, which is everybody's.  So each user
 * pays for wake-ups by time, comes behind those who owe nothing, and after EXPIRY_CREDIT
 * of them rests, until EXPIRY_DUTY times as long has passed.  To close all wheels changes
 * nothing: who owes is remembered (users.c).
 *
 * Each clock has an hrtimer of its own, so that the hrtimer core sees to clocks that
 * are set and to suspend.  Users who wait for the next span are no longer a matter of
 * a clock: the monotonic hrtimer is set for them.  The hrtimers are pinned, or the core
 * would move those of idle CPUs to busy ones, and the wheels with them.
 *
 * A wheel waits on the CPU from which it was last wanted earlier than before, or was
 * turned.  So nothing has to be done when a CPU goes away: its hrtimers go to another
 * one, and the wheels follow when these fire.
 *
 * Locks: the wheel's, then the CPU's, then the hrtimer core's.  Softirq gets to know a
 * wheel by the CPU's lock, and drops that to take the wheel's.  The wheel's may be taken.
 * Softirq does not wait for it, because all that softirq does on this CPU would wait, too, for
 * as long as interrupts or a host keep the holder from going on.  It leaves a mark: who holds the
 * lock turns the wheel before giving it back.  If the mark comes a moment too late for that,
 * softirq comes again in the next span.  All of these are raw locks, so that no task of
 * PREEMPT_RT's keeps a holder from going on.  What is left there is the lock of a wait queue, and
 * those of the epolls in it: whatever wakes from softirq waits for these.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>

#include "compat/kernel.h"

#include "expiry.h"
#include "trace.h"
#include "users.h"

/* What a visit to a wheel costs beside its timers. */
#define EXPIRY_VISIT	2U

/* Tokens of a span that are left for users who have had no visit in it. */
#define EXPIRY_RESERVE	16U

/* Timers in a visit, if other users wait; if the same user has other wheels waiting. */
#define EXPIRY_SHARE	16U
#define EXPIRY_TURN	4U

/* A span lasts at least this many times the time that was spent in it. */
#define EXPIRY_DUTY	8U

/*
 * An interrupt takes more than the callback sees: the way in, softirq, the way out, and to set
 * the hrtimer again: 1.6 us on one machine, and thirty times that in a guest that is emulated
 * there.  So it is measured, but only once, when the module is loaded: whoever holds interrupts
 * off, or chooses when one comes, could make it as long as they like, and spans with it.
 */
static unsigned int call_ns;
module_param(call_ns, uint, 0444);
MODULE_PARM_DESC(call_ns,
		 "What an interrupt of an hrtimer takes, ns, 2500 to 300000 (0: measured at load)");

/* What it takes at least, and at most: what is later than that was held up. ns. */
#define CALL_MIN	2500U
#define CALL_MAX	300000U

/* So many shots measure it, each so far ahead. ns. */
#define CALL_SHOTS	32
#define CALL_AHEAD	50000U

/*
 * What a callback is late by is the first part of an interrupt.  All of it takes 14 quarters of
 * that, by counted instructions.
 */
#define CALL_QUARTERS	14U

/* So many looks whether one has come; so many that do not come are too many. */
#define CALL_LOOKS	BIT(22)
#define CALL_MISSED	4

/*
 * What a token takes at most is so many times what it takes to read the clock, put an entry into a
 * queue and take it out again.  That is measured when the module is loaded, too.  Whatever takes
 * longer is not counted, because softirq was held up then: by a host, or by interrupts, and
 * whoever has these come in the middle of a pass would make spans as long as they like.
 */
#define TOKEN_QUEUED	16U
/* But no less than this, which a timer takes if nothing of it is in a cache. ns. */
#define TOKEN_MIN	1000U
/* Measured by so many entries, in so many tries. */
#define QUEUE_NODES	32
#define QUEUE_TRIES	32
static u64 token_ns;

/* The longest span, however long interrupts and tokens take. ns. */
#define EXPIRY_SPAN_MAX	20000000U

/*
 * What a user may owe for wake-ups before the user's wheels rest, so that nobody rests because
 * a host has taken the CPU away in the middle of one. ns.
 */
#define EXPIRY_CREDIT	(50000000ULL * EXPIRY_DUTY)

/*
 * No wake-up is charged for longer than this, which takes ten million watchers: a machine has
 * stood still in the middle of it, and its user is not to wait for that eight times over. ns.
 */
#define EXPIRY_WAKE_MAX	2000000000ULL

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
 * @fresh: users with a line that is due who had no visit in this span
 * @visited: those who had one, or owe something for wake-ups
 * @resting: those who have to pay for wake-ups first
 * @rest_end: when the first of them may have a visit, monotonic ns; KTIME_MAX: there are none
 * @skipped: wheels of which somebody held the lock, until the next span
 * @tokens: that are left in this span
 * @span: number of the span
 * @since: when it began, monotonic ns
 * @refill: when the next one may begin
 * @spent: time spent in this span, but for wake-ups, ns
 * @running: somebody is in a pass, and sets the hrtimers at its end
 * @expirer: one for each clock
 */
struct expiry_cpu {
	raw_spinlock_t		lock;		/* see above */
	struct list_head	fresh;
	struct list_head	visited;
	struct list_head	resting;
	u64			rest_end;
	struct list_head	skipped;
	unsigned int		tokens;
	unsigned long		span;
	u64			since;
	u64			refill;
	u64			spent;
	bool			running;
	struct expirer		expirer[TWHEEL_CLOCKS];
};

static DEFINE_PER_CPU(struct expiry_cpu, expiry_cpus);

/*
 * A clock for what softirq does, ns.  On PREEMPT_RT tasks of a higher priority may run in the
 * middle of that, perhaps the one that is woken: the clock stands still until this task has the
 * CPU again, where the kernel counts that.  It goes on in a wait for a lock.  The scheduler
 * counts by the same clock, which nobody slews.
 */
static u64 time_of_own(void)
{
	u64 now = local_clock();

#ifdef CONFIG_SCHED_INFO
	now -= current->sched_info.run_delay;
#endif
	return now;
}

/* Time since then: never less than none, though the scheduler reads the clock when it likes. */
static u64 own_since(u64 start)
{
	return max_t(s64, time_of_own() - start, 0);
}

/* Are there users, or wheels, that have to wait for the next span? */
static bool has_backlog(const struct expiry_cpu *c)
{
	lockdep_assert_held(&c->lock);
	return !list_empty(&c->fresh) || !list_empty(&c->visited) || !list_empty(&c->skipped);
}

/* When the next span may begin, by a clock; not before now. */
static u64 next_span(const struct expiry_cpu *c, enum twheel_clock clock)
{
	u64 now = ktime_get_ns();

	return clock_now(clock) + (c->refill > now ? c->refill - now : 0);
}

/*
 * What the hrtimer has to be set to, or KTIME_MAX, if it fires no later as it is.  Without
 * tokens nobody is visited, so that it does not fire until there are some.  One that
 * is set too soon is left alone: it fires once for nothing, and that is cheaper than to set
 * it again each time that a wheel needs it no more.  One whose time has passed is about to
 * fire, and whoever queues wheels until then must not put it off.  But if its clock has been
 * set since, the hrtimer core may take until the next jiffy to notice: do not rely on it.
 */
static u64 expirer_next(struct expirer *e)
{
	const struct timerqueue_node *first = timerqueue_getnext(&e->lines);
	u64 set = e->ahead == clock_ahead(e->clock) ? e->set : KTIME_MAX;
	u64 next = first ? first->expires : KTIME_MAX;

	lockdep_assert_held(&e->cpu->lock);
	if (e->clock == TWHEEL_MONOTONIC)
		next = min(next, max(has_backlog(e->cpu) ? 0 : e->cpu->rest_end,
				     e->cpu->refill));
	if (next >= set)
		return KTIME_MAX;
	next = max(next, clock_now(e->clock) + EXPIRY_GAP);
	if (!e->cpu->tokens)
		next = max(next, next_span(e->cpu, e->clock));
	return next < set ? next : KTIME_MAX;
}

/* Set an hrtimer of this CPU. */
static void expirer_start(struct expirer *e, u64 next)
{
	lockdep_assert_held(&e->cpu->lock);
	e->set = next;
	e->ahead = clock_ahead(e->clock);
	trace_twheel_hrtimer_start(e->clock, next);
	hrtimer_start(&e->hrtimer, ns_to_ktime(next), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* The same, if need be. */
static void expirer_set(struct expirer *e)
{
	u64 next = expirer_next(e);

	if (next != KTIME_MAX)
		expirer_start(e, next);
}

/*
 * The soonest wheel of a line that is not due has changed, or is gone.  No hrtimer is set
 * for that, because what is there now comes later, and whoever takes a wheel away may be on
 * another CPU, to which a pinned hrtimer would go.
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

/* A line is not due any more; if its user has no other that is, they wait for no turn. */
static void line_not_due(struct expiry_line *line)
{
	struct expiry_share *share = line->share;
	bool due = false;

	line->due = false;
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		due |= share->line[i].due;
	if (!due)
		list_del_init(&share->list);
}

/* The soonest wheel of any line has changed, or is gone. */
static void line_changed(struct expiry_line *line)
{
	if (!line->due)
		line_requeue(line);
	else if (!timerqueue_getnext(&line->wheels))
		line_not_due(line);
}

/**
 * expiry_dequeue() - let a wheel wait no more
 * @entry: the wheel's; in a line, or in none
 *
 * Context: the wheel's lock is held, and softirqs are disabled unless on PREEMPT_RT.
 */
TWHEEL_PART void expiry_dequeue(struct expiry_entry *entry)
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
	if (list_empty(&entry->skipped))
		timerqueue_del(&line->wheels, &entry->node);
	else
		list_del_init(&entry->skipped);
	WRITE_ONCE(entry->line, NULL);
	if (first)
		line_changed(line);
	raw_spin_unlock(&c->lock);
}

/**
 * expiry_waits() - does a wheel wait already, by that clock, and no longer than that?
 * @entry: the wheel's; in a line, or in none
 * @clock: of @expires
 * @expires: a time, by the host's @clock
 *
 * What waits by another clock does not count, even if its time comes sooner as the clocks are now:
 * once one of them is set, or the machine has slept, it may come later.
 *
 * Return: true or false.
 *
 * Context: the wheel's lock is held.
 */
TWHEEL_PART bool expiry_waits(const struct expiry_entry *entry, enum twheel_clock clock,
			      u64 expires)
{
	lockdep_assert_held(entry->lock);
	return entry->line && entry->line->expirer->clock == clock && entry->expires <= expires;
}

/**
 * expiry_due() - has the time come that a wheel waits for?
 * @entry: the wheel's; in a line, or in none
 *
 * Return: true: softirq is about to turn it; false.
 *
 * Context: the wheel's lock is held.
 */
TWHEEL_PART bool expiry_due(const struct expiry_entry *entry)
{
	lockdep_assert_held(entry->lock);
	return entry->line && entry->expires <= clock_now(entry->line->expirer->clock);
}

/**
 * expiry_queue() - have a wheel turned at a time
 * @entry: the wheel's; in a line, or in none
 * @user: whose wheel it is; has shares
 * @clock: the wheel's, or CLOCK_MONOTONIC for what no set clock is to put off
 * @expires: when, by the host's @clock; what has passed is as soon as possible
 *
 * The wheel waits on this CPU from now on.
 *
 * Context: the wheel's lock is held, and softirqs are disabled unless on PREEMPT_RT.
 */
TWHEEL_PART void expiry_queue(struct expiry_entry *entry, const struct twheel_user *user,
			      enum twheel_clock clock, u64 expires)
{
	struct expiry_line *line = &this_cpu_ptr(user->shares)->line[clock];
	struct expiry_cpu *c = line->expirer->cpu;

	expiry_dequeue(entry);
	raw_spin_lock(&c->lock);
	entry->expires = expires;
	entry->node.expires = expires;
	WRITE_ONCE(entry->line, line);
	if (timerqueue_add(&line->wheels, &entry->node)) {
		line_changed(line);
		if (!c->running)
			expirer_set(line->expirer);
	}
	raw_spin_unlock(&c->lock);
}

/* Has a user to pay for wake-ups still? */
static bool owes(const struct expiry_share *share, u64 now)
{
	return share->paid > now;
}

/* When a user's rest ends, which may be now. */
static u64 rests_until(const struct expiry_share *share)
{
	return share->paid - min(share->paid, EXPIRY_CREDIT);
}

/* Those who have rested enough may have visits again, behind who owes nothing. */
static void end_rests(struct expiry_cpu *c, u64 now)
{
	struct expiry_share *share, *next;

	lockdep_assert_held(&c->lock);
	c->rest_end = KTIME_MAX;
	/* There are few: each of them has just woken for EXPIRY_CREDIT / EXPIRY_DUTY or more. */
	list_for_each_entry_safe(share, next, &c->resting, list) {
		if (rests_until(share) <= now)
			list_move_tail(&share->list, &c->visited);
		else
			c->rest_end = min(c->rest_end, rests_until(share));
	}
}

/* Wheels of which somebody held the lock wait in their lines again. */
static void end_skips(struct expiry_cpu *c)
{
	struct expiry_entry *entry, *next;

	lockdep_assert_held(&c->lock);
	/* There are few: a span has tokens for so many visits. */
	list_for_each_entry_safe(entry, next, &c->skipped, skipped) {
		list_del_init(&entry->skipped);
		if (timerqueue_add(&entry->line->wheels, &entry->node))
			line_changed(entry->line);
	}
}

/* A new span, if it is time for one. */
static void refill(struct expiry_cpu *c, u64 now)
{
	struct expiry_share *share, *next;

	lockdep_assert_held(&c->lock);
	if (now < c->refill)
		return;
	c->tokens = WHEEL_STEP;
	c->span++;
	c->since = now;
	c->refill = now + EXPIRY_SPAN;
	c->spent = 0;
	list_for_each_entry_safe(share, next, &c->visited, list)
		if (!owes(share, now))
			list_move_tail(&share->list, &c->fresh);
	if (now >= c->rest_end)
		end_rests(c, now);
	end_skips(c);
}

/*
 * Collect the lines that are due by a clock; no more than a span can visit.  Returns whether there
 * was one that was not collected in this span before.
 */
static bool collect(struct expiry_cpu *c, struct expirer *e, u64 start)
{
	struct timerqueue_node *node;
	bool found = false;
	u64 now;

	lockdep_assert_held(&c->lock);
	if (!timerqueue_getnext(&e->lines))
		return false;
	now = clock_now(e->clock);
	for (unsigned int i = 0; i < WHEEL_STEP; i++) {
		struct expiry_line *line;

		node = timerqueue_getnext(&e->lines);
		if (!node || node->expires > now)
			break;
		timerqueue_del(&e->lines, node);
		line = container_of(node, struct expiry_line, node);
		line->due = true;
		found |= line->collected != c->span;
		line->collected = c->span;
		if (list_empty(&line->share->list))
			list_add_tail(&line->share->list,
				      line->share->span == c->span ||
				      owes(line->share, start) ? &c->visited : &c->fresh);
	}
	return found;
}

/* Whose turn it is, or NULL. */
static struct expiry_share *next_share(struct expiry_cpu *c)
{
	lockdep_assert_held(&c->lock);
	if (c->tokens && !list_empty(&c->fresh))
		return list_first_entry(&c->fresh, struct expiry_share, list);
	if (c->tokens > EXPIRY_RESERVE + EXPIRY_VISIT && !list_empty(&c->visited))
		return list_first_entry(&c->visited, struct expiry_share, list);
	return NULL;
}

/* The next line of a user that is due, from the clock behind the one visited last. */
static struct expiry_line *next_line(struct expiry_share *share)
{
	do {
		share->turn = (share->turn + 1) % TWHEEL_CLOCKS;
	} while (!share->line[share->turn].due);
	return &share->line[share->turn];
}

/*
 * Somebody works on a wheel at this moment, and is to turn it.  If not, it is looked after in the
 * next span, which no clock that is set puts off.
 */
static void skip(struct expiry_cpu *c, struct expiry_line *line, struct expiry_entry *entry)
{
	lockdep_assert_held(&c->lock);
	/* If it waits elsewhere by now, the line may be gone. */
	if (READ_ONCE(entry->line) != line)
		return;
	WRITE_ONCE(entry->missed, true);
	timerqueue_del(&line->wheels, &entry->node);
	list_add_tail(&entry->skipped, &c->skipped);
	/* Whoever holds the wheel's lock may have put it here anew, into a line that is not due. */
	line_changed(line);
}

/*
 * Turn a wheel, if it still waits in the line when its lock is held.  Returns how many
 * timers and events that were, and sets @woken to the time it took to wake who waits, with the
 * wait for the wait queue's lock, which is in the user's hands.
 */
static unsigned int visit(struct expiry_line *line, struct expiry_entry *entry,
			  unsigned int budget, u64 *woken)
	__releases(entry->lock)
{
	unsigned int done = 0;
	bool news = false;
	u64 start;

	lockdep_assert_held(entry->lock);
	WRITE_ONCE(entry->missed, false);
	if (entry->line == line) {
		expiry_dequeue(entry);
		done = entry->turn(entry, budget, &news);
	}
	raw_spin_unlock(entry->lock);
	if (news) {
		start = time_of_own();
		entry->wake(entry);
		*woken = own_since(start);
	}
	return done;
}

/* Does the same user have wheels of other clocks that are due? */
static bool others_due(const struct expiry_share *share, const struct expiry_line *line)
{
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		if (share->line[i].due && &share->line[i] != line)
			return true;
	return false;
}

/* A user has woken who waits: that has to be paid for. */
static void pay(struct expiry_share *share, u64 now, u64 woken)
{
	share->paid = max(share->paid, now) + EXPIRY_DUTY * min(woken, EXPIRY_WAKE_MAX);
}

/*
 * How long a pass has taken that began then, with so many tokens, ns.  What is longer than its
 * tokens can take has held it up, and does not count.
 */
static u64 pass_took(const struct expiry_cpu *c, u64 began, unsigned int tokens)
{
	lockdep_assert_held(&c->lock);
	return min(own_since(began), token_ns * (tokens - c->tokens));
}

/* Does a user have to rest?  Then the user's wheels wait for the end of it. */
static bool has_to_rest(struct expiry_cpu *c, struct expiry_share *share, u64 now)
{
	lockdep_assert_held(&c->lock);
	if (rests_until(share) <= now)
		return false;
	list_move_tail(&share->list, &c->resting);
	c->rest_end = min(c->rest_end, rests_until(share));
	return true;
}

/*
 * Visit the wheels that are due, as far as the tokens reach.  Each user pays for wake-ups, and they
 * make no span longer for others.  A pass ends when its wake-ups have taken as long as a span,
 * because wheels that have come due meanwhile are collected by the next one only, and their users
 * come first then.  Returns @began, when softirq began by its own clock, later by the wake-ups.
 */
static u64 pass(struct expiry_cpu *c, u64 start, u64 began)
	__must_hold(&c->lock)
{
	u64 collected = began + EXPIRY_SPAN;
	struct expiry_share *share;

	lockdep_assert_held(&c->lock);
	while (began < collected && (share = next_share(c))) {
		struct expiry_line *line = next_line(share);
		struct timerqueue_node *first = timerqueue_getnext(&line->wheels), *second;
		u64 now = clock_now(line->expirer->clock), woken = 0;
		unsigned int budget = EXPIRY_TURN, cost = EXPIRY_VISIT, left;
		struct expiry_entry *entry;

		if (has_to_rest(c, share, start))
			continue;
		if (first->expires > now) {
			line_not_due(line);
			line_requeue(line);
			c->tokens--;
			continue;
		}
		share->span = c->span;
		list_move_tail(&share->list, &c->visited);
		left = c->tokens - min(c->tokens, cost);
		second = timerqueue_iterate_next(first);
		if ((!second || second->expires > now) && !others_due(share, line)) {
			bool alone = list_empty(&c->fresh) && list_is_singular(&c->visited);

			budget = alone ? WHEEL_STEP : EXPIRY_SHARE;
			/* Somebody may come yet; who comes so late has what was left for that. */
			if (alone && left > EXPIRY_RESERVE)
				left -= EXPIRY_RESERVE;
		}
		budget = max(min(budget, left), 1U);
		entry = container_of(first, struct expiry_entry, node);
		share->visited = true;
		/* The wheel may be closed before its lock is taken. */
		kref_get(&entry->kref);
		raw_spin_unlock(&c->lock);
		if (raw_spin_trylock(entry->lock)) {
			cost += visit(line, entry, budget, &woken);
		} else {
			raw_spin_lock(&c->lock);
			skip(c, line, entry);
			raw_spin_unlock(&c->lock);
		}
		kref_put(&entry->kref, entry->free);
		raw_spin_lock(&c->lock);
		share->visited = false;
		if (woken)
			pay(share, ktime_get_ns(), woken);
		began += woken;
		c->tokens -= min(c->tokens, cost);
	}
	return began;
}

static enum hrtimer_restart expirer_fire(struct hrtimer *hrtimer)
{
	struct expirer *e = container_of(hrtimer, struct expirer, hrtimer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	struct expiry_cpu *c = e->cpu;
	u64 start = ktime_get_ns(), began = time_of_own(), next;
	unsigned int tokens;
	bool set_back = false, due = false;

	raw_spin_lock(&c->lock);
	trace_twheel_hrtimer_fire(e->clock, e->set);
	if (!hrtimer_is_queued(hrtimer)) {
		/*
		 * Called before its time: the clock was set back meanwhile.  The hrtimer
		 * core goes on by the time before, so that what is set from here may be
		 * due by that, again and again.
		 */
		set_back = clock_now(e->clock) < e->set && clock_settable(e->clock);
		e->set = KTIME_MAX;
	}
	/*
	 * When a CPU goes away, its hrtimers go to others, which may call them at the same
	 * time.  The one that is in a pass sets this hrtimer too, at its end.
	 */
	if (c->running)
		goto out;
	c->running = true;
	refill(c, start);
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		due |= collect(c, &c->expirer[i], start);
	tokens = c->tokens;
	began = pass(c, start, began);
	/*
	 * An interrupt that has found nothing due is not counted.  Whoever arms a wheel for a
	 * moment and disarms it again causes one each time, and would make the span longer for
	 * everybody else.  An interrupt for a line whose user has had a visit, and which has to
	 * wait, is counted once in a span: such lines may be due apart, and take one each.
	 */
	if (due || c->tokens != tokens) {
		c->spent += pass_took(c, began, tokens) + call_ns;
		c->refill = max(c->refill, c->since + min_t(u64, EXPIRY_DUTY * c->spent,
							    EXPIRY_SPAN_MAX));
	}
	c->running = false;
	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		if (&c->expirer[i] != e)
			expirer_set(&c->expirer[i]);
	next = expirer_next(e);
	if (next == KTIME_MAX)
		goto out;
	if (set_back) {
		/* The monotonic hrtimer sets this one, when the core knows the new time. */
		struct expirer *m = &c->expirer[TWHEEL_MONOTONIC];

		next = ktime_get_ns() + EXPIRY_GAP;
		if (next < m->set)
			expirer_start(m, next);
		goto out;
	}
	/* To restart it is cheaper, unless somebody has started it meanwhile. */
	if (hrtimer_is_queued(hrtimer)) {
		expirer_start(e, next);
	} else {
		e->set = next;
		e->ahead = clock_ahead(e->clock);
		trace_twheel_hrtimer_start(e->clock, next);
		hrtimer_set_expires(hrtimer, ns_to_ktime(next));
		restart = HRTIMER_RESTART;
	}
out:
	raw_spin_unlock(&c->lock);
	return restart;
}

/**
 * expiry_shares_alloc() - a new user's share of each CPU
 *
 * Return: for free_percpu(), when no wheel of the user waits; or NULL.  Sleeps.
 */
TWHEEL_PART struct expiry_share __percpu *expiry_shares_alloc(void)
{
	/* For the pages behind it the allocator heeds no __GFP_RETRY_MAYFAIL; this it does. */
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

/**
 * expiry_owes() - has a user to pay for wake-ups still?
 * @shares: the user's, of whose wheels none waits and none will
 *
 * Return: whether there is such a debt, or a visit that may end with one.  If not, nobody
 * else uses the shares.
 *
 * Context: a task's, with interrupts enabled.
 */
TWHEEL_PART bool expiry_owes(struct expiry_share __percpu *shares)
{
	u64 now = ktime_get_ns();
	bool debt = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct expiry_cpu *c = &per_cpu(expiry_cpus, cpu);
		const struct expiry_share *share = per_cpu_ptr(shares, cpu);

		/* On PREEMPT_RT to disable softirqs would be to wait for one that wakes. */
		raw_spin_lock_irq(&c->lock);
		debt |= share->visited || owes(share, now);
		raw_spin_unlock_irq(&c->lock);
	}
	return debt;
}

/* A shot to measure interrupts by: when it has come, ns; 0: it is yet to come. */
static u64 shot_came;

static enum hrtimer_restart shot_fire(struct hrtimer *hrtimer)
{
	WRITE_ONCE(shot_came, ktime_get_ns());
	return HRTIMER_NORESTART;
}

static int compare_u64(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* One shot: how late it comes to a CPU that looks at nothing but that, ns; 0: it does not. */
static u64 shot(struct hrtimer *hrtimer)
{
	u64 set = ktime_get_ns() + CALL_AHEAD;

	WRITE_ONCE(shot_came, 0);
	hrtimer_start(hrtimer, ns_to_ktime(set), HRTIMER_MODE_ABS_PINNED_SOFT);
	for (unsigned int n = 0; n < CALL_LOOKS && !READ_ONCE(shot_came); n++)
		barrier();
	hrtimer_cancel(hrtimer);
	return shot_came ? shot_came - set : 0;
}

/* What an interrupt takes, by the lower quartile of some shots: others may be held up. ns. */
static u64 measure_call(void)
{
	static struct hrtimer hrtimer;
	unsigned int nr = 0, missed = 0;
	u64 late[CALL_SHOTS];

	/* Without high resolution it comes by a jiffy, and is late by that. */
	if (hrtimer_resolution > 1)
		return 0;
	hrtimer_setup(&hrtimer, shot_fire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	while (nr < CALL_SHOTS) {
		late[nr] = shot(&hrtimer);
		/* Where time is simulated none may come while somebody computes. */
		if (late[nr])
			nr++;
		else if (++missed == CALL_MISSED)
			return 0;
		cond_resched();
	}
	sort(late, nr, sizeof(late[0]), compare_u64, NULL);
	return CALL_QUARTERS * late[nr / 4] / 4;
}

/* What it takes to queue an entry, and so on, by the quickest of some tries. ns. */
static u64 measure_queue(void)
{
	struct timerqueue_node node[QUEUE_NODES];
	struct timerqueue_head head;
	u64 least = KTIME_MAX;

	timerqueue_init_head(&head);
	for (unsigned int try = 0; try < QUEUE_TRIES; try++) {
		u64 start = ktime_get_ns();

		for (unsigned int i = 0; i < QUEUE_NODES; i++) {
			timerqueue_init(&node[i]);
			node[i].expires = ktime_get_ns();
			timerqueue_add(&head, &node[i]);
		}
		for (unsigned int i = 0; i < QUEUE_NODES; i++)
			timerqueue_del(&head, &node[i]);
		least = min(least, ktime_get_ns() - start);
		cond_resched();
	}
	return least / QUEUE_NODES;
}

/* Before there are wheels.  Sleeps. */
TWHEEL_PART void expiry_init(void)
{
	int cpu;

	if (!call_ns)
		call_ns = measure_call();
	call_ns = clamp(call_ns, CALL_MIN, CALL_MAX);
	token_ns = max_t(u64, TOKEN_QUEUED * measure_queue(), TOKEN_MIN);

	for_each_possible_cpu(cpu) {
		struct expiry_cpu *c = &per_cpu(expiry_cpus, cpu);

		raw_spin_lock_init(&c->lock);
		INIT_LIST_HEAD(&c->fresh);
		INIT_LIST_HEAD(&c->visited);
		INIT_LIST_HEAD(&c->resting);
		INIT_LIST_HEAD(&c->skipped);
		c->rest_end = KTIME_MAX;
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

/* When there are no wheels any more.  Sleeps. */
TWHEEL_PART void expiry_exit(void)
{
	int cpu;

	/* The callbacks of other clocks may set the monotonic hrtimer, which is the last one. */
	static_assert(TWHEEL_MONOTONIC == 0);
	for_each_possible_cpu(cpu)
		for (int i = TWHEEL_CLOCKS - 1; i >= 0; i--)
			hrtimer_cancel(&per_cpu(expiry_cpus, cpu).expirer[i].hrtimer);
}
