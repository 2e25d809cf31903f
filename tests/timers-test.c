// SPDX-License-Identifier: GPL-2.0
/*
 * Cases by name, and what is inside timers.c: how times become ticks.
 */
#include "../compat/user.h"

/* Exchanges are counted: what one call makes of them is part of the protocol. */
static unsigned int exchanges;

#undef xchg
#define xchg(p, value)							\
	(exchanges++, __atomic_exchange_n((p), (value), __ATOMIC_SEQ_CST))
#undef cmpxchg
#define cmpxchg(p, old, new)						\
	(exchanges++, __sync_val_compare_and_swap((p), (old), (new)))

#include "../unit.c"
#include "fixture.h"
#include "rnd.h"
#include "tap.h"
#include "tests.h"

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
			u64 tick = due_tick(&ts, n * 1000, s), best = n;

			for (u64 t = n; t <= n + s; t++)
				if (__builtin_ctzll(t) > __builtin_ctzll(best))
					best = t;
			round &= tick == best;
		}
	}
	tap(round, "slack leads to the roundest tick in reach");

	good = true;
	for (unsigned int bits = 1; bits < 64; bits++) {
		for (int n = 0; n < 1000; n++) {
			u64 late = rnd_span(bits), kept = late_decode(late_encode(late));

			good &= kept <= late && late - kept <= late >> 24;
			good &= late >> 31 || kept == late;
		}
	}
	tap(good, "lateness is kept to 25 significant bits, and up to 2 s exactly");
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
	owner_commit(&ts, &first, 1, ts.claims - 1, now);
	timers_put_back(&ts, &second, 1, ts.claims);
	good &= timers_claim(&ts, &first, 1, now) == 1 &&
		first.generation == second.generation;
	tap(good, "an old claim does not touch a newer one");
	timers_destroy(&ts);
}

/*
 * With words, an arm or a cancel of a claimed timer says EXPIRED: it has taken the
 * event back.  So the event must not be delivered, and the new arming must be.
 */
static void claim_overtaken_with_words(void)
{
	struct twheel_op op = { .id = 3, .deadline = 1, .cookie = 1 };
	struct twheel_event old, event;
	struct twheel_word *words;
	bool good;

	words = start_words(1000000);
	arm(&op);
	good = timers_claim(&ts, &old, 1, now) == 1;
	op = (struct twheel_op){ .id = 3, .deadline = 1, .cookie = 2 };
	good &= !arm(&op) && op.state == TWHEEL_STATE_EXPIRED && op.generation == 2;
	good &= owner_commit(&ts, &old, 1, ts.claims, now) == 0 && words[3].deadline == 1;
	good &= timers_claim(&ts, &event, 1, now) == 1 && event.generation == 2 &&
		event.cookie == 2 && owner_commit(&ts, &event, 1, ts.claims, now) == 1;
	good &= !timers_claim(&ts, &event, 1, now) && ts.delivered == 1;
	tap(good, "words: armed again at the same time, the old event is stale, the new one comes");

	/* Put back, the old event must not come before the new one. */
	op.generation = 0;
	arm(&op);
	timers_claim(&ts, &old, 1, now);
	op.generation = 0;
	arm(&op);
	timers_put_back(&ts, &old, 1, ts.claims);
	good = timers_claim(&ts, &event, 1, now) == 1 && event.generation == op.generation &&
	       owner_commit(&ts, &event, 1, ts.claims, now) == 1 && !timers_queued(&ts);
	tap(good, "words: armed again, an old event is not put back");

	op.generation = 0;
	arm(&op);
	timers_claim(&ts, &old, 1, now);
	good = cancel_id(3) == TWHEEL_STATE_EXPIRED && !owner_commit(&ts, &old, 1, ts.claims, now);
	timers_put_back(&ts, &old, 1, ts.claims);
	good &= !timers_queued(&ts) && !words[3].deadline;
	tap(good, "words: cancelled while it is read, an event is taken back");

	/* By a store to another time, and back: it is due once. */
	op.generation = 0;
	arm(&op);
	timers_claim(&ts, &old, 1, now);
	store(3, now + 5000000);
	store(3, 1);
	good = !owner_commit(&ts, &old, 1, ts.claims, now) && words[3].deadline == 1;
	good &= timers_claim(&ts, &event, 1, now) == 1 &&
		owner_commit(&ts, &event, 1, ts.claims, now) == 1 && !timers_queued(&ts);
	tap(good, "words: stored to later and back while it is read, it comes once");

	/* Stored later only: the old event is stale, the new deadline is kept. */
	store(3, 1);
	timers_claim(&ts, &old, 1, now);
	xchg(&words[3].deadline, now + 5000000);
	good = !owner_commit(&ts, &old, 1, ts.claims, now);
	pass(5000000);
	good &= timers_claim(&ts, &event, 1, now) == 1 &&
		owner_commit(&ts, &event, 1, ts.claims, now) == 1;
	tap(good, "words: a store alone makes a claimed event stale");
	end_words();
}

/*
 * A cancel by call ends a timer with a word at once, as one without: it is not pending any more.
 * The kernel chooses no ids among timers with words.
 */
static void cancelled_words_end(void)
{
	struct twheel_op any = { .id = TWHEEL_ID_ANY, .deadline = 1 };
	bool good;

	start_words(1000000);
	store(5, now + 50000000);
	good = cancel_id(5) == TWHEEL_STATE_PENDING && !ts.wheel.filed &&
	       arm(&any) == -EOPNOTSUPP;
	tap(good, "words: what a call has cancelled is not pending");

	/* One that was stored again in view of the promise is not cancelled. */
	store(5, now + 50000000);
	good = cancel_id(5) == TWHEEL_STATE_PENDING;
	store(5, now + 60000000);
	good &= ts.wheel.filed == 1;
	pass(60000000);
	good &= timers_queued(&ts) == 1;
	tap(good, "words: cancelled by a call and stored again, it comes");
	end_words();
}

/* However many ids are in use, a hold of the lock passes over no more than 64. */
static void passing_over_is_bounded(void)
{
	struct twheel_op op;
	unsigned int holds = 0, armed = 0, free = 0;
	struct timers_need need = {};

	start(1000000);
	if (!owner_add_chunks(&ts.wheel))
		abort();
	for (u32 n = 0; n < CAPACITY; n++) {
		op = (struct twheel_op){ .id = n, .deadline = now + 1000000000 };
		/* Every eighth is free. */
		if (n % 8)
			arm(&op);
		else
			free++;
	}
	while (armed < free && holds < CAPACITY) {
		u32 before = ts.fresh, done = 0;

		/* A hold with up to 64 operations, as the device does them. */
		timers_set_time(&ts, now);
		for (need.handled = 0; need.handled < WHEEL_STEP; done++) {
			op = (struct twheel_op){ .id = TWHEEL_ID_ANY };
			op.deadline = now + 1000000000;
			need.handled++;
			if (timers_arm(&ts, &op, now, &need))
				break;
			armed++;
		}
		/* Ids that became free in passing are armed by later operations. */
		if (before - ts.fresh > WHEEL_STEP || need.handled > WHEEL_STEP)
			break;
		holds++;
	}
	tap(armed == free, "arms and the ids that they pass over are at most 64 in one hold");
	timers_destroy(&ts);
}

static struct twheel_timer get(u32 id)
{
	struct twheel_timer record = { .id = id };

	timers_set_time(&ts, now);
	timers_get(&ts, &record);
	return record;
}

/* Whoever asks is told that a timer is due, before anybody had the time to find it. */
static void told_before_found(bool words)
{
	struct twheel_op op = { .id = 3, .cookie = 7, .interval = 1000000 };
	struct twheel_timer record;
	u32 cursor = 0;
	bool good;

	if (words)
		start_words(1000000);
	else
		start(1000000);
	op.deadline = now + 5000000;
	arm(&op);
	now += 4999999;
	good = get(3).state == TWHEEL_STATE_PENDING;
	now += 2000001;
	record = get(3);
	good &= record.state == TWHEEL_STATE_EXPIRED && record.overruns == 2;
	good &= timers_list(&ts, &record, 1, &cursor) == 1 &&
		record.state == TWHEEL_STATE_EXPIRED;
	good &= !timers_queued(&ts) && !ts.fired;
	good &= cancel_id(3) == TWHEEL_STATE_EXPIRED;
	op.deadline = now + 5000000;
	op.generation = 0;
	arm(&op);
	now += 5000000;
	op.deadline = now + 1000000;
	op.generation = 0;
	good &= !arm(&op) && op.state == TWHEEL_STATE_EXPIRED && !ts.fired;
	tap(good, "%swhat is due says so before it is found", words ? "words: " : "");
	if (words)
		end_words();
	else
		timers_destroy(&ts);
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
	owner_commit(&ts, &event, 1, ts.claims, now);
	good &= ts.wheel.filed == 1;
	tap(good, "the first timer may be periodic and due at once");
	timers_destroy(&ts);
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
	timers_destroy(&ts);
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
	owner_commit(&ts, &event, 1, ts.claims, now);
	op = (struct twheel_op){ .id = 4, .deadline = now + 300 * ts.tick };
	arm(&op);
	now = op.deadline;
	owner_advance(&ts, now);
	good &= timers_claim(&ts, &event, 1, now) == 1 && event.id == 4;
	tap(good, "a periodic timer with much slack is in nobody's way");
	timers_destroy(&ts);
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
	timers_destroy(&ts);
}

static bool exchanged(unsigned int times)
{
	bool good = exchanges == times;

	exchanges = 0;
	return good;
}

/*
 * Each call makes one exchange of the word: a second would take back what the
 * daemon stores in between, and tell what the first has left.
 */
static void word_exchanges(void)
{
	struct twheel_op op = { .id = 3 };
	struct twheel_event event;
	struct twheel_word *words;
	bool good;

	start(1000000);
	good = owner_add_words(&ts, 3);
	words = ts.word[0];
	exchanged(0);

	op.deadline = now + 10 * ts.tick;
	good &= !arm(&op) && op.state == TWHEEL_STATE_IDLE && exchanged(1);
	good &= words[3].deadline == op.deadline && words[3].promise == op.deadline;
	op = (struct twheel_op){ .id = 3 };
	good &= !cancel(&op) && op.state == TWHEEL_STATE_PENDING && exchanged(1);
	good &= !words[3].deadline;
	op = (struct twheel_op){ .id = 3 };
	good &= !cancel(&op) && op.state == TWHEEL_STATE_IDLE && exchanged(1);

	op = (struct twheel_op){ .id = 3, .deadline = now };
	good &= !arm(&op) && exchanged(1);
	op = (struct twheel_op){ .id = 3 };
	good &= !cancel(&op) && op.state == TWHEEL_STATE_EXPIRED && exchanged(1);
	good &= !timers_claim(&ts, &event, 1, now) && exchanged(0);

	op = (struct twheel_op){ .id = 3, .deadline = now };
	good &= !arm(&op) && exchanged(1);
	good &= timers_claim(&ts, &event, 1, now) == 1 && exchanged(0);
	good &= owner_commit(&ts, &event, 1, ts.claims, now) == 1 && exchanged(1);
	op = (struct twheel_op){ .id = 3 };
	good &= !cancel(&op) && op.state == TWHEEL_STATE_DELIVERED && exchanged(1);
	tap(good, "an arm, a cancel and a read exchange a word once, and tell what was there");
	timers_destroy(&ts);
}

/*
 * Words are exchanged between two holds of the lock, and under none.  A store that comes there is
 * armed, whatever the call or the read has yet to do.
 */
static void stores_between_halves(void)
{
	const struct twheel_op due = { .id = 3, .deadline = 1 };
	struct timers_need need = {};
	struct twheel_event event;
	struct twheel_op op;
	unsigned int swapped;
	bool good;

	start_words(1000000);
	exchanged(0);
	op = due;
	good = timers_arm(&ts, &op, now, &need) == -EAGAIN && exchanged(0);
	words_exchange(&ts, &need);
	good &= exchanged(1) && !timers_arm(&ts, &op, now, &need) && exchanged(0);
	good &= timers_claim(&ts, &event, 1, now) == 1 && exchanged(0);
	swapped = words_take(&ts, &event, timers_held(&ts, &event, 1, ts.claims));
	good &= swapped == 1 && exchanged(1);
	/* Between the swap and the commit: by a store, and for the same deadline. */
	xchg(&word_of(&ts, 3)->deadline, 1);
	exchanged(1);
	good &= timers_commit(&ts, &event, 1, swapped, ts.claims, now) == 1 && exchanged(0);
	test_word(3);
	pass(ts.tick);
	good &= owner_read(&ts, &event, now) && event.deadline == 1;
	good &= !owner_read(&ts, &event, now) && ts.delivered == 2;
	tap(good, "words: stored again between a read's swap and its commit, it comes again");

	/* Another deadline. */
	op = due;
	good = !arm(&op) && timers_claim(&ts, &event, 1, now) == 1;
	swapped = words_take(&ts, &event, timers_held(&ts, &event, 1, ts.claims));
	xchg(&word_of(&ts, 3)->deadline, now + 5000000);
	good &= timers_commit(&ts, &event, 1, swapped, ts.claims, now) == 1;
	test_word(3);
	good &= !owner_read(&ts, &event, now) && ts.wheel.filed == 1;
	pass(5000000);
	good &= owner_read(&ts, &event, now) && !owner_read(&ts, &event, now);
	tap(good, "words: stored to later there, it comes then");

	/* Between a cancel's exchange and its second half, until the event is claimed. */
	op = (struct twheel_op){ .id = 3, .deadline = now + ts.tick };
	good = !arm(&op);
	op = (struct twheel_op){ .id = 3, .generation = op.generation };
	good &= timers_cancel(&ts, &op, &need) == -EAGAIN;
	words_exchange(&ts, &need);
	store(3, now + ts.tick);
	pass(ts.tick);
	good &= timers_claim(&ts, &event, 1, now) == 1;
	exchanged(0);
	good &= !timers_cancel(&ts, &op, &need) && exchanged(0);
	good &= !owner_commit(&ts, &event, 1, ts.claims, now);
	pass(ts.tick);
	good &= owner_read(&ts, &event, now) && !owner_read(&ts, &event, now);
	tap(good, "words: stored again between the halves of a cancel, it comes");

	/* As often as one likes, each time for an earlier tick. */
	op = (struct twheel_op){ .id = 3, .deadline = now + (1ULL << 60) };
	good = !arm(&op);
	for (u64 ticks = 3ULL * ts.wheel.room << 12; ticks; ticks -= 1 << 12) {
		op = (struct twheel_op){ .id = 3 };
		while (timers_cancel(&ts, &op, &need) == -EAGAIN) {
			good &= owner_add(&ts, &need);
			if (need.what == TIMERS_NEED_WORD)
				word_of(&ts, 3)->deadline = now + ticks * ts.tick;
		}
		good &= ts.wheel.entries <= ts.wheel.room;
	}
	good &= !owner_cancel(&ts, &(struct twheel_op){ .id = 3 });
	tap(good, "words: stored again between the halves of cancels, entries do not run out");

	/* Between the halves of an arm: cancelled; or due, with the cookie of before. */
	op = due;
	good = timers_arm(&ts, &op, now, &need) == -EAGAIN;
	words_exchange(&ts, &need);
	store(3, 0);
	good &= !timers_arm(&ts, &op, now, &need) && !owner_read(&ts, &event, now);
	store(3, now + ts.tick);
	op = (struct twheel_op){ .id = 3, .deadline = now + ts.tick, .cookie = 7 };
	good &= timers_arm(&ts, &op, now, &need) == -EAGAIN;
	words_exchange(&ts, &need);
	pass(ts.tick);
	good &= timers_queued(&ts) == 1 && !timers_arm(&ts, &op, now, &need);
	good &= owner_read(&ts, &event, now) && event.cookie == 7 &&
		event.generation == op.generation;
	good &= !owner_read(&ts, &event, now);
	tap(good, "words: an event found between the halves of an arm is of the new arming");

	/* Only if it is armed, or is not: a store in between is not overwritten. */
	op = (struct twheel_op){ .id = 3, .deadline = 1, .flags = TWHEEL_ARM_NEW };
	good = timers_arm(&ts, &op, now, &need) == -EAGAIN;
	store(3, now + 7000000);
	words_exchange(&ts, &need);
	good &= !need.exchanged && timers_arm(&ts, &op, now, &need) == -EEXIST;
	op.flags = TWHEEL_ARM_MOVE;
	good &= timers_arm(&ts, &op, now, &need) == -EAGAIN;
	store(3, 0);
	words_exchange(&ts, &need);
	good &= !need.exchanged && timers_arm(&ts, &op, now, &need) == -ENOENT;
	tap(good, "words: only-new and only-move overwrite no store in between");
	end_words();
}

/*
 * A read holds an event, and the timer is armed again by call, with the same
 * deadline.  The word must be left to the new arming; or a stale event would be
 * told, and the new one dropped.
 */
static void old_claim_of_a_word(void)
{
	struct twheel_op op = { .id = 3, .cookie = 1 }, again = { .id = 3, .cookie = 2 };
	struct twheel_event first, second;
	bool good;
	u32 claim;

	start(1000000);
	good = owner_add_words(&ts, 3);
	op.deadline = now;
	again.deadline = now;
	good &= !arm(&op) && timers_claim(&ts, &first, 1, now) == 1;
	good &= !arm(&again) && again.state == TWHEEL_STATE_EXPIRED;
	good &= !owner_commit(&ts, &first, 1, ts.claims, now);
	good &= owner_read(&ts, &second, now) && second.generation == again.generation &&
		second.cookie == 2;
	good &= !owner_read(&ts, &second, now);
	tap(good, "an old claim does not touch a word that was armed again");

	/* The same with both claimed at once, and the new one committed first. */
	op.generation = 0;
	again.generation = 0;
	good = !arm(&op) && timers_claim(&ts, &first, 1, now) == 1;
	good &= !arm(&again) && timers_claim(&ts, &second, 1, now) == 1;
	good &= owner_commit(&ts, &second, 1, ts.claims, now) == 1;
	good &= !owner_commit(&ts, &first, 1, ts.claims - 1, now);
	good &= !owner_read(&ts, &first, now);
	tap(good, "nor one whose event was read meanwhile");

	/*
	 * Nor one that is claimed for the same deadline of the same arming, stored again when
	 * the timer had run out of periods.
	 */
	op = (struct twheel_op){ .id = 3, .deadline = now, .interval = 1000000, .count = 2 };
	good = !arm(&op) && timers_claim(&ts, &first, 1, now) == 1;
	claim = ts.claims;
	store(3, now + 1);
	store(3, op.deadline);
	good &= owner_read(&ts, &second, now) && !(second.flags & TWHEEL_EVENT_LAST);
	pass(op.interval);
	good &= owner_read(&ts, &second, now) && second.flags & TWHEEL_EVENT_LAST;
	store(3, op.deadline);
	good &= timers_claim(&ts, &second, 1, now) == 1 && second.deadline == op.deadline;
	good &= !owner_commit(&ts, &first, 1, claim, now);
	good &= owner_commit(&ts, &second, 1, ts.claims, now) == 1;
	good &= !owner_read(&ts, &second, now);
	tap(good, "nor one that is claimed for the same deadline once more");
	timers_destroy(&ts);
}

/* A reader passes over stale events in bounded steps, however many there are. */
static void stale_in_front(void)
{
	struct twheel_word *words = start_words(1000000);
	struct twheel_event event;
	unsigned int steps = 0;
	bool good;

	for (u32 id = 0; id < 205; id++)
		store(id, now + (id < 200 ? 1000000 : 2000000));
	pass(2000000);
	good = timers_queued(&ts) == 205;
	for (u32 id = 0; id < 200; id++)
		WRITE_ONCE(words[id].deadline, 0);
	while (timers_drop_stale(&ts, WHEEL_STEP) == WHEEL_STEP) {
		steps++;
		good &= timers_queued(&ts) == 205 - steps * WHEEL_STEP;
	}
	good &= steps == 3 && timers_queued(&ts) == 5 && owner_read(&ts, &event, now) &&
		event.id >= 200;
	tap(good, "words: behind stale events one that counts is found, in bounded steps");
	end_words();
}

/* After its last event a timer is a one-shot, also if a store arms it. */
static void count_run_out(void)
{
	struct twheel_op op = { .id = 3, .interval = 1000000, .count = 3 };
	struct twheel_event event;
	struct twheel_word *words;
	bool good = true;

	words = start_words(1000000);
	op.deadline = now + 1000000;
	arm(&op);
	/* One in time, and the other two in one event, late. */
	pass(1000000);
	good = timers_claim(&ts, &event, 1, now) == 1 && !event.flags &&
	       owner_commit(&ts, &event, 1, ts.claims, now) == 1;
	pass(5000000);
	good &= get(3).count == 2;
	good &= timers_claim(&ts, &event, 1, now) == 1 && event.overruns == 1 &&
		event.flags == TWHEEL_EVENT_LAST &&
		owner_commit(&ts, &event, 1, ts.claims, now) == 1;
	store(3, now + 1000000);
	good &= !get(3).interval && !get(3).count;
	pass(4000000);
	good &= timers_claim(&ts, &event, 1, now) == 1 && !event.overruns &&
		event.flags == TWHEEL_EVENT_LAST &&
		owner_commit(&ts, &event, 1, ts.claims, now) == 1;
	pass(4000000);
	good &= !timers_queued(&ts) && !words[3].deadline;
	tap(good, "words: a count that has run out leaves a one-shot");

	/* What a store has made stale does not use up the count. */
	op.deadline = now + 1000000;
	op.generation = 0;
	arm(&op);
	pass(4000000);
	good = timers_claim(&ts, &event, 1, now) == 1 && event.flags == TWHEEL_EVENT_LAST;
	xchg(&words[3].deadline, now + 1000000);
	good &= !owner_commit(&ts, &event, 1, ts.claims, now) && get(3).count == 3;
	pass(1000000);
	good &= timers_claim(&ts, &event, 1, now) == 1 && !event.flags &&
		owner_commit(&ts, &event, 1, ts.claims, now) == 1 && get(3).count == 2;
	tap(good, "words: a stale event does not use up a count");
	end_words();
}

/* A slot with many timers is down when they are due, though softirq alone turns the wheel. */
static void heavy_slot_in_time(void)
{
	const u32 many = 4096;
	struct twheel_op op = {};
	bool good = true;
	u64 due;

	start(1000000);
	timers_destroy(&ts);
	timers_setup(&ts, many, 0, 64, ts.tick, now);
	due = now + 300 * ts.tick;
	for (op.id = 0; op.id < many; op.id++) {
		op.deadline = due;
		op.generation = 0;
		good &= !arm(&op);
	}
	/* 64 timers in 250 us, and a look at each tick at least. */
	for (; now < due - ts.tick; now += 250000) {
		if (timers_next(&ts) <= now || timers_heavy(&ts))
			timers_advance(&ts, now, WHEEL_STEP);
	}
	good &= ts.wheel.moves == many && !timers_heavy(&ts);
	tap(good, "a heavy slot is down in time at softirq's pace");
	timers_destroy(&ts);
}

/* The clock is set back: what has expired stays expired, and pending timers wait. */
static void set_back(bool words, bool held)
{
	struct twheel_op expired = { .id = 3 }, pending = { .id = 4 };
	struct twheel_event event;
	bool good;

	if (words)
		start_words(1000000);
	else
		start(1000000);
	ts.settable = true;
	expired.deadline = now + 5000000;
	pending.deadline = now + 9000000;
	good = !arm(&expired) && !arm(&pending);
	pass(6000000);
	good &= timers_queued(&ts) == 1;
	if (held)
		good &= timers_claim(&ts, &event, 1, now) == 1;
	now -= 4000000;
	timers_set_time(&ts, now);
	good &= get(3).state == TWHEEL_STATE_EXPIRED &&
		get(4).state == TWHEEL_STATE_PENDING;
	if (held)
		good &= owner_commit(&ts, &event, 1, ts.claims, now) == 1;
	else
		good &= owner_read(&ts, &event, now) && event.deadline == expired.deadline;
	good &= !owner_read(&ts, &event, now);
	pass(pending.deadline - now - 1);
	good &= !owner_read(&ts, &event, now);
	pass(1);
	good &= owner_read(&ts, &event, now) && event.deadline == pending.deadline;
	good &= !owner_read(&ts, &event, now) && ts.delivered == 2;
	tap(good, "%sthe clock is set back: an event %s stays, a pending timer waits",
	    words ? "words: " : "", held ? "that a read holds" : "that waits");
	if (words)
		end_words();
	else
		timers_destroy(&ts);
}

/* A deadline in the year 2229, and a clock that is set there and back, again and again. */
static void set_back_by_centuries(u64 tick, int come)
{
	const u64 there = 8200000000000000000ULL, back = 1700000000000000000ULL;
	bool early = false;
	int came = 0;

	timers_setup(&ts, CAPACITY, 0, 64, tick, back);
	ts.settable = true;
	for (int round = 0; round < 5; round++) {
		const u64 times[] = { back, back + 1000, there, there + 4000 };
		struct twheel_op op = { .id = 3, .deadline = there + 2000 };
		struct twheel_event event;

		now = back;
		arm(&op);
		for (u32 i = 0; i < ARRAY_SIZE(times); i++) {
			now = times[i];
			timers_advance(&ts, now, 64);
			if (!timers_claim(&ts, &event, 1, now))
				continue;
			early |= event.deadline > now;
			came += owner_commit(&ts, &event, 1, ts.claims, now);
		}
	}
	tap(!early && came == come,
	    "ticks of %llu ns, set back by centuries: none early, %d come (%d)",
	    (unsigned long long)tick, come, came);
	timers_destroy(&ts);
}

/*
 * Many timers a second, armed long before, all slots of which are heavy on the way down:
 * softirq brings them down in time, though each is handled about three times, and what comes
 * due meanwhile takes its part of the @budget for 250 us.
 */
static void steady_load(u64 tick, u32 per_second, unsigned int budget)
{
	const u64 span = 250000, start = 1000000000000;
	const u32 nr = 4 * per_second;
	struct twheel_event events[64];
	u64 latest = 0;
	u32 told = 0;

	now = start;
	timers_setup(&ts, nr, 0, 64, tick, now);
	for (u32 id = 0; id < nr; id++) {
		struct twheel_op op = {
			.id = id,
			.deadline = start + 5000000000 + (u64)id * 1000000000 / per_second,
		};

		arm(&op);
	}
	for (; told < nr && now < start + 20000000000; now += span) {
		unsigned int got;

		timers_advance(&ts, now, budget);
		while ((got = timers_claim(&ts, events, ARRAY_SIZE(events), now))) {
			owner_commit(&ts, events, got, ts.claims, now);
			for (unsigned int i = 0; i < got; i++)
				latest = max(latest, now - events[i].deadline);
			told += got;
		}
	}
	tap(told == nr && latest <= tick + 4 * span,
	    "%u timers a second, a tick of %llu ns, %u of them in 250 us: %llu us late at most",
	    per_second, (unsigned long long)tick, budget, (unsigned long long)latest / 1000);
	timers_destroy(&ts);
}

/* Is the only event of a histogram in the class of so many ns, and is that the most? */
static bool only_late_by(u64 ns)
{
	unsigned int class = 0;
	u64 width = 1024, sum = 0;

	for (; class < TWHEEL_LATE_CLASSES - 1 && ns >= width; width *= 2)
		class++;
	for (unsigned int i = 0; i < TWHEEL_LATE_CLASSES; i++)
		sum += ts.late[i];
	return sum == 1 && ts.late[class] == 1 && ts.max_late == late_decode(late_encode(ns));
}

/* An event counts by how long after its deadline it was found, not by when it is read. */
static void late_by_classes(void)
{
	static const u64 spans[] = { 0, 1, 1023, 1024, 2047, 2048, 1000000, 4294967295, 4294967296,
				     86400ULL * 1000000000 };
	struct twheel_event event;
	struct twheel_op op;
	bool good = true;

	for (unsigned int i = 0; i < ARRAY_SIZE(spans); i++) {
		start(1000000);
		op = (struct twheel_op){ .id = 7, .deadline = now + ts.tick };
		good &= !arm(&op);
		pass(ts.tick + spans[i]);
		now += 5000;
		good &= owner_read(&ts, &event, now) && only_late_by(spans[i]);
		timers_destroy(&ts);
	}
	tap(good, "lateness: the classes of events");

	/* Armed for a time that has passed: late by that. */
	start(1000000);
	op = (struct twheel_op){ .id = 3, .deadline = now - 3000 };
	good = !arm(&op) && owner_read(&ts, &event, now) && only_late_by(3000);
	timers_destroy(&ts);

	/* Found, and then the clock is set back. */
	start(1000000);
	op = (struct twheel_op){ .id = 3, .deadline = now + 10 * ts.tick };
	good &= !arm(&op);
	pass(15 * ts.tick);
	now -= 8 * ts.tick;
	good &= owner_read(&ts, &event, now) && only_late_by(5 * ts.tick);
	tap(good, "lateness: from the deadline on, also of one that was due when it was armed");
	timers_destroy(&ts);
}

void timers_cases(void)
{
	old_claim();
	claim_overtaken_with_words();
	told_before_found(false);
	told_before_found(true);
	cancelled_words_end();
	passing_over_is_bounded();
	first_due_periodic();
	few_levels();
	periodic_slack();
	generations_wrap();
	word_exchanges();
	stores_between_halves();
	old_claim_of_a_word();
	stale_in_front();
	count_run_out();
	heavy_slot_in_time();
	late_by_classes();
	set_back(false, false);
	set_back(false, true);
	set_back(true, false);
	set_back(true, true);
	/* With 1 ns the wheel's time is at its end in the third round. */
	set_back_by_centuries(1, 2);
	set_back_by_centuries(10, 5);
	steady_load(1000000, 40000, 46);
	steady_load(1000000, 20000, 23);
	steady_load(100, 20000, 46);
}
