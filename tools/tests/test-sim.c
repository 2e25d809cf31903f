// SPDX-License-Identifier: GPL-2.0
/*
 * The systems of twheel sim: for each the cases with known answers; for all, random operations
 * compared with a table of deadlines.  TAP.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "sim/sim.h"

#define MS		NSEC_PER_MSEC
#define RECORDS		200000

static int nr, failed;

__attribute__((format(printf, 2, 3)))
static void result(int ok, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", ok ? "" : "not ", ++nr);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	if (!ok)
		failed = 1;
}

/* Memory that may run out: how often it can be had, if @scarce; and what is not freed yet. */
static unsigned int ration, live;
static bool scarce;

void *sim_alloc(size_t size, size_t align)
{
	void *memory;

	if (scarce && !ration)
		return NULL;
	ration -= scarce;
	memory = aligned_alloc(align, (size + align - 1) & ~(align - 1));
	if (!memory)
		abort();
	live++;
	return memset(memory, 0, size);
}

void sim_free(void *memory)
{
	live -= !!memory;
	free(memory);
}

/* What the observer was told of the simulation that is under way. */
static struct record {
	uint64_t time;
	uint32_t id;
} records[RECORDS];
static unsigned int expired;
static uint64_t moved, cancelled, sleeps_until;

static void note(void *data, const struct sim_event *event)
{
	(void)data;
	moved += event->what == SIM_MOVED;
	cancelled += event->what == SIM_CANCELLED;
	if (event->what == SIM_SLEEPS)
		sleeps_until = event->deadline;
	if (event->what != SIM_EXPIRED)
		return;
	if (expired == RECORDS)
		abort();
	records[expired++] = (struct record){ event->now, event->id };
}

static struct sim *create_told(const char *system, struct sim_shape shape,
			       struct sim_observer observer)
{
	enum sim_result why;
	struct sim *s;

	if (!shape.capacity)
		shape.capacity = 1000;
	expired = 0;
	moved = 0;
	cancelled = 0;
	s = sim_create(sim_system_named(system), &shape, &observer, &why);
	if (!s) {
		printf("Bail out! %s: %d\n", system, why);
		exit(1);
	}
	return s;
}

static struct sim *create(const char *system, struct sim_shape shape)
{
	return create_told(system, shape, (struct sim_observer){ note, NULL });
}

/* Is the timer in that slot, after so many moves? */
static bool is_at(struct sim *s, uint32_t id, uint32_t level, uint32_t slot, uint32_t moves)
{
	struct sim_where where;

	if (sim_where(s, id, &where, NULL))
		return false;
	if (where.place == SIM_IN_SLOT && where.level == level && where.slot == slot &&
	    where.moves == moves)
		return true;
	printf("# timer %u: level %u, slot %u, %u moves, not %u, %u, %u\n", id, where.level,
	       where.slot, where.moves, level, slot, moves);
	return false;
}

/* Were these the last to expire, the newest last? */
static bool was(uint64_t time, uint32_t id)
{
	return expired && records[expired - 1].time == time && records[expired - 1].id == id;
}

static const struct sim_counters *counts(const struct sim *s)
{
	return sim_counters(s);
}

/* Kafka's wheels, as its texts have them */

static void hierarchical_350(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){});
	bool good;

	sim_arm(s, 1, 350 * MS, 0, 0);
	good = is_at(s, 1, 1, 17, 0);
	sim_run(s, 339 * MS);
	good = good && is_at(s, 1, 1, 17, 0);
	sim_run(s, 340 * MS);
	good = good && is_at(s, 1, 0, 10, 1);
	sim_run(s, SIM_NEVER);
	result(good && was(350 * MS, 1) && counts(s)->wakeups == 2 && counts(s)->moves == 1,
	       "hierarchical: 350 ms waits in slot 17 of 20 ms, then in slot 10 of 1 ms");
	sim_destroy(s);
}

static void hierarchical_450(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){ .slots = 20 });
	bool good;

	sim_arm(s, 1, 450 * MS, 0, 0);
	good = is_at(s, 1, 2, 1, 0);
	sim_run(s, 400 * MS);
	good = good && is_at(s, 1, 1, 2, 1);
	sim_run(s, 440 * MS);
	good = good && is_at(s, 1, 0, 10, 2);
	sim_run(s, SIM_NEVER);
	result(good && was(450 * MS, 1) && moved == 2 && counts(s)->wakeups == 3 &&
	       !counts(s)->empty,
	       "hierarchical: 450 ms waits in slot 1 of 400 ms, then 2 of 20 ms, then 10 of 1 ms");
	sim_destroy(s);
}

/* They share a slot of 400 ms; three of them one of 20 ms. */
static void hierarchical_shares_slots(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){});
	static const uint32_t timers[] = { 446, 450, 455, 473 };
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(timers); i++) {
		sim_arm(s, timers[i], timers[i] * MS, 0, 0);
		good = good && is_at(s, timers[i], 2, 1, 0);
	}
	sim_run(s, 400 * MS);
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++)
		good = good && is_at(s, timers[i], 1, timers[i] < 460 ? 2 : 3, 1);
	sim_run(s, 440 * MS);
	good = good && is_at(s, 446, 0, 6, 2) && is_at(s, 450, 0, 10, 2) &&
	       is_at(s, 455, 0, 15, 2) && is_at(s, 473, 1, 3, 1);
	sim_run(s, 460 * MS);
	good = good && expired == 3 && is_at(s, 473, 0, 13, 2);
	sim_run(s, SIM_NEVER);
	result(good && was(473 * MS, 473) && moved == 8 && counts(s)->wakeups == 7,
	       "hierarchical: 446, 450, 455 and 473 ms come down together, then apart");
	sim_destroy(s);
}

/* Wheels of three slots. */
static void three_slots(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){ .slots = 3 });
	struct sim_where where;
	bool good;

	sim_arm(s, 2, 2 * MS, 0, 0);
	sim_arm(s, 4, 4 * MS, 0, 0);
	good = is_at(s, 2, 0, 2, 0) && is_at(s, 4, 1, 1, 0);
	sim_run(s, 3 * MS);
	good = good && was(2 * MS, 2) && is_at(s, 4, 0, 1, 1);
	sim_run(s, SIM_NEVER);
	result(good && was(4 * MS, 4), "hierarchical: three slots, 4 ms waits in slot 1 of 3 ms");
	sim_destroy(s);
	s = create("keys", (struct sim_shape){ .tick = MS, .slots = 3 });
	sim_arm(s, 4, 4 * MS, 0, 0);
	sim_where(s, 4, &where, NULL);
	good = is_at(s, 4, 0, 1, 0) && where.rounds == 1;
	sim_run(s, SIM_NEVER);
	result(good && was(5 * MS, 4), "keys: on three slots, 4 ms goes round once");
	sim_destroy(s);
}

static void hierarchical_grows(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){});
	uint64_t one, two;

	sim_arm(s, 1, 19 * MS, 0, 0);
	one = counts(s)->memory_max;
	sim_arm(s, 2, 20 * MS, 0, 0);
	two = counts(s)->memory_max;
	sim_arm(s, 3, 399 * MS, 0, 0);
	result(two - one > 20 * sizeof(void *) && counts(s)->memory_max - two < 100 &&
	       is_at(s, 1, 0, 19, 0) && is_at(s, 2, 1, 1, 0) && is_at(s, 3, 1, 19, 0),
	       "hierarchical: an overflow wheel is made when it is needed first");
	sim_destroy(s);
	s = create("hierarchical", (struct sim_shape){ .levels = 2 });
	result(sim_arm(s, 1, 400 * MS, 0, 0) == SIM_REFUSED && !sim_arm(s, 2, 399 * MS, 0, 0) &&
	       sim_extend(s, 2, 400 * MS) == SIM_REFUSED && counts(s)->refused == 2 &&
	       !sim_run(s, SIM_NEVER) && was(399 * MS, 2) && expired == 1,
	       "hierarchical: with two levels, 400 ms are refused, and 399 ms stay as they are");
	sim_destroy(s);
}

/* Like the virtual ids of Kafka and of the Go wheel. */
static void hierarchical_rounds_down(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){ .tick = 3 * MS });
	bool good;

	sim_arm(s, 1, 5 * MS, 0, 0);
	good = is_at(s, 1, 0, 1, 0);
	sim_run(s, SIM_NEVER);
	result(good && was(3 * MS, 1) && counts(s)->early == 1 && counts(s)->early_max == 2 * MS &&
	       !counts(s)->late_max && *sim_note(s),
	       "hierarchical: ticks of 3 ms, 5 ms waits in slot 1 and fires 2 ms early");
	sim_arm(s, 2, 2 * MS, 0, 0);
	sim_run(s, SIM_NEVER);
	result(was(3 * MS, 2) && counts(s)->early == 2,
	       "hierarchical: a timer that is due in the current tick fires at once");
	sim_destroy(s);
}

static void hierarchical_rounds_up(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){ .tick = 3 * MS,
								   .round_up = true });
	bool good;

	sim_arm(s, 1, 5 * MS, 0, 0);
	good = is_at(s, 1, 0, 2, 0);
	sim_run(s, SIM_NEVER);
	result(good && was(6 * MS, 1) && !counts(s)->early && counts(s)->late_max == MS &&
	       !*sim_note(s),
	       "hierarchical: rounded up, 5 ms waits in slot 2 and fires 1 ms late");
	sim_destroy(s);
}

static void hierarchical_empty_bucket(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){});

	sim_arm(s, 1, 350 * MS, 0, 0);
	sim_arm(s, 2, 600 * MS, 0, 0);
	sim_cancel(s, 1);
	sim_run(s, SIM_NEVER);
	result(was(600 * MS, 2) && expired == 1 && counts(s)->empty == 1 && counts(s)->cancels == 1,
	       "hierarchical: a bucket that was emptied by a cancel costs a wake-up");
	sim_destroy(s);
}

static void hands_wait_for_a_wake_up(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){});

	sim_arm(s, 1, 5 * MS, 0, 0);
	sim_run(s, 1000 * MS);
	result(sim_hand(s) == 5, "hierarchical: the hands stand where the last bucket was");
	sim_arm(s, 2, 5 * MS, 0, 0);
	result(is_at(s, 2, 2, 2, 0), "hierarchical: and so a timer of 5 ms goes to level 2");
	sim_destroy(s);
	s = create("hashed", (struct sim_shape){});
	sim_run(s, 5500 * MS);
	sim_arm(s, 1, 100 * MS, 0, 0);
	result(sim_hand(s) == 0 && !sim_run(s, 5510 * MS) && sim_hand(s) == 10,
	       "hashed: the hand counts from the start of the thread");
	sim_destroy(s);
	s = create("twheel", (struct sim_shape){});
	sim_run(s, 77 * MS);
	result(sim_hand(s) == 77, "twheel: the hands move with the clock");
	sim_destroy(s);
}

static void hierarchical_refuses_a_period(void)
{
	struct sim *s = create("hierarchical", (struct sim_shape){ .levels = 1 });

	sim_arm(s, 1, 5 * MS, 30 * MS, 0);
	sim_run(s, 100 * MS);
	result(expired == 1 && cancelled == 1 && counts(s)->refused == 1 && !counts(s)->armed,
	       "hierarchical: a period that is refused is told");
	sim_destroy(s);
}

/* One wheel */

static void simple_refuses(void)
{
	struct sim *s = create("simple", (struct sim_shape){ .slots = 20 });
	bool good = !sim_arm(s, 1, 20 * MS, 0, 0) && !sim_arm(s, 2, 7 * MS, 0, 0) &&
		    sim_arm(s, 3, 21 * MS, 0, 0) == SIM_REFUSED && is_at(s, 2, 0, 7, 0);

	good = good && sim_extend(s, 2, 21 * MS) == SIM_REFUSED && is_at(s, 2, 0, 7, 0);
	sim_run(s, 10 * MS);
	good = good && was(7 * MS, 2) && !sim_arm(s, 3, 20 * MS, 0, 0) && is_at(s, 3, 0, 10, 0);
	sim_run(s, SIM_NEVER);
	result(good && was(30 * MS, 3) && expired == 3 && counts(s)->wakeups == 30 &&
	       counts(s)->empty == 27 && counts(s)->refused == 2,
	       "simple: one turn is taken, a tick more is refused");
	sim_destroy(s);
}

static void hashed_rounds(void)
{
	struct sim *s = create("hashed", (struct sim_shape){ .slots = 3 });
	struct sim_where where;
	bool good = sim_shape(s)->slots == 4;

	sim_arm(s, 1, 5 * MS, 0, 0);
	sim_where(s, 1, &where, NULL);
	good = good && where.place == SIM_IN_QUEUE && !where.position;
	sim_run(s, 1 * MS);
	sim_where(s, 1, &where, NULL);
	good = good && is_at(s, 1, 0, 1, 0) && where.rounds == 1;
	sim_run(s, 2 * MS);
	sim_where(s, 1, &where, NULL);
	good = good && is_at(s, 1, 0, 1, 0) && !where.rounds && counts(s)->passed == 1;
	sim_run(s, SIM_NEVER);
	result(good && was(6 * MS, 1) && counts(s)->late_max == MS,
	       "hashed: 3 slots are 4, 5 ms go into slot 1 for a round, and come when tick 5 is over");
	sim_destroy(s);
}

static void hashed_transfer(void)
{
	/* Nobody is told, because to count the positions in such a queue takes its time. */
	struct sim *s = create_told("hashed", (struct sim_shape){ .capacity = 100001 },
				    (struct sim_observer){});
	uint64_t first;

	for (uint32_t id = 0; id < 100001; id++)
		sim_arm(s, id, MS / 2, 0, 0);
	sim_run(s, 1 * MS);
	first = counts(s)->expired;
	sim_run(s, SIM_NEVER);
	result(first == 100000 && counts(s)->expired == 100001 && sim_now(s) == 2 * MS &&
	       counts(s)->late_max == 3 * MS / 2,
	       "hashed: no more than 100,000 leave the queue at a tick");
	sim_destroy(s);
}

static void hashed_begins_with_the_first_timer(void)
{
	struct sim *s = create("hashed", (struct sim_shape){});
	bool good;

	sim_run(s, 10 * MS + MS / 2);
	good = !counts(s)->wakeups;
	sim_arm(s, 1, 5 * MS, 0, 0);
	sim_run(s, 11 * MS + MS / 2);
	good = good && counts(s)->wakeups == 1 && is_at(s, 1, 0, 5, 0);
	sim_run(s, SIM_NEVER);
	result(good && was(16 * MS + MS / 2, 1),
	       "hashed: no wake-up before the first timer, and ticks are counted from there");
	sim_run(s, 20 * MS + MS / 2);
	result(counts(s)->wakeups == 10, "hashed: its thread goes on without timers");
	sim_destroy(s);
}

static void hashed_limits_pending_timers(void)
{
	struct sim *s = create("hashed", (struct sim_shape){ .pending = 2 });
	bool good;

	sim_arm(s, 1, 5 * MS, 0, 0);
	sim_arm(s, 2, 5 * MS, 0, 0);
	good = sim_arm(s, 3, 5 * MS, 0, 0) == SIM_FULL && counts(s)->refused == 1 &&
	       !sim_arm(s, 2, 6 * MS, 0, 0) && !sim_extend(s, 1, 7 * MS);
	sim_cancel(s, 1);
	result(good && !sim_arm(s, 3, 5 * MS, 5 * MS, 2) && counts(s)->armed == 2 &&
	       !sim_run(s, SIM_NEVER) && expired == 3 && counts(s)->refused == 1,
	       "hashed: no more timers than the limit, until one is cancelled or due");
	sim_destroy(s);
}

static void hashed_raises_a_short_tick(void)
{
	struct sim *s = create("hashed", (struct sim_shape){ .tick = MS - 1 });
	struct sim *other = create("hashed", (struct sim_shape){ .tick = MS });

	result(sim_shape(s)->tick == MS && strstr(sim_note(s), "raised the tick to 1ms") &&
	       sim_shape(other)->tick == MS && !strstr(sim_note(other), "raised"),
	       "hashed: a tick below 1 ms is raised to 1 ms, and a note says so");
	sim_destroy(s);
	sim_destroy(other);
}

static void stop_tells_what_is_left(void)
{
	struct sim *s = create("hashed", (struct sim_shape){});
	uint32_t left;

	for (uint32_t id = 0; id < 900; id += 300)
		sim_arm(s, id, (id + 1) * MS, 0, 0);
	sim_run(s, 10 * MS);
	sim_stop(s);
	left = sim_armed_from(s, 0);
	result(left == 300 && sim_armed_from(s, left + 1) == 600 &&
	       sim_armed_from(s, 601) == 1000 && expired == 1 &&
	       sim_arm(s, 0, MS, 0, 0) == SIM_STOPPED && sim_cancel(s, 300) == SIM_STOPPED &&
	       sim_extend(s, 300, 2 * MS) == SIM_STOPPED && !sim_run(s, SIM_NEVER) && expired == 1,
	       "hashed: stop tells what is left, and takes no more");
	sim_destroy(s);
}

static void keys_repeat(void)
{
	struct sim *s = create("keys", (struct sim_shape){ .tick = MS });

	sim_arm(s, 7, 20 * MS, 20 * MS, 3);
	sim_run(s, SIM_NEVER);
	result(expired == 3 && was(61 * MS, 7) && records[0].time == 21 * MS &&
	       records[1].time == 41 * MS && counts(s)->inserts == 3,
	       "keys: three times, 20 ms apart");
	sim_arm(s, 8, 100 * MS, 100 * MS, 0);
	expired = 0;
	result(sim_endless(s) && sim_run(s, SIM_NEVER) == SIM_ENDLESS &&
	       !sim_run(s, 1062 * MS) && expired == 10 &&
	       was(1062 * MS, 8) && counts(s)->armed == 1 && counts(s)->passed > 0 &&
	       !sim_cancel(s, 8) && !sim_endless(s) && !sim_run(s, SIM_NEVER),
	       "keys: for ever, until it is cancelled");
	sim_arm(s, 9, MS, MS, 3);
	expired = 0;
	sim_run(s, SIM_NEVER);
	result(expired == 3 && was(1066 * MS, 9), "keys: a period of one tick skips none");
	sim_destroy(s);
}

static void keys_refuse(void)
{
	struct sim *s = create("keys", (struct sim_shape){});
	uint64_t deadline;
	struct sim_where where;

	result(sim_shape(s)->slots == 12 && sim_shape(s)->tick == NSEC_PER_SEC,
	       "keys: 12 slots of 1 s");
	sim_arm(s, 1, 5 * NSEC_PER_SEC, 0, 0);
	result(sim_arm(s, 1, 7 * NSEC_PER_SEC, 0, 0) == SIM_EXISTS &&
	       !sim_where(s, 1, &where, &deadline) && deadline == 5 * NSEC_PER_SEC &&
	       counts(s)->refused == 1 && counts(s)->armed == 1,
	       "keys: a key that is armed is refused, and keeps its deadline");
	result(sim_arm(s, 2, NSEC_PER_SEC - 1, 0, 0) == SIM_TOO_SHORT &&
	       sim_arm(s, 2, NSEC_PER_SEC, NSEC_PER_SEC - 1, 2) == SIM_TOO_SHORT &&
	       sim_extend(s, 1, NSEC_PER_SEC - 1) == SIM_TOO_SHORT && counts(s)->refused == 4 &&
	       !sim_arm(s, 2, NSEC_PER_SEC, 0, 0),
	       "keys: a delay or a period below one tick is refused");
	sim_run(s, SIM_NEVER);
	result(!sim_arm(s, 1, NSEC_PER_SEC, 0, 0), "keys: a key that has expired is free again");
	sim_destroy(s);
}

/* As in the texts: the slot is the remainder of the delay in ticks, the rounds its quotient. */
static void keys_rounds(void)
{
	static const struct {
		uint32_t slots, start, delay, slot, rounds;
	} texts[] = {
		{ 12, 3, 5, 8, 0 }, { 12, 0, 15, 3, 1 }, { 12, 0, 16, 4, 1 }, { 12, 0, 12, 0, 1 },
		{ 10, 0, 5, 5, 0 }, { 10, 0, 15, 5, 1 }, { 10, 0, 25, 5, 2 }, { 10, 0, 20, 0, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct sim *s = create("keys", (struct sim_shape){
			.slots = texts[i].slots, .start = texts[i].start * NSEC_PER_SEC });
		struct sim_where where;
		bool good;

		sim_arm(s, 1, texts[i].delay * NSEC_PER_SEC, 0, 0);
		sim_where(s, 1, &where, NULL);
		good = is_at(s, 1, 0, texts[i].slot, 0) && where.rounds == texts[i].rounds;
		sim_run(s, SIM_NEVER);
		result(good && was((texts[i].start + texts[i].delay + 1) * NSEC_PER_SEC, 1),
		       "keys: %u slots, %u s wait in slot %u for %u rounds, and a tick",
		       texts[i].slots, texts[i].delay, texts[i].slot, texts[i].rounds);
		sim_destroy(s);
	}
}

/* The face of a clock */

#define AT(h, m, s)	((((h) * 60ULL + (m)) * 60 + (s)) * NSEC_PER_SEC)

static void clock_strikes(void)
{
	struct sim *s = create("clock", (struct sim_shape){ .start = AT(10, 24, 30) });
	bool good;

	sim_arm(s, 1, AT(0, 50, 45), 0, 0);
	good = is_at(s, 1, 2, 11, 0);
	sim_run(s, AT(10, 59, 59));
	good = good && is_at(s, 1, 2, 11, 0);
	sim_run(s, AT(11, 0, 0));
	good = good && is_at(s, 1, 1, 15, 1);
	sim_run(s, AT(11, 15, 0));
	good = good && is_at(s, 1, 0, 15, 2);
	sim_run(s, SIM_NEVER);
	result(good && was(AT(11, 15, 15), 1),
	       "clock: at 10:24:30, 50 minutes and 45 seconds wait in hour 11, minute 15, second 15");
	sim_arm(s, 2, AT(49, 0, 0), 0, 0);
	good = is_at(s, 2, 2, 12, 0);
	sim_run(s, AT(12, 0, 0));
	good = good && is_at(s, 2, 2, 12, 0) && counts(s)->passed == 1;
	sim_run(s, SIM_NEVER);
	result(good && was(AT(60, 15, 15), 2), "clock: another day, the same hour");
	sim_destroy(s);
}

/* Orders */

static void heap_order(void)
{
	struct sim *s = create("heap", (struct sim_shape){});
	bool good = true;

	for (uint32_t i = 0; i < 500; i++)
		sim_arm(s, i, 1 + i * 7919 % 100, 0, 0);
	sim_run(s, SIM_NEVER);
	for (unsigned int i = 1; i < 500; i++)
		good = good && (records[i].time > records[i - 1].time ||
				(records[i].time == records[i - 1].time &&
				 records[i].id > records[i - 1].id));
	result(good && expired == 500 && !counts(s)->late_max && counts(s)->wakeups == 100 &&
	       counts(s)->passed,
	       "heap: by deadline, equal ones as they were armed, to the ns");
	sim_destroy(s);
}

/* As Java's DelayQueue does. */
static void heap_leader(void)
{
	struct sim *s = create("heap", (struct sim_shape){});
	bool good;

	sim_arm(s, 1, 50 * MS, 0, 0);
	good = sleeps_until == 50 * MS && counts(s)->signals == 1;
	sim_arm(s, 2, 80 * MS, 0, 0);
	good = good && sleeps_until == 50 * MS && counts(s)->signals == 1;
	sim_arm(s, 3, 10 * MS, 0, 0);
	result(good && sleeps_until == 10 * MS && counts(s)->signals == 2 &&
	       sim_next(s) == 10 * MS && !counts(s)->wakeups,
	       "heap: a thread sleeps until the first timer is due, and an earlier timer wakes it");
	sim_cancel(s, 3);
	good = sim_next(s) == 10 * MS;
	sim_run(s, 10 * MS);
	result(good && counts(s)->empty == 1 && sleeps_until == 50 * MS,
	       "heap: a cancelled timer wakes it for nothing, and it sleeps again");
	sim_extend(s, 1, 60 * MS);
	good = counts(s)->signals == 3 && sleeps_until == 60 * MS;
	sim_extend(s, 1, 90 * MS);
	good = good && counts(s)->signals == 3 && sleeps_until == 60 * MS;
	sim_run(s, SIM_NEVER);
	result(good && was(90 * MS, 1) && counts(s)->wakeups == 4 && counts(s)->empty == 2 &&
	       sim_next(s) == SIM_NEVER,
	       "heap: a timer that is pushed back wakes it if it is the first after that");
	sim_destroy(s);
}

static void list_and_poll_look(void)
{
	struct sim *s = create("list", (struct sim_shape){});
	struct sim_where where;

	sim_arm(s, 1, 30 * MS, 0, 0);
	sim_arm(s, 2, 10 * MS, 0, 0);
	sim_arm(s, 3, 20 * MS, 0, 0);
	sim_arm(s, 4, 30 * MS, 0, 0);
	sim_where(s, 3, &where, NULL);
	result(counts(s)->passed == 2 && where.place == SIM_IN_ORDER && where.position == 1 &&
	       !sim_run(s, SIM_NEVER) && counts(s)->wakeups == 3 && was(30 * MS, 4),
	       "list: an arm passes all that come later");
	sim_destroy(s);
	s = create("poll", (struct sim_shape){});
	for (uint32_t id = 0; id < 3; id++)
		sim_arm(s, id, 5 * MS, 0, 0);
	sim_run(s, SIM_NEVER);
	result(counts(s)->passed == 12 && counts(s)->wakeups == 5 && counts(s)->empty == 4,
	       "poll: each tick looks at all");
	sim_destroy(s);
}

/* Linux */

static void linux_levels(void)
{
	struct sim *s = create("linux", (struct sim_shape){});
	bool good;

	sim_arm(s, 1, 62 * MS, 0, 0);
	sim_arm(s, 2, 350 * MS, 0, 0);
	sim_arm(s, 3, 503 * MS, 0, 0);
	sim_arm(s, 4, 504 * MS, 0, 0);
	good = is_at(s, 1, 0, 63, 0) && is_at(s, 2, 1, 44, 0) && is_at(s, 3, 1, 63, 0) &&
	       is_at(s, 4, 2, 8, 0);
	sim_run(s, 351 * MS);
	good = good && expired == 1 && was(63 * MS, 1);
	sim_run(s, 352 * MS);
	good = good && was(352 * MS, 2);
	sim_run(s, SIM_NEVER);
	result(good && was(512 * MS, 4) && records[2].time == 504 * MS && !moved &&
	       counts(s)->late_max == 8 * MS && counts(s)->wakeups == 4,
	       "linux: 62 ms on level 0, 350 on level 1 and 2 ms late, 504 on level 2 and 8 late");
	sim_destroy(s);
	s = create("linux", (struct sim_shape){});
	/* An eighth of the reach, the last tick of it, and a tick beyond. */
	sim_arm(s, 1, 132120577 * MS, 0, 0);
	sim_arm(s, 2, 1056964607 * MS, 0, 0);
	sim_arm(s, 3, 1056964609 * MS, 0, 0);
	good = is_at(s, 1, 8, 8, 0) && is_at(s, 2, 8, 63, 0);
	sim_run(s, SIM_NEVER);
	result(good && counts(s)->early == 1 && expired == 3,
	       "linux: nine levels at 1 kHz, and a timer beyond them comes early");
	sim_destroy(s);
	s = create("linux", (struct sim_shape){ .tick = 10 * MS });
	sim_arm(s, 1, 132120575 * 10 * MS, 0, 0);
	sim_arm(s, 2, 132120577 * 10 * MS, 0, 0);
	good = is_at(s, 1, 7, 63, 0);
	sim_run(s, SIM_NEVER);
	result(good && counts(s)->early == 1 && expired == 2, "linux: eight levels at 100 Hz");
	sim_destroy(s);
	s = create("linux", (struct sim_shape){});
	sim_run(s, MS - 1);
	sim_arm(s, 1, 2, 0, 0);
	sim_run(s, SIM_NEVER);
	result(was(3 * MS, 1) && counts(s)->late_max == 2 * MS - 1,
	       "linux: rounding makes a timer of 2 ns late by nearly two ticks");
	sim_destroy(s);
}

/* twheel */

static void twheel_goes_straight(void)
{
	struct sim *s = create("twheel", (struct sim_shape){ .slots = 20 });
	bool good = sim_shape(s)->slots == 32;

	sim_arm(s, 1, 350 * MS, 0, 0);
	sim_arm(s, 2, 450 * MS, 0, 0);
	good = good && is_at(s, 1, 1, 350 / 32, 0) && is_at(s, 2, 1, 450 / 32, 0);
	sim_run(s, SIM_NEVER);
	result(good && records[0].time == 350 * MS && was(450 * MS, 2) && !counts(s)->moves &&
	       counts(s)->wakeups == 2 && *sim_note(s),
	       "twheel: 20 slots are 32; 350 and 450 ms wait on level 1 and are due straight from there");
	sim_destroy(s);
	s = create("twheel", (struct sim_shape){ .slots = 20 });
	sim_arm(s, 1, 450 * MS, 0, 0);
	sim_arm(s, 2, 455 * MS, 0, 0);
	sim_arm(s, 3, 5000 * MS, 0, 0);
	sim_run(s, 450 * MS);
	result(was(450 * MS, 1) && is_at(s, 2, 0, 455 % 64, 1) && counts(s)->moves == 1 &&
	       moved == 1, "twheel: 455 ms comes down when 450 ms is due, which opens the slot");
	sim_destroy(s);
}

static void twheel_is_lazy(void)
{
	struct sim *s = create("twheel", (struct sim_shape){});
	bool good;

	sim_arm(s, 1, 350 * MS, 0, 0);
	sim_extend(s, 1, 450 * MS);
	good = is_at(s, 1, 1, 350 / 64, 0);
	sim_run(s, SIM_NEVER);
	result(good && was(450 * MS, 1) && expired == 1 && counts(s)->extends == 1,
	       "twheel: what is pushed back stays in its slot until that is opened");
	sim_arm(s, 2, 3 * MS / 2, 0, 0);
	sim_run(s, SIM_NEVER);
	result(was(452 * MS, 2) && counts(s)->late_max == MS / 2,
	       "twheel: a timer is due at the first tick at or after its deadline");
	sim_arm(s, 3, 10 * MS, 20 * MS, 4);
	sim_run(s, SIM_NEVER);
	result(expired == 6 && was(10 * MS + 60 * MS + 452 * MS, 3) && counts(s)->armed == 0,
	       "twheel: four times");
	sim_destroy(s);
}

/* Tests of all systems */

static void the_last_time(const char *system)
{
	struct sim *s = create(system, (struct sim_shape){ .tick = 1, .slots = 4096 });
	enum sim_result ret = sim_arm(s, 1, SIM_LAST, 0, 0);
	uint64_t deadline = 0;
	struct sim_where where;

	result(ret == SIM_REFUSED ||
	       (!ret && !sim_where(s, 1, &where, &deadline) && deadline == SIM_LAST &&
		(!sim_arm(s, 1, SIM_LAST, 0, 0) || counts(s)->refused) &&
		!sim_extend(s, 1, SIM_NEVER) && !sim_cancel(s, 1) && !counts(s)->armed),
	       "%s: a timer for the last of all times", system);
	sim_destroy(s);
}

static void bad_operations(const char *system)
{
	struct sim *s = create(system, (struct sim_shape){ .tick = MS, .capacity = 300 });
	struct sim_where where;

	result(sim_arm(s, 300, MS, 0, 0) == SIM_BAD_ID && sim_cancel(s, 299) == SIM_NOT_ARMED &&
	       sim_cancel(s, 300) == SIM_NOT_ARMED && sim_extend(s, 0, MS) == SIM_NOT_ARMED &&
	       sim_where(s, 5, &where, NULL) == SIM_NOT_ARMED && !sim_arm(s, 299, MS, 0, 0) &&
	       !sim_cancel(s, 299) && sim_cancel(s, 299) == SIM_NOT_ARMED &&
	       !sim_run(s, SIM_NEVER) && !expired && !counts(s)->armed,
	       "%s: what is not armed, and ids that there are not", system);
	sim_destroy(s);
}

static void bad_shapes(void)
{
	static const struct sim_shape shapes[] = {
		{ .capacity = 0 }, { .capacity = SIM_MAX_CAPACITY + 1 },
		{ .capacity = 1, .levels = 17 }, { .capacity = 1, .tick = 2 * NSEC_PER_SEC },
		{ .capacity = 1, .start = SIM_LAST + 1 },
	};
	enum sim_result why;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct sim *s = sim_create(sim_systems[0], &shapes[i], NULL, &why);

		result(!s && why == SIM_BAD_SHAPE, "a shape that can't be: %zu", i);
	}
}

static void the_past(const char *system)
{
	struct sim *s = create(system, (struct sim_shape){ .start = NSEC_PER_SEC });
	/* For heap and list one of 1 ns; hashed and linux may take one more. */
	uint64_t tick = sim_shape(s)->tick, begin;
	bool good;

	sim_arm(s, 1, 9 * tick, 0, 0);
	sim_run(s, NSEC_PER_SEC + 3 * tick);
	begin = sim_now(s);
	if (!strcmp(system, "keys"))
		good = sim_extend(s, 1, begin - 2 * tick) == SIM_TOO_SHORT &&
		       !sim_extend(s, 1, begin + tick);
	else
		good = !sim_extend(s, 1, begin - 2 * tick);
	sim_run(s, SIM_NEVER);
	result(good && expired == 1 && sim_now(s) <= begin + 2 * tick,
	       "%s: what is moved to a time that has passed is due at once", system);
	sim_destroy(s);
}

/*
 * Create a system and arm timers, near and far, with memory for @allocations.  Armed timers
 * expire.  Returns false if some could not be armed.
 */
static bool arm_with(const char *system, unsigned int allocations, bool *good)
{
	const struct sim_shape shape = { .tick = MS, .slots = 4, .capacity = 1000 };
	enum sim_result why, result;
	unsigned int armed = 0;
	bool all = true;
	struct sim *s;

	ration = allocations;
	scarce = true;
	s = sim_create(sim_system_named(system), &shape, NULL, &why);
	for (uint32_t id = 0; s && id < 200; id++) {
		result = sim_arm(s, id * 5, (1 + id * 7 % 300) * MS, 0, 0);
		*good = *good && (result == SIM_OK || result == SIM_REFUSED ||
				  (result == SIM_NO_MEMORY && !ration));
		armed += result == SIM_OK;
		all = all && result != SIM_NO_MEMORY;
	}
	scarce = false;
	if (!s) {
		*good = *good && why == SIM_NO_MEMORY;
		return false;
	}
	sim_run(s, SIM_NEVER);
	*good = *good && counts(s)->expired == armed && !counts(s)->armed;
	sim_destroy(s);
	return all;
}

static void no_memory(const char *system)
{
	unsigned int before = live, nr_allocations = 0;
	bool good = true;

	while (nr_allocations < 1000 && !arm_with(system, nr_allocations, &good))
		nr_allocations++;
	result(good && live == before && nr_allocations > 2 && nr_allocations < 1000,
	       "%s: no memory, at each of %u times that it is asked for", system, nr_allocations);
}

/* Random operations */

#define TIMERS	300

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state * 0x2545f4914f6cdd1d >> 16) % below;
}

/**
 * struct reference - what is known of each timer, and how the system may deviate
 * @armed: when it was armed, or expired last
 * @deadline: 0: it is not armed
 * @round_up: as in the shape
 * @wrong: an expiry that may not be
 */
struct reference {
	const char *system;
	uint64_t tick;
	uint64_t armed[TIMERS];
	uint64_t deadline[TIMERS];
	uint64_t interval[TIMERS];
	uint32_t times[TIMERS];
	bool round_up;
	unsigned int wrong;
};

/* Does it refuse a timer that is armed, and a delay below a tick? */
static bool is_keyed(const struct reference *ref)
{
	return !strcmp(ref->system, "keys");
}

/* Does the system round down? */
static bool rounds_down(const struct reference *ref)
{
	return !strcmp(ref->system, "hierarchical") && !ref->round_up;
}

/* By when it has to have come. */
static uint64_t last_time(const struct reference *ref, uint32_t id)
{
	uint64_t deadline = ref->deadline[id], tick = ref->tick;
	uint64_t ceiling = (deadline + tick - 1) / tick * tick;

	if (!strcmp(ref->system, "heap") || !strcmp(ref->system, "list") || rounds_down(ref))
		return deadline;
	if (!strcmp(ref->system, "hashed") || is_keyed(ref))
		return deadline + tick;
	/* An eighth; by where the levels begin, 8/63.  And a tick for each rounding. */
	if (!strcmp(ref->system, "linux"))
		return ceiling + (ceiling - ref->armed[id]) * 8 / 63 + 2 * tick;
	return ceiling;
}

/* From when on. */
static uint64_t first_time(const struct reference *ref, uint32_t id)
{
	/* These are exact by ticks, and twheel by less if a timer is alone. */
	static const char * const ticking[] = { "simple", "hierarchical", "clock", "poll" };

	if (rounds_down(ref))
		return ref->deadline[id] / ref->tick * ref->tick;
	if (is_keyed(ref))
		return ref->deadline[id] - ref->tick;
	for (size_t i = 0; i < ARRAY_SIZE(ticking); i++)
		if (!strcmp(ref->system, ticking[i]))
			return last_time(ref, id);
	return ref->deadline[id];
}

static void compare(void *data, const struct sim_event *event)
{
	struct reference *ref = data;
	uint32_t id = event->id;

	if (event->what != SIM_EXPIRED)
		return;
	expired++;
	if (!ref->deadline[id] || event->deadline != ref->deadline[id] ||
	    event->now < first_time(ref, id) || event->now > last_time(ref, id)) {
		if (!ref->wrong++)
			printf("# %s: timer %u at %llu, due %llu\n", ref->system, id,
			       (unsigned long long)event->now,
			       (unsigned long long)ref->deadline[id]);
	}
	ref->armed[id] = event->now;
	if (!ref->interval[id] || ref->times[id] == 1 ||
	    (ref->times[id] && event->overruns + 1 >= ref->times[id])) {
		ref->deadline[id] = 0;
		return;
	}
	ref->deadline[id] += (event->overruns + 1) * ref->interval[id];
	if (ref->times[id])
		ref->times[id] -= event->overruns + 1;
}

static void random_operation(struct sim *s, struct reference *ref, uint64_t most)
{
	uint64_t now = sim_now(s), delay = 1 + rnd(1 + rnd(most));
	uint32_t id = rnd(TIMERS);
	bool armed = ref->deadline[id];
	enum sim_result result = SIM_OK, want = SIM_OK;

	switch (rnd(8)) {
	case 0:
	case 1:
	case 2:
		if (is_keyed(ref) && (armed || delay < ref->tick)) {
			want = armed ? SIM_EXISTS : SIM_TOO_SHORT;
			result = sim_arm(s, id, delay, 0, 0);
			break;
		}
		ref->armed[id] = now;
		ref->deadline[id] = now + delay;
		ref->interval[id] = rnd(4) ? 0 : ref->tick + rnd(most);
		ref->times[id] = ref->interval[id] ? 1 + rnd(3) : 0;
		result = sim_arm(s, id, delay, ref->interval[id], ref->times[id]);
		break;
	case 3:
	case 4:
		want = armed ? SIM_OK : SIM_NOT_ARMED;
		if (armed && is_keyed(ref) && delay < ref->tick)
			want = SIM_TOO_SHORT;
		result = sim_extend(s, id, now + delay);
		if (want == SIM_OK) {
			ref->armed[id] = now;
			ref->deadline[id] = now + delay;
		}
		break;
	case 5:
		want = armed ? SIM_OK : SIM_NOT_ARMED;
		result = sim_cancel(s, id);
		ref->deadline[id] = 0;
		break;
	default:
		sim_run(s, now + rnd(most) / 16);
		break;
	}
	if (result != want && !ref->wrong++)
		printf("# %s: timer %u: %d, not %d\n", ref->system, id, result, want);
}

static void random_operations(const char *system, uint64_t seed)
{
	struct reference ref = { .system = system, .round_up = seed % 2 };
	struct sim *s;

	random_state = seed;
	/* A tick of 1 s only for the clock, which goes round in a day; all within one turn. */
	s = create_told(system, (struct sim_shape){
		.slots = strcmp(system, "simple") ? 2U << rnd(8) : 4096,
		.start = rnd(3) * rnd(NSEC_PER_SEC),
		.capacity = TIMERS, .round_up = ref.round_up,
	}, (struct sim_observer){ compare, &ref });
	ref.tick = sim_shape(s)->tick;
	for (unsigned int i = 0; i < 5000; i++) {
		/* For heap and list the tick is 1 ns. */
		random_operation(s, &ref, 3000 * (ref.tick == 1 ? MS : ref.tick));
		for (uint32_t id = 0; id < TIMERS; id++) {
			if (ref.deadline[id] && last_time(&ref, id) < sim_now(s) && !ref.wrong++)
				printf("# %s: timer %u is lost\n", system, id);
		}
	}
	sim_run(s, SIM_NEVER);
	for (uint32_t id = 0; id < TIMERS; id++)
		ref.wrong += ref.deadline[id] != 0;
	result(!ref.wrong && !counts(s)->armed && expired > 100 &&
	       !counts(s)->early == !(rounds_down(&ref) || is_keyed(&ref)) &&
	       expired == counts(s)->expired,
	       "%s: random operations %llu", system, (unsigned long long)seed);
	sim_destroy(s);
}

static int in_order(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Which expire, and when: the same in all systems that are exact. */
static void agree(uint64_t seed)
{
	static const char * const exact[] = {
		"heap", "twheel", "simple", "hierarchical", "list", "poll", "clock",
	};
	static struct record first[RECORDS];
	unsigned int want = 0;

	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		struct sim *s = create(exact[i], (struct sim_shape){
			.tick = MS, .slots = 4096, .capacity = TIMERS });

		random_state = seed;
		for (unsigned int n = 0; n < 3000; n++) {
			uint32_t id = rnd(TIMERS);
			uint64_t delay = (1 + rnd(4000)) * MS;

			switch (rnd(4)) {
			case 0:
			case 1:
				sim_arm(s, id, delay, rnd(2) * delay, 2);
				break;
			case 2:
				sim_extend(s, id, sim_now(s) + delay);
				break;
			default:
				sim_run(s, sim_now(s) + rnd(300) * MS);
				break;
			}
		}
		sim_run(s, SIM_NEVER);
		qsort(records, expired, sizeof(*records), in_order);
		if (!i) {
			want = expired;
			memcpy(first, records, sizeof(first));
		}
		result(expired == want && want > 500 &&
		       !memcmp(first, records, want * sizeof(*first)),
		       "%s: the same expiries at the same times", exact[i]);
		sim_destroy(s);
	}
}

int main(void)
{
	const struct sim_system * const *system;

	hierarchical_350();
	hierarchical_450();
	hierarchical_shares_slots();
	three_slots();
	hierarchical_grows();
	hierarchical_rounds_down();
	hierarchical_rounds_up();
	hierarchical_empty_bucket();
	hands_wait_for_a_wake_up();
	hierarchical_refuses_a_period();
	simple_refuses();
	hashed_rounds();
	hashed_transfer();
	hashed_begins_with_the_first_timer();
	hashed_limits_pending_timers();
	hashed_raises_a_short_tick();
	stop_tells_what_is_left();
	keys_repeat();
	keys_refuse();
	keys_rounds();
	clock_strikes();
	heap_order();
	heap_leader();
	list_and_poll_look();
	linux_levels();
	twheel_goes_straight();
	twheel_is_lazy();
	bad_shapes();
	agree(1);
	for (system = sim_systems; *system; system++) {
		bad_operations(sim_system_name(*system));
		the_last_time(sim_system_name(*system));
		the_past(sim_system_name(*system));
		no_memory(sim_system_name(*system));
		for (uint64_t seed = 1; seed <= 3; seed++)
			random_operations(sim_system_name(*system), seed);
	}
	result(!live, "all memory is free again");
	printf("1..%d\n", nr);
	return failed;
}
