/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel in use that tests of the ioctls start from.
 */
#ifndef IOCTLS_TEST_H
#define IOCTLS_TEST_H

#include "twheel_test.h"

/* A wheel in use: each state of a timer has one. */
enum {
	PENDING		= 1,
	PERIODIC	= 2,
	EXPIRED		= 3,
	DELIVERED	= 4,
	FREE		= 5,
};

#define CAPACITY	300U

FIXTURE(wheel) {
	int fd;
	struct snapshot before;
};

FIXTURE_SETUP(wheel)
{
	struct twheel_setup s = { .capacity = CAPACITY };
	struct twheel_event ev;

	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_up(self->fd, &s));
	ASSERT_EQ(0, arm_at(self->fd, DELIVERED, 1, 44));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	ASSERT_EQ(0, arm_in(self->fd, PENDING, HOUR, 11));
	ASSERT_EQ(0, arm_every(self->fd, PERIODIC, now_ns() + HOUR, SEC, 7));
	ASSERT_EQ(0, arm_at(self->fd, EXPIRED, 1, 33));
	ASSERT_TRUE(wait_expired(self->fd, 1));
	ASSERT_EQ(0, snapshot_take(self->fd, &self->before));
	ASSERT_EQ(3, self->before.nr);
}

FIXTURE_TEARDOWN(wheel)
{
	close(self->fd);
}

#endif /* IOCTLS_TEST_H */
