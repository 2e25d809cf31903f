// SPDX-License-Identifier: GPL-2.0
/*
 * Many timers: rows of several, in which a cell is stronger the more of them wait in it, and has
 * the shade of the level where most do; how many wait where, is drawn below.  A cell is some pixels
 * wide and high, so the file is not much larger for a million timers than for some thousand.
 */
#include <math.h>
#include <stdlib.h>

#include "output.h"
#include "plot/picture.h"
#include "plot/svg.h"

/**
 * struct cell - a part of a row
 * @wait: how long its timers wait in each place, in units of a cell's width
 */
struct cell {
	float wait[STORY_PLACES];
};

static void *alloc(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		fail("out of memory");
	return memory;
}

static size_t row_of(const struct picture *p, uint32_t timer)
{
	return timer / p->timers;
}

/* A path for each class of cells: neighbours in a row are one line. */
static void draw_runs(const struct picture *p, const char *class, double opacity,
		      const uint8_t *of, uint8_t wanted)
{
	uint32_t row, column, end;
	bool any = false;

	for (row = 0; row < p->rows; row++) {
		for (column = 0; column < COLUMNS; column = end) {
			end = column + 1;
			if (of[row * COLUMNS + column] != wanted)
				continue;
			while (end < COLUMNS && of[row * COLUMNS + end] == wanted)
				end++;
			if (!any)
				printf("<path class=\"%s\" stroke-width=\"%u\" opacity=\"%g\" d=\"",
				       class, p->row, opacity);
			any = true;
			printf("M%u %gh%u", LEFT + column * CELL,
			       TOP + row * p->row + p->row / 2.0, (end - column) * CELL);
		}
	}
	if (any)
		puts("\"/>");
}

static void add_bar(const struct picture *p, const struct story_bar *bar, struct cell *row)
{
	double from = (x_of(p->story, bar->from) - LEFT) / CELL;
	double to = (x_of(p->story, bar->to) - LEFT) / CELL;
	uint32_t column;

	for (column = from; column < COLUMNS && column < to; column++)
		row[column].wait[bar->place] += fmin(to, column + 1) - fmax(from, column);
}

/* 0: none waits; else from 1, by place and by how many of a row's timers. */
static uint8_t shade_of(const struct picture *p, const struct cell *cell)
{
	uint32_t place, most = 0, shade;
	double sum = 0;

	for (place = 0; place < STORY_PLACES; place++) {
		sum += cell->wait[place];
		if (cell->wait[place] > cell->wait[most])
			most = place;
	}
	if (sum <= 0)
		return 0;
	shade = sum / p->timers * SHADES;
	return 1 + most * SHADES + (shade < SHADES ? shade : SHADES - 1);
}

static void draw_waiting(const struct picture *p, const struct cell *cells)
{
	size_t nr = (size_t)p->rows * COLUMNS, i;
	uint8_t *shades = alloc(nr, 1);

	for (i = 0; i < nr; i++)
		shades[i] = shade_of(p, &cells[i]);
	for (i = 0; i < STORY_PLACES * SHADES; i++)
		draw_runs(p, place_classes[i / SHADES], 0.55 + 0.15 * (i % SHADES), shades, i + 1);
	free(shades);
}

/* The latest of each cell. */
static void draw_expired(const struct picture *p)
{
	static const uint8_t order[LATE_ROWS] = { 0, LATE_EARLY, 1, 2, 3, 4 };
	uint8_t *latest = alloc((size_t)p->rows * COLUMNS, 1);
	size_t i, rank;

	for (i = 0; i < p->story->nr_marks; i++) {
		const struct story_mark *mark = &p->story->mark[i];
		uint8_t *cell = &latest[row_of(p, mark->timer) * COLUMNS +
					column_of(p->story, mark->at)];

		if (mark->what != STORY_EXPIRED)
			continue;
		for (rank = 0; order[rank] != late_class(mark); rank++)
			;
		if (*cell < rank + 1)
			*cell = rank + 1;
	}
	for (rank = 0; rank < LATE_ROWS; rank++)
		draw_runs(p, late_classes[order[rank]], 1, latest, rank + 1);
	free(latest);
}

/* Of a column, how many wait in the places before each, and at the end in all. */
struct column {
	double before[STORY_PLACES + 1];
};

static struct column *sum_columns(const struct picture *p, const struct cell *cells)
{
	struct column *columns = alloc(COLUMNS, sizeof(*columns));
	uint32_t row, column, place;

	for (column = 0; column < COLUMNS; column++) {
		double *before = columns[column].before;

		for (place = 0; place < STORY_PLACES; place++) {
			before[place + 1] = before[place];
			for (row = 0; row < p->rows; row++)
				before[place + 1] += cells[row * COLUMNS + column].wait[place];
		}
	}
	return columns;
}

/* One place above the other. */
static void draw_place(const struct picture *p, const struct column *columns, uint32_t place,
		       double most)
{
	bool any = false;

	for (int column = 0; column < COLUMNS; column++) {
		const double *before = columns[column].before;
		double from = before[place] / most, to = before[place + 1] / most;

		if (to <= from)
			continue;
		if (!any)
			printf("<path class=\"%s\" stroke-width=\"%d\" d=\"", place_classes[place],
			       CELL);
		any = true;
		printf("M%d %.1fV%.1f", LEFT + column * CELL + CELL / 2,
		       p->stack + STACK * (1 - from), p->stack + STACK * (1 - to));
	}
	if (any)
		puts("\"/>");
}

static void draw_stack(const struct picture *p, const struct cell *cells)
{
	struct column *columns = sum_columns(p, cells);
	char text[NUMBER_LEN];
	uint32_t column, place;
	double most = 0;

	for (column = 0; column < COLUMNS; column++)
		most = fmax(most, columns[column].before[STORY_PLACES]);
	svg_text(LEFT - 8, p->stack + STACK / 2.0 + 4, "e", "how many wait");
	svg_text(RIGHT + 8, p->stack + 9, "d", number(text, llround(most)));
	/* Nobody waits where no time passes. */
	for (place = 0; most > 0 && place < STORY_PLACES; place++)
		draw_place(p, columns, place, most);
	free(columns);
}

void draw_many(const struct picture *p)
{
	struct cell *cells = alloc((size_t)p->rows * COLUMNS, sizeof(*cells));
	char text[64], nr[NUMBER_LEN];
	size_t i;

	for (i = 0; i < p->story->nr_bars; i++) {
		const struct story_bar *bar = &p->story->bar[i];

		add_bar(p, bar, &cells[row_of(p, bar->timer) * COLUMNS]);
	}
	draw_waiting(p, cells);
	draw_expired(p);
	svg_text(LEFT - 8, TOP + 10, "e", "the first timer");
	svg_text(LEFT - 8, TOP + p->rows * p->row - 2, "e", "the last");
	if (p->timers > 1) {
		snprintf(text, sizeof(text), "a row: %s timers", number(nr, p->timers));
		svg_text(LEFT - 8, TOP + round(p->rows * p->row / 2.0), "d e", text);
	}
	draw_stack(p, cells);
	free(cells);
}
