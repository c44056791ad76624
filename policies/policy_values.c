/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policies/policy_values.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/policy.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define LETTERS_AND_DIGITS                                                                         \
	"abcdefghijklmnopqrstuvwxyz"                                                               \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"                                                               \
	"0123456789"

/* Values of parameters stand in case names, store keys and regular expressions. */
static const char parameter_value_characters[] = LETTERS_AND_DIGITS "._:,@%-";
static const size_t parameter_limit = 8;
static const size_t list_limit = 1000;

/* How a number's unit is written, and how many of the key's own unit it is. */
static const struct unit {
	const char *name;
	const char *base;
	double factor;
} units[] = {
	{"s", "s", 1},    {"min", "s", 60},  {"h", "s", 3600},     {"min", "min", 1},
	{"h", "min", 60}, {"MiB", "MiB", 1}, {"GiB", "MiB", 1024}, {"%", "%", 1},
};

void string_list_add(struct string_list *list, const char *item)
{
	list->items = memory_resize(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = text_copy(item);
}

void string_list_free(struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list){0};
}

bool policy_name_is_valid(const char *name)
{
	return isalnum((unsigned char)name[0]) && strlen(name) <= 64 &&
	       name[strspn(name, LETTERS_AND_DIGITS "._-")] == '\0';
}

char *policy_value_path(const char *path, const struct policy_folders *folders)
{
	const char *home = getenv("HOME");
	if (path[0] == '/')
		return text_copy(path);
	if (text_starts_with(path, "~/") && home)
		return text_format("%s/%s", home, path + 2);
	if (text_starts_with(path, "shipped:"))
		return text_format("%s/%s", folders->shipped, path + strlen("shipped:"));
	return text_format("%s/%s", folders->file, path);
}

/* As git tells "host:path" from a local path: a colon before the first slash. */
static bool is_url(const char *location)
{
	size_t before_slash = strcspn(location, "/");
	return strstr(location, "://") || memchr(location, ':', before_slash);
}

static bool is_make_target(const char *config)
{
	return config[strspn(config, LETTERS_AND_DIGITS "_-")] == '\0' &&
	       text_ends_with(config, "config");
}

static int store_text(const struct policy_key *key, const char *text,
		      const struct policy_folders *folders, void *member, struct error *err)
{
	if (key->required && !*text)
		return error_set(err, ERROR_USAGE, "must not be empty");
	bool keep = key->type == POLICY_KEY_TEXT || !*text ||
		    (key->type == POLICY_KEY_LOCATION && is_url(text)) ||
		    (key->type == POLICY_KEY_TARGET && is_make_target(text));
	char **target = member;
	free(*target);
	*target = keep ? text_copy(text) : policy_value_path(text, folders);
	return 0;
}

/* Position of WORD among CHOICES, or -1 with *err set. */
static int find_choice(const char *choices, const char *word, struct error *err)
{
	size_t length = strlen(word);
	int position = 0;
	for (const char *choice = choices; *choice; position++) {
		size_t choice_length = strcspn(choice, " ");
		if (choice_length == length && strncmp(choice, word, length) == 0)
			return position;
		choice += choice_length;
		choice += strspn(choice, " ");
	}
	return error_set(err, ERROR_USAGE, "must be one of: %s", choices);
}

static int store_choice(const struct policy_key *key, const char *text,
			const struct policy_folders *folders, void *member, struct error *err)
{
	(void)folders;
	int position = find_choice(key->choices, text, err);
	if (position < 0)
		return -1;
	if (key->type == POLICY_KEY_BETTER) {
		*(enum policy_better *)member = (enum policy_better)position;
		return 0;
	}
	char **target = member;
	free(*target);
	*target = text_copy(text);
	return 0;
}

static int parse_unit(const struct policy_key *key, const char *unit, double *ret_factor,
		      struct error *err)
{
	auto_text struct text known = {0};
	if (!key->unit && *unit)
		return error_set(err, ERROR_USAGE, "must be a plain number");
	for (size_t i = 0; key->unit && i < array_length(units); i++) {
		if (strcmp(units[i].base, key->unit) != 0)
			continue;
		if (strcmp(units[i].name, unit) == 0) {
			*ret_factor = units[i].factor;
			return 0;
		}
		text_printf(&known, "%s%s", known.length ? ", " : "", units[i].name);
	}
	if (!key->unit) {
		*ret_factor = 1;
		return 0;
	}
	return error_set(err, ERROR_USAGE, "%s unit; write for instance \"%s\" (units: %s)",
			 *unit ? "has an unknown" : "lacks its", key->default_value, known.data);
}

static int parse_number(const struct policy_key *key, const char *text, double *ret_number,
			struct error *err)
{
	char digits[32];
	size_t length = strspn(text, "0123456789.");
	if (!length || length >= sizeof(digits))
		return error_set(err, ERROR_USAGE, "must start with a decimal number");
	memcpy(digits, text, length);
	digits[length] = '\0';
	char *end;
	double number = strtod(digits, &end);
	double factor = 1;
	if (*end)
		return error_set(err, ERROR_USAGE, "must start with a decimal number");
	if (parse_unit(key, text + length + strspn(text + length, " "), &factor, err) < 0)
		return -1;
	number *= factor;
	if (!(number >= key->minimum && number <= key->maximum))
		return error_set(err, ERROR_USAGE, "must be from %g to %.15g%s%s", key->minimum,
				 key->maximum, key->unit ? " " : "", key->unit ? key->unit : "");
	*ret_number = number;
	return 0;
}

static int store_number(const struct policy_key *key, const char *text,
			const struct policy_folders *folders, void *member, struct error *err)
{
	(void)folders;
	double number = 0;
	if (parse_number(key, text, &number, err) < 0)
		return -1;
	if (key->type == POLICY_KEY_REAL) {
		*(double *)member = number;
		return 0;
	}
	if (number != floor(number))
		return error_set(err, ERROR_USAGE, "must be a whole number%s%s",
				 key->unit ? " of " : "", key->unit ? key->unit : "");
	*(int64_t *)member = (int64_t)number;
	return 0;
}

static int store_list(const struct policy_key *key, const char *text,
		      const struct policy_folders *folders, void *member, struct error *err)
{
	struct string_list *list = member;
	if (key->type == POLICY_KEY_TEXTS && !*text)
		return error_set(err, ERROR_USAGE, "must not be empty");
	auto_free char *copy = text_copy(text);
	const char *separators = key->type == POLICY_KEY_TEXTS ? "" : " ";
	char *rest;
	for (char *word = strtok_r(copy, separators, &rest); word;
	     word = strtok_r(NULL, separators, &rest)) {
		if (list->count == list_limit)
			return error_set(err, ERROR_USAGE, "makes more than %zu values",
					 list_limit);
		auto_free char *path = NULL;
		if (key->type == POLICY_KEY_PATHS)
			path = policy_value_path(word, folders);
		string_list_add(list, path ? path : word);
	}
	return 0;
}

static void parameter_free(struct policy_parameter *parameter)
{
	free(parameter->name);
	string_list_free(&parameter->values);
}

static int add_parameter_value(struct policy_parameter *parameter, const char *value,
			       struct error *err)
{
	if (strlen(value) > 64 || value[strspn(value, parameter_value_characters)])
		return error_set(err, ERROR_USAGE,
				 "a parameter's values are made of letters, digits and ._:,@%%-");
	for (size_t i = 0; i < parameter->values.count; i++)
		if (strcmp(parameter->values.items[i], value) == 0)
			return error_set(err, ERROR_USAGE, "has the value %s twice", value);
	string_list_add(&parameter->values, value);
	return 0;
}

/* Fills *parameter even when it fails: the caller frees it in both cases. */
static int parse_parameter(const char *text, struct policy_parameter *parameter, struct error *err)
{
	auto_free char *copy = text_copy(text);
	char *rest;
	const char *name = strtok_r(copy, " ", &rest);
	if (!name || !isalpha((unsigned char)name[0]) || !policy_name_is_valid(name))
		return error_set(err, ERROR_USAGE,
				 "must be NAME VALUE VALUE..., the name of "
				 "letters, digits and ._-, a letter first");
	parameter->name = text_copy(name);
	const char *value;
	while ((value = strtok_r(NULL, " ", &rest)))
		if (add_parameter_value(parameter, value, err) < 0)
			return -1;
	if (!parameter->values.count)
		return error_set(err, ERROR_USAGE, "gives %s no value", name);
	return 0;
}

static int store_parameter(const struct policy_key *key, const char *text, void *item,
			   struct error *err)
{
	struct policy_parameter **array = (void *)((char *)item + key->offset);
	size_t *count = (void *)((char *)item + key->count_offset);
	if (*count == parameter_limit)
		return error_set(err, ERROR_USAGE, "is one parameter more than the %zu allowed",
				 parameter_limit);
	struct policy_parameter parameter = {0};
	if (parse_parameter(text, &parameter, err) < 0) {
		parameter_free(&parameter);
		return -1;
	}
	for (size_t i = 0; i < *count; i++)
		if (strcmp((*array)[i].name, parameter.name) == 0) {
			error_set(err, ERROR_USAGE, "the parameter %s was given before",
				  parameter.name);
			parameter_free(&parameter);
			return -1;
		}
	*array = memory_resize(*array, *count + 1, sizeof(**array));
	(*array)[(*count)++] = parameter;
	return 0;
}

static int check_prefix(const char *prefix, struct error *err)
{
	if (prefix[0] == '/' || text_starts_with(prefix, "./") || strstr(prefix, ".."))
		return error_set(err, ERROR_USAGE,
				 "must start with a path as git shows it, such as kernel/sched");
	return 0;
}

/* "PATH-PREFIX WEIGHT": the weight is what follows the last blank. */
static int store_weight(const struct policy_key *key, const char *text, void *item,
			struct error *err)
{
	struct policy_weight **array = (void *)((char *)item + key->offset);
	size_t *count = (void *)((char *)item + key->count_offset);
	const char *blank = strrchr(text, ' ');
	double weight;
	if (!blank || blank == text)
		return error_set(err, ERROR_USAGE, "must be PATH-PREFIX WEIGHT, as in \"%s\"",
				 key->example);
	if (*count == list_limit)
		return error_set(err, ERROR_USAGE, "makes more than %zu values", list_limit);
	auto_free char *prefix = text_format("%.*s", (int)(blank - text), text);
	if (check_prefix(prefix, err) < 0)
		return -1;
	if (parse_number(key, blank + 1, &weight, err) < 0)
		return error_prefix(err, "the weight of %s", prefix);
	for (size_t i = 0; i < *count; i++)
		if (strcmp((*array)[i].prefix, prefix) == 0)
			return error_set(err, ERROR_USAGE, "the prefix %s was given before",
					 prefix);
	*array = memory_resize(*array, *count + 1, sizeof(**array));
	(*array)[(*count)++] = (struct policy_weight){take(prefix), weight};
	return 0;
}

static void clear_parameters(const struct policy_key *key, void *item)
{
	struct policy_parameter **array = (void *)((char *)item + key->offset);
	size_t *count = (void *)((char *)item + key->count_offset);
	for (size_t i = 0; i < *count; i++)
		parameter_free(&(*array)[i]);
	free(*array);
	*array = NULL;
	*count = 0;
}

static void clear_weights(const struct policy_key *key, void *item)
{
	struct policy_weight **array = (void *)((char *)item + key->offset);
	size_t *count = (void *)((char *)item + key->count_offset);
	for (size_t i = 0; i < *count; i++)
		free((*array)[i].prefix);
	free(*array);
	*array = NULL;
	*count = 0;
}

int policy_value_store(const struct policy_key *key, const char *text,
		       const struct policy_folders *folders, void *item, struct error *err)
{
	static int (*const stores[])(const struct policy_key *, const char *,
				     const struct policy_folders *, void *, struct error *) = {
		[POLICY_KEY_TEXT] = store_text,      [POLICY_KEY_PATH] = store_text,
		[POLICY_KEY_LOCATION] = store_text,  [POLICY_KEY_TARGET] = store_text,
		[POLICY_KEY_CHOICE] = store_choice,  [POLICY_KEY_BETTER] = store_choice,
		[POLICY_KEY_INTEGER] = store_number, [POLICY_KEY_REAL] = store_number,
		[POLICY_KEY_WORDS] = store_list,     [POLICY_KEY_PATHS] = store_list,
		[POLICY_KEY_TEXTS] = store_list,
	};
	auto_free char *clean = text_one_line(text, POLICY_VALUE_LIMIT);
	if (strlen(text) > POLICY_VALUE_LIMIT)
		return error_set(err, ERROR_USAGE, "must not be longer than %d bytes",
				 POLICY_VALUE_LIMIT);
	if (strcmp(clean, text) != 0)
		return error_set(err, ERROR_USAGE,
				 "must be UTF-8 without tabs and other control characters");
	if (key->type == POLICY_KEY_PARAMETERS)
		return store_parameter(key, text, item, err);
	if (key->type == POLICY_KEY_WEIGHTS)
		return store_weight(key, text, item, err);
	return stores[key->type](key, text, folders, (char *)item + key->offset, err);
}

void policy_value_clear(const struct policy_key *key, void *item)
{
	void *member = (char *)item + key->offset;
	if (key->type <= POLICY_KEY_CHOICE) {
		char **text = member;
		free(*text);
		*text = NULL;
	} else if (key->type == POLICY_KEY_PARAMETERS) {
		clear_parameters(key, item);
	} else if (key->type == POLICY_KEY_WEIGHTS) {
		clear_weights(key, item);
	} else if (policy_key_is_many(key)) {
		string_list_free(member);
	}
}
