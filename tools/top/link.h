/* SPDX-License-Identifier: GPL-2.0 */
/* Links of the page of docs/play, which have a simulation and a place in it behind their #. */
#ifndef TWHEEL_TOP_LINK_H
#define TWHEEL_TOP_LINK_H

#include <stdbool.h>

#include "sim/choice.h"
#include "sim/script.h"
#include "top/source.h"

bool link_is(const char *text);

/* What it says; exits with one line if that makes no sense. */
void link_read(const char *text, struct choice *choice, struct script *script,
	       struct start *start);

#endif
