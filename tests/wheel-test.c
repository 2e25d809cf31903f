// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs on the wheel and on an array that is obviously right: every
 * timer comes due at its tick, none early, none lost, whatever the shape, the
 * steps and the jumps of time.
 */
#include <stdio.h>

#include "../wheel.c"
#include "rnd.h"
#include "tap.h"
#include "tests.h"

#define TIMERS 600

struct shape {
	const char *name;
	unsigned int levels, slots;
};

static const struct shape shapes[] = {
	{ "one level of 4 slots",	1, 4 },
	{ "one level of 64 slots",	1, 64 },
	{ "one level of 512 slots",	1, 512 },
	{ "two levels of 4 slots",	2, 4 },
	{ "three levels of 16 slots",	3, 16 },
	{ "11 levels of 64 slots",	11, 64 },
	{ "16 levels of 4 slots",	16, 4 },
	{ "4 levels of 256 slots",	4, 256 },
	{ "2 levels of 4096 slots",	2, 4096 },
};

/* What each timer should be: its tick while filed, 0 when it is not. */
static u64 wanted[TIMERS];
static void make(struct wheel *w, const struct shape *shape, u64 now)
{
	wheel_init(w, TIMERS, shape->levels, shape->slots, 50, now);
	wheel_add_directory(w, wheel_directory_alloc(w));
	for (u32 id = 0; id < TIMERS; id += WHEEL_CHUNK_TIMERS)
		wheel_add_chunk(w, id, wheel_chunk_alloc());
	memset(wanted, 0, sizeof(wanted));
}

static u64 soonest_wanted(void)
{
	u64 soonest = WHEEL_NEVER;

	for (u32 id = 0; id < TIMERS; id++)
		if (wanted[id])
			soonest = min(soonest, wanted[id]);
	return soonest;
}

static const char *check(struct wheel *w)
{
	u32 filed = 0;

	for (unsigned int l = 0; l < w->nr_levels; l++) {
		const struct wheel_level *level = &w->level[l];
		unsigned int size = ring_size(w);

		if (l && level->hand > (level[-1].hand >> w->bits) + 1)
			return "R2: a hand is ahead of the one below";
		if (!(w->open & BIT(l)) && test_bit(level->hand & (size - 1), level->map))
			return "timers at a hand that is not open";
		for (unsigned int place = 0; place < size; place++) {
			const struct wheel_slot *slot = &level->slot[place];
			u64 number = level->hand + 1 +
				     ((place - (level->hand + 1)) & (size - 1));

			if (!test_bit(place, level->map))
				continue;
			if (number == level->hand + size)
				number = level->hand;
			for (int i = 0; i < WHEEL_LISTS; i++)
				for (u32 id = slot->head[i]; id != WHEEL_NIL;
				     id = wheel_node(w, id)->next) {
					u64 expiry = wheel_node(w, id)->expiry;

					filed++;
					if (wheel_node(w, id)->expiry != wanted[id])
						return "a tick was changed";
					if (expiry < slot->soonest)
						return "soonest is no lower bound";
					if (expiry >> level->shift < number)
						return "filed after its tick";
				}
			if (number != level->hand && slot->soonest < level->next)
				return "next is no lower bound";
		}
	}
	return filed == w->filed ? NULL : "filed is miscounted";
}

/* May a slot have been late, so that its timers came behind others? */
static bool any_heavy(struct wheel *w)
{
	for (unsigned int l = 1; l < w->nr_levels; l++)
		for (unsigned int place = 0; place < ring_size(w); place++)
			if (test_bit(place, w->level[l].map) &&
			    w->level[l].slot[place].filed > WHEEL_STEP / 2)
				return true;
	return false;
}

/* Take what is due; in order, if @ordered. */
static const char *collect(struct wheel *w, u64 now, bool all, bool ordered)
{
	struct wheel_queue *due = wheel_queue(w, WHEEL_DUE);
	u64 last = 0;

	while (due->count) {
		u32 id;

		if (rnd() % 2) {
			if (wheel_take_due(w, &id, 1) != 1)
				return "the due queue is miscounted";
		} else {
			id = due->tail;
			wheel_unlink(w, id);
			wheel_push(w, id, WHEEL_DUE, false);
			if (wheel_take_due(w, &id, 1) != 1)
				return "the due queue is miscounted";
		}
		if (!wanted[id])
			return "a cancelled timer came due";
		if (wanted[id] > now)
			return "early";
		if (ordered && wanted[id] < last)
			return "out of order";
		last = max(last, wanted[id]);
		wanted[id] = 0;
	}
	return all && soonest_wanted() <= now ? "late" : NULL;
}

static void arm(struct wheel *w, u32 id, u64 now, u64 expiry)
{
	wheel_turn(w, now);
	while (wheel_level_missing(w, wheel_level(w, expiry)))
		wheel_add_level(w, wheel_level_alloc(w));
	wheel_file(w, id, expiry, wheel_level(w, expiry));
	wanted[id] = expiry;
}

/* More than a step's worth of timers in a slot or two. */
static void crowd(struct wheel *w, const struct shape *shape, u64 now)
{
	u64 from = now + 1 + (rnd() % 4 + 1) * (rnd() % 2 ? 2 : shape->slots) * shape->slots;

	for (unsigned int n = WHEEL_STEP + rnd() % TIMERS; n; n--)
		arm(w, rnd() % TIMERS, now, from + rnd() % shape->slots);
}

static const char *program(const struct shape *shape, unsigned long ops)
{
	u64 now = rnd_span(40);
	struct wheel w;
	const char *error = NULL;

	make(&w, shape, now);
	for (unsigned long i = 0; i < ops && !error; i++) {
		u32 id = rnd() % TIMERS;

		switch (rnd() % 16) {
		case 0 ... 5:
			arm(&w, id, now, now + 1 + rnd_span(rnd() % 4 ? 16 : 60));
			break;
		case 6:
			if (rnd() % 16 == 0)
				crowd(&w, shape, now);
			break;
		case 7 ... 8:
			if (wanted[id]) {
				wheel_unlink(&w, id);
				wanted[id] = 0;
			}
			break;
		case 9:
			/* To the next look, which must not be in vain. */
			if (w.nr_levels && !w.open && w.filed) {
				u64 next = wheel_next(&w);
				bool ordered = !any_heavy(&w);

				if (next > soonest_wanted())
					return "next is too late";
				now = max(now, next);
				if (wheel_advance(&w, now, now, 1 << 30) == 1 << 30)
					return "endless";
				error = collect(&w, now, true, ordered);
			}
			break;
		case 10 ... 12:
			now += rnd_span(10);
			goto advance;
		case 13:
			now += rnd_span(rnd() % 16 ? 20 : 48);
			goto advance;
		default:
advance:
			if (w.nr_levels) {
				unsigned int budget = 1 + rnd() % WHEEL_STEP;
				bool ordered = !any_heavy(&w);
				bool all = wheel_advance(&w, now, now, budget) < budget;

				error = collect(&w, now, all, ordered);
			}
		}
		if (!error && i % 8 == 0)
			error = check(&w);
		if (error)
			printf("# operation %lu, now %llu\n", i, (unsigned long long)now);
		if (now > INT64_MAX / 4)
			break;
	}
	wheel_destroy(&w);
	return error;
}

void wheel_random(unsigned long ops, u64 from)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(shapes); i++) {
		const char *error = NULL;

		for (u64 s = from; s < from + 20 && !error; s++) {
			rnd_seed(s, i);
			error = program(&shapes[i], ops / 20);
			if (error)
				printf("# seed %llu: %s\n", (unsigned long long)s, error);
		}
		tap(!error, "random use of the wheel: %s", shapes[i].name);
	}
}
