/* SPDX-License-Identifier: GPL-2.0 */
/* The screen of twheel top, on a terminal of 80 columns and 24 lines or more. */
#ifndef TWHEEL_TOP_SCREEN_H
#define TWHEEL_TOP_SCREEN_H

#include "top/model.h"

/**
 * struct view - what the screen shows in addition to the model
 * @name: of the wheel
 * @state: its state in a word
 * @speed: seconds of the wheel per second, as a power of two
 * @clock: the wheel's time
 * @zero: the time that is shown as 0
 * @armed: number of armed timers
 * @per_s: events in a second of the wheel
 * @next: the next deadline, or 0
 * @unread: events that wait to be read
 * @lost: events that the kernel dropped
 * @keys: the help for the keys
 */
struct view {
	const char	*name;
	const char	*state;
	int		speed;
	uint64_t	clock;
	uint64_t	zero;
	uint64_t	armed;
	struct counts	per_s;
	uint64_t	next;
	uint64_t	unread;
	uint64_t	lost;
	const char	*keys;
};

/* Set up the terminal.  Exits with a message if there is none. */
void screen_begin(void);
void screen_end(void);
void screen_draw(const struct model *model, const struct view *view);
/* Returns a key, or -1 after @ms. */
int screen_key(int ms);

#endif
