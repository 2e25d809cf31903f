// SPDX-License-Identifier: GPL-2.0
/* How list and get show a timer. */
#include <stdio.h>

#include "json.h"
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

void timer_json(const struct twheel_timer *timer)
{
	struct json_object *line = json_new();

	json_number(line, "id", timer->id);
	json_number(line, "generation", timer->generation);
	json_text(line, "state", timer_state(timer));
	json_number(line, "count", timer->count);
	json_number(line, "cookie", timer->cookie);
	json_number(line, "deadline_ns", timer->deadline);
	json_number(line, "remaining_ns", timer_remaining(timer));
	json_number(line, "interval_ns", timer->interval);
	json_number(line, "slack_ns", timer->slack);
	json_number(line, "overruns", timer->overruns);
	json_print(line);
}
