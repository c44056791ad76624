/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"
#include "sentinel/planner.h"

static struct policy policy;
static const struct policy_benchmark *benchmarks[2];

static const char config[] =
	"[tree \"t\"]\n\turl = /x\n\tbranch = main\n\tconfig = tinyconfig\n"
	"[machine \"m\"]\n\tdriver = qemu\n\ttrusted-kernel = /boot/x\n"
	"[night]\n\ttree = t\n\tmachine = m\n\tbenchmarks = one two\n"
	"[benchmark \"one\"]\n\tcommand = one -g {groups} -l {loops}\n\tpackage = p\n"
	"\tparam = groups 1 2\n\tparam = loops 100\n\tmetric = time\n\tpattern = \"(.*)\"\n"
	"\tunit = s\n\tbetter = lower\n"
	"[benchmark \"two\"]\n\tcommand = two\n\tpackage = p\n\tmetric = rate\n"
	"\tpattern = \"(.*)\"\n\tunit = ops\n\tbetter = higher\n";

static int load(void **state)
{
	(void)state;
	struct error err;
	auto_free char *folder = make_scratch();
	auto_free char *path = text_format("%s/sentinel.conf", folder);
	assert_ok(file_write_durable(path, config, sizeof(config) - 1, &err), &err);
	assert_ok(policy_load(path, SHIPPED_POLICIES, &policy, &err), &err);
	assert_ok(policy_find_benchmark(&policy, "one", &benchmarks[0], &err), &err);
	assert_ok(policy_find_benchmark(&policy, "two", &benchmarks[1], &err), &err);
	return file_remove_tree(folder, NULL);
}

static int unload(void **state)
{
	(void)state;
	policy_free(&policy);
	return 0;
}

static void test_a_full_plan_has_every_case(void **state)
{
	(void)state;
	struct error err;
	auto_plan struct plan plan = {0};
	assert_ok(planner_plan(benchmarks, 2, NULL, 0, &plan, &err), &err);
	assert_int_equal(plan.step_count, 3);
	assert_string_equal(plan.steps[1].cell, "groups-2");
	assert_string_equal(plan.steps[1].argv[2], "2");
	assert_string_equal(plan.steps[1].argv[4], "100");
	assert_null(plan.steps[1].argv[5]);
	assert_string_equal(plan.steps[2].benchmark, "two");
	assert_string_equal(plan.steps[2].cell, "default");
}

static void test_a_plan_for_some_series_has_only_their_cases(void **state)
{
	(void)state;
	struct error err;
	const char *series[] = {"two/default/rate", "one/groups-2/time"};
	auto_plan struct plan plan = {0};
	assert_ok(planner_plan(benchmarks, 2, series, 2, &plan, &err), &err);
	assert_int_equal(plan.step_count, 2);
	assert_string_equal(plan.steps[0].cell, "groups-2");
}

static void test_a_series_of_no_benchmark_is_refused(void **state)
{
	(void)state;
	struct error err;
	const char *series[] = {"one/groups-2/time", "one/groups-3/time\x1b[2J"};
	auto_plan struct plan plan = {0};
	assert_int_equal(planner_plan(benchmarks, 2, series, 2, &plan, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "one/groups-3/time");
	assert_null(strchr(err.message, '\x1b'));
}

static void test_retests_are_interleaved_in_abba_order(void **state)
{
	(void)state;
	char order[9] = "";
	for (int64_t i = 0; i < 8; i++)
		order[i] = planner_retest_is_head(i) ? 'h' : 'b';
	assert_string_equal(order, "bhhbbhhb");
}

static struct store_verdict made(enum verdict_state verdict_state, double change, double deviation)
{
	return (struct store_verdict){
		.verdict = {.state = verdict_state, .change = change, .deviation = deviation}};
}

static void test_a_pair_shares_its_layout_and_layouts_take_turns(void **state)
{
	(void)state;
	char layouts[13] = "";
	for (int64_t i = 0; i < 12; i++)
		layouts[i] = (char)('0' + planner_retest_layout(i, 2));
	assert_string_equal(layouts, "112211221122");
	assert_int_equal(planner_retest_layout(7, 1), 0);
}

static void test_each_kernel_compared_with_has_a_round_of_its_own(void **state)
{
	(void)state;
	static const struct {
		enum verdict_state state;
		const char *reference;
		int64_t round;
		int64_t begins;
	} rows[] = {
		{VERDICT_FLAGGED, "one", 0, 0},     {VERDICT_UNCHANGED, "", -1, -1},
		{VERDICT_FLAGGED, "two", 1, 1},     {VERDICT_FLAGGED, "one", 0, -1},
		{VERDICT_NOT_REPEATED, "", -1, -1}, {VERDICT_FLAGGED, "three", 2, 2},
	};
	struct store_verdict verdicts[array_length(rows)] = {0};
	for (size_t i = 0; i < array_length(rows); i++) {
		verdicts[i].verdict.state = rows[i].state;
		strcpy(verdicts[i].reference, rows[i].reference);
	}
	for (size_t i = 0; i < array_length(rows); i++) {
		assert_int_equal(planner_retest_round(verdicts, i), rows[i].begins);
		if (rows[i].round >= 0)
			assert_int_equal(planner_retest_round_of(verdicts, i), rows[i].round);
	}
	/* Interleaving and pairs are the same in every round, and no two boots share a number. */
	assert_true(planner_retest_sequence(1, 0) > planner_retest_sequence(0, 199));
	assert_int_equal(planner_retest_sequence(2, 0) % 4, 0);
}

static void test_every_series_of_the_night_is_named(void **state)
{
	(void)state;
	struct error err;
	char **names;
	size_t count;
	assert_ok(planner_series(benchmarks, 2, &names, &count, &err), &err);
	assert_int_equal(count, 3);
	assert_string_equal(names[0], "one/groups-1/time");
	assert_string_equal(names[2], "two/default/rate");
	while (count)
		free(names[--count]);
	free(names);
}

static void assert_outcome(const struct store_verdict *verdicts, size_t count, const char *expected)
{
	char *outcome = planner_outcome(verdicts, count);
	assert_string_equal(outcome, expected);
	free(outcome);
}

static void test_the_outcome_is_the_worst_that_was_found(void **state)
{
	(void)state;
	struct store_verdict verdicts[] = {
		{.verdict = {.state = VERDICT_UNCHANGED}},
		{.verdict = {.state = VERDICT_IMPROVEMENT}},
		{.verdict = {.state = VERDICT_KNOWN}},
		{.verdict = {.state = VERDICT_NO_DATA}},
		{.verdict = {.state = VERDICT_REGRESSION}, .event = WATCH_CREEP},
		{.verdict = {.state = VERDICT_REGRESSION}},
	};
	static const char *const outcomes[] = {
		"no regression", "improvement",    NIGHT_KNOWN, "no valid number for 1 of 4 series",
		NIGHT_CREEP,     NIGHT_REGRESSION,
	};
	for (size_t i = 0; i < array_length(verdicts); i++)
		assert_outcome(verdicts, i + 1, outcomes[i]);
	/* A creep has no commit to be found. */
	assert_false(planner_is_hunted(&verdicts[4]));
	assert_int_equal(planner_night_after(NIGHT_RETESTING, verdicts, 5), NIGHT_REPORTING);
	assert_int_equal(planner_night_after(NIGHT_RETESTING, verdicts, 6), NIGHT_HUNTING);
}

static void test_a_night_goes_only_as_far_as_its_verdicts_ask(void **state)
{
	(void)state;
	struct store_verdict quiet[] = {made(VERDICT_UNCHANGED, 0, 1), made(VERDICT_NO_DATA, 0, 1)};
	struct store_verdict flagged[] = {made(VERDICT_UNCHANGED, 0, 1),
					  made(VERDICT_FLAGGED, 1, 1)};
	struct store_verdict better[] = {made(VERDICT_IMPROVEMENT, -1, 1)};
	struct store_verdict worse[] = {made(VERDICT_NOT_REPEATED, 0, 1),
					made(VERDICT_REGRESSION, 1, 1)};
	assert_int_equal(planner_night_after(NIGHT_MEASURING, quiet, 2), NIGHT_REPORTING);
	assert_int_equal(planner_night_after(NIGHT_MEASURING, flagged, 2), NIGHT_RETESTING);
	assert_int_equal(planner_night_after(NIGHT_RETESTING, better, 1), NIGHT_REPORTING);
	assert_int_equal(planner_night_after(NIGHT_RETESTING, worse, 2), NIGHT_HUNTING);
	assert_int_equal(planner_night_after(NIGHT_HUNTING, worse, 2), NIGHT_REPORTING);
	assert_int_equal(planner_night_after(NIGHT_REPORTING, NULL, 0), NIGHT_DONE);
}

static void test_the_clearest_unexplained_regression_is_hunted_first(void **state)
{
	(void)state;
	struct store_verdict verdicts[] = {
		made(VERDICT_REGRESSION, 0.10, 0.05), made(VERDICT_REGRESSION, 0.03, 0.001),
		made(VERDICT_IMPROVEMENT, -0.5, 0.001), made(VERDICT_REGRESSION, 0.04, 0.001)};
	bool explained[4] = {false};
	size_t index;
	assert_true(planner_next_hunt(verdicts, 4, explained, &index));
	assert_int_equal(index, 1);
	explained[1] = explained[3] = true;
	assert_true(planner_next_hunt(verdicts, 4, explained, &index));
	assert_int_equal(index, 0);
	explained[0] = true;
	assert_false(planner_next_hunt(verdicts, 4, explained, &index));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_plan_has_every_case),
		cmocka_unit_test(test_a_plan_for_some_series_has_only_their_cases),
		cmocka_unit_test(test_a_series_of_no_benchmark_is_refused),
		cmocka_unit_test(test_retests_are_interleaved_in_abba_order),
		cmocka_unit_test(test_a_pair_shares_its_layout_and_layouts_take_turns),
		cmocka_unit_test(test_each_kernel_compared_with_has_a_round_of_its_own),
		cmocka_unit_test(test_every_series_of_the_night_is_named),
		cmocka_unit_test(test_the_outcome_is_the_worst_that_was_found),
		cmocka_unit_test(test_a_night_goes_only_as_far_as_its_verdicts_ask),
		cmocka_unit_test(test_the_clearest_unexplained_regression_is_hunted_first),
	};
	return cmocka_run_group_tests(tests, load, unload);
}
