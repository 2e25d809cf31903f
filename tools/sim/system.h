/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between sim.c, which keeps ids, periods and counters, and the systems, which keep
 * the places where timers wait.
 */
#ifndef TWHEEL_SIM_SYSTEM_H
#define TWHEEL_SIM_SYSTEM_H

#include "sim.h"

/*
 * What each system has to keep for a timer in addition to its own part, as twheel does: deadline,
 * interval, times, id and a cookie.
 */
#define SIM_RECORD_BYTES	32U

/**
 * struct sim_timer - a timer
 * @deadline: when it is due
 * @interval: its period, or 0
 * @order: of its last arming, among all
 * @again: the next of those that are to be armed for their next period
 * @id: which it is
 * @times: how often it is to expire still; 0: for ever
 * @moves: since it was armed
 * @level: where it was at the last event of an observer
 * @slot: likewise
 * @armed: it waits
 *
 * The system's own part lies behind it.
 */
struct sim_timer {
	uint64_t		deadline;
	uint64_t		interval;
	uint64_t		order;
	struct sim_timer	*again;
	uint32_t		id;
	uint32_t		times;
	uint32_t		moves;
	uint32_t		level;
	uint32_t		slot;
	bool			armed;
};

static inline void *sim_part(struct sim_timer *timer)
{
	return timer + 1;
}

/* Of a part the timer. */
static inline struct sim_timer *sim_timer_of(void *part)
{
	return (struct sim_timer *)part - 1;
}

/**
 * struct sim - a simulation
 * @system: what keeps the timers
 * @shape: as the system has made it
 * @observer: gets the events; @observer.tell may be NULL
 * @counters: what was done
 * @now: the time
 * @at: ticks that have passed, for the systems that are woken at each
 * @order: armings so far
 * @until: when the sleeping thread wakes up, with @sleeps of the system
 * @for_ever: armed timers that never end
 * @stopped: by sim_stop()
 * @again: timers to be armed again when the system has done its work
 * @block: the timers, in blocks; NULL where none was armed yet
 * @state: the system's own
 */
struct sim {
	const struct sim_system	*system;
	struct sim_shape	shape;
	struct sim_observer	observer;
	struct sim_counters	counters;
	uint64_t		now;
	uint64_t		at;
	uint64_t		order;
	uint64_t		until;
	uint32_t		for_ever;
	bool			stopped;
	struct sim_timer	*again;
	void			**block;
	void			*state;
};

/**
 * struct sim_system - a way to keep timers
 * @name: its name
 * @about: one line that describes it
 * @tick: its resolution, unless another is given
 * @slots: likewise; 0: it has none
 * @timer_size: bytes of its own part of each timer
 * @periodic: it arms the next period itself
 * @keyed: it refuses a timer that is armed already, and a delay or a period below a tick; it counts
 *	no overruns, because each period is inserted
 * @sleeps: a thread sleeps until the timer in position 0 is due; a new timer there wakes it
 * @create: set up @state by the shape, which may be corrected
 * @destroy: free it, also if create has failed half way
 * @arm: put a timer in by its deadline; or refuse it
 * @move: an armed timer has another deadline; NULL: it is taken out and put in
 * @cancel: take a timer out
 * @next: when to be woken
 * @wake: do the work that is due now
 * @where: report the place of an armed timer
 * @hand: for sim_hand(); NULL: the hands move with the clock
 * @memory: bytes in addition to those of the timers
 * @note: for sim_note(); NULL: it has nothing to say
 */
struct sim_system {
	const char	*name;
	const char	*about;
	uint64_t	tick;
	uint32_t	slots;
	uint32_t	timer_size;
	bool		periodic;
	bool		keyed;
	bool		sleeps;
	enum sim_result	(*create)(struct sim *s);
	void		(*destroy)(struct sim *s);
	enum sim_result	(*arm)(struct sim *s, struct sim_timer *timer);
	enum sim_result	(*move)(struct sim *s, struct sim_timer *timer);
	void		(*cancel)(struct sim *s, struct sim_timer *timer);
	uint64_t	(*next)(struct sim *s);
	void		(*wake)(struct sim *s);
	void		(*where)(struct sim *s, struct sim_timer *timer, struct sim_where *where);
	uint64_t	(*hand)(const struct sim *s);
	uint64_t	(*memory)(const struct sim *s);
	const char	*(*note)(const struct sim *s);
};

extern const struct sim_system sim_twheel, sim_simple, sim_hashed, sim_hierarchical, sim_clock,
	sim_keys, sim_heap, sim_list, sim_poll, sim_linux;

/* What a system calls while it is woken. */

/* It has taken the timer out: it is due.  @overruns: further periods that have passed. */
void sim_expire(struct sim *s, struct sim_timer *timer, uint64_t overruns);
/* It has put the timer elsewhere: further down, or from a queue into its slot. */
void sim_moved(struct sim *s, struct sim_timer *timer);
void sim_queued(struct sim *s, struct sim_timer *timer);

/* The timer of an id that was armed before. */
struct sim_timer *sim_timer_known(const struct sim *s, uint32_t id);

/* Times */

/* The first tick at or past a deadline, and behind those that have passed. */
static inline uint64_t sim_tick_of(const struct sim *s, uint64_t deadline)
{
	uint64_t tick = deadline / s->shape.tick + !!(deadline % s->shape.tick);

	return tick > s->at ? tick : s->at + 1;
}

/* For those that are woken at each tick. */
static inline uint64_t sim_next_tick(struct sim *s)
{
	return (s->at + 1) * s->shape.tick;
}

/* Lists of timers: a system's part begins with the link. */

struct sim_link {
	struct sim_link	*next;
	struct sim_link	*prev;
};

static inline void sim_list_init(struct sim_link *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool sim_list_empty(const struct sim_link *head)
{
	return head->next == head;
}

/* Behind @at, which is a timer's or a head. */
static inline void sim_list_insert(struct sim_link *at, struct sim_link *link)
{
	link->next = at->next;
	link->prev = at;
	at->next->prev = link;
	at->next = link;
}

static inline void sim_list_append(struct sim_link *head, struct sim_link *link)
{
	sim_list_insert(head->prev, link);
}

static inline void sim_list_remove(struct sim_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* All of a list into an empty one. */
static inline void sim_list_take(struct sim_link *from, struct sim_link *to)
{
	sim_list_init(to);
	if (sim_list_empty(from))
		return;
	*to = *from;
	to->next->prev = to;
	to->prev->next = to;
	sim_list_init(from);
}

static inline uint32_t sim_list_position(const struct sim_link *head, const struct sim_link *link)
{
	uint32_t position = 0;

	for (link = link->prev; link != head; link = link->prev)
		position++;
	return position;
}

/* Returns @nr empty lists, or NULL if there is no memory. */
struct sim_link *sim_lists_alloc(uint32_t nr);

#endif
