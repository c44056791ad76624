/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bisect/pair_test.h"

static struct pair_test fresh(double step, double deviation)
{
	return (struct pair_test){.step = step,
				  .deviation = deviation,
				  .accept_odds = 99,
				  .reject_odds = 19,
				  .minimum_pairs = 2};
}

static void test_a_pair_adds_the_log_likelihood_ratio_of_its_difference(void **state)
{
	(void)state;
	struct pair_test test = fresh(0.6, 1);
	/* ln N(1; 0.6, 2) - ln N(1; 0, 2) = (1^2 - 0.4^2) / (2 * 2) */
	pair_test_add(&test, 1);
	assert_close(test.log_ratio, (1 - 0.16) / 4, 1e-12);
	pair_test_add(&test, -0.5);
	assert_close(test.log_ratio, (1 - 0.16 + 0.25 - 1.21) / 4, 1e-12);
}

static void test_a_wild_pair_counts_no_more_than_a_clear_one(void **state)
{
	(void)state;
	struct pair_test clear = fresh(0.6, 1);
	struct pair_test wild = fresh(0.6, 1);
	pair_test_add(&clear, 4);
	pair_test_add(&wild, 1e6);
	assert_close(wild.log_ratio, clear.log_ratio, 0.02);
}

static void test_no_verdict_comes_from_one_pair(void **state)
{
	(void)state;
	struct pair_test different = fresh(6, 1);
	struct pair_test equal = fresh(6, 1);
	pair_test_add(&different, 10);
	assert_int_equal(pair_test_verdict(&different), PAIR_OPEN);
	pair_test_add(&different, 10);
	assert_int_equal(pair_test_verdict(&different), PAIR_DIFFERENT);
	pair_test_add(&equal, 0);
	pair_test_add(&equal, 0);
	assert_int_equal(pair_test_verdict(&equal), PAIR_EQUAL);
}

static void test_the_odds_set_the_limits(void **state)
{
	(void)state;
	struct pair_test test = fresh(1, 1);
	test.pairs = 5;
	test.log_ratio = log(98);
	assert_int_equal(pair_test_verdict(&test), PAIR_OPEN);
	test.log_ratio = log(100);
	assert_int_equal(pair_test_verdict(&test), PAIR_DIFFERENT);
	test.log_ratio = -log(18);
	assert_int_equal(pair_test_verdict(&test), PAIR_OPEN);
	test.log_ratio = -log(20);
	assert_int_equal(pair_test_verdict(&test), PAIR_EQUAL);
}

static void test_the_expected_pairs_reach_the_limit_on_average(void **state)
{
	(void)state;
	struct pair_test test = fresh(0.6, 1);
	double pairs = pair_test_expected_pairs(&test, 1);
	pair_test_add(&test, 1);
	assert_close(pairs * test.log_ratio, log(99), 1e-9);
}

static void test_what_is_shown_is_the_mean_of_the_differences(void **state)
{
	(void)state;
	struct pair_test test = fresh(0.6, 1);
	pair_test_add(&test, 1);
	pair_test_add(&test, -0.5);
	assert_close(pair_test_shown(&test), 0.25, 1e-12);
	assert_close(pair_test_error(&test), 1, 1e-12);
	pair_test_add(&test, 1e6);
	assert_true(pair_test_shown(&test) < 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pair_adds_the_log_likelihood_ratio_of_its_difference),
		cmocka_unit_test(test_a_wild_pair_counts_no_more_than_a_clear_one),
		cmocka_unit_test(test_no_verdict_comes_from_one_pair),
		cmocka_unit_test(test_the_odds_set_the_limits),
		cmocka_unit_test(test_what_is_shown_is_the_mean_of_the_differences),
		cmocka_unit_test(test_the_expected_pairs_reach_the_limit_on_average),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
