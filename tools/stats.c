// SPDX-License-Identifier: GPL-2.0
/* struct twheel_stats, field by field with the words for it. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "stats.h"

#define FIELD(field, name, words)	{ name, words, offsetof(struct twheel_stats, field) }

static const struct {
	const char *name;
	const char *words;
	size_t offset;
} fields[] = {
	FIELD(pending, "pending", "pending"),
	FIELD(expired, "expired", "expired, not read yet"),
	FIELD(arms, "arms", "arms and moves"),
	FIELD(cancels, "cancels", "cancels"),
	FIELD(fired, "fired", "fired"),
	FIELD(delivered, "delivered", "delivered"),
	FIELD(overruns, "overruns", "overruns"),
	FIELD(moves, "moves", "moves down or filed again"),
	FIELD(cascades, "cascades", "cascades"),
	FIELD(interrupts, "interrupts", "interrupts"),
	FIELD(idle_interrupts, "idle_interrupts", "  that had nothing to tell"),
	FIELD(storms, "storms", "storms"),
	FIELD(steps, "steps", "steps in the time of callers"),
	FIELD(max_pass, "max_pass", "largest pass in softirq"),
	FIELD(wakeups, "wakeups", "wake-ups"),
	FIELD(memory, "memory", NULL),
	FIELD(next, "next_ns", NULL),
	FIELD(oldest, "oldest_ns", NULL),
	FIELD(in_ring, "in_ring", "in the ring, not taken yet"),
	FIELD(max_late, "max_late_ns", NULL),
	FIELD(max_unread, "max_unread_ns", NULL),
}, classes[] = {
	FIELD(late, "late", NULL),
	FIELD(unread, "unread", NULL),
};

bool stats_field(const struct twheel_stats *stats, size_t i, struct stats_field *field)
{
	if (i >= ARRAY_SIZE(fields))
		return false;
	field->name = fields[i].name;
	field->words = fields[i].words;
	memcpy(&field->value, (const char *)stats + fields[i].offset, sizeof(field->value));
	return true;
}

/* max-late-ns for max_late_ns */
static bool is_key_of(const char *key, const char *name)
{
	for (; *key && (*key == *name || (*key == '-' && *name == '_')); key++)
		name++;
	return !*key && !*name;
}

static void set(struct twheel_stats *stats, size_t offset, const char *value, size_t nr)
{
	char *end;
	uint64_t number;

	for (; nr; nr--) {
		number = strtoull(value, &end, 10);
		memcpy((char *)stats + offset, &number, sizeof(number));
		offset += sizeof(number);
		value = end;
	}
}

void stats_set(struct twheel_stats *stats, const char *key, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (is_key_of(key, fields[i].name))
			set(stats, fields[i].offset, value, 1);
	}
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		if (is_key_of(key, classes[i].name))
			set(stats, classes[i].offset, value, TWHEEL_LATE_CLASSES);
	}
}

uint64_t stats_rate(uint64_t before, uint64_t after, uint64_t ns)
{
	/* Rounded, so that a slow second does not show as 999. */
	/* NOLINTNEXTLINE(bugprone-incorrect-roundings): it is not negative */
	return ((after - before) * (double)NSEC_PER_SEC) / ns + 0.5;
}

static struct json_object *json_classes(const struct twheel_stats *stats, size_t offset)
{
	struct json_object *array = json_object_new_array();
	uint64_t value;
	size_t i;

	for (i = 0; i < TWHEEL_LATE_CLASSES; i++) {
		memcpy(&value, (const char *)stats + offset + i * sizeof(value), sizeof(value));
		json_object_array_add(array, json_object_new_uint64(value));
	}
	return array;
}

struct json_object *stats_json(const struct twheel_stats *stats)
{
	struct json_object *object = json_new();
	struct stats_field field;
	size_t i;

	for (i = 0; stats_field(stats, i, &field); i++)
		json_number(object, field.name, field.value);
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		json_object_object_add(object, classes[i].name,
				       json_classes(stats, classes[i].offset));
	return object;
}
