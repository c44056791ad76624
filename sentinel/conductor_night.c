/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/judge.h"
#include "sentinel/night.h"
#include "sentinel/planner.h"

struct verdict_list {
	struct store_verdict *items;
	size_t count;
};

static void verdict_list_free(struct verdict_list *list)
{
	store_verdicts_free(list->items, list->count);
}

struct boot_list {
	struct store_boot *items;
	size_t count;
};

static void boot_list_free(struct boot_list *list)
{
	store_boots_free(list->items, list->count);
}

#define auto_verdicts auto_cleanup(verdict_list_free)
#define auto_boots auto_cleanup(boot_list_free)

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
		if (conductor_trial(context, PURPOSE_BASELINE, baseline->id, i, baseline->commit,
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
	return store_complete_baseline(context->store, baseline->id, err);
}

static int set_outcome(struct context *context, struct store_night *night, enum night_state state,
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

/* The commit that the night compares with. */
static int baseline_commit(struct context *context, const struct store_night *night,
			   char ret_commit[static OBJECT_ID_SIZE], bool *ret_current,
			   struct error *err)
{
	auto_cleanup(store_baseline_free) struct store_baseline baseline = {0};
	if (store_get_baseline(context->store, night->tree_name, night->machine, true, &baseline,
			       err) < 0)
		return -1;
	*ret_current = baseline.id == night->baseline;
	memcpy(ret_commit, baseline.commit, OBJECT_ID_SIZE);
	return 0;
}

/*
 * A kernel that does not build, boot or finish ends the night: it is a result, not an error. When
 * it is the baseline's, nothing was learned about the head.
 */
static int kernel_failed(struct context *context, struct store_night *night,
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
		text_format("%s%s: %s", head ? "" : NIGHT_NOT_JUDGED ": the baseline's kernel: ",
			    trial_state_name(trial->state), reason);
	log_notice("night %lld: %s %s", (long long)night->id, short_id(trial->commit), outcome);
	return set_outcome(context, night, NIGHT_DONE, outcome, err);
}

static size_t count_in_state(const struct verdict_list *verdicts, enum verdict_state state)
{
	size_t count = 0;
	for (size_t i = 0; i < verdicts->count; i++)
		count += verdicts->items[i].verdict.state == state;
	return count;
}

/* What a night says when nothing is hunted. */
static char *quiet_outcome(const struct verdict_list *verdicts)
{
	size_t missing = count_in_state(verdicts, VERDICT_NO_DATA);
	if (missing)
		return text_format("no valid number for %zu of %zu series", missing,
				   verdicts->count);
	return text_copy(count_in_state(verdicts, VERDICT_IMPROVEMENT) ? "improvement"
								       : "no regression");
}

static int measure_night(struct context *context, struct store_night *night, struct error *err)
{
	auto_free char *plan = NULL;
	if (full_plan(context, &plan, err) < 0)
		return -1;
	for (int64_t i = 0; i < context->policy.night.boots; i++) {
		log_notice("night %lld: %s, boot %lld of %lld", (long long)night->id,
			   short_id(night->head), (long long)i + 1,
			   (long long)context->policy.night.boots);
		auto_store_trial struct store_trial trial = {0};
		if (conductor_trial(context, PURPOSE_NIGHT, night->id, i, night->head, plan, &trial,
				    err) < 0)
			return -1;
		if (trial.state != TRIAL_STORED)
			return kernel_failed(context, night, &trial, err);
	}
	auto_boots struct boot_list before = {0};
	auto_boots struct boot_list tonight = {0};
	auto_verdicts struct verdict_list verdicts = {0};
	if (store_boots(context->store, PURPOSE_BASELINE, night->baseline, NULL, NULL,
			&before.items, &before.count, err) < 0 ||
	    store_boots(context->store, PURPOSE_NIGHT, night->id, NULL, NULL, &tonight.items,
			&tonight.count, err) < 0 ||
	    judge_stage1(&context->policy, before.items, before.count, tonight.items, tonight.count,
			 &verdicts.items, &verdicts.count, err) < 0 ||
	    store_put_verdicts(context->store, night->id, 1, verdicts.items, verdicts.count, err) <
		    0)
		return -1;
	enum night_state next =
		planner_night_after(NIGHT_MEASURING, verdicts.items, verdicts.count);
	auto_free char *outcome = next == NIGHT_REPORTING ? quiet_outcome(&verdicts) : NULL;
	return set_outcome(context, night, next, outcome, err);
}

static size_t names_in_state(const struct verdict_list *verdicts, enum verdict_state state,
			     const char **names)
{
	size_t count = 0;
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->items[i].verdict.state == state)
			names[count++] = verdicts->items[i].series;
	return count;
}

static int retest_trials(struct context *context, struct store_night *night, const char *base,
			 const char *plan, bool *ret_failed, struct error *err)
{
	*ret_failed = false;
	for (int64_t i = 0; i < 2 * context->policy.night.retest_pairs; i++) {
		const char *commit = planner_retest_is_head(i) ? night->head : base;
		log_notice("night %lld: retest pair %lld of %lld, %s", (long long)night->id,
			   (long long)i / 2 + 1, (long long)context->policy.night.retest_pairs,
			   short_id(commit));
		auto_store_trial struct store_trial trial = {0};
		if (conductor_trial(context, PURPOSE_RETEST, night->id, i, commit, plan, &trial,
				    err) < 0)
			return -1;
		if (trial.state == TRIAL_STORED)
			continue;
		*ret_failed = true;
		return kernel_failed(context, night, &trial, err);
	}
	return 0;
}

static int retest_night(struct context *context, struct store_night *night, struct error *err)
{
	char base[OBJECT_ID_SIZE];
	bool current;
	auto_verdicts struct verdict_list stage1 = {0};
	if (baseline_commit(context, night, base, &current, err) < 0 ||
	    store_get_verdicts(context->store, night->id, 1, &stage1.items, &stage1.count, err) < 0)
		return -1;
	auto_free const char **names = memory_array(stage1.count, sizeof(*names));
	size_t flagged = names_in_state(&stage1, VERDICT_FLAGGED, names);
	auto_plan struct plan plan = {0};
	if (planner_plan(context->benchmarks, context->benchmark_count, names, flagged, &plan,
			 err) < 0)
		return -1;
	auto_free char *text = plan_to_text(&plan);
	bool failed;
	if (retest_trials(context, night, base, text, &failed, err) < 0)
		return -1;
	if (failed)
		return 0;
	auto_boots struct boot_list before = {0};
	auto_boots struct boot_list tonight = {0};
	auto_verdicts struct verdict_list stage2 = {0};
	if (store_boots(context->store, PURPOSE_RETEST, night->id, base, NULL, &before.items,
			&before.count, err) < 0 ||
	    store_boots(context->store, PURPOSE_RETEST, night->id, night->head, NULL,
			&tonight.items, &tonight.count, err) < 0 ||
	    judge_stage2(&context->policy, stage1.items, stage1.count, before.items, before.count,
			 tonight.items, tonight.count, &stage2.items, &stage2.count, err) < 0 ||
	    store_put_verdicts(context->store, night->id, 2, stage2.items, stage2.count, err) < 0)
		return -1;
	enum night_state next = planner_night_after(NIGHT_RETESTING, stage2.items, stage2.count);
	if (strcmp(night->kind, "judge") == 0)
		next = NIGHT_DONE;
	auto_free char *outcome = count_in_state(&stage2, VERDICT_REGRESSION)
					  ? text_copy(NIGHT_REGRESSION)
					  : quiet_outcome(&stage2);
	return set_outcome(context, night, next, outcome, err);
}

/* A step of at least half the night's size between parent and culprit explains a series. */
static bool moved_with_culprit(const struct series_boots *culprit,
			       const struct series_boots *others, double night_change)
{
	if (!culprit || !others)
		return false;
	double change = stats_mean(culprit->values, culprit->count) -
			stats_mean(others->values, others->count);
	return change >= night_change / 2;
}

/*
 * Which regressions a finished hunt accounts for. A hunt without a culprit ends the search for this
 * night: hunting the next series of the same two kernels would meet the same wall.
 */
static int mark_explained(struct context *context, const struct store_hunt *hunt,
			  const struct verdict_list *verdicts, bool *explained, struct error *err)
{
	bool culprit_found = hunt->culprit[0] != '\0';
	for (size_t i = 0; i < verdicts->count; i++)
		if (!culprit_found || strcmp(verdicts->items[i].series, hunt->series) == 0)
			explained[i] = true;
	if (!culprit_found)
		return 0;
	char rival[OBJECT_ID_SIZE];
	auto_boots struct boot_list bad = {0};
	auto_boots struct boot_list good = {0};
	if (conductor_rival(context, hunt, rival, err) < 0 ||
	    store_boots(context->store, PURPOSE_HUNT, hunt->id, hunt->culprit, NULL, &bad.items,
			&bad.count, err) < 0 ||
	    store_boots(context->store, PURPOSE_HUNT, hunt->id, rival, NULL, &good.items,
			&good.count, err) < 0)
		return -1;
	struct series_boots *bad_series;
	struct series_boots *good_series;
	size_t bad_count;
	size_t good_count;
	series_group(bad.items, bad.count, &bad_series, &bad_count);
	series_group(good.items, good.count, &good_series, &good_count);
	for (size_t i = 0; i < verdicts->count; i++) {
		const char *name = verdicts->items[i].series;
		if (moved_with_culprit(series_find(bad_series, bad_count, name),
				       series_find(good_series, good_count, name),
				       verdicts->items[i].verdict.change))
			explained[i] = true;
	}
	series_free(bad_series, bad_count);
	series_free(good_series, good_count);
	return 0;
}

static int begin_hunt(struct context *context, const struct store_night *night, const char *base,
		      const struct store_verdict *verdict, struct store_hunt *ret_hunt,
		      struct error *err)
{
	double minimum =
		log1p(judge_minimum_effect_percent(&context->policy, verdict->series) / 100);
	auto_boots struct boot_list boots = {0};
	if (store_boots(context->store, PURPOSE_RETEST, night->id, NULL, verdict->series,
			&boots.items, &boots.count, err) < 0)
		return -1;
	struct series_boots *series;
	size_t count;
	series_group(boots.items, boots.count, &series, &count);
	double floor = count ? series[0].deviation_floor : 0.0005;
	series_free(series, count);
	struct store_hunt hunt = {
		.night = night->id,
		.tree_name = text_copy(night->tree_name),
		.machine = text_copy(night->machine),
		.series = text_copy(verdict->series),
		.rule =
			{
				.stop_probability = context->policy.hunt.stop_probability,
				.report_probability = context->policy.hunt.report_probability,
				.maximum_boots = (size_t)context->policy.hunt.maximum_boots,
				.flagged_step = verdict->verdict.change,
				.deviation = verdict->verdict.deviation,
				.degrees = verdict->verdict.degrees,
				.deviation_floor = floor,
				.minimum_step = minimum / 2,
			},
		.started_seconds = clock_utc_seconds(),
	};
	memcpy(hunt.good, base, OBJECT_ID_SIZE);
	memcpy(hunt.bad, night->head, OBJECT_ID_SIZE);
	*ret_hunt = hunt;
	return store_add_hunt(context->store, ret_hunt, err);
}

/* Finishes the night's hunts that were begun and marks what the finished ones explain. */
static int settle_hunts(struct context *context, const struct store_night *night,
			const struct verdict_list *verdicts, const char *const *regressed,
			size_t regressed_count, bool *explained, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, night->id, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (!hunts[i].finished)
			result =
				conductor_hunt(context, &hunts[i], regressed, regressed_count, err);
		if (result == 0)
			result = mark_explained(context, &hunts[i], verdicts, explained, err);
	}
	store_hunts_free(hunts, count);
	return result;
}

static int hunt_night(struct context *context, struct store_night *night, struct error *err)
{
	char base[OBJECT_ID_SIZE];
	bool current;
	auto_verdicts struct verdict_list verdicts = {0};
	if (baseline_commit(context, night, base, &current, err) < 0 ||
	    store_get_verdicts(context->store, night->id, 2, &verdicts.items, &verdicts.count,
			       err) < 0)
		return -1;
	auto_free const char **names = memory_array(verdicts.count, sizeof(*names));
	size_t name_count = names_in_state(&verdicts, VERDICT_REGRESSION, names);
	auto_free bool *explained = memory_array(verdicts.count, sizeof(*explained));
	size_t next;
	if (settle_hunts(context, night, &verdicts, names, name_count, explained, err) < 0)
		return -1;
	while (planner_next_hunt(verdicts.items, verdicts.count, explained, &next)) {
		struct store_hunt hunt = {0};
		if (begin_hunt(context, night, base, &verdicts.items[next], &hunt, err) < 0)
			return -1;
		store_hunt_free(&hunt);
		if (settle_hunts(context, night, &verdicts, names, name_count, explained, err) < 0)
			return -1;
	}
	return set_outcome(context, night, NIGHT_REPORTING, NULL, err);
}

static int report_night(struct context *context, struct store_night *night, struct error *err)
{
	if (conductor_report(context, night, err) < 0)
		return -1;
	return set_outcome(context, night, NIGHT_DONE, NULL, err);
}

int conductor_night(struct context *context, struct store_night *night, struct error *err)
{
	static int (*const steps[])(struct context *, struct store_night *, struct error *) = {
		[NIGHT_MEASURING] = measure_night,
		[NIGHT_RETESTING] = retest_night,
		[NIGHT_HUNTING] = hunt_night,
		[NIGHT_REPORTING] = report_night,
	};
	char base[OBJECT_ID_SIZE];
	bool current;
	if (baseline_commit(context, night, base, &current, err) < 0)
		return -1;
	if (!current && night->state != NIGHT_DONE)
		return set_outcome(context, night, NIGHT_DONE,
				   NIGHT_NOT_JUDGED ": the baseline was replaced meanwhile", err);
	while (night->state != NIGHT_DONE)
		if (steps[night->state](context, night, err) < 0)
			return -1;
	return 0;
}
