// SPDX-License-Identifier: LGPL-2.1-or-later
/* The inline functions of twheel.h as symbols, for languages that cannot read the header. */
#define TWHEEL_LINKAGE	extern
#pragma GCC visibility push(default)
#include "twheel.h"
#pragma GCC visibility pop
