/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What wheel.c and timers.c use of the kernel, for building them in user
 * space: tests, simulators, benchmarks.
 */
#ifndef TWHEEL_COMPAT_USER_H
#define TWHEEL_COMPAT_USER_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define __aligned(x)		__attribute__((aligned(x)))
#define noinline		__attribute__((__noinline__))
#define cond_resched()		do { } while (0)
#define prefetch(x)		__builtin_prefetch(x)
#define static_assert		_Static_assert
#define WARN_ON_ONCE(x)		({ bool warn_ = (x); assert(!warn_); warn_; })

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), (value), __ATOMIC_RELAXED)
/* Barriers have the kernel's names, and are at least as strong. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* Acquire. */
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
/* Release. */
#define smp_store_release(p, value)	__atomic_store_n((p), (value), __ATOMIC_RELEASE)
#define xchg(p, value)		__atomic_exchange_n((p), (value), __ATOMIC_SEQ_CST)
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap((p), (old), (new))

#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min3(a, b, c)		min(min(a, b), c)
#define min_t(t, a, b)		min((t)(a), (t)(b))

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define BITS_PER_LONG		(8 * sizeof(long))
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define container_of(p, type, m)	((type *)((char *)(p) - offsetof(type, m)))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#define KTIME_MAX		INT64_MAX

static inline unsigned int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline unsigned int __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

static inline unsigned int ilog2(u64 x)
{
	return fls64(x) - 1;
}

static inline u64 roundup_pow_of_two(u64 x)
{
	return x <= 1 ? 1 : 1ULL << fls64(x - 1);
}

static inline void __set_bit(unsigned int n, unsigned long *map)
{
	map[n / BITS_PER_LONG] |= BIT(n % BITS_PER_LONG);
}

static inline bool __test_and_set_bit(unsigned int n, unsigned long *map)
{
	bool was = map[n / BITS_PER_LONG] & BIT(n % BITS_PER_LONG);

	map[n / BITS_PER_LONG] |= BIT(n % BITS_PER_LONG);
	return was;
}

static inline void __clear_bit(unsigned int n, unsigned long *map)
{
	map[n / BITS_PER_LONG] &= ~BIT(n % BITS_PER_LONG);
}

static inline bool test_bit(unsigned int n, const unsigned long *map)
{
	return map[n / BITS_PER_LONG] & BIT(n % BITS_PER_LONG);
}

static inline unsigned long find_next_bit(const unsigned long *map,
					  unsigned long size, unsigned long from)
{
	unsigned long word, bits;

	if (from >= size)
		return size;
	word = from / BITS_PER_LONG;
	bits = map[word] & (~0UL << (from % BITS_PER_LONG));
	while (!bits) {
		if (++word >= BITS_TO_LONGS(size))
			return size;
		bits = map[word];
	}
	return min(word * BITS_PER_LONG + __ffs(bits), size);
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return ((__uint128_t)a * b) >> shift;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

#define GFP_KERNEL_ACCOUNT	0
#define __GFP_ZERO		0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NOWARN		0

static inline void *kvzalloc(size_t size, int gfp)
{
	(void)gfp;
	return calloc(1, size);
}

static inline void kvfree(void *p)
{
	free(p);
}

static inline void *alloc_pages_exact(size_t size, int gfp)
{
	void *p = aligned_alloc(4096, size);

	(void)gfp;
	return p ? memset(p, 0, size) : NULL;
}

static inline void free_pages_exact(void *p, size_t size)
{
	(void)size;
	free(p);
}

#endif /* TWHEEL_COMPAT_USER_H */
