/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel in use, with a timer in each state, and what it was like before a request.
 *
 * Each bad request has one error in it and is valid otherwise, so that nothing
 * else can explain the errno; after it the wheel must be as it was before.
 */
#ifndef TWHEEL_USED_FIXTURE_H
#define TWHEEL_USED_FIXTURE_H

#include "twheel_test.h"

enum {
	PENDING		= 1,
	PERIODIC	= 2,
	EXPIRED		= 3,
	DELIVERED	= 4,
	FREE		= 5,
};

#define CAPACITY	300U

FIXTURE(used) {
	int fd;
	struct snapshot before;
};

FIXTURE_SETUP(used)
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

FIXTURE_TEARDOWN(used)
{
	close(self->fd);
}

#endif /* TWHEEL_USED_FIXTURE_H */
