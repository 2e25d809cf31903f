/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of tests, in TAP. */
#ifndef TWHEEL_TESTS_TAP_H
#define TWHEEL_TESTS_TAP_H

#include <stdbool.h>

/* In a test: this must be so.  It goes on all the same. */
#define CHECK(what) tap_check((what), #what, __FILE__, __LINE__)

bool tap_check(bool is, const char *what, const char *file, int line);
/* Was anything not so in this test? */
bool tap_is_bad(void);
/* The end of a test. */
void tap_result(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The end of all; returns what the program exits with. */
int tap_end(void);

#endif
