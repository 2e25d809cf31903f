// SPDX-License-Identifier: GPL-2.0
/* What people and programs read: errors, colours, numbers. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "output.h"

static const char *program = "twheel";

void output_name(const char *name)
{
	program = name;
}

static void message(const char *format, va_list args)
{
	/* Keep the order of what was printed before, also into one file. */
	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args);
	va_end(args);
	exit(EXIT_RUNTIME);
}

void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args);
	va_end(args);
	exit(EXIT_USAGE);
}

static bool all_written(void)
{
	/* An error of before is remembered, but not which one it was. */
	errno = 0;
	return !fflush(stdout) && !ferror(stdout);
}

static void output_end(void)
{
	if (all_written())
		return;
	fprintf(stderr, "%s: not all could be written to standard output%s%s\n", program,
		errno ? ": " : "", errno ? strerror(errno) : "");
	_exit(EXIT_RUNTIME);
}

void output_begin(void)
{
	atexit(output_end);
}

void output_check(void)
{
	if (!all_written())
		exit(EXIT_RUNTIME);
}

void output_bulk(void)
{
	static char buffer[1 << 16];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

bool is_terminal(FILE *file)
{
	const char *term = getenv("TERM");

	return isatty(fileno(file)) && term && *term && strcmp(term, "dumb");
}

const char *colour(FILE *file, enum colour colour)
{
	static const char * const codes[] = {
		[PLAIN] = "\033[0m",
		[BOLD] = "\033[1m",
		[DIM] = "\033[2m",
		[RED] = "\033[31m",
		[GREEN] = "\033[32m",
	};
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || !is_terminal(file))
		return "";
	return codes[colour];
}

void output_row(const char *what, const char *value, const char *note)
{
	printf("  %-26s %14s%s%s\n", what, value, *note ? "  " : "", note);
}

char *number(char *buf, uint64_t value)
{
	char digits[NUMBER_LEN];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	char *out = buf;
	int i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = 0;
	return buf;
}

char *bytes(char *buf, uint64_t value)
{
	static const char * const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double scaled = value;
	size_t unit = 0;

	while (scaled >= 1024 && unit < ARRAY_SIZE(units) - 1) {
		scaled /= 1024;
		unit++;
	}
	snprintf(buf, NUMBER_LEN, "%.*f %s", unit && scaled < 100, scaled, units[unit]);
	return buf;
}

char *ratio(char *buf, uint64_t a, uint64_t b)
{
	if (b)
		snprintf(buf, NUMBER_LEN, "%.2f", (double)a / b);
	else
		strcpy(buf, "-");
	return buf;
}
