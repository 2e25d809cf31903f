/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A picture of timers' lives: where things are in it.  lives.c lays it out; lanes.c or many.c draws
 * the timers, below.c what stands below them.
 */
#ifndef TWHEEL_PLOT_PICTURE_H
#define TWHEEL_PLOT_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "plot/story.h"

/* From the first time to the last, in cells. */
#define LEFT		112
#define RIGHT		812
#define CELL		4
#define COLUMNS		((RIGHT - LEFT) / CELL)
/* How strong a cell may be. */
#define SHADES		4

#define TOP		64
#define LANE		22
#define STACK		60
#define WAKES		28
#define LATE_ROW	13

/**
 * struct picture - where things are
 * @story: what is drawn
 * @lanes: each timer has one
 * @rows: lanes, or rows of several timers
 * @timers: of a row
 * @row: how high one is
 * @stack: where the picture of how many wait begins, if there is one
 * @wakes: where the wake-ups begin
 * @late: where the rows of lateness begin
 * @axis: where time is told
 * @legend: where the legend begins
 * @height: of all
 */
struct picture {
	const struct story	*story;
	bool			lanes;
	uint32_t		rows;
	uint32_t		timers;
	uint32_t		row;
	int			stack;
	int			wakes;
	int			late;
	int			axis;
	int			legend;
	int			height;
};

/* Of each place a class, as svg.h has them. */
extern const char * const place_classes[STORY_PLACES];

/* Classes of lateness, by powers of ten from 100 us on, and one of those that came early. */
enum { LATE_CLASSES = 5, LATE_EARLY = LATE_CLASSES, LATE_ROWS };

extern const char * const late_classes[LATE_ROWS];

uint32_t late_class(const struct story_mark *mark);

static inline uint64_t span(const struct story *story)
{
	return story->end > story->begin ? story->end - story->begin : 1;
}

static inline double x_of(const struct story *story, uint64_t time)
{
	return LEFT + (double)(RIGHT - LEFT) * (time - story->begin) / span(story);
}

static inline uint32_t column_of(const struct story *story, uint64_t time)
{
	uint32_t column = (x_of(story, time) - LEFT) / CELL;

	return column < COLUMNS ? column : COLUMNS - 1;
}

static inline int y_of(const struct picture *p, uint32_t timer)
{
	return TOP + timer / p->timers * p->row;
}

void draw_lanes(const struct picture *p);
/* What happens to a timer, as a sign around a point; not one that is found due. */
void draw_sign(enum story_what what, double x, double y);

void draw_many(const struct picture *p);

void draw_wakes(const struct picture *p);
void draw_late(const struct picture *p);

#endif
