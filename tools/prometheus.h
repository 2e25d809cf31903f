/* SPDX-License-Identifier: GPL-2.0 */
/* All wheels that may be seen, in the text format of Prometheus. */
#ifndef TWHEEL_PROMETHEUS_H
#define TWHEEL_PROMETHEUS_H

/*
 * Write them to standard output, or to the file @path, which is replaced as a whole.
 * Exits with one line if that fails.
 */
void prometheus(const char *path);

#endif
