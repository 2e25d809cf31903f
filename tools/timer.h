/* SPDX-License-Identifier: GPL-2.0 */
/* How list and get show a timer. */
#ifndef TWHEEL_TIMER_H
#define TWHEEL_TIMER_H

#include <linux/twheel.h>

const char *timer_state(const struct twheel_timer *timer);

/* ns until it is due; 0: it is due.  The kernel then reports 1, because 0 means never. */
static inline __u64 timer_remaining(const struct twheel_timer *timer)
{
	return timer->state == TWHEEL_STATE_EXPIRED ? 0 : timer->remaining;
}

/* How often it will still expire: "for ever", a number, or "-"; @buf has TIMER_LEFT_LEN bytes. */
#define TIMER_LEFT_LEN	16
const char *timer_left(char *buf, const struct twheel_timer *timer);

/* Print everything about it in one line. */
void timer_json(const struct twheel_timer *timer);

#endif
