// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the system calls that are made for timers, by whom ever. Not among them is
 * the wait that every daemon has.
 */
#include "bench.h"
#include "calls.h"

_Thread_local uint64_t system_calls;

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	system_calls++;
	return __real_ioctl(fd, request, arg);
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	system_calls++;
	return __real_read(fd, to, size);
}

int __wrap_epoll_wait(int fd, struct epoll_event *events, int nr, int timeout)
{
	system_calls++;
	return __real_epoll_wait(fd, events, nr, timeout);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old)
{
	system_calls++;
	return __real_timerfd_settime(fd, flags, when, old);
}

int __wrap_timer_settime(timer_t timer, int flags, const struct itimerspec *when,
			 struct itimerspec *old)
{
	system_calls++;
	return __real_timer_settime(timer, flags, when, old);
}
