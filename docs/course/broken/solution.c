// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A test for each broken wheel, in the order of README.md.  Learners read it last. */
#include "test.h"

/* The next start of a slot of level 1, at least @ahead from now. */
static __u64 slot_start(__u64 ahead)
{
	const __u64 slot = 64 * MS;

	return ((now_ns() + ahead) / slot + 1) * slot;
}

static void never_early(void)
{
	/* In the middle of a tick. */
	__u64 deadline = (now_ns() / MS + 20) * MS + MS / 2;
	struct twheel_event event;
	int wheel = wheel_open();

	arm(wheel, 0, deadline);
	take_until(wheel, &event, 1, deadline + SEC);
	check(now_ns() >= deadline, "no event can be read before its deadline");
	close(wheel);
}

static void within_a_tick(void)
{
	int wheel = wheel_open();
	bool all = true;

	for (int ms = 1; ms < 300; ms += ms < 5 ? 1 : 17) {
		__u64 deadline = (now_ns() / MS + ms) * MS;
		struct twheel_event event;

		arm(wheel, 0, deadline);
		all &= take_until(wheel, &event, 1, deadline + SEC) == 1 &&
		       event.fired <= deadline + MS;
	}
	check(all, "a timer is found due within a tick");
	close(wheel);
}

static void all_of_many(void)
{
	__u64 deadline = now_ns() + 20 * MS;
	struct twheel_event events[200];
	int wheel = wheel_open();

	for (int id = 0; id < 200; id++)
		arm(wheel, id, deadline);
	check(take_until(wheel, events, 200, deadline + SEC) == 200,
	      "200 timers of one tick come");
	close(wheel);
}

static void sooner_and_later(void)
{
	__u64 start = slot_start(3 * SEC);
	struct twheel_event events[2];
	int wheel = wheel_open();

	arm(wheel, 0, start + 40 * MS);
	arm(wheel, 1, start + 10 * MS);
	check(take_until(wheel, events, 2, start + SEC) == 2,
	      "a timer that joins a later one in its slot comes");
	close(wheel);
}

static void in_order(void)
{
	static struct twheel_event events[1150];
	__u64 start = slot_start(3 * SEC);
	int wheel = wheel_open(), n;
	bool sorted = true;

	for (int id = 0; id < 50; id++)
		arm(wheel, id, start + (60 - id) * MS);
	/* So many that nobody but the reader turns the wheel; they are due now. */
	for (int id = 50; id < 1150; id++)
		arm(wheel, id, 1);
	sleep_until(start + SEC);
	n = take_until(wheel, events, 1150, start + 2 * SEC);
	for (int i = 1; i < n; i++)
		sorted &= events[i - 1].deadline <= events[i].deadline;
	check(sorted, "a late reader gets the events in order");
	close(wheel);
}

static void cancelled_is_gone(void)
{
	__u64 deadline = now_ns() + 5 * MS;
	struct twheel_event event;
	int wheel = wheel_open();

	arm(wheel, 0, deadline);
	sleep_until(deadline + 10 * MS);
	cancel(wheel, 0);
	check(take(wheel, &event, 1) == 0, "a cancel takes the event of an expired timer back");
	close(wheel);
}

static void each_period_once(void)
{
	struct twheel_event events[4];
	__u64 first = now_ns() + 10 * MS, periods = 0;
	int wheel = wheel_open(), n;

	arm_every(wheel, 0, first, 10 * MS);
	sleep_until(first + 25 * MS);
	n = take(wheel, events, 1);
	n += take(wheel, events + n, 3);
	for (int i = 0; i < n; i++)
		periods += 1 + events[i].overruns;
	check(periods == 3, "events and overruns add up to the periods that have passed");
	close(wheel);
}

static void one_wakeup(void)
{
	__u64 deadline = slot_start(6 * SEC) + 37 * MS;
	int wheel = wheel_open();

	arm(wheel, 0, deadline);
	sleep_until(deadline + 10 * MS);
	check(stats(wheel).interrupts == 1, "a lone timer wakes the wheel once");
	close(wheel);
}

static void stored_in_time(void)
{
	__u64 deadline = now_ns() + 5 * MS;
	int wheel = wheel_open();
	struct twheel_word *word = words(wheel);
	struct twheel_event event;

	store_and_call(wheel, word, 0, deadline);
	sleep_until(deadline + 10 * MS);
	store(word, 0, deadline + 50 * MS);
	check(take(wheel, &event, 1) == 0 && word[0].deadline == deadline + 50 * MS,
	      "a read takes no event whose timer was pushed back by a store");
	close(wheel);
}

static void pulled_in(void)
{
	__u64 start = now_ns();
	int wheel = wheel_open();
	struct twheel_word *word = words(wheel);
	struct twheel_event event;

	store_and_call(wheel, word, 0, start + 10 * MS);
	store_and_call(wheel, word, 0, start + 200 * MS);
	/* The wheel comes to the old deadline, and files the timer by the new one. */
	sleep_until(start + 20 * MS);
	store_and_call(wheel, word, 0, start + 50 * MS);
	check(take_until(wheel, &event, 1, start + 60 * MS) == 1,
	      "a timer that was pushed back and pulled in is on time");
	close(wheel);
}

int main(void)
{
	never_early();
	within_a_tick();
	all_of_many();
	sooner_and_later();
	in_order();
	cancelled_is_gone();
	each_period_once();
	one_wakeup();
	stored_in_time();
	pulled_in();
	return done();
}
