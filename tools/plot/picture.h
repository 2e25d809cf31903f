/* SPDX-License-Identifier: GPL-2.0 */
/* A picture of lives, as SVG: the wheels below each other, on one axis of time. */
#ifndef TWHEEL_PLOT_PICTURE_H
#define TWHEEL_PLOT_PICTURE_H

#include <stdio.h>

#include "plot/lives.h"

void picture(FILE *out, const struct lives *lives, size_t nr, const struct choice *choice);

#endif
