// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What only some handles have: words, a batch; and what two handles of a wheel share.
 */
#include <errno.h>

#include "handle.h"
#include "modes.h"
#include "sys.h"

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
	CHECK(kernel.calls + kernel.reads == calls + 2);
	twheel_close(w);
	tap_result("%s: no call for a change to later or for a cancel",
		   mode->name);
}

static void batches(void)
{
	struct twheel *w = boot(batch_mode);
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

	kernel_advance(MS);
	CHECK(twheel_take(w, events, CAPACITY) == 64);

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

/*
 * The kernel has no memory for a submit: all is armed one by one, which needs none.  What fails
 * even so is told of once, and armed by another arm.
 */
static void batch_fails(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	uint64_t start = twheel_now(w);
	struct twheel_event events[CAPACITY];
	unsigned long arms = kernel.arms;

	for (uint32_t id = 0; id < 10; id++)
		twheel_arm(w, id, start + MS);
	kernel.submit_error = -ENOMEM;
	CHECK(twheel_flush(w) == 0);
	CHECK(kernel.stored == 10 && kernel.arms == arms + 10);
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 10);

	start = twheel_now(w);
	for (uint32_t id = 0; id < 128; id++)
		CHECK(twheel_arm(w, id, start + 5 * MS) == 0);
	kernel.submit_error = -ENOMEM;
	CHECK(twheel_arm(w, 128, start + 5 * MS) == 0);
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 129);

	/* Some of it is carried out. */
	start = twheel_now(w);
	for (uint32_t id = 0; id < 10; id++)
		CHECK(twheel_arm(w, id, start + MS) == 0);
	kernel.stored_fails = 3;
	arms = kernel.arms;
	CHECK(twheel_flush(w) == 0 && kernel.arms == arms + 3);
	CHECK(twheel_wait(w, events, CAPACITY, -1) == 10);
	tap_result("%s: no memory for a submit stops no arm", mode->name);

	start = twheel_now(w);
	CHECK(twheel_arm(w, 5, start + 2 * MS) == 0);
	kernel.stored_fails = 2;
	CHECK(twheel_flush(w) == -ENOMEM);
	CHECK(twheel_flush(w) == 0);
	CHECK(twheel_arm(w, 5, start + 2 * MS) == 0);
	expect(w, 5, start + 2 * MS);
	twheel_close(w);
	tap_result("%s: an arm that fails is told of once", mode->name);
}

/* Nor a timer whose event was taken, or was stale. */
static void take_fails(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	struct twheel *other = open_again(mode, kernel_dup(twheel_fd(w)));
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = { .deadline = start + MS, .interval = 10 * MS, .count = 3 };
	struct twheel_event events[CAPACITY];
	unsigned int nr = 0;
	int ret;

	for (uint32_t id = 0; id < 120; id++)
		CHECK(twheel_arm_with(id % 2 ? w : other, id, &arming) == 0);
	for (uint32_t id = 120; id < 240; id++)
		CHECK(twheel_arm(other, id, start + MS) == 0);
	CHECK(twheel_flush(other) == 0);
	kernel_advance(MS);
	for (uint32_t id = 120; id < 240; id++)
		CHECK(twheel_extend_armed(other, id, start + 30 * MS) == 0);
	while (kernel_now() < start + 25 * MS) {
		kernel.submit_error = -ENOMEM;
		ret = twheel_wait(w, events, CAPACITY, MS);
		if (!CHECK(ret >= 0))
			break;
		nr += (unsigned int)ret;
	}
	/* None is told twice, and no count is too high. */
	CHECK(nr == 3 * 120);
	while ((ret = twheel_wait(w, events, CAPACITY, 100 * MS)) > 0)
		nr += (unsigned int)ret;
	CHECK(ret == 0 && nr == 3 * 120 + 120);
	twheel_close(other);
	twheel_close(w);
	tap_result("%s: nor does it stop what an event needs", mode->name);
}

/* Two handles of one wheel: an event has all that was said by whichever has armed it. */
static void shared(void)
{
	struct twheel *w = boot(words_mode), *other;
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = {
		.deadline = start + MS, .interval = MS, .cookie = 9,
	};
	struct twheel_event event;

	other = open_again(words_mode, kernel_dup(twheel_fd(w)));
	CHECK(twheel_arm_with(other, 1, &arming) == 0);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.cookie == 9);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.deadline == start + 2 * MS);

	/* The kernel keeps the rest of a count. */
	twheel_cancel(w, 1);
	start = twheel_now(w);
	arming.deadline = start + MS;
	arming.count = 3;
	CHECK(twheel_arm_with(other, 3, &arming) == 0);
	for (unsigned int i = 1; i <= 3; i++) {
		CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.id == 3);
		CHECK(event.deadline == start + i * MS);
		CHECK(event.flags == (i == 3 ? TWHEEL_EVENT_LAST : 0));
	}
	expect_none(w, 10 * MS);

	twheel_close(other);
	twheel_close(w);

	/* By calls, a timer that is pushed back keeps what the other has said of it. */
	w = boot(calls_mode);
	other = open_again(calls_mode, kernel_dup(twheel_fd(w)));
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

static void fail_submit(void)
{
	kernel.submit_error = -EBADF;
}

static void fail_next_submit(void)
{
	kernel.in_submit = fail_submit;
}

/* Operations that ran before a submit failed keep their results. */
static void submit_fails_in_the_middle(void)
{
	struct twheel *w = boot(words_mode);
	struct twheel_op ops[200];
	int armed = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = i % 100, .deadline = twheel_now(w) + MS,
		};
	kernel.submit_max = 50;
	kernel.in_submit = fail_next_submit;
	CHECK(twheel_submit_ops(w, ops, ARRAY_SIZE(ops)) == -EBADF);
	for (uint32_t i = 0; i < ARRAY_SIZE(ops); i++) {
		armed += !ops[i].result;
		CHECK(ops[i].result == (i < 50 ? 0 : -EBADF));
	}
	CHECK(armed == 50);
	kernel.submit_max = 0;
	twheel_close(w);
	tap_result("what was carried out before a submit failed keeps its results");
}

/* Ids of the free list: none twice, all of them, and those that were put back again. */
static void free_ids(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	bool given[CAPACITY] = { false };
	uint32_t id;

	for (unsigned int i = 0; i < CAPACITY; i++) {
		CHECK(twheel_id_get(w, &id) == 0 && id == CAPACITY - 1 - i && !given[id]);
		given[id] = true;
	}
	CHECK(twheel_id_get(w, &id) == -ENOSPC);
	twheel_id_put(w, 7);
	twheel_id_put(w, 200);
	CHECK(twheel_id_get(w, &id) == 0 && id == 200);
	CHECK(twheel_id_get(w, &id) == 0 && id == 7);
	CHECK(twheel_id_get(w, &id) == -ENOSPC);
	for (id = 0; id < CAPACITY; id++)
		twheel_id_put(w, id);
	CHECK(twheel_id_get(w, &id) == 0 && id == CAPACITY - 1);
	twheel_close(w);
	tap_result("%s: free ids", mode->name);
}

/* A timer that was taken between list and cancel is not handed back, and is not cancelled. */
static struct twheel *taken_by;

static void take_meanwhile(void)
{
	struct twheel_event event;

	CHECK(twheel_next(taken_by, &event) == 1 && event.id == 1);
}

static void drain_beside_take(void)
{
	struct twheel *w = boot(words_mode);
	struct twheel_timer timers[CAPACITY];
	uint32_t cursor = 0;

	CHECK(twheel_arm(w, 1, twheel_now(w) + MS) == 0);
	CHECK(twheel_arm(w, 2, twheel_now(w) + 2 * MS) == 0);
	kernel_advance(MS);
	taken_by = w;
	kernel.in_submit = take_meanwhile;
	CHECK(twheel_drain(w, &cursor, timers, CAPACITY) == 1);
	CHECK(timers[0].id == 2 && timers[0].state == TWHEEL_STATE_PENDING);
	twheel_close(w);
	tap_result("a drain hands back what no other thread has taken");
}

/* A submit that fails, as for lack of memory, leaves no timer armed that the cursor has passed. */
static void drain_without_submits(const struct mode *mode)
{
	struct twheel *w = boot(mode);
	struct twheel_timer timers[CAPACITY];
	uint32_t cursor = 0;

	for (uint32_t id = 0; id < 10; id++)
		CHECK(twheel_arm(w, id, twheel_now(w) + MS) == 0);
	CHECK(twheel_flush(w) == 0);
	kernel.submit_error = -ENOMEM;
	CHECK(twheel_drain(w, &cursor, timers, CAPACITY) == 10);
	CHECK(timers[9].id == 9 && timers[9].state == TWHEEL_STATE_PENDING);
	expect_none(w, 10 * MS);
	twheel_close(w);
	tap_result("%s: no memory for a submit stops no drain", mode->name);
}

void test_some(void)
{
	submit_fails_in_the_middle();
	stores(words_mode);
	batches();
	batch_fails(batch_mode);
	take_fails(words_mode);
	take_fails(batch_mode);
	shared();
	for (unsigned int i = 0; i < MODES; i++)
		free_ids(&modes[i]);
	drain_beside_take();
	drain_without_submits(words_mode);
	drain_without_submits(batch_mode);
	drain_without_submits(calls_mode);
}
