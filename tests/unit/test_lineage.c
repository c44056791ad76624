/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/random.h"
#include "sentinel/simulate/lineage.h"

static void test_every_commit_of_a_random_history_is_an_ancestor_of_the_last(void **state)
{
	(void)state;
	size_t merges = 0;
	size_t commits_seen = 0;
	for (uint64_t seed = 0; seed < 300; seed++) {
		auto_commit_graph struct commit_graph *graph = NULL;
		struct error err;
		random_seed(seed);
		size_t commits = 2 + random_below(300);
		assert_ok(lineage_create(LINEAGE_DAG, commits, &graph, &err), &err);
		assert_int_equal(commit_graph_count(graph), commits);
		for (size_t commit = 0; commit < commits; commit++) {
			assert_true(commit_graph_contains(graph, commits - 1, commit));
			assert_true(commit_graph_contains(graph, commit, 0));
			merges += commit_graph_parent_count(graph, commit) > 1;
		}
		commits_seen += commits;
	}
	/* As in a kernel: one commit in twenty to one in five is a merge. */
	assert_in_range(merges, commits_seen / 20, commits_seen / 5);
}

static void test_topics_of_a_random_history_grow_beside_each_other(void **state)
{
	(void)state;
	auto_commit_graph struct commit_graph *graph = NULL;
	struct error err;
	size_t unrelated = 0;
	random_seed(1);
	assert_ok(lineage_create(LINEAGE_DAG, 1024, &graph, &err), &err);
	for (size_t commit = 1; commit < 1024; commit++)
		unrelated += !commit_graph_contains(graph, commit, commit - 1);
	assert_true(unrelated > 200);
}

static void test_a_line_is_a_line(void **state)
{
	(void)state;
	auto_commit_graph struct commit_graph *graph = NULL;
	struct error err;
	assert_ok(lineage_create(LINEAGE_LINEAR, 100000, &graph, &err), &err);
	assert_true(commit_graph_is_line(graph));
}

static void test_a_part_holds_what_bad_holds_and_good_does_not(void **state)
{
	(void)state;
	auto_commit_graph struct commit_graph *whole = NULL;
	struct error err;
	random_seed(3);
	assert_ok(lineage_create(LINEAGE_DAG, 200, &whole, &err), &err);
	for (size_t good = 0; good < 199; good++) {
		auto_commit_graph struct commit_graph *part = NULL;
		auto_free size_t *commits = NULL;
		size_t expected = 1;
		for (size_t commit = 0; commit < 200; commit++)
			expected += !commit_graph_contains(whole, good, commit);
		assert_ok(lineage_part(whole, good, 199, &part, &commits, &err), &err);
		assert_int_equal(commit_graph_count(part), expected);
		assert_int_equal(commits[0], good);
		assert_int_equal(commits[expected - 1], 199);
		/* What descends from each other in the part does so in the whole. */
		for (size_t i = 1; i < expected; i++)
			for (size_t j = 1; j < i; j++)
				assert_int_equal(
					commit_graph_contains(part, i, j),
					commit_graph_contains(whole, commits[i], commits[j]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_commit_of_a_random_history_is_an_ancestor_of_the_last),
		cmocka_unit_test(test_topics_of_a_random_history_grow_beside_each_other),
		cmocka_unit_test(test_a_line_is_a_line),
		cmocka_unit_test(test_a_part_holds_what_bad_holds_and_good_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
