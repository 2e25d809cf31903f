// SPDX-License-Identifier: GPL-2.0
/* Pictures of characters. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "top/picture.h"

/*
 * The ones of UTF-8 are in the fonts of Linux's console and of every terminal emulator: the page
 * that PCs began with has them.
 */
static const struct {
	const char *utf8;
	const char *ascii;
} glyphs[] = {
	[GLYPH_EMPTY] = { "\302\267", "." },
	[GLYPH_FEW] = { "\342\226\221", "-" },
	[GLYPH_LIGHT] = { "\342\226\222", "+" },
	[GLYPH_HEAVY] = { "\342\226\223", "#" },
	[GLYPH_FULL] = { "\342\226\210", "@" },
	[GLYPH_HAND] = { "|", "|" },
	[GLYPH_OPENED] = { "\342\206\223", "v" },
	[GLYPH_BAR] = { "\342\226\210", "#" },
	[GLYPH_HALF_BAR] = { "\342\226\204", "_" },
};

void picture_begin(struct picture *picture, int width, int height)
{
	size_t cells = (size_t)width * height, i;

	picture->width = width;
	picture->height = height;
	picture->cell = reallocarray(picture->cell, cells, sizeof(*picture->cell));
	if (!picture->cell)
		fail("out of memory");
	for (i = 0; i < cells; i++)
		picture->cell[i] = (struct cell){ ' ', LOOK_PLAIN };
}

void picture_free(struct picture *picture)
{
	free(picture->cell);
}

void picture_put(struct picture *picture, int x, int y, unsigned char glyph, enum look look)
{
	if (x >= 0 && x < picture->width && y >= 0 && y < picture->height)
		picture->cell[(size_t)y * picture->width + x] = (struct cell){ glyph, look };
}

int picture_text(struct picture *picture, int x, int y, enum look look, const char *text)
{
	for (; *text; text++)
		picture_put(picture, x++, y, printable(*text), look);
	return x;
}

void picture_words(struct picture *picture, int x, int y, enum look look, const char *text)
{
	static const char dots[] = "...";
	int len = strlen(text), room = picture->width - x;

	if (len > room) {
		len = room - (int)strlen(dots);
		while (len > 0 && text[len] != ' ')
			len--;
	}
	if (len >= 0)
		picture_format(picture, x, y, look, "%.*s%s", len, text, text[len] ? dots : "");
}

int picture_format(struct picture *picture, int x, int y, enum look look, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return picture_text(picture, x, y, look, text);
}

const char *picture_glyph(unsigned char glyph, bool utf8)
{
	static char text[2];

	if (glyph >= GLYPH_EMPTY && glyph < GLYPHS_END)
		return utf8 ? glyphs[glyph].utf8 : glyphs[glyph].ascii;
	text[0] = glyph;
	return text;
}

void picture_print(const struct picture *picture, FILE *file, bool utf8)
{
	int x, y, end;

	for (y = 0; y < picture->height; y++) {
		const struct cell *line = picture->cell + (size_t)y * picture->width;

		for (end = picture->width; end && line[end - 1].glyph == ' '; end--)
			;
		for (x = 0; x < end; x++)
			fputs(picture_glyph(line[x].glyph, utf8), file);
		fputc('\n', file);
	}
}
