/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <stdbool.h>

#include "bisect/hunt_record.h"
#include "sentinel/base/cleanup.h"

enum { COMMITS = 4 };

static size_t before[] = {0, 1, 2};
static size_t *const parents[COMMITS] = {before, before, before + 1, before + 2};
static const size_t parent_counts[COMMITS] = {0, 1, 1, 1};

struct bench {
	struct commit_graph *graph;
	struct hunt_problem problem;
	bool excluded[COMMITS];
	struct hunt_record record;
};

static int setup(void **state)
{
	static struct bench bench;
	struct error err;
	memset(&bench, 0, sizeof(bench));
	assert_ok(commit_graph_create(COMMITS, parents, parent_counts, &bench.graph, &err), &err);
	bench.problem = (struct hunt_problem){
		.graph = bench.graph,
		.excluded = bench.excluded,
		.rule = {.flagged_step = 1,
			 .minimum_step = 0.5,
			 .noise = {.deviation_floor = 0.001}},
	};
	*state = &bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	hunt_record_free(&bench->record);
	commit_graph_free(&bench->graph);
	return 0;
}

static const struct hunt_event boots[] = {
	{.commit = 0, .values = {1.0}, .weight = 1}, {.commit = 3, .values = {2.0}, .weight = 1},
	{.commit = 3, .values = {2.4}, .weight = 1}, {.commit = 0, .values = {1.2}, .weight = 1},
	{.commit = 0, .values = {1.1}, .weight = 1}, {.commit = 2, .values = {2.2}, .weight = 1},
};

static void arrange(struct bench *bench, const struct hunt_event *events, size_t count)
{
	const struct hunt_series own = {.sign = 1,
					.step = hunt_expected_step(&bench->problem.rule)};
	hunt_record_free(&bench->record);
	hunt_record_create(&bench->problem, events, count, &own, &bench->record);
}

static void test_values_are_kept_by_build_in_the_order_of_their_boots(void **state)
{
	struct bench *bench = *state;
	struct hunt_event layouts[array_length(boots)];
	arrange(bench, boots, array_length(boots));
	assert_int_equal(bench->record.boots, 6);
	assert_int_equal(bench->record.entity_count, 3);
	assert_int_equal(bench->record.entity_boots[0], 3);
	assert_true(bench->record.pool[1] == 1.2 && bench->record.pool[2] == 1.1);
	assert_int_equal(bench->record.entities[1].commit, 2);
	assert_true(bench->record.pool[3] == 2.2 && bench->record.pool[5] == 2.4);
	memcpy(layouts, boots, sizeof(boots));
	layouts[0].layout = 2;
	arrange(bench, layouts, array_length(layouts));
	assert_int_equal(bench->record.entity_count, 4);
	assert_int_equal(bench->record.entities[1].layout, 2);
	assert_true(bench->record.entities[1].location == 1.0);
}

static void test_a_boot_with_half_the_weight_counts_half(void **state)
{
	struct bench *bench = *state;
	struct hunt_event events[] = {
		{.commit = 0, .values = {1.0}, .weight = 1},
		{.commit = 0, .values = {1.3}, .weight = 0.5},
	};
	arrange(bench, events, array_length(events));
	assert_close(bench->record.entities[0].location, 1.1, 1e-12);
	assert_close(bench->record.entities[0].weight, 1.5, 1e-12);
}

static void test_the_deviation_is_pooled_within_the_commits(void **state)
{
	struct bench *bench = *state;
	/* Squares 0.02 about 1.1 with 2 degrees, and 0.08 about 2.2 with 1. */
	arrange(bench, boots, array_length(boots));
	assert_close(bench->record.deviation, sqrt(0.10 / 3), 1e-12);
	assert_close(bench->record.degrees, 3, 1e-12);
}

static void test_history_counts_as_forty_degrees_at_most(void **state)
{
	struct bench *bench = *state;
	bench->problem.rule.noise.deviation = 0.2;
	bench->problem.rule.noise.degrees = 5000;
	arrange(bench, boots, array_length(boots));
	assert_close(bench->record.degrees, 43, 1e-12);
	assert_close(bench->record.deviation, sqrt((40 * 0.04 + 0.10) / 43), 1e-12);
}

static void test_without_repeated_boots_the_floor_holds(void **state)
{
	struct bench *bench = *state;
	arrange(bench, boots, 2);
	assert_true(bench->record.deviation == 0.001);
	assert_true(bench->record.degrees == 0);
}

static void test_a_wild_boot_hardly_widens_the_deviation(void **state)
{
	struct bench *bench = *state;
	struct hunt_event events[21] = {{0}};
	for (size_t i = 0; i < 20; i++)
		events[i] = (struct hunt_event){
			.commit = i % 4, .values = {i / 4 % 2 ? 0.1 : -0.1}, .weight = 1};
	events[20] = (struct hunt_event){.commit = 0, .values = {50}, .weight = 1};
	bench->problem.rule.noise.deviation = 0.1;
	bench->problem.rule.noise.degrees = 40;
	arrange(bench, events, 21);
	assert_true(bench->record.deviation < 1);
	double raw = sqrt(50 * 50 * 5 / 6.0 / (40 + 17));
	assert_true(raw > 5);
}

static void test_the_step_is_taken_across_the_suspect(void **state)
{
	struct bench *bench = *state;
	arrange(bench, boots, array_length(boots));
	/* 0 on one side; 2 and 3 on the other. */
	assert_close(hunt_record_step(&bench->problem, &bench->record, 2), 2.2 - 1.1, 0.02);
	/* Never less than a fifth of what is worth hunting. */
	bench->problem.rule.flagged_step = 100;
	arrange(bench, boots, array_length(boots));
	assert_close(hunt_record_step(&bench->problem, &bench->record, 2), 20, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_values_are_kept_by_build_in_the_order_of_their_boots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_boot_with_half_the_weight_counts_half, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_deviation_is_pooled_within_the_commits,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_history_counts_as_forty_degrees_at_most, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_without_repeated_boots_the_floor_holds, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_wild_boot_hardly_widens_the_deviation, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_step_is_taken_across_the_suspect, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
