/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TWHEEL_BENCH_PLOT_H
#define TWHEEL_BENCH_PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct row;

/* A panel: the operation of the rows that it shows. */
struct plot_panel {
	const char	*name;
	const char	*title;
};

/* A line of each panel: whose rows it shows; @dash: on and off, or "". */
struct plot_line {
	const char	*peer;
	const char	*label;
	const char	*colour;
	const char	*dash;
};

/**
 * struct plot - a picture
 * @title: what stands above it, before the machine and the runs
 * @machine: the fact that tells on what it was measured
 * @runs: the fact that tells how often
 * @shows: whether a row is in it, if it is of a panel's operation and of a line's peer
 * @panels: from left to right
 * @nr_panels: how many
 * @lines: in the order of the legend; the first is drawn over the others
 * @nr_lines: how many
 */
struct plot {
	const char		*title;
	const char		*machine;
	const char		*runs;
	bool			(*shows)(const struct row *row);
	const struct plot_panel	*panels;
	size_t			nr_panels;
	const struct plot_line	*lines;
	size_t			nr_lines;
};

/* Write an SVG of the rows that were read. */
void plot_write(const struct plot *plot, const char *path);

#endif
