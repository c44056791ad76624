/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/judge.h"

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
	boots[3].count = 0;
	struct series_boots *series;
	size_t count;
	series_group(boots, 4, &series, &count);
	assert_int_equal(count, 2);
	assert_int_equal(series[0].count, 2);
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
	struct policy policy = {.night = {.stage1_alpha = 0.01}};
	struct store_boot before[] = {BOOT(pipe_series, false, 1.0), BOOT(pipe_series, false, 1.0)};
	struct store_boot after[] = {BOOT(pipe_series, false, 2.0), BOOT(pipe_series, false, 2.0)};
	after[0].identity = after[1].identity = other_identity;
	struct store_verdict *verdicts;
	size_t count;
	assert_int_equal(judge_stage1(&policy, before, 2, after, 2, &verdicts, &count, &err), -1);
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
	assert_ok(judge_check_alike(boots, 3, "it", &err), &err);
	boots[2].command = other_command;
	assert_int_equal(judge_check_alike(boots, 3, "it", &err), -1);
	assert_contains(err.message, "parameters");
}

static void test_a_step_is_flagged_and_confirmed_for_its_own_series_only(void **state)
{
	(void)state;
	struct error err;
	struct policy_benchmark rules[] = {
		{.name = (char[]){"hackbench"}, .minimum_effect_percent = 2}};
	struct policy policy = {.benchmarks = rules,
				.benchmark_count = 1,
				.night = {.stage1_alpha = 0.01, .stage2_alpha = 0.001}};
	struct store_boot before[] = {BOOT(pipe_series, false, 1.0, 1.001, 1.0),
				      BOOT(pipe_series, false, 1.002, 1.0, 1.0),
				      BOOT(pipe_series, false, 1.0, 1.0, 1.001),
				      BOOT(rate_series, true, 50.0, 50.1),
				      BOOT(rate_series, true, 50.1, 50.0),
				      BOOT(rate_series, true, 50.0, 50.0)};
	struct store_boot after[] = {BOOT(pipe_series, false, 1.1, 1.1, 1.101),
				     BOOT(pipe_series, false, 1.1, 1.102, 1.1),
				     BOOT(pipe_series, false, 1.1, 1.1, 1.1),
				     BOOT(rate_series, true, 50.0, 50.1),
				     BOOT(rate_series, true, 50.0, 50.1),
				     BOOT(rate_series, true, 50.0, 50.0)};
	struct store_verdict *stage1;
	struct store_verdict *stage2;
	size_t stage1_count;
	size_t stage2_count;
	assert_ok(judge_stage1(&policy, before, 6, after, 6, &stage1, &stage1_count, &err), &err);
	assert_int_equal(stage1_count, 2);
	assert_int_equal(stage1[0].verdict.state, VERDICT_FLAGGED);
	assert_int_equal(stage1[1].verdict.state, VERDICT_UNCHANGED);
	assert_ok(judge_stage2(&policy, stage1, stage1_count, before, 6, after, 6, &stage2,
			       &stage2_count, &err),
		  &err);
	assert_int_equal(stage2_count, 1);
	assert_string_equal(stage2[0].series, pipe_series);
	assert_int_equal(stage2[0].verdict.state, VERDICT_REGRESSION);
	assert_close(stage2[0].verdict.change_percent, 10, 0.3);
	store_verdicts_free(stage1, stage1_count);
	store_verdicts_free(stage2, stage2_count);
}

static void test_a_series_that_one_side_lacks_is_no_verdict(void **state)
{
	(void)state;
	struct error err;
	struct policy policy = {.night = {.stage1_alpha = 0.01}};
	struct store_boot before[] = {BOOT(pipe_series, false, 1.0), BOOT(pipe_series, false, 1.0)};
	struct store_boot after[] = {BOOT(rate_series, true, 2.0), BOOT(rate_series, true, 2.0)};
	struct store_verdict *verdicts;
	size_t count;
	assert_ok(judge_stage1(&policy, before, 2, after, 2, &verdicts, &count, &err), &err);
	assert_int_equal(count, 2);
	assert_string_equal(verdicts[0].series, rate_series);
	assert_int_equal(verdicts[0].verdict.state, VERDICT_NO_DATA);
	assert_string_equal(verdicts[1].series, pipe_series);
	assert_int_equal(verdicts[1].verdict.state, VERDICT_NO_DATA);
	store_verdicts_free(verdicts, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_boots_are_grouped_by_series_and_those_without_a_number_left_out),
		cmocka_unit_test(test_a_coarse_clock_raises_the_floor),
		cmocka_unit_test(test_unlike_boots_are_never_compared),
		cmocka_unit_test(test_other_parameters_under_the_same_name_are_not_compared),
		cmocka_unit_test(test_a_step_is_flagged_and_confirmed_for_its_own_series_only),
		cmocka_unit_test(test_a_series_that_one_side_lacks_is_no_verdict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
