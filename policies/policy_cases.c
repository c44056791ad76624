/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policies/policy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

static const size_t case_limit = 1000;

/*
 * Length of the placeholder "{name}" at TEXT, or 0. Regular expressions have braces too: a{2,3}
 * does not start with a letter, and those of \p{L}, \x{41} or \g{name} follow an escaped letter.
 */
static size_t placeholder_length(const char *text, const char *start)
{
	if (text[0] != '{' || !isalpha((unsigned char)text[1]))
		return 0;
	if (text - start >= 2 && text[-2] == '\\' && isalpha((unsigned char)text[-1]))
		return 0;
	size_t length = 1;
	while (isalnum((unsigned char)text[length]) ||
	       (text[length] && strchr("._-", text[length])))
		length++;
	return text[length] == '}' ? length + 1 : 0;
}

/* The value of NAME in KEY, "groups=1 loops=200"; NULL when it is not there. */
static const char *key_value(const char *key, const char *name, size_t name_length,
			     size_t *ret_length)
{
	while (*key) {
		size_t length = strcspn(key, " ");
		if (length > name_length && strncmp(key, name, name_length) == 0 &&
		    key[name_length] == '=') {
			*ret_length = length - name_length - 1;
			return key + name_length + 1;
		}
		key += length;
		key += strspn(key, " ");
	}
	return NULL;
}

int policy_fill(const char *template, const struct policy_case *cell, char **ret_text,
		struct error *err)
{
	auto_text struct text filled = {0};
	for (const char *at = template; *at;) {
		size_t length = placeholder_length(at, template);
		if (!length) {
			text_append_bytes(&filled, at++, 1);
			continue;
		}
		size_t value_length;
		const char *value = key_value(cell->key, at + 1, length - 2, &value_length);
		if (!value) {
			auto_free char *shown = text_one_line(template, 200);
			return error_set(err, ERROR_USAGE,
					 "unknown placeholder %.*s in \"%s\"; parameters: %s",
					 (int)(length > 80 ? 80 : length), at, shown,
					 *cell->key ? cell->key : "none");
		}
		text_append_bytes(&filled, value, value_length);
		at += length;
	}
	*ret_text = text_take(&filled);
	return 0;
}

/* Words are split before they are filled, so that a value never becomes two arguments. */
static int fill_command(const char *command, struct policy_case *cell, struct error *err)
{
	auto_free char *copy = text_copy(command);
	char *rest;
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		auto_free char *argument = NULL;
		if (policy_fill(word, cell, &argument, err) < 0)
			return -1;
		string_list_add(&cell->argv, argument);
	}
	return 0;
}

/* Counts like an odometer: the last parameter is the last digit. */
static size_t value_index(const struct policy_benchmark *benchmark, size_t parameter, size_t number)
{
	for (size_t i = benchmark->parameter_count - 1; i > parameter; i--)
		number /= benchmark->parameters[i].values.count;
	return number % benchmark->parameters[parameter].values.count;
}

static int make_case(const struct policy_benchmark *benchmark, size_t number,
		     struct policy_case *cell, struct error *err)
{
	auto_text struct text name = {0};
	auto_text struct text key = {0};
	text_append(&key, "");
	for (size_t i = 0; i < benchmark->parameter_count; i++) {
		const struct policy_parameter *parameter = &benchmark->parameters[i];
		const char *value = parameter->values.items[value_index(benchmark, i, number)];
		text_printf(&key, "%s%s=%s", key.length ? " " : "", parameter->name, value);
		if (parameter->values.count > 1)
			text_printf(&name, "%s%s-%s", name.length ? "/" : "", parameter->name,
				    value);
	}
	if (!name.length)
		text_append(&name, "default");
	cell->name = text_take(&name);
	cell->key = text_take(&key);
	return fill_command(benchmark->command, cell, err);
}

/* A parameter that the command does not use would make equal cells under different names. */
static int check_parameters_are_used(const struct policy_benchmark *benchmark, struct error *err)
{
	for (size_t i = 0; i < benchmark->parameter_count; i++) {
		auto_free char *placeholder = text_format("{%s}", benchmark->parameters[i].name);
		if (!strstr(benchmark->command, placeholder))
			return error_set(err, ERROR_USAGE,
					 "benchmark %s: the command does not use %s; add it there "
					 "or remove the parameter",
					 benchmark->name, placeholder);
	}
	return 0;
}

static int count_cases(const struct policy_benchmark *benchmark, size_t *ret_count,
		       struct error *err)
{
	size_t count = 1;
	for (size_t i = 0; i < benchmark->parameter_count; i++) {
		count *= benchmark->parameters[i].values.count;
		if (count > case_limit)
			return error_set(err, ERROR_USAGE,
					 "benchmark %s: its parameters make more than %zu cases",
					 benchmark->name, case_limit);
	}
	*ret_count = count;
	return 0;
}

int policy_benchmark_cases(const struct policy_benchmark *benchmark, struct policy_case **ret_cases,
			   size_t *ret_count, struct error *err)
{
	size_t count = 0;
	if (count_cases(benchmark, &count, err) < 0)
		return -1;
	struct policy_case *cases = memory_array(count, sizeof(*cases));
	for (size_t i = 0; i < count; i++)
		if (make_case(benchmark, i, &cases[i], err) < 0) {
			policy_cases_free(cases, count);
			return error_prefix(err, "benchmark %s: command", benchmark->name);
		}
	/* After the placeholders: a mistyped one is both, and its name says more. */
	if (check_parameters_are_used(benchmark, err) < 0) {
		policy_cases_free(cases, count);
		return -1;
	}
	*ret_cases = cases;
	*ret_count = count;
	return 0;
}

void policy_cases_free(struct policy_case *cases, size_t count)
{
	for (size_t i = 0; cases && i < count; i++) {
		free(cases[i].name);
		free(cases[i].key);
		string_list_free(&cases[i].argv);
	}
	free(cases);
}
