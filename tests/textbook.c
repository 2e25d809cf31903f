// SPDX-License-Identifier: GPL-2.0
/*
 * The cases by which timing wheels are taught, one test each: not only when a
 * timer is due, but the way it takes down, slot by slot.
 *
 * Two things differ here from the wheels on the blackboard.
 *
 * Slots are rounded up to a power of two: 20 become 32, 3 become 4, 60 become
 * 64. So a case is told twice: with its figures as they are, and with its
 * figures written in the base of the textbook (a digit for each level, which
 * is the number of its slot) and the same digits read in the base of this
 * wheel. 450 on wheels of 20 slots is 1|2|10: slot 1 of the third, 2 of the
 * second, 10 of the first.
 *
 * A ring holds two turns, not one: so a timer within two turns needs no slot
 * of the next level. To need it as it does in the textbook, its topmost digit
 * is doubled: it is two turns off where it was one.
 *
 * And a slot with few timers comes down when the first of them is due, not
 * when the slot begins. So the timer that is to be brought down needs another
 * one in front of it; by itself it is due straight from where it was filed.
 *
 * Included by kunit.c.
 */

/**
 * struct stop - a slot on a timer's way, in ticks
 * @level: of the slot
 * @from: first tick of the slot
 * @to: first tick behind it
 * @until: the tick at which the timer has left it
 */
struct stop {
	u32	level;
	u64	from, to, until;
};

#define MAX_STOPS	4

/**
 * struct way - of a timer, down to the tick at which it is due
 * @expiry: that tick
 * @stop: where it is filed on the way; one with @until 0 ends them
 */
struct way {
	u64		expiry;
	struct stop	stop[MAX_STOPS];
};

/* Where should the timer be at a tick? */
static struct span way_at(const struct way *way, u64 now)
{
	const struct stop *stop = way->stop;

	while (stop < way->stop + MAX_STOPS && stop->until && now >= stop->until)
		stop++;
	if (stop == way->stop + MAX_STOPS || !stop->until)
		return (struct span){ WHEEL_NIL, 0, 0 };
	return (struct span){ stop->level, stop->from, stop->to };
}

static void check_span(struct kunit *test, u64 now, u32 id, struct span is,
		       struct span should)
{
	KUNIT_ASSERT_TRUE_MSG(test, is.level == should.level && is.from == should.from &&
			      is.to == should.to,
			      "tick %llu, timer %u: on level %d in [%llu, %llu), not on %d in [%llu, %llu)",
			      (unsigned long long)now, id, (int)is.level,
			      (unsigned long long)is.from, (unsigned long long)is.to,
			      (int)should.level, (unsigned long long)should.from,
			      (unsigned long long)should.to);
}

/*
 * File timers on a wheel, and let time pass by single ticks until the last is
 * due: each has to take its way, and to be due at its end.
 */
static void follow(struct kunit *test, struct wheel *w, u64 from,
		   const struct way *ways, u32 nr)
{
	u64 end = from;

	for (u32 id = 0; id < nr; id++) {
		file(test, w, id, ways[id].expiry);
		end = max(end, ways[id].expiry);
	}
	for (u64 now = from; now <= end; now++) {
		u32 due = now > from ? advance_to(test, w, now) : 0;

		for (u32 id = 0; id < nr; id++) {
			check_span(test, now, id, find_filed(w, id), way_at(&ways[id], now));
			due -= ways[id].expiry == now;
		}
		KUNIT_ASSERT_EQ_MSG(test, due, 0, "tick %llu", (unsigned long long)now);
		while (take(w) != WHEEL_NIL)
			;
	}
	KUNIT_EXPECT_EQ(test, w->filed, 0);
}

#define FOLLOW(test, w, from, ways)	follow(test, w, from, ways, ARRAY_SIZE(ways))

/*
 * Wheels of 20 slots and a tick of 1 ms; 20 becomes 32, so level 0 has slots
 * of 1 ms and reaches 63 ms, level 1 slots of 32 ms and reaches 2 s.
 *
 * As they are, 350, 446, 450, 455 and 473 need level 1 only: 446 is in
 * [416, 448) and the last three share [448, 480). That comes down at 450.
 */
static void twenty_slots_350_446_450_455_473(struct kunit *test)
{
	static const struct way ways[] = {
		{ 350, { { 1, 320, 352, 350 } } },
		{ 446, { { 1, 416, 448, 446 } } },
		{ 450, { { 1, 448, 480, 450 } } },
		{ 455, { { 1, 448, 480, 450 }, { 0, 455, 456, 455 } } },
		{ 473, { { 1, 448, 480, 450 }, { 0, 473, 474, 473 } } },
	};
	struct wheel *w = wheel_start(test, 0, 20, RATE, 0);

	KUNIT_ASSERT_EQ(test, 1 << w->bits, 32);
	FOLLOW(test, w, 0, ways);
	KUNIT_EXPECT_EQ(test, w->moves, 2);
}

/* A figure of 20-slot wheels by its digits, and slots and turns of 32. */
#define DIGITS20(ms) \
	(2 * ((ms) / 400) * 1024 + (ms) / 20 % 20 * 32 + (ms) % 20)

/*
 * The same figures by their digits: 350 is 0|17|10, 400 is 1|0|0, 446 is 1|2|6,
 * 450 is 1|2|10, 455 is 1|2|15, 473 is 1|3|13. All but 350 share one slot of
 * level 2, in the textbook [400, 800), here [2048, 3072).
 *
 * At 400 it comes down: 446, 450 and 455 into [40, 60) of the second wheel
 * (here [2112, 2144) of level 1, counted from tick 0), 473 into [60, 80) (here
 * [2144, 2176)). When 446 is due, that comes down: 450 into [10, 11) of the
 * first wheel (here [2122, 2123) of level 0), 455 into [15, 16).
 */
static void twenty_slots_450_comes_down_level_by_level(struct kunit *test)
{
	static const struct way ways[] = {
		{ DIGITS20(350), { { 1, 544, 576, DIGITS20(350) } } },
		{ DIGITS20(400), { { 2, 2048, 3072, DIGITS20(400) } } },
		{ DIGITS20(446), { { 2, 2048, 3072, DIGITS20(400) },
				   { 1, 2112, 2144, DIGITS20(446) } } },
		{ DIGITS20(450), { { 2, 2048, 3072, DIGITS20(400) },
				   { 1, 2112, 2144, DIGITS20(446) },
				   { 0, 2122, 2123, DIGITS20(450) } } },
		{ DIGITS20(455), { { 2, 2048, 3072, DIGITS20(400) },
				   { 1, 2112, 2144, DIGITS20(446) },
				   { 0, 2127, 2128, DIGITS20(455) } } },
		{ DIGITS20(473), { { 2, 2048, 3072, DIGITS20(400) },
				   { 1, 2144, 2176, DIGITS20(473) } } },
	};
	struct wheel *w = wheel_start(test, 3, 20, RATE, 0);

	FOLLOW(test, w, 0, ways);
	/* 446, 450, 455, 473 once, then 450 and 455 again. */
	KUNIT_EXPECT_EQ(test, w->moves, 6);
	KUNIT_EXPECT_EQ(test, w->cascades, 4);
}

/*
 * Without the timer at 400 the slot comes down when 446 is due, and then all
 * others of it are near enough for level 0: nobody stops on level 1.
 */
static void twenty_slots_446_is_due_from_the_upper_slot(struct kunit *test)
{
	static const struct way ways[] = {
		{ DIGITS20(446), { { 2, 2048, 3072, DIGITS20(446) } } },
		{ DIGITS20(450), { { 2, 2048, 3072, DIGITS20(446) },
				   { 0, 2122, 2123, DIGITS20(450) } } },
		{ DIGITS20(473), { { 2, 2048, 3072, DIGITS20(446) },
				   { 0, 2157, 2158, DIGITS20(473) } } },
	};
	struct wheel *w = wheel_start(test, 3, 20, RATE, 0);

	FOLLOW(test, w, 0, ways);
	KUNIT_EXPECT_EQ(test, w->moves, 2);
}

/*
 * A slot with hundreds of timers comes down before any of them is due, level
 * by level as in the textbook: each of the 100 timers at 450 is seen on level
 * 2, 1 and 0 in this order, in the slots above, and is due at its tick.
 */
static void twenty_slots_a_full_slot_comes_down_ahead(struct kunit *test)
{
	static const u64 figures[] = { DIGITS20(446), DIGITS20(450), DIGITS20(455) };
	static const u64 froms[] = { DIGITS20(450), 2112, 2048 };
	const u32 each = 100, nr = each * ARRAY_SIZE(figures), one = 1;
	/* As slow as can be: one timer per tick. So it begins early. */
	struct wheel *w = wheel_start(test, 3, 20, 1, 0);
	u32 level = 2, id;

	for (id = 0; id < nr; id++)
		file(test, w, id, figures[id % ARRAY_SIZE(figures)]);
	for (u64 now = 1; now < figures[0]; now++) {
		struct span is;

		KUNIT_ASSERT_EQ(test, advance_to(test, w, now), 0);
		is = find_filed(w, one);
		KUNIT_ASSERT_LE(test, is.level, level);
		KUNIT_ASSERT_LE(test, level - is.level, 1);
		level = is.level;
		KUNIT_ASSERT_EQ(test, is.from, froms[level]);
	}
	KUNIT_EXPECT_EQ(test, level, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(figures); i++) {
		KUNIT_ASSERT_EQ(test, advance_to(test, w, figures[i] - 1), 0);
		KUNIT_ASSERT_EQ(test, advance_to(test, w, figures[i]), each);
		while ((id = take(w)) != WHEEL_NIL)
			KUNIT_ASSERT_EQ(test, id % ARRAY_SIZE(figures), i);
	}
	/* Each of them twice, and none again when it was due. */
	KUNIT_EXPECT_EQ(test, w->moves, 2 * nr);
}

/*
 * Wheels of three slots and a tick of 1 ms; 3 becomes 4, and the ring of level
 * 0 reaches 7 ms. So of 2 and 4 ms, as they are, neither needs an upper slot.
 */
static void three_slots_2_and_4(struct kunit *test)
{
	static const struct way ways[] = {
		{ 2, { { 0, 2, 3, 2 } } },
		{ 4, { { 0, 4, 5, 4 } } },
	};
	struct wheel *w = wheel_start(test, 2, 3, RATE, 0);

	KUNIT_ASSERT_EQ(test, 1 << w->bits, 4);
	FOLLOW(test, w, 0, ways);
	KUNIT_EXPECT_EQ(test, w->moves, 0);
}

/*
 * By digits: 2 is 0|2, 3 is 1|0, 4 is 1|1, and one turn becomes two, 8 ms. In
 * the textbook 4 waits in [3, 6) of the upper wheel, and at 3 comes down into
 * [1, 2) of the lower; here in [8, 12) of level 1, then [9, 10) of level 0.
 */
static void three_slots_4_comes_down(struct kunit *test)
{
	static const struct way ways[] = {
		{ 2, { { 0, 2, 3, 2 } } },
		{ 8, { { 1, 8, 12, 8 } } },
		{ 9, { { 1, 8, 12, 8 }, { 0, 9, 10, 9 } } },
	};
	struct wheel *w = wheel_start(test, 2, 3, RATE, 0);

	FOLLOW(test, w, 0, ways);
	KUNIT_EXPECT_EQ(test, w->moves, 1);
}

/*
 * A hashed wheel of three slots and a tick of 1 ms: the timer of 4 ms is hashed
 * to slot 1 with one round to go. As it is, 4 is within the ring here, which
 * has two turns of 4 slots, so nothing has to go round.
 */
static void hashed_4_on_3(struct kunit *test)
{
	static const struct way ways[] = { { 4, { { 0, 4, 5, 4 } } } };
	struct wheel *w = wheel_start(test, 1, 3, RATE, 0);

	KUNIT_ASSERT_EQ(test, w->max_levels, 1);
	FOLLOW(test, w, 0, ways);
}

/*
 * By digits, 4 is one turn and 1, and the ring goes round in 8: 9. It waits in
 * the furthest slot that there is, [7, 8), which takes the place of the count
 * of rounds. Passing it at 7, with another timer due, its round is over: it is
 * filed in its own slot. With nothing due, nobody looks: it is due from where
 * it waits.
 */
static void hashed_4_on_3_goes_round(struct kunit *test)
{
	static const struct way passed[] = {
		{ 7, { { 0, 7, 8, 7 } } },
		{ 9, { { 0, 7, 8, 7 }, { 0, 9, 10, 9 } } },
	};
	static const struct way alone[] = { { 9, { { 0, 7, 8, 9 } } } };
	struct wheel *w = wheel_start(test, 1, 3, RATE, 0);

	FOLLOW(test, w, 0, passed);
	KUNIT_EXPECT_EQ(test, w->moves, 1);
	w = wheel_start(test, 1, 3, RATE, 0);
	FOLLOW(test, w, 0, alone);
	KUNIT_EXPECT_EQ(test, w->moves, 0);
}

/*
 * Many rounds: 1000 ms on the same wheel is 125 rings of 8. Alone, nobody looks
 * at it before; beside a timer for each ring, it is filed again once a round at
 * the most, and is due in its time.
 */
static void hashed_many_rounds(struct kunit *test)
{
	struct wheel *w = wheel_start(test, 1, 3, RATE, 0);

	file(test, w, 0, 1000);
	KUNIT_EXPECT_EQ(test, wheel_next(w), 1000);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, 999), 0);
	KUNIT_EXPECT_EQ(test, w->moves, 0);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, 1000), 1);

	w = wheel_start(test, 1, 3, RATE, 0);
	file(test, w, 0, 1000);
	for (u64 now = 1; now < 1000; now++) {
		if (now % 8 == 1)
			file(test, w, 1, now + 5);
		KUNIT_ASSERT_EQ(test, advance_to(test, w, now), now % 8 == 6);
		KUNIT_ASSERT_EQ(test, take(w), now % 8 == 6 ? 1 : WHEEL_NIL);
	}
	KUNIT_EXPECT_LE(test, w->moves, 125);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, 1000), 1);
}

/* Hands of a clock with 64 seconds, 64 minutes and 64 hours. */
#define CLOCK(d, h, m, s)	((((d) * 64ULL + (h)) * 64 + (m)) * 64 + (s))

/*
 * Day, hour, minute and second hands, a tick of 1 s. In the textbook the time
 * is day 11, 10:24:30; a timer of 50 minutes and 45 seconds is due at 11:15:15.
 * It goes into slot 11 of the hours, at 11:00:00 into slot 15 of the minutes,
 * at 11:15:00 into slot 15 of the seconds. 24 and 60 become 64; the digits stay
 * as they are. 11:15:15 is within two turns of the minutes, so its way begins
 * there.
 */
static void clock_50_minutes_and_45_seconds(struct kunit *test)
{
	static const struct way ways[] = {
		{ CLOCK(11, 11, 15, 0), { { 1, CLOCK(11, 11, 15, 0), CLOCK(11, 11, 16, 0),
					    CLOCK(11, 11, 15, 0) } } },
		{ CLOCK(11, 11, 15, 15), { { 1, CLOCK(11, 11, 15, 0), CLOCK(11, 11, 16, 0),
					     CLOCK(11, 11, 15, 0) },
					   { 0, CLOCK(11, 11, 15, 15), CLOCK(11, 11, 15, 16),
					     CLOCK(11, 11, 15, 15) } } },
	};
	struct wheel *w = wheel_start(test, 4, 60, RATE, CLOCK(11, 10, 24, 30));

	FOLLOW(test, w, CLOCK(11, 10, 24, 30), ways);
}

/*
 * A timer for day 14, 13:15:15 passes all four hands. When day 14 begins it
 * goes to hour 13, at 13:00:00 to minute 15, at 13:15:00 to second 15; at each
 * of these times another timer is due, which begins the slot.
 */
static void clock_day_hour_minute_and_second_hands(struct kunit *test)
{
	static const u64 begin[] = {
		CLOCK(14, 0, 0, 0), CLOCK(14, 13, 0, 0), CLOCK(14, 13, 15, 0),
	};
	static const struct span slots[] = {
		{ 3, CLOCK(14, 0, 0, 0), CLOCK(15, 0, 0, 0) },
		{ 2, CLOCK(14, 13, 0, 0), CLOCK(14, 14, 0, 0) },
		{ 1, CLOCK(14, 13, 15, 0), CLOCK(14, 13, 16, 0) },
		{ 0, CLOCK(14, 13, 15, 15), CLOCK(14, 13, 15, 16) },
	};
	const u64 due = CLOCK(14, 13, 15, 15);
	struct wheel *w = wheel_start(test, 4, 60, RATE, CLOCK(11, 10, 24, 30));

	file(test, w, 0, due);
	for (u32 i = 0; i < ARRAY_SIZE(begin); i++)
		file(test, w, i + 1, begin[i]);
	for (u32 i = 0; i < ARRAY_SIZE(slots); i++) {
		struct span is = find_filed(w, 0);

		KUNIT_EXPECT_EQ(test, is.level, slots[i].level);
		KUNIT_EXPECT_EQ(test, is.from, slots[i].from);
		KUNIT_EXPECT_EQ(test, is.to, slots[i].to);
		if (i == ARRAY_SIZE(begin))
			break;
		KUNIT_EXPECT_EQ(test, advance_to(test, w, begin[i] - 1), 0);
		is = find_filed(w, 0);
		KUNIT_EXPECT_EQ(test, is.level, slots[i].level);
		KUNIT_EXPECT_EQ(test, advance_to(test, w, begin[i]), 1);
		KUNIT_EXPECT_EQ(test, take(w), i + 1);
	}
	KUNIT_EXPECT_EQ(test, advance_to(test, w, due - 1), 0);
	KUNIT_EXPECT_EQ(test, advance_to(test, w, due), 1);
	KUNIT_EXPECT_EQ(test, take(w), 0);
}

/*
 * The timer of docs/tour.md: the idle timeout of a session, 30 s, among 4,000. One comes each 8 ms,
 * sends something after 10 s, and then goes silent.
 */
#define SESSIONS	4000U
#define SESSION_EVERY	8U
#define SESSION_SENDS	10000U
#define SESSION_IDLE	(30000 * MSEC)

/* A session has sent something: its timer is pushed back by a store. */
static void session_sends(struct kunit *test, u32 id)
{
	struct fixture *f = test->priv;

	WRITE_ONCE(word_of(&f->ts, id)->deadline, f->now + SESSION_IDLE);
}

/* Let sessions come and send, up to a time in ms, and read who has been silent for too long. */
static void sessions_to(struct kunit *test, u64 ms)
{
	struct fixture *f = test->priv;

	for (u64 at = f->now / MSEC + 1; at <= ms; at++) {
		pass_to(test, at * MSEC);
		while (read_id(test) != WHEEL_NIL)
			;
		if (at % SESSION_EVERY)
			continue;
		if (at / SESSION_EVERY < SESSIONS)
			arm(test, at / SESSION_EVERY, f->now + SESSION_IDLE);
		if (at > SESSION_SENDS && (at - SESSION_SENDS) / SESSION_EVERY < SESSIONS)
			session_sends(test, (at - SESSION_SENDS) / SESSION_EVERY);
	}
}

static void tour_of_an_idle_timeout(struct kunit *test)
{
	static const struct {
		u64		ms;
		struct span	is;
	} seen[] = {
		{ 10500, { 2, 28672, 32768 } },
		{ 29990, { 2, 28672, 32768 } },
		{ 30000, { 2, 36864, 40960 } },
		{ 36840, { 2, 36864, 40960 } },
		{ 36850, { 1, 40448, 40512 } },
		{ 40447, { 1, 40448, 40512 } },
		{ 40448, { 0, 40500, 40501 } },
		{ 40499, { 0, 40500, 40501 } },
	};
	struct timers *ts = timers_start(test, 0, 64, MSEC, 0);
	struct fixture *f = test->priv;
	struct twheel_word *word;
	/* Number 7 there; here the others are named by when they came, from 1 on. */
	const u32 id = 0;

	for (u32 i = 0; i < SESSIONS; i += WORDS_PER_PAGE)
		KUNIT_ASSERT_TRUE(test, owner_add_words(ts, i));
	word = word_of(ts, id);
	sessions_to(test, 500);
	arm(test, id, f->now + SESSION_IDLE);
	for (unsigned int i = 0; i < ARRAY_SIZE(seen); i++) {
		sessions_to(test, seen[i].ms);
		if (!i)
			session_sends(test, id);
		KUNIT_EXPECT_EQ(test, word->promise, (i < 2 ? 30500 : 40500) * MSEC);
		check_span(test, seen[i].ms, id, find_filed(&ts->wheel, id), seen[i].is);
	}
	KUNIT_EXPECT_EQ(test, pass_to(test, 40500 * MSEC), 1);
	KUNIT_EXPECT_EQ(test, word->promise, 0);
	KUNIT_EXPECT_EQ(test, read_id(test), id);
}

static struct kunit_case textbook_cases[] = {
	KUNIT_CASE(twenty_slots_350_446_450_455_473),
	KUNIT_CASE(twenty_slots_450_comes_down_level_by_level),
	KUNIT_CASE(twenty_slots_446_is_due_from_the_upper_slot),
	KUNIT_CASE(twenty_slots_a_full_slot_comes_down_ahead),
	KUNIT_CASE(three_slots_2_and_4),
	KUNIT_CASE(three_slots_4_comes_down),
	KUNIT_CASE(hashed_4_on_3),
	KUNIT_CASE(hashed_4_on_3_goes_round),
	KUNIT_CASE(hashed_many_rounds),
	KUNIT_CASE(clock_50_minutes_and_45_seconds),
	KUNIT_CASE(clock_day_hour_minute_and_second_hands),
	KUNIT_CASE(tour_of_an_idle_timeout),
	{}
};

static struct kunit_suite textbook_suite = {
	.name		= "twheel_textbook",
	.init		= suite_init,
	.exit		= suite_exit,
	.test_cases	= textbook_cases,
};
