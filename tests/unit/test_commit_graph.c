/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bisect/commit_graph.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

/*
 *   0 - 1 - 2 ----- 5 - 6
 *        \         /
 *         3 ----- 4        and 4 also merges 0
 */
static size_t no_parent[1];
static size_t p1[] = {0}, p2[] = {1}, p3[] = {1}, p4[] = {3, 0}, p5[] = {2, 4}, p6[] = {5};
static size_t *const parents[] = {no_parent, p1, p2, p3, p4, p5, p6};
static const size_t parent_counts[] = {0, 1, 1, 1, 2, 2, 1};

static struct commit_graph *branched(void)
{
	struct commit_graph *graph;
	struct error err;
	assert_ok(commit_graph_create(7, parents, parent_counts, &graph, &err), &err);
	return graph;
}

static void test_a_commit_contains_itself_and_its_ancestors_only(void **state)
{
	(void)state;
	static const char *const contained[] = {"1000000", "1100000", "1110000", "1101000",
						"1101100", "1111110", "1111111"};
	auto_commit_graph struct commit_graph *graph = branched();
	assert_int_equal(commit_graph_count(graph), 7);
	for (size_t commit = 0; commit < 7; commit++)
		for (size_t other = 0; other < 7; other++)
			assert_int_equal(commit_graph_contains(graph, commit, other),
					 contained[commit][other] == '1');
}

static void test_parents_are_kept_in_order(void **state)
{
	(void)state;
	auto_commit_graph struct commit_graph *graph = branched();
	assert_int_equal(commit_graph_parent_count(graph, 0), 0);
	assert_int_equal(commit_graph_parent_count(graph, 4), 2);
	assert_int_equal(commit_graph_parent(graph, 4, 0), 3);
	assert_int_equal(commit_graph_parent(graph, 4, 1), 0);
	assert_int_equal(commit_graph_parent(graph, 6, 0), 5);
}

static void test_a_sum_covers_what_is_contained(void **state)
{
	(void)state;
	static const double weights[] = {1, 2, 4, 8, 16, 32, 64};
	auto_commit_graph struct commit_graph *graph = branched();
	double sums[array_length(weights)];
	commit_graph_sums(graph, weights, sums);
	assert_true(sums[4] == 1 + 2 + 8 + 16);
	assert_true(sums[6] == 127);
}

enum { LENGTH = COMMIT_GRAPH_LIMIT + 1 };

static size_t before[LENGTH];
static size_t *long_parents[LENGTH];
static size_t long_counts[LENGTH];

static void prepare_line(void)
{
	for (size_t commit = 0; commit < LENGTH; commit++) {
		before[commit] = commit ? commit - 1 : 0;
		long_parents[commit] = &before[commit];
		long_counts[commit] = commit ? 1 : 0;
	}
}

/* A fork near its start makes it more than a line: then it is held as bitsets. */
static void test_a_history_longer_than_one_word_of_bits_keeps_its_order(void **state)
{
	(void)state;
	enum { SHORT = 200, FORK = 3 };
	double weights[SHORT];
	double sums[SHORT];
	struct error err;
	prepare_line();
	before[FORK] = FORK - 2;
	for (size_t commit = 0; commit < SHORT; commit++)
		weights[commit] = (double)(commit + 1);
	auto_commit_graph struct commit_graph *graph = NULL;
	assert_ok(commit_graph_create(SHORT, long_parents, long_counts, &graph, &err), &err);
	assert_false(commit_graph_is_line(graph));
	commit_graph_sums(graph, weights, sums);
	for (size_t commit = FORK; commit < SHORT; commit++) {
		double all = (double)((commit + 1) * (commit + 2)) / 2;
		assert_true(sums[commit] == all - FORK);
		for (size_t other = FORK; other < SHORT; other++)
			assert_int_equal(commit_graph_contains(graph, commit, other),
					 other <= commit);
		assert_false(commit_graph_contains(graph, commit, FORK - 1));
	}
}

static void test_a_line_needs_no_bitsets_and_may_be_longer(void **state)
{
	(void)state;
	struct error err;
	auto_free double *weights = memory_array(LENGTH, sizeof(*weights));
	auto_free double *sums = memory_array(LENGTH, sizeof(*sums));
	auto_commit_graph struct commit_graph *graph = NULL;
	prepare_line();
	assert_ok(commit_graph_create(LENGTH, long_parents, long_counts, &graph, &err), &err);
	assert_true(commit_graph_is_line(graph));
	for (size_t commit = 0; commit < LENGTH; commit++)
		weights[commit] = 1;
	commit_graph_sums(graph, weights, sums);
	assert_true(sums[LENGTH - 1] == (double)LENGTH);
	assert_true(commit_graph_contains(graph, 7, 7) && commit_graph_contains(graph, 7, 6));
	assert_false(commit_graph_contains(graph, 7, 8));
}

static void assert_refused(size_t count, size_t *const *edges, const size_t *counts,
			   enum error_kind kind, const char *text)
{
	struct commit_graph *graph = NULL;
	struct error err = {0};
	assert_int_equal(commit_graph_create(count, edges, counts, &graph, &err), -1);
	assert_int_equal(err.kind, kind);
	assert_contains(err.message, text);
	assert_null(graph);
}

static void test_what_is_no_history_is_refused(void **state)
{
	(void)state;
	static size_t own[] = {2}, first[] = {0};
	size_t *const circular[] = {no_parent, first, own};
	static const size_t one_each[] = {0, 1, 1}, orphan[] = {0, 0, 1};
	assert_refused(3, circular, one_each, ERROR_STATE, "does not come before its child 2");
	assert_refused(3, circular, orphan, ERROR_STATE, "commit 1 of the range has no parent");
	assert_refused(1, parents, parent_counts, ERROR_STATE, "two ends");
	prepare_line();
	before[2] = 0;
	assert_refused(LENGTH, long_parents, long_counts, ERROR_USAGE, "closer together");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_commit_contains_itself_and_its_ancestors_only),
		cmocka_unit_test(test_parents_are_kept_in_order),
		cmocka_unit_test(test_a_sum_covers_what_is_contained),
		cmocka_unit_test(test_a_history_longer_than_one_word_of_bits_keeps_its_order),
		cmocka_unit_test(test_a_line_needs_no_bitsets_and_may_be_longer),
		cmocka_unit_test(test_what_is_no_history_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
