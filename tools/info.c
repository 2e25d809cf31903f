// SPDX-License-Identifier: GPL-2.0
/* A wheel's fdinfo: keys that start with "twheel-". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "stats.h"

#define KEY_PREFIX	"twheel-"

/* A histogram has 24 numbers of up to 20 digits. */
#define LINE_LEN	1024

static void set(struct info *info, const char *key, const char *value)
{
	uint64_t number = strtoull(value, NULL, 10);

	if (!strcmp(key, "number")) {
		info->number = number;
	} else if (!strcmp(key, "clock")) {
		info->setup.flags |= TWHEEL_SETUP_CLOCK;
		info->setup.clock = number;
	} else if (!strcmp(key, "tick-ns")) {
		info->setup.tick = number;
	} else if (!strcmp(key, "levels")) {
		info->setup.levels = number;
	} else if (!strcmp(key, "slots")) {
		info->setup.slots = number;
	} else if (!strcmp(key, "capacity")) {
		info->setup.capacity = number;
	} else if (!strcmp(key, "now-ns")) {
		info->setup.now = number;
	} else {
		stats_set(&info->stats, key, value);
	}
}

bool info_read(pid_t pid, int fd, struct info *info)
{
	const size_t prefix = strlen(KEY_PREFIX);
	char path[64], line[LINE_LEN], *value;
	bool found = false;
	FILE *file;

	memset(info, 0, sizeof(*info));
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, KEY_PREFIX, prefix))
			continue;
		value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = 0;
		found = true;
		set(info, line + prefix, value);
	}
	fclose(file);
	return found;
}
