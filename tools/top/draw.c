// SPDX-License-Identifier: GPL-2.0
/* From a frame to a picture. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "lateness.h"
#include "output.h"
#include "top/draw.h"

#define WIDTH_MIN	60
#define HEIGHT_MIN	12

/* Where the rings begin; at 80 columns 64 are left for them. */
#define RING		16

/* Timers in a slot from which on it looks fuller: up to 64 it is a light one. */
#define FEW		1
#define LIGHT		8
#define HEAVY		65
#define FULL		512

#define BARS		3
#define BAR_WIDTH	2

/* The lines of each part; the rest is for levels. */
#define HEAD		2
#define RINGS_HEAD	1
#define RINGS_FOOT	1
#define RATES		2
#define LATENESS	(BARS + 2)

/**
 * struct layout - what there is room for
 * @gaps: an empty line between parts
 * @rates: rates
 * @lateness: the histogram
 * @levels: so many levels
 */
struct layout {
	bool		gaps;
	bool		rates;
	bool		lateness;
	unsigned int	levels;
};

static int lines_of(const struct layout *layout, const struct view *view)
{
	int lines = HEAD + RINGS_HEAD + layout->levels + RINGS_FOOT + view->keys;

	lines += layout->rates ? RATES : 0;
	lines += layout->lateness ? LATENESS : 0;
	return lines + (layout->gaps ? 1 + layout->rates + layout->lateness : 0);
}

static unsigned int level_lines(const struct frame *frame)
{
	return frame->levels ? frame->levels : 1;
}

int draw_height(const struct frame *frame, const struct view *view)
{
	const struct layout layout = { true, true, true, level_lines(frame) };

	return lines_of(&layout, view);
}

/* What does not fit goes, the least useful first; of levels the coarsest ones. */
static struct layout lay_out(const struct picture *picture, const struct frame *frame,
			     const struct view *view)
{
	struct layout layout = { true, true, true, level_lines(frame) };

	if (lines_of(&layout, view) > picture->height)
		layout.gaps = false;
	if (lines_of(&layout, view) > picture->height)
		layout.lateness = false;
	if (lines_of(&layout, view) > picture->height)
		layout.rates = false;
	while (layout.levels > 1 && lines_of(&layout, view) > picture->height)
		layout.levels--;
	return layout;
}

/* Numbers in few columns */

/* How long a slot is: 64ms, 4.1s, 2.2y. */
static char *span_text(char *buf, uint64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "y", 31556952e9 }, { "d", 86400e9 }, { "h", 3600e9 }, { "m", 60e9 },
		{ "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
	};
	size_t i = 0;
	double value;

	while (i < ARRAY_SIZE(units) - 1 && (double)ns < units[i].ns)
		i++;
	value = ns / units[i].ns;
	snprintf(buf, NUMBER_LEN, "%.*f%s", value < 10 && value != (int)value, value,
		 units[i].unit);
	return buf;
}

/* In no more than five columns, if it is below 2^60 or so: 1,234, 12k, 1.2M. */
static char *count_text(char *buf, uint64_t value)
{
	static const char units[] = "kMGTPE";
	double scaled = (double)value / 1000;
	const char *unit = units;

	if (value < 10000)
		return number(buf, value);
	while (scaled >= 999.5 && unit[1]) {
		scaled /= 1000;
		unit++;
	}
	snprintf(buf, NUMBER_LEN, "%.*f%c", scaled < 9.95, scaled, *unit);
	return buf;
}

/* The head */

static void draw_title(struct picture *picture, const struct frame *frame, const struct view *view)
{
	char right[64], *p = right, *end = right + sizeof(right);
	int x;

	for (x = 0; x < picture->width; x++)
		picture_put(picture, x, 0, ' ', LOOK_REVERSE);
	picture_format(picture, 0, 0, LOOK_REVERSE, "twheel top: %s", frame->title);
	*p = 0;
	if (view->of > 1)
		p += snprintf(p, end - p, "  wheel %u of %u", view->number, view->of);
	if (view->speed)
		p += snprintf(p, end - p, view->speed < 0 ? "  1/%u speed" : "  %u x speed",
			      1U << (view->speed < 0 ? -view->speed : view->speed));
	if (view->paused)
		p += snprintf(p, end - p, "  paused");
	picture_text(picture, picture->width - (int)(p - right) - 1, 0, LOOK_REVERSE, right);
}

/* Returns where the next part begins.  What does not fit is left out, and all that is behind it. */
__attribute__((format(printf, 5, 6)))
static int draw_part(struct picture *picture, int x, int y, enum look look, const char *format, ...)
{
	char text[64];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (x + len > picture->width)
		return picture->width;
	return picture_text(picture, x, y, look, text) + 2;
}

static int draw_fact(struct picture *picture, int x, const char *name, const char *value)
{
	return draw_part(picture, x, 1, LOOK_PLAIN, "%s%s", name, value);
}

static void draw_state(struct picture *picture, const struct frame *frame)
{
	uint64_t next = frame->next > frame->now ? frame->next - frame->now : 0;
	char duration[DURATION_LEN], count[NUMBER_LEN];
	int x;

	x = draw_fact(picture, 0, "time ", duration_short(duration, frame->now));
	x = draw_fact(picture, x, "next in ", frame->next ? duration_short(duration, next) : "-");
	x = draw_fact(picture, x, "pending ", number(count, frame->pending));
	x = draw_fact(picture, x, "unread ", number(count, frame->expired));
	x = draw_fact(picture, x, "tick ", duration_short(duration, frame->tick));
	if (frame->memory)
		draw_fact(picture, x, "", bytes(count, frame->memory));
}

/* Rings */

static unsigned char shade_of(uint64_t timers, enum look *look)
{
	*look = timers >= HEAVY ? LOOK_HEAVY : timers ? LOOK_PLAIN : LOOK_DIM;
	if (timers >= FULL)
		return GLYPH_FULL;
	if (timers >= HEAVY)
		return GLYPH_HEAVY;
	if (timers >= LIGHT)
		return GLYPH_LIGHT;
	return timers >= FEW ? GLYPH_FEW : GLYPH_EMPTY;
}

/* Places that share a column, so that the ring fits. */
static uint32_t places_of_cell(const struct picture *picture, const struct frame_level *level)
{
	uint32_t room = picture->width - RING;

	return (level->places + room - 1) / room;
}

static void draw_ring(struct picture *picture, int y, const struct frame_level *level)
{
	uint32_t group = places_of_cell(picture, level), place, i;
	int x = RING;

	for (place = 0; place < level->places; place += group, x++) {
		bool hand = false, opened = false;
		uint64_t most = 0;
		unsigned char glyph;
		enum look look;

		for (i = place; i < place + group && i < level->places; i++) {
			hand |= i == level->hand;
			opened |= level->opened[i];
			if (level->timers[i] > most)
				most = level->timers[i];
		}
		glyph = shade_of(most, &look);
		if (opened) {
			glyph = GLYPH_OPENED;
			look = LOOK_OPENED;
		} else if (hand) {
			glyph = GLYPH_HAND;
			look = LOOK_HAND;
		}
		picture_put(picture, x, y, glyph, look);
	}
}

static void draw_level(struct picture *picture, int y, unsigned int nr,
		       const struct frame_level *level)
{
	char span[NUMBER_LEN], count[NUMBER_LEN];
	uint64_t timers = 0;
	uint32_t i;

	for (i = 0; i < level->places; i++)
		timers += level->timers[i];
	picture_format(picture, 0, y, LOOK_PLAIN, "%2u %6s%6s", nr, span_text(span, level->span),
		       count_text(count, timers));
	draw_ring(picture, y, level);
}

/* What the shades mean. */
static void draw_legend(struct picture *picture, int y, const struct frame *frame)
{
	static const struct {
		unsigned char glyph;
		const char *text;
	} legend[] = {
		{ GLYPH_FEW, "1" }, { GLYPH_LIGHT, "8" }, { GLYPH_HEAVY, "65" },
		{ GLYPH_FULL, "512 timers" }, { GLYPH_HAND, "hand" },
		{ GLYPH_OPENED, "cascade" },
	};
	uint32_t group = places_of_cell(picture, &frame->level[0]);
	int x = RING;
	size_t i;

	picture_text(picture, 0, y, LOOK_BOLD, " L   SLOT TIMERS");
	for (i = 0; i < ARRAY_SIZE(legend); i++) {
		picture_put(picture, x + 1, y, legend[i].glyph, LOOK_PLAIN);
		x = picture_format(picture, x + 3, y, LOOK_DIM, "%s", legend[i].text);
	}
	if (group > 1)
		draw_part(picture, x + 2, y, LOOK_DIM, "(a column: %u slots)", group);
}

/* What the rings do not show. */
static void draw_rest(struct picture *picture, int y, const struct frame *frame)
{
	char looked[NUMBER_LEN], pending[NUMBER_LEN], by_time[NUMBER_LEN], outside[NUMBER_LEN];
	int x = 0;

	if (frame->outside)
		x = picture_format(picture, x, y, LOOK_PLAIN, "in no slot: %s  ",
				   number(outside, frame->outside));
	if (frame->reached && frame->looked_at < frame->pending)
		x = picture_format(picture, x, y, LOOK_DIM, "a sample: %s of %s timers  ",
				   number(looked, frame->looked_at),
				  number(pending, frame->pending));
	if (frame->by_time)
		x = picture_format(picture, x, y, LOOK_DIM, "by their times: %s  ",
				   number(by_time, frame->by_time));
	picture_words(picture, x, y, LOOK_PLAIN, frame->said);
}

static int draw_rings(struct picture *picture, int y, const struct frame *frame,
		      const struct layout *layout)
{
	unsigned int i;

	if (frame->levels) {
		draw_legend(picture, y++, frame);
		for (i = 0; i < layout->levels; i++)
			draw_level(picture, y++, i, &frame->level[i]);
	} else {
		picture_text(picture, 0, y++, LOOK_BOLD, "SLOTS");
		picture_text(picture, 0, y++, LOOK_PLAIN,
			     frame->reached ? "There are none: all timers are in one order." :
			    "They can't be looked at: be root.");
	}
	draw_rest(picture, y++, frame);
	return y;
}

/* Rates */

static int draw_rates(struct picture *picture, int y, const struct frame *frame)
{
	static const char * const heads[] = {
		[FRAME_ARMS] = "ARMS/s",
		[FRAME_CANCELS] = "CANCELS/s",
		[FRAME_FIRED] = "FIRED/s",
		[FRAME_DELIVERED] = "READ/s",
		[FRAME_MOVES] = "MOVES/s",
		[FRAME_CASCADES] = "CASCADE/s",
		[FRAME_INTERRUPTS] = "INTERR./s",
		[FRAME_IDLE] = "IN VAIN/s",
	};
	char text[NUMBER_LEN];
	int x = 0, i;

	for (i = 0; i < FRAME_COUNTS && x + 10 <= picture->width; i++, x += 10) {
		picture_format(picture, x, y, LOOK_BOLD, "%9s", heads[i]);
		if (frame->per_second[i] < 10000000)
			number(text, frame->per_second[i]);
		else
			count_text(text, frame->per_second[i]);
		picture_format(picture, x, y + 1, LOOK_PLAIN, "%9s", text);
	}
	return y + RATES;
}

/* Lateness */

/* Half bars, from the bottom; one of many is seen, too. */
static unsigned int bar_height(uint64_t nr, uint64_t most)
{
	unsigned int halves = nr ? (unsigned int)((double)nr / most * 2 * BARS) : 0;

	return nr && !halves ? 1 : halves;
}

static void draw_bar(struct picture *picture, int x, int y, unsigned int halves)
{
	unsigned int i;

	for (i = 0; 2 * i < halves; i++)
		picture_put(picture, x, y + BARS - 1 - (int)i,
			    2 * i + 1 < halves ? GLYPH_BAR : GLYPH_HALF_BAR, LOOK_PLAIN);
}

static void draw_percentile(struct picture *picture, int x, int y, const struct frame *frame,
			    unsigned int percent)
{
	unsigned int class = lateness_class(frame->late, percent);
	bool last = class == TWHEEL_LATE_CLASSES - 1;
	char text[DURATION_LEN];

	picture_format(picture, x, y, LOOK_PLAIN, "p%u %s %s", percent, last ? ">=" : "<",
		       duration_short(text, lateness_end(class - last)));
}

static int draw_lateness(struct picture *picture, int y, const struct frame *frame)
{
	static const char * const axis[TWHEEL_LATE_CLASSES] = {
		[0] = "1us", [5] = "33us", [10] = "1ms", [15] = "34ms", [20] = "1s",
	};
	uint64_t events = lateness_events(frame->late), most = 0;
	char max[DURATION_LEN], text[NUMBER_LEN];
	int x = RING, i;

	for (i = 0; i < TWHEEL_LATE_CLASSES; i++) {
		if (frame->late[i] > most)
			most = frame->late[i];
	}
	picture_format(picture, 0, y++, LOOK_BOLD, "FOUND LATE, of %s events; a column: less than",
		       number(text, events));
	for (i = 0; i < TWHEEL_LATE_CLASSES; i++, x += BAR_WIDTH) {
		draw_bar(picture, x, y, bar_height(frame->late[i], most));
		if (axis[i])
			picture_text(picture, x, y + BARS, LOOK_DIM, axis[i]);
		else if (!i || !axis[i - 1])
			picture_put(picture, x, y + BARS, '.', LOOK_DIM);
	}
	if (!events)
		return y + BARS + 1;
	draw_percentile(picture, 0, y, frame, 50);
	draw_percentile(picture, 0, y + 1, frame, 99);
	picture_format(picture, 0, y + 2, LOOK_PLAIN, "max %s",
		       duration_short(max, frame->max_late));
	return y + BARS + 1;
}

/* Keys */

static void draw_help(struct picture *picture)
{
	static const char * const lines[] = {
		"space        pause, and go on: a live wheel goes on turning meanwhile",
		"s            step: one look, one operation or wake-up, one frame",
		"+ -          faster, slower: twice as fast, half as fast",
		"tab, right   the next wheel; left: the one before",
		"h ?          this, and back",
		"q            quit",
		"",
		"A ring is a level's.  A column is a slot, or the fullest of some.",
		"What has more than 64 timers is heavy: it comes down ahead of time.",
		"MOVES are timers that have come down, CASCADES their slots.",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		picture_text(picture, 2, HEAD + 1 + (int)i, LOOK_PLAIN, lines[i]);
}

static void draw_keys(struct picture *picture, const struct view *view)
{
	int y = picture->height - 1;

	if (view->message)
		picture_text(picture, 0, y, LOOK_BOLD, view->message);
	else
		picture_format(picture, 0, y, LOOK_DIM,
			       "q quit  space pause  s step  + - speed  %sh help",
			      view->of > 1 ? "tab next  " : "");
}

void draw(struct picture *picture, const struct frame *frame, const struct view *view)
{
	struct layout layout;
	int y = HEAD;

	if (picture->width < WIDTH_MIN || picture->height < HEIGHT_MIN) {
		picture_text(picture, 0, 0, LOOK_PLAIN, "terminal too small");
		picture_format(picture, 0, 1, LOOK_PLAIN, "it takes %dx%d", WIDTH_MIN, HEIGHT_MIN);
		return;
	}
	draw_title(picture, frame, view);
	draw_state(picture, frame);
	if (view->keys)
		draw_keys(picture, view);
	if (view->help) {
		draw_help(picture);
		return;
	}
	layout = lay_out(picture, frame, view);
	y = draw_rings(picture, y + layout.gaps, frame, &layout);
	if (layout.rates)
		y = draw_rates(picture, y + layout.gaps, frame);
	if (layout.lateness)
		draw_lateness(picture, y + layout.gaps, frame);
}
