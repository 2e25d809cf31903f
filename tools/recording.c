// SPDX-License-Identifier: GPL-2.0
/* Records of the events of a wheel, from the simulator and from tracepoints. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "json.h"
#include "output.h"
#include "recording.h"

/* At most this many wheels of a recording have their clocks compared. */
#define WHEELS_MAX	64

/* With 4,096 slots, the largest number of sim and of the kernel, a ring of two turns has these. */
#define SLOTS_MAX	4096
#define RING_MAX	(2 * SLOTS_MAX)

/* Returns false if no wheel has such numbers; they may be from anywhere. */
static bool add(struct recording *recording, const struct record *record)
{
	if (record->time > INT64_MAX || record->deadline > INT64_MAX || record->late == INT64_MIN ||
	    record->id >= SIM_MAX_CAPACITY || record->slot >= RING_MAX ||
	    record->level < LEVEL_QUEUE || record->level > 64)
		return false;
	recording->record = array_grown(recording->record, recording->nr, &recording->size,
					sizeof(*record));
	recording->record[recording->nr++] = *record;
	return true;
}

static uint32_t known_slots(uint64_t slots)
{
	return slots <= SLOTS_MAX ? slots : 0;
}

void recording_free(struct recording *recording)
{
	free(recording->record);
	*recording = (struct recording){};
}

/* The simulator, directly and as JSON */

void recording_of_event(void *data, const struct sim_event *event)
{
	static const enum record_what whats[] = {
		[SIM_WOKEN] = RECORD_WOKEN, [SIM_PLACED] = RECORD_PLACED,
		[SIM_MOVED] = RECORD_MOVED, [SIM_EXPIRED] = RECORD_EXPIRED,
		[SIM_CANCELLED] = RECORD_CANCELLED,
	};
	static const int32_t levels[] = {
		[SIM_IN_QUEUE] = LEVEL_QUEUE, [SIM_IN_ORDER] = LEVEL_ORDER,
	};
	const struct sim_where *where = &event->where;
	struct record record = {
		.time = event->now, .id = event->id, .deadline = event->deadline,
		.level = LEVEL_UNKNOWN,
	};

	/* A thread that sleeps again has done nothing for a timer. */
	if (event->what == SIM_SIGNALLED || event->what == SIM_SLEEPS)
		return;
	record.what = whats[event->what];
	if (event->what == SIM_EXPIRED)
		record.late = event->now - event->deadline;
	if (event->what == SIM_PLACED || event->what == SIM_MOVED) {
		record.level = where->place == SIM_IN_SLOT ? (int32_t)where->level :
							     levels[where->place];
		record.slot = where->slot;
		record.rounds = where->rounds;
		record.span = where->span;
	}
	add(data, &record);
}

static uint64_t json_get(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_uint64(value) : 0;
}

static const char *json_word(struct json_object *object, const char *key)
{
	struct json_object *value;

	/* A null has no string. */
	return json_object_object_get_ex(object, key, &value) && value ?
	       json_object_get_string(value) : "";
}

static int index_of(const char * const *words, int nr, const char *word)
{
	while (nr-- && strcmp(words[nr], word))
		;
	return nr;
}

static bool of_json(struct recording *recording, struct json_object *object)
{
	static const char * const whats[] = {
		[SIM_WOKEN] = "woken", [SIM_PLACED] = "placed", [SIM_MOVED] = "moved",
		[SIM_EXPIRED] = "expired", [SIM_CANCELLED] = "cancelled",
	};
	static const char * const places[] = {
		[SIM_IN_SLOT] = "slot", [SIM_IN_QUEUE] = "queue", [SIM_IN_ORDER] = "order",
	};
	const char *what = json_word(object, "what");
	int kind = index_of(whats, ARRAY_SIZE(whats), what);
	struct json_object *where;
	size_t before = recording->nr;
	struct sim_event event;
	int place;

	if (!strcmp(what, "counters")) {
		recording->tick = json_get(object, "tick_ns");
		recording->slots = known_slots(json_get(object, "slots"));
		snprintf(recording->name, sizeof(recording->name), "%s",
			 json_word(object, "system"));
	}
	if (kind < 0)
		return false;
	event = (struct sim_event){
		.what = kind, .now = json_get(object, "time_ns"), .id = json_get(object, "id"),
		.deadline = json_get(object, "deadline_ns"),
	};
	if (json_object_object_get_ex(object, "where", &where)) {
		place = index_of(places, ARRAY_SIZE(places), json_word(where, "place"));
		event.where = (struct sim_where){
			.place = place < 0 ? SIM_IN_QUEUE : place,
			.level = json_get(where, "level"), .slot = json_get(where, "slot"),
			.rounds = json_get(where, "rounds"), .span = json_get(where, "span_ns"),
		};
	}
	recording_of_event(recording, &event);
	return recording->nr > before;
}

/* Tracepoints, as text */

/* The record of each tracepoint; other tracepoints are skipped. */
static const struct tracepoint {
	const char *name;
	enum record_what what;
} tracepoints[] = {
	{ "timer_arm", RECORD_PLACED },
	{ "timer_cancel", RECORD_CANCELLED },
	{ "timer_let_go", RECORD_CANCELLED },
	{ "timer_stale", RECORD_CANCELLED },
	{ "timer_file", RECORD_FILED },
	{ "timer_move", RECORD_MOVED },
	{ "timer_expire", RECORD_EXPIRED },
	{ "timer_deliver", RECORD_DELIVERED },
	{ "hrtimer_fire", RECORD_WOKEN },
	/* No tracepoint: a line of twheel top --record. */
	{ "list", RECORD_LISTED },
};

/* The event at the beginning of a text; @fields: the text after its name. */
static const struct tracepoint *tracepoint_of(const char *text, const char **fields)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		len = strlen(tracepoints[i].name);
		if (strncmp(text, tracepoints[i].name, len) || text[len] != ':')
			continue;
		*fields = text + len + 1;
		return &tracepoints[i];
	}
	return NULL;
}

/* Returns the number of KEY=NUMBER, or @missing. */
static int64_t field(const char *fields, const char *key, int64_t missing)
{
	size_t len = strlen(key);
	const char *at = fields;

	while ((at = strstr(at, key))) {
		if (at > fields && at[-1] == ' ' && at[len] == '=')
			return (int64_t)strtoull(at + len + 1, NULL, 10);
		at += len;
	}
	return missing;
}

/* Parse the seconds before @end, as in "[001] 12.345678: ".  Returns false if there are none. */
static bool time_before(const char *line, const char *end, uint64_t *time)
{
	const char *begin;
	char *dot, *rest;
	uint64_t ns;
	int digits;

	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	if (end == line || *--end != ':')
		return false;
	for (begin = end; begin > line && (isdigit((unsigned char)begin[-1]) || begin[-1] == '.');)
		begin--;
	*time = strtoull(begin, &dot, 10) * NSEC_PER_SEC;
	if (dot == begin || *dot != '.')
		return false;
	ns = strtoull(dot + 1, &rest, 10);
	if (rest != end)
		return false;
	for (digits = rest - dot - 1; digits < 9; digits++)
		ns *= 10;
	*time += ns;
	return digits == 9;
}

/* perf prints the system before the event. */
static const char *without_system(const char *line, const char *name)
{
	static const char system[] = "twheel:";
	size_t len = sizeof(system) - 1;

	if ((size_t)(name - line) >= len && !strncmp(name - len, system, len))
		return name - len;
	return name;
}

static bool of_fields(struct recording *recording, enum record_what what, const char *fields,
		      uint64_t time)
{
	struct record record = {
		.what = what, .time = time, .wheel = field(fields, "wheel", 0),
		.id = field(fields, "id", 0), .deadline = field(fields, "deadline", 0),
		.level = field(fields, "level", LEVEL_UNKNOWN), .slot = field(fields, "slot", 0),
	};

	if (record.level == LEVEL_UNKNOWN)
		record.slot = 0;
	/* Armed without a deadline. */
	if (what == RECORD_PLACED && !record.deadline)
		record.what = RECORD_CANCELLED;
	/* It keeps its entry. */
	if (record.what == RECORD_PLACED && record.level == LEVEL_UNKNOWN &&
	    field(fields, "tick", 0))
		record.what = RECORD_KEPT;
	if (what == RECORD_EXPIRED || what == RECORD_DELIVERED) {
		record.late = field(fields, "late_ns", 0);
		record.clock = record.deadline + record.late + field(fields, "unread_ns", 0);
	}
	if (recording->knows_ahead && record.deadline)
		record.deadline -= recording->ahead;
	return add(recording, &record);
}

static bool of_trace(struct recording *recording, const char *line)
{
	static const char prefix[] = "twheel_";
	const struct tracepoint *point;
	const char *name, *fields;
	uint64_t time;

	if (!strncmp(line, RECORDING_SHAPE, sizeof(RECORDING_SHAPE) - 1)) {
		fields = line + sizeof(RECORDING_SHAPE) - 1;
		recording->tick = field(fields, "tick", 0);
		recording->slots = known_slots(field(fields, "slots", 0));
		recording->ahead = field(fields, "ahead", 0);
		recording->knows_ahead = true;
		return false;
	}
	/* A comment of a script. */
	if (*line == '#')
		return false;
	/* The name of a process may contain the prefix, too. */
	for (name = line; (name = strstr(name, prefix)); name++) {
		point = tracepoint_of(name + sizeof(prefix) - 1, &fields);
		if (!point || !time_before(line, without_system(line, name), &time))
			continue;
		recording->is_trace = true;
		return of_fields(recording, point->what, fields, time);
	}
	return false;
}

/* Lines */

bool recording_of_line(struct recording *recording, const char *line)
{
	struct json_object *object;
	bool is_record;

	if (*line != '{')
		return of_trace(recording, line);
	object = json_tokener_parse(line);
	if (!object)
		fail("a line is cut: %.60s: record the wheel again", line);
	is_record = json_object_is_type(object, json_type_object) && of_json(recording, object);
	json_object_put(object);
	return is_record;
}

bool recording_begins(const char *text)
{
	/* As JSON, or with the first line of twheel top, tracefs or trace-cmd. */
	static const char * const heads[] = { "{", RECORDING_SHAPE, "# tracer:", "cpus=" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++)
		if (!strncmp(text, heads[i], strlen(heads[i])))
			return true;
	return false;
}

/* The end of a recording: clocks */

struct ahead {
	uint64_t wheel;
	int64_t by;
};

static struct ahead *ahead_of(struct ahead *ahead, size_t *nr, uint64_t wheel)
{
	size_t i;

	for (i = 0; i < *nr; i++)
		if (ahead[i].wheel == wheel)
			return &ahead[i];
	if (*nr == WHEELS_MAX)
		return NULL;
	ahead[*nr] = (struct ahead){ wheel, INT64_MIN };
	return &ahead[(*nr)++];
}

void recording_end(struct recording *recording)
{
	struct ahead wheels[WHEELS_MAX], *ahead;
	size_t nr = 0, i;

	if (!recording->is_trace || recording->knows_ahead)
		return;
	/* The wheel's clock was read before the trace's, so the largest difference is the best. */
	for (i = 0; i < recording->nr; i++) {
		const struct record *record = &recording->record[i];
		int64_t by = record->clock - record->time;

		ahead = record->clock ? ahead_of(wheels, &nr, record->wheel) : NULL;
		if (ahead && by > ahead->by)
			ahead->by = by;
	}
	for (i = 0; i < recording->nr; i++) {
		struct record *record = &recording->record[i];

		ahead = record->deadline ? ahead_of(wheels, &nr, record->wheel) : NULL;
		record->deadline = ahead && ahead->by != INT64_MIN ? record->deadline - ahead->by :
								     0;
	}
}
