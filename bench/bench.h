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
 * @sample: how many moves and cancels are measured of a round, where all
 *	would take long, because each walks a list; 0: all
 * @grows: the first arm of a timer allocates its memory, once
 * @open: make @nr timers, with ids from 0, none armed; returns how many its
 *	limits allow
 * @arm: arm timers that are not armed
 * @move: give armed timers another deadline
 * @extend: give armed timers a later deadline, if there is a shorter way to that
 * @cancel: disarm armed timers; deadlines are ignored
 * @deliver: wait for and take @nr expirations
 * @close: give all back
 *
 * A peer has one set of timers open at a time.
 */
struct peer {
	const char	*name;
	uint32_t	sample;
	bool		grows;
	uint32_t	(*open)(uint32_t nr, enum use use);
	void		(*arm)(const struct work *work, uint32_t nr);
	void		(*move)(const struct work *work, uint32_t nr);
	void		(*extend)(const struct work *work, uint32_t nr);
	void		(*cancel)(const struct work *work, uint32_t nr);
	void		(*deliver)(uint32_t nr);
	void		(*close)(void);
};

extern const struct peer peer_twheel, peer_words, peer_timerfd, peer_posix, peer_uring,
	peer_heap;

/* The parts; runs is how often each figure is taken. */
void bench_ops(unsigned int runs);
void bench_growth(unsigned int runs);
void bench_submit(unsigned int runs);
void bench_delivery(unsigned int runs);
void bench_memory(unsigned int runs);
void bench_tickless(unsigned int runs);

/* Is the time of this guest its instructions? */
extern bool icount;

/* cpu.c */
void sleep_until(uint64_t when);
double busy_seconds(void);
uint64_t timer_interrupts(void);

/* work.c */
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
