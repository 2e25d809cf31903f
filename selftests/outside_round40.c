// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the fortieth round: who empties a full ring while softirq turns the
 * wheel, sees that nothing waits and goes to sleep, is woken for what softirq finds then.
 */
#include <sys/epoll.h>

#include "beside.h"
#include "words_test.h"

#define ENTRIES		256
#define TICK		MSEC

/* Half of what softirq handles in one turn where one user has timers. */
#define DEAD		23
#define FIRST_DEAD	ENTRIES
#define LIVE		(FIRST_DEAD + DEAD)

/* In 10 s a wheel without the mend lost 30 wake-ups. */
#define SPAN		(10 * SEC)

/* Fill the ring with entries that count no more. */
static int fill(const struct shared *s)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	int ret = arm_many(s->fd, ENTRIES, 1, 0);

	/* Those that did not fit into the steps of that call. */
	while (!ret && s->ring->tail - s->ring->head < ENTRIES && now_ns() < limit)
		ret = wheel_submit(s->fd, NULL, 0, NULL);
	for (__u32 id = 0; id < ENTRIES; id++)
		cancel_by_store(s, id);
	if (!ret && (s->ring->tail - s->ring->head != ENTRIES || s->ring->waiting))
		ret = -EPROTO;
	return ret;
}

/* Dead timers keep softirq busy at a tick, and one that lives comes right behind it. */
static int arm_around(const struct shared *s, __u64 tick)
{
	struct twheel_op ops[DEAD + 1];
	__u32 failed;
	int ret;

	for (int i = 0; i <= DEAD; i++)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM,
			.deadline = tick + (i == DEAD),
			.id = FIRST_DEAD + i,
		};
	ret = wheel_submit(s->fd, ops, DEAD + 1, &failed);
	for (int i = 0; i < DEAD; i++)
		cancel_by_store(s, FIRST_DEAD + i);
	return ret == DEAD + 1 && !failed ? 0 : -EPROTO;
}

/* Take all entries at once, and tell whether something waits behind them, as libtwheel does. */
static bool empty(const struct shared *s)
{
	__atomic_store_n(&s->ring->head, s->ring->tail, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return s->ring->head != __atomic_load_n(&s->ring->tail, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&s->ring->waiting, __ATOMIC_RELAXED);
}

TEST(who_empties_the_ring_during_a_turn_is_woken)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	__u64 limit = now_ns() + SPAN;
	struct shared s;
	__u32 slept = 0;
	int ep;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two processors");
	ASSERT_EQ(0, shared_open(&s, 2 * ENTRIES, ENTRIES, TICK));
	ep = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, s.fd, &event));
	for (__u32 i = 0; now_ns() < limit; i++) {
		__u64 tick;

		/* The hrtimer is on this processor, and the consumer on the other one. */
		ASSERT_EQ(0, pin(0));
		ASSERT_EQ(0, fill(&s));
		tick = (now_ns() / TICK + 6) * TICK;
		ASSERT_EQ(0, arm_around(&s, tick));
		while (epoll_get(ep, 0))
			;
		ASSERT_EQ(0, pin(1));
		while (now_ns() < tick + i * 997ULL % (150 * USEC))
			;
		if (!empty(&s)) {
			ASSERT_EQ(EPOLLIN, epoll_get(ep, NEVER_MS))
				TH_LOG("turn %u: asleep beside %u entries, %u that wait", i,
				       s.ring->tail - s.ring->head, s.ring->waiting);
			slept++;
		}
		cancel_by_store(&s, LIVE);
		ASSERT_EQ(0, wheel_submit(s.fd, NULL, 0, NULL));
		empty(&s);
	}
	/* Else nothing was shown. */
	EXPECT_LT(10, slept);
	close(ep);
	shared_close(&s);
}

TEST_HARNESS_MAIN
