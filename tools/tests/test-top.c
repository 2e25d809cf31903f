// SPDX-License-Identifier: GPL-2.0
/*
 * What twheel top draws of a frame, without a terminal: as it is kept in tests/top, at any size, of
 * any text; and which lines of a file it takes for frames.  TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "top/draw.h"

#define TEXT_SIZE	65536

static int nr, failed;

static void result(int ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++nr, what);
	if (!ok)
		failed = 1;
}

/* The first line of a file of frames. */
static char *read_line(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file || getline(&line, &size, file) < 0)
		abort();
	fclose(file);
	return line;
}

/* A file without its first line, which names the licence. */
static void read_kept(char *text, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t len = 0;

	if (file) {
		while (fgetc(file) != '\n')
			;
		len = fread(text, 1, TEXT_SIZE - 1, file);
		fclose(file);
	}
	text[len] = 0;
}

static void draw_text(char *text, const struct frame *frame, const struct view *view, int width,
		      int height, bool utf8)
{
	struct picture picture = {};
	FILE *file = fmemopen(text, TEXT_SIZE, "w");

	if (!file)
		abort();
	picture_begin(&picture, width, height);
	draw(&picture, frame, view);
	picture_print(&picture, file, utf8);
	picture_free(&picture);
	fclose(file);
}

static const struct {
	const char *kept;
	int width;
	int height;
	bool utf8;
	struct view view;
} pictures[] = {
	{ "tests/top/80x24.txt", 80, 24, true, { .keys = true, .number = 1, .of = 3 } },
	{ "tests/top/80x24-ascii.txt", 80, 24, false,
	  { .keys = true, .paused = true, .speed = -2 } },
	{ "tests/top/160x40.txt", 160, 40, true,
	  { .keys = true, .speed = 3, .message = "the wheel was closed" } },
	{ "tests/top/60x12.txt", 60, 12, false, { .keys = true } },
	{ "tests/top/20x5.txt", 20, 5, false, { .keys = true } },
	{ "tests/top/help.txt", 80, 24, false, { .keys = true, .help = true, .paused = true } },
};

static void test_pictures(const struct frame *frame)
{
	static char kept[TEXT_SIZE], drawn[TEXT_SIZE];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pictures); i++) {
		read_kept(kept, pictures[i].kept);
		draw_text(drawn, frame, &pictures[i].view, pictures[i].width, pictures[i].height,
			  pictures[i].utf8);
		if (strcmp(kept, drawn))
			printf("# this was drawn, and is not in %s:\n%s", pictures[i].kept, drawn);
		result(!strcmp(kept, drawn), pictures[i].kept);
	}
}

/* Nothing is drawn outside of it. */
static void test_sizes(const struct frame *frame)
{
	const struct view view = { .keys = true, .of = 2, .message = "over" };
	int width, height, bad = 0;

	for (width = 1; width < 220; width += 3) {
		for (height = 1; height < 60; height++) {
			size_t cells = (size_t)width * height, i;
			struct picture picture = {};

			picture_begin(&picture, width, height);
			/* One more, which is to stay as it is. */
			picture.cell = reallocarray(picture.cell, cells + 1, sizeof(*picture.cell));
			if (!picture.cell)
				abort();
			picture.cell[cells].glyph = 1;
			draw(&picture, frame, &view);
			bad += picture.cell[cells].glyph != 1;
			for (i = 0; i < cells; i++)
				bad += picture.cell[i].glyph < ' ' ||
				       picture.cell[i].glyph >= GLYPHS_END;
			picture_free(&picture);
		}
	}
	result(!bad, "any size can be drawn");
}

static bool parse(struct frame *frame, const char *line)
{
	return frame_parse(frame, line, strlen(line));
}

/* From a frame to JSON and back nothing is lost. */
static void test_round_trip(const struct frame *frame)
{
	struct json_object *json = frame_json(frame), *again;
	struct frame copy = {};
	bool good = parse(&copy, json_object_to_json_string(json));

	again = frame_json(&copy);
	result(good && json_object_equal(json, again), "a frame that is written reads the same");
	json_object_put(json);
	json_object_put(again);
	frame_free(&copy);
}

/* A line without one of its keys, or with another value for it. */
static bool is_taken(struct json_object *line, const char *key, const char *value)
{
	struct json_object *copy = NULL;
	struct frame frame = {};
	bool taken;

	if (json_object_deep_copy(line, &copy, NULL))
		abort();
	json_object_object_del(copy, key);
	if (value)
		json_object_object_add(copy, key, json_tokener_parse(value));
	taken = parse(&frame, json_object_to_json_string(copy));
	frame_free(&frame);
	json_object_put(copy);
	return taken;
}

#define LEVEL(places, hand, slots, opened)						\
	"[{\"span_ns\":1,\"places\":" places ",\"hand\":" hand ",\"slots\":" slots		\
	",\"opened\":" opened "}]"
/* Good levels: 16 may be there, and no more. */
#define ONE	"{\"span_ns\":1,\"places\":1,\"hand\":0,\"slots\":[],\"opened\":[]}"
#define FOUR	ONE "," ONE "," ONE "," ONE

static void test_wrong(const char *text)
{
	static const char * const values[] = { "-1", "\"x\"", "{}", "1.5", "[[]]", "[-1]", "[{}]" };
	static const char * const levels[] = {
		LEVEL("0", "0", "[]", "[]"), LEVEL("99999", "0", "[]", "[]"),
		LEVEL("8", "8", "[]", "[]"), LEVEL("8", "0", "[]", "[8]"),
		LEVEL("8", "0", "[{\"slot\":8,\"timers\":1}]", "[]"),
		LEVEL("8", "0", "0", "[]"), LEVEL("8", "0", "[0]", "[]"), "[0]",
		"[" FOUR "," FOUR "," FOUR "," FOUR "," ONE "]",
	};
	struct json_object *line = json_tokener_parse(text);
	struct frame frame = {};
	int keys = 0, bad = 0;
	size_t i;

	json_object_object_foreach(line, key, value) {
		bool is_text = json_object_is_type(value, json_type_string);

		keys++;
		bad += is_taken(line, key, NULL);
		for (i = 0; i < ARRAY_SIZE(values); i++)
			bad += is_taken(line, key, values[i]) && !(is_text && values[i][0] == '"');
	}
	result(keys > 25 && !bad, "a line without one of its keys, or with nonsense, is no frame");
	for (bad = 0, i = 0; i < ARRAY_SIZE(levels); i++)
		bad += is_taken(line, "levels", levels[i]);
	bad += !is_taken(line, "levels", LEVEL("8", "7", "[]", "[7]"));
	bad += !is_taken(line, "levels", "[" FOUR "," FOUR "," FOUR "," FOUR "]");
	result(!bad, "nor one whose levels are no levels");
	bad = parse(&frame, "") || parse(&frame, "nonsense") ||
	      parse(&frame, "[]") || parse(&frame, "null") ||
	      parse(&frame, "{}");
	result(!bad, "nor what is no object");
	frame_free(&frame);
	json_object_put(line);
}

/* Who names a process or a file may try to write to somebody's terminal. */
static void test_hostile(struct frame *frame)
{
	const struct view view = { .keys = true };
	static char drawn[TEXT_SIZE];
	size_t i;
	int bad = 0;

	snprintf(frame->title, FRAME_TEXT, "%s", "\033]0;evil\a\033[2J\n\r\302\233 x");
	snprintf(frame->said, FRAME_TEXT, "%s", "\033[31m");
	draw_text(drawn, frame, &view, 80, 24, false);
	for (i = 0; drawn[i]; i++)
		bad += (drawn[i] < ' ' && drawn[i] != '\n') || drawn[i] > '~';
	result(!bad && strstr(drawn, "twheel top: ?]0;evil??[2J????") && strstr(drawn, "?[31m"),
	       "texts bring nothing but letters to a terminal");
}

#define STATE "time 5h8m23s  next in 1.5ms  pending 1,048,576  unread 3"

/* No number is shown in part. */
static void test_cut(struct frame *frame)
{
	static const char said[] = "timer 99 has come down from level 2, slot 15 to level 1, "
				   "slot 17";
	static char drawn[TEXT_SIZE];
	const struct view view = {};
	unsigned int width;
	int bad = 0;

	frame->outside = 0;
	frame->by_time = 0;
	frame->looked_at = frame->pending;
	for (width = 60; width < 100; width++) {
		char *line, *rest;

		snprintf(frame->said, FRAME_TEXT, "%s", said);
		draw_text(drawn, frame, &view, width, 24, false);
		strtok_r(drawn, "\n", &rest);
		line = strtok_r(NULL, "\n", &rest);
		bad += !line || strcmp(line, width < 66 ? STATE : width < 76 ? STATE "  tick 1ms" :
				       STATE "  tick 1ms  63.9 MiB");
		do
			line = strtok_r(NULL, "\n", &rest);
		while (line && strncmp(line, "timer", 5));
		bad += !line || strcmp(line, width >= strlen(said) ? said :
				"timer 99 has come down from level 2, slot 15 to level 1,...");
	}
	result(!bad, "what does not fit into a line ends behind a word");
}

int main(void)
{
	char *line = read_line("tests/top/frame.json");
	struct frame frame = {};

	result(parse(&frame, line), "a frame is one");
	test_pictures(&frame);
	test_sizes(&frame);
	test_round_trip(&frame);
	test_wrong(line);
	test_hostile(&frame);
	test_cut(&frame);
	frame_free(&frame);
	free(line);
	printf("1..%d\n", nr);
	return failed;
}
