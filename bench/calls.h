/* SPDX-License-Identifier: GPL-2.0 */
/* The linker's names: the program is linked with --wrap for each of these. */
#ifndef TWHEEL_BENCH_CALLS_H
#define TWHEEL_BENCH_CALLS_H

#include <stddef.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>

int __real_ioctl(int fd, unsigned long request, void *arg);
ssize_t __real_read(int fd, void *to, size_t size);
int __real_epoll_wait(int fd, struct epoll_event *events, int nr, int timeout);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __real_timer_settime(timer_t timer, int flags, const struct itimerspec *when,
			 struct itimerspec *old);
int __wrap_ioctl(int fd, unsigned long request, void *arg);
ssize_t __wrap_read(int fd, void *to, size_t size);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int nr, int timeout);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __wrap_timer_settime(timer_t timer, int flags, const struct itimerspec *when,
			 struct itimerspec *old);

#endif
