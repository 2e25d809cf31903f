/* SPDX-License-Identifier: GPL-2.0 */
/* The suites; each reports to tap.h. */
#ifndef TWHEEL_TESTS_TESTS_H
#define TWHEEL_TESTS_TESTS_H

#include "../compat/user.h"

void user_cases(void);
void timers_ticks(void);
void timers_cases(void);
void random_programs(unsigned long ops, u64 from);
void kept_programs(const char *file);

/* Programs in files, for main.c and fuzz.c. */
int show_programs(char **files);
int unpack_programs(const char *file, const char *folder);
int pack_programs(char **files);

#endif /* TWHEEL_TESTS_TESTS_H */
