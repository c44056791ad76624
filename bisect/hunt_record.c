/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

#define HISTORY_DEGREES_LIMIT 40.0 /* history must not outvote what this hunt measures */
#define WINSOR_DEVIATIONS 3.0
#define WINSOR_PASSES 10
#define SMALLEST_STEP_SHARE 0.2

static int check_event(size_t index, const struct hunt_event *event, size_t commits,
		       struct error *err)
{
	bool same = event->kind == HUNT_SAME_IMAGE;
	bool measured = event->kind == HUNT_MEASURED;
	if (event->kind > HUNT_SAME_IMAGE || event->stage > HUNT_CONFIRM)
		return error_set(err, ERROR_STATE, "event %zu of the hunt is of no known kind",
				 index);
	if (event->commit >= commits || (same && event->other >= commits))
		return error_set(err, ERROR_STATE,
				 "event %zu of the hunt names commit %zu, but there are %zu", index,
				 event->commit >= commits ? event->commit : event->other, commits);
	if (same && event->other == event->commit)
		return error_set(err, ERROR_STATE,
				 "event %zu of the hunt compares commit %zu with itself", index,
				 event->commit);
	if (measured && !isfinite(event->value))
		return error_set(err, ERROR_STATE, "event %zu of the hunt has no finite value",
				 index);
	if (measured && event->stage == HUNT_REPRODUCE && event->commit != 0 &&
	    event->commit != commits - 1)
		return error_set(err, ERROR_STATE,
				 "event %zu of the hunt reproduces commit %zu, which is no end",
				 index, event->commit);
	return 0;
}

int hunt_record_check(const struct hunt_problem *problem, const struct hunt_event *events,
		      size_t count, struct error *err)
{
	if (!(problem->rule.flagged_step > 0) || !(problem->rule.deviation_floor > 0))
		return error_set(err, ERROR_USAGE,
				 "a hunt needs a flagged step and a deviation floor above 0, "
				 "not %g and %g",
				 problem->rule.flagged_step, problem->rule.deviation_floor);
	for (size_t i = 0; i < count; i++)
		if (check_event(i, &events[i], commit_graph_count(problem->graph), err))
			return -1;
	return 0;
}

static void collect(const struct hunt_event *events, size_t count, struct hunt_record *record)
{
	for (size_t i = 0; i < count; i++) {
		const struct hunt_event *event = &events[i];
		if (event->kind == HUNT_MEASURED) {
			record->value_counts[event->commit]++;
			record->boots++;
		} else if (event->kind == HUNT_UNTESTABLE) {
			record->untestable[event->commit] = true;
		} else {
			record->same[record->same_count][0] = event->commit;
			record->same[record->same_count++][1] = event->other;
		}
	}
	auto_free size_t *next = memory_array(record->commits, sizeof(*next));
	size_t start = 0;
	for (size_t commit = 0; commit < record->commits; commit++) {
		next[commit] = start;
		record->values[commit] = record->pool + start;
		start += record->value_counts[commit];
	}
	for (size_t i = 0; i < count; i++)
		if (events[i].kind == HUNT_MEASURED)
			record->pool[next[events[i].commit]++] = events[i].value;
}

/* An image that cannot be tested cannot be tested under its other names either. */
static void spread_untestable(struct hunt_record *record)
{
	auto_free bool *untestable_image = memory_array(record->commits, sizeof(*untestable_image));
	for (size_t commit = 0; commit < record->commits; commit++)
		if (record->untestable[commit])
			untestable_image[record->image[commit]] = true;
	for (size_t commit = 0; commit < record->commits; commit++)
		if (untestable_image[record->image[commit]] && !record->value_counts[commit])
			record->untestable[commit] = true;
}

/*
 * Squared residuals about each commit's own location, none above the winsor limit. About the plain
 * mean, which a wild boot drags along, every boot of that commit would look wild.
 */
static double residual_squares(const struct hunt_record *record, double deviation,
			       double *ret_degrees)
{
	double limit = WINSOR_DEVIATIONS * deviation;
	double sum = 0;
	*ret_degrees = 0;
	for (size_t commit = 0; commit < record->commits; commit++) {
		size_t count = record->value_counts[commit];
		if (count < 2)
			continue;
		double location = stats_huber(record->values[commit], count, deviation);
		for (size_t i = 0; i < count; i++) {
			double residual = fmin(limit, fabs(record->values[commit][i] - location));
			sum += residual * residual;
		}
		*ret_degrees += (double)(count - 1);
	}
	return sum;
}

static void estimate_deviation(const struct hunt_rule *rule, struct hunt_record *record)
{
	double history_degrees =
		rule->deviation > 0 ? fmin(rule->degrees, HISTORY_DEGREES_LIMIT) : 0;
	double history_squares = history_degrees * rule->deviation * rule->deviation;
	record->deviation = INFINITY;
	for (int pass = 0; pass < WINSOR_PASSES; pass++) {
		double degrees;
		double squares = residual_squares(record, record->deviation, &degrees);
		record->degrees = history_degrees + degrees;
		double variance =
			record->degrees > 0 ? (history_squares + squares) / record->degrees : 0;
		record->deviation = fmax(rule->deviation_floor, sqrt(variance));
	}
}

void hunt_record_create(const struct hunt_problem *problem, const struct hunt_event *events,
			size_t count, struct hunt_record *ret_record)
{
	size_t commits = commit_graph_count(problem->graph);
	struct hunt_record record = {
		.commits = commits,
		.pool = memory_array(count, sizeof(*record.pool)),
		.values = memory_array(commits, sizeof(*record.values)),
		.value_counts = memory_array(commits, sizeof(*record.value_counts)),
		.untestable = memory_array(commits, sizeof(*record.untestable)),
		.same = memory_array(count, sizeof(*record.same)),
		.image = memory_array(commits, sizeof(*record.image)),
	};
	collect(events, count, &record);
	struct search_evidence evidence = hunt_record_evidence(problem, &record);
	search_images(problem->graph, &evidence, record.image);
	spread_untestable(&record);
	estimate_deviation(&problem->rule, &record);
	*ret_record = record;
}

void hunt_record_free(struct hunt_record *record)
{
	free(record->pool);
	free(record->values);
	free(record->value_counts);
	free(record->untestable);
	free(record->same);
	free(record->image);
	memset(record, 0, sizeof(*record));
}

struct search_evidence hunt_record_evidence(const struct hunt_problem *problem,
					    const struct hunt_record *record)
{
	return (struct search_evidence){
		.values = record->values,
		.value_counts = record->value_counts,
		.excluded = problem->excluded,
		.untestable = record->untestable,
		.same = record->same,
		.same_count = record->same_count,
		.deviation = record->deviation,
		.minimum_step = hunt_smallest_step(&problem->rule),
	};
}

double hunt_expected_step(const struct hunt_rule *rule)
{
	return fmax(rule->flagged_step, rule->minimum_step);
}

double hunt_smallest_step(const struct hunt_rule *rule)
{
	return SMALLEST_STEP_SHARE * hunt_expected_step(rule);
}

double hunt_record_step(const struct hunt_problem *problem, const struct hunt_record *record,
			size_t suspect)
{
	auto_free double *good = memory_array(record->boots, sizeof(*good));
	auto_free double *bad = memory_array(record->boots, sizeof(*bad));
	size_t good_count = 0;
	size_t bad_count = 0;
	for (size_t commit = 0; commit < record->commits; commit++) {
		bool is_bad = commit_graph_contains(problem->graph, commit, suspect);
		for (size_t i = 0; i < record->value_counts[commit]; i++)
			if (is_bad)
				bad[bad_count++] = record->values[commit][i];
			else
				good[good_count++] = record->values[commit][i];
	}
	double smallest = hunt_smallest_step(&problem->rule);
	if (!good_count || !bad_count)
		return smallest;
	return fmax(smallest, stats_huber(bad, bad_count, record->deviation) -
				      stats_huber(good, good_count, record->deviation));
}
