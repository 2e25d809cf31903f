// SPDX-License-Identifier: GPL-2.0
/*
 * The suites that run in two places: as a KUnit module in the kernel, where
 * the wheel lives, and in user space, where sanitizers watch each access.
 *
 * One unit, as the module itself is: see Kbuild and suite.h.
 */
#ifdef __KERNEL__
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#else
#include "kunit.h"
#endif

/* No suite needs all of the wheel. */
#pragma GCC diagnostic ignored "-Wunused-function"

#include "../unit.c"

#include "suite.h"

#include "boundaries.c"
#include "textbook.c"
#include "bugs.c"

kunit_test_suites(&boundaries_suite, &textbook_suite, &bugs_suite);

#ifdef __KERNEL__
MODULE_DESCRIPTION("KUnit tests of the timing wheel");
MODULE_LICENSE("GPL");
#endif
