/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_TESTS_HUNT_WORLD_H
#define SENTINEL_TESTS_HUNT_WORLD_H

/* Histories with one slow commit, and the machine that boots them for a hunt. */

#include "tests/support/test.h"

#include <stdbool.h>

#include "bisect/hunt.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define DEVIATION 0.01
#define EXACT 1e-6 /* the deviation of a world without noise to speak of */

enum { EVENTS_LIMIT = 400, DAG_COMMITS_LIMIT = 60 };

/* A history with one slow commit, and the machine that boots it. */
struct world {
	uint64_t random;
	struct commit_graph *graph;
	size_t commits;
	size_t culprit;
	double step;
	double deviation;
	bool *excluded;
	bool *broken;
	size_t *image; /* equal numbers: equal images */
	bool *built;
	struct hunt_event events[EVENTS_LIMIT];
	struct hunt_step steps[EVENTS_LIMIT + 1]; /* what was asked for after so many events */
	size_t count;
	struct hunt_answer answer;
};

/* splitmix64 (Steele, Lea, Flood 2014): the same worlds on every machine. */
static inline uint64_t draw(struct world *world)
{
	uint64_t z = world->random += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline size_t draw_below(struct world *world, size_t limit)
{
	return (size_t)(draw(world) % limit);
}

static inline double draw_uniform(struct world *world)
{
	return ((double)(draw(world) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double draw_normal(struct world *world)
{
	double radius = sqrt(-2 * log(draw_uniform(world)));
	return radius * cos(2 * M_PI * draw_uniform(world));
}

static inline void world_free(struct world **world)
{
	commit_graph_free(&(*world)->graph);
	hunt_answer_free(&(*world)->answer);
	free((*world)->excluded);
	free((*world)->broken);
	free((*world)->image);
	free((*world)->built);
	free(*world);
}
#define auto_world __attribute__((cleanup(world_free)))

static inline struct world *world_create(uint64_t seed, size_t commits)
{
	struct world *world = memory_array(1, sizeof(*world));
	world->random = seed;
	world->commits = commits;
	world->step = 3 * DEVIATION;
	world->deviation = DEVIATION;
	world->excluded = memory_array(commits, sizeof(bool));
	world->broken = memory_array(commits, sizeof(bool));
	world->image = memory_array(commits, sizeof(size_t));
	world->built = memory_array(commits, sizeof(bool));
	for (size_t commit = 0; commit < commits; commit++)
		world->image[commit] = commit;
	return world;
}

static inline struct world *linear_world(uint64_t seed, size_t commits)
{
	struct world *world = world_create(seed, commits);
	struct error err;
	auto_free size_t *parent = memory_array(commits, sizeof(*parent));
	auto_free size_t **parents = memory_array(commits, sizeof(*parents));
	auto_free size_t *parent_counts = memory_array(commits, sizeof(*parent_counts));
	for (size_t commit = 1; commit < commits; commit++) {
		parent[commit] = commit - 1;
		parents[commit] = &parent[commit];
		parent_counts[commit] = 1;
	}
	assert_ok(commit_graph_create(commits, parents, parent_counts, &world->graph, &err), &err);
	world->culprit = 1 + draw_below(world, commits - 1);
	return world;
}

/* Lines that fork anywhere, merge in pairs, and all meet in the last commit. */
static inline struct world *branched_world(uint64_t seed)
{
	struct world *world = world_create(seed, DAG_COMMITS_LIMIT);
	size_t commits = 4 + draw_below(world, DAG_COMMITS_LIMIT - 3);
	struct error err;
	static size_t edges[DAG_COMMITS_LIMIT][DAG_COMMITS_LIMIT];
	size_t *parents[DAG_COMMITS_LIMIT];
	size_t parent_counts[DAG_COMMITS_LIMIT] = {0};
	bool is_head[DAG_COMMITS_LIMIT] = {true};
	for (size_t commit = 0; commit < commits; commit++) {
		parents[commit] = edges[commit];
		for (size_t other = 0; other < commit; other++) {
			bool last = commit == commits - 1;
			bool joins = is_head[other] && (last || draw_below(world, 3) == 0);
			if (!joins || (!last && parent_counts[commit] == 2))
				continue;
			edges[commit][parent_counts[commit]++] = other;
			is_head[other] = false;
		}
		if (commit > 0 && parent_counts[commit] == 0) {
			edges[commit][0] = draw_below(world, commit);
			is_head[edges[commit][0]] = false;
			parent_counts[commit] = 1;
		}
		is_head[commit] = true;
	}
	world->commits = commits;
	assert_ok(commit_graph_create(commits, parents, parent_counts, &world->graph, &err), &err);
	world->culprit = 1 + draw_below(world, commits - 1);
	return world;
}

static inline struct hunt_problem problem_of(const struct world *world)
{
	return (struct hunt_problem){
		.graph = world->graph,
		.excluded = world->excluded,
		.rule = {.stop_probability = 0.90,
			 .report_probability = 0.99,
			 .maximum_boots = 200,
			 .flagged_step = 3 * DEVIATION,
			 .minimum_step = DEVIATION,
			 .noise = {.deviation = world->deviation,
				   .degrees = 20,
				   .deviation_floor = 1e-9}},
	};
}

static inline struct hunt_event answer_request(struct world *world, const struct hunt_step *step)
{
	struct hunt_event event = {
		.kind = HUNT_MEASURED, .stage = step->stage, .commit = step->commit, .weight = 1};
	bool first_time = !world->built[step->commit];
	if (world->broken[step->commit]) {
		event.kind = HUNT_UNTESTABLE;
		return event;
	}
	world->built[step->commit] = true;
	for (size_t other = 0; other < world->commits && first_time; other++)
		if (other != step->commit && world->built[other] &&
		    world->image[other] == world->image[step->commit]) {
			event.kind = HUNT_SAME_IMAGE;
			event.other = other;
			return event;
		}
	bool bad = commit_graph_contains(world->graph, step->commit, world->culprit);
	event.values[0] = 4.2 + (bad ? world->step : 0) + world->deviation * draw_normal(world);
	return event;
}

static inline void hunt_down(struct world *world)
{
	struct hunt_problem problem = problem_of(world);
	struct error err;
	for (;;) {
		struct hunt_step *step = &world->steps[world->count];
		assert_ok(hunt_next(&problem, world->events, world->count, step, &err), &err);
		if (step->action == HUNT_FINISHED) {
			world->answer = step->answer;
			return;
		}
		assert_true(world->count < EVENTS_LIMIT);
		assert_true(step->commit < world->commits);
		world->events[world->count++] = answer_request(world, step);
	}
}

static inline bool names_the_culprit(const struct world *world)
{
	return world->answer.kind == HUNT_CULPRIT && world->answer.culprit == world->culprit;
}

static inline bool is_wrong_blame(const struct world *world)
{
	return world->answer.kind == HUNT_CULPRIT && world->answer.culprit != world->culprit;
}

static inline bool set_holds_the_culprit(const struct world *world)
{
	for (size_t i = 0; i < world->answer.set_count; i++)
		if (world->answer.set[i] == world->culprit)
			return true;
	return false;
}

static inline size_t commits_searched(const struct world *world)
{
	auto_free bool *seen = memory_array(world->commits, sizeof(*seen));
	size_t count = 0;
	for (size_t i = 0; i < world->count; i++)
		if (world->events[i].stage == HUNT_SEARCH && !seen[world->events[i].commit]) {
			seen[world->events[i].commit] = true;
			count++;
		}
	return count;
}

static inline void break_runs(struct world *world)
{
	for (size_t commit = 1; commit + 1 < world->commits; commit++)
		if (draw_below(world, 30) == 0)
			for (size_t i = commit; i < commit + 3 && i + 1 < world->commits; i++)
				world->broken[i] = true;
}

/* Half of the commits build to the image of their first parent, some are known not to matter. */
static inline void share_images(struct world *world)
{
	for (size_t commit = 1; commit < world->commits; commit++) {
		bool single = commit_graph_parent_count(world->graph, commit) == 1;
		if (commit == world->culprit || !single || draw_below(world, 2))
			continue;
		world->image[commit] = world->image[commit_graph_parent(world->graph, commit, 0)];
		world->excluded[commit] = draw_below(world, 2);
	}
}

#endif
