/* SPDX-License-Identifier: GPL-2.0 */
/* What must hold inside the wheel: see rules.c. */
#ifndef TWHEEL_TESTS_RULES_H
#define TWHEEL_TESTS_RULES_H

#include "../wheel.h"
#include "reference.h"

const char *rules_check(struct wheel *w, const struct reference *r, u64 shift);
const char *rules_filed(const struct wheel *w, u32 id);
bool rules_crowded(const struct wheel *w);

#endif /* TWHEEL_TESTS_RULES_H */
