/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The system calls that libtwheel makes for its timers, counted: the linker puts
 * these functions in front of the library's own (see lib/sys.h, and counted in the
 * Makefile).  Those that open and close a wheel are not among them.
 */
#ifndef TWHEEL_DEMO_CALLS_H
#define TWHEEL_DEMO_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* By this process, so far. */
uint64_t calls_made(void);

int __wrap_twheel_sys_ioctl(int fd, unsigned long request, void *arg);
int __real_twheel_sys_ioctl(int fd, unsigned long request, void *arg);
int __wrap_twheel_sys_read(int fd, void *to, size_t size);
int __real_twheel_sys_read(int fd, void *to, size_t size);
void __wrap_twheel_sys_timer_set(int fd, uint64_t when);
void __real_twheel_sys_timer_set(int fd, uint64_t when);
int __wrap_twheel_sys_poll(int fd, int64_t timeout);
int __real_twheel_sys_poll(int fd, int64_t timeout);

#endif
