/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page that holds up any write to it, and a thread that makes one call.  If a fixture can't
 * make such a page, its tests skip: a skip in a fixture ends nothing.
 */
#ifndef TWHEEL_HELD_H
#define TWHEEL_HELD_H

#include <linux/userfaultfd.h>

#include "twheel_test.h"

#define NO_USERFAULTFD	"this kernel has no userfaultfd, or not for us"

/* A page that is not there yet.  A write to it waits until the test maps the page or refuses it. */
struct held {
	int	fd;
	void	*page;
};

/* Is there such a page? */
static inline bool held_open(struct held *h)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	h->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	h->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)h->page;
	reg.range.len = PAGE;
	return h->fd >= 0 && !ioctl(h->fd, UFFDIO_API, &api) && h->page != MAP_FAILED &&
	       !ioctl(h->fd, UFFDIO_REGISTER, &reg);
}

static inline void held_close(struct held *h)
{
	munmap(h->page, PAGE);
	if (h->fd >= 0)
		close(h->fd);
}

/* Wait until somebody waits for the page. */
static inline bool held_wait(struct held *h)
{
	struct uffd_msg msg;

	return wheel_poll(h->fd, NEVER_MS) & POLLIN &&
	       read(h->fd, &msg, sizeof(msg)) == sizeof(msg) &&
	       msg.event == UFFD_EVENT_PAGEFAULT;
}

static inline int held_let(struct held *h)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)h->page, PAGE } };

	return ioctl(h->fd, UFFDIO_ZEROPAGE, &zero) ? -errno : 0;
}

/* Fail the waiting call: there is no such memory. */
static inline int held_refuse(struct held *h)
{
	struct uffdio_range range = { (uintptr_t)h->page, PAGE };

	if (mprotect(h->page, PAGE, PROT_NONE) || ioctl(h->fd, UFFDIO_WAKE, &range))
		return -errno;
	return 0;
}

/* A thread that makes one call. */
struct caller {
	pthread_t	thread;
	pid_t		tid;
	int		(*call)(struct caller *c);
	int		fd;
	void		*memory;
	unsigned int	nr;
	int		ret;
	bool		done;
};

static inline void *caller_run(void *arg)
{
	struct caller *c = arg;

	__atomic_store_n(&c->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	c->ret = c->call(c);
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Without a storm: a call that is interrupted would be another one. */
static inline int caller_start(struct caller *c)
{
	return pthread_create(&c->thread, NULL, caller_run, c);
}

/* Has its call returned within the time in which all that comes has come? */
static inline bool caller_done(struct caller *c, unsigned int ms)
{
	__u64 limit = now_ns() + ms * MSEC;

	while (!__atomic_load_n(&c->done, __ATOMIC_ACQUIRE)) {
		if (now_ns() >= limit)
			return false;
		sleep_until(now_ns() + MSEC);
	}
	return true;
}

/* Wait until it sleeps in its call. */
static inline bool caller_asleep(struct caller *c)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	char path[64], text[512], *state;

	do {
		sleep_until(now_ns() + MSEC);
		if (!__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", c->tid);
		if (read_file(path, text, sizeof(text)) <= 0)
			return false;
		state = strrchr(text, ')');
		if (state && state[1] == ' ' && state[2] == 'S')
			return true;
	} while (now_ns() < limit);
	return false;
}

static inline int call_read(struct caller *c)
{
	return wheel_read(c->fd, c->memory, c->nr);
}

static inline int call_poll(struct caller *c)
{
	return wheel_poll(c->fd, 3 * NEVER_MS);
}

#endif /* TWHEEL_HELD_H */
