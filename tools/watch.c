// SPDX-License-Identifier: GPL-2.0
/*
 * twheel watch: what a wheel does, interval by interval.
 *
 * It gets only counters and never reads, so it takes no events.  It duplicates the
 * wheel's descriptor for each look and closes the copy at once, so watching does not
 * keep the wheel alive.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "duration.h"
#include "info.h"
#include "json.h"
#include "options.h"
#include "output.h"
#include "stats.h"
#include "target.h"
#include "verbs.h"

/* Lines from one head to the next. */
#define PAGE	20

struct watch {
	struct target_options target;
	bool json;
	uint64_t interval;
	uint64_t count;
};

struct look {
	uint64_t time;
	uint64_t number;
	struct twheel_stats stats;
};

enum { KEY_JSON = 256 };

static const struct argp_option argp_options[] = {
	{ "interval", 'i', "DURATION", 0, "time from one line to the next (1s)", 0 },
	{ "count", 'n', "N", 0, "end after N lines; by default, when the wheel is closed", 0 },
	{ "json", KEY_JSON, NULL, 0, "print JSON Lines", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct watch *watch = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &watch->target;
		return 0;
	case 'i':
		watch->interval = option_duration("--interval", arg);
		if (watch->interval < 10 * NSEC_PER_MSEC)
			usage_error("--interval %s: give at least 10ms", arg);
		return 0;
	case 'n':
		watch->count = option_number("--count", arg, 1, UINT64_MAX);
		return 0;
	case KEY_JSON:
		watch->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int take_look(const struct target *target, struct look *look)
{
	int wheel = target_open(target), err;
	struct info info = {};

	if (wheel < 0)
		return wheel;
	err = wheel_stats(wheel, &look->stats);
	look->time = now();
	info_read(getpid(), wheel, &info);
	look->number = info.number;
	close(wheel);
	return err;
}

/* Rounded, so that a slow second does not show as 999. */
static uint64_t rate(uint64_t before, uint64_t after, uint64_t ns)
{
	/* NOLINTNEXTLINE(bugprone-incorrect-roundings): it is not negative */
	return ((after - before) * (double)NSEC_PER_SEC) / ns + 0.5;
}

#define RATE(field)	rate(before->stats.field, after->stats.field, after->time - before->time)

static void print_json(const struct look *before, const struct look *after)
{
	struct json_object *line = stats_json(&after->stats);

	json_number(line, "time_ns", after->time);
	json_number(line, "interval_ns", after->time - before->time);
	json_number(line, "arms_per_s", RATE(arms));
	json_number(line, "cancels_per_s", RATE(cancels));
	json_number(line, "fired_per_s", RATE(fired));
	json_number(line, "delivered_per_s", RATE(delivered));
	json_number(line, "interrupts_per_s", RATE(interrupts));
	json_line(line);
}

static void print_head(void)
{
	printf("%s%10s %10s %10s %10s %10s %12s %10s%s\n", colour(stdout, BOLD), "PENDING",
	       "EXPIRED", "ARMS/s", "FIRED/s", "READ/s", "INTERRUPTS/s", "MEMORY",
	       colour(stdout, PLAIN));
}

static void print_line(const struct look *before, const struct look *after)
{
	char text[7][NUMBER_LEN];

	printf("%10s %10s %10s %10s %10s %12s %10s\n",
	       number(text[0], after->stats.pending), number(text[1], after->stats.expired),
	       number(text[2], RATE(arms)), number(text[3], RATE(fired)),
	       number(text[4], RATE(delivered)), number(text[5], RATE(interrupts)),
	       bytes(text[6], after->stats.memory));
}

/* Wait for the next look; true if the process has ended meanwhile. */
static bool ended_before(int pidfd, uint64_t next)
{
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };
	struct timespec timeout;
	uint64_t time;
	int ready;

	do {
		time = now();
		time = next > time ? next - time : 0;
		timeout.tv_sec = time / NSEC_PER_SEC;
		timeout.tv_nsec = time % NSEC_PER_SEC;
		ready = ppoll(&pfd, 1, &timeout, NULL);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

static void watch_wheel(const struct watch *watch, const struct target *target)
{
	/* ppoll() passes over a negative one: an inherited wheel has no process. */
	int pidfd = target->pid ? (int)syscall(SYS_pidfd_open, target->pid, 0) : -1;
	struct look before, after;
	uint64_t lines, next;

	close(target_open_or_fail(target));
	if (take_look(target, &before))
		fail("the wheel was closed");
	next = before.time;
	for (lines = 0; !watch->count || lines < watch->count; lines++) {
		next += watch->interval;
		if (ended_before(pidfd, next) || take_look(target, &after) ||
		    after.number != before.number)
			break;
		if (!watch->json && lines % PAGE == 0)
			print_head();
		if (watch->json)
			print_json(&before, &after);
		else
			print_line(&before, &after);
		output_check();
		before = after;
	}
	if (!watch->json && (!watch->count || lines < watch->count))
		printf("%sthe wheel was closed%s\n", colour(stdout, DIM), colour(stdout, PLAIN));
	if (pidfd >= 0)
		close(pidfd);
}

int verb_watch(int argc, char **argv)
{
	static const struct argp_child children[] = { { .argp = &target_argp }, { 0 } };
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .children = children,
		.doc = "Print what a wheel does, a line per interval, without taking its events."
		       "\vWithout --pid or --fd there must be exactly one open wheel.\n"
		       "\n"
		       "Example: two lines about the wheel of process 1234\n"
		       "  twheel watch --pid 1234 --count 2",
	};
	struct watch watch = { .target = TARGET_OPTIONS_INIT, .interval = NSEC_PER_SEC };
	struct target target;

	options_parse(&argp, argc, argv, 0, &watch);
	target = target_resolve(&watch.target);
	watch_wheel(&watch, &target);
	return 0;
}
