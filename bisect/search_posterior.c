/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/search.h"

#include <float.h>
#include <math.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

enum {
	LEVEL_NODES = 7,
	POSTERIOR_ROUNDS = 3, /* levels from sides, sides from levels */
	ROBUST_PASSES = 2,
	DEGREES_PER_BOOT = 6,
};

/* The quadrature reaches somewhat further than the level's own standard error. */
#define ERROR_WIDENING 1.15

/*
 * 7-point Gauss-Hermite for the weight e^(-x^2/2) (Abramowitz & Stegun 25.10 after x -> x sqrt 2);
 * the second column is w e^(x^2/2), for integrands that carry no weight function of their own.
 */
static const struct {
	double offset;
	double weight;
} nodes[LEVEL_NODES] = {
	{-3.750439717725742, 0.6213593256871949}, {-2.366759410734541, 0.5061822059665058},
	{-1.154405394739968, 0.4675367445309094}, {0, 0.4571428571428571},
	{1.154405394739968, 0.4675367445309094},  {2.366759410734541, 0.5061822059665058},
	{3.750439717725742, 0.6213593256871949},
};

/* A commit with boots. */
struct entity {
	size_t commit;
	double location;
	double variance; /* of the location */
	double degrees;
	double share[2]; /* how much it tells of the good and of the bad level: 0 to 1 */
};

struct level {
	double location;
	double error; /* standard */
};

/* Log likelihoods of the entities at the nodes of both levels. */
struct grid {
	double level[2][LEVEL_NODES];
	double (*likelihood[2])[LEVEL_NODES];
};

struct posterior {
	const struct commit_graph *graph;
	const struct search_evidence *evidence;
	struct entity *entities;
	size_t entity_count;
	bool *candidate;
	bool *bad_side; /* [K * entity_count + entity]: its side if K is the culprit */
	double *probability;
};

static size_t collect_entities(const struct posterior *posterior)
{
	const struct search_evidence *evidence = posterior->evidence;
	size_t commits = commit_graph_count(posterior->graph);
	size_t count = 0;
	for (size_t commit = 0; commit < commits; commit++) {
		size_t boots = evidence->value_counts[commit];
		if (!boots)
			continue;
		posterior->entities[count++] = (struct entity){
			.commit = commit,
			.location =
				stats_huber(evidence->values[commit], boots, evidence->deviation),
			.variance = evidence->deviation * evidence->deviation / (double)boots,
			.degrees = DEGREES_PER_BOOT * (double)boots,
			/* To begin with only the ends have a side. */
			.share = {commit == 0, commit == commits - 1},
		};
	}
	return count;
}

static struct level estimate_level(const struct posterior *posterior, int side)
{
	struct level level = {0};
	for (int pass = 0; pass < ROBUST_PASSES; pass++) {
		double weights = 0;
		double sum = 0;
		for (size_t i = 0; i < posterior->entity_count; i++) {
			const struct entity *entity = &posterior->entities[i];
			double weight = entity->share[side] / entity->variance;
			double residual = entity->location - level.location;
			if (pass > 0)
				weight *=
					(entity->degrees + 1) /
					(entity->degrees + residual * residual / entity->variance);
			weights += weight;
			sum += weight * entity->location;
		}
		level = (struct level){sum / weights, 1 / sqrt(weights)};
	}
	return level;
}

static void fill_grid(const struct posterior *posterior, const struct level levels[2],
		      struct grid *grid)
{
	for (int side = 0; side < 2; side++) {
		for (int node = 0; node < LEVEL_NODES; node++)
			grid->level[side][node] =
				levels[side].location +
				ERROR_WIDENING * levels[side].error * nodes[node].offset;
		for (size_t i = 0; i < posterior->entity_count; i++) {
			const struct entity *entity = &posterior->entities[i];
			for (int node = 0; node < LEVEL_NODES; node++) {
				double residual = entity->location - grid->level[side][node];
				grid->likelihood[side][i][node] =
					-(entity->degrees + 1) / 2 *
					log1p(residual * residual /
					      (entity->degrees * entity->variance));
			}
		}
	}
}

/* ln of the likelihood with both levels integrated out. */
static double score(const struct grid *grid, const bool *bad_side, size_t count, double floor)
{
	double sum[2][LEVEL_NODES] = {{0}};
	for (size_t i = 0; i < count; i++)
		for (int node = 0; node < LEVEL_NODES; node++)
			sum[bad_side[i]][node] += grid->likelihood[bad_side[i]][i][node];
	double top[2] = {-INFINITY, -INFINITY};
	for (int side = 0; side < 2; side++)
		for (int node = 0; node < LEVEL_NODES; node++)
			top[side] = fmax(top[side], sum[side][node]);
	for (int side = 0; side < 2; side++)
		for (int node = 0; node < LEVEL_NODES; node++)
			sum[side][node] = nodes[node].weight * exp(sum[side][node] - top[side]);
	double total = 0;
	for (int good = 0; good < LEVEL_NODES; good++)
		for (int bad = 0; bad < LEVEL_NODES; bad++)
			if (grid->level[1][bad] - grid->level[0][good] >= floor)
				total += sum[0][good] * sum[1][bad];
	return top[0] + top[1] + log(fmax(total, DBL_MIN));
}

static void weigh_candidates(const struct posterior *posterior, const struct grid *grid)
{
	size_t commits = commit_graph_count(posterior->graph);
	/* The central nodes may lie exactly one floor apart. */
	double floor = posterior->evidence->minimum_step * (1 - 1e-6);
	double best = -INFINITY;
	for (size_t commit = 0; commit < commits; commit++) {
		if (!posterior->candidate[commit])
			continue;
		posterior->probability[commit] =
			score(grid, posterior->bad_side + commit * posterior->entity_count,
			      posterior->entity_count, floor);
		best = fmax(best, posterior->probability[commit]);
	}
	double total = 0;
	for (size_t commit = 0; commit < commits; commit++)
		if (posterior->candidate[commit])
			total += posterior->probability[commit] =
				exp(posterior->probability[commit] - best);
	for (size_t commit = 0; commit < commits; commit++)
		posterior->probability[commit] /= total;
}

static void share_out(const struct posterior *posterior)
{
	for (size_t i = 0; i < posterior->entity_count; i++) {
		struct entity *entity = &posterior->entities[i];
		double bad =
			commit_graph_sum(posterior->graph, entity->commit, posterior->probability);
		entity->share[0] = fmax(0, 1 - bad);
		entity->share[1] = bad;
	}
}

static double weigh(const struct posterior *posterior)
{
	auto_free double(*good)[LEVEL_NODES] = memory_array(posterior->entity_count, sizeof(*good));
	auto_free double(*bad)[LEVEL_NODES] = memory_array(posterior->entity_count, sizeof(*bad));
	struct grid grid = {.likelihood = {good, bad}};
	struct level levels[2] = {{0}};
	for (int round = 0; round < POSTERIOR_ROUNDS; round++) {
		for (int side = 0; side < 2; side++)
			levels[side] = estimate_level(posterior, side);
		/* Keeps at least the central pair of nodes above the floor. */
		levels[1].location = fmax(levels[1].location,
					  levels[0].location + posterior->evidence->minimum_step);
		fill_grid(posterior, levels, &grid);
		weigh_candidates(posterior, &grid);
		share_out(posterior);
	}
	return levels[1].location - levels[0].location;
}

int search_posterior(const struct commit_graph *graph, const struct search_evidence *evidence,
		     double *ret_probability, double *ret_bad_probability, double *ret_step,
		     struct error *err)
{
	size_t commits = commit_graph_count(graph);
	auto_free bool *candidate = memory_array(commits, sizeof(*candidate));
	size_t candidates = search_candidates(graph, evidence, candidate);
	if (!candidates)
		return error_set(err, ERROR_STATE,
				 "none of the %zu commits can have made the difference", commits);
	auto_free struct entity *entities = memory_array(commits, sizeof(*entities));
	struct posterior posterior = {
		.graph = graph,
		.evidence = evidence,
		.entities = entities,
		.candidate = candidate,
		.probability = ret_probability,
	};
	posterior.entity_count = collect_entities(&posterior);
	auto_free bool *bad_side = memory_array(commits * posterior.entity_count, sizeof(bool));
	posterior.bad_side = bad_side;
	for (size_t commit = 0; commit < commits; commit++)
		for (size_t i = 0; i < posterior.entity_count; i++)
			bad_side[commit * posterior.entity_count + i] =
				commit_graph_contains(graph, entities[i].commit, commit);
	for (size_t commit = 0; commit < commits; commit++)
		ret_probability[commit] = candidate[commit] ? 1.0 / (double)candidates : 0;
	*ret_step = evidence->minimum_step;
	if (evidence->value_counts[0] && evidence->value_counts[commits - 1])
		*ret_step = weigh(&posterior);
	for (size_t commit = 0; commit < commits; commit++)
		ret_bad_probability[commit] = commit_graph_sum(graph, commit, ret_probability);
	return 0;
}
