/* SPDX-License-Identifier: GPL-2.0 */
/* What may not be ends the instance; the page tells of that. */
#define assert(x)	((x) ? (void)0 : __builtin_trap())
