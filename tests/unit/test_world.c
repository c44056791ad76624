/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/robust.h"
#include "sentinel/simulate/world.h"

enum { BOOTS = 4000 };

static const struct scenario_values none = {NAN, NAN, NAN, NAN};

static struct scenario_plan plan_of(const char *name, double snr)
{
	struct scenario_plan plan;
	scenario_plan(scenario_find(name), NULL, snr, &none, &plan);
	return plan;
}

static struct world *world_of(const struct scenario_plan *plan, size_t commits, uint64_t seed)
{
	struct world *world;
	struct error err;
	assert_ok(world_create(plan, LINEAGE_LINEAR, commits, seed, &world, &err), &err);
	return world;
}

static void measure_many(struct world *world, size_t commit, double *ret_values)
{
	struct world_boot boots[WORLD_SERIES];
	for (size_t i = 0; i < BOOTS; i++) {
		world_measure(world, commit, 0, boots);
		ret_values[i] = boots[0].value;
	}
}

static void test_the_ends_have_what_a_verdict_needs(void **state)
{
	(void)state;
	static const struct {
		double snr;
		size_t boots;
	} rows[] = {{0.5, 154}, {1, 39}, {2, 10}, {3, 5}, {10, 5}};
	for (size_t i = 0; i < array_length(rows); i++)
		assert_int_equal(plan_of("S1", rows[i].snr).end_boots, rows[i].boots);
	assert_int_equal(plan_of("sparse", 3).end_boots, 1);
	assert_int_equal(plan_of("zero", 3).end_boots, 5);
}

static void test_what_characterise_prints_replaces_the_parameters(void **state)
{
	(void)state;
	struct scenario_plan plan;
	const struct scenario_values own = {0.5, 2, 0.25, 3};
	scenario_plan(scenario_find("S1"), NULL, 9, &own, &plan);
	assert_close(plan.noise.between, 0.005, 1e-12);
	assert_close(plan.noise.within, 0.02, 1e-12);
	assert_close(plan.noise.layout, 0.0025, 1e-12);
	assert_close(plan.step, 0.03, 1e-12);
	assert_close(plan.deviation, sqrt(0.25 + 4 / 5.0) / 100, 1e-12);
	assert_close(plan.snr, 6, 1e-12);
	assert_close(plan.noise.iteration_outliers, 0.01, 0);
}

static void test_the_same_seed_gives_the_same_world(void **state)
{
	(void)state;
	struct scenario_plan plan = plan_of("S5", 3);
	auto_world struct world *first = world_of(&plan, 500, 7);
	auto_world struct world *second = world_of(&plan, 500, 7);
	auto_world struct world *other = world_of(&plan, 500, 8);
	assert_int_equal(first->culprits[0], second->culprits[0]);
	assert_true(first->flagged_step == second->flagged_step);
	assert_memory_equal(first->unbuildable, second->unbuildable, 500 * sizeof(bool));
	assert_true(first->flagged_step != other->flagged_step);
}

static void test_boots_scatter_and_step_as_the_scenario_says(void **state)
{
	(void)state;
	static double good[BOOTS];
	static double bad[BOOTS];
	static const char *const names[] = {"S0", "S6", "bimodal", "ar1"};
	for (size_t i = 0; i < array_length(names); i++) {
		struct scenario_plan plan = plan_of(names[i], 3);
		auto_world struct world *world = world_of(&plan, 20, 1);
		measure_many(world, 0, good);
		measure_many(world, 19, bad);
		assert_close(stats_deviation(good, BOOTS), plan.deviation, 0.08 * plan.deviation);
		assert_close(stats_mean(bad, BOOTS) - stats_mean(good, BOOTS), plan.step,
			     0.15 * plan.deviation);
	}
}

static void test_a_level_rises_at_the_culprit_and_stays(void **state)
{
	(void)state;
	struct scenario_plan plan = plan_of("zero", 3);
	auto_world struct world *world = world_of(&plan, 20, 5);
	for (size_t commit = 0; commit < 20; commit++) {
		struct world_boot boots[WORLD_SERIES];
		world_measure(world, commit, 0, boots);
		assert_close(boots[0].value, commit >= world->culprits[0] ? plan.step : 0, 1e-12);
		assert_int_equal(world_is_culprit(world, commit), commit == world->culprits[0]);
	}
}

static void test_a_build_has_its_layout_whenever_it_is_booted(void **state)
{
	(void)state;
	struct scenario_plan plan = plan_of("S3", 3);
	plan.noise.between = plan.noise.within = 0;
	auto_world struct world *world = world_of(&plan, 20, 1);
	struct world_boot boots[3][WORLD_SERIES];
	world_measure(world, 0, 0, boots[0]);
	world_measure(world, 0, 1, boots[1]);
	world_measure(world, 0, 0, boots[2]);
	assert_true(boots[0][0].value == boots[2][0].value);
	assert_true(boots[0][0].value != boots[1][0].value);
}

static void test_a_tenth_of_the_commits_does_not_build_but_never_an_end(void **state)
{
	(void)state;
	struct scenario_plan plan = plan_of("S5", 3);
	for (uint64_t seed = 0; seed < 20; seed++) {
		auto_world struct world *world = world_of(&plan, 1000, seed);
		size_t broken = 0;
		for (size_t commit = 0; commit < 1000; commit++)
			broken += world->unbuildable[commit];
		assert_in_range(broken, 100, 102);
		assert_false(world->unbuildable[0] || world->unbuildable[999]);
	}
}

static void test_without_a_step_the_ends_differ_by_chance(void **state)
{
	(void)state;
	struct scenario_plan plan = plan_of("N0", 3);
	for (uint64_t seed = 0; seed < 5; seed++) {
		auto_world struct world *world = world_of(&plan, 20, seed);
		double error = world->history[0].boot * sqrt(2 / 5.0);
		assert_true(world->flagged_step > 3 * error);
		assert_false(world_is_culprit(world, 19));
		assert_int_equal(world->culprit_count, 0);
	}
}

static void test_a_witness_is_quieter_and_may_move_elsewhere(void **state)
{
	(void)state;
	struct scenario_plan plan = plan_of("S0", 3);
	plan.witness_ratio = 5;
	plan.witness_elsewhere = true;
	auto_world struct world *world = world_of(&plan, 1000, 2);
	static double values[BOOTS];
	struct world_boot boots[WORLD_SERIES];
	for (size_t i = 0; i < BOOTS; i++) {
		world_measure(world, world->witness_culprit, 0, boots);
		values[i] = boots[1].value;
	}
	assert_close(stats_deviation(values, BOOTS), plan.deviation / 5, 0.01 * plan.deviation);
	assert_close(stats_mean(values, BOOTS), plan.step, 0.02 * plan.deviation);
	assert_int_not_equal(world->witness_culprit, world->culprits[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_ends_have_what_a_verdict_needs),
		cmocka_unit_test(test_what_characterise_prints_replaces_the_parameters),
		cmocka_unit_test(test_the_same_seed_gives_the_same_world),
		cmocka_unit_test(test_boots_scatter_and_step_as_the_scenario_says),
		cmocka_unit_test(test_a_level_rises_at_the_culprit_and_stays),
		cmocka_unit_test(test_a_build_has_its_layout_whenever_it_is_booted),
		cmocka_unit_test(test_a_tenth_of_the_commits_does_not_build_but_never_an_end),
		cmocka_unit_test(test_without_a_step_the_ends_differ_by_chance),
		cmocka_unit_test(test_a_witness_is_quieter_and_may_move_elsewhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
