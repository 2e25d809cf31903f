/* SPDX-License-Identifier: GPL-2.0 */
/* A picture of characters, before a terminal shows it: so what is drawn is compared as text. */
#ifndef TWHEEL_TOP_PICTURE_H
#define TWHEEL_TOP_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

/* What a cell may show beside the characters of ASCII. */
enum glyph {
	GLYPH_EMPTY = 128,
	GLYPH_FEW,
	GLYPH_LIGHT,
	GLYPH_HEAVY,
	GLYPH_FULL,
	GLYPH_HAND,
	GLYPH_OPENED,
	GLYPH_BAR,
	GLYPH_HALF_BAR,
	GLYPHS_END,
};

/* How it looks, where a terminal can do that. */
enum look {
	LOOK_PLAIN,
	LOOK_BOLD,
	LOOK_DIM,
	LOOK_REVERSE,
	LOOK_HAND,
	LOOK_OPENED,
	LOOK_HEAVY,
};

struct cell {
	unsigned char	glyph;
	unsigned char	look;
};

/**
 * struct picture - what is to be seen
 * @width: of a line
 * @height: lines
 * @cell: line after line
 */
struct picture {
	int		width;
	int		height;
	struct cell	*cell;
};

/* Make it that large, and empty. */
void picture_begin(struct picture *picture, int width, int height);
void picture_free(struct picture *picture);

/* Outside of it nothing is put. */
void picture_put(struct picture *picture, int x, int y, unsigned char glyph, enum look look);
/* What is not printable ASCII becomes a question mark.  Returns where the text ends. */
int picture_text(struct picture *picture, int x, int y, enum look look, const char *text);
/* Where it does not fit, as many words as do, and dots. */
void picture_words(struct picture *picture, int x, int y, enum look look, const char *text);
int picture_format(struct picture *picture, int x, int y, enum look look, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* A glyph as it is written: in UTF-8, or in ASCII. */
const char *picture_glyph(unsigned char glyph, bool utf8);

/* All lines, without what is blank at their ends. */
void picture_print(const struct picture *picture, FILE *file, bool utf8);

#endif
