/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TWHEEL_BENCH_PLOT_H
#define TWHEEL_BENCH_PLOT_H

/* Write an SVG of the rows that were read. */
void plot_write(const char *path);

#endif
