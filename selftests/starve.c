// SPDX-License-Identifier: GPL-2.0
/*
 * Timers that their handlers arm for now, again and again, starve no other timer, however events
 * are taken.  The bound counts the events that come while another timer is due, so it holds on a
 * machine of any speed.
 *
 * Bed: plain, storm
 */
#include <sys/uio.h>

#define WORDS_OPTIONAL
#include "uring.h"
#include "words_test.h"

#define BATCH		64
#define PERIOD		(5 * MSEC)
/* Timers armed for now again: with this many, softirq leaves the wheel to its reader. */
#define MANY		1200
/* Timers due together. */
#define OTHERS		300
#define EVENTS_MAX	4096

struct taker {
	/* Take at most @nr events into ev[].  Return how many came, or a negative errno. */
	int (*take)(struct taker *t);
	__u32 nr;
	struct shared s;
	int epfd;
	struct uring ring;
	struct twheel_event *ev;
	__u64 due;	/* deadline of the next other timer */
	__u32 ahead;	/* events that came while it was due */
};

FIXTURE(starve) {
	struct taker t;
};

FIXTURE_VARIANT(starve) {
	int (*take)(struct taker *t);
	__u32 nr;
	int flags;
	bool words;
};

static int take_read(struct taker *t)
{
	int ret = wheel_read(t->s.fd, t->ev, t->nr);

	return ret == -EAGAIN ? 0 : ret;
}

static int take_poll(struct taker *t)
{
	return wheel_poll(t->s.fd, NEVER_MS) & POLLIN ? take_read(t) : -ETIME;
}

static int take_epoll(struct taker *t)
{
	return epoll_get(t->epfd, NEVER_MS) == EPOLLIN ? take_read(t) : -ETIME;
}

/* Read until EAGAIN before any handler runs. */
static int take_edge(struct taker *t)
{
	int n = 0, ret;

	if (epoll_get(t->epfd, NEVER_MS) != EPOLLIN)
		return -ETIME;
	do {
		if (n + t->nr > EVENTS_MAX)
			return -E2BIG;
		ret = wheel_read(t->s.fd, t->ev + n, t->nr);
		n += ret > 0 ? ret : 0;
	} while (ret > 0);
	return ret == -EAGAIN ? n : ret;
}

static int take_uring(struct taker *t)
{
	struct io_uring_sqe read = {
		.opcode = IORING_OP_READ,
		.fd = t->s.fd,
		.off = ~0ULL,
		.addr = (uintptr_t)t->ev,
		.len = t->nr * sizeof(*t->ev),
	};
	struct io_uring_cqe cqe;
	int ret = uring_submit(&t->ring, &read);

	if (ret)
		return ret;
	if (!uring_wait(&t->ring, &cqe))
		return -ETIME;
	return cqe.res < 0 ? cqe.res : (int)(cqe.res / sizeof(*t->ev));
}

FIXTURE_VARIANT_ADD(starve, blocking_read) {
	.take = take_read, .nr = BATCH,
};

FIXTURE_VARIANT_ADD(starve, blocking_read_of_one) {
	.take = take_read, .nr = 1,
};

FIXTURE_VARIANT_ADD(starve, nonblocking_read) {
	.take = take_read, .nr = BATCH, .flags = O_NONBLOCK,
};

FIXTURE_VARIANT_ADD(starve, nonblocking_read_of_one) {
	.take = take_read, .nr = 1, .flags = O_NONBLOCK,
};

FIXTURE_VARIANT_ADD(starve, poll) {
	.take = take_poll, .nr = BATCH, .flags = O_NONBLOCK,
};

FIXTURE_VARIANT_ADD(starve, poll_read_of_one) {
	.take = take_poll, .nr = 1, .flags = O_NONBLOCK,
};

FIXTURE_VARIANT_ADD(starve, epoll_level) {
	.take = take_epoll, .nr = BATCH, .flags = O_NONBLOCK,
};

FIXTURE_VARIANT_ADD(starve, epoll_level_read_of_one) {
	.take = take_epoll, .nr = 1, .flags = O_NONBLOCK,
};

FIXTURE_VARIANT_ADD(starve, epoll_edge) {
	.take = take_edge, .nr = BATCH, .flags = O_NONBLOCK,
};

FIXTURE_VARIANT_ADD(starve, io_uring) {
	.take = take_uring, .nr = BATCH,
};

FIXTURE_VARIANT_ADD(starve, io_uring_read_of_one) {
	.take = take_uring, .nr = 1,
};

#if __SIZEOF_LONG__ == 8
FIXTURE_VARIANT_ADD(starve, armed_by_words) {
	.take = take_read, .nr = BATCH, .flags = O_NONBLOCK, .words = true,
};
#endif

FIXTURE_SETUP(starve)
{
	struct epoll_event e = {
		.events = EPOLLIN | (variant->take == take_edge ? EPOLLET : 0),
	};

	self->t.take = variant->take;
	self->t.nr = variant->nr;
	self->t.ev = calloc(EVENTS_MAX, sizeof(*self->t.ev));
	ASSERT_TRUE(!!self->t.ev);
	if (variant->words) {
		ASSERT_EQ(0, shared_open(&self->t.s, MANY + OTHERS, 0));
	} else {
		self->t.s.fd = wheel_open(variant->flags);
		ASSERT_LE(0, self->t.s.fd);
	}
	self->t.epfd = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, self->t.epfd);
	ASSERT_EQ(0, epoll_ctl(self->t.epfd, EPOLL_CTL_ADD, self->t.s.fd, &e));
	ASSERT_EQ(0, uring_open(&self->t.ring));
}

FIXTURE_TEARDOWN(starve)
{
	uring_close(&self->t.ring);
	close(self->t.epfd);
	shared_close(&self->t.s);
	free(self->t.ev);
}

static int arm_now(struct taker *t, __u32 id)
{
	int ret;

	if (!t->s.word)
		return arm_at(t->s.fd, id, 1, 0);
	ret = want(&t->s, id, now_ns());
	return ret < 0 ? ret : 0;
}

static int arm_many_now(struct taker *t, __u32 nr)
{
	int ret = 0;

	for (__u32 id = 0; id < nr && !ret; id++)
		ret = arm_now(t, id);
	return ret;
}

/*
 * Take events once, and arm the timers below @again for now again.  Return how many events of
 * other timers came, which are moved to the front of ev[]; or a negative errno.
 */
static int serve_once(struct taker *t, __u32 again)
{
	__u64 now = now_ns();
	bool due = now > t->due + TWHEEL_DEFAULT_TICK;
	int nr = t->take(t), others = 0, ret = 0;

	for (int i = 0; i < nr && !ret; i++) {
		if (t->ev[i].id >= again) {
			t->ev[others++] = t->ev[i];
			continue;
		}
		ret = arm_now(t, t->ev[i].id);
		t->ahead += due;
	}
	if (!nr && now > t->due + NEVER_MS * MSEC)
		ret = -ETIME;
	return nr < 0 ? nr : ret ?: others;
}

/*
 * Events that may come between the time at which another timer is due and its own event: one of
 * each timer, and those of some batches.  The bound is twice that.
 */
static __u32 most_ahead(__u32 again)
{
	return 2 * (again + 8 * BATCH);
}

/* A timer of PERIOD comes @periods times next to @again others. */
static void keep_period(struct __test_metadata *_metadata, struct taker *t, __u32 again,
			int periods)
{
	t->due = now_ns() + PERIOD;
	ASSERT_EQ(0, arm_every(t->s.fd, again, t->due, PERIOD, 0));
	ASSERT_EQ(0, arm_many_now(t, again));
	for (int came = 0; came < periods;) {
		int n = serve_once(t, again);

		ASSERT_LE(0, n);
		ASSERT_GE(most_ahead(again), t->ahead) TH_LOG("after %d periods", came);
		if (!n)
			continue;
		t->due = t->ev[n - 1].deadline + (t->ev[n - 1].overruns + 1) * PERIOD;
		t->ahead = 0;
		came += n;
	}
}

TEST_F(starve, a_timer_armed_for_now_again_starves_no_period)
{
	keep_period(_metadata, &self->t, 1, 10);
}

TEST_F(starve, many_timers_armed_for_now_again_starve_no_period)
{
	keep_period(_metadata, &self->t, MANY, 2);
}

TEST_F(starve, many_timers_armed_for_now_again_starve_no_others)
{
	int came = 0;

	ASSERT_EQ(0, arm_many_now(&self->t, MANY));
	self->t.due = now_ns() + 300 * MSEC;
	for (__u32 id = MANY; id < MANY + OTHERS; id++)
		ASSERT_EQ(0, arm_at(self->t.s.fd, id, self->t.due, 0));
	while (came < OTHERS) {
		int n = serve_once(&self->t, MANY);

		ASSERT_LE(0, n);
		ASSERT_GE(most_ahead(MANY), self->t.ahead) TH_LOG("%d of %d came", came, OTHERS);
		came += n;
	}
}

/*
 * A timer that is due again each time it is read does not keep others from
 * coming due, nor from being read.
 * Seen in libuv #4245, #4250.
 */
TEST(a_timer_armed_for_now_in_its_event_keeps_no_other_from_coming)
{
	__u64 due = now_ns() + 30 * MSEC, limit = now_ns() + NEVER_MS * MSEC;
	int fd = wheel_open(O_NONBLOCK);
	struct twheel_event ev = {};

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, arm_at(fd, 1, 1, 0));
	ASSERT_EQ(0, arm_at(fd, 2, due, 0));
	while (ev.id != 2 && now_ns() < limit) {
		ASSERT_EQ(1, collect(fd, &ev, 1));
		if (ev.id == 1)
			ASSERT_EQ(0, arm_at(fd, 1, 1, 0));
	}
	EXPECT_EQ(2, ev.id);
	EXPECT_GE(due + LATE, now_ns());
	close(fd);
}

TEST_HARNESS_MAIN
