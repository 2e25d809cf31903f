// SPDX-License-Identifier: GPL-2.0
/* Wheels of our own, tried: is there room for what programs ask for, and does a timer come? */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "device.h"
#include "doctor/doctor.h"
#include "duration.h"
#include "output.h"
#include "target.h"

#define PARAMETERS	"/sys/module/twheel/parameters"
#define CGROUPS		"/sys/fs/cgroup"

void check_features(struct facts *facts, struct finding *finding)
{
	if (!facts->wheel)
		return;
	if (facts->features & TWHEEL_FEATURE_WORDS)
		say(finding, GOOD, "words (a change is a store)");
	else
		say(finding, GOOD, "no words here, so each change is a call");
}

/* Limits */

/* What programs ask for; each can reach one limit more than the one before. */
static const struct trial {
	const char *parameter;
	const char *what;
	/* A limit below this is of no use. */
	uint64_t least;
	uint64_t needs;
	struct twheel_setup setup;
} trials[] = {
	{ "max_user_wheels", "wheels", 16, 0, {} },
	{ "max_user_timers", "timers", TWHEEL_DEFAULT_CAPACITY,
	  TWHEEL_FEATURE_WORDS, { .flags = TWHEEL_SETUP_WORDS } },
};

static int attempt(const struct trial *trial)
{
	struct twheel_setup setup = trial->setup;
	int wheel = wheel_open(), err;

	if (wheel < 0)
		return wheel;
	err = wheel_setup(wheel, &setup);
	close(wheel);
	return err;
}

/* A file with a number in it; "max", of a limit, is none. */
static bool read_number(const char *folder, const char *name, uint64_t *value)
{
	char path[2 * LINE_LEN], text[LINE_LEN];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!read_line(path, text, sizeof(text)) || *text < '0' || *text > '9')
		return false;
	*value = strtoull(text, NULL, 10);
	return true;
}

static void type_raise(const struct facts *facts, struct finding *finding,
		       const struct trial *trial)
{
	uint64_t limit = 0;

	read_number(PARAMETERS, trial->parameter, &limit);
	limit = 2 * limit < trial->least ? trial->least : 2 * limit;
	append(finding->text, sizeof(finding->text),
	       "; for good: options twheel %s=%llu in /etc/modprobe.d/twheel.conf",
	       trial->parameter, (unsigned long long)limit);
	type(finding, "echo %llu | %stee " PARAMETERS "/%s", (unsigned long long)limit,
	     facts->sudo, trial->parameter);
}

/* The nearest cgroup whose memory is nearly used up; false: none that is seen. */
static bool find_full_cgroup(char *path, size_t size, uint64_t *max)
{
	/* A refused request was smaller than this. */
	const uint64_t room = 16 << 20;
	char cgroup[LINE_LEN];
	uint64_t current;

	if (!cgroup_of(getpid(), cgroup, sizeof(cgroup)))
		return false;
	*path = 0;
	append(path, size, CGROUPS "%s", cgroup);
	while (strlen(path) > strlen(CGROUPS)) {
		if (read_number(path, "memory.max", max) &&
		    read_number(path, "memory.current", &current) && current + room > *max)
			return true;
		*strrchr(path, '/') = 0;
	}
	return false;
}

static void explain_memory(const struct facts *facts, struct finding *finding)
{
	char path[LINE_LEN + sizeof(CGROUPS)], word[TEXT_LEN], text[NUMBER_LEN];
	uint64_t max;

	if (!find_full_cgroup(path, sizeof(path), &max)) {
		say(finding, PROBLEM, "there is no memory for a wheel of %u timers",
		    TWHEEL_DEFAULT_CAPACITY);
		type(finding, "free -m");
		return;
	}
	say(finding, PROBLEM, "the cgroup has no memory for a wheel of %u timers: its limit is %s",
	    TWHEEL_DEFAULT_CAPACITY, bytes(text, max));
	if (quote(word, sizeof(word), path))
		type(finding, "echo %llu | %stee %s/memory.max", 2 * (unsigned long long)max,
		     facts->sudo, word);
}

/* Wheels in processes of this user, as far as they can be seen. */
static size_t own_wheels(void)
{
	size_t nr, denied, i, own = 0;
	struct target *targets = target_scan(0, &nr, &denied);
	char path[64];
	struct stat st;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "/proc/%d", targets[i].pid);
		own += !stat(path, &st) && st.st_uid == geteuid();
	}
	free(targets);
	return own;
}

void check_limits(struct facts *facts, struct finding *finding)
{
	char own[NUMBER_LEN], most[NUMBER_LEN];
	uint64_t max = 0;
	size_t wheels, i;
	int err = 0;

	if (!facts->wheel)
		return;
	for (i = 0; i < ARRAY_SIZE(trials) && !err; i++) {
		if ((trials[i].needs & facts->features) == trials[i].needs)
			err = attempt(&trials[i]);
	}
	if (err == -EDQUOT) {
		say(finding, PROBLEM, "this user has reached the limit on %s", trials[i - 1].what);
		type_raise(facts, finding, &trials[i - 1]);
		return;
	}
	if (err == -ENOMEM) {
		explain_memory(facts, finding);
		return;
	}
	if (err) {
		say(finding, PROBLEM, "%s", wheel_explain(err));
		return;
	}
	wheels = own_wheels();
	read_number(PARAMETERS, "max_user_wheels", &max);
	number(own, wheels);
	number(most, max);
	if (max && wheels >= max - max / 10) {
		say(finding, PROBLEM, "this user has %s wheels and may have %s", own, most);
		type_raise(facts, finding, &trials[0]);
	} else {
		say(finding, GOOD, "room for wheel and words; %s of %s wheels in use", own, most);
	}
}

/* A timer */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* Return 0, or the reason why no event came; -ETIME: the wait timed out. */
static int await(int wheel, struct twheel_event *event)
{
	struct twheel_op op = {
		.opcode = TWHEEL_OP_ARM,
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = DUE_MS * NSEC_PER_MSEC,
	};
	struct pollfd pollfd = { .fd = wheel, .events = POLLIN };
	size_t done;
	int err;

	/* A wheel that polls as readable without an event would block for ever. */
	fcntl(wheel, F_SETFL, O_NONBLOCK);
	err = wheel_submit(wheel, &op, 1, &done);

	if (err || op.result)
		return err ? err : op.result;
	if (poll(&pollfd, 1, PATIENCE_MS) != 1)
		return -ETIME;
	err = wheel_read(wheel, event, 1);
	if (err == 1)
		return 0;
	return err == -EAGAIN ? -ETIME : err;
}

void check_timer(struct facts *facts, struct finding *finding)
{
	struct twheel_event event;
	char text[DURATION_LEN];
	uint64_t read_at;
	int wheel, err;

	if (!facts->wheel)
		return;
	wheel = wheel_open();
	err = wheel < 0 ? wheel : await(wheel, &event);
	read_at = now();
	if (wheel >= 0)
		close(wheel);
	if (err == -ETIME)
		say(finding, PROBLEM,
		    "a timer of %dms has not come after %dms: please report it", DUE_MS,
		    PATIENCE_MS);
	else if (err)
		say(finding, PROBLEM, "%s", wheel_explain(err));
	else if (read_at < event.deadline)
		say(finding, PROBLEM, "a timer of %dms came %s EARLY: please report it", DUE_MS,
		    duration_short(text, event.deadline - read_at));
	else
		say(finding, GOOD,
		    "a timer of %dms came %s late", DUE_MS,
		    duration_short(text, read_at - event.deadline));
	facts->works = finding->verdict == GOOD;
}
