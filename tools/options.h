/* SPDX-License-Identifier: GPL-2.0 */
/* Options of the commands: argp, with one line for each error. */
#ifndef TWHEEL_OPTIONS_H
#define TWHEEL_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "duration.h"

/*
 * argp_parse() with two differences: what is wrong is said in one line, exit
 * status 2; and arguments are refused unless @argp has an args_doc.
 * argv[0] is the name that messages start with.
 */
void options_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
		   void *input);

/* From one look to the next; a thousand times as much is a time that can be reckoned with. */
#define INTERVAL_MIN	(10 * NSEC_PER_MSEC)
#define INTERVAL_MAX	(86400 * NSEC_PER_SEC)

/* The value of an option; a usage error if it is none. */
uint64_t option_number(const char *option, const char *text, uint64_t min, uint64_t max);
uint64_t option_duration(const char *option, const char *text);
uint64_t option_interval(const char *option, const char *text);
int option_clock(const char *option, const char *text);

#endif
