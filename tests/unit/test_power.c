/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/stats/power.h"
#include "sentinel/base/cleanup.h"

/* The plan of the published study: STATISTICS section 4. */
static struct power_plan study_plan(double boots, double pairs)
{
	return (struct power_plan){
		.boots = boots,
		.pairs = pairs,
		.layouts = 1,
		.nights = 20,
		.stage1_alpha = 0.01,
		.stage2_alpha = 0.001,
		.minimum_effect = log(1.01),
	};
}

/* s_boot of an iteration noise in per cent, split evenly, five iterations. */
static struct power_noise study_noise(double percent)
{
	return (struct power_noise){.deviation = 0.775 * percent / 100, .degrees = 40};
}

/* The boots and pairs that the study found to give 95 %; its own simulated power beside. */
static void test_the_study_s_cells_have_the_power_it_measured(void **state)
{
	static const struct {
		double step, noise, boots, pairs, power;
	} cells[] = {
		{2, 0.5, 2, 2, 0.959},    {2, 1, 4, 8, 0.953}, {2, 3, 29, 78, 0.951},
		{2, 10, 366, 947, 0.958}, {5, 1, 2, 2, 0.997}, {5, 3, 5, 13, 0.968},
		{5, 10, 62, 137, 0.955},
	};
	(void)state;
	for (size_t i = 0; i < array_length(cells); i++) {
		struct power_plan plan = study_plan(cells[i].boots, cells[i].pairs);
		struct power_noise noise = study_noise(cells[i].noise);
		double power = power_of_step(&plan, &noise, log1p(cells[i].step / 100));
		assert_close(power, cells[i].power, 0.035);
	}
}

static void test_the_smallest_step_has_just_the_power_that_is_asked_for(void **state)
{
	(void)state;
	struct power_plan plan = study_plan(3, 6);
	struct power_noise noise = study_noise(3);
	double step = power_smallest_step(&plan, &noise);
	assert_close(power_of_step(&plan, &noise, step), 0.95, 1e-6);
	/* The study: 2.97 deviations of a boot. */
	assert_close(step / noise.deviation, 2.97, 0.25);
}

/* There the minimum effect decides, which is compared with the change itself: 1.64 errors more. */
static void test_a_quiet_series_sees_little_more_than_the_minimum_effect(void **state)
{
	(void)state;
	struct power_plan plan = study_plan(3, 6);
	struct power_noise noise = study_noise(0.1);
	double error = noise.deviation * sqrt((1 + 1.0 / 20) / 3);
	assert_close(power_smallest_step(&plan, &noise), log(1.01) + 1.6449 * error, 1e-6);
}

static void test_more_boots_see_smaller_steps_until_the_nights_themselves_differ(void **state)
{
	(void)state;
	struct power_plan plan = study_plan(3, 6);
	struct power_noise noise = study_noise(3);
	size_t pairs;
	size_t boots = power_boots_for(&plan, &noise, log(1.05), &pairs);
	assert_true(boots >= 4 && boots <= 8);
	assert_true(pairs >= 10 && pairs <= 21);
	noise.night = noise.layout = 0.02;
	assert_int_equal(power_boots_for(&plan, &noise, log(1.05), &pairs), 0);
}

static void test_without_noise_the_minimum_effect_is_the_smallest_step(void **state)
{
	(void)state;
	struct power_plan plan = study_plan(3, 6);
	struct power_noise noise = {.degrees = 40};
	assert_close(power_smallest_step(&plan, &noise), log(1.01), 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_study_s_cells_have_the_power_it_measured),
		cmocka_unit_test(test_the_smallest_step_has_just_the_power_that_is_asked_for),
		cmocka_unit_test(test_a_quiet_series_sees_little_more_than_the_minimum_effect),
		cmocka_unit_test(
			test_more_boots_see_smaller_steps_until_the_nights_themselves_differ),
		cmocka_unit_test(test_without_noise_the_minimum_effect_is_the_smallest_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
