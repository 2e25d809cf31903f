/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's tracefs, as text: an instance of our own, so that no other tracing is disturbed.
 *
 * By its files, and not by libtracefs: the text of these tracepoints is the module's own, and who
 * builds the tools needs no more than before.
 */
#ifndef TWHEEL_TRACE_TRACEFS_H
#define TWHEEL_TRACE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Make an instance in which the tracepoints of one wheel are on, and of its clock those of
 * hrtimers.  Ends the program with one line if that can't be.  Whenever the program ends, but by
 * SIGKILL, it is removed; one that such an end has left, by the next.
 */
void tracefs_begin(uint64_t wheel, uint32_t clock);

/* Nothing more is written down. */
void tracefs_stop(void);

/*
 * A line of what was written down, without its end; NULL: there is none yet.  It is valid up to
 * the next call.
 */
char *tracefs_line(void);

#endif
