/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TWHEEL_ARRAY_H
#define TWHEEL_ARRAY_H

#include <stddef.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Make room for element @nr, of @size bytes; @room elements are there.  New ones are zero. */
void *array_grown(void *array, size_t nr, size_t *room, size_t size);

#endif
