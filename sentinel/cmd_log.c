/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"

#define DEFAULT_LIMIT 50
#define LARGEST_LIMIT 100000

static int read_limit(const struct arguments *arguments, int64_t *ret_limit, struct error *err)
{
	const char *text = argument_value(arguments, "--limit");
	*ret_limit = DEFAULT_LIMIT;
	return text ? argument_number("--limit", text, 1, LARGEST_LIMIT, ret_limit, err) : 0;
}

static void print_trial(const struct store_trial *trial)
{
	char date[21];
	auto_free char *reason = text_one_line(trial->reason ? trial->reason : "", 200);
	clock_utc_text(trial->created_seconds, date);
	printf("%s trial %lld %-8s %s %-12s %5.1f s%s%s\n", date, (long long)trial->id,
	       trial_purpose_name(trial->purpose), short_id(trial->commit),
	       trial_state_name(trial->state), trial->seconds, reason[0] ? "  " : "", reason);
}

static json_t *trial_json(const struct store_trial *trial)
{
	return json_pack(
		"{s:I, s:s, s:I, s:I, s:s, s:s, s:I, s:s?, s:s?, s:s?, s:s?, s:s?, s:s, s:f, s:I}",
		"id", (json_int_t)trial->id, "purpose", trial_purpose_name(trial->purpose), "owner",
		(json_int_t)trial->owner, "sequence", (json_int_t)trial->sequence, "commit",
		trial->commit, "state", trial_state_name(trial->state), "attempts",
		(json_int_t)trial->attempts, "phase", trial->phase, "cause", trial->cause, "reason",
		trial->reason, "console", trial->console_path, "image_digest", trial->image_digest,
		"token", trial->token, "seconds", trial->seconds, "layout",
		(json_int_t)trial->layout);
}

/* Commits that a hunt skipped without a trial stand in its events only. */
static int print_skipped(struct context *context, json_t *array, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, -1, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		struct store_hunt_event *events;
		size_t event_count;
		result = store_get_hunt_events(context->store, hunts[i].id, &events, &event_count,
					       err);
		if (result < 0)
			break;
		for (size_t j = 0; j < event_count; j++) {
			if (events[j].kind != HUNT_UNTESTABLE)
				continue;
			auto_free char *reason = text_one_line(events[j].reason, 200);
			if (array)
				json_array_append_new(array, json_pack("{s:I, s:s, s:s}", "hunt",
								       (json_int_t)hunts[i].id,
								       "commit", events[j].commit,
								       "reason", events[j].reason));
			else
				printf("hunt %lld skipped %s: %s\n", (long long)hunts[i].id,
				       short_id(events[j].commit), reason);
		}
		store_hunt_events_free(events, event_count);
	}
	store_hunts_free(hunts, count);
	return result;
}

int cmd_log(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	    struct error *err)
{
	(void)ret_exit_code;
	int64_t limit;
	struct store_trial *trials;
	size_t count;
	if (read_limit(arguments, &limit, err) < 0 || context_open_store(context, err) < 0 ||
	    store_list_trials(context->store, -1, -1, NULL, (size_t)limit, &trials, &count, err) <
		    0)
		return -1;
	auto_json json_t *list = context->json ? json_array() : NULL;
	auto_json json_t *skipped = context->json ? json_array() : NULL;
	for (size_t i = 0; i < count; i++) {
		if (list)
			json_array_append_new(list, trial_json(&trials[i]));
		else
			print_trial(&trials[i]);
	}
	store_trials_free(trials, count);
	if (print_skipped(context, skipped, err) < 0)
		return -1;
	if (context->json)
		context_print_json(json_pack("{s:O, s:O}", "trials", list, "skipped", skipped));
	return 0;
}
