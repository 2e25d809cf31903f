/* SPDX-License-Identifier: GPL-2.0 */
/* What the linker puts in front of the C library: see faked in the Makefile. */
#ifndef TWHEEL_TESTS_FAKE_KERNEL_H
#define TWHEEL_TESTS_FAKE_KERNEL_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, void *arg);
ssize_t __wrap_read(int fd, void *to, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset);
int __wrap_clock_getres(clockid_t clock, struct timespec *resolution);

FILE *__wrap_fopen(const char *path, const char *mode);
DIR *__wrap_opendir(const char *path);
ssize_t __wrap_readlink(const char *path, char *to, size_t size);
int __wrap_stat(const char *path, struct stat *to);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_rmdir(const char *path);

int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long request, void *arg);
ssize_t __real_read(int fd, void *to, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
FILE *__real_fopen(const char *path, const char *mode);
DIR *__real_opendir(const char *path);
int __real_stat(const char *path, struct stat *to);
int __real_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
ssize_t __real_readlink(const char *path, char *to, size_t size);
int __real_clock_getres(clockid_t clock, struct timespec *resolution);

/* Where a path of tracefs is; false: it is none, or there is no fake one. */
bool fake_tracing(char *buf, size_t size, const char *path);

#endif
