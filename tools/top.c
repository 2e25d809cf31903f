// SPDX-License-Identifier: GPL-2.0
/* twheel top: a picture of a wheel that turns: a live one, a simulated one, a recorded one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "target.h"
#include "top/draw.h"
#include "top/link.h"
#include "top/source.h"
#include "top/terminal.h"
#include "verbs.h"

/* Twice as fast or slow that often. */
#define SPEED_MAX	10

#define TEXT_WIDTH	80

/* From one picture to the next, unless it is said. */
#define LOOK_INTERVAL	NSEC_PER_SEC
#define PLAY_INTERVAL	(100 * NSEC_PER_MSEC)

/**
 * struct top - what is shown, and how
 * @target: of which wheel
 * @script: or a simulation of this script
 * @choice: in which system, and in which shape
 * @replay: or what was recorded there, or a link
 * @pace: what passes of a simulation in a second; 0: no option says so
 * @interval: from one picture to the next
 * @count: how many pictures; 0: no end
 * @record: where they are written to
 * @json: they are printed, not drawn
 * @file: that of @record
 * @source: where they come from
 * @view: how they are looked at
 * @shown: how many there were
 */
struct top {
	struct target_options	target;
	const char		*script;
	struct choice		choice;
	const char		*replay;
	uint64_t		pace;
	uint64_t		interval;
	uint64_t		count;
	const char		*record;
	bool			json;
	FILE			*file;
	struct source		*source;
	struct view		view;
	uint64_t		shown;
};

enum { KEY_SIM = 256, KEY_PACE, KEY_RECORD, KEY_REPLAY, KEY_JSON };

static const struct argp_option argp_options[] = {
	{ "interval", 'i', "DURATION", 0,
	  "from one picture to the next (1s; of what is not live 100ms)", 0 },
	{ "count", 'n', "N", 0, "end after N pictures", 0 },
	{ "sim", KEY_SIM, "SCRIPT", 0, "no live wheel: a script, as twheel sim has them", 0 },
	{ "pace", KEY_PACE, "DURATION", 0, "with --sim: what passes in a second (1s)", 0 },
	{ "record", KEY_RECORD, "FILE", 0, "also write each picture to FILE, as JSON Lines", 0 },
	{ "replay", KEY_REPLAY, "FILE", 0,
	  "no live wheel: such a file, or a link of the page of make play", 0 },
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines, and draw nothing", 0 },
	{ 0 }
};

static void check(const struct top *top)
{
	if (top->script && top->replay)
		usage_error("--sim and --replay show two things: give one of them");
	if (top->choice.given && top->replay && link_is(top->replay))
		usage_error("--%s: the link says that itself: leave it out", top->choice.given);
	if (top->choice.given && !top->script)
		usage_error("--%s is about a script: give --sim", top->choice.given);
	if (top->pace && !top->script && !(top->replay && link_is(top->replay)))
		usage_error("--pace is about a script: give --sim, or --replay with a link");
	if ((top->script || top->replay) && target_is_given(&top->target))
		usage_error("--pid and --fd are about live wheels: leave them out with %s",
			    top->script ? "--sim" : "--replay");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->target;
		state->child_inputs[1] = &top->choice;
		return 0;
	case 'i':
		top->interval = option_interval("--interval", arg);
		return 0;
	case 'n':
		top->count = option_number("--count", arg, 1, UINT64_MAX);
		return 0;
	case KEY_SIM:
		top->script = arg;
		return 0;
	case KEY_PACE:
		top->pace = option_duration("--pace", arg);
		if (!top->pace)
			usage_error("--pace %s: give at least 1ns", arg);
		return 0;
	case KEY_RECORD:
		top->record = arg;
		return 0;
	case KEY_REPLAY:
		top->replay = arg;
		return 0;
	case KEY_JSON:
		top->json = true;
		return 0;
	case ARGP_KEY_END:
		check(top);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Frames */

/* A frame has come: it is the one that @elapsed ns after the first was seen. */
static void note_frame(struct top *top, uint64_t elapsed)
{
	struct frame *frame = &top->source->frame;
	struct json_object *line;

	top->shown++;
	if (!top->replay || link_is(top->replay))
		frame->elapsed = elapsed;
	if (!top->file)
		return;
	line = frame_json(frame);
	fputs(json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN |
						   JSON_C_TO_STRING_NOSLASHESCAPE), top->file);
	fputc('\n', top->file);
	json_object_put(line);
}

/* What was recorded is on its way as soon as it is shown, so that is when a full disk is seen. */
static bool record_failed(const struct top *top)
{
	return top->file && ferror(top->file);
}

static bool is_last(const struct top *top)
{
	return (top->count && top->shown >= top->count) || record_failed(top);
}

static void end_record(const struct top *top)
{
	bool failed;

	if (!top->file)
		return;
	failed = record_failed(top);
	if (fclose(top->file) || failed)
		fail("--record %s: not all could be written", top->record);
}

/* As text */

static void print_text(struct top *top)
{
	struct picture picture = {};

	top->view.number = top->source->number;
	top->view.of = top->source->of;
	picture_begin(&picture, TEXT_WIDTH, draw_height(&top->source->frame, &top->view));
	draw(&picture, &top->source->frame, &top->view);
	if (top->shown > 1)
		putchar('\n');
	picture_print(&picture, stdout, false);
	output_check();
	picture_free(&picture);
}

static void wait_for(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* Picture after picture; only a live wheel is waited for. */
static void run_text(struct top *top)
{
	struct source *source = top->source;

	for (;;) {
		note_frame(top, top->shown * top->interval);
		if (top->json)
			json_line(frame_json(&source->frame));
		else
			print_text(top);
		if (is_last(top))
			return;
		if (source->live)
			wait_for(top->interval);
		if (!source->step(source) || source->error)
			break;
	}
	if (!source->error && !top->json)
		puts(source->end);
}

/* On a terminal */

static uint64_t faster(uint64_t ns, int speed)
{
	return speed < 0 ? ns >> -speed : ns << speed;
}

/* A live wheel does not turn faster: it is looked at more often. */
static uint64_t interval_of(const struct top *top)
{
	uint64_t interval = top->interval;

	if (top->source->live)
		interval = faster(interval, -top->view.speed);
	return interval < INTERVAL_MIN ? INTERVAL_MIN : interval;
}

static void show(struct top *top, struct picture *picture)
{
	top->view.number = top->source->number;
	top->view.of = top->source->of;
	top->view.message = top->source->end;
	terminal_begin(picture);
	draw(picture, &top->source->frame, &top->view);
	terminal_show(picture);
}

/* False: it is to end. */
static bool press(struct top *top, int key, uint64_t elapsed)
{
	struct source *source = top->source;
	struct view *view = &top->view;

	switch (key) {
	case 'q':
	case KEY_NO_MORE:
		return false;
	case ' ':
		view->paused = !view->paused;
		break;
	case 's':
		view->paused = true;
		if (source->step(source) && !source->error)
			note_frame(top, elapsed);
		break;
	case '+':
	case '=':
		view->speed += view->speed < SPEED_MAX;
		break;
	case '-':
		view->speed -= view->speed > -SPEED_MAX;
		break;
	case 'h':
	case '?':
		view->help = !view->help;
		break;
	case KEY_NEXT_WHEEL:
	case KEY_WHEEL_BEFORE:
		if (source->choose) {
			source->choose(source, key == KEY_NEXT_WHEEL ? 1 : -1);
			note_frame(top, elapsed);
		}
		break;
	default:
		break;
	}
	return true;
}

static void run_terminal(struct top *top)
{
	uint64_t begin = now(), last = begin, time = begin, interval;
	struct source *source = top->source;
	struct picture picture = {};
	bool goes_on = true;

	top->view.keys = true;
	terminal_open(isatty(STDIN_FILENO));
	note_frame(top, 0);
	while (goes_on && !source->error) {
		int key;

		show(top, &picture);
		if (is_last(top))
			break;
		interval = interval_of(top);
		key = terminal_key(last + interval > time ? last + interval - time : 0);
		time = now();
		if (key != KEY_NONE_PRESSED)
			goes_on = press(top, key, time - begin);
		if (time - last < interval)
			continue;
		if (goes_on && !top->view.paused && !source->end && !source->error &&
		    source->pass(source, faster(time - last, top->view.speed)))
			note_frame(top, time - begin);
		last = time;
	}
	terminal_close();
	picture_free(&picture);
}

/* Sources */

static void read_script(struct script *script, const char *name)
{
	FILE *file;

	if (!strcmp(name, "-")) {
		script_read(script, stdin, "standard input");
		return;
	}
	file = fopen(name, "re");
	if (!file)
		fail("%s: %s: give a script, or - for standard input", name, strerror(errno));
	script_read(script, file, name);
	fclose(file);
}

/* To record into what is shown would empty that first. */
static void check_record(const struct top *top)
{
	const char *shown = top->script ?: top->replay;

	if (shown && is_input(top->record, top->script && !strcmp(shown, "-") ? NULL : shown))
		fail("--record %s: that is what is shown: give another file", top->record);
}

static struct source *open_source(struct top *top, struct script *script)
{
	struct start start = {};

	if (top->script) {
		read_script(script, top->script);
		return simulation_open(&top->choice, script, top->pace, &start);
	}
	if (top->replay && link_is(top->replay)) {
		link_read(top->replay, &top->choice, script, &start);
		/* As on the page: it is there that somebody has stopped. */
		top->view.paused = true;
		return simulation_open(&top->choice, script, top->pace, &start);
	}
	return top->replay ? replay_open(top->replay) : live_open(&top->target);
}

int verb_top(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ .argp = &target_argp }, { .argp = &choice_argp }, { 0 }
	};
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children,
		.doc = "Show a wheel as it turns: slots, hands and cascades, rates and lateness."
		       "\vWithout --pid or --fd: one of all wheels that are open; tab shows the "
		       "next.  Where the standard output is no terminal it is text, picture after "
		       "picture.  Of a wheel with more than 1,024 timers a sample is shown.\n"
		       "\n"
		       "Example: two pictures of the wheel of process 1234, as text\n"
		       "  twheel top --pid 1234 --count 2 | cat",
	};
	struct top top = { .target = TARGET_OPTIONS_INIT, .choice = CHOICE_INIT };
	struct script script = {};

	options_parse(&argp, argc, argv, 0, &top);
	if (!top.interval)
		top.interval = top.script || top.replay ? PLAY_INTERVAL : LOOK_INTERVAL;
	if (!top.pace)
		top.pace = NSEC_PER_SEC;
	top.source = open_source(&top, &script);
	if (top.record) {
		check_record(&top);
		top.file = fopen(top.record, "we");
		if (!top.file)
			fail("--record %s: %s", top.record, strerror(errno));
		/* So that they are all there when a signal ends this. */
		setlinebuf(top.file);
	}
	if (top.json || !is_terminal(stdout))
		run_text(&top);
	else
		run_terminal(&top);
	end_record(&top);
	if (top.source->error)
		fail("%s", top.source->error);
	top.source->close(top.source);
	script_free(&script);
	return 0;
}
