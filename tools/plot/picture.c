// SPDX-License-Identifier: GPL-2.0
/*
 * A picture of lives, as SVG.
 *
 * Each level is a lane, the highest on top, so a timer that comes down does so in the picture.  In
 * a lane each stay is a bar; a line leads to the next stay, and a mark shows how the life ended.
 * The colour and the shape of the mark show the lateness, and so do words where there is room.
 *
 * With more timers the bars are thin and have no words.  With many timers a lane is a ring: a row
 * for each slot, or for several, shaded by the number of timers there.  Rows below count the timers
 * that were armed, cancelled, and found due, by lateness.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "plot/picture.h"

#define WIDTH		900
#define LEFT		120
#define RIGHT		880

/* At most this many rows of bars in a wheel; with more the next smaller style is used. */
#define ROWS_LABELLED	40
#define ROWS_THIN	160
/* At most this many bars. */
#define BARS_MAX	4000

/* A ring: columns of 2, rows that fill its height. */
#define COLUMN		2
#define COLUMNS		((RIGHT - LEFT) / COLUMN)
#define RING_HEIGHT	128
#define RING_ROWS	64
#define SHADES		6

/* Levels, and the places that are no slots. */
#define LANES		(64 + 1 + -LEVEL_QUEUE)

#define INK		"#333"
#define FAINT		"#666"
#define GROUND		"#fbfaf7"
#define LANE		"#f3f1ec"
#define WAITING		"#64748b"
#define FIRED		"#c2410c"

/**
 * struct style - how a class of lateness is drawn
 * @colour: of bars and marks
 * @size: of the mark; 0: a dot, otherwise a triangle
 * @words: for the legend
 */
static const struct style {
	const char *colour;
	int size;
	const char *words;
} styles[LATE_CLASSES] = {
	[LATE_EARLY] = { "#7e22ce", -5, "early" },
	[LATE_NOT] = { "#15803d", 0, "on time" },
	[LATE_100US] = { "#4d7c0f", 3, "to 100 us late" },
	[LATE_1MS] = { "#a16207", 4, "to 1 ms late" },
	[LATE_10MS] = { "#c2410c", 5, "to 10 ms late" },
	[LATE_100MS] = { "#b91c1c", 6, "to 100 ms late" },
	[LATE_MORE] = { "#701a1a", 7, "over 100 ms late" },
};

/**
 * struct figure - the picture
 * @out: the file
 * @begin: the time at the left
 * @end: the time at the right
 * @zero: the time that is 0 on the axis
 * @y: the bottom so far
 * @late: expired stays by class
 * @cancelled: cancelled stays
 * @has_empty: there are empty wake-ups
 * @has_again: there are timers that were filed again, from a queue or by a call
 * @has_read: there are events that were read later
 */
struct figure {
	FILE *out;
	uint64_t begin;
	uint64_t end;
	uint64_t zero;
	double y;
	size_t late[LATE_CLASSES];
	size_t cancelled;
	bool has_empty;
	bool has_again;
	bool has_read;
};

/**
 * struct bar - a stay, in its row
 * @row: of its lane
 * @x1: its left end
 * @x2: its right end
 * @text: the left end of its label, if it has one
 */
struct bar {
	unsigned int row;
	double x1;
	double x2;
	double text;
};

/**
 * struct lane - a level, or a place that is not a level
 * @stays: number of stays
 * @rows: number of rows of bars
 * @y: its top
 * @ring: number of slots, of the wheel or as seen so far
 * @span: the length of a slot
 */
struct lane {
	size_t stays;
	unsigned int rows;
	double y;
	uint32_t ring;
	uint64_t span;
};

/**
 * struct chart - a wheel that is drawn
 * @figure: the picture
 * @lives: the timers
 * @bar: for each stay
 * @lane: by level_lane()
 * @row: the height of a row
 * @has_labels: bars have words
 */
struct chart {
	struct figure *figure;
	const struct lives *lives;
	struct bar *bar;
	struct lane lane[LANES];
	int row;
	bool has_labels;
};

static double x_of(const struct figure *figure, uint64_t time)
{
	if (time <= figure->begin)
		return LEFT;
	if (time >= figure->end)
		return RIGHT;
	return LEFT + (double)(RIGHT - LEFT) * (time - figure->begin) /
	       (figure->end - figure->begin);
}

static bool is_seen(const struct figure *figure, uint64_t from, uint64_t to)
{
	return to >= figure->begin && from <= figure->end;
}

static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if ((unsigned char)*text < ' ')
			fputc('?', out);
		else
			fputc(*text, out);
	}
}

static void text_at(struct figure *figure, double x, double y, int size, const char *colour,
		    const char *more, const char *text)
{
	fprintf(figure->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" fill=\"%s\"%s>", x, y,
		size, colour, more);
	put_text(figure->out, text);
	fputs("</text>\n", figure->out);
}

/* Lanes: the queue is on top, because timers come from it; then the levels from the highest. */

static unsigned int level_lane(int32_t level)
{
	return level - LEVEL_QUEUE;
}

/* In the order in which they are drawn. */
static unsigned int lane_at(unsigned int place)
{
	return place ? LANES - place : level_lane(LEVEL_QUEUE);
}

static void lane_name(char *name, size_t size, unsigned int lane)
{
	switch ((int)lane + LEVEL_QUEUE) {
	case LEVEL_QUEUE:
		snprintf(name, size, "queue");
		return;
	case LEVEL_ORDER:
		snprintf(name, size, "in order");
		return;
	case LEVEL_UNKNOWN:
		snprintf(name, size, "unknown place");
		return;
	default:
		snprintf(name, size, "level %d", (int)lane + LEVEL_QUEUE);
		return;
	}
}

static void label_lane(struct chart *chart, unsigned int i, double height)
{
	struct lane *lane = &chart->lane[i];
	char name[32], span[DURATION_LEN], text[DURATION_LEN + 16];
	double y = lane->y + height / 2 + (lane->span ? -3 : 4);

	lane_name(name, sizeof(name), i);
	text_at(chart->figure, 20, y, 13, INK, "", name);
	if (!lane->span)
		return;
	snprintf(text, sizeof(text), "slots of %s", duration_exact(span, lane->span));
	text_at(chart->figure, 20, y + 14, 11, FAINT, "", text);
}

static void draw_lane(struct chart *chart, unsigned int i, double height)
{
	struct figure *figure = chart->figure;

	chart->lane[i].y = figure->y;
	fprintf(figure->out,
		"<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"" LANE "\"/>\n",
		LEFT, figure->y, RIGHT - LEFT, height);
	label_lane(chart, i, height);
	figure->y += height + 4;
}

static void count_lanes(struct chart *chart)
{
	const struct lives *lives = chart->lives;
	size_t i;

	for (i = 0; i < lives->nr; i++) {
		const struct stay *stay = &lives->stay[i];
		struct lane *lane = &chart->lane[level_lane(stay->level)];

		if (!is_seen(chart->figure, stay->from, stay->to))
			continue;
		lane->stays++;
		if (!lane->ring)
			lane->ring = lives->slots && stay->level >= 0 ? lives->slots : 1;
		while (lane->ring <= stay->slot)
			lane->ring *= 2;
		if (stay->span)
			lane->span = stay->span;
	}
}

/* Bars */

/* The last stay of the life that this stay is a part of. */
static const struct stay *last_of(const struct lives *lives, const struct stay *stay)
{
	while (stay->next != NO_STAY && stay->end == STAY_MOVED)
		stay = &lives->stay[stay->next];
	return stay;
}

static const char *colour_of(const struct lives *lives, const struct stay *stay)
{
	const struct stay *last = last_of(lives, stay);

	return last->end == STAY_EXPIRED ? styles[lateness_class(last->late)].colour : WAITING;
}

#define LABEL_LEN	128

static void label_of(char *label, const struct stay *stay)
{
	char late[DURATION_LEN], *end = label + LABEL_LEN, *at = label;

	at += snprintf(at, end - at, "%u", stay->id);
	if (stay->level >= 0)
		at += snprintf(at, end - at, ": slot %u", stay->slot);
	if (stay->rounds)
		at += snprintf(at, end - at, ", %llu round%s", (unsigned long long)stay->rounds,
			       stay->rounds == 1 ? "" : "s");
	if (stay->end == STAY_EXPIRED && stay->late)
		at += snprintf(at, end - at, ", %s %s",
			       duration_short(late, stay->late < 0 ? -stay->late : stay->late),
			       stay->late < 0 ? "early" : "late");
	if (stay->end == STAY_CANCELLED)
		snprintf(at, end - at, ", cancelled");
}

/* Put the label into the bar, after it, or before it.  Returns the left end; @end: the right. */
static double place_label(struct bar *bar, const struct stay *stay, double *end)
{
	char label[LABEL_LEN];
	double room, behind = bar->x2 + (stay->end == STAY_EXPIRED && stay->late > 0 ? 18 : 9);

	label_of(label, stay);
	room = 6.4 * strlen(label) + 4;
	bar->text = bar->x1 + 4;
	if (bar->x2 - bar->x1 > room + 6)
		return bar->x1;
	if (behind + room < RIGHT) {
		bar->text = behind;
		*end = behind + room;
		return bar->x1;
	}
	bar->text = bar->x1 - 7 - room + 4;
	return bar->text;
}

/* Give each stay the first row that has room.  Returns the number of rows, up to a limit. */
static unsigned int place_bars(struct chart *chart, unsigned int limit)
{
	static double used[LANES][ROWS_THIN];
	const struct lives *lives = chart->lives;
	unsigned int rows = 0, row;
	size_t i;

	for (i = 0; i < LANES; i++)
		chart->lane[i].rows = 0;
	for (i = 0; i < lives->nr; i++) {
		const struct stay *stay = &lives->stay[i];
		unsigned int at = level_lane(stay->level);
		struct lane *lane = &chart->lane[at];
		struct bar *bar = &chart->bar[i];
		double begin, end;

		if (!is_seen(chart->figure, stay->from, stay->to))
			continue;
		bar->x1 = x_of(chart->figure, stay->from);
		bar->x2 = x_of(chart->figure, stay->to);
		begin = bar->x1;
		end = bar->x2 + chart->row / 2;
		if (stay->delivered)
			end += x_of(chart->figure, stay->delivered) - bar->x2;
		if (chart->has_labels)
			begin = place_label(bar, stay, &end);
		for (row = 0; row < lane->rows && used[at][row] > begin - 2; row++)
			;
		if (row == lane->rows) {
			if (++rows > limit)
				return rows;
			lane->rows++;
		}
		used[at][row] = end;
		bar->row = row;
	}
	return rows;
}

static double middle_of(const struct chart *chart, size_t i)
{
	const struct lane *lane = &chart->lane[level_lane(chart->lives->stay[i].level)];

	return lane->y + 3 + chart->row * (chart->bar[i].row + 0.5);
}

static void triangle(FILE *out, double x, double y, int size, const char *colour)
{
	int high = abs(size);

	fprintf(out, "<path d=\"M%.1f %.1fl%d %dl%d %dz\" fill=\"%s\"/>\n", x, y - high,
		2 * size, high, -2 * size, high, colour);
}

static void mark_late(FILE *out, double x, double y, enum lateness_class class, bool is_small)
{
	const struct style *style = &styles[class];

	if (style->size)
		triangle(out, x, y, is_small ? style->size / 2 + (style->size > 0) : style->size,
			 style->colour);
	else
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"/>\n", x, y,
			is_small ? 2 : 4, style->colour);
}

static void cross(FILE *out, double x, double y, int size)
{
	fprintf(out, "<path d=\"M%.1f %.1fl%d %dm0 %dl%d %d\" stroke=\"" WAITING
		"\" stroke-width=\"1.5\" fill=\"none\"/>\n", x - size, y - size, 2 * size, 2 * size,
		-2 * size, -2 * size, 2 * size);
}

/* If the event was read later: a line, and a ring at that time. */
static void draw_delivery(struct chart *chart, size_t i, double y, const char *colour)
{
	double x1 = chart->bar[i].x2, x2 = x_of(chart->figure, chart->lives->stay[i].delivered);

	if (x2 - x1 < 6)
		return;
	chart->figure->has_read = true;
	fprintf(chart->figure->out,
		"<path d=\"M%.1f %.1fH%.1f\" stroke=\"%s\" stroke-dasharray=\"2 2\"/>\n"
		"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"none\" stroke=\"%s\"/>\n",
		x1, y, x2 - 3, colour, x2, y, chart->row / 6.0, colour);
}

static void draw_end(struct chart *chart, size_t i, const char *colour)
{
	const struct stay *stay = &chart->lives->stay[i];
	FILE *out = chart->figure->out;
	double x = chart->bar[i].x2, y = middle_of(chart, i), due, to;

	if (stay->to > chart->figure->end)
		return;
	switch (stay->end) {
	case STAY_OPEN:
	case STAY_LISTED:
		return;
	case STAY_MOVED:
	case STAY_REARMED:
		to = middle_of(chart, stay->next);
		chart->figure->has_again |= stay->end == STAY_REARMED;
		fprintf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"%s/>\n", x, y, to, colour,
			stay->end == STAY_MOVED ? "" : " stroke-dasharray=\"1 3\"");
		if (stay->end == STAY_MOVED && chart->has_labels)
			fprintf(out, "<path d=\"M%.1f %.1fl-3 %dh6z\" fill=\"%s\"/>\n", x, to,
				to < y ? 6 : -6, colour);
		return;
	case STAY_CANCELLED:
		cross(out, x, y, chart->has_labels ? 4 : 2);
		return;
	case STAY_EXPIRED:
		due = x_of(chart->figure, stay->deadline);
		if (stay->late > 0 && stay->deadline >= chart->figure->begin && x - due > 3)
			fprintf(out, "<path d=\"M%.1f %.1fv%.1f\" stroke=\"%s\"/>\n", due,
				y - chart->row / 2.0 + 1, chart->row - 2.0, colour);
		if (stay->delivered)
			draw_delivery(chart, i, y, colour);
		mark_late(out, x, y, lateness_class(stay->late), !chart->has_labels);
		return;
	}
}

/* The title of a bar, which a viewer shows at the pointer. */
static void put_title(struct chart *chart, const struct stay *stay)
{
	uint64_t zero = chart->figure->zero;
	char lane[32], from[DURATION_LEN], to[DURATION_LEN], due[DURATION_LEN];
	FILE *out = chart->figure->out;

	lane_name(lane, sizeof(lane), level_lane(stay->level));
	fprintf(out, "<title>timer %u, %s", stay->id, lane);
	if (stay->level >= 0)
		fprintf(out, ", slot %u", stay->slot);
	fprintf(out, ": %s to %s", duration_exact(from, stay->from - zero),
		duration_exact(to, stay->to - zero));
	if (stay->deadline >= zero && stay->deadline)
		fprintf(out, ", due %s", duration_exact(due, stay->deadline - zero));
	fputs("</title>", out);
}

static void draw_bar(struct chart *chart, size_t i)
{
	const struct stay *stay = &chart->lives->stay[i];
	const struct bar *bar = &chart->bar[i];
	const char *colour = colour_of(chart->lives, stay);
	double y = middle_of(chart, i), wide = bar->x2 - bar->x1, high = chart->row - 3;

	if (high < 2)
		high = 2;
	fprintf(chart->figure->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" fill=\"%s\" "
		"fill-opacity=\"0.2\" stroke=\"%s\" stroke-width=\"%s\">", bar->x1, y - high / 2,
		wide > 1 ? wide : 1, high, chart->has_labels ? 3 : 0, colour, colour,
		chart->has_labels ? "1" : "0.5");
	put_title(chart, stay);
	fputs("</rect>\n", chart->figure->out);
	draw_end(chart, i, colour);
}

static void draw_label(struct chart *chart, size_t i)
{
	const struct stay *stay = &chart->lives->stay[i];
	char label[LABEL_LEN];

	label_of(label, stay);
	text_at(chart->figure, chart->bar[i].text, middle_of(chart, i) + 4, 12,
		colour_of(chart->lives, stay), "", label);
}

static void draw_bars(struct chart *chart)
{
	const struct lives *lives = chart->lives;
	struct figure *figure = chart->figure;
	unsigned int place;
	size_t i;

	for (place = 0; place < LANES; place++) {
		struct lane *lane = &chart->lane[lane_at(place)];
		double height = chart->row * lane->rows + 6;

		if (lane->rows)
			draw_lane(chart, lane_at(place), height < 34 ? 34 : height);
	}
	for (i = 0; i < lives->nr; i++)
		if (is_seen(figure, lives->stay[i].from, lives->stay[i].to))
			draw_bar(chart, i);
	if (!chart->has_labels)
		return;
	/* On top of the lines that cross them. */
	fputs("<g stroke=\"" LANE "\" stroke-width=\"2\" paint-order=\"stroke\">\n", figure->out);
	for (i = 0; i < lives->nr; i++)
		if (is_seen(figure, lives->stay[i].from, lives->stay[i].to))
			draw_label(chart, i);
	fputs("</g>\n", figure->out);
}

/* Rings, and rows of counts */

static unsigned int column_of(const struct figure *figure, uint64_t time)
{
	unsigned int column = (x_of(figure, time) - LEFT) / COLUMN;

	return column < COLUMNS ? column : COLUMNS - 1;
}

/* 0 to SHADES - 1, by the logarithm, so that one timer is visible next to a thousand. */
static unsigned int shade_of(uint32_t value, uint32_t most)
{
	unsigned int bits = 0, all = 0;

	while (value >>= 1)
		bits++;
	while (most >>= 1)
		all++;
	return all ? bits * (SHADES - 1) / all : SHADES - 1;
}

/* A shaded row: a path for each shade, of the columns that have it. */
static void shaded_path(struct figure *figure, const uint32_t *cells, unsigned int rows,
			double y, double high, const char *colour)
{
	uint32_t most = 0;
	unsigned int shade, row, from, to;

	for (row = 0; row < rows * COLUMNS; row++)
		if (cells[row] > most)
			most = cells[row];
	for (shade = 0; shade < SHADES; shade++) {
		bool has_begun = false;

		for (row = 0; row < rows; row++) {
			const uint32_t *cell = &cells[row * COLUMNS];

			for (from = 0; from < COLUMNS; from = to) {
				to = from + 1;
				if (!cell[from] || shade_of(cell[from], most) != shade)
					continue;
				while (to < COLUMNS && cell[to] &&
				       shade_of(cell[to], most) == shade)
					to++;
				if (!has_begun)
					fputs("<path d=\"", figure->out);
				has_begun = true;
				fprintf(figure->out, "M%d %gh%d", LEFT + COLUMN * from,
					y + high * (row + 0.5), COLUMN * (to - from));
			}
		}
		if (has_begun)
			fprintf(figure->out, "\" stroke=\"%s\" stroke-opacity=\"%.2f\" "
				"stroke-width=\"%g\"/>\n", colour, 0.2 + 0.16 * shade, high);
	}
}

static uint32_t *new_cells(unsigned int rows)
{
	uint32_t *cells = calloc(rows * COLUMNS, sizeof(*cells));

	if (!cells)
		fail("out of memory");
	return cells;
}

static void draw_ring(struct chart *chart, unsigned int at)
{
	struct lane *lane = &chart->lane[at];
	struct figure *figure = chart->figure;
	unsigned int rows = lane->ring < RING_ROWS ? lane->ring : RING_ROWS, column;
	double high = rows > 1 ? RING_HEIGHT : 34;
	uint32_t *cells = new_cells(rows), most = 0;
	char text[64], count[NUMBER_LEN];
	size_t i;

	for (i = 0; i < chart->lives->nr; i++) {
		const struct stay *stay = &chart->lives->stay[i];
		unsigned int row = (uint64_t)stay->slot * rows / lane->ring;
		unsigned int to = column_of(figure, stay->to);

		if (level_lane(stay->level) != at || !is_seen(figure, stay->from, stay->to))
			continue;
		for (column = column_of(figure, stay->from); column <= to; column++)
			if (++cells[row * COLUMNS + column] > most)
				most = cells[row * COLUMNS + column];
	}
	draw_lane(chart, at, high);
	shaded_path(figure, cells, rows, lane->y, high / rows, "#1e3a8a");
	snprintf(text, sizeof(text), "up to %s", number(count, most));
	text_at(figure, 20, lane->y + high / 2 + (lane->span ? 26 : 18), 11, FAINT, "", text);
	if (rows > 1) {
		snprintf(text, sizeof(text), "slot %u", lane->ring - 1);
		text_at(figure, LEFT - 4, lane->y + 9, 9, FAINT, " text-anchor=\"end\"", "slot 0");
		text_at(figure, LEFT - 4, lane->y + high - 2, 9, FAINT, " text-anchor=\"end\"",
			text);
	}
	free(cells);
}

/* A row of one kind of event, with their number. */
static void draw_counts(struct figure *figure, const uint32_t *cells, const char *words,
			const char *colour)
{
	char count[NUMBER_LEN];
	size_t sum = 0, i;

	for (i = 0; i < COLUMNS; i++)
		sum += cells[i];
	if (sum) {
		fprintf(figure->out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"14\" fill=\""
			LANE "\"/>\n", LEFT, figure->y, RIGHT - LEFT);
		shaded_path(figure, cells, 1, figure->y, 14, colour);
		text_at(figure, 20, figure->y + 7, 11, colour, "", words);
		text_at(figure, LEFT - 4, figure->y + 16, 11, FAINT, " text-anchor=\"end\"",
			number(count, sum));
		figure->y += 22;
	}
}

enum { COUNT_ARMED, COUNT_MOVED, COUNT_CANCELLED, COUNT_EXPIRED };

static void count_stay(struct chart *chart, const struct stay *stay, int what,
		       enum lateness_class class, uint32_t *cells)
{
	const struct figure *figure = chart->figure;
	uint64_t time = what == COUNT_ARMED ? stay->from : stay->to;
	bool counts = false;

	switch (what) {
	case COUNT_ARMED:
		counts = !stay->came_down;
		break;
	case COUNT_MOVED:
		counts = stay->end == STAY_MOVED;
		break;
	case COUNT_CANCELLED:
		counts = stay->end == STAY_CANCELLED;
		break;
	case COUNT_EXPIRED:
		counts = stay->end == STAY_EXPIRED && lateness_class(stay->late) == class;
		break;
	}
	if (counts && time >= figure->begin && time <= figure->end)
		cells[column_of(figure, time)]++;
}

static void draw_row(struct chart *chart, int what, enum lateness_class class, const char *words,
		     const char *colour)
{
	const struct lives *lives = chart->lives;
	uint32_t *cells = new_cells(1);
	size_t i;

	for (i = 0; i < lives->nr; i++)
		count_stay(chart, &lives->stay[i], what, class, cells);
	draw_counts(chart->figure, cells, words, colour);
	free(cells);
}

static void draw_rings(struct chart *chart)
{
	unsigned int place, class;

	for (place = 0; place < LANES; place++)
		if (chart->lane[lane_at(place)].stays)
			draw_ring(chart, lane_at(place));
	chart->figure->y += 4;
	draw_row(chart, COUNT_ARMED, 0, "armed", INK);
	draw_row(chart, COUNT_MOVED, 0, "moved", "#1e3a8a");
	draw_row(chart, COUNT_CANCELLED, 0, "cancelled", WAITING);
	for (class = 0; class < LATE_CLASSES; class++)
		draw_row(chart, COUNT_EXPIRED, class, styles[class].words, styles[class].colour);
}

/* A wheel */

/* One of each kind per place, because the picture shows no more. */
static void draw_wakes(struct chart *chart, const char *words)
{
	const struct lives *lives = chart->lives;
	struct figure *figure = chart->figure;
	FILE *out = figure->out;
	int of_use, x, last;
	size_t i;

	if (!lives->wakes)
		return;
	text_at(figure, 20, figure->y + 13, 13, INK, "", words);
	/* The empty ones first, because the others are drawn on top of them. */
	for (of_use = 0; of_use < 2; of_use++) {
		last = -1;
		for (i = 0; i < lives->wakes; i++) {
			const struct wake *wake = &lives->wake[i];

			if (wake->of_use != of_use || !is_seen(figure, wake->time, wake->time))
				continue;
			figure->has_empty |= !of_use;
			x = 2 * x_of(figure, wake->time);
			if (x == last)
				continue;
			if (last < 0)
				fputs("<path d=\"", out);
			last = x;
			fprintf(out, "M%.1f %.1fv%d", x / 2.0, figure->y + (of_use ? 2 : 8),
				of_use ? 14 : 8);
		}
		if (last >= 0)
			fprintf(out, "\" stroke=\"%s\" stroke-width=\"%d\"/>\n",
				of_use ? FIRED : "#b9b4a8", of_use ? 2 : 1);
	}
	figure->y += 22;
}

static void draw_head(struct chart *chart)
{
	const struct lives *lives = chart->lives;
	struct figure *figure = chart->figure;
	char text[256], timers[NUMBER_LEN], moves[NUMBER_LEN], wakes[NUMBER_LEN];
	size_t moved = 0, woken = 0, i;

	for (i = 0; i < lives->nr; i++) {
		const struct stay *stay = &lives->stay[i];

		moved += stay->end == STAY_MOVED;
		figure->cancelled += stay->end == STAY_CANCELLED;
		if (stay->end == STAY_EXPIRED)
			figure->late[lateness_class(stay->late)]++;
	}
	for (i = 0; i < lives->wakes; i++)
		woken += is_seen(figure, lives->wake[i].time, lives->wake[i].time);
	snprintf(text, sizeof(text), "%s timer%s, %s moved, %s %s%s",
		 number(timers, lives->timers), lives->timers == 1 ? "" : "s",
		 number(moves, moved), number(wakes, woken),
		 lives->is_trace ? "hrtimer" : "wake-up", woken == 1 ? "" : "s");
	figure->y += 18;
	text_at(figure, 20, figure->y, 15, INK, " font-weight=\"bold\"", lives->name);
	text_at(figure, RIGHT, figure->y, 12, FAINT, " text-anchor=\"end\"", text);
	figure->y += 10;
}

static void draw_wheel(struct figure *figure, const struct lives *lives)
{
	struct chart chart = { .figure = figure, .lives = lives, .row = 18, .has_labels = true };
	bool has_bars = false;

	chart.bar = calloc(lives->nr, sizeof(*chart.bar));
	if (!chart.bar)
		fail("out of memory");
	draw_head(&chart);
	count_lanes(&chart);
	if (lives->nr <= BARS_MAX) {
		has_bars = place_bars(&chart, ROWS_LABELLED) <= ROWS_LABELLED;
		if (!has_bars) {
			chart.has_labels = false;
			chart.row = 6;
			has_bars = place_bars(&chart, ROWS_THIN) <= ROWS_THIN;
		}
	}
	if (has_bars)
		draw_bars(&chart);
	else
		draw_rings(&chart);
	draw_wakes(&chart, lives->is_trace ? "hrtimer fired" : "wake-ups");
	free(chart.bar);
}

/* The axis */

/* The distance of two lines: a round time that gives at most eight lines. */
static uint64_t step_of(uint64_t span)
{
	static const uint64_t units[] = { 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
					  7200, 21600, 43200, 86400 };
	uint64_t step = 1, tens;
	size_t i;

	for (tens = 1; tens < NSEC_PER_SEC; tens *= 10) {
		for (i = 0; i < 3; i++) {
			step = units[i] * tens;
			if (span / step < 8)
				return step;
		}
	}
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		step = units[i] * NSEC_PER_SEC;
		if (span / step < 8)
			return step;
	}
	while (span / step >= 8)
		step *= 2;
	return step;
}

static void draw_axis(struct figure *figure, double top)
{
	uint64_t step = step_of(figure->end - figure->begin), i;
	char text[DURATION_LEN];

	i = (figure->begin - figure->zero + step - 1) / step;
	for (; i <= (figure->end - figure->zero) / step; i++) {
		double x = x_of(figure, figure->zero + i * step);

		fprintf(figure->out,
			"<path d=\"M%.1f %.1fV%.1f\" stroke=\"#333\" stroke-opacity=\"0.12\"/>\n",
			x, top, figure->y);
		text_at(figure, x, figure->y + 13, 12, FAINT, " text-anchor=\"middle\"",
			duration_exact(text, i * step));
	}
	figure->y += 24;
}

static void draw_legend(struct figure *figure)
{
	double x = LEFT, y = figure->y + 6;
	unsigned int class;

	if (figure->has_empty) {
		text_at(figure, x, y + 4, 12, FAINT, "",
			"a short grey line: an empty wake-up");
		y += 20;
	}
	for (class = 0; class < LATE_CLASSES; class++) {
		if (!figure->late[class])
			continue;
		mark_late(figure->out, x, y, class, false);
		text_at(figure, x + 16, y + 4, 12, FAINT, "", styles[class].words);
		x += 30 + 6.2 * strlen(styles[class].words);
	}
	if (figure->cancelled) {
		cross(figure->out, x, y, 4);
		text_at(figure, x + 12, y + 4, 12, FAINT, "", "cancelled");
		x += 80;
	}
	if (figure->has_again) {
		fprintf(figure->out, "<path d=\"M%.1f %.1fv12\" stroke=\"" WAITING
			"\" stroke-dasharray=\"1 3\"/>\n", x, y - 6);
		text_at(figure, x + 8, y + 4, 12, FAINT, "", "filed again");
		x += 90;
	}
	if (figure->has_read) {
		fprintf(figure->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"none\" "
			"stroke=\"" WAITING "\"/>\n", x, y);
		text_at(figure, x + 10, y + 4, 12, FAINT, "", "read");
	}
	figure->y = y + 16;
}

/* The common span of time. */
static void choose_time(struct figure *figure, const struct lives *lives, size_t nr,
			const struct choice *choice)
{
	char text[DURATION_LEN], end[DURATION_LEN];
	size_t i;

	figure->begin = UINT64_MAX;
	for (i = 0; i < nr; i++) {
		if (lives[i].begin < figure->begin)
			figure->begin = lives[i].begin;
		if (lives[i].end > figure->end)
			figure->end = lives[i].end;
	}
	if (lives->is_trace)
		figure->zero = figure->begin;
	if (choice->from > figure->end - figure->zero)
		fail("--from %s: the recording ends at %s: give an earlier time",
		     duration_exact(text, choice->from),
		     duration_exact(end, figure->end - figure->zero));
	if (choice->from > figure->begin - figure->zero)
		figure->begin = figure->zero + choice->from;
	if (choice->to < figure->end - figure->zero)
		figure->end = figure->zero + choice->to;
	if (figure->end <= figure->begin)
		figure->end = figure->begin + 1;
}

void picture(FILE *out, const struct lives *lives, size_t nr, const struct choice *choice)
{
	struct figure figure = { .y = 20 };
	char *body = NULL;
	size_t size, i;

	figure.out = open_memstream(&body, &size);
	if (!figure.out)
		fail("out of memory");
	choose_time(&figure, lives, nr, choice);
	for (i = 0; i < nr; i++)
		draw_wheel(&figure, &lives[i]);
	draw_axis(&figure, 24);
	draw_legend(&figure);
	fclose(figure.out);
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
		"font-family=\"sans-serif\" role=\"img\" aria-label=\"Where timers wait, and when "
		"the system wakes up:", WIDTH, figure.y);
	for (i = 0; i < nr; i++) {
		fputs(i ? ", " : " ", out);
		put_text(out, lives[i].name);
	}
	/* In two parts: it is the license of the picture, not of this file. */
	fprintf(out, "\">\n<!-- SPDX-%s: GPL-2.0 -->\n"
		"<rect width=\"%d\" height=\"%.0f\" rx=\"10\" fill=\"" GROUND "\"/>\n",
		"License-Identifier", WIDTH, figure.y);
	fwrite(body, 1, size, out);
	fputs("</svg>\n", out);
	free(body);
}
