/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/ticket.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/json.h"
#include "sentinel/base/text.h"

#define STEP_LIMIT 1000
#define ARGUMENT_LIMIT 100
#define COUNT_LIMIT 1000000
#define TIMEOUT_LIMIT_SECONDS (7 * 24 * 3600)
#define RELEASE_LIMIT_BYTES 64 /* struct utsname */

static json_t *text_to_json(const char *text)
{
	return json_foreign(text, strlen(text));
}

static json_t *step_to_json(const struct plan_step *step)
{
	json_t *argv = json_array();
	for (size_t i = 0; step->argv[i]; i++)
		json_array_append_new(argv, text_to_json(step->argv[i]));
	return json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "benchmark",
			 text_to_json(step->benchmark), "case", text_to_json(step->cell), "argv",
			 argv, "iterations", (json_int_t)step->iterations, "warmup",
			 (json_int_t)step->warmup, "timeout_seconds",
			 (json_int_t)step->timeout_seconds);
}

static json_t *plan_to_json(const struct plan *plan)
{
	json_t *steps = json_array();
	for (size_t i = 0; i < plan->step_count; i++)
		json_array_append_new(steps, step_to_json(&plan->steps[i]));
	return json_pack("{s:o}", "steps", steps);
}

char *plan_to_text(const struct plan *plan)
{
	auto_json json_t *object = plan_to_json(plan);
	return json_to_text(object);
}

char *ticket_to_text(const struct ticket *ticket)
{
	auto_json json_t *object =
		json_pack("{s:s, s:o, s:o}", "token", ticket->token, "release",
			  text_to_json(ticket->release), "plan", plan_to_json(&ticket->plan));
	return json_to_text(object);
}

static int get_count(const json_t *object, const char *key, json_int_t least, json_int_t most,
		     const char *what, int64_t *ret_value, struct error *err)
{
	json_int_t value;
	if (json_get_integer(object, key, what, &value, err) < 0)
		return -1;
	if (value < least || value > most)
		return error_set(err, ERROR_STATE,
				 "%s: member \"%s\" is %" JSON_INTEGER_FORMAT
				 ", not between %" JSON_INTEGER_FORMAT " and %" JSON_INTEGER_FORMAT,
				 what, key, value, least, most);
	*ret_value = value;
	return 0;
}

static int argv_from_json(const json_t *array, const char *what, char ***ret_argv,
			  struct error *err)
{
	size_t count = json_array_size(array);
	if (count < 1 || count > ARGUMENT_LIMIT)
		return error_set(err, ERROR_STATE,
				 "%s: member \"argv\" is not an array of 1 to %d strings", what,
				 ARGUMENT_LIMIT);
	for (size_t i = 0; i < count; i++)
		if (!json_is_string(json_array_get(array, i)))
			return error_set(err, ERROR_STATE, "%s: argv[%zu] is not a string", what,
					 i);
	char **argv = memory_array(count + 1, sizeof(*argv));
	for (size_t i = 0; i < count; i++)
		argv[i] = text_copy(json_string_value(json_array_get(array, i)));
	*ret_argv = argv;
	return 0;
}

/* Fills *STEP member by member, so that a half-read one can be freed with its plan. */
static int step_from_json(const json_t *object, const char *what, struct plan_step *step,
			  struct error *err)
{
	const char *benchmark;
	const char *cell;
	if (json_get_string(object, "benchmark", what, &benchmark, err) < 0 ||
	    json_get_string(object, "case", what, &cell, err) < 0 ||
	    get_count(object, "iterations", 1, COUNT_LIMIT, what, &step->iterations, err) < 0 ||
	    get_count(object, "warmup", 0, COUNT_LIMIT, what, &step->warmup, err) < 0 ||
	    get_count(object, "timeout_seconds", 1, TIMEOUT_LIMIT_SECONDS, what,
		      &step->timeout_seconds, err) < 0 ||
	    argv_from_json(json_object_get(object, "argv"), what, &step->argv, err) < 0)
		return -1;
	step->benchmark = text_copy(benchmark);
	step->cell = text_copy(cell);
	return 0;
}

static int plan_from_json(const json_t *object, const char *what, struct plan *ret_plan,
			  struct error *err)
{
	const json_t *steps = json_object_get(object, "steps");
	if (!json_is_array(steps) || json_array_size(steps) > STEP_LIMIT)
		return error_set(err, ERROR_STATE,
				 "%s: member \"steps\" is not an array of at most %d steps", what,
				 STEP_LIMIT);
	auto_plan struct plan plan = {0};
	plan.step_count = json_array_size(steps);
	plan.steps = memory_array(plan.step_count, sizeof(*plan.steps));
	for (size_t i = 0; i < plan.step_count; i++) {
		auto_free char *where = text_format("%s: step %zu", what, i);
		if (step_from_json(json_array_get(steps, i), where, &plan.steps[i], err) < 0)
			return -1;
	}
	*ret_plan = plan;
	plan = (struct plan){0};
	return 0;
}

int plan_from_text(const char *text, size_t length, const char *what, struct plan *ret_plan,
		   struct error *err)
{
	auto_json json_t *object = NULL;
	if (json_parse_object(text, length, what, &object, err) < 0)
		return -1;
	return plan_from_json(object, what, ret_plan, err);
}

static bool is_token(const char *text)
{
	return strlen(text) == TOKEN_SIZE - 1 && strspn(text, "0123456789abcdef") == TOKEN_SIZE - 1;
}

int ticket_from_text(const char *text, size_t length, const char *what, struct ticket *ret_ticket,
		     struct error *err)
{
	auto_json json_t *object = NULL;
	const char *token;
	const char *release;
	if (json_parse_object(text, length, what, &object, err) < 0 ||
	    json_get_string(object, "token", what, &token, err) < 0 ||
	    json_get_string(object, "release", what, &release, err) < 0)
		return -1;
	if (!is_token(token))
		return error_set(err, ERROR_STATE,
				 "%s: member \"token\" is not 32 hexadecimal digits", what);
	if (!*release || strlen(release) > RELEASE_LIMIT_BYTES)
		return error_set(err, ERROR_STATE,
				 "%s: member \"release\" is empty or longer than %d bytes", what,
				 RELEASE_LIMIT_BYTES);
	struct ticket ticket = {0};
	if (plan_from_json(json_object_get(object, "plan"), what, &ticket.plan, err) < 0)
		return -1;
	memcpy(ticket.token, token, TOKEN_SIZE);
	ticket.release = text_copy(release);
	*ret_ticket = ticket;
	return 0;
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->step_count; i++) {
		struct plan_step *step = &plan->steps[i];
		free(step->benchmark);
		free(step->cell);
		for (size_t j = 0; step->argv && step->argv[j]; j++)
			free(step->argv[j]);
		free(step->argv);
	}
	free(plan->steps);
	*plan = (struct plan){0};
}

void ticket_free(struct ticket *ticket)
{
	free(ticket->release);
	plan_free(&ticket->plan);
	*ticket = (struct ticket){0};
}

int token_create(char ret_token[static TOKEN_SIZE], struct error *err)
{
	unsigned char random[(TOKEN_SIZE - 1) / 2];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_errno(err, ERROR_SYSTEM, "cannot get random bytes for a token");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(ret_token + 2 * i, 3, "%02x", random[i]);
	return 0;
}
