// SPDX-License-Identifier: GPL-2.0
/* What a simulation prints. */
#include <string.h>

#include "duration.h"
#include "output.h"
#include "sim/show.h"

#define PLACE_LEN	160

static char *place_text(char *buf, const struct sim_where *where)
{
	char span[DURATION_LEN];
	int len;

	switch (where->place) {
	case SIM_IN_SLOT:
		len = snprintf(buf, PLACE_LEN, "level %u (slots of %s), slot %u, position %u",
			       where->level, duration_exact(span, where->span), where->slot,
			       where->position);
		if (where->rounds)
			snprintf(buf + len, PLACE_LEN - len, ", %llu round%s left",
				 (unsigned long long)where->rounds,
				 where->rounds == 1 ? "" : "s");
		break;
	case SIM_IN_QUEUE:
		snprintf(buf, PLACE_LEN, "in the queue, position %u", where->position);
		break;
	case SIM_IN_ORDER:
		snprintf(buf, PLACE_LEN, "position %u", where->position);
		break;
	}
	return buf;
}

/* JSON by printf(), because twheel-sim is built without json-c.  No text needs escapes. */
static void json_begin(const char *what)
{
	printf("{\"what\":\"%s\"", what);
}

static void json_text(const char *key, const char *text)
{
	printf(",\"%s\":\"%s\"", key, text);
}

static void json_number(const char *key, uint64_t value)
{
	printf(",\"%s\":%llu", key, (unsigned long long)value);
}

static void json_where(const struct sim_where *where)
{
	static const char * const places[] = {
		[SIM_IN_SLOT] = "slot", [SIM_IN_QUEUE] = "queue", [SIM_IN_ORDER] = "order",
	};

	printf(",\"where\":{\"place\":\"%s\"", places[where->place]);
	json_number("level", where->level);
	json_number("slot", where->slot);
	json_number("position", where->position);
	json_number("rounds", where->rounds);
	json_number("span_ns", where->span);
	json_number("from_ns", where->from);
	json_number("moves", where->moves);
	putchar('}');
}

static void print_timer(uint64_t now, const char *what, uint32_t id)
{
	char time[DURATION_LEN];

	printf("%14s  %-8s %8u  ", duration_exact(time, now), what, id);
}

/* In the columns of a timer's line, without the timer. */
static void print_woken(uint64_t now, const char *text)
{
	char time[DURATION_LEN];

	printf("%14s  woken%*s%s\n", duration_exact(time, now), *text ? 14 : 0, "", text);
}

static void print_empty(const struct show *show, uint64_t nr, uint64_t last)
{
	char count[NUMBER_LEN], since[DURATION_LEN], text[128];

	if (!nr)
		return;
	if (nr == 1)
		strcpy(text, "for nothing");
	else
		snprintf(text, sizeof(text), "%s times since %s, for nothing", number(count, nr),
			 duration_exact(since, show->first));
	print_woken(last, text);
}

/* Print the wake-ups so far; @for_this: the last one was for the line that follows. */
static void flush_woken(struct show *show, bool for_this)
{
	if (!show->woken)
		return;
	print_empty(show, show->woken - for_this, for_this ? show->before : show->last);
	if (for_this)
		print_woken(show->last, "");
	show->woken = 0;
}

static void note_woken(struct show *show, uint64_t now)
{
	if (!show->woken++)
		show->first = now;
	show->before = show->last;
	show->last = now;
}

void show_operation(struct show *show, enum op_kind operation)
{
	flush_woken(show, false);
	show->operation = operation;
}

static const char *placed_name(const struct show *show)
{
	switch (show->operation) {
	case OP_ARM:
		return "armed";
	case OP_EXTEND:
	case OP_PUSH_BACK:
		return "extended";
	default:
		return "placed";
	}
}

static void print_lateness(const struct sim_event *event)
{
	char text[DURATION_LEN];

	if (event->now > event->deadline)
		printf("%s late", duration_exact(text, event->now - event->deadline));
	else if (event->now < event->deadline)
		printf("%s early", duration_exact(text, event->deadline - event->now));
	else
		printf("on time");
	if (event->overruns)
		printf(", %llu more periods have passed", (unsigned long long)event->overruns);
	putchar('\n');
}

static void event_text(struct show *show, const struct sim_event *event)
{
	char place[PLACE_LEN], due[DURATION_LEN];

	/* A wake-up that is followed by a sleep was for nothing. */
	flush_woken(show, event->what != SIM_SLEEPS);
	switch (event->what) {
	case SIM_PLACED:
		print_timer(event->now, placed_name(show), event->id);
		printf("due %s, %s\n", duration_exact(due, event->deadline),
		       place_text(place, &event->where));
		break;
	case SIM_MOVED:
		print_timer(event->now, "moved", event->id);
		printf("from level %u, slot %u to %s\n", event->from_level, event->from_slot,
		       place_text(place, &event->where));
		break;
	case SIM_EXPIRED:
		print_timer(event->now, "expired", event->id);
		print_lateness(event);
		break;
	case SIM_CANCELLED:
		print_timer(event->now, "cancel", event->id);
		printf("it was due %s\n", duration_exact(due, event->deadline));
		break;
	case SIM_SIGNALLED:
		print_woken(event->now, "by a timer that is due first");
		break;
	case SIM_SLEEPS:
		printf("%14s  sleeps%*suntil %s\n", duration_exact(place, event->now), 13, "",
		       duration_exact(due, event->deadline));
		break;
	case SIM_WOKEN:
		break;
	}
}

static void event_json(const struct sim_event *event)
{
	static const char * const names[] = {
		[SIM_WOKEN] = "woken", [SIM_PLACED] = "placed", [SIM_MOVED] = "moved",
		[SIM_EXPIRED] = "expired", [SIM_CANCELLED] = "cancelled",
		[SIM_SIGNALLED] = "signalled", [SIM_SLEEPS] = "sleeps",
	};

	json_begin(names[event->what]);
	json_number("time_ns", event->now);
	if (event->what == SIM_SLEEPS) {
		json_number("until_ns", event->deadline);
	} else if (event->what != SIM_WOKEN && event->what != SIM_SIGNALLED) {
		json_number("id", event->id);
		json_number("deadline_ns", event->deadline);
	}
	if (event->what == SIM_EXPIRED)
		json_number("overruns", event->overruns);
	if (event->what == SIM_MOVED) {
		json_number("from_level", event->from_level);
		json_number("from_slot", event->from_slot);
	}
	if (event->what == SIM_PLACED || event->what == SIM_MOVED)
		json_where(&event->where);
	puts("}");
}

void show_event(void *data, const struct sim_event *event)
{
	struct show *show = data;

	if (!show->trace && event->what != SIM_EXPIRED)
		return;
	if (show->json)
		event_json(event);
	else if (event->what == SIM_WOKEN)
		note_woken(show, event->now);
	else
		event_text(show, event);
}

/* An operation that was not carried out. */
static void json_not_done(struct sim *s, const struct op *op, const char *what)
{
	json_begin(what);
	json_number("time_ns", sim_now(s));
	json_number("id", op->id);
	json_text("operation", op_name(op->kind));
}

void show_missed(struct show *show, struct sim *s, const struct op *op)
{
	if (show->json) {
		json_not_done(s, op, "missed");
		puts("}");
		return;
	}
	print_timer(sim_now(s), op_name(op->kind), op->id);
	puts("it is not armed");
}

void show_refused(struct show *show, struct sim *s, const struct op *op, enum sim_result why)
{
	static const struct {
		const char *name;
		const char *text;
	} whys[] = {
		[SIM_REFUSED] = { "late", "that is later than the wheel reaches" },
		[SIM_EXISTS] = { "exists", "the key is armed already: cancel it first" },
		[SIM_TOO_SHORT] = { "short", "a delay or a period is below one tick" },
		[SIM_FULL] = { "full", "the limit of pending timers is reached" },
	};

	if (!show->json) {
		print_timer(sim_now(s), op_name(op->kind), op->id);
		printf("refused: %s\n", whys[why].text);
		return;
	}
	json_not_done(s, op, "refused");
	json_text("why", whys[why].name);
	puts("}");
}

static void show_timer(struct show *show, struct sim *s, const char *what, uint32_t id)
{
	char place[PLACE_LEN], due[DURATION_LEN];
	struct sim_where where;
	uint64_t deadline;

	sim_where(s, id, &where, &deadline);
	if (!show->json) {
		print_timer(sim_now(s), what, id);
		printf("due %s, %s; %u move%s so far\n", duration_exact(due, deadline),
		       place_text(place, &where), where.moves, where.moves == 1 ? "" : "s");
		return;
	}
	json_begin(what);
	json_number("time_ns", sim_now(s));
	json_number("id", id);
	json_number("deadline_ns", deadline);
	json_where(&where);
	puts("}");
}

void show_where(struct show *show, struct sim *s, uint32_t id)
{
	show_timer(show, s, "where", id);
}

void show_left(struct show *show, struct sim *s)
{
	uint32_t capacity = sim_shape(s)->capacity, id;

	for (id = sim_armed_from(s, 0); id < capacity; id = sim_armed_from(s, id + 1))
		show_timer(show, s, "left", id);
}

/* Counters */

static uint64_t late_mean(const struct sim_counters *c)
{
	return c->expired ? c->late_sum / c->expired : 0;
}

static void counters_json(const struct sim_system *system, struct sim *s)
{
	const struct sim_counters *c = sim_counters(s);
	const struct sim_shape *shape = sim_shape(s);

	json_begin("counters");
	json_text("system", sim_system_name(system));
	json_number("tick_ns", shape->tick);
	json_number("slots", shape->slots);
	json_number("levels", shape->levels);
	json_number("time_ns", sim_now(s));
	json_number("inserts", c->inserts);
	json_number("extends", c->extends);
	json_number("cancels", c->cancels);
	json_number("refused", c->refused);
	json_number("moves", c->moves);
	json_number("passed", c->passed);
	json_number("wakeups", c->wakeups);
	json_number("empty", c->empty);
	json_number("signals", c->signals);
	json_number("expired", c->expired);
	json_number("early", c->early);
	json_number("early_max_ns", c->early_max);
	json_number("armed", c->armed);
	json_number("armed_max", c->armed_max);
	json_number("late_max_ns", c->late_max);
	json_number("late_mean_ns", late_mean(c));
	json_number("timer_bytes", c->timer_bytes);
	json_number("memory_max", c->memory_max);
	json_text("note", sim_note(s));
	puts("}");
}

static void row(const char *what, uint64_t value, const char *note)
{
	char text[NUMBER_LEN];

	output_row(what, number(text, value), note);
}

static void counters_text(const struct sim_system *system, struct sim *s)
{
	const struct sim_counters *c = sim_counters(s);
	const struct sim_shape *shape = sim_shape(s);
	char text[DURATION_LEN], tick[DURATION_LEN], slots[32] = "";

	if (shape->slots)
		snprintf(slots, sizeof(slots), ", %u slots", shape->slots);
	printf("%s%s: tick %s%s%s\n", colour(stdout, BOLD), sim_system_name(system),
	       duration_exact(tick, shape->tick), slots, colour(stdout, PLAIN));
	row("inserts", c->inserts, "");
	row("extends", c->extends, "");
	row("cancels", c->cancels, "");
	if (c->refused)
		row("refused", c->refused, "arms and extends");
	row("moves", c->moves, "to another slot, on the way down");
	row("passed", c->passed, "looked at on the way to others, or too early");
	row("wake-ups", c->wakeups, "");
	row("empty wake-ups", c->empty, "nothing has expired, nothing was moved");
	if (c->signals)
		row("signals", c->signals, "a timer that became the first woke the sleeper");
	row("expired", c->expired, "");
	if (c->early)
		row("early", c->early, "before their deadlines");
	if (c->armed)
		row("armed still", c->armed, "run alone goes on until none is");
	if (c->early)
		output_row("earliness, the most", duration_short(text, c->early_max), "");
	output_row("lateness, the most", duration_short(text, c->late_max), "");
	output_row("lateness, the mean", duration_short(text, late_mean(c)), "");
	row("bytes a timer", c->timer_bytes, "");
	output_row("memory, the most", bytes(text, c->memory_max), "");
	if (*sim_note(s))
		printf("note: %s\n", sim_note(s));
}

void show_counters(struct show *show, const struct sim_system *system, struct sim *s)
{
	flush_woken(show, false);
	if (show->json)
		counters_json(system, s);
	else
		counters_text(system, s);
}

void show_head(void)
{
	printf("%s%-12s  %11s  %11s  %13s  %11s  %11s  %11s", colour(stdout, BOLD), "SYSTEM",
	       "INSERTS", "MOVES", "PASSED", "WAKE-UPS", "EMPTY", "EXPIRED");
	printf("  %9s  %9s  %9s  %9s  %10s  %7s  %9s%s\n", "REFUSED", "EARLY MAX", "LATE MAX",
	       "LATE MEAN", "HELD", "B/TIMER", "MEMORY", colour(stdout, PLAIN));
}

void show_row(const struct sim_system *system, struct sim *s)
{
	const struct sim_counters *c = sim_counters(s);
	char inserts[NUMBER_LEN], moves[NUMBER_LEN], passed[NUMBER_LEN], wakeups[NUMBER_LEN];
	char empty[NUMBER_LEN], expired[NUMBER_LEN], refused[NUMBER_LEN], memory[NUMBER_LEN];
	char early[DURATION_LEN], most[DURATION_LEN], mean[DURATION_LEN], held[NUMBER_LEN];

	printf("%-12s  %11s  %11s  %13s  %11s  %11s  %11s  %9s  %9s  %9s  %9s  %10s  %7u  %9s\n",
	       sim_system_name(system), number(inserts, c->inserts), number(moves, c->moves),
	       number(passed, c->passed), number(wakeups, c->wakeups), number(empty, c->empty),
	       number(expired, c->expired), number(refused, c->refused),
	       duration_short(early, c->early_max), duration_short(most, c->late_max),
	       duration_short(mean, late_mean(c)), number(held, c->armed_max), c->timer_bytes,
	       bytes(memory, c->memory_max));
}
