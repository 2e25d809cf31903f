// SPDX-License-Identifier: GPL-2.0
/* The running kernel: can the module be built for it, and be loaded? */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "duration.h"

/* The oldest kernel that the module is built for and tested with. */
#define OLDEST_MAJOR	6
#define OLDEST_MINOR	1

static bool is_too_old(const char *release)
{
	unsigned int major = 0, minor = 0;

	return sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR));
}

/* CONFIG_HIGH_RES_TIMERS and highres=, as they have turned out. */
static uint64_t resolution(void)
{
	struct timespec ts = {};

	clock_getres(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void check_kernel(struct facts *facts, struct finding *finding)
{
	char text[DURATION_LEN], disabled[LINE_LEN];
	uint64_t ns = resolution();

	facts->refused = !facts->loaded;
	if (ns > 1) {
		say(finding, PROBLEM,
		    "%s has timers of %s, but twheel needs CONFIG_HIGH_RES_TIMERS: boot without "
		    "highres=off, or another kernel",
		    facts->release, duration_short(text, ns));
	} else if (facts->loaded) {
		say(finding, GOOD, "%s", facts->release);
	} else if (is_too_old(facts->release)) {
		say(finding, PROBLEM,
		    "%s is older than %d.%d, the oldest that twheel supports: boot a newer one",
		    facts->release, OLDEST_MAJOR, OLDEST_MINOR);
	} else if (access("/proc/modules", F_OK)) {
		say(finding, PROBLEM,
		    "%s was built without loadable modules (CONFIG_MODULES): boot another kernel%s",
		    facts->release, *facts->container ? " on this container's host" : "");
	} else if (read_line("/proc/sys/kernel/modules_disabled", disabled, sizeof(disabled)) &&
		   strcmp(disabled, "0")) {
		say(finding, PROBLEM,
		    "%s loads no more modules until the next reboot (kernel.modules_disabled)",
		    facts->release);
		type(finding, "%sreboot", facts->sudo);
	} else {
		facts->refused = false;
		say(finding, GOOD, "%s", facts->release);
	}
}

/* "cloud-amd64" of 6.1.0-56-cloud-amd64: behind the version and, on Debian, its ABI. */
static const char *flavour(const char *release)
{
	const char *rest = strchr(release, '-');

	while (rest && rest[1] >= '0' && rest[1] <= '9')
		rest = strchr(rest + 1, '-');
	return rest ? rest + 1 : release;
}

void check_headers(struct facts *facts, struct finding *finding)
{
	char path[2 * LINE_LEN];

	/* A module that is built needs no headers, and a container's kernel is the host's. */
	if (facts->loaded || *facts->file.path || *facts->container)
		return;
	snprintf(path, sizeof(path), "/lib/modules/%s/build", facts->release);
	append(path, sizeof(path), "/Makefile");
	if (!access(path, F_OK)) {
		say(finding, GOOD, "of %s", facts->release);
		return;
	}
	say(finding, PROBLEM, "none for %s, so the module can't be built", facts->release);
	if (!facts->debian) {
		append(finding->text, sizeof(finding->text),
		       ": install what your distribution calls kernel-devel or headers");
		return;
	}
	append(finding->text, sizeof(finding->text),
	       " (linux-headers-%s brings those of each newer kernel)", flavour(facts->release));
	type(finding, "%sapt install linux-headers-%s", facts->sudo, facts->release);
}
