/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/report.h"

static void set_integer(json_t *value, const char *name, int64_t number)
{
	json_object_set_new(value, name, json_integer((json_int_t)number));
}

/* JSON has no word for what is not a number. */
static void set_real(json_t *value, const char *name, double number)
{
	json_object_set_new(value, name, isfinite(number) ? json_real(number) : json_null());
}

static json_t *set_json(char (*set)[OBJECT_ID_SIZE], size_t count)
{
	json_t *members = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(members, json_string(set[i]));
	return members;
}

static json_t *facts_json(const struct store_hunt *hunt)
{
	json_t *value = json_pack("{s:I, s:s, s:s, s:s, s:b, s:s?, s:s?, s:s?, s:b}", "id",
				  (json_int_t)hunt->id, "series", hunt->series, "good", hunt->good,
				  "bad", hunt->bad, "finished", hunt->finished, "answer",
				  hunt->kind, "culprit", hunt->culprit[0] ? hunt->culprit : NULL,
				  "reason", hunt->reason, "more_steps", hunt->more_steps);
	const struct {
		const char *name;
		double number;
	} reals[] = {
		{"probability", hunt->probability},   {"step", hunt->step},
		{"step_lower", hunt->step_lower},     {"step_upper", hunt->step_upper},
		{"layout_share", hunt->layout_share}, {"confirm_odds", hunt->confirm_odds},
	};
	const struct {
		const char *name;
		int64_t number;
	} integers[] = {
		{"boots", hunt->boots},
		{"boots_reproduce", hunt->reproduce_boots},
		{"boots_search", hunt->search_boots},
		{"boots_confirm", hunt->confirm_boots},
		{"boots_retest", hunt->retest_boots},
		{"builds", hunt->builds},
	};
	for (size_t i = 0; i < array_length(reals); i++)
		set_real(value, reals[i].name, reals[i].number);
	for (size_t i = 0; i < array_length(integers); i++)
		set_integer(value, integers[i].name, integers[i].number);
	json_object_set_new(value, "origin",
			    hunt->origin ? json_integer((json_int_t)hunt->origin) : json_null());
	return value;
}

int report_hunt_json(struct context *context, const struct store_hunt *hunt, json_t **ret_value,
		     struct error *err)
{
	char(*set)[OBJECT_ID_SIZE];
	size_t count;
	if (store_get_hunt_set(context->store, hunt->id, &set, &count, err) < 0)
		return -1;
	*ret_value = facts_json(hunt);
	json_object_set_new(*ret_value, "set", set_json(set, count));
	free(set);
	return 0;
}

/* What was found beside it between the same ends. */
static int add_follow_ups(struct context *context, const struct store_hunt *origin, json_t *value,
			  struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	json_t *others = json_array();
	json_object_set_new(value, "follow_ups", others);
	if (store_list_hunts(context->store, origin->night, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = count; i-- > 0 && result == 0;) {
		json_t *other = NULL;
		if (hunts[i].origin != origin->id)
			continue;
		result = report_hunt_json(context, &hunts[i], &other, err);
		if (result == 0)
			json_array_append_new(others, other);
	}
	store_hunts_free(hunts, count);
	return result;
}

int report_print_hunt(struct context *context, const struct store_hunt *hunt, struct error *err)
{
	if (context->json) {
		auto_json json_t *value = NULL;
		if (report_hunt_json(context, hunt, &value, err) < 0 ||
		    add_follow_ups(context, hunt, value, err) < 0)
			return -1;
		context_print_json(json_incref(value));
		return 0;
	}
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	if (report_hunt(context, hunt, &subject, &body, err) < 0)
		return -1;
	printf("%s\n\n%s", subject, body);
	return 0;
}
