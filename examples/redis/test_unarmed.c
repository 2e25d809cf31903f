// SPDX-License-Identifier: MIT
/*
 * For the tests, by LD_PRELOAD: while there is a file that TEST_UNARMED in the environment names,
 * the library does not arm timers, as where the user has too many.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <twheel.h>

int twheel_arm_slow(struct twheel *w, uint32_t id, uint64_t deadline)
{
	static int (*arm_slow)(struct twheel *w, uint32_t id, uint64_t deadline);

	if (!arm_slow)
		arm_slow = (int (*)(struct twheel *, uint32_t, uint64_t))
			dlsym(RTLD_NEXT, "twheel_arm_slow");
	return access(getenv("TEST_UNARMED"), F_OK) ? arm_slow(w, id, deadline) : -EDQUOT;
}
