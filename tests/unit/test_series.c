/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/series.h"

static char identity[] = "same";
static char other_identity[] = "other";
static char pipe_series[] = "hackbench/groups-1/time";
static char rate_series[] = "netperf/default/rate";
static char second[] = "s";
static char command[] = "hackbench -g 1";
static char other_command[] = "hackbench -g 1 -l 7";

#define BOOT(name, higher, ...)                                                                    \
	{                                                                                          \
		.series = (name), .unit = second, .higher_is_better = (higher),                    \
		.resolution = 0.001, .identity = identity, .clock = second, .command = command,    \
		.values = (double[]){__VA_ARGS__},                                                 \
		.count = sizeof((double[]){__VA_ARGS__}) / sizeof(double)                          \
	}

static void test_boots_are_grouped_by_series_and_those_without_a_number_left_out(void **state)
{
	(void)state;
	struct store_boot boots[] = {
		BOOT(pipe_series, false, 1.0, 1.0, 1.0), BOOT(rate_series, true, 50.0),
		BOOT(pipe_series, false, 1.1, 1.1, 1.1), BOOT(pipe_series, false, 9.0)};
	boots[2].layout = 3;
	boots[3].layout = 1;
	boots[3].count = 0;
	struct series_boots *series;
	size_t count;
	series_group(boots, 4, &series, &count);
	assert_int_equal(count, 2);
	assert_int_equal(series[0].count, 2);
	assert_int_equal(series_layouts(&series[0]), 2);
	assert_int_equal(series_layouts(&series[1]), 1);
	assert_close(series[0].values[1] - series[0].values[0], log(1.1), 1e-12);
	/* 1 ms printed, of a second: width / sqrt(12) */
	assert_close(series[0].deviation_floor, 0.0005, 1e-12);
	assert_close(series[1].values[0], -log(50), 1e-12);
	assert_ptr_equal(series_find(series, count, rate_series), &series[1]);
	series_free(series, count);
}

static void test_a_coarse_clock_raises_the_floor(void **state)
{
	(void)state;
	struct store_boot boots[] = {BOOT(pipe_series, false, 0.02, 0.02, 0.02)};
	struct series_boots *series;
	size_t count;
	series_group(boots, 1, &series, &count);
	assert_close(series[0].deviation_floor, 0.05 / sqrt(12), 1e-9);
	series_free(series, count);
}

static void test_unlike_boots_are_never_compared(void **state)
{
	(void)state;
	struct error err;
	struct store_boot before[] = {BOOT(pipe_series, false, 1.0), BOOT(pipe_series, false, 1.0)};
	struct store_boot after[] = {BOOT(rate_series, false, 2.0), BOOT(pipe_series, false, 2.0)};
	assert_ok(series_check_sides(before, 2, after, 2, "it", &err), &err);
	after[0].identity = after[1].identity = other_identity;
	assert_int_equal(series_check_sides(before, 2, after, 2, "it", &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "unlike");
}

static void test_other_parameters_under_the_same_name_are_not_compared(void **state)
{
	(void)state;
	struct error err;
	struct store_boot boots[] = {BOOT(pipe_series, false, 1.0), BOOT(rate_series, true, 1.0),
				     BOOT(pipe_series, false, 1.0)};
	boots[1].command = other_command;
	assert_ok(series_check_alike(boots, 3, "it", &err), &err);
	boots[2].command = other_command;
	assert_int_equal(series_check_alike(boots, 3, "it", &err), -1);
	assert_contains(err.message, "parameters");
}

static void test_numbers_of_one_case_belong_together(void **state)
{
	(void)state;
	assert_true(series_same_case("perf/a-1/time", "perf/a-1/faults"));
	assert_false(series_same_case("perf/a-1/time", "perf/a-11/time"));
	assert_false(series_same_case("perf/a-1/time", "perf2/a-1/time"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_boots_are_grouped_by_series_and_those_without_a_number_left_out),
		cmocka_unit_test(test_a_coarse_clock_raises_the_floor),
		cmocka_unit_test(test_unlike_boots_are_never_compared),
		cmocka_unit_test(test_other_parameters_under_the_same_name_are_not_compared),
		cmocka_unit_test(test_numbers_of_one_case_belong_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
