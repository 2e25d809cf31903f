// SPDX-License-Identifier: GPL-2.0
/* twheel doctor: why twheel does not work on this machine, and what to type. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "doctor/doctor.h"
#include "json.h"
#include "options.h"
#include "output.h"
#include "verbs.h"

enum { KEY_JSON = 256 };

static const struct argp_option argp_options[] = {
	{ "json", KEY_JSON, NULL, 0, "print JSON", 0 },
	{ 0 }
};

static const char doc[] =
	"Find out why twheel does not work on this machine, and what to type."
	"\v"
	"It makes one check after the other and changes nothing; to test a timer it opens "
	"wheels of its own.  It does not need root, and says what only root can see.  The "
	"command to type stands below each problem; begin with the first:\n"
	"\n"
	"  twheel doctor\n"
	"  kernel      ok       6.1.0-56-amd64\n"
	"  module      ok       0.9.0, /lib/modules/6.1.0-56-amd64/updates/twheel.ko\n"
	"  signature   ok       the kernel asks for none\n"
	"  loaded      problem  not loaded\n"
	"                       sudo modprobe twheel\n"
	"  library     ok       0.9.0, /usr/local/lib/libtwheel.so.0\n"
	"\n"
	"Exit status: 0 no problem was found, 1 a problem was, 2 the command line was wrong.";

static const struct check {
	const char *name;
	void (*look)(struct facts *facts, struct finding *finding);
} checks[] = {
	{ "kernel", check_kernel },
	{ "headers", check_headers },
	{ "module", check_module },
	{ "signature", check_signature },
	{ "loaded", check_loaded },
	{ "device", check_node },
	{ "permission", check_permission },
	{ "open", check_open },
	{ "features", check_features },
	{ "limits", check_limits },
	{ "timer", check_timer },
	{ "library", check_library },
	{ "fallback", check_fallback },
};

static const char * const words[] = {
	[GOOD] = "ok", [PROBLEM] = "problem", [UNKNOWN] = "unknown",
};

void say(struct finding *finding, enum verdict verdict, const char *format, ...)
{
	va_list args;

	finding->verdict = verdict;
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

void type(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vsnprintf(finding->type, sizeof(finding->type), format, args) >=
	    (int)sizeof(finding->type))
		*finding->type = 0;
	va_end(args);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	(void)arg;
	switch (key) {
	case KEY_JSON:
		*json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static struct json_object *json_finding(const char *name, const struct finding *finding)
{
	struct json_object *object = json_new();

	json_text(object, "what", name);
	json_text(object, "verdict", words[finding->verdict]);
	json_text(object, "text", finding->text);
	if (*finding->type)
		json_text(object, "type", finding->type);
	return object;
}

static void print_finding(const char *name, const struct finding *finding)
{
	static const enum colour colours[] = { [GOOD] = GREEN, [PROBLEM] = RED, [UNKNOWN] = DIM };

	printf("  %-10s  %s%-7s%s  %s\n", name, colour(stdout, colours[finding->verdict]),
	       words[finding->verdict], colour(stdout, PLAIN), finding->text);
	if (*finding->type)
		printf("  %-10s  %-7s  %s%s%s\n", "", "", colour(stdout, BOLD), finding->type,
		       colour(stdout, PLAIN));
}

int verb_doctor(int argc, char **argv)
{
	static const struct argp argp = { .options = argp_options, .parser = parse, .doc = doc };
	struct json_object *line, *array = json_object_new_array();
	struct facts facts;
	bool json = false, good = true;
	size_t i;

	options_parse(&argp, argc, argv, 0, &json);
	facts_gather(&facts);
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		struct finding finding = { .verdict = SILENT };

		checks[i].look(&facts, &finding);
		good &= finding.verdict != PROBLEM;
		if (finding.verdict == SILENT)
			continue;
		if (json)
			json_object_array_add(array, json_finding(checks[i].name, &finding));
		else
			print_finding(checks[i].name, &finding);
	}
	if (json) {
		line = json_new();
		json_object_object_add(line, "good", json_object_new_boolean(good));
		json_object_object_add(line, "checks", array);
		json_line(line);
	} else {
		json_object_put(array);
	}
	return good ? 0 : EXIT_RUNTIME;
}
