/* SPDX-License-Identifier: GPL-2.0 */
/* In which slots the timers of a live wheel are. */
#ifndef TWHEEL_TOP_SLOTS_H
#define TWHEEL_TOP_SLOTS_H

#include "top/frame.h"

/*
 * Add levels to a frame that has its counters, with what a sample of the timers tells.  What it
 * costs does not grow with the number of timers.
 */
void slots_look(struct frame *frame, int wheel, const struct twheel_setup *setup);

#endif
