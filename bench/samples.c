// SPDX-License-Identifier: GPL-2.0
/*
 * The raw data: one line for each measured value, fields between tabs, for
 * report.c, which runs elsewhere. And what a person sees meanwhile.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

const char *this_bed;

static FILE *raw;

void samples_open(const char *path)
{
	raw = fopen(path, "w");
	if (!raw)
		die("%s: %m", path);
}

void sample(const char *part, const char *name, const char *peer, uint32_t nr,
	    const char *unit, double value)
{
	fprintf(raw, "sample\t%s\t%s\t%s\t%s\t%u\t%s\t%.17g\n", part,
		this_bed, name, peer, nr, unit, value);
	fflush(raw);
}

static void put_value(const char *format, va_list args)
{
	vfprintf(raw, format, args);
	fputc('\n', raw);
	fflush(raw);
}

void fact(const char *key, const char *format, ...)
{
	va_list args;

	fprintf(raw, "fact\t%s\t", key);
	va_start(args, format);
	put_value(format, args);
	va_end(args);
}

void bed_fact(const char *key, const char *format, ...)
{
	va_list args;

	fprintf(raw, "fact\t%s %s\t", this_bed, key);
	va_start(args, format);
	put_value(format, args);
	va_end(args);
}

void progress(const char *format, ...)
{
	va_list args;

	printf("        ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "twheel-bench: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

uint64_t figure(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	size_t len = strlen(key);
	uint64_t value = 0;
	char line[512];
	bool found = false;

	if (!file)
		die("%s: %m", path);
	while (!found && fgets(line, sizeof(line), file)) {
		if (len && (strncmp(line, key, len) || !strchr(" :\t", line[len])))
			continue;
		value = strtoull(len ? line + len + 1 : line, NULL, 10);
		found = true;
	}
	fclose(file);
	if (!found)
		die("%s tells no %s", path, key);
	return value;
}

void set_figure(const char *path, const char *value)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(value, file) < 0 || fclose(file))
		die("%s: %m", path);
}
