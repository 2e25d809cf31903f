// SPDX-License-Identifier: GPL-2.0
/* The screen of a build without ncurses. */
#include "output.h"
#include "top/screen.h"

void screen_begin(void)
{
	fail("it was built without ncurses: install libncurses-dev (Fedora: ncurses-devel, Arch: "
	     "ncurses), and build the tools again");
}

void screen_end(void)
{
}

void screen_draw(const struct model *model, const struct view *view)
{
	(void)model;
	(void)view;
}

int screen_key(int ms)
{
	(void)ms;
	return 'q';
}
