// SPDX-License-Identifier: GPL-2.0
/* struct twheel_stats, field by field with the words for it. */
#include <string.h>

#include "array.h"
#include "output.h"
#include "stats.h"

#define FIELD(field, text)	{ #field, text, offsetof(struct twheel_stats, field) }

static const struct {
	const char *name;
	const char *words;
	size_t offset;
} fields[] = {
	FIELD(pending, "pending"),
	FIELD(expired, "expired, not read yet"),
	FIELD(arms, "arms and moves"),
	FIELD(cancels, "cancels"),
	FIELD(fired, "fired"),
	FIELD(delivered, "delivered"),
	FIELD(overruns, "overruns"),
	FIELD(moves, "moves down or filed again"),
	FIELD(cascades, "cascades"),
	FIELD(interrupts, "interrupts"),
	FIELD(idle_interrupts, "  that found nothing due"),
	FIELD(steps, "steps in the time of callers"),
	FIELD(max_pass, "largest pass in softirq"),
	FIELD(wakeups, "wake-ups"),
	FIELD(memory, "memory"),
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

struct json_object *stats_json(const struct twheel_stats *stats)
{
	struct json_object *object = json_new();
	struct stats_field field;
	size_t i;

	for (i = 0; stats_field(stats, i, &field); i++)
		json_number(object, field.name, field.value);
	return object;
}
