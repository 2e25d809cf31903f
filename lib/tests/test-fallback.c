// SPDX-License-Identifier: LGPL-2.1-or-later
/* A wheel in the process: when there is one, when its timerfd is readable, and who shares it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "modes.h"
#include "sys.h"

static const struct mode *const mode = &modes[4];

static int try_open(uint32_t flags, const char *path, unsigned int *has)
{
	struct twheel_options o = { .size = sizeof(o), .flags = flags, .path = path };
	struct twheel *w;
	int ret = twheel_open(&w, &o);

	if (!ret) {
		*has = twheel_has(w);
		twheel_close(w);
	}
	return ret;
}

static void opening(void)
{
	struct twheel_options o = { .size = sizeof(o), .flags = TWHEEL_OPEN_FALLBACK };
	unsigned int has = 0;
	struct twheel *w;

	kernel_boot(WORDS);
	CHECK(try_open(0, NULL, &has) == 0 && !(has & TWHEEL_HAS_FALLBACK));
	CHECK(try_open(TWHEEL_OPEN_DEVICE, NULL, &has) == 0 && !(has & TWHEEL_HAS_FALLBACK));
	CHECK(try_open(TWHEEL_OPEN_FALLBACK, NULL, &has) == 0 && has == mode->has);
	kernel.open_error = -ENODEV;
	CHECK(try_open(0, NULL, &has) == 0 && has == mode->has);
	CHECK(try_open(TWHEEL_OPEN_NO_WORDS, NULL, &has) == 0 && has == TWHEEL_HAS_FALLBACK);
	CHECK(try_open(TWHEEL_OPEN_DEVICE, NULL, &has) == -ENODEV);
	CHECK(try_open(0, "/dev/twheel", &has) == -ENODEV);
	/* It is there, and somebody has decided about it. */
	kernel.open_error = -EACCES;
	CHECK(try_open(0, NULL, &has) == -EACCES);
	CHECK(try_open(TWHEEL_OPEN_FALLBACK, NULL, &has) == 0);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("a wheel in the process where there is no device");

	CHECK(try_open(TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_DEVICE, NULL, &has) == -EINVAL);
	CHECK(try_open(TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_FD, NULL, &has) == -EINVAL);
	CHECK(try_open(TWHEEL_OPEN_FALLBACK, "/dev/twheel", &has) == -EINVAL);
	o.capacity = TWHEEL_MAX_CAPACITY + 1;
	CHECK(twheel_open(&w, &o) == -ERANGE);
	o.capacity = 0;
	o.tick = 1000000001;
	CHECK(twheel_open(&w, &o) == -ERANGE);
	o.tick = 0;
	o.flags |= TWHEEL_OPEN_CLOCK;
	o.clock = CLOCK_PROCESS_CPUTIME_ID;
	CHECK(twheel_open(&w, &o) == -EOPNOTSUPP);
	o.clock = CLOCK_TAI;
	CHECK(twheel_open(&w, &o) == -EOPNOTSUPP);
	for (unsigned int i = 0; i < 3; i++) {
		static const clockid_t clocks[] = {
			CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
		};

		o.clock = (uint32_t)clocks[i];
		CHECK(twheel_open(&w, &o) == 0);
		twheel_close(w);
	}
	kernel.map_error = -ENOMEM;
	CHECK(twheel_open(&w, &o) == -ENOMEM);
	kernel.map_error = 0;
	kernel.timer_error = -EMFILE;
	CHECK(twheel_open(&w, &o) == -EMFILE);
	kernel.timer_error = 0;
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("what such a wheel refuses, and what it lacks");
}

static bool readable(struct twheel *w)
{
	return twheel_sys_poll(twheel_fd(w), 0) == 1;
}

/* The timerfd tells when there is something to take, and costs a call only where it must. */
static void timerfd(void)
{
	struct twheel *w = boot(mode);
	uint64_t start = twheel_now(w);
	struct twheel_event events[8];
	unsigned long calls;

	CHECK(!readable(w));
	calls = kernel.calls;
	CHECK(twheel_arm(w, 1, start + 10 * MS) == 0);
	CHECK(kernel.calls == calls + 1);
	/* Later ones, a push back and a cancel cost nothing. */
	for (uint32_t id = 2; id < 8; id++)
		CHECK(twheel_arm(w, id, start + (10 + id) * MS) == 0);
	CHECK(twheel_extend(w, 1, start + 20 * MS) == 0);
	CHECK(twheel_cancel(w, 2) == 0);
	CHECK(kernel.calls == calls + 1);
	/* Its timer is gone: one take finds nothing due and sets it for the next. */
	kernel_advance(10 * MS);
	CHECK(readable(w) && twheel_take(w, events, 8) == 0 && !readable(w));
	CHECK(kernel.calls == calls + 2);
	kernel_advance(3 * MS - 1);
	while (readable(w))
		CHECK(twheel_take(w, events, 8) == 0);
	kernel_advance(1);
	CHECK(readable(w) && twheel_take(w, events, 8) == 1 && events[0].id == 3 && !readable(w));
	/* As long as there is something left. */
	kernel_advance(100 * MS);
	for (unsigned int left = 5; left; left--)
		CHECK(readable(w) && twheel_take(w, events, 1) == 1);
	CHECK(!readable(w) && twheel_take(w, events, 1) == 0);
	/* Sooner than it is set for. */
	start = twheel_now(w);
	CHECK(twheel_arm(w, 1, start + 10 * MS) == 0 && twheel_arm(w, 2, start + MS) == 0);
	expect(w, 2, start + MS);
	expect(w, 1, start + 10 * MS);
	CHECK(twheel_arm(w, 1, start) == 0 && readable(w));
	expect(w, 1, start);
	twheel_close(w);
	tap_result("a wheel's timerfd is readable when it is to be");

	/* The clock may be set back at any time: before or after the timerfd has come. */
	w = boot_realtime(mode);
	start = twheel_now(w);
	CHECK(twheel_arm(w, 1, start + 10 * MS) == 0);
	kernel_advance(10 * MS);
	CHECK(readable(w));
	kernel_set_back(8 * MS);
	/* That of the kernel stays readable, as it has come. */
	twheel_sys_timer_set(twheel_fd(w), 0);
	CHECK(twheel_take(w, events, 8) == 0 && !readable(w));
	expect(w, 1, start + 10 * MS);
	twheel_close(w);
	tap_result("also when the clock was set back");
}

/* More events than one take hands out. */
static void many(void)
{
	struct twheel_options o = {
		.size = sizeof(o), .flags = TWHEEL_OPEN_FALLBACK, .capacity = 100000,
	};
	struct twheel_event *events = calloc(o.capacity, sizeof(*events));
	unsigned char *seen = calloc(o.capacity, 1);
	uint32_t sum = 0;
	struct twheel *w = NULL;
	uint64_t start;
	int nr;

	kernel_boot(0);
	if (!CHECK(events && seen && twheel_open(&w, &o) == 0))
		exit(1);
	start = twheel_now(w);
	for (uint32_t id = 0; id < o.capacity; id++)
		CHECK(twheel_arm(w, id, start + id * (uint64_t)7919 % (100 * MS)) == 0);
	for (uint32_t id = 0; id < o.capacity; id += 10)
		CHECK(twheel_cancel(w, id) == 0);
	kernel_advance(100 * MS);
	while (sum < o.capacity && (nr = twheel_take(w, events, o.capacity)) > 0)
		for (int i = 0; i < nr; i++, sum++)
			CHECK(events[i].id % 10 && !seen[events[i].id]++);
	CHECK(sum == o.capacity / 10 * 9);
	CHECK(!readable(w));

	/* Due at once, and cancelled: the one that is not is found behind them. */
	for (uint32_t id = 0; id < o.capacity; id++)
		CHECK(twheel_arm(w, id, 1) == 0);
	for (uint32_t id = 0; id < o.capacity - 1; id++)
		CHECK(twheel_cancel(w, id) == 0);
	CHECK(twheel_next(w, events) == 1 && events[0].id == o.capacity - 1);
	CHECK(twheel_next(w, events) == 0 && !readable(w));
	twheel_close(w);
	free(events);
	free(seen);
	tap_result("a hundred thousand at once");
}

/*
 * Go from one time that the timerfd is set for to the next, and take what is there.  Adds to
 * @in_vain how many takes there were for nothing.
 */
static uint32_t run_until(struct twheel *w, uint64_t end, uint64_t *latest, uint32_t *in_vain)
{
	struct twheel_event events[64];
	uint32_t sum = 0;
	int nr;

	while (twheel_sys_poll(twheel_fd(w), (int64_t)(end - kernel_now())) == 1) {
		nr = twheel_take(w, events, ARRAY_SIZE(events));
		*in_vain += !nr;
		for (int i = 0; i < nr; i++, sum++)
			if (kernel_now() - events[i].deadline > *latest)
				*latest = kernel_now() - events[i].deadline;
		if (!CHECK(nr >= 0))
			break;
	}
	return sum;
}

/*
 * A slot with more timers than one step brings down is down in time, by many takes, of which each
 * is short.
 */
static void heavy(void)
{
	struct twheel_options o = { .size = sizeof(o), .flags = TWHEEL_OPEN_FALLBACK };
	struct twheel *w = NULL;
	uint64_t start, latest;
	uint32_t in_vain;

	for (uint32_t nr = 100; nr <= 20000; nr = nr * 14) {
		kernel_boot(0);
		if (!CHECK(twheel_open(&w, &o) == 0))
			exit(1);
		latest = 0;
		in_vain = 0;
		start = twheel_now(w);
		/* The soonest are armed first, and come down last. */
		for (uint32_t id = 0; id < nr; id++)
			CHECK(twheel_arm(w, id, start + 9000 * MS + id * (6000 * MS / nr)) == 0);
		CHECK(run_until(w, start + 20000 * MS, &latest, &in_vain) == nr);
		CHECK(latest <= MS);
		/* No take brings more than 1,024 timers down. */
		CHECK(in_vain >= nr / 1024);

		/* Those that are left when the others have moved away. */
		latest = 0;
		start = twheel_now(w);
		for (uint32_t id = 0; id < 100; id++)
			CHECK(twheel_arm(w, id, start + 30000 * MS) == 0);
		for (uint32_t id = 36; id < 100; id++)
			CHECK(twheel_extend(w, id, start + 3600000 * MS) == 0);
		CHECK(run_until(w, start + 40000 * MS, &latest, &in_vain) == 36);
		CHECK(latest <= MS);
		twheel_close(w);
	}
	tap_result("a full slot comes down in time");
}

/*
 * A timer that its handler arms again for now, whenever its event is taken, keeps no other one from
 * coming: one that is due once, and one with a period.
 */
static void armed_for_now(void)
{
	struct twheel *w = boot(mode);
	uint64_t start = twheel_now(w);
	struct twheel_arming arming = { .deadline = start + 5 * MS, .interval = 5 * MS };
	unsigned int once = 0, periods = 0;
	struct twheel_event event;

	CHECK(twheel_arm(w, 1, start) == 0);
	CHECK(twheel_arm(w, 2, start + 10 * MS) == 0);
	CHECK(twheel_arm_with(w, 3, &arming) == 0);
	while (twheel_now(w) < start + 101 * MS) {
		if (!CHECK(twheel_next(w, &event) == 1))
			break;
		CHECK(twheel_now(w) - event.deadline <= MS);
		once += event.id == 2;
		periods += event.id == 3;
		if (event.id == 1)
			CHECK(twheel_arm(w, 1, twheel_now(w)) == 0);
		kernel_advance(MS / 10);
	}
	CHECK(once == 1 && periods == 20);
	twheel_close(w);
	tap_result("a timer that is armed for now again and again hides no others");
}

/*
 * Timers that are armed together share no more than their batch: each comes at the first tick at or
 * past its deadline, be it at the end of a tick, the start of one, or long past.
 */
static void ticks(void)
{
	static const int64_t after[] = {
		-3, 10 * MS - 1, 10 * MS, 10 * MS + 1, 10 * MS + 2, 11 * MS, 11 * MS + 1, 10 * MS,
		9 * MS, 70000 * MS, 70000 * MS + 1, 69999 * MS, 0, 3 * MS, 3 * MS - 1, 3 * MS + 1,
	};
	struct twheel_options o = {
		.size = sizeof(o), .capacity = CAPACITY, .tick = MS,
		.flags = TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_BATCH | TWHEEL_OPEN_ONE_THREAD,
	};
	static const struct twheel_arming slack = { .deadline = 1, .slack = 50 * MS };
	struct twheel_event event;
	unsigned int left = 0;
	struct twheel *w;
	uint64_t start, round;

	kernel_boot(0);
	if (!CHECK(twheel_open(&w, &o) == 0))
		exit(1);
	start = twheel_now(w);
	CHECK(start % MS == 0);
	for (uint32_t id = 0; id < ARRAY_SIZE(after); id++) {
		CHECK(twheel_arm(w, id, start + (uint64_t)after[id]) == 0);
		/* This one is cancelled before anybody has looked at it. */
		CHECK(twheel_arm(w, 100 + id, start + (uint64_t)after[id]) == 0);
		CHECK(twheel_cancel(w, 100 + id) == 0);
		left++;
	}
	while (left && CHECK(twheel_wait(w, &event, 1, -1) == 1)) {
		uint64_t due = (event.deadline + MS - 1) / MS * MS;

		CHECK(event.id < ARRAY_SIZE(after));
		CHECK(event.deadline == start + (uint64_t)after[event.id]);
		CHECK(twheel_now(w) == (due < start ? start : due));
		left--;
	}
	expect_none(w, 100000 * MS);

	/* One keeps the slack that it was armed with before, so it waits for the roundest tick. */
	start = twheel_now(w);
	round = (start / MS + 50) / 64 * 64 * MS;
	CHECK(round > start + 3 * MS);
	CHECK(twheel_arm_with(w, 1, &slack) == 0 && twheel_next(w, &event) == 1);
	CHECK(twheel_arm(w, 2, start + 3 * MS) == 0 && twheel_arm(w, 1, start + 3 * MS) == 0);
	CHECK(twheel_flush(w) == 0);
	expect(w, 2, start + 3 * MS);
	CHECK(twheel_now(w) == start + 3 * MS);
	expect(w, 1, start + 3 * MS);
	CHECK(twheel_now(w) == round);
	twheel_close(w);

	/* The clock has just begun to run. */
	o.flags |= TWHEEL_OPEN_CLOCK;
	o.clock = CLOCK_REALTIME;
	o.tick = 1000 * MS;
	kernel_boot(0);
	kernel_set_back(kernel_now() - 1);
	if (!CHECK(twheel_open(&w, &o) == 0))
		exit(1);
	CHECK(twheel_arm(w, 1, 2) == 0);
	expect_none(w, 1000 * MS - 2);
	kernel_advance(1);
	CHECK(twheel_next(w, &event) == 1 && event.id == 1);
	twheel_close(w);
	tap_result("timers of a batch come each in its own tick");
}

/* Of a wheel that one thread has to itself a child has a copy, which it may close. */
static void copied(void)
{
	struct twheel *w = boot(&modes[9]);
	uint64_t start = twheel_now(w);
	uint32_t nr;
	int status = -1;
	pid_t child;

	CHECK(twheel_arm(w, 1, start + MS) == 0);
	child = fork();
	if (!child) {
		twheel_words(w, &nr)[1].deadline = 0;
		twheel_close(w);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	expect(w, 1, start + MS);
	twheel_close(w);
	tap_result("a child has a copy of a wheel that one thread has to itself");
}

static void kill_me(void)
{
	kill(getpid(), SIGKILL);
}

/* A child and its parent have one wheel. */
static void shared(void)
{
	struct twheel *w = boot(&modes[6]);
	uint64_t start = twheel_now(w);
	int status = -1;
	pid_t child;

	CHECK(twheel_arm(w, 1, start + MS) == 0);
	child = fork();
	if (!child) {
		struct twheel_event event;

		alarm(10);
		/* Memory that comes after the fork is there for both. */
		if (twheel_arm(w, 200, start + 5 * MS))
			_exit(1);
		kernel_advance(MS);
		if (twheel_take(w, &event, 1) != 1 || event.id != 1)
			_exit(2);
		twheel_close(w);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	kernel_advance(MS);
	expect(w, 200, start + 5 * MS);
	expect_none(w, 100 * MS);

	/* Who dies in the middle of a call takes the wheel along, and hangs nobody up. */
	child = fork();
	if (!child) {
		kernel.in_timer_set = kill_me;
		twheel_arm(w, 1, twheel_now(w) + MS);
		_exit(1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	CHECK(twheel_arm(w, 2, twheel_now(w) + MS) == -ENOTRECOVERABLE);
	CHECK(twheel_take(w, &(struct twheel_event){ 0 }, 1) == -ENOTRECOVERABLE);
	CHECK(twheel_wait(w, &(struct twheel_event){ 0 }, 1, -1) == -ENOTRECOVERABLE);
	twheel_close(w);
	tap_result("a wheel in the process is that of its children, too");
}

void test_fallback(void)
{
	opening();
	timerfd();
	many();
	heavy();
	armed_for_now();
	ticks();
	shared();
	copied();
}
