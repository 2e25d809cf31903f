/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers in simulated time, kept by one of several systems: twheel itself, or one that textbooks
 * and well-known libraries teach.
 *
 * The same operations on each system show where a timer waits, how often it is moved, how often
 * a wake-up is needed for it, and how late it comes.  Nothing here reads a clock, prints, or needs
 * more of the C library than memset() and memcpy(): sim_run() sets the time.
 *
 * All times are in ns, on one clock that begins at the shape's start.
 */
#ifndef TWHEEL_SIM_H
#define TWHEEL_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Later than all times. */
#define SIM_NEVER	UINT64_MAX
/* The last time that a timer may be due at. */
#define SIM_LAST	((uint64_t)INT64_MAX)

/* Ids are below that. */
#define SIM_MAX_CAPACITY	(1U << 24)

/**
 * struct sim_shape - what a wheel looks like
 * @tick: its resolution; 0: the system's own
 * @slots: of a level; 0: likewise.  A system without slots does not look at it.
 * @levels: at most; 0: as many as are needed.  A system without levels does not look at it.
 * @capacity: ids are below it
 * @start: the time of the clock when the simulation begins
 * @pending: hashed: at most this many timers are armed at once; 0: no limit
 * @round_up: hierarchical: round a deadline between two ticks up, not down
 */
struct sim_shape {
	uint64_t	tick;
	uint32_t	slots;
	uint32_t	levels;
	uint32_t	capacity;
	uint64_t	start;
	uint32_t	pending;
	bool		round_up;
};

/**
 * enum sim_result - what became of an operation
 * @SIM_OK: it is done
 * @SIM_NOT_ARMED: there is no such timer, or not any more
 * @SIM_REFUSED: the system takes no timer for so late
 * @SIM_BAD_ID: it is not below the capacity
 * @SIM_BAD_SHAPE: the system can't have this shape
 * @SIM_STOPPED: after sim_stop()
 * @SIM_ENDLESS: a timer expires for ever
 * @SIM_TOO_LONG: there are too many wake-ups to wait for
 * @SIM_NO_MEMORY: there is none
 * @SIM_EXISTS: the system refuses a timer that is armed already
 * @SIM_TOO_SHORT: the system refuses a delay or period below a tick
 * @SIM_FULL: the limit of pending timers is reached
 */
enum sim_result {
	SIM_OK,
	SIM_NOT_ARMED,
	SIM_REFUSED,
	SIM_BAD_ID,
	SIM_BAD_SHAPE,
	SIM_STOPPED,
	SIM_ENDLESS,
	SIM_TOO_LONG,
	SIM_NO_MEMORY,
	SIM_EXISTS,
	SIM_TOO_SHORT,
	SIM_FULL,
};

/**
 * enum sim_place - what kind of place a timer waits in
 * @SIM_IN_SLOT: a slot of a level
 * @SIM_IN_QUEUE: a queue in front of the slots
 * @SIM_IN_ORDER: one order of all timers: a heap, a list
 */
enum sim_place {
	SIM_IN_SLOT,
	SIM_IN_QUEUE,
	SIM_IN_ORDER,
};

/**
 * struct sim_where - where a timer is
 * @place: the kind of place; only in a slot there are @level, @slot, @span, @from and @rounds
 * @level: 0 is the finest
 * @slot: its number in the ring of that level
 * @position: in the list of the slot, in the queue, or in the order
 * @rounds: turns of the wheel that are left before its own
 * @span: how long a slot of that level is
 * @from: when this slot begins
 * @moves: how often the timer was moved since it was armed
 */
struct sim_where {
	enum sim_place	place;
	uint32_t	level;
	uint32_t	slot;
	uint32_t	position;
	uint64_t	rounds;
	uint64_t	span;
	uint64_t	from;
	uint32_t	moves;
};

/**
 * enum sim_what - the kinds of events
 * @SIM_WOKEN: the system is woken; the events of what it does follow
 * @SIM_PLACED: a timer was armed, or pushed back, or has come from the queue into a slot
 * @SIM_MOVED: the system has moved a timer to another slot
 * @SIM_EXPIRED: a timer has expired
 * @SIM_CANCELLED: a timer was taken out by a cancel, or by an arm that was then refused; or its
 *	next period was refused
 * @SIM_SIGNALLED: a timer that became the first woke the sleeping thread
 * @SIM_SLEEPS: the thread sleeps
 */
enum sim_what {
	SIM_WOKEN,
	SIM_PLACED,
	SIM_MOVED,
	SIM_EXPIRED,
	SIM_CANCELLED,
	SIM_SIGNALLED,
	SIM_SLEEPS,
};

/**
 * struct sim_event - what has happened
 * @what: the kind of event
 * @now: when
 * @id: which timer; not with SIM_WOKEN, SIM_SIGNALLED and SIM_SLEEPS
 * @deadline: when that timer is, or was, due; SIM_SLEEPS: when the thread wakes up
 * @overruns: SIM_EXPIRED: further periods that have passed
 * @from_level: SIM_MOVED: where it was
 * @from_slot: likewise
 * @where: SIM_PLACED and SIM_MOVED: where it is now
 */
struct sim_event {
	enum sim_what		what;
	uint64_t		now;
	uint32_t		id;
	uint64_t		deadline;
	uint64_t		overruns;
	uint32_t		from_level;
	uint32_t		from_slot;
	struct sim_where	where;
};

/**
 * struct sim_observer - gets each event
 * @tell: called for each event
 * @data: its first argument
 */
struct sim_observer {
	void	(*tell)(void *data, const struct sim_event *event);
	void	*data;
};

/**
 * struct sim_counters - what a system has done
 * @inserts: timers that were put into it: arms, and the periods of periodic ones
 * @extends: timers that were pushed back, or forward
 * @cancels: timers that were cancelled
 * @refused: arms and extends that the system has refused
 * @moves: timers that the system itself moved to another slot: the cascade
 * @passed: timers that were looked at on the way to others, or too early
 * @wakeups: how often it was woken
 * @empty: of these, those in which no timer expired or moved
 * @signals: how often a timer that became the first woke the sleeping thread
 * @expired: expirations
 * @early: of these, how many came before their deadline
 * @early_max: the largest earliness, ns
 * @late_max: the largest lateness, ns
 * @late_sum: the sum of all; an early timer adds nothing
 * @armed: timers that are armed
 * @armed_max: the maximum of @armed
 * @timer_bytes: memory of a timer
 * @memory_max: the maximum of all memory, bytes
 */
struct sim_counters {
	uint64_t	inserts;
	uint64_t	extends;
	uint64_t	cancels;
	uint64_t	refused;
	uint64_t	moves;
	uint64_t	passed;
	uint64_t	wakeups;
	uint64_t	empty;
	uint64_t	signals;
	uint64_t	expired;
	uint64_t	early;
	uint64_t	early_max;
	uint64_t	late_max;
	uint64_t	late_sum;
	uint32_t	armed;
	uint32_t	armed_max;
	uint32_t	timer_bytes;
	uint64_t	memory_max;
};

struct sim;
struct sim_system;

/* All systems; NULL ends them.  The first is twheel. */
extern const struct sim_system * const sim_systems[];

const struct sim_system *sim_system_named(const char *name);
const char *sim_system_name(const struct sim_system *system);
/* One line that describes it. */
const char *sim_system_about(const struct sim_system *system);

/* Sets @result and returns NULL if there can be none.  @observer may be NULL; it is copied. */
struct sim *sim_create(const struct sim_system *system, const struct sim_shape *shape,
		       const struct sim_observer *observer, enum sim_result *result);
void sim_destroy(struct sim *s);

/*
 * Arm a timer, or anew, for @delay from now; then each @interval, unless that is 0, so that it
 * expires @times times; 0: for ever.
 */
enum sim_result sim_arm(struct sim *s, uint32_t id, uint64_t delay, uint64_t interval,
			uint32_t times);
/* Move an armed timer to another deadline.  If that is refused it keeps the one it has. */
enum sim_result sim_extend(struct sim *s, uint32_t id, uint64_t deadline);
enum sim_result sim_cancel(struct sim *s, uint32_t id);

/* Take no more timers, and do not wake up any more; sim_where() still finds what is left. */
void sim_stop(struct sim *s);

uint64_t sim_now(const struct sim *s);
/* When the system wants to be woken. */
uint64_t sim_next(struct sim *s);
/* Wake it then. */
void sim_wake(struct sim *s);
/* Is a timer armed that repeats for ever? */
bool sim_endless(const struct sim *s);
/* Wake it as often as it wants up to a time, or, with SIM_NEVER, until no timer is armed. */
enum sim_result sim_run(struct sim *s, uint64_t until);

/* Where an armed timer is; @deadline may be NULL. */
enum sim_result sim_where(struct sim *s, uint32_t id, struct sim_where *where,
			  uint64_t *deadline);
/*
 * The tick that the hands show: the hand of a level stands in the slot of that tick.  It is behind
 * the clock in a system whose hands move only when it is woken.
 */
uint64_t sim_hand(const struct sim *s);
/* The first armed timer from an id on; the capacity, if there is none. */
uint32_t sim_armed_from(const struct sim *s, uint32_t id);

/* What the system has made of the shape. */
const struct sim_shape *sim_shape(const struct sim *s);
const struct sim_counters *sim_counters(const struct sim *s);
/* Where the system's answers differ from a blackboard's: a sentence, or "". */
const char *sim_note(const struct sim *s);

/*
 * Memory, zeroed.  Not part of this library: each program provides it.  memory.c does so for
 * programs that have malloc().
 */
void *sim_alloc(size_t size, size_t align);
void sim_free(void *memory);

#endif
