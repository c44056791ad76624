/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/hunt_world.h"

#include "bisect/hunt_record.h"
#include "bisect/search.h"

enum { BOOTS = 30 };

/* A world after BOOTS boots of commits drawn at random, both ends among them. */
static struct world *measured_world(uint64_t seed)
{
	struct world *world = seed % 2 ? branched_world(seed) : linear_world(seed, 40);
	struct hunt_step step = {.stage = HUNT_SEARCH};
	for (size_t boot = 0; boot < BOOTS; boot++) {
		step.commit = boot % 6 == 0   ? 0
			      : boot % 6 == 3 ? world->commits - 1
					      : draw_below(world, world->commits);
		world->events[world->count++] = answer_request(world, &step);
	}
	return world;
}

static struct search_belief believe(const struct hunt_problem *problem,
				    const struct hunt_event *events, size_t count)
{
	const struct hunt_series own = {.sign = 1, .step = hunt_expected_step(&problem->rule)};
	auto_hunt_record struct hunt_record record = {0};
	struct search_belief belief;
	struct error err;
	hunt_record_create(problem, events, count, &own, &record);
	struct search_evidence evidence = hunt_record_evidence(problem, &record);
	assert_ok(search_believe(problem->graph, &evidence, &belief, &err), &err);
	return belief;
}

/* A new order of the commits in which parents still come first: ret_new[old number]. */
static void renumber(struct world *world, size_t *ret_new)
{
	auto_free bool *placed = memory_array(world->commits, sizeof(*placed));
	for (size_t next = 0; next < world->commits;) {
		size_t commit = next ? draw_below(world, world->commits) : 0;
		bool ready = !placed[commit];
		for (size_t i = 0; i < commit_graph_parent_count(world->graph, commit); i++)
			ready = ready && placed[commit_graph_parent(world->graph, commit, i)];
		if (!ready)
			continue;
		placed[commit] = true;
		ret_new[commit] = next++;
	}
}

static struct commit_graph *renumbered(const struct world *world, const size_t *new_number)
{
	static size_t edges[DAG_COMMITS_LIMIT][DAG_COMMITS_LIMIT];
	size_t *parents[DAG_COMMITS_LIMIT];
	size_t counts[DAG_COMMITS_LIMIT];
	struct commit_graph *graph;
	struct error err;
	for (size_t commit = 0; commit < world->commits; commit++) {
		size_t place = new_number[commit];
		counts[place] = commit_graph_parent_count(world->graph, commit);
		parents[place] = edges[place];
		for (size_t i = 0; i < counts[place]; i++)
			edges[place][i] = new_number[commit_graph_parent(world->graph, commit, i)];
	}
	assert_ok(commit_graph_create(world->commits, parents, counts, &graph, &err), &err);
	return graph;
}

static void test_the_order_of_the_commits_does_not_matter(void **state)
{
	(void)state;
	size_t moved = 0;
	for (uint64_t seed = 1; seed < 400; seed += 2) {
		auto_world struct world *world = measured_world(seed);
		size_t new_number[DAG_COMMITS_LIMIT];
		struct hunt_event events[BOOTS];
		renumber(world, new_number);
		for (size_t i = 0; i < BOOTS; i++) {
			events[i] = world->events[i];
			events[i].commit = new_number[events[i].commit];
		}
		struct hunt_problem problem = problem_of(world);
		struct hunt_problem other = problem;
		auto_commit_graph struct commit_graph *graph = renumbered(world, new_number);
		other.graph = graph;
		auto_cleanup(search_belief_free) struct search_belief a =
			believe(&problem, world->events, BOOTS);
		auto_cleanup(search_belief_free) struct search_belief b =
			believe(&other, events, BOOTS);
		for (size_t commit = 0; commit < world->commits; commit++) {
			moved += new_number[commit] != commit;
			assert_close(a.probability[commit], b.probability[new_number[commit]],
				     1e-9);
			assert_close(a.bad_probability[commit],
				     b.bad_probability[new_number[commit]], 1e-9);
		}
	}
	assert_true(moved > 1000);
}

static void test_the_order_of_the_boots_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		auto_world struct world *world = measured_world(seed);
		struct hunt_problem problem = problem_of(world);
		struct hunt_event events[BOOTS];
		memcpy(events, world->events, sizeof(events));
		for (size_t i = BOOTS - 1; i > 0; i--) {
			size_t other = draw_below(world, i + 1);
			struct hunt_event swapped = events[i];
			events[i] = events[other];
			events[other] = swapped;
		}
		auto_cleanup(search_belief_free) struct search_belief a =
			believe(&problem, world->events, BOOTS);
		auto_cleanup(search_belief_free) struct search_belief b =
			believe(&problem, events, BOOTS);
		for (size_t commit = 0; commit < world->commits; commit++)
			assert_close(a.probability[commit], b.probability[commit], 1e-9);
	}
}

/* The mean over what the machine would give next, of what is then believed of the truth. */
static double expected_belief(struct world *world, const struct hunt_problem *problem,
			      size_t commit)
{
	enum { DRAWS = 60 };
	struct hunt_step step = {.stage = HUNT_SEARCH, .commit = commit};
	double sum = 0;
	for (size_t i = 0; i < DRAWS; i++) {
		world->events[BOOTS] = answer_request(world, &step);
		auto_cleanup(search_belief_free) struct search_belief belief =
			believe(problem, world->events, BOOTS + 1);
		sum += belief.probability[world->culprit];
	}
	return sum / DRAWS;
}

/*
 * One more boot of a commit speaks for the truth on average. Where it does so in a single world is
 * up to chance; over many worlds the mean change must not be below its own error.
 */
static void test_a_boot_more_does_not_lower_the_belief_in_the_truth_on_average(void **state)
{
	(void)state;
	enum { WORLDS = 120 };
	double sum = 0;
	double squares = 0;
	for (uint64_t seed = 0; seed < WORLDS; seed++) {
		auto_world struct world *world = measured_world(seed);
		struct hunt_problem problem = problem_of(world);
		auto_cleanup(search_belief_free) struct search_belief before =
			believe(&problem, world->events, BOOTS);
		double change =
			expected_belief(world, &problem, draw_below(world, world->commits)) -
			before.probability[world->culprit];
		sum += change;
		squares += change * change;
	}
	double mean = sum / WORLDS;
	double error = sqrt(squares / WORLDS / WORLDS);
	print_message("mean change of the belief in the truth %+.5f, standard error %.5f\n", mean,
		      error);
	assert_true(mean > -3 * error);
	assert_true(mean > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_order_of_the_commits_does_not_matter),
		cmocka_unit_test(test_the_order_of_the_boots_does_not_matter),
		cmocka_unit_test(
			test_a_boot_more_does_not_lower_the_belief_in_the_truth_on_average),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
