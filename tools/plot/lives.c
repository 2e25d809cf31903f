// SPDX-License-Identifier: GPL-2.0
/*
 * Timers, from arm to delivery: some have a lane each, many are rows of shades.  Below both there
 * are wake-ups, and how late timers were; these rows are the legend of the colours, too.
 */
#include <math.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "plot/draw.h"
#include "plot/picture.h"
#include "plot/svg.h"

/* More have no lanes. */
#define LANES_MAX	40

/* Of many: rows at most, and how high they are all together, or each at least. */
#define ROWS_MAX	360
#define ROWS_HEIGHT	720
#define ROW_MIN		2

#define GAP		14
#define LEGEND_ROW	20

const char * const place_classes[STORY_PLACES] = {
	"b0", "b1", "b2", "b3", "b4", "bq", "bo", "bu", "br",
};

static const char * const place_names[STORY_PLACES] = {
	"level 0", "level 1", "level 2", "level 3", "level 4 and up", "in the queue", "in order",
	"armed, nothing tells where", "due, not read yet",
};

const char * const late_classes[LATE_ROWS] = { "l0", "l1", "l2", "l3", "l4", "le" };

uint32_t late_class(const struct story_mark *mark)
{
	uint64_t bound = 100 * NSEC_PER_USEC;
	uint32_t class = 0;

	if (mark->early)
		return LATE_EARLY;
	while (class < LATE_CLASSES - 1 && mark->late > bound) {
		bound *= 10;
		class++;
	}
	return class;
}

static uint32_t row_height(const struct picture *p)
{
	uint32_t height = ROWS_HEIGHT / p->rows;

	if (p->lanes || height > LANE)
		return LANE;
	return height < ROW_MIN ? ROW_MIN : height;
}

/* They are few, so the row that tells of their sign is there only with them. */
static bool has_stale(const struct picture *p)
{
	return p->lanes && p->story->count[STORY_STALE];
}

static void lay_out(struct picture *p)
{
	uint32_t nr = p->story->nr_timers;
	int y;

	p->lanes = nr <= LANES_MAX;
	p->timers = (nr + ROWS_MAX - 1) / ROWS_MAX;
	p->rows = (nr + p->timers - 1) / p->timers;
	p->row = row_height(p);
	y = TOP + p->rows * p->row + GAP;
	p->stack = y;
	if (!p->lanes)
		y += STACK + GAP;
	p->wakes = y;
	y += WAKES + GAP;
	p->late = y;
	y += LATE_ROWS * LATE_ROW + 4;
	p->axis = y;
	p->legend = y + 32;
	p->height = p->legend + (p->lanes ? 42 : 24);
	if (has_stale(p))
		p->height += LEGEND_ROW;
}

/* What is said above, and to those who can't see. */
static void say(const struct story *story, char *title, char *about, size_t size)
{
	char timers[NUMBER_LEN], count[STORY_WHATS][NUMBER_LEN], wakes[NUMBER_LEN];
	char vain[NUMBER_LEN], lost[NUMBER_LEN], time[DURATION_LEN], most[DURATION_LEN];
	uint64_t latest = 0;
	size_t i, empty = 0;
	int len;

	for (i = 0; i < story->nr_wakes; i++)
		empty += !story->wake[i].of_use;
	for (i = 0; i < story->nr_marks; i++) {
		if (story->mark[i].late > latest)
			latest = story->mark[i].late;
	}
	for (i = 0; i < STORY_WHATS; i++)
		number(count[i], story->count[i]);
	snprintf(title, size, "%s timer%s in %s", number(timers, story->nr_timers),
		 story->nr_timers == 1 ? "" : "s", duration_short(time, span(story)));
	len = snprintf(about, size,
		       "came down: %s, pushed back: %s, cancelled: %s, found due: %s, by %s too late "
		       "at the most; wake-ups: %s, for nothing: %s", count[STORY_MOVED],
		       count[STORY_PUSHED_BACK], count[STORY_CANCELLED], count[STORY_EXPIRED],
		       duration_short(most, latest), number(wakes, story->nr_wakes),
		       number(vain, empty));
	if (story->lost)
		snprintf(about + len, size - len, "; lost: %s", number(lost, story->lost));
}

/* The step of 1, 2 or 5, tens of these and so on, by which there are ten marks at most. */
static uint64_t step_of(uint64_t length)
{
	static const uint64_t units[] = {
		24 * 3600 * NSEC_PER_SEC, 3600 * NSEC_PER_SEC, 60 * NSEC_PER_SEC, 1,
	};
	uint64_t step;
	size_t i = 0;

	while (length < 4 * units[i] && units[i] > 1)
		i++;
	for (step = units[i];; step *= 10) {
		if (length / step <= 10)
			return step;
		if (length / step <= 20)
			return 2 * step;
		if (length / step <= 50)
			return 5 * step;
	}
}

static void draw_axis(const struct picture *p)
{
	const struct story *story = p->story;
	uint64_t length = span(story), step = step_of(length), time;
	char text[DURATION_LEN], begin[DURATION_LEN], note[128];

	printf("<path class=\"g\" d=\"");
	for (time = 0; time <= length; time += step)
		printf("M%.1f %dV%d", x_of(story, story->begin + time), TOP, p->axis);
	puts("\"/>");
	for (time = 0; time <= length; time += step)
		svg_text(round(x_of(story, story->begin + time)), p->axis + 14, "d m",
			 duration_exact(text, time));
	if (!story->begin)
		return;
	snprintf(note, sizeof(note), "the axis begins at %s", duration_short(begin, story->begin));
	svg_text(RIGHT, TOP - 4, "d e", note);
}

/* Returns where the next one may begin. */
static double legend_text(double x, double y, const char *text)
{
	svg_text(round(x), y, "d", text);
	return x + svg_width_of(text) + 18;
}

static void draw_places(const struct picture *p)
{
	bool used[STORY_PLACES] = {};
	double x = LEFT;
	size_t i;

	for (i = 0; i < p->story->nr_bars; i++)
		used[p->story->bar[i].place] = true;
	for (i = 0; i < STORY_PLACES; i++) {
		if (!used[i])
			continue;
		svg_rect(round(x), p->legend, 11, 11, place_classes[i]);
		x = legend_text(x + 16, p->legend + 10, place_names[i]);
	}
}

static void draw_signs(const struct picture *p)
{
	static const char * const signs[STORY_WHATS] = {
		[STORY_MOVED] = "comes down a level", [STORY_PUSHED_BACK] = "is pushed back",
		[STORY_CANCELLED] = "is cancelled", [STORY_DELIVERED] = "is delivered",
	};
	double x = LEFT, y = p->legend + LEGEND_ROW;

	if (has_stale(p)) {
		draw_sign(STORY_STALE, LEFT + 4, y + LEGEND_ROW + 6);
		legend_text(LEFT + 14, y + LEGEND_ROW + 10,
			    "its event does not count: a store has moved or cancelled it");
	}
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		if (!signs[i] || !p->story->count[i])
			continue;
		draw_sign(i, round(x) + 4, y + (i == STORY_MOVED ? 13 : 6));
		x = legend_text(x + 14, y + 10, signs[i]);
	}
	if (!p->story->count[STORY_EXPIRED])
		return;
	printf("<circle class=\"l0\" cx=\"%g\" cy=\"%g\" r=\"4\"/>\n", round(x) + 4, y + 6);
	legend_text(x + 14, y + 10, "is found due, in the colour above; dashes: its deadline");
}

void draw_lives(const struct story *story)
{
	struct picture p = { .story = story };
	char title[512], about[512];

	lay_out(&p);
	say(story, title, about, sizeof(about));
	svg_begin(p.height, title, about);
	svg_text(20, 28, "h", title);
	svg_text(20, 46, "d", about);
	svg_rect(LEFT, TOP, RIGHT - LEFT, p.rows * p.row, "a");
	draw_axis(&p);
	if (p.lanes)
		draw_lanes(&p);
	else
		draw_many(&p);
	draw_wakes(&p);
	draw_late(&p);
	draw_places(&p);
	if (p.lanes)
		draw_signs(&p);
	svg_end();
}
