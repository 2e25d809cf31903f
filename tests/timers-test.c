// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs on the timers and on a plain table of what each should be:
 * every event belongs to the arming that asked for it, comes at or after its
 * deadline and once, with the right cookie and overruns; a cancel or a move
 * takes effect whatever state it finds; nothing is lost to a copy that fails.
 */
#include "../timers.c"
#include "rnd.h"
#include "tap.h"
#include "tests.h"

#define CAPACITY	700
#define CLAIM		16

struct model {
	bool	armed;
	bool	held;		/* by an uncommitted claim */
	u32	generation;
	u64	cookie, deadline, interval, slack;
	u32	count;
};

static struct model model[CAPACITY];
static struct timers ts;
static u64 now;

/* What the device does around an arm. */
static int arm(struct twheel_op *op)
{
	enum timers_need need;
	u32 id;
	int ret = timers_check_arm(&ts, op);

	if (ret)
		return ret;
	timers_turn(&ts, now);
	while ((ret = timers_arm(&ts, op, now, &need, &id)) == -EAGAIN) {
		if (need == TIMERS_NEED_CHUNK) {
			if (!ts.wheel.chunk)
				wheel_add_directory(&ts.wheel,
						    wheel_directory_alloc(&ts.wheel));
			wheel_add_chunk(&ts.wheel, id, wheel_chunk_alloc());
		} else if (need == TIMERS_NEED_LEVEL) {
			wheel_add_level(&ts.wheel, wheel_level_alloc(&ts.wheel));
		}
	}
	return ret;
}

static const char *random_arm(void)
{
	struct twheel_op op = {
		.id		= rnd() % 3 ? rnd() % CAPACITY : TWHEEL_ID_ANY,
		.deadline	= rnd_span(34),
		.interval	= rnd() % 4 ? 0 : 1 + rnd_span(30),
		.slack		= rnd() % 4 ? 0 : rnd_span(28),
		.cookie		= rnd(),
	};
	u32 asked = op.id;
	struct model *m = &model[0];
	u64 deadline;
	bool armed;
	int ret;

	if (op.interval && rnd() % 2)
		op.count = 1 + rnd() % 5;
	if (rnd() % 2)
		op.flags |= TWHEEL_ARM_RELATIVE;
	else
		op.deadline = rnd() % 8 ? now + op.deadline : rnd() % 2;
	if (asked != TWHEEL_ID_ANY) {
		m = &model[asked];
		if (rnd() % 8 == 0)
			op.flags |= TWHEEL_ARM_NEW;
		else if (rnd() % 8 == 0)
			op.flags |= TWHEEL_ARM_MOVE;
		if (rnd() % 8 == 0)
			op.generation = m->generation + (rnd() % 2);
	} else if (!op.deadline) {
		op.deadline = 1;
	}
	deadline = op.flags & TWHEEL_ARM_RELATIVE && op.deadline ?
		   now + op.deadline : op.deadline;

	ret = arm(&op);
	if (asked == TWHEEL_ID_ANY) {
		if (ret == -ENOSPC) {
			for (u32 id = 0; id < CAPACITY; id++)
				if (!model[id].armed && !model[id].held)
					return "full with a free id";
			return NULL;
		}
		if (ret)
			return "an arm of a new timer failed";
		m = &model[op.id];
		if (m->armed || m->held)
			return "the kernel chose an id in use";
	}
	armed = m->armed && !(m->held && !m->interval);
	if (asked != TWHEEL_ID_ANY) {
		u32 expected = op.generation;

		if (ret == -ESTALE)
			return expected && expected != m->generation ? NULL : "false ESTALE";
		if (ret == -EEXIST)
			return armed && op.flags & TWHEEL_ARM_NEW ? NULL : "false EEXIST";
		if (ret == -ENOENT)
			return !armed && op.flags & TWHEEL_ARM_MOVE ? NULL : "false ENOENT";
		if (ret)
			return "an arm failed";
		if (op.flags & TWHEEL_ARM_NEW && armed)
			return "EEXIST is missing";
		if (op.flags & TWHEEL_ARM_MOVE && !armed)
			return "ENOENT is missing";
		if ((op.state == TWHEEL_STATE_PENDING || op.state == TWHEEL_STATE_EXPIRED) !=
		    armed)
			return "an arm tells the wrong state";
	}
	if (op.generation != m->generation + 1)
		return "a generation was skipped or repeated";
	*m = (struct model){ op.deadline != 0, false, op.generation, op.cookie,
			     deadline, op.interval, op.slack, op.count };
	return NULL;
}

static const char *random_cancel(void)
{
	struct twheel_op op = { .id = rnd() % CAPACITY };
	struct model *m = &model[op.id];
	bool armed = m->armed && !(m->held && !m->interval);
	int ret;

	if (rnd() % 4 == 0)
		op.generation = m->generation + rnd() % 2;
	if (op.generation && op.generation != m->generation)
		return timers_cancel(&ts, &op) == -ESTALE ? NULL : "ESTALE is missing";
	ret = timers_cancel(&ts, &op);
	if (ret)
		return "a cancel failed";
	if ((op.state == TWHEEL_STATE_PENDING || op.state == TWHEEL_STATE_EXPIRED) != armed)
		return "a cancel tells the wrong state";
	m->armed = false;
	m->held = false;
	return NULL;
}

static const char *check_event(const struct twheel_event *e)
{
	struct model *m = &model[e->id];
	u64 overruns = 0;

	if (!m->armed || m->held)
		return "an event of a timer that is not armed";
	if (e->generation != m->generation || e->cookie != m->cookie ||
	    e->deadline != m->deadline)
		return "an event of another arming";
	if (e->deadline > now || e->fired < e->deadline || e->fired > now)
		return "early";
	if (m->interval)
		overruns = (now - m->deadline) / m->interval;
	if (m->count)
		overruns = min(overruns, (u64)m->count - 1);
	if (e->overruns != overruns)
		return "overruns are miscounted";
	if (!!(e->flags & TWHEEL_EVENT_LAST) !=
	    (!m->interval || (m->count && overruns + 1 == m->count)))
		return "LAST is wrong";
	m->held = true;
	return NULL;
}

static const char *random_list(void);

/* A read: claims, lets others do something, commits some, puts back the rest. */
static const char *random_read(int depth)
{
	struct twheel_event events[CLAIM];
	unsigned int nr, told;
	const char *error;

	nr = timers_claim(&ts, events, 1 + rnd() % CLAIM, now);
	for (unsigned int i = 0; i < nr; i++) {
		error = check_event(&events[i]);
		if (error)
			return error;
	}
	for (unsigned int i = rnd() % 4; i; i--) {
		switch (rnd() % 8) {
		case 0 ... 3:
			error = random_cancel();
			break;
		case 4 ... 5:
			error = random_arm();
			break;
		case 6:
			now += rnd_span(28);
			timers_advance(&ts, now, WHEEL_STEP);
			error = depth < 3 ? random_read(depth + 1) : NULL;
			break;
		default:
			error = random_list();
		}
		if (error)
			return error;
	}
	told = rnd() % 4 ? nr : rnd() % (nr + 1);
	timers_turn(&ts, now);
	timers_put_back(&ts, events + told, nr - told);
	timers_commit(&ts, events, told, now);
	for (unsigned int i = 0; i < nr; i++) {
		const struct twheel_event *e = &events[i];
		struct model *m = &model[e->id];

		if (!m->held || m->generation != e->generation)
			continue;
		m->held = false;
		if (i >= told)
			continue;
		if (e->flags & TWHEEL_EVENT_LAST) {
			m->armed = false;
			continue;
		}
		m->deadline += (e->overruns + 1) * m->interval;
		if (m->count)
			m->count -= e->overruns + 1;
	}
	return NULL;
}

static const char *compare(const struct twheel_timer *r)
{
	const struct model *m = &model[r->id];

	if (!m->armed || m->held)
		return "told of a timer that is not armed";
	if (r->generation != m->generation || r->cookie != m->cookie ||
	    r->deadline != m->deadline || r->interval != m->interval ||
	    r->count != m->count)
		return "told wrongly";
	if (r->remaining != (m->deadline > now ? m->deadline - now : 0))
		return "remaining is wrong";
	if (r->slack > m->slack || (m->slack >= ts.tick && r->slack < m->slack / 2))
		return "slack is wrong";
	if (r->state == TWHEEL_STATE_EXPIRED && m->deadline > now)
		return "expired early";
	return NULL;
}

/* Lists everything; then drains a part of it, of which some fails. */
static const char *random_list(void)
{
	struct twheel_timer records[CLAIM];
	u32 cursor = 0, listed = 0, armed = 0;
	const char *error;
	unsigned int nr, told;

	while (cursor < CAPACITY) {
		nr = timers_list(&ts, records, 1 + rnd() % CLAIM, &cursor, false, now);
		for (unsigned int i = 0; i < nr; i++, listed++) {
			error = compare(&records[i]);
			if (error)
				return error;
		}
	}
	for (u32 id = 0; id < CAPACITY; id++)
		armed += model[id].armed && !model[id].held;
	if (listed != armed)
		return "a list is not complete";
	if (rnd() % 4)
		return NULL;

	cursor = rnd() % CAPACITY;
	nr = timers_list(&ts, records, 1 + rnd() % CLAIM, &cursor, true, now);
	told = rnd() % (nr + 1);
	timers_turn(&ts, now);
	timers_drained(&ts, records, told);
	timers_undrain(&ts, records + told, nr - told, now);
	for (unsigned int i = 0; i < told; i++)
		if (model[records[i].id].generation == records[i].generation)
			model[records[i].id].armed = false;
	return NULL;
}

static const char *random_get(void)
{
	struct twheel_timer record = { .id = rnd() % CAPACITY };
	const struct model *m = &model[record.id];
	bool armed;

	if (timers_get(&ts, &record, now))
		return "a get failed";
	armed = record.state == TWHEEL_STATE_PENDING || record.state == TWHEEL_STATE_EXPIRED;
	if (armed != (m->armed && !(m->held && !m->interval)))
		return "a get tells the wrong state";
	return armed && !m->held ? compare(&record) : NULL;
}

static const char *advance(u64 to, bool all)
{
	unsigned int budget = all ? 1 << 20 : 1 + rnd() % WHEEL_STEP;

	now = to;
	if (timers_advance(&ts, now, budget) == budget)
		return all ? "endless" : NULL;
	for (u32 id = 0; id < CAPACITY; id++) {
		const struct model *m = &model[id];
		u64 latest = m->deadline + m->slack + ts.tick;

		if (m->armed && now >= latest &&
		    timer_state(&ts, id) != TWHEEL_STATE_EXPIRED)
			return "late";
	}
	return NULL;
}

static const char *program(u64 tick, unsigned int levels, unsigned int slots,
			   unsigned long ops)
{
	const char *error = NULL;

	now = rnd_span(50);
	memset(model, 0, sizeof(model));
	timers_init(&ts, CAPACITY, levels, slots, tick, now);
	for (unsigned long i = 0; i < ops && !error; i++) {
		switch (rnd() % 16) {
		case 0 ... 4:
			error = random_arm();
			break;
		case 5 ... 6:
			error = random_cancel();
			break;
		case 7 ... 9:
			error = random_read(0);
			break;
		case 10:
			if (i % 8 == 0)
				error = random_list();
			break;
		case 11:
			error = random_get();
			break;
		case 12:
			/* To the next look. */
			if (timers_next(&ts) < KTIME_MAX)
				error = advance(max(now, timers_next(&ts)), true);
			break;
		default:
			error = advance(now + rnd_span(30), rnd() % 2);
		}
	}
	wheel_destroy(&ts.wheel);
	return error;
}

void timers_random(unsigned long ops, u64 from)
{
	static const struct {
		const char *name;
		u64 tick;
		unsigned int levels, slots;
	} kinds[] = {
		{ "a tick of 1 ms, as many levels as needed",	1000000, 0, 64 },
		{ "a tick of 1 ns",				1, 0, 64 },
		{ "a tick of 3333 ns, 3 levels of 8 slots",	3333, 3, 8 },
		{ "a tick of 100 us, one level of 512 slots",	100000, 1, 512 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *error = NULL;

		for (u64 s = from; s < from + 20 && !error; s++) {
			rnd_seed(s, i);
			error = program(kinds[i].tick, kinds[i].levels, kinds[i].slots,
					ops / 20);
			if (error)
				printf("# seed %llu: %s\n", (unsigned long long)s, error);
		}
		tap(!error, "random use of timers: %s", kinds[i].name);
	}
}

/* The tick of a deadline, beside the division that it avoids. */
void timers_ticks(void)
{
	static const u64 ticks[] = { 1, 2, 3, 7, 1000, 3333, 100000, 1000000,
				     999999937, 1000000000 };
	bool good = true, round = true;

	rnd_seed(1, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(ticks); i++) {
		timers_init(&ts, 1, 0, 64, ticks[i], 0);
		for (int n = 0; n < 100000; n++) {
			u64 ns = n < 10 ? n * ticks[i] : n < 20 ? (u64)KTIME_MAX - n : rnd_span(63);

			good &= ticks_of(&ts, ns) == ns / ticks[i];
			ns -= ns % ticks[i];
			good &= ticks_of(&ts, ns) == ns / ticks[i];
		}
	}
	tap(good, "a time is cut into ticks exactly, for any tick");

	timers_init(&ts, 1, 0, 64, 1000, 0);
	for (u64 n = 1; n < 300; n++) {
		for (u64 s = 0; s < 16; s++) {
			u64 tick = expiry_of(&ts, n * 1000, slack_encode(s)), best = n;

			for (u64 t = n; t <= n + slack_decode(slack_encode(s)); t++)
				if (__builtin_ctzll(t) > __builtin_ctzll(best))
					best = t;
			round &= tick == best;
		}
	}
	tap(round, "slack leads to the roundest tick in reach");

	good = slack_decode(255) == 15ULL << 30 && slack_encode(~0ULL) == 255;
	for (u64 n = 0; n < 1 << 20; n++) {
		u64 kept = slack_decode(slack_encode(n));

		good &= kept <= n && kept >= n - n / 8;
	}
	tap(good, "slack is kept to 4 significant bits, rounded down");
}

static void start(u64 tick)
{
	now = 1000 * tick;
	timers_init(&ts, CAPACITY, 0, 64, tick, now);
}

/* A claim that was overtaken must not touch the one that overtook it. */
static void old_claim(void)
{
	struct twheel_op op = { .id = 3, .deadline = 1 };
	struct twheel_event first, second;
	bool good;

	start(1000000);
	arm(&op);
	good = timers_claim(&ts, &first, 1, now) == 1;
	op.generation = 0;
	arm(&op);
	good &= timers_claim(&ts, &second, 1, now) == 1;
	good &= first.generation != second.generation;
	timers_commit(&ts, &first, 1, now);
	timers_put_back(&ts, &second, 1);
	good &= timers_claim(&ts, &first, 1, now) == 1 &&
		first.generation == second.generation;
	tap(good, "an old claim does not touch a newer one");
	wheel_destroy(&ts.wheel);
}

/* The first timer of a wheel, periodic and due at once, still needs levels. */
static void first_due_periodic(void)
{
	struct twheel_op op = { .id = 3, .deadline = 1, .interval = 5000000 };
	struct twheel_event event;
	bool good;

	start(1000000);
	arm(&op);
	good = timers_claim(&ts, &event, 1, now) == 1;
	timers_commit(&ts, &event, 1, now);
	good &= ts.wheel.filed == 1;
	tap(good, "the first timer may be periodic and due at once");
	wheel_destroy(&ts.wheel);
}

void timers_cases(void)
{
	old_claim();
	first_due_periodic();
}
