// SPDX-License-Identifier: GPL-2.0
/*
 * Words for a million ids: what opening them takes, and what it leaves for later. SETUP allocates
 * their memory; the first store to each page of words is a fault, which maps it.
 */
#include <stdlib.h>

#include "bench.h"

#define MILLION		1000000U
#define IDS_PER_PAGE	256U

static void tell(const char *name, uint64_t start)
{
	sample("opening", name, "words", MILLION, "ms", (now_ns() - start) / 1e6);
}

void bench_opening(unsigned int runs)
{
	uint32_t pages = (MILLION + IDS_PER_PAGE - 1) / IDS_PER_PAGE;
	struct work *work = work_alloc(pages);

	for (uint32_t i = 0; i < pages; i++)
		work[i].id = i * IDS_PER_PAGE;
	for (unsigned int run = 0; run < runs; run++) {
		uint64_t start = now_ns();

		progress("words for a million ids: run %u of %u", run + 1, runs);
		peer_words.open(MILLION, USE_OPS);
		tell("opening words", start);
		start = now_ns();
		peer_words.cancel(work, pages);
		tell("the first store to each of their pages", start);
		start = now_ns();
		peer_words.cancel(work, pages);
		tell("another store to each of their pages", start);
		peer_words.close();
	}
	free(work);
}
