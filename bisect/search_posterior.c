/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/search.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

enum {
	LEVEL_NODES = 7,
	POSTERIOR_ROUNDS = 3, /* levels from sides, sides from levels */
	ROBUST_PASSES = 2,
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

struct level {
	double location;
	double error; /* standard */
};

/* Log likelihoods of the entities at the nodes of both levels. */
struct grid {
	double level[2][LEVEL_NODES];
	double (*likelihood[2])[LEVEL_NODES];
};

/*
 * Candidates that put every entity on the same side share one likelihood. There are far fewer such
 * classes than candidates: one more than tested commits on a line.
 */
struct classes {
	size_t count;
	size_t *of;    /* by commit; SIZE_MAX: no candidate */
	double *prior; /* by class: what its members have together; 0: empty */
	bool *bad;     /* [class * entities + entity]: its side if a member is the culprit */
	double *mass;  /* by class: the posterior probability */
};

struct posterior {
	const struct commit_graph *graph;
	const struct search_evidence *evidence;
	struct classes classes;
	double *variance;   /* by entity: of its location */
	double (*share)[2]; /* by entity: how much it tells of the good and the bad level: 0 to 1 */
};

static void classes_free(struct classes *classes)
{
	free(classes->of);
	free(classes->prior);
	free(classes->bad);
	free(classes->mass);
}

/* On a line a class is known by how many entities come before its members. */
static size_t classify_line(const struct search_evidence *evidence, size_t commits,
			    size_t *class_of)
{
	size_t before = 0;
	for (size_t commit = 0; commit < commits; commit++) {
		while (before < evidence->entity_count &&
		       evidence->entities[before].commit < commit)
			before++;
		if (class_of[commit] != SIZE_MAX)
			class_of[commit] = before;
	}
	return evidence->entity_count + 1;
}

/* Splits every class by the side on which its members put the entity; returns the new number. */
static size_t split_classes(const struct commit_graph *graph, size_t tested, size_t class_count,
			    size_t *class_of)
{
	auto_free size_t *name = memory_array(2 * class_count, sizeof(*name));
	size_t count = 0;
	for (size_t commit = 0; commit < commit_graph_count(graph); commit++) {
		if (class_of[commit] == SIZE_MAX)
			continue;
		size_t *new_name =
			&name[2 * class_of[commit] + commit_graph_contains(graph, tested, commit)];
		if (!*new_name)
			*new_name = ++count;
		class_of[commit] = *new_name - 1;
	}
	return count;
}

static size_t classify(const struct posterior *posterior, size_t *class_of)
{
	const struct search_evidence *evidence = posterior->evidence;
	if (commit_graph_is_line(posterior->graph))
		return classify_line(evidence, commit_graph_count(posterior->graph), class_of);
	size_t count = 1;
	for (size_t i = 0; i < evidence->entity_count; i++)
		if (i == 0 || evidence->entities[i].commit != evidence->entities[i - 1].commit)
			count = split_classes(posterior->graph, evidence->entities[i].commit, count,
					      class_of);
	return count;
}

static double prior_of(const struct search_evidence *evidence, size_t commit)
{
	return evidence->prior ? evidence->prior[commit] : 1;
}

static void create_classes(struct posterior *posterior, const bool *candidate)
{
	const struct search_evidence *evidence = posterior->evidence;
	struct classes *classes = &posterior->classes;
	size_t commits = commit_graph_count(posterior->graph);
	classes->of = memory_array(commits, sizeof(*classes->of));
	for (size_t commit = 0; commit < commits; commit++)
		classes->of[commit] = candidate[commit] ? 0 : SIZE_MAX;
	classes->count = classify(posterior, classes->of);
	classes->prior = memory_array(classes->count, sizeof(*classes->prior));
	classes->mass = memory_array(classes->count, sizeof(*classes->mass));
	classes->bad = memory_array(classes->count * evidence->entity_count, sizeof(bool));
	for (size_t commit = 0; commit < commits; commit++) {
		size_t class = classes->of[commit];
		if (class == SIZE_MAX)
			continue;
		for (size_t i = 0; i < evidence->entity_count && classes->prior[class] == 0; i++)
			classes->bad[class * evidence->entity_count + i] = commit_graph_contains(
				posterior->graph, evidence->entities[i].commit, commit);
		classes->prior[class] += prior_of(evidence, commit);
	}
}

static struct level estimate_level(const struct posterior *posterior, int side)
{
	const struct search_evidence *evidence = posterior->evidence;
	struct level level = {0};
	for (int pass = 0; pass < ROBUST_PASSES; pass++) {
		double weights = 0;
		double sum = 0;
		for (size_t i = 0; i < evidence->entity_count; i++) {
			const struct search_entity *entity = &evidence->entities[i];
			double variance = posterior->variance[i];
			double weight = posterior->share[i][side] / variance;
			double residual = entity->location - level.location;
			if (pass > 0)
				weight *= (entity->degrees + 1) /
					  (entity->degrees + residual * residual / variance);
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
	const struct search_evidence *evidence = posterior->evidence;
	for (int side = 0; side < 2; side++) {
		for (int node = 0; node < LEVEL_NODES; node++)
			grid->level[side][node] =
				levels[side].location +
				ERROR_WIDENING * levels[side].error * nodes[node].offset;
		for (size_t i = 0; i < evidence->entity_count; i++) {
			const struct search_entity *entity = &evidence->entities[i];
			double scale = entity->degrees * posterior->variance[i];
			for (int node = 0; node < LEVEL_NODES; node++) {
				double residual = entity->location - grid->level[side][node];
				grid->likelihood[side][i][node] =
					-(entity->degrees + 1) / 2 *
					log1p(residual * residual / scale);
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

static void weigh_classes(const struct posterior *posterior, const struct grid *grid)
{
	const struct classes *classes = &posterior->classes;
	size_t entities = posterior->evidence->entity_count;
	/* The central nodes may lie exactly one floor apart. */
	double floor = posterior->evidence->minimum_step * (1 - 1e-6);
	double best = -INFINITY;
	double total = 0;
	for (size_t class = 0; class < classes->count; class ++) {
		if (classes->prior[class] <= 0)
			continue;
		classes->mass[class] =
			score(grid, classes->bad + class * entities, entities, floor);
		best = fmax(best, classes->mass[class]);
	}
	for (size_t class = 0; class < classes->count; class ++)
		if (classes->prior[class] > 0)
			total += classes->mass[class] =
				classes->prior[class] * exp(classes->mass[class] - best);
	for (size_t class = 0; class < classes->count; class ++)
		classes->mass[class] /= total;
}

static void share_out(const struct posterior *posterior)
{
	const struct classes *classes = &posterior->classes;
	size_t entities = posterior->evidence->entity_count;
	for (size_t i = 0; i < entities; i++) {
		double bad = 0;
		for (size_t class = 0; class < classes->count; class ++)
			if (classes->bad[class * entities + i])
				bad += classes->mass[class];
		posterior->share[i][0] = fmax(0, 1 - bad);
		posterior->share[i][1] = fmin(1, bad);
	}
}

static void weigh(const struct posterior *posterior, struct search_belief *belief)
{
	const struct search_evidence *evidence = posterior->evidence;
	auto_free double(*good)[LEVEL_NODES] = memory_array(evidence->entity_count, sizeof(*good));
	auto_free double(*bad)[LEVEL_NODES] = memory_array(evidence->entity_count, sizeof(*bad));
	struct grid grid = {.likelihood = {good, bad}};
	struct level levels[2] = {{0}};
	for (int round = 0; round < POSTERIOR_ROUNDS; round++) {
		for (int side = 0; side < 2; side++)
			levels[side] = estimate_level(posterior, side);
		/* Keeps at least the central pair of nodes above the floor. */
		levels[1].location =
			fmax(levels[1].location, levels[0].location + evidence->minimum_step);
		fill_grid(posterior, levels, &grid);
		weigh_classes(posterior, &grid);
		share_out(posterior);
	}
	for (int side = 0; side < 2; side++) {
		belief->level[side] = levels[side].location;
		belief->level_error[side] = levels[side].error;
	}
}

/* To begin with only the ends have a side. True when both have boots. */
static bool open_entities(struct posterior *posterior)
{
	const struct search_evidence *evidence = posterior->evidence;
	size_t last = commit_graph_count(posterior->graph) - 1;
	bool seen[2] = {false, false};
	posterior->variance = memory_array(evidence->entity_count, sizeof(double));
	posterior->share = memory_array(evidence->entity_count, sizeof(*posterior->share));
	for (size_t i = 0; i < evidence->entity_count; i++) {
		const struct search_entity *entity = &evidence->entities[i];
		posterior->variance[i] = evidence->layout_deviation * evidence->layout_deviation +
					 evidence->deviation * evidence->deviation / entity->weight;
		posterior->share[i][0] = entity->commit == 0;
		posterior->share[i][1] = entity->commit == last;
		seen[0] |= entity->commit == 0;
		seen[1] |= entity->commit == last;
	}
	return seen[0] && seen[1];
}

static void prior_only(const struct posterior *posterior)
{
	const struct classes *classes = &posterior->classes;
	double total = 0;
	for (size_t class = 0; class < classes->count; class ++)
		total += classes->prior[class];
	for (size_t class = 0; class < classes->count; class ++)
		classes->mass[class] = classes->prior[class] / total;
}

static void posterior_free(struct posterior *posterior)
{
	classes_free(&posterior->classes);
	free(posterior->variance);
	free(posterior->share);
}

static void fill_belief(const struct posterior *posterior, struct search_belief *belief)
{
	const struct classes *classes = &posterior->classes;
	size_t commits = commit_graph_count(posterior->graph);
	belief->probability = memory_array(commits, sizeof(double));
	belief->bad_probability = memory_array(commits, sizeof(double));
	for (size_t commit = 0; commit < commits; commit++) {
		size_t class = classes->of[commit];
		if (class != SIZE_MAX && classes->prior[class] > 0)
			belief->probability[commit] = classes->mass[class] *
						      prior_of(posterior->evidence, commit) /
						      classes->prior[class];
	}
	commit_graph_sums(posterior->graph, belief->probability, belief->bad_probability);
}

int search_believe(const struct commit_graph *graph, const struct search_evidence *evidence,
		   struct search_belief *ret_belief, struct error *err)
{
	size_t commits = commit_graph_count(graph);
	auto_free bool *candidate = memory_array(commits, sizeof(*candidate));
	if (!search_candidates(graph, evidence, candidate))
		return error_set(err, ERROR_STATE,
				 "none of the %zu commits can have made the difference", commits);
	auto_cleanup(posterior_free) struct posterior posterior = {
		.graph = graph,
		.evidence = evidence,
	};
	*ret_belief = (struct search_belief){.level = {0, evidence->minimum_step}};
	create_classes(&posterior, candidate);
	if (open_entities(&posterior))
		weigh(&posterior, ret_belief);
	else
		prior_only(&posterior);
	fill_belief(&posterior, ret_belief);
	return 0;
}

void search_belief_free(struct search_belief *belief)
{
	free(belief->probability);
	free(belief->bad_probability);
	memset(belief, 0, sizeof(*belief));
}

double search_step(const struct search_belief *belief)
{
	return belief->level[1] - belief->level[0];
}
