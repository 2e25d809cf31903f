// SPDX-License-Identifier: GPL-2.0
/*
 * A wall clock that is set back makes no event early, takes none back, and makes no hrtimer fire
 * again and again.  clocks.c has the same to the nanosecond, in simulated time.
 *
 * Bed: plain, storm
 */
#define WORDS_OPTIONAL
#include "beside.h"
#include "words_test.h"

/* A wall clock that is set back while an event waits, and forward again at the end. */
FIXTURE(set_back) {
	struct shared s;
};

FIXTURE_VARIANT(set_back) {
	bool words;
};

#if __SIZEOF_LONG__ == 8
FIXTURE_VARIANT_ADD(set_back, words) { .words = true };
#endif
FIXTURE_VARIANT_ADD(set_back, no_words) { .words = false };

FIXTURE_SETUP(set_back)
{
	if (getuid())
		SKIP(return, NEEDS_ROOT);
	memset(&self->s, 0, sizeof(self->s));
	self->s.setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = CLOCK_REALTIME,
		.capacity = 256,
	};
	self->s.fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->s.fd);
	if (variant->words) {
		ASSERT_EQ(0, shared_set_up(&self->s));
		ASSERT_EQ(0, shared_map(&self->s));
	} else {
		ASSERT_EQ(0, set_up(self->s.fd, &self->s.setup));
	}
}

FIXTURE_TEARDOWN(set_back)
{
	shared_close(&self->s);
}

/* An expired timer stays expired; armed again, it waits for its deadline. */
TEST_F(set_back, a_clock_set_back_takes_back_no_event_and_makes_none_early)
{
	__u64 deadline = clock_ns(CLOCK_REALTIME) + 20 * MSEC;
	int fd = self->s.fd, expired, read, armed, pending, early;
	struct twheel_event ev = {};

	ASSERT_EQ(0, arm_at(fd, 7, deadline, 1));
	ASSERT_TRUE(wheel_poll(fd, NEVER_MS) & POLLIN);
	ASSERT_EQ(0, set_wall(deadline - 10 * SEC));
	expired = wheel_state(fd, 7);
	read = wheel_read(fd, &ev, 1);
	armed = arm_at(fd, 7, deadline, 2);
	pending = wheel_state(fd, 7);
	early = wheel_read(fd, &ev, 1);
	ASSERT_EQ(0, set_wall(deadline + MSEC));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, expired);
	EXPECT_EQ(1, read);
	EXPECT_EQ(1, ev.cookie);
	EXPECT_LE(deadline, ev.fired);
	EXPECT_EQ(0, armed);
	EXPECT_EQ(TWHEEL_STATE_PENDING, pending);
	EXPECT_EQ(-EAGAIN, early);
	ASSERT_EQ(1, collect(fd, &ev, 1));
	EXPECT_EQ(2, ev.cookie);
	EXPECT_EQ(deadline, ev.deadline);
}

/*
 * The clock is set back while hrtimers are called that were due before it.  The kernel still goes
 * by the old time then, so an hrtimer that is set again at once is due at once, and so is the next.
 */
#define WHEELS	128

struct busy {
	int fd[WHEELS];
	bool stop;
};

/* Each wheel looks in each tick, on this processor; a move needs no event for that. */
static void *keep_busy(void *arg)
{
	struct busy *b = arg;
	int ret = pin(0);

	while (!ret && !__atomic_load_n(&b->stop, __ATOMIC_RELAXED))
		for (int i = 0; i < WHEELS && !ret; i++)
			ret = arm_at(b->fd[i], 0, clock_ns(CLOCK_REALTIME) + MSEC, 0);
	return (void *)(long)ret;
}

TEST(a_clock_set_back_in_hrtimers_makes_no_loop_of_interrupts)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = CLOCK_REALTIME,
	};
	__u64 start = now_ns(), ahead = clock_ns(CLOCK_REALTIME) - start, most;
	const int sets = 100;
	struct busy b = {};
	struct twheel_stats stats;
	pthread_t thread;
	void *failed;

	if (getuid())
		SKIP(return, NEEDS_ROOT);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	for (int i = 0; i < WHEELS; i++) {
		b.fd[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, b.fd[i]);
		ASSERT_EQ(0, set_up(b.fd[i], &setup));
	}
	ASSERT_EQ(0, pthread_create(&thread, NULL, keep_busy, &b));
	ASSERT_EQ(0, pin(1));
	for (int i = 0; i < sets; i++) {
		ASSERT_EQ(0, set_wall(now_ns() + ahead + 2 * SEC));
		sleep_until(now_ns() + 2 * MSEC);
		ASSERT_EQ(0, set_wall(now_ns() + ahead));
		sleep_until(now_ns() + 20 * MSEC);
	}
	__atomic_store_n(&b.stop, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
	/* One in a tick, and one for each time that it is set. */
	most = (now_ns() - start) / MSEC + 2 * sets;
	for (int i = 0; i < WHEELS; i++) {
		ASSERT_EQ(0, wheel_stats(b.fd[i], &stats));
		EXPECT_GE(most, stats.interrupts);
		close(b.fd[i]);
	}
}

TEST_HARNESS_MAIN
