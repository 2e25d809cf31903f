/* SPDX-License-Identifier: GPL-2.0 */
/* The wheels of other processes: how to find one and how to reach it. */
#ifndef TWHEEL_TARGET_H
#define TWHEEL_TARGET_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COMM_LEN	32

/**
 * struct target - a wheel and who holds it
 * @pid: the process; 0: this one, @fd is inherited
 * @fd: the file descriptor in that process
 * @number: of the wheel, if it was found by a scan
 * @comm: the name of that process, safe to print
 */
struct target {
	pid_t pid;
	int fd;
	uint64_t number;
	char comm[COMM_LEN];
};

/* What --pid and --fd said; the input of target_argp. */
struct target_options {
	pid_t pid;
	int pid_fd;
	int fd;
};

#define TARGET_OPTIONS_INIT	{ .pid = 0, .pid_fd = -1, .fd = -1 }

extern const struct argp target_argp;

static inline bool target_is_given(const struct target_options *options)
{
	return options->pid || options->fd >= 0;
}

/*
 * The one wheel that @options mean; without options the only one that is
 * open.  Exits with one line if there is none or more than one.
 */
struct target target_resolve(const struct target_options *options);

/*
 * A file descriptor of our own for the target's wheel, or a negative errno.
 * The descriptor keeps the wheel alive: close it soon.
 */
int target_open(const struct target *target);

/* target_open(), or exit with one line. */
int target_open_or_fail(const struct target *target);

/*
 * Find the wheels of process @pid, or with 0 of all processes.  Each wheel is
 * returned once, even if several file descriptors lead to it, as another
 * process's rather than a manager's if possible.  Returns an array for free(),
 * its length in @nr.  @denied counts processes that could not be inspected.
 */
struct target *target_scan(pid_t pid, size_t *nr, size_t *denied);

/* The same, but each process that has a wheel is returned once, with one of its descriptors. */
struct target *target_holders(size_t *nr, size_t *denied);

/* Is the process init, or systemd of a user?  They keep files for services. */
bool target_is_manager(const struct target *target);

#endif
