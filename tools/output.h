/* SPDX-License-Identifier: GPL-2.0 */
/* What people and programs read: errors, colours, numbers. */
#ifndef TWHEEL_OUTPUT_H
#define TWHEEL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EXIT_RUNTIME	1
#define EXIT_USAGE	2

/* One line on stderr, "PROGRAM: MESSAGE", then exit. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void usage_error(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Call this first: the program then fails if its output could not be written. */
void output_begin(void);

/* Check that now; for a command that runs on and on. */
void output_check(void);

/* Buffer the output: there is much of it, and no line is urgent. */
void output_bulk(void);

/* What fail() and usage_error() start with: "twheel arm", for example. */
void output_name(const char *name);

/* Is it a terminal with control sequences? */
bool is_terminal(FILE *file);

/* The sequence for a colour on such a terminal; "" elsewhere, or if NO_COLOR is set. */
enum colour { PLAIN, BOLD, DIM, RED, GREEN };
const char *colour(FILE *file, enum colour colour);

/* A row of a table of two columns, followed by a note unless that is "". */
void output_row(const char *what, const char *value, const char *note);

#define NUMBER_LEN	32

/* 1234567 as 1,234,567 */
char *number(char *buf, uint64_t value);
/* bytes as 1.2 MiB */
char *bytes(char *buf, uint64_t value);
/* a / b with two decimals, "-" if b is 0 */
char *ratio(char *buf, uint64_t a, uint64_t b);

#endif
