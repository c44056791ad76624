/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/simulate/hunts.h"

static const struct scenario_values none = {NAN, NAN, NAN, NAN};

static void no_progress(size_t done, size_t all, void *data)
{
	(void)done;
	(void)all;
	(void)data;
}

static struct hunts_result run(const char *scenario, double snr, const char *method,
			       size_t first_trial, size_t trials)
{
	struct scenario_plan world;
	struct hunts_plan plan = {.world = &world,
				  .commits = 128,
				  .limits = {3000, HUNT_LAYOUTS},
				  .seed = 7,
				  .first_trial = first_trial,
				  .trials = trials};
	struct hunts_result result;
	struct error err;
	scenario_plan(scenario_find(scenario), NULL, snr, &none, &world);
	assert_ok(hunts_method_parse(method, &plan.method, &err), &err);
	assert_ok(hunts_run(&plan, no_progress, NULL, &result, &err), &err);
	return result;
}

static void test_sentinel_is_right_where_git_bisect_guesses(void **state)
{
	(void)state;
	struct hunts_result sentinel = run("S1", 3, "sentinel", 0, 40);
	struct hunts_result by_hand = run("S1", 3, "a", 0, 40);
	assert_true(sentinel.correct >= 0.95);
	assert_true(sentinel.wrong <= 0.03);
	assert_true(sentinel.claimed >= 0.99);
	assert_true(by_hand.wrong >= 0.3);
	assert_close(by_hand.boots_search, 7, 0.1);
	assert_close(sentinel.correct + sentinel.wrong + sentinel.not_reproducible +
			     sentinel.inconclusive,
		     1, 1e-12);
}

static void test_a_trial_alone_is_that_of_the_run(void **state)
{
	(void)state;
	struct hunts_result together = run("S1", 2, "sentinel", 0, 5);
	double boots = 0;
	for (size_t trial = 0; trial < 5; trial++)
		boots += run("S1", 2, "sentinel", trial, 1).boots_search;
	assert_close(together.boots_search, boots / 5, 1e-12);
}

static void test_where_nothing_changed_nobody_is_blamed(void **state)
{
	(void)state;
	struct hunts_result result = run("N0", 3, "sentinel", 0, 20);
	assert_true(result.not_reproducible >= 0.9);
	assert_true(result.correct == 0);
	assert_true(result.wrong == 0);
}

static void test_the_second_of_two_steps_is_hunted_too(void **state)
{
	(void)state;
	struct hunts_result result = run("two-steps", 10, "sentinel", 0, 20);
	assert_true(result.more_steps >= 0.5);
	assert_true(result.others_correct >= 0.5);
	assert_true(result.wrong + result.others_wrong <= 0.05);
}

static void test_methods_are_known_by_their_names(void **state)
{
	(void)state;
	struct hunts_method method;
	struct error err;
	assert_ok(hunts_method_parse("b10", &method, &err), &err);
	assert_int_equal(method.rule.boots, 10);
	static const char *const wrong[] = {"", "b", "b0", "b-1", "b5x", "b1001", "d", "sentinels"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(hunts_method_parse(wrong[i], &method, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentinel_is_right_where_git_bisect_guesses),
		cmocka_unit_test(test_a_trial_alone_is_that_of_the_run),
		cmocka_unit_test(test_where_nothing_changed_nobody_is_blamed),
		cmocka_unit_test(test_the_second_of_two_steps_is_hunted_too),
		cmocka_unit_test(test_methods_are_known_by_their_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
