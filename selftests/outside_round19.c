// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the nineteenth round: a read that says EAGAIN and leaves events that
 * no edge tells of; a reader that sleeps beside an event while another's copy is held up; and
 * wheels that nobody uses and that use up their opener's limit.
 */
#include <sys/epoll.h>
#include <sys/uio.h>

#include "beside.h"
#include "outside.h"

static ssize_t read_at_once(int fd, struct twheel_event *events, size_t size)
{
	struct iovec iov = { events, size };

	return preadv2(fd, &iov, 1, -1, RWF_NOWAIT);
}

/* Most events are cancelled by store, more than such a read goes through. */
TEST(an_edge_comes_for_what_a_read_at_once_leaves)
{
	enum { STALE = 4000, WANTED = 1000 };
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	static struct twheel_event ev[64];
	int epoll = epoll_create1(0), got = 0;
	struct shared s;
	ssize_t ret;

	ASSERT_EQ(0, shared_open(&s, STALE + WANTED, 0));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, s.fd, &edge));
	ASSERT_EQ(0, arm_many(s.fd, STALE + WANTED, 1, 0));
	ASSERT_TRUE(wait_expired(s.fd, STALE + WANTED));
	for (int i = 0; i < STALE; i++)
		cancel_by_store(&s, i);
	while (got < WANTED) {
		ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS))
			TH_LOG("%d of %d events came", got, WANTED);
		while ((ret = read_at_once(s.fd, ev, sizeof(ev))) > 0)
			got += ret / sizeof(*ev);
		ASSERT_EQ(-1, ret);
		ASSERT_EQ(EAGAIN, errno);
	}
	EXPECT_EQ(WANTED, got);
	close(epoll);
	shared_close(&s);
}

static void *read_one(void *fd)
{
	static struct twheel_event ev;

	return wheel_read(*(int *)fd, &ev, 1) == 1 ? &ev : NULL;
}

/* Two events come at the same time for two readers, and the copy of one takes long. */
TEST(a_reader_is_woken_beside_one_whose_copy_is_held_up)
{
	struct caller slow = { .call = call_read };
	struct held held;
	pthread_t other;
	void *event;
	int fd = wheel_open(0);
	__u64 due;

	if (!held_open(&held))
		SKIP(return, NO_USERFAULTFD);
	ASSERT_LE(0, fd);
	slow.fd = fd;
	slow.memory = held.page;
	slow.nr = 1;
	due = now_ns() + 300 * MSEC;
	ASSERT_EQ(0, arm_at(fd, 1, due, 0));
	ASSERT_EQ(0, arm_at(fd, 2, due, 0));
	/* The first who sleeps is the first to be woken. */
	ASSERT_EQ(0, caller_start(&slow));
	ASSERT_TRUE(caller_asleep(&slow));
	ASSERT_EQ(0, pthread_create(&other, NULL, read_one, &fd));
	ASSERT_TRUE(held_wait(&held));
	ASSERT_EQ(0, pthread_join(other, &event));
	EXPECT_NE(NULL, event);
	EXPECT_FALSE(caller_done(&slow, 0));
	EXPECT_EQ(0, held_let(&held));
	EXPECT_TRUE(caller_done(&slow, NEVER_MS));
	held_close(&held);
	close(fd);
}

/* Who was passed wheels and uses none takes nothing from who has opened them. */
TEST(wheels_that_nobody_uses_count_for_nobody)
{
	enum { NR = 64 };
	long long limit = file_value(PARAMETERS "max_user_wheels", NULL);
	int fd[NR], used, more;

	if (getuid())
		SKIP(return, "needs root to set limits");
	ASSERT_LT(0, limit);
	for (int i = 0; i < NR; i++) {
		fd[i] = wheel_open(0);
		ASSERT_LE(0, fd[i]);
	}
	ASSERT_EQ(0, write_file(PARAMETERS "max_user_wheels", "1"));
	used = wheel_used();
	more = wheel_used();
	EXPECT_EQ(0, write_file(PARAMETERS "max_user_wheels", "%lld", limit));
	EXPECT_LE(0, used);
	EXPECT_EQ(-EDQUOT, more);
	for (int i = 0; i < NR; i++)
		close(fd[i]);
	close(used);
}

TEST_HARNESS_MAIN
