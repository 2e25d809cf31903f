/* SPDX-License-Identifier: GPL-2.0 */
/* What list and get tell of a timer. */
#ifndef TWHEEL_TIMER_H
#define TWHEEL_TIMER_H

#include <linux/twheel.h>

const char *timer_state(const struct twheel_timer *timer);

/* ns until it is due; 0: it is.  The kernel says 1 then, because an arm for 0 means never. */
static inline __u64 timer_remaining(const struct twheel_timer *timer)
{
	return timer->state == TWHEEL_STATE_EXPIRED ? 0 : timer->remaining;
}

/* How often it expires still: "for ever", a number, or "-"; @buf has room for TIMER_LEFT_LEN. */
#define TIMER_LEFT_LEN	16
const char *timer_left(char *buf, const struct twheel_timer *timer);

/* Print all that is known, a line. */
void timer_json(const struct twheel_timer *timer);

#endif
