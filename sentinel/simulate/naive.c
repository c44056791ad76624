/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/naive.h"

#include <math.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

#define SPRT_ERROR 0.01 /* of the whole bisection, shared by the log2 N commits that it tests */

enum judgement { GOOD, BAD, UNDECIDED };

struct bisection {
	struct world *world;
	const struct naive_rule *rule;
	double *candidate; /* by commit: 1 or 0 */
	double candidates;
	double level[2]; /* what the ends say */
	size_t boots;
	size_t builds;
};

/* What the rule reads from a boot. A test that knows its noise also knows of outliers. */
static double reading(const struct bisection *bisection, const struct world_boot *boot)
{
	return bisection->rule->judge == NAIVE_MEAN ? stats_mean(boot->badness, boot->count)
						    : boot->value;
}

static void read_ends(struct bisection *bisection)
{
	const struct world *world = bisection->world;
	for (size_t end = 0; end < 2; end++) {
		for (size_t i = 0; i < world->ends.count; i++)
			bisection->level[end] += reading(bisection, &world->ends.boots[end][i][0]);
		bisection->level[end] /= (double)world->ends.count;
	}
}

static double boot(struct bisection *bisection, size_t commit)
{
	struct world_boot boots[WORLD_SERIES];
	world_measure(bisection->world, commit, 0, boots);
	bisection->boots++;
	return reading(bisection, &boots[0]);
}

static enum judgement judge_mean(struct bisection *bisection, size_t commit)
{
	double middle = (bisection->level[0] + bisection->level[1]) / 2;
	double sum = 0;
	for (size_t i = 0; i < bisection->rule->boots; i++)
		sum += boot(bisection, commit);
	return sum / (double)bisection->rule->boots > middle ? BAD : GOOD;
}

static enum judgement judge_sprt(struct bisection *bisection, size_t commit)
{
	const struct world *world = bisection->world;
	double deviation = fmax(world->history[0].boot, world->deviation_floor);
	double middle = (bisection->level[0] + bisection->level[1]) / 2;
	double slope = (bisection->level[1] - bisection->level[0]) / (deviation * deviation);
	double error = SPRT_ERROR / fmax(1, log2((double)commit_graph_count(world->graph)));
	double log_odds = 0;
	while (fabs(log_odds) < log((1 - error) / error)) {
		if (bisection->boots >= bisection->rule->boots)
			return UNDECIDED;
		log_odds += slope * (boot(bisection, commit) - middle);
	}
	return log_odds > 0 ? BAD : GOOD;
}

/* The testable commit that halves the candidates best; the number of commits when none does. */
static size_t choose(const struct bisection *bisection)
{
	const struct world *world = bisection->world;
	size_t commits = commit_graph_count(world->graph);
	auto_free double *held = memory_array(commits, sizeof(*held));
	size_t chosen = commits;
	double best = 0;
	commit_graph_sums(world->graph, bisection->candidate, held);
	for (size_t commit = 1; commit < commits; commit++) {
		double told = fmin(held[commit], bisection->candidates - held[commit]);
		if (bisection->candidate[commit] > 0 && !world->unbuildable[commit] &&
		    told > best) {
			best = told;
			chosen = commit;
		}
	}
	return chosen;
}

static void narrow(struct bisection *bisection, size_t tested, enum judgement judgement)
{
	const struct commit_graph *graph = bisection->world->graph;
	bisection->candidates = 0;
	for (size_t commit = 1; commit < commit_graph_count(graph); commit++) {
		bool held = commit_graph_contains(graph, tested, commit);
		if (held != (judgement == BAD))
			bisection->candidate[commit] = 0;
		bisection->candidates += bisection->candidate[commit];
	}
}

static void report(const struct bisection *bisection, bool decided, struct hunt_answer *ret_answer)
{
	size_t commits = commit_graph_count(bisection->world->graph);
	struct hunt_answer answer = {.kind = HUNT_CANNOT_TELL,
				     .boots = bisection->boots,
				     .search_boots = bisection->boots,
				     .builds = bisection->builds,
				     .reason = decided ? "" : "out of boots"};
	answer.set = memory_array((size_t)bisection->candidates, sizeof(*answer.set));
	for (size_t commit = 1; commit < commits; commit++)
		if (bisection->candidate[commit] > 0)
			answer.set[answer.set_count++] = commit;
	if (decided) {
		answer.kind = answer.set_count == 1 ? HUNT_CULPRIT : HUNT_SET;
		answer.culprit = answer.set[0];
	}
	*ret_answer = answer;
}

void naive_bisect(struct world *world, const struct naive_rule *rule,
		  struct hunt_answer *ret_answer)
{
	size_t commits = commit_graph_count(world->graph);
	auto_free double *candidate = memory_array(commits, sizeof(*candidate));
	struct bisection bisection = {.world = world,
				      .rule = rule,
				      .candidate = candidate,
				      .candidates = (double)commits - 1};
	enum judgement judgement = GOOD;
	for (size_t commit = 1; commit < commits; commit++)
		candidate[commit] = 1;
	read_ends(&bisection);
	for (;;) {
		size_t commit = choose(&bisection);
		if (commit == commits)
			break;
		bisection.builds++;
		judgement =
			(rule->judge == NAIVE_MEAN ? judge_mean : judge_sprt)(&bisection, commit);
		if (judgement == UNDECIDED)
			break;
		narrow(&bisection, commit, judgement);
	}
	report(&bisection, judgement != UNDECIDED, ret_answer);
}
