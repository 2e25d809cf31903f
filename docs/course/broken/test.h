/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a test of /dev/twheel needs: TAP, the calls, and the words.
 *
 * A call that fails ends the program, and the test fails.  Deadlines are absolute, in ns of
 * CLOCK_MONOTONIC; a tick is 1 ms, and a turn of the lowest level 64 ticks.
 */
#ifndef TEST_H
#define TEST_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <linux/twheel.h>

#define MS	1000000ULL
#define SEC	(1000 * MS)

static int checks, failures;

/* One line of TAP. */
static inline bool check(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++checks, what);
	/* It may be killed when it waits. */
	fflush(stdout);
	failures += !ok;
	return ok;
}

/* The end of main(). */
static inline int done(void)
{
	printf("1..%d\n", checks);
	return failures ? 1 : 0;
}

static inline int must(int ret, const char *call)
{
	if (ret < 0) {
		printf("not ok %d - %s: %s\n", ++checks, call, strerror(errno));
		exit(1);
	}
	return ret;
}

static inline __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static inline void sleep_until(__u64 when)
{
	struct timespec ts = { .tv_sec = when / SEC, .tv_nsec = when % SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

/* A new wheel.  A read does not wait: take() and take_until() do. */
static inline int wheel_open(void)
{
	return must(open("/dev/twheel", O_RDWR | O_NONBLOCK), "open");
}

/* Arm a timer, or move it. */
static inline void arm(int wheel, __u32 id, __u64 deadline)
{
	struct twheel_op op = { .id = id, .deadline = deadline };

	must(ioctl(wheel, TWHEEL_IOC_ARM, &op), "TWHEEL_IOC_ARM");
}

/* A periodic timer. */
static inline void arm_every(int wheel, __u32 id, __u64 deadline, __u64 interval)
{
	struct twheel_op op = { .id = id, .deadline = deadline, .interval = interval };

	must(ioctl(wheel, TWHEEL_IOC_ARM, &op), "TWHEEL_IOC_ARM");
}

/* Returns the state that the timer had. */
static inline enum twheel_state cancel(int wheel, __u32 id)
{
	struct twheel_op op = { .id = id };

	must(ioctl(wheel, TWHEEL_IOC_CANCEL, &op), "TWHEEL_IOC_CANCEL");
	return op.state;
}

static inline struct twheel_stats stats(int wheel)
{
	struct twheel_stats s = { 0 };

	must(ioctl(wheel, TWHEEL_IOC_STATS, &s), "TWHEEL_IOC_STATS");
	return s;
}

/* Read up to @nr events, and do not wait.  Returns how many there were. */
static inline int take(int wheel, struct twheel_event *events, int nr)
{
	ssize_t bytes = read(wheel, events, nr * sizeof(*events));

	if (bytes < 0 && errno == EAGAIN)
		return 0;
	return must(bytes, "read") / sizeof(*events);
}

/* Read events until there are @nr, or until a time.  Returns how many came. */
static inline int take_until(int wheel, struct twheel_event *events, int nr, __u64 when)
{
	struct pollfd p = { .fd = wheel, .events = POLLIN };
	int n = 0;

	for (;;) {
		__u64 now = now_ns(), left = when > now ? when - now : 0;
		/* A poll may take 0.1 % longer than it is told: so go there in steps. */
		__u64 part = left - left / 512;
		struct timespec ts = { .tv_sec = part / SEC, .tv_nsec = part % SEC };

		n += take(wheel, events + n, nr - n);
		if (n == nr || !left)
			return n;
		must(ppoll(&p, 1, &ts, NULL), "ppoll");
	}
}

/*
 * Give the timers of a new wheel words, for ids below 65,536: memory that is shared counts for the
 * user, and with more there could be no second such wheel.  Returns that of timer 0; the others
 * follow.
 */
static inline struct twheel_word *words(int wheel)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_WORDS, .capacity = 65536 };
	void *memory;

	must(ioctl(wheel, TWHEEL_IOC_SETUP, &setup), "TWHEEL_IOC_SETUP");
	memory = mmap(NULL, setup.capacity * sizeof(struct twheel_word), PROT_READ | PROT_WRITE,
		      MAP_SHARED, wheel, setup.words_offset);
	must(memory == MAP_FAILED ? -1 : 0, "mmap");
	return memory;
}

/* Store a deadline into a timer's word, or 0 to cancel; no more than that. */
static inline void store(struct twheel_word *word, __u32 id, __u64 deadline)
{
	__atomic_exchange_n(&word[id].deadline, deadline, __ATOMIC_SEQ_CST);
}

/* Arm or move a timer by its word, as <linux/twheel.h> says: call if the promise does not do. */
static inline void store_and_call(int wheel, struct twheel_word *word, __u32 id, __u64 deadline)
{
	struct twheel_op op = { .id = id, .flags = TWHEEL_ARM_STORED };

	store(word, id, deadline);
	if (deadline - 1 < __atomic_load_n(&word[id].promise, __ATOMIC_SEQ_CST) - 1)
		must(ioctl(wheel, TWHEEL_IOC_ARM, &op), "TWHEEL_IOC_ARM");
}

#endif /* TEST_H */
