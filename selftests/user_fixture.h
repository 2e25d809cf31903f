/* SPDX-License-Identifier: GPL-2.0 */
/* Limits of users, which a test changes, and which are restored after it. */
#ifndef TWHEEL_USER_FIXTURE_H
#define TWHEEL_USER_FIXTURE_H

#include "beside.h"

/* A timer's memory is charged to the user in portions of so many. */
#define CHUNK		128

/* @root: the test may change limits and users; without it, it skips itself. */
FIXTURE(user) {
	long long wheels, timers;
	int mode;
	bool root;
	/* To pass descriptors from one user to another. */
	int ends[2];
};

FIXTURE_SETUP(user)
{
	if (getuid())
		return;
	self->wheels = file_value(PARAMETERS "max_user_wheels", NULL);
	self->timers = file_value(PARAMETERS "max_user_timers", NULL);
	ASSERT_LT(0, self->wheels);
	ASSERT_LT(0, self->timers);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->ends));
	self->mode = device_for_all();
	ASSERT_LE(0, self->mode);
	self->root = true;
}

FIXTURE_TEARDOWN(user)
{
	if (!self->root)
		return;
	chmod(DEVICE, self->mode);
	write_file(PARAMETERS "max_user_wheels", "%lld", self->wheels);
	write_file(PARAMETERS "max_user_timers", "%lld", self->timers);
	close(self->ends[0]);
	close(self->ends[1]);
}

static inline int limit_wheels(unsigned int limit)
{
	return write_file(PARAMETERS "max_user_wheels", "%u", limit);
}

static inline int limit_timers(unsigned int limit)
{
	return write_file(PARAMETERS "max_user_timers", "%u", limit);
}

#endif /* TWHEEL_USER_FIXTURE_H */
