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
	ARM, ARM_RANDOM, ARM_ALONE,
	MOVE, MOVE_ALONE, PUSH, PUSH_ALONE, LATER, LATER_ALONE,
	CANCEL, CANCEL_ALONE, CANCEL_SAME, CANCEL_SEQUENCE,
	EXPIRE, EXPIRE_RANDOM, EXPIRE_MOVED,
	ARM_FENCE, PUSH_FENCE, LATER_FENCE, CANCEL_FENCE,
	NR_OPS
};

static const char *const op_name[NR_OPS] = {
	[ARM]		  = "arm, ids in sequence",
	[ARM_RANDOM]	  = "arm, random ids",
	[ARM_ALONE]	  = "arm, none fetched ahead",
	[MOVE]		  = "re-arm by cancel and arm, random",
	[MOVE_ALONE]	  = "cancel and arm, none fetched ahead",
	[PUSH]		  = "re-arm, random",
	[PUSH_ALONE]	  = "re-arm, none fetched ahead",
	[LATER]		  = "push back, random",
	[LATER_ALONE]	  = "push back, none fetched ahead",
	[CANCEL]	  = "cancel, second random order",
	[CANCEL_ALONE]	  = "cancel, none fetched ahead",
	[CANCEL_SAME]	  = "cancel, in the order of re-arms",
	[CANCEL_SEQUENCE] = "cancel, ids in sequence",
	[EXPIRE]	  = "expire, armed in sequence",
	[EXPIRE_RANDOM]	  = "expire, armed at random",
	[EXPIRE_MOVED]	  = "expire, re-armed at random",
	[ARM_FENCE]	  = "arm, random, behind a fence",
	[PUSH_FENCE]	  = "re-arm, random, behind a fence",
	[LATER_FENCE]	  = "push back, random, behind a fence",
	[CANCEL_FENCE]	  = "cancel, random, behind a fence",
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

static void do_all(struct round *r, enum op what, void (*op)(const struct batch *),
		   u32 ahead)
{
	struct batch batch = { .work = r->work, .nr = r->nr, .now = r->now, .ahead = ahead };
	u64 start = host_busy_ns();

	op(&batch);
	stop(r, what, start);
}

/* One by one, so that none overlaps with the next: as single calls are. */
static void do_each(struct round *r, enum op what, void (*op)(const struct batch *))
{
	struct batch batch = { .work = r->work, .nr = 1, .now = r->now };
	u64 start = host_busy_ns();

	for (u32 i = 0; i < r->nr; i++, batch.work++) {
		op(&batch);
		fence();
	}
	stop(r, what, start);
}

static void arm_in_sequence(struct round *r)
{
	work_in_sequence(r->work, r->nr);
	work_deadlines(r->work, r->nr, r->span);
	do_all(r, ARM, r->peer->arm, 0);
}

static void work_at_random(struct round *r)
{
	work_shuffle(r->work, r->nr);
	work_deadlines(r->work, r->nr, r->span);
}

static void arm_at_random(struct round *r, enum op what, u32 ahead)
{
	work_at_random(r);
	do_all(r, what, r->peer->arm, ahead);
}

/* Arm all, and then move them, each to any time. */
static void move(struct round *r, enum op what, void (*op)(const struct batch *), u32 ahead)
{
	arm_in_sequence(r);
	work_at_random(r);
	do_all(r, what, op, ahead);
}

/* All timers of @work, each by an eighth of the span. */
static void work_later(struct round *r)
{
	work_shuffle(r->work, r->nr);
	for (u32 i = 0; i < r->nr; i++)
		r->work[i].ticks += r->span / 8;
}

static void push_back(struct round *r, enum op what, u32 ahead)
{
	work_later(r);
	do_all(r, what, r->peer->push, ahead);
}

static int check_none_armed(const struct round *r)
{
	u32 armed = r->peer->armed();

	return armed ? host_fail("timers that should not be are still armed:", armed) : 0;
}

static int cancel(struct round *r, enum op what, u32 ahead)
{
	do_all(r, what, r->peer->cancel, ahead);
	return check_none_armed(r);
}

static int cancel_unmeasured(struct round *r)
{
	struct batch batch = { .work = r->work, .nr = r->nr, .now = r->now };

	r->peer->cancel(&batch);
	return check_none_armed(r);
}

static int cancel_at_random(struct round *r, enum op what, u32 ahead)
{
	work_shuffle(r->work, r->nr);
	return cancel(r, what, ahead);
}

/* Expire all, the last of them due within @span. */
static int expire(struct round *r, enum op what, u64 span)
{
	struct batch batch = { .work = r->work, .nr = r->nr, .now = r->now };
	u64 from = r->now, to, start, cookies = 0;
	struct seen seen = {};

	r->peer->record(&batch);
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
	const struct peer *peer = r->peer;
	int ret;

	move(r, MOVE, peer->move, AHEAD);
	ret = cancel_at_random(r, CANCEL, AHEAD);
	if (ret)
		return ret;

	move(r, PUSH_ALONE, peer->push, 0);
	ret = cancel_at_random(r, CANCEL_ALONE, 0);
	if (ret)
		return ret;

	move(r, MOVE_ALONE, peer->move, 0);
	ret = cancel(r, CANCEL_SAME, AHEAD);
	if (ret)
		return ret;

	work_at_random(r);
	do_each(r, ARM_FENCE, peer->arm);
	work_at_random(r);
	do_each(r, PUSH_FENCE, peer->push);
	work_later(r);
	do_each(r, LATER_FENCE, peer->push);
	work_shuffle(r->work, r->nr);
	do_each(r, CANCEL_FENCE, peer->cancel);

	arm_at_random(r, ARM_ALONE, 0);
	push_back(r, LATER_ALONE, 0);
	ret = cancel_unmeasured(r);
	if (ret)
		return ret;

	arm_in_sequence(r);
	ret = cancel(r, CANCEL_SEQUENCE, 0);
	if (ret)
		return ret;

	arm_in_sequence(r);
	ret = expire(r, EXPIRE, r->span);
	if (ret)
		return ret;

	arm_at_random(r, ARM_RANDOM, AHEAD);
	ret = expire(r, EXPIRE_RANDOM, r->span);
	if (ret)
		return ret;

	move(r, PUSH, peer->push, AHEAD);
	push_back(r, LATER, AHEAD);
	return expire(r, EXPIRE_MOVED, r->span + r->span / 8);
}

static int run_of_ops(const char *part, const struct peer *peer, u32 nr, u32 span,
		      unsigned int run)
{
	struct round r = { .peer = peer, .nr = nr, .span = span, .now = START };
	int ret;

	work_seed(run);
	r.work = host_alloc((nr + (size_t)AHEAD) * sizeof(*r.work));
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
	int ret = 0;

	for (unsigned int i = 0; !ret && peers[i]; i++)
		ret = run_of_ops(part, peers[i], nr, span, run);
	return ret;
}

/* A hot set: what the size of the table does to those who do not use it. */

#define HOT		1000U
#define HOT_WORK	16384U
#define HOT_ROUNDS	16U

static u64 hot_rounds(void (*op)(const struct batch *), const struct work *work)
{
	struct batch batch = { .work = work, .nr = HOT_WORK, .now = START };
	u64 start;

	op(&batch);
	start = host_busy_ns();
	for (unsigned int i = 0; i < HOT_ROUNDS; i++)
		op(&batch);
	return host_busy_ns() - start;
}

static int run_of_hot(const char *part, const struct peer *peer, u32 nr, unsigned int run)
{
	struct work *all, *work;
	int ret = 0;
	u64 ns;

	work_seed(run);
	all = host_alloc((size_t)nr * sizeof(*all));
	work = host_alloc(HOT_WORK * sizeof(*work));
	if (!all || !work || !peer->open(nr, START)) {
		ret = host_fail("no memory for timers:", nr);
		goto out;
	}
	work_in_sequence(all, nr);
	work_deadlines(all, nr, 300000);
	peer->arm(&(struct batch){ .work = all, .nr = nr, .now = START });
	cond_resched();
	work_shuffle(all, nr);
	for (u32 i = 0; i < HOT_WORK; i++)
		work[i].id = all[random64() % HOT].id;
	work_deadlines(work, HOT_WORK, 300000);

	ns = hot_rounds(peer->move, work);
	host_tell(part, op_name[MOVE], peer->name, nr, "ns", ns, HOT_WORK * HOT_ROUNDS);
	ns = hot_rounds(peer->push, work);
	host_tell(part, op_name[PUSH], peer->name, nr, "ns", ns, HOT_WORK * HOT_ROUNDS);
	peer->close();
out:
	host_free_all();
	return ret;
}

/* The largest table is for those whose timers are small. */
int loops_hot(const char *part, u32 nr, unsigned int run)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && peers[i] && (nr <= 1000000 || i < 2); i++)
		ret = run_of_hot(part, peers[i], nr, run);
	return ret;
}

/* What memory costs here, with which all of the above has to be compared. */

#define LINE		64U
#define LINES		(4U << 20)
#define MISSES		1000000U

/*
 * Write lines one after the other, all over the memory.  If each is @led to by the one
 * before, the processor has to wait for it.
 */
static __always_inline void miss(const char *part, const char *name, char *lines, bool led)
{
	u64 start = host_busy_ns(), sum = 0;
	u32 at = 0;

	for (u32 i = 0; i < MISSES; i++) {
		u64 *line = (u64 *)(lines + (size_t)at * LINE);

		sum += *line;
		/* All lines have an even number in them, which the compiler does not know. */
		at = (at * 1664525 + 1013904223 + (led ? *line % 2 : 0)) % LINES;
		*line += 2;
	}
	host_tell(part, name, "memory", LINES, "ns", host_busy_ns() - start, MISSES);
	if (sum % 2)
		host_fail("memory is not what was written:", sum);
}

int loops_misses(const char *part)
{
	char *lines = host_alloc((size_t)LINES * LINE);

	if (!lines)
		return host_fail("no memory for lines:", LINES);
	miss(part, "a line that the one before leads to", lines, true);
	miss(part, "a line of many, each written", lines, false);
	host_free_all();
	return 0;
}
