// SPDX-License-Identifier: GPL-2.0
/* twheel plot: draw the lives of timers, from a script or a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "options.h"
#include "output.h"
#include "plot/picture.h"
#include "source.h"
#include "verbs.h"

/* At most this many wheels in a picture. */
#define WHEELS_MAX	16

/**
 * struct plot - what to draw
 * @job: the source
 * @output: the file; NULL: standard output
 * @wheel: only this wheel of a trace; 0: all wheels
 * @choice: which timers, and which time
 */
struct plot {
	struct job job;
	const char *output;
	uint64_t wheel;
	struct choice choice;
};

enum { KEY_FROM = 0x300, KEY_TO, KEY_ID, KEY_WHEEL };

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0, "write to FILE instead of standard output", 0 },
	{ "from", KEY_FROM, "DURATION", 0, "the time at the left", 0 },
	{ "to", KEY_TO, "DURATION", 0, "the time at the right", 0 },
	{ "id", KEY_ID, "A[-B]", 0, "only timers with ids from A to B", 0 },
	{ "wheel", KEY_WHEEL, "N", 0, "only wheel N of a trace", 0 },
	{ 0 }
};

static void parse_ids(struct choice *choice, char *text)
{
	char *last = strchr(text, '-');

	if (last)
		*last++ = 0;
	choice->first = option_number("--id", text, 0, SIM_MAX_CAPACITY - 1);
	choice->last = last ? option_number("--id A-", last, choice->first, SIM_MAX_CAPACITY - 1) :
			      choice->first;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plot *plot = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &plot->job;
		return 0;
	case 'o':
		plot->output = arg;
		return 0;
	case KEY_FROM:
		plot->choice.from = option_duration("--from", arg);
		return 0;
	case KEY_TO:
		plot->choice.to = option_duration("--to", arg);
		return 0;
	case KEY_ID:
		parse_ids(&plot->choice, arg);
		return 0;
	case KEY_WHEEL:
		plot->wheel = option_number("--wheel", arg, 1, UINT64_MAX);
		return 0;
	case ARGP_KEY_END:
		if (plot->choice.from >= plot->choice.to)
			usage_error("--to is not after --from: give a later time");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The wheels of a recording; a simulation has wheel 0. */
static size_t wheels_of(const struct recording *recording, uint64_t *wheel)
{
	size_t nr = 0, i, j;

	for (i = 0; i < recording->nr; i++) {
		const struct record *record = &recording->record[i];

		for (j = 0; j < nr && wheel[j] != record->wheel; j++)
			;
		if (record->what == RECORD_WOKEN || j < nr)
			continue;
		if (nr == WHEELS_MAX)
			fail("it has more than %u wheels: choose one, for example --wheel %llu",
			     WHEELS_MAX, (unsigned long long)wheel[0]);
		wheel[nr++] = record->wheel;
	}
	return nr;
}

static size_t add_lives(struct lives *lives, const struct plot *plot,
			const struct recording *recording)
{
	uint64_t wheel[WHEELS_MAX];
	size_t nr = 1, done = 0, i;

	wheel[0] = plot->wheel;
	if (!plot->wheel)
		nr = wheels_of(recording, wheel);
	for (i = 0; i < nr; i++) {
		if (!lives_of(&lives[done], recording, wheel[i], &plot->choice)) {
			lives_free(&lives[done]);
			continue;
		}
		if (wheel[i])
			snprintf(lives[done].name, sizeof(lives[done].name), "wheel %llu",
				 (unsigned long long)wheel[i]);
		done++;
	}
	return done;
}

static void write_picture(const struct plot *plot, const struct lives *lives, size_t nr)
{
	FILE *out = stdout, *memory;
	char *text;
	size_t size;
	bool is_written;

	/* A file keeps what it has if there will be no picture. */
	memory = open_memstream(&text, &size);
	if (!memory)
		fail("out of memory");
	picture(memory, lives, nr, &plot->choice);
	if (fclose(memory))
		fail("out of memory");
	if (plot->output)
		out = fopen(plot->output, "w");
	if (!out)
		fail("%s: %s: give a file that can be written", plot->output, strerror(errno));
	fwrite(text, 1, size, out);
	free(text);
	if (!plot->output)
		return;
	is_written = !ferror(out);
	if (fclose(out) || !is_written)
		fail("%s: cannot be written completely: %s", plot->output, strerror(errno));
}

static void write_help(char *text, size_t size)
{
	FILE *file = fmemopen(text, size, "w");

	if (!file)
		fail("out of memory");
	fputs("Draw the lives of timers as SVG: each from its arm through the cascade to its "
	      "event, its lateness, and the wake-ups of the system."
	      "\vFILE is a script of twheel sim, the output of twheel sim --trace --json, or the "
	      "events twheel:* of a wheel in the kernel as tracefs, trace-cmd report and perf "
	      "script print them.  With several --as the systems are drawn below each other.\n"
	      "\n", file);
	job_about(file);
	fputs("\n"
	      "Example: how a timer of 450 ms comes down on Kafka's wheels, and on this one\n"
	      "  printf 'arm 1 450ms\\nrun\\n' | twheel plot --as hierarchical --as twheel", file);
	fclose(file);
}

int verb_plot(int argc, char **argv)
{
	static char help[4096];
	static const struct argp_child children[] = { { .argp = &job_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "[FILE]", .doc = help,
		.children = children,
	};
	static struct recording recording[JOB_SYSTEMS];
	static struct lives lives[JOB_SYSTEMS + WHEELS_MAX];
	struct plot plot = { .choice = { .last = UINT32_MAX, .to = UINT64_MAX } };
	size_t nr, all = 0, i;

	write_help(help, sizeof(help));
	job_init(&plot.job);
	options_parse(&argp, argc, argv, 0, &plot);
	nr = source_read(&plot.job, recording);
	for (i = 0; i < nr; i++) {
		all += add_lives(&lives[all], &plot, &recording[i]);
		recording_free(&recording[i]);
	}
	if (!all)
		fail("it has no such timer: leave out --id and --wheel");
	output_bulk();
	write_picture(&plot, lives, all);
	for (i = 0; i < all; i++)
		lives_free(&lives[i]);
	return 0;
}
