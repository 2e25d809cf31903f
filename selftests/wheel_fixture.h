/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel for each test.  A program that needs a file that blocks, or another capacity, defines
 * WHEEL_FLAGS or WHEEL_CAPACITY first.
 */
#ifndef TWHEEL_WHEEL_FIXTURE_H
#define TWHEEL_WHEEL_FIXTURE_H

#include "twheel_test.h"

#ifndef WHEEL_FLAGS
#define WHEEL_FLAGS	O_NONBLOCK
#endif

FIXTURE(wheel) {
	int fd;
};

FIXTURE_SETUP(wheel)
{
	self->fd = wheel_open(WHEEL_FLAGS);
	ASSERT_LE(0, self->fd);
#ifdef WHEEL_CAPACITY
	ASSERT_EQ(0, set_up(self->fd, &(struct twheel_setup){ .capacity = WHEEL_CAPACITY }));
#endif
}

FIXTURE_TEARDOWN(wheel)
{
	close(self->fd);
}

#endif /* TWHEEL_WHEEL_FIXTURE_H */
