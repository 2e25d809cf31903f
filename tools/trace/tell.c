// SPDX-License-Identifier: GPL-2.0
/* What twheel trace prints. */
#include <stdio.h>
#include <stdlib.h>

#include "duration.h"
#include "output.h"
#include "trace/tell.h"

/**
 * struct place - where a timer is
 * @due: it waits to be delivered
 * @level: of its slot; -1: nothing tells
 * @slot: likewise
 */
struct place {
	bool	due;
	int64_t	level;
	int64_t	slot;
};

static struct place place_of(const struct event *event)
{
	return (struct place){
		.due = event->kind == EVENT_ARM && !event->ahead,
		.level = event->level,
		.slot = event->slot,
	};
}

/**
 * struct listed - a timer that was armed already
 * @id: its id
 * @generation: of that arming
 */
struct listed {
	uint32_t	id;
	uint32_t	generation;
};

static void note_listed(struct tell *tell, const struct twheel_timer *timer)
{
	/* There is room for a power of two of them. */
	if (!(tell->nr_listed & (tell->nr_listed - 1))) {
		size_t room = tell->nr_listed ? 2 * tell->nr_listed : 1;

		tell->listed = reallocarray(tell->listed, room, sizeof(*tell->listed));
		if (!tell->listed)
			fail("out of memory");
	}
	tell->listed[tell->nr_listed++] = (struct listed){ timer->id, timer->generation };
}

static int compare(const void *a, const void *b)
{
	const struct listed *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/* The trace is on before the timers are listed.  Is this event older than what was listed? */
static bool is_told(const struct tell *tell, const struct event *event)
{
	const struct listed wanted = { .id = event->id }, *listed = NULL;
	int32_t newer;

	if (tell->nr_listed)
		listed = bsearch(&wanted, tell->listed, tell->nr_listed, sizeof(wanted), compare);
	if (!listed)
		return false;
	newer = (uint32_t)event->generation - listed->generation;
	return newer < 0 || (!newer && event->kind == EVENT_ARM);
}

/* For people */

static void print_time(const struct tell *tell, const char *what)
{
	char time[DURATION_LEN];

	printf("%14s  %-9s ", duration_exact(time, tell->last - tell->begin), what);
}

static void print_place(const struct place *place)
{
	if (place->due)
		puts("it is due");
	else if (place->level < 0)
		puts("where, nothing tells");
	else
		printf("level %lld, slot %lld\n", (long long)place->level, (long long)place->slot);
}

static void print_deadline(const struct tell *tell, uint64_t deadline)
{
	char text[DURATION_LEN];

	if (deadline >= tell->begin)
		printf("due %s, ", duration_exact(text, deadline - tell->begin));
	else
		printf("due before, ");
}

static void print_late(const struct event *event)
{
	char late[DURATION_LEN], unread[DURATION_LEN];

	printf("%s late", duration_short(late, event->late));
	if (event->overdue)
		printf(", its time had passed when it was armed");
	if (event->kind == EVENT_DELIVER)
		printf(", %s unread", duration_short(unread, event->unread));
	if (event->overruns)
		printf(", %llu more periods have passed", (unsigned long long)event->overruns);
	putchar('\n');
}

/* For programs */

static struct json_object *line_of(const struct tell *tell, const char *what)
{
	struct json_object *line = json_new();

	json_text(line, "what", what);
	json_number(line, "time_ns", tell->last);
	return line;
}

static void add_signed(struct json_object *object, const char *key, int64_t value)
{
	json_object_object_add(object, key, json_object_new_int64(value));
}

static void add_place(struct json_object *line, const struct place *place)
{
	struct json_object *object = json_object_new_object();

	json_text(object, "place", place->due ? "due" : place->level < 0 ? "unknown" : "slot");
	if (!place->due && place->level >= 0) {
		add_signed(object, "level", place->level);
		add_signed(object, "slot", place->slot);
	}
	json_object_object_add(line, "where", object);
}

static void add_lateness(struct json_object *line, const struct event *event)
{
	json_number(line, "late_ns", event->late);
	json_object_object_add(line, "overdue", json_object_new_boolean(event->overdue));
}

/* Both */

/* A line about a timer has begun; NULL: it is for people. */
static struct json_object *timer_line(const struct tell *tell, const char *what, uint64_t id,
				      uint64_t generation)
{
	struct json_object *line;

	if (!tell->json) {
		print_time(tell, what);
		printf("%7llu  ", (unsigned long long)id);
		return NULL;
	}
	line = line_of(tell, what);
	json_number(line, "id", id);
	json_number(line, "generation", generation);
	return line;
}

static void tell_placed(const struct tell *tell, const char *what, const char *words, uint64_t id,
			uint64_t generation, uint64_t deadline, const struct place *place)
{
	struct json_object *line = timer_line(tell, tell->json ? what : words, id, generation);

	if (!line) {
		print_deadline(tell, deadline);
		print_place(place);
		return;
	}
	json_number(line, "deadline_ns", deadline);
	add_place(line, place);
	json_print(line);
}

void tell_armed(struct tell *tell, const struct twheel_timer *timer,
		const struct twheel_where *where)
{
	struct place place = {
		.due = timer->state == TWHEEL_STATE_EXPIRED, .level = -1, .slot = -1,
	};

	if (where && where->place == TWHEEL_PLACE_SLOT) {
		place.level = where->level;
		place.slot = where->slot;
	}
	note_listed(tell, timer);
	tell_placed(tell, "where", "where", timer->id, timer->generation, timer->deadline, &place);
}

static void tell_cancelled(const struct tell *tell, const struct event *event, const char *by)
{
	struct json_object *line = timer_line(tell, "cancelled", event->id, event->generation);

	if (!line) {
		printf("by a %s\n", by);
		return;
	}
	json_text(line, "by", by);
	json_print(line);
}

static void tell_arm(const struct tell *tell, const struct event *event)
{
	const struct place place = place_of(event);

	/* Armed for never. */
	if (!event->deadline) {
		if (event->armed)
			tell_cancelled(tell, event, "call");
		return;
	}
	tell_placed(tell, "placed", event->armed ? "moved to" : "armed", event->id,
		    event->generation, event->deadline, &place);
}

/* Without a call: by its word, or for its next period. */
static void tell_refiled(const struct tell *tell, const struct event *event, const char *how)
{
	const struct place place = place_of(event);

	tell_placed(tell, "placed", how, event->id, event->generation, event->deadline, &place);
}

static void tell_move(const struct tell *tell, const struct event *event)
{
	const struct place place = place_of(event);
	struct json_object *line;

	if (!tell->json) {
		print_time(tell, "moved");
		printf("%7llu  ", (unsigned long long)event->id);
		if (event->from_level >= 0)
			printf("from level %lld, slot %lld to ", (long long)event->from_level,
			       (long long)event->from_slot);
		print_place(&place);
		return;
	}
	line = line_of(tell, "moved");
	json_number(line, "id", event->id);
	add_signed(line, "from_level", event->from_level);
	add_signed(line, "from_slot", event->from_slot);
	add_place(line, &place);
	json_print(line);
}

static void tell_cascade(const struct tell *tell, const struct event *event)
{
	struct json_object *line;

	if (!tell->json) {
		print_time(tell, "cascade");
		printf("%7s  level %lld, slot %lld comes down with %llu timer%s\n", "",
		       (long long)event->level, (long long)event->slot,
		       (unsigned long long)event->timers, event->timers == 1 ? "" : "s");
		return;
	}
	line = line_of(tell, "cascade");
	add_signed(line, "level", event->level);
	add_signed(line, "slot", event->slot);
	json_number(line, "timers", event->timers);
	json_print(line);
}

static void tell_expire(const struct tell *tell, const struct event *event)
{
	struct json_object *line = timer_line(tell, "expired", event->id, event->generation);

	if (!line) {
		print_late(event);
		return;
	}
	json_number(line, "deadline_ns", event->deadline);
	add_lateness(line, event);
	json_print(line);
}

static void tell_stale(const struct tell *tell, const struct event *event)
{
	struct json_object *line = timer_line(tell, "stale", event->id, event->generation);

	if (!line) {
		puts("its event does not count: a store has moved or cancelled it");
		return;
	}
	json_number(line, "deadline_ns", event->deadline);
	json_print(line);
}

static void tell_deliver(const struct tell *tell, const struct event *event)
{
	struct json_object *line = timer_line(tell, "delivered", event->id, event->generation);

	if (!line) {
		print_late(event);
		return;
	}
	json_number(line, "cookie", event->cookie);
	json_number(line, "deadline_ns", event->deadline);
	add_lateness(line, event);
	json_number(line, "unread_ns", event->unread);
	json_number(line, "overruns", event->overruns);
	json_print(line);
}

static void tell_fire(const struct tell *tell, const struct event *event)
{
	struct json_object *line;
	char late[DURATION_LEN];

	if (!tell->json) {
		print_time(tell, "woken");
		printf("%7s  the hrtimer of processor %u, %s late\n", "", event->cpu,
		       duration_short(late, event->late));
		return;
	}
	line = line_of(tell, "woken");
	json_number(line, "cpu", event->cpu);
	json_number(line, "late_ns", event->late);
	json_print(line);
}

static void tell_lost(const struct tell *tell, const struct event *event)
{
	struct json_object *line;

	if (!tell->json) {
		print_time(tell, "lost");
		printf("%7s  %llu events, for which the kernel had no room\n", "",
		       (unsigned long long)event->lost);
		return;
	}
	line = line_of(tell, "lost");
	json_number(line, "events", event->lost);
	json_print(line);
}

void tell_event(struct tell *tell, const struct event *event)
{
	uint64_t time = event->time + tell->clock;

	/* Lines of several processors may come in another order, by a little. */
	if (event->kind != EVENT_LOST && time > tell->last)
		tell->last = time;
	if (event_has_generation(event->kind) && is_told(tell, event))
		return;
	switch (event->kind) {
	case EVENT_ARM:
		tell_arm(tell, event);
		return;
	case EVENT_CANCEL:
		tell_cancelled(tell, event, "call");
		return;
	case EVENT_EXTEND:
		tell_refiled(tell, event, "extended");
		return;
	case EVENT_RESUME:
		tell_refiled(tell, event, "resumed");
		return;
	case EVENT_LET_GO:
		tell_cancelled(tell, event, "store");
		return;
	case EVENT_CASCADE:
		tell_cascade(tell, event);
		return;
	case EVENT_MOVE:
		tell_move(tell, event);
		return;
	case EVENT_EXPIRE:
		tell_expire(tell, event);
		return;
	case EVENT_STALE:
		tell_stale(tell, event);
		return;
	case EVENT_DELIVER:
		tell_deliver(tell, event);
		return;
	case EVENT_FIRE:
		tell_fire(tell, event);
		return;
	case EVENT_LOST:
		tell_lost(tell, event);
	}
}

void tell_end(struct tell *tell)
{
	free(tell->listed);
}
