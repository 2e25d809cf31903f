// SPDX-License-Identifier: GPL-2.0
/*
 * The program's part of words, by itself: the inline functions of libtwheel on
 * memory behind which there is no kernel, and whose every word promises to be
 * looked at in time. Pages of 4 KiB, as the words of a wheel are mapped.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include <twheel.h>

#include "bench.h"

/* All that the inline functions know of a handle, as long as they need no call. */
static struct twheel_shared shared;
static size_t size;

static uint32_t stores_open(uint32_t nr, enum use use)
{
	(void)use;
	size = nr * sizeof(*shared.words);
	shared.words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared.words == MAP_FAILED)
		die("no memory for words: %m");
	shared.mapped = nr;
	shared.capacity = nr;
	for (uint32_t id = 0; id < nr; id++)
		shared.words[id].promise = 1;
	return nr;
}

static void stores_close(void)
{
	munmap(shared.words, size);
}

static void stores_arm(const struct work *work, uint32_t nr)
{
	struct twheel *w = (struct twheel *)&shared;

	for (; nr; work++, nr--)
		twheel_arm(w, work->id, work->deadline);
}

static void stores_extend(const struct work *work, uint32_t nr)
{
	struct twheel *w = (struct twheel *)&shared;

	for (; nr; work++, nr--)
		twheel_extend_armed(w, work->id, work->deadline);
}

static void stores_cancel(const struct work *work, uint32_t nr)
{
	struct twheel *w = (struct twheel *)&shared;

	for (; nr; work++, nr--)
		twheel_cancel(w, work->id);
}

const struct peer peer_stores = {
	.name	= "words",
	.open	= stores_open,
	.arm	= stores_arm,
	.move	= stores_arm,
	.extend	= stores_extend,
	.cancel	= stores_cancel,
	.close	= stores_close,
};

/* By list of ids, all to the same deadline, as a daemon has it that reads the clock once. */

#define ROUND	1000000U	/* operations in a value */

#define LOOP(what, statement)						\
static void loop_##what(const uint32_t *ids, uint32_t nr, uint64_t deadline)	\
{									\
	struct twheel *w = (struct twheel *)&shared;			\
									\
	for (const uint32_t *end = ids + nr; ids < end; ids++)		\
		statement;						\
}

LOOP(extend_armed, twheel_extend_armed(w, *ids, deadline))
LOOP(extend, twheel_extend(w, *ids, deadline))
LOOP(arm, twheel_arm(w, *ids, deadline))
LOOP(cancel, ((void)deadline, twheel_cancel(w, *ids)))
LOOP(cancel_tell, ((void)deadline, twheel_cancel_tell(w, *ids)))

static const struct {
	const char	*name;
	void		(*loop)(const uint32_t *ids, uint32_t nr, uint64_t deadline);
} loops[] = {
	{ "extend, known to be armed",	loop_extend_armed },
	{ "extend",			loop_extend },
	{ "arm or shorten",		loop_arm },
	{ "cancel",			loop_cancel },
	{ "cancel and tell",		loop_cancel_tell },
};

static void stores_of(uint32_t nr, unsigned int runs)
{
	uint32_t *ids = calloc(nr, sizeof(*ids));
	struct work *order = work_alloc(nr);

	if (!ids)
		die("no memory for ids");
	work_shuffle(order, nr);
	for (uint32_t i = 0; i < nr; i++)
		ids[i] = order[i].id;
	free(order);
	stores_open(nr, USE_OPS);
	for (unsigned int run = 0; run < runs; run++) {
		for (size_t l = 0; l < sizeof(loops) / sizeof(*loops); l++) {
			uint64_t start, deadline = 2 * NSEC;
			uint32_t rounds = (ROUND + nr - 1) / nr;

			/* Each is armed, and in the cache if there is room. */
			loop_arm(ids, nr, NSEC);
			start = now_ns();
			for (uint32_t i = 0; i < rounds; i++)
				loops[l].loop(ids, nr, deadline++);
			sample("stores", loops[l].name, "words", nr, "ns",
			       (double)(now_ns() - start) / rounds / nr);
		}
	}
	stores_close();
	free(ids);
}

void bench_stores(unsigned int runs)
{
	static const uint32_t counts[] = { 1000, 100000, 1000000 };

	pin(true);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		progress("stores to %u words: %u runs", counts[i], runs);
		stores_of(counts[i], runs);
	}
	pin(false);
}
