// SPDX-License-Identifier: GPL-2.0
/* Below the timers: when somebody woke up, and how late timers were. */
#include <math.h>

#include "output.h"
#include "plot/picture.h"
#include "plot/svg.h"

/* Wake-ups are drawn twice as fine as cells. */
#define FINE		(2 * COLUMNS)

static void draw_wakes_of(const struct picture *p, bool of_use, const uint32_t *count)
{
	uint32_t most = 0;
	int column;

	for (column = 0; column < FINE; column++)
		most = count[column] > most ? count[column] : most;
	if (!most)
		return;
	printf("<path class=\"w%d\" stroke-width=\"%d\" d=\"", of_use, CELL / 2);
	for (column = 0; column < FINE; column++) {
		double part = log(1 + count[column]) / log(1 + most);

		if (count[column])
			printf("M%d %dv-%.1f", LEFT + 1 + column * CELL / 2, p->wakes + WAKES,
			       WAKES * part);
	}
	puts("\"/>");
}

void draw_wakes(const struct picture *p)
{
	const struct story *story = p->story;
	uint32_t count[2][FINE] = {}, column;
	char text[NUMBER_LEN];
	size_t i, nr = 0;

	for (i = 0; i < story->nr_wakes; i++) {
		const struct story_wake *wake = &story->wake[i];

		if (wake->at < story->begin || wake->at > story->end)
			continue;
		column = (x_of(story, wake->at) - LEFT) * 2 / CELL;
		count[wake->of_use][column < FINE ? column : FINE - 1]++;
		nr++;
	}
	svg_text(LEFT - 8, p->wakes + WAKES / 2.0 + 4, "e", "wake-ups");
	svg_text(RIGHT + 8, p->wakes + WAKES / 2.0 + 4, "d", number(text, nr));
	/* Those of use last, and by a measure of their own: a few are seen among many. */
	draw_wakes_of(p, false, count[false]);
	draw_wakes_of(p, true, count[true]);
}

static const char * const late_names[LATE_ROWS] = {
	"up to 100us", "up to 1ms", "up to 10ms", "up to 100ms", "later", "early",
};

/* None; one; from two on, from four, from sixteen. */
static uint32_t strength(uint32_t nr)
{
	return nr < 1 ? 0 : nr < 2 ? 1 : nr < 4 ? 2 : nr < 16 ? 3 : 4;
}

static void draw_late_cells(const char *class, double y, const uint32_t *count)
{
	for (uint32_t shade = 1; shade <= SHADES; shade++) {
		bool any = false;

		for (int column = 0; column < COLUMNS; column++) {
			if (strength(count[column]) != shade)
				continue;
			if (!any)
				printf("<path class=\"%s\" stroke-width=\"9\" opacity=\"%g\" d=\"",
				       class, 0.4 + 0.15 * shade);
			any = true;
			printf("M%d %gh%d", LEFT + column * CELL, y, CELL);
		}
		if (any)
			puts("\"/>");
	}
}

void draw_late(const struct picture *p)
{
	uint32_t count[LATE_ROWS][COLUMNS] = {}, sum[LATE_ROWS] = {}, class;
	const struct story *story = p->story;
	char text[NUMBER_LEN];
	size_t i;

	for (i = 0; i < story->nr_marks; i++) {
		if (story->mark[i].what != STORY_EXPIRED)
			continue;
		class = late_class(&story->mark[i]);
		count[class][column_of(story, story->mark[i].at)]++;
		sum[class]++;
	}
	for (class = 0; class < LATE_ROWS; class++) {
		double y = p->late + class * LATE_ROW;

		svg_rect(LEFT - 92, y + 2, 9, 9, late_classes[class]);
		svg_text(LEFT - 8, y + 10, "e", late_names[class]);
		svg_text(RIGHT + 8, y + 10, "d", number(text, sum[class]));
		draw_late_cells(late_classes[class], y + 6.5, count[class]);
	}
}
