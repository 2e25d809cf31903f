// SPDX-License-Identifier: GPL-2.0
/*
 * The longest pass: a million timers, ticks one by one, and at each tick that
 * wheel_next() or @heavy asks for either all there is to do at once, or
 * steps of 64 timers until what is due is out and a share of the heavy slots is
 * down. Every event is checked for its exact tick.
 */
#include "unit.h"

#define TIMERS		1000000U

/* Ticks of a slot on level 2, and of the other program. */
#define SLOT		(64U * 64)
#define SPAN		300000U

/* Timers to bring down in one tick, if that many wait in heavy slots. */
#define SHARE		1000U

/**
 * struct passes - how long they took
 * @best: of each pass or step, the shortest time of all runs so far; the same
 *	program runs each time, so what is left is its own work, without what
 *	else the machine did
 * @nr: how many so far in this run
 * @expected: how many there were in the first run
 * @longest: in this run, ns
 */
struct passes {
	u32	best[1 << 19];
	u32	nr;
	u32	expected;
	u32	longest;
};

static struct passes at_once, ticks, steps;

/**
 * struct totals - of a run
 * @step_ns: all steps that were full
 * @full: how many
 * @late: ticks, the worst event
 * @early: events before their tick
 * @seen: all events
 */
struct totals {
	u64	step_ns;
	u32	full;
	u64	late;
	u64	early;
	u64	seen;
};

static void passed(struct passes *passes, unsigned int run, u64 ns)
{
	u32 *best = &passes->best[passes->nr];

	passes->longest = max(passes->longest, (u32)ns);
	if (passes->nr < ARRAY_SIZE(passes->best))
		*best = run ? min(*best, (u32)ns) : ns;
	passes->nr++;
}

static u32 longest_undisturbed(const struct passes *passes)
{
	u32 longest = 0;

	for (u32 i = 0; i < passes->nr; i++)
		longest = max(longest, passes->best[i]);
	return longest;
}

static void take(struct wheel *w, u64 now, struct totals *totals)
{
	static struct told events[WHEEL_STEP];
	struct seen seen = {};
	unsigned int n;

	while ((n = unit_due(w, events, &seen, now - 1, now)))
		for (unsigned int i = 0; i < n; i++) {
			if (events[i].deadline > now)
				totals->early++;
			else
				totals->late = max(totals->late, now - events[i].deadline);
		}
	totals->seen += seen.nr;
}

static void pass_at_once(struct wheel *w, u64 now, unsigned int run, struct totals *totals)
{
	u64 start = host_ns();

	wheel_advance(w, now, ~0U);
	passed(&at_once, run, host_ns() - start);
	take(w, now, totals);
}

static void pass_in_steps(struct wheel *w, u64 now, unsigned int run, struct totals *totals)
{
	u64 start = host_ns(), from, ns;
	unsigned int n, done = 0;

	do {
		from = host_ns();
		n = wheel_advance(w, now, WHEEL_STEP);
		ns = host_ns() - from;
		passed(&steps, run, ns);
		if (n == WHEEL_STEP) {
			totals->step_ns += ns;
			totals->full++;
		}
		done += n;
		take(w, now, totals);
	} while (n == WHEEL_STEP && (done < SHARE || wheel_next(w) <= now));
	passed(&ticks, run, host_ns() - start);
}

static int run_of_passes(const char *part, bool one_slot, bool once, unsigned int run)
{
	struct wheel *w = host_alloc(sizeof(*w));
	struct totals totals = {};
	u32 first = 0, span = SPAN;
	struct work *work;
	int ret = 0;

	/* A slot that is as far as level 1 does not reach. */
	if (one_slot) {
		first = SLOT * 4 - START % SLOT - 1;
		span = SLOT;
	}
	work_seed(1);
	work = host_alloc(TIMERS * sizeof(*work));
	if (!w || !work || !unit_open(w, TIMERS, SHARE, START)) {
		ret = host_fail("no memory for timers:", TIMERS);
		goto out;
	}
	work_in_sequence(work, TIMERS);
	work_shuffle(work, TIMERS);
	work_deadlines(work, TIMERS, span);
	for (u32 i = 0; i < TIMERS; i++) {
		unit_file(w, work[i].id, START + first + work[i].ticks);
		unit_record(w, work[i].id, START + first + work[i].ticks);
	}
	if (once && !one_slot)
		host_tell("memory", "a timer, with all of its wheel", "wheel", TIMERS,
			  "bytes", w->memory, TIMERS);
	for (u64 now = START + 1; now <= START + first + span; now++) {
		if (wheel_next(w) > now && !w->heavy)
			continue;
		if (once)
			pass_at_once(w, now, run, &totals);
		else
			pass_in_steps(w, now, run, &totals);
		cond_resched();
	}
	if (totals.early)
		ret = host_fail("timers came early:", totals.early);
	else if (totals.seen != TIMERS)
		ret = host_fail("timers were lost or came twice; seen", totals.seen);
	else if (once)
		host_tell(part, "moves per timer, at once", "wheel", TIMERS, "moves",
			  w->moves, TIMERS);
	else
		host_tell(part, "moves per timer, in steps", "wheel", TIMERS, "moves",
			  w->moves, TIMERS);
	if (!once) {
		host_tell(part, "the last event late by", "wheel", TIMERS, "ticks",
			  totals.late, 1);
		host_tell(part, "mean step of 64", "wheel", TIMERS, "us",
			  totals.step_ns, totals.full * 1000ULL);
	}
	wheel_destroy(w);
out:
	host_free_all();
	return ret;
}

/* A run has ended: tell of it, and after the last of what all have in common. */
static int tell_longest(const char *part, const char *name, const char *undisturbed,
			struct passes *passes, unsigned int run, bool last)
{
	u32 nr = passes->nr, longest = passes->longest;

	if (!run)
		passes->expected = nr;
	if (nr > ARRAY_SIZE(passes->best))
		return host_fail("too many passes:", nr);
	/* Else the shortest times would be of passes that are not the same. */
	if (nr != passes->expected)
		return host_fail("runs of one program differ; passes", nr);
	host_tell(part, name, "wheel", TIMERS, "us", longest, 1000);
	if (last)
		host_tell(part, undisturbed, "wheel", TIMERS, "us",
			  longest_undisturbed(passes), 1000);
	passes->longest = 0;
	passes->nr = 0;
	return 0;
}

/* All runs of one program: the passes of the next are others. */
int loops_passes(const char *part, bool one_slot, unsigned int runs)
{
	int ret = 0;

	for (unsigned int run = 0; !ret && run < runs; run++) {
		bool last = run == runs - 1;

		host_progress(part, run, runs);
		ret = run_of_passes(part, one_slot, true, run) ?:
		      run_of_passes(part, one_slot, false, run) ?:
		      tell_longest(part, "longest pass, moving at once",
				   "longest pass, moving at once, undisturbed",
				   &at_once, run, last) ?:
		      tell_longest(part, "longest pass, in steps",
				   "longest pass, in steps, undisturbed",
				   &ticks, run, last) ?:
		      tell_longest(part, "longest step of 64",
				   "longest step of 64, undisturbed",
				   &steps, run, last);
	}
	return ret;
}

/* What a timer takes: its record, and all memory of a wheel in use. */
int loops_memory(const char *part)
{
	host_tell(part, "record of a timer", "wheel", 1, "bytes",
		  sizeof(struct timer), 1);
	return 0;
}
