/* SPDX-License-Identifier: GPL-2.0 */
/* What people and programs read: errors, colours, numbers, JSON. */
#ifndef TWHEEL_OUTPUT_H
#define TWHEEL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

#define EXIT_RUNTIME	1
#define EXIT_USAGE	2

/* One line on stderr, "PROGRAM: MESSAGE", then exit. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void usage_error(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* To be called first: the program fails if it ends with something that was not written. */
void output_begin(void);

/* The same at once, for who goes on and on. */
void output_check(void);

/* There is much to print and nobody waits for a line: write it by the buffer. */
void output_bulk(void);

/* What fail() and usage_error() start with: "twheel arm", for example. */
void output_name(const char *name);

/* A terminal that can do more than print line after line. */
bool is_terminal(FILE *file);

/* For such a terminal, unless NO_COLOR is set; otherwise "". */
enum colour { PLAIN, BOLD, DIM, RED, GREEN };
const char *colour(FILE *file, enum colour colour);

/* A line of a table of two columns, with a note behind it unless that is "". */
void output_row(const char *what, const char *value, const char *note);

#define NUMBER_LEN	32

/* 1234567 as 1,234,567 */
char *number(char *buf, uint64_t value);
/* bytes as 1.2 MiB */
char *bytes(char *buf, uint64_t value);
/* a / b with two decimals, "-" if b is 0 */
char *ratio(char *buf, uint64_t a, uint64_t b);

/* An empty object. */
struct json_object *json_new(void);
/* Numbers of the JSON are exact and in the units that their names tell. */
void json_number(struct json_object *object, const char *key, uint64_t value);
void json_text(struct json_object *object, const char *key, const char *value);
/* Print @object as one line of JSON and free it; json_line() writes it at once. */
void json_line(struct json_object *object);
void json_print(struct json_object *object);

#endif
