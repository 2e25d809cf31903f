// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libtwheel on a simulated kernel: the same answers with words
 * and read, with calls alone, and from a wheel in the process.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "modes.h"
#include "sys.h"

static void expiry(struct twheel *w)
{
	struct twheel_event event;
	uint64_t start = twheel_now(w);

	CHECK(twheel_arm(w, 7, start + 10 * MS) == 0);
	expect_none(w, 10 * MS - 1);
	CHECK(twheel_next(w, &event) == 0);
	expect(w, 7, start + 10 * MS);
	CHECK(kernel_now() == start + 10 * MS);
	expect_none(w, 100 * MS);

	CHECK(twheel_arm(w, 8, 1) == 0);
	expect(w, 8, 1);
	CHECK(twheel_arm(w, 8, twheel_now(w)) == 0);
	expect(w, 8, twheel_now(w));
	CHECK(twheel_arm(w, CAPACITY - 1, twheel_now(w) + 1) == 0);
	expect(w, CAPACITY - 1, twheel_now(w) + 1);
	CHECK(twheel_arm(w, 9, 0) == 0);
	CHECK(twheel_arm(w, 9, UINT64_MAX) == 0);
	expect_none(w, 1000 * MS);
	CHECK(twheel_arm(w, CAPACITY, 1) == -ERANGE);
	CHECK(twheel_arm(w, TWHEEL_ID_ANY, 1) == -ERANGE);
}

static void moves(struct twheel *w)
{
	uint64_t start = twheel_now(w);
	struct twheel_event event;

	/* To earlier and to later, in any way. */
	twheel_arm(w, 1, start + 50 * MS);
	twheel_arm(w, 1, start + 20 * MS);
	expect_none(w, 19 * MS);
	twheel_arm(w, 1, start + 40 * MS);
	expect_none(w, 20 * MS);
	CHECK(twheel_extend(w, 1, start + 50 * MS) == 0);
	CHECK(twheel_extend_armed(w, 1, start + 60 * MS) == 0);
	expect(w, 1, start + 60 * MS);
	expect_none(w, 100 * MS);

	/* An extend of what is not armed, or to earlier. */
	start = twheel_now(w);
	CHECK(twheel_extend(w, 2, start + 30 * MS) == 0);
	CHECK(twheel_extend(w, 2, start + 10 * MS) == 0);
	expect(w, 2, start + 10 * MS);
	CHECK(twheel_extend(w, CAPACITY, 1) == -ERANGE);
	CHECK(twheel_extend_armed(w, CAPACITY, 1) == -ERANGE);

	/* Of what has expired, and was not taken. */
	start = twheel_now(w);
	twheel_arm(w, 3, start + MS);
	twheel_arm(w, 4, start + MS);
	twheel_flush(w);
	kernel_advance(2 * MS);
	twheel_arm(w, 3, start + 5 * MS);
	CHECK(twheel_extend(w, 4, start + 6 * MS) == 0);
	CHECK(twheel_take(w, &event, 1) == 0);
	expect(w, 3, start + 5 * MS);
	expect(w, 4, start + 6 * MS);
	expect_none(w, 100 * MS);
}

/* Does nobody find that a timer is due until somebody asks for events? */
static bool found_by_takes_only(const struct twheel *w)
{
	return twheel_has(w) == (TWHEEL_HAS_FALLBACK | TWHEEL_HAS_WORDS);
}

static void cancels(struct twheel *w)
{
	uint64_t start = twheel_now(w);
	struct twheel_event event;

	twheel_arm(w, 1, start + MS);
	twheel_arm(w, 2, start + MS);
	twheel_flush(w);
	CHECK(twheel_cancel(w, 1) == 0);
	CHECK(twheel_cancel_tell(w, 2) == TWHEEL_STATE_PENDING);
	CHECK(twheel_cancel_tell(w, 2) == TWHEEL_STATE_IDLE);
	CHECK(twheel_cancel_tell(w, 3) == TWHEEL_STATE_IDLE);
	expect_none(w, 10 * MS);

	/* After it has expired. */
	start = twheel_now(w);
	twheel_arm(w, 1, start + MS);
	twheel_arm(w, 2, start + MS);
	twheel_arm(w, 3, start + MS);
	twheel_flush(w);
	kernel_advance(MS);
	CHECK(twheel_cancel(w, 1) == 0);
	/* Nobody has turned a wheel in the process, so no event has come. */
	CHECK(twheel_cancel_tell(w, 2) ==
	      (found_by_takes_only(w) ? TWHEEL_STATE_PENDING : TWHEEL_STATE_EXPIRED));
	CHECK(twheel_next(w, &event) == 1 && event.id == 3);
	CHECK(twheel_next(w, &event) == 0);
	CHECK(twheel_cancel_tell(w, 3) == TWHEEL_STATE_IDLE);

	/* And armed again, before the kernel has noticed. */
	start = twheel_now(w);
	twheel_arm(w, 1, start + 5 * MS);
	twheel_cancel(w, 1);
	twheel_arm(w, 1, start + 3 * MS);
	expect(w, 1, start + 3 * MS);
	expect_none(w, 100 * MS);
	CHECK(twheel_cancel(w, CAPACITY) == -ERANGE);
	CHECK(twheel_cancel_tell(w, CAPACITY) == -ERANGE);
}

static void terms(struct twheel *w)
{
	struct twheel_arming arming = {
		.flags = TWHEEL_ARM_RELATIVE, .deadline = MS, .slack = 3, .cookie = 0xc00c1e,
	};
	uint64_t start = twheel_now(w);
	struct twheel_timer timer;
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 5, &arming) == 0);
	CHECK(twheel_get(w, 5, &timer) == 0);
	CHECK(timer.state == TWHEEL_STATE_PENDING && timer.cookie == 0xc00c1e);
	CHECK(timer.deadline == start + MS && timer.slack == 3);
	CHECK(twheel_wait(w, &event, 1, -1) == 1);
	CHECK(event.id == 5 && event.cookie == 0xc00c1e && event.deadline == start + MS);
	CHECK(event.generation == timer.generation && event.flags == TWHEEL_EVENT_LAST);

	/* They stay through an arm. */
	CHECK(twheel_arm(w, 5, 1) == 0);
	CHECK(twheel_flush(w) == 0);
	CHECK(twheel_get(w, 5, &timer) == 0 && timer.slack == 3);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.cookie == 0xc00c1e);

	/* And are replaced together, not one by one. */
	arming.slack = 0;
	arming.cookie = 2;
	CHECK(twheel_arm_with(w, 5, &arming) == 0);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.cookie == 2);

	arming.flags = TWHEEL_ARM_NEW;
	arming.deadline = twheel_now(w) + MS;
	CHECK(twheel_arm_with(w, 5, &arming) == 0);
	arming.cookie = 3;
	CHECK(twheel_arm_with(w, 5, &arming) == -EEXIST);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.cookie == 2);
	arming.flags = TWHEEL_ARM_MOVE;
	CHECK(twheel_arm_with(w, 5, &arming) == -ENOENT);
	arming.flags = 0;
	arming.generation = event.generation + 1;
	CHECK(twheel_arm_with(w, 5, &arming) == -ESTALE);
	arming.generation = event.generation;
	CHECK(twheel_arm_with(w, 5, &arming) == 0);
	expect(w, 5, arming.deadline);
	arming.generation = 0;

	arming.flags = TWHEEL_ARM_STORED;
	CHECK(twheel_arm_with(w, 5, &arming) == -EOPNOTSUPP);
	arming.flags = 0;
	CHECK(twheel_arm_with(w, CAPACITY, &arming) == -ERANGE);
	CHECK(twheel_arm_with(w, TWHEEL_ID_ANY, &arming) == -ERANGE);
	arming.reserved[4] = 1;
	CHECK(twheel_arm_with(w, 5, &arming) == -EINVAL);
	arming.reserved[4] = 0;
	arming.count = 1;
	CHECK(twheel_arm_with(w, 5, &arming) == -EINVAL);
	expect_none(w, 100 * MS);
}

static void periods(struct twheel *w)
{
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = {
		.deadline = start + 10 * MS, .interval = 10 * MS, .cookie = 11,
	};
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	for (unsigned int i = 1; i <= 5; i++) {
		CHECK(twheel_wait(w, &event, 1, -1) == 1);
		CHECK(kernel_now() == start + i * 10 * MS);
		CHECK(event.deadline == kernel_now() && event.cookie == 11);
		CHECK(!event.overruns && !event.flags);
	}

	/* Nobody takes it: what is missed is told, by the event or by the next ones. */
	kernel_advance(35 * MS);
	for (uint64_t told = 5; told < 8; told += event.overruns + 1) {
		twheel_flush(w);
		if (!CHECK(twheel_take(w, &event, 1) == 1))
			break;
		CHECK(event.deadline == start + (told + 1) * 10 * MS);
	}
	expect(w, 1, start + 90 * MS);

	/* An arm sets another phase, and not another interval. */
	CHECK(twheel_arm(w, 1, start + 95 * MS) == 0);
	expect(w, 1, start + 95 * MS);
	expect(w, 1, start + 105 * MS);
	CHECK(twheel_cancel_tell(w, 1) == TWHEEL_STATE_PENDING);
	expect_none(w, 100 * MS);

	/* Three times, with an arm in between. */
	start = twheel_now(w);
	arming.deadline = start + 10 * MS;
	arming.count = 3;
	CHECK(twheel_arm_with(w, 2, &arming) == 0);
	expect(w, 2, start + 10 * MS);
	CHECK(twheel_arm(w, 2, start + 15 * MS) == 0);
	expect(w, 2, start + 15 * MS);
	CHECK(twheel_wait(w, &event, 1, -1) == 1);
	CHECK(event.deadline == start + 25 * MS && event.flags == TWHEEL_EVENT_LAST);
	expect_none(w, 100 * MS);

	/* And from then on once. */
	start = twheel_now(w);
	CHECK(twheel_arm(w, 2, start + MS) == 0);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.flags == TWHEEL_EVENT_LAST);
	expect_none(w, 100 * MS);
}

static void waits(struct twheel *w)
{
	struct twheel_event events[8];
	uint64_t start = twheel_now(w);

	CHECK(twheel_wait(w, events, 0, 0) == -EINVAL);
	CHECK(twheel_wait(w, events, 8, 0) == 0);
	CHECK(twheel_take(w, events, 0) == 0);
	CHECK(kernel_now() == start);
	for (uint32_t id = 0; id < 20; id++)
		twheel_arm(w, id, start + MS);
	/* A batch is submitted before the sleep. */
	CHECK(twheel_wait(w, events, 8, -1) == 8);
	CHECK(kernel_now() == start + MS);
	CHECK(twheel_wait(w, events, 8, 0) == 8);
	CHECK(twheel_wait(w, events, 8, -1) == 4);
	CHECK(twheel_take(w, events, 8) == 0);

	/* A stale event wakes it, and the time goes on. */
	twheel_arm(w, 1, kernel_now() + MS);
	twheel_arm(w, 2, kernel_now() + 2 * MS);
	twheel_flush(w);
	twheel_cancel(w, 1);
	CHECK(twheel_wait(w, events, 8, (int64_t)(5 * MS)) == 1 && events[0].id == 2);
	twheel_arm(w, 1, kernel_now() + MS);
	twheel_flush(w);
	twheel_cancel(w, 1);
	expect_none(w, 5 * MS);

	kernel.interrupt = true;
	CHECK(twheel_wait(w, events, 8, -1) == -EINTR);
	CHECK(!kernel.interrupt);
}

static void many(struct twheel *w)
{
	struct twheel_op ops[3] = {
		{ .opcode = TWHEEL_OP_ARM, .id = 10, .deadline = 5, .cookie = 2 },
		{ .opcode = TWHEEL_OP_ARM, .id = CAPACITY, .deadline = 5 },
		{ .opcode = TWHEEL_OP_CANCEL, .id = 11 },
	};
	struct twheel_timer timers[CAPACITY];
	struct twheel_event event;
	uint32_t id, cursor = 0;
	int nr, sum = 0;

	twheel_arm(w, 11, twheel_now(w) + MS);
	CHECK(twheel_submit_ops(w, ops, ARRAY_SIZE(ops)) == 1);
	CHECK(ops[0].result == 0 && ops[1].result == -ERANGE && ops[2].result == 0);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.id == 10 && event.cookie == 2);
	expect_none(w, 100 * MS);
	CHECK(twheel_submit_ops(w, ops, 0) == 0);

	/* As when signals come. */
	kernel.submit_max = 2;
	kernel.submit_error = -EINTR;
	ops[1].id = 12;
	CHECK(twheel_submit_ops(w, ops, ARRAY_SIZE(ops)) == 0);
	kernel.submit_max = 0;
	twheel_cancel(w, 10);
	twheel_cancel(w, 12);
	if (!(twheel_has(w) & TWHEEL_HAS_FALLBACK)) {
		kernel.submit_error = -ENOMEM;
		CHECK(twheel_submit_ops(w, ops, ARRAY_SIZE(ops)) == -ENOMEM);
		CHECK(ops[0].result == -ENOMEM && ops[2].result == -ENOMEM);
	}
	expect_none(w, 100 * MS);
	CHECK(twheel_get(w, CAPACITY, timers) == -ERANGE);

	for (id = 0; id < 100; id++)
		twheel_arm(w, id, twheel_now(w) + (id + 1) * MS);
	while ((nr = twheel_list_armed(w, &cursor, timers, 30)) > 0) {
		CHECK(timers[0].id == (uint32_t)sum && timers[0].state == TWHEEL_STATE_PENDING);
		sum += nr;
	}
	CHECK(nr == 0 && sum == 100);
	kernel_advance(10 * MS);
	cursor = 0;
	CHECK(twheel_drain(w, &cursor, timers, CAPACITY) == 100);
	CHECK(timers[0].state == TWHEEL_STATE_EXPIRED);
	CHECK(timers[99].remaining == 90 * MS);
	expect_none(w, 1000 * MS);
}

/* Another process: it has stored and not called, not taken, and died. */
static void successor(const struct mode *mode)
{
	struct twheel *w = boot(mode), *heir;
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = {
		.deadline = start + 10 * MS, .interval = 100 * MS, .cookie = 77,
	};
	struct twheel_event event;
	int nr;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	arming.deadline = start + 8 * MS;
	arming.interval = 0;
	CHECK(twheel_arm_with(w, 2, &arming) == 0);
	twheel_arm(w, 3, start + 5 * MS);
	twheel_arm(w, 9, start + 40 * MS);
	twheel_flush(w);
	kernel_advance(9 * MS);
	/* 2 and 3 have come due; 4 and 5 are perhaps only stored, 6 is not wanted. */
	twheel_arm(w, 4, start + 20 * MS);
	twheel_arm(w, 5, start + 6 * MS);
	twheel_arm(w, 6, start + 20 * MS);
	twheel_cancel(w, 6);

	heir = open_again(mode, kernel_dup(twheel_fd(w)));
	CHECK(twheel_has(heir) == mode->has && twheel_capacity(heir) == CAPACITY);
	nr = twheel_adopt(heir);
	CHECK(mode->has ? nr > 0 : nr == 0);
	CHECK(twheel_adopt(heir) >= 0);
	for (unsigned int due = 0; due < 3; due++) {
		CHECK(twheel_wait(heir, &event, 1, 0) == 1);
		CHECK(event.id == 2 || event.id == 3 || event.id == 5);
		CHECK(event.id != 2 || event.cookie == 77);
	}
	CHECK(twheel_wait(heir, &event, 1, 0) == 0);
	expect(heir, 1, start + 10 * MS);
	expect(heir, 4, start + 20 * MS);
	expect(heir, 9, start + 40 * MS);
	CHECK(twheel_wait(heir, &event, 1, -1) == 1);
	CHECK(event.id == 1 && event.cookie == 77 && event.deadline == start + 110 * MS);
	twheel_close(heir);
	twheel_close(w);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("%s: a successor misses nothing", mode->name);
}

/* To adopt one's own wheel changes nothing, also if the last event was taken back. */
static void adopted_again(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	struct twheel_arming arming = {
		.deadline = twheel_now(w) - 6 * MS, .interval = 4 * MS, .count = 2,
	};
	struct twheel_event event;
	uint64_t periods = 0;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_cancel_tell(w, 1) == TWHEEL_STATE_EXPIRED);
	CHECK(twheel_take(w, &event, 1) == 0);
	CHECK(twheel_arm(w, 1, twheel_now(w) + 5 * MS) == 0);
	CHECK(twheel_adopt(w) >= 0);
	event.flags = 0;
	while (!event.flags && twheel_wait(w, &event, 1, -1) == 1)
		periods += event.overruns + 1;
	CHECK(periods == 2);
	twheel_close(w);
	tap_result("%s: a wheel of one's own can be adopted", mode->name);
}

/*
 * A program of random operations, compared with what must come of it.
 */
struct wanted {
	uint64_t	deadline;
	uint64_t	interval;
	uint64_t	cookie;
	uint32_t	count;
};

#define RANDOM_IDS	24U
#define RANDOM_STEPS	30000U

static uint64_t random_state;

static uint32_t random_below(uint32_t end)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % end);
}

static void compare(struct wanted *wanted, const struct twheel_event *event)
{
	struct wanted *want = &wanted[event->id];
	uint64_t periods = event->overruns + 1;
	bool last = !want->interval || (want->count && periods >= want->count);

	CHECK(event->id < RANDOM_IDS);
	CHECK(want->deadline && want->deadline == event->deadline);
	CHECK(event->deadline + event->overruns * want->interval <= kernel_now());
	CHECK(event->cookie == want->cookie);
	CHECK(last == !!(event->flags & TWHEEL_EVENT_LAST));
	want->deadline = last ? 0 : want->deadline + periods * want->interval;
	if (want->count) {
		want->count -= periods;
		if (!want->count)
			want->interval = 0;
	}
}

static void take_all(struct twheel *w, struct wanted *wanted)
{
	struct twheel_event events[5];
	int nr;

	do {
		nr = twheel_wait(w, events, 1 + random_below(ARRAY_SIZE(events)), 0);
		for (int i = 0; i < nr; i++)
			compare(wanted, &events[i]);
	} while (nr > 0);
	CHECK(nr == 0);
	for (uint32_t id = 0; id < RANDOM_IDS; id++)
		CHECK(wanted[id].deadline - 1 >= kernel_now());
}

static uint64_t random_deadline(void)
{
	switch (random_below(8)) {
	case 0:
		return 0;
	case 1:
		return kernel_now();
	case 2:
		return kernel_now() - random_below(5);
	default:
		return kernel_now() + random_below(20);
	}
}

static void random_arm_with(struct twheel *w, struct wanted *want, uint32_t id)
{
	struct twheel_arming arming = {
		.flags = random_below(3) ? 0 : random_below(2) ? TWHEEL_ARM_NEW : TWHEEL_ARM_MOVE,
		.deadline = random_deadline(),
		.interval = random_below(2) ? 1 + random_below(9) : 0,
		.cookie = random_below(1000),
	};
	int ret, must = 0;

	if (arming.interval && random_below(2))
		arming.count = 1 + random_below(4);
	if (arming.flags == TWHEEL_ARM_NEW && want->deadline)
		must = -EEXIST;
	if (arming.flags == TWHEEL_ARM_MOVE && !want->deadline)
		must = -ENOENT;
	ret = twheel_arm_with(w, id, &arming);
	CHECK(ret == must);
	if (!ret)
		*want = (struct wanted){
			arming.deadline, arming.interval, arming.cookie, arming.count,
		};
}

static void random_cancel_tell(struct twheel *w, struct wanted *want, uint32_t id)
{
	int state = twheel_cancel_tell(w, id);

	CHECK(!want->deadline == (state == TWHEEL_STATE_IDLE));
	/* On a batch nothing expires. */
	if (want->deadline > kernel_now())
		CHECK(state == TWHEEL_STATE_PENDING);
	want->deadline = 0;
}

static void random_step(struct twheel *w, struct wanted *wanted)
{
	uint32_t id = random_below(RANDOM_IDS);
	uint64_t deadline = random_deadline();
	struct twheel_event event;

	switch (random_below(12)) {
	case 0 ... 2:
		CHECK(twheel_arm(w, id, deadline) == 0);
		wanted[id].deadline = deadline;
		break;
	case 3:
		if (wanted[id].deadline && deadline >= wanted[id].deadline)
			CHECK(twheel_extend_armed(w, id, deadline) == 0);
		else
			deadline = wanted[id].deadline;
		wanted[id].deadline = deadline;
		break;
	case 4:
		CHECK(twheel_extend(w, id, deadline) == 0);
		wanted[id].deadline = deadline;
		break;
	case 5:
		CHECK(twheel_cancel(w, id) == 0);
		wanted[id].deadline = 0;
		break;
	case 6:
		random_cancel_tell(w, &wanted[id], id);
		break;
	case 7:
		random_arm_with(w, &wanted[id], id);
		break;
	case 8:
		if (twheel_next(w, &event) == 1)
			compare(wanted, &event);
		break;
	case 9:
		take_all(w, wanted);
		break;
	default:
		kernel_advance(random_below(6));
		break;
	}
}

static void random_program(const struct mode *mode, uint64_t seed)
{
	struct wanted wanted[RANDOM_IDS] = { 0 };
	struct twheel *w = boot(mode);

	random_state = seed;
	for (unsigned int step = 0; step < RANDOM_STEPS && !tap_is_bad(); step++)
		random_step(w, wanted);
	kernel_advance(1000);
	take_all(w, wanted);
	twheel_close(w);
	tap_result("%s: %u random steps, seed %" PRIu64, mode->name, RANDOM_STEPS, seed);
}

/* A process in another time namespace than the wheel. */
static void other_time(const struct mode *mode)
{
	struct twheel *w = boot(mode), *other;
	uint64_t start = twheel_now(w);

	CHECK(start == kernel_now());
	/* From 0 on, so that it is ahead; and behind. */
	for (int behind = 0; behind < 2; behind++) {
		kernel.clock_offset = behind ? -(3000000 * MS) : 500000 * MS;
		other = open_again(mode, kernel_dup(twheel_fd(w)));
		CHECK(twheel_now(other) == kernel_now());
		CHECK(twheel_sys_now(CLOCK_MONOTONIC) != kernel_now());
		start = twheel_now(other);
		CHECK(twheel_arm(other, 1, start + 10 * MS) == 0);
		CHECK(twheel_cancel_tell(other, 1) == TWHEEL_STATE_PENDING);
		CHECK(twheel_arm(other, 1, start + 5 * MS) == 0);
		CHECK(twheel_flush(other) == 0);
		expect_none(other, 4 * MS);
		expect(other, 1, start + 5 * MS);
		CHECK(kernel_now() == start + 5 * MS);
		twheel_close(other);
	}
	twheel_close(w);
	tap_result("%s: a process in another time namespace has the wheel's time", mode->name);
}

/* The clock is set back: what has expired stays so, what is pending waits. */
static void set_back(const struct mode *mode)
{
	struct twheel *w = boot_realtime(mode);
	uint64_t deadline = twheel_now(w) + 10 * MS;
	struct twheel_event event;

	CHECK(twheel_arm(w, 1, deadline) == 0);
	CHECK(twheel_arm(w, 2, deadline + 10 * MS) == 0);
	CHECK(twheel_flush(w) == 0);
	kernel_advance(11 * MS);
	/* It has to be found before that. */
	CHECK(twheel_sys_poll(twheel_fd(w), 0) == 1);
	if (in_process(mode)) {
		expect(w, 1, deadline);
		kernel_set_back(6 * MS);
	} else {
		kernel_set_back(6 * MS);
		CHECK(twheel_next(w, &event) == 1 && event.id == 1 && event.deadline == deadline);
	}
	CHECK(twheel_next(w, &event) == 0);
	expect_none(w, 14 * MS);
	expect(w, 2, deadline + 10 * MS);
	twheel_close(w);
	tap_result("%s: a clock that is set back takes no event back", mode->name);
}

/* Events that nobody wants any more, in front of one that somebody does. */
static void behind_stale(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	struct twheel_event event;
	uint64_t start = twheel_now(w);

	for (uint32_t id = 0; id < CAPACITY; id++)
		twheel_arm(w, id, start + MS);
	CHECK(twheel_flush(w) == 0);
	kernel_advance(MS);
	for (uint32_t id = 0; id < CAPACITY - 1; id++)
		twheel_cancel(w, id);
	CHECK(twheel_next(w, &event) == 1 && event.id == CAPACITY - 1);
	CHECK(twheel_next(w, &event) == 0);
	expect_none(w, 10 * MS);

	/* None that counts: that is told, and not only supposed. */
	start = twheel_now(w);
	for (uint32_t id = 0; id < CAPACITY; id++)
		twheel_arm(w, id, start + MS);
	CHECK(twheel_flush(w) == 0);
	kernel_advance(MS);
	for (uint32_t id = 0; id < CAPACITY; id++)
		twheel_cancel(w, id);
	CHECK(twheel_take(w, &event, 1) == 0);
	CHECK(twheel_sys_poll(twheel_fd(w), 0) == 0);
	twheel_close(w);
	tap_result("%s: an event is found behind stale ones", mode->name);
}

/* A signal for each few timers that a list or drain comes to. */
static void signals(const struct mode *mode)
{
	struct twheel *w = boot(mode), *heir;
	struct twheel_timer timers[8];
	uint32_t cursor = 0;
	unsigned long calls;

	CHECK(twheel_arm(w, CAPACITY - 2, twheel_now(w) + 10 * MS) == 0);
	CHECK(twheel_flush(w) == 0);
	kernel.list_max = 3;
	calls = kernel.calls;
	CHECK(twheel_list_armed(w, &cursor, timers, ARRAY_SIZE(timers)) == 1);
	CHECK(timers[0].id == CAPACITY - 2);
	CHECK(twheel_list_armed(w, &cursor, timers, ARRAY_SIZE(timers)) == 0);
	CHECK(cursor == CAPACITY);
	CHECK(kernel.calls - calls <= CAPACITY / 3 + 2);
	heir = open_again(mode, kernel_dup(twheel_fd(w)));
	calls = kernel.calls;
	CHECK(twheel_adopt(heir) >= 0);
	CHECK(kernel.calls - calls <= CAPACITY / 3 + 4);
	cursor = 0;
	CHECK(twheel_drain(heir, &cursor, timers, ARRAY_SIZE(timers)) == 1);
	CHECK(twheel_drain(heir, &cursor, timers, ARRAY_SIZE(timers)) == 0);
	expect_none(heir, 20 * MS);
	twheel_close(heir);
	twheel_close(w);
	tap_result("%s: list, drain and adopt come to their end under signals", mode->name);
}

/* A thread is inside a function, with whatever it has locked. */
static void *arm_slowly(void *arg)
{
	struct twheel *w = arg;
	struct twheel_arming arming = { .deadline = twheel_now(w) + MS, .interval = MS };

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_arm(w, 2, twheel_now(w) + MS) == 0);
	CHECK(twheel_flush(w) == 0);
	return NULL;
}

static void *arm_anew(void *arg)
{
	struct twheel *w = arg;
	struct twheel_arming arming = { .deadline = twheel_now(w) + MS, .cookie = 2 };

	while (__atomic_load_n(&kernel.hold, __ATOMIC_SEQ_CST))
		sched_yield();
	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	return NULL;
}

/* What another thread arms while a handle adopts has its own cookie, not that of before. */
static void adopted_meanwhile(const struct mode *mode)
{
	struct twheel *first = boot(mode);
	struct twheel *w = open_again(mode, kernel_dup(twheel_fd(first)));
	struct twheel_arming arming = { .deadline = twheel_now(w) + MS, .cookie = 1 };
	struct twheel_event event;
	pthread_t thread;

	CHECK(twheel_arm_with(first, 1, &arming) == 0);
	kernel.hold = true;
	CHECK(pthread_create(&thread, NULL, arm_anew, w) == 0);
	CHECK(twheel_adopt(w) >= 0);
	/* Where nothing is asked of the kernel, nothing holds the thread up. */
	__atomic_store_n(&kernel.hold, false, __ATOMIC_SEQ_CST);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(twheel_arm(w, 1, twheel_now(w) + 2 * MS) == 0);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.cookie == 2);
	twheel_close(w);
	twheel_close(first);
	tap_result("%s: what is armed during an adoption stays as it is", mode->name);
}

/* In a child.  What fails is not told by CHECK(), whose output is the parent's. */
static int arm_in_child(struct twheel *w)
{
	struct twheel_arming arming = { .deadline = twheel_now(w) + MS, .interval = MS };
	struct twheel_event event;
	struct twheel *own;

	if (twheel_arm_with(w, 3, &arming) || twheel_arm(w, 4, MS) || twheel_flush(w) ||
	    twheel_take(w, &event, 1) != 1 || event.id != 4 || twheel_open(&own, NULL))
		return 1;
	twheel_close(own);
	twheel_close(w);
	return 0;
}

static void forks(const struct mode *mode)
{
	for (unsigned int round = 0; round < 2; round++) {
		struct twheel *w = boot(mode), *other = open_again(mode, kernel_dup(twheel_fd(w)));
		pthread_t thread;
		int status = -1;
		pid_t child;

		/* A handle that is gone is nobody's concern. */
		if (round)
			twheel_close(other);
		kernel.hold = true;
		CHECK(pthread_create(&thread, NULL, arm_slowly, w) == 0);
		while (__atomic_load_n(&kernel.hold, __ATOMIC_SEQ_CST))
			sched_yield();
		child = fork();
		if (!child) {
			/* It ends in any case. */
			alarm(10);
			_exit(arm_in_child(w));
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
		CHECK(pthread_join(thread, NULL) == 0);
		CHECK(twheel_flush(w) == 0);
		if (!round)
			twheel_close(other);
		twheel_close(w);
	}
	tap_result("%s: a child can go on, whatever a thread was doing at the fork", mode->name);
}

/* The terms are given. */
static void terms_are_not_kept(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	struct twheel_arming arming = {
		.flags = TWHEEL_ARM_KEEP, .deadline = twheel_now(w) + MS,
	};

	CHECK(twheel_arm_with(w, 1, &arming) == -EOPNOTSUPP);
	twheel_close(w);
	tap_result("%s: who says how a timer is armed can't have it keep that", mode->name);
}

/* An event that is stale is not one of those that a count allows. */
static void count_and_stale(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = { .deadline = start + MS, .interval = MS, .count = 2 };
	struct twheel_timer timer;
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	for (unsigned int i = 0; i < 5; i++) {
		kernel_advance(MS);
		start = twheel_now(w);
		CHECK(twheel_arm(w, 1, start + MS) == 0);
		CHECK(twheel_flush(w) == 0);
		CHECK(twheel_take(w, &event, 1) == 0);
	}
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && !event.flags);
	/* The kernel knows that before a handler runs, which may die. */
	CHECK(twheel_get(w, 1, &timer) == 0 && timer.count == 1);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.flags == TWHEEL_EVENT_LAST);
	expect_none(w, 10 * MS);

	/* And then it is a one-shot, until it is told otherwise. */
	for (unsigned int i = 0; i < 3; i++) {
		CHECK(twheel_arm(w, 1, twheel_now(w) + MS) == 0);
		CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.flags == TWHEEL_EVENT_LAST);
		expect_none(w, 10 * MS);
	}
	arming.deadline = twheel_now(w) + MS;
	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && !event.flags);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.flags == TWHEEL_EVENT_LAST);
	expect_none(w, 10 * MS);
	twheel_close(w);
	tap_result("%s: a count is of events that were taken", mode->name);
}

/* An arm as a language makes it that can't read the header. */
static int arm_by_hand(struct twheel *w, uint32_t id, uint64_t deadline)
{
	uint32_t nr;
	struct twheel_word *words = twheel_words(w, &nr);

	if (id < nr) {
		__atomic_exchange_n(&words[id].deadline, deadline, __ATOMIC_SEQ_CST);
		if (deadline - 1 >= __atomic_load_n(&words[id].promise, __ATOMIC_SEQ_CST) - 1)
			return 0;
	}
	return twheel_arm_slow(w, id, deadline);
}

static void by_hand(struct twheel *w)
{
	bool has = twheel_has(w) & TWHEEL_HAS_WORDS;
	uint64_t start = twheel_now(w);
	struct twheel_word *words;
	unsigned long calls;
	uint32_t nr = 1;

	words = twheel_words(w, &nr);
	CHECK(!words == !has && nr == (has ? CAPACITY : 0));
	CHECK(arm_by_hand(w, 1, start + 20 * MS) == 0);
	CHECK(arm_by_hand(w, 2, start + 20 * MS) == 0);
	CHECK(arm_by_hand(w, 3, start + 15 * MS) == 0);
	CHECK(arm_by_hand(w, CAPACITY, start + 5 * MS) == -ERANGE);
	/* Earlier than the kernel looks. */
	CHECK(arm_by_hand(w, 2, start + 10 * MS) == 0);
	CHECK(twheel_flush(w) == 0);
	if (!has) {
		CHECK(twheel_extend(w, 1, start + 30 * MS) == 0 && twheel_cancel(w, 3) == 0);
	} else {
		calls = kernel.calls;
		CHECK(arm_by_hand(w, 1, start + 25 * MS) == 0);
		__atomic_store_n(&words[1].deadline, start + 30 * MS, __ATOMIC_RELAXED);
		__atomic_store_n(&words[3].deadline, 0, __ATOMIC_RELEASE);
		CHECK(kernel.calls == calls);
	}
	expect(w, 2, start + 10 * MS);
	expect(w, 1, start + 30 * MS);
	expect_none(w, 100 * MS);
}

static const struct {
	const char	*what;
	void		(*run)(struct twheel *w);
} same[] = {
	{ "an event comes on time, once", expiry },
	{ "moves, of what has expired too", moves },
	{ "cancels, and what they tell", cancels },
	{ "cookie, slack, conditions", terms },
	{ "periods", periods },
	{ "waits", waits },
	{ "many at once, list and drain", many },
	{ "deadlines that are stored by hand", by_hand },
};

int main(int argc, char **argv)
{
	(void)argc;
	test_first_open(argv[0]);
	for (unsigned int m = 0; m < MODES; m++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(same); i++) {
			struct twheel *w = boot(&modes[m]);

			CHECK(twheel_has(w) == modes[m].has);
			same[i].run(w);
			twheel_close(w);
			CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
			tap_result("%s: %s", modes[m].name, same[i].what);
		}
		adopted_again(&modes[m]);
		set_back(&modes[m]);
		behind_stale(&modes[m]);
		count_and_stale(&modes[m]);
		terms_are_not_kept(&modes[m]);
		random_program(&modes[m], 1);
		random_program(&modes[m], (uint64_t)time(NULL));
		/* A wheel in the process has no other time, and no other file leads to it. */
		if (in_process(&modes[m]))
			continue;
		successor(&modes[m]);
		other_time(&modes[m]);
		signals(&modes[m]);
		if (one_thread(&modes[m]))
			continue;
		forks(&modes[m]);
		adopted_meanwhile(&modes[m]);
	}
	test_fallback();
	test_some();
	test_open();
	return tap_end();
}
