/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <stdbool.h>

#include "bisect/hunt_confirmation.h"

/*
 *   0 - 1 - 2 - 3 - 6 - 7
 *        \         /
 *         4 ----- 5
 */
enum { COMMITS = 8, LAST = COMMITS - 1, EVENTS_LIMIT = 64 };

#define STEP 1.0

static size_t edges[] = {0, 1, 2, 1, 4, 3, 5, 6};
static size_t *const parents[COMMITS] = {edges,     edges,     edges + 1, edges + 2,
					 edges + 3, edges + 4, edges + 5, edges + 7};
static const size_t parent_counts[COMMITS] = {0, 1, 1, 1, 1, 1, 2, 1};

struct bench {
	struct commit_graph *graph;
	struct hunt_problem problem;
	bool excluded[COMMITS];
	bool untestable[COMMITS];
	struct hunt_event events[EVENTS_LIMIT];
	size_t count;
	struct hunt_confirmation confirmation;
	bool rival[COMMITS];
};

static void add(struct bench *bench, enum hunt_stage stage, size_t commit, double value)
{
	bench->events[bench->count++] = (struct hunt_event){.kind = HUNT_MEASURED,
							    .stage = stage,
							    .commit = commit,
							    .values = {value},
							    .weight = 1};
}

static int setup(void **state)
{
	static struct bench bench;
	struct error err;
	memset(&bench, 0, sizeof(bench));
	assert_ok(commit_graph_create(COMMITS, parents, parent_counts, &bench.graph, &err), &err);
	bench.problem = (struct hunt_problem){
		.graph = bench.graph,
		.excluded = bench.excluded,
		.rule = {.flagged_step = STEP,
			 .noise = {.deviation = 0.2, .degrees = 40, .deviation_floor = 1e-6}},
	};
	for (size_t i = 0; i < 2; i++) {
		add(&bench, HUNT_REPRODUCE, 0, 0);
		add(&bench, HUNT_REPRODUCE, LAST, STEP);
	}
	*state = &bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	hunt_confirmation_free(&bench->confirmation);
	commit_graph_free(&bench->graph);
	return 0;
}

static void add_pair(struct bench *bench, size_t rival, size_t suspect, double difference)
{
	add(bench, HUNT_CONFIRM, rival, 0);
	add(bench, HUNT_CONFIRM, suspect, difference);
}

static const struct hunt_confirmation *replay(struct bench *bench)
{
	hunt_confirmation_free(&bench->confirmation);
	hunt_confirmation_replay(&bench->problem, bench->events, bench->count,
				 &bench->confirmation);
	return &bench->confirmation;
}

static bool accepted(struct bench *bench, size_t suspect)
{
	hunt_confirmation_rivals(&bench->problem, bench->untestable, suspect, bench->rival);
	return hunt_confirmation_accepted(replay(bench), COMMITS, suspect, bench->rival);
}

static void test_boots_of_the_search_do_not_confirm(void **state)
{
	struct bench *bench = *state;
	for (size_t i = 0; i < 4; i++) {
		add(bench, HUNT_SEARCH, 2, 0);
		add(bench, HUNT_SEARCH, 3, STEP);
	}
	assert_false(accepted(bench, 3));
	assert_int_equal(replay(bench)->pair_count, 0);
	add_pair(bench, 2, 3, STEP);
	assert_false(accepted(bench, 3));
	add_pair(bench, 2, 3, STEP);
	assert_true(accepted(bench, 3));
}

static void test_more_is_asked_where_one_step_does_not_fit(void **state)
{
	struct bench *bench = *state;
	add_pair(bench, 2, 3, STEP);
	assert_close(replay(bench)->rivals[0].test.accept_odds, 19, 0);
	bench->count -= 2;
	/* Commits half way between the levels: there is a second step. */
	for (size_t i = 0; i < 3; i++) {
		add(bench, HUNT_SEARCH, 2, 0);
		add(bench, HUNT_SEARCH, 3, STEP / 2);
		add(bench, HUNT_SEARCH, 6, STEP / 2);
		add(bench, HUNT_SEARCH, LAST, STEP);
		add(bench, HUNT_SEARCH, LAST, STEP);
	}
	add_pair(bench, 2, 3, STEP);
	assert_close(replay(bench)->rivals[0].test.accept_odds, 199, 0);
}

static void test_more_is_asked_where_the_pairs_show_a_part_of_the_step(void **state)
{
	struct bench *bench = *state;
	for (size_t i = 0; i < 2; i++)
		add_pair(bench, 2, 3, STEP / 2);
	assert_true(exp(replay(bench)->rivals[0].test.log_ratio) > 19);
	assert_false(accepted(bench, 3));
	assert_close(replay(bench)->rivals[0].test.accept_odds, 199, 0);
	for (size_t i = 0; i < 2; i++)
		add_pair(bench, 2, 3, STEP / 2);
	assert_true(accepted(bench, 3));
}

static void test_an_event_between_two_boots_parts_the_pair(void **state)
{
	struct bench *bench = *state;
	add(bench, HUNT_CONFIRM, 2, 0);
	assert_true(replay(bench)->half_pair);
	bench->events[bench->count++] =
		(struct hunt_event){.kind = HUNT_UNTESTABLE, .stage = HUNT_CONFIRM, .commit = 4};
	assert_false(replay(bench)->half_pair);
	add(bench, HUNT_CONFIRM, 3, STEP);
	assert_int_equal(replay(bench)->pair_count, 0);
	assert_true(replay(bench)->half_pair);
}

static void test_the_order_inside_a_pair_does_not_turn_its_sign(void **state)
{
	struct bench *bench = *state;
	add_pair(bench, 2, 3, STEP);
	add(bench, HUNT_CONFIRM, 3, 1.5);
	add(bench, HUNT_CONFIRM, 2, 0.25);
	const struct hunt_confirmation *confirmation = replay(bench);
	assert_int_equal(confirmation->suspect, 3);
	assert_true(confirmation->differences[0] == STEP);
	assert_true(confirmation->differences[1] == 1.25);
}

static void test_another_suspect_makes_all_earlier_pairs_void(void **state)
{
	struct bench *bench = *state;
	add_pair(bench, 2, 3, STEP);
	add_pair(bench, 2, 3, STEP);
	assert_true(accepted(bench, 3));
	add_pair(bench, 1, 2, 0.3);
	assert_false(accepted(bench, 3));
	add_pair(bench, 2, 3, STEP);
	assert_false(accepted(bench, 3));
	assert_int_equal(replay(bench)->pair_count, 1);
	assert_int_equal(replay(bench)->failed, 0);
}

static void test_a_rejection_counts_once_and_then_the_suspect_starts_anew(void **state)
{
	struct bench *bench = *state;
	add_pair(bench, 2, 3, 0);
	add_pair(bench, 2, 3, 0);
	assert_true(replay(bench)->rejected);
	assert_int_equal(replay(bench)->failed, 1);
	add_pair(bench, 2, 3, STEP);
	assert_false(replay(bench)->rejected);
	assert_int_equal(replay(bench)->failed, 1);
	add_pair(bench, 2, 3, STEP);
	assert_true(accepted(bench, 3));
}

static void test_later_boots_do_not_turn_a_verdict(void **state)
{
	struct bench *bench = *state;
	add_pair(bench, 2, 3, STEP);
	add_pair(bench, 2, 3, STEP);
	for (size_t i = 0; i < 6; i++)
		add(bench, HUNT_SEARCH, i % 2 ? LAST : 0, i % 3 ? 5 : -5);
	for (size_t i = 0; i < 4; i++)
		add_pair(bench, 2, 3, -STEP);
	assert_true(accepted(bench, 3));
	assert_int_equal(replay(bench)->failed, 0);
}

static void test_a_merge_is_compared_with_each_parent_in_turn(void **state)
{
	struct bench *bench = *state;
	struct hunt_pair pair;
	static const size_t order[][2] = {{3, 6}, {5, 6}, {6, 3}, {6, 5}};
	for (size_t i = 0; i < 4; i++) {
		assert_false(accepted(bench, 6));
		hunt_confirmation_next(&bench->confirmation, COMMITS, 6, bench->rival, &pair);
		assert_int_equal(pair.first, order[i][0]);
		assert_int_equal(pair.second, order[i][1]);
		assert_int_equal(pair.number, i / 2);
		add(bench, HUNT_CONFIRM, pair.first, pair.first == 6 ? STEP : 0);
		add(bench, HUNT_CONFIRM, pair.second, pair.second == 6 ? STEP : 0);
	}
	assert_true(accepted(bench, 6));
}

static void assert_rivals(struct bench *bench, size_t suspect, const char *expected)
{
	hunt_confirmation_rivals(&bench->problem, bench->untestable, suspect, bench->rival);
	for (size_t commit = 0; commit < COMMITS; commit++)
		assert_int_equal(bench->rival[commit], expected[commit] == '1');
}

static void test_the_rivals_are_the_nearest_that_can_be_told_apart(void **state)
{
	struct bench *bench = *state;
	assert_rivals(bench, 3, "00100000");
	assert_rivals(bench, 6, "00010100");
	bench->untestable[5] = true;
	assert_rivals(bench, 6, "00011000");
	bench->untestable[6] = true;
	assert_rivals(bench, 7, "00011000");
	bench->excluded[3] = bench->excluded[2] = true;
	assert_rivals(bench, 7, "01001000");
	/* It has the image of its parent, but it is the only one of both that boots. */
	bench->untestable[2] = true;
	assert_rivals(bench, 7, "00011000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_boots_of_the_search_do_not_confirm, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_more_is_asked_where_one_step_does_not_fit,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_more_is_asked_where_the_pairs_show_a_part_of_the_step, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_an_event_between_two_boots_parts_the_pair,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_order_inside_a_pair_does_not_turn_its_sign,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_suspect_makes_all_earlier_pairs_void,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_rejection_counts_once_and_then_the_suspect_starts_anew, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_later_boots_do_not_turn_a_verdict, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_merge_is_compared_with_each_parent_in_turn,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_the_rivals_are_the_nearest_that_can_be_told_apart, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
