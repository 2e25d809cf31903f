// SPDX-License-Identifier: GPL-2.0
/* twheel: timers of /dev/twheel from the command line. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "arm", verb_arm },
	{ "watch", verb_watch },
	{ "list", verb_list },
	{ "get", verb_get },
	{ "stat", verb_stat },
	{ "features", verb_features },
	{ "doctor", verb_doctor },
	{ "sim", verb_sim },
	{ "plot", verb_plot },
	{ "top", verb_top },
	{ "demo", verb_demo },
};

static const char doc[] =
	"Timers of /dev/twheel, a timing wheel in the kernel."
	"\v"
	"Verbs:\n"
	"  arm DURATION...  arm timers and print each event as it comes\n"
	"  watch            what a wheel does, a line per interval\n"
	"  list             the armed timers of a wheel\n"
	"  get ID           everything about one timer\n"
	"  stat             the open wheels; with --pid everything about one\n"
	"  features         what this kernel's twheel can do, and its limits\n"
	"  doctor           why twheel does not work here, and what to type\n"
	"  sim              run a script of operations in simulated time\n"
	"  plot             draw the lives of timers, of a script or a recording\n"
	"  top              show a wheel while it turns, a script or a recording\n"
	"  demo             an idle-timeout server under load, judged\n"
	"\n"
	"A wheel belongs to an open file of a process.  watch, list, get and stat inspect "
	"a wheel and never take its events.\n"
	"\n"
	"Each verb that prints text has --json; `twheel VERB --help' explains its other options, "
	"with an example.  Exit status: 0 success, 1 failure, 2 the command line was wrong.";

struct command {
	const struct verb *verb;
	int first;
};

static void choose(struct command *command, const char *name, int first)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!strcmp(verbs[i].name, name)) {
			command->verb = &verbs[i];
			command->first = first;
			return;
		}
	}
	usage_error("%s: no such verb: use arm, watch, list, get, stat, features, "
		    "doctor, sim, plot, top or demo", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_ARG:
		choose(state->input, arg, state->next - 1);
		/* The rest is for the verb. */
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		usage_error("say what to do: arm, watch, list, get, stat, features, doctor, sim, "
			    "plot, top or demo; see --help");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The program in the folder of this one; if there is none, the one in PATH. */
int verb_demo(int argc, char **argv)
{
	char path[PATH_MAX + 16];
	ssize_t len;

	(void)argc;
	len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	if (len > 0) {
		path[len] = 0;
		strcpy(strrchr(path, '/'), "/twheel-demo");
		execv(path, argv);
	}
	execvp("twheel-demo", argv);
	fail("twheel-demo: %s: install it in the folder of this program", strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse, .args_doc = "VERB [ARGUMENT...]", .doc = doc,
	};
	/* For messages at exit, too. */
	static char name[32];
	struct command command = {};

	output_begin();
	/* One line at a time, also into a pipe: events are news. */
	setlinebuf(stdout);
	argv[0] = "twheel";
	options_parse(&argp, argc, argv, ARGP_IN_ORDER, &command);
	snprintf(name, sizeof(name), "twheel %s", command.verb->name);
	argv += command.first;
	argv[0] = name;
	output_name(name);
	return command.verb->run(argc - command.first, argv);
}
