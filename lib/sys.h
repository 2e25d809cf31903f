/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls that libtwheel makes, each 0, a count or a negative errno.  The
 * tests link a kernel of their own instead.
 */
#ifndef TWHEEL_SYS_H
#define TWHEEL_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int twheel_sys_open(const char *path);
void twheel_sys_close(int fd);
int twheel_sys_ioctl(int fd, unsigned long request, void *arg);

/* As many bytes as there are; 0: nothing to read. */
int twheel_sys_read(int fd, void *to, size_t size);

/* Wait until @fd, if it is not -1, is readable, at most @timeout ns, negative: for ever. */
int twheel_sys_poll(int fd, int64_t timeout);

/* A timerfd by a clock of wheels, which nobody reads. */
int twheel_sys_timer(uint32_t clock);
/* Make it readable at a time: 0: now; from INT64_MAX on: never. */
void twheel_sys_timer_set(int fd, uint64_t when);

/* Memory of zeroes that children share; it takes none until it is written. */
int twheel_sys_memory(size_t size, void **at);
int twheel_sys_map(int fd, uint64_t offset, size_t size, void **at);
void twheel_sys_unmap(void *at, size_t size);
int twheel_sys_set_nonblocking(int fd);
bool twheel_sys_writable(int fd);
uint64_t twheel_sys_now(uint32_t clock);

#endif
