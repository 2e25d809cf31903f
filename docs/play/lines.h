/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which line of a system has run, for the page.  The Makefile includes this file in front of each
 * model; tools/sim/twheel.c includes it in front of the wheel.
 *
 * A call in one of the sources tells the page its own place.
 */
#include "system.h"

__attribute__((import_module("page"), import_name("line")))
void page_line(enum sim_what what, const char *file, uint32_t line);

#define NOTE(what, call)	(page_line(SIM_##what, __FILE__, __LINE__), (call))

#ifdef SIM_WHEEL_LINES
#define wheel_file_inline(...)	NOTE(PLACED, wheel_file_inline(__VA_ARGS__))
#define wheel_put(...)		NOTE(MOVED, wheel_put(__VA_ARGS__))
#define trace_twheel_timer_expire(...)	NOTE(EXPIRED, trace_twheel_timer_expire(__VA_ARGS__))
#else
#include "binary.h"

#define binary_add(...)		NOTE(PLACED, binary_add(__VA_ARGS__))
#define sim_list_append(...)	NOTE(PLACED, sim_list_append(__VA_ARGS__))
#define sim_list_insert(...)	NOTE(PLACED, sim_list_insert(__VA_ARGS__))
#define sim_moved(...)		NOTE(MOVED, sim_moved(__VA_ARGS__))
#define sim_expire(...)		NOTE(EXPIRED, sim_expire(__VA_ARGS__))
#endif
