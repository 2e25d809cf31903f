// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/tracing in a folder, $FAKE_TRACING, for tests of twheel trace: an instance that is
 * made there is a copy of its folder "new", and is removed with all that is in it.  What the trace
 * tells is in new/trace_pipe.  What was written to its files is kept in "written".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake-kernel.h"

#define TRACING	"/sys/kernel/tracing"

bool fake_tracing(char *buf, size_t size, const char *path)
{
	const char *folder = getenv("FAKE_TRACING");

	if (!folder || strncmp(path, TRACING, strlen(TRACING)))
		return false;
	snprintf(buf, size, "%s%s", folder, path + strlen(TRACING));
	return true;
}

static int run(const char *format, const char *path)
{
	char command[8192];

	snprintf(command, sizeof(command), format, getenv("FAKE_TRACING"), path);
	return system(command) ? -1 : 0;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	char buf[4096];

	if (!fake_tracing(buf, sizeof(buf), path))
		return __real_mkdir(path, mode);
	return run("cp -r '%s/new' '%s' 2>/dev/null", buf);
}

int __wrap_rmdir(const char *path)
{
	char buf[4096];

	if (!fake_tracing(buf, sizeof(buf), path))
		return __real_rmdir(path);
	return run("cd '%s' && cd '%s' && for file in $(find . -type f ! -name trace_pipe); do "
		   "echo \"$file $(cat $file)\"; done >../../written && rm -r \"$PWD\"", buf);
}
