// SPDX-License-Identifier: GPL-2.0
/* Frames that were recorded: a line of JSON each, with the time from the first one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "top/source.h"

/**
 * struct replay - a recording
 * @source: the frame that is shown
 * @file: the frames
 * @name: of the file
 * @line: how many were read
 * @next: the frame behind the one that is shown
 * @has_next: there is one
 * @time: what has passed of the recording's time
 * @error: why there is none, or empty
 */
struct replay {
	struct source	source;
	FILE		*file;
	const char	*name;
	unsigned long	line;
	struct frame	next;
	bool		has_next;
	uint64_t	time;
	char		error[4200];
};

static void read_next(struct replay *replay)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	length = getline(&text, &size, replay->file);
	replay->has_next = length > 0;
	if (length < 0 && !feof(replay->file)) {
		snprintf(replay->error, sizeof(replay->error), "%s: %s", replay->name,
			 strerror(errno));
	} else if (replay->has_next) {
		replay->line++;
		replay->has_next = frame_parse(&replay->next, text, length);
		if (!replay->has_next)
			snprintf(replay->error, sizeof(replay->error),
				 "%s:%lu: not a frame: give a file that twheel top --record has "
				 "written", replay->name, replay->line);
	}
	free(text);
}

/* Show the next frame, and read the one behind it. */
static bool replay_step(struct source *source)
{
	struct replay *replay = (struct replay *)source;
	struct frame shown = source->frame;

	if (!replay->has_next) {
		if (*replay->error)
			source->error = replay->error;
		else
			source->end = "the recording is over";
		return false;
	}
	source->frame = replay->next;
	replay->next = shown;
	replay->time = source->frame.elapsed;
	read_next(replay);
	return true;
}

static bool replay_pass(struct source *source, uint64_t ns)
{
	struct replay *replay = (struct replay *)source;
	uint64_t time = replay->time + ns;
	bool goes_on = replay->has_next || replay_step(source);

	while (replay->has_next && replay->next.elapsed <= time)
		replay_step(source);
	replay->time = time;
	return goes_on;
}

static void replay_close(struct source *source)
{
	struct replay *replay = (struct replay *)source;

	fclose(replay->file);
	frame_free(&replay->source.frame);
	frame_free(&replay->next);
	free(replay);
}

struct source *replay_open(const char *path)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		fail("out of memory");
	replay->source.pass = replay_pass;
	replay->source.step = replay_step;
	replay->source.close = replay_close;
	replay->name = path;
	replay->file = fopen(path, "re");
	if (!replay->file)
		fail("%s: %s: give a file that twheel top --record has written, or a link of the "
		     "page of make play", path, strerror(errno));
	read_next(replay);
	if (*replay->error)
		fail("%s", replay->error);
	if (!replay_step(&replay->source))
		fail("%s: there is nothing in it", path);
	return &replay->source;
}
