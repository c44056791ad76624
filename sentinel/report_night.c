/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/report.h"

#include <stdio.h>

#include "sentinel/base/robust.h"
#include "sentinel/base/cleanup.h"

static int add_verdicts(struct context *context, const struct store_night *night, struct text *text,
			struct error *err)
{
	for (int64_t stage = 1; stage <= 2; stage++) {
		struct store_verdict *verdicts;
		size_t count;
		if (store_get_verdicts(context->store, night->id, stage, &verdicts, &count, err) <
		    0)
			return -1;
		if (count)
			text_printf(text, "%s\n  %-44s %8s %10s  %s\n",
				    stage == 1 ? "against the baseline:"
					       : "measured again in interleaved boots:",
				    "series (plus is worse)", "change", "threshold", "verdict");
		for (size_t i = 0; i < count; i++) {
			const struct verdict *verdict = &verdicts[i].verdict;
			text_printf(text, "  %-44s %+7.2f%% %9.2f%%  %s\n", verdicts[i].series,
				    verdict->change_percent, stats_percent(verdict->threshold),
				    verdict_state_name(verdict->state));
		}
		store_verdicts_free(verdicts, count);
	}
	return 0;
}

static int add_hunts(struct context *context, const struct store_night *night, struct text *text,
		     struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, night->id, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (!hunts[i].culprit[0]) {
			text_printf(text, "hunt %lld: %s: %s %s\n", (long long)hunts[i].id,
				    hunts[i].series,
				    hunts[i].finished ? hunts[i].kind : "unfinished",
				    hunts[i].finished ? hunts[i].reason : "");
			continue;
		}
		auto_commit_info struct commit_info info = {0};
		result = source_tree_commit_info(context->source, hunts[i].culprit, &info, err);
		if (result < 0)
			break;
		auto_free char *subject = text_one_line(info.subject, 100);
		char buffer[16];
		text_printf(text, "hunt %lld: %s: culprit %s (\"%s\"), %s sure, %lld boots\n",
			    (long long)hunts[i].id, hunts[i].series, hunts[i].culprit, subject,
			    report_sureness(hunts[i].probability, buffer),
			    (long long)hunts[i].boots);
	}
	store_hunts_free(hunts, count);
	return result;
}

/* The clock that the night's boots were measured by, or NULL before the first; owned by caller. */
static int night_clock(struct context *context, const struct store_night *night, char **ret_clock,
		       struct error *err)
{
	struct store_trial *trials;
	size_t count;
	if (store_list_trials(context->store, PURPOSE_NIGHT, night->id, NULL, 1, &trials, &count,
			      err) < 0)
		return -1;
	*ret_clock = count && trials[0].clock ? text_copy(trials[0].clock) : NULL;
	store_trials_free(trials, count);
	return 0;
}

int report_night(struct context *context, const struct store_night *night, struct text *text,
		 struct error *err)
{
	auto_free char *clock = NULL;
	if (night_clock(context, night, &clock, err) < 0)
		return -1;
	text_printf(text, "night %lld: %s head %s: %s\nclock: %s\n", (long long)night->id,
		    night->tree_name, short_id(night->head),
		    night->outcome ? night->outcome : "unfinished", clock ? clock : "none yet");
	if (add_verdicts(context, night, text, err) < 0)
		return -1;
	return add_hunts(context, night, text, err);
}

static json_t *verdicts_json(const struct store_verdict *verdicts, size_t count)
{
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++) {
		const struct verdict *verdict = &verdicts[i].verdict;
		json_array_append_new(
			array,
			json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:f}", "series",
				  verdicts[i].series, "stage", (json_int_t)verdicts[i].stage,
				  "verdict", verdict_state_name(verdict->state), "change_percent",
				  verdict->change_percent, "threshold_percent",
				  stats_percent(verdict->threshold), "deviation",
				  verdict->deviation, "p_value", verdict->p_value));
	}
	return array;
}

static json_t *hunt_json(const struct store_hunt *hunt, char (*set)[OBJECT_ID_SIZE], size_t count)
{
	json_t *members = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(members, json_string(set[i]));
	return json_pack(
		"{s:I, s:s, s:s, s:s, s:b, s:s?, s:s?, s:o, s:f, s:f, s:f, s:f, s:I, s:s?}", "id",
		(json_int_t)hunt->id, "series", hunt->series, "good", hunt->good, "bad", hunt->bad,
		"finished", hunt->finished, "answer", hunt->kind, "culprit",
		hunt->culprit[0] ? hunt->culprit : NULL, "set", members, "probability",
		hunt->probability, "step", hunt->step, "step_lower", hunt->step_lower, "step_upper",
		hunt->step_upper, "boots", (json_int_t)hunt->boots, "reason", hunt->reason);
}

static int load_hunt_json(struct context *context, const struct store_hunt *hunt,
			  json_t **ret_value, struct error *err)
{
	char(*set)[OBJECT_ID_SIZE];
	size_t count;
	if (store_get_hunt_set(context->store, hunt->id, &set, &count, err) < 0)
		return -1;
	*ret_value = hunt_json(hunt, set, count);
	free(set);
	return 0;
}

int report_print_hunt(struct context *context, const struct store_hunt *hunt, struct error *err)
{
	json_t *value;
	if (context->json) {
		if (load_hunt_json(context, hunt, &value, err) < 0)
			return -1;
		context_print_json(value);
		return 0;
	}
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	if (report_hunt(context, hunt, &subject, &body, err) < 0)
		return -1;
	printf("%s\n\n%s", subject, body);
	return 0;
}

int report_night_json(struct context *context, const struct store_night *night, json_t **ret_value,
		      struct error *err)
{
	auto_free char *clock = NULL;
	if (night_clock(context, night, &clock, err) < 0)
		return -1;
	auto_json json_t *value =
		json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s?, s:s?}", "id", (json_int_t)night->id,
			  "kind", night->kind, "tree", night->tree_name, "machine", night->machine,
			  "head", night->head, "state", night_state_name(night->state), "outcome",
			  night->outcome, "clock", clock);
	json_t *all = json_array();
	json_object_set_new(value, "verdicts", all);
	for (int64_t stage = 1; stage <= 2; stage++) {
		struct store_verdict *verdicts;
		size_t count;
		if (store_get_verdicts(context->store, night->id, stage, &verdicts, &count, err) <
		    0)
			return -1;
		auto_json json_t *some = verdicts_json(verdicts, count);
		json_array_extend(all, some);
		store_verdicts_free(verdicts, count);
	}
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, night->id, false, &hunts, &count, err) < 0)
		return -1;
	json_t *array = json_array();
	json_object_set_new(value, "hunts", array);
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		json_t *hunt;
		result = load_hunt_json(context, &hunts[i], &hunt, err);
		if (result == 0)
			json_array_append_new(array, hunt);
	}
	store_hunts_free(hunts, count);
	if (result == 0)
		*ret_value = take(value);
	return result;
}
