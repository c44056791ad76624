/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/planner.h"

static int full_plan(struct context *context, char **ret_text, struct error *err)
{
	auto_plan struct plan plan = {0};
	if (planner_plan(context->benchmarks, context->benchmark_count, NULL, 0, &plan, err) < 0)
		return -1;
	*ret_text = plan_to_text(&plan);
	return 0;
}

/* An unfinished one that failed for its kernel's reasons is not continued either. */
static bool continues(const struct store_trial *trial, const char *plan, const char *identity)
{
	bool kernel_failed = trial_is_final(trial->state) && trial->state != TRIAL_STORED &&
			     trial->state != TRIAL_FAILED_HOST;
	return !kernel_failed && strcmp(trial->plan, plan) == 0 &&
	       (!trial->identity || strcmp(trial->identity, identity) == 0);
}

int conductor_baseline_is_current(struct context *context, const struct store_baseline *baseline,
				  bool *ret_current, struct error *err)
{
	auto_free char *plan = NULL;
	struct digest identity;
	struct store_trial *trials;
	size_t count;
	if (full_plan(context, &plan, err) < 0 || conductor_identity(context, &identity, err) < 0 ||
	    store_list_trials(context->store, PURPOSE_BASELINE, baseline->id, NULL,
			      (size_t)baseline->boots, &trials, &count, err) < 0)
		return -1;
	*ret_current = true;
	for (size_t i = 0; i < count; i++)
		*ret_current &= continues(&trials[i], plan, identity.hex);
	store_trials_free(trials, count);
	return 0;
}

int conductor_baseline(struct context *context, const struct store_baseline *baseline,
		       struct error *err)
{
	auto_free char *plan = NULL;
	if (full_plan(context, &plan, err) < 0)
		return -1;
	for (int64_t i = 0; i < baseline->boots; i++) {
		log_notice("baseline %s: boot %lld of %lld", short_id(baseline->commit),
			   (long long)i + 1, (long long)baseline->boots);
		auto_store_trial struct store_trial trial = {0};
		if (conductor_trial(context, PURPOSE_BASELINE, baseline->id, i, baseline->commit, 0,
				    plan, &trial, err) < 0)
			return -1;
		if (trial.state != TRIAL_STORED)
			return error_set(
				err, trial.state == TRIAL_FAILED_HOST ? ERROR_SYSTEM : ERROR_USAGE,
				"%s cannot be a baseline: %s: %s; console: %s",
				short_id(baseline->commit), trial_state_name(trial.state),
				trial.reason ? trial.reason : "unknown",
				trial.console_path ? trial.console_path : "none");
	}
	return store_complete_baseline(context->store, baseline->id, clock_utc_seconds(), err);
}
