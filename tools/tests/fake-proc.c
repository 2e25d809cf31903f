// SPDX-License-Identifier: GPL-2.0
/* /proc in a folder, $FAKE_PROC, for tests of what is seen of other processes. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fake-kernel.h"

static const char *fake(char *buf, size_t size, const char *path)
{
	const char *proc = getenv("FAKE_PROC");

	if (!proc || strncmp(path, "/proc", 5))
		return path;
	snprintf(buf, size, "%s%s", proc, path + 5);
	return buf;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	char buf[4096];

	return __real_fopen(fake(buf, sizeof(buf), path), mode);
}

DIR *__wrap_opendir(const char *path)
{
	char buf[4096];

	return __real_opendir(fake(buf, sizeof(buf), path));
}

int __wrap_stat(const char *path, struct stat *to)
{
	char buf[4096];

	return __real_stat(fake(buf, sizeof(buf), path), to);
}
