// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libtwheel on a simulated kernel: the same answers with an event ring, with words
 * and read, and with calls alone; and what only one of them has.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"
#include "sys.h"
#include "tap.h"
#include "twheel.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#define MS		1000000ULL
#define CAPACITY	256U
#define WORDS		TWHEEL_FEATURE_WORDS
#define RING		(TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_RING)

struct mode {
	const char	*name;
	uint64_t	features;
	uint32_t	ring_entries;
	uint32_t	flags;
	unsigned int	has;
};

static const struct mode modes[] = {
	{ "ring", RING, 64, 0, TWHEEL_HAS_WORDS | TWHEEL_HAS_RING },
	{ "ring, batch", RING, 64, TWHEEL_OPEN_BATCH, TWHEEL_HAS_WORDS | TWHEEL_HAS_RING },
	{ "small ring, batch", RING, 4, TWHEEL_OPEN_BATCH, TWHEEL_HAS_WORDS | TWHEEL_HAS_RING },
	{ "words", RING, 0, 0, TWHEEL_HAS_WORDS },
	{ "words, no ring", WORDS, 64, TWHEEL_OPEN_BATCH, TWHEEL_HAS_WORDS },
	{ "calls", 0, 64, TWHEEL_OPEN_BATCH, 0 },
	{ "calls by choice", RING, 64, TWHEEL_OPEN_NO_WORDS, 0 },
};

static const struct mode * const ring_mode = &modes[0];
static const struct mode * const ring_batch_mode = &modes[1];
static const struct mode * const small_ring_mode = &modes[2];
static const struct mode * const words_mode = &modes[3];

static struct twheel *open_again(const struct mode *mode, int fd)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_FD | mode->flags,
		.fd = fd,
	};
	struct twheel *w;
	int ret = twheel_open(&w, &options);

	if (!CHECK(ret == 0))
		exit(1);
	return w;
}

static struct twheel *boot(const struct mode *mode)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = mode->flags,
		.capacity = CAPACITY,
		.ring_entries = mode->ring_entries,
	};
	struct twheel *w;
	int ret;

	kernel_boot(mode->features);
	ret = twheel_open(&w, &options);
	if (!CHECK(ret == 0))
		exit(1);
	return w;
}

/* The next event is this one, and comes exactly then. */
static void expect(struct twheel *w, uint32_t id, uint64_t deadline)
{
	struct twheel_event event = { .id = ~0U };

	CHECK(twheel_wait(w, &event, 1, -1) == 1);
	CHECK(event.id == id);
	CHECK(event.deadline == deadline);
	CHECK(kernel_now() >= deadline);
	CHECK(event.fired >= deadline && event.fired <= kernel_now());
}

/* For so long there is none. */
static void expect_none(struct twheel *w, uint64_t ns)
{
	struct twheel_event event;
	uint64_t end = kernel_now() + ns;

	CHECK(twheel_wait(w, &event, 1, (int64_t)ns) == 0);
	CHECK(kernel_now() == end);
}

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
	CHECK(twheel_cancel_tell(w, 2) == TWHEEL_STATE_EXPIRED);
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
	struct twheel_arming arming = { .deadline = twheel_now(w) + MS, .cookie = 1 };
	struct twheel_op ops[3] = {
		{ .opcode = TWHEEL_OP_ARM, .id = 10, .deadline = 5, .cookie = 2 },
		{ .opcode = TWHEEL_OP_ARM, .id = CAPACITY, .deadline = 5 },
		{ .opcode = TWHEEL_OP_CANCEL, .id = 11 },
	};
	struct twheel_timer timers[CAPACITY];
	struct twheel_event event;
	uint32_t id = 0, cursor = 0;
	int nr, sum = 0;

	CHECK(twheel_arm_any(w, &arming, &id) == 0 && id == CAPACITY - 1);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.id == id && event.cookie == 1);

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
	kernel.submit_error = -ENOMEM;
	CHECK(twheel_submit_ops(w, ops, ARRAY_SIZE(ops)) == -ENOMEM);
	CHECK(ops[0].result == -ENOMEM && ops[2].result == -ENOMEM);
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

/*
 * Of two handles one knows no generation of a timer, or one that is 2^31 armings old: an
 * event comes to the first, and a take of the second ends.
 */
static void far_generations(const struct mode *mode)
{
	struct twheel *w = boot(mode), *heir = open_again(mode, kernel_dup(twheel_fd(w)));
	struct twheel_arming arming = { .deadline = twheel_now(w) + MS };
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_flush(w) == 0);
	kernel.generations = (1U << 31) + 1;
	CHECK(twheel_arm_with(heir, 2, &arming) == 0);
	CHECK(twheel_arm_with(heir, 1, &arming) == 0);
	CHECK(twheel_flush(heir) == 0);
	kernel_advance(2 * MS);
	CHECK(twheel_take(w, &event, 1) == 1 && event.id == 2);
	CHECK(twheel_take(w, &event, 1) >= 0);
	CHECK(twheel_wait(w, &event, 1, 0) >= 0);
	twheel_close(w);
	twheel_close(heir);
	tap_result("%s: generations that are far apart", mode->name);
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
 * Any program of operations beside what must come of it.
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
	for (unsigned int step = 0; step < RANDOM_STEPS && !tap_bad; step++)
		random_step(w, wanted);
	kernel_advance(1000);
	take_all(w, wanted);
	twheel_close(w);
	tap_result("%s: %u random steps, seed %" PRIu64, mode->name, RANDOM_STEPS, seed);
}

/* What only some have */

static void stores(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	uint64_t start = twheel_now(w);
	struct twheel_event event;
	unsigned long calls;

	twheel_arm(w, 1, start + 10 * MS);
	CHECK(kernel.stored == 1);
	calls = kernel.calls;
	for (unsigned int i = 0; i < 1000; i++) {
		twheel_arm(w, 1, start + 11 * MS + i);
		twheel_extend(w, 1, start + 12 * MS + i);
		twheel_extend_armed(w, 1, start + 13 * MS + i);
	}
	twheel_cancel(w, 1);
	twheel_arm(w, 1, start + 12 * MS);
	twheel_cancel_tell(w, 1);
	twheel_extend(w, 1, start + 11 * MS);
	CHECK(kernel.calls == calls);
	/* Earlier than the kernel looks. */
	twheel_arm(w, 1, start + 9 * MS);
	CHECK(kernel.calls == calls + 1);
	kernel_advance(9 * MS);
	calls = kernel.calls + kernel.reads;
	CHECK(twheel_next(w, &event) == 1);
	CHECK(twheel_next(w, &event) == 0);
	CHECK(kernel.calls + kernel.reads == calls + (mode->ring_entries ? 0 : 2));
	twheel_close(w);
	tap_result("%s: no call for a change to later, for a cancel, for an event",
		   mode->name);
}

static void batches(void)
{
	struct twheel *w = boot(ring_batch_mode);
	uint64_t start = twheel_now(w);
	struct twheel_event events[CAPACITY];
	unsigned long calls = kernel.calls;

	for (unsigned int round = 0; round < 2; round++)
		for (uint32_t id = 0; id < 64; id++)
			twheel_arm(w, id, start + 2 * MS);
	CHECK(kernel.calls == calls);
	CHECK(twheel_flush(w) == 0);
	CHECK(kernel.calls == calls + 1 && kernel.stored == 128);
	CHECK(twheel_flush(w) == 0);
	CHECK(kernel.calls == calls + 1);
	tap_result("a batch is one call");

	for (uint32_t id = 100; id < 229; id++)
		twheel_arm(w, id, start + MS);
	CHECK(kernel.calls == calls + 2 && kernel.stored == 256);
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 129);
	CHECK(kernel.stored == 257);
	tap_result("a full batch is submitted, and one before sleep");

	/* A stale entry: found by the taker, called by the batch. */
	kernel_advance(MS);
	CHECK(twheel_take(w, events, CAPACITY) == 64);
	start = twheel_now(w);
	twheel_arm(w, 1, start + MS);
	twheel_flush(w);
	kernel_advance(MS);
	twheel_extend(w, 1, start + 3 * MS);
	calls = kernel.calls;
	CHECK(twheel_take(w, events, 1) == 0);
	CHECK(kernel.calls == calls);
	expect(w, 1, start + 3 * MS);
	tap_result("a batch takes what a stale event needs");

	/* The kernel is looking, but for a later deadline. */
	start = twheel_now(w);
	twheel_arm(w, 2, start + 100 * MS);
	twheel_flush(w);
	twheel_arm(w, 2, start + MS);
	kernel_advance(2 * MS);
	CHECK(twheel_cancel_tell(w, 2) == TWHEEL_STATE_EXPIRED);
	tap_result("a deadline that has passed on a batch has expired");
	twheel_close(w);
}

static void batch_fails(void)
{
	struct twheel *w = boot(ring_batch_mode);
	struct twheel_arming arming = { .interval = MS };
	uint64_t start = twheel_now(w);
	struct twheel_event events[CAPACITY];
	unsigned int nr = 0;
	int ret;

	for (uint32_t id = 0; id < 10; id++)
		twheel_arm(w, id, start + MS);
	kernel.stored_fails = 3;
	CHECK(twheel_flush(w) == -ENOMEM);
	CHECK(kernel.stored == 7);
	CHECK(twheel_flush(w) == 0);
	CHECK(kernel.stored == 10);
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 10);
	tap_result("what fails in a batch is told, and tried again");

	for (uint32_t id = 0; id < 128; id++)
		CHECK(twheel_arm(w, id, start + 5 * MS) == 0);
	kernel.submit_error = -ENOMEM;
	CHECK(twheel_arm(w, 128, start + 5 * MS) == 0);
	CHECK(twheel_flush(w) == 0);
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 129);
	tap_result("a full batch that fails is not in the way of who comes next");

	/* All periods at once, and no memory: events stay until they can go on. */
	arming.deadline = start + 7 * MS;
	for (uint32_t id = 0; id < 60; id++)
		CHECK(twheel_arm_with(w, id, &arming) == 0);
	for (uint32_t id = 100; id < 210; id++)
		twheel_arm(w, id, start + 6 * MS);
	kernel_advance(start + 7 * MS - kernel_now());
	kernel.stored_fails = 100000;
	while ((ret = twheel_take(w, events, CAPACITY)) > 0)
		nr += (unsigned int)ret;
	CHECK(ret == -ENOMEM && nr < 60);
	kernel.stored_fails = 0;
	CHECK(twheel_flush(w) == 0);
	while (nr < 170 && (ret = twheel_wait(w, events, CAPACITY, 0)) > 0)
		nr += (unsigned int)ret;
	CHECK(nr == 170);
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 60 && kernel_now() == start + 8 * MS);
	tap_result("no event is taken that could not go on");
	twheel_close(w);
}

/* What fails on a batch is in nobody else's way. */
static void batch_keeps_failing(void)
{
	struct twheel *w = boot(ring_batch_mode);
	uint64_t start = twheel_now(w);
	struct twheel_event events[CAPACITY];

	CHECK(twheel_arm(w, 7, start + MS) == 0 && twheel_flush(w) == 0);
	kernel.stored_fails_of = 5 + 1;
	/* Sooner and sooner, so that each arm takes a call. */
	for (unsigned int i = 0; i < 300; i++)
		CHECK(twheel_arm(w, 5, start + (1000 - i) * MS) == 0);
	kernel_advance(MS);
	CHECK(twheel_take(w, events, CAPACITY) == 1 && events[0].id == 7);
	CHECK(twheel_arm(w, 9, start + 2 * MS) == 0);
	CHECK(twheel_flush(w) == -ENOMEM);
	kernel_advance(MS);
	CHECK(twheel_take(w, events, CAPACITY) == 1 && events[0].id == 9);
	kernel.stored_fails_of = 0;
	CHECK(twheel_flush(w) == 0);
	kernel_advance(700 * MS);
	CHECK(twheel_take(w, events, CAPACITY) == 1 && events[0].id == 5);
	CHECK(events[0].deadline == start + 701 * MS);
	tap_result("a timer that has no memory again and again is once on the batch");

	/* All of it fails; an event that is done with needs none of it. */
	start = twheel_now(w);
	CHECK(twheel_arm(w, 200, start + MS) == 0 && twheel_flush(w) == 0);
	kernel.stored_fails = 1000;
	for (uint32_t id = 0; id < 128; id++)
		CHECK(twheel_arm(w, id, start + 5 * MS) == 0);
	CHECK(twheel_arm(w, 128, start + 5 * MS) == -ENOMEM);
	kernel_advance(MS);
	CHECK(twheel_take(w, events, CAPACITY) == 1 && events[0].id == 200);
	kernel.stored_fails = 0;
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 128);
	tap_result("events are taken though all of a batch fails");
	twheel_close(w);
}

/* Nor is an event lost whose timer was armed by another handle, so that it seems to be plain. */
static void batch_is_full_of_failures(void)
{
	struct twheel *w = boot(ring_batch_mode);
	struct twheel *other = open_again(ring_batch_mode, kernel_dup(twheel_fd(w)));
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = { .deadline = start + MS, .interval = 100 * MS };
	struct twheel_event events[CAPACITY];
	int taken;

	kernel.stored_fails = 1000;
	for (uint32_t id = 0; id < 128; id++)
		CHECK(twheel_arm(w, id, start + 5 * MS) == 0);
	CHECK(twheel_arm_with(other, 200, &arming) == 0);
	kernel_advance(MS);
	taken = twheel_take(w, events, CAPACITY);
	CHECK(taken == 1 && events[0].id == 200 && events[0].deadline == start + MS);
	kernel.stored_fails = 0;
	CHECK(twheel_flush(w) == 0);
	kernel_advance(4 * MS);
	CHECK(twheel_take(w, events, CAPACITY) == 128);
	expect(w, 200, start + 101 * MS);
	tap_result("no event is lost where a batch is full of failures");
	twheel_close(other);
	twheel_close(w);
}

/*
 * Events come, and near timers can be armed, whatever else has no memory again and again; nor
 * is that tried all the time.
 */
static void batch_is_in_nobodys_way(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = { .deadline = start + 20 * MS, .interval = 20 * MS };
	struct twheel_event event;
	unsigned long submits;
	unsigned int events = 0;
	int ret;

	kernel.stored_fails_of_first = 150;
	for (uint32_t id = 0; id < 128; id++)
		CHECK(twheel_arm(w, id, start + 100000 * MS) == 0);
	CHECK(twheel_arm(w, 128, start + 100000 * MS) == -ENOMEM);
	CHECK(twheel_arm(w, 201, start + 30 * MS) == 0);
	CHECK(twheel_arm_with(w, 200, &arming) == 0);
	submits = kernel.submits;
	while (kernel_now() < start + 200 * MS) {
		ret = twheel_wait(w, &event, 1, 200 * MS);
		CHECK(ret == 1 || ret == -ENOMEM);
		events += ret == 1;
	}
	CHECK(events == 11);
	CHECK(kernel.submits - submits <= 60);
	twheel_close(w);
	tap_result("%s: a batch full of failures is in nobody's way", mode->name);
}

/* What has no memory on the batch is in the way of no enumeration, and keeps nobody busy. */
static void batch_has_no_memory(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	uint64_t start = twheel_now(w);
	struct twheel_timer timers[4];
	struct twheel_event event;
	uint32_t cursor = 0;

	kernel.stored_fails_of = 5 + 1;
	twheel_arm(w, 5, start + 1000 * MS);
	CHECK(twheel_wait(w, &event, 1, -1) == -ENOMEM && kernel_now() == start + 10 * MS);
	CHECK(twheel_wait(w, &event, 1, MS) == -ENOMEM && kernel_now() == start + 11 * MS);
	CHECK(twheel_wait(w, &event, 1, 0) == -ENOMEM && kernel_now() == start + 11 * MS);
	CHECK(twheel_list_armed(w, &cursor, timers, 4) == 1 && timers[0].id == 5);
	cursor = 0;
	CHECK(twheel_drain(w, &cursor, timers, 4) == 1 && timers[0].id == 5);
	CHECK(twheel_flush(w) == -ENOMEM);
	kernel.stored_fails_of = 0;
	CHECK(twheel_wait(w, &event, 1, 20 * MS) == 0);
	twheel_close(w);
	tap_result("%s: without memory for a batch, timers can be listed", mode->name);
}

static void full_ring(void)
{
	struct twheel *w = boot(small_ring_mode);
	struct twheel_event events[CAPACITY];
	unsigned long submits;
	int nr, sum = 0;

	for (uint32_t id = 0; id < 100; id++)
		twheel_arm(w, id, twheel_now(w) + MS);
	twheel_flush(w);
	kernel_advance(MS);
	/* Nearly all of them come to nothing. */
	for (uint32_t id = 0; id < 90; id++)
		twheel_cancel(w, id);
	submits = kernel.submits;
	CHECK(twheel_next(w, events) == 1 && events[0].id == 90);
	CHECK(kernel.submits > submits);
	do {
		nr = twheel_take(w, events, 4);
		sum += nr;
	} while (nr > 0);
	CHECK(sum == 9);

	/* When just as many as the ring has room for were taken. */
	for (uint32_t id = 0; id < 5; id++)
		twheel_arm(w, id, twheel_now(w));
	twheel_flush(w);
	CHECK(twheel_take(w, events, 4) == 4);
	CHECK(twheel_next(w, events) == 1 && events[0].id == 4);
	submits = kernel.submits;
	CHECK(twheel_take(w, events, 4) == 0 && kernel.submits == submits);
	twheel_close(w);
	tap_result("the kernel is called when more waits than the ring has room for");
}

static void round_the_ring(void)
{
	struct twheel *w = boot(small_ring_mode);
	struct twheel_ring *ring = twheel_shared_of(w)->ring;
	struct twheel_event event;

	for (uint32_t id = 0; id < 100; id++) {
		twheel_arm(w, id, twheel_now(w));
		twheel_flush(w);
		CHECK(twheel_next(w, &event) == 1 && event.id == id);
	}
	CHECK(ring->head == 100 && ring->tail == 100);

	/* Who shares the ring has scribbled. */
	twheel_arm(w, 1, twheel_now(w));
	twheel_arm(w, 2, twheel_now(w));
	twheel_flush(w);
	((struct twheel_entry *)((char *)ring + TWHEEL_RING_HEADER))[100 % 4].id = ~0U;
	CHECK(twheel_next(w, &event) == 1 && event.id == 2);
	CHECK(twheel_next(w, &event) == 0);
	tap_result("the ring goes round, and an id of nowhere leads nowhere");

	/* With the head ahead of the tail, too: no event is invented, and none is lost. */
	twheel_close(w);
	w = boot(ring_mode);
	ring = twheel_shared_of(w)->ring;
	twheel_arm(w, 3, twheel_now(w));
	twheel_arm(w, 4, twheel_now(w));
	ring->head = 7;
	alarm(10);
	CHECK(twheel_next(w, &event) == 1 && event.id == 3);
	ring->head = 3;
	CHECK(twheel_next(w, &event) == 1 && event.id == 4);
	CHECK(twheel_next(w, &event) == 0 && ring->head == 2);
	alarm(0);
	twheel_close(w);
	tap_result("a head that makes no sense is mended at once");
}

/* What a stale entry needs fails, and the take has an event to return: it is not forgotten. */
static void failed_and_taken(void)
{
	struct twheel *w = boot(ring_mode);
	uint64_t start = twheel_now(w);
	struct twheel_event event;

	CHECK(twheel_arm(w, 5, start + MS) == 0 && twheel_arm(w, 6, start + MS) == 0);
	kernel_advance(MS);
	CHECK(twheel_extend_armed(w, 5, start + 10 * MS) == 0);
	kernel.stored_fails = 1;
	CHECK(twheel_next(w, &event) == 1 && event.id == 6);
	/* But not at once: who asks in a loop is not to be busy with it. */
	CHECK(twheel_next(w, &event) == -ENOMEM && kernel.stored == 2);
	kernel_advance(10 * MS);
	CHECK(twheel_next(w, &event) == 1 && event.id == 5 && event.deadline == start + 10 * MS);
	twheel_close(w);
	tap_result("what failed behind an event is tried again");
}

/* An entry of an arming that had the same deadline, and another interval. */
static void same_deadline(void)
{
	struct twheel *w = boot(ring_mode);
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = { .deadline = start - 10, .interval = 2, .count = 100 };
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	arming.interval = 7;
	arming.count = 0;
	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_next(w, &event) == 1 && event.overruns == 1 && !event.flags);
	expect(w, 1, start + 4);
	twheel_cancel(w, 1);

	arming.interval = 2;
	CHECK(twheel_arm_with(w, 2, &arming) == 0);
	arming.count = 3;
	CHECK(twheel_arm_with(w, 2, &arming) == 0);
	CHECK(twheel_next(w, &event) == 1 && event.overruns == 2 &&
	      event.flags == TWHEEL_EVENT_LAST);
	expect_none(w, 100);

	/* Once with an end, once for ever; the other way round; and once at all. */
	arming = (struct twheel_arming){ .deadline = twheel_now(w) };
	CHECK(twheel_arm_with(w, 3, &arming) == 0);
	arming.interval = 9;
	CHECK(twheel_arm_with(w, 3, &arming) == 0);
	CHECK(twheel_next(w, &event) == 1 && !event.flags);
	expect(w, 3, arming.deadline + 9);
	twheel_cancel(w, 3);
	arming.deadline = twheel_now(w);
	CHECK(twheel_arm_with(w, 4, &arming) == 0);
	arming.interval = 0;
	CHECK(twheel_arm_with(w, 4, &arming) == 0);
	CHECK(twheel_next(w, &event) == 1 && event.flags == TWHEEL_EVENT_LAST);
	expect_none(w, 100);
	twheel_close(w);
	tap_result("an entry of an earlier arming with the same deadline");
}

/* An array that is just full: what was taken goes on all the same. */
static void just_full(void)
{
	struct twheel *w = boot(ring_mode);
	struct twheel_arming arming = { .deadline = twheel_now(w), .interval = MS };
	struct twheel_ring *ring = twheel_shared_of(w)->ring;
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_next(w, &event) == 1);
	kernel_advance(MS);
	CHECK(ring->tail == 2);
	twheel_close(w);
	tap_result("a periodic timer goes on before another event is asked for");
}

/* Two handles of one wheel: an event has all that was said by whichever has armed it. */
static void shared(void)
{
	struct twheel *w = boot(ring_mode), *other;
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = {
		.deadline = start + MS, .interval = MS, .cookie = 9,
	};
	struct twheel_event event;

	other = open_again(ring_mode, kernel_dup(twheel_fd(w)));
	CHECK(twheel_arm_with(other, 1, &arming) == 0);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.cookie == 9);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.deadline == start + 2 * MS);
	CHECK(kernel.gets == 0);

	/* What is left of a count the kernel is asked for. */
	twheel_cancel(w, 1);
	start = twheel_now(w);
	arming.deadline = start + MS;
	arming.count = 3;
	CHECK(twheel_arm_with(other, 3, &arming) == 0);
	for (unsigned int i = 1; i <= 3; i++) {
		CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.id == 3);
		CHECK(event.deadline == start + i * MS && kernel.gets == i);
		CHECK(event.flags == (i == 3 ? TWHEEL_EVENT_LAST : 0));
	}
	expect_none(w, 10 * MS);

	/* But not about an event that is stale. */
	start = twheel_now(w);
	CHECK(twheel_arm(w, 1, start + 3 * MS) == 0);
	kernel.gets = 0;
	arming.deadline = start + MS;
	CHECK(twheel_arm_with(other, 2, &arming) == 0);
	kernel_advance(3 * MS);
	twheel_cancel(w, 2);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.id == 1);
	CHECK(kernel.gets == 0);
	twheel_close(other);
	twheel_close(w);

	/* By calls, a timer that is pushed back keeps what the other has said of it. */
	w = boot(&modes[ARRAY_SIZE(modes) - 1]);
	other = open_again(&modes[ARRAY_SIZE(modes) - 1], kernel_dup(twheel_fd(w)));
	start = twheel_now(w);
	arming = (struct twheel_arming){
		.deadline = start + MS, .interval = MS, .count = 5, .cookie = 4,
	};
	CHECK(twheel_arm_with(other, 1, &arming) == 0);
	CHECK(twheel_arm(w, 1, start + 8 * MS) == 0);
	kernel_advance(20 * MS);
	CHECK(twheel_next(w, &event) == 1 && event.flags == TWHEEL_EVENT_LAST);
	CHECK(event.overruns == 4 && event.cookie == 4);
	twheel_close(other);
	twheel_close(w);
	tap_result("what is said of a timer is the timer's, whichever handle has said it");
}

static int try_open(const struct twheel_options *options)
{
	struct twheel *w = NULL;
	int ret = twheel_open(&w, options);

	if (!ret)
		twheel_close(w);
	return ret;
}

static void opening(void)
{
	struct {
		struct twheel_options options;
		uint64_t more;
	} longer = { .options.size = sizeof(longer) };
	struct twheel_options o = { .size = sizeof(o) };
	struct twheel *w;

	kernel_boot(RING);
	CHECK(try_open(NULL) == 0);
	CHECK(try_open(&o) == 0);
	o.size = sizeof(o) - 4;
	CHECK(try_open(&o) == -EINVAL);
	CHECK(try_open(&longer.options) == 0);
	longer.more = 1;
	CHECK(try_open(&longer.options) == -E2BIG);
	tap_result("options of another size");

	o = (struct twheel_options){ .size = sizeof(o), .flags = 1U << 31 };
	CHECK(try_open(&o) == -EOPNOTSUPP);
	o = (struct twheel_options){ .size = sizeof(o), .clock = CLOCK_BOOTTIME };
	CHECK(try_open(&o) == -EINVAL);
	o.flags = TWHEEL_OPEN_CLOCK;
	CHECK(try_open(&o) == 0);
	o.clock = CLOCK_PROCESS_CPUTIME_ID;
	CHECK(try_open(&o) == -EOPNOTSUPP);
	o = (struct twheel_options){ .size = sizeof(o), .capacity = ~0U };
	CHECK(try_open(&o) == -ERANGE);
	o = (struct twheel_options){ .size = sizeof(o), .ring_entries = ~0U };
	CHECK(try_open(&o) == -ERANGE);
	o = (struct twheel_options){ .size = sizeof(o), .path = "/dev/nothing" };
	CHECK(try_open(&o) == -ENODEV);
	o = (struct twheel_options){ .size = sizeof(o), .fd = 1 };
	CHECK(try_open(&o) == -EINVAL);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	CHECK(try_open(&o) == -ENOTTY);
	o.path = "/dev/twheel";
	CHECK(try_open(&o) == -EINVAL);
	kernel.abi = TWHEEL_ABI + 1;
	CHECK(try_open(NULL) == -EPROTO);
	kernel.abi = TWHEEL_ABI;
	kernel.map_error = -ENOMEM;
	CHECK(try_open(NULL) == -ENOMEM);
	kernel.map_error = 0;
	kernel.words_error = -EDQUOT;
	CHECK(try_open(NULL) == -EDQUOT);
	kernel.words_error = 0;
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_NO_WORDS };
	o.ring_entries = TWHEEL_MAX_RING + 1;
	CHECK(try_open(&o) == -ERANGE);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	twheel_close(NULL);
	tap_result("options that mean nothing, and kernels that can't");

	/* In use without words. */
	kernel_boot(RING);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_NO_WORDS };
	CHECK(twheel_open(&w, &o) == 0);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	o.fd = kernel_dup(twheel_fd(w));
	kernel_make_blocking(o.fd);
	twheel_close(w);
	o.capacity = CAPACITY;
	CHECK(try_open(&o) == -EBUSY);
	o.capacity = 0;
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == 0 && kernel_nonblocking(o.fd));
	twheel_close(w);

	/* As it was made is as good as not said. */
	kernel_boot(RING);
	o = (struct twheel_options){ .size = sizeof(o), .capacity = CAPACITY };
	o.ring_entries = kernel.ring_min;
	CHECK(twheel_open(&w, &o) == 0);
	o.flags = TWHEEL_OPEN_FD;
	o.fd = kernel_dup(twheel_fd(w));
	o.capacity = CAPACITY + 1;
	CHECK(try_open(&o) == -EBUSY);
	o.capacity = CAPACITY;
	o.tick = MS / 2;
	CHECK(try_open(&o) == -EBUSY);
	o.tick = 0;
	o.ring_entries = TWHEEL_MAX_RING;
	CHECK(try_open(&o) == -EBUSY);
	o.ring_entries = kernel.ring_min;
	kernel.map_error = -ENOMEM;
	CHECK(try_open(&o) == -ENOMEM);
	kernel.map_error = 0;
	twheel_close(w);
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == (TWHEEL_HAS_WORDS | TWHEEL_HAS_RING));
	twheel_close(w);

	/* What can't be mapped is left as it is. */
	kernel_boot(WORDS);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	o.fd = twheel_sys_open("/dev/twheel");
	kernel_make_read_only(o.fd);
	o.capacity = CAPACITY;
	CHECK(try_open(&o) == -EACCES);
	o.flags |= TWHEEL_OPEN_NO_WORDS;
	CHECK(twheel_open(&w, &o) == 0);
	twheel_close(w);
	o.flags = TWHEEL_OPEN_FD;
	o.capacity = 0;

	/* A ring is no use without words. */
	w = boot(ring_mode);
	o.fd = kernel_dup(twheel_fd(w));
	o.flags |= TWHEEL_OPEN_NO_WORDS;
	CHECK(try_open(&o) == -EOPNOTSUPP);
	CHECK(kernel_open_files() == 2);
	o.flags = TWHEEL_OPEN_FD;
	CHECK(try_open(&o) == 0);
	twheel_close(w);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("a wheel in use is opened as it is, or not at all");
}

/* A wheel that somebody else has opened is as good as an own one, until it is used. */
static void handed_over(void)
{
	struct twheel_options o = { .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	struct twheel *w;

	kernel_boot(RING);
	o.fd = twheel_sys_open("/dev/twheel");
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == TWHEEL_HAS_WORDS && twheel_capacity(w) == KERNEL_CAPACITY_MAX);
	twheel_close(w);
	o.fd = twheel_sys_open("/dev/twheel");
	o.capacity = CAPACITY;
	o.ring_entries = 64;
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == ring_mode->has && twheel_capacity(w) == CAPACITY);
	twheel_close(w);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("a wheel handed over and not used gets its shape, words and ring");
}

/* A wheel that is another's has words of some ids: the others are armed by calls. */
static void part_of_the_words(uint32_t first, uint32_t nr)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_WORDS, .words_first = first, .words_nr = nr,
	};
	struct twheel_options o = { .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	static const uint32_t ids[] = { 0, 255, 256, 511, 512, 1023 };
	struct twheel_arming arming = { .interval = MS };
	uint32_t mapped = first ? 0 : nr;
	unsigned long calls;
	struct twheel_word *words;
	struct twheel *w;
	uint64_t start;
	void *at;

	kernel_boot(RING);
	o.fd = twheel_sys_open("/dev/twheel");
	CHECK(twheel_sys_ioctl(o.fd, TWHEEL_IOC_SETUP, &setup) == 0);
	CHECK(setup.words_first == first && setup.words_nr == nr);
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == (mapped ? TWHEEL_HAS_WORDS : 0));
	CHECK(twheel_capacity(w) == KERNEL_CAPACITY_MAX);
	start = twheel_now(w);
	for (unsigned int i = 0; i < ARRAY_SIZE(ids); i++) {
		CHECK(twheel_arm(w, ids[i], start + (i + 1) * MS) == 0);
		calls = kernel.calls;
		CHECK(twheel_extend(w, ids[i], start + (i + 10) * MS) == 0);
		CHECK(kernel.calls - calls == (ids[i] >= mapped));
	}
	CHECK(twheel_cancel_tell(w, ids[2]) == TWHEEL_STATE_PENDING);
	CHECK(twheel_cancel(w, ids[5]) == 0);
	for (unsigned int i = 0; i < 5; i++)
		if (i != 2)
			expect(w, ids[i], start + (i + 10) * MS);
	expect_none(w, 100 * MS);
	for (unsigned int i = 0; i < ARRAY_SIZE(ids); i++) {
		arming.deadline = twheel_now(w) + MS;
		CHECK(twheel_arm_with(w, ids[i], &arming) == 0);
		expect(w, ids[i], arming.deadline);
		expect(w, ids[i], arming.deadline + MS);
		CHECK(twheel_cancel(w, ids[i]) == 0);
	}

	/* What its owner has stored and not called: a successor finds it all the same. */
	CHECK(twheel_sys_map(o.fd, setup.words_offset + first * sizeof(*words),
			     nr * sizeof(*words), &at) == 0);
	words = at;
	words[3].deadline = twheel_now(w) + MS;
	CHECK(twheel_adopt(w) == 1);
	expect(w, first + 3, words[3].deadline ? words[3].deadline : kernel_now());
	twheel_sys_unmap(at, nr * sizeof(*words));
	twheel_close(w);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("words of %u timers from %u on: the others go by calls", nr, first);
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

/* The clock is set back while an event waits, and its deadline wanted once more, or still. */
static void set_back(const struct mode *mode)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = mode->flags | TWHEEL_OPEN_CLOCK,
		.clock = CLOCK_REALTIME,
		.capacity = CAPACITY,
		.ring_entries = mode->ring_entries,
	};
	struct twheel_arming arming = { .cookie = 2 };
	struct twheel_event event;
	struct twheel *w;

	kernel_boot(mode->features);
	if (!CHECK(twheel_open(&w, &options) == 0))
		exit(1);
	for (int how = 0; how < 5; how++) {
		uint64_t deadline = twheel_now(w) + 10 * MS;

		CHECK(twheel_arm(w, 1, deadline) == 0);
		CHECK(twheel_flush(w) == 0);
		kernel_advance(11 * MS);
		kernel_set_back(6 * MS);
		if (how == 1)
			CHECK(twheel_cancel(w, 1) == 0);
		arming.deadline = deadline;
		if (how < 2)
			CHECK(twheel_arm(w, 1, deadline) == 0);
		else if (how == 2)
			CHECK(twheel_arm_with(w, 1, &arming) == 0);
		else if (how == 3)
			CHECK(twheel_extend(w, 1, deadline) == 0);
		CHECK(twheel_flush(w) == 0);
		expect_none(w, 4 * MS);
		expect(w, 1, deadline);
		CHECK(twheel_next(w, &event) == 0);
	}
	twheel_close(w);
	tap_result("%s: a deadline that comes once more, as the clock was set back", mode->name);
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
	kernel.step = 8;
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

/* Ids that the kernel chooses come back, in whatever way they are cancelled. */
static void chosen_ids(struct twheel *w)
{
	struct twheel_arming arming = { .deadline = twheel_now(w) + 3600000 * MS };
	uint32_t id = 0;

	for (unsigned int i = 0; i < 3 * CAPACITY; i++) {
		if (!CHECK(twheel_arm_any(w, &arming, &id) == 0))
			return;
		if (i % 3 == 0)
			CHECK(twheel_cancel(w, id) == 0);
		else if (i % 3 == 1)
			CHECK(twheel_cancel_tell(w, id) == TWHEEL_STATE_PENDING);
		else
			CHECK(twheel_arm(w, id, 0) == 0);
	}
	for (unsigned int i = 0; i < CAPACITY; i++)
		CHECK(twheel_arm_any(w, &arming, &id) == 0);
	CHECK(twheel_arm_any(w, &arming, &id) == -ENOSPC);

	/* The only one that is free, wherever it is. */
	for (unsigned int i = 1; i < 20; i++) {
		CHECK(twheel_cancel(w, i * 12) == 0);
		CHECK(twheel_arm_any(w, &arming, &id) == 0 && id == i * 12);
	}
	CHECK(twheel_cancel(w, 7) == 0);
	arming.flags = TWHEEL_ARM_MOVE;
	CHECK(twheel_arm_any(w, &arming, &id) == -EINVAL);
	arming.flags = 0;
	arming.generation = 1;
	CHECK(twheel_arm_any(w, &arming, &id) == -EINVAL);
	arming.generation = 0;
	arming.deadline = 0;
	CHECK(twheel_arm_any(w, &arming, &id) == -EINVAL);
	arming.deadline = twheel_now(w) + MS;
	arming.count = 1;
	CHECK(twheel_arm_any(w, &arming, &id) == -EINVAL);

	/* Free again when its event was taken, and not before. */
	arming.count = 0;
	CHECK(twheel_arm_any(w, &arming, &id) == 0 && id == 7);
	kernel_advance(MS);
	CHECK(twheel_arm_any(w, &arming, &id) == -ENOSPC);
	expect(w, 7, arming.deadline);
	CHECK(twheel_arm_any(w, &arming, &id) == 0 && id == 7);
	expect(w, 7, arming.deadline);
}

/* Ids that the program has chosen are not given away. */
static void chosen_and_own(struct twheel *w)
{
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = { .deadline = start + 3600000 * MS };
	uint32_t id = 0;

	CHECK(twheel_arm(w, CAPACITY - 2, start + 1000 * MS) == 0);
	for (uint32_t want = CAPACITY - 1; want > CAPACITY - 100; want--)
		if (want != CAPACITY - 2)
			CHECK(twheel_arm_any(w, &arming, &id) == 0 && id == want);
	expect(w, CAPACITY - 2, start + 1000 * MS);
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

/* Is main() running? */
static bool running;
/* Has the first handle been opened, or is a thread about to prepare for forks? */
static bool opening_first;

int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	static unsigned int calls;
	/* The first is the simulated kernel's. */
	bool fails = calls++ && getenv("NO_MEMORY_FOR_FORKS");

	if (running) {
		__atomic_store_n(&opening_first, true, __ATOMIC_SEQ_CST);
		nanosleep(&(struct timespec){ .tv_nsec = KERNEL_HOLD }, NULL);
	}
	return fails ? ENOMEM : __real_pthread_atfork(before, parent, child);
}

static void *open_first(void *arg)
{
	struct twheel *w = boot(ring_mode);

	(void)arg;
	__atomic_store_n(&opening_first, true, __ATOMIC_SEQ_CST);
	twheel_close(w);
	return NULL;
}

/* As the first thing in a process, because only then nothing is prepared. */
static void forks_at_first_open(void)
{
	pthread_t thread;
	int status = -1;
	pid_t child;

	CHECK(pthread_create(&thread, NULL, open_first, NULL) == 0);
	while (!__atomic_load_n(&opening_first, __ATOMIC_SEQ_CST))
		sched_yield();
	child = fork();
	if (!child) {
		alarm(10);
		twheel_close(boot(ring_mode));
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	tap_result("a child can open, though a thread was opening the first at the fork");
}

static void no_memory_for_forks(const char *program)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		setenv("NO_MEMORY_FOR_FORKS", "1", 1);
		execl("/proc/self/exe", program, NULL);
		_exit(1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	tap_result("without memory to prepare for forks nothing is opened");
}

/* What could not be told of a count is told by the parent alone. */
static void forks_with_a_count(void)
{
	struct twheel *w = boot(ring_mode);
	struct twheel_arming arming = {
		.deadline = twheel_now(w) + MS, .interval = 100 * MS, .count = 5,
	};
	struct twheel_timer timer;
	struct twheel_event event;
	int status = -1;
	pid_t child;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	kernel_advance(MS);
	kernel.stored_fails = 1;
	CHECK(twheel_take(w, &event, 1) == 1);
	CHECK(twheel_get(w, 1, &timer) == 0 && timer.count == 5);
	child = fork();
	if (!child)
		_exit(twheel_flush(w) || twheel_get(w, 1, &timer) || timer.count != 5);
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(twheel_flush(w) == 0 && twheel_get(w, 1, &timer) == 0 && timer.count == 4);
	twheel_close(w);
	tap_result("what was taken of a count is told once, also after a fork");
}

static uint64_t to_put_back;
static struct twheel *put_back_by;

/* Another thread cancels a timer and puts it back, while the taker asks how often it may come. */
static void cancelled_in_get(void)
{
	twheel_cancel_tell(put_back_by, 1);
}

static void put_back_after_get(void)
{
	kernel.in_get = NULL;
	kernel.after_get = NULL;
	CHECK(twheel_arm(put_back_by, 1, to_put_back) == 0);
}

static void count_put_back(void)
{
	struct twheel *w = boot(ring_mode);
	struct twheel *other = open_again(ring_mode, kernel_dup(twheel_fd(w)));
	struct twheel_arming arming = {
		.deadline = twheel_now(w) + MS, .interval = MS, .count = 10,
	};
	struct twheel_event event;
	unsigned int nr = 0;

	to_put_back = arming.deadline;
	put_back_by = other;
	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	kernel_advance(MS);
	kernel.in_get = cancelled_in_get;
	kernel.after_get = put_back_after_get;
	do {
		CHECK(twheel_wait(w, &event, 1, -1) == 1);
		nr += (unsigned int)event.overruns + 1;
	} while (!event.flags);
	CHECK(nr == 10);
	twheel_close(other);
	twheel_close(w);
	tap_result("a count goes on though its timer was cancelled and put back meanwhile");
}

/* Periods that had passed when the event came have to come again, if the clock is set back. */
static void periods_set_back(const struct mode *mode)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = mode->flags | TWHEEL_OPEN_CLOCK,
		.clock = CLOCK_REALTIME,
		.capacity = CAPACITY,
		.ring_entries = mode->ring_entries,
	};
	struct twheel_arming arming = { .interval = MS };
	struct twheel_event event;
	struct twheel *w;

	for (arming.count = 0; arming.count <= 100; arming.count += 100) {
		kernel_boot(mode->features);
		CHECK(twheel_open(&w, &options) == 0);
		arming.deadline = twheel_now(w) + MS;
		CHECK(twheel_arm_with(w, 1, &arming) == 0);
		kernel_advance(1000 * MS);
		kernel_set_back(994 * MS);
		CHECK(twheel_take(w, &event, 1) == 1 && event.overruns == 5 && !event.flags);
		expect(w, 1, arming.deadline + 6 * MS);
		twheel_close(w);
	}
	tap_result("%s: periods are told by the clock that was set back", mode->name);
}

/* What somebody has written over an entry of the ring does not stay on the batch for ever. */
static void scribbled_entry(void)
{
	struct twheel *w = boot(ring_mode);
	struct twheel_ring *ring = twheel_shared_of(w)->ring;
	struct twheel_entry *entry = (void *)((char *)ring + TWHEEL_RING_HEADER);
	struct twheel_arming arming = {
		.deadline = twheel_now(w) + MS, .interval = MS, .count = 3,
	};
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	kernel_advance(MS);
	entry->generation += 7;
	entry->count = UINT32_MAX;
	entry->overruns = UINT32_MAX - 5;
	CHECK(twheel_take(w, &event, 1) >= 0);
	CHECK(twheel_flush(w) == 0);
	twheel_close(w);
	tap_result("an entry that was written over leaves nothing behind");
}

/* The terms are given. */
static void terms_are_not_kept(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	struct twheel_arming arming = {
		.flags = TWHEEL_ARM_KEEP, .deadline = twheel_now(w) + MS,
	};
	uint32_t id;

	CHECK(twheel_arm_with(w, 1, &arming) == -EOPNOTSUPP);
	CHECK(twheel_arm_any(w, &arming, &id) == -EOPNOTSUPP);
	twheel_close(w);
	tap_result("%s: who says how a timer is armed can't have it keep that", mode->name);
}

/* A handle that a constructor of the program has opened. */
static int opened_early = -1;

__attribute__((constructor)) static void open_early(void)
{
	struct twheel *w;

	kernel_boot(RING);
	opened_early = twheel_open(&w, NULL);
	if (!opened_early)
		twheel_close(w);
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
	{ "ids of the wheel's choice", chosen_ids },
	{ "ids of the wheel's choice beside own ones", chosen_and_own },
};

int main(int argc, char **argv)
{
	(void)argc;
	running = true;
	if (getenv("NO_MEMORY_FOR_FORKS")) {
		kernel_boot(RING);
		return try_open(NULL) != -ENOMEM;
	}
	CHECK(opened_early == 0);
	tap_result("a constructor can open a wheel");
	forks_at_first_open();
	no_memory_for_forks(argv[0]);
	for (unsigned int m = 0; m < ARRAY_SIZE(modes); m++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(same); i++) {
			struct twheel *w = boot(&modes[m]);

			CHECK(twheel_has(w) == modes[m].has);
			same[i].run(w);
			twheel_close(w);
			CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
			tap_result("%s: %s", modes[m].name, same[i].what);
		}
		successor(&modes[m]);
		adopted_again(&modes[m]);
		other_time(&modes[m]);
		set_back(&modes[m]);
		behind_stale(&modes[m]);
		signals(&modes[m]);
		count_and_stale(&modes[m]);
		periods_set_back(&modes[m]);
		terms_are_not_kept(&modes[m]);
		forks(&modes[m]);
		adopted_meanwhile(&modes[m]);
		random_program(&modes[m], 1);
		random_program(&modes[m], (uint64_t)time(NULL));
	}
	stores(ring_mode);
	stores(words_mode);
	batches();
	batch_fails();
	batch_keeps_failing();
	batch_is_full_of_failures();
	batch_is_in_nobodys_way(ring_batch_mode);
	batch_is_in_nobodys_way(&modes[4]);
	batch_has_no_memory(ring_batch_mode);
	batch_has_no_memory(&modes[4]);
	forks_with_a_count();
	full_ring();
	round_the_ring();
	failed_and_taken();
	same_deadline();
	just_full();
	count_put_back();
	scribbled_entry();
	far_generations(ring_mode);
	far_generations(ring_batch_mode);
	shared();
	opening();
	handed_over();
	part_of_the_words(0, 256);
	part_of_the_words(0, 512);
	part_of_the_words(256, 256);
	return tap_end();
}
