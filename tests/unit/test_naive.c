/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/simulate/naive.h"

static const struct scenario_values none = {NAN, NAN, NAN, NAN};
static const struct naive_rule one_boot = {NAIVE_MEAN, 1};

static struct world *world_of(struct scenario_plan *plan, const char *name, double snr,
			      enum lineage_shape shape, size_t commits, uint64_t seed)
{
	struct world *world;
	struct error err;
	scenario_plan(scenario_find(name), NULL, snr, &none, plan);
	assert_ok(world_create(plan, shape, commits, seed, &world, &err), &err);
	return world;
}

static void test_without_noise_a_line_is_halved(void **state)
{
	(void)state;
	for (size_t commits = 2; commits < 300; commits++) {
		struct scenario_plan plan;
		struct hunt_answer answer;
		auto_world struct world *world =
			world_of(&plan, "zero", 3, LINEAGE_LINEAR, commits, commits);
		naive_bisect(world, &one_boot, &answer);
		assert_int_equal(answer.kind, HUNT_CULPRIT);
		assert_int_equal(answer.culprit, world->culprits[0]);
		assert_true((double)answer.boots <= ceil(log2((double)commits)));
		assert_int_equal(answer.boots, answer.builds);
		hunt_answer_free(&answer);
	}
}

static void test_without_noise_the_culprit_is_found_in_any_history(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct scenario_plan plan;
		struct hunt_answer answer;
		auto_world struct world *world = world_of(&plan, "zero", 3, LINEAGE_DAG, 150, seed);
		naive_bisect(world, &one_boot, &answer);
		assert_int_equal(answer.kind, HUNT_CULPRIT);
		assert_int_equal(answer.culprit, world->culprits[0]);
		hunt_answer_free(&answer);
	}
}

static void test_what_does_not_build_is_skipped_and_stays_suspect(void **state)
{
	(void)state;
	size_t sets = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct scenario_plan plan;
		struct hunt_answer answer;
		auto_world struct world *world =
			world_of(&plan, "S5", 100, LINEAGE_LINEAR, 100, seed);
		bool held = false;
		naive_bisect(world, &one_boot, &answer);
		for (size_t i = 0; i < answer.set_count; i++) {
			held |= world_is_culprit(world, answer.set[i]);
			/* All but the last could not be tried. */
			assert_int_equal(world->unbuildable[answer.set[i]],
					 i + 1 < answer.set_count);
		}
		assert_true(held);
		sets += answer.kind == HUNT_SET;
		hunt_answer_free(&answer);
	}
	assert_in_range(sets, 5, 60);
}

static size_t count_right(const struct naive_rule *rule, double snr, size_t *ret_boots)
{
	size_t right = 0;
	*ret_boots = 0;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct scenario_plan plan;
		struct hunt_answer answer;
		auto_world struct world *world =
			world_of(&plan, "S0", snr, LINEAGE_LINEAR, 1024, seed);
		naive_bisect(world, rule, &answer);
		right += answer.kind == HUNT_CULPRIT && world_is_culprit(world, answer.culprit);
		*ret_boots += answer.boots;
		hunt_answer_free(&answer);
	}
	return right;
}

static void test_with_noise_more_boots_are_right_more_often(void **state)
{
	(void)state;
	size_t boots;
	size_t one = count_right(&one_boot, 2, &boots);
	assert_int_equal(boots, 300 * 10);
	size_t ten = count_right(&(struct naive_rule){NAIVE_MEAN, 10}, 2, &boots);
	assert_int_equal(boots, 300 * 100);
	size_t sequential = count_right(&(struct naive_rule){NAIVE_SPRT, 3000}, 2, &boots);
	assert_true(one < 100);
	assert_true(ten > 250);
	assert_true(sequential > 270);
	assert_true(boots < 300 * 80);
}

static void test_a_test_that_runs_out_of_boots_names_nobody(void **state)
{
	(void)state;
	struct scenario_plan plan;
	struct hunt_answer answer;
	auto_world struct world *world = world_of(&plan, "S0", 0.5, LINEAGE_LINEAR, 1024, 1);
	naive_bisect(world, &(struct naive_rule){NAIVE_SPRT, 10}, &answer);
	assert_int_equal(answer.kind, HUNT_CANNOT_TELL);
	assert_int_equal(answer.boots, 10);
	assert_true(answer.set_count > 1);
	hunt_answer_free(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_noise_a_line_is_halved),
		cmocka_unit_test(test_without_noise_the_culprit_is_found_in_any_history),
		cmocka_unit_test(test_what_does_not_build_is_skipped_and_stays_suspect),
		cmocka_unit_test(test_with_noise_more_boots_are_right_more_often),
		cmocka_unit_test(test_a_test_that_runs_out_of_boots_names_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
