/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"
#include "sentinel/history.h"
#include "sentinel/judge.h"
#include "sentinel/planner.h"
#include "sentinel/report.h"

/* Resolution is not known before the first boot: a tenth of a percent is what careful programs
   print. */
#define DEVIATION_FLOOR 0.001

static bool is_same(const struct context *context, const struct store_hunt *hunt, const char *good,
		    const char *bad, const char *series)
{
	return strcmp(hunt->tree_name, context->tree->name) == 0 &&
	       strcmp(hunt->machine, context->machine_policy->name) == 0 &&
	       strcmp(hunt->good, good) == 0 && strcmp(hunt->bad, bad) == 0 &&
	       strcmp(hunt->series, series) == 0;
}

static int find_unfinished(struct context *context, const char *good, const char *bad,
			   const char *series, struct store_hunt *ret_hunt, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, 0, true, &hunts, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!ret_hunt->id && is_same(context, &hunts[i], good, bad, series))
			*ret_hunt = hunts[i];
		else
			store_hunt_free(&hunts[i]);
	}
	free(hunts);
	return 0;
}

/* What nights and "characterise" know of the series' noise; a hunt by hand needs no night. */
static int known_noise(struct context *context, const char *series, struct hunt_noise *ret_noise,
		       struct error *err)
{
	auto_history struct history history = {0};
	auto_history_series struct history_series found = {0};
	if (history_load(context->store, &context->policy, NULL, &history, err) < 0)
		return -1;
	history_series_open(&history, series, &found);
	*ret_noise = (struct hunt_noise){
		.deviation = found.noise.deviation,
		.degrees = found.noise.degrees,
		.deviation_floor = fmax(found.deviation_floor, DEVIATION_FLOOR),
		.layout_deviation = verdict_layout_deviation(
			&found.noise, judge_minimum_step(&context->policy, series)),
	};
	return 0;
}

static int begin(struct context *context, const char *good, const char *bad, const char *series,
		 struct store_hunt *ret_hunt, struct error *err)
{
	double minimum = judge_minimum_step(&context->policy, series);
	struct hunt_noise noise;
	if (known_noise(context, series, &noise, err) < 0)
		return -1;
	minimum = fmax(minimum, 2 * DEVIATION_FLOOR);
	*ret_hunt = (struct store_hunt){
		.tree_name = text_copy(context->tree->name),
		.machine = text_copy(context->machine_policy->name),
		.series = text_copy(series),
		.rule =
			{
				.stop_probability = context->policy.hunt.stop_probability,
				.report_probability = context->policy.hunt.report_probability,
				.maximum_boots = (size_t)context->policy.hunt.maximum_boots,
				.flagged_step = minimum,
				.minimum_step = minimum / 2,
				.layouts = (size_t)context->policy.night.layout_builds,
				.noise = noise,
			},
		.started_seconds = clock_utc_seconds(),
	};
	memcpy(ret_hunt->good, good, OBJECT_ID_SIZE);
	memcpy(ret_hunt->bad, bad, OBJECT_ID_SIZE);
	return store_add_hunt(context->store, ret_hunt, err);
}

/* Faults of the request must be told before a hunt is stored and booted. */
static int check_request(struct context *context, const char *good, const char *bad,
			 const char *series, struct error *err)
{
	auto_plan struct plan plan = {0};
	auto_commit_range struct commit_range range = {0};
	if (planner_plan(context->benchmarks, context->benchmark_count, &series, 1, &plan, err) < 0)
		return -1;
	return source_tree_range(context->source, good, bad, &range, err);
}

int cmd_bisect(struct context *context, const struct arguments *arguments, int *ret_exit_code,
	       struct error *err)
{
	(void)ret_exit_code;
	char good[OBJECT_ID_SIZE];
	char bad[OBJECT_ID_SIZE];
	const char *series = argument_value(arguments, "--series");
	auto_cleanup(store_hunt_free) struct store_hunt hunt = {0};
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0 ||
	    context_resolve(context, argument_value(arguments, "--good"), good, err) < 0 ||
	    context_resolve(context, argument_value(arguments, "--bad"), bad, err) < 0 ||
	    check_request(context, good, bad, series, err) < 0 ||
	    find_unfinished(context, good, bad, series, &hunt, err) < 0)
		return -1;
	if (!hunt.id && begin(context, good, bad, series, &hunt, err) < 0)
		return -1;
	if (conductor_hunt(context, &hunt, NULL, 0, err) < 0)
		return -1;
	context_tell_time(context);
	return report_print_hunt(context, &hunt, err);
}
