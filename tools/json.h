/* SPDX-License-Identifier: GPL-2.0 */
/* JSON Lines. */
#ifndef TWHEEL_JSON_H
#define TWHEEL_JSON_H

#include <stdint.h>

#include <json-c/json.h>

/* An empty object. */
struct json_object *json_new(void);
/* Numbers in JSON are exact, in the units of their names. */
void json_number(struct json_object *object, const char *key, uint64_t value);
void json_text(struct json_object *object, const char *key, const char *value);
/* Print @object as one line of JSON and free it; json_line() writes it at once. */
void json_line(struct json_object *object);
void json_print(struct json_object *object);

#endif
