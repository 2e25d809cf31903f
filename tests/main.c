// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the wheel and its timers in user space, with sanitizers.
 *
 * Usage: tests [operations of a random program [seed]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "tests.h"

unsigned int tap_count, tap_failed;

int main(int argc, char **argv)
{
	unsigned long ops = argc > 1 ? strtoul(argv[1], NULL, 0) : 400000;
	u64 from = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	printf("TAP version 13\n");
	timers_ticks();
	timers_cases();
	wheel_random(ops, from);
	timers_random(ops, from);
	printf("1..%u\n", tap_count);
	return tap_failed ? 1 : 0;
}
