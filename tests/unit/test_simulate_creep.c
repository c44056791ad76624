/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/simulate/creep.h"

static void simulate(double total, size_t creep_nights, size_t trials,
		     struct simulate_creep_result *result)
{
	struct simulate_creep_options options;
	simulate_creep_defaults(&options);
	options.total = total;
	options.creep_nights = creep_nights;
	options.trials = trials;
	simulate_creep(&options, result);
}

static void test_a_creep_of_three_deviations_is_seen_in_time(void **state)
{
	(void)state;
	struct simulate_creep_result result;
	simulate(3, 60, 500, &result);
	assert_true(result.flagged >= 0.99);
	assert_true(result.mean_night > 20 && result.mean_night <= 32);
	/* The rolling baseline follows it. */
	assert_true(result.rolling < 0.5);
}

static void test_a_step_is_seen_sooner_than_a_creep(void **state)
{
	(void)state;
	struct simulate_creep_result step;
	struct simulate_creep_result creep;
	simulate(3, 1, 300, &step);
	simulate(3, 60, 300, &creep);
	assert_true(step.mean_night > 2 && step.mean_night < 8);
	assert_true(step.mean_night < creep.mean_night);
}

static void test_a_level_that_stays_is_seldom_flagged(void **state)
{
	(void)state;
	struct simulate_creep_result result;
	simulate(0, 60, 3000, &result);
	/* 38 in 1000 nights of 144 series in the study. */
	assert_true(result.per_1000_nights > 5 && result.per_1000_nights < 60);
	assert_close(result.per_30_nights, 0.03 * result.per_1000_nights, 1e-9);
}

static void test_improvements_are_not_creep(void **state)
{
	(void)state;
	struct simulate_creep_result result;
	simulate(-3, 60, 500, &result);
	assert_close(result.flagged, 0, 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_creep_of_three_deviations_is_seen_in_time),
		cmocka_unit_test(test_a_step_is_seen_sooner_than_a_creep),
		cmocka_unit_test(test_a_level_that_stays_is_seldom_flagged),
		cmocka_unit_test(test_improvements_are_not_creep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
