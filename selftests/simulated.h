/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests in simulated time (vm/run um): code takes none, so all can be told
 * to the nanosecond, and nothing allows for a slow machine.
 */
#ifndef TWHEEL_SIMULATED_H
#define TWHEEL_SIMULATED_H

#include "twheel_test.h"

/* The time limits of tests are of simulated time too. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	(60 * 365 * 86400)

#define DAY		(24 * HOUR)
#define YEAR		(365 * DAY)
#define MS_TICK		TWHEEL_DEFAULT_TICK

/*
 * What expiry.c gives a CPU.  An hrtimer is set no sooner than MIN_GAP from now, and it
 * is all wheels' on that CPU.  In a SPAN there are MAX_PASS tokens: a timer costs one, a
 * visit to a wheel VISIT more, and a wake-up WAKE.  RESERVE of them are for users who come
 * later in the span; of several wheels that one user has due, each gets TURN timers in a visit.
 */
#define MIN_GAP		(10 * USEC)
#define SPAN		(250 * USEC)
#define MAX_PASS	64
#define VISIT		2
#define WAKE		1
#define RESERVE		16
#define TURN		4
/* So many timers of one wheel, if no other is due. */
#define ALONE		(MAX_PASS - RESERVE - VISIT)
/* A reading of the clock takes a nanosecond, and a call has a few. */
#define FEW		50

static void __attribute__((constructor)) need_simulated_time(void)
{
	char name[64] = "";

	read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  name, sizeof(name));
	if (strncmp(name, "time-travel", 11))
		ksft_exit_skip("time is real here; simulated by: vm/run um\n");
	/* By default they are for what a machine's memory holds. */
	write_file(PARAMETERS "max_user_wheels", "4096");
	write_file(PARAMETERS "max_user_timers", "%u", TWHEEL_MAX_CAPACITY);
}

/* What the wheel has to do, said in another way than the wheel does it. */

/* The time of the first tick at or past a deadline. */
static inline __u64 tick_at(__u64 deadline, __u64 tick)
{
	return (deadline / tick + !!(deadline % tick)) * tick;
}

/* Of all ticks that slack allows, the one with the most zeros at its end. */
static inline __u64 tick_with_slack(__u64 deadline, __u64 slack, __u64 tick)
{
	__u64 first = tick_at(deadline, tick) / tick;
	__u64 last = deadline / tick + slack / tick, t;
	int zeros;

	for (zeros = 63; zeros && last > first; zeros--) {
		t = last >> zeros << zeros;
		if (t >= first)
			return t * tick;
	}
	return first * tick;
}

/* From @least to @most, as many short ones as long ones. */
static inline __u64 random_span(__u32 *seed, __u64 least, __u64 most)
{
	int bits = 64 - __builtin_clzll(most / least);
	__u64 r = (__u64)next_random(seed) << 32 | next_random(seed);
	__u64 span = least << next_random(seed) % bits;

	span += r % span;
	return span < most ? span : most;
}

/* @nr timers from @id, @apart from each other. */
static inline int arm_range(int fd, __u32 id, __u32 nr, __u64 deadline, __u64 apart)
{
	static struct twheel_op ops[4096];
	__u32 i, n, failed;

	while (nr) {
		n = nr < ARRAY_SIZE(ops) ? nr : ARRAY_SIZE(ops);
		for (i = 0; i < n; i++) {
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM, .id = id++,
				.deadline = deadline,
			};
			deadline += apart;
		}
		if (wheel_submit(fd, ops, n, &failed) != n || failed)
			return -EIO;
		nr -= n;
	}
	return 0;
}

#endif /* TWHEEL_SIMULATED_H */
