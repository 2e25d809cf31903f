// SPDX-License-Identifier: GPL-2.0
/*
 * Scripts and durations for the page, as tools/sim/script.c and tools/duration.c read them.  Each
 * text has an instance of its own, so nothing is freed.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "output.h"
#include "sim/script.h"

#define EXPORT(name)	__attribute__((export_name(#name)))
#define IMPORT(name)	__attribute__((import_module("page"), import_name(#name)))

IMPORT(op)
void page_op(enum op_kind kind, uint32_t line, uint32_t id, uint64_t time, uint64_t interval,
	     uint32_t times);
IMPORT(number)
void page_number(const char *name, uint64_t value);
IMPORT(fail)
__attribute__((noreturn)) void page_fail(const char *why);

void fail(const char *format, ...)
{
	static char why[512];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	page_fail(why);
}

/* Memory for a text. */
EXPORT(room)
char *play_room(size_t size)
{
	return calloc(size, 1);
}

/* The text ends with a line feed. */
EXPORT(parse)
void play_parse(char *text)
{
	FILE *file = fmemopen(text, strlen(text), "r");
	struct script script = { 0 };

	if (!file)
		fail("out of memory");
	script_read(&script, file, "script");
	for (size_t i = 0; i < script.nr; i++) {
		const struct op *op = &script.op[i];

		page_op(op->kind, op->line, op->id, op->time, op->interval, op->times);
	}
}

/* Returns what is wrong with it, or NULL. */
EXPORT(duration)
const char *play_duration(const char *text)
{
	uint64_t ns = 0;
	const char *why = duration_parse(text, &ns);

	page_number("ns", ns);
	return why;
}
