// SPDX-License-Identifier: GPL-2.0
/*
 * A visit of softirq takes little time however many slots it passes, and a read leaves no event
 * behind that is due.
 */
#include "outside.h"

/*
 * With one level timers go round, each in a slot that the hand has to pass.  In front of the
 * one that is due there are thousands of these, and nobody else on the CPU stands still for it.
 */
TEST(slots_to_pass_take_no_longer_than_others)
{
	struct twheel_setup setup = {
		.levels = 1, .slots = 4096, .capacity = 16384, .tick = 100 * USEC,
	};
	enum { NR = 8200 };
	__u64 start, due, last, now, gap = 0;
	struct twheel_event ev;
	int fd;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	start = now_ns();
	for (int i = 0; i < NR; i++) {
		ASSERT_EQ(0, arm_in(fd, i, 3600 * SEC, 0));
		sleep_until(start + (i + 1) * setup.tick);
	}
	due = now_ns() + (NR - 12) * setup.tick;
	ASSERT_EQ(0, arm_at(fd, NR, due, 0));
	sleep_until(due - 10 * MSEC);
	for (last = now_ns(); last < due + 50 * MSEC; last = now) {
		now = now_ns();
		if (now - last > gap)
			gap = now - last;
	}
	ASSERT_EQ(1, wheel_read(fd, &ev, 1));
	TH_LOG("a pass of %llu us; found %llu us after its deadline", gap / USEC,
	       (ev.fired - due) / USEC);
	EXPECT_GE(MSEC, gap);
	close(fd);
}

/*
 * What a read has taken may turn out to be stale, and what is wanted instead may have passed as
 * well: a read that has room for it does not leave that behind.
 */
TEST(a_read_leaves_nothing_behind_that_is_due)
{
	enum { NR = 20 };
	struct twheel_event ev[2 * NR];
	struct shared s;

	ASSERT_EQ(0, shared_open(&s, 256, 0));
	for (int i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(s.fd, i, now_ns() - 10 * MSEC, 0));
	ASSERT_TRUE(wheel_poll(s.fd, NEVER_MS) & POLLIN);
	/* Later than they were; it is this thread that consumes them. */
	for (int i = 3; i < NR; i += 7)
		__atomic_store_n(&s.word[i].deadline, now_ns() - 5 * MSEC, __ATOMIC_RELAXED);
	EXPECT_EQ(NR, wheel_read(s.fd, ev, 2 * NR));
	EXPECT_EQ(-EAGAIN, wheel_read(s.fd, ev, 2 * NR));
	shared_close(&s);
}

TEST_HARNESS_MAIN
