// SPDX-License-Identifier: GPL-2.0
/* A wheel in the kernel, while it turns. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "duration.h"
#include "output.h"
#include "top/live.h"

/* Timers listed in one call. */
#define TIMERS		512
/* At most this long events are read before the screen is drawn again, however many there are. */
#define READ_MOST	(50 * NSEC_PER_MSEC)
/* With this many records that are not shown yet, events are dropped. */
#define RECORDS_MOST	(1U << 16)
/* Instances of tracefs; the rest of the name is the process. */
#define INSTANCES	"/sys/kernel/tracing/instances/twheel-top-"

uint64_t live_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static bool read_info(struct live *live)
{
	pid_t pid = live->target.pid ? live->target.pid : getpid();
	struct info info;

	if (!info_read(pid, live->target.fd, &info) ||
	    (live->info.number && info.number != live->info.number))
		return false;
	live->info = info;
	return true;
}

/* Lines: all events come as text, so that they can be recorded. */

static void lose(struct live *live, uint64_t events)
{
	live->lost += events;
	live->has_gap = true;
}

static void take_line(struct live *live, struct recording *recording, const char *line)
{
	const char *lost = strstr(line, "[LOST ");

	if (live->record)
		fprintf(live->record, "%s\n", line);
	if (lost)
		lose(live, strtoull(lost + 6, NULL, 10));
	else if (recording->nr < RECORDS_MOST)
		recording_of_line(recording, line);
	else
		lose(live, 1);
}

/* A line that looks like an event. */
static void __attribute__((format(printf, 4, 5)))
add_line(struct live *live, struct recording *recording, uint64_t time, const char *format, ...)
{
	char line[512];
	va_list args;
	int len;

	len = snprintf(line, sizeof(line), "twheel-0 [000] ..... %llu.%09llu: twheel_",
		       time / NSEC_PER_SEC, time % NSEC_PER_SEC);
	va_start(args, format);
	vsnprintf(line + len, sizeof(line) - len, format, args);
	va_end(args);
	if (live->record)
		fprintf(live->record, "%s\n", line);
	/* A list is complete, however many timers it has. */
	recording_of_line(recording, line);
}

/* The list of timers */

/* Rule R1 of the wheel: the lowest level whose ring reaches the tick, of two turns. */
static void place_of(const struct twheel_setup *setup, uint64_t deadline, unsigned int *level,
		     uint64_t *slot)
{
	uint64_t unit = setup->tick ? setup->tick : TWHEEL_DEFAULT_TICK;
	uint32_t slots = setup->slots ? setup->slots : TWHEEL_DEFAULT_SLOTS;
	uint64_t tick = deadline / unit + !!(deadline % unit);
	uint64_t at = setup->now / unit, ring = 2ULL * slots;
	unsigned int levels = setup->levels ? setup->levels : 16;

	for (*level = 0; tick - at >= ring && *level + 1 < levels; ++*level) {
		tick /= slots;
		at /= slots;
	}
	*slot = tick % ring;
}

static void add_timer(struct live *live, struct recording *recording, uint64_t time,
		      const struct twheel_timer *timer)
{
	const struct twheel_setup *setup = &live->info.setup;
	uint64_t deadline = timer->deadline, slot;
	unsigned int level;

	if (timer->state != TWHEEL_STATE_PENDING)
		return;
	if (deadline < setup->now)
		deadline = setup->now + timer->remaining;
	place_of(setup, deadline, &level, &slot);
	add_line(live, recording, time, "timer_arm: wheel=%llu id=%u generation=%u cookie=%llu "
		 "deadline=%llu interval=%llu tick=0 level=%u slot=%llu found=listed",
		 (unsigned long long)live->info.number, timer->id, timer->generation,
		 (unsigned long long)timer->cookie, (unsigned long long)deadline,
		 (unsigned long long)timer->interval, level, (unsigned long long)slot);
}

/* Returns 0 or a negative errno. */
static int list(struct live *live, struct recording *recording)
{
	static struct twheel_timer timers[TIMERS];
	/* One time for all, so that no screen shows half of them. */
	uint64_t time = live_now();
	uint32_t cursor = 0;
	int wheel = target_open(&live->target), nr, i;

	live->list_again = time + NSEC_PER_SEC;
	if (wheel < 0)
		return wheel;
	add_line(live, recording, time, "list: wheel=%llu", (unsigned long long)live->info.number);
	while ((nr = wheel_list(wheel, &cursor, timers, TIMERS)) > 0)
		for (i = 0; i < nr; i++)
			add_timer(live, recording, time, &timers[i]);
	live->has_gap = nr < 0;
	close(wheel);
	return nr;
}

/* tracefs */

static bool write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	bool is_written;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return is_written;
}

static void remove_instance(struct live *live)
{
	if (live->pipe >= 0) {
		write_file(live->instance, "events/twheel/enable", "0");
		close(live->pipe);
	}
	if (*live->instance)
		rmdir(live->instance);
	live->pipe = -1;
	*live->instance = 0;
}

/* What a killed process has left.  The kernel keeps an instance whose trace_pipe is open. */
static void remove_old_instances(void)
{
	glob_t found;
	size_t i;

	if (glob(INSTANCES "*", 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		if (kill(atoi(found.gl_pathv[i] + sizeof(INSTANCES) - 1), 0) && errno == ESRCH)
			rmdir(found.gl_pathv[i]);
	globfree(&found);
}

static void trace(struct live *live)
{
	char path[256], filter[64];

	remove_old_instances();
	snprintf(live->instance, sizeof(live->instance), INSTANCES "%d", getpid());
	if (mkdir(live->instance, 0700)) {
		*live->instance = 0;
		return;
	}
	snprintf(path, sizeof(path), "%s/trace_pipe", live->instance);
	snprintf(filter, sizeof(filter), "wheel == %llu", (unsigned long long)live->info.number);
	live->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* The filter has no effect on events without a wheel. */
	write_file(live->instance, "events/twheel/filter", filter);
	if (live->pipe < 0 || !write_file(live->instance, "trace_clock", "mono") ||
	    !write_file(live->instance, "events/twheel/enable", "1"))
		remove_instance(live);
}

static void read_pipe(struct live *live, struct recording *recording)
{
	uint64_t until = live_now() + READ_MOST;
	ssize_t got;
	char *end;

	while (live_now() < until && (got = read(live->pipe, live->part + live->len,
						 sizeof(live->part) - 1 - live->len)) > 0) {
		live->len += got;
		live->part[live->len] = 0;
		while ((end = strchr(live->part, '\n'))) {
			*end++ = 0;
			take_line(live, recording, live->part);
			live->len -= end - live->part;
			memmove(live->part, end, live->len + 1);
		}
		/* No event has a line this long. */
		if (live->len == sizeof(live->part) - 1)
			live->len = 0;
	}
}

/* All */

static void open_record(struct live *live, const char *path)
{
	live->record = fopen(path, "we");
	if (!live->record)
		fail("--record %s: %s: give a file that can be written", path, strerror(errno));
}

void live_start(struct live *live, struct recording *recording, const struct target *target,
		const char *record)
{
	char shape[160];
	uint64_t before;
	int err;

	*live = (struct live){ .target = *target, .pipe = -1 };
	*recording = (struct recording){ .is_trace = true };
	if (target->pid)
		snprintf(recording->name, sizeof(recording->name), "%s (%d)", target->comm,
			 target->pid);
	else
		snprintf(recording->name, sizeof(recording->name), "inherited wheel");
	before = live_now();
	if (!read_info(live))
		fail("the wheel was closed, or belongs to another user: try again as root");
	live->ahead = live->info.setup.now - (before + live_now()) / 2;
	/* A smaller difference is the time between the two readings of the same clock. */
	if (llabs(live->ahead) < 10 * (long long)NSEC_PER_MSEC)
		live->ahead = 0;
	if (record)
		open_record(live, record);
	snprintf(shape, sizeof(shape), RECORDING_SHAPE " tick=%llu slots=%u ahead=%lld",
		 (unsigned long long)live->info.setup.tick, live->info.setup.slots,
		 (long long)live->ahead);
	take_line(live, recording, shape);
	trace(live);
	/* Timers are placed by the current time. */
	read_info(live);
	err = list(live, recording);
	if (err && !live_is_traced(live))
		fail("the timers can be neither listed nor traced: %s", wheel_explain(err));
}

void live_poll(struct live *live, struct recording *recording)
{
	if (live->is_closed)
		return;
	if (!read_info(live))
		live->is_closed = true;
	if (live_is_traced(live))
		read_pipe(live, recording);
	if ((live->has_gap || !live_is_traced(live)) && recording->nr < RECORDS_MOST &&
	    live_now() >= live->list_again)
		list(live, recording);
	if (live->record)
		fflush(live->record);
}

bool live_end(struct live *live)
{
	bool is_good = true;

	remove_instance(live);
	if (live->record)
		is_good = !(ferror(live->record) | fclose(live->record));
	live->record = NULL;
	return is_good;
}
