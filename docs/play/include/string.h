/* SPDX-License-Identifier: GPL-2.0 */
/* All that the model needs of a library of C; play.c has both. */
#include <stddef.h>

void *memset(void *to, int byte, size_t size);
void *memcpy(void *to, const void *from, size_t size);
