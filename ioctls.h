/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ioctls.
 */
#ifndef TWHEEL_IOCTLS_H
#define TWHEEL_IOCTLS_H

#include <linux/fs.h>

#include "twheel.h"

/**
 * union twheel_arg - the struct of a call, in the kernel
 * @features: of TWHEEL_IOC_FEATURES
 * @setup: of _SETUP and _GET_SETUP
 * @op: of _ARM and _CANCEL
 * @submit: of _SUBMIT
 * @timer: of _GET
 * @list: of _LIST
 * @stats: of _STATS
 */
union twheel_arg {
	struct twheel_features	features;
	struct twheel_setup	setup;
	struct twheel_op	op;
	struct twheel_submit	submit;
	struct twheel_timer	timer;
	struct twheel_list	list;
	struct twheel_stats	stats;
};

TWHEEL_PART long twheel_ioctl(struct file *file, unsigned int cmd, unsigned long user_arg);

TWHEEL_PART int twheel_get_setup(struct twheel *tw, union twheel_arg *arg);
TWHEEL_PART int twheel_stats(struct twheel *tw, union twheel_arg *arg);
TWHEEL_PART void twheel_shape(struct timers *ts, const struct twheel_setup *setup,
			      enum twheel_clock clock, u64 now);

#endif /* TWHEEL_IOCTLS_H */
