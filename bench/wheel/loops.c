// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to arm, move, cancel and expire timers, for the wheel and for
 * the heap: the same work, in the same orders. Times are of whole loops; what
 * is written into the records for the check is written outside of them.
 */
#include "loops.h"

/* Operations timed for one value; with fewer timers, over and over. */
#define OPS_MIN		200000U

/* Steps of the clock in which all timers expire. */
#define STEPS		10000U

static u64 seed;

static u64 random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

void work_in_sequence(struct work *work, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		work[i].id = i;
}

void work_shuffle(struct work *work, u32 nr)
{
	for (u32 i = nr; i > 1; i--) {
		u32 j = random64() % i;
		struct work other = work[i - 1];

		work[i - 1] = work[j];
		work[j] = other;
	}
}

/* Evenly spread over 1 to @span. */
void work_deadlines(struct work *work, u32 nr, u32 span)
{
	for (u32 i = 0; i < nr; i++)
		work[i].ticks = 1 + random64() % span;
}

void work_seed(unsigned int run)
{
	seed = 0x9e3779b97f4a7c15ULL * (2 * run + 1);
}

enum op {
	ARM, ARM_RANDOM,
	MOVE, PUSH, LATER,
	CANCEL, CANCEL_SAME, CANCEL_SEQUENCE,
	EXPIRE, EXPIRE_RANDOM, EXPIRE_MOVED,
	NR_OPS
};

static const char *const op_name[NR_OPS] = {
	[ARM]		  = "arm, ids in sequence",
	[ARM_RANDOM]	  = "arm, random ids",
	[MOVE]		  = "re-arm by cancel and arm, random",
	[PUSH]		  = "re-arm, random",
	[LATER]		  = "push back, random",
	[CANCEL]	  = "cancel, second random order",
	[CANCEL_SAME]	  = "cancel, in the order of re-arms",
	[CANCEL_SEQUENCE] = "cancel, ids in sequence",
	[EXPIRE]	  = "expire, armed in sequence",
	[EXPIRE_RANDOM]	  = "expire, armed at random",
	[EXPIRE_MOVED]	  = "expire, re-armed at random",
};

struct clock {
	u64	ns[NR_OPS];
	u64	nr[NR_OPS];
};

/**
 * struct round - where a program is
 * @peer: on whom
 * @clock: what it took so far
 * @work: all timers, in some order, and when they are due
 * @nr: how many
 * @span: in which deadlines are
 * @now: the tick that it is
 */
struct round {
	const struct peer	*peer;
	struct clock		clock;
	struct work		*work;
	u32			nr;
	u32			span;
	u64			now;
};

static void stop(struct round *r, enum op what, u64 start)
{
	r->clock.ns[what] += host_busy_ns() - start;
	r->clock.nr[what] += r->nr;
	cond_resched();
}

static void arm(struct round *r, enum op what)
{
	u64 start = host_busy_ns();

	r->peer->arm(r->work, r->nr, r->now);
	stop(r, what, start);
}

static void arm_in_sequence(struct round *r)
{
	work_in_sequence(r->work, r->nr);
	work_deadlines(r->work, r->nr, r->span);
	arm(r, ARM);
}

static void move(struct round *r, enum op what)
{
	u64 start = host_busy_ns();

	if (what == MOVE)
		r->peer->move(r->work, r->nr, r->now);
	else
		r->peer->push(r->work, r->nr, r->now);
	stop(r, what, start);
}

static void move_at_random(struct round *r, enum op what)
{
	work_shuffle(r->work, r->nr);
	work_deadlines(r->work, r->nr, r->span);
	move(r, what);
}

static int check_none_armed(const struct round *r)
{
	u32 armed = r->peer->armed();

	return armed ? host_fail("timers that should not be are still armed:", armed) : 0;
}

static int cancel(struct round *r, enum op what)
{
	u64 start = host_busy_ns();

	r->peer->cancel(r->work, r->nr);
	stop(r, what, start);
	return check_none_armed(r);
}

/* Expire all, the last of them due within @span. */
static int expire(struct round *r, enum op what, u64 span)
{
	u64 from = r->now, to, start, cookies = 0;
	struct seen seen = {};

	r->peer->record(r->work, r->nr, r->now);
	for (u32 id = 0; id < r->nr; id++)
		cookies += cookie_of(id);

	start = host_busy_ns();
	for (u32 step = 1; step <= STEPS; step++) {
		to = r->now + div64_u64(span * step, STEPS);
		r->peer->expire(from, to, &seen);
		from = to;
	}
	stop(r, what, start);
	r->now = from;
	if (seen.bad)
		return host_fail("timers did not come due in their step", seen.bad);
	if (seen.nr != r->nr || seen.cookies != cookies)
		return host_fail("timers were lost or came twice; seen", seen.nr);
	return check_none_armed(r);
}

static int round_of_ops(struct round *r)
{
	int ret;

	arm_in_sequence(r);
	move_at_random(r, MOVE);
	work_shuffle(r->work, r->nr);
	ret = cancel(r, CANCEL);
	if (ret)
		return ret;

	arm_in_sequence(r);
	move_at_random(r, MOVE);
	ret = cancel(r, CANCEL_SAME);
	if (ret)
		return ret;

	arm_in_sequence(r);
	ret = cancel(r, CANCEL_SEQUENCE);
	if (ret)
		return ret;

	arm_in_sequence(r);
	ret = expire(r, EXPIRE, r->span);
	if (ret)
		return ret;

	work_shuffle(r->work, r->nr);
	work_deadlines(r->work, r->nr, r->span);
	arm(r, ARM_RANDOM);
	ret = expire(r, EXPIRE_RANDOM, r->span);
	if (ret)
		return ret;

	arm_in_sequence(r);
	move_at_random(r, PUSH);
	work_shuffle(r->work, r->nr);
	for (u32 i = 0; i < r->nr; i++)
		r->work[i].ticks += r->span / 8;
	move(r, LATER);
	return expire(r, EXPIRE_MOVED, r->span + r->span / 8);
}

static int run_of_ops(const char *part, const struct peer *peer, u32 nr, u32 span,
		      unsigned int run)
{
	struct round r = { .peer = peer, .nr = nr, .span = span, .now = START };
	int ret;

	work_seed(run);
	r.work = host_alloc((size_t)nr * sizeof(*r.work));
	if (!r.work || !peer->open(nr, r.now)) {
		ret = host_fail("no memory for timers:", nr);
		goto out;
	}
	do {
		ret = round_of_ops(&r);
	} while (!ret && r.clock.nr[EXPIRE] < OPS_MIN);

	for (enum op what = 0; !ret && what < NR_OPS; what++)
		host_tell(part, op_name[what], peer->name, nr, "ns",
			  r.clock.ns[what], r.clock.nr[what]);
	peer->close();
out:
	host_free_all();
	return ret;
}

int loops_ops(const char *part, u32 nr, u32 span, unsigned int run)
{
	return run_of_ops(part, &peer_wheel, nr, span, run) ?:
	       run_of_ops(part, &peer_heap, nr, span, run);
}

/* A hot set: what the size of the table does to those who do not use it. */

#define HOT		1000U
#define HOT_WORK	16384U
#define HOT_ROUNDS	16U

static u64 hot_rounds(void (*op)(const struct work *, u32, u64), const struct work *work)
{
	u64 start;

	op(work, HOT_WORK, START);
	start = host_busy_ns();
	for (unsigned int i = 0; i < HOT_ROUNDS; i++)
		op(work, HOT_WORK, START);
	return host_busy_ns() - start;
}

int loops_hot(const char *part, u32 nr, unsigned int run)
{
	struct work *all, *work;
	int ret = 0;
	u64 ns;

	work_seed(run);
	all = host_alloc((size_t)nr * sizeof(*all));
	work = host_alloc(HOT_WORK * sizeof(*work));
	if (!all || !work || !peer_wheel.open(nr, START)) {
		ret = host_fail("no memory for timers:", nr);
		goto out;
	}
	work_in_sequence(all, nr);
	work_deadlines(all, nr, 300000);
	peer_wheel.arm(all, nr, START);
	cond_resched();
	work_shuffle(all, nr);
	for (u32 i = 0; i < HOT_WORK; i++)
		work[i].id = all[random64() % HOT].id;
	work_deadlines(work, HOT_WORK, 300000);

	ns = hot_rounds(peer_wheel.move, work);
	host_tell(part, op_name[MOVE], peer_wheel.name, nr, "ns", ns, HOT_WORK * HOT_ROUNDS);
	ns = hot_rounds(peer_wheel.push, work);
	host_tell(part, op_name[PUSH], peer_wheel.name, nr, "ns", ns, HOT_WORK * HOT_ROUNDS);
	peer_wheel.close();
out:
	host_free_all();
	return ret;
}
