// SPDX-License-Identifier: GPL-2.0
/*
 * What compat/user.h has in place of the kernel's macros: each must evaluate its
 * arguments as often as the kernel's does, which is once.  When min() did it twice
 * each exchange inside it was made twice, and the tests in user space tried
 * something that no kernel ever runs.
 */
#include "tap.h"
#include "tests.h"

static unsigned int evaluations;
static u64 word;

/* An argument that is seen when it is evaluated. */
static u64 *seen(void)
{
	evaluations++;
	return &word;
}

static bool once(void)
{
	bool good = evaluations == 1;

	evaluations = 0;
	return good;
}

static void comparisons(void)
{
	bool good = true;

	for (word = 1; word < 7; word++) {
		good &= min(*seen(), 3ULL) == (word < 3 ? word : 3) && once();
		good &= min(3ULL, *seen()) == (word < 3 ? word : 3) && once();
		good &= max(*seen(), 3ULL) == (word > 3 ? word : 3) && once();
		good &= max(3ULL, *seen()) == (word > 3 ? word : 3) && once();
		good &= min_t(u32, *seen(), 3) == (word < 3 ? word : 3) && once();
		good &= min_t(u32, 3, *seen()) == (word < 3 ? word : 3) && once();
		good &= min3(*seen(), 5ULL, 3ULL) == (word < 3 ? word : 3) && once();
		good &= min3(5ULL, *seen(), 3ULL) == (word < 3 ? word : 3) && once();
		good &= min3(5ULL, 3ULL, *seen()) == (word < 3 ? word : 3) && once();
		good &= min(max(*seen(), 2ULL), max(1ULL, 4ULL)) ==
			(word < 2 ? 2 : word < 4 ? word : 4) && once();
	}
	tap(good, "min and max evaluate each argument once");
}

static void accesses(void)
{
	bool good;

	word = 5;
	good = READ_ONCE(*seen()) == 5 && once();
	WRITE_ONCE(*seen(), 6);
	good &= once() && word == 6;
	/* Pair with nothing: there is one thread. */
	good &= smp_load_acquire(seen()) == 6 && once();
	/* The same. */
	smp_store_release(seen(), 7);
	good &= once() && word == 7;
	good &= xchg(seen(), 8) == 7 && once() && word == 8;
	good &= xchg(&word, *seen() + 1) == 8 && once() && word == 9;
	good &= cmpxchg(seen(), 8, 10) == 9 && once() && word == 9;
	good &= cmpxchg(&word, *seen(), 10) == 9 && once() && word == 10;
	good &= cmpxchg(&word, 10, *seen() + 1) == 10 && once() && word == 11;
	tap(good, "an access evaluates each argument once, and returns what was there");
}

static void others(void)
{
	struct {
		u64 other;
		u64 member;
	} outer = { 1, 2 };
	u64 *members[] = { &outer.other, &outer.member }, **member = members + 1;
	bool good;

	good = container_of(*member++, __typeof__(outer), member) == &outer;
	good &= member == members + 2;
	word = 0;
	good &= !WARN_ON_ONCE(*seen()) && once();
	good &= ARRAY_SIZE(members) == 2;
	tap(good, "so do container_of and WARN_ON_ONCE");
}

/* Machines of 32 bits have no product of 128. */
static void products(void)
{
	u64 a = 1, b = ~0ULL;
	bool good = true;

	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int shift = i % 128;

		a = a * 6364136223846793005ULL + 1442695040888963407ULL;
		b ^= a << i % 64;
		good &= mul_halves_shr(a, b, shift) == mul_u64_u64_shr(a, b, shift);
		good &= mul_halves_shr(a >> i % 64, ~0ULL, 64) ==
			mul_u64_u64_shr(a >> i % 64, ~0ULL, 64);
	}
	tap(good, "a product by halves is that of the whole");
}

void user_cases(void)
{
	comparisons();
	accesses();
	others();
	products();
}
