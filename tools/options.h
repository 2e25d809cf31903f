/* SPDX-License-Identifier: GPL-2.0 */
/* Options of the commands: argp, with one line for each error. */
#ifndef TWHEEL_OPTIONS_H
#define TWHEEL_OPTIONS_H

#include <argp.h>
#include <stdint.h>

/*
 * argp_parse() with two differences: an error is one line, with exit status 2;
 * and arguments are refused unless @argp has an args_doc.
 * argv[0] is the name that messages start with.
 */
void options_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
		   void *input);

/* The value of an option; exits with a usage error if @text is not one. */
uint64_t option_number(const char *option, const char *text, uint64_t min, uint64_t max);
uint64_t option_duration(const char *option, const char *text);
int option_clock(const char *option, const char *text);

#endif
