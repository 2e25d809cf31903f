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

/* There is no timerfd by CLOCK_TAI; but that is CLOCK_REALTIME and some seconds. */
int twheel_sys_timer(uint32_t clock)
{
	clockid_t id = clock == CLOCK_TAI ? CLOCK_REALTIME : (clockid_t)clock;
	int fd = timerfd_create(id, TFD_CLOEXEC | TFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* What CLOCK_TAI is ahead of CLOCK_REALTIME, to the nearest second. */
static uint64_t tai_offset(void)
{
	const int64_t half = NSEC_PER_SEC / 2;
	int64_t ahead = (int64_t)(twheel_sys_now(CLOCK_TAI) - twheel_sys_now(CLOCK_REALTIME));

	return (uint64_t)((ahead + half) / NSEC_PER_SEC * NSEC_PER_SEC);
}

int twheel_sys_timer_set(int fd, uint32_t clock, uint64_t when)
{
	bool never = when >= INT64_MAX, tai = clock == CLOCK_TAI;
	int flags = TFD_TIMER_ABSTIME | (tai ? TFD_TIMER_CANCEL_ON_SET : 0);

	/* A clock that is set meanwhile may be ahead by something else: then once more. */
	do {
		uint64_t offset = tai ? tai_offset() : 0, at = when > offset ? when - offset : 1;
		struct itimerspec spec = {
			.it_value.tv_sec = never ? 0 : (time_t)(at / NSEC_PER_SEC),
			.it_value.tv_nsec = never ? 0 : (long)(at % NSEC_PER_SEC),
		};

		if (!timerfd_settime(fd, flags, &spec, NULL))
			return 0;
	} while (errno == ECANCELED);
	return -errno;
}

int twheel_sys_memory(size_t size, void **at)
{
	*at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (*at != MAP_FAILED)
		return 0;
	/* So it says where all memory has to stay in (mlockall(2)), and that is too much. */
	return errno == EAGAIN ? -ENOMEM : -errno;
}

int twheel_sys_map(int fd, uint64_t offset, size_t size, void **at)
{
	*at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	return *at == MAP_FAILED ? -errno : 0;
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

/* Is it open for reading, writing or both?  O_RDONLY, O_WRONLY, O_RDWR; or 3: ioctls alone. */
int twheel_sys_mode(int fd)
{
	return fcntl(fd, F_GETFL) & O_ACCMODE;
}

uint64_t twheel_sys_now(uint32_t clock)
{
	struct timespec now;

	clock_gettime((clockid_t)clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}
