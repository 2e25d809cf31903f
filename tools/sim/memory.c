// SPDX-License-Identifier: GPL-2.0
/* Where the memory of a simulation comes from, in a program that has malloc(). */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

void *sim_alloc(size_t size, size_t align)
{
	void *memory = aligned_alloc(align, (size + align - 1) & ~(align - 1));

	return memory ? memset(memory, 0, size) : NULL;
}

void sim_free(void *memory)
{
	free(memory);
}
