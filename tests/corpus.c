// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that are kept: in a text, one to a line, in hexadecimal digits, with
 * comments behind "#". A fuzzer wants a folder of files instead.
 */
#include <stdio.h>

#include "explain.h"
#include "program.h"
#include "tap.h"
#include "tests.h"

/* After so many that fail, the others are not tried. */
#define MOST_FAILED	3

static u8 bytes[PROGRAM_MAX];

/* The next program of a text; returns its size, or 0 at the end. */
static size_t next_program(FILE *text)
{
	static char line[2 * PROGRAM_MAX + 2];
	size_t size = 0;

	while (!size && fgets(line, sizeof(line), text)) {
		unsigned int byte;

		while (size < PROGRAM_MAX && sscanf(line + 2 * size, "%2x", &byte) == 1)
			bytes[size++] = byte;
	}
	return size;
}

static FILE *open_file(const char *name, const char *mode)
{
	FILE *file = fopen(name, mode);

	if (!file) {
		perror(name);
		exit(1);
	}
	return file;
}

/**
 * kept_programs() - run the programs that a fuzzer, or somebody, has found
 * @name: of the text
 */
void kept_programs(const char *name)
{
	FILE *text = open_file(name, "r");
	unsigned int failed = 0, number = 0;
	size_t size;

	while (failed < MOST_FAILED && (size = next_program(text))) {
		number++;
		if (!fails(bytes, size))
			continue;
		printf("# program %u of %s\n", number, name);
		explain(bytes, size);
		failed++;
	}
	fclose(text);
	tap(!failed && number, "%u programs that were kept: as the reference", number);
}

/* Print programs from the files of a fuzzer. */
int show_programs(char **files)
{
	for (; *files; files++) {
		FILE *file = open_file(*files, "r");
		size_t size = fread(bytes, 1, sizeof(bytes), file);

		fclose(file);
		printf("# %s\n", *files);
		show(bytes, size);
	}
	return 0;
}

/* From a text to a folder of files. */
int unpack_programs(const char *name, const char *folder)
{
	FILE *text = open_file(name, "r");
	unsigned int number = 0;
	size_t size;

	while ((size = next_program(text))) {
		char path[4096];
		FILE *file;

		snprintf(path, sizeof(path), "%s/%04u", folder, ++number);
		file = open_file(path, "w");
		fwrite(bytes, 1, size, file);
		fclose(file);
	}
	fclose(text);
	return 0;
}

/* From files to the lines of a text. */
int pack_programs(char **files)
{
	for (; *files; files++) {
		FILE *file = open_file(*files, "r");
		size_t size = fread(bytes, 1, sizeof(bytes), file);

		fclose(file);
		for (size_t i = 0; i < size; i++)
			printf("%02x", bytes[i]);
		printf("\n");
	}
	return 0;
}
