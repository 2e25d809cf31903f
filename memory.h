/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory: growth of a wheel, and its charging.
 */
#ifndef TWHEEL_MEMORY_H
#define TWHEEL_MEMORY_H

#include "twheel.h"

TWHEEL_PART int memory_begin(struct twheel *tw);
TWHEEL_PART int memory_grow(struct twheel *tw, struct timers_need *need);
TWHEEL_PART int memory_set_up(struct twheel *tw, struct timers *ts, struct twheel_user *user);
TWHEEL_PART void memory_free(struct timers *ts, struct twheel_user *user);

#endif /* TWHEEL_MEMORY_H */
