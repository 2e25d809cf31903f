// SPDX-License-Identifier: GPL-2.0
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *));
void probe(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}
