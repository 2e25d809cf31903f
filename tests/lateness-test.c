// SPDX-License-Identifier: GPL-2.0
/* What is kept of events: how late they were found and taken, and when many come at once. */
#include "../ring.h"

#include "fixture.h"
#include "tap.h"
#include "tests.h"

/* Is the only event in a histogram in the class of so many ns, and is that the most? */
static bool counts(const u64 *classes, u64 most, u64 ns)
{
	u64 sum = 0, width = 1024;
	unsigned int class = 0;

	while (class < TWHEEL_LATE_CLASSES - 1 && ns >= width) {
		class++;
		width *= 2;
	}
	for (unsigned int i = 0; i < TWHEEL_LATE_CLASSES; i++)
		sum += classes[i];
	return sum == 1 && classes[class] == 1 && most == ns;
}

/* Found @late after its deadline, and delivered @unread later: by a read, or in a ring. */
static bool is_late_by(struct ring *ring, u64 late, u64 unread)
{
	struct timers_lateness lateness = {};
	struct twheel_op op = { .id = 7 };
	struct twheel_event event;

	ts.lateness = &lateness;
	op.deadline = now + ts.tick;
	if (arm(&op))
		return false;
	pass(ts.tick + late);
	now += unread;
	timers_turn(&ts, now);
	if (ring ? ring_post(ring, &ts, now, WHEEL_STEP) != 1 : !owner_read(&ts, &event, now))
		return false;
	ts.lateness = NULL;
	return counts(lateness.late, lateness.max_late, late) &&
	       counts(lateness.unread, lateness.max_unread, unread);
}

static struct twheel_word *words(u32 id)
{
	return word_of(&ts, id);
}

static void late_by_classes(void)
{
	static const u64 spans[] = { 0, 1, 1023, 1024, 2047, 2048, 1000000, 4294967295, 4294967296,
				     86400ULL * 1000000000 };
	struct timers_lateness lateness = {};
	struct twheel_op op = { .id = 3, .deadline = 1 };
	struct twheel_event event;
	struct ring ring = {};
	bool good = true;

	start_words(1000000);
	for (unsigned int i = 0; i < ARRAY_SIZE(spans); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(spans); j++)
			good &= is_late_by(NULL, spans[i], spans[j]);
	tap(good, "lateness: the classes of events that are read");

	good = !ring_alloc(&ring, RING_MIN);
	for (unsigned int i = 0; i < ARRAY_SIZE(spans) && good; i++) {
		good = is_late_by(&ring, spans[i], spans[ARRAY_SIZE(spans) - 1 - i]);
		ring.header->head++;
	}
	tap(good, "lateness: the classes of events in a ring");
	ring_free(&ring);
	end_words();

	start(1000000);
	ts.lateness = &lateness;
	good = !arm(&op);
	now += 5000;
	good &= owner_read(&ts, &event, now) && !lateness.max_late && !lateness.late[0] &&
		counts(lateness.unread, lateness.max_unread, 5000);
	tap(good, "lateness: not of who was armed for a time that had passed");

	/* Found, and then the clock was set back: to before its deadline, it is no event. */
	lateness = (struct timers_lateness){};
	op = (struct twheel_op){ .id = 3, .deadline = now + 10 * ts.tick };
	good = !arm(&op);
	pass(15 * ts.tick);
	now -= 2 * ts.tick;
	good &= owner_read(&ts, &event, now) && lateness.unread[0] == 1 && !lateness.max_unread &&
		counts(lateness.late, lateness.max_late, event.fired - event.deadline);
	tap(good, "lateness: a clock that is set back makes no event later");
	wheel_destroy(&ts.wheel);

	/* Of a periodic timer only the first event; of one with a word, until it is stored anew. */
	start_words(1000000);
	ts.lateness = &lateness;
	lateness = (struct timers_lateness){};
	op = (struct twheel_op){ .id = 3, .deadline = 1, .interval = now + ts.tick };
	good = !arm(&op) && owner_read(&ts, &event, now) && !lateness.late[0];
	pass(ts.tick + 1500);
	good &= owner_read(&ts, &event, now) && counts(lateness.late, lateness.max_late, 1499);
	lateness = (struct timers_lateness){};
	op = (struct twheel_op){ .id = 4, .deadline = 1 };
	good &= !arm(&op);
	store(4, now + ts.tick);
	pass(ts.tick + 1500);
	good &= owner_read(&ts, &event, now) && counts(lateness.late, lateness.max_late, 1500);
	tap(good, "lateness: of all events behind one that was due when it was armed");

	/* Stored before the call that arms them so, they may be found by somebody else. */
	lateness = (struct timers_lateness){};
	op = (struct twheel_op){ .id = 5, .deadline = now + ts.tick };
	good = !arm(&op);
	pass(ts.tick);
	xchg(&words(5)->deadline, 1);
	good &= owner_read(&ts, &event, now) && event.deadline == 1 && !lateness.max_late;
	op = (struct twheel_op){ .id = 6, .deadline = now + 3 * ts.tick };
	good &= !arm(&op);
	xchg(&words(6)->deadline, 1);
	pass(3 * ts.tick);
	good &= owner_read(&ts, &event, now) && event.deadline == 1 && !lateness.max_late &&
		lateness.unread[0] == 2;
	/* Pushed back to a time that has passed as well when it is looked at, it is late. */
	op = (struct twheel_op){ .id = 7, .deadline = now + ts.tick };
	good &= !arm(&op);
	xchg(&words(7)->deadline, op.deadline + 1);
	pass(5 * ts.tick);
	good &= owner_read(&ts, &event, now) && lateness.max_late == 4 * ts.tick - 1;
	tap(good, "lateness: not of a deadline that was stored and had passed, before its call");

	/* The wheel was to find it by itself, and a call comes first. */
	lateness = (struct timers_lateness){};
	op = (struct twheel_op){ .id = 8, .deadline = now + ts.tick };
	good = !arm(&op);
	now += 5 * ts.tick;
	op = (struct twheel_op){ .id = 8, .flags = TWHEEL_ARM_STORED };
	good &= !arm(&op) && owner_read(&ts, &event, now) && event.id == 8 &&
		lateness.max_late == 4 * ts.tick;
	tap(good, "lateness: of one that a call asks for when the wheel is late for it");
	end_words();
}

/* How many storms the wheel has seen when so many timers were due in each tick. */
static u64 storms(unsigned int each, unsigned int ticks)
{
	struct twheel_op op;
	u64 seen;

	start(1000000);
	for (u32 id = 0; id < each * ticks; id++) {
		op = (struct twheel_op){
			.id = id,
			.deadline = now + (200 + id % ticks) * ts.tick - id % 7,
		};
		if (arm(&op))
			return ~0ULL;
	}
	for (unsigned int i = 0; i < 250 + ticks; i++)
		pass(ts.tick);
	seen = ts.wheel.storms;
	if (timers_expired(&ts) != each * ticks)
		seen = ~0ULL;
	wheel_destroy(&ts.wheel);
	return seen;
}

/* Timers that are pushed back all the time are passed by, and never come. */
static bool storms_of_pushed_back(void)
{
	struct twheel_op op;
	bool good = true;

	start(1000000);
	for (unsigned int round = 0; round < 10; round++) {
		for (u32 id = 0; id < 100; id++) {
			op = (struct twheel_op){ .id = id, .deadline = now + 50 * ts.tick };
			good &= !arm(&op);
		}
		for (unsigned int i = 0; i < 40; i++)
			pass(ts.tick);
	}
	good &= !ts.wheel.storms && !timers_expired(&ts);
	wheel_destroy(&ts.wheel);
	return good;
}

/* One tick with many timers and another with one, all found together and late. */
static bool storms_of_one_tick(void)
{
	struct twheel_op op;
	bool good = true;

	start(1000000);
	for (u32 id = 0; id < 600; id++) {
		op = (struct twheel_op){
			.id = id,
			.deadline = (now / ts.tick / 64 * 64 + 256 + (id == 300)) * ts.tick,
		};
		good &= !arm(&op);
	}
	pass(400 * ts.tick);
	while (timers_advance(&ts, now, WHEEL_STEP))
		;
	good &= timers_expired(&ts) == 600 && ts.wheel.storms == 1;
	wheel_destroy(&ts.wheel);
	return good;
}

static void storms_by_tick(void)
{
	tap(!storms(64, 3) && storms(65, 3) == 3 && !storms(1, 300) && storms(300, 1) == 1 &&
	    storms_of_pushed_back() && storms_of_one_tick(),
	    "a storm is a tick at which more than 64 timers come due");
}

/*
 * A timer of an upper level is cancelled, and one below that had to share its tick has it alone
 * from then on: it comes at its deadline, before the end of the tick.
 */
static void bound_of_one_that_was_not_alone(void)
{
	u64 tick_end, bound;
	struct twheel_op op;
	bool good;

	start(20000000);
	tick_end = now + 150 * ts.tick;
	op = (struct twheel_op){ .id = 1, .deadline = tick_end - 4000000 };
	good = !arm(&op);
	op = (struct twheel_op){ .id = 2, .deadline = tick_end + 150 * ts.tick };
	good &= !arm(&op);
	pass(100 * ts.tick);
	op = (struct twheel_op){ .id = 3, .deadline = tick_end - 12000000 };
	good &= !arm(&op);
	cancel_id(1);
	bound = timers_bound(&ts, now);
	pass(tick_end - 4000000 - now);
	good &= timers_expired(&ts) == 1 && bound == tick_end - 12000000;
	tap(good, "nothing comes due before what statistics tell of the next timer");
	wheel_destroy(&ts.wheel);
}

void lateness_cases(void)
{
	bound_of_one_that_was_not_alone();
	late_by_classes();
	storms_by_tick();
}
