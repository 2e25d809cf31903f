// SPDX-License-Identifier: GPL-2.0
/*
 * The screen of twheel top: for each level a line with a cell for each slot, or for several, and a
 * line with its hand and the slots of the last move down.
 *
 * A cell is a digit up to 9 timers, and a sign for more.  Bold and reverse show the same, and so do
 * colours, if the terminal has them and NO_COLOR is not set.
 */
#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "top/screen.h"

/* "12 4.096s " before the cells, and a number after them. */
#define CELLS_AT	10
#define BEHIND		6
/* Lines above the levels. */
#define HEAD		5

/* Columns beyond the right of the terminal, for what is cut there. */
#define MORE		256

static SCREEN *terminal;
static WINDOW *page;

/**
 * struct shade - of a cell
 * @least: from this number of timers on
 * @sign: the character; 0: the digit
 * @attribute: bold, reverse
 */
static const struct shade {
	uint32_t least;
	char sign;
	attr_t attribute;
} shades[] = {
	{ 10000, '@', A_REVERSE | A_BOLD },
	{ 1000, '#', A_REVERSE },
	{ 100, 'X', A_BOLD },
	{ 10, 'x', A_BOLD },
	{ 1, 0, A_NORMAL },
	{ 0, '.', A_DIM },
};

/* The colours of all shades except the last. */
static const short shade_colours[] = {
	COLOR_RED, COLOR_RED, COLOR_YELLOW, COLOR_CYAN, COLOR_GREEN,
};

void screen_begin(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	FILE *keys = stdin;
	short i;

	if (!isatty(STDOUT_FILENO))
		fail("standard output is not a terminal: use twheel plot, or twheel watch");
	/* Standard input may be the script. */
	if (!isatty(STDIN_FILENO))
		keys = fopen("/dev/tty", "re");
	terminal = keys ? newterm(NULL, stdout, keys) : NULL;
	if (!terminal)
		fail("TERM=%s: not known on this machine: try TERM=vt100", term ? term : "");
	set_term(terminal);
	cbreak();
	noecho();
	curs_set(0);
	page = newpad(LINES, COLS + MORE);
	if (!page)
		fail("out of memory");
	keypad(page, TRUE);
	if ((no_color && *no_color) || !has_colors())
		return;
	start_color();
	use_default_colors();
	for (i = 0; i < (short)ARRAY_SIZE(shade_colours); i++)
		init_pair(i + 1, shade_colours[i], -1);
}

void screen_end(void)
{
	if (!terminal)
		return;
	delwin(page);
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

int screen_key(int ms)
{
	wtimeout(page, ms);
	return wgetch(page);
}

/* The count in at most six columns. */
static char *count_text(char *text, uint64_t count)
{
	static const char units[] = " kMGT";
	size_t unit = 0;

	if (count < 100000) {
		snprintf(text, NUMBER_LEN, "%llu", (unsigned long long)count);
		return text;
	}
	while (count >= 10000) {
		count /= 1000;
		unit++;
	}
	snprintf(text, NUMBER_LEN, "%llu%c", (unsigned long long)count, units[unit]);
	return text;
}

static uint64_t since(uint64_t time, uint64_t zero)
{
	return time > zero ? time - zero : 0;
}

static void draw_head(const struct model *model, const struct view *view)
{
	char time[DURATION_LEN], text[NUMBER_LEN], speed[16], left[160];

	snprintf(speed, sizeof(speed), view->speed < 0 ? "1/%d" : "%d",
		 1 << abs(view->speed));
	wattron(page, A_BOLD);
	mvwprintw(page, 0, 0, "twheel top: %.30s", view->name);
	wattroff(page, A_BOLD);
	/* Simulated times are round, so print all digits. */
	if (model->recording->is_trace)
		duration_short(time, since(view->clock, view->zero));
	else
		duration_exact(time, view->clock);
	snprintf(left, sizeof(left), "%s, speed %s, %s", time, speed, view->state);
	mvwprintw(page, 0, COLS - (int)strlen(left) > 32 ? COLS - (int)strlen(left) : 32, "%s",
		  left);
	mvwprintw(page, 1, 0, "armed %s", count_text(text, view->armed));
	if (view->unread)
		wprintw(page, ", expired and unread %s", count_text(text, view->unread));
	if (view->next)
		wprintw(page, ", next due in %s",
			duration_short(time, since(view->next, view->clock)));
	if (view->lost)
		wprintw(page, ", events lost %s", count_text(text, view->lost));
}

static void draw_rates(const struct view *view)
{
	static const char * const names[] = { "armed", "moved", "expired", "cancelled",
					      "woken" };
	const uint64_t rates[] = { view->per_s.armed, view->per_s.moved, view->per_s.expired,
				   view->per_s.cancelled, view->per_s.woken };
	char text[NUMBER_LEN];
	size_t i;

	mvwprintw(page, 2, 0, "in a second:");
	for (i = 0; i < ARRAY_SIZE(rates); i++)
		wprintw(page, "%s %s %s", i ? "," : "", names[i], count_text(text, rates[i]));
}

static void draw_lateness(const struct model *model)
{
	static const char * const names[LATE_CLASSES] = { "early", "on time", "<100us", "<1ms",
							  "<10ms", "<100ms", "more" };
	char text[DURATION_LEN];
	unsigned int i;

	mvwprintw(page, 3, 0, "late at most %s:", duration_short(text, model->late_max));
	for (i = 0; i < LATE_CLASSES; i++)
		if (model->late[i])
			wprintw(page, "  %s %s", names[i], count_text(text, model->late[i]));
}

/* Slots per cell, so that the ring fits the line. */
static uint32_t slots_to_cell(const struct ring *ring)
{
	uint32_t cells = COLS - CELLS_AT - BEHIND, slots = 1;

	while ((ring->size + slots - 1) / slots > cells)
		slots *= 2;
	return slots;
}

static void draw_cell(int y, int x, uint32_t count)
{
	size_t i = 0;
	attr_t attribute;

	while (count < shades[i].least)
		i++;
	attribute = shades[i].attribute | (i < ARRAY_SIZE(shade_colours) ? COLOR_PAIR(i + 1) : 0);
	wattron(page, attribute);
	mvwaddch(page, y, x, shades[i].sign ? (chtype)shades[i].sign : '0' + count);
	wattroff(page, attribute);
}

static void mark(int y, const struct ring *ring, uint32_t slot, char sign)
{
	mvwaddch(page, y, CELLS_AT + slot / slots_to_cell(ring), sign);
}

static void draw_level(const struct model *model, const struct view *view, unsigned int level,
		       int y)
{
	const struct ring *ring = &model->ring[level];
	const struct move *move = &model->move[0];
	uint32_t slots = slots_to_cell(ring), slot, i, count;
	char span[DURATION_LEN] = "", text[NUMBER_LEN];

	if (ring->span)
		duration_short(span, ring->span);
	mvwprintw(page, y, 0, "%2u %6.6s ", level, span);
	for (slot = 0; slot < ring->size; slot += slots) {
		for (count = 0, i = slot; i < slot + slots && i < ring->size; i++)
			count += ring->count[i];
		draw_cell(y, CELLS_AT + slot / slots, count);
	}
	mvwprintw(page, y, COLS - BEHIND, "%6s", count_text(text, ring->timers));
	if (model_hand(model, level, view->clock, &slot))
		mark(y + 1, ring, slot, '^');
	if (move->timers && move->from == (int32_t)level && move->slot < ring->size)
		mark(y + 1, ring, move->slot, 'v');
	if (move->timers && move->to == (int32_t)level && move->to_slot < ring->size)
		mark(y + 1, ring, move->to_slot, '*');
}

static int draw_levels(const struct model *model, const struct view *view)
{
	int room = (LINES - HEAD - 3) / 2, y = HEAD, level = model->levels, hidden = 0;
	int cells = COLS - CELLS_AT - BEHIND;

	wattron(page, A_UNDERLINE);
	mvwprintw(page, HEAD - 1, 0, "%-*s%-*.*s%*s", CELLS_AT, "level of", cells, cells,
		  "slots: . none, 1-9, x from 10, X 100, # 1000, @ 10000; ^ hand",
		  BEHIND, "timers");
	wattroff(page, A_UNDERLINE);
	while (--level >= 0) {
		if (!model->ring[level].size)
			continue;
		if (level >= room) {
			hidden++;
			continue;
		}
		draw_level(model, view, level, y);
		y += 2;
	}
	if (hidden)
		mvwprintw(page, y++, 0, "%d level%s not shown", hidden, hidden == 1 ? "" : "s");
	return y;
}

static int draw_elsewhere(const struct model *model, const struct view *view, int y)
{
	static const char * const names[] = {
		[-1 - LEVEL_UNKNOWN] = "unknown place", [-1 - LEVEL_ORDER] = "in order",
		[-1 - LEVEL_QUEUE] = "in the queue",
	};
	char text[NUMBER_LEN];
	bool is_first = true;
	uint64_t count;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		count = model->elsewhere[i];
		/* Their events were lost. */
		if (i == -1 - LEVEL_UNKNOWN && view->armed > model->armed)
			count += view->armed - model->armed;
		if (!count)
			continue;
		if (is_first)
			wmove(page, y++, 0);
		wprintw(page, "%s%s %s", is_first ? "" : ", ", names[i], count_text(text, count));
		is_first = false;
	}
	return y;
}

static void draw_moves(const struct model *model, const struct view *view, int y)
{
	char time[DURATION_LEN], count[NUMBER_LEN];
	size_t i;

	for (i = 0; i < MODEL_MOVES && model->move[i].timers && y < LINES - 1; i++, y++) {
		const struct move *move = &model->move[i];

		if (model->recording->is_trace)
			duration_short(time, since(move->time, view->zero));
		else
			duration_exact(time, move->time);
		/* The newest is marked at the slots. */
		mvwprintw(page, y, 0,
			  "%14s  level %d, slot %u%s to level %d, slot %u%s: %s timer%s", time,
			 move->from, move->slot, i ? "" : " (v)", move->to, move->to_slot,
			 i ? "" : " (*)",
			 count_text(count, move->timers), move->timers == 1 ? "" : "s");
	}
}

static void show_page(void)
{
	prefresh(page, 0, 0, 0, 0, LINES - 1, COLS - 1);
}

void screen_draw(const struct model *model, const struct view *view)
{
	int y;

	/* It may have another size now. */
	wresize(page, LINES, COLS + MORE);
	werase(page);
	if (COLS < 40 || LINES < 12) {
		mvwprintw(page, 0, 0, "twheel top needs 40\ncolumns and 12 lines.");
		show_page();
		return;
	}
	draw_head(model, view);
	draw_rates(view);
	draw_lateness(model);
	y = draw_levels(model, view);
	y = draw_elsewhere(model, view, y);
	draw_moves(model, view, y);
	mvwprintw(page, LINES - 1, 0, "%.*s", COLS - 1, view->keys);
	show_page();
}
