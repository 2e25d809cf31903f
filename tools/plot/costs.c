// SPDX-License-Identifier: GPL-2.0
/*
 * What systems have done for the same timers, from their counters.
 *
 * If each system comes once: a table, in which a bar below each number says how large it is, by its
 * logarithm.  If some come more than once, with other numbers of timers or of slots: curves, what a
 * timer and a wake-up take against both.
 */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "plot/draw.h"
#include "plot/svg.h"

#define TOP		64

/* The table */

#define LEFT		106
#define COLUMN		108
#define BAR		92
#define ROW		34

static char *count_text(char *buf, uint64_t value)
{
	return number(buf, value);
}

static const struct measure {
	const char *name;
	const char *about;
	size_t offset;
	char *(*text)(char *buf, uint64_t value);
} measures[] = {
	{ "INSERTS", "", offsetof(struct story_costs, inserts), count_text },
	{ "MOVES", "on the way down", offsetof(struct story_costs, moves), count_text },
	{ "PASSED", "looked at in vain", offsetof(struct story_costs, passed), count_text },
	{ "WAKE-UPS", "", offsetof(struct story_costs, wakeups), count_text },
	{ "EMPTY", "of these", offsetof(struct story_costs, empty), count_text },
	{ "LATE", "the mean", offsetof(struct story_costs, late_mean), duration_short },
	{ "MEMORY", "the most", offsetof(struct story_costs, memory), bytes },
};

/* Periods are inserts, too, but no timers. */
static uint64_t timers_of(const struct story_costs *costs)
{
	return costs->inserts > costs->periods ? costs->inserts - costs->periods : 0;
}

static uint64_t value_of(const struct story_costs *costs, const struct measure *measure)
{
	return *(const uint64_t *)((const char *)costs + measure->offset);
}

/* 0 for 0, and 1 for the most. */
static double part_of(uint64_t value, uint64_t most)
{
	return most ? log10(value + 1.0) / log10(most + 1.0) : 0;
}

static void draw_column(const struct story *story, size_t column)
{
	const struct measure *measure = &measures[column];
	double x = LEFT + column * COLUMN;
	char text[DURATION_LEN];
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < story->nr_costs; i++) {
		if (value_of(&story->costs[i], measure) > most)
			most = value_of(&story->costs[i], measure);
	}
	svg_text(x, TOP + 8, "", measure->name);
	svg_text(x, TOP + 21, "d", measure->about);
	for (i = 0; i < story->nr_costs; i++) {
		uint64_t value = value_of(&story->costs[i], measure);
		double y = TOP + 32 + i * ROW;

		svg_text(x, y + 12, "", measure->text(text, value));
		svg_rect(x, y + 17, BAR, 6, "a");
		svg_rect(x, y + 17, round(10 * BAR * part_of(value, most)) / 10, 6,
			 i ? "bo" : "s0");
	}
}

static void draw_table(const struct story *story)
{
	int height = TOP + 32 + story->nr_costs * ROW + 28;
	char title[128], nr[NUMBER_LEN];
	const char about[] = "what each has done for the same load, in colour the first of them; "
			     "bars are logarithmic, and full for the largest of a column";
	uint64_t timers = timers_of(&story->costs[0]);
	size_t column, i;

	snprintf(title, sizeof(title), "The same %s timer%s in %zu system%s", number(nr, timers),
		 timers == 1 ? "" : "s", story->nr_costs, story->nr_costs == 1 ? "" : "s");
	svg_begin(height, title, about);
	svg_text(20, 28, "h", title);
	svg_text(20, 46, "d", about);
	for (i = 0; i < story->nr_costs; i++)
		svg_text(20, TOP + 44 + i * ROW, "", story->system[story->costs[i].system]);
	for (column = 0; column < ARRAY_SIZE(measures); column++)
		draw_column(story, column);
	svg_end();
}

/* Curves */

#define PANEL		220
#define PANEL_HEIGHT	270
#define PANEL_LEFT	64
#define PANEL_STEP	272

/* Looks and moves that a timer takes. */
static double of_timer(const struct story_costs *costs)
{
	return (double)(costs->passed + costs->moves) / timers_of(costs);
}

/* The same by wake-ups. */
static double of_wakeup(const struct story_costs *costs)
{
	return (double)(costs->passed + costs->moves) / costs->wakeups;
}

static double nr_timers(const struct story_costs *costs)
{
	return timers_of(costs);
}

static double slots_of(const struct story_costs *costs)
{
	return costs->slots;
}

/**
 * struct panel - curves against one number
 * @name: of the panel
 * @against: the number
 * @x: what it is
 * @y: what is drawn
 * @same: what the points of a curve have in common
 */
struct panel {
	const char	*name;
	const char	*against;
	double		(*x)(const struct story_costs *costs);
	double		(*y)(const struct story_costs *costs);
	double		(*same)(const struct story_costs *costs);
};

static const struct panel panels[] = {
	{ "looks and moves for a timer", "n, timers", nr_timers, of_timer, slots_of },
	{ "looks and moves for a wake-up", "n, timers", nr_timers, of_wakeup, slots_of },
	{ "looks and moves for a timer", "m, slots of a level", slots_of, of_timer, nr_timers },
};

/**
 * struct scale - where a number is, by its logarithm
 * @low: the power of ten at the one end
 * @high: at the other
 * @from: where the one end is
 * @to: and the other
 */
struct scale {
	double	low;
	double	high;
	double	from;
	double	to;
};

static double at(const struct scale *scale, double value)
{
	return scale->from +
	       (scale->to - scale->from) * (log10(value) - scale->low) / (scale->high - scale->low);
}

/**
 * struct point - what a curve goes through
 * @system: whose it is, as in struct story_costs
 * @order: in which it was told
 * @same: what the points of a curve have in common
 * @x: where it is
 * @y: the same
 */
struct point {
	uint32_t	system;
	uint32_t	order;
	double		same;
	double		x;
	double		y;
};

/**
 * struct curve - some points, from left to right
 * @point: the first
 * @nr: how many
 * @order: of the one that was told first
 */
struct curve {
	const struct point	*point;
	size_t			nr;
	uint32_t		order;
};

static int compare(double a, double b)
{
	return (a > b) - (a < b);
}

/* Those of a curve come together, from left to right. */
static int compare_points(const void *a, const void *b)
{
	const struct point *left = a, *right = b;
	int order = compare(left->system, right->system);

	if (!order)
		order = compare(left->same, right->same);
	if (!order)
		order = compare(left->x, right->x);
	return order ? order : compare(left->order, right->order);
}

/* The one that was told first is drawn last, above the others. */
static int compare_curves(const void *a, const void *b)
{
	const struct curve *left = a, *right = b;

	return compare(right->order, left->order);
}

static bool is_of_curve(const struct point *a, const struct point *b)
{
	return a->system == b->system && compare(a->same, b->same) == 0;
}

/* Returns how many of them can be drawn; of several in the same place the one told first. */
static size_t find_points(const struct story *story, const struct panel *panel,
			  struct point *points)
{
	size_t nr = 0, i, kept = 0;

	for (i = 0; i < story->nr_costs; i++) {
		const struct story_costs *costs = &story->costs[i];
		struct point point = {
			.system = costs->system, .order = i, .same = panel->same(costs),
			.x = panel->x(costs), .y = panel->y(costs),
		};

		if (point.x > 0 && point.y > 0 && isfinite(point.y))
			points[nr++] = point;
	}
	qsort(points, nr, sizeof(*points), compare_points);
	for (i = 0; i < nr; i++) {
		if (!kept || !is_of_curve(&points[kept - 1], &points[i]) ||
		    points[kept - 1].x < points[i].x)
			points[kept++] = points[i];
	}
	return kept;
}

/* One point is no curve. */
static size_t find_curves(const struct point *points, size_t nr, struct curve *curves)
{
	size_t found = 0, i, end;

	for (i = 0; i < nr; i = end) {
		uint32_t order = points[i].order;

		for (end = i + 1; end < nr && is_of_curve(&points[i], &points[end]); end++)
			order = points[end].order < order ? points[end].order : order;
		if (end - i > 1)
			curves[found++] = (struct curve){ &points[i], end - i, order };
	}
	qsort(curves, found, sizeof(*curves), compare_curves);
	return found;
}

static void find_scales(const struct curve *curves, size_t nr, struct scale *x, struct scale *y)
{
	x->low = INFINITY;
	x->high = -INFINITY;
	y->low = INFINITY;
	y->high = -INFINITY;
	for (size_t i = 0; i < nr; i++) {
		for (size_t j = 0; j < curves[i].nr; j++) {
			const struct point *point = &curves[i].point[j];

			x->low = fmin(x->low, log10(point->x));
			x->high = fmax(x->high, log10(point->x));
			y->low = fmin(y->low, floor(log10(point->y)));
			y->high = fmax(y->high, ceil(log10(point->y) + 0.001));
		}
	}
	/* Large numbers may be so near each other that their logarithms are the same. */
	x->high = fmax(x->high, x->low + 0.000001);
}

/* Systems have a colour each, as far as these go. */
static uint32_t colour_of(uint32_t system)
{
	return system % 10;
}

/* 0.01, 100, 10k, 1M */
static char *power(char *buf, int exponent)
{
	static const char * const units[] = { "", "k", "M", "G", "T" };
	double value = pow(10, exponent);
	size_t unit = 0;

	while (value >= 1000 && unit < ARRAY_SIZE(units) - 1) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, NUMBER_LEN, "%g%s", round(value * 1e6) / 1e6, units[unit]);
	return buf;
}

static void draw_grid(const struct panel *panel, const struct scale *x, const struct scale *y)
{
	char text[NUMBER_LEN];
	int exponent;

	svg_text(x->from, TOP - 4 + 18, "", panel->name);
	svg_rect(x->from, y->to, x->to - x->from, y->from - y->to, "a");
	for (exponent = ceil(x->low); exponent <= x->high + 0.001; exponent++) {
		double here = round(at(x, pow(10, exponent)));

		printf("<path class=\"g\" d=\"M%g %gV%g\"/>\n", here, y->from, y->to);
		svg_text(here, y->from + 14, "d m", power(text, exponent));
	}
	for (exponent = y->low; exponent <= y->high + 0.001; exponent++) {
		double here = round(at(y, pow(10, exponent)));

		printf("<path class=\"g\" d=\"M%g %gH%g\"/>\n", x->from, here, x->to);
		svg_text(x->from - 6, here + 4, "d e", power(text, exponent));
	}
	svg_text(x->to, y->from + 28, "d e", panel->against);
}

/* Each second one is dashed: another one may lie below it. */
static void draw_curve(const struct curve *curve, const struct scale *x, const struct scale *y)
{
	uint32_t colour = colour_of(curve->point->system);
	size_t i;

	printf("<path class=\"l s%u\" stroke-width=\"%d\"%s d=\"", colour, colour ? 2 : 3,
	       colour % 2 ? " stroke-dasharray=\"7 3\"" : "");
	for (i = 0; i < curve->nr; i++)
		printf("%c%.1f %.1f", i ? 'L' : 'M', at(x, curve->point[i].x),
		       at(y, curve->point[i].y));
	puts("\"/>");
	for (i = 0; i < curve->nr; i++)
		printf("<circle class=\"s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", colour,
		       at(x, curve->point[i].x), at(y, curve->point[i].y));
}

static void draw_panel(const struct story *story, const struct panel *panel, double left)
{
	struct scale x = { .from = left, .to = left + PANEL };
	struct scale y = { .from = TOP + 24 + PANEL_HEIGHT, .to = TOP + 24 };
	struct point *points = calloc(story->nr_costs, sizeof(*points));
	struct curve *curves = calloc(story->nr_costs, sizeof(*curves));
	size_t nr, i;

	if (!points || !curves)
		fail("out of memory");
	nr = find_curves(points, find_points(story, panel, points), curves);
	if (nr) {
		find_scales(curves, nr, &x, &y);
		draw_grid(panel, &x, &y);
	}
	for (i = 0; i < nr; i++)
		draw_curve(&curves[i], &x, &y);
	free(points);
	free(curves);
}

static void draw_names(const struct story *story, double y)
{
	double x = PANEL_LEFT;

	for (uint32_t i = 0; i < story->nr_systems; i++) {
		char class[8];

		snprintf(class, sizeof(class), "s%u", colour_of(i));
		svg_rect(round(x), y, 11, 11, class);
		svg_text(round(x) + 16, y + 10, "", story->system[i]);
		x += 16 + svg_width_of(story->system[i]) + 18;
	}
}

static void draw_curves(const struct story *story)
{
	static const char title[] = "What timers cost in each system, against n and m";
	static const char about[] = "counted, not timed; a system of which nothing is looked at in "
				    "vain and nothing moves has no curve";
	int height = TOP + PANEL_HEIGHT + 96;
	size_t i;

	svg_begin(height, title, about);
	svg_text(20, 28, "h", title);
	svg_text(20, 46, "d", about);
	for (i = 0; i < ARRAY_SIZE(panels); i++)
		draw_panel(story, &panels[i], PANEL_LEFT + i * PANEL_STEP);
	draw_names(story, TOP + PANEL_HEIGHT + 68);
	svg_end();
}

void draw_costs(const struct story *story)
{
	if (story->nr_systems < story->nr_costs)
		draw_curves(story);
	else
		draw_table(story);
}
