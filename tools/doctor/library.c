// SPDX-License-Identifier: GPL-2.0
/*
 * libtwheel, as a program finds it: this one is not linked with it, so it asks the loader.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <twheel.h>

#include "doctor/doctor.h"
#include "duration.h"

#define SONAME	"libtwheel.so.0"
#define USUAL	"/usr/local/lib"

#define SYMBOL(library, name)	((typeof(name) *)dlsym(library, #name))

static const char *path_of(void *library)
{
	struct link_map *map;

	return dlinfo(library, RTLD_DI_LINKMAP, &map) ? SONAME : map->l_name;
}

/* How this program got here, and so its library. */
static void type_install(const struct facts *facts, struct finding *finding)
{
	if (!strncmp(facts->program, "/usr/bin/", strlen("/usr/bin/")))
		type(finding, facts->debian ? "%sapt install libtwheel0 twheel-tools" :
					      "%sdnf install libtwheel twheel-tools", facts->sudo);
	else
		type(finding, "%smake install", facts->sudo);
}

/* Is it where make install puts it: next to this program's folder, or in the default one? */
static bool find_unknown(const struct facts *facts, char *folder)
{
	const char *slash = strrchr(facts->program, '/');
	char path[PATH_MAX + sizeof("/" SONAME)];

	snprintf(path, sizeof(path), "%.*s/../lib", slash ? (int)(slash - facts->program) : 0,
		 facts->program);
	if (realpath(path, folder)) {
		snprintf(path, sizeof(path), "%s/" SONAME, folder);
		if (!access(path, R_OK))
			return true;
	}
	strcpy(folder, USUAL);
	return !access(USUAL "/" SONAME, R_OK);
}

/* Can only root change the file at this path, which has no symbolic links? */
static bool is_roots(char *path)
{
	struct stat st;
	char *slash;

	do {
		slash = strrchr(path, '/');
		if (stat(path, &st) || st.st_uid || st.st_mode & 0022)
			return false;
		/* Of the uppermost folder the slash is the name. */
		slash[slash == path && slash[1]] = 0;
	} while (*path);
	return true;
}

/* May programs that root starts take libraries from a folder, and this library? */
static bool is_trusted(const char *folder)
{
	char path[PATH_MAX + sizeof("/" SONAME)], library[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" SONAME, folder);
	if (!realpath(path, library))
		return false;
	snprintf(path, sizeof(path), "%s", folder);
	return is_roots(path) && is_roots(library);
}

/* It is in a folder that the loader does not look into. */
static void explain_unknown(const struct facts *facts, struct finding *finding,
			    const char *folder)
{
	char word[TEXT_LEN];
	bool quoted = quote(word, sizeof(word), folder);

	say(finding, PROBLEM, SONAME " is in %s, where the loader does not look", folder);
	if (!strcmp(folder, USUAL)) {
		/* Debian's loader is configured for this folder, but not for any other. */
		type(finding, "%sldconfig", facts->sudo);
	} else if (!is_trusted(folder)) {
		append(finding->text, sizeof(finding->text),
		       "; users other than root can change it, so use it only for your own "
		       "programs, like this or by an rpath");
		if (quoted)
			type(finding, "export LD_LIBRARY_PATH=%s", word);
	} else if (quoted) {
		type(finding, "echo %s | %stee /etc/ld.so.conf.d/twheel.conf && %sldconfig", word,
		     facts->sudo, facts->sudo);
	}
}

void check_library(struct facts *facts, struct finding *finding)
{
	typeof(twheel_version) *version = NULL;
	char folder[PATH_MAX];

	facts->library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (facts->library)
		version = SYMBOL(facts->library, twheel_version);
	if (version && !strcmp(version(), VERSION)) {
		say(finding, GOOD, "%s, %s", version(), path_of(facts->library));
	} else if (version) {
		say(finding, PROBLEM,
		    "%s is %s, but this program is %s: install the same release of both",
		    path_of(facts->library), version(), VERSION);
		type_install(facts, finding);
	} else if (find_unknown(facts, folder)) {
		explain_unknown(facts, finding, folder);
	} else {
		say(finding, PROBLEM,
		    SONAME " is not installed: programs that are linked with it do not start");
		type_install(facts, finding);
	}
}

/* A timer in a wheel of this process: 0, how late it came in @late, or a negative errno. */
static int try_fallback(void *library, uint64_t *late)
{
	const struct twheel_options options = {
		.size = sizeof(options), .flags = TWHEEL_OPEN_FALLBACK,
	};
	const struct twheel_arming arming = {
		.flags = TWHEEL_ARM_RELATIVE, .deadline = DUE_MS * NSEC_PER_MSEC,
	};
	struct twheel_event event = {};
	struct twheel *wheel = NULL;
	int ret = SYMBOL(library, twheel_open)(&wheel, &options);

	if (ret)
		return ret;
	ret = SYMBOL(library, twheel_arm_with)(wheel, 0, &arming);
	if (!ret)
		ret = SYMBOL(library, twheel_wait)(wheel, &event, 1, PATIENCE_MS * NSEC_PER_MSEC);
	if (ret == 1)
		*late = SYMBOL(library, twheel_now)(wheel) - event.deadline;
	SYMBOL(library, twheel_close)(wheel);
	return ret == 1 ? 0 : ret ? ret : -ETIME;
}

void check_fallback(struct facts *facts, struct finding *finding)
{
	typeof(twheel_open) *open;
	char text[DURATION_LEN];
	struct twheel *wheel;
	uint64_t late;
	int err;

	if (facts->works)
		return;
	if (!facts->library) {
		say(finding, UNKNOWN,
		    "without the device programs use libtwheel, which is not here to be tried");
		return;
	}
	err = try_fallback(facts->library, &late);
	if (err) {
		say(finding, PROBLEM, "libtwheel can make no wheel without the device either: %s",
		    strerror(-err));
		return;
	}
	/* Without that flag a program gets a fallback only if there is no device at all. */
	open = SYMBOL(facts->library, twheel_open);
	err = open(&wheel, NULL);
	if (!err)
		SYMBOL(facts->library, twheel_close)(wheel);
	duration_short(text, late);
	if (err)
		say(finding, GOOD,
		    "programs with TWHEEL_OPEN_FALLBACK have a wheel in their process (%s late); "
		    "others fail: %s",
		    text, strerror(-err));
	else
		say(finding, GOOD,
		    "meanwhile programs with libtwheel have a wheel in their process: a timer came "
		    "%s late",
		    text);
}
