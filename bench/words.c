// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel by words, as libtwheel has it: stores, and a call where the kernel
 * would look too late. Calls are collected, and submitted when there are enough, or
 * before sleeping.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <twheel.h>

#include "bench.h"

static _Thread_local struct twheel *wheel;
static _Thread_local struct twheel_event *events;

static void must(const char *what, int ret)
{
	if (ret < 0)
		die("%s: %s", what, strerror(-ret));
}

static uint32_t words_open(uint32_t nr, enum use use)
{
	const struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_BATCH,
		.capacity = nr,
	};

	must("twheel_open", twheel_open(&wheel, &options));
	if (!(twheel_has(wheel) & TWHEEL_HAS_WORDS))
		die("this kernel's twheel has no words");
	if (use == USE_DELIVERY) {
		events = calloc(TAKE_MAX, sizeof(*events));
		if (!events)
			die("no memory for events");
	}
	return nr;
}

static void words_close(void)
{
	twheel_close(wheel);
	free(events);
	events = NULL;
}

static void words_arm(const struct work *work, uint32_t nr)
{
	struct twheel *w = wheel;

	for (; nr; work++, nr--)
		must("twheel_arm", twheel_arm(w, work->id, work->deadline));
	must("twheel_flush", twheel_flush(w));
}

/* Later, by who alone has to do with these timers. */
static void words_extend(const struct work *work, uint32_t nr)
{
	struct twheel *w = wheel;

	for (; nr; work++, nr--)
		must("twheel_extend_armed", twheel_extend_armed(w, work->id, work->deadline));
}

static void words_cancel(const struct work *work, uint32_t nr)
{
	struct twheel *w = wheel;

	for (; nr; work++, nr--)
		must("twheel_cancel", twheel_cancel(w, work->id));
}

static int words_ready(void)
{
	must("twheel_flush", twheel_flush(wheel));
	return twheel_fd(wheel);
}

static uint32_t take_words(uint32_t *ids, uint32_t nr, uint64_t now)
{
	int got = twheel_take(wheel, events, nr < TAKE_MAX ? nr : TAKE_MAX);

	(void)now;
	must("twheel_take", got);
	for (int i = 0; i < got; i++)
		ids[i] = events[i].id;
	return got;
}

const struct peer peer_words = {
	.name	= "words",
	.grows	= true,
	.open	= words_open,
	.arm	= words_arm,
	.move	= words_arm,
	.extend	= words_extend,
	.cancel	= words_cancel,
	.ready	= words_ready,
	.take	= take_words,
	.close	= words_close,
};
