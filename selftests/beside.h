/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test next to others: a user without privilege, a processor of its own, a cgroup
 * with a limit; and a victim whose timers other programs may delay.
 */
#ifndef TWHEEL_BESIDE_H
#define TWHEEL_BESIDE_H

#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "twheel_test.h"

#define CGROUP		"/sys/fs/cgroup"
#define GROUP		CGROUP "/twheel_test"
#define NO_GROUP	"no cgroup v2 with a memory controller at " CGROUP

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif

/* Users who have nothing to do with one another. */
#define ALICE		1001
#define BOB		1002

/* Become a user without any privilege; only in a child. */
static inline void become(uid_t uid)
{
	CHILD_CHECK(!setgroups(0, NULL));
	CHILD_CHECK(!setresgid(uid, uid, uid));
	CHILD_CHECK(!setresuid(uid, uid, uid));
}

/* The same, in a child that ends with the test. */
static inline void be(uid_t uid)
{
	become(uid);
	CHILD_CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
}

/*
 * Fork a child that works next to the test.  Returns 0 in the child, which calls child_ready()
 * with @ready once it has begun; in the test the child's pid once it has, -1 if it has not.
 */
static inline pid_t fork_beside(int *ready)
{
	int pipes[2];
	char byte;
	pid_t pid;

	if (pipe(pipes))
		return -1;
	pid = fork();
	*ready = pipes[1];
	if (!pid)
		return 0;
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		pid = -1;
	close(pipes[0]);
	return pid;
}

static inline void child_ready(int ready)
{
	CHILD_CHECK(write(ready, "", 1) == 1);
}

/* Such a child has lived until now; end it. */
static inline bool child_end(pid_t pid)
{
	bool lives = !waitpid(pid, NULL, WNOHANG);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return lives;
}

/* Let all users open the device; the mode it had, or a negative errno. */
static inline int device_for_all(void)
{
	struct stat st;

	return stat(DEVICE, &st) || chmod(DEVICE, 0666) ? -errno : (int)(st.st_mode & 07777);
}

/* Pass a descriptor as a broker does. */
static inline int fd_pass(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &msg, 0) == 1 ? 0 : -errno;
}

static inline int fd_receive(int from)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg))
		return -EIO;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* Is this a kernel with PREEMPT_RT? */
static inline bool preempt_rt(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

/* Stay on one processor. */
static inline int pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

/* Arm a timer and wait for it by a read: how late it was found, ns; ~0: it did not come. */
static inline __u64 found_late(int fd, __u64 deadline)
{
	struct twheel_event ev;

	if (arm_at(fd, 1, deadline, 0) || wheel_read(fd, &ev, 1) != 1)
		return ~0ULL;
	return ev.fired - ev.deadline;
}

/* Make the cgroup GROUP, which may hold so many bytes. */
static inline int group_make(__u64 bytes)
{
	char text[512];

	if (read_file(CGROUP "/cgroup.controllers", text, sizeof(text)) < 0 ||
	    !strstr(text, "memory"))
		return -ENOENT;
	write_file(CGROUP "/cgroup.subtree_control", "+memory");
	rmdir(GROUP);
	if (mkdir(GROUP, 0755))
		return -errno;
	/* With swap the test's own pages would make room. */
	write_file(GROUP "/memory.swap.max", "0");
	return write_file(GROUP "/memory.max", "%llu", bytes);
}

/* How late the victim's timers were, ns. */
struct lateness {
	__u32 nr;
	__u64 p50;
	__u64 p99;
	__u64 max;
};

/* The victim's timers: one each 2 ms, and so many ahead. */
#define VICTIM_PERIOD	(2 * MSEC)
#define VICTIM_AHEAD	16

/* Be the victim for some time; 0 or a negative errno. */
static inline int victim_watch(int fd, __u64 ns, struct lateness *l)
{
	__u32 nr = ns / VICTIM_PERIOD, i;
	__u64 *late = calloc(nr, sizeof(*late));
	/* At ticks, so that rounding up to them is not among it. */
	__u64 start = (now_ns() / TWHEEL_DEFAULT_TICK + 3) * TWHEEL_DEFAULT_TICK;
	struct twheel_event ev;
	int ret = 0;

	if (!late || nr < VICTIM_AHEAD)
		return -EINVAL;
	for (i = 0; i < VICTIM_AHEAD && !ret; i++)
		ret = arm_at(fd, i, start + i * VICTIM_PERIOD, i);
	for (i = 0; i < nr && !ret; i++) {
		if (collect(fd, &ev, 1) != 1) {
			ret = -ETIME;
			break;
		}
		late[i] = now_ns() - ev.deadline;
		if (ev.cookie + VICTIM_AHEAD < nr)
			ret = arm_at(fd, ev.id, ev.deadline + VICTIM_AHEAD * VICTIM_PERIOD,
				     ev.cookie + VICTIM_AHEAD);
	}
	if (!ret) {
		qsort(late, nr, sizeof(*late), compare_u64);
		*l = (struct lateness){ nr, late[nr / 2], late[nr * 99 / 100], late[nr - 1] };
	}
	free(late);
	return ret;
}

#endif /* TWHEEL_BESIDE_H */
