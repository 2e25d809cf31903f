// SPDX-License-Identifier: GPL-2.0
/* Which command installs packages where os-release says this or that.  TAP. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "doctor/packages.h"

static const struct {
	const char *release;
	const char *install;
} told[] = {
	{ "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n", "apt install" },
	{ "NAME=Ubuntu\nID=ubuntu\nID_LIKE=debian\n", "apt install" },
	{ "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "apt install" },
	{ "ID=fedora\n", "dnf install" },
	{ "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install" },
	{ "NAME=\"Arch Linux\"\nID=arch\nBUILD_ID=rolling\n", "pacman -S" },
	{ "ID_LIKE='arch'\nID=manjaro\n", "pacman -S" },
	{ "ID_LIKE=debian\nID=arch\n", "pacman -S" },
	{ "ID=opensuse-leap\nID_LIKE=\"suse opensuse\"\n", NULL },
	{ "ID=alpine\n", NULL },
	{ "VARIANT_ID=arch\nHOME_ID_LIKE=debian\nID=archaic\n", NULL },
	{ "ID=\nID_LIKE=\n\n=\n", NULL },
	{ "", NULL },
};

static bool is_right(const char *path, size_t i)
{
	const struct packages *packages;
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fputs(told[i].release, file);
	fclose(file);
	packages = packages_of(path);
	return packages ? told[i].install && !strcmp(packages->install, told[i].install) :
			  !told[i].install;
}

int main(void)
{
	char path[] = "/tmp/test-packages-XXXXXX";
	int fd = mkstemp(path), failed = 0;
	size_t i;

	if (fd < 0)
		return 1;
	close(fd);
	for (i = 0; i < ARRAY_SIZE(told); i++) {
		bool right = is_right(path, i);

		failed |= !right;
		printf("%sok %zu - %.*s: %s\n", right ? "" : "not ", i + 1,
		       (int)strcspn(told[i].release, "\n"), told[i].release,
		       told[i].install ? told[i].install : "no command");
	}
	unlink(path);
	if (packages_of(path)) {
		printf("not ");
		failed = 1;
	}
	printf("ok %zu - no such file: no command\n", i + 1);
	printf("1..%zu\n", i + 1);
	return failed;
}
