/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turning: what softirq and callers do to get at the events of a wheel.
 *
 * Whatever a call does to timers, it does between twheel_begin() and twheel_end().
 */
#ifndef TWHEEL_TURN_H
#define TWHEEL_TURN_H

#include "twheel.h"

TWHEEL_PART u64 twheel_now(const struct twheel *tw);
TWHEEL_PART s64 twheel_opener_offset(const struct twheel *tw, enum twheel_clock clock);

TWHEEL_PART u64 twheel_begin(struct twheel *tw) __acquires(&tw->lock);
TWHEEL_PART bool twheel_deliver(struct twheel *tw);
TWHEEL_PART void twheel_end(struct twheel *tw, u64 now, bool news) __releases(&tw->lock);
TWHEEL_PART void twheel_wake(struct twheel *tw);

TWHEEL_PART unsigned int twheel_turn(struct expiry_entry *entry, unsigned int budget, bool *news);
TWHEEL_PART void twheel_turned(struct expiry_entry *entry);

TWHEEL_PART bool twheel_step(struct twheel *tw, unsigned int enough, bool heavy);
TWHEEL_PART bool twheel_catch_up(struct twheel *tw, unsigned int enough, bool heavy,
				 unsigned int *steps);
TWHEEL_PART void twheel_seek(struct twheel *tw);

#endif /* TWHEEL_TURN_H */
