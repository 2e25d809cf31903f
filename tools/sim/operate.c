// SPDX-License-Identifier: GPL-2.0
/* Operations of a script, carried out, and why they can't be. */
#include <stdio.h>

#include "duration.h"
#include "sim/operate.h"

static enum sim_result push_back(struct sim *s, const struct op *op)
{
	uint64_t deadline = 0;
	struct sim_where where;

	/* If there is none, the extend says so. */
	sim_place(s, op->id, &where, &deadline);
	return sim_extend(s, op->id, deadline + op->time);
}

static enum sim_result stop(struct sim *s)
{
	sim_stop(s);
	return SIM_OK;
}

bool op_is_past(const struct sim *s, const struct op *op)
{
	return op->kind == OP_AT && op->time < sim_now(s);
}

enum sim_result op_carry_out(struct sim *s, const struct op *op)
{
	struct sim_where where;

	switch (op->kind) {
	case OP_ARM:
		return sim_arm(s, op->id, op->time, op->interval, op->times);
	case OP_EXTEND:
		return sim_extend(s, op->id, sim_now(s) + op->time);
	case OP_PUSH_BACK:
		return push_back(s, op);
	case OP_CANCEL:
		return sim_cancel(s, op->id);
	case OP_AT:
		return op_is_past(s, op) ? SIM_PAST : sim_run(s, op->time);
	case OP_RUN:
		return sim_run(s, sim_now(s) + op->time);
	case OP_RUN_ALL:
		return sim_run(s, SIM_NEVER);
	case OP_WHERE:
		return sim_place(s, op->id, &where, NULL);
	case OP_STOP:
		return stop(s);
	}
	return SIM_OK;
}

const char *op_explain(struct sim *s, const struct op *op, enum sim_result result)
{
	static char text[160];
	char time[DURATION_LEN];
	const char *name = op_name(op->kind);

	switch (result) {
	case SIM_OK:
	case SIM_NOT_ARMED:
	case SIM_REFUSED:
		return NULL;
	case SIM_BAD_ID:
		snprintf(text, sizeof(text), "%s %u: ids are below %u: give more --capacity", name,
			 op->id, sim_shape(s)->capacity);
		break;
	case SIM_STOPPED:
		snprintf(text, sizeof(text), "%s: nothing goes on after stop: put it in front",
			 name);
		break;
	case SIM_ENDLESS:
		snprintf(text, sizeof(text), "run: a timer repeats for ever: say how long, as in "
					     "run 1s, or cancel it");
		break;
	case SIM_TOO_LONG:
		snprintf(text, sizeof(text),
			 "%s: there are too many wake-ups, or looks at timers, to wait for: give a "
			 "longer --tick, or another system with --as", name);
		break;
	case SIM_PAST:
		snprintf(text, sizeof(text), "%s %s: time does not go back", name,
			 duration_exact(time, op->time));
		break;
	case SIM_BAD_SHAPE:
	case SIM_NO_MEMORY:
		snprintf(text, sizeof(text), "%s: out of memory", name);
		break;
	}
	return text;
}
