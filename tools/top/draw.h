/* SPDX-License-Identifier: GPL-2.0 */
/* How a frame is drawn.  What is drawn follows from what is passed, and from nothing else. */
#ifndef TWHEEL_TOP_DRAW_H
#define TWHEEL_TOP_DRAW_H

#include "top/frame.h"
#include "top/picture.h"

/**
 * struct view - how a frame is looked at
 * @paused: it stands still
 * @speed: it goes 2 to the power of that times as fast as it would
 * @help: the keys are shown instead of the wheel
 * @keys: keys are taken; else it is a text, and has no line about keys
 * @number: which wheel it is, of those that there are
 * @of: how many there are
 * @message: to be read before anything else, or NULL
 */
struct view {
	bool		paused;
	int		speed;
	bool		help;
	bool		keys;
	unsigned int	number;
	unsigned int	of;
	const char	*message;
};

/* Into a picture that was begun; on one that is too small, only that it is. */
void draw(struct picture *picture, const struct frame *frame, const struct view *view);

/* The lines that it takes to show all of a frame. */
int draw_height(const struct frame *frame, const struct view *view);

#endif
