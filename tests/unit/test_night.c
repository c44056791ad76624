/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/store_fixture.h"

#include "sentinel/conductor.h"
#include "sentinel/history.h"
#include "sentinel/night.h"
#include "sentinel/planner.h"
#include "sentinel/report.h"

/*
 * Whole nights over a store in which every trial has been measured already: the conductor finds it
 * and needs neither machine nor tree. Times are counted in days.
 */

enum { DAY = 86400, BOOTS = 3, PAIRS = 4, LAYOUTS = 2 };

static const char config[] =
	"[tree \"demo\"]\n\turl = /x\n\tbranch = main\n\tconfig = tinyconfig\n"
	"[machine \"qemu\"]\n\tdriver = qemu\n\ttrusted-kernel = /boot/x\n"
	"[night]\n\ttree = demo\n\tmachine = qemu\n\tbenchmarks = one\n\tboots = 3\n"
	"\tretest-pairs = 4\n\tlayout-builds = 2\n\tneedless-retests = 1 %\n"
	"[benchmark \"one\"]\n\tcommand = one -g {groups}\n\tpackage = p\n"
	"\tparam = groups 1\n\tmetric = time\n\tpattern = \"(.*)\"\n"
	"\tunit = s\n\tbetter = lower\n";

static char series[] = "one/default/time";

struct lab {
	struct fixture *fixture;
	struct policy policy;
	struct context context;
	int64_t nights;
};

static int open_lab(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	void *fixture;
	set_up(&fixture);
	lab->fixture = fixture;
	struct error *err = &lab->fixture->err;
	auto_free char *path = text_format("%s/sentinel.conf", lab->fixture->folder);
	assert_ok(file_write_durable(path, config, sizeof(config) - 1, err), err);
	assert_ok(policy_load(path, SHIPPED_POLICIES, &lab->policy, err), err);
	lab->context.policy = lab->policy;
	lab->context.store = lab->fixture->store;
	lab->context.tree = &lab->policy.trees[0];
	lab->context.machine_policy = &lab->policy.machines[0];
	lab->context.benchmarks = memory_array(1, sizeof(*lab->context.benchmarks));
	lab->context.benchmark_count = 1;
	assert_ok(policy_find_benchmark(&lab->policy, "one", &lab->context.benchmarks[0], err),
		  err);
	*state = lab;
	return 0;
}

static int close_lab(void **state)
{
	struct lab *lab = *state;
	void *fixture = lab->fixture;
	free(lab->context.benchmarks);
	policy_free(&lab->policy);
	tear_down(&fixture);
	free(lab);
	return 0;
}

static char *commit_id(int64_t number)
{
	return text_format("%040llx", (long long)number);
}

/* About half a percent, the same in every run of the test. */
static double scatter(double seed)
{
	return 0.005 * sin(12.9898 * seed + 4.1414);
}

static void measure(struct lab *lab, enum trial_purpose purpose, int64_t owner, int64_t sequence,
		    const char *commit, size_t layout, double level)
{
	struct store_trial trial;
	struct store_sample samples[5];
	struct error *err = &lab->fixture->err;
	char unit[] = "s";
	char command[] = "one -g 1";
	auto_plan struct plan plan = {0};
	assert_ok(planner_plan(lab->context.benchmarks, 1, NULL, 0, &plan, err), err);
	auto_free char *text = plan_to_text(&plan);
	assert_ok(store_queue_trial(lab->fixture->store, purpose, owner, sequence, commit, layout,
				    "qemu", text, &trial, err),
		  err);
	trial.identity = text_copy("identity");
	trial.clock = text_copy("clock");
	for (size_t i = 0; i < array_length(samples); i++) {
		double seed = (double)(trial.id * 5) + (double)i;
		samples[i] = (struct store_sample){.series = series,
						   .iteration = (int64_t)i,
						   .valid = true,
						   .value = exp(level + scatter(seed)),
						   .resolution = 0.0001,
						   .unit = unit,
						   .command = command};
	}
	assert_ok(store_import(lab->fixture->store, &trial, "{}", 2, samples, array_length(samples),
			       err),
		  err);
	store_trial_free(&trial);
}

static void pin(struct lab *lab)
{
	struct error *err = &lab->fixture->err;
	auto_free char *commit = commit_id(0xffff);
	struct store_baseline baseline = {.tree_name = text_copy("demo"),
					  .machine = text_copy("qemu"),
					  .boots = 5,
					  .set_seconds = 4 * DAY};
	strcpy(baseline.commit, commit);
	assert_ok(store_add_baseline(lab->fixture->store, &baseline, err), err);
	for (int64_t i = 0; i < 5; i++)
		measure(lab, PURPOSE_BASELINE, baseline.id, i, commit, 0, 0);
	assert_ok(store_complete_baseline(lab->fixture->store, baseline.id, 4 * DAY, err), err);
	store_baseline_free(&baseline);
}

/* A night whose head lies at LEVEL, not yet worked on; it began so many days after the pin. */
static struct store_night prepare(struct lab *lab, const char *kind, double level)
{
	struct error *err = &lab->fixture->err;
	struct store_night night = {.kind = text_copy(kind),
				    .tree_name = text_copy("demo"),
				    .machine = text_copy("qemu"),
				    .baseline = 1,
				    .retest_pairs = PAIRS,
				    .layouts = LAYOUTS,
				    .started_seconds = (5 + lab->nights) * DAY};
	auto_free char *commit = commit_id(++lab->nights);
	strcpy(night.head, commit);
	assert_ok(store_add_night(lab->fixture->store, &night, err), err);
	for (int64_t i = 0; i < BOOTS; i++)
		measure(lab, PURPOSE_NIGHT, night.id, i, commit, 0, level);
	return night;
}

/* What the retest of this night will find, beside the kernel of night REFERENCE. */
static void prepare_retest(struct lab *lab, const struct store_night *night, int64_t reference,
			   double step)
{
	auto_free char *commit = commit_id(reference);
	for (int64_t i = 0; i < (int64_t)2 * PAIRS; i++) {
		bool head = planner_retest_is_head(i);
		measure(lab, PURPOSE_RETEST, night->id, i, head ? night->head : commit,
			planner_retest_layout(i, LAYOUTS), head ? step : 0);
	}
}

static void run(struct lab *lab, struct store_night *night, const char *outcome)
{
	struct error *err = &lab->fixture->err;
	assert_ok(conductor_night(&lab->context, night, err), err);
	assert_string_equal(night->outcome, outcome);
	assert_int_equal(night->state, NIGHT_DONE);
	store_night_free(night);
}

static void quiet_nights(struct lab *lab, size_t count)
{
	while (count--) {
		struct store_night night = prepare(lab, "nightly", 0);
		run(lab, &night, "no regression");
	}
}

/* As after a hunt: the night is done, and the series is worse by this much. */
static void conclude_regression(struct lab *lab, const struct store_night *night, double change)
{
	struct error *err = &lab->fixture->err;
	struct store_verdict verdict = {.series = series,
					.verdict = {.state = VERDICT_REGRESSION, .change = change}};
	struct store_night done = *night;
	done.state = NIGHT_DONE;
	assert_ok(store_put_verdicts(lab->fixture->store, night->id, 1, &verdict, 1, err), err);
	assert_ok(store_update_night(lab->fixture->store, &done, err), err);
}

static char *tell(struct lab *lab, int64_t id)
{
	struct error *err = &lab->fixture->err;
	struct store_night night;
	auto_text struct text text = {0};
	assert_ok(store_get_night(lab->fixture->store, id, &night, err), err);
	assert_ok(report_night(&lab->context, &night, &text, err), err);
	store_night_free(&night);
	return text_take(&text);
}

static void test_young_nights_say_that_they_are_less_certain(void **state)
{
	struct lab *lab = *state;
	pin(lab);
	quiet_nights(lab, 9);
	auto_free char *young = tell(lab, 8);
	auto_free char *grown = tell(lab, 9);
	assert_contains(young, "less certain");
	assert_contains(grown, "8 nights");
	assert_null(strstr(grown, "less certain"));
}

static void test_a_flag_that_does_not_repeat_stays_in_the_window(void **state)
{
	struct lab *lab = *state;
	pin(lab);
	quiet_nights(lab, 10);
	struct store_night night = prepare(lab, "nightly", 0.03);
	prepare_retest(lab, &night, 10, 0);
	run(lab, &night, "no regression");
	auto_free char *report = tell(lab, 11);
	assert_contains(report, "measured again");
	assert_contains(report, "not-repeated");
	quiet_nights(lab, 1);
	auto_free char *next = tell(lab, 12);
	assert_contains(next, "11 nights");
}

static void test_a_regression_is_hunted_once_and_known_afterwards_until_it_is_fixed(void **state)
{
	struct lab *lab = *state;
	pin(lab);
	quiet_nights(lab, 10);
	struct store_night night = prepare(lab, "nightly", 0.05);
	conclude_regression(lab, &night, 0.05);
	store_night_free(&night);
	night = prepare(lab, "nightly", 0.05);
	run(lab, &night, NIGHT_KNOWN);
	auto_free char *report = tell(lab, 12);
	assert_contains(report, "known since night 11");
	assert_null(strstr(report, "measured again"));
	night = prepare(lab, "nightly", 0);
	run(lab, &night, "no regression");
	auto_free char *fixed = tell(lab, 13);
	assert_contains(fixed, "fixed: was open since night 11");
	auto_free char *compared = NULL;
	quiet_nights(lab, 1);
	compared = tell(lab, 14);
	assert_contains(compared, "11 nights");
}

static void test_an_accepted_step_is_what_nights_are_compared_with(void **state)
{
	struct lab *lab = *state;
	struct error *err = &lab->fixture->err;
	pin(lab);
	quiet_nights(lab, 10);
	struct store_night night = prepare(lab, "nightly", 0.05);
	conclude_regression(lab, &night, 0.05);
	char person[] = "ada";
	struct store_acknowledgement acknowledgement = {
		.night = night.id, .series = series, .person = person};
	assert_ok(store_add_acknowledgement(lab->fixture->store, &acknowledgement, err), err);
	store_night_free(&night);
	for (size_t i = 0; i < 9; i++) {
		night = prepare(lab, "nightly", 0.05);
		run(lab, &night, "no regression");
	}
	auto_free char *report = tell(lab, 20);
	assert_contains(report, "9 nights");
}

static void test_a_judgement_by_hand_is_made_against_the_baseline(void **state)
{
	struct lab *lab = *state;
	pin(lab);
	quiet_nights(lab, 10);
	struct store_night night = prepare(lab, "judge", 0.05);
	prepare_retest(lab, &night, 0xffff, 0.05);
	run(lab, &night, NIGHT_REGRESSION);
	auto_free char *report = tell(lab, 11);
	assert_contains(report, "against the baseline");
	assert_contains(report, "5 boots");
}

static void test_a_pair_whose_other_layout_does_not_build_is_left_out(void **state)
{
	struct lab *lab = *state;
	struct error *err = &lab->fixture->err;
	pin(lab);
	quiet_nights(lab, 10);
	struct store_night night = prepare(lab, "judge", 0.05);
	auto_free char *commit = commit_id(0xffff);
	for (int64_t i = 0; i < (int64_t)2 * PAIRS; i++) {
		bool head = planner_retest_is_head(i);
		struct store_trial trial;
		if (i != 2) {
			measure(lab, PURPOSE_RETEST, night.id, i, head ? night.head : commit,
				planner_retest_layout(i, LAYOUTS), head ? 0.05 : 0);
			continue;
		}
		assert_ok(store_queue_trial(lab->fixture->store, PURPOSE_RETEST, night.id, i,
					    night.head, planner_retest_layout(i, LAYOUTS), "qemu",
					    "{}", &trial, err),
			  err);
		trial.state = TRIAL_FAILED_BUILD;
		assert_ok(store_update_trial(lab->fixture->store, &trial, err), err);
		store_trial_free(&trial);
	}
	run(lab, &night, NIGHT_REGRESSION);
	auto_free char *report = tell(lab, 11);
	assert_contains(report, "3 pairs");
}

static void test_a_creep_is_confirmed_beside_the_pinned_kernel_and_not_hunted(void **state)
{
	struct lab *lab = *state;
	struct error *err = &lab->fixture->err;
	struct store_verdict unchanged = {.series = series};
	pin(lab);
	for (size_t i = 0; i < 30; i++) {
		struct store_night night = prepare(lab, "nightly", 0.0007 * (double)i);
		night.state = NIGHT_DONE;
		assert_ok(store_put_verdicts(lab->fixture->store, night.id, 1, &unchanged, 1, err),
			  err);
		assert_ok(store_update_night(lab->fixture->store, &night, err), err);
		store_night_free(&night);
	}
	struct store_night night = prepare(lab, "nightly", 0.021);
	prepare_retest(lab, &night, 0xffff, 0.021);
	run(lab, &night, NIGHT_CREEP);
	auto_free char *report = tell(lab, 31);
	assert_contains(report, "away from the pinned kernel");
	night = prepare(lab, "nightly", 0.021);
	run(lab, &night, NIGHT_KNOWN);
	auto_free char *next = tell(lab, 32);
	assert_contains(next, "known since night 31, creep");
}

static void test_a_step_in_the_history_is_dated_by_the_weekly_look(void **state)
{
	struct lab *lab = *state;
	struct store_change_point *points;
	struct error *err = &lab->fixture->err;
	size_t count;
	pin(lab);
	quiet_nights(lab, 12);
	for (size_t i = 0; i < 10; i++) {
		struct store_night night = prepare(lab, "nightly", 0.05);
		conclude_regression(lab, &night, 0.05);
		store_night_free(&night);
	}
	/* Days 5, 12, 19 and 26 are Tuesdays: a week ends within the next seven nights. */
	for (size_t i = 0; i < 7; i++) {
		struct store_night night = prepare(lab, "nightly", 0.05);
		run(lab, &night, NIGHT_KNOWN);
	}
	assert_ok(store_list_change_points(lab->fixture->store, series, 0, &points, &count, err),
		  err);
	assert_int_equal(count, 1);
	assert_int_equal(points[0].night, 13);
	assert_close(points[0].change, 0.05, 0.005);
	store_change_points_free(points, count);
}

static void test_what_was_characterised_stands_in_while_nights_are_few(void **state)
{
	struct lab *lab = *state;
	struct error *err = &lab->fixture->err;
	static const double layouts[] = {0, 0.01, -0.012, 0.02, -0.015};
	auto_free char *commit = commit_id(0xcafe);
	struct store_characterisation made = {.tree_name = text_copy("demo"),
					      .machine = text_copy("qemu"),
					      .boots = 15,
					      .layouts = array_length(layouts),
					      .started_seconds = 1};
	strcpy(made.commit, commit);
	assert_ok(store_add_characterisation(lab->fixture->store, &made, err), err);
	for (int64_t i = 0; i < made.boots; i++)
		measure(lab, PURPOSE_CHARACTERISE, made.id, i, commit, (size_t)(i % made.layouts),
			layouts[i % made.layouts]);
	assert_ok(conductor_characterise(&lab->context, &made, err), err);
	store_characterisation_free(&made);
	pin(lab);
	quiet_nights(lab, 1);
	auto_history struct history history = {0};
	auto_history_series struct history_series found = {0};
	assert_ok(history_load(lab->fixture->store, &lab->policy, NULL, &history, err), err);
	history_series_open(&history, series, &found);
	assert_close(found.noise.degrees, 10, 0);
	assert_close(found.noise.layout_degrees, 4, 0);
	assert_close(found.noise.layout_deviation, 0.014, 0.004);
	assert_true(found.noise.deviation > 0 && found.noise.deviation < 0.005);
}

#define lab_test(name) cmocka_unit_test_setup_teardown(name, open_lab, close_lab)

int main(void)
{
	const struct CMUnitTest tests[] = {
		lab_test(test_young_nights_say_that_they_are_less_certain),
		lab_test(test_a_flag_that_does_not_repeat_stays_in_the_window),
		lab_test(test_a_regression_is_hunted_once_and_known_afterwards_until_it_is_fixed),
		lab_test(test_an_accepted_step_is_what_nights_are_compared_with),
		lab_test(test_a_judgement_by_hand_is_made_against_the_baseline),
		lab_test(test_a_pair_whose_other_layout_does_not_build_is_left_out),
		lab_test(test_a_creep_is_confirmed_beside_the_pinned_kernel_and_not_hunted),
		lab_test(test_a_step_in_the_history_is_dated_by_the_weekly_look),
		lab_test(test_what_was_characterised_stands_in_while_nights_are_few),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
