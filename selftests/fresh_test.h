/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A new wheel that tests of the ioctls start from.
 */
#ifndef FRESH_TEST_H
#define FRESH_TEST_H

#include "twheel_test.h"

/* A wheel that nobody has used yet. */
FIXTURE(fresh) {
	int fd;
	struct twheel_setup defaults;
};

FIXTURE_SETUP(fresh)
{
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, get_setup(self->fd, &self->defaults));
}

FIXTURE_TEARDOWN(fresh)
{
	close(self->fd);
}

#endif /* FRESH_TEST_H */
