/* SPDX-License-Identifier: GPL-2.0 */
/* All wheels that may be seen, in the text format of Prometheus. */
#ifndef TWHEEL_PROMETHEUS_H
#define TWHEEL_PROMETHEUS_H

/*
 * Write it to standard output, or to a file @path, which is replaced when all is
 * written.  Exits with one line if it can't be.
 */
void prometheus(const char *path);

#endif
