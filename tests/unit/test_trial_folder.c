/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/machine/trial_folder.h"
#include "bench/sealed_file.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef"

struct fixture {
	char *folder;
	struct ticket ticket;
	struct machine_trial trial;
};

static int setup(void **state)
{
	struct error err;
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	fixture->folder = make_scratch();
	fixture->ticket = (struct ticket){.token = TOKEN, .release = text_copy("6.1.192")};
	fixture->trial =
		(struct machine_trial){.ticket = &fixture->ticket, .folder = fixture->folder};
	assert_ok(trial_folder_prepare(fixture->folder, &err), &err);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	file_remove_tree(fixture->folder, NULL);
	ticket_free(&fixture->ticket);
	free(fixture->folder);
	free(fixture);
	return 0;
}

static char *sealed_text(const char *token)
{
	struct sealed_file sealed = {.boot_id = (char *)(uintptr_t) "suspect-boot",
				     .release = (char *)(uintptr_t) "6.1.192",
				     .version = (char *)(uintptr_t) "#1",
				     .command_line = (char *)(uintptr_t) "quiet"};
	memcpy(sealed.token, token, TOKEN_SIZE);
	return sealed_file_to_text(&sealed);
}

static void write_sealed(const struct fixture *fixture, const char *bytes, size_t length)
{
	struct error err;
	struct machine_outcome outcome = {0};
	assert_ok(trial_folder_write_sealed(fixture->folder, bytes, length, &outcome, &err), &err);
	machine_outcome_free(&outcome);
}

static void write_arrival(const struct fixture *fixture)
{
	struct error err;
	struct machine_outcome outcome = {.trusted_boot_id = (char *)(uintptr_t) "trusted-boot",
					  .suspect_boot_id = (char *)(uintptr_t) "suspect-boot"};
	assert_ok(trial_folder_write_arrival(&fixture->trial, &outcome, "#1", &err), &err);
}

static void test_a_sealed_file_of_this_trial_is_recovered(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_free char *text = sealed_text(TOKEN);
	write_arrival(fixture);
	write_sealed(fixture, text, strlen(text));
	auto_machine_outcome struct machine_outcome outcome = {0};
	assert_ok(machine_recover_trial(NULL, &fixture->trial, &outcome, &err), &err);
	assert_int_equal(outcome.phase, PHASE_SEALED);
	assert_int_equal(outcome.cause, CAUSE_NONE);
	assert_null(outcome.reason);
	assert_string_equal(outcome.trusted_boot_id, "trusted-boot");
	assert_string_equal(outcome.suspect_boot_id, "suspect-boot");
	assert_true(file_exists(outcome.sealed_path));
}

static void assert_interrupted(const struct fixture *fixture)
{
	struct error err;
	auto_machine_outcome struct machine_outcome outcome = {0};
	assert_ok(machine_recover_trial(NULL, &fixture->trial, &outcome, &err), &err);
	assert_int_equal(outcome.phase, PHASE_TRUSTED_BOOT);
	assert_string_equal(outcome.reason, "interrupted");
	assert_null(outcome.sealed_path);
}

static void test_a_folder_without_a_seal_is_an_interrupted_trial(void **state)
{
	struct fixture *fixture = *state;
	write_arrival(fixture);
	assert_interrupted(fixture);
}

static void test_a_seal_of_another_trial_is_not_taken(void **state)
{
	auto_free char *text = sealed_text(OTHER);
	write_sealed(*state, text, strlen(text));
	assert_interrupted(*state);
}

static void test_a_cut_seal_is_not_taken(void **state)
{
	auto_free char *text = sealed_text(TOKEN);
	write_sealed(*state, text, strlen(text) - 1);
	assert_interrupted(*state);
}

static void test_recovery_and_a_new_attempt_clear_what_a_kill_left(void **state)
{
	struct fixture *fixture = *state;
	struct error err;
	auto_free char *part = text_format("%s/parts/trial.initrd", fixture->folder);
	auto_free char *arrival = text_format("%s/arrival.json", fixture->folder);
	assert_ok(file_write_durable(part, "x", 1, &err), &err);
	write_arrival(fixture);
	assert_interrupted(fixture);
	assert_false(file_exists(part));
	assert_true(file_exists(arrival));
	assert_ok(trial_folder_prepare(fixture->folder, &err), &err);
	assert_false(file_exists(arrival));
}

static void test_an_unknown_driver_is_refused_and_the_nearest_is_named(void **state)
{
	(void)state;
	struct error err;
	struct machine *machine = NULL;
	struct policy_machine policy = {.name = (char *)(uintptr_t) "lab",
					.driver = (char *)(uintptr_t) "qmeu"};
	assert_int_equal(machine_open(&policy, NULL, 0, "agent", "folder", &machine, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "\"qemu\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_sealed_file_of_this_trial_is_recovered,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_folder_without_a_seal_is_an_interrupted_trial, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_seal_of_another_trial_is_not_taken, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_cut_seal_is_not_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_recovery_and_a_new_attempt_clear_what_a_kill_left, setup, teardown),
		cmocka_unit_test(test_an_unknown_driver_is_refused_and_the_nearest_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
