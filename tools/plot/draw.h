/* SPDX-License-Identifier: GPL-2.0 */
/* The pictures of a story; both are SVG on standard output. */
#ifndef TWHEEL_PLOT_DRAW_H
#define TWHEEL_PLOT_DRAW_H

#include "plot/story.h"

/* Timers, from arm to delivery: each on a lane of its own, or many as shades. */
void draw_lives(const struct story *story);

/* Counters: a bar for each; or curves, if systems come more than once. */
void draw_costs(const struct story *story);

#endif
