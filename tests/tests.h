/* SPDX-License-Identifier: GPL-2.0 */
/* The suites; each reports to tap.h. */
#ifndef TWHEEL_TESTS_TESTS_H
#define TWHEEL_TESTS_TESTS_H

#include "../compat/user.h"

void wheel_random(unsigned long ops, u64 from);
void timers_random(unsigned long ops, u64 from);
void timers_ticks(void);
void timers_cases(void);

#endif /* TWHEEL_TESTS_TESTS_H */
