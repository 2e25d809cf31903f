// SPDX-License-Identifier: GPL-2.0
/*
 * The wheels of other processes.
 *
 * A wheel belongs to an open file.  The file's fdinfo shows that it is a wheel, and which;
 * pidfd_getfd(2) gets a descriptor of the file, for which the kernel requires the rights of
 * a debugger.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device.h"
#include "info.h"
#include "options.h"
#include "output.h"
#include "target.h"

/* "/proc/PID/fd/FD" */
#define PROC_LEN	64

struct scan {
	/* Targets of one key are reported once; one with 0 has no key and is always reported. */
	uint64_t (*key)(const struct target *target);
	struct target *targets;
	size_t nr;
	size_t size;
	void *seen;
};

/* A node of the tree of keys, and which target has it. */
struct seen {
	uint64_t key;
	size_t target;
};

/* Fills in the target's number if it is a wheel. */
static bool is_wheel(struct target *target)
{
	char path[PROC_LEN], first;
	struct info info;

	/*
	 * The cheap test first: a file without a path, such as a socket, is no wheel.  In a
	 * container the path can be any.  Opening the file itself could wait for ever for a
	 * dead server.
	 */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", target->pid, target->fd);
	if (readlink(path, &first, 1) != 1 || first != '/')
		return false;
	if (!info_read(target->pid, target->fd, &info))
		return false;
	target->number = info.number;
	return true;
}

static uint64_t key_of_wheel(const struct target *target)
{
	return target->number;
}

static uint64_t key_of_process(const struct target *target)
{
	return target->pid;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* A process can choose its name, so escape sequences must not reach the terminal. */
static void read_comm(pid_t pid, char *comm)
{
	char path[PROC_LEN];
	FILE *file;
	char *p;

	strcpy(comm, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(comm, COMM_LEN, file))
		comm[strcspn(comm, "\n")] = 0;
	fclose(file);
	if (!*comm)
		strcpy(comm, "?");
	for (p = comm; *p; p++) {
		if (!isprint((unsigned char)*p))
			*p = '?';
	}
}

bool target_is_manager(const struct target *target)
{
	return target->pid == 1 || !strcmp(target->comm, "systemd");
}

/* Both hold the same wheel: report its user, not a manager that only keeps it. */
static void choose(struct target *told, struct target *other)
{
	if (!target_is_manager(told))
		return;
	read_comm(other->pid, other->comm);
	if (!target_is_manager(other))
		*told = *other;
}

static void no_memory(void)
{
	fail("out of memory");
}

/* The place of the target with that key; the next free one if there is none yet. */
static size_t place_of(struct scan *scan, uint64_t key)
{
	struct seen *seen, **node;
	size_t place;

	if (!key)
		return scan->nr;
	seen = malloc(sizeof(*seen));
	if (!seen)
		no_memory();
	*seen = (struct seen){ .key = key, .target = scan->nr };
	node = tsearch(seen, &scan->seen, compare_seen);
	if (!node)
		no_memory();
	place = (*node)->target;
	if (*node != seen)
		free(seen);
	return place;
}

static void add(struct scan *scan, struct target *target)
{
	size_t place = place_of(scan, scan->key(target));

	if (place < scan->nr) {
		choose(&scan->targets[place], target);
		return;
	}
	if (scan->nr == scan->size) {
		scan->size = scan->size ? 2 * scan->size : 16;
		scan->targets = reallocarray(scan->targets, scan->size,
					     sizeof(*target));
		if (!scan->targets)
			no_memory();
	}
	read_comm(target->pid, target->comm);
	scan->targets[scan->nr++] = *target;
}

static int scan_process(struct scan *scan, pid_t pid)
{
	char path[PROC_LEN];
	struct target target = { .pid = pid };
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		target.fd = atoi(entry->d_name);
		if (is_wheel(&target))
			add(scan, &target);
	}
	closedir(dir);
	return 0;
}

static size_t scan_all(struct scan *scan)
{
	struct dirent *entry;
	size_t denied = 0;
	DIR *dir = opendir("/proc");

	if (!dir)
		fail("/proc: %s: is it mounted?", strerror(errno));
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (scan_process(scan, atoi(entry->d_name)) == -EACCES)
			denied++;
	}
	closedir(dir);
	return denied;
}

static struct target *scan_end(struct scan *scan, size_t *nr)
{
	tdestroy(scan->seen, free);
	*nr = scan->nr;
	return scan->targets;
}

struct target *target_scan(pid_t pid, size_t *nr, size_t *denied)
{
	struct scan scan = { .key = key_of_wheel };
	int err;

	*denied = 0;
	if (!pid) {
		*denied = scan_all(&scan);
	} else {
		err = scan_process(&scan, pid);
		if (err == -ENOENT)
			fail("no process %d", pid);
		if (err == -EACCES)
			fail("not permitted to inspect process %d: be its user, or root", pid);
		if (err)
			fail("process %d: %s", pid, strerror(-err));
	}
	return scan_end(&scan, nr);
}

struct target *target_holders(size_t *nr, size_t *denied)
{
	struct scan scan = { .key = key_of_process };

	*denied = scan_all(&scan);
	return scan_end(&scan, nr);
}

/* "12:3 (one), 45:6 (two)..." */
static void describe(char *buf, size_t size, const struct target *targets, size_t nr)
{
	size_t len = 0, i;

	for (i = 0; i < nr && i < 4; i++)
		len += snprintf(buf + len, size - len, "%s%d:%d (%s)", i ? ", " : "",
				targets[i].pid, targets[i].fd, targets[i].comm);
	if (nr > 4)
		snprintf(buf + len, size - len, "...");
}

static struct target the_only_one(pid_t pid)
{
	struct target *targets, target;
	size_t nr, denied;
	char text[512];

	targets = target_scan(pid, &nr, &denied);
	if (!nr && pid)
		fail("process %d has no wheel open", pid);
	if (!nr && denied)
		fail("no wheel is open in the processes that you may inspect: try as root");
	if (!nr)
		fail("no wheel is open in any process");
	if (nr > 1) {
		describe(text, sizeof(text), targets, nr);
		fail("%zu wheels are open: choose one with --pid PID:FD, of %s", nr, text);
	}
	target = targets[0];
	free(targets);
	return target;
}

struct target target_resolve(const struct target_options *options)
{
	struct target target = { .pid = options->pid, .fd = options->pid_fd };

	if (options->fd >= 0) {
		if (!wheel_is(options->fd))
			fail("--fd %d: not a wheel that this command has inherited", options->fd);
		target.fd = options->fd;
		read_comm(getpid(), target.comm);
		return target;
	}
	if (!options->pid || options->pid_fd < 0)
		return the_only_one(options->pid);
	read_comm(target.pid, target.comm);
	return target;
}

int target_open(const struct target *target)
{
	int pidfd, fd, err;

	if (!target->pid)
		return dup(target->fd);
	pidfd = syscall(SYS_pidfd_open, target->pid, 0);
	if (pidfd < 0)
		return -errno;
	fd = syscall(SYS_pidfd_getfd, pidfd, target->fd, 0);
	err = errno;
	close(pidfd);
	if (fd < 0)
		return -err;
	if (!wheel_is(fd)) {
		close(fd);
		return -ENOTTY;
	}
	return fd;
}

int target_open_or_fail(const struct target *target)
{
	int fd = target_open(target);

	switch (fd) {
	case -EPERM:
	case -EACCES:
		fail("not permitted to inspect process %d: be root", target->pid);
	case -ESRCH:
		fail("no process %d", target->pid);
	case -EBADF:
		fail("process %d has no file descriptor %d", target->pid, target->fd);
	case -ENOTTY:
		fail("file descriptor %d of process %d is not a wheel", target->fd, target->pid);
	default:
		if (fd < 0)
			fail("process %d: %s", target->pid, strerror(-fd));
		return fd;
	}
}

static void parse_pid(struct target_options *options, char *text)
{
	char *fd = strchr(text, ':');

	if (fd)
		*fd++ = 0;
	options->pid = option_number("--pid", text, 1, INT32_MAX);
	if (fd)
		options->pid_fd = option_number("--pid PID:", fd, 0, INT32_MAX);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct target_options *options = state->input;

	switch (key) {
	case 'p':
		parse_pid(options, arg);
		return 0;
	case 'f':
		options->fd = option_number("--fd", arg, 0, INT32_MAX);
		return 0;
	case ARGP_KEY_END:
		if (options->pid && options->fd >= 0)
			usage_error("--pid and --fd name two wheels: give one of them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{ "pid", 'p', "PID[:FD]", 0, "the wheel of process PID; of several, that of FD", 0 },
	{ "fd", 'f', "FD", 0, "a wheel that this command inherits as file descriptor FD", 0 },
	{ 0 }
};

const struct argp target_argp = { .options = argp_options, .parser = parse };
