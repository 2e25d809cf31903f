// SPDX-License-Identifier: GPL-2.0
/*
 * A program that fails is made as short as it can be, printed with a line for
 * each step, and kept in a file. It runs in processes of its own, so it may
 * fail by a crash as well, or by never ending.
 */
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explain.h"
#include "program.h"

#define MOST_TOLD	3

/* A program that takes longer, of a processor's time, ends by a signal. */
void limit_time(unsigned int seconds)
{
	const struct itimerval limit = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &limit, NULL);
}

/* Does it fail, in whatever way? */
bool fails(const u8 *bytes, size_t size)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		/* What a sanitizer says of it will be said again. */
		close(STDERR_FILENO);
		limit_time(PROGRAM_TIMEOUT / 5);
		_exit(program_run(bytes, size, false) ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* Print it, and how it ends. */
void show(const u8 *bytes, size_t size)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		const char *error;

		dup2(STDOUT_FILENO, STDERR_FILENO);
		setvbuf(stdout, NULL, _IOLBF, 0);
		limit_time(PROGRAM_TIMEOUT / 5);
		error = program_run(bytes, size, true);
		printf("# %s\n", error ? error : "all as it should be");
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

/*
 * Leave out what steps are not needed for it to fail, as far as one gets in some
 * seconds; returns the new size.
 */
static size_t shrink(u8 *bytes, size_t size)
{
	static u8 shorter[PROGRAM_MAX];
	size_t part = (size / PROGRAM_STEP - 1) / 2 * PROGRAM_STEP;
	time_t end = time(NULL) + PROGRAM_TIMEOUT / 2;

	for (; part; part = part / PROGRAM_STEP / 2 * PROGRAM_STEP) {
		for (size_t at = PROGRAM_STEP; at + part <= size && time(NULL) < end;) {
			memcpy(shorter, bytes, at);
			memcpy(shorter + at, bytes + at + part, size - at - part);
			if (fails(shorter, size - part)) {
				size -= part;
				memcpy(bytes, shorter, size);
			} else {
				at += part;
			}
		}
	}
	return size;
}

/* Why a program fails. Shortens it. A few such stories are enough. */
void explain(u8 *bytes, size_t size)
{
	static unsigned int told;
	char name[] = "failed-XXXXXX", here[4096] = ".";
	FILE *file;
	int fd;

	if (told++ >= MOST_TOLD)
		return;
	if (!fails(bytes, size)) {
		printf("# it does not fail when it runs alone\n");
		return;
	}
	size = shrink(bytes, size);
	fd = mkstemp(name);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (file) {
		fwrite(bytes, 1, size, file);
		fclose(file);
		printf("# kept in %s/%s, as short as it can be:\n",
		       getcwd(here, sizeof(here)), name);
	}
	show(bytes, size);
}
