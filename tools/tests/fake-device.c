// SPDX-License-Identifier: GPL-2.0
/*
 * The interface of device.h over one timerfd, for tests without the module.
 *
 * It is there to be told to cheat: a judge that never saw a culprit proves
 * nothing.  FAKE=early fires each 50th timer 20 ms too soon, FAKE=lose drops
 * its event, FAKE=late holds it back for 3 s, FAKE=stale gives it a generation
 * that has passed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "duration.h"

#define CAPACITY	TWHEEL_DEFAULT_CAPACITY

struct timer {
	bool armed;
	__u32 generation;
	__u32 count;
	__u64 deadline;
	__u64 interval;
	__u64 cookie;
	/* When the fake finds it due, cheating or not. */
	__u64 due;
};

static struct timer timers[CAPACITY];
static __u32 used;
static struct twheel_stats counters;

static bool cheats(const char *how)
{
	const char *fake = getenv("FAKE");

	return fake && !strcmp(fake, how);
}

static __u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Readable from the soonest deadline on; not at all without one. */
static void program(int wheel)
{
	struct itimerspec spec = {};
	__u64 soonest = 0;
	__u32 id;

	for (id = 0; id < used; id++) {
		if (timers[id].armed && (!soonest || timers[id].due < soonest))
			soonest = timers[id].due;
	}
	spec.it_value.tv_sec = soonest / NSEC_PER_SEC;
	spec.it_value.tv_nsec = soonest % NSEC_PER_SEC;
	timerfd_settime(wheel, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void set_due(struct timer *timer, __u32 id)
{
	timer->due = timer->deadline;
	if (id % 50)
		return;
	if (cheats("early"))
		timer->due -= 20 * NSEC_PER_MSEC;
	if (cheats("late"))
		timer->due += 3 * NSEC_PER_SEC;
}

int wheel_open(int flags)
{
	int wheel = timerfd_create(CLOCK_MONOTONIC, flags | TFD_CLOEXEC);

	return wheel < 0 ? -errno : wheel;
}

int wheel_features(int wheel, struct twheel_features *features)
{
	(void)wheel;
	memset(features, 0, sizeof(*features));
	return 0;
}

int wheel_setup(int wheel, struct twheel_setup *setup)
{
	(void)wheel;
	return setup->capacity > CAPACITY ? -ERANGE : 0;
}

int wheel_get_setup(int wheel, struct twheel_setup *setup)
{
	(void)wheel;
	memset(setup, 0, sizeof(*setup));
	return 0;
}

int wheel_stats(int wheel, struct twheel_stats *stats)
{
	__u32 id;

	(void)wheel;
	*stats = counters;
	for (id = 0; id < used; id++)
		stats->pending += timers[id].armed;
	return 0;
}

int wheel_list(int wheel, __u32 *cursor, struct twheel_timer *list, __u32 nr)
{
	(void)wheel;
	(void)cursor;
	(void)list;
	(void)nr;
	return 0;
}

static void arm(struct twheel_op *op)
{
	struct timer *timer;

	if (op->id == TWHEEL_ID_ANY)
		op->id = used;
	if (op->id >= CAPACITY) {
		op->result = -ERANGE;
		return;
	}
	if (op->id >= used)
		used = op->id + 1;
	timer = &timers[op->id];
	if (op->generation && op->generation != timer->generation) {
		op->result = -ESTALE;
		return;
	}
	timer->armed = true;
	timer->cookie = op->cookie;
	timer->count = op->count;
	timer->interval = op->interval;
	timer->deadline = op->deadline + (op->flags & TWHEEL_ARM_RELATIVE ? now() : 0);
	set_due(timer, op->id);
	op->generation = ++timer->generation;
	counters.arms++;
}

int wheel_submit(int wheel, struct twheel_op *ops, size_t nr, size_t *done)
{
	for (*done = 0; *done < nr; ++*done) {
		struct twheel_op *op = &ops[*done];

		op->result = 0;
		if (op->opcode == TWHEEL_OP_ARM)
			arm(op);
		else
			timers[op->id].armed = false;
	}
	program(wheel);
	return 0;
}

static bool expire(__u32 id, struct twheel_event *event)
{
	struct timer *timer = &timers[id];

	*event = (struct twheel_event){
		.id = id,
		.generation = timer->generation,
		.cookie = timer->cookie,
		.deadline = timer->deadline,
		.fired = now(),
	};
	counters.fired++;
	if (timer->interval && timer->count != 1) {
		timer->count -= !!timer->count;
		timer->deadline += timer->interval;
		set_due(timer, id);
	} else {
		timer->armed = false;
		event->flags = TWHEEL_EVENT_LAST;
	}
	if (id % 50 == 0 && cheats("stale"))
		event->generation--;
	return !(id % 50 == 0 && cheats("lose"));
}

int wheel_read(int wheel, struct twheel_event *events, size_t nr)
{
	__u64 expirations;
	size_t taken = 0;
	__u32 id;

	/* Blocks as long as nothing is due, if the file may block. */
	if (read(wheel, &expirations, sizeof(expirations)) < 0)
		return -errno;
	for (id = 0; id < used && taken < nr; id++) {
		if (timers[id].armed && timers[id].due <= now())
			taken += expire(id, &events[taken]);
	}
	program(wheel);
	return taken;
}

bool wheel_is(int fd)
{
	(void)fd;
	return false;
}

const char *wheel_explain(int err)
{
	return strerror(-err);
}
