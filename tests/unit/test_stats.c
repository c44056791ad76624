/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/cleanup.h"

/* Copper in wholemeal flour, 24 determinations (Analytical Methods Committee 1989; R: MASS). */
static const double copper[] = {2.90,  3.10, 3.40, 3.40, 3.70, 3.70, 2.80, 2.50,
				2.40,  2.40, 2.70, 2.20, 5.28, 3.37, 3.03, 3.03,
				28.95, 3.77, 3.40, 2.20, 3.50, 3.60, 3.70, 3.70};
static const double times[] = {0.271, 0.274, 0.269, 0.272, 0.310};

static void test_t_quantiles_are_those_of_the_tables(void **state)
{
	static const struct {
		double alpha;
		double degrees;
		double quantile;
	} table[] = {
		{0.01, 1, 31.820515954}, {0.05, 2, 2.919985580},   {0.01, 3, 4.540702859},
		{0.01, 5, 3.364929999},  {0.01, 8, 2.896459448},   {0.025, 10, 2.228138852},
		{0.01, 19, 2.539483191}, {0.001, 40, 3.306877714},
	};
	(void)state;
	for (size_t i = 0; i < array_length(table); i++)
		assert_close(distribution_t_quantile_upper(table[i].alpha, table[i].degrees),
			     table[i].quantile, 1e-6);
}

static void test_t_tails_have_their_closed_forms(void **state)
{
	(void)state;
	for (double t = -40; t <= 40; t += 0.25) {
		assert_close(distribution_t_upper(t, 1), 0.5 - atan(t) / M_PI, 1e-12);
		assert_close(distribution_t_upper(t, 2), 0.5 - t / (2 * sqrt(2 + t * t)), 1e-12);
	}
	assert_close(distribution_t_upper(2.5, 7), 0.020496109293, 1e-10);
	assert_close(distribution_t_upper(INFINITY, 4), 0, 0);
}

static void test_quantile_and_tail_are_inverse(void **state)
{
	(void)state;
	for (double degrees = 1; degrees < 200; degrees *= 1.7)
		for (double alpha = 0.3; alpha > 1e-6; alpha /= 3) {
			double quantile = distribution_t_quantile_upper(alpha, degrees);
			assert_close(distribution_t_upper(quantile, degrees) / alpha, 1, 1e-8);
		}
}

static void test_simple_statistics_of_a_series(void **state)
{
	static const double even[] = {4, 1, 3, 2};
	(void)state;
	assert_close(stats_mean(times, 5), 0.2792, 1e-12);
	assert_close(stats_deviation(times, 5), 0.0173118456555, 1e-12);
	assert_close(stats_median(times, 5), 0.272, 1e-12);
	assert_close(stats_median(even, 4), 2.5, 1e-12);
	assert_close(stats_median_deviation(times, 5), 0.0029652, 1e-12);
	assert_close(stats_deviation(times, 1), 0, 0);
	assert_close(stats_median(times, 1), 0.271, 0);
}

static void test_huber_agrees_with_r_on_the_copper_data(void **state)
{
	(void)state;
	double scale = stats_median_deviation(copper, array_length(copper));
	assert_close(scale, 0.526323, 1e-9);
	assert_close(stats_huber(copper, array_length(copper), scale), 3.206723944, 1e-8);
}

static void test_huber_does_not_follow_an_outlier(void **state)
{
	(void)state;
	double near[] = {1.00, 1.01, 0.99, 1.02, 1.10};
	double far[] = {1.00, 1.01, 0.99, 1.02, 1000};
	assert_close(stats_huber(far, 5, 0.01), stats_huber(near, 5, 0.01), 1e-9);
	assert_true(stats_mean(far, 5) > 200);
	assert_close(stats_huber(times, 5, 0.002), 0.272333333333, 1e-11);
}

static void test_huber_of_calm_data_is_the_mean(void **state)
{
	(void)state;
	assert_close(stats_huber(times, 4, 0.01), stats_mean(times, 4), 1e-12);
}

static void test_huber_falls_back_to_mean_and_median(void **state)
{
	static const double values[] = {1, 5, 100};
	(void)state;
	assert_close(stats_huber(values, 1, 0.1), 1, 0);
	assert_close(stats_huber(values, 2, 0.1), 3, 0);
	assert_close(stats_huber(values, 3, 0), 5, 0);
}

static void test_pooled_groups_share_one_deviation_about_their_own_means(void **state)
{
	static const double low[] = {1, 2, 4};
	static const double high[] = {10, 11};
	struct pooled pooled = {0};
	(void)state;
	assert_close(pooled_deviation(&pooled), 0, 0);
	pooled_add(&pooled, low, 3);
	pooled_add(&pooled, high, 2);
	assert_int_equal(pooled.degrees, 3);
	assert_close(pooled_deviation(&pooled), 1.31233464566864, 1e-12);
	pooled_add(&pooled, high, 1);
	pooled_add(&pooled, high, 0);
	assert_int_equal(pooled.degrees, 3);
}

static void test_more_badness_is_always_worse(void **state)
{
	(void)state;
	assert_close(stats_percent(stats_badness(1.1, false) - stats_badness(1.0, false)), 10,
		     1e-9);
	assert_close(stats_percent(stats_badness(90, true) - stats_badness(100, true)), 100.0 / 9,
		     1e-9);
	assert_close(stats_percent(0), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_t_quantiles_are_those_of_the_tables),
		cmocka_unit_test(test_t_tails_have_their_closed_forms),
		cmocka_unit_test(test_quantile_and_tail_are_inverse),
		cmocka_unit_test(test_simple_statistics_of_a_series),
		cmocka_unit_test(test_huber_agrees_with_r_on_the_copper_data),
		cmocka_unit_test(test_huber_does_not_follow_an_outlier),
		cmocka_unit_test(test_huber_of_calm_data_is_the_mean),
		cmocka_unit_test(test_huber_falls_back_to_mean_and_median),
		cmocka_unit_test(test_pooled_groups_share_one_deviation_about_their_own_means),
		cmocka_unit_test(test_more_badness_is_always_worse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
