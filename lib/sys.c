// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "sys.h"

#define NSEC_PER_SEC	1000000000

int twheel_sys_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		return fd;
	return errno == ENOENT || errno == ENXIO ? -ENODEV : -errno;
}

void twheel_sys_close(int fd)
{
	close(fd);
}

int twheel_sys_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

int twheel_sys_read(int fd, void *to, size_t size)
{
	ssize_t len = read(fd, to, size);

	if (len < 0)
		return errno == EAGAIN ? 0 : -errno;
	return (int)len;
}

int twheel_sys_poll(int fd, int64_t timeout)
{
	struct pollfd what = { .fd = fd, .events = POLLIN };
	struct timespec span = {
		.tv_sec = timeout / NSEC_PER_SEC,
		.tv_nsec = timeout % NSEC_PER_SEC,
	};
	int nr = ppoll(&what, 1, timeout < 0 ? NULL : &span, NULL);

	if (nr < 0)
		return -errno;
	return what.revents & POLLNVAL ? -EBADF : nr;
}

int twheel_sys_timer(uint32_t clock)
{
	int fd = timerfd_create((clockid_t)clock, TFD_CLOEXEC | TFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void twheel_sys_timer_set(int fd, uint64_t when)
{
	/* 0 would disarm the timer: it is for "never". */
	uint64_t at = when >= INT64_MAX ? 0 : when ? when : 1;
	struct itimerspec spec = {
		.it_value.tv_sec = (time_t)(at / NSEC_PER_SEC),
		.it_value.tv_nsec = (long)(at % NSEC_PER_SEC),
	};

	timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static int map(void **at, size_t size, int flags, int fd, uint64_t offset)
{
	*at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
	if (*at != MAP_FAILED)
		return 0;
	/* After mlockall(2), EAGAIN means that the memory may not be locked. */
	return errno == EAGAIN ? -ENOMEM : -errno;
}

int twheel_sys_memory(size_t size, bool share, void **at)
{
	return map(at, size, (share ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
}

int twheel_sys_map(int fd, uint64_t offset, size_t size, void **at)
{
	return map(at, size, MAP_SHARED, fd, offset);
}

void twheel_sys_unmap(void *at, size_t size)
{
	munmap(at, size);
}

int twheel_sys_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if (flags & O_NONBLOCK)
		return 0;
	return fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

bool twheel_sys_writable(int fd)
{
	return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

uint64_t twheel_sys_now(uint32_t clock)
{
	struct timespec now;

	clock_gettime((clockid_t)clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}
