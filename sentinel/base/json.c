/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/base/json.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

int json_parse_object(const char *bytes, size_t length, const char *what, json_t **ret_object,
		      struct error *err)
{
	json_error_t fault;
	json_t *value = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &fault);
	if (!value)
		return error_set(err, ERROR_STATE, "%s: line %d, column %d: %s", what, fault.line,
				 fault.column, fault.text);
	if (!json_is_object(value)) {
		json_decref(value);
		return error_set(err, ERROR_STATE, "%s: not a JSON object", what);
	}
	*ret_object = value;
	return 0;
}

char *json_to_text(const json_t *value)
{
	return json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

json_t *json_foreign(const char *bytes, size_t length)
{
	json_t *value = json_stringn(bytes, length);
	if (value && !memchr(bytes, '\0', length))
		return value;
	json_decref(value);
	/* U+FFFD takes three bytes in the place of one. */
	auto_free char *clean = text_printable(bytes, length, length * 3 + 1);
	return json_string(clean);
}

int json_get_string(const json_t *object, const char *key, const char *what, const char **ret_value,
		    struct error *err)
{
	const json_t *member = json_object_get(object, key);
	if (!json_is_string(member))
		return error_set(err, ERROR_STATE, "%s: member \"%s\" is not a string", what, key);
	*ret_value = json_string_value(member);
	return 0;
}

int json_get_integer(const json_t *object, const char *key, const char *what, json_int_t *ret_value,
		     struct error *err)
{
	const json_t *member = json_object_get(object, key);
	if (!json_is_integer(member))
		return error_set(err, ERROR_STATE, "%s: member \"%s\" is not an integer", what,
				 key);
	*ret_value = json_integer_value(member);
	return 0;
}
