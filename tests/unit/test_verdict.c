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

/* Builds are known to lie alike. */
static const struct verdict_noise quiet_layout = {.layout_degrees = 20};

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

enum { PAIRS_LIMIT = 16 };

/* Fresh pairs, over LAYOUTS builds of each kernel in turn. */
static struct verdict retest(const double *before, const double *after, size_t count,
			     size_t layouts, double flagged_change,
			     const struct verdict_noise *noise)
{
	struct verdict_pair pairs[PAIRS_LIMIT] = {{0}};
	struct verdict verdict;
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct verdict_pair){before[i], after[i], i % layouts};
	verdict_stage2(pairs, count, flagged_change, noise, &retest_rule, &verdict);
	return verdict;
}

static struct verdict retest_alike(const double *before, const double *after, size_t count,
				   const struct verdict *flagged)
{
	struct verdict_noise noise = quiet_layout;
	noise.deviation = flagged->deviation;
	noise.degrees = flagged->degrees;
	return retest(before, after, count, 1, flagged->change, &noise);
}

static void test_a_repeated_step_is_a_regression_with_its_numbers(void **state)
{
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	struct verdict verdict = retest_alike(pairs_baseline, pairs_slower, 4, &flagged);
	/* Differences 53, 53, 56, 47 (e-3): their squares about the mean, halved, beside 6 degrees.
	 */
	double deviation = sqrt((6 * flagged.deviation * flagged.deviation + 4.275e-5 / 2) / 9);
	assert_int_equal(verdict.state, VERDICT_REGRESSION);
	assert_int_equal(verdict.basis, VERDICT_BY_PAIRS);
	assert_close(verdict.change, 0.05225, 1e-9);
	assert_close(verdict.deviation, deviation, 1e-12);
	assert_close(verdict.degrees, 9, 0);
	assert_close(verdict.threshold / (deviation * sqrt(2.0 / 4)), 4.296806, 1e-5);
	assert_true(verdict.p_value < 1e-7);
	assert_int_equal(verdict.boots, 4);
}

static void test_a_repeated_step_down_is_an_improvement(void **state)
{
	(void)state;
	struct verdict flagged = stage1(faster, 3);
	struct verdict verdict = retest_alike(pairs_slower, pairs_baseline, 4, &flagged);
	assert_int_equal(verdict.state, VERDICT_IMPROVEMENT);
	assert_true(verdict.p_value < 0.001);
}

static void test_the_opposite_direction_confirms_nothing(void **state)
{
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	struct verdict verdict = retest_alike(pairs_slower, pairs_baseline, 4, &flagged);
	assert_int_equal(verdict.state, VERDICT_NOT_REPEATED);
	assert_true(verdict.p_value > 0.999);
}

static void test_a_step_that_vanishes_is_not_repeated(void **state)
{
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	struct verdict verdict = retest_alike(pairs_baseline, baseline, 4, &flagged);
	assert_int_equal(verdict.state, VERDICT_NOT_REPEATED);
}

static void test_half_the_minimum_effect_confirms(void **state)
{
	static const double zeros[] = {0, 0, 0, 0};
	static const double enough[] = {0.0051, 0.0051, 0.0051, 0.0051};
	static const double too_little[] = {0.0049, 0.0049, 0.0049, 0.0049};
	(void)state;
	assert_int_equal(retest(zeros, enough, 4, 1, 0.02, &quiet_layout).state,
			 VERDICT_REGRESSION);
	assert_int_equal(retest(zeros, too_little, 4, 1, 0.02, &quiet_layout).state,
			 VERDICT_NOT_REPEATED);
}

static void test_a_retest_without_boots_has_no_data(void **state)
{
	(void)state;
	assert_int_equal(retest(NULL, NULL, 0, 1, 0.05, &quiet_layout).state, VERDICT_NO_DATA);
}

static void test_one_lucky_pair_does_not_make_a_regression(void **state)
{
	static const double zeros[] = {0, 0, 0, 0, 0, 0};
	static const double one_slow[] = {0.001, -0.002, 0.5, 0.002, -0.001, 0};
	(void)state;
	struct verdict flagged = stage1(slower, 3);
	assert_int_equal(retest_alike(zeros, one_slow, 6, &flagged).state, VERDICT_NOT_REPEATED);
}

static void test_one_wild_pair_does_not_hide_a_regression(void **state)
{
	static const double zeros[] = {0, 0, 0, 0, 0, 0};
	static const double one_wild[] = {0.030, 0.030, 0.031, 0.029, 0.030, -0.050};
	struct verdict flagged = {
		.state = VERDICT_FLAGGED, .change = 0.03, .deviation = 0.005, .degrees = 40};
	(void)state;
	struct verdict verdict = retest_alike(zeros, one_wild, 6, &flagged);
	assert_int_equal(verdict.state, VERDICT_REGRESSION);
	assert_true(verdict.change > 0.025 && verdict.change < 0.03);
}

/* Six pairs agree to 0.1 %, but all are of the same two builds, which may differ by 1 % each. */
static void test_what_one_build_says_is_no_more_sure_than_its_layout(void **state)
{
	static const double zeros[] = {0, 0, 0, 0, 0, 0};
	static const double up[] = {0.020, 0.021, 0.020, 0.019, 0.020, 0.020};
	struct verdict_noise noise = {.deviation = 0.001, .degrees = 40};
	(void)state;
	noise.layout_degrees = 20;
	noise.layout_deviation = 0.01;
	assert_int_equal(retest(zeros, up, 6, 1, 0.02, &noise).state, VERDICT_NOT_REPEATED);
	noise.layout_deviation = 0.001;
	assert_int_equal(retest(zeros, up, 6, 1, 0.02, &noise).state, VERDICT_REGRESSION);
	/* Nothing known: half the minimum effect of 1 % is assumed. */
	noise.layout_degrees = 0;
	assert_int_equal(retest(zeros, up, 6, 1, 0.02, &noise).state, VERDICT_NOT_REPEATED);
	assert_int_equal(retest(zeros, up, 6, 3, 0.02, &noise).state, VERDICT_REGRESSION);
}

/* What history calls quiet is not believed when the retest's own builds disagree. */
static void test_layouts_that_disagree_widen_the_threshold(void **state)
{
	static const double zeros[] = {0, 0, 0, 0, 0, 0};
	static const double apart[] = {0.040, 0.002, 0.041, 0.001, 0.039, 0.003};
	struct verdict_noise noise = quiet_layout;
	(void)state;
	noise.deviation = 0.001;
	noise.degrees = 40;
	assert_int_equal(retest(zeros, apart, 6, 2, 0.02, &noise).state, VERDICT_NOT_REPEATED);
}

/* On a machine that counts instructions boots repeat exactly, but builds still differ. */
static void test_boots_that_repeat_exactly_are_no_more_sure_than_their_builds(void **state)
{
	static const double zeros[] = {0, 0, 0, 0};
	static const double up[] = {0.006, 0.006, 0.006, 0.006};
	struct verdict_noise noise = {
		.degrees = 40, .layout_degrees = 20, .layout_deviation = 0.05};
	(void)state;
	struct verdict verdict = retest(zeros, up, 4, 2, 0.02, &noise);
	assert_int_equal(verdict.state, VERDICT_NOT_REPEATED);
	/* The error is that of two builds of each kernel: sqrt(2 x 0.05^2 / 2); 42 degrees. */
	assert_close(verdict.threshold / 0.05, 3.295951, 1e-5);
	noise.layout_deviation = 0;
	assert_int_equal(retest(zeros, up, 4, 2, 0.02, &noise).state, VERDICT_REGRESSION);
	noise.layout_degrees = 0;
	assert_int_equal(retest(zeros, up, 4, 2, 0.02, &noise).state, VERDICT_NOT_REPEATED);
}

/*
 * Two layouts' differences lie about 10 and 30 e-3, 1 e-3 from boot to boot. Between them: squares
 * 600 (e-6), of which the boots explain 2 s^2 = 2; of 3 expected su^2 twice.
 */
static void test_the_retest_s_own_layouts_give_the_threshold_when_history_knows_less(void **state)
{
	static const double zeros[] = {0, 0, 0, 0, 0, 0};
	static const double apart[] = {0.009, 0.029, 0.010, 0.030, 0.011, 0.031};
	struct verdict_noise noise = {.deviation = 0.001, .degrees = 4};
	(void)state;
	struct verdict verdict = retest(zeros, apart, 6, 2, 0.02, &noise);
	/* Each layout's squares are 2e-6; halved and pooled with history's 4e-6. */
	double boot = (4e-6 + 2 * 2e-6 / 2) / (4 + 4);
	double layout = (600e-6 - 2 * boot) / 3 / 2;
	assert_close(verdict.degrees, 8, 0);
	assert_close(verdict.threshold / sqrt(2 * (boot / 6 + layout / 2)), 4.500791, 1e-5);
}

static void test_history_counts_as_forty_degrees_at_most(void **state)
{
	static const double zeros[] = {0, 0, 0};
	static const double up[] = {0.02, 0.02, 0.02};
	struct verdict_noise noise = {.deviation = 0.01, .degrees = 1000, .layout_degrees = 20};
	(void)state;
	struct verdict verdict = retest(zeros, up, 3, 1, 0.02, &noise);
	assert_close(verdict.degrees, 42, 0);
	assert_close(verdict.deviation, 0.01 * sqrt(40.0 / 42), 1e-12);
}

/* Twenty nights about 5: location 5, deviation known. */
static const double nights[] = {5.01, 4.99, 5.00, 5.02, 4.98, 5.01, 4.99, 5.00, 5.02, 4.98,
				5.01, 4.99, 5.00, 5.02, 4.98, 5.01, 4.99, 5.00, 5.02, 4.98};

static struct verdict by_nights(size_t count, double tonight)
{
	struct verdict verdict;
	verdict_stage1_nights(nights, count, tonight, 3, &nightly_rule, &verdict);
	return verdict;
}

static void test_the_rolling_baseline_flags_beyond_its_own_scatter(void **state)
{
	(void)state;
	struct verdict verdict = by_nights(20, 5.05);
	/* The sum of squares is 4 x 10e-4, over 19 degrees, and 6 % for the clipping. */
	double deviation = 1.06 * sqrt(4 * 10e-4 / 19);
	assert_int_equal(verdict.state, VERDICT_FLAGGED);
	assert_int_equal(verdict.basis, VERDICT_BY_NIGHTS);
	assert_close(verdict.deviation, deviation, 1e-9);
	assert_close(verdict.threshold / (deviation * sqrt(1 + 1.0 / 20)), 2.539483, 1e-5);
	assert_close(verdict.change, 0.05, 1e-9);
	assert_int_equal(verdict.baseline_boots, 20);
	assert_int_equal(by_nights(20, 5.03).state, VERDICT_UNCHANGED);
	assert_int_equal(by_nights(20, 4.95).state, VERDICT_FLAGGED);
}

static void test_seven_nights_are_too_young_a_baseline(void **state)
{
	(void)state;
	assert_int_equal(by_nights(7, 9).state, VERDICT_NO_DATA);
	assert_int_equal(by_nights(8, 9).state, VERDICT_FLAGGED);
}

static void test_one_wild_night_hardly_widens_the_window(void **state)
{
	double wild[20];
	struct verdict_window window;
	(void)state;
	memcpy(wild, nights, sizeof(wild));
	wild[7] = 9;
	verdict_window(wild, 20, 1e-6, &window);
	assert_close(window.location, 5, 0.01);
	assert_true(window.deviation < 0.025);
}

static void test_nights_that_repeat_exactly_have_the_resolution_as_noise(void **state)
{
	static const double same[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct verdict_rule rule = {
		.alpha = 0.01, .minimum_effect_percent = 1, .deviation_floor = 0.001};
	struct verdict verdict;
	(void)state;
	verdict_stage1_nights(same, 10, 1.0, 3, &rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_UNCHANGED);
	verdict_stage1_nights(same, 10, 1.02, 3, &rule, &verdict);
	assert_int_equal(verdict.state, VERDICT_FLAGGED);
	assert_close(verdict.deviation, 0.001 / sqrt(3), 1e-12);
}

static void test_the_wanted_rate_of_alarms_gives_the_alpha(void **state)
{
	(void)state;
	assert_close(verdict_stage2_alpha(0.05, 144, 0.01), 0.05 / (30 * 144 * 0.01), 1e-12);
	assert_close(verdict_stage2_alpha(5, 4, 0.01), 0.01, 0);
	assert_close(verdict_stage2_alpha(1e-9, 144, 0.01), 1e-6, 0);
}

/* The example of Benjamini and Hochberg's paper (1995, section 3.2): four are rejected at 0.05. */
static void test_q_values_are_those_of_the_paper(void **state)
{
	static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
				   0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
	double q[array_length(p)];
	size_t rejected = 0;
	(void)state;
	verdict_q_values(p, array_length(p), q);
	for (size_t i = 0; i < array_length(p); i++)
		rejected += q[i] <= 0.05;
	assert_int_equal(rejected, 4);
	assert_close(q[0], 0.0015, 1e-12);
	assert_close(q[3], 0.0095 * 15 / 4, 1e-12);
}

static void test_a_boot_value_resists_one_slow_iteration(void **state)
{
	static const double seconds[] = {0.271, 0.274, 0.269, 0.272, 0.310};
	double badness[5];
	(void)state;
	for (size_t i = 0; i < 5; i++)
		badness[i] = stats_badness(seconds[i], false);
	assert_close(verdict_boot_value(badness, 5, 0), -1.299742090551, 1e-9);
	badness[4] = stats_badness(31, false);
	assert_close(verdict_boot_value(badness, 5, 0), -1.299742090551, 1e-9);
	/* With a known deviation: the mean of four and one at the limit. */
	assert_close(verdict_boot_value(badness, 5, 0.01),
		     (badness[0] + badness[1] + badness[2] + badness[3] + 0.015) / 4, 1e-9);
	assert_close(verdict_boot_value(badness, 1, 0), badness[0], 0);
	assert_close(verdict_boot_value(badness, 2, 0), (badness[0] + badness[1]) / 2, 1e-15);
}

static void test_every_state_has_a_name(void **state)
{
	(void)state;
	for (int i = VERDICT_UNCHANGED; i <= VERDICT_KNOWN; i++)
		assert_true(strlen(verdict_state_name((enum verdict_state)i)) > 0);
	assert_string_equal(verdict_state_name(VERDICT_REGRESSION), "regression");
	for (int i = VERDICT_BY_BOOTS; i <= VERDICT_BY_PAIRS; i++)
		assert_true(strlen(verdict_basis_name((enum verdict_basis)i)) > 0);
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
		cmocka_unit_test(test_what_one_build_says_is_no_more_sure_than_its_layout),
		cmocka_unit_test(test_layouts_that_disagree_widen_the_threshold),
		cmocka_unit_test(test_boots_that_repeat_exactly_are_no_more_sure_than_their_builds),
		cmocka_unit_test(
			test_the_retest_s_own_layouts_give_the_threshold_when_history_knows_less),
		cmocka_unit_test(test_history_counts_as_forty_degrees_at_most),
		cmocka_unit_test(test_the_rolling_baseline_flags_beyond_its_own_scatter),
		cmocka_unit_test(test_seven_nights_are_too_young_a_baseline),
		cmocka_unit_test(test_one_wild_night_hardly_widens_the_window),
		cmocka_unit_test(test_nights_that_repeat_exactly_have_the_resolution_as_noise),
		cmocka_unit_test(test_the_wanted_rate_of_alarms_gives_the_alpha),
		cmocka_unit_test(test_q_values_are_those_of_the_paper),
		cmocka_unit_test(test_a_boot_value_resists_one_slow_iteration),
		cmocka_unit_test(test_every_state_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
