// SPDX-License-Identifier: GPL-2.0
/*
 * Programs from clang's libFuzzer, which looks for bytes that lead to code not
 * reached before. A finding is printed by "make show FILES=...".
 */
#include <stdio.h>

#include "program.h"

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size);

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size)
{
	const char *error = program_run(bytes, size, false);

	if (error) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
	return 0;
}
