// SPDX-License-Identifier: GPL-2.0
/* How packages are installed here, by what the distribution says it is: os-release(5). */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "doctor/packages.h"

static const struct packages known[] = {
	{ "debian", "apt install", "libtwheel0 twheel-tools", "linux-headers-" },
	{ "fedora", "dnf install", "libtwheel twheel-tools", NULL },
	{ "arch", "pacman -S", "libtwheel twheel-tools", NULL },
};

/* The first word of a value that is known, as in "rhel centos fedora". */
static const struct packages *find(char *value)
{
	char *rest = NULL, *word;

	for (word = strtok_r(value, " \t\n\"'", &rest); word;
	     word = strtok_r(NULL, " \t\n\"'", &rest)) {
		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			if (!strcmp(known[i].distribution, word))
				return &known[i];
		}
	}
	return NULL;
}

const struct packages *packages_of(const char *path)
{
	const struct packages *itself = NULL, *like = NULL;
	FILE *file = fopen(path, "re");
	char line[1024];

	if (!file)
		return NULL;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "ID=", strlen("ID=")))
			itself = find(line + strlen("ID="));
		else if (!strncmp(line, "ID_LIKE=", strlen("ID_LIKE=")))
			like = find(line + strlen("ID_LIKE="));
	}
	fclose(file);
	return itself ? itself : like;
}
