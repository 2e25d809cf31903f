/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the benchmark share.
 */
#ifndef TWHEEL_BENCH_H
#define TWHEEL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw.h"

#define NSEC	1000000000ULL

/* Operations in one call, for the peers that take several. */
#define BATCH	256

/* A million timers take many seconds with some peers: three runs at most. */
#define RUNS_OF(nr, runs)	((nr) < 1000000 || (runs) < 3 ? (runs) : 3)

/* A timer and when it is due, absolute, CLOCK_MONOTONIC, ns. */
struct work {
	uint32_t	id;
	uint64_t	deadline;
};

/* What the timers are opened for: it changes what a peer sets up. */
enum use {
	USE_OPS,
	USE_DELIVERY,
};

/**
 * struct peer - one way to have timers
 * @name: as it stands in the table
 * @most: no more than so many timers, because the first of more would take hours;
 *	0: any number
 * @sample: how many moves and cancels are measured of a round, where all
 *	would take long, because each walks a list; 0: all
 * @grows: the first arm of a timer allocates its memory, once
 * @batches: several operations in a call
 * @open: make @nr timers, with ids from 0, none armed; returns how many its
 *	limits allow
 * @arm: arm timers that are not armed
 * @move: give armed timers another deadline
 * @extend: give armed timers a later deadline, if there is a shorter way to that
 * @cancel: disarm armed timers; deadlines are ignored
 * @ready: what has to be said before sleeping; returns the file to wait for, which
 *	is readable when expirations may have come
 * @take: take up to @nr expirations that have come by @now, and write which
 *	timers; does not sleep
 * @looks: where the kernel's part is in the program: how often it has looked at a timer so far,
 *	those that were due counted with them
 * @close: give all back
 * @bytes: memory of the program's own that a timer takes
 *
 * Each thread may have one set of timers of a peer open at a time.
 */
struct peer {
	const char	*name;
	uint32_t	most;
	uint32_t	sample;
	bool		grows;
	bool		batches;
	uint32_t	(*open)(uint32_t nr, enum use use);
	void		(*arm)(const struct work *work, uint32_t nr);
	void		(*move)(const struct work *work, uint32_t nr);
	void		(*extend)(const struct work *work, uint32_t nr);
	void		(*cancel)(const struct work *work, uint32_t nr);
	int		(*ready)(void);
	uint32_t	(*take)(uint32_t *ids, uint32_t nr, uint64_t now);
	uint64_t	(*looks)(void);
	void		(*close)(void);
	uint32_t	bytes;
};

/* In a guest. */
extern const struct peer peer_twheel, peer_words, peer_timerfd, peer_posix, peer_uring;
/* In a guest and natively. */
extern const struct peer peer_heap, peer_wheel, peer_sweep, peer_none;
/* Natively: words without a kernel behind them, or with one in the program. */
extern const struct peer peer_stores, peer_looks;

/* Expirations that are taken at once. */
#define TAKE_MAX	65536

/* The parts; runs is how often each figure is taken. */
void bench_ops(unsigned int runs);
void bench_stores(unsigned int runs);
void bench_growth(unsigned int runs);
void bench_submit(unsigned int runs);
void bench_delivery(unsigned int runs);
void bench_storm(unsigned int runs);
void bench_idle(unsigned int runs);
void bench_requests(unsigned int runs);
void bench_threads(unsigned int runs);
void bench_memory(unsigned int runs);
void bench_tickless(unsigned int runs);
void bench_million(unsigned int runs);
void bench_opening(unsigned int runs);

/* Is the time of this guest its instructions? */
extern bool icount;
/* On the machine itself, where there is no device? */
extern bool native;

/* cpu.c */
void sleep_until(uint64_t when);
bool wait_until(int fd, uint64_t when);
int alarm_open(void);
void alarm_set(int fd, uint64_t when);
uint64_t timer_interrupts(void);

/* busy.c: seconds that all processors together were not idle, of which differences count */
double busy_seconds(void);
void wait_until_idle(void);

/* calls.c: system calls made for timers so far */
extern _Thread_local uint64_t system_calls;

/* delivery.c */
void deliver(const struct peer *peer, uint32_t nr);

/* work.c */
uint64_t random64(void);
struct work *work_alloc(uint32_t nr);
void work_deadlines(struct work *work, uint32_t nr, uint64_t from, uint64_t span);
void work_later(struct work *work, uint32_t nr, uint64_t by);
void work_shuffle(struct work *work, uint32_t nr);

/* The figure in a file of lines "key: value" or "key value"; "": just a value. */
uint64_t figure(const char *path, const char *key);
void set_figure(const char *path, const char *value);

/* twheel.c: for what only a wheel can be asked */
struct twheel_stats;
int wheel_open(uint32_t capacity);
void wheel_stats(int wheel, struct twheel_stats *stats);
int wheel_fd(void);

#endif /* TWHEEL_BENCH_H */
