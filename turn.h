/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turning a wheel: by softirq, and by callers.
 *
 * A call changes timers between twheel_begin() and twheel_end().
 */
#ifndef TWHEEL_TURN_H
#define TWHEEL_TURN_H

#include "twheel.h"

TWHEEL_PART u64 twheel_now(const struct twheel *tw);
TWHEEL_PART s64 twheel_opener_offset(const struct twheel *tw, enum twheel_clock clock);

TWHEEL_PART u64 twheel_begin(struct twheel *tw) __acquires(&tw->lock);
TWHEEL_PART void twheel_end(struct twheel *tw, u64 now) __releases(&tw->lock);
TWHEEL_PART void twheel_wake(struct expiry_entry *entry);

TWHEEL_PART unsigned int twheel_turn(struct expiry_entry *entry, unsigned int budget, bool *news);

#endif /* TWHEEL_TURN_H */
