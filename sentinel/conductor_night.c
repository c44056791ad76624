/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/judge.h"
#include "sentinel/night.h"
#include "sentinel/night_step.h"
#include "sentinel/planner.h"

void verdict_list_free(struct verdict_list *list)
{
	store_verdicts_free(list->items, list->count);
	*list = (struct verdict_list){0};
}

void boot_list_free(struct boot_list *list)
{
	store_boots_free(list->items, list->count);
	*list = (struct boot_list){0};
}

static int full_plan(struct context *context, char **ret_text, struct error *err)
{
	auto_plan struct plan plan = {0};
	if (planner_plan(context->benchmarks, context->benchmark_count, NULL, 0, &plan, err) < 0)
		return -1;
	*ret_text = plan_to_text(&plan);
	return 0;
}

int night_step_to(struct context *context, struct store_night *night, enum night_state state,
		  const char *outcome, struct error *err)
{
	if (outcome) {
		free(night->outcome);
		night->outcome = text_copy(outcome);
	}
	night->state = state;
	if (state == NIGHT_DONE)
		night->ended_seconds = clock_utc_seconds();
	return store_update_night(context->store, night, err);
}

int night_step_kernel_failed(struct context *context, struct store_night *night,
			     const struct store_trial *trial, struct error *err)
{
	const char *reason = trial->reason ? trial->reason : "unknown";
	if (trial->state == TRIAL_FAILED_HOST)
		return error_set(
			err, ERROR_SYSTEM,
			"trial %lld failed %lld times for this host's own reasons: %s; mend "
			"it, then run \"sentinel resume\"",
			(long long)trial->id, (long long)trial->attempts, reason);
	bool head = strcmp(trial->commit, night->head) == 0;
	auto_free char *outcome =
		text_format("%s%s: %s", head ? "" : NIGHT_NOT_JUDGED ": the kernel compared with: ",
			    trial_state_name(trial->state), reason);
	log_notice("night %lld: %s %s", (long long)night->id, short_id(trial->commit), outcome);
	return night_step_to(context, night, NIGHT_DONE, outcome, err);
}

/* True in *ret_ended when the head's kernel has ended the night. */
static int measure_boots(struct context *context, struct store_night *night, bool *ret_ended,
			 struct error *err)
{
	auto_free char *plan = NULL;
	*ret_ended = false;
	if (full_plan(context, &plan, err) < 0)
		return -1;
	for (int64_t i = 0; i < context->policy.night.boots; i++) {
		log_notice("night %lld: %s, boot %lld of %lld", (long long)night->id,
			   short_id(night->head), (long long)i + 1,
			   (long long)context->policy.night.boots);
		auto_store_trial struct store_trial trial = {0};
		if (conductor_trial(context, PURPOSE_NIGHT, night->id, i, night->head, 0, plan,
				    &trial, err) < 0)
			return -1;
		if (trial.state == TRIAL_STORED)
			continue;
		*ret_ended = true;
		return night_step_kernel_failed(context, night, &trial, err);
	}
	return 0;
}

static bool is_among(const struct verdict_list *verdicts, const char *series)
{
	for (size_t i = 0; i < verdicts->count; i++)
		if (strcmp(verdicts->items[i].series, series) == 0)
			return true;
	return false;
}

static void judge_one(const struct history *history, const char *series,
		      struct verdict_list *verdicts)
{
	if (is_among(verdicts, series))
		return;
	verdicts->items =
		memory_resize(verdicts->items, verdicts->count + 1, sizeof(*verdicts->items));
	judge_stage1(history, series, &verdicts->items[verdicts->count]);
	verdicts->count++;
}

/* All that [night] asks for: a number that is missing tonight is not a good number. */
static int judge_all(struct context *context, const struct store_night *night,
		     struct verdict_list *verdicts, struct error *err)
{
	auto_history struct history history = {0};
	char **names;
	size_t count;
	if (history_load(context->store, &context->policy, night, &history, err) < 0 ||
	    planner_series(context->benchmarks, context->benchmark_count, &names, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		judge_one(&history, names[i], verdicts);
		free(names[i]);
	}
	free(names);
	for (size_t i = 0; i < history.tonight_count; i++)
		judge_one(&history, history.tonight[i].series, verdicts);
	return 0;
}

static int measure_night(struct context *context, struct store_night *night, struct error *err)
{
	bool ended;
	auto_verdicts struct verdict_list verdicts = {0};
	if (measure_boots(context, night, &ended, err) < 0)
		return -1;
	if (ended)
		return 0;
	if (judge_all(context, night, &verdicts, err) < 0 ||
	    store_put_verdicts(context->store, night->id, 1, verdicts.items, verdicts.count, err) <
		    0)
		return -1;
	enum night_state next =
		planner_night_after(NIGHT_MEASURING, verdicts.items, verdicts.count);
	auto_free char *outcome =
		next == NIGHT_REPORTING ? planner_outcome(verdicts.items, verdicts.count) : NULL;
	return night_step_to(context, night, next, outcome, err);
}

static int report_step(struct context *context, struct store_night *night, struct error *err)
{
	if (night_step_date(context, night, err) < 0 || conductor_report(context, night, err) < 0)
		return -1;
	return night_step_to(context, night, NIGHT_DONE, NULL, err);
}

static int baseline_is_current(struct context *context, const struct store_night *night,
			       bool *ret_current, struct error *err)
{
	struct store_baseline baseline = {0};
	if (store_get_baseline(context->store, night->tree_name, night->machine, true, &baseline,
			       err) < 0)
		return -1;
	*ret_current = baseline.id == night->baseline;
	store_baseline_free(&baseline);
	return 0;
}

int conductor_night(struct context *context, struct store_night *night, struct error *err)
{
	static int (*const steps[])(struct context *, struct store_night *, struct error *) = {
		[NIGHT_MEASURING] = measure_night,
		[NIGHT_RETESTING] = night_step_retest,
		[NIGHT_HUNTING] = night_step_hunt,
		[NIGHT_REPORTING] = report_step,
	};
	bool current;
	if (baseline_is_current(context, night, &current, err) < 0)
		return -1;
	/* What is judged already stays judged. */
	if (!current && (night->state == NIGHT_MEASURING || night->state == NIGHT_RETESTING))
		return night_step_to(context, night, NIGHT_DONE,
				     NIGHT_NOT_JUDGED ": the baseline was replaced meanwhile", err);
	while (night->state != NIGHT_DONE)
		if (steps[night->state](context, night, err) < 0)
			return -1;
	return 0;
}
