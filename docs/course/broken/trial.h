/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel on trial: what your test may do with it.
 *
 * Behind this is the source of the module, wheel.c and what is above it, right or with one fault.
 * The time is yours: it passes in trial_run() and in trial_step(), and nowhere else.  All times
 * are in ns, from any 0 you like.
 *
 * A test is a program.  It ends with 0 if it finds nothing wrong, and expect() ends it with 1.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdint.h>

/* Ends the test, and says where and what, unless the condition holds. */
#define expect(condition)	\
	((condition) ? (void)0 : trial_fail(__FILE__, __LINE__, #condition))

_Noreturn void trial_fail(const char *file, int line, const char *what);

/* Instead of a time: never. */
#define TRIAL_NEVER	UINT64_MAX

/**
 * struct trial_shape - what a wheel is like; 0 stands for what is said behind the ;
 * @tick: ns; 1 ms
 * @slots: that a level turns through, a power of two; 64.  Its ring has twice as many
 * @levels: how many there may be; as many as any deadline needs
 * @capacity: ids are below this; 4096
 * @start: the time at first
 * @words: timers have words, for trial_store()
 */
struct trial_shape {
	uint64_t	tick;
	unsigned int	slots;
	unsigned int	levels;
	uint32_t	capacity;
	uint64_t	start;
	bool		words;
};

/**
 * struct trial_event - a timer has expired
 * @id: which
 * @generation: of the arming, as trial_arm() has returned it
 * @deadline: of that arming, or of the period
 * @fired: when the wheel has found it
 * @overruns: periods beyond this one that have passed, too, and get no event of their own
 */
struct trial_event {
	uint32_t	id;
	uint32_t	generation;
	uint64_t	deadline;
	uint64_t	fired;
	uint64_t	overruns;
};

/* What a cancel has found. */
enum trial_state {
	TRIAL_IDLE,		/* not armed */
	TRIAL_PENDING,		/* armed */
	TRIAL_EXPIRED,		/* its event waited, and will not come any more */
	TRIAL_DELIVERED,	/* not armed; its event was read */
	TRIAL_STALE,		/* it was armed anew since: nothing was cancelled */
};

struct trial *trial_new(struct trial_shape shape);
void trial_free(struct trial *t);
uint64_t trial_now(const struct trial *t);

/*
 * Arm a timer for a deadline, or move it there if it is armed.  With an interval it repeats, until
 * it is cancelled.  Returns the generation of this arming, which is not 0.
 */
uint32_t trial_arm(struct trial *t, uint32_t id, uint64_t deadline);
uint32_t trial_repeat(struct trial *t, uint32_t id, uint64_t deadline, uint64_t interval);

/* With a generation that is not 0, cancels that arming and no other. */
enum trial_state trial_cancel(struct trial *t, uint32_t id, uint32_t generation);

/* When the wheel wants to be turned next: what the kernel sets its hrtimer to. */
uint64_t trial_next(struct trial *t);

/*
 * It is @now: turn the wheel once, in which it handles at most 64 timers.  Returns how many.  If
 * that is 64 there may be more.  The time may leap over deadlines, as it does for a program that
 * was not let run.
 */
unsigned int trial_step(struct trial *t, uint64_t now);

/*
 * Let the time pass as it passes in the kernel: each time that trial_next() tells the wheel is
 * turned, until nothing is to be done any more, and between these times nobody looks at it.
 * Returns how often that was.
 */
unsigned int trial_run(struct trial *t, uint64_t until);

/*
 * Has the wheel told, since this was asked last, that there are events to read?  So it wakes a
 * program that sleeps in epoll.
 */
bool trial_told(struct trial *t);

/* Read the next event; false if there is none. */
bool trial_read(struct trial *t, struct trial_event *event);

/*
 * Store a deadline in the timer's word, or 0 to cancel it, as a program does without a call.
 * Returns whether the promise covers it; if not, the program has to call, by trial_call().
 */
bool trial_store(struct trial *t, uint32_t id, uint64_t deadline);
void trial_call(struct trial *t, uint32_t id);

/*
 * Be another thread: the next time that the wheel writes to memory which it shares, @other is
 * called first, once.  It may use trial_store() and nothing else: the wheel's lock is held.
 */
void trial_meanwhile(struct trial *t, void (*other)(struct trial *t));

#endif /* TRIAL_H */
