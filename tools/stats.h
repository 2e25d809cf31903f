/* SPDX-License-Identifier: GPL-2.0 */
/* struct twheel_stats, field by field with the words for it. */
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
 * @words: for people; NULL: it is shown in another way than as a number
 * @value: what it is at
 */
struct stats_field {
	const char *name;
	const char *words;
	uint64_t value;
};

/* Field @i, in the order in which they are shown; false behind the last one. */
bool stats_field(const struct twheel_stats *stats, size_t i, struct stats_field *field);

/* Set what a line of fdinfo tells; one that is not known is passed over. */
void stats_set(struct twheel_stats *stats, const char *key, const char *value);

/* How often something is counted in a second, by two looks that are @ns apart. */
uint64_t stats_rate(uint64_t before, uint64_t after, uint64_t ns);

/* An object with all fields. */
struct json_object *stats_json(const struct twheel_stats *stats);

#endif
