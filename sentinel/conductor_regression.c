/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/conductor.h"

#include <string.h>

#include "sentinel/base/clock.h"
#include "sentinel/base/text.h"
#include "sentinel/judge.h"
#include "sentinel/night_step.h"
#include "sentinel/planner.h"

/*
 * Which regressions a finished hunt accounts for. A hunt without a culprit ends the search for this
 * night: hunting the next series of the same two kernels would meet the same wall.
 */
static int mark_explained(struct context *context, const struct store_hunt *hunt,
			  const struct verdict_list *verdicts, bool *explained, struct error *err)
{
	bool culprit_found = hunt->culprit[0] != '\0';
	for (size_t i = 0; i < verdicts->count; i++) {
		const struct store_verdict *verdict = &verdicts->items[i];
		bool same_wall = !culprit_found && !hunt->origin &&
				 strcmp(verdict->reference, hunt->good) == 0;
		if (same_wall || series_same_case(verdict->series, hunt->series))
			explained[i] = true;
	}
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
		explained[i] |= judge_is_explained(&verdicts->items[i], (size_t)hunt->rule.layouts,
						   judge_minimum_step(&context->policy, name),
						   series_find(bad_series, bad_count, name),
						   series_find(good_series, good_count, name));
	}
	series_free(bad_series, bad_count);
	series_free(good_series, good_count);
	return 0;
}

static int retest_floor(struct context *context, const struct store_night *night,
			const char *series, double *ret_floor, struct error *err)
{
	auto_boots struct boot_list boots = {0};
	if (store_boots(context->store, PURPOSE_RETEST, night->id, NULL, series, &boots.items,
			&boots.count, err) < 0)
		return -1;
	*ret_floor = series_floor(boots.items, boots.count);
	return 0;
}

static int begin_hunt(struct context *context, const struct store_night *night,
		      const struct store_verdict *verdict, struct store_hunt *ret_hunt,
		      struct error *err)
{
	double minimum = judge_minimum_step(&context->policy, verdict->series);
	double floor;
	if (retest_floor(context, night, verdict->series, &floor, err) < 0)
		return -1;
	*ret_hunt = (struct store_hunt){
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
				.minimum_step = minimum / 2,
				.layouts = (size_t)night->layouts,
				.noise = {.deviation = verdict->verdict.deviation,
					  .degrees = verdict->verdict.degrees,
					  .deviation_floor = floor,
					  .layout_deviation = verdict->layout_deviation},
			},
		.started_seconds = clock_utc_seconds(),
	};
	memcpy(ret_hunt->good, verdict->reference, OBJECT_ID_SIZE);
	memcpy(ret_hunt->bad, night->head, OBJECT_ID_SIZE);
	return store_add_hunt(context->store, ret_hunt, err);
}

/* Those that were begun, and those that follow from them. */
static int finish_hunts(struct context *context, const struct store_night *night,
			const char *const *regressed, size_t regressed_count, struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, night->id, true, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++)
		result = conductor_hunt(context, &hunts[i], regressed, regressed_count, err);
	store_hunts_free(hunts, count);
	return result;
}

static int mark_all_explained(struct context *context, const struct store_night *night,
			      const struct verdict_list *verdicts, bool *explained,
			      struct error *err)
{
	struct store_hunt *hunts;
	size_t count;
	if (store_list_hunts(context->store, night->id, false, &hunts, &count, err) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++)
		result = mark_explained(context, &hunts[i], verdicts, explained, err);
	store_hunts_free(hunts, count);
	return result;
}

int night_step_hunt(struct context *context, struct store_night *night, struct error *err)
{
	auto_verdicts struct verdict_list verdicts = {0};
	if (store_get_verdicts(context->store, night->id, 2, &verdicts.items, &verdicts.count,
			       err) < 0)
		return -1;
	auto_free const char **names = memory_array(verdicts.count, sizeof(*names));
	size_t name_count = 0;
	for (size_t i = 0; i < verdicts.count; i++)
		if (planner_is_hunted(&verdicts.items[i]))
			names[name_count++] = verdicts.items[i].series;
	auto_free bool *explained = memory_array(verdicts.count, sizeof(*explained));
	for (;;) {
		size_t next;
		if (finish_hunts(context, night, names, name_count, err) < 0 ||
		    mark_all_explained(context, night, &verdicts, explained, err) < 0)
			return -1;
		if (!planner_next_hunt(verdicts.items, verdicts.count, explained, &next))
			return night_step_to(context, night, NIGHT_REPORTING, NULL, err);
		auto_cleanup(store_hunt_free) struct store_hunt hunt = {0};
		if (begin_hunt(context, night, &verdicts.items[next], &hunt, err) < 0)
			return -1;
	}
}
