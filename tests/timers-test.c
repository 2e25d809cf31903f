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
	timers_commit(&ts, &first, 1, ts.claims - 1, now);
	timers_put_back(&ts, &second, 1, ts.claims);
	good &= timers_claim(&ts, &first, 1, now) == 1 &&
		first.generation == second.generation;
	tap(good, "an old claim does not touch a newer one");
	wheel_destroy(&ts.wheel);
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
	good &= timers_commit(&ts, &old, 1, ts.claims, now) == 0 && words[3].deadline == 1;
	good &= timers_claim(&ts, &event, 1, now) == 1 && event.generation == 2 &&
		event.cookie == 2 && timers_commit(&ts, &event, 1, ts.claims, now) == 1;
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
	       timers_commit(&ts, &event, 1, ts.claims, now) == 1 && !timers_expired(&ts);
	tap(good, "words: armed again, an old event is not put back");

	op.generation = 0;
	arm(&op);
	timers_claim(&ts, &old, 1, now);
	good = cancel_id(3) == TWHEEL_STATE_EXPIRED && !timers_commit(&ts, &old, 1, ts.claims, now);
	timers_put_back(&ts, &old, 1, ts.claims);
	good &= !timers_expired(&ts) && !words[3].deadline;
	tap(good, "words: cancelled while it is read, an event is taken back");

	/* By a store to another time, and back: it is due once. */
	op.generation = 0;
	arm(&op);
	timers_claim(&ts, &old, 1, now);
	store(3, now + 5000000);
	store(3, 1);
	good = !timers_commit(&ts, &old, 1, ts.claims, now) && words[3].deadline == 1;
	good &= timers_claim(&ts, &event, 1, now) == 1 &&
		timers_commit(&ts, &event, 1, ts.claims, now) == 1 && !timers_expired(&ts);
	tap(good, "words: stored to later and back while it is read, it comes once");

	/* Stored later only: the old event is stale, the new deadline is kept. */
	store(3, 1);
	timers_claim(&ts, &old, 1, now);
	xchg(&words[3].deadline, now + 5000000);
	good = !timers_commit(&ts, &old, 1, ts.claims, now);
	pass(5000000);
	good &= timers_claim(&ts, &event, 1, now) == 1 &&
		timers_commit(&ts, &event, 1, ts.claims, now) == 1;
	tap(good, "words: a store alone makes a claimed event stale");
	end_words();
}

/*
 * A cancel by call ends a timer with a word at once, as one without: it is not pending
 * any more, and its id can be chosen again.
 */
static void cancelled_words_are_free(void)
{
	struct twheel_op any = { .id = TWHEEL_ID_ANY, .deadline = 3600000000000 };
	bool good = true;
	u32 id = 0;

	start_words(1000000);
	for (u32 n = 0; n < 3 * CAPACITY && good; n++) {
		struct twheel_op op = any;

		op.deadline += now;
		good = !arm(&op) && (!n || op.id == id);
		id = op.id;
		good &= cancel_id(id) == TWHEEL_STATE_PENDING && !ts.wheel.filed;
	}
	tap(good, "words: what a call has cancelled is not pending, and its id is free");

	/* One that was stored again in view of the promise is not cancelled. */
	store(5, now + 50000000);
	good = cancel_id(5) == TWHEEL_STATE_PENDING;
	store(5, now + 60000000);
	good &= ts.wheel.filed == 1;
	pass(60000000);
	good &= timers_expired(&ts) == 1;
	tap(good, "words: cancelled by a call and stored again, it comes");
	end_words();
}

/* What a store has cancelled is found when an id is asked for, however far off it is. */
static void stored_cancels_are_found(void)
{
	struct twheel_op op;
	struct twheel_word *word;
	bool good = true;
	u32 free = 0;

	start_words(1000000);
	for (u32 n = 0; n < CAPACITY; n++) {
		op = (struct twheel_op){ .id = TWHEEL_ID_ANY, .deadline = now + 3600000000000 };
		good &= !arm(&op);
	}
	op = (struct twheel_op){ .id = TWHEEL_ID_ANY, .deadline = now + 3600000000000 };
	good &= arm(&op) == -ENOSPC;
	tap(good, "words: ENOSPC when all are armed");

	for (u32 n = 0; n < 5; n++) {
		free = (free + 431) % CAPACITY;
		word = word_of(&ts, free);
		WRITE_ONCE(word->deadline, 0);
		op = (struct twheel_op){ .id = TWHEEL_ID_ANY, .deadline = now + 3600000000000 };
		good &= !arm(&op) && op.id == free && word->deadline && word->promise;
		op = (struct twheel_op){ .id = TWHEEL_ID_ANY, .deadline = now + 3600000000000 };
		good &= arm(&op) == -ENOSPC;
	}
	tap(good, "words: one that a store has cancelled is found, wherever it is");

	for (u32 id = 0; id < CAPACITY; id++)
		WRITE_ONCE(word_of(&ts, id)->deadline, 0);
	for (u32 n = 0; n < CAPACITY; n++) {
		op = (struct twheel_op){ .id = TWHEEL_ID_ANY, .deadline = now + 3600000000000 };
		good &= !arm(&op);
	}
	tap(good && ts.wheel.filed == CAPACITY, "words: all that stores have cancelled are found");
	end_words();
}

/* How far one search has come is no matter of the next. */
static void search_begins_anew(void)
{
	const u64 later = 3600000000000;
	struct twheel_op any = { .id = TWHEEL_ID_ANY }, op;
	struct timers_need need = {};
	bool good = true;
	u32 seen;

	start_words(1000000);
	any.deadline = now + later;
	for (u32 n = 0; n < CAPACITY; n++) {
		op = any;
		good &= !arm(&op);
	}
	/* Whoever asks here never comes back. */
	op = any;
	good &= timers_arm(&ts, &op, now, &need) == -EAGAIN && need.searched;
	seen = need.searched;
	/* All that can be free now is what was looked at. */
	for (u32 n = 1; n <= seen; n++)
		WRITE_ONCE(word_of(&ts, CAPACITY - n)->deadline, 0);
	op = any;
	good &= !arm(&op) && op.id >= CAPACITY - seen;
	tap(good, "words: an id is found that was in use when a search gave up");

	/* Nor does it matter that somebody was served from the pool in between. */
	need = (struct timers_need){};
	for (u32 n = 0; n < CAPACITY; n++)
		WRITE_ONCE(word_of(&ts, n)->deadline, now + later);
	ts.search = 0;
	op = any;
	good &= timers_arm(&ts, &op, now, &need) == -EAGAIN && need.searched;
	good &= cancel_id(7) == TWHEEL_STATE_PENDING;
	op = any;
	good &= !timers_arm(&ts, &op, now, &need) && op.id == 7 && !need.searched;
	for (u32 n = 1; n <= seen; n++)
		WRITE_ONCE(word_of(&ts, CAPACITY - n)->deadline, 0);
	op = any;
	good &= !arm(&op);
	tap(good, "words: nor by the same caller, who was served meanwhile");
	end_words();
}

/* However many ids are in use, a hold of the lock passes over no more than 64. */
static void passing_over_is_bounded(void)
{
	struct twheel_op op;
	unsigned int holds = 0, armed = 0, free = 0;
	struct timers_need need = {};

	start_words(1000000);
	for (u32 n = 0; n < CAPACITY; n++) {
		op = (struct twheel_op){ .id = n, .deadline = now + 1000000000 };
		/* Every eighth is free. */
		if (n % 8)
			arm(&op);
		else
			free++;
	}
	while (armed < free && holds < CAPACITY) {
		u32 before = ts.fresh;

		/* A hold with 64 operations, as the device does them. */
		timers_turn(&ts, now);
		for (int n = 0; n < 64; n++) {
			op = (struct twheel_op){ .id = TWHEEL_ID_ANY };
			op.deadline = now + 1000000000;
			if (timers_arm(&ts, &op, now, &need))
				break;
			armed++;
		}
		if (before - ts.fresh > 64)
			break;
		holds++;
	}
	tap(armed == free, "64 arms in one hold pass over no more than 64 ids");
	end_words();
}

static struct twheel_timer get(u32 id)
{
	struct twheel_timer record = { .id = id };

	timers_get(&ts, &record, now);
	return record;
}

/* Whoever asks is told that a timer is due, before anybody had the time to find it. */
static void told_before_found(bool words)
{
	struct twheel_op op = { .id = 3, .cookie = 7, .interval = 1000000 };
	struct twheel_timer record;
	struct twheel_event event;
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
	good &= timers_list(&ts, &record, 1, &cursor, false, now) == 1 &&
		record.state == TWHEEL_STATE_EXPIRED;
	good &= !timers_expired(&ts) && !ts.fired;
	good &= cancel_id(3) == TWHEEL_STATE_EXPIRED;
	op.deadline = now + 5000000;
	op.generation = 0;
	arm(&op);
	now += 5000000;
	op.deadline = now + 1000000;
	op.generation = 0;
	good &= !arm(&op) && op.state == TWHEEL_STATE_EXPIRED && !ts.fired;

	/* A drain finds it, and what is put back is read as found then. */
	op.deadline = now + 5000000;
	op.generation = 0;
	arm(&op);
	now += 6000000;
	cursor = 0;
	good &= timers_list(&ts, &record, 1, &cursor, true, now) == 1 && ts.fired == 1;
	timers_undrain(&ts, &record, 1, ts.claims, now);
	good &= timers_claim(&ts, &event, 1, now) == 1 && event.fired == now &&
		event.overruns == 1 && ts.fired == 1;
	tap(good, "%swhat is due says so before it is found", words ? "words: " : "");
	if (words)
		end_words();
	else
		wheel_destroy(&ts.wheel);
}

/*
 * A drain holds a timer while it copies, which may take for ever.  Until then nobody
 * looks at it, so its promise must not keep a daemon from calling.
 */
static void drained_promises_nothing(void)
{
	struct twheel_timer record;
	struct twheel_event event;
	struct twheel_word *words;
	struct twheel_op op;
	u32 cursor = 0;
	bool good;

	words = start_words(1000000);
	store(3, now + 5000000);
	good = timers_list(&ts, &record, 1, &cursor, true, now) == 1 && record.id == 3;
	good &= get(3).state == TWHEEL_STATE_PENDING;
	store(3, now + 6000000);
	pass(6000000);
	good &= timers_expired(&ts) == 1 && words[3].deadline == now;
	timers_drained(&ts, &record, 1, ts.claims);
	good &= timers_expired(&ts) == 1 && words[3].deadline == now && !ts.cancels;
	tap(good, "words: stored while a drain copies, it comes in time");
	end_words();

	words = start_words(1000000);
	store(3, now + 5000000);
	cursor = 0;
	good = timers_list(&ts, &record, 1, &cursor, true, now) == 1 && !words[3].promise;
	timers_undrain(&ts, &record, 1, ts.claims, now);
	good &= words[3].promise == record.deadline && ts.wheel.filed == 1;
	cursor = 0;
	good &= timers_list(&ts, &record, 1, &cursor, true, now) == 1;
	timers_drained(&ts, &record, 1, ts.claims);
	good &= !words[3].promise && !words[3].deadline && !ts.wheel.filed && ts.cancels == 1;
	/* One that a store has cancelled is not told of, and ends. */
	store(3, now + 5000000);
	store(3, 0);
	cursor = 0;
	good &= !timers_list(&ts, &record, 1, &cursor, true, now) && !ts.wheel.filed &&
		!words[3].promise && get(3).state == TWHEEL_STATE_IDLE;
	tap(good, "words: drained or not, what is promised is true");
	end_words();

	/* Extended while a drain had it, and due as well when that failed: with the next tick. */
	words = start_words(1000000);
	store(3, now + 1000000);
	pass(1000000);
	cursor = 0;
	good = timers_list(&ts, &record, 1, &cursor, true, now) == 1 &&
	       record.state == TWHEEL_STATE_EXPIRED;
	words[3].deadline = now + 1000;
	now += 2000;
	timers_undrain(&ts, &record, 1, ts.claims, now);
	good &= ts.wheel.filed == 1 && !timers_expired(&ts);
	/* Who asks for it by a call does not wait for that. */
	op = (struct twheel_op){ .flags = TWHEEL_ARM_STORED, .id = 3 };
	good &= !arm(&op) && timers_expired(&ts) == 1 &&
		timers_claim(&ts, &event, 1, now) == 1 && event.id == 3;
	tap(good, "words: a call for what has passed makes it due at once");
	end_words();
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
	timers_commit(&ts, &event, 1, ts.claims, now);
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
	timers_commit(&ts, &event, 1, ts.claims, now);
	op = (struct twheel_op){ .id = 4, .deadline = now + 300 * ts.tick };
	arm(&op);
	now = op.deadline;
	owner_advance(&ts, now);
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
	ts.trimmed = 5;
	timer_of(&ts, 3)->generation = ~0U;
	op.generation = ~0U;
	good = !arm(&op) && op.generation == 6;
	tap(good, "nor one that a timer had whose memory was given back");
	wheel_destroy(&ts.wheel);
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
	good &= timers_commit(&ts, &event, 1, ts.claims, now) == 1 && exchanged(1);
	op = (struct twheel_op){ .id = 3 };
	good &= !cancel(&op) && op.state == TWHEEL_STATE_DELIVERED && exchanged(1);
	tap(good, "an arm, a cancel and a read exchange a word once, and tell what was there");
	words_destroy(&ts);
	wheel_destroy(&ts.wheel);
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
	good &= !timers_commit(&ts, &first, 1, ts.claims, now);
	good &= owner_read(&ts, &second, now) && second.generation == again.generation &&
		second.cookie == 2;
	good &= !owner_read(&ts, &second, now);
	tap(good, "an old claim does not touch a word that was armed again");

	/* The same with both claimed at once, and the new one committed first. */
	op.generation = 0;
	again.generation = 0;
	good = !arm(&op) && timers_claim(&ts, &first, 1, now) == 1;
	good &= !arm(&again) && timers_claim(&ts, &second, 1, now) == 1;
	good &= timers_commit(&ts, &second, 1, ts.claims, now) == 1;
	good &= !timers_commit(&ts, &first, 1, ts.claims - 1, now);
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
	good &= !timers_commit(&ts, &first, 1, claim, now);
	good &= timers_commit(&ts, &second, 1, ts.claims, now) == 1;
	good &= !owner_read(&ts, &second, now);
	tap(good, "nor one that is claimed for the same deadline once more");
	words_destroy(&ts);
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
	good = ring_post(&ring, &ts, now, WHEEL_STEP) == 10 && ring.header->waiting == 1;
	owner_advance(&ts, now);
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == WHEEL_STEP &&
		ring.header->waiting == 90 - WHEEL_STEP;
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 90 - WHEEL_STEP && !ring.header->waiting;
	tap(good, "a ring tells that something waits, before it is found");
	ring_free(&ring);
	wheel_destroy(&ts.wheel);
}

/* Stale events in front keep a call that goes on from nothing, whatever their number. */
static void stale_in_front(void)
{
	struct twheel_word *words = start_words(1000000);
	unsigned int calls = 0;
	struct ring ring = {};
	bool good;

	if (ring_alloc(&ring, 256)) {
		tap(false, "memory for a ring");
		return;
	}
	for (u32 id = 0; id < 205; id++)
		store(id, now + (id < 200 ? 1000000 : 2000000));
	pass(2000000);
	good = timers_expired(&ts) == 205;
	for (u32 id = 0; id < 200; id++)
		WRITE_ONCE(words[id].deadline, 0);
	while (!ring_post(&ring, &ts, now, WHEEL_STEP) && timers_expired(&ts) && calls < 10) {
		good &= ring.header->waiting == 205 - ++calls * WHEEL_STEP;
		good &= !ring_has_entries(&ring);
	}
	good &= calls == 3 && ring.tail == 5 && !ring.header->waiting && !timers_expired(&ts);
	tap(good, "ring: behind stale events an entry is found, in bounded steps");

	/* Full but for one place: stale ones need none. */
	ring.header->head = ring.tail - 255;
	for (u32 id = 0; id < 40; id++)
		store(id, now + (id < 38 ? 1000000 : 2000000));
	pass(2000000);
	for (u32 id = 0; id < 38; id++)
		WRITE_ONCE(words[id].deadline, 0);
	good = ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && ring.header->waiting == 1 &&
	       timers_expired(&ts) && !ring_has_room(&ring);
	ring.header->head = ring.tail;
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && !ring.header->waiting;
	tap(good, "ring: stale events take no place in it");
	ring_free(&ring);
	end_words();
}

/* Whatever puts an event into the queue, the ring tells that it waits, at once. */
static void waiting_at_once(void)
{
	struct twheel_op op = { .id = 1, .deadline = 1 };
	struct twheel_timer record;
	struct ring ring = {};
	u32 cursor = 0;
	bool good;

	start_words(1000000);
	if (ring_alloc(&ring, 256)) {
		tap(false, "memory for a ring");
		return;
	}
	good = !ring_post(&ring, &ts, now, WHEEL_STEP) && !ring.header->waiting;
	arm(&op);
	good &= ring.header->waiting == 1;
	store(2, 1);
	good &= ring.header->waiting == 2;
	store(3, now + 1000000);
	pass(1000000);
	good &= ring.header->waiting == 3;
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 3 && !ring.header->waiting;
	tap(good, "ring: what is due waits from the moment on that it is queued");

	store(4, 1);
	good = timers_list(&ts, &record, 1, &(u32){ 4 }, true, now) == 1 && record.id == 4;
	good &= !ring_post(&ring, &ts, now, WHEEL_STEP) && !ring.header->waiting;
	timers_undrain(&ts, &record, 1, ts.claims, now);
	good &= ring.header->waiting == 1;
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1;
	/* So does one that came due while the drain had it. */
	store(5, now + 1000000);
	cursor = 5;
	good &= timers_list(&ts, &record, 1, &cursor, true, now) == 1 && record.id == 5;
	pass(1000000);
	good &= !ring_post(&ring, &ts, now, WHEEL_STEP);
	timers_undrain(&ts, &record, 1, ts.claims, now);
	good &= ring.header->waiting == 1 && ring_post(&ring, &ts, now, WHEEL_STEP) == 1;
	/* One that is alone in its tick is in the ring before that has come. */
	pass(2000000);
	store(6, now + 3500000);
	pass(3500000);
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 &&
		timer_state(&ts, 6) == TWHEEL_STATE_EXPIRED;
	/* So is one with slack that was due when it was armed. */
	op = (struct twheel_op){ .id = 7, .deadline = now - 1, .slack = 50000000 };
	arm(&op);
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 &&
		timer_state(&ts, 7) == TWHEEL_STATE_EXPIRED;
	tap(good, "ring: an event that a drain puts back waits at once");
	ring_free(&ring);
	end_words();
}

/* After its last event a timer is a one-shot, also if a store arms it: with read. */
static void count_run_out_read(void)
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
	       timers_commit(&ts, &event, 1, ts.claims, now) == 1;
	pass(5000000);
	good &= get(3).count == 2;
	good &= timers_claim(&ts, &event, 1, now) == 1 && event.overruns == 1 &&
		event.flags == TWHEEL_EVENT_LAST &&
		timers_commit(&ts, &event, 1, ts.claims, now) == 1;
	store(3, now + 1000000);
	good &= !get(3).interval && !get(3).count;
	pass(4000000);
	good &= timers_claim(&ts, &event, 1, now) == 1 && !event.overruns &&
		event.flags == TWHEEL_EVENT_LAST &&
		timers_commit(&ts, &event, 1, ts.claims, now) == 1;
	pass(4000000);
	good &= !timers_expired(&ts) && !words[3].deadline;
	tap(good, "words: a count that has run out leaves a one-shot");

	/* What a store has made stale does not use up the count. */
	op.deadline = now + 1000000;
	op.generation = 0;
	arm(&op);
	pass(4000000);
	good = timers_claim(&ts, &event, 1, now) == 1 && event.flags == TWHEEL_EVENT_LAST;
	xchg(&words[3].deadline, now + 1000000);
	good &= !timers_commit(&ts, &event, 1, ts.claims, now) && get(3).count == 3;
	pass(1000000);
	good &= timers_claim(&ts, &event, 1, now) == 1 && !event.flags &&
		timers_commit(&ts, &event, 1, ts.claims, now) == 1 && get(3).count == 2;
	tap(good, "words: a stale event does not use up a count");
	end_words();
}

/* What a consumer of the ring does with its next entry; returns the periods, 0 if stale. */
static u32 consume_and(struct ring *ring, bool tell)
{
	u32 at = ring->header->head;
	const struct twheel_entry *entry = ring_entry(ring, at);
	struct twheel_word *word = word_of(&ts, entry->id);
	u32 periods = entry->overruns + 1;
	u64 next = entry->flags & TWHEEL_EVENT_LAST ? 0 :
		   entry->deadline + periods * timer_of(&ts, entry->id)->interval;
	bool counts = cmpxchg(&word->deadline, entry->deadline, next) == entry->deadline;

	ring->header->head = at + 1;
	if (tell && counts)
		arm_stored(entry->id, periods);
	else if (tell)
		test_word(entry->id);
	return counts ? periods : 0;
}

static bool consume(struct ring *ring)
{
	return consume_and(ring, true);
}

/* The same with a ring, whose consumer tells what it has claimed. */
static void count_run_out_ring(void)
{
	struct twheel_op op = { .id = 3, .interval = 1000000, .count = 3 };
	struct twheel_word *words = start_words(1000000);
	struct ring ring = {};
	bool good;

	if (ring_alloc(&ring, 256)) {
		tap(false, "memory for a ring");
		return;
	}
	op.deadline = now + 1000000;
	arm(&op);
	for (u32 left = 3; left; left--) {
		good = get(3).count == left;
		pass(1000000);
		good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && get(3).count == left;
		good &= consume(&ring);
		tap(good, "ring: a count of %u", left);
	}
	store(3, now + 1000000);
	good = !get(3).interval && !get(3).count;
	pass(4000000);
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && consume(&ring);
	pass(4000000);
	good &= !ring_post(&ring, &ts, now, WHEEL_STEP) && !words[3].deadline;
	tap(good, "ring: a count that has run out leaves a one-shot");

	/* All in one event, which is moved by an exchange before it is taken. */
	op.deadline = now + 1000000;
	op.generation = 0;
	arm(&op);
	pass(9000000);
	good = ring_post(&ring, &ts, now, WHEEL_STEP) == 1;
	store(3, now + 1000000);
	good &= get(3).count == 3 && get(3).interval == 1000000;
	good &= !consume(&ring);
	pass(1000000);
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && consume(&ring) && get(3).count == 2;
	tap(good, "ring: a stale entry does not use up a count");

	/* One of two, which was moved after head had passed it, and before it was claimed. */
	pass(1000000);
	good = ring_post(&ring, &ts, now, WHEEL_STEP) == 1;
	ring.header->head++;
	store(3, now + 5000000);
	ring.header->head--;
	good &= get(3).count == 2 && !consume(&ring) && get(3).count == 2;
	pass(5000000);
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && consume(&ring) && get(3).count == 1;
	tap(good, "ring: an entry that is stale when it is claimed does not use up a count");

	/* Taken with all that is left, and armed by a call that the claim takes: it is gone. */
	pass(9000000);
	good = ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && consume(&ring) && !words[3].deadline;
	store(3, now + 1000000);
	good &= !get(3).count && !get(3).interval;
	cancel_id(3);
	/* Cancelled by a call before it is taken: all of the count is left. */
	op.deadline = now + 1000000;
	op.generation = 0;
	arm(&op);
	pass(9000000);
	good &= ring_post(&ring, &ts, now, WHEEL_STEP) == 1 && cancel_id(3) == TWHEEL_STATE_EXPIRED;
	good &= !consume(&ring);
	store(3, now + 1000000);
	good &= get(3).count == 3;
	tap(good, "ring: what a cancel has taken back does not use up a count");
	ring_free(&ring);
	end_words();
}

/* Bits of a case of count_beside_successors(). */
#define PERIODS_LATE	3	/* so many periods pass before each call */
#define CALLS_SHIFT	2	/* so often a successor calls, while the entry waits; 2 bits */
#define TOLD_LATE	16	/* head passes all entries before the consumer tells */
#define DRAINED		32	/* a drain holds the timer, and could not tell of it */
#define STALE		64	/* the deadline was another one for a time */
#define CASES		128

/* A consumer's life with a count; returns how many expirations it was told. */
static unsigned int count_beside_successors(struct ring *ring, unsigned int which)
{
	struct twheel_op op = { .id = 3, .interval = 1000000, .count = 5 };
	struct twheel_word *word = word_of(&ts, 3);
	unsigned int told = 0, untold;

	ring->header->head = ring->tail;
	op.deadline = now + 1000000;
	arm(&op);
	for (int round = 0; round < 10; round++) {
		pass(1000000);
		ring_post(ring, &ts, now, WHEEL_STEP);
		for (unsigned int i = 0; i < (which >> CALLS_SHIFT & 3); i++) {
			pass((which & PERIODS_LATE) * 1000000ULL);
			if (which & STALE)
				store(3, xchg(&word->deadline, now + 9000000));
			else
				arm_stored(3, 0);
			if (which & DRAINED) {
				struct twheel_timer record;
				u32 cursor = 0;

				if (timers_list(&ts, &record, 1, &cursor, true, now))
					timers_undrain(&ts, &record, 1, ts.claims, now);
			}
			ring_post(ring, &ts, now, WHEEL_STEP);
		}
		untold = told;
		while (ring->header->head != ring->tail)
			told += consume_and(ring, !(which & TOLD_LATE));
		if (which & TOLD_LATE)
			arm_stored(3, told - untold);
		ring_post(ring, &ts, now, WHEEL_STEP);
	}
	return told;
}

/*
 * All that may happen to a timer with a count, in any order; but what was claimed is told
 * before the next event comes.  Returns how often count and expirations did not agree.
 */
static unsigned int count_beside_anything(struct ring *ring)
{
	unsigned int wrong = 0, told = 0, untold = 0, count = 0;
	struct twheel_word *word = word_of(&ts, 3);
	bool drained = false;

	rnd_seed(4711, 0);
	ring->header->head = ring->tail;
	for (int step = 0; step < 200000; step++) {
		bool entries = ring->header->head != ring->tail;
		struct twheel_timer record;
		u32 cursor = 0;
		u64 before;

		if (!word->deadline && !untold) {
			struct twheel_op op = { .id = 3, .interval = 1000000 };

			wrong += told != count && !drained;
			/* What a store arms now is a one-shot, unless a drain has left more. */
			store(3, now + 1000000);
			wrong += !drained && get(3).count + get(3).interval;
			drained = false;
			count = 1 + rnd() % 6;
			op.count = count;
			op.deadline = now + 1 + rnd() % 3000000;
			told = 0;
			arm(&op);
			continue;
		}
		switch (rnd() % 8) {
		case 0:
			if (!untold)
				pass(rnd() % 3000000);
			break;
		case 1:
			if (untold)
				break;
			ring_post(ring, &ts, now, WHEEL_STEP);
			/* In the ring, or yet to come. */
			wrong += word->deadline && ring->header->head == ring->tail &&
				 wheel_where(wheel_node(&ts.wheel, 3)) != WHEEL_FILED;
			break;
		case 2:
			if (!entries || untold)
				break;
			untold = consume_and(ring, false);
			told += untold;
			if (!untold)
				test_word(3);
			break;
		case 3:
			arm_stored(3, untold);
			untold = 0;
			break;
		case 4:
			arm_stored(3, 0);
			break;
		case 5:
			/* Later, by just a period perhaps; or due at once. */
			pass(1);
			before = rnd() % 3 ? word->deadline + 1000000 : now;
			if (word->deadline)
				store(3, before);
			break;
		case 6:
			/* Stale while the consumer looks, and then as it was. */
			if (!entries || untold || !word->deadline)
				break;
			before = xchg(&word->deadline, now + 9000000);
			wrong += consume_and(ring, false);
			store(3, before);
			break;
		default:
			if (!timers_list(&ts, &record, 1, &cursor, true, now))
				break;
			/* Who takes events does not wait for a drain. */
			if (entries && !untold && rnd() % 2) {
				untold = consume_and(ring, false);
				told += untold;
				if (!untold)
					test_word(3);
			}
			if (rnd() % 2)
				timers_undrain(&ts, &record, 1, ts.claims, now);
			else
				drained = timers_drained(&ts, &record, 1, ts.claims);
			break;
		}
		if (word->deadline && get(3).count != count - (told - untold)) {
			printf("# step %d: told %u of %u, and %u not yet, left %u\n", step, told,
			       count, untold, get(3).count);
			wrong++;
			break;
		}
	}
	return wrong;
}

/*
 * ARM by what is stored may come at any time, and from everybody who has started anew.
 * The event of a timer with a count may then be in the ring twice: it is told once.
 */
static void count_told_once(void)
{
	struct ring ring = {};
	unsigned int wrong = 0;

	start_words(1000000);
	if (ring_alloc(&ring, 256)) {
		tap(false, "memory for a ring");
		return;
	}
	for (unsigned int which = 0; which < CASES; which++) {
		unsigned int told = count_beside_successors(&ring, which);

		if (told != 5) {
			printf("# case %u: told %u of 5\n", which, told);
			wrong++;
		}
	}
	tap(!wrong, "ring: a count is told once beside successors (%u of %u cases wrong)",
	    wrong, CASES);
	wrong = count_beside_anything(&ring);
	tap(!wrong, "ring: what was told and what is left are the count (%u times not)", wrong);
	ring_free(&ring);
	end_words();
}

/* Give back what can be; returns how many chunks.  @meanwhile comes between the steps. */
static unsigned int trim(void (*meanwhile)(void))
{
	struct timers_trim walk = {};
	unsigned int steps = 0, freed = 0;

	while (walk.id < ts.wheel.capacity && steps < 1000) {
		struct wheel_chunk chunk = timers_trim(&ts, &walk);

		if (chunk.node) {
			wheel_chunk_free(chunk);
			freed++;
		}
		if (meanwhile)
			meanwhile();
		steps++;
	}
	return steps < 1000 ? freed : ~0U;
}

/* Arm by kernel's choice; the id, or WHEEL_NIL. */
static u32 arm_any(void)
{
	struct twheel_op op = { .id = TWHEEL_ID_ANY, .deadline = now + 1000000000 };

	return arm(&op) ? WHEEL_NIL : op.id;
}

/* Each of the ids can be chosen, and once only. */
static bool all_chosen(void)
{
	static bool seen[CAPACITY];
	bool good = true;

	memset(seen, 0, sizeof(seen));
	for (u32 n = 0; n < CAPACITY && good; n++) {
		u32 id = arm_any();

		good = id < CAPACITY && !seen[id];
		if (good)
			seen[id] = true;
	}
	return good && arm_any() == WHEEL_NIL;
}

static void arm_far_away(void)
{
	struct twheel_op op = { .id = CAPACITY - 1, .deadline = now + 1000000000 };

	arm(&op);
}

/* With memory for all ids, more arms than there are levels to find: some come between. */
static void arm_and_cancel_any(void)
{
	u32 id = arm_any();

	if (id != WHEEL_NIL)
		cancel_id(id);
}

/* Memory of timers that are all idle is given back, and nothing else is. */
static void memory_given_back(void)
{
	struct twheel_op op = { .id = 3, .deadline = 1 };
	struct twheel_event event;
	size_t memory;
	u32 generation;
	bool good;

	start(1000000);
	memory = ts.wheel.memory;
	good = !trim(NULL);
	for (op.id = 0; op.id < CAPACITY; op.id++) {
		op.deadline = now + 1000000000;
		op.generation = 0;
		arm(&op);
	}
	good &= !trim(NULL) && wheel_timers_held(&ts.wheel) == 3 * CHUNK;
	for (u32 id = CHUNK; id < CAPACITY; id++)
		cancel_id(id);
	good &= trim(NULL) == 2 && wheel_timers_held(&ts.wheel) == CHUNK;
	good &= wheel_has(&ts.wheel, 0) && !wheel_has(&ts.wheel, CHUNK) &&
		!wheel_has(&ts.wheel, CAPACITY - 1);
	for (u32 id = 0; id < CHUNK - 1; id++)
		cancel_id(id);
	good &= !trim(NULL) && wheel_has(&ts.wheel, 0);
	cancel_id(CHUNK - 1);
	good &= trim(NULL) == 1 && !wheel_timers_held(&ts.wheel);
	/* What stays is the directory, and the levels. */
	good &= ts.wheel.memory > memory && ts.wheel.memory < memory + 128 * 64 * 8;
	tap(good, "memory of idle timers is given back, that of armed ones is not");

	/* Generations go on, so that no old handle fits. */
	op = (struct twheel_op){ .id = 3, .deadline = now + 1000000000, .generation = 1 };
	good = arm(&op) == -ESTALE;
	op.generation = 0;
	good &= !arm(&op) && op.generation == 2;
	for (int n = 0; n < 10; n++) {
		op.generation = 0;
		arm(&op);
	}
	generation = op.generation;
	cancel_id(3);
	good &= trim(NULL) == 1;
	op = (struct twheel_op){ .id = CAPACITY - 1, .deadline = now + 1000000000 };
	good &= !arm(&op) && op.generation == generation + 1;
	timer_of(&ts, op.id)->generation = ~0U / 2 + 1;
	cancel_id(op.id);
	good &= !trim(NULL);
	tap(good, "generations go on when the memory of timers was given back");
	wheel_destroy(&ts.wheel);

	/* A read and a drain may hold what was cancelled and given back since. */
	start(1000000);
	op = (struct twheel_op){ .id = 3, .deadline = 1 };
	arm(&op);
	good = timers_claim(&ts, &event, 1, now) == 1 && !trim(NULL);
	cancel_id(3);
	good &= trim(NULL) == 1;
	timers_put_back(&ts, &event, 1, ts.claims);
	good &= timers_commit(&ts, &event, 1, ts.claims, now) == 0 && !timers_expired(&ts);
	op.generation = 0;
	arm(&op);
	good &= op.generation == 2 && timers_claim(&ts, &event, 1, now) == 1;
	timers_commit(&ts, &event, 1, ts.claims, now);
	good &= timers_expired(&ts) == 0 && trim(NULL) == 1;
	tap(good, "a claim of a timer that is gone is nobody's");
	wheel_destroy(&ts.wheel);
}

/* The kernel chooses from all ids, whether they have memory or had it once. */
static void trimmed_ids_are_found(void)
{
	bool good;

	start(1000000);
	good = all_chosen();
	for (u32 id = 0; id < CAPACITY; id++)
		if (id % CHUNK != 9 || id > 2 * CHUNK)
			cancel_id(id);
	good &= trim(NULL) == 1;
	for (u32 n = 0; n < CAPACITY - 2; n++)
		good &= arm_any() != WHEEL_NIL;
	good &= arm_any() == WHEEL_NIL;
	for (u32 id = 0; id < CAPACITY; id++)
		cancel_id(id);
	good &= trim(NULL) == 3 && all_chosen();
	for (u32 id = 0; id < CAPACITY; id++)
		cancel_id(id);
	tap(good, "ids whose memory was given back are chosen again");

	/* Arms between the steps: the walk ends, and what it leaves is whole. */
	good = trim(arm_far_away) == 0 && wheel_timers_held(&ts.wheel) == 3 * CHUNK;
	cancel_id(CAPACITY - 1);
	good &= trim(arm_and_cancel_any) == 0 && all_chosen();
	for (u32 id = 0; id < CAPACITY; id++)
		cancel_id(id);
	good &= trim(NULL) == 3;
	tap(good, "timers that are armed meanwhile keep the memory, and the ids, as they are");
	wheel_destroy(&ts.wheel);

	/* Words keep the memory of their timers. */
	start_words(1000000);
	good = !trim(NULL);
	store(3, now + 1000000);
	good &= !trim(NULL) && wheel_timers_held(&ts.wheel) == 3 * CHUNK;
	tap(good, "words: their timers keep their memory");
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
	wheel_destroy(&ts.wheel);
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
	wheel_destroy(&ts.wheel);
}

/* An id in the pool is not free any more once a deadline is stored, before the call for it. */
static void stored_ids_are_not_chosen(void)
{
	struct twheel_op any = { .id = TWHEEL_ID_ANY, .deadline = 3600000000000 };
	struct twheel_event event;
	bool good = true;
	u32 first;

	start_words(1000000);
	for (u32 n = 0; n < 300; n++)
		arm_any();
	first = CAPACITY - 1;
	for (u32 id = first; id > first - 300; id--)
		cancel_id(id);
	for (u32 id = first; id > first - 300; id--)
		xchg(&word_of(&ts, id)->deadline, now + 5000000);
	good &= !arm(&any) && any.id == first - 300;
	good &= word_deadline(word_of(&ts, first)) == now + 5000000;
	for (u32 id = first; id > first - 300; id--)
		test_word(id);
	pass(5000000);
	for (u32 n = 0; n < 300; n++)
		good &= owner_read(&ts, &event, now) && event.deadline == now;
	good &= !owner_read(&ts, &event, now);
	tap(good, "words: an id that a store has armed is not chosen");

	/* Nor one that was stored and cancelled again, but it is found. */
	for (u32 id = 0; id < CAPACITY; id++)
		cancel_id(id);
	good = all_chosen();
	tap(good, "and all are chosen when they are free again");
	end_words();
}

/* An event waits, or a read holds it, as the clock is set back. */
static void set_back_before_read(bool words)
{
	static const char * const told[] = {
		"an event waits for the deadline to come again",
		"also one that a read holds",
		"also one that a read holds as its timer is armed again",
	};

	for (u32 how = 0; how < ARRAY_SIZE(told); how++) {
		struct twheel_op op = { .id = 3 };
		struct twheel_event old, event;
		bool good = true;
		u64 deadline;
		u32 claimed;

		if (words)
			start_words(1000000);
		else
			start(1000000);
		ts.settable = true;
		deadline = now + 5000000;
		op.deadline = deadline;
		good &= !arm(&op);
		pass(6000000);
		good &= timers_expired(&ts) == 1;
		claimed = how ? timers_claim(&ts, &old, 1, now) : 0;
		now -= 4000000;
		timers_turn(&ts, now);
		/* To extend a timer to the deadline that it has is a store and no more. */
		if (words)
			xchg(&word_of(&ts, 3)->deadline, deadline);
		op.generation = 0;
		if (how == 2 && words)
			arm_stored(3, 0);
		else if (how == 2)
			good &= !arm(&op) && op.state == TWHEEL_STATE_PENDING;
		if (claimed)
			good &= !timers_commit(&ts, &old, 1, ts.claims, now);
		good &= timer_state(&ts, 3) == TWHEEL_STATE_PENDING;
		good &= !owner_read(&ts, &event, now) && !events_drop_stale(&ts, WHEEL_STEP) &&
			!timers_expired(&ts);
		pass(deadline - now - 1);
		good &= !owner_read(&ts, &event, now);
		pass(1000000);
		good &= owner_read(&ts, &event, now) && event.deadline == deadline;
		good &= !owner_read(&ts, &event, now) && ts.delivered == 1;
		tap(good, "%sthe clock is set back, %s", words ? "words: " : "", told[how]);
		if (words)
			end_words();
		else
			wheel_destroy(&ts.wheel);
	}
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
			came += timers_commit(&ts, &event, 1, ts.claims, now);
		}
	}
	tap(!early && came == come,
	    "ticks of %llu ns, set back by centuries: none early, %d come (%d)",
	    (unsigned long long)tick, come, came);
	wheel_destroy(&ts.wheel);
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
			timers_commit(&ts, events, got, ts.claims, now);
			for (unsigned int i = 0; i < got; i++)
				latest = max(latest, now - events[i].deadline);
			told += got;
		}
	}
	tap(told == nr && latest <= tick + 4 * span,
	    "%u timers a second, a tick of %llu ns, %u of them in 250 us: %llu us late at most",
	    per_second, (unsigned long long)tick, budget, (unsigned long long)latest / 1000);
	wheel_destroy(&ts.wheel);
}

void timers_cases(void)
{
	old_claim();
	claim_overtaken_with_words();
	told_before_found(false);
	told_before_found(true);
	drained_promises_nothing();
	cancelled_words_are_free();
	stored_cancels_are_found();
	search_begins_anew();
	passing_over_is_bounded();
	first_due_periodic();
	few_levels();
	periodic_slack();
	generations_wrap();
	word_exchanges();
	old_claim_of_a_word();
	waiting_behind();
	stale_in_front();
	waiting_at_once();
	count_run_out_read();
	count_run_out_ring();
	count_told_once();
	memory_given_back();
	trimmed_ids_are_found();
	heavy_slot_in_time();
	stored_ids_are_not_chosen();
	set_back_before_read(false);
	set_back_before_read(true);
	/* With 1 ns the wheel's time is at its end in the third round. */
	set_back_by_centuries(1, 2);
	set_back_by_centuries(10, 5);
	steady_load(1000000, 40000, 46);
	steady_load(1000000, 20000, 23);
	steady_load(100, 20000, 46);
}
