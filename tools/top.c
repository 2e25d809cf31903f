// SPDX-License-Identifier: GPL-2.0
/*
 * twheel top: show a live wheel, a script or a recording while the wheel turns.
 *
 * All three are records.  A script and a recording have all records at the beginning; a live wheel
 * adds them.  A clock runs at the chosen speed, and the model takes the records up to its time.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "source.h"
#include "top/live.h"
#include "top/model.h"
#include "top/screen.h"
#include "verbs.h"

/* Between two screens. */
#define FRAME_MS	50
/* A recording takes at most this long at the default speed. */
#define WATCH_S		20
#define SPEED_MOST	30

/**
 * struct top - what to show
 * @target: a wheel in the kernel,
 * @job: or a file,
 * @replay: or a recording
 * @record: record a live wheel to this file
 * @wheel: the wheel of a recording
 * @is_paused: the clock is stopped
 * @is_live: show a wheel in the kernel
 * @live: the wheel in the kernel
 * @recording: the records; a live wheel adds to them
 * @taken: number of records that the model has; it drops those of a live wheel
 * @last: the latest time of a recording
 * @model: the wheel
 * @clock: the time that is shown
 * @speed: of @clock, as a power of two
 * @rates_at: when the rates were computed last, by rates_clock()
 * @counted: the counters at @rates_at
 * @view: what the screen shows in addition to the model
 */
struct top {
	struct target_options target;
	struct job job;
	const char *replay;
	const char *record;
	uint64_t wheel;
	bool is_paused;
	bool is_live;
	struct live live;
	struct recording recording;
	size_t taken;
	uint64_t last;
	struct model model;
	uint64_t clock;
	int speed;
	uint64_t rates_at;
	struct counts counted;
	struct view view;
};

static struct top top = { .live = { .pipe = -1 } };
static atomic_bool is_over;

enum { KEY_REPLAY = 0x300, KEY_RECORD, KEY_WHEEL, KEY_PAUSE };

static const struct argp_option argp_options[] = {
	{ "replay", KEY_REPLAY, "FILE", 0, "a recording; the same as FILE alone", 0 },
	{ "record", KEY_RECORD, "FILE", 0, "write the events of a wheel in the kernel to FILE", 0 },
	{ "wheel", KEY_WHEEL, "N", 0, "wheel N of a recording", 0 },
	{ "pause", KEY_PAUSE, NULL, 0, "start with the clock stopped", 0 },
	{ 0 }
};

static void check(struct top *t)
{
	struct job *job = &t->job;
	bool has_file = job->file || job->made_up || t->replay;

	if (t->replay && job->file)
		usage_error("--replay %s: there is %s already: give one", t->replay, job->file);
	if (has_file && target_is_given(&t->target))
		usage_error("--pid and --fd are for a wheel in the kernel: give no file with them");
	if (has_file && t->record)
		usage_error("--record is for a wheel in the kernel: a script is recorded with "
			    "twheel sim --trace --json");
	if (!has_file && job->has_options)
		usage_error("--as and the options of a script are for a script: give one, or - for "
			    "standard input");
	if (job->systems > 1)
		usage_error("--as: one system can be shown: give it once");
	if (t->replay)
		job->file = t->replay;
	t->is_live = !has_file;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *t = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &t->target;
		state->child_inputs[1] = &t->job;
		return 0;
	case KEY_REPLAY:
		t->replay = arg;
		return 0;
	case KEY_RECORD:
		t->record = arg;
		return 0;
	case KEY_WHEEL:
		t->wheel = option_number("--wheel", arg, 1, UINT64_MAX);
		return 0;
	case KEY_PAUSE:
		t->is_paused = true;
		return 0;
	case ARGP_KEY_END:
		check(t);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Time */

static uint64_t first_time(const struct top *t)
{
	return t->recording.nr ? t->recording.record[0].time : 0;
}

static bool has_ended(const struct top *t)
{
	return t->taken == t->recording.nr && (!t->is_live || t->live.is_closed);
}

/* The model takes the records up to the clock. */
static void take(struct top *t)
{
	struct recording *recording = &t->recording;

	while (t->taken < recording->nr && recording->record[t->taken].time <= t->clock)
		model_take(&t->model, &recording->record[t->taken++]);
	if (!t->is_live)
		return;
	recording->nr -= t->taken;
	memmove(recording->record, recording->record + t->taken,
		recording->nr * sizeof(*recording->record));
	t->taken = 0;
}

static void pass(struct top *t, uint64_t ns)
{
	if (t->is_paused || has_ended(t))
		return;
	/* A script does not advance while the machine is suspended. */
	if (!t->is_live && ns > NSEC_PER_SEC)
		ns = NSEC_PER_SEC;
	t->clock += t->speed < 0 ? ns >> -t->speed : ns << t->speed;
	/* There are no records of the future. */
	if (t->is_live && t->clock > live_now())
		t->clock = live_now();
	if (!t->is_live && t->clock > t->last)
		t->clock = t->last;
	take(t);
}

/* Advance to the next record. */
static void step(struct top *t)
{
	t->is_paused = true;
	if (t->taken == t->recording.nr)
		return;
	if (t->recording.record[t->taken].time > t->clock)
		t->clock = t->recording.record[t->taken].time;
	take(t);
}

static struct counts counts_now(const struct top *t)
{
	struct counts counts = t->model.counts;
	const struct twheel_stats *stats = &t->live.info.stats;

	if (!t->is_live)
		return counts;
	/* The counters include events without a tracepoint. */
	counts.armed = stats->arms;
	counts.expired = stats->fired;
	counts.cancelled = stats->cancels;
	counts.woken = stats->interrupts;
	return counts;
}

/* The counters of a live wheel change however the clock runs. */
static uint64_t rates_clock(const struct top *t)
{
	return t->is_live ? live_now() : t->clock;
}

static void begin(struct top *t)
{
	t->taken = 0;
	t->clock = t->is_live ? live_now() : first_time(t);
	t->rates_at = rates_clock(t);
	model_start(&t->model, &t->recording, t->wheel);
	t->counted = counts_now(t);
	if (t->is_live || !t->is_paused)
		take(t);
}

static void begin_again(struct top *t)
{
	if (t->is_live)
		return;
	model_end(&t->model);
	begin(t);
}

static void choose_speed(struct top *t)
{
	uint64_t span = t->last - first_time(t);

	while (!t->is_live && span >> t->speed > WATCH_S * NSEC_PER_SEC)
		t->speed++;
}

/* The screen */

static uint64_t rate(uint64_t before, uint64_t after, uint64_t ns)
{
	return after > before ? (after - before) * (double)NSEC_PER_SEC / ns + 0.5 : 0;
}

static void compute_rates(struct top *t)
{
	uint64_t ns = rates_clock(t) - t->rates_at, least = NSEC_PER_SEC;
	struct counts counts = counts_now(t), *before = &t->counted;

	if (!t->is_live && t->speed > 0)
		least <<= t->speed;
	/* A recording may be shorter. */
	if (ns < least && (!ns || !has_ended(t) || t->rates_at != first_time(t)))
		return;
	t->view.per_s = (struct counts){
		.armed = rate(before->armed, counts.armed, ns),
		.moved = rate(before->moved, counts.moved, ns),
		.expired = rate(before->expired, counts.expired, ns),
		.cancelled = rate(before->cancelled, counts.cancelled, ns),
		.woken = rate(before->woken, counts.woken, ns),
	};
	t->counted = counts;
	t->rates_at += ns;
}

static void show(struct top *t)
{
	struct view *view = &t->view;

	compute_rates(t);
	view->name = t->recording.name;
	view->clock = t->clock;
	view->speed = t->speed;
	view->state = t->is_live ? "live" : "running";
	if (t->is_live && !live_is_traced(&t->live))
		view->state = "listed each second";
	if (t->is_paused)
		view->state = "paused";
	if (has_ended(t))
		view->state = t->is_live ? "closed" : "at the end";
	view->next = model_next(&t->model);
	view->armed = t->model.armed;
	if (t->is_live)
		view->armed = t->live.info.stats.pending;
	view->unread = t->is_live ? t->live.info.stats.expired : 0;
	view->lost = t->live.lost;
	view->keys = t->is_live ?
		"space: pause   s: step   + -: speed   f: follow   q: quit" :
		"space: pause   s: step   + -: speed   r: from the beginning   q: quit";
	screen_draw(&t->model, view);
}

/* Returns false to quit. */
static bool press(struct top *t, int key)
{
	switch (key) {
	case 'q':
		return false;
	case ' ':
	case 'p':
		t->is_paused = !t->is_paused;
		return true;
	case 's':
		step(t);
		return true;
	case '+':
	case '=':
		t->speed += t->speed < SPEED_MOST;
		return true;
	case '-':
		t->speed -= t->speed > -SPEED_MOST;
		return true;
	case 'r':
		begin_again(t);
		return true;
	case 'f':
		if (t->is_live) {
			t->is_paused = false;
			t->speed = 0;
			t->clock = live_now();
			take(t);
		}
		return true;
	default:
		return true;
	}
}

/* Restore the terminal and clean up tracefs, also after a failure. */
static void clean_up(void)
{
	screen_end();
	if (top.is_live)
		live_end(&top.live);
}

static void over(int signal)
{
	(void)signal;
	is_over = true;
}

static void run(struct top *t)
{
	uint64_t before = live_now(), now;
	int key = -1;

	do {
		if (t->is_live)
			live_poll(&t->live, &t->recording);
		now = live_now();
		pass(t, now - before);
		before = now;
		show(t);
		key = screen_key(FRAME_MS);
	} while (!is_over && press(t, key));
}

static void open_live(struct top *t)
{
	struct target target = target_resolve(&t->target);

	live_start(&t->live, &t->recording, &target, t->record);
	t->wheel = t->live.info.number;
}

static void open_file(struct top *t)
{
	static struct recording recordings[JOB_SYSTEMS];
	bool has_wheel = !t->wheel;
	size_t i;

	source_read(&t->job, recordings);
	t->recording = recordings[0];
	for (i = 0; i < t->recording.nr; i++) {
		const struct record *record = &t->recording.record[i];

		if (!t->wheel)
			t->wheel = record->wheel;
		has_wheel |= record->wheel == t->wheel;
		if (record->time > t->last)
			t->last = record->time;
	}
	if (!has_wheel)
		fail("--wheel %llu: the recording has no such wheel: give one of its wheels",
		     (unsigned long long)t->wheel);
	if (t->recording.is_trace)
		snprintf(t->recording.name, sizeof(t->recording.name), "wheel %llu",
			 (unsigned long long)t->wheel);
	t->view.zero = t->recording.is_trace ? first_time(t) : 0;
}

static void write_help(char *text, size_t size)
{
	FILE *file = fmemopen(text, size, "w");

	if (!file)
		fail("out of memory");
	fputs("Show a wheel while it turns: its levels as rows of slots, hands, timers that come "
	      "down, rates and lateness."
	      "\vWithout FILE it shows the only open wheel, or the wheel of --pid or --fd.  FILE "
	      "is a script of twheel sim, - for standard input, or a recording: of twheel top "
	      "--record, of twheel sim --trace --json, or the events twheel:* as tracefs, "
	      "trace-cmd report and perf script print them.\n"
	      "\n"
	      "Keys: space pauses and continues, s steps to the next event, + and - change the "
	      "speed, r starts again, f follows a live wheel, q quits.\n"
	      "\n", file);
	job_about(file);
	fputs("\n"
	      "Example: 10,000 timeouts on Kafka's wheels\n"
	      "  twheel top --load 10000 --as hierarchical", file);
	fclose(file);
}

int verb_top(int argc, char **argv)
{
	static char help[4096];
	static const struct argp_child children[] = {
		{ .argp = &target_argp }, { .argp = &job_argp }, { 0 }
	};
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "[FILE]", .doc = help,
		.children = children,
	};
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = over };
	size_t i;

	write_help(help, sizeof(help));
	top.target = (struct target_options)TARGET_OPTIONS_INIT;
	job_init(&top.job);
	options_parse(&argp, argc, argv, 0, &top);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
	atexit(clean_up);
	if (top.is_live)
		open_live(&top);
	else
		open_file(&top);
	screen_begin();
	begin(&top);
	choose_speed(&top);
	if (top.is_live)
		top.view.zero = top.clock;
	run(&top);
	screen_end();
	if (top.is_live && !live_end(&top.live))
		fail("--record %s: cannot be written completely", top.record);
	model_end(&top.model);
	recording_free(&top.recording);
	return 0;
}
