// SPDX-License-Identifier: GPL-2.0
/* /proc in a folder, $FAKE_PROC, and tracefs, for tests of what is seen of other processes. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake-kernel.h"

static const char *fake(char *buf, size_t size, const char *path)
{
	const char *proc = getenv("FAKE_PROC");

	if (fake_tracing(buf, size, path))
		return buf;
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

ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
	char buf[4096];

	return __real_readlink(fake(buf, sizeof(buf), path), to, size);
}

/* Processes have files of servers that do not answer: who looks at one waits for ever. */
int __wrap_stat(const char *path, struct stat *to)
{
	char buf[4096];

	if (!strncmp(path, "/proc/", 6) && strstr(path, "/fd/"))
		abort();
	return __real_stat(fake(buf, sizeof(buf), path), to);
}
