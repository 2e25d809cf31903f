// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the forty-first round: a submit moves events into a ring with room,
 * whatever stores or polls came before.
 */
#include "words_test.h"

#define ENTRIES		256
#define CAPACITY	4096

/* Have events moved until so many entries are in the ring; in one call, unless signals end it. */
static int move(const struct shared *s, __u32 entries)
{
	int ret;

	do {
		ret = wheel_submit(s->fd, NULL, 0, NULL);
	} while (!ret && storm_usec && s->ring->tail - s->ring->head < entries);
	return ret ?: s->ring->tail - s->ring->head == entries ? 0 : -EPROTO;
}

/* A ring that is full, and @nr timers more that have expired behind it. */
static int fill_and_queue(struct shared *s, __u32 nr)
{
	int ret = shared_open(s, CAPACITY, ENTRIES, 0);

	if (ret)
		return ret;
	ret = arm_many(s->fd, ENTRIES + nr, 1, 0);
	if (ret)
		return ret;
	return move(s, ENTRIES) ?: s->ring->waiting == nr ? 0 : -EPROTO;
}

/* How many entries are in the ring; takes all of them. */
static __u32 take_all(const struct shared *s)
{
	struct twheel_entry entry;
	__u32 nr = 0;

	for (; ring_take(s, &entry); nr++)
		claim(s, &entry, 0);
	return nr;
}

/* Events that a store has made stale, and that have come to pass again, go behind the others. */
TEST(a_submit_of_nothing_moves_what_was_pushed_back_and_is_due)
{
	enum { NR = 1000 };
	struct shared s;

	ASSERT_EQ(0, fill_and_queue(&s, NR));
	for (__u32 id = ENTRIES; id < ENTRIES + NR; id++)
		__atomic_store_n(&s.word[id].deadline, now_ns() + MSEC, __ATOMIC_RELAXED);
	sleep_until(now_ns() + 30 * MSEC);
	for (__u32 left = NR; left;) {
		__u32 most = left < ENTRIES ? left : ENTRIES;

		take_all(&s);
		EXPECT_NE(0, s.ring->waiting);
		ASSERT_EQ(0, move(&s, most));
		left -= most;
	}
	shared_close(&s);
}

/* Also if a poll has moved some before, and left it to softirq to wake who waits. */
TEST(a_submit_moves_events_behind_a_poll)
{
	enum { FIRST = 64, STALE = 200, LAST = 100, NR = FIRST + STALE + LAST };
	struct twheel_op op = { .opcode = TWHEEL_OP_CANCEL, .id = CAPACITY - 1 };
	struct shared s;
	__u32 id;

	if (storm_usec)
		SKIP(return, "a signal may end the call before it has moved any");
	ASSERT_EQ(0, fill_and_queue(&s, NR));
	for (id = ENTRIES + FIRST; id < ENTRIES + FIRST + STALE; id++)
		cancel_by_store(&s, id);
	ASSERT_EQ(ENTRIES, take_all(&s));
	wheel_poll(s.fd, 0);
	take_all(&s);
	/* All but the last have been moved or are stale: any submit moves at least one of these. */
	ASSERT_EQ(1, wheel_submit(s.fd, &op, 1, NULL));
	EXPECT_NE(s.ring->head, s.ring->tail);
	shared_close(&s);
}

TEST_HARNESS_MAIN
