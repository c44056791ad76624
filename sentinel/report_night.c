/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/report.h"

#include <stdio.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/report_verdicts.h"

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
	if (report_verdicts(context, night, text, err) < 0 ||
	    report_change_points(context, night, text, err) < 0)
		return -1;
	return add_hunts(context, night, text, err);
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
	json_t *part;
	if (report_verdicts_json(context, night, &part, err) < 0)
		return -1;
	json_object_set_new(value, "verdicts", part);
	if (report_change_points_json(context, night, &part, err) < 0)
		return -1;
	json_object_set_new(value, "change_points", part);
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, night->id, false, &hunts, &count, err) < 0)
		return -1;
	json_t *array = json_array();
	json_object_set_new(value, "hunts", array);
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		json_t *hunt;
		result = report_hunt_json(context, &hunts[i], &hunt, err);
		if (result == 0)
			json_array_append_new(array, hunt);
	}
	store_hunts_free(hunts, count);
	if (result == 0)
		*ret_value = take(value);
	return result;
}
