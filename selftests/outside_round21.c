// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the twenty-first round: a clock that is set back puts off what softirq
 * has to do, where the wheel waits by that clock already, or has paused.
 */
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "outside.h"

/*
 * One poll() names the wheel very many times, so that each wake-up takes long, though none of these
 * names wants the event.  There are POLLED_AS names, or as many as a poll looks at in POLL_TAKES.
 */
#define POLLED_AS	131072
#define POLL_TAKES	(200 * MSEC)

static void *poll_for_ever(void *fd)
{
	struct pollfd *polled = calloc(POLLED_AS, sizeof(*polled));
	__u64 nr = POLLED_AS / 16, start;

	for (int i = 0; polled && i < POLLED_AS; i++)
		polled[i] = (struct pollfd){ .fd = (long)fd, .events = POLLPRI };
	start = now_ns();
	if (polled)
		poll(polled, nr, 0);
	nr = nr * POLL_TAKES / (now_ns() - start);
	while (polled)
		poll(polled, nr < POLLED_AS ? nr : POLLED_AS, -1);
	return NULL;
}

static int watched_open(void)
{
	const struct rlimit files = { POLLED_AS, POLLED_AS };
	long fd = wheel_open(O_NONBLOCK);
	pthread_t thread;

	if (fd < 0 || setrlimit(RLIMIT_NOFILE, &files))
		return -1;
	return pthread_create(&thread, NULL, poll_for_ever, (void *)fd) ? -1 : fd;
}

static int only_cpu_0(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/*
 * The deadline of a timer has passed, but its user has to rest after long wake-ups, and softirq has
 * not visited the wheel.  Now a poll asks softirq to look behind stale events, at once.
 */
TEST(a_clock_that_is_set_back_puts_off_no_event_of_who_rests)
{
	enum { STALE = 3000, NR = 4096, EVENTS = 600 };
	struct caller poller = { .call = call_poll };
	struct twheel_stats before, after;
	struct shared s;
	__u64 now, wall;
	int watched;

	if (set_wall(clock_ns(CLOCK_REALTIME)))
		SKIP(return, "needs root to set the clock");
	ASSERT_EQ(0, only_cpu_0());
	watched = watched_open();
	ASSERT_LE(0, watched);
	/* All of these are due whatever the clock is set to here. */
	ASSERT_EQ(0, wall_wheel_open(&s, NR, STALE));
	now = now_ns();
	wall = clock_ns(CLOCK_REALTIME);
	ASSERT_EQ(0, arm_at(s.fd, STALE, wall + SEC, 0));
	ASSERT_EQ(0, arm_many(watched, EVENTS, now + 300 * MSEC, 4 * MSEC));
	ASSERT_EQ(0, wheel_stats(s.fd, &before));
	sleep_until(now + SEC + 3 * MSEC);
	for (int i = 1; i < STALE; i++)
		cancel_by_store(&s, i);
	poller.fd = s.fd;
	ASSERT_EQ(0, caller_start(&poller));
	ASSERT_TRUE(caller_asleep(&poller));
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	now = now_ns();
	set_wall(clock_ns(CLOCK_REALTIME) - HOUR);
	/* A host that stops this machine makes the rest longer. */
	EXPECT_TRUE(caller_done(&poller, 2 * NEVER_MS));
	EXPECT_EQ(POLLIN, poller.ret & POLLIN);
	set_wall(clock_ns(CLOCK_REALTIME) + HOUR);
	TH_LOG("softirq came %llu times before the clock was set, and told after %llu ms",
	       after.interrupts - before.interrupts, (now_ns() - now) / MSEC);
	close(watched);
	shared_close(&s);
}

/* With 1,024 events unread, who waits is told of the next after a second: by no clock of theirs. */
TEST(a_clock_that_is_set_back_prolongs_no_pause)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_REALTIME };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	enum { UNREAD = 1100 };
	int fd = wheel_open(O_NONBLOCK), epoll = epoll_create1(0), told;
	__u64 start, wall;

	if (set_wall(clock_ns(CLOCK_REALTIME)))
		SKIP(return, "needs root to set the clock");
	ASSERT_LE(0, fd);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, set_up(fd, &setup));
	ASSERT_EQ(0, arm_many(fd, UNREAD, 1, 0));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	/* Softirq tells of one, and then pauses. */
	ASSERT_EQ(0, arm_at(fd, UNREAD, clock_ns(CLOCK_REALTIME) + 20 * MSEC, 0));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	start = now_ns();
	wall = clock_ns(CLOCK_REALTIME);
	ASSERT_EQ(0, arm_at(fd, UNREAD + 1, wall + 20 * MSEC, 0));
	/* The clock is set back, but never to before the deadline. */
	do {
		told = epoll_get(epoll, 500);
		set_wall(clock_ns(CLOCK_REALTIME) - 450 * MSEC);
	} while (told != EPOLLIN && now_ns() - start < 5 * SEC);
	TH_LOG("told after %llu ms", (now_ns() - start) / MSEC);
	EXPECT_EQ(EPOLLIN, told);
	EXPECT_GT(3 * SEC, now_ns() - start);
	set_wall(wall + now_ns() - start);
	close(epoll);
	close(fd);
}

TEST_HARNESS_MAIN
