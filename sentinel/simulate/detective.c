/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/detective.h"

#include <math.h>
#include <stdlib.h>

#include "bench/verdict.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define STOP_PROBABILITY 0.90
#define REPORT_PROBABILITY 0.99
#define BUILD_SECONDS 180.0
#define BOOT_SECONDS 90.0
#define ITERATION_SECONDS 30.0
/* So small that nobody profits from knowing that no step is smaller. */
#define MINIMUM_STEP_SHARE 1e-3

/* A part of the world's history. */
struct part {
	const struct commit_graph *graph;
	const size_t *commits; /* by commit of the part: that of the whole; NULL: the same */
};

static size_t whole_commit(const struct part *part, size_t commit)
{
	return part->commits ? part->commits[commit] : commit;
}

static struct hunt_noise noise_of(const struct world *world, size_t series)
{
	return (struct hunt_noise){
		.deviation = world->history[series].boot,
		.degrees = world->history[series].boot_degrees,
		.deviation_floor = world->deviation_floor,
		.layout_deviation = world->plan->noise.layout,
	};
}

static struct hunt_rule rule_of(const struct world *world, double flagged_step,
				const struct detective_limits *limits)
{
	return (struct hunt_rule){
		.stop_probability = STOP_PROBABILITY,
		.report_probability = REPORT_PROBABILITY,
		.maximum_boots = limits->boots,
		.flagged_step = flagged_step,
		.minimum_step = MINIMUM_STEP_SHARE * world->plan->step,
		.layouts = limits->layouts,
		.noise = noise_of(world, 0),
	};
}

static void add_event(struct detective_case *open, const struct hunt_event *event)
{
	if (open->count == open->capacity) {
		open->capacity = open->capacity ? 2 * open->capacity : 64;
		open->events = memory_resize(open->events, open->capacity, sizeof(*open->events));
	}
	open->events[open->count++] = *event;
}

static void add_boot(const struct world *world, struct detective_case *open,
		     struct hunt_event event, const struct world_boot *boots)
{
	event.kind = HUNT_MEASURED;
	event.weight = 1;
	for (size_t series = 0; series < HUNT_SERIES_LIMIT; series++)
		event.values[series] = NAN;
	event.values[0] = boots[0].value;
	if (world->plan->witness_ratio > 0)
		event.values[1] = boots[1].value;
	add_event(open, &event);
}

static void answer_request(struct world *world, const struct part *part,
			   const struct hunt_step *step, struct detective_case *open)
{
	struct hunt_event event = {.kind = HUNT_UNTESTABLE,
				   .stage = step->stage,
				   .commit = step->commit,
				   .layout = step->layout};
	size_t commit = whole_commit(part, step->commit);
	if (world->unbuildable[commit]) {
		add_event(open, &event);
		return;
	}
	for (size_t i = 0; i < step->repeat; i++) {
		struct world_boot boots[WORLD_SERIES];
		world_measure(world, commit, step->layout, boots);
		add_boot(world, open, event, boots);
	}
}

static int hunt_down(struct world *world, const struct part *part, double flagged_step,
		     const struct detective_limits *limits, struct detective_case *open,
		     struct error *err)
{
	auto_free bool *excluded = memory_array(commit_graph_count(part->graph), sizeof(*excluded));
	struct hunt_noise witness = noise_of(world, 1);
	struct hunt_problem problem = {
		.graph = part->graph,
		.excluded = excluded,
		.price = {BUILD_SECONDS,
			  BOOT_SECONDS + ITERATION_SECONDS * (double)world->plan->iterations},
		.rule = rule_of(world, flagged_step, limits),
		.witnesses = &witness,
		.witness_count = world->plan->witness_ratio > 0,
	};
	for (;;) {
		struct hunt_step step;
		if (hunt_next(&problem, open->events, open->count, &step, err) < 0)
			return -1;
		if (step.action == HUNT_FINISHED) {
			open->answer = step.answer;
			return 0;
		}
		answer_request(world, part, &step, open);
	}
}

static void know_ends(const struct world *world, struct detective_case *open)
{
	for (size_t end = 0; end < 2; end++)
		for (size_t i = 0; i < world->ends.count; i++) {
			struct hunt_event event = {.stage = HUNT_KNOWN};
			event.commit = end ? commit_graph_count(world->graph) - 1 : 0;
			add_boot(world, open, event, world->ends.boots[end][i]);
		}
}

int detective_hunt(struct world *world, const struct detective_limits *limits,
		   struct detective_case *ret_case, struct error *err)
{
	struct part whole = {.graph = world->graph};
	*ret_case = (struct detective_case){0};
	know_ends(world, ret_case);
	return hunt_down(world, &whole, world->flagged_step, limits, ret_case, err);
}

/* What was measured inside the part, as known from before. */
static void know_part(const struct detective_case *first, const struct part *part,
		      struct detective_case *open)
{
	for (size_t commit = 0; commit < commit_graph_count(part->graph); commit++)
		for (size_t i = 0; i < first->count; i++) {
			struct hunt_event event = first->events[i];
			if (event.commit != part->commits[commit])
				continue;
			event.commit = commit;
			event.stage = HUNT_KNOWN;
			add_event(open, &event);
		}
}

/* NAN when it was never measured. */
static double location_of(const struct world *world, const struct detective_case *open,
			  size_t commit)
{
	auto_free double *values = memory_array(open->count, sizeof(*values));
	size_t count = 0;
	for (size_t i = 0; i < open->count; i++)
		if (open->events[i].kind == HUNT_MEASURED && open->events[i].commit == commit)
			values[count++] = open->events[i].values[0];
	return count ? verdict_night_value(values, count, world->history[0].boot) : NAN;
}

static void rename_answer(const struct part *part, struct hunt_answer *answer)
{
	answer->culprit = whole_commit(part, answer->culprit);
	for (size_t i = 0; i < answer->set_count; i++)
		answer->set[i] = whole_commit(part, answer->set[i]);
}

int detective_follow(struct world *world, const struct detective_case *first, size_t good,
		     size_t bad, const struct detective_limits *limits,
		     struct hunt_answer *ret_answer, struct error *err)
{
	auto_detective_case struct detective_case open = {0};
	auto_commit_graph struct commit_graph *graph = NULL;
	auto_free size_t *commits = NULL;
	*ret_answer = (struct hunt_answer){.kind = HUNT_NOT_REPRODUCIBLE, .reason = ""};
	if (good == bad)
		return 0;
	if (lineage_part(world->graph, good, bad, &graph, &commits, err) < 0)
		return -1;
	struct part part = {graph, commits};
	know_part(first, &part, &open);
	double step = location_of(world, &open, commit_graph_count(graph) - 1) -
		      location_of(world, &open, 0);
	if (!(step > MINIMUM_STEP_SHARE * world->plan->step))
		return 0;
	if (hunt_down(world, &part, step, limits, &open, err) < 0)
		return -1;
	rename_answer(&part, &open.answer);
	*ret_answer = open.answer;
	open.answer = (struct hunt_answer){0};
	return 0;
}

void detective_close(struct detective_case *closed)
{
	free(closed->events);
	hunt_answer_free(&closed->answer);
}
