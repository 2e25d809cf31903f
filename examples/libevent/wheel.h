/* SPDX-License-Identifier: MIT */
/*
 * Timers for a loop of libevent's, all of them behind one event: a wheel's.
 */
#ifndef WHEEL_H
#define WHEEL_H

#include <event2/event.h>
#include <stdint.h>

struct wheel;

/* What a timer calls; it may add and delete timers, but not free the wheel. */
typedef void (*wheel_call)(uint32_t id, void *arg);

/* For timers with ids below @capacity, all of which call that.  0, or a negative errno. */
int wheel_new(struct wheel **wheel, struct event_base *base, uint32_t capacity, wheel_call call,
	      void *arg);
void wheel_free(struct wheel *wheel);

/* Have a timer call in so long, once, whether or not it was to call before. */
int wheel_add(struct wheel *wheel, uint32_t id, uint64_t ns);
int wheel_del(struct wheel *wheel, uint32_t id);

#endif
