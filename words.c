// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's side of the words and of the event ring; a part of timers.c.
 * docs/words.md has the protocol, and why it loses nothing.
 *
 * With a word, a timer's deadline is the daemon's to store.  What timers.c keeps
 * as the deadline is then the promise that stands in @filed, as long as the
 * timer is filed; and of an event, what the daemon's deadline must still be.
 * The kernel never reads @filed, nor what it wrote elsewhere in shared memory.
 *
 * The raise rule.  A promise may be lowered at any time.  To raise it, to later
 * or to none, the kernel stores it, has a full barrier, and reads the deadline
 * again, once: who stored one meanwhile, and has seen the lower promise, is
 * found now; who stores one from now on sees the raised promise, and calls.
 */
#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/compiler.h>
#endif

#include "words.h"

static_assert(sizeof(struct twheel_word) * WORDS_PER_PAGE == WORDS_PAGE);
static_assert(sizeof(struct twheel_entry) * WORDS_PER_PAGE == WORDS_PAGE);
static_assert(TWHEEL_RING_HEADER == WORDS_PAGE);

/* What the daemon wants; any number may stand there. */
static u64 word_deadline(const struct twheel_word *word)
{
	return min_t(u64, READ_ONCE(word->deadline), KTIME_MAX);
}

/* Take a deadline that was seen out of a word, unless it has changed. */
static bool word_take(struct twheel_word *word, u64 seen, u64 next)
{
	u64 deadline = READ_ONCE(word->deadline);

	return min_t(u64, deadline, KTIME_MAX) == seen &&
	       cmpxchg(&word->deadline, deadline, next) == deadline;
}

/* Cancel; returns what was wanted. */
static u64 word_cancel(struct twheel_word *word)
{
	return min_t(u64, xchg(&word->deadline, 0), KTIME_MAX);
}

/*
 * A timer has been taken out of its list for good: the raise rule, and then its
 * deadline goes, unless it is another one than was told.
 */
static bool word_drain(struct twheel_word *word, u64 told)
{
	WRITE_ONCE(word->filed, 0);
	/* Pairs with the daemon's exchange of the deadline before it loads filed. */
	smp_mb();
	return word_take(word, told, 0);
}

/* Have a timer that is in no list looked at for a deadline, and promise it. */
static void word_file(struct timers *ts, u32 id, struct twheel_word *word, u64 deadline)
{
	struct timer *t = timer_of(ts, id);
	u64 expiry = file_tick(ts, deadline, t->slack);

	t->deadline = deadline;
	wheel_file(&ts->wheel, id, expiry, wheel_level(&ts->wheel, expiry));
	WRITE_ONCE(word->filed, deadline);
}

/*
 * After a call has changed when a timer is looked at, perhaps to later: the raise
 * rule.
 */
static void word_promise(struct timers *ts, u32 id, struct twheel_word *word)
{
	struct wheel_node *node = wheel_node(&ts->wheel, id);
	u64 promise, deadline;

	promise = wheel_where(node) == WHEEL_FILED ? timer_of(ts, id)->deadline : 0;
	WRITE_ONCE(word->filed, promise);
	/* Pairs with the daemon's exchange of the deadline before it loads filed. */
	smp_mb();
	deadline = word_deadline(word);
	/* An event that waits covers its own deadline. */
	if (deadline == timer_of(ts, id)->deadline || !word_uncovered(deadline, promise))
		return;
	if (wheel_where(node) != WHEEL_OUT)
		wheel_unlink(&ts->wheel, id);
	word_file(ts, id, word, deadline);
}

/* An event is stale: go on with what is wanted instead, if that is anything. */
static void word_restart(struct timers *ts, u32 id, struct twheel_word *word)
{
	u64 deadline = word_deadline(word);

	if (deadline)
		word_file(ts, id, word, deadline);
	else
		timer_end(ts, id, TIMER_NONE);
}

/* The state of a timer with a word. */
static enum twheel_state word_state(const struct timers *ts, u32 id, u64 deadline)
{
	enum wheel_where where = wheel_where(wheel_node(&ts->wheel, id));
	const struct timer *t = timer_of(ts, id);

	if (!deadline)
		return t->deadline == TIMER_DELIVERED ? TWHEEL_STATE_DELIVERED
						      : TWHEEL_STATE_IDLE;
	if (where == WHEEL_FILED)
		return TWHEEL_STATE_PENDING;
	/* Its event waits, or a read holds it. */
	if (deadline == t->deadline)
		return TWHEEL_STATE_EXPIRED;
	/* In the ring, or only stored so far. */
	return expiry_of(ts, deadline, t->slack) + ts->shift <= ts->wheel.at
		? TWHEEL_STATE_EXPIRED : TWHEEL_STATE_PENDING;
}

/*
 * What the wheel asks of timers that come out of slots, if some have words or the
 * clock was set back.  One barrier for all of them.
 */
static void timers_look(struct wheel *w, struct wheel_batch *batch)
{
	struct timers *ts = container_of(w, struct timers, wheel);
	u64 raised = 0;

	static_assert(WHEEL_STEP <= 64);
	for (unsigned int i = 0; i < batch->nr; i++) {
		const struct twheel_word *word = word_of(ts, batch->id[i]);

		prefetch(timer_of(ts, batch->id[i]));
		if (word)
			prefetch(word);
	}
	for (unsigned int i = 0; i < batch->nr; i++) {
		struct twheel_word *word = word_of(ts, batch->id[i]);
		struct timer *t = timer_of(ts, batch->id[i]);
		u64 before = t->deadline, promised;

		if (word)
			t->deadline = word_deadline(word);
		batch->expiry[i] = t->deadline == TIMER_NONE ? WHEEL_NEVER :
				   expiry_of(ts, t->deadline, t->slack) + ts->shift;
		if (!word)
			continue;
		promised = batch->expiry[i] > w->at ? t->deadline : 0;
		WRITE_ONCE(word->filed, promised);
		if (word_uncovered(before, promised))
			raised |= BIT_ULL(i);
	}
	if (raised)
		/* Pairs with the daemon's exchange of the deadline before it loads filed. */
		smp_mb();
	for (; raised; raised &= raised - 1) {
		unsigned int i = __ffs(raised);
		u32 id = batch->id[i];
		struct twheel_word *word = word_of(ts, id);
		struct timer *t = timer_of(ts, id);
		u64 deadline = word_deadline(word);
		bool filed = batch->expiry[i] > w->at && batch->expiry[i] != WHEEL_NEVER;

		if (deadline != t->deadline) {
			if (word_uncovered(deadline, filed ? t->deadline : 0)) {
				/* Due perhaps, but not in this look: that takes another raise. */
				t->deadline = deadline;
				batch->expiry[i] = file_tick(ts, deadline, t->slack);
				WRITE_ONCE(word->filed, deadline);
			} else if (!filed) {
				t->deadline = TIMER_NONE;
				batch->expiry[i] = WHEEL_NEVER;
			}
		}
		if (t->deadline == TIMER_NONE)
			timer_end(ts, id, TIMER_NONE);
	}
}

/* Arm a timer by what stands in its word: TWHEEL_ARM_STORED. */
static int words_arm(struct timers *ts, struct twheel_op *op, u64 now,
		     enum timers_need *need)
{
	struct twheel_word *word = word_of(ts, op->id);
	struct wheel *w = &ts->wheel;
	enum wheel_where where;
	struct timer *t;
	u64 deadline, expiry = 0;
	unsigned int level = 0;

	if (!word)
		return -ENOENT;
	t = timer_of(ts, op->id);
	where = wheel_where(wheel_node(w, op->id));
	deadline = word_deadline(word);
	if (deadline > now) {
		expiry = file_tick(ts, deadline, t->slack);
		level = wheel_level(w, expiry);
	}
	if (level_missing(ts, expiry, level, 0, now)) {
		*need = TIMERS_NEED_LEVEL;
		return -EAGAIN;
	}
	op->generation = t->generation;
	op->state = word_state(ts, op->id, deadline);

	/* Nothing to do: it is looked at in time, or there is an event. */
	if (where == WHEEL_FILED ? !word_uncovered(deadline, t->deadline)
				 : t->deadline == deadline) {
		/* The same again, in case that somebody has written over it. */
		WRITE_ONCE(word->filed, where == WHEEL_FILED ? t->deadline : 0);
		return 0;
	}
	if (where != WHEEL_OUT && (where != WHEEL_FILED || deadline <= now))
		wheel_unlink(w, op->id);
	ts->arms++;
	if (!deadline) {
		timer_end(ts, op->id, TIMER_NONE);
	} else if (deadline > now) {
		t->deadline = deadline;
		wheel_file(w, op->id, expiry, level);
		WRITE_ONCE(word->filed, deadline);
	} else {
		t->deadline = deadline;
		timer_due(ts, op->id, now);
		word_promise(ts, op->id, word);
	}
	return 0;
}

/**
 * words_directory_alloc() - room for the addresses of all words
 * @ts: the timers
 *
 * Return: it, for words_add_directory() or kvfree(), or NULL.  Sleeps.
 */
WHEEL_API struct twheel_word **words_directory_alloc(const struct timers *ts)
{
	return kvzalloc(words_pages(ts) * sizeof(*ts->word), WHEEL_GFP);
}

/**
 * words_alloc() - a page to share: 256 words, or entries of the ring
 *
 * Return: the page, for words_free(), or NULL.  Sleeps.
 */
WHEEL_API struct twheel_word *words_alloc(void)
{
	return alloc_pages_exact(WORDS_PAGE, WHEEL_GFP);
}

/* Free a page; NULL is fine. */
WHEEL_API void words_free(void *page)
{
	if (page)
		free_pages_exact(page, WORDS_PAGE);
}

/* Free all words.  Sleeps. */
WHEEL_API void words_destroy(struct timers *ts)
{
	for (u32 i = 0; ts->word && i < words_pages(ts); i++) {
		words_free(ts->word[i]);
		cond_resched();
	}
	kvfree(ts->word);
}

/* Bytes that the words take. */
WHEEL_API size_t words_memory(const struct timers *ts)
{
	if (!ts->word)
		return 0;
	return words_pages(ts) * sizeof(*ts->word) + (size_t)ts->nr_words * WORDS_PAGE;
}

/**
 * words_add_directory() - give timers room for the addresses of all words
 * @ts: the timers
 * @directory: for as many pages as there are chunks
 */
WHEEL_API void words_add_directory(struct timers *ts, struct twheel_word **directory)
{
	WRITE_ONCE(ts->word, directory);
	ts->wheel.look = timers_look;
}

/**
 * words_add() - give timers their words
 * @ts: the timers
 * @id: one of them
 * @page: zeroes; the words of all timers of a chunk, none of them armed
 */
WHEEL_API void words_add(struct timers *ts, u32 id, struct twheel_word *page)
{
	WRITE_ONCE(ts->word[id / WORDS_PER_PAGE], page);
	ts->nr_words++;
}

/**
 * words_drop_stale() - take stale events from the front of the due queue
 * @ts: the timers, turned
 *
 * Looks at a bounded number of them.
 *
 * Return: does one that counts stand at the front now, or none at all?
 */
WHEEL_API bool words_drop_stale(struct timers *ts)
{
	struct wheel_queue *due = wheel_queue(&ts->wheel, WHEEL_DUE);

	for (unsigned int looks = 0; due->head != WHEEL_NIL; looks++) {
		struct twheel_word *word = word_of(ts, due->head);
		u32 id = due->head;

		if (!word || word_deadline(word) == timer_of(ts, id)->deadline)
			break;
		if (looks == WHEEL_STEP)
			return false;
		wheel_unlink(&ts->wheel, id);
		word_restart(ts, id, word);
	}
	return true;
}

/* The ring */

/**
 * ring_alloc() - make an empty ring
 * @ring: all zeroes
 * @entries: a power of two, at least WORDS_PER_PAGE
 *
 * Return: 0 or -ENOMEM.  Sleeps.
 */
WHEEL_API int ring_alloc(struct ring *ring, u32 entries)
{
	struct twheel_ring *header;

	ring->page = kvzalloc(entries / WORDS_PER_PAGE * sizeof(*ring->page), WHEEL_GFP);
	if (!ring->page)
		return -ENOMEM;
	ring->entries = entries;
	for (u32 i = 0; i < entries / WORDS_PER_PAGE; i++) {
		ring->page[i] = (struct twheel_entry *)words_alloc();
		if (!ring->page[i])
			goto nomem;
		cond_resched();
	}
	header = (struct twheel_ring *)words_alloc();
	if (!header)
		goto nomem;
	header->entries = entries;
	ring->header = header;
	return 0;

nomem:
	ring_free(ring);
	return -ENOMEM;
}

/* Free a ring, or none; leaves it all zeroes.  Sleeps. */
WHEEL_API void ring_free(struct ring *ring)
{
	for (u32 i = 0; i < ring->entries / WORDS_PER_PAGE; i++)
		words_free(ring->page[i]);
	kvfree(ring->page);
	words_free(ring->header);
	*ring = (struct ring){};
}

/* Bytes that the ring takes. */
WHEEL_API size_t ring_memory(const struct ring *ring)
{
	u32 pages = ring->entries / WORDS_PER_PAGE;

	return ring->header ? (pages + 1) * WORDS_PAGE + pages * sizeof(*ring->page) : 0;
}

/* Entries that can be written; none, if the consumer's head makes no sense. */
static u32 ring_room(struct ring *ring)
{
	u32 used;

	/* Pairs with the consumer's release: it has read what is overwritten now. */
	ring->head = smp_load_acquire(&ring->header->head);
	used = ring->tail - ring->head;
	return used < ring->entries ? ring->entries - used : 0;
}

/**
 * ring_has_entries() - are there any that the consumer had not taken?
 * @ring: the ring, after ring_post()
 *
 * Return: true or false.
 */
WHEEL_API bool ring_has_entries(const struct ring *ring)
{
	return ring->head != ring->tail;
}

/**
 * ring_post() - move events from the due queue into the ring
 * @ring: the ring
 * @ts: the timers, turned to @now
 * @now: ns
 *
 * At most WHEEL_STEP of them.  The promises of these timers were raised when they
 * came into the queue, so that whoever sees an entry sees that as well.
 *
 * Return: how many were written.
 */
WHEEL_API unsigned int ring_post(struct ring *ring, struct timers *ts, u64 now)
{
	u32 ids[WHEEL_STEP], room = ring_room(ring), waiting;
	unsigned int nr, written = 0;

	nr = wheel_take_due(&ts->wheel, ids, min(room, WHEEL_STEP));
	for (unsigned int i = 0; i < nr; i++) {
		struct twheel_word *word = word_of(ts, ids[i]);
		struct timer *t = timer_of(ts, ids[i]);
		u32 at = (ring->tail + written) & (ring->entries - 1);
		u64 overruns = overruns_of(t, now), most = ~0U >> TWHEEL_ENTRY_OVERRUNS;
		bool last;

		/* It has one all the same when the kernel chose the id. */
		if (word && word_deadline(word) != t->deadline) {
			word_restart(ts, ids[i], word);
			continue;
		}
		overruns = min(overruns, most);
		last = !t->interval || (t->count && overruns + 1 >= t->count);
		ring->page[at / WORDS_PER_PAGE][at % WORDS_PER_PAGE] = (struct twheel_entry){
			.id	  = ids[i],
			.flags	  = overruns << TWHEEL_ENTRY_OVERRUNS |
				    (last ? TWHEEL_EVENT_LAST : 0),
			.deadline = t->deadline,
		};
		written++;
		ts->delivered++;
		ts->overruns += overruns;
		if (t->count)
			t->count -= min(overruns + 1, (u64)t->count);
		t->deadline = TIMER_NONE;
	}
	ring->tail += written;
	/* Pairs with the consumer's acquire: it sees the entries, and the raise. */
	smp_store_release(&ring->header->tail, ring->tail);
	waiting = timers_expired(ts);
	/* A consumer had better help with what is due than sleep and be woken for it. */
	if (!waiting && timers_next(ts) <= now)
		waiting = 1;
	WRITE_ONCE(ring->header->waiting, waiting);
	return written;
}
