/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A wheel in this process, where there is no device: the module's own timers, and a timerfd
 * that is readable when there is something to take.
 */
#ifndef TWHEEL_FALLBACK_H
#define TWHEEL_FALLBACK_H

#include <stddef.h>

#include <linux/twheel.h>

struct fallback;

/*
 * Make a wheel of the shape that is asked for, and fill in the rest of @setup.  Returns its
 * timerfd, or a negative errno.
 */
int twheel_fallback_open(struct fallback **out, struct twheel_setup *setup);
/* All but the file descriptor.  Children that share the wheel go on with it. */
void twheel_fallback_close(struct fallback *f);

/* The words, one for each id; NULL: there are none. */
struct twheel_word *twheel_fallback_words(struct fallback *f);

/* What the calls of the device do, as far as this library makes them. */
int twheel_fallback_call(struct fallback *f, unsigned long request, void *arg);
/*
 * Bytes of the events that have come, at most @size of them; 0: there are none.  What is left
 * keeps the timerfd readable.
 */
int twheel_fallback_read(struct fallback *f, void *to, size_t size);

#endif
