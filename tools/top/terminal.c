// SPDX-License-Identifier: GPL-2.0
/* The terminal, by ncurses. */
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "top/terminal.h"

static struct screen *terminal;
static int input;
static bool utf8;
static atomic_bool interrupted;
/* These ask it to end.  SIGWINCH has a handler of ncurses, which tells of it as of a key. */
static const int ending[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP };
static sigset_t signals;
static attr_t looks[] = {
	[LOOK_PLAIN] = A_NORMAL,
	[LOOK_BOLD] = A_BOLD,
	[LOOK_DIM] = A_DIM,
	[LOOK_REVERSE] = A_REVERSE,
	[LOOK_HAND] = A_REVERSE,
	[LOOK_OPENED] = A_BOLD,
	[LOOK_HEAVY] = A_BOLD,
};

static void set_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || start_color() != OK || !has_colors())
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_YELLOW, -1);
	looks[LOOK_OPENED] |= COLOR_PAIR(1);
	looks[LOOK_HEAVY] |= COLOR_PAIR(2);
}

static void interrupt(int nr)
{
	(void)nr;
	interrupted = true;
}

/*
 * Without a handler of ours ncurses ends the process itself, with a status of failure.  A second
 * signal ends it at once: the first one may have found it with a write that nobody reads, which
 * goes on.  A recording into a pipe that nobody has open any more fails as on a full disk does.
 */
static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESETHAND };
	size_t i;

	sigemptyset(&signals);
	sigaddset(&signals, SIGWINCH);
	for (i = 0; i < ARRAY_SIZE(ending); i++) {
		sigaction(ending[i], &action, NULL);
		sigaddset(&signals, ending[i]);
	}
	signal(SIGPIPE, SIG_IGN);
}

void terminal_open(bool keys)
{
	const char *term = getenv("TERM");
	FILE *in = keys ? stdin : fopen("/dev/tty", "re");

	if (!in)
		fail("there is no terminal that keys could come from");
	setlocale(LC_ALL, "");
	utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	input = fileno(in);
	catch_signals();
	terminal = newterm(NULL, stdout, in);
	if (!terminal)
		fail("TERM=%s: this machine does not know such a terminal: try TERM=vt100", term);
	atexit(terminal_close);
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	timeout(0);
	set_colours();
}

void terminal_close(void)
{
	if (!terminal)
		return;
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

void terminal_begin(struct picture *picture)
{
	picture_begin(picture, COLS, LINES);
}

void terminal_show(const struct picture *picture)
{
	int x, y;

	erase();
	for (y = 0; y < picture->height; y++) {
		for (x = 0; x < picture->width; x++) {
			const struct cell *cell = &picture->cell[(size_t)y * picture->width + x];

			if (cell->glyph == ' ' && cell->look == LOOK_PLAIN)
				continue;
			attrset(looks[cell->look]);
			/* In the last corner it says ERR, because no cursor fits behind it. */
			mvaddstr(y, x, picture_glyph(cell->glyph, utf8));
		}
	}
	refresh();
}

/*
 * Returns false if no key will come any more, because the terminal is gone.  A signal that came
 * between the look at what it has set and the wait would be seen after that, so it is held up
 * there until the wait begins.
 */
static bool wait_for_key(uint64_t ns)
{
	struct timespec time = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
	struct pollfd fd = { .fd = input, .events = POLLIN };
	sigset_t before;
	int ready;

	sigprocmask(SIG_BLOCK, &signals, &before);
	if (interrupted)
		time = (struct timespec){};
	ready = ppoll(&fd, 1, &time, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready <= 0 || !(fd.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int terminal_key(uint64_t ns)
{
	static const struct {
		int code;
		int key;
	} keys[] = {
		{ '\t', KEY_NEXT_WHEEL }, { KEY_RIGHT, KEY_NEXT_WHEEL },
		{ KEY_DOWN, KEY_NEXT_WHEEL }, { KEY_BTAB, KEY_WHEEL_BEFORE },
		{ KEY_LEFT, KEY_WHEEL_BEFORE }, { KEY_UP, KEY_WHEEL_BEFORE },
		{ KEY_RESIZE, KEY_NEW_SIZE },
	};
	size_t i;
	/* ncurses may have read several at once. */
	int code = getch();
	bool come = wait_for_key(code == ERR ? ns : 0);

	if (code == ERR)
		code = getch();
	if (interrupted || (code == ERR && !come))
		return KEY_NO_MORE;
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].code == code)
			return keys[i].key;
	}
	/* ERR, which is none, too; and keys that mean nothing here. */
	return code < 256 ? code : KEY_NONE_PRESSED;
}
