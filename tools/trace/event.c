// SPDX-License-Identifier: GPL-2.0
/* A line that a tracepoint of the module has written. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "trace/event.h"

#define SYSTEM	": twheel_"

static const char * const names[] = {
	[EVENT_ARM] = "timer_arm",
	[EVENT_CANCEL] = "timer_cancel",
	[EVENT_EXTEND] = "timer_extend",
	[EVENT_RESUME] = "timer_resume",
	[EVENT_LET_GO] = "timer_let_go",
	[EVENT_CASCADE] = "cascade",
	[EVENT_MOVE] = "timer_move",
	[EVENT_EXPIRE] = "timer_expire",
	[EVENT_STALE] = "timer_stale",
	[EVENT_DELIVER] = "timer_deliver",
	[EVENT_FIRE] = "hrtimer_fire",
};

const char *event_name(size_t i)
{
	return i < ARRAY_SIZE(names) ? names[i] : NULL;
}

bool event_has_generation(enum event_kind kind)
{
	return kind != EVENT_CASCADE && kind != EVENT_MOVE && kind != EVENT_FIRE &&
	       kind != EVENT_LOST;
}

bool event_is_of_wheel(size_t i)
{
	return i != EVENT_FIRE;
}

/* What stands behind " KEY=", or NULL. */
static const char *field(const char *fields, const char *key)
{
	size_t len = strlen(key);

	for (; (fields = strchr(fields, ' ')); fields++) {
		if (!strncmp(fields + 1, key, len) && fields[1 + len] == '=')
			return fields + len + 2;
	}
	return NULL;
}

static uint64_t number_of(const char *fields, const char *key)
{
	const char *value = field(fields, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

static int64_t signed_of(const char *fields, const char *key)
{
	const char *value = field(fields, key);

	return value ? strtoll(value, NULL, 10) : -1;
}

static bool is_word(const char *fields, const char *key, const char *word)
{
	const char *value = field(fields, key);

	return value && !strncmp(value, word, strlen(word));
}

/*
 * The last one of the line: a process can name itself as it likes, and its name comes first.
 */
static const char *find_system(const char *line)
{
	const char *found = NULL;

	while ((line = strstr(line, SYSTEM))) {
		found = line;
		line += strlen(SYSTEM);
	}
	return found;
}

/* "[001] d..2.  1234.567890" ends at @end, behind a name that can be any. */
static bool read_time(struct event *event, const char *line, const char *end)
{
	const char *time = end, *cpu;
	unsigned long long seconds, us;

	while (time > line && (isdigit((unsigned char)time[-1]) || time[-1] == '.'))
		time--;
	if (sscanf(time, "%llu.%6llu", &seconds, &us) != 2)
		return false;
	event->time = (seconds * 1000000 + us) * 1000;
	for (cpu = time; cpu > line && *cpu != '['; cpu--)
		;
	event->cpu = *cpu == '[' ? strtoul(cpu + 1, NULL, 10) : 0;
	return true;
}

bool event_read(struct event *event, const char *line)
{
	const char *end = find_system(line), *name;
	unsigned long long lost;
	size_t len, i;
	int all = 0;

	*event = (struct event){ .kind = EVENT_LOST };
	if (!end) {
		/* A process can name itself nearly so. */
		if (sscanf(line, "CPU:%*u [LOST %llu EVENTS]%n", &lost, &all) != 1 || !all)
			return false;
		event->lost = lost;
		return true;
	}
	name = end + strlen(SYSTEM);
	len = strcspn(name, ":");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) == len && !strncmp(names[i], name, len))
			break;
	}
	if (i == ARRAY_SIZE(names) || !read_time(event, line, end))
		return false;
	name += len;
	event->kind = i;
	event->id = number_of(name, "id");
	event->generation = number_of(name, "generation");
	event->cookie = number_of(name, "cookie");
	event->deadline = number_of(name, "deadline");
	event->ahead = number_of(name, "ahead_ns");
	event->late = number_of(name, "late_ns");
	event->unread = number_of(name, "unread_ns");
	event->overruns = number_of(name, "overruns");
	event->timers = number_of(name, "timers");
	event->level = signed_of(name, "level");
	event->slot = signed_of(name, "slot");
	event->from_level = signed_of(name, "from_level");
	event->from_slot = signed_of(name, "from_slot");
	event->armed = is_word(name, "found", "pending") || is_word(name, "found", "expired");
	event->overdue = number_of(name, "overdue");
	return true;
}
