/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls that libtwheel makes.  Each returns 0, a count or a negative errno.  The
 * tests link a simulated kernel instead.
 */
#ifndef TWHEEL_SYS_H
#define TWHEEL_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int twheel_sys_open(const char *path);
void twheel_sys_close(int fd);
int twheel_sys_ioctl(int fd, unsigned long request, void *arg);

/* Return the number of bytes read; 0: nothing to read. */
int twheel_sys_read(int fd, void *to, size_t size);

/* Wait until @fd is readable, for at most @timeout ns; negative: for ever. */
int twheel_sys_poll(int fd, int64_t timeout);

/* Create a timerfd. */
int twheel_sys_timer(uint32_t clock);
/* Make a timerfd readable from a time on; 0: now; INT64_MAX and above: never. */
void twheel_sys_timer_set(int fd, uint64_t when);

/* Map zeroed memory that is allocated when it is written.  Do children share it, or copy it? */
int twheel_sys_memory(size_t size, bool share, void **at);
int twheel_sys_map(int fd, uint64_t offset, size_t size, void **at);
void twheel_sys_unmap(void *at, size_t size);
int twheel_sys_set_nonblocking(int fd);
/* Is @fd open for reading and writing, as a shared mapping needs it? */
bool twheel_sys_writable(int fd);
uint64_t twheel_sys_now(uint32_t clock);

#endif
