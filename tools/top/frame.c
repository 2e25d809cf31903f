// SPDX-License-Identifier: GPL-2.0
/* Frames, and how they are written down. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "output.h"
#include "stats.h"
#include "top/frame.h"

static const char * const counts[] = {
	[FRAME_ARMS] = "arms",
	[FRAME_CANCELS] = "cancels",
	[FRAME_FIRED] = "fired",
	[FRAME_DELIVERED] = "delivered",
	[FRAME_MOVES] = "moves",
	[FRAME_CASCADES] = "cascades",
	[FRAME_INTERRUPTS] = "interrupts",
	[FRAME_IDLE] = "idle_interrupts",
};

/* The numbers that stand for themselves. */
static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	{ "elapsed_ns", offsetof(struct frame, elapsed) },
	{ "time_ns", offsetof(struct frame, now) },
	{ "tick_ns", offsetof(struct frame, tick) },
	{ "next_ns", offsetof(struct frame, next) },
	{ "pending", offsetof(struct frame, pending) },
	{ "expired", offsetof(struct frame, expired) },
	{ "outside", offsetof(struct frame, outside) },
	{ "looked_at", offsetof(struct frame, looked_at) },
	{ "by_time", offsetof(struct frame, by_time) },
	{ "memory", offsetof(struct frame, memory) },
	{ "max_late_ns", offsetof(struct frame, max_late) },
};

struct frame_level *frame_add_level(struct frame *frame, uint64_t span, uint32_t places)
{
	struct frame_level *level = &frame->level[frame->levels++];

	level->span = span;
	level->places = places;
	level->hand = 0;
	level->timers = reallocarray(level->timers, places, sizeof(*level->timers));
	level->opened = reallocarray(level->opened, places, sizeof(*level->opened));
	if (!level->timers || !level->opened)
		fail("out of memory");
	memset(level->timers, 0, places * sizeof(*level->timers));
	memset(level->opened, 0, places * sizeof(*level->opened));
	return level;
}

void frame_free(struct frame *frame)
{
	unsigned int i;

	for (i = 0; i < FRAME_LEVELS; i++) {
		free(frame->level[i].timers);
		free(frame->level[i].opened);
	}
}

void frame_rates(struct frame *frame, const struct frame *before, uint64_t ns)
{
	unsigned int i;

	for (i = 0; i < FRAME_COUNTS; i++)
		frame->per_second[i] = ns ? stats_rate(before->count[i], frame->count[i], ns) : 0;
}

uint64_t frame_scale(const struct frame *frame, uint64_t found)
{
	if (!frame->looked_at || frame->looked_at >= frame->pending)
		return found;
	/* NOLINTNEXTLINE(bugprone-incorrect-roundings): it is not negative */
	return (double)found * frame->pending / frame->looked_at + 0.5;
}

/* To JSON */

static struct json_object *level_json(const struct frame_level *level)
{
	struct json_object *object = json_new();
	struct json_object *slots = json_object_new_array();
	struct json_object *opened = json_object_new_array();
	uint32_t i;

	json_number(object, "span_ns", level->span);
	json_number(object, "places", level->places);
	json_number(object, "hand", level->hand);
	for (i = 0; i < level->places; i++) {
		if (level->timers[i]) {
			struct json_object *slot = json_new();

			json_number(slot, "slot", i);
			json_number(slot, "timers", level->timers[i]);
			json_object_array_add(slots, slot);
		}
		if (level->opened[i])
			json_object_array_add(opened, json_object_new_uint64(i));
	}
	json_object_object_add(object, "slots", slots);
	json_object_object_add(object, "opened", opened);
	return object;
}

static uint64_t *number_at(struct frame *frame, size_t i)
{
	return (uint64_t *)((char *)frame + numbers[i].offset);
}

struct json_object *frame_json(const struct frame *frame)
{
	struct json_object *line = json_new();
	struct json_object *late = json_object_new_array();
	struct json_object *levels = json_object_new_array();
	char name[32];
	size_t i;

	json_text(line, "title", frame->title);
	json_text(line, "said", frame->said);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		json_number(line, numbers[i].name, *number_at((struct frame *)frame, i));
	json_object_object_add(line, "reached", json_object_new_boolean(frame->reached));
	for (i = 0; i < FRAME_COUNTS; i++) {
		json_number(line, counts[i], frame->count[i]);
		snprintf(name, sizeof(name), "%s_per_s", counts[i]);
		json_number(line, name, frame->per_second[i]);
	}
	for (i = 0; i < TWHEEL_LATE_CLASSES; i++)
		json_object_array_add(late, json_object_new_uint64(frame->late[i]));
	json_object_object_add(line, "late", late);
	for (i = 0; i < frame->levels; i++)
		json_object_array_add(levels, level_json(&frame->level[i]));
	json_object_object_add(line, "levels", levels);
	return line;
}

/* From JSON: a file may say anything. */

static bool to_number(struct json_object *value, uint64_t max, uint64_t *number)
{
	if (!json_object_is_type(value, json_type_int))
		return false;
	/* A negative one is 0 here, and not what was written. */
	*number = json_object_get_uint64(value);
	return *number <= max && json_object_get_int64(value) >= 0;
}

static bool get_number(struct json_object *object, const char *key, uint64_t max,
		       uint64_t *number)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && to_number(value, max, number);
}

static struct json_object *get_array(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) &&
	       json_object_is_type(value, json_type_array) ? value : NULL;
}

static bool get_text(struct json_object *object, const char *key, char *text)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return false;
	snprintf(text, FRAME_TEXT, "%s", json_object_get_string(value));
	make_printable(text);
	return true;
}

static bool parse_slots(struct frame_level *level, struct json_object *object)
{
	struct json_object *slots = get_array(object, "slots");
	struct json_object *opened = get_array(object, "opened");
	uint64_t place, timers;
	size_t i;

	if (!slots || !opened)
		return false;
	for (i = 0; i < json_object_array_length(slots); i++) {
		struct json_object *slot = json_object_array_get_idx(slots, i);

		if (!get_number(slot, "slot", level->places - 1, &place) ||
		    !get_number(slot, "timers", UINT64_MAX, &timers))
			return false;
		level->timers[place] = timers;
	}
	for (i = 0; i < json_object_array_length(opened); i++) {
		if (!to_number(json_object_array_get_idx(opened, i), level->places - 1, &place))
			return false;
		level->opened[place] = true;
	}
	return true;
}

static bool parse_level(struct frame *frame, struct json_object *object)
{
	uint64_t span, places, hand;
	struct frame_level *level;

	if (!get_number(object, "span_ns", UINT64_MAX, &span) ||
	    !get_number(object, "places", FRAME_PLACES, &places) || !places ||
	    !get_number(object, "hand", places - 1, &hand))
		return false;
	level = frame_add_level(frame, span, places);
	level->hand = hand;
	return parse_slots(level, object);
}

static bool parse_levels(struct frame *frame, struct json_object *object)
{
	struct json_object *levels = get_array(object, "levels");
	size_t i, nr;

	if (!levels)
		return false;
	nr = json_object_array_length(levels);
	if (nr > FRAME_LEVELS)
		return false;
	for (i = 0; i < nr; i++) {
		if (!parse_level(frame, json_object_array_get_idx(levels, i)))
			return false;
	}
	return true;
}

static bool parse_counts(struct frame *frame, struct json_object *object)
{
	struct json_object *late = get_array(object, "late");
	uint64_t number;
	char name[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!get_number(object, numbers[i].name, UINT64_MAX, number_at(frame, i)))
			return false;
	}
	for (i = 0; i < FRAME_COUNTS; i++) {
		snprintf(name, sizeof(name), "%s_per_s", counts[i]);
		if (!get_number(object, counts[i], UINT64_MAX, &frame->count[i]) ||
		    !get_number(object, name, UINT64_MAX, &frame->per_second[i]))
			return false;
	}
	if (!late || json_object_array_length(late) != TWHEEL_LATE_CLASSES)
		return false;
	for (i = 0; i < TWHEEL_LATE_CLASSES; i++) {
		if (!to_number(json_object_array_get_idx(late, i), UINT64_MAX, &number))
			return false;
		frame->late[i] = number;
	}
	return true;
}

bool frame_parse(struct frame *frame, const char *line, size_t length)
{
	struct json_object *object = json_parse(line, length), *reached;
	bool good;

	frame->levels = 0;
	good = object && get_text(object, "title", frame->title) &&
	       get_text(object, "said", frame->said) &&
	       json_object_object_get_ex(object, "reached", &reached) &&
	       json_object_is_type(reached, json_type_boolean) &&
	       parse_counts(frame, object) && parse_levels(frame, object);
	if (good)
		frame->reached = json_object_get_boolean(reached);
	json_object_put(object);
	return good;
}
