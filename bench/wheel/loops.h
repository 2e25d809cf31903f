/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the wheel's benchmark share. All but native.c and report.c
 * run in user space and, as a module, in a kernel.
 */
#ifndef TWHEEL_BENCH_LOOPS_H
#define TWHEEL_BENCH_LOOPS_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/prefetch.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "../../compat/user.h"

static inline void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}
#endif

/* Also where there is only one processor. */
static inline void fence(void)
{
#ifdef __KERNEL__
	/* Pairs with nothing: it keeps what is measured apart. */
	mb();
#else
	__sync_synchronize();
#endif
}

/* A timer, and how many ticks from now it is due. */
struct work {
	u32	id;
	u32	ticks;
};

/* Which timer of a batch is fetched ahead; the wheel's WHEEL_AHEAD. */
#define AHEAD		16U

/**
 * struct batch - what is to be done
 * @work: with which timers; behind them are @ahead others that can be fetched
 * @nr: how many
 * @now: the tick that it is
 * @ahead: how many further on is the timer whose record is fetched meanwhile,
 *	as TWHEEL_SUBMIT does; 0: none is
 */
struct batch {
	const struct work	*work;
	u32			nr;
	u64			now;
	u32			ahead;
};

/* What an owner keeps of a timer beside what the wheel or the heap needs. */
struct record {
	u64	cookie;
	u64	deadline;
	u64	interval;
	u32	generation;
	u32	flags;
};

/* What a reader is handed of a timer that came due. */
struct told {
	u64	cookie;
	u64	deadline;
	u64	fired;
	u32	id;
	u32	generation;
};

/**
 * struct seen - what came due
 * @nr: how many
 * @cookies: the sum of theirs
 * @bad: those due in another step than the one they were handed out in
 */
struct seen {
	u64	nr;
	u64	cookies;
	u64	bad;
};

static inline u64 cookie_of(u32 id)
{
	return (id + 1) * 0x9e3779b97f4a7c15ULL;
}

/* Write down an event of the step that ends with tick @to. */
static inline void see(struct seen *seen, struct told *event,
		       const struct record *record, u32 id, u64 from, u64 to)
{
	event->cookie = record->cookie;
	event->deadline = record->deadline;
	event->fired = to;
	event->id = id;
	event->generation = record->generation;
	seen->nr++;
	seen->cookies += event->cookie;
	seen->bad += event->deadline - from - 1 >= to - from;
}

/**
 * struct peer - a way to have timers
 * @name: as it stands in the tables
 * @open: make @nr timers, none armed; returns false if there is no memory
 * @arm: timers that are not armed
 * @move: armed timers: taken out and put in anew
 * @push: armed timers: in the cheapest way
 * @cancel: armed timers
 * @record: what the owner keeps of the timers that are armed
 * @expire: let the time go from tick @from to @to, and take what is due
 * @armed: how many timers are
 * @close: give all back
 *
 * There is one set of timers of a peer at a time.
 */
struct peer {
	const char	*name;
	bool		(*open)(u32 nr, u64 now);
	void		(*arm)(const struct batch *batch);
	void		(*move)(const struct batch *batch);
	void		(*push)(const struct batch *batch);
	void		(*cancel)(const struct batch *batch);
	void		(*record)(const struct batch *batch);
	void		(*expire)(u64 from, u64 to, struct seen *seen);
	u32		(*armed)(void);
	void		(*close)(void);
};

/* The wheel by itself, a whole timer of the device's, and those beside them. */
extern const struct peer peer_wheel, peer_timers, peer_heap, peer_heap4;
extern const struct peer peer_fallback, peer_libev, peer_libevent, peer_libevent_common, peer_libuv;

/* All that are measured, as native.c or module.c have them; NULL ends them. */
extern const struct peer *const peers[];

/* The tick at which a program starts; nothing is aligned to it. */
#define START	1234567891ULL

/* loops.c */
void work_in_sequence(struct work *work, u32 nr);
void work_shuffle(struct work *work, u32 nr);
void work_deadlines(struct work *work, u32 nr, u32 span);
void work_seed(unsigned int run);

int loops_ops(const char *part, u32 nr, u32 span, unsigned int run);
int loops_hot(const char *part, u32 nr, unsigned int run);
/* daemon.c; not in a kernel.  Ticks: what all of its timeouts are. */
#define DAEMON_TIMEOUT	60000U
int daemon_days(const char *part, const struct peer *peer, u32 nr, unsigned int run);
/* delivery.c; not in a kernel */
int loops_delivery(const char *part, unsigned int run);
/* passes.c */
int loops_passes(const char *part, bool one_slot, unsigned int runs);
int loops_memory(const char *part);
int loops_misses(const char *part);

/*
 * What the loops run in provides: native.c or module.c. Memory is zeroed, and
 * is all given back by host_free_all().
 */
void *host_alloc(size_t size);
void host_free_all(void);
u64 host_ns(void);
/* The time that this program has run, for what takes long enough to ask */
u64 host_busy_ns(void);
/* A figure: @total over @count */
void host_tell(const char *part, const char *name, const char *peer, u32 nr,
	       const char *unit, u64 total, u64 count);
void host_progress(const char *part, unsigned int run, unsigned int runs);
int host_fail(const char *what, u64 figure);

#endif /* TWHEEL_BENCH_LOOPS_H */
