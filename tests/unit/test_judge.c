/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"
#include "sentinel/judge.h"

/* A history in memory: one series, nights of three boots with five iterations each. */

enum { BOOTS = 3, ITERATIONS = 5, NIGHTS = 40, DAY = 86400 };

static char series[] = "hackbench/groups-1/time";
static char identity[] = "same";
static char other_identity[] = "other";
static char unit[] = "s";
static char benchmark_name[] = "hackbench";
static char tonight_head[] = "tonight";
static char pinned_head[] = "pinned";

static struct policy_benchmark rules[] = {{.name = benchmark_name, .minimum_effect_percent = 1}};
static const struct policy policy = {
	.benchmarks = rules,
	.benchmark_count = 1,
	.night = {.boots = BOOTS,
		  .window = 20,
		  .retest_pairs = 6,
		  .layout_builds = 2,
		  .needless_retests_percent = 1,
		  .false_alarms_per_month = 0.05},
};

/* A fixed scatter of about half a percent: the same in every run of the test. */
static double scatter(size_t seed)
{
	return 0.005 * sin(12.9898 * (double)(seed + 1) + 4.1414);
}

static void make_boots(struct store_boot *boots, size_t count, size_t seed, double level)
{
	for (size_t i = 0; i < count; i++) {
		boots[i] = (struct store_boot){.trial = (int64_t)(seed + i + 1),
					       .sequence = (int64_t)i,
					       .series = series,
					       .unit = unit,
					       .identity = identity,
					       .resolution = 0.0001,
					       .values = memory_array(ITERATIONS, sizeof(double)),
					       .count = ITERATIONS};
		for (size_t j = 0; j < ITERATIONS; j++)
			boots[i].values[j] = exp(level + scatter(100 * seed + 10 * i) +
						 scatter(31 * (seed + i) + j) / 3);
	}
}

struct world {
	struct history history;
	struct store_verdict verdicts[NIGHTS];
	struct history_night nights[NIGHTS];
	char heads[NIGHTS];
};

/* NIGHTS nights at the level 0, the pinned kernel likewise. */
static struct world *make_world(size_t nights, double tonight)
{
	struct world *world = memory_array(1, sizeof(*world));
	struct history *history = &world->history;
	history->policy = &policy;
	history->nights = world->nights;
	history->night_count = nights;
	for (size_t i = 0; i < nights; i++) {
		struct history_night *night = &world->nights[i];
		night->night.id = (int64_t)i + 1;
		night->night.started_seconds = (int64_t)(i + 10) * DAY;
		snprintf(night->night.head, OBJECT_ID_SIZE, "night%zu", i + 1);
		night->boots = memory_array(BOOTS, sizeof(*night->boots));
		night->boot_count = BOOTS;
		make_boots(night->boots, BOOTS, 7 * i + 3, 0);
		world->verdicts[i].series = series;
		night->verdicts = &world->verdicts[i];
		night->verdict_count = 1;
	}
	strcpy(history->baseline.commit, pinned_head);
	history->baseline.set_seconds = DAY;
	history->baseline_boots = memory_array(10, sizeof(struct store_boot));
	history->baseline_boot_count = 10;
	make_boots(history->baseline_boots, 10, 900, 0);
	history->tonight = memory_array(BOOTS, sizeof(struct store_boot));
	history->tonight_count = BOOTS;
	make_boots(history->tonight, BOOTS, 700, tonight);
	history->tonights_head = tonight_head;
	return world;
}

static void free_boots(struct store_boot *boots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(boots[i].values);
	free(boots);
}

static void free_world(struct world *world)
{
	for (size_t i = 0; i < world->history.night_count; i++)
		free_boots(world->nights[i].boots, BOOTS);
	free_boots(world->history.baseline_boots, world->history.baseline_boot_count);
	free_boots(world->history.tonight, world->history.tonight_count);
	free(world);
}

static struct store_verdict judge(const struct world *world)
{
	struct store_verdict verdict;
	judge_stage1(&world->history, series, &verdict);
	free(verdict.series);
	verdict.series = NULL;
	return verdict;
}

static void set_level(struct world *world, size_t night, double level)
{
	struct store_boot *boots = world->nights[night].boots;
	for (size_t i = 0; i < BOOTS; i++)
		free(boots[i].values);
	make_boots(boots, BOOTS, 7 * night + 3, level);
}

static void conclude(struct world *world, size_t night, enum verdict_state state, double change)
{
	world->verdicts[night].verdict.state = state;
	world->verdicts[night].verdict.change = change;
	set_level(world, night, change);
}

static void test_a_step_is_flagged_against_the_nights_and_measured_beside_the_last_one(void **state)
{
	(void)state;
	struct world *world = make_world(25, 0.03);
	struct store_verdict verdict = judge(world);
	assert_int_equal(verdict.verdict.basis, VERDICT_BY_NIGHTS);
	assert_int_equal(verdict.verdict.baseline_boots, 20);
	assert_int_equal(verdict.verdict.state, VERDICT_FLAGGED);
	assert_close(verdict.verdict.change, 0.03, 0.006);
	assert_string_equal(verdict.reference, "night25");
	assert_true(verdict.layout_deviation < log1p(0.01) / 3);
	free_world(world);
	world = make_world(25, 0);
	verdict = judge(world);
	assert_int_equal(verdict.verdict.state, VERDICT_UNCHANGED);
	assert_string_equal(verdict.reference, "");
	free_world(world);
}

static void test_a_young_baseline_is_the_pinned_boots_and_the_accepted_ones(void **state)
{
	(void)state;
	struct world *world = make_world(3, 0.05);
	struct store_verdict verdict = judge(world);
	assert_int_equal(verdict.verdict.basis, VERDICT_BY_BOOTS);
	assert_int_equal(verdict.verdict.baseline_boots, 10 + 3 * BOOTS);
	assert_int_equal(verdict.verdict.state, VERDICT_FLAGGED);
	assert_string_equal(verdict.reference, "night3");
	/* What builds differ by is not known yet: half of the minimum effect. */
	assert_close(verdict.layout_deviation, log1p(0.01) / 2, 1e-12);
	/* After an accepted step the pinned kernel is of another level. */
	conclude(world, 2, VERDICT_IMPROVEMENT, -0.1);
	verdict = judge(world);
	assert_int_equal(verdict.verdict.baseline_boots, BOOTS);
	free_world(world);
	world = make_world(0, 0.05);
	verdict = judge(world);
	assert_int_equal(verdict.verdict.state, VERDICT_FLAGGED);
	assert_string_equal(verdict.reference, pinned_head);
	free_world(world);
}

static void test_nights_measured_otherwise_are_not_compared_with(void **state)
{
	(void)state;
	struct world *world = make_world(25, 0);
	world->nights[10].boots[1].identity = other_identity;
	struct store_verdict verdict = judge(world);
	assert_int_equal(verdict.verdict.baseline_boots, 14);
	free_world(world);
	/* Nor is one that came to no verdict, whatever it measured before its head failed. */
	world = make_world(12, 0.05);
	world->nights[11].verdict_count = 0;
	verdict = judge(world);
	assert_int_equal(verdict.verdict.baseline_boots, 11);
	assert_string_equal(verdict.reference, "night11");
	free_world(world);
}

static void test_an_open_regression_is_known_until_it_grows(void **state)
{
	(void)state;
	struct world *world = make_world(25, 0.05);
	conclude(world, 23, VERDICT_REGRESSION, 0.05);
	conclude(world, 24, VERDICT_KNOWN, 0.05);
	struct store_verdict verdict = judge(world);
	assert_int_equal(verdict.verdict.state, VERDICT_KNOWN);
	assert_int_equal(verdict.since, 24);
	assert_string_equal(verdict.reference, "");
	free_boots(world->history.tonight, BOOTS);
	world->history.tonight = memory_array(BOOTS, sizeof(struct store_boot));
	make_boots(world->history.tonight, BOOTS, 700, 0.1);
	verdict = judge(world);
	assert_int_equal(verdict.verdict.state, VERDICT_FLAGGED);
	assert_int_equal(verdict.event, WATCH_GROWN);
	assert_string_equal(verdict.reference, "night24");
	free_world(world);
}

static void test_an_acknowledged_step_is_the_level_from_then_on(void **state)
{
	(void)state;
	struct world *world = make_world(25, 0.05);
	struct store_acknowledgement acknowledgement = {.night = 11, .series = series};
	conclude(world, 10, VERDICT_REGRESSION, 0.05);
	for (size_t i = 11; i < 25; i++)
		conclude(world, i, VERDICT_KNOWN, 0.05);
	world->history.acknowledgements = &acknowledgement;
	world->history.acknowledgement_count = 1;
	struct store_verdict verdict = judge(world);
	assert_int_equal(verdict.verdict.state, VERDICT_UNCHANGED);
	assert_int_equal(verdict.verdict.baseline_boots, 15);
	free_world(world);
}

static void test_many_small_steps_are_a_creep_away_from_the_pinned_kernel(void **state)
{
	(void)state;
	struct world *world = make_world(NIGHTS, 0.020);
	for (size_t i = 0; i < NIGHTS; i++)
		set_level(world, i, 0.0005 * (double)i);
	struct store_verdict verdict = judge(world);
	assert_int_equal(verdict.verdict.state, VERDICT_FLAGGED);
	assert_int_equal(verdict.event, WATCH_CREEP);
	assert_string_equal(verdict.reference, pinned_head);
	/* Confirmed once, it is known. */
	world->verdicts[NIGHTS - 1].verdict.state = VERDICT_REGRESSION;
	world->verdicts[NIGHTS - 1].event = WATCH_CREEP;
	verdict = judge(world);
	assert_int_equal(verdict.verdict.state, VERDICT_KNOWN);
	assert_int_equal(verdict.event, WATCH_CREEP);
	assert_int_equal(verdict.since, NIGHTS);
	free_world(world);
}

static void test_a_series_without_a_number_tonight_is_no_verdict(void **state)
{
	(void)state;
	struct world *world = make_world(25, 0);
	for (size_t i = 0; i < BOOTS; i++)
		world->history.tonight[i].count = 0;
	assert_int_equal(judge(world).verdict.state, VERDICT_NO_DATA);
	struct store_verdict verdict;
	judge_stage1(&world->history, "hackbench/never/seen", &verdict);
	assert_int_equal(verdict.verdict.state, VERDICT_NO_DATA);
	free(verdict.series);
	free_world(world);
}

/* Six pairs, A B B A …, of the last accepted kernel and tonight's, over two layouts. */
static void make_retest(struct store_boot *boots, double step)
{
	for (size_t i = 0; i < 12; i++) {
		bool head = i % 4 == 1 || i % 4 == 2;
		make_boots(&boots[i], 1, 500 + i, head ? step : 0);
		boots[i].sequence = (int64_t)i;
		boots[i].layout = i / 2 % 2;
		strcpy(boots[i].commit, head ? tonight_head : "night25");
	}
}

static void test_a_retest_confirms_a_step_and_drops_only_the_pair_without_a_number(void **state)
{
	(void)state;
	struct error err;
	struct store_boot boots[12];
	struct store_verdict verdict;
	struct world *world = make_world(25, 0.05);
	struct store_verdict flagged = judge(world);
	flagged.series = series;
	make_retest(boots, 0.05);
	boots[2].count = 0;
	assert_ok(judge_stage2(&world->history, &flagged, 10, boots, 12, &verdict, &err), &err);
	assert_int_equal(verdict.verdict.state, VERDICT_REGRESSION);
	assert_int_equal(verdict.verdict.boots, 5);
	assert_close(verdict.verdict.change, 0.05, 0.01);
	assert_string_equal(verdict.reference, "night25");
	free(verdict.series);
	for (size_t i = 0; i < 12; i++)
		free(boots[i].values);
	make_retest(boots, 0);
	assert_ok(judge_stage2(&world->history, &flagged, 10, boots, 12, &verdict, &err), &err);
	assert_int_equal(verdict.verdict.state, VERDICT_NOT_REPEATED);
	free(verdict.series);
	boots[3].identity = other_identity;
	assert_int_equal(judge_stage2(&world->history, &flagged, 10, boots, 12, &verdict, &err),
			 -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	for (size_t i = 0; i < 12; i++)
		free(boots[i].values);
	free_world(world);
}

/* The step between culprit and rival, each of two boots of that series. */
static bool is_explained(double night_change, double deviation, double layout_deviation,
			 size_t layouts, double step)
{
	const struct store_verdict regression = {
		.verdict = {.change = night_change,
			    .deviation = deviation,
			    .degrees = 20,
			    .boots = 6},
		.layout_deviation = layout_deviation,
	};
	double after[] = {step - 0.001, step + 0.001};
	double before[] = {-0.001, 0.001};
	const struct series_boots culprit = {
		.values = after, .count = 2, .layout = {true, layouts > 1}};
	const struct series_boots rival = {
		.values = before, .count = 2, .layout = {true, layouts > 1}};
	return judge_is_explained(&regression, layouts, 0.02, &culprit, &rival);
}

static void test_a_culprit_explains_what_it_leaves_too_little_of(void **state)
{
	(void)state;
	/* Half the step; and, of a quiet series, just less of it. */
	assert_true(is_explained(0.10, 0.002, 0, 2, 0.051));
	assert_false(is_explained(0.10, 0.002, 0, 2, 0.049));
	/* t(20) = 1.7247 at 5 %, standard error sqrt(0.02^2 (2/6 + 2/2)) = 0.023094: 0.039831. */
	assert_true(is_explained(0.05, 0.02, 0, 2, 0.0103));
	assert_false(is_explained(0.05, 0.02, 0, 2, 0.0100));
	/* Two layouts of 0.02 on each side add 2 * 2 * 0.02^2 / 2: 0.063 in all. */
	assert_true(is_explained(0.05, 0.02, 0.02, 2, -0.0125));
	assert_false(is_explained(0.05, 0.02, 0.02, 2, -0.0135));
	/* One layout on each side: 2 * 2 * 0.02^2, 0.0796 in all. */
	assert_true(is_explained(0.05, 0.02, 0.02, 1, -0.0285));
	assert_false(is_explained(0.05, 0.02, 0.02, 1, -0.0305));
	/* What remains is less than half of what is worth hunting. */
	assert_true(is_explained(0.0098, 0, 0, 2, 0));
	assert_false(is_explained(0.0102, 0, 0, 2, 0));
}

static void test_what_was_not_measured_beside_the_culprit_is_not_explained(void **state)
{
	(void)state;
	const struct store_verdict regression = {.verdict = {.change = 0.1, .degrees = 20}};
	double value = 0.1;
	const struct series_boots measured = {.values = &value, .count = 1};
	const struct series_boots empty = {0};
	assert_false(judge_is_explained(&regression, 1, 0.01, NULL, &measured));
	assert_false(judge_is_explained(&regression, 1, 0.01, &measured, NULL));
	assert_false(judge_is_explained(&regression, 1, 0.01, &measured, &empty));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_step_is_flagged_against_the_nights_and_measured_beside_the_last_one),
		cmocka_unit_test(test_a_young_baseline_is_the_pinned_boots_and_the_accepted_ones),
		cmocka_unit_test(test_nights_measured_otherwise_are_not_compared_with),
		cmocka_unit_test(test_an_open_regression_is_known_until_it_grows),
		cmocka_unit_test(test_an_acknowledged_step_is_the_level_from_then_on),
		cmocka_unit_test(test_many_small_steps_are_a_creep_away_from_the_pinned_kernel),
		cmocka_unit_test(test_a_series_without_a_number_tonight_is_no_verdict),
		cmocka_unit_test(
			test_a_retest_confirms_a_step_and_drops_only_the_pair_without_a_number),
		cmocka_unit_test(test_a_culprit_explains_what_it_leaves_too_little_of),
		cmocka_unit_test(test_what_was_not_measured_beside_the_culprit_is_not_explained),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
