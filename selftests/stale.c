// SPDX-License-Identifier: GPL-2.0
/*
 * Stale events, of timers that a store cancelled after they had come due: they hide no event that
 * counts, each call drops a bounded number of them, and softirq none.
 *
 * Bed: plain, storm
 */
#include <sys/uio.h>

#define WORDS_OPTIONAL
#include "words_test.h"

/*
 * Events that were found, and then cancelled by stores.  A poll, and a read that must not wait,
 * drop them for a bounded number of steps; any other read goes on until it is sure.
 */
#define STEPS		16
#define STEP		64
#define STALE		4096

FIXTURE(stale) {
	struct shared s;
	int fd, epfd;
	struct twheel_event ev;
};

FIXTURE_SETUP(stale)
{
	struct epoll_event events = { .events = EPOLLIN | EPOLLET };

	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->s.fd = self->fd;
	self->epfd = epoll_create1(0);
	ASSERT_LE(0, self->epfd);
	ASSERT_EQ(0, epoll_ctl(self->epfd, EPOLL_CTL_ADD, self->fd, &events));
	ASSERT_EQ(0, leave_stale(&self->s, STALE));
}

FIXTURE_TEARDOWN(stale)
{
	close(self->epfd);
	shared_close(&self->s);
}

static __u64 expired(int fd)
{
	struct twheel_stats s;

	return wheel_stats(fd, &s) ? ~0ULL : s.expired;
}

/* A poll that is not sure says that the wheel is readable; a read is sure. */
TEST_F(stale, polls_drop_stale_events_in_bounded_steps)
{
	for (int left = STALE - STEPS * STEP; left > 0; left -= STEPS * STEP) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 0));
		ASSERT_EQ(left, expired(self->fd));
	}
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &self->ev, 1));
	EXPECT_EQ(0, expired(self->fd));
	EXPECT_EQ(0, wheel_poll(self->fd, 0));
}

TEST_F(stale, a_read_passes_all_stale_events)
{
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &self->ev, 1));
	EXPECT_EQ(0, expired(self->fd));
	EXPECT_EQ(0, wheel_poll(self->fd, 100));
}

TEST_F(stale, a_read_that_may_not_wait_passes_a_bounded_number)
{
	struct iovec iov = { &self->ev, sizeof(self->ev) };
	sigset_t storm;
	__u64 left;

	/* An interrupted call would start again, with all its steps. */
	sigemptyset(&storm);
	sigaddset(&storm, STORM_SIGNAL);
	ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &storm, NULL));
	ASSERT_EQ(0, arm_at(self->fd, STALE, 1, 9));
	for (left = STALE + 1; left > STEPS * STEP; left = expired(self->fd)) {
		ASSERT_EQ(-1, preadv2(self->fd, &iov, 1, -1, RWF_NOWAIT));
		ASSERT_EQ(EAGAIN, errno);
		ASSERT_GE(STEPS * STEP, left - expired(self->fd));
		/* Each gets on, so this comes to an end. */
		ASSERT_LT(expired(self->fd), left);
	}
	EXPECT_EQ(sizeof(self->ev), preadv2(self->fd, &iov, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(9, self->ev.cookie);
}

/* Such a read may leave events behind those that it has dropped: an edge tells of them. */
TEST_F(stale, an_edge_tells_of_events_behind_those_that_a_read_dropped)
{
	enum { WANTED = 1000 };
	static struct twheel_event ev[64];
	struct iovec iov = { ev, sizeof(ev) };
	int got = 0;
	ssize_t ret;

	for (int i = 0; i < WANTED; i++)
		ASSERT_EQ(0, arm_at(self->fd, STALE + i, 1, 0));
	while (got < WANTED) {
		ASSERT_EQ(EPOLLIN, epoll_get(self->epfd, NEVER_MS))
			TH_LOG("%d of %d events came", got, WANTED);
		while ((ret = preadv2(self->fd, &iov, 1, -1, RWF_NOWAIT)) > 0)
			got += ret / sizeof(*ev);
		ASSERT_EQ(-1, ret);
		ASSERT_EQ(EAGAIN, errno);
	}
	EXPECT_EQ(WANTED, got);
}

TEST_F(stale, stale_events_do_not_hide_one_that_counts)
{
	ASSERT_EQ(0, arm_at(self->fd, STALE, 1, 9));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, NEVER_MS));
	ASSERT_EQ(1, wheel_read(self->fd, &self->ev, 1));
	EXPECT_EQ(9, self->ev.cookie);
}

TEST_F(stale, stale_events_do_not_hide_one_that_comes_later)
{
	EXPECT_EQ(EPOLLIN, epoll_get(self->epfd, NEVER_MS));
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, &self->ev, 1));
	EXPECT_EQ(0, epoll_get(self->epfd, 0));
	ASSERT_EQ(0, arm_in(self->fd, STALE, 20 * MSEC, 9));
	EXPECT_EQ(EPOLLIN, epoll_get(self->epfd, NEVER_MS));
	ASSERT_EQ(1, wheel_read(self->fd, &self->ev, 1));
	EXPECT_EQ(9, self->ev.cookie);
}

TEST_F(stale, stale_events_cost_softirq_nothing)
{
	struct twheel_stats before, after;

	ASSERT_EQ(0, arm_in(self->fd, STALE, 20 * MSEC, 9));
	ASSERT_EQ(0, wheel_stats(self->fd, &before));
	sleep_until(now_ns() + 200 * MSEC);
	ASSERT_EQ(0, wheel_stats(self->fd, &after));
	EXPECT_EQ(before.interrupts, after.interrupts);
	EXPECT_EQ(STALE, after.expired);
}

FIXTURE(stale_ahead) {
	struct shared s;
};

FIXTURE_VARIANT(stale_ahead) {
	__u32 nr;
};

FIXTURE_VARIANT_ADD(stale_ahead, a_step) { .nr = STEP };
FIXTURE_VARIANT_ADD(stale_ahead, more_than_a_step) { .nr = STEP + 1 };
FIXTURE_VARIANT_ADD(stale_ahead, more_than_a_poll_drops) { .nr = 3000 };

FIXTURE_SETUP(stale_ahead)
{
	self->s.fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->s.fd);
	ASSERT_EQ(0, leave_stale(&self->s, variant->nr));
	ASSERT_EQ(0, arm_at(self->s.fd, STALE, 1, 0));
}

FIXTURE_TEARDOWN(stale_ahead)
{
	shared_close(&self->s);
}

TEST_F(stale_ahead, a_nonblocking_read_of_one_finds_the_event_that_counts)
{
	struct twheel_event ev = {};

	ASSERT_EQ(1, wheel_read(self->s.fd, &ev, 1));
	EXPECT_EQ(STALE, ev.id);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, &ev, 1));
}

TEST_F(stale_ahead, a_nonblocking_read_of_many_finds_the_event_that_counts)
{
	struct twheel_event ev[100] = {};

	ASSERT_EQ(1, wheel_read(self->s.fd, ev, ARRAY_SIZE(ev)));
	EXPECT_EQ(STALE, ev[0].id);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, ev, ARRAY_SIZE(ev)));
}

TEST_HARNESS_MAIN
