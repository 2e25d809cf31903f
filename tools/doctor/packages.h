/* SPDX-License-Identifier: GPL-2.0 */
/* How packages are installed here. */
#ifndef TWHEEL_DOCTOR_PACKAGES_H
#define TWHEEL_DOCTOR_PACKAGES_H

/**
 * struct packages - how packages of a distribution, and of those like it, are installed
 * @distribution: its ID in os-release
 * @install: the command, which packages follow
 * @library: those that the library and the tools are in; the module is in twheel-dkms everywhere
 * @headers: what the name of the headers begins with, if the kernel's release follows; or NULL
 */
struct packages {
	const char *distribution;
	const char *install;
	const char *library;
	const char *headers;
};

/* By os-release in that place; NULL: it is none of those that we have packages for. */
const struct packages *packages_of(const char *path);

#endif
