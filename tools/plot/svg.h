/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SVG on standard output: one file that needs no other, in the colours of a light page or of a
 * dark one, whichever the reader has.
 *
 * Classes of text: h a headline, d dim, e ends there, m is in the middle there, t on a bar.  Of
 * shapes: p paper, a a lane, g a grid, k a mark of ink; b0 to b4 levels, darker the sooner they
 * are looked at, bq, bo, bu and br other places; l0 to l4 lateness, le early, w0 and w1 wake-ups
 * without and with use; s0 to s9 systems.  A path is drawn in the colour of its class.
 */
#ifndef TWHEEL_PLOT_SVG_H
#define TWHEEL_PLOT_SVG_H

#define SVG_WIDTH	880

/* @title and @about are what screen readers say. */
void svg_begin(int height, const char *title, const char *about);
void svg_end(void);

void svg_text(double x, double y, const char *classes, const char *text);
void svg_rect(double x, double y, double width, double height, const char *classes);

/* About how wide a text is. */
double svg_width_of(const char *text);

#endif
