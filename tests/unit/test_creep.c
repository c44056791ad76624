/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/stats/creep.h"

enum { NIGHTS = 120 };

/* A level that is known so well that z is the distance in deviations. */
static const struct creep_level exact = {.location = 10, .nights = 1e300};

static struct creep watch(const double *nights, size_t count, double deviation)
{
	struct creep creep;
	creep_watch(nights, count, &exact, deviation, &creep);
	return creep;
}

static void test_the_sum_is_that_of_the_definition(void **state)
{
	static const double nights[] = {10.8, 9.7, 11.5, 10.2};
	(void)state;
	/* z: 0.8, -0.3, 1.5, 0.2; each less 0.5, and never below 0. */
	assert_close(watch(nights, 1, 1).sum, 0.3, 1e-12);
	assert_close(watch(nights, 2, 1).sum, 0, 0);
	assert_close(watch(nights, 3, 1).sum, 1, 1e-12);
	assert_close(watch(nights, 4, 1).sum, 0.7, 1e-12);
	assert_close(watch(nights, 3, 2).sum, 0.25, 1e-12);
}

static void test_one_night_adds_two_and_a_half_at_most_so_four_are_needed(void **state)
{
	static const double nights[] = {1000, 1000, 1000, 1000};
	(void)state;
	assert_close(watch(nights, 1, 1).sum, 2.5, 0);
	assert_false(watch(nights, 3, 1).flagged);
	assert_true(watch(nights, 4, 1).flagged);
	assert_int_equal(watch(nights, 4, 1).night, 3);
}

static void test_one_splendid_night_takes_back_no_more_than_three_and_a_half(void **state)
{
	static const double nights[] = {1000, 1000, -1000};
	(void)state;
	assert_close(watch(nights, 3, 1).sum, 1.5, 0);
}

static void test_the_flag_stays_with_the_first_night_after_the_sum_has_gone_down(void **state)
{
	static const double nights[] = {13, 13, 13, 13, 13, 0, 0, 0};
	(void)state;
	struct creep creep = watch(nights, 8, 1);
	assert_true(creep.flagged);
	assert_int_equal(creep.night, 3);
	assert_close(creep.sum, 2, 0);
}

static void test_a_level_of_few_nights_is_trusted_less(void **state)
{
	static const struct creep_level young = {.location = 10, .nights = 3};
	static const double nights[] = {12};
	(void)state;
	struct creep creep;
	creep_watch(nights, 1, &young, 1, &creep);
	/* 2 / sqrt(1 + 1/3) - 0.5 */
	assert_close(creep.sum, sqrt(3) - 0.5, 1e-12);
}

static void test_no_nights_are_no_creep(void **state)
{
	(void)state;
	assert_false(watch(NULL, 0, 1).flagged);
	assert_close(watch(NULL, 0, 1).sum, 0, 0);
}

static const struct creep_level level = {.location = 10, .nights = 60};

static void test_creep_adds_up_until_it_is_flagged(void **state)
{
	(void)state;
	double values[NIGHTS];
	struct creep creep;
	for (size_t i = 0; i < NIGHTS; i++)
		values[i] = 10 + 0.05 * (double)i;
	creep_watch(values, NIGHTS, &level, 1, &creep);
	assert_true(creep.flagged);
	/* 0.05 i / sqrt(1 + 1/60) - 0.5 adds up to 8 in the 29th night, index 28. */
	assert_int_equal(creep.night, 28);
	creep_watch(values, creep.night, &level, 1, &creep);
	assert_false(creep.flagged);
	assert_true(creep.sum > 7 && creep.sum <= 8);
}

static void test_one_wild_night_is_no_creep_and_getting_better_is_none(void **state)
{
	(void)state;
	double values[NIGHTS];
	struct creep creep;
	for (size_t i = 0; i < NIGHTS; i++)
		values[i] = i == 50 ? 1000 : 10;
	creep_watch(values, NIGHTS, &level, 1, &creep);
	assert_false(creep.flagged);
	for (size_t i = 0; i < NIGHTS; i++)
		values[i] = 10 - 0.05 * (double)i;
	creep_watch(values, NIGHTS, &level, 1, &creep);
	assert_false(creep.flagged);
	assert_true(creep.sum == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sum_is_that_of_the_definition),
		cmocka_unit_test(test_one_night_adds_two_and_a_half_at_most_so_four_are_needed),
		cmocka_unit_test(test_one_splendid_night_takes_back_no_more_than_three_and_a_half),
		cmocka_unit_test(
			test_the_flag_stays_with_the_first_night_after_the_sum_has_gone_down),
		cmocka_unit_test(test_a_level_of_few_nights_is_trusted_less),
		cmocka_unit_test(test_no_nights_are_no_creep),
		cmocka_unit_test(test_creep_adds_up_until_it_is_flagged),
		cmocka_unit_test(test_one_wild_night_is_no_creep_and_getting_better_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
