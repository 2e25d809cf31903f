// SPDX-License-Identifier: LGPL-2.1-or-later
/* libtwheel on /dev/twheel, if there is one: a little of everything, in real time. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "twheel.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define MS			1000000ULL
#define CAPACITY		4096U

static void expect(struct twheel *w, uint32_t id, uint64_t deadline, uint64_t cookie)
{
	struct twheel_event event = { .id = ~0U };

	CHECK(twheel_wait(w, &event, 1, (int64_t)(10000 * MS)) == 1);
	CHECK(event.id == id && event.deadline == deadline && event.cookie == cookie);
	CHECK(twheel_now(w) >= deadline);
}

static void expect_none(struct twheel *w, uint64_t ns)
{
	struct twheel_event event;

	CHECK(twheel_wait(w, &event, 1, (int64_t)ns) == 0);
}

static void simple(struct twheel *w)
{
	uint64_t start = twheel_now(w);
	struct twheel_event event;

	CHECK(twheel_arm(w, 1, start + 20 * MS) == 0);
	CHECK(twheel_arm(w, 2, start + 5 * MS) == 0);
	CHECK(twheel_arm(w, 3, start + 10 * MS) == 0);
	CHECK(twheel_extend(w, 2, start + 50 * MS) == 0);
	CHECK(twheel_cancel(w, 3) == 0);
	expect(w, 1, start + 20 * MS, 0);
	expect(w, 2, start + 50 * MS, 0);
	CHECK(twheel_cancel_tell(w, 2) == TWHEEL_STATE_IDLE);
	CHECK(twheel_arm(w, 4, twheel_now(w) + 1000 * MS) == 0);
	CHECK(twheel_cancel_tell(w, 4) == TWHEEL_STATE_PENDING);

	/* Expired, and then not wanted, or wanted later. */
	start = twheel_now(w);
	for (uint32_t id = 5; id < 8; id++)
		CHECK(twheel_arm(w, id, start + MS) == 0);
	CHECK(twheel_flush(w) == 0);
	nanosleep(&(struct timespec){ .tv_nsec = 20 * MS }, NULL);
	CHECK(twheel_cancel_tell(w, 5) == TWHEEL_STATE_EXPIRED);
	CHECK(twheel_arm(w, 6, start + 60 * MS) == 0);
	CHECK(twheel_cancel(w, 7) == 0);
	CHECK(twheel_next(w, &event) == 0);
	expect(w, 6, start + 60 * MS, 0);
	expect_none(w, 20 * MS);
}

static void terms(struct twheel *w)
{
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = {
		.deadline = start + 10 * MS, .interval = 20 * MS, .count = 3, .cookie = 5,
	};
	struct twheel_event event;

	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	expect(w, 1, start + 10 * MS, 5);
	expect(w, 1, start + 30 * MS, 5);
	CHECK(twheel_wait(w, &event, 1, -1) == 1 && event.flags & TWHEEL_EVENT_LAST);
	expect_none(w, 50 * MS);
	arming = (struct twheel_arming){ .deadline = start + 10000 * MS, .cookie = 5 };
	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	CHECK(twheel_arm(w, 1, start + 1) == 0);
	expect(w, 1, start + 1, 5);
}

static void many(struct twheel *w)
{
	struct pollfd wheel = { .fd = twheel_fd(w), .events = POLLIN };
	uint64_t start = twheel_now(w);
	struct twheel_event events[256];
	unsigned int sum = 0;
	int nr;

	for (uint32_t id = 0; id < CAPACITY; id++)
		CHECK(twheel_arm(w, id, start + 20 * MS + id) == 0);
	for (uint32_t id = 0; id < CAPACITY; id += 4)
		CHECK(twheel_cancel(w, id) == 0);
	CHECK(twheel_flush(w) == 0);
	while (sum < CAPACITY / 4 * 3) {
		if (!CHECK(poll(&wheel, 1, 10000) == 1))
			break;
		while ((nr = twheel_take(w, events, ARRAY_SIZE(events))) > 0)
			for (int i = 0; i < nr; i++, sum++)
				CHECK(events[i].id % 4 && twheel_now(w) >= events[i].deadline);
		CHECK(nr == 0);
		CHECK(twheel_flush(w) == 0);
	}
	CHECK(sum == CAPACITY / 4 * 3);
	expect_none(w, 20 * MS);
}

/* What is left behind by one handle, the next one finds. */
static struct twheel *hand_over(struct twheel *w, uint32_t flags)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_FD | flags,
		.fd = dup(twheel_fd(w)),
	};
	struct twheel_arming arming = { .cookie = 6 };
	uint64_t start = twheel_now(w);
	struct twheel *heir = NULL;

	arming.deadline = start + MS;
	CHECK(twheel_arm_with(w, 1, &arming) == 0);
	arming.deadline = start + 100 * MS;
	arming.interval = 50 * MS;
	CHECK(twheel_arm_with(w, 2, &arming) == 0);
	/* With a batch it is only stored. */
	CHECK(twheel_arm(w, 3, start + 70 * MS) == 0);
	nanosleep(&(struct timespec){ .tv_nsec = 20 * MS }, NULL);
	twheel_close(w);

	CHECK(twheel_open(&heir, &options) == 0);
	if (!heir)
		return NULL;
	CHECK(twheel_capacity(heir) == CAPACITY);
	CHECK(twheel_adopt(heir) >= 0);
	expect(heir, 1, start + MS, 6);
	expect(heir, 3, start + 70 * MS, 0);
	expect(heir, 2, start + 100 * MS, 6);
	expect(heir, 2, start + 150 * MS, 6);
	return heir;
}

static void drain(struct twheel *w)
{
	struct twheel_timer timers[8];
	uint32_t cursor = 0;

	CHECK(twheel_arm(w, 9, twheel_now(w) + 30 * MS) == 0);
	CHECK(twheel_list_armed(w, &cursor, timers, ARRAY_SIZE(timers)) == 2);
	cursor = 0;
	CHECK(twheel_drain(w, &cursor, timers, ARRAY_SIZE(timers)) == 2);
	CHECK(timers[0].id == 2 && timers[1].id == 9);
	expect_none(w, 100 * MS);
}

static void test(const char *name, uint32_t ring_entries, uint32_t flags)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = flags,
		.capacity = CAPACITY,
		.ring_entries = ring_entries,
	};
	struct twheel *w = NULL;
	unsigned int has;
	int ret;

	ret = twheel_open(&w, &options);
	if (!CHECK(ret == 0)) {
		printf("# %s\n", strerror(-ret));
		tap_result("%s", name);
		return;
	}
	has = twheel_has(w);
	simple(w);
	terms(w);
	many(w);
	w = hand_over(w, flags);
	if (w) {
		CHECK(twheel_has(w) == has);
		drain(w);
	}
	twheel_close(w);
	tap_result("%s: by %s, %s", name, has & TWHEEL_HAS_WORDS ? "words" : "calls",
		   has & TWHEEL_HAS_RING ? "ring" : "read");
}

int main(void)
{
	if (access("/dev/twheel", R_OK | W_OK)) {
		printf("1..1\nok 1 - a real wheel # SKIP /dev/twheel: %s\n", strerror(errno));
		return 0;
	}
	test("ring", 256, 0);
	test("ring, batch", 1024, TWHEEL_OPEN_BATCH);
	test("words", 0, 0);
	test("words, batch", 0, TWHEEL_OPEN_BATCH);
	test("calls", 0, TWHEEL_OPEN_NO_WORDS);
	return tap_end();
}
