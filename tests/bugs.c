// SPDX-License-Identifier: GPL-2.0
/*
 * The bugs that timing wheels, and the loops around them, have had: one test
 * for each, named after what it prevents, with where it was seen. They were
 * found in good code by careful people; most of them more than once.
 *
 * What only a device can get wrong is in the selftests, with the same "Seen in".
 *
 * Included by kunit.c.
 */

#define TICK	1000000ULL

/* Timers with a tick of 1 ms, the default shape, and 1000 s behind them. */
static struct timers *start(struct kunit *test)
{
	return timers_start(test, 0, 64, TICK, 1000 * SEC);
}

static u64 now_of(struct kunit *test)
{
	return ((struct fixture *)test->priv)->now;
}

/*
 * Time is rounded down to a tick, and so is the deadline: up to a tick early.
 * Seen in libuv #4773: up to 0.99999 ms early.
 */
static void tick_floor_fires_early(struct kunit *test)
{
	for (u64 n = 1; n < 3000; n += 7) {
		u64 now = 1000 * SEC + n * 333, deadline = now + n * TICK / 16 + n;
		struct twheel_event event;

		start(test);
		KUNIT_ASSERT_EQ(test, pass_to(test, now), 0);
		arm(test, 1, deadline);
		KUNIT_ASSERT_EQ(test, pass_to(test, deadline - 1), 0);
		KUNIT_ASSERT_EQ(test, pass_to(test, deadline + TICK), 1);
		KUNIT_ASSERT_TRUE(test, read_one(test, &event));
		KUNIT_ASSERT_GE(test, event.fired, deadline);
	}
}

/*
 * A timer that is due again at once runs again before all others, for ever.
 * Seen in libuv #4245, #4250: a repeat of 0 ms.
 */
static void zero_delay_rearm_starves_the_loop(struct kunit *test)
{
	struct timers *ts = start(test);
	struct twheel_event event;

	arm(test, 1, now_of(test));
	arm(test, 2, now_of(test) + 1);
	arm(test, 3, now_of(test) + TICK);
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + TICK), 3);
	KUNIT_EXPECT_EQ(test, read_id(test), 1);
	arm(test, 1, now_of(test));
	/* Both are due at the same tick, in whatever order. */
	KUNIT_EXPECT_EQ(test, read_id(test) + read_id(test), 2 + 3);
	KUNIT_EXPECT_EQ(test, read_id(test), 1);
	/* And the wheel itself has nothing to do for it. */
	arm(test, 1, now_of(test));
	KUNIT_EXPECT_EQ(test, timers_advance(ts, now_of(test), WHEEL_STEP), 0);
	KUNIT_EXPECT_EQ(test, timers_next(ts), KTIME_MAX);
	/* Armed again while its event waits, it goes behind all others too. */
	arm(test, 2, now_of(test));
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + TICK), 2);
	arm(test, 1, now_of(test));
	KUNIT_EXPECT_EQ(test, read_id(test), 2);
	KUNIT_ASSERT_TRUE(test, read_one(test, &event));
	KUNIT_EXPECT_EQ(test, event.id, 1);
	KUNIT_EXPECT_EQ(test, event.fired, now_of(test));
	KUNIT_EXPECT_EQ(test, read_id(test), WHEEL_NIL);
}

/*
 * The slot of the next tick has just been passed: the timer goes all round.
 * Seen in folly ae82765: a timeout below a tick took 2.5 s.
 */
static void tiny_timeout_waits_a_full_turn(struct kunit *test)
{
	static const unsigned int levels[] = { 0, 1 };

	for (unsigned int i = 0; i < ARRAY_SIZE(levels); i++) {
		timers_start(test, levels[i], 64, TICK, 1000 * SEC);
		for (u64 n = 0; n < 300; n++) {
			u64 now = now_of(test) + n * 77777, due = now + 1;

			KUNIT_ASSERT_EQ(test, pass_to(test, now), 0);
			arm(test, n % CAPACITY, due);
			KUNIT_ASSERT_EQ(test, pass_to(test, round_up_ns(due, TICK)), 1);
			KUNIT_ASSERT_EQ(test, read_id(test), n % CAPACITY);
		}
	}
}

/*
 * Time went on without anybody looking; a timeout counts from the hand.
 * Seen in folly b575961, seastar PR 1568: two reads of the clock, one of them stale.
 */
static void stale_hand_shortens_a_timeout(struct kunit *test)
{
	static const u64 stalls[] = { TICK, 63 * TICK, 64 * TICK, 5 * SEC, 3 * DAY, YEAR };

	for (unsigned int i = 0; i < ARRAY_SIZE(stalls); i++) {
		struct timers *ts = start(test);
		struct fixture *f = test->priv;

		arm(test, 1, now_of(test) + TICK);
		KUNIT_ASSERT_EQ(test, cancel(test, 1), TWHEEL_STATE_PENDING);
		f->now += stalls[i];
		arm(test, 2, now_of(test) + 5 * TICK);
		KUNIT_ASSERT_LE(test, timers_next(ts), now_of(test) + 5 * TICK);
		KUNIT_ASSERT_EQ(test, pass_to(test, now_of(test) + 5 * TICK - 1), 0);
		KUNIT_ASSERT_EQ(test, pass_to(test, now_of(test) + 1), 1);
	}
}

/*
 * The next look is taken from the finest level that has timers.
 * Seen in glommio PR 44: an earlier timer of a coarse level was not seen.
 */
static void coarse_deadline_hidden_by_a_fine_one(struct kunit *test)
{
	u64 coarse = 1000 * SEC + 200 * TICK;
	struct timers *ts = start(test);

	arm(test, 1, coarse);
	KUNIT_EXPECT_EQ(test, pass_to(test, coarse - 10 * TICK), 0);
	arm(test, 2, coarse + 5 * TICK);
	KUNIT_EXPECT_EQ(test, find_filed(&ts->wheel, 1).level, 1);
	KUNIT_EXPECT_EQ(test, find_filed(&ts->wheel, 2).level, 0);
	KUNIT_EXPECT_EQ(test, timers_next(ts), coarse);
	KUNIT_EXPECT_EQ(test, pass_to(test, coarse), 1);
	KUNIT_EXPECT_EQ(test, read_id(test), 1);
	KUNIT_EXPECT_EQ(test, timers_next(ts), coarse + 5 * TICK);
}

/*
 * What is due was handled, yet the next look is at once: a busy loop.
 * Seen in glommio PR 44; libevent #958: a coarse clock; HAProxy 77015ab: what was moved.
 */
static void next_expiry_in_the_past_spins(struct kunit *test)
{
	struct timers *ts = start(test);
	u32 looks = 0;

	for (u32 id = 0; id < 1000; id++)
		arm(test, id, now_of(test) + (id * id + 1) * TICK / 3);
	for (u32 id = 0; id < 1000; id += 3)
		cancel(test, id);
	for (u32 id = 1; id < 1000; id += 3)
		arm(test, id, now_of(test) + 400 * SEC + id * TICK);
	while (timers_next(ts) < KTIME_MAX) {
		pass_to(test, timers_next(ts));
		while (read_id(test) != WHEEL_NIL)
			;
		KUNIT_ASSERT_GT(test, timers_next(ts), now_of(test));
		looks++;
	}
	/* 667 are due, and each that was touched costs a look at the most. */
	KUNIT_EXPECT_LE(test, looks, 1000 + 334);
}

/*
 * A fraction of a tick, where an upper slot begins: a slot too far, or early.
 * Seen in glommio PR 44.
 */
static void fractional_deadline_at_a_cascade_boundary(struct kunit *test)
{
	for (unsigned int shift = 6; shift <= 24; shift += 6) {
		for (u64 ns = 1; ns < TICK; ns = ns * 10 + 1) {
			u64 begin = round_up_ns(1000 * SEC, TICK << shift) + (TICK << shift);

			/* Behind the begin: the first tick of the slot, for two of them. */
			start(test);
			arm(test, 1, begin + ns);
			arm(test, 3, begin + TICK);
			/* Before it: the begin. */
			arm(test, 2, begin - ns);
			arm(test, 4, begin);
			KUNIT_ASSERT_EQ(test, pass_to(test, begin - 1), 0);
			KUNIT_ASSERT_EQ(test, pass_to(test, begin), 2);
			KUNIT_ASSERT_EQ(test, read_id(test) + read_id(test), 2 + 4);
			KUNIT_ASSERT_EQ(test, pass_to(test, begin + TICK - 1), 0);
			KUNIT_ASSERT_EQ(test, pass_to(test, begin + TICK), 2);
		}
	}
}

/*
 * What the levels do not reach is cut off to what they do.
 * Seen in rpc-perf #180; folly clamps to 2^32 ticks.
 */
static void timer_beyond_range_fires_early(struct kunit *test)
{
	static const unsigned int levels[] = { 1, 2, 3 };

	for (unsigned int i = 0; i < ARRAY_SIZE(levels); i++) {
		for (u64 turns = 1; turns < 5000; turns = turns * 3 + 1) {
			u64 range = 1ULL << (3 * levels[i] + 1);
			struct timers *ts = timers_start(test, levels[i], 8, TICK, 0);
			u64 deadline = (turns * range + turns % 5) * TICK;

			arm(test, 1, deadline);
			for (u64 now = TICK; now < deadline; now += deadline / 7)
				KUNIT_ASSERT_EQ(test, pass_to(test, now), 0);
			KUNIT_ASSERT_EQ(test, timers_next(ts), deadline);
			KUNIT_ASSERT_EQ(test, pass_to(test, deadline - 1), 0);
			KUNIT_ASSERT_EQ(test, pass_to(test, deadline), 1);
		}
	}
}

/*
 * A slot is chosen by a hash that is right only for some distances.
 * Seen in wahern/timeout PR 29, in lwan PR 310: 500 came at 557, 2000 at 5841, 5000 at 8772.
 */
static void slot_of_another_distance(struct kunit *test)
{
	static const u64 timeouts[] = { 500, 2000, 5000 };

	for (u64 from = 0; from < 8192; from += 61) {
		for (unsigned int i = 0; i < ARRAY_SIZE(timeouts); i++) {
			struct wheel *w = wheel_start(test, 4, 64, RATE, from);

			file(test, w, 1, from + timeouts[i]);
			for (u64 now = from + 50; now < from + timeouts[i]; now += 50)
				KUNIT_ASSERT_EQ(test, advance_to(test, w, now), 0);
			KUNIT_ASSERT_EQ(test, advance_to(test, w, from + timeouts[i]), 1);
		}
	}
}

/*
 * The last timer is cancelled while its own event is handled: nobody wakes.
 * Seen in seastar #3013, PR 3092. The device is put to this too.
 */
static void cancel_in_its_own_event_loses_the_others(struct kunit *test)
{
	struct timers *ts = start(test);
	struct twheel_event event;
	u64 later = now_of(test) + 70 * TICK;

	arm_periodic(test, 1, now_of(test) + TICK, TICK);
	arm(test, 2, later);
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + TICK), 1);
	KUNIT_ASSERT_EQ(test, timers_claim(ts, &event, 1, now_of(test)), 1);
	KUNIT_EXPECT_EQ(test, cancel(test, 1), TWHEEL_STATE_EXPIRED);
	KUNIT_EXPECT_EQ(test, owner_commit(ts, &event, 1, ts->claims, now_of(test)), 0);
	KUNIT_EXPECT_EQ(test, timers_next(ts), later);

	/* Armed again in its own event, it stays armed. */
	KUNIT_EXPECT_EQ(test, pass_to(test, later), 1);
	KUNIT_ASSERT_EQ(test, timers_claim(ts, &event, 1, now_of(test)), 1);
	arm(test, 2, later + SEC);
	owner_commit(ts, &event, 1, ts->claims, now_of(test));
	KUNIT_EXPECT_EQ(test, timers_next(ts), later + SEC);
	KUNIT_EXPECT_EQ(test, pass_to(test, later + SEC), 1);
}

/*
 * An expiry that waits to be delivered survives the cancel, or the reset.
 * Seen in VPP-1923 (#696).
 */
static void stale_expiry_after_a_cancel_or_a_move(struct kunit *test)
{
	struct timers *ts = start(test);
	struct twheel_event event;
	u64 later = now_of(test) + SEC;
	u32 generation;

	for (u32 id = 1; id <= 4; id++)
		arm(test, id, now_of(test) + TICK);
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + TICK), 4);
	KUNIT_EXPECT_EQ(test, cancel(test, 1), TWHEEL_STATE_EXPIRED);
	generation = arm(test, 2, later);
	KUNIT_EXPECT_EQ(test, timers_queued(ts), 2);

	/* A read holds the event when it is cancelled, and can't deliver it. */
	KUNIT_ASSERT_EQ(test, timers_claim(ts, &event, 1, now_of(test)), 1);
	cancel(test, event.id);
	timers_put_back(ts, &event, 1, ts->claims);
	KUNIT_EXPECT_EQ(test, timers_queued(ts), 1);
	KUNIT_EXPECT_NE(test, read_id(test), event.id);
	KUNIT_EXPECT_EQ(test, read_id(test), WHEEL_NIL);

	KUNIT_EXPECT_EQ(test, pass_to(test, later), 1);
	KUNIT_ASSERT_TRUE(test, read_one(test, &event));
	KUNIT_EXPECT_EQ(test, event.id, 2);
	KUNIT_EXPECT_EQ(test, event.generation, generation);
}

/*
 * The id of a timer that is over is used again; its old owner stops the new.
 * Seen in upg-vpp PR 286: the stop of an expired handle stops a random timer.
 */
static void stale_handle_cancels_another_timer(struct kunit *test)
{
	struct twheel_op first = { .id = TWHEEL_ID_ANY }, second = first, op;
	struct timers *ts = start(test);

	first.deadline = now_of(test);
	second.deadline = now_of(test) + SEC;
	KUNIT_ASSERT_EQ(test, arm_op(test, &first), 0);
	KUNIT_EXPECT_EQ(test, read_id(test), first.id);
	KUNIT_ASSERT_EQ(test, arm_op(test, &second), 0);
	KUNIT_ASSERT_EQ(test, first.id, second.id);

	op = (struct twheel_op){ .id = first.id, .generation = first.generation };
	KUNIT_EXPECT_EQ(test, owner_cancel(ts, &op), -ESTALE);
	op.deadline = now_of(test) + 2 * SEC;
	KUNIT_EXPECT_EQ(test, arm_op(test, &op), -ESTALE);
	KUNIT_EXPECT_EQ(test, timers_next(ts), second.deadline);
	KUNIT_EXPECT_EQ(test, cancel(test, second.id), TWHEEL_STATE_PENDING);
}

/*
 * A cancel counts what is not there any more: the limit is off by one.
 * Seen in netty #14959.
 */
static void pending_counter_decremented_twice_at_the_limit(struct kunit *test)
{
	struct timers *ts = start(test);
	struct twheel_op op;

	/* Some that the daemon named itself are over: they are free, once. */
	for (u32 id = 0; id < 10; id++) {
		arm(test, id, now_of(test) + id % 2 * SEC);
		KUNIT_ASSERT_EQ(test, cancel(test, id), id % 2 ? TWHEEL_STATE_PENDING
							       : TWHEEL_STATE_EXPIRED);
	}
	ts->cancels = 0;
	for (u32 n = 0; n < CAPACITY; n++) {
		op = (struct twheel_op){ .id = TWHEEL_ID_ANY, .deadline = now_of(test) + SEC };
		KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
		KUNIT_ASSERT_EQ(test, op.state, TWHEEL_STATE_IDLE);
		/* From the top: those of the daemon's own kind come last. */
		KUNIT_ASSERT_EQ(test, op.id, CAPACITY - 1 - n);
		KUNIT_ASSERT_EQ(test, ts->wheel.filed, n + 1);
	}
	for (u32 n = 0; n < 3; n++) {
		op = (struct twheel_op){ .id = TWHEEL_ID_ANY, .deadline = now_of(test) + SEC };
		KUNIT_ASSERT_EQ(test, arm_op(test, &op), -ENOSPC);
		/* Cancelled twice, once for nothing: there is one more, not two. */
		KUNIT_ASSERT_EQ(test, cancel(test, 5), TWHEEL_STATE_PENDING);
		KUNIT_ASSERT_EQ(test, cancel(test, 5), TWHEEL_STATE_IDLE);
		KUNIT_ASSERT_EQ(test, ts->wheel.filed, CAPACITY - 1);
		KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
		KUNIT_ASSERT_EQ(test, op.id, 5);
	}
	KUNIT_EXPECT_EQ(test, ts->cancels, 3);
	KUNIT_EXPECT_EQ(test, ts->wheel.filed, CAPACITY);
	/* And once more when it is due, and cancelled then. */
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + SEC), CAPACITY);
	KUNIT_EXPECT_EQ(test, cancel(test, 9), TWHEEL_STATE_EXPIRED);
	KUNIT_EXPECT_EQ(test, cancel(test, 9), TWHEEL_STATE_IDLE);
	KUNIT_EXPECT_EQ(test, timers_queued(ts), CAPACITY - 1);
	KUNIT_EXPECT_EQ(test, ts->wheel.filed, 0);
}

/*
 * The ids that an enumeration tells are not those of the timers.
 * Seen in agrona PR 346.
 */
static void enumeration_returns_wrong_ids(struct kunit *test)
{
	struct timers *ts = start(test);
	struct twheel_timer records[7];
	u32 cursor = 0, next = 3, nr;

	for (u32 id = 3; id < CAPACITY; id += 37)
		arm(test, id, now_of(test) + (id % 11 ? id * TICK : 0));
	while (cursor < CAPACITY) {
		nr = timers_list(ts, records, ARRAY_SIZE(records), &cursor);
		for (u32 i = 0; i < nr; i++, next += 37) {
			KUNIT_ASSERT_EQ(test, records[i].id, next);
			KUNIT_ASSERT_EQ(test, records[i].cookie, next);
			KUNIT_ASSERT_EQ(test, records[i].remaining, next % 11 ? next * TICK : 1);
			/* What it tells can be used. */
			KUNIT_ASSERT_EQ(test, timers_get(ts, &records[i]), 0);
			KUNIT_ASSERT_EQ(test, records[i].cookie, next);
		}
	}
	KUNIT_EXPECT_GE(test, next, CAPACITY);
}

/*
 * One look, one tick: who looks late stays late.
 * Seen in zeebe #767, with agrona's wheel.
 */
static void late_poll_handles_one_tick_only(struct kunit *test)
{
	struct wheel *w = wheel_start(test, 0, 64, RATE, 0);

	for (u32 id = 0; id < 60; id++)
		file(test, w, id, 1 + id * 1000);
	KUNIT_EXPECT_EQ(test, wheel_advance(w, 30 * 1000, ENDLESS) < ENDLESS, 1);
	KUNIT_EXPECT_EQ(test, wheel_queue(w, WHEEL_DUE)->count, 30);
	/* In as many calls as it takes, where each may handle a few only. */
	while (wheel_advance(w, 60 * 1000, 4) == 4)
		;
	KUNIT_EXPECT_EQ(test, wheel_queue(w, WHEEL_DUE)->count, 60);
}

/*
 * A timer is filed while a slot is being emptied: both wait for each other.
 * Seen in RussellLuo/timingwheel #53; #25: a hundred thousand of them.
 */
static void add_during_a_flush_deadlocks(struct kunit *test)
{
	struct wheel *w = wheel_start(test, 0, 64, RATE, 0);
	const u64 now = 100 * 64, later = now + (1 << 30);
	u32 fresh = 500, gone = 0, steps = 0;

	/* Due at one tick, and more than a step can handle. */
	for (u32 id = 0; id < 500; id++)
		file(test, w, id, now);
	while (wheel_advance(w, now, WHEEL_STEP) == WHEEL_STEP) {
		KUNIT_ASSERT_LT(test, steps, 100);
		steps++;
		/* Half of it is done: the next tick, the next slot, some day. */
		wheel_follow(w, now);
		file(test, w, fresh++, now + 1);
		file(test, w, fresh++, now + 64);
		file(test, w, fresh++, later);
		/* And some that wait in the open slot are taken away. */
		for (u32 n = 0; n < 500; n++) {
			u32 id = steps % 2 ? n : 499 - n;

			if (wheel_where(wheel_timer(w, id)) != WHEEL_FILED)
				continue;
			wheel_unlink(w, id);
			gone++;
			if (gone % 8 == 0)
				break;
		}
	}
	KUNIT_EXPECT_GE(test, steps, 5);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, now), 500 - gone);
	KUNIT_EXPECT_EQ(test, w->filed, 3 * steps);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, now + 1), 500 - gone + steps);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, now + 63), 500 - gone + steps);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, now + 64), 500 - gone + 2 * steps);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, later - 1), 500 - gone + 2 * steps);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, later), 500 - gone + 3 * steps);
}

/*
 * The wheel is stopped with timers in it, and their memory stays.
 * Seen in RussellLuo/timingwheel PR 50; netty's stop() hands back what was pending.
 */
static void leak_after_stop(struct kunit *test)
{
	struct twheel_timer records[8];
	struct timers *ts = start(test);
	struct twheel_event event;
	u32 cursor = 0, cancelled = 0;

	for (u32 id = 0; id < CAPACITY; id++)
		arm(test, id, now_of(test) + (id % 5 ? id * SEC : 0));
	arm_periodic(test, 7, now_of(test) + SEC, SEC);
	pass_to(test, now_of(test) + 10 * SEC);
	KUNIT_ASSERT_EQ(test, timers_claim(ts, &event, 1, now_of(test)), 1);

	/* All come back, once: pending and expired, but not the one that a read holds. */
	while (cursor < CAPACITY) {
		u32 nr = timers_list(ts, records, ARRAY_SIZE(records), &cursor);

		for (u32 i = 0; i < nr; i++) {
			struct twheel_op op = {
				.id		= records[i].id,
				.generation	= records[i].generation,
			};

			KUNIT_ASSERT_EQ(test, owner_cancel(ts, &op), 0);
			KUNIT_ASSERT_EQ(test, op.state, records[i].state);
		}
		cancelled += nr;
	}
	KUNIT_EXPECT_EQ(test, cancelled, CAPACITY - 1);
	KUNIT_EXPECT_EQ(test, ts->wheel.filed, 0);
	KUNIT_EXPECT_EQ(test, timers_queued(ts), 0);

	/* And stopped with timers in each state; the sanitizer looks for a leak. */
	for (u32 id = 0; id < CAPACITY; id += 2)
		arm(test, id, now_of(test) + (id % 3 ? id * DAY : 0));
	KUNIT_EXPECT_EQ(test, timers_claim(ts, &event, 1, now_of(test)), 1);
	KUNIT_EXPECT_GT(test, ts->wheel.memory, CAPACITY * 48);
}

/*
 * A cancelled timer keeps its place until its deadline, which may be far off.
 * Seen in netty #2561, tokio #7384.
 */
static void cancelled_but_kept_memory(struct kunit *test)
{
	struct timers *ts = start(test);
	size_t memory = 0;

	for (u32 turn = 0; turn < 50; turn++) {
		for (u32 n = 0; n < 300; n++) {
			struct twheel_op op = {
				.id		= TWHEEL_ID_ANY,
				.deadline	= now_of(test) + YEAR + n * DAY,
			};

			KUNIT_ASSERT_EQ(test, arm_op(test, &op), 0);
			/* The ids of the turn before are free again. */
			KUNIT_ASSERT_GE(test, op.id, CAPACITY - 300);
		}
		for (u32 id = CAPACITY - 300; id < CAPACITY; id++)
			KUNIT_ASSERT_EQ(test, cancel(test, id), TWHEEL_STATE_PENDING);
		KUNIT_ASSERT_EQ(test, ts->wheel.filed, 0);
		if (!turn)
			memory = ts->wheel.memory;
		/* As many entries as timers may be stale, in a block of 64 bytes each. */
		KUNIT_ASSERT_LE(test, ts->wheel.memory,
				memory + 64 * (300 + WHEEL_STEP) + WHEEL_PAGE_SIZE);
	}
}

/*
 * Timers that are moved earlier again and again leave entries behind: two for each are enough,
 * or an arm fails for want of blocks.
 */
static void moved_earlier_for_ever(struct kunit *test)
{
	struct timers *ts = start(test);

	for (u64 turn = 40; turn--;) {
		for (u32 id = 0; id < CAPACITY; id++)
			arm(test, id, now_of(test) + turn * 10 * SEC + id * SEC / 100);
		KUNIT_ASSERT_LE(test, ts->wheel.entries,
				2 * CAPACITY + WHEEL_STEP + WHEEL_PAGE_SIZE / sizeof(u64));
	}
}

/*
 * The next period counts from when the last one was handled.
 * Seen in libuv #2259, tokio #6029.
 */
static void periodic_drifts_under_load(struct kunit *test)
{
	u64 first = 1000 * SEC + 12345678, interval = 7654321, next = first, told = 0;
	struct twheel_event event;

	start(test);
	arm_periodic(test, 1, first, interval);
	for (u32 n = 1; n < 2000; n++) {
		/* Read late, by up to some periods. */
		u64 late = n % 5 ? n * 7919 % 1000000 : n * 31337 % (4 * interval);

		KUNIT_ASSERT_EQ(test, pass_to(test, next - 1), 0);
		KUNIT_ASSERT_EQ(test, pass_to(test, round_up_ns(next, TICK) + late), 1);
		KUNIT_ASSERT_TRUE(test, read_one(test, &event));
		KUNIT_ASSERT_EQ(test, event.deadline, next);
		told += 1 + event.overruns;
		next = first + told * interval;
		/* None is left out, none told twice. */
		KUNIT_ASSERT_GT(test, next, now_of(test));
		KUNIT_ASSERT_LE(test, next - interval, now_of(test));
	}
}

/*
 * Periodic timers that nobody reads are filed again and again, for ever.
 * Seen in RussellLuo/timingwheel #25: a hundred thousand of 1 ms.
 */
static void unread_periodic_timers_keep_the_wheel_busy(struct kunit *test)
{
	struct timers *ts = start(test);
	struct twheel_event event;

	for (u32 id = 0; id < 1000; id++)
		arm_periodic(test, id, now_of(test) + TICK, TICK);
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + TICK), 1000);
	KUNIT_EXPECT_EQ(test, timers_next(ts), KTIME_MAX);
	KUNIT_EXPECT_EQ(test, timers_advance(ts, now_of(test) + DAY, WHEEL_STEP), 0);
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + DAY), 1000);
	KUNIT_EXPECT_EQ(test, ts->fired, 1000);
	KUNIT_ASSERT_TRUE(test, read_one(test, &event));
	KUNIT_EXPECT_EQ(test, event.overruns, 86400000);
}

/*
 * One whose reader is slow holds up all others.
 * Seen in netty #11724: a task that ran in the wheel's own thread.
 */
static void slow_reader_stalls_the_wheel(struct kunit *test)
{
	struct timers *ts = start(test);
	struct twheel_event slow;
	u32 claim;

	for (u32 id = 0; id < 100; id++)
		arm(test, id, now_of(test) + (id + 1) * TICK);
	KUNIT_EXPECT_EQ(test, pass_to(test, now_of(test) + TICK), 1);
	KUNIT_ASSERT_EQ(test, timers_claim(ts, &slow, 1, now_of(test)), 1);
	claim = ts->claims;
	for (u32 id = 1; id < 100; id++)
		KUNIT_ASSERT_EQ(test, pass_to(test, now_of(test) + TICK), id);
	for (u32 id = 1; id < 100; id++)
		KUNIT_ASSERT_EQ(test, read_id(test), id);
	owner_commit(ts, &slow, 1, claim, now_of(test));
	KUNIT_EXPECT_EQ(test, ts->delivered, 100);
}

/*
 * A huge timeout makes the wheel add levels until there is no memory.
 * Seen in KoP #1739, with Kafka's wheel.
 */
static void huge_timeout_allocates_without_end(struct kunit *test)
{
	static const unsigned int slots[] = { 4, 64, 4096 };

	for (unsigned int i = 0; i < ARRAY_SIZE(slots); i++) {
		struct timers *ts = timers_start(test, 0, slots[i], 1, 0);

		arm(test, 1, ~0ULL);
		KUNIT_EXPECT_LE(test, ts->wheel.nr_levels, WHEEL_MAX_LEVELS);
		KUNIT_EXPECT_EQ(test, cancel(test, 1), TWHEEL_STATE_PENDING);
		/* And none where the shape has an end. */
		ts = timers_start(test, 2, slots[i], 1, 0);
		arm(test, 1, ~0ULL);
		KUNIT_EXPECT_EQ(test, ts->wheel.nr_levels, 2);
		KUNIT_EXPECT_EQ(test, pass_to(test, 100 * YEAR), 0);
	}
}

/*
 * The wheel is too small for its timers: they are moved again and again.
 * Seen in wahern/timeout #18: 1459 ns to expire a timer, where 398 are enough.
 */
static void far_timers_are_moved_again_and_again(struct kunit *test)
{
	static const unsigned int levels[] = { 0, 2, 1 };

	for (unsigned int i = 0; i < ARRAY_SIZE(levels); i++) {
		struct wheel *w = wheel_start(test, levels[i], 64, RATE, 0);
		const u64 far = 1ULL << 37;

		/* Alone, however small the wheel: never. */
		file(test, w, 1, far);
		for (u64 now = far / 64; now < far; now += far / 64)
			KUNIT_ASSERT_EQ(test, advance_to(test, w, now), 0);
		KUNIT_ASSERT_EQ(test, advance_to(test, w, far - 20), 0);
		KUNIT_EXPECT_EQ(test, w->moves, 0);
		/* Nor does it hold up the hand: a near one has its own slot. */
		file(test, w, 2, far - 3);
		KUNIT_EXPECT_EQ(test, find_filed(w, 2).level, 0);
		KUNIT_EXPECT_EQ(test, find_filed(w, 2).from, far - 3);
		KUNIT_EXPECT_EQ(test, advance_to(test, w, far), 2);
	}
	/* Among others, where there are enough levels: once for each. */
	for (u64 from = 0; from < 1000000; from += 333333) {
		struct wheel *w = wheel_start(test, 0, 64, RATE, from);
		u64 moves;

		file(test, w, 0, from + (1ULL << 37));
		for (u32 id = 1; id < 2000; id++)
			file(test, w, id, from + 1 + ((u64)id * id << 13));
		moves = w->moves;
		for (u32 id = 1; id < 2000; id++) {
			KUNIT_ASSERT_EQ(test, advance_to(test, w, from + 1 + ((u64)id * id << 13)),
					1);
			KUNIT_ASSERT_EQ(test, take(w), id);
		}
		KUNIT_EXPECT_LE(test, w->moves - moves, 2000 * w->nr_levels);
	}
}

/*
 * A thousand cancelled timers are cleared away before the one that is due.
 * Seen in netty PR 15760; openresty #362.
 */
static void cancelled_timers_delay_what_is_due(struct kunit *test)
{
	struct wheel *w = wheel_start(test, 0, 64, RATE, 0);
	u32 looks = 0;

	for (u32 id = 0; id < CAPACITY; id++)
		file(test, w, id, 1 + id);
	for (u32 id = 0; id < CAPACITY; id++)
		if (id != 4000)
			wheel_unlink(w, id);
	KUNIT_EXPECT_EQ(test, w->filed, 1);
	/* Empty looks: each drops a step's worth of what is stale. */
	for (; wheel_next(w) < 4001; looks++) {
		KUNIT_ASSERT_LE(test, wheel_advance(w, wheel_next(w), WHEEL_STEP), WHEEL_STEP);
		KUNIT_ASSERT_EQ(test, take(w), WHEEL_NIL);
	}
	KUNIT_EXPECT_LE(test, looks, CAPACITY / WHEEL_STEP + 2 * w->nr_levels);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, 4001), 1);
	KUNIT_EXPECT_EQ(test, take(w), 4000);
}

/*
 * A range of ticks is as good as any: a move within it is left out, wrongly.
 * Seen in nginx: up to 300 ms early or late; here a move is exact in both directions.
 */
static void small_moves_are_left_out(struct kunit *test)
{
	struct timers *ts = start(test);
	u64 due = now_of(test) + 10 * SEC;

	arm(test, 1, due);
	for (int by = 1; by <= 300; by *= 3) {
		arm(test, 1, due - by * TICK);
		KUNIT_EXPECT_EQ(test, timers_next(ts), due - by * TICK);
		arm(test, 1, due);
		pass_to(test, due - by * TICK);
		KUNIT_EXPECT_EQ(test, timers_next(ts), due);
		start(test);
		arm(test, 1, due);
	}
	arm(test, 1, due + 299 * TICK);
	KUNIT_EXPECT_EQ(test, pass_to(test, due + 299 * TICK - 1), 0);
	KUNIT_EXPECT_EQ(test, pass_to(test, due + 299 * TICK), 1);
}

/* A timer comes and goes, while others stay in its slot. */
static void come_and_go(struct kunit *test, struct wheel *w, u32 id, u64 expiry, u32 times)
{
	while (times--) {
		wheel_unlink(w, id);
		file(test, w, id, expiry);
	}
}

/*
 * A full slot is being emptied when the next one of its level has to be opened, and waits for
 * it; what is due on the levels below does not.
 */
static void heavy_slot_before_another(struct kunit *test)
{
	/* So fast that it is opened for its first deadline. */
	struct wheel *w = wheel_start(test, 0, 64, ENDLESS, 0);
	const u64 first = 32 * 64, next = first + 64;
	const u32 lone = CAPACITY - 1, nr = CAPACITY - 2;
	u64 due = 0;

	for (u32 id = 1; id < nr; id++)
		file(test, w, id, first + 4);
	file(test, w, nr, next);
	/* One that only makes the hands of all levels follow. */
	file(test, w, 0, first - 1);
	KUNIT_ASSERT_EQ(test, advance_to(test, w, first - 1), 1);
	for (u64 now = first; wheel_queue(w, WHEEL_DUE)->count < nr + 1; now++) {
		KUNIT_ASSERT_LT(test, now, 2 * first);
		/* From then on nothing of the full slot is in level 0 any more. */
		if (!due && now >= first + 16) {
			due = now + 2;
			file(test, w, lone, due);
		}
		wheel_advance(w, now, 16);
		wheel_follow(w, now);
		if (!due || due > now)
			continue;
		/* It has come at its tick, whatever else there is to do. */
		KUNIT_ASSERT_EQ(test, wheel_where(wheel_timer(w, lone)), WHEEL_DUE);
		wheel_unlink(w, lone);
		due = 0;
	}
}

/*
 * What was filed and taken out again makes a slot look heavy: it is opened long
 * before it has to be. Found in this wheel; now one empty look finds out.
 */
static void cancelled_timers_make_a_slot_heavy(struct kunit *test)
{
	static const u32 others[] = { 0, 10, 1000 };
	const u64 due = 100000;

	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		struct wheel *w = wheel_start(test, 0, 64, RATE, 0);

		for (u32 id = 2; id < 2 + others[i]; id++)
			file(test, w, id, 10 * due);
		file(test, w, 0, due);
		file(test, w, 1, due);
		come_and_go(test, w, 1, due, 100000);
		if (wheel_next(w) < due)
			KUNIT_EXPECT_EQ(test, wheel_advance(w, wheel_next(w), WHEEL_STEP), 0);
		KUNIT_EXPECT_EQ(test, wheel_next(w), due);
		KUNIT_EXPECT_EQ(test, w->cascades, 0);
		KUNIT_EXPECT_EQ(test, advance_to(test, w, due), 2);
		KUNIT_EXPECT_EQ(test, advance_to(test, w, 10 * due), 2 + others[i]);
	}
}

static struct kunit_case bugs_cases[] = {
	KUNIT_CASE(tick_floor_fires_early),
	KUNIT_CASE(zero_delay_rearm_starves_the_loop),
	KUNIT_CASE(tiny_timeout_waits_a_full_turn),
	KUNIT_CASE(stale_hand_shortens_a_timeout),
	KUNIT_CASE(coarse_deadline_hidden_by_a_fine_one),
	KUNIT_CASE(next_expiry_in_the_past_spins),
	KUNIT_CASE(fractional_deadline_at_a_cascade_boundary),
	KUNIT_CASE(timer_beyond_range_fires_early),
	KUNIT_CASE(slot_of_another_distance),
	KUNIT_CASE(cancel_in_its_own_event_loses_the_others),
	KUNIT_CASE(stale_expiry_after_a_cancel_or_a_move),
	KUNIT_CASE(stale_handle_cancels_another_timer),
	KUNIT_CASE(pending_counter_decremented_twice_at_the_limit),
	KUNIT_CASE(enumeration_returns_wrong_ids),
	KUNIT_CASE(late_poll_handles_one_tick_only),
	KUNIT_CASE(add_during_a_flush_deadlocks),
	KUNIT_CASE(leak_after_stop),
	KUNIT_CASE(cancelled_but_kept_memory),
	KUNIT_CASE(moved_earlier_for_ever),
	KUNIT_CASE(periodic_drifts_under_load),
	KUNIT_CASE(unread_periodic_timers_keep_the_wheel_busy),
	KUNIT_CASE(slow_reader_stalls_the_wheel),
	KUNIT_CASE(huge_timeout_allocates_without_end),
	KUNIT_CASE(far_timers_are_moved_again_and_again),
	KUNIT_CASE(cancelled_timers_delay_what_is_due),
	KUNIT_CASE(small_moves_are_left_out),
	KUNIT_CASE(cancelled_timers_make_a_slot_heavy),
	KUNIT_CASE(heavy_slot_before_another),
	{}
};

static struct kunit_suite bugs_suite = {
	.name		= "twheel_bugs",
	.init		= suite_init,
	.exit		= suite_exit,
	.test_cases	= bugs_cases,
};
