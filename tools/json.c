// SPDX-License-Identifier: GPL-2.0
/* JSON Lines. */
#include "json.h"
#include "output.h"

struct json_object *json_new(void)
{
	/*
	 * The default hash asks for random numbers, which take a second in a
	 * machine that has just booted.  Our keys are no attacker's choice.
	 */
	json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE);
	return json_object_new_object();
}

void json_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

void json_text(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

void json_print(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
						    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

void json_line(struct json_object *object)
{
	json_print(object);
	output_check();
}
