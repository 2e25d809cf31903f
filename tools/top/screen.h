/* SPDX-License-Identifier: GPL-2.0 */
/* What twheel top shows, on a terminal of 80 columns and 24 lines or more. */
#ifndef TWHEEL_TOP_SCREEN_H
#define TWHEEL_TOP_SCREEN_H

#include "top/model.h"

/**
 * struct view - what is shown beside the model
 * @name: of the wheel
 * @state: a word on what it does
 * @speed: how often a second of the wheel passes in one of ours, as a power of two
 * @clock: the wheel's time
 * @zero: from which that is counted
 * @armed: timers that are armed
 * @per_s: events in a second of the wheel
 * @next: the next deadline, or 0
 * @unread: events that wait to be read
 * @lost: events that the kernel could not tell
 * @keys: which keys do what
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

/* Takes the terminal.  Ends the program with one line if that is none. */
void screen_begin(void);
void screen_end(void);
void screen_draw(const struct model *model, const struct view *view);
/* A key, or -1 after @ms. */
int screen_key(int ms);

#endif
