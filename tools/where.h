/* SPDX-License-Identifier: GPL-2.0 */
/* In which slot a timer of a live wheel is. */
#ifndef TWHEEL_WHERE_H
#define TWHEEL_WHERE_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/twheel.h>

/**
 * struct where - a wheel whose timers are sought, and what was found of them
 * @wheel: the wheel
 * @calls: so many may be made for one timer
 * @places: a tree by id: where timers were found that were passed on the way to the first of a list
 */
struct where {
	int		wheel;
	unsigned int	calls;
	void		*places;
};

/* Enough for any list: a call passes 64 timers. */
#define WHERE_CALLS	UINT32_MAX

/*
 * In which slot timer @id of that generation is, however many stand before it.  @told->before
 * counts all of them, and some that were cancelled since they were passed.  TWHEEL_PLACE_BEHIND:
 * @calls were not enough; or it was armed anew, or the wheel files timers all the time, and the way
 * to the first of the list was never walked in one go.  To seek all timers of a wheel that rests
 * takes three calls for each, at the most, and some 80 bytes for each that stands behind others.
 *
 * Returns false if the module does not tell; exits with one line if another call fails.
 */
bool where_seek(struct where *where, __u32 id, __u32 generation, struct twheel_where *told);

void where_free(struct where *where);

#endif
