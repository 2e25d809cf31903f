// SPDX-License-Identifier: GPL-2.0
/*
 * What a wheel has done, and which one it is: STATS and fdinfo.
 *
 * Bed: plain, storm, short
 */
#include "used_fixture.h"
#include "wheel_fixture.h"

TEST_F(wheel, stats_count_what_was_done)
{
	struct twheel_stats s;
	struct twheel_event ev[4];

	memset(&s, 0xaa, sizeof(s));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_STATS, &s));
	EXPECT_LT(0, s.memory);
	EXPECT_EQ(0, s.pending | s.expired | s.arms | s.cancels | s.fired |
		     s.delivered | s.overruns | s.interrupts | s.next | s.max_late);

	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	ASSERT_EQ(0, arm_in(self->fd, 1, 2 * HOUR, 0));
	ASSERT_EQ(0, arm_in(self->fd, 2, 5 * MSEC, 0));
	ASSERT_EQ(0, arm_in(self->fd, 3, 5 * MSEC, 0));
	ASSERT_EQ(0, arm_in(self->fd, 4, HOUR, 0));
	ASSERT_TRUE(wait_expired(self->fd, 2));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 4));
	ASSERT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, 5));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(1, s.pending);
	EXPECT_EQ(2, s.expired);
	EXPECT_EQ(5, s.arms);
	EXPECT_EQ(1, s.cancels);
	EXPECT_EQ(2, s.fired);
	EXPECT_EQ(0, s.delivered);
	EXPECT_LE(1, s.interrupts);

	ASSERT_EQ(1, wheel_read(self->fd, ev, 1));
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, ev[0].id ^ 1));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(1, s.pending);
	EXPECT_EQ(0, s.expired);
	EXPECT_EQ(2, s.cancels);
	EXPECT_EQ(2, s.fired);
	EXPECT_EQ(1, s.delivered);
}

static __u64 sum_of(const __u64 *classes)
{
	__u64 sum = 0;

	for (int i = 0; i < TWHEEL_LATE_CLASSES; i++)
		sum += classes[i];
	return sum;
}

/* Late is when an event was found, whenever it was read; and a deadline in the past is late too. */
TEST_F(wheel, stats_tell_lateness)
{
	/* Far enough off to be asked for before, on a machine that is busy elsewhere. */
	__u64 due = now_ns() + SEC, past, late = 0;
	struct twheel_event ev[3];
	struct twheel_stats s;

	for (int i = 0; i < ARRAY_SIZE(ev); i++)
		ASSERT_EQ(0, arm_at(self->fd, i, due, 0));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_LE(due - MSEC, s.next);
	EXPECT_GE(due + MSEC, s.next);
	ASSERT_TRUE(wait_expired(self->fd, ARRAY_SIZE(ev)));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(0, s.next);
	EXPECT_EQ(0, sum_of(s.late));
	EXPECT_EQ(0, s.max_late);
	ASSERT_EQ(ARRAY_SIZE(ev), collect(self->fd, ev, ARRAY_SIZE(ev)));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(ARRAY_SIZE(ev), sum_of(s.late));
	for (int i = 0; i < ARRAY_SIZE(ev); i++)
		if (ev[i].fired - due > late)
			late = ev[i].fired - due;
	EXPECT_EQ(late, s.max_late);

	past = now_ns() / 2;
	ASSERT_EQ(0, arm_at(self->fd, 1, past, 0));
	ASSERT_EQ(1, collect(self->fd, ev, 1));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(ARRAY_SIZE(ev) + 1, sum_of(s.late));
	EXPECT_EQ(ev[0].fired - past, s.max_late);
}

/* Of 20,000 in one slot, which comes down early, one is due before the others. */
TEST_F(wheel, next_is_no_later_than_the_first)
{
	static struct twheel_op ops[20000];
	struct twheel_setup setup = { .tick = 100 * USEC };
	__u64 slot = 409600 * USEC, first;
	struct twheel_stats s;

	ASSERT_EQ(0, set_up(self->fd, &setup));
	/* Beyond the reach of level 1. */
	first = (now_ns() / slot + 4) * slot + 50 * MSEC;
	for (int i = 0; i < ARRAY_SIZE(ops); i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = i,
			.deadline = i ? first + 200 * MSEC : first,
		};
	ASSERT_EQ(ARRAY_SIZE(ops), wheel_submit(self->fd, ops, ARRAY_SIZE(ops), NULL));
	for (;;) {
		ASSERT_EQ(0, wheel_stats(self->fd, &s));
		if (now_ns() >= first)
			break;
		ASSERT_LE(s.next, first + MSEC);
	}
	EXPECT_LT(0, s.interrupts);
}

TEST_F(used, fdinfo_tells_what_the_ioctls_do)
{
	static const char * const keys[] = {
		"number", "clock", "tick-ns", "levels", "slots", "capacity", "now-ns",
		"pending", "expired", "arms", "cancels", "fired", "delivered", "overruns",
		"interrupts", "memory", "next-ns", "max-late-ns", "late",
	};
	struct twheel_stats s;
	char path[64], key[64], text[4096];
	__u64 before = now_ns(), now;
	int i;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	ASSERT_LT(0, read_file(path, text, sizeof(text)));
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(key, sizeof(key), "\ntwheel-%s:\t", keys[i]);
		EXPECT_TRUE(!!strstr(text, key))
			TH_LOG("%s", keys[i]);
	}
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	EXPECT_EQ(TWHEEL_DEFAULT_TICK, file_value(path, "twheel-tick-ns:\t"));
	EXPECT_EQ(CAPACITY, file_value(path, "twheel-capacity:\t"));
	EXPECT_EQ(2, file_value(path, "twheel-pending:\t"));
	EXPECT_EQ(1, file_value(path, "twheel-expired:\t"));
	EXPECT_EQ(s.fired, file_value(path, "twheel-fired:\t"));
	EXPECT_EQ(1, file_value(path, "twheel-delivered:\t"));
	EXPECT_EQ(s.arms, file_value(path, "twheel-arms:\t"));
	EXPECT_EQ(s.memory, file_value(path, "twheel-memory:\t"));
	now = file_value(path, "twheel-now-ns:\t");
	EXPECT_LE(before, now);
	EXPECT_GE(now_ns(), now);
}

static __u64 number_behind(const char *text, const char *key)
{
	return strtoull(strstr(text, key) + strlen(key), NULL, 10);
}

/* With 1,024 events unread a timer that is due waits to be found, and the next time is now. */
TEST_F(wheel, the_figures_of_fdinfo_are_of_one_moment)
{
	char path[64], text[4096];
	__u64 due;

	ASSERT_EQ(0, arm_many(self->fd, 1024, 1, 0));
	due = now_ns() + 100 * MSEC;
	ASSERT_EQ(0, arm_at(self->fd, 1024, due, 0));
	sleep_until(due + 2 * MSEC);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	ASSERT_LT(0, read_file(path, text, sizeof(text)));
	EXPECT_EQ(1, number_behind(text, "twheel-pending:\t"));
	EXPECT_EQ(number_behind(text, "twheel-now-ns:\t"),
		  number_behind(text, "twheel-next-ns:\t"));
}

/* By its number one wheel is known from others, whoever holds it. */
TEST_F(used, a_wheel_is_known_by_its_number)
{
	int same = dup(self->fd), other = wheel_open(0);

	ASSERT_LE(0, same);
	ASSERT_LE(0, other);
	EXPECT_LT(0, number_of(self->fd));
	EXPECT_EQ(number_of(self->fd), number_of(same));
	EXPECT_LT(number_of(self->fd), number_of(other));
	EXPECT_EQ(0, close(same));
	EXPECT_EQ(0, close(other));
}

TEST_HARNESS_MAIN
