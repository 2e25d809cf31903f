/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel in user space with wheels in it: what sys.h asks for, after the protocol
 * of the words, and with time that goes on when a test says so.
 */
#ifndef TWHEEL_TESTS_KERNEL_H
#define TWHEEL_TESTS_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/twheel.h>

#define KERNEL_CAPACITY_MAX	1024U

/* How long an ioctl is held, ns of real time. */
#define KERNEL_HOLD		200000000L

/**
 * struct kernel - what the kernel is like; a test may change it
 * @features: TWHEEL_FEATURE_*
 * @abi: what it says of itself
 * @open_error: what to open the device returns
 * @map_error: what every mmap returns
 * @timer_error: what to make a timerfd returns
 * @words_error: what every setup with words returns
 * @submit_max: operations in one submit, as if a signal came; 0: all
 * @submit_error: what the next submit returns, once
 * @list_max: ids that a list comes to before a signal does; 0: all
 * @clock_offset: ns that wheels are ahead of what the process reads of their clock
 * @hold: the next ioctl takes long, once; it has done all then, and this is false
 * @stored_fails: so many stored arms fail
 * @in_get: called by the next GET, before it has looked
 * @after_get: called after it
 * @in_list: called by the next LIST, once, before it has looked
 * @in_submit: the same of a SUBMIT
 * @in_timer_set: called when a timerfd is set
 * @generations: by so many the generation of a timer goes on with each arm; 0: by one
 * @interrupt: the next poll finds a signal
 * @threads: others move the time: a poll waits for that
 * @calls: made so far
 * @arms: ARM calls among them
 * @submits: SUBMIT calls among them
 * @stored: arms by the word, in either
 * @gets: GET calls
 * @reads: read calls
 * @polls: polls that slept
 */
struct kernel {
	uint64_t	features;
	uint32_t	abi;
	int		open_error;
	int		map_error;
	int		timer_error;
	int		words_error;
	uint32_t	submit_max;
	int		submit_error;
	uint32_t	list_max;
	uint64_t	clock_offset;
	bool		hold;
	uint32_t	stored_fails;
	void		(*in_get)(void);
	void		(*after_get)(void);
	void		(*in_list)(void);
	void		(*in_submit)(void);
	void		(*in_timer_set)(void);
	uint32_t	generations;
	bool		interrupt;
	bool		threads;
	unsigned long	calls;
	unsigned long	arms;
	unsigned long	submits;
	unsigned long	stored;
	unsigned long	gets;
	unsigned long	reads;
	unsigned long	polls;
};

extern struct kernel kernel;

/* With --wrap, what is asked of pthread_atfork() comes to the first, which a test has. */
int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int __real_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));

/* Start anew, with no wheels. */
void kernel_boot(uint64_t features);

uint64_t kernel_now(void);
/* Let time go on, and look at what is due. */
void kernel_advance(uint64_t ns);
/* Set the clock of all wheels back. */
void kernel_set_back(uint64_t ns);

/* As dup(): another descriptor of the same wheel. */
int kernel_dup(int fd);
/* Files that are open. */
unsigned int kernel_open_files(void);
/* Mappings that were not unmapped. */
unsigned int kernel_mappings(void);
bool kernel_nonblocking(int fd);
void kernel_make_read_only(int fd);
void kernel_make_blocking(int fd);

#endif
