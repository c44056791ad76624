/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/simulate/power.h"

static const struct simulate_power_cell *cell_of(double step_percent, double noise_percent)
{
	for (size_t i = 0; i < SIMULATE_POWER_CELLS; i++)
		if (simulate_power_cells[i].step_percent == step_percent &&
		    simulate_power_cells[i].noise_percent == noise_percent)
			return &simulate_power_cells[i];
	return NULL;
}

static void simulate(double step_percent, double noise_percent, double true_step_percent,
		     double layout_share, struct simulate_power_result *result)
{
	struct simulate_power_options options;
	simulate_power_defaults(cell_of(step_percent, noise_percent), &options);
	options.step_percent = true_step_percent;
	options.layout_share = layout_share;
	options.trials = 200;
	simulate_power(&options, result);
}

/* 0.93 is the bar for many trials; 200 of them may fall four standard errors below 0.95. */
static void test_the_boots_of_a_cell_see_its_step(void **state)
{
	(void)state;
	struct simulate_power_result result;
	simulate(2, 1, 2, 0, &result);
	assert_true(result.two_stage > 0.89);
	simulate(5, 3, 5, 0, &result);
	assert_true(result.two_stage > 0.89);
}

static void test_half_the_step_is_mostly_missed(void **state)
{
	(void)state;
	struct simulate_power_result result;
	simulate(2, 1, 1.2, 0, &result);
	assert_true(result.two_stage < 0.6);
	assert_true(result.two_stage <= result.stage1);
}

static void test_layout_noise_of_the_size_of_the_step_hides_it(void **state)
{
	(void)state;
	struct simulate_power_result quiet;
	struct simulate_power_result noisy;
	simulate(2, 1, 2, 0, &quiet);
	simulate(2, 1, 2, 2, &noisy);
	assert_true(noisy.two_stage < quiet.two_stage / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_boots_of_a_cell_see_its_step),
		cmocka_unit_test(test_half_the_step_is_mostly_missed),
		cmocka_unit_test(test_layout_noise_of_the_size_of_the_step_hides_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
