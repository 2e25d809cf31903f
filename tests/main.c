// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the wheel and its timers in user space, with sanitizers.
 *
 *	tests KEPT [operations for each shape [seed]]
 *				runs all; KEPT is the text of kept programs
 *	tests --show FILE...		prints programs of a fuzzer
 *	tests --unpack TEXT FOLDER	writes kept programs to files
 *	tests --pack FILE...		prints files as kept programs
 */
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "tests.h"

unsigned int tap_count, tap_failed;

int main(int argc, char **argv)
{
	unsigned long ops = argc > 2 ? strtoul(argv[2], NULL, 0) : 2000000;
	u64 from = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;

	if (argc > 2 && !strcmp(argv[1], "--show"))
		return show_programs(argv + 2);
	if (argc > 2 && !strcmp(argv[1], "--pack"))
		return pack_programs(argv + 2);
	if (argc > 3 && !strcmp(argv[1], "--unpack"))
		return unpack_programs(argv[2], argv[3]);
	if (argc < 2)
		return 2;

	printf("TAP version 13\n");
	user_cases();
	timers_ticks();
	timers_cases();
	kept_programs(argv[1]);
	random_programs(ops, from);
	printf("1..%u\n", tap_count);
	return tap_failed ? 1 : 0;
}
