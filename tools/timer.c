// SPDX-License-Identifier: GPL-2.0
/* What list and get tell of a timer. */
#include <errno.h>
#include <stdio.h>

#include "array.h"
#include "device.h"
#include "output.h"
#include "timer.h"

const char *timer_state(const struct twheel_timer *timer)
{
	switch (timer->state) {
	case TWHEEL_STATE_PENDING:
		return "pending";
	case TWHEEL_STATE_EXPIRED:
		return "expired";
	case TWHEEL_STATE_DELIVERED:
		return "delivered";
	case TWHEEL_STATE_IDLE:
		return "idle";
	default:
		return "?";
	}
}

const char *timer_left(char *buf, const struct twheel_timer *timer)
{
	if (timer->count)
		snprintf(buf, TIMER_LEFT_LEN, "%u", timer->count);
	else
		snprintf(buf, TIMER_LEFT_LEN, timer->interval ? "for ever" : "-");
	return buf;
}

static struct json_object *where_json(const struct twheel_where *where)
{
	static const char * const places[] = {
		[TWHEEL_PLACE_NONE] = "none",
		[TWHEEL_PLACE_SLOT] = "slot",
		[TWHEEL_PLACE_BEHIND] = "unknown",
		[TWHEEL_PLACE_DUE] = "due",
	};
	struct json_object *object = json_new();

	/* A newer module may know other places. */
	json_text(object, "place", places[where->place < ARRAY_SIZE(places) ? where->place :
						  TWHEEL_PLACE_BEHIND]);
	if (where->place == TWHEEL_PLACE_SLOT) {
		json_number(object, "level", where->level);
		json_number(object, "slot", where->slot);
		json_number(object, "list", where->list);
		json_number(object, "before", where->before);
	}
	if (where->filed)
		json_number(object, "filed_ns", where->filed);
	return object;
}

void timer_json(struct json_object *line, const struct twheel_timer *timer,
		const struct twheel_where *where)
{
	json_number(line, "id", timer->id);
	json_number(line, "generation", timer->generation);
	json_text(line, "state", timer_state(timer));
	json_number(line, "count", timer->count);
	json_number(line, "cookie", timer->cookie);
	json_number(line, "deadline_ns", timer->deadline);
	json_number(line, "remaining_ns", timer->remaining);
	json_number(line, "interval_ns", timer->interval);
	json_number(line, "slack_ns", timer->slack);
	json_number(line, "overruns", timer->overruns);
	if (where)
		json_object_object_add(line, "where", where_json(where));
}
