// SPDX-License-Identifier: GPL-2.0
/*
 * A sorted list, the soonest first.  It is exact, and expiry takes the first timer; but arming a
 * timer passes all timers that come after it.
 */
#include "system.h"

static enum sim_result list_create(struct sim *s)
{
	s->state = sim_lists_alloc(1);
	return s->state ? SIM_OK : SIM_NO_MEMORY;
}

static void list_destroy(struct sim *s)
{
	sim_free(s->state);
}

/* From the end, because most timers are armed for later than those that wait. */
static enum sim_result list_arm(struct sim *s, struct sim_timer *timer)
{
	struct sim_link *head = s->state, *at = head->prev;

	while (at != head && sim_timer_of(at)->deadline > timer->deadline) {
		at = at->prev;
		s->counters.passed++;
	}
	sim_list_insert(at, sim_part(timer));
	return SIM_OK;
}

static void list_cancel(struct sim *s, struct sim_timer *timer)
{
	(void)s;
	sim_list_remove(sim_part(timer));
}

static uint64_t list_next(struct sim *s)
{
	struct sim_link *head = s->state;

	return sim_list_empty(head) ? SIM_NEVER : sim_timer_of(head->next)->deadline;
}

static void list_wake(struct sim *s)
{
	while (list_next(s) <= s->now) {
		struct sim_link *first = ((struct sim_link *)s->state)->next;

		sim_list_remove(first);
		sim_expire(s, sim_timer_of(first), 0);
	}
}

static void list_where(struct sim *s, struct sim_timer *timer, struct sim_where *where)
{
	where->place = SIM_IN_ORDER;
	where->position = sim_list_position(s->state, sim_part(timer));
}

static uint64_t list_memory(const struct sim *s)
{
	(void)s;
	return sizeof(struct sim_link);
}

const struct sim_system sim_list = {
	.name = "list", .about = "a sorted list: each arm passes all timers that come later",
	.tick = 1, .timer_size = sizeof(struct sim_link),
	.create = list_create, .destroy = list_destroy, .arm = list_arm, .cancel = list_cancel,
	.next = list_next, .wake = list_wake, .where = list_where, .memory = list_memory,
};
