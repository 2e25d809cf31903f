// SPDX-License-Identifier: GPL-2.0
/* twheel plot: a picture of what twheel sim and twheel trace tell. */
#include <errno.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "plot/draw.h"
#include "plot/story.h"
#include "verbs.h"

struct plot {
	const char *file;
	const char *output;
};

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "write FILE; else to standard output", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plot *plot = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (plot->file)
			usage_error("%s: there is a file already, %s: give one", arg, plot->file);
		plot->file = arg;
		return 0;
	case 'o':
		plot->output = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Else it is the standard input. */
static bool is_file(const char *path)
{
	return path && strcmp(path, "-");
}

static void read_story(struct story *story, const char *path)
{
	FILE *file;

	if (!is_file(path)) {
		story_read(story, stdin, "standard input");
		return;
	}
	file = fopen(path, "r");
	if (!file)
		fail("%s: %s: give a trace, or - for standard input", path, strerror(errno));
	story_read(story, file, path);
	fclose(file);
}

int verb_plot(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "[FILE]",
		.doc = "Draw, as SVG, a trace that twheel trace or twheel sim has printed as JSON, "
		       "or the counters of twheel sim --compare."
		       "\vOf a trace: each timer's way from arm through the levels to delivery, when "
		       "somebody woke up, and how late timers were.  Up to 40 have a lane each, more "
		       "are rows of shades.  Of counters: what each system has done; of several loads or "
		       "shapes, one after the other, curves.  The picture needs no other file, and "
		       "has colours for light and for dark pages.\n"
		       "\n"
		       "Example: a timer of nine seconds\n"
		       "  printf 'arm 1 9s\\nrun\\n' | twheel sim --trace --json | twheel plot",
	};
	struct plot plot = {};
	struct story story;

	options_parse(&argp, argc, argv, 0, &plot);
	read_story(&story, plot.file);
	if (!story.nr_timers && !story.nr_costs)
		fail("%s: it tells of no timer: give what twheel trace --json or twheel sim "
		     "--trace --json prints", plot.file ? plot.file : "standard input");
	if (plot.output && is_input(plot.output, is_file(plot.file) ? plot.file : NULL))
		fail("--output %s: that is what is drawn: give another file", plot.output);
	if (plot.output)
		output_to(plot.output);
	output_bulk();
	if (story.nr_timers)
		draw_lives(&story);
	else
		draw_costs(&story);
	story_free(&story);
	return 0;
}
