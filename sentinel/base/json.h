/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_BASE_JSON_H
#define SENTINEL_BASE_JSON_H

/* The one place that includes jansson; whoever speaks JSON includes this. */

#include <jansson.h>
#include <stddef.h>

#include "sentinel/base/error.h"

static inline void cleanup_json(json_t **value)
{
	json_decref(*value);
}
#define auto_json __attribute__((cleanup(cleanup_json)))

/* Parses exactly one object; anything else is ERROR_STATE naming WHAT, line and column. */
int json_parse_object(const char *bytes, size_t length, const char *what, json_t **ret_object,
		      struct error *err);
/* Compact text with sorted keys, so that equal values have equal digests. The caller frees it. */
char *json_to_text(const json_t *value);
/* A JSON string of foreign bytes: what is not UTF-8 or is a NUL becomes U+FFFD. Never NULL. */
json_t *json_foreign(const char *bytes, size_t length);
/* Required members; ERROR_STATE names WHAT and KEY when missing or of another type. */
int json_get_string(const json_t *object, const char *key, const char *what, const char **ret_value,
		    struct error *err);
int json_get_integer(const json_t *object, const char *key, const char *what, json_int_t *ret_value,
		     struct error *err);

#endif
