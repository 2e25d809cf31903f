// SPDX-License-Identifier: GPL-2.0
/* Arrays that grow. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "output.h"

void *array_grown(void *array, size_t nr, size_t *room, size_t size)
{
	size_t before = *room;

	if (nr < before)
		return array;
	*room = before ? before : 256;
	while (*room <= nr)
		*room *= 2;
	array = reallocarray(array, *room, size);
	if (!array)
		fail("out of memory");
	memset((char *)array + before * size, 0, (*room - before) * size);
	return array;
}
