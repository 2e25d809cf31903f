// SPDX-License-Identifier: GPL-2.0
/*
 * Words with the kernel's part in the program: the module's own timers.c and
 * words.c, so that the cost of a look can be measured natively. Words have pages of
 * 4 KiB, as they are mapped; records have huge ones, as the kernel's memory has.
 */
#include <sys/mman.h>

#include <twheel.h>

#include "../compat/user.h"

static void *arena_alloc(size_t size);

#define kzalloc(size, gfp)		arena_alloc(size)
#define alloc_pages_exact(size, gfp)	arena_alloc(size)
#define kfree(p)			((void)(p))
#define free_pages_exact(p, size)	((void)(p), (void)(size))
#include "../unit.c"
#include "../tests/owner.h"

#include "bench.h"

#define TICK		1000000ULL
#define LEVELS		4U
#define HUGE_PAGE	(2UL << 20)

static struct timers timers;
static struct twheel_shared shared;
static uint64_t handled;
static u64 turned;

static struct arena {
	char	*start;
	char	*next;
	size_t	size;
} records, words, *arena;

static void arena_open(struct arena *a, size_t size, int advice)
{
	size = (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	a->start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a->start == MAP_FAILED)
		die("no memory for the kernel's part: %m");
	madvise(a->start, size, advice);
	memset(a->start, 0, size);
	a->next = a->start;
	a->size = size;
}

/* In pages, one behind the other. */
static void *arena_alloc(size_t size)
{
	void *p = arena->next;

	arena->next += DIV_ROUND_UP(size, PAGE_SIZE) * PAGE_SIZE;
	assert(arena->next <= arena->start + arena->size);
	return p;
}

static uint32_t looks_open(uint32_t nr, enum use use)
{
	u32 chunks = DIV_ROUND_UP(nr, WHEEL_CHUNK_TIMERS);

	(void)use;
	turned = now_ns();
	arena_open(&records, 2 * chunks * PAGE_SIZE + HUGE_PAGE, MADV_HUGEPAGE);
	arena_open(&words, (size_t)DIV_ROUND_UP(nr, WORDS_PER_PAGE) * PAGE_SIZE, MADV_NOHUGEPAGE);
	timers_setup(&timers, nr, 0, 64, TICK, turned);
	arena = &words;
	for (u32 id = 0; id < nr; id += WORDS_PER_PAGE)
		if (!owner_add_words(&timers, id))
			die("no memory for words");
	arena = &records;
	if (!owner_add_chunks(&timers.wheel) || !owner_add_levels(&timers.wheel, LEVELS))
		die("no memory for a wheel");
	shared = (struct twheel_shared){
		.words = timers.word[0], .mapped = nr, .capacity = nr,
	};
	handled = 0;
	return nr;
}

static void looks_close(void)
{
	kvfree(timers.word);
	kvfree(timers.wheel.timer);
	munmap(records.start, records.size);
	munmap(words.start, words.size);
}

/* With the call that twheel_arm() makes, but not through the kernel's door. */
static void looks_arm(const struct work *work, uint32_t nr)
{
	for (; nr; work++, nr--) {
		struct twheel_word *word = &shared.words[work->id];
		struct twheel_op op = { .id = work->id, .flags = TWHEEL_ARM_STORED };

		__atomic_exchange_n(&word->deadline, work->deadline, __ATOMIC_SEQ_CST);
		if (twheel_uncovered(work->deadline, word->promise) &&
		    owner_arm(&timers, &op, turned))
			die("an arm of timer %u failed", work->id);
	}
}

static void looks_extend(const struct work *work, uint32_t nr)
{
	struct twheel *w = (struct twheel *)&shared;

	for (; nr; work++, nr--)
		twheel_extend_armed(w, work->id, work->deadline);
}

static void looks_cancel(const struct work *work, uint32_t nr)
{
	struct twheel *w = (struct twheel *)&shared;

	for (; nr; work++, nr--)
		twheel_cancel(w, work->id);
}

static uint32_t looks_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	struct twheel_event events[TIMERS_CLAIM_MAX];
	unsigned int taken = 0;

	turned = now;
	handled += owner_advance(&timers, now);
	while (taken < nr) {
		unsigned int got = timers_claim(&timers, events, min(nr - taken, TIMERS_CLAIM_MAX),
						now);

		if (!got)
			break;
		if (owner_commit(&timers, events, got, timers.claims, now) != got)
			die("a stale event");
		for (unsigned int i = 0; i < got; i++)
			ids[taken++] = events[i].id;
	}
	return taken;
}

/* Timers that came out of slots, whatever became of them. */
static uint64_t looks_looks(void)
{
	return handled;
}

const struct peer peer_looks = {
	.name	= "words",
	.open	= looks_open,
	.arm	= looks_arm,
	.move	= looks_arm,
	.extend	= looks_extend,
	.cancel	= looks_cancel,
	.take	= looks_take,
	.looks	= looks_looks,
	.close	= looks_close,
};
