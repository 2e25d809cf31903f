/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that fail: see explain.c. */
#ifndef TWHEEL_TESTS_EXPLAIN_H
#define TWHEEL_TESTS_EXPLAIN_H

#include "../compat/user.h"

/* Most bytes of a program, and longest time for it, of a processor's, s. */
#define PROGRAM_MAX	65536
#define PROGRAM_TIMEOUT	20

void limit_time(unsigned int seconds);
bool fails(const u8 *bytes, size_t size);
void show(const u8 *bytes, size_t size);
void explain(u8 *bytes, size_t size);

#endif /* TWHEEL_TESTS_EXPLAIN_H */
