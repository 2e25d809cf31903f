/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events: read and poll.
 */
#ifndef TWHEEL_EVENTS_H
#define TWHEEL_EVENTS_H

#include <linux/fs.h>
#include <linux/poll.h>

#include "twheel.h"

TWHEEL_PART ssize_t twheel_read_iter(struct kiocb *iocb, struct iov_iter *to);
TWHEEL_PART __poll_t twheel_poll(struct file *file, poll_table *wait);

#endif /* TWHEEL_EVENTS_H */
