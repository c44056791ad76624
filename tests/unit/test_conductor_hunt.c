/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One hunt, from its ends to its answer. */
#include "tests/support/conductor_fixture.h"

#include "sentinel/report.h"

static void test_a_hunt_by_hand_names_the_planted_commit(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	world.broken = 6;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.kind, "culprit");
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	assert_int_equal(hunt.retest_boots, 0);
	assert_int_equal(hunt.boots, count_hunt_trials(fixture, hunt.id));
	assert_int_equal(hunt.boots, hunt.reproduce_boots + hunt.search_boots + hunt.confirm_boots);
	assert_int_equal(world.highest_layout, 0);
	store_hunt_free(&hunt);
}

static void test_a_culprit_behind_a_broken_commit_is_a_set(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	world.broken = 8;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.kind, "set");
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	assert_contains(body, "it is one of these, which nothing testable tells apart:");
	assert_contains(body, "sched:change-8\n");
	assert_contains(body, "sched:change-9\n");
	assert_contains(body, "1 commit could not be tested");
	assert_contains(subject, "one of 2 commits");
	auto_free char *pair =
		text_format("- %.10s and %.10s were measured", fixture->ids[9], fixture->ids[7]);
	assert_contains(body, pair);
	store_hunt_free(&hunt);
}

static void test_layouts_that_a_hunt_asks_for_are_built_and_told(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	struct store_hunt hunt = add_hunt(fixture, 0, 2);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	assert_int_equal(world.highest_layout, 1);
	struct store_hunt_event *events;
	size_t count;
	assert_ok(store_get_hunt_events(fixture->context.store, hunt.id, &events, &count,
					&fixture->err),
		  &fixture->err);
	for (size_t i = 0; i < count; i++) {
		auto_store_trial struct store_trial trial = {0};
		assert_ok(store_get_trial(fixture->context.store, events[i].trial, &trial,
					  &fixture->err),
			  &fixture->err);
		assert_int_equal(events[i].layout, trial.layout);
		assert_string_equal(events[i].commit, trial.commit);
	}
	store_hunt_events_free(events, count);
	store_hunt_free(&hunt);
}

static void test_a_nights_retest_is_the_reproduction(void **state)
{
	struct fixture *fixture = *state;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[5]);
	assert_int_equal(hunt.retest_boots, 2 * PAIRS);
	assert_int_equal(hunt.reproduce_boots, 0);
	assert_int_equal(hunt.boots, count_hunt_trials(fixture, hunt.id));
	assert_close(hunt.price.boot_seconds, 10, 0);
	struct store_hunt_event *events;
	size_t count;
	assert_ok(store_get_hunt_events(fixture->context.store, hunt.id, &events, &count,
					&fixture->err),
		  &fixture->err);
	/* Two of the baseline's boots are alike, and both of the head's. */
	for (size_t i = 0; i < 4 + 2 * PAIRS; i++)
		assert_int_equal(events[i].stage, i < 4 ? HUNT_KNOWN : HUNT_REPRODUCE);
	assert_int_equal(events[4].layout, 0);
	assert_int_equal(events[6].layout, 1);
	assert_int_equal(events[4 + 2 * PAIRS].stage, HUNT_SEARCH);
	store_hunt_events_free(events, count);
	store_hunt_free(&hunt);
}

static void test_a_retest_pair_with_an_invalid_boot_is_no_evidence(void **state)
{
	struct fixture *fixture = *state;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	/* One more pair, whose second boot never came to an end. */
	run(fixture, PURPOSE_RETEST, night, 2 * PAIRS, 0, 0);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	assert_int_equal(hunt.retest_boots, 2 * PAIRS);
	store_hunt_free(&hunt);
}

static void test_an_interruption_anywhere_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	size_t boots = 0;
	world.steps[11] = 0.1;
	for (size_t round = 0; round < 14; round++) {
		/* The first one finds no prices in the store, the second is the pattern. */
		size_t stop = round < 2 ? 0 : round - 1;
		world.boots = 0;
		world.noise = 99;
		world.fail_at = stop;
		struct store_hunt hunt = add_hunt(fixture, 0, 1);
		int result = conductor_hunt(&fixture->context, &hunt, NULL, 0, &fixture->err);
		if (stop) {
			assert_int_equal(result, -1);
			assert_int_equal(fixture->err.kind, ERROR_INTERRUPTED);
			hunt_down(fixture, &hunt);
			assert_int_equal(world.boots, boots);
		}
		assert_string_equal(hunt.culprit, fixture->ids[11]);
		boots = world.boots;
		store_hunt_free(&hunt);
	}
}

static void test_two_changes_are_both_found(void **state)
{
	struct fixture *fixture = *state;
	world.steps[4] = 0.1;
	world.steps[12] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	struct store_hunt *hunts;
	size_t count;
	bool found[COMMITS] = {false};
	hunt_down(fixture, &hunt);
	if (!hunt.culprit[0])
		fail_msg("%s: %s, p %g, more %d", hunt.kind, hunt.reason, hunt.probability,
			 hunt.more_steps);
	assert_true(hunt.more_steps);
	assert_ok(store_list_hunts(fixture->context.store, night, false, &hunts, &count,
				   &fixture->err),
		  &fixture->err);
	assert_in_range(count, 2, 4);
	for (size_t i = 0; i < count; i++) {
		assert_true(hunts[i].finished);
		assert_int_equal(hunts[i].origin, hunts[i].id == hunt.id ? 0 : hunt.id);
		if (hunts[i].culprit[0])
			found[position(hunts[i].culprit)] = true;
	}
	assert_true(found[4]);
	assert_true(found[12]);
	/* The mail about the first tells of the other. */
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	assert_contains(body, "Other changes between the same ends:");
	assert_contains(body, "there is another one");
	store_hunts_free(hunts, count);
	store_hunt_free(&hunt);
}

static void test_a_hunt_that_is_out_of_time_tells_what_it_knows(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	fixture->context.policy.hunt.maximum_minutes = 1;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.kind, "cannot-tell");
	assert_contains(hunt.reason, "maximum-time");
	assert_in_range(world.boots, 6, 8);
	assert_int_equal(hunt.boots, world.boots);
	store_hunt_free(&hunt);
}

static void test_a_prior_only_shifts_the_search(void **state)
{
	struct fixture *fixture = *state;
	char prefix[] = "no/such/path";
	struct policy_weight weight = {prefix, 50};
	world.steps[9] = 0.1;
	fixture->context.policy.hunt.prior = &weight;
	fixture->context.policy.hunt.prior_count = 1;
	struct store_hunt hunt = add_hunt(fixture, 0, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	fixture->context.policy.hunt.prior = NULL;
	fixture->context.policy.hunt.prior_count = 0;
	store_hunt_free(&hunt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		conductor_test(test_a_hunt_by_hand_names_the_planted_commit),
		conductor_test(test_a_culprit_behind_a_broken_commit_is_a_set),
		conductor_test(test_layouts_that_a_hunt_asks_for_are_built_and_told),
		conductor_test(test_a_nights_retest_is_the_reproduction),
		conductor_test(test_a_retest_pair_with_an_invalid_boot_is_no_evidence),
		conductor_test(test_an_interruption_anywhere_changes_nothing),
		conductor_test(test_two_changes_are_both_found),
		conductor_test(test_a_hunt_that_is_out_of_time_tells_what_it_knows),
		conductor_test(test_a_prior_only_shifts_the_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
