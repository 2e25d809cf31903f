// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The unit of translation: all parts of the module, each above those that it uses.
 *
 * An arm or an expiry passes through four or five of these files.  As one unit they
 * are one piece of code for the compiler; compiled apart they take 26 % more
 * instructions.  No other file of the module includes a .c, so each can still be
 * read, and its header used, as if it stood alone.
 *
 * Without TWHEEL_DEVICE, which the module's Kbuild defines, the unit is what knows no
 * device: the parts that tests, benchmarks and simulators build, in user space too.
 * They may define TWHEEL_PART as nothing, to have its functions external.
 */
#if defined(__KERNEL__) && (defined(CONFIG_ARCH_HAS_CPU_CACHE_ALIASING) || \
	defined(CONFIG_MIPS) || defined(CONFIG_PARISC) || defined(CONFIG_SPARC64))
#error "twheel shares memory with programs, which needs data caches that do not alias"
#endif

#ifndef TWHEEL_PART
#define TWHEEL_PART static
#endif

#include "wheel.c"
#include "words.c"
#include "timers.c"

#ifdef TWHEEL_DEVICE
#include "users.c"
#include "expiry.c"
#include "turn.c"
#include "memory.c"
#include "setup.c"
#include "stats.c"
#include "events.c"
#include "ioctls.c"
#include "twheel.c"
#endif
