/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A wheel in this process, for where there is no device: the module's own timers, and a timerfd
 * that is readable when there may be events.
 */
#ifndef TWHEEL_FALLBACK_H
#define TWHEEL_FALLBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/twheel.h>

struct fallback;

/*
 * Create a wheel, and fill in @setup.  With @alone, one thread uses it at a time, and no other
 * process does.  Returns the timerfd, or a negative errno.
 */
int twheel_fallback_open(struct fallback **out, struct twheel_setup *setup, bool alone);
/* Unmap the wheel, but leave the timerfd open.  Children that share the wheel keep it. */
void twheel_fallback_close(struct fallback *f);

/* The words, one for each id; NULL: there are none. */
struct twheel_word *twheel_fallback_words(struct fallback *f);

/* Arm timers by what their words hold. */
int twheel_fallback_arm(struct fallback *f, const uint32_t *ids, uint32_t nr);
/* Make one of the ioctls of the device that this library uses. */
int twheel_fallback_call(struct fallback *f, unsigned long request, void *arg);
/*
 * Take events, at most @size bytes of them.  Returns the bytes; 0: there are none.  The timerfd
 * stays readable if events are left.
 */
int twheel_fallback_read(struct fallback *f, void *to, size_t size);

#endif
