// SPDX-License-Identifier: GPL-2.0
/*
 * Polling: a list in no order, and at each tick a look at all timers.  Arming and cancelling cost
 * nothing; each tick costs a look at every timer.
 */
#include "system.h"

static enum sim_result poll_create(struct sim *s)
{
	s->state = sim_lists_alloc(1);
	return s->state ? SIM_OK : SIM_NO_MEMORY;
}

static void poll_destroy(struct sim *s)
{
	sim_free(s->state);
}

static enum sim_result poll_arm(struct sim *s, struct sim_timer *timer)
{
	sim_list_append(s->state, sim_part(timer));
	return SIM_OK;
}

static void poll_cancel(struct sim *s, struct sim_timer *timer)
{
	(void)s;
	sim_list_remove(sim_part(timer));
}

static void poll_wake(struct sim *s)
{
	struct sim_link *head = s->state, *link, *next;

	s->at++;
	for (link = head->next; link != head; link = next) {
		next = link->next;
		if (sim_timer_of(link)->deadline > s->now) {
			s->counters.passed++;
			continue;
		}
		sim_list_remove(link);
		sim_expire(s, sim_timer_of(link), 0);
	}
}

static void poll_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	where->place = SIM_IN_ORDER;
	where->position = sim_list_position(s->state, sim_part(timer));
}

static uint64_t poll_memory(const struct sim *s)
{
	(void)s;
	return sizeof(struct sim_link);
}

const struct sim_system sim_poll = {
	.name = "poll", .about = "polling: all timers are looked at, at each tick",
	.tick = 1000000, .timer_size = sizeof(struct sim_link),
	.create = poll_create, .destroy = poll_destroy, .arm = poll_arm, .cancel = poll_cancel,
	.next = sim_next_tick, .wake = poll_wake, .where = poll_where, .memory = poll_memory,
};
