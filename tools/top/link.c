// SPDX-License-Identifier: GPL-2.0
/*
 * Links of the page of docs/play: #as=SYSTEM&tick=DURATION&...&script=LINES&done=N&now=DURATION.
 * As there, the first of several fields of a name counts.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "top/link.h"

#define SCRIPT	"script="

static const char *fragment_of(const char *text)
{
	const char *hash = strchr(text, '#');

	return hash ? hash + 1 : NULL;
}

bool link_is(const char *text)
{
	const char *fields = fragment_of(text);

	return fields && (!strncmp(fields, SCRIPT, strlen(SCRIPT)) || strstr(fields, "&" SCRIPT));
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %41 is A, and + a blank.  Returns where the text ends. */
static char *decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '%' && hex(text[1]) >= 0 && hex(text[2]) >= 0) {
			*to++ = hex(text[1]) << 4 | hex(text[2]);
			text += 2;
		} else {
			*to++ = *text == '+' ? ' ' : *text;
		}
	}
	*to = 0;
	return to;
}

static void read_script(struct script *script, char *text)
{
	FILE *file = fmemopen(text, strlen(text), "r");

	if (!file)
		fail("out of memory");
	script_read(script, file, script->name);
	fclose(file);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Was there a field of this name before?  From now on there was. */
static bool is_second(void **names, const char *name)
{
	const char **node = tsearch(name, names, compare);

	if (!node)
		fail("out of memory");
	return *node != name;
}

static void keep(void *name)
{
	(void)name;
}

static void read_field(const char *name, char *value, struct choice *choice,
		       struct script *script, struct start *start)
{
	char label[64];

	/* What is empty is as it is anyway. */
	if (!*value)
		return;
	snprintf(label, sizeof(label), "the link: %s", name);
	if (!strcmp(name, "script"))
		read_script(script, value);
	else if (!strcmp(name, "done"))
		start->done = option_number(label, value, 0, UINT32_MAX);
	else if (!strcmp(name, "now"))
		start->now = option_duration(label, value);
	else
		choice_set(choice, name, label, value);
}

void link_read(const char *text, struct choice *choice, struct script *script,
	       struct start *start)
{
	char *fields = strdup(fragment_of(text)), *rest = NULL, *field;
	void *names = NULL;

	if (!fields)
		fail("out of memory");
	script->name = "the link";
	for (field = strtok_r(fields, "&", &rest); field; field = strtok_r(NULL, "&", &rest)) {
		char *value = strchr(field, '='), *end;

		if (!value)
			continue;
		*value++ = 0;
		if (is_second(&names, field))
			continue;
		end = decode(value);
		if (end != value + strlen(value))
			fail("the link: there is a zero byte in %s, which is no text", field);
		read_field(field, value, choice, script, start);
	}
	tdestroy(names, keep);
	free(fields);
}
