// SPDX-License-Identifier: GPL-2.0
/*
 * The machine sleeps for some seconds.  Deadlines of a clock that goes on meanwhile
 * are due when it wakes, those of CLOCK_MONOTONIC, which stands still, later by as
 * much; none is early and none is lost.  All processors but one are taken down for
 * it and up again.
 *
 * Nobody wants that of a machine in use: TWHEEL_SUSPEND=1 asks for it.
 *
 * Bed: real
 */
#include <termios.h>

#include "twheel_test.h"

#if __SIZEOF_LONG__ == 8
#include "words_test.h"
#endif

#define WAKEALARM	"/sys/class/rtc/rtc0/wakealarm"
#define MEM_SLEEP	"/sys/power/mem_sleep"

/* For the alarm of the real-time clock, which counts whole seconds. */
#define ASLEEP_S	4
/* The machine sleeps at least this long, even if it is slow to suspend. */
#define ASLEEP_LEAST	(2 * SEC)

/* Comes while it sleeps, with any clock but the monotonic one; not before. */
#define SOON		(1500 * MSEC)

static void __attribute__((constructor)) need_suspend(void)
{
	char kinds[64] = "";

	if (!getenv("TWHEEL_SUSPEND"))
		ksft_exit_skip("no TWHEEL_SUSPEND=1: the machine is not put to sleep\n");
	read_file(MEM_SLEEP, kinds, sizeof(kinds));
	/* A guest's lighter sleep, s2idle, is not ended by its real-time clock. */
	if (!strstr(kinds, "deep"))
		ksft_exit_skip("no suspend to RAM: \"deep\" is not in " MEM_SLEEP "\n");
	if (access(WAKEALARM, W_OK))
		ksft_exit_skip("nothing would wake the machine: no " WAKEALARM "\n");
}

/* Returns how long the machine slept, or a negative errno. */
static long long sleep_machine(void)
{
	long long before = clock_ns(CLOCK_BOOTTIME) - now_ns();
	int ret;

	/* Output must have left before the line goes down. */
	fflush(NULL);
	tcdrain(STDOUT_FILENO);
	write_file(WAKEALARM, "0");
	ret = write_file(MEM_SLEEP, "deep") ?: write_file(WAKEALARM, "+%d", ASLEEP_S);
	if (!ret)
		ret = write_file("/sys/power/state", "mem");
	return ret ?: (long long)(clock_ns(CLOCK_BOOTTIME) - now_ns()) - before;
}

static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME };

/* Ids. */
enum { MANY = 300, HOURLY = MANY, CANCELLED, PERIODIC, CAPACITY };

#define PERIOD		(50 * MSEC)

FIXTURE(sleep) {
	int fd[ARRAY_SIZE(clocks)];
};

FIXTURE_SETUP(sleep)
{
	unsigned int c;

	for (c = 0; c < ARRAY_SIZE(clocks); c++) {
		struct twheel_setup s = {
			.flags = TWHEEL_SETUP_CLOCK,
			.clock = clocks[c],
			.capacity = CAPACITY,
		};

		self->fd[c] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, self->fd[c]);
		ASSERT_EQ(0, set_up(self->fd[c], &s));
	}
}

FIXTURE_TEARDOWN(sleep)
{
	for (unsigned int c = 0; c < ARRAY_SIZE(clocks); c++)
		close(self->fd[c]);
}

TEST_F(sleep, each_clock_is_on_time_over_a_suspend)
{
	static struct twheel_event ev[MANY];
	__u64 start[ARRAY_SIZE(clocks)], awake, now;
	unsigned int c, i;
	long long asleep;

	for (c = 0; c < ARRAY_SIZE(clocks); c++) {
		start[c] = clock_ns(clocks[c]);
		/* Over half a second, two to a tick. */
		for (i = 0; i < MANY; i++)
			ASSERT_EQ(0, arm_at(self->fd[c], i, start[c] + SOON + i / 2 * 3 * MSEC, i));
		ASSERT_EQ(0, arm_at(self->fd[c], HOURLY, start[c] + HOUR, 0));
		ASSERT_EQ(0, arm_at(self->fd[c], CANCELLED, start[c] + SOON, 0));
		ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd[c], CANCELLED));
	}
	asleep = sleep_machine();
	awake = now_ns();
	ASSERT_LT((long long)ASLEEP_LEAST, asleep);

	for (c = 0; c < ARRAY_SIZE(clocks); c++) {
		bool stood = clocks[c] == CLOCK_MONOTONIC, seen[MANY] = {};
		struct twheel_timer t;

		ASSERT_EQ(MANY, collect(self->fd[c], ev, MANY))
			TH_LOG("clock %d", clocks[c]);
		now = clock_ns(clocks[c]);
		for (i = 0; i < MANY; i++) {
			ASSERT_GT(MANY, ev[i].id);
			EXPECT_FALSE(seen[ev[i].id]);
			seen[ev[i].id] = true;
			EXPECT_EQ(ev[i].id, ev[i].cookie);
			EXPECT_EQ(start[c] + SOON + ev[i].id / 2 * 3 * MSEC, ev[i].deadline);
			EXPECT_LE(ev[i].deadline, ev[i].fired);
			EXPECT_GE(now, ev[i].fired);
			/* Slept through; or stood still, and it comes in its time. */
			EXPECT_GT(LATE + (stood ? 0 : asleep), ev[i].fired - ev[i].deadline)
				TH_LOG("clock %d: %llu ns late", clocks[c],
				       ev[i].fired - ev[i].deadline);
		}
		EXPECT_EQ(-EAGAIN, wheel_read(self->fd[c], ev, 1));

		now = clock_ns(clocks[c]);
		ASSERT_EQ(0, wheel_get(self->fd[c], HOURLY, &t));
		EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
		EXPECT_GE(start[c] + HOUR - now, t.remaining);
		EXPECT_LT(start[c] + HOUR - now - LATE, t.remaining);
	}
	/* The first wheel took its time; the others have been due ever since. */
	EXPECT_LT(start[0] + SOON, now_ns());
	EXPECT_GT(awake + SOON + 3 * MANY / 2 * MSEC + LATE, now_ns());
}

TEST_F(sleep, periods_are_counted_over_a_suspend)
{
	__u64 start[ARRAY_SIZE(clocks)];
	struct twheel_event ev;
	long long asleep;
	unsigned int c;

	for (c = 0; c < ARRAY_SIZE(clocks); c++) {
		start[c] = clock_ns(clocks[c]);
		ASSERT_EQ(0, arm_every(self->fd[c], PERIODIC, start[c] + PERIOD, PERIOD, 0));
	}
	asleep = sleep_machine();
	ASSERT_LT((long long)ASLEEP_LEAST, asleep);
	for (c = 0; c < ARRAY_SIZE(clocks); c++) {
		__u64 before = clock_ns(clocks[c]), after;

		ASSERT_EQ(1, collect(self->fd[c], &ev, 1));
		after = clock_ns(clocks[c]);
		EXPECT_EQ(start[c] + PERIOD, ev.deadline);
		/* As many as there were by the clock of the wheel, asleep or not. */
		EXPECT_LE((before - start[c]) / PERIOD, ev.overruns + 1);
		EXPECT_GE((after - start[c]) / PERIOD, ev.overruns + 1);
		/* And on it goes, in phase. */
		ASSERT_EQ(1, collect(self->fd[c], &ev, 1));
		EXPECT_EQ(0, (ev.deadline - start[c]) % PERIOD);
		EXPECT_LT(before, ev.deadline);
	}
}

static void *read_one(void *arg)
{
	struct twheel_event ev;
	int fd = *(int *)arg;

	return (void *)(long)(wheel_read(fd, &ev, 1) == 1 ? (int)ev.cookie : -1);
}

TEST(a_reader_sleeps_on_over_a_suspend)
{
	struct twheel_setup s = { .flags = TWHEEL_SETUP_CLOCK, .clock = CLOCK_BOOTTIME };
	int fd = wheel_open(0);
	pthread_t thread;
	void *cookie;
	__u64 awake;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &s));
	ASSERT_EQ(0, arm_in(fd, 1, SOON, 77));
	ASSERT_EQ(0, thread_start(&thread, read_one, &fd));
	ASSERT_LT((long long)ASLEEP_LEAST, sleep_machine());
	awake = now_ns();
	ASSERT_EQ(0, pthread_join(thread, &cookie));
	EXPECT_EQ(77, (long)cookie);
	EXPECT_GT(awake + LATE, now_ns());
	close(fd);
}

#if __SIZEOF_LONG__ == 8
TEST(words_hold_over_a_suspend)
{
	struct shared s[2];
	static const clockid_t two[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	__u64 start[2];
	unsigned int i, n, id;

	for (i = 0; i < 2; i++) {
		memset(&s[i], 0, sizeof(s[i]));
		s[i].setup = (struct twheel_setup){
			.flags = TWHEEL_SETUP_CLOCK | TWHEEL_SETUP_WORDS,
			.clock = two[i],
			.capacity = 512,
		};
		s[i].fd = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, s[i].fd);
		ASSERT_EQ(0, set_up(s[i].fd, &s[i].setup));
		ASSERT_EQ(0, shared_map(&s[i]));
		start[i] = clock_ns(two[i]);
		for (id = 0; id < MANY; id++)
			ASSERT_LE(0, want(&s[i], id, start[i] + SOON + id * MSEC));
		/* Two that are not wanted any more, or not then; no call. */
		cancel_by_store(&s[i], 0);
		ASSERT_EQ(0, want(&s[i], 1, start[i] + HOUR));
	}
	ASSERT_LT((long long)ASLEEP_LEAST, sleep_machine());
	for (i = 0; i < 2; i++) {
		bool seen[MANY] = {};
		struct twheel_event ev;

		for (n = 0; n < MANY - 2; n++) {
			ASSERT_EQ(1, collect(s[i].fd, &ev, 1));
			ASSERT_GT(MANY, ev.id);
			EXPECT_LE(ev.deadline, clock_ns(two[i]));
			EXPECT_EQ(start[i] + SOON + ev.id * MSEC, ev.deadline);
			EXPECT_FALSE(seen[ev.id]);
			seen[ev.id] = true;
		}
		EXPECT_FALSE(seen[0] || seen[1]);
		EXPECT_EQ(start[i] + HOUR, wanted(&s[i], 1));
		EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(s[i].fd, 1));
		shared_close(&s[i]);
	}
}
#endif

TEST_HARNESS_MAIN
