// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libtwheel in the process, and on /dev/twheel, if there is one: a little of everything, in
 * real time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "twheel.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define MS			1000000ULL
#define CAPACITY		4096U

/* s: how much another time namespace is ahead. */
#define AHEAD			3600
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME		0x00000080
#endif

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
	/* Nobody has turned a wheel in the process meanwhile. */
	CHECK(twheel_cancel_tell(w, 5) == TWHEEL_STATE_EXPIRED ||
	      twheel_has(w) == (TWHEEL_HAS_FALLBACK | TWHEEL_HAS_WORDS));
	CHECK(twheel_arm(w, 6, start + 1000 * MS) == 0);
	CHECK(twheel_cancel(w, 7) == 0);
	CHECK(twheel_next(w, &event) == 0);
	expect(w, 6, start + 1000 * MS, 0);
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
	/* Three periods; on a busy host an event may tell of several. */
	for (uint64_t told = 0; told < 3; told += event.overruns + 1) {
		if (!CHECK(twheel_wait(w, &event, 1, (int64_t)(10000 * MS)) == 1))
			return;
		CHECK(event.id == 1 && event.cookie == 5);
		CHECK(event.deadline == start + (10 + told * 20) * MS);
		CHECK(!(event.flags & TWHEEL_EVENT_LAST) == (told + event.overruns + 1 < 3));
	}
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

/* An event is found behind stale ones, more than one call of the kernel gets done. */
static void stale(struct twheel *w)
{
	struct pollfd wheel = { .fd = twheel_fd(w), .events = POLLIN };
	uint64_t deadline = twheel_now(w) + 20 * MS;
	struct twheel_event event = { .id = ~0U };

	for (uint32_t id = 0; id < CAPACITY; id++)
		CHECK(twheel_arm(w, id, deadline) == 0);
	CHECK(twheel_flush(w) == 0);
	/* A poll may say "perhaps" before the deadline: of words that many() has left behind. */
	while (twheel_now(w) < deadline + 20 * MS)
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
	CHECK(poll(&wheel, 1, 10000) == 1);
	for (uint32_t id = 0; id < CAPACITY; id++)
		if (id != CAPACITY / 2)
			CHECK(twheel_cancel(w, id) == 0);
	CHECK(twheel_next(w, &event) == 1 && event.id == CAPACITY / 2);
	CHECK(twheel_next(w, &event) == 0);
}

static bool stop;

static void *arm_all_the_time(void *arg)
{
	struct twheel_arming arming = {
		.flags = TWHEEL_ARM_RELATIVE, .deadline = 3600000 * MS, .cookie = 1,
	};

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		CHECK(twheel_arm_with(arg, 1, &arming) == 0);
		CHECK(twheel_flush(arg) == 0);
	}
	return NULL;
}

/* Whatever another thread is doing at a fork, the child can go on. */
static void forks(struct twheel *w)
{
	struct twheel_arming arming = {
		.flags = TWHEEL_ARM_RELATIVE, .deadline = 3600000 * MS,
	};
	pthread_t thread;
	int status;
	pid_t child;

	stop = false;
	if (!CHECK(pthread_create(&thread, NULL, arm_all_the_time, w) == 0))
		return;
	for (unsigned int i = 0; i < 50; i++) {
		child = fork();
		if (!child) {
			/* It ends in any case. */
			alarm(60);
			_exit(twheel_arm_with(w, 3, &arming) || twheel_flush(w));
		}
		status = -1;
		CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(twheel_cancel(w, 1) == 0 && twheel_cancel(w, 3) == 0);
}

/* Events that threads have taken before they were cancelled. */
static unsigned int taken;

static void *take_until_cancelled(void *arg)
{
	struct twheel_event event;

	for (;;) {
		int ret = twheel_wait(arg, &event, 1, MS / 10);

		CHECK(ret >= 0);
		taken += ret > 0;
	}
	return NULL;
}

/*
 * Where a thread is cancelled it leaves nothing behind that others would wait for, and
 * takes no event along.
 */
static void cancelled(struct twheel *w)
{
	const unsigned int each = 32;
	struct twheel_event event;
	pthread_t thread;

	for (unsigned int i = 0; i < 200; i++) {
		uint64_t start = twheel_now(w);

		taken = 0;
		for (uint32_t id = 0; id < each; id++)
			CHECK(twheel_arm(w, id, start + id * MS / 50) == 0);
		CHECK(twheel_flush(w) == 0);
		if (!CHECK(pthread_create(&thread, NULL, take_until_cancelled, w) == 0))
			return;
		nanosleep(&(struct timespec){ .tv_nsec = MS / 10 * (i % 10) }, NULL);
		CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
		while (taken < each && CHECK(twheel_wait(w, &event, 1, 5000 * MS) == 1))
			taken++;
		CHECK(twheel_next(w, &event) == 0);
		CHECK(twheel_take(w, &event, 1) == 0);
	}
}

/* The next handle finds the state that this one leaves behind. */
static struct twheel *hand_over(struct twheel *w, uint32_t flags)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_FD | flags,
		.fd = dup(twheel_fd(w)),
	};
	struct twheel_arming arming = { .cookie = 6 };
	uint64_t start = twheel_now(w);
	struct twheel_event event = { 0 };
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
	/* In any order, if all have come due meanwhile. */
	for (unsigned int seen = 0; seen != 0xe; seen |= 1U << event.id) {
		if (!CHECK(twheel_wait(heir, &event, 1, (int64_t)(10000 * MS)) == 1) ||
		    !CHECK(event.id >= 1 && event.id <= 3))
			break;
		CHECK(event.cookie == (event.id == 3 ? 0 : 6));
		if (event.id == 2)
			CHECK((event.deadline - start) % (50 * MS) == 0);
		else
			CHECK(event.deadline == start + (event.id == 1 ? 1 : 70) * MS);
		CHECK(event.id == 2 || !(seen & 1U << event.id));
	}
	CHECK(twheel_wait(heir, &event, 1, (int64_t)(10000 * MS)) == 1 && event.id == 2);
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

static void test(const char *name, uint32_t flags)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = flags,
		.capacity = CAPACITY,
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
	stale(w);
	forks(w);
	cancelled(w);
	/* A wheel in this process is nobody else's. */
	if (!(flags & TWHEEL_OPEN_FALLBACK))
		w = hand_over(w, flags);
	if (w && !(flags & TWHEEL_OPEN_FALLBACK)) {
		CHECK(twheel_has(w) == has);
		drain(w);
	}
	twheel_close(w);
	tap_result("%s: by %s", name, has & TWHEEL_HAS_WORDS ? "words" : "calls");
}

/* In another time namespace: is the wheel's time that of the one it was opened in? */
static int other_time(int fd)
{
	struct twheel_options options = {
		.size = sizeof(options), .flags = TWHEEL_OPEN_FD, .fd = fd,
	};
	struct timespec here;
	struct twheel_event event;
	uint64_t start;
	struct twheel *w;

	if (twheel_open(&w, &options))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &here);
	start = twheel_now(w);
	/* The second may have changed meanwhile, and once more. */
	if (start / 1000 / MS + AHEAD - (uint64_t)here.tv_sec > 2)
		return 1;
	/* Not an hour early or late. */
	if (twheel_arm(w, 1, start + 300 * MS) || twheel_flush(w) ||
	    twheel_wait(w, &event, 1, (int64_t)(60000 * MS)) != 1 ||
	    event.deadline != start + 300 * MS || twheel_now(w) < event.deadline)
		return 1;
	twheel_close(w);
	return 0;
}

/* A child whose children are in another time namespace; 2: there can be none. */
static int enter_other_time(int fd)
{
	static const char offset[] = "monotonic 3600 0\n";
	int offsets, status = -1;
	ssize_t len;
	pid_t child;

	if (unshare(CLONE_NEWTIME))
		return 2;
	offsets = open("/proc/self/timens_offsets", O_WRONLY);
	if (offsets < 0)
		return 2;
	len = write(offsets, offset, sizeof(offset) - 1);
	close(offsets);
	if (len != (ssize_t)sizeof(offset) - 1)
		return 2;
	child = fork();
	if (!child)
		_exit(other_time(fd));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	return status ? 1 : 0;
}

/* A wheel is handed to a process to which another time was set. */
static void time_namespaces(const char *name, uint32_t flags)
{
	struct twheel_options options = { .size = sizeof(options), .flags = flags };
	struct twheel *w = NULL;
	int status = -1;
	pid_t child;

	if (CHECK(twheel_open(&w, &options) == 0)) {
		child = fork();
		if (!child)
			_exit(enter_other_time(twheel_fd(w)));
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1);
	}
	twheel_close(w);
	tap_result("%s: a wheel in another time namespace%s", name,
		   WIFEXITED(status) && WEXITSTATUS(status) == 2 ?
		   " # SKIP there are none here" : "");
}

/* A daemon that has no privilege any more goes on with a wheel that needs one to be made. */
static void without_privilege(void)
{
	struct twheel_options options = { .size = sizeof(options), .tick = 1000 };
	struct twheel *w = NULL;
	int ret, status = -1;
	pid_t child;

	if (getuid()) {
		tap_result("a wheel with a small tick # SKIP needs root");
		return;
	}
	if (CHECK(twheel_open(&w, &options) == 0)) {
		child = fork();
		if (!child) {
			options.flags = TWHEEL_OPEN_FD;
			options.fd = twheel_fd(w);
			ret = setuid(1001) ? -errno : twheel_open(&w, &options);
			options.tick = 2000;
			_exit(ret || twheel_open(&w, &options) != -EBUSY);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
	}
	twheel_close(w);
	tap_result("a wheel with a small tick, opened again without privilege");
}

/* A file that knows an ioctl or two, but is no wheel. */
static void no_wheel(void)
{
	struct twheel_options options = { .size = sizeof(options), .flags = TWHEEL_OPEN_FD };
	struct twheel *w;

	options.fd = epoll_create1(EPOLL_CLOEXEC);
	CHECK(options.fd >= 0 && twheel_open(&w, &options) == -ENOTTY);
	close(options.fd);
	CHECK(twheel_open(&w, &options) == -EBADF);
	tap_result("a file that is no wheel");
}

/* By each clock that a wheel can have, and a timerfd that nobody but the library sets. */
static void clocks(uint32_t flags)
{
	static const clockid_t clock[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(clock); i++) {
		struct twheel_options options = {
			.size = sizeof(options),
			.flags = TWHEEL_OPEN_CLOCK | flags,
			.clock = (uint32_t)clock[i],
		};
		uint64_t start;
		struct twheel *w;

		if (!CHECK(twheel_open(&w, &options) == 0))
			break;
		start = twheel_now(w);
		CHECK(twheel_arm(w, 1, start + 30 * MS) == 0);
		CHECK(twheel_arm(w, 2, start + 10 * MS) == 0);
		expect(w, 2, start + 10 * MS, 0);
		expect(w, 1, start + 30 * MS, 0);
		expect_none(w, 10 * MS);
		twheel_close(w);
	}
	tap_result("three clocks%s", flags & TWHEEL_OPEN_FALLBACK ? ", in the process" : "");
}

int main(void)
{
	test("fallback", TWHEEL_OPEN_FALLBACK);
	test("fallback, batch", TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_BATCH);
	test("fallback, calls", TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_NO_WORDS);
	clocks(TWHEEL_OPEN_FALLBACK);
	if (access("/dev/twheel", R_OK | W_OK)) {
		tap_result("a real wheel # SKIP /dev/twheel: %s", strerror(errno));
		return tap_end();
	}
	clocks(0);
	test("words", 0);
	test("words, batch", TWHEEL_OPEN_BATCH);
	test("calls", TWHEEL_OPEN_NO_WORDS);
	time_namespaces("words", 0);
	time_namespaces("calls", TWHEEL_OPEN_NO_WORDS);
	without_privilege();
	no_wheel();
	return tap_end();
}
