// SPDX-License-Identifier: GPL-2.0
#include "calls.h"

static uint64_t made;

uint64_t calls_made(void)
{
	return made;
}

int __wrap_twheel_sys_ioctl(int fd, unsigned long request, void *arg)
{
	made++;
	return __real_twheel_sys_ioctl(fd, request, arg);
}

int __wrap_twheel_sys_read(int fd, void *to, size_t size)
{
	made++;
	return __real_twheel_sys_read(fd, to, size);
}

void __wrap_twheel_sys_timer_set(int fd, uint64_t when)
{
	made++;
	__real_twheel_sys_timer_set(fd, when);
}

int __wrap_twheel_sys_poll(int fd, int64_t timeout)
{
	made++;
	return __real_twheel_sys_poll(fd, timeout);
}
