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
#define WINSOR_TOLERANCE 1e-9
#define LAYOUT_HISTORY_DEGREES 8.0
#define DEGREES_PER_BOOT 6.0
#define LAYOUT_SHARE 0.05

enum { PAIR_LAYOUTS = 3 };

static int check_event(size_t index, const struct hunt_event *event, size_t commits,
		       struct error *err)
{
	bool same = event->kind == HUNT_SAME_IMAGE;
	bool measured = event->kind == HUNT_MEASURED;
	if (event->kind > HUNT_SAME_IMAGE || event->stage > HUNT_KNOWN)
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
	if (measured && !isfinite(event->values[0]))
		return error_set(err, ERROR_STATE, "event %zu of the hunt has no finite value",
				 index);
	if (measured && !(event->weight > 0 && isfinite(event->weight)))
		return error_set(err, ERROR_STATE, "event %zu of the hunt has no weight", index);
	if (event->layout >= HUNT_LAYOUTS)
		return error_set(err, ERROR_STATE,
				 "event %zu of the hunt is of layout %zu, but there are %d", index,
				 event->layout, HUNT_LAYOUTS);
	if (measured && event->stage == HUNT_REPRODUCE && event->commit != 0 &&
	    event->commit != commits - 1)
		return error_set(err, ERROR_STATE,
				 "event %zu of the hunt reproduces commit %zu, which is no end",
				 index, event->commit);
	return 0;
}

static int check_rule(const struct hunt_problem *problem, struct error *err)
{
	const struct hunt_rule *rule = &problem->rule;
	if (!(rule->flagged_step > 0) || !(rule->noise.deviation_floor > 0))
		return error_set(err, ERROR_USAGE,
				 "a hunt needs a flagged step and a deviation floor above 0, "
				 "not %g and %g",
				 rule->flagged_step, rule->noise.deviation_floor);
	if (rule->layouts > HUNT_LAYOUTS)
		return error_set(err, ERROR_USAGE, "a hunt can have %d layouts, not %zu",
				 HUNT_LAYOUTS, rule->layouts);
	if (problem->witness_count > HUNT_WITNESS_LIMIT)
		return error_set(err, ERROR_USAGE, "a hunt can have %d witnesses, not %zu",
				 HUNT_WITNESS_LIMIT, problem->witness_count);
	for (size_t i = 0; i < problem->witness_count; i++)
		if (!(problem->witnesses[i].deviation_floor > 0))
			return error_set(err, ERROR_USAGE,
					 "witness %zu of a hunt has no deviation floor above 0", i);
	return 0;
}

int hunt_record_check(const struct hunt_problem *problem, const struct hunt_event *events,
		      size_t count, struct error *err)
{
	if (check_rule(problem, err))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (check_event(i, &events[i], commit_graph_count(problem->graph), err))
			return -1;
	return 0;
}

const struct hunt_noise *hunt_series_noise(const struct hunt_problem *problem, size_t series)
{
	return series ? &problem->witnesses[series - 1] : &problem->rule.noise;
}

static bool has_value(const struct hunt_event *event, size_t series)
{
	return event->kind == HUNT_MEASURED && isfinite(event->values[series]);
}

static size_t build_of(const struct hunt_event *event)
{
	return event->commit * HUNT_LAYOUTS + event->layout;
}

/*
 * A commit is untestable when its plain build does not build, boot or finish: at once, or the
 * second time when it has given values before. Another layout of it that fails only means that
 * layouts are not asked for any more.
 */
static void collect_facts(const struct hunt_event *events, size_t count, struct hunt_record *record)
{
	auto_free size_t *failures = memory_array(record->commits, sizeof(*failures));
	for (size_t i = 0; i < count; i++) {
		const struct hunt_event *event = &events[i];
		if (event->kind == HUNT_MEASURED) {
			record->booted[event->commit] = true;
		} else if (event->kind == HUNT_UNTESTABLE) {
			record->plain_only |= event->layout > 0;
			failures[event->commit] += event->layout == 0;
		} else {
			record->same[record->same_count][0] = event->commit;
			record->same[record->same_count++][1] = event->other;
		}
	}
	for (size_t commit = 0; commit < record->commits; commit++)
		record->untestable[commit] = failures[commit] > record->booted[commit];
}

struct placed {
	size_t build;
	size_t event;
};

static int by_build(const void *left, const void *right)
{
	const struct placed *a = left;
	const struct placed *b = right;
	if (a->build != b->build)
		return a->build < b->build ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static void collect_boots(const struct hunt_event *events, size_t count,
			  const struct hunt_series *series, struct hunt_record *record)
{
	auto_free struct placed *placed = memory_array(count, sizeof(*placed));
	for (size_t i = 0; i < count; i++)
		if (has_value(&events[i], series->index))
			placed[record->boots++] = (struct placed){build_of(&events[i]), i};
	qsort(placed, record->boots, sizeof(*placed), by_build);
	for (size_t i = 0; i < record->boots; i++) {
		const struct hunt_event *event = &events[placed[i].event];
		if (i == 0 || placed[i].build != placed[i - 1].build)
			record->entities[record->entity_count++] = (struct search_entity){
				.commit = event->commit, .layout = event->layout};
		struct search_entity *entity = &record->entities[record->entity_count - 1];
		entity->weight += event->weight;
		entity->degrees += DEGREES_PER_BOOT;
		record->entity_boots[record->entity_count - 1]++;
		record->pool[i] = series->sign * event->values[series->index];
		record->weights[i] = event->weight;
	}
}

/* An image that cannot be tested cannot be tested under its other names either. */
static void spread_untestable(struct hunt_record *record)
{
	auto_free bool *untestable_image = memory_array(record->commits, sizeof(*untestable_image));
	for (size_t commit = 0; commit < record->commits; commit++)
		if (record->untestable[commit])
			untestable_image[record->image[commit]] = true;
	for (size_t commit = 0; commit < record->commits; commit++)
		if (untestable_image[record->image[commit]] && !record->booted[commit])
			record->untestable[commit] = true;
}

/* Where each build lies, from where it lay with another deviation. */
static void locate(struct hunt_record *record, double deviation)
{
	size_t start = 0;
	for (size_t i = 0; i < record->entity_count; i++) {
		struct search_entity *entity = &record->entities[i];
		entity->location =
			stats_huber_from(record->pool + start, record->weights + start,
					 record->entity_boots[i], deviation, entity->location);
		start += record->entity_boots[i];
	}
}

static void locate_medians(struct hunt_record *record)
{
	size_t start = 0;
	for (size_t i = 0; i < record->entity_count; i++) {
		record->entities[i].location =
			stats_median(record->pool + start, record->entity_boots[i]);
		start += record->entity_boots[i];
	}
}

/*
 * Squared residuals about each build's own location, none above the winsor limit. About the plain
 * mean, which a wild boot drags along, every boot of that build would look wild.
 */
static double residual_squares(const struct hunt_record *record, double deviation)
{
	double limit = WINSOR_DEVIATIONS * deviation;
	double sum = 0;
	size_t next = 0;
	for (size_t i = 0; i < record->entity_count; i++)
		for (size_t j = 0; j < record->entity_boots[i]; j++, next++) {
			double residual = fabs(record->pool[next] - record->entities[i].location) *
					  sqrt(record->weights[next]);
			residual = fmin(limit, residual);
			sum += residual * residual;
		}
	return sum;
}

static void estimate_deviation(const struct hunt_noise *noise, struct hunt_record *record)
{
	double history_degrees =
		noise->deviation > 0 ? fmin(noise->degrees, HISTORY_DEGREES_LIMIT) : 0;
	double history_squares = history_degrees * noise->deviation * noise->deviation;
	record->degrees = history_degrees + (double)(record->boots - record->entity_count);
	record->deviation = history_degrees > 0 ? noise->deviation : INFINITY;
	locate_medians(record);
	for (int pass = 0; pass < WINSOR_PASSES; pass++) {
		double before = record->deviation;
		locate(record, record->deviation);
		double squares = residual_squares(record, record->deviation);
		double variance =
			record->degrees > 0 ? (history_squares + squares) / record->degrees : 0;
		record->deviation = fmax(noise->deviation_floor, sqrt(variance));
		if (fabs(record->deviation - before) < WINSOR_TOLERANCE * before)
			break;
	}
	locate(record, record->deviation);
}

void hunt_record_create(const struct hunt_problem *problem, const struct hunt_event *events,
			size_t count, const struct hunt_series *series,
			struct hunt_record *ret_record)
{
	const struct hunt_noise *noise = hunt_series_noise(problem, series->index);
	size_t commits = commit_graph_count(problem->graph);
	struct hunt_record record = {
		.series = series->index,
		.commits = commits,
		.pool = memory_array(count, sizeof(*record.pool)),
		.weights = memory_array(count, sizeof(*record.weights)),
		.entities = memory_array(count, sizeof(*record.entities)),
		.entity_boots = memory_array(count, sizeof(*record.entity_boots)),
		.booted = memory_array(commits, sizeof(*record.booted)),
		.untestable = memory_array(commits, sizeof(*record.untestable)),
		.same = memory_array(count, sizeof(*record.same)),
		.image = memory_array(commits, sizeof(*record.image)),
		.layout_deviation = noise->layout_deviation,
		.minimum_step = SMALLEST_STEP_SHARE * series->step,
	};
	collect_facts(events, count, &record);
	collect_boots(events, count, series, &record);
	struct search_evidence evidence = hunt_record_evidence(problem, &record);
	search_images(problem->graph, &evidence, record.image);
	spread_untestable(&record);
	estimate_deviation(noise, &record);
	*ret_record = record;
}

void hunt_record_free(struct hunt_record *record)
{
	free(record->pool);
	free(record->weights);
	free(record->entities);
	free(record->entity_boots);
	free(record->booted);
	free(record->untestable);
	free(record->same);
	free(record->image);
	memset(record, 0, sizeof(*record));
}

struct search_evidence hunt_record_evidence(const struct hunt_problem *problem,
					    const struct hunt_record *record)
{
	return (struct search_evidence){
		.entities = record->entities,
		.entity_count = record->entity_count,
		.excluded = problem->excluded,
		.untestable = record->untestable,
		.prior = problem->prior,
		.same = record->same,
		.same_count = record->same_count,
		.deviation = record->deviation,
		.layout_deviation = record->layout_deviation,
		.minimum_step = record->minimum_step,
	};
}

/* With one build a commit, what builds differ by cannot be told from what commits differ by. */
static double learned_layout(const struct hunt_problem *problem, const struct hunt_noise *noise,
			     const struct search_scatter *scatter)
{
	double history = noise->layout_deviation * noise->layout_deviation;
	if (problem->rule.layouts <= 1)
		return noise->layout_deviation;
	return sqrt(
		(LAYOUT_HISTORY_DEGREES * history + scatter->degrees * scatter->layout_variance) /
		(LAYOUT_HISTORY_DEGREES + scatter->degrees));
}

int hunt_record_believe(const struct hunt_problem *problem, const double *prior,
			struct hunt_record *record, struct search_scatter *ret_scatter,
			struct search_belief *ret_belief, struct error *err)
{
	const struct hunt_noise *noise = hunt_series_noise(problem, record->series);
	struct search_evidence evidence = hunt_record_evidence(problem, record);
	evidence.prior = prior;
	auto_cleanup(search_belief_free) struct search_belief first = {0};
	if (search_believe(problem->graph, &evidence, &first, err))
		return -1;
	search_scatter(&evidence, &first, ret_scatter);
	record->layout_deviation = learned_layout(problem, noise, ret_scatter);
	evidence.layout_deviation = record->layout_deviation;
	return search_believe(problem->graph, &evidence, ret_belief, err);
}

size_t hunt_pair_layouts(const struct hunt_problem *problem, const struct hunt_record *record)
{
	double counts = LAYOUT_SHARE * hunt_expected_step(&problem->rule);
	bool known = problem->rule.noise.layout_deviation > 0;
	bool more = known && record->layout_deviation > counts && problem->rule.layouts > 1 &&
		    !record->plain_only;
	return !more                                  ? 1
	       : problem->rule.layouts < PAIR_LAYOUTS ? problem->rule.layouts
						      : PAIR_LAYOUTS;
}

double hunt_expected_step(const struct hunt_rule *rule)
{
	return fmax(rule->flagged_step, rule->minimum_step);
}

double hunt_record_step(const struct hunt_problem *problem, const struct hunt_record *record,
			size_t suspect)
{
	auto_free double *values = memory_array(record->boots, sizeof(*values));
	auto_free double *weights = memory_array(record->boots, sizeof(*weights));
	double level[2];
	for (int side = 0; side < 2; side++) {
		size_t next = 0;
		size_t count = 0;
		for (size_t i = 0; i < record->entity_count; i++) {
			bool bad = commit_graph_contains(problem->graph, record->entities[i].commit,
							 suspect);
			for (size_t j = 0; j < record->entity_boots[i]; j++, next++) {
				if (bad != (side == 1))
					continue;
				values[count] = record->pool[next];
				weights[count++] = record->weights[next];
			}
		}
		if (!count)
			return record->minimum_step;
		level[side] = stats_huber_weighted(values, weights, count, record->deviation);
	}
	return fmax(record->minimum_step, level[1] - level[0]);
}
