/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/world.h"

#include <math.h>
#include <stdlib.h>

#include "bench/verdict.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/distribution.h"
#include "sentinel/base/random.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

#define BOOT_OUTLIER 10
#define ITERATION_OUTLIER 20
#define HISTORY_DEGREES 20
#define SELECTION_Z 3
/* Finer than any clock: a metric without a resolution of its own. */
#define FINEST 1e-9

enum { HISTORY_NIGHTS = 10, HISTORY_BOOTS = 3, UNBUILDABLE_RUN = 3 };

/* Upper quartiles of a normal and of Student's t: what makes both equally wide. */
static double t_width(double degrees)
{
	return distribution_t_quantile_upper(0.25, degrees) / 0.6744897501960817;
}

static double draw_boot(const struct scenario_noise *noise, struct world_machine *machine)
{
	double value = random_normal();
	if (noise->boot_degrees > 0)
		value = random_t(noise->boot_degrees) *
			sqrt((noise->boot_degrees - 2) / noise->boot_degrees);
	if (noise->boot_outliers > 0 && random_uniform() < noise->boot_outliers)
		value = BOOT_OUTLIER * random_normal();
	value *= noise->between;
	if (noise->autocorrelation > 0) {
		double kept = noise->autocorrelation;
		machine->echo = kept * machine->echo + sqrt(1 - kept * kept) * value;
		value = machine->echo;
	}
	if (noise->drift > 0) {
		machine->drift += noise->drift * random_normal();
		value += machine->drift;
	}
	if (noise->mode_gap > 0 && random_uniform() < 0.5)
		value += noise->mode_gap;
	return value;
}

static double draw_iteration(const struct scenario_noise *noise, double wildness)
{
	double value = noise->iteration_degrees > 0 ? random_t(noise->iteration_degrees) / wildness
						    : random_normal();
	if (noise->iteration_outliers > 0 && random_uniform() < noise->iteration_outliers)
		value = ITERATION_OUTLIER * random_normal();
	return noise->within * value;
}

/* As if the value were 1 / resolution ticks at level 0. */
static double quantise(double badness, double resolution)
{
	double ticks = round(exp(badness) / resolution);
	return log(fmax(1, ticks) * resolution);
}

static double level_of(const struct world *world, size_t commit, size_t series)
{
	double level = 0;
	if (series > 0)
		return commit_graph_contains(world->graph, commit, world->witness_culprit)
			       ? world->plan->step
			       : 0;
	for (size_t i = 0; i < world->culprit_count; i++)
		if (commit_graph_contains(world->graph, commit, world->culprits[i]))
			level += world->plan->step;
	return level;
}

static void measure(struct world *world, size_t commit, size_t layout, size_t series,
		    struct world_boot *ret_boot)
{
	const struct scenario_noise *noise = &world->plan->noise;
	double quietness = series > 0 ? world->plan->witness_ratio : 1;
	uint64_t build = random_mix(random_mix(random_mix(world->seed, commit), layout), series);
	double shift = draw_boot(noise, &world->machines[series]);
	double level = level_of(world, commit, series);
	if (noise->layout > 0)
		shift += noise->layout * random_normal_of(build);
	double wildness = noise->iteration_degrees > 0 ? t_width(noise->iteration_degrees) : 1;
	ret_boot->count = world->plan->iterations;
	for (size_t i = 0; i < ret_boot->count; i++) {
		double badness = level + (shift + draw_iteration(noise, wildness)) / quietness;
		ret_boot->badness[i] =
			noise->resolution > 0 ? quantise(badness, noise->resolution) : badness;
	}
	ret_boot->value = verdict_boot_value(ret_boot->badness, ret_boot->count,
					     world->history[series].within);
}

void world_measure(struct world *world, size_t commit, size_t layout,
		   struct world_boot ret_boots[static WORLD_SERIES])
{
	measure(world, commit, layout, 0, &ret_boots[0]);
	if (world->plan->witness_ratio > 0)
		measure(world, commit, layout, 1, &ret_boots[1]);
}

/* What a few nights of one kernel say of the noise. */
static void live_through(struct world *world, size_t series)
{
	struct world_boot boots[HISTORY_NIGHTS * HISTORY_BOOTS];
	struct components_boot seen[HISTORY_NIGHTS * HISTORY_BOOTS];
	for (size_t i = 0; i < array_length(boots); i++) {
		measure(world, 0, 0, series, &boots[i]);
		seen[i] = (struct components_boot){i / HISTORY_BOOTS, boots[i].badness,
						   boots[i].count};
	}
	components_estimate(seen, array_length(seen), &world->history[series]);
}

static void learn_noise(struct world *world, size_t series)
{
	const struct scenario_plan *plan = world->plan;
	double quietness = series > 0 ? plan->witness_ratio : 1;
	if (plan->scenario->without_history)
		return;
	if (plan->scenario->measured_history) {
		live_through(world, series);
		return;
	}
	double luck = sqrt(random_chi_square(HISTORY_DEGREES) / HISTORY_DEGREES);
	world->history[series] = (struct components){
		.iterations = (double)plan->iterations,
		.within = plan->noise.within / quietness,
		.boot = luck * plan->deviation / quietness,
		.boot_degrees = HISTORY_DEGREES,
	};
}

/* Any commit but the good end, and another one than OTHER if there is one. */
static size_t choose_commit(const struct world *world, size_t other)
{
	size_t commits = commit_graph_count(world->graph);
	size_t chosen;
	do
		chosen = 1 + random_below(commits - 1);
	while (chosen == other && commits > 2);
	return chosen;
}

static void choose_culprits(struct world *world)
{
	world->culprit_count = world->plan->scenario->steps;
	for (size_t i = 0; i < world->culprit_count; i++)
		world->culprits[i] = choose_commit(world, i > 0 ? world->culprits[i - 1] : 0);
	world->witness_culprit = world->culprits[0];
	if (world->plan->witness_elsewhere)
		world->witness_culprit = choose_commit(world, world->culprits[0]);
}

static void break_builds(struct world *world)
{
	size_t commits = commit_graph_count(world->graph);
	size_t wanted = (size_t)(world->plan->scenario->unbuildable_share * (double)commits);
	world->unbuildable = memory_array(commits, sizeof(*world->unbuildable));
	for (size_t broken = 0; broken < wanted;) {
		size_t first = 1 + random_below(commits - 1);
		for (size_t c = first; c < first + UNBUILDABLE_RUN && c + 1 < commits; c++) {
			broken += !world->unbuildable[c];
			world->unbuildable[c] = true;
		}
	}
}

static double end_location(const struct world *world, size_t end)
{
	size_t count = world->ends.count;
	auto_free double *values = memory_array(count, sizeof(*values));
	for (size_t i = 0; i < count; i++)
		values[i] = world->ends.boots[end][i][0].value;
	return verdict_night_value(values, count, world->history[0].boot);
}

/* Good, bad, bad, good: what drifts meets both ends alike. */
static void measure_ends(struct world *world)
{
	const size_t commits[] = {0, commit_graph_count(world->graph) - 1};
	for (size_t i = 0; i < world->ends.count; i++)
		for (size_t turn = 0; turn < 2; turn++) {
			size_t end = (i + turn) % 2;
			world_measure(world, commits[end], 0, world->ends.boots[end][i]);
		}
	world->flagged_step = end_location(world, 1) - end_location(world, 0);
}

/* Nobody hunts what no night has seen. */
static bool is_flagged(const struct world *world)
{
	double error = world->history[0].boot * sqrt(2.0 / (double)world->ends.count);
	double threshold = world->culprit_count == 0 ? SELECTION_Z * error : 0;
	return world->flagged_step > threshold;
}

int world_create(const struct scenario_plan *plan, enum lineage_shape shape, size_t commits,
		 uint64_t seed, struct world **ret_world, struct error *err)
{
	auto_world struct world *world = memory_array(1, sizeof(*world));
	world->plan = plan;
	world->seed = seed;
	random_seed(seed);
	if (lineage_create(shape, commits, &world->graph, err) < 0)
		return -1;
	choose_culprits(world);
	break_builds(world);
	learn_noise(world, 0);
	if (plan->witness_ratio > 0)
		learn_noise(world, 1);
	/* The standard deviation of what rounding to a tick leaves open. */
	world->deviation_floor = fmax(FINEST, plan->noise.resolution / sqrt(12));
	world->ends.count = plan->end_boots;
	for (size_t end = 0; end < 2; end++)
		world->ends.boots[end] =
			memory_array(plan->end_boots, sizeof(*world->ends.boots[end]));
	do
		measure_ends(world);
	while (!is_flagged(world));
	*ret_world = take(world);
	return 0;
}

void world_free(struct world **world)
{
	if (!*world)
		return;
	commit_graph_free(&(*world)->graph);
	free((*world)->unbuildable);
	for (size_t end = 0; end < 2; end++)
		free((*world)->ends.boots[end]);
	free(*world);
	*world = NULL;
}

bool world_is_culprit(const struct world *world, size_t commit)
{
	for (size_t i = 0; i < world->culprit_count; i++)
		if (world->culprits[i] == commit)
			return true;
	return false;
}
