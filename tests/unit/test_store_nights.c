/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/store_fixture.h"

static const char hostile[] = HOSTILE_TEXT;

static struct store_baseline add_baseline(struct fixture *fixture, const char *commit)
{
	struct store_baseline baseline = {.tree_name = text_copy("demo"),
					  .machine = text_copy("qemu"),
					  .boots = 5,
					  .set_seconds = 1700000000};
	strcpy(baseline.commit, commit);
	assert_ok(store_add_baseline(fixture->store, &baseline, &fixture->err), &fixture->err);
	return baseline;
}

static void test_the_newest_complete_baseline_counts(void **state)
{
	struct fixture *fixture = *state;
	struct store_baseline found;
	assert_ok(store_get_baseline(fixture->store, "demo", "qemu", false, &found, &fixture->err),
		  &fixture->err);
	assert_int_equal(found.id, 0);
	struct store_baseline first = add_baseline(fixture, COMMIT_A);
	assert_ok(store_complete_baseline(fixture->store, first.id, 77, &fixture->err),
		  &fixture->err);
	struct store_baseline second = add_baseline(fixture, COMMIT_B);
	assert_ok(store_get_baseline(fixture->store, "demo", "qemu", true, &found, &fixture->err),
		  &fixture->err);
	assert_int_equal(found.id, first.id);
	assert_string_equal(found.commit, COMMIT_A);
	assert_true(found.complete);
	assert_int_equal(found.measured_seconds, 77);
	store_baseline_free(&found);
	assert_ok(store_get_baseline(fixture->store, "demo", "qemu", false, &found, &fixture->err),
		  &fixture->err);
	assert_int_equal(found.id, second.id);
	assert_false(found.complete);
	store_baseline_free(&found);
	assert_int_equal(store_complete_baseline(fixture->store, 99, 77, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	store_baseline_free(&first);
	store_baseline_free(&second);
}

static void test_a_baseline_that_is_measured_again_stays_usable(void **state)
{
	struct fixture *fixture = *state;
	struct store_baseline baseline = add_baseline(fixture, COMMIT_A);
	struct store_baseline found;
	int64_t id = baseline.id;
	/* There is nothing to extend before it is complete. */
	assert_int_equal(store_extend_baseline(fixture->store, id, 10, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	assert_ok(store_complete_baseline(fixture->store, id, 1, &fixture->err), &fixture->err);
	assert_ok(store_extend_baseline(fixture->store, id, 10, &fixture->err), &fixture->err);
	assert_int_equal(store_extend_baseline(fixture->store, id, 10, &fixture->err), -1);
	reopen(fixture);
	assert_ok(store_get_baseline(fixture->store, "demo", "qemu", true, &found, &fixture->err),
		  &fixture->err);
	assert_int_equal(found.id, id);
	assert_int_equal(found.boots, 15);
	assert_true(found.pending);
	store_baseline_free(&found);
	assert_ok(store_complete_baseline(fixture->store, id, 9, &fixture->err), &fixture->err);
	assert_ok(store_get_baseline_by_id(fixture->store, id, &found, &fixture->err),
		  &fixture->err);
	assert_false(found.pending);
	assert_int_equal(found.measured_seconds, 9);
	store_baseline_free(&found);
	assert_int_equal(store_get_baseline_by_id(fixture->store, 99, &found, &fixture->err), -1);
	store_baseline_free(&baseline);
}

static struct store_night add_night(struct fixture *fixture, const char *kind)
{
	struct store_night night = {.kind = text_copy(kind),
				    .tree_name = text_copy("demo"),
				    .machine = text_copy("qemu"),
				    .head = COMMIT_B,
				    .retest_pairs = 6,
				    .layouts = 2,
				    .started_seconds = 1};
	assert_ok(store_add_night(fixture->store, &night, &fixture->err), &fixture->err);
	return night;
}

static void test_unfinished_nights_are_found_again(void **state)
{
	struct fixture *fixture = *state;
	struct store_night judged = add_night(fixture, "judge");
	struct store_night night = add_night(fixture, "nightly");
	struct store_night *nights;
	size_t count;
	night.state = NIGHT_HUNTING;
	night.outcome = text_copy(hostile);
	assert_ok(store_update_night(fixture->store, &night, &fixture->err), &fixture->err);
	reopen(fixture);
	assert_ok(store_list_nights(fixture->store, NULL, true, 10, &nights, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_int_equal(nights[0].id, night.id);
	assert_int_equal(nights[0].state, NIGHT_HUNTING);
	assert_string_equal(nights[0].outcome, hostile);
	assert_int_equal(nights[0].retest_pairs, 6);
	assert_int_equal(nights[0].layouts, 2);
	assert_int_equal(nights[1].id, judged.id);
	store_nights_free(nights, count);
	night.state = NIGHT_DONE;
	assert_ok(store_update_night(fixture->store, &night, &fixture->err), &fixture->err);
	assert_ok(store_list_nights(fixture->store, "nightly", true, 10, &nights, &count,
				    &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 0);
	store_nights_free(nights, count);
	assert_ok(store_list_nights(fixture->store, "nightly", false, 10, &nights, &count,
				    &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	store_nights_free(nights, count);
	store_night_free(&night);
	store_night_free(&judged);
}

static void test_verdicts_of_a_stage_replace_the_earlier_ones(void **state)
{
	struct fixture *fixture = *state;
	struct store_night night = add_night(fixture, "nightly");
	char one[] = "b/one/time";
	char two[] = "b/two/time";
	struct store_verdict verdicts[] = {
		{.series = two,
		 .verdict = {VERDICT_FLAGGED, VERDICT_BY_NIGHTS, 0.1, 10.5, 0.01, 8, 0.05, 1e-6, 5,
			     5},
		 .event = WATCH_GROWN,
		 .since = night.id,
		 .reference = COMMIT_A,
		 .layout_deviation = 0.002},
		{.series = one,
		 .verdict = {VERDICT_KNOWN, VERDICT_BY_BOOTS, NAN, NAN, NAN, 0, INFINITY, NAN, 1,
			     1}},
	};
	struct store_verdict *found;
	size_t count;
	for (int round = 0; round < 2; round++)
		assert_ok(
			store_put_verdicts(fixture->store, night.id, 1, verdicts, 2, &fixture->err),
			&fixture->err);
	assert_ok(store_put_verdicts(fixture->store, night.id, 2, verdicts, 1, &fixture->err),
		  &fixture->err);
	reopen(fixture);
	assert_ok(store_get_verdicts(fixture->store, night.id, 1, &found, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_string_equal(found[0].series, two);
	assert_int_equal(found[0].stage, 1);
	assert_int_equal(found[0].verdict.state, VERDICT_FLAGGED);
	assert_close(found[0].verdict.p_value, 1e-6, 0);
	assert_int_equal(found[0].verdict.boots, 5);
	assert_int_equal(found[0].verdict.basis, VERDICT_BY_NIGHTS);
	assert_int_equal(found[0].event, WATCH_GROWN);
	assert_int_equal(found[0].since, night.id);
	assert_string_equal(found[0].reference, COMMIT_A);
	assert_close(found[0].layout_deviation, 0.002, 0);
	assert_int_equal(found[1].verdict.state, VERDICT_KNOWN);
	assert_int_equal(found[1].since, 0);
	assert_string_equal(found[1].reference, "");
	assert_true(isnan(found[1].verdict.change));
	assert_true(isnan(found[1].verdict.threshold));
	store_verdicts_free(found, count);
	/* A night that does not exist has no verdicts. */
	assert_int_equal(store_put_verdicts(fixture->store, 99, 1, verdicts, 1, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	store_night_free(&night);
}

static struct store_hunt add_hunt(struct fixture *fixture, int64_t night)
{
	struct store_hunt hunt = {
		.night = night,
		.tree_name = text_copy("demo"),
		.machine = text_copy("qemu"),
		.series = text_copy("b/one/time"),
		.good = COMMIT_A,
		.bad = COMMIT_B,
		.rule = {.stop_probability = 0.95,
			 .report_probability = 0.9,
			 .maximum_boots = 60,
			 .flagged_step = 0.1,
			 .minimum_step = 0.02,
			 .layouts = 2,
			 .noise = {.deviation = 0.01,
				   .degrees = 8,
				   .deviation_floor = 0.001,
				   .layout_deviation = 0.003}},
		.started_seconds = 1,
	};
	assert_ok(store_add_hunt(fixture->store, &hunt, &fixture->err), &fixture->err);
	return hunt;
}

static void test_a_hunt_replays_its_events_in_order(void **state)
{
	struct fixture *fixture = *state;
	struct store_hunt hunt = add_hunt(fixture, 0);
	auto_store_trial struct store_trial trial = queue(fixture, 0, COMMIT_A);
	char reason[sizeof(hostile)];
	memcpy(reason, hostile, sizeof(hostile));
	struct store_hunt_event events[] = {
		{.kind = HUNT_MEASURED,
		 .stage = HUNT_REPRODUCE,
		 .commit = COMMIT_A,
		 .layout = 1,
		 .value = 0.5,
		 .weight = 0.8,
		 .trial = trial.id},
		{.kind = HUNT_UNTESTABLE,
		 .stage = HUNT_SEARCH,
		 .commit = COMMIT_B,
		 .reason = reason},
		{.kind = HUNT_SAME_IMAGE,
		 .stage = HUNT_CONFIRM,
		 .commit = COMMIT_B,
		 .other = COMMIT_A},
	};
	for (size_t i = 0; i < array_length(events); i++) {
		assert_ok(store_add_hunt_event(fixture->store, hunt.id, &events[i], &fixture->err),
			  &fixture->err);
		assert_int_equal(events[i].sequence, i);
	}
	/* The same boot is not evidence twice. */
	assert_int_equal(store_add_hunt_event(fixture->store, hunt.id, &events[0], &fixture->err),
			 -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	reopen(fixture);
	struct store_hunt_event *found;
	size_t count;
	assert_ok(store_get_hunt_events(fixture->store, hunt.id, &found, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, array_length(events));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found[i].sequence, i);
		assert_int_equal(found[i].kind, events[i].kind);
		assert_int_equal(found[i].stage, events[i].stage);
		assert_string_equal(found[i].commit, events[i].commit);
		assert_string_equal(found[i].other, events[i].other);
		assert_int_equal(found[i].trial, events[i].trial);
		assert_close(found[i].value, events[i].value, 0);
		assert_int_equal(found[i].layout, events[i].layout);
		assert_close(found[i].weight, events[i].weight, 0);
	}
	assert_string_equal(found[1].reason, hostile);
	assert_null(found[0].reason);
	store_hunt_events_free(found, count);
	store_hunt_free(&hunt);
}

static void test_a_hunt_takes_over_what_was_known_once(void **state)
{
	struct fixture *fixture = *state;
	struct store_hunt hunt = add_hunt(fixture, 0);
	auto_store_trial struct store_trial trial = queue(fixture, 0, COMMIT_A);
	struct store_hunt_event seeds[] = {
		{.kind = HUNT_MEASURED,
		 .stage = HUNT_KNOWN,
		 .commit = COMMIT_A,
		 .value = 0.5,
		 .weight = 1,
		 .trial = trial.id},
		{.kind = HUNT_MEASURED, .stage = HUNT_KNOWN, .commit = COMMIT_B, .value = 0.6},
	};
	hunt.price = (struct hunt_price){14, 9.5};
	hunt.retest_boots = 6;
	/* The second has no weight, so nothing of all this may stay. */
	assert_int_equal(store_seed_hunt(fixture->store, &hunt, seeds, 2, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	seeds[1].weight = 1;
	assert_ok(store_seed_hunt(fixture->store, &hunt, seeds, 2, &fixture->err), &fixture->err);
	assert_int_equal(store_seed_hunt(fixture->store, &hunt, seeds, 0, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	struct store_hunt_event *events;
	struct store_hunt *hunts;
	size_t count;
	assert_ok(store_get_hunt_events(fixture->store, hunt.id, &events, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_int_equal(events[1].sequence, 1);
	assert_int_equal(events[1].stage, HUNT_KNOWN);
	store_hunt_events_free(events, count);
	struct store_hunt next = hunt;
	next.id = 0;
	next.origin = hunt.id;
	assert_ok(store_add_hunt(fixture->store, &next, &fixture->err), &fixture->err);
	assert_ok(store_list_hunts(fixture->store, 0, false, &hunts, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_int_equal(hunts[0].origin, hunt.id);
	assert_close(hunts[1].price.build_seconds, 14, 0);
	assert_close(hunts[1].price.boot_seconds, 9.5, 0);
	assert_int_equal(hunts[1].retest_boots, 6);
	store_hunts_free(hunts, count);
	store_hunt_free(&hunt);
}

static void test_a_hunt_is_finished_once_with_its_set(void **state)
{
	struct fixture *fixture = *state;
	static const char set[][OBJECT_ID_SIZE] = {COMMIT_B, COMMIT_A};
	struct store_night night = add_night(fixture, "nightly");
	struct store_hunt by_hand = add_hunt(fixture, 0);
	struct store_hunt hunt = add_hunt(fixture, night.id);
	struct store_hunt *hunts;
	size_t count;
	hunt.kind = text_copy("culprit");
	strcpy(hunt.culprit, COMMIT_B);
	hunt.probability = 0.993;
	hunt.step = 0.1;
	hunt.step_lower = NAN;
	hunt.boots = 34;
	hunt.layout_share = 0.25;
	hunt.confirm_odds = 400;
	hunt.more_steps = true;
	hunt.reproduce_boots = 4;
	hunt.search_boots = 20;
	hunt.confirm_boots = 10;
	hunt.builds = 11;
	assert_ok(store_finish_hunt(fixture->store, &hunt, set, 2, &fixture->err), &fixture->err);
	assert_int_equal(store_finish_hunt(fixture->store, &hunt, NULL, 0, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	reopen(fixture);
	assert_ok(store_list_hunts(fixture->store, night.id, false, &hunts, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	struct store_hunt found = hunts[0];
	free(hunts);
	assert_true(found.finished);
	assert_string_equal(found.culprit, COMMIT_B);
	assert_int_equal(found.rule.maximum_boots, 60);
	assert_close(found.rule.minimum_step, 0.02, 0);
	assert_close(found.probability, 0.993, 0);
	assert_int_equal(found.rule.layouts, 2);
	assert_close(found.rule.noise.deviation, 0.01, 0);
	assert_close(found.rule.noise.layout_deviation, 0.003, 0);
	assert_close(found.layout_share, 0.25, 0);
	assert_close(found.confirm_odds, 400, 0);
	assert_true(found.more_steps);
	assert_int_equal(found.reproduce_boots + found.search_boots + found.confirm_boots,
			 found.boots);
	assert_int_equal(found.builds, 11);
	assert_true(isnan(found.step_lower));
	store_hunt_free(&found);
	char(*found_set)[OBJECT_ID_SIZE];
	assert_ok(store_get_hunt_set(fixture->store, hunt.id, &found_set, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_string_equal(found_set[0], COMMIT_B);
	assert_string_equal(found_set[1], COMMIT_A);
	free(found_set);
	static const struct {
		int64_t night;
		bool unfinished_only;
		size_t count;
	} listings[] = {{-1, false, 2}, {-1, true, 1}, {0, false, 1}, {1, true, 0}, {1, false, 1}};
	for (size_t i = 0; i < array_length(listings); i++) {
		assert_ok(store_list_hunts(fixture->store, listings[i].night,
					   listings[i].unfinished_only, &hunts, &count,
					   &fixture->err),
			  &fixture->err);
		assert_int_equal(count, listings[i].count);
		store_hunts_free(hunts, count);
	}
	store_hunt_free(&hunt);
	store_hunt_free(&by_hand);
	store_night_free(&night);
}

static void test_a_mail_queued_twice_is_one_mail_and_delivered_is_final(void **state)
{
	struct fixture *fixture = *state;
	static const char *const addresses[] = {"a@example.org", "b@example.org", "a@example.org"};
	char content[] = "Subject: x\r\n\r\n.dot\r\n";
	char subject[sizeof(hostile)];
	memcpy(subject, hostile, sizeof(hostile));
	char message_id[] = "1@example.org";
	struct store_mail mail = {.message_id = message_id,
				  .subject = subject,
				  .content = content,
				  .content_length = strlen(content)};
	assert_ok(store_queue_mail(fixture->store, &mail, addresses, 3, &fixture->err),
		  &fixture->err);
	int64_t id = mail.id;
	struct store_recipient *recipients;
	struct store_mail *mails;
	size_t count;
	assert_ok(store_list_recipients(fixture->store, id, &recipients, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_string_equal(recipients[0].address, "a@example.org");
	assert_int_equal(recipients[0].state, MAIL_QUEUED);
	recipients[0].state = MAIL_DELIVERED;
	recipients[0].code = 250;
	assert_ok(store_update_recipient(fixture->store, &recipients[0], &fixture->err),
		  &fixture->err);
	recipients[0].state = MAIL_QUEUED;
	assert_int_equal(store_update_recipient(fixture->store, &recipients[0], &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	store_recipients_free(recipients, count);

	reopen(fixture);
	mail.id = 0;
	content[0] = 'X';
	assert_ok(store_queue_mail(fixture->store, &mail, addresses, 3, &fixture->err),
		  &fixture->err);
	assert_int_equal(mail.id, id);
	assert_ok(store_list_mails(fixture->store, 10, &mails, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	assert_string_equal(mails[0].subject, hostile);
	assert_string_equal(mails[0].content, "Subject: x\r\n\r\n.dot\r\n");
	assert_int_equal(mails[0].content_length, strlen(content));
	store_mails_free(mails, count);
	assert_ok(store_list_recipients(fixture->store, id, &recipients, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_int_equal(recipients[0].state, MAIL_DELIVERED);
	assert_int_equal(recipients[0].code, 250);
	assert_int_equal(recipients[1].state, MAIL_QUEUED);
	store_recipients_free(recipients, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_the_newest_complete_baseline_counts),
		store_test(test_a_baseline_that_is_measured_again_stays_usable),
		store_test(test_unfinished_nights_are_found_again),
		store_test(test_verdicts_of_a_stage_replace_the_earlier_ones),
		store_test(test_a_hunt_replays_its_events_in_order),
		store_test(test_a_hunt_takes_over_what_was_known_once),
		store_test(test_a_hunt_is_finished_once_with_its_set),
		store_test(test_a_mail_queued_twice_is_one_mail_and_delivered_is_final),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
