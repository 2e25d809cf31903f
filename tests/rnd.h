/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that a seed repeats. */
#ifndef TWHEEL_TESTS_RND_H
#define TWHEEL_TESTS_RND_H

#include "../compat/user.h"

static u64 rnd_state;

static inline void rnd_seed(u64 seed, u64 stream)
{
	rnd_state = seed * 0x9e3779b97f4a7c15 + stream;
}

static inline u64 rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state * 0x2545f4914f6cdd1d >> 3;
}

/* Small numbers and huge ones alike, below 2^bits. */
static inline u64 rnd_span(unsigned int bits)
{
	return rnd() & ((1ULL << (1 + rnd() % bits)) - 1);
}

#endif /* TWHEEL_TESTS_RND_H */
