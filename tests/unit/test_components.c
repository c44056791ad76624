/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/stats/components.h"
#include "sentinel/base/cleanup.h"

/* Deterministic "noise": normal scores of n values, in an order without pattern. */
static const double scores[] = {0.0, -1.2, 0.6, 1.2, -0.6};

enum { GROUPS = 6, BOOTS = 5, ITERATIONS = 5 };

struct study {
	double badness[GROUPS * BOOTS][ITERATIONS];
	struct components_boot boots[GROUPS * BOOTS];
};

static struct study design(double group, double between, double within)
{
	static const double group_scores[GROUPS] = {-1.3, 0.6, -0.2, 1.3, 0.2, -0.6};
	struct study study;
	for (size_t i = 0; i < GROUPS * BOOTS; i++)
		for (size_t j = 0; j < ITERATIONS; j++)
			study.badness[i][j] = 3 + group * group_scores[i / BOOTS] +
					      between * scores[i % BOOTS] +
					      within * scores[(i * 2 + j) % ITERATIONS];
	return study;
}

static struct components estimate(struct study *study, size_t count)
{
	struct components components;
	for (size_t i = 0; i < count; i++)
		study->boots[i] =
			(struct components_boot){i / BOOTS, study->badness[i], ITERATIONS};
	components_estimate(study->boots, count, &components);
	return components;
}

/* The sample deviation of the scores: sqrt((2 x 1.44 + 2 x 0.36) / 4). */
#define SCORE_DEVIATION sqrt(3.6 / 4)

static void test_each_level_gets_its_own_noise(void **state)
{
	(void)state;
	struct study study = design(0.2, 0.05, 0.01);
	struct components components = estimate(&study, GROUPS * BOOTS);
	assert_close(components.within, 0.01 * SCORE_DEVIATION, 1e-9);
	assert_close(components.within_degrees, GROUPS * BOOTS * (ITERATIONS - 1), 0);
	assert_close(components.boot, 0.05 * SCORE_DEVIATION, 1e-3);
	assert_close(components.boot_degrees, GROUPS * (BOOTS - 1), 0);
	assert_close(components.between,
		     sqrt(components.boot * components.boot -
			  components.within * components.within / ITERATIONS),
		     1e-12);
	/* Variance of the group scores 0.836; less what the boots explain of it. */
	assert_close(components.group, sqrt(0.04 * 0.836 - 0.9 * 0.0025 / BOOTS), 2e-3);
	assert_close(components.group_degrees, GROUPS - 1, 0);
	assert_close(components.iterations, ITERATIONS, 0);
}

/* Group scores have variance 0.836; the mean of five boots scatters by 0.9 / 5 of theirs. */
static void test_what_boots_explain_of_their_groups_is_taken_off(void **state)
{
	(void)state;
	struct study study = design(0.05, 0.05, 0);
	struct components components = estimate(&study, GROUPS * BOOTS);
	assert_close(components.group, 0.05 * sqrt(0.836 - 0.9 / BOOTS), 1e-9);
}

static void test_groups_that_their_boots_explain_have_no_noise_of_their_own(void **state)
{
	(void)state;
	struct study study = design(0, 0.05, 0.01);
	assert_true(estimate(&study, GROUPS * BOOTS).group == 0);
}

static void test_a_wild_iteration_hardly_moves_anything(void **state)
{
	(void)state;
	struct study study = design(0.2, 0.05, 0.01);
	struct components before = estimate(&study, GROUPS * BOOTS);
	study.badness[7][2] += 5;
	struct components after = estimate(&study, GROUPS * BOOTS);
	assert_true(after.within < 1.1 * before.within);
	assert_true(after.boot < 1.1 * before.boot);
}

static void test_one_boot_tells_nothing_of_boots(void **state)
{
	(void)state;
	struct study study = design(0, 0.05, 0.01);
	struct components components = estimate(&study, 1);
	assert_close(components.within_degrees, ITERATIONS - 1, 0);
	assert_true(components.boot_degrees == 0 && components.boot == 0);
	assert_true(components.group_degrees == 0 && components.group == 0);
}

static void test_series_that_repeat_exactly_have_no_noise(void **state)
{
	(void)state;
	struct study study = design(0, 0, 0);
	struct components components = estimate(&study, GROUPS * BOOTS);
	assert_true(components.within == 0 && components.boot == 0 && components.group == 0);
	assert_true(components_boot_weight(&components, 1) == 1);
}

static void test_boots_that_repeat_exactly_still_show_what_a_build_does(void **state)
{
	(void)state;
	struct study study = design(0.2, 0, 0);
	struct components components = estimate(&study, GROUPS * BOOTS);
	assert_true(components.boot == 0);
	assert_close(components.group, 0.2 * sqrt(0.836), 1e-9);
	assert_close(components.group_degrees, GROUPS - 1, 0);
}

static void test_more_iterations_weigh_more_but_never_beyond_the_boot(void **state)
{
	(void)state;
	/* sb = sw = 1, m = 5: one iteration 1.2 / 2, endless ones 1.2 / 1. */
	struct components components = {.iterations = 5, .within = 1, .between = 1};
	assert_close(components_boot_weight(&components, 5), 1, 1e-12);
	assert_close(components_boot_weight(&components, 1), 0.6, 1e-12);
	assert_close(components_boot_weight(&components, 1e9), 1.2, 1e-6);
	/* All of the noise between the iterations: a twentieth is believed to lie between boots. */
	assert_close(components_between(sqrt(1.2), 1, 5), 1, 1e-12);
	assert_close(components_between(sqrt(0.2), 1, 5), sqrt(0.01), 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_level_gets_its_own_noise),
		cmocka_unit_test(test_what_boots_explain_of_their_groups_is_taken_off),
		cmocka_unit_test(test_groups_that_their_boots_explain_have_no_noise_of_their_own),
		cmocka_unit_test(test_a_wild_iteration_hardly_moves_anything),
		cmocka_unit_test(test_one_boot_tells_nothing_of_boots),
		cmocka_unit_test(test_series_that_repeat_exactly_have_no_noise),
		cmocka_unit_test(test_boots_that_repeat_exactly_still_show_what_a_build_does),
		cmocka_unit_test(test_more_iterations_weigh_more_but_never_beyond_the_boot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
