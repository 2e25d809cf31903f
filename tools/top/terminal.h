/* SPDX-License-Identifier: GPL-2.0 */
/* The terminal: a picture is shown there, and keys come from there. */
#ifndef TWHEEL_TOP_TERMINAL_H
#define TWHEEL_TOP_TERMINAL_H

#include <stdint.h>

#include "top/picture.h"

/* Keys, beside the characters. */
enum key {
	KEY_NONE_PRESSED = -1,
	KEY_NEXT_WHEEL = 256,
	KEY_WHEEL_BEFORE,
	KEY_NEW_SIZE,
	/* The terminal is gone, or a signal asks to end: Ctrl-C is one. */
	KEY_NO_MORE,
};

/* Exits with one line if nothing can be drawn there.  Keys come from /dev/tty if @keys is false. */
void terminal_open(bool keys);
/* As it was before. */
void terminal_close(void);

/* A picture as large as the terminal, empty. */
void terminal_begin(struct picture *picture);
/* Only what has changed is sent. */
void terminal_show(const struct picture *picture);

/* A key, or after that time none, or sooner. */
int terminal_key(uint64_t ns);

#endif
