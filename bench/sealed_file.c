/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/sealed_file.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define WHAT "sealed file"
#define RUN_LIMIT 1000000
#define STEP_LIMIT 1000
#define ENVIRONMENT_LIMIT 200

static json_t *optional_text(const char *text)
{
	return text ? json_foreign(text, strlen(text)) : json_null();
}

static json_t *optional_object(json_t *object)
{
	return object ? json_incref(object) : json_object();
}

static json_t *run_to_json(const struct run_result *run)
{
	return json_pack("{s:I, s:I, s:i, s:i, s:b, s:b, s:f, s:o, s:o}", "step",
			 (json_int_t)run->step, "iteration", (json_int_t)run->iteration,
			 "exit_code", run->exit_code, "signal", run->signal_number, "timed_out",
			 run->timed_out, "truncated", run->truncated, "wall_seconds",
			 run->wall_seconds, "stdout", optional_text(run->stdout_text), "stderr",
			 optional_text(run->stderr_text));
}

char *sealed_file_to_text(const struct sealed_file *sealed)
{
	json_t *runs = json_array();
	for (size_t i = 0; i < sealed->run_count; i++)
		json_array_append_new(runs, run_to_json(&sealed->runs[i]));
	auto_json json_t *object =
		json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "token", sealed->token,
			  "boot_id", optional_text(sealed->boot_id), "release",
			  optional_text(sealed->release), "version", optional_text(sealed->version),
			  "command_line", optional_text(sealed->command_line), "environment",
			  optional_object(sealed->environment), "environment_after",
			  optional_object(sealed->environment_after), "runs", runs, "fault",
			  optional_text(sealed->fault));
	/* A serial line carries it: without control characters a cut is seen at once. */
	return json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
}

static int get_text(const json_t *object, const char *key, char **ret_text, struct error *err)
{
	const char *text;
	if (json_get_string(object, key, WHAT, &text, err) < 0)
		return -1;
	*ret_text = text_copy(text);
	return 0;
}

static int get_within(const json_t *object, const char *key, json_int_t least, json_int_t most,
		      json_int_t *ret_value, struct error *err)
{
	json_int_t value;
	if (json_get_integer(object, key, WHAT, &value, err) < 0)
		return -1;
	if (value < least || value > most)
		return error_set(err, ERROR_STATE, WHAT ": member \"%s\" is out of range", key);
	*ret_value = value;
	return 0;
}

static int get_flag(const json_t *object, const char *key, bool *ret_flag, struct error *err)
{
	const json_t *member = json_object_get(object, key);
	if (!json_is_boolean(member))
		return error_set(err, ERROR_STATE, WHAT ": member \"%s\" is not a boolean", key);
	*ret_flag = json_is_true(member);
	return 0;
}

static int get_environment(json_t *object, const char *key, json_t **ret_environment,
			   struct error *err)
{
	json_t *environment = json_object_get(object, key);
	if (!json_is_object(environment) || json_object_size(environment) > ENVIRONMENT_LIMIT)
		return error_set(err, ERROR_STATE,
				 WHAT ": member \"%s\" is not an object of at most %d members", key,
				 ENVIRONMENT_LIMIT);
	const char *name;
	json_t *value;
	json_object_foreach (environment, name, value) {
		if (!json_is_string(value) && !json_is_null(value))
			return error_set(err, ERROR_STATE,
					 WHAT ": a member of \"%s\" is neither text nor null", key);
	}
	*ret_environment = json_incref(environment);
	return 0;
}

static int run_from_json(const json_t *object, struct run_result *run, struct error *err)
{
	json_int_t step = 0;
	json_int_t iteration = 0;
	json_int_t exit_code = 0;
	json_int_t signal_number = 0;
	if (get_within(object, "step", 0, STEP_LIMIT - 1, &step, err) < 0 ||
	    get_within(object, "iteration", -RUN_LIMIT, RUN_LIMIT, &iteration, err) < 0 ||
	    get_within(object, "exit_code", -1, 255, &exit_code, err) < 0 ||
	    get_within(object, "signal", 0, 64, &signal_number, err) < 0 ||
	    get_flag(object, "timed_out", &run->timed_out, err) < 0 ||
	    get_flag(object, "truncated", &run->truncated, err) < 0 ||
	    get_text(object, "stdout", &run->stdout_text, err) < 0 ||
	    get_text(object, "stderr", &run->stderr_text, err) < 0)
		return -1;
	const json_t *wall = json_object_get(object, "wall_seconds");
	if (!json_is_number(wall) || json_number_value(wall) < 0)
		return error_set(err, ERROR_STATE,
				 WHAT ": member \"wall_seconds\" is not a duration");
	run->step = (size_t)step;
	run->iteration = iteration;
	run->exit_code = (int)exit_code;
	run->signal_number = (int)signal_number;
	run->wall_seconds = json_number_value(wall);
	return 0;
}

static int runs_from_json(const json_t *array, struct sealed_file *sealed, struct error *err)
{
	if (!json_is_array(array) || json_array_size(array) > RUN_LIMIT)
		return error_set(err, ERROR_STATE,
				 WHAT ": member \"runs\" is not an array of at most %d runs",
				 RUN_LIMIT);
	sealed->run_count = json_array_size(array);
	sealed->runs = memory_array(sealed->run_count, sizeof(*sealed->runs));
	for (size_t i = 0; i < sealed->run_count; i++)
		if (run_from_json(json_array_get(array, i), &sealed->runs[i], err) < 0)
			return error_prefix(err, "run %zu", i);
	return 0;
}

static int members_from_json(json_t *object, struct sealed_file *sealed, struct error *err)
{
	const char *token;
	if (json_get_string(object, "token", WHAT, &token, err) < 0 ||
	    get_text(object, "boot_id", &sealed->boot_id, err) < 0 ||
	    get_text(object, "release", &sealed->release, err) < 0 ||
	    get_text(object, "version", &sealed->version, err) < 0 ||
	    get_text(object, "command_line", &sealed->command_line, err) < 0 ||
	    get_environment(object, "environment", &sealed->environment, err) < 0 ||
	    get_environment(object, "environment_after", &sealed->environment_after, err) < 0 ||
	    runs_from_json(json_object_get(object, "runs"), sealed, err) < 0)
		return -1;
	if (strlen(token) != TOKEN_SIZE - 1)
		return error_set(err, ERROR_STATE, WHAT ": member \"token\" has a wrong length");
	memcpy(sealed->token, token, TOKEN_SIZE);
	if (json_is_null(json_object_get(object, "fault")))
		return 0;
	return get_text(object, "fault", &sealed->fault, err);
}

int sealed_file_from_text(const char *text, size_t length, struct sealed_file *ret_sealed,
			  struct error *err)
{
	if (length > SEALED_FILE_LIMIT_BYTES)
		return error_set(err, ERROR_STATE, WHAT ": larger than %zu bytes",
				 SEALED_FILE_LIMIT_BYTES);
	auto_json json_t *object = NULL;
	auto_sealed_file struct sealed_file sealed = {0};
	if (json_parse_object(text, length, WHAT, &object, err) < 0 ||
	    members_from_json(object, &sealed, err) < 0)
		return -1;
	*ret_sealed = sealed;
	sealed = (struct sealed_file){0};
	return 0;
}

void sealed_file_free(struct sealed_file *sealed)
{
	free(sealed->boot_id);
	free(sealed->release);
	free(sealed->version);
	free(sealed->command_line);
	free(sealed->fault);
	json_decref(sealed->environment);
	json_decref(sealed->environment_after);
	for (size_t i = 0; i < sealed->run_count; i++) {
		free(sealed->runs[i].stdout_text);
		free(sealed->runs[i].stderr_text);
	}
	free(sealed->runs);
	*sealed = (struct sealed_file){0};
}
