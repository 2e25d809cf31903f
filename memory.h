/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory: growth of a wheel, and its charging.
 */
#ifndef TWHEEL_MEMORY_H
#define TWHEEL_MEMORY_H

#include "twheel.h"

/* A wheel with words has its levels from the start: 9 hours, with a tick of 1 ms. */
#define WORDS_LEVELS	4U

TWHEEL_PART int memory_begin(struct twheel *tw);
TWHEEL_PART int memory_grow(struct twheel *tw, struct timers_need *need);
TWHEEL_PART int memory_set_up(struct timers *ts, struct twheel_user *user);
TWHEEL_PART void memory_free(struct timers *ts, struct twheel_user *user);

#endif /* TWHEEL_MEMORY_H */
