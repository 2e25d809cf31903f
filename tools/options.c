// SPDX-License-Identifier: GPL-2.0
/* Options of the commands: argp, with one line for each error. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/twheel.h>

#include "duration.h"
#include "options.h"
#include "output.h"

/*
 * argp reports an error in two lines, or with ARGP_NO_ERRS not at all, but then
 * has no --help either.  So the options that every command has are ours, in a
 * root above the command's own argp.
 */
enum { KEY_HELP = '?', KEY_VERSION = 'V', KEY_USAGE = 0x1000 };

static const struct argp_option root_options[] = {
	{ "help", KEY_HELP, NULL, 0, "give this help", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "give a short usage message", -1 },
	{ "version", KEY_VERSION, NULL, 0, "print the version", -1 },
	{ 0 }
};

struct root {
	void *input;
	bool takes_arguments;
	const char *wrong;
};

static void help(const struct argp_state *state, unsigned int flags)
{
	argp_help(state->root_argp, stdout, flags, state->name);
	exit(0);
}

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct root *root = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = root->input;
		return 0;
	case ARGP_KEY_ARG:
		if (!root->takes_arguments)
			usage_error("%s: takes no arguments, only options: see %s --help", arg,
				    state->name);
		return ARGP_ERR_UNKNOWN;
	case ARGP_KEY_ERROR:
		/* Among short options argp has not yet moved past the word with the wrong one. */
		root->wrong = state->argv[state->next - 1];
		if (*root->wrong != '-' && state->next < state->argc)
			root->wrong = state->argv[state->next];
		return 0;
	case KEY_HELP:
		help(state, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK);
		return 0;
	case KEY_USAGE:
		help(state, ARGP_HELP_USAGE);
		return 0;
	case KEY_VERSION:
		printf("twheel %s (ABI %d)\n", VERSION, TWHEEL_ABI);
		exit(0);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
		   void *input)
{
	struct argp command = { .options = argp->options, .parser = argp->parser,
				.children = argp->children };
	const struct argp_child children[] = { { .argp = &command }, { 0 } };
	const struct argp all = { .options = root_options, .parser = parse_root,
				  .args_doc = argp->args_doc, .doc = argp->doc,
				  .children = children };
	struct root root = { .input = input, .takes_arguments = argp->args_doc };
	error_t err;

	output_name(argv[0]);
	err = argp_parse(&all, argc, argv, flags | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &root);
	if (root.wrong)
		usage_error("%s: no such option, or its argument is wrong: see %s --help",
			    root.wrong, argv[0]);
	if (err)
		fail("%s", strerror(err));
}

uint64_t option_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	/* Not base 0: 010 means ten to a user. */
	value = strtoull(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
	if (*text < '0' || *text > '9' || *end || errno || value < min || value > max)
		usage_error("%s %s: give a number from %llu to %llu", option, text,
			    (unsigned long long)min, (unsigned long long)max);
	return value;
}

uint64_t option_duration(const char *option, const char *text)
{
	const char *why;
	uint64_t ns;

	why = duration_parse(text, &ns);
	if (why)
		usage_error("%s '%s' %s", option, text, why);
	return ns;
}

int option_clock(const char *option, const char *text)
{
	if (!strcmp(text, "monotonic"))
		return CLOCK_MONOTONIC;
	if (!strcmp(text, "boottime"))
		return CLOCK_BOOTTIME;
	if (!strcmp(text, "realtime"))
		return CLOCK_REALTIME;
	usage_error("%s %s: unknown clock: use monotonic, boottime or realtime", option, text);
}
