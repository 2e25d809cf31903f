// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <time.h>

#include "modes.h"

#define FALLBACK	TWHEEL_OPEN_FALLBACK
#define ONE_THREAD	TWHEEL_OPEN_ONE_THREAD

const struct mode modes[MODES] = {
	{ "words", WORDS, 0, TWHEEL_HAS_WORDS },
	{ "words, batch", WORDS, TWHEEL_OPEN_BATCH, TWHEEL_HAS_WORDS },
	{ "calls", 0, TWHEEL_OPEN_BATCH, 0 },
	{ "calls by choice", WORDS, TWHEEL_OPEN_NO_WORDS, 0 },
	{ "fallback", WORDS, FALLBACK, TWHEEL_HAS_FALLBACK | TWHEEL_HAS_WORDS },
	{ "fallback, batch", 0, FALLBACK | TWHEEL_OPEN_BATCH,
	  TWHEEL_HAS_FALLBACK | TWHEEL_HAS_WORDS },
	{ "fallback, calls", 0, FALLBACK | TWHEEL_OPEN_NO_WORDS, TWHEEL_HAS_FALLBACK },
	{ "words, batch, one thread", WORDS, TWHEEL_OPEN_BATCH | ONE_THREAD, TWHEEL_HAS_WORDS },
	{ "fallback, one thread", 0, FALLBACK | ONE_THREAD,
	  TWHEEL_HAS_FALLBACK | TWHEEL_HAS_WORDS },
	{ "fallback, batch, one thread", 0, FALLBACK | TWHEEL_OPEN_BATCH | ONE_THREAD,
	  TWHEEL_HAS_FALLBACK | TWHEEL_HAS_WORDS },
};

struct twheel *open_again(const struct mode *mode, int fd)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_FD | mode->flags,
		.fd = fd,
	};
	struct twheel *w;
	int ret = twheel_open(&w, &options);

	if (!CHECK(ret == 0))
		exit(1);
	return w;
}

static struct twheel *boot_by(const struct mode *mode, uint32_t flags, uint32_t clock)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = mode->flags | flags,
		.clock = clock,
		.tick = in_process(mode) ? 1 : 0,
		.capacity = CAPACITY,
	};
	struct twheel *w;
	int ret;

	kernel_boot(mode->features);
	ret = twheel_open(&w, &options);
	if (!CHECK(ret == 0))
		exit(1);
	return w;
}

struct twheel *boot(const struct mode *mode)
{
	return boot_by(mode, 0, 0);
}

struct twheel *boot_realtime(const struct mode *mode)
{
	return boot_by(mode, TWHEEL_OPEN_CLOCK, CLOCK_REALTIME);
}

void expect(struct twheel *w, uint32_t id, uint64_t deadline)
{
	struct twheel_event event = { .id = ~0U };

	CHECK(twheel_wait(w, &event, 1, -1) == 1);
	CHECK(event.id == id);
	CHECK(event.deadline == deadline);
	CHECK(kernel_now() >= deadline);
	CHECK(event.fired >= deadline && event.fired <= kernel_now());
}

void expect_none(struct twheel *w, uint64_t ns)
{
	struct twheel_event event;
	uint64_t end = kernel_now() + ns;

	CHECK(twheel_wait(w, &event, 1, (int64_t)ns) == 0);
	CHECK(kernel_now() == end);
}
