/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/store_fixture.h"

static const char hostile[] = HOSTILE_TEXT;

static struct store_sample sample(const char *series, int64_t iteration, double value)
{
	return (struct store_sample){
		.series = text_copy(series),
		.iteration = iteration,
		.valid = isfinite(value),
		.value = isfinite(value) ? value : 0,
		.resolution = 0.001,
		.unit = text_copy("s"),
		.command = text_copy("hackbench -g 1"),
		.fault = isfinite(value) ? NULL : text_copy("no number: \"Time: nan\""),
	};
}

static void free_samples(struct store_sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(samples[i].series);
		free(samples[i].unit);
		free(samples[i].command);
		free(samples[i].fault);
	}
}

/* Samples of two series in mixed order; iteration 2 of the first one was faulty. */
static int import(struct fixture *fixture, const struct store_trial *trial, double base)
{
	struct store_sample samples[] = {
		sample("b/two/time", 0, base + 10),
		sample("b/one/time", 2, NAN),
		sample("b/one/time", 1, base + 1),
		sample("b/one/time", 0, base),
	};
	int result = store_import(fixture->store, trial, "{\"seal\":1}", 10, samples,
				  array_length(samples), &fixture->err);
	free_samples(samples, array_length(samples));
	return result;
}

static void test_reopening_keeps_every_field_of_a_trial(void **state)
{
	struct fixture *fixture = *state;
	auto_store_trial struct store_trial trial = queue(fixture, 0, COMMIT_A);
	assert_int_equal(trial.state, TRIAL_QUEUED);
	assert_null(trial.key);
	trial.state = TRIAL_FAILED_BOOT;
	trial.attempts = 3;
	strcpy(trial.token, "0123456789abcdef0123456789abcdef");
	trial.key = text_copy("key");
	trial.image_digest = text_copy("digest");
	trial.identity = text_copy("identity");
	trial.clock = text_copy("virtual time");
	trial.phase = text_copy("suspect boot");
	trial.cause = text_copy("panic");
	trial.reason = text_copy(hostile);
	trial.console_path = text_copy("/state/console.log");
	trial.trusted_boot_id = text_copy("t");
	trial.suspect_boot_id = text_copy("s");
	trial.seconds = 9.25;
	trial.ended_seconds = 1700000000;
	assert_ok(store_update_trial(fixture->store, &trial, &fixture->err), &fixture->err);
	reopen(fixture);
	auto_store_trial struct store_trial found = {0};
	assert_ok(store_get_trial(fixture->store, trial.id, &found, &fixture->err), &fixture->err);
	assert_int_equal(found.purpose, PURPOSE_NIGHT);
	assert_int_equal(found.owner, 7);
	assert_string_equal(found.commit, COMMIT_A);
	assert_string_equal(found.machine, "qemu");
	assert_string_equal(found.plan, "{\"steps\":[]}");
	assert_int_equal(found.state, TRIAL_FAILED_BOOT);
	assert_int_equal(found.attempts, 3);
	assert_string_equal(found.token, trial.token);
	assert_string_equal(found.key, "key");
	assert_string_equal(found.image_digest, "digest");
	assert_string_equal(found.identity, "identity");
	assert_string_equal(found.clock, "virtual time");
	assert_string_equal(found.phase, "suspect boot");
	assert_string_equal(found.cause, "panic");
	assert_string_equal(found.reason, hostile);
	assert_string_equal(found.console_path, "/state/console.log");
	assert_string_equal(found.trusted_boot_id, "t");
	assert_string_equal(found.suspect_boot_id, "s");
	assert_close(found.seconds, 9.25, 0);
	assert_int_equal(found.created_seconds, trial.created_seconds);
	assert_int_equal(found.ended_seconds, 1700000000);
}

static void test_a_trial_queued_twice_is_one_trial(void **state)
{
	struct fixture *fixture = *state;
	auto_store_trial struct store_trial first = queue(fixture, 0, COMMIT_A);
	first.state = TRIAL_BUILT;
	assert_ok(store_update_trial(fixture->store, &first, &fixture->err), &fixture->err);
	auto_store_trial struct store_trial second = queue(fixture, 0, COMMIT_A);
	auto_store_trial struct store_trial other = queue(fixture, 1, COMMIT_A);
	assert_int_equal(second.id, first.id);
	assert_int_equal(second.state, TRIAL_BUILT);
	assert_int_not_equal(other.id, first.id);
	/* The same place for another commit would mix up what was measured. */
	struct store_trial mixed;
	assert_int_equal(store_queue_trial(fixture->store, PURPOSE_NIGHT, 7, 0, COMMIT_B, 0, "qemu",
					   "{}", &mixed, &fixture->err),
			 -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	assert_contains(fixture->err.message, COMMIT_B);
	assert_int_equal(store_queue_trial(fixture->store, PURPOSE_NIGHT, 7, 0, COMMIT_A, 1, "qemu",
					   "{}", &mixed, &fixture->err),
			 -1);
	assert_contains(fixture->err.message, "layout 1");
}

static void test_trials_are_listed_newest_first_by_any_filter(void **state)
{
	struct fixture *fixture = *state;
	struct store_trial *trials;
	size_t count;
	for (int i = 0; i < 5; i++) {
		struct store_trial trial = queue(fixture, i, i % 2 ? COMMIT_B : COMMIT_A);
		store_trial_free(&trial);
	}
	assert_ok(
		store_list_trials(fixture->store, -1, -1, NULL, 2, &trials, &count, &fixture->err),
		&fixture->err);
	assert_int_equal(count, 2);
	assert_int_equal(trials[0].sequence, 4);
	assert_int_equal(trials[1].sequence, 3);
	store_trials_free(trials, count);
	assert_ok(store_list_trials(fixture->store, PURPOSE_NIGHT, 7, COMMIT_B, SIZE_MAX, &trials,
				    &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	store_trials_free(trials, count);
	assert_ok(store_list_trials(fixture->store, PURPOSE_HUNT, -1, NULL, 10, &trials, &count,
				    &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 0);
	store_trials_free(trials, count);
}

static void test_a_stored_trial_is_neither_imported_again_nor_changed(void **state)
{
	struct fixture *fixture = *state;
	auto_store_trial struct store_trial trial = queue(fixture, 0, COMMIT_A);
	trial.seconds = 1.5;
	trial.state = TRIAL_STORED;
	assert_int_equal(store_update_trial(fixture->store, &trial, &fixture->err), -1);
	assert_ok(import(fixture, &trial, 1), &fixture->err);
	reopen(fixture);
	assert_int_equal(import(fixture, &trial, 2), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	trial.state = TRIAL_QUEUED;
	assert_int_equal(store_update_trial(fixture->store, &trial, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	struct store_boot *boots;
	size_t count;
	assert_ok(store_boots(fixture->store, PURPOSE_NIGHT, 7, NULL, "b/one/time", &boots, &count,
			      &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	assert_close(boots[0].values[0], 1, 0);
	store_boots_free(boots, count);
}

static void test_an_import_that_fails_half_way_leaves_nothing(void **state)
{
	struct fixture *fixture = *state;
	auto_store_trial struct store_trial trial = queue(fixture, 0, COMMIT_A);
	struct store_sample samples[] = {
		sample("b/one/time", 0, 1), sample("b/one/time", 1, 2),
		sample("b/one/time", 0, 3), /* twice */
	};
	assert_int_equal(store_import(fixture->store, &trial, "seal", 4, samples, 3, &fixture->err),
			 -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
	assert_contains(fixture->err.message, "b/one/time");
	auto_store_trial struct store_trial found = {0};
	assert_ok(store_get_trial(fixture->store, trial.id, &found, &fixture->err), &fixture->err);
	assert_int_equal(found.state, TRIAL_QUEUED);
	/* The same import without the fault finds no remains in its way. */
	assert_ok(store_import(fixture->store, &trial, "seal", 4, samples, 2, &fixture->err),
		  &fixture->err);
	free_samples(samples, 3);
}

static void test_a_value_that_is_no_number_is_never_stored_as_valid(void **state)
{
	struct fixture *fixture = *state;
	static const double values[] = {NAN, INFINITY, -INFINITY};
	auto_store_trial struct store_trial trial = queue(fixture, 0, COMMIT_A);
	for (size_t i = 0; i < array_length(values); i++) {
		struct store_sample bad = sample("b/one/time", 0, values[i]);
		bad.valid = true;
		bad.value = values[i];
		assert_int_equal(
			store_import(fixture->store, &trial, "", 0, &bad, 1, &fixture->err), -1);
		assert_int_equal(fixture->err.kind, ERROR_STATE);
		free_samples(&bad, 1);
	}
}

static void test_boots_are_grouped_by_trial_and_series_in_order(void **state)
{
	struct fixture *fixture = *state;
	/* Stored in another order than their sequence. */
	static const int64_t sequences[] = {2, 0, 1, 3};
	for (size_t i = 0; i < array_length(sequences); i++) {
		auto_store_trial struct store_trial trial =
			queue(fixture, sequences[i], sequences[i] == 1 ? COMMIT_B : COMMIT_A);
		trial.identity = text_copy("identity");
		trial.clock = text_copy("virtual time");
		if (sequences[i] != 3) /* never finished: must not appear */
			assert_ok(import(fixture, &trial, (double)(100 * sequences[i])),
				  &fixture->err);
	}
	struct store_boot *boots;
	size_t count;
	assert_ok(store_boots(fixture->store, PURPOSE_NIGHT, 7, NULL, NULL, &boots, &count,
			      &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 6);
	for (size_t i = 0; i < count; i++) {
		bool one = i % 2 == 0;
		double base = 100.0 * (double)(i / 2);
		assert_int_equal(boots[i].sequence, i / 2);
		assert_string_equal(boots[i].series, one ? "b/one/time" : "b/two/time");
		assert_string_equal(boots[i].commit, i / 2 == 1 ? COMMIT_B : COMMIT_A);
		assert_string_equal(boots[i].identity, "identity");
		assert_string_equal(boots[i].command, "hackbench -g 1");
		assert_string_equal(boots[i].unit, "s");
		assert_close(boots[i].resolution, 0.001, 0);
		assert_int_equal(boots[i].count, one ? 2 : 1);
		assert_int_equal(boots[i].invalid, one ? 1 : 0);
		assert_close(boots[i].values[0], one ? base : base + 10, 0);
		if (one)
			assert_close(boots[i].values[1], base + 1, 0);
	}
	store_boots_free(boots, count);
	assert_ok(store_boots_of_commit(fixture->store, "qemu", COMMIT_B, &boots, &count,
					&fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	store_boots_free(boots, count);
	assert_ok(store_boots_of_commit(fixture->store, "other", COMMIT_B, &boots, &count,
					&fixture->err),
		  &fixture->err);
	assert_int_equal(count, 0);
	store_boots_free(boots, count);
}

static void test_a_boot_is_found_by_its_trial_with_its_layout(void **state)
{
	struct fixture *fixture = *state;
	auto_store_trial struct store_trial trial = {0};
	assert_ok(store_queue_trial(fixture->store, PURPOSE_HUNT, 1, 0, COMMIT_A, 2, "qemu", "{}",
				    &trial, &fixture->err),
		  &fixture->err);
	assert_int_equal(trial.layout, 2);
	trial.identity = text_copy("identity");
	trial.clock = text_copy("virtual time");
	assert_ok(import(fixture, &trial, 7), &fixture->err);
	struct store_boot boot;
	assert_ok(store_boot_of_trial(fixture->store, trial.id, "b/one/time", &boot, &fixture->err),
		  &fixture->err);
	assert_int_equal(boot.trial, trial.id);
	assert_int_equal(boot.layout, 2);
	assert_int_equal(boot.count, 2);
	assert_close(boot.values[0], 7, 0);
	store_boot_free(&boot);
	assert_ok(store_boot_of_trial(fixture->store, trial.id, "no/such/series", &boot,
				      &fixture->err),
		  &fixture->err);
	assert_null(boot.series);
	assert_int_equal(boot.count, 0);
}

static void test_what_a_build_and_a_trial_usually_take_is_a_median(void **state)
{
	struct fixture *fixture = *state;
	static const double seconds[] = {600, 14, 16, 0, 15, 14};
	char text[] = "text";
	char tree[] = "demo";
	double build_seconds;
	double trial_seconds;
	assert_ok(store_usual_seconds(fixture->store, tree, "qemu", &build_seconds, &trial_seconds,
				      &fixture->err),
		  &fixture->err);
	assert_close(build_seconds, 0, 0);
	assert_close(trial_seconds, 0, 0);
	for (size_t i = 0; i < array_length(seconds); i++) {
		auto_free char *key = text_format("key %zu", i);
		struct store_build build = {.key = key,
					    .tree_name = tree,
					    .tree_id = COMMIT_A,
					    .image_digest = text,
					    .release = text,
					    .seconds = seconds[i]};
		assert_ok(store_put_build(fixture->store, &build, &fixture->err), &fixture->err);
		auto_store_trial struct store_trial trial = queue(fixture, (int64_t)i, COMMIT_A);
		trial.seconds = 9 + (double)i;
		assert_ok(import(fixture, &trial, 1), &fixture->err);
	}
	assert_ok(store_usual_seconds(fixture->store, tree, "qemu", &build_seconds, &trial_seconds,
				      &fixture->err),
		  &fixture->err);
	/* One was only found, which says nothing; the first one was made from nothing. */
	assert_close(build_seconds, 15, 0);
	assert_close(trial_seconds, 11.5, 0);
	/* A hunt's boots tell what a hunt's boots take, however many others are newer. */
	for (int64_t i = 0; i < 40; i++) {
		auto_store_trial struct store_trial trial = {0};
		enum trial_purpose purpose = i < 20 ? PURPOSE_HUNT : PURPOSE_NIGHT;
		assert_ok(store_queue_trial(fixture->store, purpose, 99, i, COMMIT_A, 0, "qemu",
					    "{}", &trial, &fixture->err),
			  &fixture->err);
		trial.seconds = i < 20 ? 3 : 30;
		assert_ok(import(fixture, &trial, 1), &fixture->err);
	}
	assert_ok(store_usual_seconds(fixture->store, tree, "qemu", &build_seconds, &trial_seconds,
				      &fixture->err),
		  &fixture->err);
	assert_close(trial_seconds, 3, 0);
}

static void test_a_build_put_again_replaces_the_first(void **state)
{
	struct fixture *fixture = *state;
	char text[sizeof(hostile)];
	memcpy(text, hostile, sizeof(hostile));
	char key[] = "key";
	char digest[] = "digest";
	struct store_build build = {.key = key,
				    .tree_name = text,
				    .tree_id = COMMIT_A,
				    .failed = true,
				    .reason = text,
				    .seconds = 14.5};
	struct store_build found = {0};
	bool is_found;
	assert_ok(store_get_build(fixture->store, "key", &is_found, &found, &fixture->err),
		  &fixture->err);
	assert_false(is_found);
	assert_ok(store_put_build(fixture->store, &build, &fixture->err), &fixture->err);
	build.failed = false;
	/* Built, but without an image: refused, and the failure stays. */
	assert_int_equal(store_put_build(fixture->store, &build, &fixture->err), -1);
	reopen(fixture);
	assert_ok(store_get_build(fixture->store, "key", &is_found, &found, &fixture->err),
		  &fixture->err);
	assert_true(is_found);
	assert_true(found.failed);
	assert_string_equal(found.reason, hostile);
	assert_null(found.image_digest);
	store_build_free(&found);
	build.image_digest = build.release = digest;
	assert_ok(store_put_build(fixture->store, &build, &fixture->err), &fixture->err);
	assert_ok(store_get_build(fixture->store, "key", &is_found, &found, &fixture->err),
		  &fixture->err);
	assert_false(found.failed);
	assert_string_equal(found.image_digest, "digest");
	store_build_free(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_reopening_keeps_every_field_of_a_trial),
		store_test(test_a_trial_queued_twice_is_one_trial),
		store_test(test_trials_are_listed_newest_first_by_any_filter),
		store_test(test_a_stored_trial_is_neither_imported_again_nor_changed),
		store_test(test_an_import_that_fails_half_way_leaves_nothing),
		store_test(test_a_value_that_is_no_number_is_never_stored_as_valid),
		store_test(test_boots_are_grouped_by_trial_and_series_in_order),
		store_test(test_a_boot_is_found_by_its_trial_with_its_layout),
		store_test(test_what_a_build_and_a_trial_usually_take_is_a_median),
		store_test(test_a_build_put_again_replaces_the_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
