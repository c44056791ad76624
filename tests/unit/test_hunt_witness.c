/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <stdbool.h>

#include "bisect/hunt_view.h"
#include "bisect/hunt_witness.h"

/* A line of commits; the series wobbles, the witness hardly does. */
enum { COMMITS = 16, LAST = COMMITS - 1, EVENTS_LIMIT = 400 };

#define STEP 0.05
#define WOBBLE 0.02
#define QUIET 0.001

struct bench {
	struct commit_graph *graph;
	bool excluded[COMMITS];
	struct hunt_noise witnesses[2];
	struct hunt_problem problem;
	size_t culprit;
	size_t witness_culprit;
	double witness_step;
	struct hunt_event events[EVENTS_LIMIT];
	size_t count;
	struct hunt_step step;
	double first_belief; /* in the likeliest commit when the first pair was asked for */
};

static int setup(void **state)
{
	static struct bench bench;
	static size_t before[COMMITS];
	size_t *parents[COMMITS];
	size_t counts[COMMITS];
	struct error err;
	memset(&bench, 0, sizeof(bench));
	for (size_t commit = 0; commit < COMMITS; commit++) {
		before[commit] = commit ? commit - 1 : 0;
		parents[commit] = &before[commit];
		counts[commit] = commit ? 1 : 0;
	}
	assert_ok(commit_graph_create(COMMITS, parents, counts, &bench.graph, &err), &err);
	bench.witnesses[0] = bench.witnesses[1] = (struct hunt_noise){.deviation_floor = 1e-6};
	bench.culprit = bench.witness_culprit = 9;
	bench.witness_step = STEP;
	bench.problem = (struct hunt_problem){
		.graph = bench.graph,
		.excluded = bench.excluded,
		.witnesses = bench.witnesses,
		.witness_count = 1,
		.rule = {.stop_probability = 0.9,
			 .report_probability = 0.99,
			 .maximum_boots = 300,
			 .flagged_step = STEP,
			 .minimum_step = 0.01,
			 .noise = {.deviation = WOBBLE, .degrees = 20, .deviation_floor = 1e-6}},
	};
	*state = &bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	commit_graph_free(&bench->graph);
	hunt_answer_free(&bench->step.answer);
	return 0;
}

static void boot(struct bench *bench, enum hunt_stage stage, size_t commit)
{
	/* Evenly spread over -1.5 … 1.5, in another order for each series. */
	double wobble = (double)(bench->count * 5 % 7) / 2 - 1.5;
	double quiet = (double)(bench->count * 3 % 7) / 2 - 1.5;
	assert_true(bench->count < EVENTS_LIMIT);
	bench->events[bench->count++] = (struct hunt_event){
		.kind = HUNT_MEASURED,
		.stage = stage,
		.commit = commit,
		.values = {(commit >= bench->culprit ? STEP : 0) + WOBBLE * wobble,
			   (commit >= bench->witness_culprit ? bench->witness_step : 0) +
				   QUIET * quiet},
		.weight = 1,
	};
}

static void boot_ends(struct bench *bench, size_t pairs)
{
	for (size_t i = 0; i < pairs; i++) {
		boot(bench, HUNT_KNOWN, 0);
		boot(bench, HUNT_KNOWN, LAST);
	}
}

static struct hunt_series choose(struct bench *bench)
{
	struct hunt_series series;
	hunt_witness_choose(&bench->problem, bench->events, bench->count, &series);
	return series;
}

static void test_a_witness_that_separates_the_ends_more_clearly_is_chosen(void **state)
{
	struct bench *bench = *state;
	boot_ends(bench, 6);
	assert_int_equal(choose(bench).index, 1);
	assert_true(choose(bench).sign == 1);
	assert_close(choose(bench).step, STEP, 0.002);
}

static void test_a_witness_may_move_the_other_way(void **state)
{
	struct bench *bench = *state;
	bench->witness_step = -STEP;
	boot_ends(bench, 6);
	assert_int_equal(choose(bench).index, 1);
	assert_true(choose(bench).sign == -1);
}

static void test_a_witness_that_did_not_move_is_not_chosen(void **state)
{
	struct bench *bench = *state;
	bench->witness_step = 0;
	boot_ends(bench, 6);
	assert_int_equal(choose(bench).index, 0);
}

static void test_a_witness_without_values_is_not_chosen(void **state)
{
	struct bench *bench = *state;
	bench->problem.witness_count = 2;
	boot_ends(bench, 6);
	for (size_t i = 0; i < bench->count; i++) {
		bench->events[i].values[2] = bench->events[i].values[1];
		bench->events[i].values[1] = NAN;
	}
	assert_int_equal(choose(bench).index, 2);
}

static void test_what_the_search_measured_does_not_choose_its_witness(void **state)
{
	struct bench *bench = *state;
	bench->witness_step = 0;
	boot_ends(bench, 6);
	bench->witness_step = STEP;
	for (size_t i = 0; i < 300; i++)
		boot(bench, HUNT_SEARCH, LAST);
	assert_int_equal(choose(bench).index, 0);
}

static double accept_odds(const struct bench *bench)
{
	auto_hunt_confirmation struct hunt_confirmation confirmation = {0};
	hunt_confirmation_replay(&bench->problem, bench->events, bench->count, &confirmation);
	return confirmation.rivals[0].test.accept_odds;
}

static const struct hunt_answer *hunt_down(struct bench *bench)
{
	struct error err;
	for (;;) {
		assert_ok(
			hunt_next(&bench->problem, bench->events, bench->count, &bench->step, &err),
			&err);
		if (bench->step.action == HUNT_FINISHED)
			return &bench->step.answer;
		if (bench->step.stage == HUNT_CONFIRM && bench->first_belief == 0)
			bench->first_belief = bench->step.likeliest_probability;
		boot(bench, bench->step.stage, bench->step.commit);
	}
}

static void test_a_witness_shortens_the_search_and_the_series_itself_confirms(void **state)
{
	struct bench *bench = *state;
	/* History knows the series as noisier than it is here: no boot is a surprise. */
	bench->problem.rule.noise.deviation = 2 * WOBBLE;
	bench->problem.rule.noise.degrees = 40;
	boot_ends(bench, 6);
	const struct hunt_answer *found = hunt_down(bench);
	assert_int_equal(found->kind, HUNT_CULPRIT);
	assert_int_equal(found->culprit, 9);
	assert_int_equal(found->series, 1);
	size_t with = found->search_boots;
	assert_true(found->confirm_pairs >= 2);
	/* What another series has led to must be proved by the pairs alone … */
	assert_close(accept_odds(bench), 199, 0);
	/* … and is half believed before. */
	assert_true(bench->first_belief > 0.4);
	hunt_answer_free(&bench->step.answer);
	bench->count = 0;
	bench->problem.witness_count = 0;
	boot_ends(bench, 6);
	found = hunt_down(bench);
	assert_int_equal(found->culprit, 9);
	assert_true(with < found->search_boots);
	assert_close(accept_odds(bench), 19, 0);
}

static void test_a_witness_that_moved_elsewhere_is_dropped_when_the_series_denies_it(void **state)
{
	struct bench *bench = *state;
	bench->witness_culprit = 4;
	boot_ends(bench, 6);
	const struct hunt_answer *found = hunt_down(bench);
	assert_int_equal(found->kind, HUNT_CULPRIT);
	assert_int_equal(found->culprit, 9);
	assert_int_equal(found->series, 0);
	bool asked = false;
	for (size_t i = 0; i < bench->count; i++)
		asked = asked ||
			(bench->events[i].stage == HUNT_CONFIRM && bench->events[i].commit == 4);
	assert_true(asked);
}

#define witness_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		witness_test(test_a_witness_that_separates_the_ends_more_clearly_is_chosen),
		witness_test(test_a_witness_may_move_the_other_way),
		witness_test(test_a_witness_that_did_not_move_is_not_chosen),
		witness_test(test_a_witness_without_values_is_not_chosen),
		witness_test(test_what_the_search_measured_does_not_choose_its_witness),
		witness_test(test_a_witness_shortens_the_search_and_the_series_itself_confirms),
		witness_test(
			test_a_witness_that_moved_elsewhere_is_dropped_when_the_series_denies_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
