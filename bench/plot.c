// SPDX-License-Identifier: GPL-2.0
/*
 * Draws what an operation costs against the number of timers, for all who were
 * measured: SVG, both axes logarithmic, one panel for each operation.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"
#include "plot.h"
#include "rows.h"

enum {
	WIDTH = 300, HEIGHT = 300,	/* of a panel's field */
	LEFT = 70, TOP = 70, GAP = 20, BELOW_FIELD = 56,
	PANELS_WIDE = 3,
	LEGEND = 64,
	X_MIN = 1000, X_MAX = 1000000,
};

/* Powers of ten, ns. */
static int y_min = 0, y_max = 7;

static double x_of(double timers)
{
	return WIDTH * 0.05 + WIDTH * 0.9 * log10(timers / X_MIN) / log10((double)X_MAX / X_MIN);
}

static double y_of(double ns)
{
	return HEIGHT - HEIGHT * (log10(ns) - y_min) / (y_max - y_min);
}

static int by_timers(const void *a, const void *b)
{
	const struct row *const *x = a, *const *y = b;

	return ((*x)->timers > (*y)->timers) - ((*x)->timers < (*y)->timers);
}

/* What was measured of a line of a panel; returns how many, by number of timers. */
static size_t points(const struct row **found, size_t most, const struct plot *plot,
		     const char *name, const char *peer)
{
	size_t n = 0;

	for (unsigned int i = 0; i < nr_rows && n < most; i++)
		if (rows[i].nr && plot->shows(&rows[i]) && !strcmp(rows[i].name, name) &&
		    !strcmp(rows[i].peer, peer))
			found[n++] = &rows[i];
	qsort(found, n, sizeof(*found), by_timers);
	return n;
}

static void find_range(const struct plot *plot)
{
	double least = INFINITY, most = 0;

	for (unsigned int i = 0; i < nr_rows; i++) {
		for (size_t p = 0; p < plot->nr_panels; p++) {
			if (!rows[i].nr || !plot->shows(&rows[i]) ||
			    strcmp(rows[i].name, plot->panels[p].name))
				continue;
			least = fmin(least, rows[i].median);
			most = fmax(most, rows[i].median);
		}
	}
	if (most > 0) {
		y_min = floor(log10(least));
		y_max = ceil(log10(most));
	}
}

/* 1 ns to 10 s, of a power of ten. */
static const char *span(int power)
{
	static const char *const names[] = {
		"1 ns", "10 ns", "100 ns", "1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms",
		"1 s", "10 s",
	};

	return power >= 0 && power < (int)COUNT(names) ? names[power] : "";
}

static void draw_field(FILE *file, const char *title, bool first)
{
	static const char *const counts[] = { "1,000", "10,000", "100,000", "1,000,000" };

	fprintf(file, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\" stroke=\"#ddd\"/>\n"
		"<text x=\"%d\" y=\"-12\" font-size=\"13\" fill=\"#333\" font-weight=\"bold\" "
		"text-anchor=\"middle\">%s</text>\n", WIDTH, HEIGHT, WIDTH / 2, title);
	for (int power = y_min; power <= y_max; power++) {
		double y = y_of(pow(10, power));

		fprintf(file, "<path d=\"M0 %.1fH%d\" stroke=\"#eee\"/>\n", y, WIDTH);
		if (first)
			fprintf(file, "<text x=\"-8\" y=\"%.1f\" font-size=\"11\" fill=\"#666\" "
				"text-anchor=\"end\">%s</text>\n", y + 4, span(power));
	}
	for (size_t i = 0; i < COUNT(counts); i++)
		fprintf(file, "<text x=\"%.1f\" y=\"%d\" font-size=\"11\" fill=\"#666\" "
			"text-anchor=\"middle\">%s</text>\n", x_of(X_MIN * pow(10, i)),
			HEIGHT + 16, counts[i]);
}

static void draw_line(FILE *file, const struct plot *plot, const char *name,
		      const struct plot_line *line)
{
	const struct row *found[8] = {};
	size_t n = points(found, COUNT(found), plot, name, line->peer);

	if (!n)
		return;
	fprintf(file, "<path d=\"");
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%c%.1f %.1f", i ? 'L' : 'M', x_of(found[i]->timers),
			y_of(found[i]->median));
	fprintf(file, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\"", line->colour);
	if (*line->dash)
		fprintf(file, " stroke-dasharray=\"%s\"", line->dash);
	fprintf(file, "/>\n");
	for (size_t i = 0; i < n; i++)
		fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
			x_of(found[i]->timers), y_of(found[i]->median), line->colour);
}

static void draw_legend(FILE *file, const struct plot *plot, int top)
{
	for (size_t i = 0; i < plot->nr_lines; i++) {
		const struct plot_line *line = &plot->lines[i];
		int x = LEFT + i % 4 * 240, y = top + (int)(i / 4) * 24;

		fprintf(file, "<path d=\"M%d %dh28\" stroke=\"%s\" stroke-width=\"2.5\"", x, y,
			line->colour);
		if (*line->dash)
			fprintf(file, " stroke-dasharray=\"%s\"", line->dash);
		fprintf(file, "/>\n<text x=\"%d\" y=\"%d\" font-size=\"13\" "
			"fill=\"#333\">%s</text>\n", x + 36, y + 4, line->label);
	}
}

void plot_write(const struct plot *plot, const char *path)
{
	size_t lines = (plot->nr_panels + PANELS_WIDE - 1) / PANELS_WIDE;
	int width = LEFT + PANELS_WIDE * (WIDTH + GAP);
	int line_height = TOP / 2 + HEIGHT + BELOW_FIELD;
	int top = TOP / 2 + (int)lines * line_height;
	int height = top + LEGEND;
	FILE *file = fopen(path, "w");

	if (!file)
		die("%s: %m", path);
	find_range(plot);
	fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" role=\"img\" aria-label=\"What an operation costs, "
		"against the number of timers\">\n"
		"<!-- SPDX-%s: GPL-2.0 -->\n"
		"<rect width=\"%d\" height=\"%d\" rx=\"10\" fill=\"#fbfaf7\"/>\n"
		"<text x=\"%d\" y=\"30\" font-size=\"16\" fill=\"#333\" font-weight=\"bold\">"
		"%s (%s; medians of %s)</text>\n",
		width, height, "License-Identifier", width, height, LEFT, plot->title,
		fact_of(plot->machine), fact_of(plot->runs));
	for (size_t p = 0; p < plot->nr_panels; p++) {
		fprintf(file, "<g transform=\"translate(%d %d)\">\n",
			LEFT + (int)(p % PANELS_WIDE) * (WIDTH + GAP),
			TOP + (int)(p / PANELS_WIDE) * line_height);
		draw_field(file, plot->panels[p].title, !(p % PANELS_WIDE));
		for (size_t line = plot->nr_lines; line--;)
			draw_line(file, plot, plot->panels[p].name, &plot->lines[line]);
		fprintf(file, "</g>\n");
	}
	fprintf(file, "<text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"#666\" "
		"text-anchor=\"middle\">timers armed</text>\n",
		LEFT + (width - LEFT) / 2, top - 22);
	draw_legend(file, plot, top + 8);
	fprintf(file, "</svg>\n");
	if (fclose(file))
		die("%s: %m", path);
}
