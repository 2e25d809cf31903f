// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The kernel's side of the words: timers that are armed by a store.
 * docs/words.md has the protocol, and why it loses nothing.
 *
 * With a word, a timer's deadline is the daemon's to store.  The deadline in struct timer is then
 * the promise, as long as the timer is filed; and of an event, what the word must still hold.  The
 * kernel never reads @promise, nor what it wrote elsewhere in shared memory.
 *
 * 1. The kernel may lower a promise at any time.  To raise it, to later or to 0, it stores the
 *    promise, has a full barrier, and reads the deadline again, once: the raise rule.
 * 2. A daemon arms and shortens by an exchange, and then loads the promise: a deadline before it
 *    needs a call.  It cancels by a store, and extends by one if the id is one thread's alone.
 * 3. An event counts only if the read that claimed it swaps the word from the event's deadline to
 *    0, or to the next period.  The claim is compared first; calls and commits exclude each other.
 * 4. The event is queued under the hold of the lock that raised the promise, so a program that
 *    has read it loads a promise from after the raise.
 *
 * By 1 and 2 one side sees the other: a deadline stored in view of the lower promise is found by
 * the second reading; a daemon that stores later sees the raised promise, and calls.
 *
 * Under the wheel's lock words are only read and stored to.  Exchanges are made without it.
 */
#include "words.h"

/* Raise a promise, and read the deadline again. */
static u64 word_raise(struct twheel_word *word, u64 promise)
{
	WRITE_ONCE(word->promise, promise);
	/* Pairs with the daemon's exchange of the deadline before it loads the promise. */
	smp_mb();
	return word_deadline(word);
}

/* File a timer that is in no queue by a deadline that is due earlier than what is promised. */
static void word_file(struct timers *ts, u32 id, struct twheel_word *word, u64 deadline)
{
	timer_file(ts, id, deadline);
	WRITE_ONCE(word->promise, deadline);
}

/*
 * File a timer that is in no queue by a deadline that may be later than what is promised.  By the
 * raise rule the deadline may become a nearer one; the timer is filed once, so one entry will do.
 */
static void word_wait(struct timers *ts, u32 id, struct twheel_word *word, u64 deadline)
{
	u64 stored = word_raise(word, deadline);

	word_file(ts, id, word, word_uncovered(stored, deadline) ? stored : deadline);
}

/* Queue the event of a timer that is in no queue; nothing is promised then. */
static void word_due(struct timers *ts, u32 id, struct twheel_word *word)
{
	u64 deadline;

	timer_due(ts, id);
	deadline = word_raise(word, 0);
	/* Of a deadline whose event waits already there is nothing more to promise. */
	if (!deadline || deadline == timer_of(ts, id)->deadline)
		return;
	wheel_unlink(&ts->wheel, id);
	word_file(ts, id, word, deadline);
}

/* Let a timer that is in no queue wait for its deadline, or be due. */
TWHEEL_PART void word_resume(struct timers *ts, u32 id, struct twheel_word *word, u64 now)
{
	u64 deadline = timer_of(ts, id)->deadline;

	if (deadline > now)
		word_wait(ts, id, word, deadline);
	else
		word_due(ts, id, word);
}

/* A timer is in no queue: file it by what its word holds; or, if it was cancelled, end it. */
static void word_restart(struct timers *ts, u32 id, struct twheel_word *word, u64 deadline)
{
	if (!deadline) {
		timer_end(ts, id, TIMER_NONE);
	} else if (deadline <= ts->now && tick_passed(ts, deadline, slack_of(ts, id))) {
		/* Due as well: do not make the reader wait for another tick. */
		timer_of(ts, id)->deadline = deadline;
		word_due(ts, id, word);
	} else {
		word_file(ts, id, word, deadline);
	}
}

/*
 * A timer that has been taken out of its slot or queue is not wanted any more: it ends, but
 * for a deadline that was stored in view of the promise that it had.
 */
TWHEEL_PART void word_let_go(struct timers *ts, u32 id, struct twheel_word *word)
{
	word_restart(ts, id, word, word_raise(word, 0));
}

/* Drop the event of a timer that is in no queue: another deadline is stored. */
TWHEEL_PART void word_drop(struct timers *ts, u32 id, struct twheel_word *word)
{
	trace_twheel_timer_stale(&ts->wheel, id, TWHEEL_STATE_EXPIRED);
	word_restart(ts, id, word, word_deadline(word));
}

/* The state of a timer with a word. */
TWHEEL_PART enum twheel_state word_state(const struct timers *ts, u32 id, u64 deadline)
{
	enum wheel_where where = wheel_where(timer_of(ts, id));
	const struct timer *t = timer_of(ts, id);

	if (!deadline)
		return t->deadline == TIMER_DELIVERED ? TWHEEL_STATE_DELIVERED
						      : TWHEEL_STATE_IDLE;
	/* It is of an event that waits, or that a read holds. */
	if (where != WHEEL_FILED && deadline == t->deadline)
		return TWHEEL_STATE_EXPIRED;
	/* It may be filed, or only stored so far: the time tells. */
	return tick_passed(ts, deadline, slack_of(ts, id)) ? TWHEEL_STATE_EXPIRED
						   : TWHEEL_STATE_PENDING;
}

/*
 * The wheel asks when timers with words are due.  What stands in their words is compared with what
 * they were filed by.  Where a promise is raised, the raise rule is followed, with one
 * barrier for all of them, because that is what it costs most.
 */
static void words_look(struct wheel *w, struct wheel_batch *batch)
{
	struct timers *ts = container_of(w, struct timers, wheel);
	u64 raised = 0;

	static_assert(ARRAY_SIZE(batch->id) <= 64);
	for (unsigned int i = 0; i < batch->nr; i++)
		prefetch(word_of(ts, batch->id[i]));
	for (unsigned int i = 0; i < batch->nr; i++) {
		u32 id = batch->id[i];
		struct twheel_word *word = word_of(ts, id);
		struct timer *t = batch->timer[i];
		u64 before = t->deadline, promised;

		t->deadline = word_deadline(word);
		batch->tick[i] = t->deadline == TIMER_NONE ? WHEEL_NEVER :
				   look_again(ts, id, t->deadline, batch->tick[i]);
		promised = batch->tick[i] > w->at ? t->deadline : 0;
		WRITE_ONCE(word->promise, promised);
		if (word_uncovered(before, promised))
			raised |= BIT_ULL(i);
	}
	if (raised)
		/* Pairs with the daemon's exchange of the deadline before it loads the promise. */
		smp_mb();
	for (; raised; raised &= raised - 1) {
		unsigned int i = __ffs64(raised);
		u32 id = batch->id[i];
		struct twheel_word *word = word_of(ts, id);
		struct timer *t = batch->timer[i];
		u64 deadline = word_deadline(word);
		bool filed = batch->tick[i] > w->at && batch->tick[i] != WHEEL_NEVER;

		if (deadline != t->deadline) {
			if (word_uncovered(deadline, filed ? t->deadline : 0)) {
				/*
				 * Do not queue an event here even if the timer is due: that
				 * would raise the promise twice in one look.
				 */
				t->deadline = deadline;
				batch->tick[i] = file_tick(ts, deadline, slack_of(ts, id));
				WRITE_ONCE(word->promise, deadline);
			} else if (!filed) {
				t->deadline = TIMER_NONE;
				batch->tick[i] = WHEEL_NEVER;
			}
		}
		if (t->deadline == TIMER_NONE)
			timer_end(ts, id, TIMER_NONE);
	}
	for (unsigned int i = 0; i < batch->nr; i++)
		if (batch->tick[i] <= w->at)
			timer_found(ts, batch->id[i], batch->timer[i]);
}

/**
 * words_need() - the first half of an arm or a cancel is done: say what goes into the word
 * @ts: the timers
 * @op: the arm or cancel, checked but for TWHEEL_ARM_NEW and _MOVE
 * @id: of the timer, which has a word
 * @deadline: what to store, ns
 * @need: filled in for words_exchange()
 *
 * Return: -EAGAIN; -EEXIST or -ENOENT.
 */
TWHEEL_PART int words_need(const struct timers *ts, const struct twheel_op *op, u32 id,
			   u64 deadline, struct timers_need *need)
{
	u64 before = word_deadline(word_of(ts, id));

	/* With a word, a timer is armed if there is anything but 0 in it. */
	int ret = arm_refused(op->flags, before);

	if (ret)
		return ret;
	need->what = TIMERS_NEED_WORD;
	need->id = id;
	need->deadline = deadline;
	need->before = before;
	need->unless_changed = op->flags & (TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE);
	return -EAGAIN;
}

/**
 * words_exchange() - store into a word what a call needs there
 * @ts: the timers
 * @need: from words_need()
 *
 * If the deadline is to be stored only if the word has not changed, and it has, the call starts
 * anew.
 *
 * Return: true if it was stored.
 *
 * Context: without the wheel's spinlock.  Processors with load-linked pairs retry an atomic
 * operation for as long as other CPUs store to the same line, and a program may do so for ever.
 */
TWHEEL_PART bool words_exchange(const struct timers *ts, struct timers_need *need)
{
	struct twheel_word *word = word_of(ts, need->id);

	need->exchanged = true;
	if (need->unless_changed)
		need->exchanged = word_take(word, need->before, need->deadline);
	else
		need->before = min_t(u64, xchg(&word->deadline, need->deadline), KTIME_MAX);
	return need->exchanged;
}

/**
 * words_take() - take events from their timers' words
 * @ts: the timers
 * @events: claimed
 * @nr: for how many the claim holds
 *
 * Swaps each word from the deadline that fired to the next one, or 0.
 *
 * Return: how many could be taken, up to one that is stale.
 *
 * Context: as words_exchange().
 */
TWHEEL_PART unsigned int words_take(const struct timers *ts, const struct twheel_event *events,
				    unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct twheel_word *word = word_of(ts, events[i].id);

		if (word && !word_take(word, events[i].deadline,
				       timer_after(more_of(ts, events[i].id), &events[i])))
			return i;
	}
	return nr;
}

/* Take what the word holds for the timer's deadline: TWHEEL_ARM_STORED, or after an exchange. */
TWHEEL_PART int words_arm(struct timers *ts, struct twheel_op *op, u64 now,
			  struct timers_need *need)
{
	u32 id = array_index_nospec(op->id, ts->wheel.capacity), slack;
	struct twheel_word *word = word_of(ts, id);
	struct wheel *w = &ts->wheel;
	enum wheel_where where;
	struct timer *t;
	const bool exchanged = need->exchanged;
	u64 deadline, tick = 0;

	if (!word)
		return -ENOENT;
	t = timer_of(ts, id);
	where = wheel_where(t);
	deadline = word_deadline(word);
	op->state = word_state(ts, id, exchanged ? need->before : deadline);
	if (exchanged)
		timer_begin(ts, id, op, deadline, slack_ticks(ts, op->slack));
	need->exchanged = false;
	slack = slack_of(ts, id);
	if (deadline > now)
		tick = file_tick(ts, deadline, slack);
	if (!exchanged && wheel_full(w))
		return timers_make_room(ts, need);
	if (!exchanged && level_missing(ts, tick, 0, 0, now)) {
		need->what = TIMERS_NEED_LEVEL;
		return -EAGAIN;
	}
	op->generation = t->generation;
	/* The wheel will be in time for it, or its event waits, or it is as idle as it was. */
	if (!exchanged &&
	    (where == WHEEL_FILED ? !word_uncovered(deadline, t->deadline) :
	     deadline ? t->deadline == deadline : !timer_has_deadline(t))) {
		/* A daemon that has written over its promise would call for ever. */
		WRITE_ONCE(word->promise, where == WHEEL_FILED ? t->deadline : 0);
		return 0;
	}
	if (where == WHEEL_DUE)
		wheel_unlink(w, id);
	ts->arms++;
	t->deadline = deadline;
	trace_twheel_timer_arm(w, id, op->state);
	if (deadline) {
		word_resume(ts, id, word, now);
	} else {
		wheel_unlink(w, id);
		word_let_go(ts, id, word);
	}
	return 0;
}

/**
 * words_begin() - give timers that have no words a directory for them
 * @ts: the timers
 *
 * words_add() must follow for all of them.
 *
 * Return: false if there is no memory.  Sleeps.
 */
TWHEEL_PART bool words_begin(struct timers *ts)
{
	ts->word = wheel_array_alloc(words_pages(ts) * sizeof(*ts->word));
	if (ts->word) {
		ts->wheel.look = words_look;
		ts->wheel.look_always = true;
	}
	return ts->word;
}

/**
 * words_add() - give timers their words
 * @ts: the timers
 * @id: one of them
 * @page: of zeroes; the words of @id and those that share its page
 */
TWHEEL_PART void words_add(struct timers *ts, u32 id, struct twheel_word *page)
{
	ts->word[id / WORDS_PER_PAGE] = page;
}

/* Free all words.  Sleeps. */
TWHEEL_PART void words_destroy(struct timers *ts)
{
	for (u32 i = 0; ts->word && i < words_pages(ts); i++) {
		if (ts->word[i])
			free_pages_exact(ts->word[i], PAGE_SIZE);
		cond_resched();
	}
	kvfree(ts->word);
}

/* Bytes that the words take. */
TWHEEL_PART size_t words_memory(const struct timers *ts)
{
	return ts->word ? words_pages(ts) * (sizeof(*ts->word) + PAGE_SIZE) : 0;
}
