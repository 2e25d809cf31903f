// SPDX-License-Identifier: GPL-2.0
/*
 * Cases by name, and what is inside timers.c: how times become ticks.
 */
#include "../timers.c"
#include "rnd.h"
#include "tap.h"
#include "tests.h"

#define CAPACITY	700

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

/* The tick of a deadline, beside the division that it avoids. */
void timers_ticks(void)
{
	static const u64 ticks[] = { 1, 2, 3, 7, 1000, 3333, 100000, 1000000,
				     999999937, 1000000000 };
	bool good = true, round = true;

	rnd_seed(1, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(ticks); i++) {
		timers_setup(&ts, 1, 0, 64, ticks[i], 0);
		for (int n = 0; n < 100000; n++) {
			u64 ns = n < 10 ? n * ticks[i] : n < 20 ? (u64)KTIME_MAX - n : rnd_span(63);

			good &= ticks_of(&ts, ns) == ns / ticks[i];
			ns -= ns % ticks[i];
			good &= ticks_of(&ts, ns) == ns / ticks[i];
		}
	}
	tap(good, "a time is cut into ticks exactly, for any tick");

	timers_setup(&ts, 1, 0, 64, 1000, 0);
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
	timers_setup(&ts, CAPACITY, 0, 64, tick, now);
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

/* A level is added when the first deadline needs it, not before. */
static void few_levels(void)
{
	static const struct {
		u64 ticks;
		unsigned int levels;
	} steps[] = {
		{ 1, 1 }, { 64, 1 }, { 129, 2 }, { 4096, 2 }, { 8257, 3 }, { 100000, 3 },
		{ 1000000000000, 7 },
	};
	bool good = true;

	start(1000000);
	for (u32 i = 0; i < ARRAY_SIZE(steps); i++) {
		struct twheel_op op = { .id = i, .deadline = now + steps[i].ticks * ts.tick };

		good &= !arm(&op) && ts.wheel.nr_levels == steps[i].levels;
	}
	tap(good, "a wheel has the levels that its deadlines need");
	wheel_destroy(&ts.wheel);
}

/* The slack of a later period leads to a level that the first did not need. */
static void periodic_slack(void)
{
	struct twheel_op op = { .id = 3, .deadline = 1, .interval = 5000000,
				.slack = 3600000000000 };
	struct twheel_event event;
	bool good;

	start(1000000);
	arm(&op);
	good = timers_claim(&ts, &event, 1, now) == 1;
	timers_commit(&ts, &event, 1, now);
	op = (struct twheel_op){ .id = 4, .deadline = now + 300 * ts.tick };
	arm(&op);
	now = op.deadline;
	timers_advance(&ts, now, 1 << 20);
	good &= timers_claim(&ts, &event, 1, now) == 1 && event.id == 4;
	tap(good, "a periodic timer with much slack is in nobody's way");
	wheel_destroy(&ts.wheel);
}

/* After 2^32 armings the generation starts over, but never with 0. */
static void generations_wrap(void)
{
	struct twheel_op op = { .id = 3, .deadline = 1 };
	bool good;

	start(1000000);
	arm(&op);
	timer_of(&ts, 3)->generation = ~0U;
	op.generation = ~0U;
	good = !arm(&op) && op.generation == 1;
	tap(good, "no generation is 0");
	wheel_destroy(&ts.wheel);
}

/* What is due and not found yet counts as waiting, or a consumer would sleep. */
static void waiting_behind(void)
{
	struct twheel_op op = { .count = 0 };
	struct ring ring = {};
	bool good;

	start(1000000);
	if (ring_alloc(&ring, 256)) {
		tap(false, "memory for a ring");
		return;
	}
	for (op.id = 0; op.id < 100; op.id++) {
		op.deadline = now + (1 + op.id) * ts.tick;
		op.generation = 0;
		arm(&op);
	}
	now = op.deadline;
	timers_advance(&ts, now, 10);
	good = ring_post(&ring, &ts, now) == 10 && ring.header->waiting == 1;
	timers_advance(&ts, now, 1 << 20);
	good &= ring_post(&ring, &ts, now) == WHEEL_STEP &&
		ring.header->waiting == 90 - WHEEL_STEP;
	good &= ring_post(&ring, &ts, now) == 90 - WHEEL_STEP && !ring.header->waiting;
	tap(good, "a ring tells that something waits, before it is found");
	ring_free(&ring);
	wheel_destroy(&ts.wheel);
}

void timers_cases(void)
{
	old_claim();
	first_due_periodic();
	few_levels();
	periodic_slack();
	generations_wrap();
	waiting_behind();
}
