/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <stdbool.h>

#include "bisect/search.h"
#include "sentinel/base/cleanup.h"

enum { COMMITS = 8, BOOTS_LIMIT = 1000, ENTITIES_LIMIT = 2 * COMMITS };

#define DEVIATION 0.1

/* Eight commits, and what is known of them: nothing at first. */
struct bench {
	struct commit_graph *graph;
	struct search_entity entities[ENTITIES_LIMIT];
	bool excluded[COMMITS];
	bool untestable[COMMITS];
	double prior[COMMITS];
	size_t same[4][2];
	struct search_evidence evidence;
	struct search_price price;
	struct search_belief belief;
};

static void prepare(struct bench *bench, size_t *const *parents, const size_t *parent_counts)
{
	struct error err;
	assert_ok(commit_graph_create(COMMITS, parents, parent_counts, &bench->graph, &err), &err);
	bench->price = (struct search_price){.boot = 1, .layouts = 1};
	bench->evidence = (struct search_evidence){
		.entities = bench->entities,
		.excluded = bench->excluded,
		.untestable = bench->untestable,
		.same = bench->same,
		.deviation = DEVIATION,
		.minimum_step = 0.2,
	};
}

static int line_setup(void **state)
{
	static struct bench bench;
	static size_t before[COMMITS];
	size_t *parents[COMMITS];
	size_t counts[COMMITS];
	memset(&bench, 0, sizeof(bench));
	for (size_t commit = 0; commit < COMMITS; commit++) {
		before[commit] = commit ? commit - 1 : 0;
		parents[commit] = &before[commit];
		counts[commit] = commit ? 1 : 0;
	}
	prepare(&bench, parents, counts);
	*state = &bench;
	return 0;
}

/*
 *  0 - 1 - 2 --- 3 ----- 6 - 7
 *       \               /
 *        4 ----------- 5
 */
static int branched_setup(void **state)
{
	static struct bench bench;
	static size_t p[] = {0, 1, 2, 1, 4, 3, 5, 6};
	size_t *parents[COMMITS] = {p, p, p + 1, p + 2, p + 3, p + 4, p + 5, p + 7};
	static const size_t counts[COMMITS] = {0, 1, 1, 1, 1, 1, 2, 1};
	memset(&bench, 0, sizeof(bench));
	prepare(&bench, parents, counts);
	*state = &bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	commit_graph_free(&bench->graph);
	search_belief_free(&bench->belief);
	return 0;
}

/* TIMES boots of one build, all with this value; entities are kept in order. */
static void boot_layout(struct bench *bench, size_t commit, size_t layout, double value,
			size_t times)
{
	size_t place = bench->evidence.entity_count++;
	assert_true(place < ENTITIES_LIMIT);
	for (; place > 0 && bench->entities[place - 1].commit > commit; place--)
		bench->entities[place] = bench->entities[place - 1];
	bench->entities[place] = (struct search_entity){
		.commit = commit,
		.layout = layout,
		.location = value,
		.weight = (double)times,
		.degrees = 6 * (double)times,
	};
}

static void boot(struct bench *bench, size_t commit, double value, size_t times)
{
	if (times)
		boot_layout(bench, commit, 0, value, times);
}

static void add_same(struct bench *bench, size_t a, size_t b)
{
	bench->same[bench->evidence.same_count][0] = a;
	bench->same[bench->evidence.same_count++][1] = b;
}

static void think(struct bench *bench)
{
	struct error err;
	search_belief_free(&bench->belief);
	assert_ok(search_believe(bench->graph, &bench->evidence, &bench->belief, &err), &err);
}

static size_t next(struct bench *bench)
{
	struct search_choice choice;
	assert_true(search_next(bench->graph, &bench->evidence, &bench->belief, &bench->price,
				&choice));
	return choice.commit;
}

/* Capacities of the binary-input Gaussian channel from the published study, in bits a boot. */
static void test_information_agrees_with_the_channel_capacity(void **state)
{
	(void)state;
	static const double capacity[][2] = {{0.456, 0.03656}, {0.913, 0.13643}, {1.826, 0.42865},
					     {2.739, 0.69986}, {4.564, 0.95578}, {9.129, 0.99999}};
	for (size_t i = 0; i < array_length(capacity); i++)
		assert_close(search_information(0.5, capacity[i][0]), capacity[i][1], 1e-5);
	assert_close(search_information(0.1, 2), search_information(0.9, 2), 1e-12);
	assert_true(search_information(0.3, 2) < search_information(0.4, 2));
	assert_close(search_information(0.25, 1e9), 0.811278, 1e-6);
	assert_true(search_information(0, 2) == 0 && search_information(1, 2) == 0);
}

/* With both levels known, one boot must weigh exactly as its t distribution says. */
static void test_one_boot_between_known_levels_weighs_as_a_t_distribution(void **state)
{
	struct bench *bench = *state;
	const double value = 0.35;
	boot(bench, 0, 0, BOOTS_LIMIT);
	boot(bench, 7, 1, BOOTS_LIMIT);
	boot(bench, 3, value, 1);
	think(bench);
	double good = pow(1 + value * value / (6 * 0.01), -3.5);
	double bad = pow(1 + (value - 1) * (value - 1) / (6 * 0.01), -3.5);
	double expected = 3 * bad / (3 * bad + 4 * good);
	assert_close(bench->belief.bad_probability[3] / expected, 1, 0.03);
	assert_close(search_step(&bench->belief), 1, 0.01);
	assert_close(bench->belief.bad_probability[7], 1, 1e-12);
	assert_true(bench->belief.bad_probability[0] == 0);
}

/* As the header states the model; the levels lie on a fine lattice from -1 to 2. */
static double likelihood_on_lattice(const struct bench *bench, size_t culprit)
{
	const double spacing = 0.01;
	double total = 0;
	for (double good = -1; good < 2; good += spacing)
		for (double bad = good + bench->evidence.minimum_step; bad < 2; bad += spacing) {
			double log_likelihood = 0;
			for (size_t i = 0; i < bench->evidence.entity_count; i++) {
				const struct search_entity *entity = &bench->entities[i];
				double residual =
					entity->location - (entity->commit >= culprit ? bad : good);
				log_likelihood -=
					(entity->degrees + 1) / 2 *
					log1p(residual * residual / (6 * DEVIATION * DEVIATION));
			}
			total += exp(log_likelihood);
		}
	return total;
}

static void test_the_posterior_is_that_of_levels_integrated_by_brute_force(void **state)
{
	struct bench *bench = *state;
	double likelihood[COMMITS] = {0};
	double total = 0;
	/* The ends, booted once, are a poor guide to the levels; 5 and 6 know better. */
	static const double location[COMMITS] = {0.12, 0, 0, 0.22, 0.1, 0.45, 0.4, 0.2};
	static const size_t boots[COMMITS] = {1, 0, 0, 1, 2, 1, 4, 1};
	for (size_t commit = 0; commit < COMMITS; commit++)
		boot(bench, commit, location[commit], boots[commit]);
	think(bench);
	for (size_t culprit = 1; culprit < COMMITS; culprit++)
		total += likelihood[culprit] = likelihood_on_lattice(bench, culprit);
	for (size_t culprit = 1; culprit < COMMITS; culprit++)
		assert_close(bench->belief.probability[culprit], likelihood[culprit] / total,
			     0.015);
	/* Were 7 the culprit, the levels would lie closer together than a step may be. */
	assert_true(likelihood[7] / total < 0.0005 && bench->belief.probability[7] < 0.0005);
}

static void test_without_boots_the_candidates_are_equally_likely(void **state)
{
	struct bench *bench = *state;
	bench->excluded[2] = bench->excluded[5] = true;
	think(bench);
	for (size_t commit = 0; commit < COMMITS; commit++)
		assert_close(bench->belief.probability[commit],
			     commit == 0 || bench->excluded[commit] ? 0 : 0.2, 1e-12);
}

static void test_a_single_wild_boot_convinces_nobody(void **state)
{
	struct bench *bench = *state;
	boot(bench, 0, 0, 5);
	boot(bench, 7, 0.3, 5);
	boot(bench, 3, 9.9, 1);
	think(bench);
	assert_true(bench->belief.bad_probability[3] < 0.9);
	/* Three more boots of a quiet kernel: the Huber mean of all four. */
	bench->evidence.entity_count = 0;
	boot(bench, 0, 0, 5);
	boot(bench, 7, 0.3, 5);
	boot(bench, 3, 1.5 * DEVIATION / 3, 4);
	think(bench);
	assert_true(bench->belief.bad_probability[3] < 0.1);
}

static void test_equal_images_lie_on_the_same_side(void **state)
{
	struct bench *bench = *state;
	boot(bench, 0, 0, 3);
	boot(bench, 7, 1, 3);
	add_same(bench, 4, 2);
	add_same(bench, 5, 4);
	think(bench);
	assert_true(bench->belief.probability[3] == 0 && bench->belief.probability[4] == 0);
	assert_true(bench->belief.probability[5] == 0);
	assert_close(bench->belief.probability[1], 0.25, 1e-9);
	size_t image[COMMITS];
	search_images(bench->graph, &bench->evidence, image);
	assert_int_equal(image[5], 2);
	assert_int_equal(image[4], 2);
	assert_int_equal(image[3], 3);
}

static void test_no_candidate_left_is_damaged_state(void **state)
{
	struct bench *bench = *state;
	struct error err = {0};
	add_same(bench, 0, 7);
	assert_int_equal(search_believe(bench->graph, &bench->evidence, &bench->belief, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
}

static void test_the_next_boot_halves_and_the_first_of_equals_wins(void **state)
{
	struct bench *bench = *state;
	boot(bench, 0, 0, 3);
	boot(bench, 7, 1, 3);
	think(bench);
	/* Of seven candidates 3 lie at or before commit 3 and 4 at or before commit 4. */
	assert_int_equal(next(bench), 3);
	bench->untestable[3] = true;
	assert_int_equal(next(bench), 4);
	/* A commit that cannot be the culprit tells no more than its parent. */
	bench->untestable[3] = false;
	bench->excluded[4] = true;
	think(bench);
	assert_int_equal(next(bench), 3);
}

static void test_an_image_that_was_measured_is_not_chosen_under_another_name(void **state)
{
	struct bench *bench = *state;
	boot(bench, 0, 0, 3);
	boot(bench, 7, 1, 3);
	boot(bench, 4, 0.5, 1);
	add_same(bench, 3, 4);
	think(bench);
	assert_int_equal(next(bench), 4);
}

static void test_nothing_is_chosen_when_nothing_is_open(void **state)
{
	struct bench *bench = *state;
	struct search_choice choice;
	for (size_t i = 0; i < COMMITS; i++)
		boot(bench, i, i >= 5, 10);
	think(bench);
	assert_true(bench->belief.probability[5] > 0.9999);
	assert_false(search_next(bench->graph, &bench->evidence, &bench->belief, &bench->price,
				 &choice));
}

static void test_priors_shift_the_candidates(void **state)
{
	struct bench *bench = *state;
	for (size_t commit = 0; commit < COMMITS; commit++)
		bench->prior[commit] = commit == 6 ? 7 : 1;
	bench->evidence.prior = bench->prior;
	boot(bench, 0, 0, 3);
	boot(bench, 7, 1, 3);
	think(bench);
	assert_close(bench->belief.probability[6], 7.0 / 13, 1e-9);
	assert_close(bench->belief.probability[1], 1.0 / 13, 1e-9);
	bench->prior[3] = 0;
	think(bench);
	assert_true(bench->belief.probability[3] == 0);
}

static void test_a_build_at_hand_is_preferred_when_building_is_dear(void **state)
{
	struct bench *bench = *state;
	bool built[COMMITS] = {[5] = true};
	boot(bench, 0, 0, 3);
	boot(bench, 7, 1, 3);
	think(bench);
	bench->price = (struct search_price){.build = 1, .boot = 1, .built = built, .layouts = 1};
	assert_int_equal(next(bench), 5);
	bench->price.build = 0.01;
	assert_int_equal(next(bench), 3);
}

static void test_many_boots_of_one_build_do_not_outweigh_its_layout(void **state)
{
	struct bench *bench = *state;
	struct search_choice choice;
	bench->evidence.layout_deviation = 0.5;
	boot(bench, 0, 0, 100);
	boot(bench, 7, 1, 100);
	boot(bench, 3, 0.9, 100);
	think(bench);
	assert_true(bench->belief.bad_probability[3] > 0.5);
	assert_true(bench->belief.bad_probability[3] < 0.99);
	/* Another build of it tells, a 101st boot of this one does not. */
	bench->price.layouts = 2;
	for (size_t commit = 0; commit < COMMITS; commit++)
		bench->untestable[commit] = commit != 3;
	assert_true(search_next(bench->graph, &bench->evidence, &bench->belief, &bench->price,
				&choice));
	assert_int_equal(choice.commit, 3);
	assert_int_equal(choice.layout, 1);
}

/* Four builds a side, 0.3 apart, each known to 0.01: the scatter is theirs. */
static void test_scatter_beyond_the_boots_is_the_layouts(void **state)
{
	struct bench *bench = *state;
	struct search_scatter scatter;
	for (size_t layout = 0; layout < 4; layout++) {
		boot_layout(bench, 0, layout, 0.1 * (double)layout, 100);
		boot_layout(bench, 7, layout, 3 + 0.1 * (double)layout, 100);
	}
	bench->evidence.layout_deviation = 0.1;
	think(bench);
	search_scatter(&bench->evidence, &bench->belief, &scatter);
	assert_close(scatter.degrees, 6, 1e-12);
	assert_true(scatter.layout_variance > 0.006 && scatter.layout_variance < 0.02);
	assert_true(scatter.chi_square < 16);
	bench->evidence.layout_deviation = 0;
	search_scatter(&bench->evidence, &bench->belief, &scatter);
	assert_true(scatter.chi_square > 40);
}

static void test_a_run_of_untestable_commits_stays_together(void **state)
{
	struct bench *bench = *state;
	bool member[COMMITS];
	double together;
	size_t group[COMMITS];
	bench->untestable[3] = bench->untestable[4] = true;
	boot(bench, 0, 0, 5);
	boot(bench, 2, 0, 5);
	boot(bench, 5, 1, 5);
	boot(bench, 7, 1, 5);
	think(bench);
	search_groups(bench->graph, &bench->evidence, group);
	assert_true(group[3] == group[5] && group[4] == group[5]);
	assert_true(group[2] != group[3] && group[6] != group[5]);
	assert_int_equal(search_suspects(bench->graph, &bench->evidence, bench->belief.probability,
					 member, &together),
			 3);
	assert_true(together > 0.999 && member[3] && member[4] && member[5]);
	/* Half of the probability would be held by two of them. */
	assert_int_equal(search_credible_set(bench->graph, &bench->evidence,
					     bench->belief.probability, 0.5, member),
			 3);
}

static void test_only_a_testable_commit_tells_the_branches_of_a_merge_apart(void **state)
{
	struct bench *bench = *state;
	size_t group[COMMITS];
	bench->untestable[3] = bench->untestable[5] = true;
	search_groups(bench->graph, &bench->evidence, group);
	/* No testable commit but the merge and what follows holds either of them. */
	assert_true(group[3] == group[6] && group[5] == group[6]);
	bench->untestable[3] = false;
	search_groups(bench->graph, &bench->evidence, group);
	assert_true(group[3] != group[6] && group[5] == group[6]);
}

static void test_boots_of_a_side_branch_find_the_culprit_in_it(void **state)
{
	struct bench *bench = *state;
	boot(bench, 0, 0, 3);
	boot(bench, 7, 1, 3);
	boot(bench, 3, 0, 2);
	boot(bench, 5, 1, 2);
	think(bench);
	assert_close(bench->belief.probability[4], 0.5, 0.01);
	assert_close(bench->belief.probability[5], 0.5, 0.01);
	assert_int_equal(next(bench), 4);
}

static void test_the_credible_set_is_the_smallest(void **state)
{
	struct bench *bench = *state;
	bool member[COMMITS];
	static const double probability[COMMITS] = {0, 0.02, 0.5, 0.01, 0.3, 0.02, 0.14, 0.01};
	assert_int_equal(
		search_credible_set(bench->graph, &bench->evidence, probability, 0.93, member), 3);
	assert_true(member[2] && member[4] && member[6]);
	assert_int_equal(
		search_credible_set(bench->graph, &bench->evidence, probability, 0.95, member), 4);
	assert_true(member[1] && !member[5]);
}

#define line_test(function) cmocka_unit_test_setup_teardown(function, line_setup, teardown)
#define branched_test(function) cmocka_unit_test_setup_teardown(function, branched_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_information_agrees_with_the_channel_capacity),
		line_test(test_one_boot_between_known_levels_weighs_as_a_t_distribution),
		line_test(test_the_posterior_is_that_of_levels_integrated_by_brute_force),
		line_test(test_without_boots_the_candidates_are_equally_likely),
		line_test(test_a_single_wild_boot_convinces_nobody),
		line_test(test_equal_images_lie_on_the_same_side),
		line_test(test_no_candidate_left_is_damaged_state),
		line_test(test_the_next_boot_halves_and_the_first_of_equals_wins),
		line_test(test_an_image_that_was_measured_is_not_chosen_under_another_name),
		line_test(test_nothing_is_chosen_when_nothing_is_open),
		line_test(test_priors_shift_the_candidates),
		line_test(test_a_build_at_hand_is_preferred_when_building_is_dear),
		line_test(test_many_boots_of_one_build_do_not_outweigh_its_layout),
		line_test(test_scatter_beyond_the_boots_is_the_layouts),
		line_test(test_a_run_of_untestable_commits_stays_together),
		branched_test(test_only_a_testable_commit_tells_the_branches_of_a_merge_apart),
		branched_test(test_boots_of_a_side_branch_find_the_culprit_in_it),
		line_test(test_the_credible_set_is_the_smallest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
