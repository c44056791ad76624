/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/stats/change_point.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/random.h"

enum { NIGHTS = 120 };

/* Noise of about 1 without pattern, always the same. */
static double wobble(size_t night)
{
	return (double)(night * 37 % 101) / 29 - 1.74;
}

static void series(double *values, size_t step_at, double step, size_t second_at, double second)
{
	for (size_t i = 0; i < NIGHTS; i++)
		values[i] =
			50 + wobble(i) + (i >= step_at ? step : 0) + (i >= second_at ? second : 0);
}

static void test_a_step_is_dated_to_the_night(void **state)
{
	(void)state;
	double values[NIGHTS];
	size_t count;
	auto_free struct change_point *points = NULL;
	series(values, 70, 6, NIGHTS, 0);
	change_point_find(values, NIGHTS, 0, &points, &count);
	assert_int_equal(count, 1);
	assert_int_equal(points[0].index, 70);
	assert_close(points[0].change, 6, 0.3);
	assert_true(points[0].p_value < 1e-6);
}

static void test_two_steps_that_undo_each_other_are_both_found(void **state)
{
	(void)state;
	double values[NIGHTS];
	size_t count;
	auto_free struct change_point *points = NULL;
	series(values, 40, 5, 52, -5);
	change_point_find(values, NIGHTS, 0, &points, &count);
	assert_int_equal(count, 2);
	assert_int_equal(points[0].index, 40);
	assert_int_equal(points[1].index, 52);
	assert_true(points[0].change > 4 && points[1].change < -4);
}

static void test_noise_and_steps_too_small_to_matter_are_no_points(void **state)
{
	(void)state;
	double values[NIGHTS];
	size_t count;
	auto_free struct change_point *none = NULL;
	series(values, NIGHTS, 0, NIGHTS, 0);
	change_point_find(values, NIGHTS, 0, &none, &count);
	assert_int_equal(count, 0);
	auto_free struct change_point *small = NULL;
	series(values, 70, 3, NIGHTS, 0);
	change_point_find(values, NIGHTS, 4, &small, &count);
	assert_int_equal(count, 0);
}

static void test_few_or_equal_values_have_no_points(void **state)
{
	(void)state;
	double values[NIGHTS] = {0};
	for (size_t length = 0; length < 6; length++) {
		size_t count;
		auto_free struct change_point *points = NULL;
		values[length] = (double)length;
		change_point_find(values, length, 0, &points, &count);
		assert_int_equal(count, 0);
	}
	size_t count;
	auto_free struct change_point *points = NULL;
	memset(values, 0, sizeof(values));
	change_point_find(values, NIGHTS, 0, &points, &count);
	assert_int_equal(count, 0);
}

static void test_an_exact_step_is_found(void **state)
{
	(void)state;
	double values[NIGHTS] = {0};
	size_t count;
	auto_free struct change_point *points = NULL;
	for (size_t i = 30; i < NIGHTS; i++)
		values[i] = 1;
	change_point_find(values, NIGHTS, 0, &points, &count);
	assert_int_equal(count, 1);
	assert_int_equal(points[0].index, 30);
}

/* Among noise some split passes the weak gate in many a series, the strong one in few. */
static void test_noise_has_a_point_in_one_series_of_ten_at_most(void **state)
{
	(void)state;
	size_t with_points = 0;
	random_seed(2);
	for (int trial = 0; trial < 400; trial++) {
		double values[NIGHTS];
		size_t count;
		auto_free struct change_point *points = NULL;
		for (size_t i = 0; i < NIGHTS; i++)
			values[i] = random_t(5);
		change_point_find(values, NIGHTS, 0, &points, &count);
		for (size_t i = 0; i < count; i++)
			assert_true(points[i].p_value < 0.001);
		with_points += count > 0;
	}
	assert_true(with_points < 400 / 10);
}

/* A step that pauses half way for a few nights tempts overlapping windows to cut before and after.
 */
static void test_each_side_of_a_point_holds_three_nights(void **state)
{
	(void)state;
	random_seed(1);
	for (int trial = 0; trial < 400; trial++) {
		double values[NIGHTS];
		size_t count;
		size_t pause = 5 + random_below(100);
		size_t end_of_pause = pause + 1 + random_below(4);
		auto_free struct change_point *points = NULL;
		for (size_t i = 0; i < NIGHTS; i++)
			values[i] = random_normal() + (i >= pause ? 20 : 0) +
				    (i >= end_of_pause ? 20 : 0);
		change_point_find(values, NIGHTS, 0, &points, &count);
		assert_true(count > 0);
		for (size_t i = 0; i <= count; i++) {
			size_t start = i ? points[i - 1].index : 0;
			size_t end = i < count ? points[i].index : NIGHTS;
			assert_true(end >= start + 3);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_step_is_dated_to_the_night),
		cmocka_unit_test(test_two_steps_that_undo_each_other_are_both_found),
		cmocka_unit_test(test_noise_and_steps_too_small_to_matter_are_no_points),
		cmocka_unit_test(test_few_or_equal_values_have_no_points),
		cmocka_unit_test(test_an_exact_step_is_found),
		cmocka_unit_test(test_noise_has_a_point_in_one_series_of_ten_at_most),
		cmocka_unit_test(test_each_side_of_a_point_holds_three_nights),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
