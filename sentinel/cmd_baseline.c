/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"
#include "sentinel/judge.h"

static json_t *series_json(const struct series_boots *series)
{
	double mean = stats_mean(series->means, series->count);
	return json_pack("{s:s, s:s, s:f, s:f, s:I}", "series", series->series, "unit",
			 series->unit, "mean", mean, "deviation_percent",
			 100 * stats_deviation(series->means, series->count) / mean, "boots",
			 (json_int_t)series->count);
}

static int print_baseline(struct context *context, const struct store_baseline *baseline,
			  struct error *err)
{
	struct store_boot *boots;
	size_t boot_count;
	struct series_boots *series;
	size_t count;
	if (store_boots(context->store, PURPOSE_BASELINE, baseline->id, NULL, NULL, &boots,
			&boot_count, err) < 0)
		return -1;
	series_group(boots, boot_count, &series, &count);
	json_t *array = json_array();
	if (!context->json)
		printf("baseline of %s on %s: %s%s\nclock: %s\n  %-44s %12s %8s %6s\n",
		       baseline->tree_name, baseline->machine, baseline->commit,
		       baseline->complete ? "" : " (unfinished: sentinel resume)",
		       boot_count ? boots[0].clock : "not known yet", "series", "mean", "std%",
		       "boots");
	for (size_t i = 0; i < count; i++) {
		double mean = stats_mean(series[i].means, series[i].count);
		if (context->json)
			json_array_append_new(array, series_json(&series[i]));
		else
			printf("  %-44s %10.6g %s %7.2f%% %6zu\n", series[i].series, mean,
			       series[i].unit,
			       100 * stats_deviation(series[i].means, series[i].count) / mean,
			       series[i].count);
	}
	if (context->json)
		context_print_json(json_pack("{s:s, s:s, s:s, s:b, s:s?, s:o}", "tree",
					     baseline->tree_name, "machine", baseline->machine,
					     "commit", baseline->commit, "complete",
					     baseline->complete, "clock",
					     boot_count ? boots[0].clock : NULL, "series", array));
	else
		json_decref(array);
	series_free(series, count);
	store_boots_free(boots, boot_count);
	return 0;
}

/* The same commit, measured in the same way in as many boots or more, is the same baseline: it is
   continued, not begun again. */
static int is_same(struct context *context, const struct store_baseline *baseline,
		   const char *commit, bool *ret_same, struct error *err)
{
	*ret_same = baseline->id && strcmp(baseline->commit, commit) == 0 &&
		    baseline->boots >= context->policy.night.baseline_boots;
	return *ret_same ? conductor_baseline_is_current(context, baseline, ret_same, err) : 0;
}

static int set_baseline(struct context *context, const char *revision, struct error *err)
{
	char commit[OBJECT_ID_SIZE];
	bool same;
	auto_cleanup(store_baseline_free) struct store_baseline baseline = {0};
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0 ||
	    context_resolve(context, revision, commit, err) < 0 ||
	    store_get_baseline(context->store, context->tree->name, context->machine_policy->name,
			       false, &baseline, err) < 0 ||
	    is_same(context, &baseline, commit, &same, err) < 0)
		return -1;
	if (!same) {
		store_baseline_free(&baseline);
		baseline = (struct store_baseline){
			.tree_name = text_copy(context->tree->name),
			.machine = text_copy(context->machine_policy->name),
			.boots = context->policy.night.baseline_boots,
			.set_seconds = clock_utc_seconds(),
		};
		memcpy(baseline.commit, commit, OBJECT_ID_SIZE);
		if (store_add_baseline(context->store, &baseline, err) < 0)
			return -1;
	}
	if ((!baseline.complete || baseline.pending) &&
	    conductor_baseline(context, &baseline, err) < 0)
		return -1;
	baseline.complete = true;
	context_tell_time(context);
	return print_baseline(context, &baseline, err);
}

/* The same kernel again: what a drifting machine does to it is told from what commits do. */
static int remeasure_baseline(struct context *context, struct error *err)
{
	auto_cleanup(store_baseline_free) struct store_baseline baseline = {0};
	bool current;
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0 ||
	    store_get_baseline(context->store, context->tree->name, context->machine_policy->name,
			       true, &baseline, err) < 0)
		return -1;
	if (!baseline.id)
		return error_set(err, ERROR_USAGE,
				 "tree %s has no complete baseline on %s; run \"sentinel baseline "
				 "set REV\" first",
				 context->tree->name, context->machine_policy->name);
	if (conductor_baseline_is_current(context, &baseline, &current, err) < 0)
		return -1;
	if (!current)
		return error_set(
			err, ERROR_USAGE,
			"machine, configuration, compiler or benchmarks have changed since "
			"%s was measured; run \"sentinel baseline set %s\"",
			short_id(baseline.commit), short_id(baseline.commit));
	int64_t more = context->policy.night.pinned_boots;
	if (!baseline.pending) {
		if (store_extend_baseline(context->store, baseline.id, more, err) < 0)
			return -1;
		baseline.boots += more;
	}
	if (conductor_baseline(context, &baseline, err) < 0)
		return -1;
	context_tell_time(context);
	return print_baseline(context, &baseline, err);
}

static int show_baseline(struct context *context, struct error *err)
{
	auto_cleanup(store_baseline_free) struct store_baseline baseline = {0};
	if (context_open_store(context, err) < 0 ||
	    store_get_baseline(context->store, context->tree->name, context->machine_policy->name,
			       false, &baseline, err) < 0)
		return -1;
	if (!baseline.id)
		return error_set(err, ERROR_USAGE,
				 "tree %s has no baseline on %s; run \"sentinel baseline set REV\"",
				 context->tree->name, context->machine_policy->name);
	return print_baseline(context, &baseline, err);
}

int cmd_baseline(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		 struct error *err)
{
	(void)ret_exit_code;
	const char *verb = arguments->operands[0];
	if (strcmp(verb, "show") == 0 && arguments->operand_count == 1)
		return show_baseline(context, err);
	if (strcmp(verb, "remeasure") == 0 && arguments->operand_count == 1)
		return remeasure_baseline(context, err);
	if (strcmp(verb, "set") == 0 && arguments->operand_count == 2)
		return set_baseline(context, arguments->operands[1], err);
	return error_set(err, ERROR_USAGE, "usage: sentinel baseline set REV | remeasure | show");
}
