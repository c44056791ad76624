/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt_witness.h"

#include <math.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/distribution.h"

#define CHANCE 0.001
#define CLEARER 1.5

struct separation {
	double step;
	double deviations; /* the step in deviations of one boot */
	double t;
	double degrees;
};

/* The stages before the search come first: what the search measured must not choose its witness. */
static size_t before_search(const struct hunt_event *events, size_t count)
{
	size_t first = 0;
	while (first < count &&
	       (events[first].stage == HUNT_KNOWN || events[first].stage == HUNT_REPRODUCE))
		first++;
	return first;
}

static struct separation separate(const struct hunt_problem *problem,
				  const struct hunt_event *events, size_t count, size_t index)
{
	const struct hunt_series series = {
		.index = index, .sign = 1, .step = hunt_expected_step(&problem->rule)};
	size_t last = commit_graph_count(problem->graph) - 1;
	auto_hunt_record struct hunt_record record = {0};
	double sum[2] = {0};
	double weight[2] = {0};
	hunt_record_create(problem, events, count, &series, &record);
	for (size_t i = 0; i < record.entity_count; i++) {
		const struct search_entity *entity = &record.entities[i];
		if (entity->commit != 0 && entity->commit != last)
			continue;
		sum[entity->commit == last] += entity->weight * entity->location;
		weight[entity->commit == last] += entity->weight;
	}
	if (weight[0] <= 0 || weight[1] <= 0 || record.degrees <= 0)
		return (struct separation){.degrees = 1};
	double step = sum[1] / weight[1] - sum[0] / weight[0];
	double deviation = hypot(record.deviation, record.layout_deviation);
	return (struct separation){
		.step = step,
		.deviations = fabs(step) / deviation,
		.t = fabs(step) / (record.deviation * sqrt(1 / weight[0] + 1 / weight[1])),
		.degrees = record.degrees,
	};
}

void hunt_witness_choose(const struct hunt_problem *problem, const struct hunt_event *events,
			 size_t count, struct hunt_series *ret_series)
{
	*ret_series = (struct hunt_series){0};
	if (!problem->witness_count)
		return;
	size_t before = before_search(events, count);
	double clearest = CLEARER * separate(problem, events, before, 0).deviations;
	double chance = CHANCE / (double)problem->witness_count;
	for (size_t index = 1; index <= problem->witness_count; index++) {
		struct separation witness = separate(problem, events, before, index);
		/* The step may go either way: two-sided. */
		if (witness.deviations <= clearest ||
		    2 * distribution_t_upper(witness.t, witness.degrees) >= chance)
			continue;
		clearest = witness.deviations;
		*ret_series = (struct hunt_series){
			.index = index,
			.sign = witness.step < 0 ? -1 : 1,
			.step = fabs(witness.step),
		};
	}
}
