/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/hunt_world.h"

static void test_without_noise_a_line_of_any_length_is_halved(void **state)
{
	(void)state;
	for (size_t commits = 2; commits <= 200; commits++) {
		auto_world struct world *world = linear_world(commits, commits);
		world->deviation = EXACT;
		hunt_down(world);
		assert_true(names_the_culprit(world));
		assert_true((double)commits_searched(world) <= ceil(log2((double)commits)));
	}
}

static void test_without_noise_the_culprit_is_found_in_any_branched_history(void **state)
{
	(void)state;
	size_t merges_blamed = 0;
	for (uint64_t seed = 0; seed < 10000; seed++) {
		auto_world struct world *world = branched_world(seed);
		world->deviation = EXACT;
		hunt_down(world);
		assert_true(names_the_culprit(world));
		merges_blamed += commit_graph_parent_count(world->graph, world->culprit) > 1;
	}
	/* The worlds are not all lines. */
	assert_true(merges_blamed >= 1000);
}

static void test_noise_of_a_third_of_the_step_blames_nobody_wrongly(void **state)
{
	(void)state;
	size_t right = 0;
	size_t wrong = 0;
	size_t boots = 0;
	size_t interval_holds = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		auto_world struct world *world = linear_world(seed, 64);
		hunt_down(world);
		right += names_the_culprit(world);
		wrong += is_wrong_blame(world);
		boots += world->answer.boots;
		if (world->answer.kind == HUNT_CULPRIT)
			assert_true(world->answer.probability >= 0.99);
		interval_holds += names_the_culprit(world) &&
				  world->answer.step_lower <= world->step &&
				  world->answer.step_upper >= world->step;
	}
	print_message("right %zu wrong %zu of 200, %.1f boots, the interval holds %zu\n", right,
		      wrong, (double)boots / 200, interval_holds);
	assert_true(wrong <= 2);
	assert_true(right >= 194);
	assert_true(interval_holds >= right * 90 / 100);
	assert_true(boots <= 200 * 40);
}

static void test_noise_in_branched_histories_blames_nobody_wrongly(void **state)
{
	(void)state;
	size_t right = 0;
	size_t wrong = 0;
	for (uint64_t seed = 1000; seed < 1100; seed++) {
		auto_world struct world *world = branched_world(seed);
		hunt_down(world);
		right += names_the_culprit(world);
		wrong += is_wrong_blame(world);
	}
	print_message("right %zu wrong %zu of 100\n", right, wrong);
	assert_true(wrong <= 1);
	assert_true(right >= 97);
}

static void test_without_a_step_nothing_is_reproduced(void **state)
{
	(void)state;
	size_t not_reproduced = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		auto_world struct world *world = linear_world(seed, 64);
		world->step = 0;
		hunt_down(world);
		not_reproduced += world->answer.kind == HUNT_NOT_REPRODUCIBLE;
		assert_int_not_equal(world->answer.kind, HUNT_CULPRIT);
		assert_int_not_equal(world->answer.kind, HUNT_SET);
	}
	print_message("not reproducible %zu of 200\n", not_reproduced);
	assert_true(not_reproduced >= 190);
}

static void test_runs_of_untestable_commits_keep_the_culprit_in_the_answer(void **state)
{
	(void)state;
	size_t held = 0;
	size_t sets = 0;
	for (uint64_t seed = 0; seed < 200; seed++) {
		auto_world struct world *world = linear_world(seed, 64);
		break_runs(world);
		hunt_down(world);
		held += set_holds_the_culprit(world);
		sets += world->answer.kind == HUNT_SET;
		assert_false(is_wrong_blame(world));
		if (world->answer.kind == HUNT_CULPRIT)
			assert_false(world->broken[world->answer.culprit - 1]);
	}
	print_message("culprit held %zu of 200, sets %zu\n", held, sets);
	assert_true(held >= 196);
	assert_true(sets >= 10);
}

static void test_equal_images_and_commits_that_do_not_matter_never_mislead(void **state)
{
	(void)state;
	size_t equal_images = 0;
	for (uint64_t seed = 0; seed < 100; seed++) {
		auto_world struct world *world =
			seed % 2 ? branched_world(seed) : linear_world(seed, 40);
		share_images(world);
		world->deviation = EXACT;
		hunt_down(world);
		assert_true(names_the_culprit(world));
		for (size_t i = 0; i < world->count; i++)
			equal_images += world->events[i].kind == HUNT_SAME_IMAGE;
	}
	assert_true(equal_images >= 50);
}

static void test_any_prefix_leads_to_the_step_that_it_led_to(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 12; seed++) {
		auto_world struct world *world =
			seed % 2 ? branched_world(seed) : linear_world(seed, 24);
		struct error err;
		break_runs(world);
		share_images(world);
		hunt_down(world);
		struct hunt_problem problem = problem_of(world);
		for (size_t count = world->count; count-- > 0;) {
			struct hunt_step step;
			assert_ok(hunt_next(&problem, world->events, count, &step, &err), &err);
			assert_int_equal(step.action, HUNT_MEASURE);
			assert_int_equal(step.stage, world->steps[count].stage);
			assert_int_equal(step.commit, world->steps[count].commit);
			assert_int_equal(step.likeliest, world->steps[count].likeliest);
			assert_true(step.likeliest_probability ==
				    world->steps[count].likeliest_probability);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_noise_a_line_of_any_length_is_halved),
		cmocka_unit_test(test_without_noise_the_culprit_is_found_in_any_branched_history),
		cmocka_unit_test(test_noise_of_a_third_of_the_step_blames_nobody_wrongly),
		cmocka_unit_test(test_noise_in_branched_histories_blames_nobody_wrongly),
		cmocka_unit_test(test_without_a_step_nothing_is_reproduced),
		cmocka_unit_test(test_runs_of_untestable_commits_keep_the_culprit_in_the_answer),
		cmocka_unit_test(test_equal_images_and_commits_that_do_not_matter_never_mislead),
		cmocka_unit_test(test_any_prefix_leads_to_the_step_that_it_led_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
