/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/random.h"
#include "sentinel/base/robust.h"
#include "sentinel/simulate/night.h"
#include "sentinel/simulate/night_naive.h"

enum { BOOTS = 20000, ITERATIONS = 5 };

static void simulate(enum night_world world, double layout_share, size_t layouts, size_t nights,
		     struct simulate_night_result *result)
{
	struct simulate_night_options options;
	simulate_night_defaults(world, &options);
	options.layout_share = layout_share;
	options.plan.layouts = layouts;
	options.series = 48; /* a third: two of each noise */
	options.nights = nights;
	options.seed = 11;
	simulate_night(&options, result);
}

static void test_the_noise_is_that_of_the_table(void **state)
{
	(void)state;
	double least = 1;
	double greatest = 0;
	for (size_t i = 0; i < NIGHT_WORLD_SERIES; i++) {
		double noise = night_world_noise(NIGHT_WORLD_PLAIN, i);
		least = fmin(least, noise);
		greatest = fmax(greatest, noise);
	}
	assert_close(least, 0.0033, 1e-12);
	assert_close(greatest, 0.3016, 1e-12);
	assert_close(night_world_noise(NIGHT_WORLD_PLAIN, 24), 0.01, 1e-12);
	assert_close(night_world_noise(NIGHT_WORLD_HEAVY, 24), 0.3, 1e-12);
}

/* What BOOTS boots of 1 % noise scatter, each by its median iteration. */
static double boot_scatter(enum night_world world)
{
	struct night_series series;
	double *values = calloc(BOOTS, sizeof(*values));
	random_seed(3);
	night_series_init(world, 0.01, 0, &series);
	for (size_t i = 0; i < BOOTS; i++) {
		double badness[ITERATIONS];
		night_series_boot(&series, 0, ITERATIONS, badness);
		values[i] = stats_median(badness, ITERATIONS);
	}
	double deviation = stats_deviation(values, BOOTS);
	free(values);
	return deviation;
}

static void test_boots_scatter_as_said(void **state)
{
	(void)state;
	/* The variance of the median of five normal values is 0.2868 of theirs. */
	double boot = sqrt(0.5 + 0.2868 * 0.5) * 0.01;
	assert_close(boot_scatter(NIGHT_WORLD_PLAIN), boot, 0.03 * boot);
	assert_close(boot_scatter(NIGHT_WORLD_BIMODAL), hypot(boot, 0.015), 0.0005);
}

static void test_nights_have_what_they_share_from_the_night_before(void **state)
{
	(void)state;
	struct night_series series;
	double product = 0;
	double square = 0;
	random_seed(5);
	night_series_init(NIGHT_WORLD_AUTOCORRELATED, 0.02, 0, &series);
	for (size_t i = 0; i < BOOTS; i++) {
		double before = series.shared;
		night_series_advance(&series);
		product += before * series.shared;
		square += series.shared * series.shared;
	}
	assert_close(sqrt(square / BOOTS), 0.02 * M_SQRT1_2, 0.0005);
	assert_close(product / square, 0.5, 0.02);
}

static void test_quantised_values_are_whole_milliseconds(void **state)
{
	(void)state;
	struct night_series series;
	random_seed(7);
	night_series_init(NIGHT_WORLD_QUANTISED, 0.3, 0, &series);
	for (size_t i = 0; i < 1000; i++) {
		double badness;
		night_series_boot(&series, 0, 1, &badness);
		double milliseconds = 100 * exp(badness);
		assert_close(milliseconds, round(milliseconds), 1e-6 * milliseconds);
		assert_true(milliseconds > 0.5);
	}
}

static void test_the_two_stages_keep_quiet_where_naive_rules_do_not(void **state)
{
	(void)state;
	struct simulate_night_result result;
	simulate(NIGHT_WORLD_PLAIN, 0.2, 2, 200, &result);
	assert_true(result.rates[SIMULATE_NIGHT_WELCH_05].per_1000_nights > 3000);
	assert_true(result.rates[SIMULATE_NIGHT_TWO_DEVIATIONS].per_1000_nights > 300);
	/* 1 % of 48 series, less those whose step is below the minimum effect. */
	assert_true(result.rates[SIMULATE_NIGHT_STAGE1].per_1000_nights > 150);
	assert_true(result.rates[SIMULATE_NIGHT_STAGE1].per_1000_nights < 700);
	assert_true(result.retests_a_night > 0.3 && result.retests_a_night < 1.4);
	assert_true(result.rates[SIMULATE_NIGHT_TWO_STAGE].per_1000_nights <= 10);
	assert_true(result.rates[SIMULATE_NIGHT_IMPROVEMENT].per_1000_nights <= 10);
}

static void test_a_retest_of_the_same_build_confirms_its_layout(void **state)
{
	(void)state;
	struct simulate_night_result one;
	struct simulate_night_result two;
	simulate(NIGHT_WORLD_PLAIN, 1, 1, 200, &one);
	simulate(NIGHT_WORLD_PLAIN, 1, 2, 200, &two);
	assert_true(two.rates[SIMULATE_NIGHT_TWO_STAGE].per_1000_nights <= 20);
	assert_true(one.rates[SIMULATE_NIGHT_TWO_STAGE].per_1000_nights >
		    2 * two.rates[SIMULATE_NIGHT_TWO_STAGE].per_1000_nights);
}

static void test_nothing_is_flagged_where_every_value_is_the_same(void **state)
{
	(void)state;
	struct simulate_night_result result;
	simulate(NIGHT_WORLD_ZERO, 0.2, 2, 50, &result);
	for (size_t rule = 0; rule < SIMULATE_NIGHT_RULES; rule++)
		assert_close(result.rates[rule].per_1000_nights, 0, 0);
}

static void test_a_seed_repeats_its_nights(void **state)
{
	(void)state;
	struct simulate_night_result first;
	struct simulate_night_result again;
	simulate(NIGHT_WORLD_SPARSE, 0.2, 2, 50, &first);
	simulate(NIGHT_WORLD_SPARSE, 0.2, 2, 50, &again);
	assert_memory_equal(first.rates, again.rates, sizeof(first.rates));
}

static void test_worlds_are_found_by_their_names(void **state)
{
	(void)state;
	for (size_t world = 0; world < NIGHT_WORLD_COUNT; world++)
		assert_int_equal(night_world_find(night_world_name(world)), world);
	assert_int_equal(night_world_find("venus"), NIGHT_WORLD_COUNT);
	for (size_t rule = 0; rule < SIMULATE_NIGHT_RULES; rule++)
		assert_non_null(simulate_night_rule_name(rule));
}

static void test_welch_agrees_with_a_calculation_by_hand(void **state)
{
	(void)state;
	const double last[] = {1, 2, 3, 4};
	const double tonight[] = {3, 5, 7, 9};
	/* t = 3.5 / sqrt(25/12), 4.4118 degrees; the tail by Simpson's rule. */
	assert_close(naive_welch_p(last, tonight, 4), 0.033229292, 1e-8);
	assert_true(naive_deviations(last, tonight, 4, 2));
	assert_false(naive_deviations(last, tonight, 4, 3));
	assert_close(naive_welch_p(last, last, 4), 0.5, 1e-12);
	const double same[] = {2, 2};
	const double slower[] = {3, 3};
	assert_close(naive_welch_p(same, same, 2), 1, 0);
	assert_close(naive_welch_p(same, slower, 2), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_noise_is_that_of_the_table),
		cmocka_unit_test(test_boots_scatter_as_said),
		cmocka_unit_test(test_nights_have_what_they_share_from_the_night_before),
		cmocka_unit_test(test_quantised_values_are_whole_milliseconds),
		cmocka_unit_test(test_the_two_stages_keep_quiet_where_naive_rules_do_not),
		cmocka_unit_test(test_a_retest_of_the_same_build_confirms_its_layout),
		cmocka_unit_test(test_nothing_is_flagged_where_every_value_is_the_same),
		cmocka_unit_test(test_a_seed_repeats_its_nights),
		cmocka_unit_test(test_worlds_are_found_by_their_names),
		cmocka_unit_test(test_welch_agrees_with_a_calculation_by_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
