/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the parts that know no device use of the kernel, for building them in user
 * space: tests, simulators, benchmarks.
 *
 * A test in user space tells of the kernel only what this file has in common with
 * it.  So each macro evaluates an argument as often as the kernel's does, refuses
 * the types that the kernel's refuses, and orders memory at least as strictly;
 * tests/user-test.c holds it to that.
 */
#ifndef TWHEEL_COMPAT_USER_H
#define TWHEEL_COMPAT_USER_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

/* The kernel's types, so that min() refuses here what it refuses there. */
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

/* Nobody is to be kept from looking at what is speculated on. */
#define array_index_nospec(index, size)	((void)(size), (index))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define __aligned(x)		__attribute__((aligned(x)))
#define noinline		__attribute__((__noinline__))
#define cond_resched()		do { } while (0)
#define fatal_signal_pending(task) false
#define prefetch(x)		__builtin_prefetch(x)
#define prefetchw(x)		__builtin_prefetch(x, 1)
#undef static_assert
#define static_assert(condition, ...)	_Static_assert(condition, #condition)
/* The kernel would warn and go on.  A test ends here, and is not compiled without. */
#ifdef NDEBUG
#error "WARN_ON_ONCE() needs assert()"
#endif
#define WARN_ON_ONCE(x)		({ bool warn_ = (x); assert(!warn_); warn_; })

#define same_type(a, b)		__builtin_types_compatible_p(__typeof__(a), __typeof__(b))

/* An expression of 0, if a condition known to the compiler holds; else an error. */
#define must_be(condition, what)						\
	(0 * (int)sizeof(struct { int must_be_; static_assert(condition, what); }))

/* One load or one store, so of a word at most; the kernel refuses what is larger. */
#define one_access(x)		static_assert(sizeof(x) <= sizeof(u64), "not one access")
#define READ_ONCE(x)		({ one_access(x); __atomic_load_n(&(x), __ATOMIC_RELAXED); })
#define WRITE_ONCE(x, value)						\
	({ one_access(x); __atomic_store_n(&(x), (value), __ATOMIC_RELAXED); })
/* Barriers have the kernel's names, and are at least as strong. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* Acquire. */
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
/* Release. */
#define smp_store_release(p, value)	__atomic_store_n((p), (value), __ATOMIC_RELEASE)
/*
 * The kernel's exchange is a full barrier.  So is the instruction of x86; elsewhere
 * what C calls sequentially consistent lets a later load go before it.
 */
#ifdef __x86_64__
#define after_exchange()	do { } while (0)
#else
/* Keeps later loads behind the exchange. */
#define after_exchange()	smp_mb()
#endif
#define xchg(p, value)							\
	({								\
		__typeof__(*(p)) was_ = __atomic_exchange_n((p), (value), __ATOMIC_SEQ_CST); \
									\
		after_exchange();					\
		was_;							\
	})
/* Full barriers both, even if nothing was swapped, where the kernel's may be none. */
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap((p), (old), (new))

/*
 * Each argument is evaluated once, whatever it does, and both are of one type. The
 * names are numbered, because one may stand inside the other.
 */
#define PASTE_(a, b)		a##b
#define PASTE(a, b)		PASTE_(a, b)
#define pick_named(a, op, b, a_, b_)					\
	({								\
		__typeof__(a) a_ = (a);					\
		__typeof__(b) b_ = (b);					\
									\
		static_assert(same_type(a_, b_), "two types are compared");	\
		a_ op b_ ? a_ : b_;					\
	})
#define pick(a, op, b, number)						\
	pick_named(a, op, b, PASTE(a_, number), PASTE(b_, number))
#define min(a, b)		pick(a, <, b, __COUNTER__)
#define max(a, b)		pick(a, >, b, __COUNTER__)
#define min3(a, b, c)		min((__typeof__(a))min(a, b), c)
#define min_t(t, a, b)		min((t)(a), (t)(b))

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define BITS_PER_LONG		(8 * (int)sizeof(long))
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define container_of(p, type, m)	((type *)((char *)(p) - offsetof(type, m)))
#define ARRAY_SIZE(a)							\
	(sizeof(a) / sizeof((a)[0]) + must_be(!same_type(a, &(a)[0]), "a pointer"))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#define KTIME_MAX		((s64)INT64_MAX)
#define NSEC_PER_SEC		1000000000L

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline unsigned int __ffs(unsigned long x)
{
	return __builtin_ctzl(x);
}

static inline unsigned int __fls(unsigned long x)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(x);
}

/* __ffs() has less than that to look at where long has 32 bits. */
static inline unsigned int __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

static inline int ilog2(u64 x)
{
	return fls64(x) - 1;
}

static inline bool is_power_of_2(unsigned long x)
{
	return x && !(x & (x - 1));
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

static inline u64 mul_u32_u32(u32 a, u32 b)
{
	return (u64)a * b;
}

/* By halves, whose products are added up from the lowest. */
static inline u64 mul_halves_shr(u64 a, u64 b, unsigned int shift)
{
	u64 low = mul_u32_u32(a, b), high = mul_u32_u32(a >> 32, b >> 32);
	u64 one = mul_u32_u32(a, b >> 32), other = mul_u32_u32(a >> 32, b);
	u64 middle = (low >> 32) + (u32)one + (u32)other;

	low = (u32)low | middle << 32;
	high += (one >> 32) + (other >> 32) + (middle >> 32);
	return shift < 64 ? low >> shift | high << 1 << (63 - shift) : high >> (shift - 64);
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
#ifdef __SIZEOF_INT128__
	return ((__uint128_t)a * b) >> shift;
#else
	return mul_halves_shr(a, b, shift);
#endif
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

/* Of the machine, or of another one whose layout is tried. */
#ifndef PAGE_SHIFT
#define PAGE_SHIFT		12
#endif
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_ZERO		0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NORETRY		0
#define __GFP_NOWARN		0

/* Who has memory of another kind says so, and defines these before. */
#ifndef COMPAT_OWN_MEMORY

/* As the kernel's is for the sizes that are asked for: at the start of a cache line. */
static inline void *kvzalloc(size_t size, int gfp)
{
	void *p = aligned_alloc(64, (size + 63) & ~(size_t)63);

	(void)gfp;
	return p ? memset(p, 0, size) : NULL;
}

static inline void kvfree(void *p)
{
	free(p);
}

static inline void *kzalloc(size_t size, int gfp)
{
	void *p = aligned_alloc(size, size);

	(void)gfp;
	return p ? memset(p, 0, size) : NULL;
}

static inline void kfree(void *p)
{
	free(p);
}

static inline void *alloc_pages_exact(size_t size, int gfp)
{
	return kzalloc(size, gfp);
}

static inline void free_pages_exact(void *p, size_t size)
{
	(void)size;
	free(p);
}

#endif /* COMPAT_OWN_MEMORY */

#define __vmalloc(size, gfp)	kvzalloc(size, gfp)

#endif /* TWHEEL_COMPAT_USER_H */
