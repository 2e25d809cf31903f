// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found in the seventeenth round: who waits for a wheel has to die when it is
 * killed.  The users here have no other wheel, and have used none.
 */
#include <pthread.h>

#include "beside.h"
#include "outside.h"

FIXTURE(killed)
{
	int	fd;
};

FIXTURE_VARIANT(killed)
{
	bool	used;
	bool	polls;
	/* In a thread, beside one that exits. */
	bool	exits;
};

FIXTURE_VARIANT_ADD(killed, read)
{
};

FIXTURE_VARIANT_ADD(killed, read_used)
{
	.used = true,
};

FIXTURE_VARIANT_ADD(killed, read_beside_exit)
{
	.exits = true,
};

FIXTURE_VARIANT_ADD(killed, poll)
{
	.polls = true,
};

FIXTURE_VARIANT_ADD(killed, poll_used)
{
	.polls = true,
	.used = true,
};

FIXTURE_VARIANT_ADD(killed, poll_beside_exit)
{
	.polls = true,
	.exits = true,
};

FIXTURE_SETUP(killed)
{
	self->fd = wheel_open(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(killed)
{
	close(self->fd);
}

static void *wait_in_read(void *fd)
{
	struct twheel_event ev;

	for (;;)
		wheel_read(*(int *)fd, &ev, 1);
	return NULL;
}

static void *wait_in_poll(void *fd)
{
	for (;;)
		wheel_poll(*(int *)fd, NEVER_MS);
	return NULL;
}

TEST_F(killed, who_waits_dies)
{
	void *(*how)(void *fd) = variant->polls ? wait_in_poll : wait_in_read;
	__u64 start, end = 0;
	pthread_t thread;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (!getuid())
			be(BOB);
		if (variant->used)
			CHILD_CHECK(!arm_in(self->fd, 1, HOUR, 0));
		if (!variant->exits)
			how(&self->fd);
		CHILD_CHECK(!pthread_create(&thread, NULL, how, &self->fd));
		sleep_until(now_ns() + 100 * MSEC);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	sleep_until(now_ns() + 100 * MSEC);
	if (!variant->exits)
		kill(pid, SIGKILL);
	for (start = now_ns(); !end && now_ns() < start + 5 * SEC;) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			end = now_ns();
		sleep_until(now_ns() + MSEC);
	}
	EXPECT_LT(0, end);
}

TEST_HARNESS_MAIN
