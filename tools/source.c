// SPDX-License-Identifier: GPL-2.0
/* Recordings from a file, or from running the script in a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "source.h"

/**
 * struct text - a file in memory
 * @name: for messages
 * @begin: the text, with a 0 at the end
 * @size: bytes without the 0
 */
struct text {
	const char *name;
	char *begin;
	size_t size;
};

static void read_text(struct text *text, FILE *file)
{
	FILE *copy = open_memstream(&text->begin, &text->size);
	char part[1 << 16];
	size_t len;

	if (!copy)
		fail("out of memory");
	while ((len = fread(part, 1, sizeof(part), file)))
		fwrite(part, 1, len, copy);
	if (ferror(file))
		fail("%s: cannot be read", text->name);
	if (fclose(copy))
		fail("out of memory");
}

static void open_text(struct text *text, const char *path)
{
	FILE *file;

	if (!path || !strcmp(path, "-")) {
		text->name = "standard input";
		read_text(text, stdin);
		return;
	}
	text->name = path;
	file = fopen(path, "r");
	if (!file)
		fail("%s: %s: give a script or a recording, or - for standard input", path,
		     strerror(errno));
	read_text(text, file);
	fclose(file);
}

static bool has_placed(const struct recording *recording)
{
	size_t i;

	for (i = 0; i < recording->nr; i++)
		if (recording->record[i].what == RECORD_PLACED)
			return true;
	return false;
}

/* Returns false if the text is a script: no line of a script is a record. */
static bool read_recording(struct text *text, struct recording *recording)
{
	char *line, *end;

	*recording = (struct recording){};
	if (strlen(text->begin) != text->size)
		fail("%s: it is no text: there is a null byte in it", text->name);
	for (line = text->begin; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = 0;
		if (recording_of_line(recording, line) && !end)
			fail("%s: the last line is cut: record the wheel again", text->name);
		if (end)
			*end = '\n';
	}
	if (!recording->nr && !recording_begins(text->begin))
		return false;
	if (!recording->is_trace && *text->begin == '{' && !has_placed(recording))
		fail("%s: it has no places of timers: record it with twheel sim --trace --json",
		     text->name);
	if (!recording->nr)
		fail("%s: it has no event of twheel: record them with trace-cmd record -e twheel",
		     text->name);
	recording_end(recording);
	return true;
}

static void simulate(struct job *job, const struct sim_system *system,
		     struct recording *recording)
{
	const struct sim_observer observer = { recording_of_event, recording };
	struct sim *s;

	snprintf(recording->name, sizeof(recording->name), "%s", sim_system_name(system));
	s = job_run(job, system, &observer);
	recording->tick = sim_shape(s)->tick;
	recording->slots = sim_shape(s)->slots;
	if (!recording->nr && sim_counters(s)->refused)
		fail("%s: %s refuses all timers: see twheel sim --trace, and give another --tick",
		     job->script.name, recording->name);
	if (!recording->nr)
		fail("%s: it arms no timer: write lines such as arm 1 350ms and run",
		     job->script.name);
	sim_destroy(s);
}

static void read_script(struct job *job, const struct text *text)
{
	FILE *file = text->size ? fmemopen(text->begin, text->size, "r") : fopen("/dev/null", "r");

	if (!file)
		fail("out of memory");
	script_read(&job->script, file, text->name);
	fclose(file);
}

size_t source_read(struct job *job, struct recording *recording)
{
	bool is_for_script = job->has_options;
	struct text text = {};
	size_t i;

	job_check(job);
	job->quiet = true;
	if (!job->made_up) {
		open_text(&text, job->file);
		if (read_recording(&text, recording)) {
			free(text.begin);
			if (is_for_script)
				usage_error("%s: it is a recording: leave out --as and the options "
					    "of a script", text.name);
			return 1;
		}
		read_script(job, &text);
		free(text.begin);
	}
	for (i = 0; i < job->systems; i++) {
		recording[i] = (struct recording){};
		simulate(job, job->system[i], &recording[i]);
	}
	script_free(&job->script);
	return job->systems;
}
