// SPDX-License-Identifier: GPL-2.0
/* struct twheel_stats, field by field with the words for it. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json.h"
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
	FIELD(interrupts, "interrupts", "interrupts"),
	FIELD(memory, "memory", NULL),
	FIELD(next, "next_ns", NULL),
	FIELD(max_late, "max_late_ns", NULL),
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

void stats_set(struct twheel_stats *stats, const char *key, const char *value)
{
	uint64_t number;
	char *end;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!is_key_of(key, fields[i].name))
			continue;
		number = strtoull(value, NULL, 10);
		memcpy((char *)stats + fields[i].offset, &number, sizeof(number));
	}
	for (i = 0; i < TWHEEL_LATE_CLASSES && !strcmp(key, "late"); i++) {
		stats->late[i] = strtoull(value, &end, 10);
		value = end;
	}
}

struct json_object *stats_json(const struct twheel_stats *stats)
{
	struct json_object *object = json_new(), *late = json_object_new_array();
	struct stats_field field;
	size_t i;

	for (i = 0; stats_field(stats, i, &field); i++)
		json_number(object, field.name, field.value);
	for (i = 0; i < TWHEEL_LATE_CLASSES; i++)
		json_object_array_add(late, json_object_new_uint64(stats->late[i]));
	json_object_object_add(object, "late", late);
	return object;
}
