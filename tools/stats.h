/* SPDX-License-Identifier: GPL-2.0 */
/* struct twheel_stats, field by field, with a name for each. */
#ifndef TWHEEL_STATS_H
#define TWHEEL_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>
#include <linux/twheel.h>

/**
 * struct stats_field - a counter
 * @name: in JSON; in fdinfo with dashes
 * @words: for people; NULL: it is not shown as a number
 * @value: its value
 */
struct stats_field {
	const char *name;
	const char *words;
	uint64_t value;
};

/* Field @i, in the order in which they are shown; false after the last one. */
bool stats_field(const struct twheel_stats *stats, size_t i, struct stats_field *field);

/* Set the field of a line of fdinfo; an unknown key is ignored. */
void stats_set(struct twheel_stats *stats, const char *key, const char *value);

/* An object with all fields. */
struct json_object *stats_json(const struct twheel_stats *stats);

#endif
