/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/twheel: the only place where the command makes its system calls.  The demo
 * uses libtwheel, and from here only what that lacks: counters, and sentences for
 * errors.
 *
 * A call returns 0 (or a count) or a negative errno, for wheel_explain().
 */
#ifndef TWHEEL_DEVICE_H
#define TWHEEL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/twheel.h>

#define WHEEL_PATH	"/dev/twheel"

/* Open a new wheel, whose reads block. */
int wheel_open(void);
int wheel_features(int wheel, struct twheel_features *features);
int wheel_setup(int wheel, struct twheel_setup *setup);
int wheel_get_setup(int wheel, struct twheel_setup *setup);
int wheel_stats(int wheel, struct twheel_stats *stats);

/* At most @nr timers from @cursor on; returns how many, 0 at the end. */
int wheel_list(int wheel, __u32 *cursor, struct twheel_timer *timers, __u32 nr);

/* Get the state of timer->id. */
int wheel_get(int wheel, struct twheel_timer *timer);

/*
 * Carry out all of @ops, in as few calls as possible.  Returns 0 or the error that
 * stopped it; @done counts the operations whose result was written.
 */
int wheel_submit(int wheel, struct twheel_op *ops, size_t nr, size_t *done);

/* Wait for events, at most @nr; returns how many, or -EINTR... */
int wheel_read(int wheel, struct twheel_event *events, size_t nr);

/* Is this file descriptor a wheel? */
bool wheel_is(int fd);

/* The plain sentence for a negative errno of the calls above. */
const char *wheel_explain(int err);
/* The same for wheel_open(), where EPERM comes from a cgroup and not from the request. */
const char *wheel_explain_open(int err);

#endif
