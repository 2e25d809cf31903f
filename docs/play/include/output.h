/* SPDX-License-Identifier: GPL-2.0 */
/* For tools/sim/script.c, instead of tools/output.h: the page tells what is wrong. */
__attribute__((noreturn, format(printf, 1, 2)))
void fail(const char *format, ...);
