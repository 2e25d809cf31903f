// SPDX-License-Identifier: GPL-2.0
/*
 * A program of operations, carried out on the timers and on the reference.
 *
 * A program is a string of bytes: random ones from random.c, those of a fuzzer
 * from fuzz.c, those that were kept from corpus/. Any bytes are a program. The
 * first 8 describe the wheel, each further 8 are a step:
 *
 *	code	which operation
 *	how	its variant
 *	id	which timer (2 bytes, as the next)
 *	time	a span of time, mostly
 *	more	what else it needs
 *
 * After each step both must have said the same, and the wheel must know when
 * to look next; every so often all timers are compared, and the rules inside
 * the wheel are checked. Only where the promises leave a choice, the reference
 * follows the wheel: which id the kernel chooses, in which order the timers of
 * a tick come, and which of them a pass finds before its budget is used up.
 */
#include <stdio.h>

#include "owner.h"
#include "program.h"
#include "reference.h"
#include "rules.h"

/* The last time there is. */
#define LAST_TIME	((u64)KTIME_MAX - 1)

/* Steps between two looks at everything. */
#define RULES_EVERY	32
#define ALL_EVERY	256

/* Reads that are under way. */
#define FLIGHTS		4
#define FLIGHT_MAX	80

struct step {
	u8	code, how;
	u32	id, time, more;
};

struct flight {
	bool			flies;
	unsigned int		nr;
	u32			claim;
	struct twheel_event	events[FLIGHT_MAX];
};

static struct timers ts;
static struct reference ref;
static u64 now;
static unsigned int reach, pace;
static u32 lowest_chosen;
static struct flight flights[FLIGHTS];
static u64 cookie;

/*
 * In a calm program no pending timer is moved or taken out, so no look is empty, unless a slot was
 * heavy.
 */
static bool calm, was_crowded;

/* Is more due behind a slot that was heavy? */
static bool was_behind;

/* The tick at which the program has begun. */
static u64 started;

/* How often timers were filed from outside. */
static u64 filings;

/* Up to which time all is done. */
static u64 done_at;

/* By how much the clock was set back, in all. */
static u64 was_set_back;

static unsigned long operations;
static bool telling;

/* A line of the program, for a person. */
#define tell(...)	do { if (telling) printf(__VA_ARGS__); } while (0)

static unsigned long long ull(u64 n)
{
	return n;
}

static const char *name_of(int ret)
{
	switch (ret) {
	case 0:
		return "done";
	case -EEXIST:
		return "EEXIST";
	case -ENOENT:
		return "ENOENT";
	case -ESTALE:
		return "ESTALE";
	case -ENOSPC:
		return "ENOSPC";
	case -EINVAL:
		return "EINVAL";
	case -ERANGE:
		return "ERANGE";
	case -EOPNOTSUPP:
		return "EOPNOTSUPP";
	case -ENOMEM:
		return "ENOMEM";
	default:
		return "?";
	}
}

/* Small numbers and huge ones alike, below 2^(@bits + 8); in ns or in ticks. */
static u64 span(u32 code, unsigned int bits)
{
	u64 n = code & 0xff;
	unsigned int shift = (code >> 8 & 63) % bits;
	__uint128_t ns = (__uint128_t)n << shift;

	if (code >> 14)
		ns *= ts.tick;
	if (code >> 14 == 3)
		ns += n;
	return ns < KTIME_MAX ? ns : KTIME_MAX;
}

static u64 later(u64 time, u64 span)
{
	return min(time + span, LAST_TIME);
}

static u64 start_of(u64 tick)
{
	__uint128_t ns = (__uint128_t)tick * ts.tick;

	return ns < KTIME_MAX ? ns : KTIME_MAX;
}

/* Both know what time it is. */
static void turn(void)
{
	timers_set_time(&ts, now);
	ref.now = now;
}

/* The given timer, or one of the next few, if those are armed. */
static u32 armed_near(u32 id)
{
	for (u32 n = 0; n < 16; n++)
		if (ref_armed(&ref, &ref.timer[(id + n) % ref.capacity]))
			return (id + n) % ref.capacity;
	return id % ref.capacity;
}

/* Arm and cancel */

static bool spared(u32 id)
{
	return calm && id < ref.capacity && ref.timer[id].where == REF_PENDING;
}

/* A timer that is moved later keeps its entry; one that is not has a new one. */
static const char *check_place(u32 id, u64 was)
{
	u64 link = wheel_timer(&ts.wheel, id)->link;

	if (ref.timer[id].where != REF_PENDING)
		return NULL;
	/* An entry that was passed may count as a later one. */
	if (now / ts.tick - started >= WHEEL_HORIZON || near_tick(ts.wheel.at, was) <= ts.wheel.at)
		return NULL;
	if (!(was & LINK_WHERE(WHEEL_FILED)) ||
	    near_tick(ts.wheel.at, link) < near_tick(ts.wheel.at, was))
		return rules_filed(&ts.wheel, id);
	return link == (was & ~LINK_KEPT) ? NULL : "a timer that is moved later is filed anew";
}

/* Give the wheel what an arm needs. */
static const char *grow(struct timers_need *need)
{
	struct wheel *w = &ts.wheel;

	if (need->what == TIMERS_NEED_LEVEL) {
		if (w->nr_levels == w->max_levels)
			return "more levels are needed than there may be";
	} else if (need->what == TIMERS_NEED_CHUNK) {
		if (need->id >= ref.capacity || wheel_has(w, need->id))
			return "memory is needed for an id that has it";
	}
	return owner_add(&ts, need) ? NULL : "no memory";
}

static u32 next_due(u32 id)
{
	u32 next = wheel_timer(&ts.wheel, id)->link & LINK_ID;

	return next == LINK_ID ? WHEEL_NIL : next;
}

/* Those behind @last have come due; in the order of their ticks, unless a slot was heavy. */
static const char *follow(u32 last, bool crowded, u64 *tick, u32 *found)
{
	u32 id = last == WHEEL_NIL ? wheel_queue(&ts.wheel, WHEEL_DUE)->head : next_due(last);

	for (; id != WHEEL_NIL; id = next_due(id)) {
		struct ref_timer *t = &ref.timer[id];

		tell("\t%u is due, at tick %llu\n", id, ull(t->due));
		if (t->where != REF_PENDING)
			return "a timer comes due that is not armed";
		if (t->due > now / ts.tick)
			return "early";
		if (t->due < *tick && !crowded)
			return "out of order";
		*tick = max(*tick, t->due);
		ref_expire(&ref, t, now);
		++*found;
	}
	return NULL;
}

/* The kernel chooses ids from the top down, freed ids first. */
static const char *check_choice(u32 id, int ret)
{
	if (ret == -ENOSPC) {
		lowest_chosen = 0;
		for (id = 0; id < ref.capacity; id++)
			if (ref_free(&ref.timer[id]))
				return "full, with a free id";
		return NULL;
	}
	if (id >= ref.capacity || !ref_free(&ref.timer[id]))
		return "the kernel chose an id that is in use";
	for (u32 other = id + 1; id < lowest_chosen && other < ref.capacity; other++)
		if (ref_free(&ref.timer[other]))
			return "the kernel chose an id below a free one";
	lowest_chosen = min(lowest_chosen, id);
	return NULL;
}

/* What the device does for an arm; with no memory to be had, if not @memory. */
static const char *arm(struct twheel_op op, bool memory)
{
	struct twheel_op asked = op, wanted = op;
	int ret = timers_check_arm(&ts, &op);
	struct timers_need need = {};
	u64 was = 0, tick = 0;
	const char *error;
	u32 last, found = 0;

	if (spared(op.id))
		return NULL;
	filings++;
	tell("arm %d at %llu (now + %lld), flags %u, interval %llu, count %u, slack %llu",
	     op.id, ull(op.deadline), (long long)(op.deadline - now), op.flags,
	     ull(op.interval), op.count, ull(op.slack));
	if (op.generation)
		tell(", generation %u", op.generation);
	if (ret != ref_check_arm(&ref, &op))
		return "an arm is checked wrongly";
	if (ret) {
		tell(": %s\n", name_of(ret));
		return NULL;
	}

	turn();
	if (op.id != TWHEEL_ID_ANY && wheel_has(&ts.wheel, op.id))
		was = wheel_timer(&ts.wheel, op.id)->link;
	while (last = wheel_queue(&ts.wheel, WHEEL_DUE)->tail,
	       (ret = timers_arm(&ts, &op, now, &need)) == -EAGAIN) {
		/* Where stale entries were dropped, what is due was found. */
		error = follow(last, true, &tick, &found);
		if (error)
			return error;
		if (!memory && need.what != TIMERS_NEED_RETRY) {
			tell(": ENOMEM\n");
			/* It may have passed over ids that are free later. */
			if (op.id == TWHEEL_ID_ANY)
				lowest_chosen = 0;
			return memcmp(&op, &asked, sizeof(op)) ?
			       "an arm that was not carried out has results" : NULL;
		}
		error = grow(&need);
		if (error)
			return error;
	}
	tell(": %s, id %u, generation %u, was in state %u\n", name_of(ret), op.id,
	     op.generation, op.state);

	if (asked.id == TWHEEL_ID_ANY) {
		error = check_choice(op.id, ret);
		if (error)
			return error;
	}
	if (ret != -ENOSPC && ret != ref_arm(&ref, &wanted, op.id, now))
		return "an arm has the wrong result";
	error = ret || asked.id == TWHEEL_ID_ANY ? NULL : check_place(op.id, was);

	if (error)
		return error;
	return memcmp(&op, &wanted, sizeof(op)) ? "an arm tells what is not so" : NULL;
}

/* how: 3 bits for flags, 2 for what comes with it, 2 for conditions. */
static const char *arm_at(const struct step *s, u32 id, u64 deadline)
{
	static const u32 flags[8] = {
		[4] = TWHEEL_ARM_KEEP, [5] = TWHEEL_ARM_NEW, [6] = TWHEEL_ARM_MOVE,
	};
	struct twheel_op op = { .id = id, .deadline = deadline };
	bool memory = true;

	op.flags = flags[s->how & 7];
	if (id == TWHEEL_ID_ANY)
		op.flags &= TWHEEL_ARM_NEW;
	if ((s->how & 7) == 7)
		op.deadline = s->time & 1 ? min(now, (u64)s->time) : 0;
	if (!(op.flags & TWHEEL_ARM_KEEP)) {
		op.cookie = ++cookie;
		if ((s->how >> 3 & 3) == 3) {
			op.interval = span(s->more, reach);
			op.count = op.interval ? s->more % 6 : 0;
		}
		if ((s->how >> 3 & 3) == 2 || ((s->how >> 3 & 3) == 3 && s->more & 8))
			op.slack = span((s->more << 7 | s->more >> 9) & 0xffff, reach);
	}
	if (id != TWHEEL_ID_ANY && s->how >> 6 == 2)
		op.generation = ref.timer[id].generation;
	else if (id != TWHEEL_ID_ANY && s->how >> 6 == 3 && s->id & 1)
		op.generation = ref.timer[id].generation + 1;
	else if (s->how >> 6 == 3)
		memory = false;
	if (id == TWHEEL_ID_ANY)
		op.deadline = max(op.deadline, (u64)1);
	if (s->how & 32 && op.deadline > now && !ts.settable) {
		op.flags |= TWHEEL_ARM_RELATIVE;
		op.deadline -= now;
	}
	return arm(op, memory);
}

/* The edges of the slots to come, of every level, from both sides. */
static const char *arm_edge(const struct step *s)
{
	unsigned int shift = ts.wheel.bits * (s->time % (ts.wheel.nr_levels + 2));
	u64 tick = now / ts.tick, edge;

	if (shift > 60)
		shift = 60;
	edge = (tick >> shift) + 1 + (s->time >> 4) % (4U << ts.wheel.bits);
	if (edge > ~0ULL >> shift)
		return NULL;
	edge = start_of((edge << shift) + s->more % 3 - 1);
	return arm_at(s, s->id % ref.capacity, later(edge, s->more / 3 % 3) - 1);
}

/* Later or earlier than it is. */
static const char *arm_again(const struct step *s, bool earlier)
{
	u32 id = armed_near(s->id);
	u64 deadline = ref.timer[id].deadline;

	if (!earlier)
		deadline = min(deadline + span(s->time, reach), (u64)KTIME_MAX);
	else if (deadline > now)
		deadline = now + ((deadline - now) >> (s->time % 16));
	return arm_at(s, id, deadline);
}

/* More than a step's worth of timers, in a slot or a few. */
static const char *crowd(const struct step *s)
{
	u64 wide = ts.tick * (s->how & 1 ? 1 : (s->more >> 12) + 1);
	u64 from = later(now, span(s->time, reach));
	unsigned int n = WHEEL_STEP + s->more % 1024;
	const char *error = NULL;
	bool told = telling;

	n = min(n, ref.capacity);
	tell("arm %u timers from %u on, at %llu (now + %llu), within %llu\n", n, s->id,
	     ull(from), ull(from - now), ull(wide));
	telling = false;
	for (; n && !error; n--) {
		struct twheel_op op = {
			.id		= (s->id + n) % ref.capacity,
			.deadline	= later(from, n * 7919 % wide),
			.cookie		= ++cookie,
		};

		error = arm(op, true);
		operations++;
	}
	telling = told;
	return error;
}

static const char *cancel(struct twheel_op op)
{
	struct twheel_op wanted = op;
	int ret = timers_check_cancel(&ts, &op);

	if (spared(op.id))
		return NULL;
	tell("cancel %d, generation %u", op.id, op.generation);
	if (ret != ref_check_cancel(&ref, &wanted))
		return "a cancel is checked wrongly";
	if (!ret) {
		turn();
		ret = owner_cancel(&ts, &op);
		if (ret != ref_cancel(&ref, &wanted))
			return "a cancel has the wrong result";
	}
	tell(": %s, was in state %u\n", name_of(ret), op.state);
	return memcmp(&op, &wanted, sizeof(op)) ? "a cancel tells what is not so" : NULL;
}

static const char *cancel_one(const struct step *s)
{
	struct twheel_op op = { .id = s->how & 1 ? armed_near(s->id) : s->id % ref.capacity };

	if (s->how >> 6 == 2)
		op.generation = ref.timer[op.id].generation;
	else if (s->how >> 6 == 3)
		op.generation = ref.timer[op.id].generation + 1;
	return cancel(op);
}

/* What no sensible caller would ask for. */
static const char *nonsense(const struct step *s)
{
	struct twheel_op op = {
		.flags		= s->time & 3 ? 0 : s->more & 31,
		.deadline	= s->time & 4 ? 0 : span(s->more, 56),
		.interval	= s->time & 8 ? 0 : s->time & 16 ? ~0ULL : s->more,
		.slack		= s->time & 32 ? 0 : s->time & 64 ? ~0ULL : s->more,
		.count		= s->time & 128 ? 0 : s->time & 256 ? ~0U : s->more,
		.reserved	= s->time & 512 ? 0 : s->more & 3,
		.cookie		= s->time & 1024 ? 0 : s->more,
		.id		= s->how & 2 ? TWHEEL_ID_ANY :
				  s->how & 4 ? ref.capacity + s->how / 8 : s->id % ref.capacity,
		.generation	= s->how & 8 ? s->more : 0,
	};

	return s->how & 1 ? cancel(op) : arm(op, true);
}

/* Get and list */

static const char *compare(u32 id, u32 generation)
{
	struct twheel_timer record = { .id = id, .generation = generation };
	struct twheel_timer wanted = record;
	int ret;

	timers_set_time(&ts, now);
	ret = timers_get(&ts, &record);
	ref.now = now;
	if (ret != ref_get(&ref, &wanted, now))
		return "a get has the wrong result";
	return memcmp(&record, &wanted, sizeof(record)) ? "a get tells what is not so" : NULL;
}

static const char *compare_all(void)
{
	const char *error = NULL;

	for (u32 id = 0; id <= ref.capacity && !error; id++)
		error = compare(id, 0);
	return error;
}

static const char *get(const struct step *s)
{
	u32 id = s->id % ref.capacity;
	u32 generation = s->how % 4 ? 0 : ref.timer[id].generation + (s->how >> 2 & 1);

	tell("get %u, generation %u\n", id, generation);
	return compare(id, generation);
}

/* List from @cursor. */
static const char *enumerate(u32 *cursor, unsigned int max)
{
	struct twheel_timer records[FLIGHT_MAX];
	u32 id = *cursor, from = *cursor;
	unsigned int nr;

	timers_set_time(&ts, now);
	nr = timers_list(&ts, records, max, cursor);
	ref.now = now;
	if (nr > max || *cursor > ref.capacity || (*cursor <= from && from < ref.capacity))
		return "a list goes nowhere";
	for (unsigned int n = 0; n < nr; n++) {
		struct twheel_timer wanted;

		while (id < *cursor && ref.timer[id].where != REF_PENDING &&
		       ref.timer[id].where != REF_EXPIRED)
			id++;
		if (id >= *cursor)
			return "a list has more than what is armed";
		wanted = (struct twheel_timer){ .id = id };
		ref_get(&ref, &wanted, now);
		if (memcmp(&records[n], &wanted, sizeof(wanted)))
			return "a list tells what is not so";
		id++;
	}
	for (; id < *cursor && id < ref.capacity; id++)
		if (ref.timer[id].where == REF_PENDING || ref.timer[id].where == REF_EXPIRED)
			return "a list leaves out what is armed";
	return NULL;
}

static const char *list(const struct step *s)
{
	u32 cursor = s->how & 1 ? 0 : s->id;
	const char *error = NULL;

	tell("list from %u\n", cursor);
	while (!error && cursor < ref.capacity)
		error = enumerate(&cursor, 1 + s->more % FLIGHT_MAX);
	return error ? error : enumerate(&cursor, 1);
}

/* A read: first it takes, then it tells how it went */

static const char *take_off(const struct step *s, struct flight *f)
{
	unsigned int max = 1 + s->more % FLIGHT_MAX;

	f->flies = true;
	f->nr = timers_claim(&ts, f->events, max, now);
	f->claim = ts.claims;
	tell("read %u at the most: %u\n", max, f->nr);
	if (f->nr != min(min(max, TIMERS_CLAIM_MAX), (u32)ref.stats.expired))
		return "a read has the wrong number of events";
	for (unsigned int n = 0; n < f->nr; n++) {
		struct twheel_event wanted = ref_claim(&ref, now);

		tell("\tevent of %u, deadline %llu, fired %llu, overruns %llu, flags %u\n",
		     f->events[n].id, ull(f->events[n].deadline), ull(f->events[n].fired),
		     ull(f->events[n].overruns), f->events[n].flags);
		if (memcmp(&f->events[n], &wanted, sizeof(wanted)))
			return "an event tells what is not so";
		if (wanted.fired < wanted.deadline)
			return "early";
	}
	return NULL;
}

/* The first @told have reached the caller, then there was a fault. */
static void land(struct flight *f, unsigned int told)
{
	tell("\ta read ends: %u of %u told\n", told, f->nr);
	filings += f->nr;
	turn();
	timers_put_back(&ts, f->events + told, f->nr - told, f->claim);
	/* Behind those that count is one that was armed or cancelled meanwhile. */
	for (unsigned int done = 0; done < told; done++)
		done += owner_commit(&ts, f->events + done, told - done, f->claim, now);
	for (unsigned int n = f->nr; n-- > told;)
		ref_put_back(&ref, &f->events[n]);
	for (unsigned int n = 0; n < told; n++)
		ref_commit(&ref, &f->events[n], now);
	f->flies = false;
}

static const char *fly(const struct step *s)
{
	struct flight *f = &flights[s->time % FLIGHTS];
	bool whole = s->how & 1;
	const char *error;

	if (!f->flies) {
		error = take_off(s, f);
		if (error || s->how & 16)
			return error;
	}
	land(f, whole ? f->nr : (s->time >> 4) % (f->nr + 1));
	return NULL;
}

/* Time */

/* Find what is due; the reference follows, if it was right. */
static const char *advance(unsigned int budget)
{
	u64 tick = 0, moves = ts.wheel.moves;
	bool crowded = rules_crowded(&ts.wheel) || was_behind;
	u32 last = wheel_queue(&ts.wheel, WHEEL_DUE)->tail, found = 0;
	unsigned int done = timers_advance(&ts, now, budget);
	const char *error;

	/* What came down may have made a slot heavy. */
	crowded |= ts.wheel.moves - moves > WHEEL_STEP / 2;
	was_crowded |= crowded;
	was_behind = crowded && done == budget;
	error = follow(last, crowded, &tick, &found);
	if (error)
		return error;
	if (found > done || done > budget)
		return "a step goes beyond its budget";
	if (done < budget && ref.pending && ref.pending->due <= now / ts.tick)
		return "late";
	if (done < budget)
		done_at = now;
	if (done < budget && timers_heavy(&ts))
		return "nothing is left to do, but there is a heavy slot";
	if (!crowded && tick && ref.pending && ref.pending->due < tick)
		return "out of order";
	return NULL;
}

/* Time passes; softirq may have no time to look, or not enough. */
static const char *pass_to(const struct step *s, u64 to)
{
	unsigned int budget = s->how & 1 ? 1U << 20 : s->how >> 2;

	now = to;
	tell("now %llu (tick %llu), budget %u\n", ull(now), ull(now / ts.tick), budget);
	return budget ? advance(budget) : NULL;
}

/* To the next look, at which something must be due if nothing interferes. */
static const char *look(const struct step *s)
{
	u64 next = timers_next(&ts), fired = ref.stats.fired;
	const char *error;

	if (next == KTIME_MAX || next < now || timers_heavy(&ts))
		return pass_to(s, now);
	now = next;
	tell("the next look: now %llu (tick %llu)\n", ull(now), ull(now / ts.tick));
	error = advance(1 << 20);
	if (!error && calm && !was_crowded && ref.stats.fired == fired &&
	    next / ts.tick - started < WHEEL_HORIZON)
		error = "an empty look";
	return error;
}

/* To a timer's tick, or just before or after. */
static const char *pass_to_timer(const struct step *s)
{
	const struct ref_timer *t = &ref.timer[armed_near(s->id)];
	u64 to = start_of(t->due) + s->time % 3;

	if (t->where != REF_PENDING)
		return NULL;
	return pass_to(s, max(now, min(to - 1, LAST_TIME)));
}

/*
 * How many timers wait in the slot of a tick: those that are due, and those that
 * have been moved later since, of which it has to be found out.
 */
static unsigned int in_tick(u64 tick)
{
	const struct wheel_level *level = &ts.wheel.level[0];

	return tick > level->hand ? level->slot[tick & ts.wheel.mask].count : 0;
}

/* How many timers can be brought down in a tick. */
static u64 rate(void)
{
	return max(WHEEL_COST_ONE / ts.wheel.cost, 1ULL);
}

/*
 * A device that keeps up: whatever else comes down, it handles no more than a
 * step for each level and as many as can be brought down in a tick, and what is
 * due is found at its tick. So a heavy slot has to come down ahead of need.
 */
static const char *keep_up(const struct step *s)
{
	u64 all = 1 << 20;
	const char *error;

	tell("a device that keeps up\n");
	error = advance(all);
	/* Not where timers go round, nor where a turn is too short for so many. */
	if (was_set_back || ts.wheel.max_levels * ts.wheel.bits < WHEEL_TICK_BITS - 2 ||
	    rate() << ts.wheel.bits < 2 * ref.capacity)
		return error;
	for (unsigned int looks = s->more % 64; looks && !error; looks--) {
		const struct ref_timer *t = ref.pending;
		u64 next = timers_next(&ts), budget = rate();

		if (timers_heavy(&ts) && next > now)
			next = min(next, start_of(now / ts.tick + 1));
		if (next > LAST_TIME)
			break;
		now = max(now, next);
		for (; t && t->due <= now / ts.tick; t = t->next)
			budget++;
		budget = max(budget, rate() + in_tick(now / ts.tick));
		tell("\tnow %llu (tick %llu), budget %llu\n", ull(now), ull(now / ts.tick),
		     ull(budget));
		error = advance(budget + WHEEL_STEP * ts.wheel.nr_levels);
		if (!error && ref.pending && ref.pending->due <= now / ts.tick)
			error = "late, though the device kept up";
	}
	return error;
}

/*
 * The clock is set back.  Pending timers wait for the same deadlines, and the wheel may take an
 * empty look for each.  An expired timer stays expired.
 */
static const char *set_back(const struct step *s)
{
	u64 back = min(span(s->time, reach), now);

	/* Not by more than ticks can count. */
	if (!ts.settable || back > (1ULL << 62) - was_set_back)
		back = 0;
	was_set_back += back;
	now -= back;
	done_at = WHEEL_NEVER;
	filings += ref.stats.pending;
	tell("the clock is set back by %llu: now %llu (tick %llu)\n", ull(back), ull(now),
	     ull(now / ts.tick));
	return NULL;
}

/* The whole */

static const char *run_step(const struct step *s)
{
	operations++;
	switch (s->code % 32) {
	case 0 ... 5:
		return arm_at(s, s->id % ref.capacity, later(now, span(s->time, reach)));
	case 6 ... 7:
		return arm_edge(s);
	case 8 ... 9:
		return arm_at(s, TWHEEL_ID_ANY, later(now, span(s->time, reach)));
	case 10 ... 11:
		return arm_again(s, false);
	case 12:
		return arm_again(s, true);
	case 13 ... 15:
		return cancel_one(s);
	case 16:
		return s->how % 8 ? get(s) : list(s);
	case 17 ... 20:
		return fly(s);
	case 21:
		return s->how % 16 ? get(s) : crowd(s);
	case 22 ... 25:
		return pass_to(s, later(now, span(s->time, pace)));
	case 26 ... 27:
		return look(s);
	case 28:
		return s->how & 6 ? look(s) : pass_to_timer(s);
	case 29:
		/* As it is now, or an enormous step. */
		return pass_to(s, s->more % 16 ? now : later(now, span(s->time, 56)));
	case 30:
		return nonsense(s);
	default:
		return s->how % 4 ? keep_up(s) : set_back(s);
	}
}

/* What must be so after any step. */
static const char *check_step(unsigned long number)
{
	const struct twheel_stats *stats = &ref.stats;
	const char *error;

	if (ts.arms != stats->arms || ts.cancels != stats->cancels ||
	    ts.fired != stats->fired || ts.delivered != stats->delivered ||
	    ts.overruns != stats->overruns || ts.wheel.filed != stats->pending ||
	    timers_queued(&ts) != stats->expired)
		return "something is miscounted";
	/* Until there is no memory for a level, or a clock that is set back makes one too few. */
	if (!was_set_back && ts.wheel.max_levels * ts.wheel.bits >= 64 &&
	    ts.wheel.moves > filings * ts.wheel.max_levels)
		return "a timer is filed again more than once for each level";
	if (now == done_at && timers_next(&ts) <= now && !rules_crowded(&ts.wheel))
		return "nothing is left to do, and it would look again at once";
	/* The last tick of all is as good as never. */
	if (ref.pending && !timers_heavy(&ts) &&
	    timers_next(&ts) > start_of(ref.pending->due) &&
	    start_of(ref.pending->due) < KTIME_MAX - ts.tick)
		return "the next look is too late";
	if (number % RULES_EVERY == 0) {
		error = rules_check(&ts.wheel, &ref, ts.shift);
		if (error)
			return error;
	}
	return number % ALL_EVERY ? NULL : compare_all();
}

static void start(const u8 *head)
{
	static const unsigned int slots[] = PROGRAM_SLOT_COUNTS;
	static const u64 ticks[] = { 1000000, 1, 3, 1000, 3333, 10000, 100000, 1000000000 };
	static const u32 capacities[] = { 40, 1, 3, 100, 257, 700, 1536, 20 };
	u32 capacity = capacities[head[PROGRAM_CAPACITY] % ARRAY_SIZE(capacities)];

	ts.tick = ticks[head[PROGRAM_TICK] % ARRAY_SIZE(ticks)];
	reach = 4 + head[PROGRAM_REACH] % 53;
	pace = 1 + head[PROGRAM_PACE] % reach;
	now = later(0, span(head[PROGRAM_START] << 8 | 0xb5, 56));
	lowest_chosen = capacity;
	calm = head[PROGRAM_CALM] % 4 == 1;
	was_crowded = false;
	was_behind = false;
	started = now / ts.tick;
	cookie = 0;
	filings = 0;
	was_set_back = 0;
	done_at = WHEEL_NEVER;
	memset(flights, 0, sizeof(flights));
	timers_setup(&ts, capacity, head[PROGRAM_LEVELS] % 17,
		     slots[head[PROGRAM_SLOTS] % ARRAY_SIZE(slots)], ts.tick, now);
	ts.settable = head[PROGRAM_CALM] % 4 == 0 || head[PROGRAM_CALM] % 4 == 2;
	ref_init(&ref, capacity, ts.tick, ts.settable);
	tell("%u levels of %u slots, a tick of %llu ns, capacity %u, now %llu%s%s\n",
	     ts.wheel.max_levels, 1U << ts.wheel.bits, ull(ts.tick), capacity, ull(now),
	     calm ? ", calm" : "", ts.settable ? ", a clock that can be set" : "");
}

/**
 * program_run() - carry out a program
 * @bytes: the program
 * @size: how many
 * @tell: print each step
 *
 * Return: what went wrong, or NULL.
 */
const char *program_run(const u8 *bytes, size_t size, bool tell)
{
	const char *error = NULL;

	if (size < PROGRAM_STEP)
		return NULL;
	telling = tell;
	start(bytes);
	for (size_t at = PROGRAM_STEP; at + PROGRAM_STEP <= size && !error; at += PROGRAM_STEP) {
		const u8 *b = bytes + at;
		struct step s = { b[0], b[1], b[2] << 8 | b[3], b[4] << 8 | b[5],
				  b[6] << 8 | b[7] };

		tell("%4zu  ", at / PROGRAM_STEP);
		error = run_step(&s);
		if (!error)
			error = check_step(at / PROGRAM_STEP);
	}
	for (unsigned int i = 0; i < FLIGHTS; i++)
		if (!error && flights[i].flies)
			land(&flights[i], 0);
	if (!error)
		error = check_step(0);
	timers_destroy(&ts);
	return error;
}

/* How many operations all programs had so far. */
unsigned long program_operations(void)
{
	return operations;
}
