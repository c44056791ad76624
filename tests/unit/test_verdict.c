/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/robust.h"
#include "bench/verdict.h"
#include "sentinel/base/cleanup.h"

static const struct verdict_rule nightly_rule = {.alpha = 0.01, .minimum_effect_percent = 1};
static const struct verdict_rule retest_rule = {.alpha = 0.001, .minimum_effect_percent = 1};

/* Boot values of a hackbench series, ln(seconds). */
static const double baseline[] = {-1.310, -1.302, -1.306, -1.298, -1.304};
static const double slower[] = {-1.250, -1.244, -1.256};
static const double faster[] = {-1.350, -1.344, -1.356};
static const double alike[] = {-1.303, -1.300, -1.309};
static const double pairs_baseline[] = {-1.304, -1.300, -1.308, -1.303};
static const double pairs_slower[] = {-1.251, -1.247, -1.252, -1.256};

static struct verdict stage1(const double *boots, size_t count)
{
	struct verdict verdict;
	verdict_stage1(baseline, array_length(baseline), boots, count, &nightly_rule, &verdict);
	return verdict;
}

static void test_a_clear_step_is_flagged_with_its_numbers(void **state)
{
	(void)state;
	struct verdict verdict = stage1(slower, 3);
	assert_int_equal(verdict.state, VERDICT_FLAGGED);
	assert_close(verdict.change, 0.054, 1e-9);
	assert_close(verdict.change_percent, 5.548460216, 1e-7);
	assert_close(verdict.deviation, 0.005033222957, 1e-11);
	assert_close(verdict.degrees, 6, 0);
	assert_close(verdict.threshold, 0.011551651862, 1e-10);
	assert_close(verdict.p_value, 3.12401316e-6, 1e-12);
	assert_int_equal(verdict.baseline_boots, 5);
	assert_int_equal(verdict.boots, 3);
}

static void test_a_step_down_is_flagged_too(void **state)
{
	(void)state;
	struct verdict verdict = stage1(faster, 3);
	assert_int_equal(verdict.state, VERDICT_FLAGGED);
	assert_true(verdict.change < 0 && verdict.change_percent < 0);
	assert_true(verdict.p_value < 0.001);
}

static void test_noise_is_unchanged(void **state)
{
	(void)state;
	struct verdict verdict = stage1(alike, 3);
	assert_int_equal(verdict.state, VERDICT_UNCHANGED);
	assert_true(verdict.p_value > 0.1 && verdict.p_value <= 0.5);
}

static void test_a_sure_but_tiny_step_does_not_count(void **state)
{
	static const double before[] = {1.00000, 1.00001, 0.99999};
	static const double after[] = {1.00900, 1.00901, 1.00899};
	struct verdict_rule rule = nightly_rule;
	struct verdict verdict;
	(void)state;
	verdict_stage1(before, 3, after, 3, &rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_UNCHANGED);
	assert_close(verdict.threshold, log(1.01), 1e-12);
	assert_true(verdict.p_value < 1e-6);
	rule.minimum_effect_percent = 0.5;
	verdict_stage1(before, 3, after, 3, &rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_FLAGGED);
}

static void test_one_boot_a_side_says_nothing(void **state)
{
	struct verdict verdict;
	(void)state;
	verdict_stage1(baseline, 1, slower, 1, &nightly_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NO_DATA);
	assert_close(verdict.p_value, 1, 0);
	verdict_stage1(baseline, 5, slower, 0, &nightly_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NO_DATA);
	verdict_stage1(NULL, 0, slower, 3, &nightly_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NO_DATA);
	assert_int_equal(verdict.boots, 3);
}

static void test_one_degree_of_freedom_asks_for_32_standard_errors(void **state)
{
	struct verdict verdict;
	(void)state;
	verdict_stage1(baseline, 2, slower, 1, &nightly_rule, &verdict);
	assert_close(verdict.degrees, 1, 0);
	assert_close(verdict.threshold / (verdict.deviation * sqrt(1.5)), 31.820515954, 1e-6);
	assert_int_equal(verdict.state, VERDICT_UNCHANGED);
}

static void test_the_printed_resolution_bounds_the_deviation_from_below(void **state)
{
	static const double before[] = {0, 0, 0};
	static const double after[] = {0.02, 0.02, 0.02};
	struct verdict_rule rule = nightly_rule;
	struct verdict verdict;
	(void)state;
	verdict_stage1(before, 3, after, 3, &rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_FLAGGED);
	assert_close(verdict.p_value, 0, 0);
	rule.deviation_floor = 0.02;
	verdict_stage1(before, 3, after, 3, &rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_UNCHANGED);
	assert_close(verdict.deviation, 0.02, 0);
}

static void test_a_repeated_step_is_a_regression_with_its_numbers(void **state)
{
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	struct verdict verdict;
	verdict_stage2(pairs_baseline, pairs_slower, 4, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_REGRESSION);
	assert_close(verdict.change, 0.05225, 1e-9);
	assert_close(verdict.deviation, 0.004337337893, 1e-11);
	assert_close(verdict.degrees, 12, 0);
	assert_close(verdict.threshold, 0.012052032111, 1e-9);
	assert_close(verdict.p_value, 4.4955981e-10, 1e-15);
	assert_int_equal(verdict.baseline_boots, 4);
	assert_int_equal(verdict.boots, 4);
}

static void test_a_repeated_step_down_is_an_improvement(void **state)
{
	(void)state;
	struct verdict flagged = stage1(faster, 3);
	struct verdict verdict;
	verdict_stage2(pairs_slower, pairs_baseline, 4, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_IMPROVEMENT);
	assert_true(verdict.p_value < 0.001);
}

static void test_the_opposite_direction_confirms_nothing(void **state)
{
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	struct verdict verdict;
	verdict_stage2(pairs_slower, pairs_baseline, 4, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NOT_REPEATED);
	assert_true(verdict.p_value > 0.999);
}

static void test_a_step_that_vanishes_is_not_repeated(void **state)
{
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	struct verdict verdict;
	verdict_stage2(pairs_baseline, baseline, 4, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NOT_REPEATED);
}

static void test_half_the_minimum_effect_confirms(void **state)
{
	static const double zeros[] = {0, 0, 0, 0};
	static const double enough[] = {0.0051, 0.0051, 0.0051, 0.0051};
	static const double too_little[] = {0.0049, 0.0049, 0.0049, 0.0049};
	struct verdict flagged = {.state = VERDICT_FLAGGED, .change = 0.02, .degrees = 4};
	struct verdict verdict;
	(void)state;
	verdict_stage2(zeros, enough, 4, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_REGRESSION);
	verdict_stage2(zeros, too_little, 4, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NOT_REPEATED);
}

static void test_a_retest_without_boots_has_no_data(void **state)
{
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	struct verdict verdict;
	verdict_stage2(NULL, NULL, 0, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NO_DATA);
}

static void test_one_lucky_pair_does_not_make_a_regression(void **state)
{
	static const double zeros[] = {0, 0, 0, 0, 0, 0};
	static const double one_slow[] = {0.001, -0.002, 0.5, 0.002, -0.001, 0};
	struct verdict verdict;
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	verdict_stage2(zeros, one_slow, 6, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_NOT_REPEATED);
}

static void test_one_wild_pair_does_not_hide_a_regression(void **state)
{
	static const double zeros[] = {0, 0, 0, 0, 0, 0};
	static const double one_wild[] = {0.030, 0.030, 0.031, 0.029, 0.030, -0.050};
	struct verdict flagged = {
		.state = VERDICT_FLAGGED, .change = 0.03, .deviation = 0.005, .degrees = 40};
	struct verdict verdict;
	(void)state;
	verdict_stage2(zeros, one_wild, 6, &flagged, &retest_rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_REGRESSION);
	assert_close(verdict.deviation, 0.0112564056, 1e-9);
	assert_close(verdict.change, 0.0252243116, 1e-9);
}

static void test_a_boot_value_resists_one_slow_iteration(void **state)
{
	static const double seconds[] = {0.271, 0.274, 0.269, 0.272, 0.310};
	double badness[5];
	(void)state;
	for (size_t i = 0; i < 5; i++)
		badness[i] = stats_badness(seconds[i], false);
	assert_close(verdict_boot_value(badness, 5), -1.299742090551, 1e-9);
	badness[4] = stats_badness(31, false);
	assert_close(verdict_boot_value(badness, 5), -1.299742090551, 1e-9);
	assert_close(verdict_boot_value(badness, 1), badness[0], 0);
	assert_close(verdict_boot_value(badness, 2), (badness[0] + badness[1]) / 2, 1e-15);
}

static void test_every_state_has_a_name(void **state)
{
	(void)state;
	for (int i = VERDICT_UNCHANGED; i <= VERDICT_NO_DATA; i++)
		assert_true(strlen(verdict_state_name((enum verdict_state)i)) > 0);
	assert_string_equal(verdict_state_name(VERDICT_REGRESSION), "regression");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_clear_step_is_flagged_with_its_numbers),
		cmocka_unit_test(test_a_step_down_is_flagged_too),
		cmocka_unit_test(test_noise_is_unchanged),
		cmocka_unit_test(test_a_sure_but_tiny_step_does_not_count),
		cmocka_unit_test(test_one_boot_a_side_says_nothing),
		cmocka_unit_test(test_one_degree_of_freedom_asks_for_32_standard_errors),
		cmocka_unit_test(test_the_printed_resolution_bounds_the_deviation_from_below),
		cmocka_unit_test(test_a_repeated_step_is_a_regression_with_its_numbers),
		cmocka_unit_test(test_a_repeated_step_down_is_an_improvement),
		cmocka_unit_test(test_the_opposite_direction_confirms_nothing),
		cmocka_unit_test(test_a_step_that_vanishes_is_not_repeated),
		cmocka_unit_test(test_half_the_minimum_effect_confirms),
		cmocka_unit_test(test_a_retest_without_boots_has_no_data),
		cmocka_unit_test(test_one_lucky_pair_does_not_make_a_regression),
		cmocka_unit_test(test_one_wild_pair_does_not_hide_a_regression),
		cmocka_unit_test(test_a_boot_value_resists_one_slow_iteration),
		cmocka_unit_test(test_every_state_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
