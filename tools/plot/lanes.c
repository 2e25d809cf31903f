// SPDX-License-Identifier: GPL-2.0
/* A few timers: each has a lane, with all that happens to it by name. */
#include <math.h>
#include <stdio.h>

#include "output.h"
#include "plot/picture.h"
#include "plot/svg.h"

static void draw_bar(const struct picture *p, const struct story_bar *bar)
{
	double from = x_of(p->story, bar->from), to = x_of(p->story, bar->to);
	double wide = to - from - 1 > 1 ? to - from - 1 : 1, y = y_of(p, bar->timer) + 4;
	char text[64];

	if (bar->place == STORY_UNREAD) {
		printf("<path class=\"%s\" stroke-width=\"3\" d=\"M%.1f %gH%.1f\"/>\n",
		       place_classes[bar->place], from, y + 7, to);
		return;
	}
	printf("<rect class=\"%s\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"14\" rx=\"2\"/>\n",
	       place_classes[bar->place], from, y, wide);
	if (bar->place >= STORY_QUEUE)
		return;
	/* Beside a sign, which the bar may begin with. */
	snprintf(text, sizeof(text), "level %u, slot %u", bar->level, bar->slot);
	if (svg_width_of(text) + 18 > wide)
		snprintf(text, sizeof(text), "%u: %u", bar->level, bar->slot);
	if (svg_width_of(text) + 18 < wide)
		svg_text(round(from + 9), y + 11, "t", text);
}

void draw_sign(enum story_what what, double x, double y)
{
	printf("<path class=\"k\" d=\"");
	switch (what) {
	case STORY_MOVED:
		printf("M%.1f %gl3.5 4l3.5-4", x - 3.5, y - 9);
		break;
	case STORY_PUSHED_BACK:
		printf("M%.1f %gl4 4l-4 4", x, y - 4);
		break;
	case STORY_CANCELLED:
		printf("M%.1f %gl8 8m0-8l-8 8", x - 4, y - 4);
		break;
	case STORY_DELIVERED:
		printf("M%.1f %gv10", x, y - 5);
		break;
	case STORY_STALE:
		printf("M%.1f %gh7v7h-7z", x - 3.5, y - 3.5);
		break;
	default:
		break;
	}
	puts("\"/>");
}

static void draw_expired(const struct picture *p, const struct story_mark *mark)
{
	double x = x_of(p->story, mark->at), y = y_of(p, mark->timer) + 11;

	if (mark->deadline >= p->story->begin && mark->deadline <= p->story->end)
		printf("<path class=\"k\" d=\"M%.1f %gv14\" stroke-dasharray=\"2 2\"/>\n",
		       x_of(p->story, mark->deadline), y - 7);
	printf("<circle class=\"%s\" cx=\"%.1f\" cy=\"%g\" r=\"%u\"/>\n",
	       late_classes[late_class(mark)], x, y, 4 + late_class(mark) / 2);
}

void draw_lanes(const struct picture *p)
{
	const struct story *story = p->story;
	char text[NUMBER_LEN];
	size_t i;

	for (i = 0; i < story->nr_timers; i++) {
		snprintf(text, sizeof(text), "timer %u", story->id[i]);
		svg_text(LEFT - 8, y_of(p, i) + 15, "e", text);
	}
	for (i = 0; i < story->nr_bars; i++)
		draw_bar(p, &story->bar[i]);
	for (i = 0; i < story->nr_marks; i++) {
		const struct story_mark *mark = &story->mark[i];

		if (mark->what != STORY_EXPIRED)
			draw_sign(mark->what, x_of(story, mark->at), y_of(p, mark->timer) + 11);
	}
	/* Above the others. */
	for (i = 0; i < story->nr_marks; i++) {
		if (story->mark[i].what == STORY_EXPIRED)
			draw_expired(p, &story->mark[i]);
	}
}
