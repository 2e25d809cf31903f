// SPDX-License-Identifier: GPL-2.0
/* The kernel's tracefs, as text. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "trace/event.h"
#include "trace/tracefs.h"

#define TRACING		"/sys/kernel/tracing"
#define INSTANCES	TRACING "/instances"
/* Followed by the process whose it is. */
#define PREFIX		"twheel-"

static char instance[64];
static int pipe_fd = -1;

/* What was read of the pipe, and not told yet. */
static struct {
	char	text[1 << 16];
	size_t	from;
	size_t	to;
} have;

/* Write a file of the instance; 0, or an errno. */
static int set(const char *file, const char *value)
{
	char path[192];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, value, strlen(value)) < 0)
		err = errno;
	close(fd);
	return err;
}

static void must_set(const char *file, const char *value)
{
	int err = set(file, value);

	if (err)
		fail("%s/%s: %s", instance, file, strerror(err));
}

/* Not before the pipe is closed: it is busy as long. */
static void remove_instance(void)
{
	if (pipe_fd >= 0)
		close(pipe_fd);
	if (rmdir(instance))
		fprintf(stderr, "twheel trace: %s: %s: remove it with rmdir\n", instance,
			strerror(errno));
}

/* Those of processes that were killed; one of them may have had our id. */
static void remove_left(void)
{
	char path[sizeof(INSTANCES) + 300];
	struct dirent *entry;
	DIR *dir = opendir(INSTANCES);

	while (dir && (entry = readdir(dir))) {
		pid_t pid = 0;
		int len = 0;

		if (sscanf(entry->d_name, PREFIX "%d%n", &pid, &len) != 1 || entry->d_name[len] ||
		    pid <= 0 || (pid != getpid() && (!kill(pid, 0) || errno != ESRCH)))
			continue;
		snprintf(path, sizeof(path), INSTANCES "/%s", entry->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

static void make_instance(void)
{
	struct stat st;

	if (stat(TRACING "/events", &st) && errno == EACCES)
		fail("only root sees tracepoints: type sudo twheel trace");
	if (stat(TRACING "/events", &st))
		fail(TRACING " is not there: type mount -t tracefs nodev " TRACING);
	if (stat(TRACING "/events/twheel", &st))
		fail("the module has no tracepoints here: is it loaded?  twheel doctor tells");
	remove_left();
	snprintf(instance, sizeof(instance), INSTANCES "/" PREFIX "%d", getpid());
	if (mkdir(instance, 0700))
		fail("%s: %s", instance, errno == EACCES ?
		     "only root may make one: type sudo twheel trace" : strerror(errno));
	atexit(remove_instance);
}

void tracefs_begin(uint64_t wheel, uint32_t clock)
{
	char filter[64], file[96], path[96];
	const char *event;
	size_t i;

	make_instance();
	must_set("tracing_on", "0");
	/* The wheel's clock may be another one; this is what we can compare it with. */
	must_set("trace_clock", "mono");
	for (i = 0; (event = event_name(i)); i++) {
		if (event_is_of_wheel(i))
			snprintf(filter, sizeof(filter), "wheel == %llu",
				 (unsigned long long)wheel);
		else
			snprintf(filter, sizeof(filter), "clock == %u", clock);
		snprintf(file, sizeof(file), "events/twheel/twheel_%s/filter", event);
		must_set(file, filter);
		snprintf(file, sizeof(file), "events/twheel/twheel_%s/enable", event);
		must_set(file, "1");
	}
	snprintf(path, sizeof(path), "%s/trace_pipe", instance);
	pipe_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (pipe_fd < 0)
		fail("%s: %s", path, strerror(errno));
	must_set("tracing_on", "1");
}

void tracefs_stop(void)
{
	must_set("tracing_on", "0");
}

/* The end of the first line that we have, or NULL. */
static char *end_of_line(void)
{
	return memchr(have.text + have.from, '\n', have.to - have.from);
}

/* Returns false if there is nothing to be read. */
static bool read_more(void)
{
	ssize_t len;

	memmove(have.text, have.text + have.from, have.to - have.from);
	have.to -= have.from;
	have.from = 0;
	/* No line of a trace is so long. */
	if (have.to == sizeof(have.text))
		have.to = 0;
	len = read(pipe_fd, have.text + have.to, sizeof(have.text) - have.to);
	if (len < 0 && errno != EAGAIN && errno != EINTR)
		fail("%s/trace_pipe: %s", instance, strerror(errno));
	if (len <= 0)
		return false;
	have.to += len;
	return true;
}

char *tracefs_line(void)
{
	char *line, *end = end_of_line();

	while (!end) {
		if (!read_more())
			return NULL;
		end = end_of_line();
	}
	line = have.text + have.from;
	*end = 0;
	have.from = end + 1 - have.text;
	return line;
}
