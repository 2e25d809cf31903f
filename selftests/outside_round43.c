// SPDX-License-Identifier: GPL-2.0
/* Searches for an id in a wheel that is full. */
#include <signal.h>
#include <sys/time.h>

#include "words_test.h"

#define CAPACITY	(1U << 18)
#define PAIRS		32

/* A wheel of which each id is armed by a store. */
static int open_full(struct shared *s, __u64 deadline)
{
	int ret = shared_open(s, CAPACITY, 0);

	for (__u32 id = 0; !ret && id < CAPACITY; id++)
		__atomic_store_n(&s->word[id].deadline, deadline, __ATOMIC_RELAXED);
	return ret;
}

static struct twheel_op any(__u64 deadline)
{
	return (struct twheel_op){
		.opcode = TWHEEL_OP_ARM, .id = TWHEEL_ID_ANY, .deadline = deadline,
	};
}

/* Of a batch the first arm without an id looks at all ids, and the others know that. */
TEST(operations_that_free_no_id_make_no_search)
{
	__u64 far = now_ns() + 3600 * SEC, start, one;
	struct twheel_op ops[2 * PAIRS];
	struct twheel_op op = any(far);
	struct shared s;
	__u32 failed;

	ASSERT_EQ(0, open_full(&s, far));
	op.opcode = 0;
	start = now_ns();
	ASSERT_EQ(-ENOSPC, wheel_arm(s.fd, &op));
	one = now_ns() - start;
	for (int i = 0; i < 2 * PAIRS; i += 2) {
		ops[i] = any(far);
		/* There is no such operation. */
		ops[i + 1] = (struct twheel_op){ .opcode = 77 };
	}
	start = now_ns();
	ASSERT_EQ(2 * PAIRS, wheel_submit(s.fd, ops, 2 * PAIRS, &failed));
	EXPECT_EQ(2 * PAIRS, failed);
	/* And not 32 times as long. */
	EXPECT_GT(8 * one + 100 * MSEC, now_ns() - start);
	shared_close(&s);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Each pair frees an id that the search has just passed, and looks for it. */
TEST(a_signal_ends_a_submit_behind_a_search)
{
	const struct itimerval often = {
		.it_value.tv_usec = 100000, .it_interval.tv_usec = 100000,
	};
	const struct itimerval never = {};
	struct sigaction act = { .sa_handler = on_signal };
	__u64 far = now_ns() + 3600 * SEC;
	struct twheel_op ops[2 * PAIRS];
	struct shared s;
	__u32 failed;
	int done;

	if (storm_usec)
		SKIP(return, "has a signal of its own");
	ASSERT_EQ(0, open_full(&s, far));
	for (int i = 0; i < PAIRS; i++) {
		ops[2 * i] = (struct twheel_op){
			.opcode = TWHEEL_OP_CANCEL, .id = CAPACITY / 2 + i,
		};
		ops[2 * i + 1] = any(far);
	}
	ASSERT_EQ(0, sigaction(SIGALRM, &act, NULL));
	/* All searches take longer. */
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	done = submit_once(s.fd, ops, 2 * PAIRS, &failed);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_LT(0, done);
	EXPECT_GT(2 * PAIRS, done);
	EXPECT_EQ(0, failed);
	/* The others were not begun. */
	for (int i = 1; i < 2 * PAIRS; i += 2)
		EXPECT_EQ(i < done ? CAPACITY / 2 + i / 2 : TWHEEL_ID_ANY, ops[i].id);
	shared_close(&s);
}

/* An arm without an id finds the one that an operation before it in the batch has made free. */
TEST(ids_that_become_free_in_a_batch_are_found)
{
	enum { NR = 256, STORED = 7 };
	__u64 far = now_ns() + 3600 * SEC;
	struct twheel_op ops[NR] = {};
	struct shared s;
	__u32 failed;

	ASSERT_EQ(0, shared_open(&s, NR, 0));
	/* Its call is yet to come. */
	__atomic_store_n(&s.word[STORED].deadline, far, __ATOMIC_SEQ_CST);
	for (int i = 0; i < NR; i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM, .id = TWHEEL_ID_ANY, .deadline = far,
		};
	ASSERT_EQ(NR - 1, wheel_submit(s.fd, ops, NR - 1, &failed));
	ASSERT_EQ(0, failed);
	for (int i = 0; i < 3; i++)
		ops[i] = ops[NR - 1];
	ops[1] = (struct twheel_op){ .opcode = TWHEEL_OP_CANCEL, .id = STORED };
	ASSERT_EQ(3, wheel_submit(s.fd, ops, 3, &failed));
	EXPECT_EQ(-ENOSPC, ops[0].result);
	EXPECT_EQ(0, ops[1].result);
	EXPECT_EQ(0, ops[2].result);
	EXPECT_EQ(STORED, ops[2].id);
	shared_close(&s);
}

TEST_HARNESS_MAIN
