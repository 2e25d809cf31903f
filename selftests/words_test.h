/* SPDX-License-Identifier: GPL-2.0 */
/* The daemon's side of the words, as docs/words.md describes it. */
#ifndef TWHEEL_WORDS_TEST_H
#define TWHEEL_WORDS_TEST_H

#include "twheel_test.h"

/*
 * By two halves, a deadline is another one in between.  A program for which words are one way among
 * several defines WORDS_OPTIONAL, and stores no deadline on such a machine.
 */
#ifndef WORDS_OPTIONAL
static void __attribute__((constructor)) need_64_bits(void)
{
	if (sizeof(long) < 8)
		ksft_exit_skip("words are stored by 64 bits at once\n");
}
#endif

struct shared {
	int			fd;
	__u32			capacity;
	struct twheel_setup	setup;
	struct twheel_word	*word;
};

static inline size_t words_size(const struct shared *s)
{
	return s->capacity * sizeof(struct twheel_word);
}

/* Map all that a wheel shares; @s has its file and setup. */
static inline int shared_map(struct shared *s)
{
	s->capacity = s->setup.capacity;
	s->word = mmap(NULL, words_size(s), PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
		       s->setup.words_offset);
	return s->word == MAP_FAILED ? -errno : 0;
}

/* Ask for words of all ids, in addition to what @s has for its setup. */
static inline int shared_set_up(struct shared *s)
{
	s->setup.flags |= TWHEEL_SETUP_WORDS;
	return set_up(s->fd, &s->setup);
}

static inline int shared_open(struct shared *s, __u32 capacity, __u64 tick)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->setup.capacity = capacity;
	s->setup.tick = tick;
	s->fd = wheel_open(O_NONBLOCK);
	if (s->fd < 0)
		return s->fd;
	ret = shared_set_up(s);
	return ret ?: shared_map(s);
}

static inline void shared_close(struct shared *s)
{
	if (s->word)
		munmap(s->word, words_size(s));
	close(s->fd);
}

static inline __u64 promise(const struct shared *s, __u32 id)
{
	return __atomic_load_n(&s->word[id].promise, __ATOMIC_SEQ_CST);
}

static inline __u64 wanted(const struct shared *s, __u32 id)
{
	return __atomic_load_n(&s->word[id].deadline, __ATOMIC_SEQ_CST);
}

/* Arm by the word. */
static inline int arm_stored(const struct shared *s, __u32 id)
{
	struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = id };

	return wheel_arm(s->fd, &op);
}

/* Would the kernel look too late?  Returns 1 if it took a call, 0 if not. */
static inline int want_looked_at(const struct shared *s, __u32 id, __u64 deadline)
{
	if (deadline - 1 >= promise(s, id) - 1)
		return 0;
	return arm_stored(s, id) ?: 1;
}

/* Arm, move or cancel; tells what was wanted before. */
static inline int want_instead(const struct shared *s, __u32 id, __u64 deadline, __u64 *before)
{
	*before = __atomic_exchange_n(&s->word[id].deadline, deadline, __ATOMIC_SEQ_CST);
	return want_looked_at(s, id, deadline);
}

static inline int want(const struct shared *s, __u32 id, __u64 deadline)
{
	__u64 before;

	return want_instead(s, id, deadline, &before);
}

static inline void cancel_by_store(const struct shared *s, __u32 id)
{
	__atomic_store_n(&s->word[id].deadline, 0, __ATOMIC_RELAXED);
}

/* Set up words, and leave events of the timers below @nr, which stores have cancelled. */
static inline int leave_stale(struct shared *s, __u32 nr)
{
	int ret = shared_set_up(s) ?: shared_map(s);

	for (__u32 id = 0; !ret && id < nr; id++)
		ret = arm_at(s->fd, id, 1, id);
	if (!ret && !wait_expired(s->fd, nr))
		ret = -ETIME;
	for (__u32 id = 0; !ret && id < nr; id++)
		cancel_by_store(s, id);
	return ret;
}

#endif /* TWHEEL_WORDS_TEST_H */
