// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What only some handles have: a ring, words, a batch; and what two handles of a wheel share.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/*
 * An entry is of an arming that another one and a cancel have followed: it does not count for who
 * adopts the wheel and arms the timer for the same time.
 */
static void adopted_entry(void)
{
	struct twheel *w = boot(ring_mode), *heir;
	struct twheel_arming arming = { .deadline = 1, .interval = MS, .cookie = 111 };
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	arming = (struct twheel_arming){ .deadline = twheel_now(w) + 1000 * MS, .cookie = 222 };
	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_cancel(w, 1) == 0);
	heir = open_again(ring_mode, kernel_dup(twheel_fd(w)));
	twheel_close(w);
	CHECK(twheel_adopt(heir) == 0);
	CHECK(twheel_arm(heir, 1, 1) == 0);
	CHECK(twheel_wait(heir, &event, 1, 0) == 1);
	CHECK(event.cookie == 222 && !event.overruns && event.flags == TWHEEL_EVENT_LAST);
	CHECK(twheel_wait(heir, &event, 1, 0) == 0);
	twheel_close(heir);
	tap_result("an entry from before an adoption is stale, if its timer was armed again");
}

/* A thread that drains while another one takes. */
static struct {
	struct twheel		*w;
	struct twheel_timer	timer;
	int			nr;
	/* It has come to the kernel; the other one has an event; it has returned. */
	bool			came, claimed, done;
} drainer;

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_SEQ_CST);
}

/* Wait for the other thread, which may have to wait for this one. */
static void await(bool *flag)
{
	for (unsigned int i = 0; i < 100 && !__atomic_load_n(flag, __ATOMIC_SEQ_CST); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void let_claim(void)
{
	set(&drainer.came);
	await(&drainer.claimed);
}

static void let_drain(void)
{
	set(&drainer.claimed);
	await(&drainer.done);
}

static void *drain(void *unused)
{
	uint32_t cursor = 0;

	drainer.nr = twheel_drain(drainer.w, &cursor, &drainer.timer, 1);
	set(&drainer.done);
	return unused;
}

/* An event that was claimed, and of which the kernel is about to be told, is off the count. */
static void drain_beside_take(void)
{
	struct twheel *w = boot(ring_mode);
	struct twheel_arming arming = {
		.deadline = twheel_now(w) + MS, .interval = MS, .count = 3,
	};
	struct twheel_event event;
	pthread_t thread;
	int taken;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	kernel_advance(MS);
	memset(&drainer, 0, sizeof(drainer));
	drainer.w = w;
	kernel.in_drain = let_claim;
	kernel.in_submit = let_drain;
	CHECK(pthread_create(&thread, NULL, drain, NULL) == 0);
	await(&drainer.came);
	taken = twheel_take(w, &event, 1);
	pthread_join(thread, NULL);
	CHECK(drainer.came && drainer.nr == 1);
	CHECK(taken >= 0 && (unsigned int)taken + drainer.timer.count == 3);
	twheel_close(w);
	tap_result("what is taken, and what a drain beside that hands back, are the count");
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

/* Another thread that arms a timer, while something long goes on. */
static struct {
	struct twheel		*w;
	pthread_t		thread;
	/* Calls that arm, before that one. */
	unsigned long		arms;
	/* Was it armed when the call in question came to the kernel again? */
	bool			in_between;
} other;

/* Has it come to the kernel?  Then it has the lock, until it is armed. */
static bool other_arms(void)
{
	return __atomic_load_n(&kernel.arms, __ATOMIC_SEQ_CST) > other.arms;
}

static void *arm_beside(void *unused)
{
	struct twheel_arming arming = { .deadline = twheel_now(other.w) + 1000 * MS };

	CHECK(twheel_arm_with(other.w, 1000, &arming) == 0);
	return unused;
}

static void when_called(void (*call)(void))
{
	kernel.in_submit = call;
	kernel.in_drain = call;
}

static void see_if_armed(void)
{
	other.in_between = other_arms();
	if (!other.in_between)
		when_called(see_if_armed);
}

/* Go on when the other thread waits for the lock, for which it holds the door, or has it had. */
static void let_arm(void)
{
	CHECK(pthread_create(&other.thread, NULL, arm_beside, NULL) == 0);
	while (!other_arms() && !pthread_mutex_trylock(&other.w->door)) {
		pthread_mutex_unlock(&other.w->door);
		sched_yield();
	}
	see_if_armed();
}

static int submit_many(struct twheel *w)
{
	static struct twheel_op ops[900];

	for (uint32_t i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = i, .deadline = twheel_now(w) + MS,
		};
	return twheel_submit_ops(w, ops, ARRAY_SIZE(ops));
}

static int drain_many(struct twheel *w)
{
	struct twheel_timer timers[900];
	uint32_t cursor = 0;

	return twheel_drain(w, &cursor, timers, ARRAY_SIZE(timers)) - (int)ARRAY_SIZE(timers);
}

/* What a daemon has stored, and not called for before it died. */
static int adopt_many(struct twheel *w)
{
	for (uint32_t id = 0; id < 900; id++)
		twheel_shared_of(w)->words[id].deadline = twheel_now(w) + 900 * MS;
	return twheel_adopt(w) - 900;
}

static int take_many(struct twheel *w)
{
	struct twheel_event events[200];

	return twheel_take(w, events, ARRAY_SIZE(events)) - (int)ARRAY_SIZE(events);
}

/* Who arms a timer waits for a part of what takes long, and not for all of it. */
static void others_in_between(const char *name, int (*prepare)(struct twheel *w),
			      int (*call)(struct twheel *w))
{
	struct twheel_options options = {
		.size = sizeof(options), .capacity = KERNEL_CAPACITY_MAX,
		.ring_entries = KERNEL_RING_MAX,
	};

	kernel_boot(TWHEEL_FEATURE_WORDS | TWHEEL_FEATURE_RING);
	memset(&other, 0, sizeof(other));
	CHECK(twheel_open(&other.w, &options) == 0);
	CHECK(!prepare || prepare(other.w) == 0);
	other.arms = kernel.arms;
	when_called(let_arm);
	CHECK(call(other.w) == 0);
	when_called(NULL);
	pthread_join(other.thread, NULL);
	CHECK(other.in_between);
	twheel_close(other.w);
	tap_result("who arms waits for a part of a long %s", name);
}

static int two_hundred_due(struct twheel *w)
{
	struct twheel_arming arming = { .deadline = twheel_now(w) + MS, .interval = MS };

	for (uint32_t id = 0; id < 200; id++)
		if (twheel_arm_with(w, id, &arming))
			return -1;
	kernel_advance(MS);
	return 0;
}

static void fail_submit(void)
{
	kernel.submit_error = -EBADF;
}

static void fail_next_submit(void)
{
	kernel.in_submit = fail_submit;
}

/* Timers that were cancelled by a store, of which the kernel passes over some in each call. */
static int all_stale(struct twheel *w)
{
	if (submit_many(w))
		return -1;
	kernel.step = 8;
	kernel_advance(MS);
	for (uint32_t id = 0; id < 900; id++)
		twheel_cancel(w, id);
	return 0;
}

static int take_one(struct twheel *w)
{
	struct twheel_event event;

	return twheel_take(w, &event, 1);
}

/* What was carried out before a submit failed keeps its results. */
static void submit_fails_in_the_middle(void)
{
	struct twheel *w = boot(ring_mode);
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

static void let_period_pass(void)
{
	kernel_advance(MS);
	kernel.in_submit = let_period_pass;
}

/* A take does not go on with what is due only because it has told the kernel of an event. */
static void fast_periodic(const struct mode *mode, uint32_t timers, uint32_t count)
{
	struct twheel *w = boot(mode);
	struct twheel_arming arming = {
		.deadline = twheel_now(w) + MS, .interval = MS, .count = count,
	};
	struct twheel_event events[64];
	int nr;

	for (uint32_t id = 0; id < timers; id++)
		CHECK(twheel_arm_with(w, id, &arming) == 0);
	kernel_advance(MS);
	kernel.in_submit = let_period_pass;
	nr = twheel_take(w, events, ARRAY_SIZE(events));
	CHECK(nr >= (int)timers && nr < 3 * (int)timers);
	nr = twheel_wait(w, events, ARRAY_SIZE(events), 0);
	CHECK(nr >= (int)timers && nr < 3 * (int)timers);
	twheel_close(w);
	tap_result("%s: a take of %u %s timers ends, however fast they are", mode->name, timers,
		   count ? "counted" : "periodic");
}

void test_some(void)
{
	others_in_between("submit", NULL, submit_many);
	others_in_between("drain", submit_many, drain_many);
	others_in_between("adoption", NULL, adopt_many);
	others_in_between("take", two_hundred_due, take_many);
	others_in_between("search behind stale events", all_stale, take_one);
	submit_fails_in_the_middle();
	fast_periodic(small_ring_mode, 16, 0);
	fast_periodic(small_ring_mode, 16, 1000);
	for (uint32_t timers = 1; timers <= 16; timers += 15) {
		fast_periodic(ring_mode, timers, 0);
		fast_periodic(ring_mode, timers, 1000);
		fast_periodic(ring_batch_mode, timers, 0);
		fast_periodic(ring_batch_mode, timers, 1000);
	}

	stores(ring_mode);
	stores(words_mode);
	batches();
	batch_fails(ring_batch_mode);
	batch_fails(&modes[4]);
	take_fails(ring_mode);
	take_fails(ring_batch_mode);
	full_ring();
	round_the_ring();
	same_deadline();
	just_full();
	count_put_back();
	drain_beside_take();
	adopted_entry();
	scribbled_entry();
	far_generations(ring_mode);
	far_generations(ring_batch_mode);
	shared();
}
