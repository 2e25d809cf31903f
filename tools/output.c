// SPDX-License-Identifier: GPL-2.0
/* What people and programs read: errors, colours, numbers, JSON. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "output.h"

static const char *program = "twheel";
static const char *output = "standard output";

void output_name(const char *name)
{
	program = name;
}

void make_printable(char *text)
{
	for (; *text; text++)
		*text = printable(*text);
}

static void vsay(const char *format, va_list args)
{
	char *made = NULL;
	/* Without memory, what is wrong is said without what it is about. */
	const char *text = vasprintf(&made, format, args) < 0 ? format : made;

	fprintf(stderr, "%s: ", program);
	for (; *text; text++)
		fputc(printable(*text), stderr);
	fputc('\n', stderr);
	free(made);
}

__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

static void message(const char *format, va_list args)
{
	/* Keep the order of what was printed before, also into one file. */
	fflush(stdout);
	vsay(format, args);
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
	say("not all could be written to %s%s%s", output, errno ? ": " : "",
	    errno ? strerror(errno) : "");
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

bool is_input(const char *path, const char *input)
{
	struct stat from, to;

	return !(input ? stat(input, &from) : fstat(STDIN_FILENO, &from)) && !stat(path, &to) &&
	       from.st_dev == to.st_dev && from.st_ino == to.st_ino && S_ISREG(to.st_mode);
}

void output_to(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		fail("%s: %s", path, strerror(errno));
	/* Where there was no standard output it is that one. */
	if (fd != STDOUT_FILENO)
		close(fd);
	setlinebuf(stdout);
	output = path;
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

struct json_object *json_new(void)
{
	/*
	 * The default hash asks for random numbers, which take a second in a
	 * machine that has just booted.  Our keys are no attacker's choice.
	 */
	json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE);
	return json_object_new_object();
}

void json_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

void json_text(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

struct json_object *json_parse(const char *text, size_t length)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object;
	size_t end;

	if (!tokener)
		fail("out of memory");
	object = json_tokener_parse_ex(tokener, text, length);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (json_object_is_type(object, json_type_object) &&
	    strspn(text + end, " \t\r\n") == length - end)
		return object;
	json_object_put(object);
	return NULL;
}

void json_print(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

void json_line(struct json_object *object)
{
	json_print(object);
	output_check();
}
