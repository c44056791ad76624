/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"

static void run_shell(const char *script, double timeout_seconds, struct process_result *ret_result)
{
	struct error err;
	const char *argv[] = {"sh", "-c", script, NULL};
	struct process_command command = {
		.argv = argv, .capture_limit_bytes = 1000, .timeout_seconds = timeout_seconds};
	assert_ok(process_run(&command, ret_result, &err), &err);
}

static void test_both_streams_and_the_exit_code_are_kept_apart(void **state)
{
	(void)state;
	auto_process_result struct process_result result = {0};
	run_shell("echo out; echo err >&2; exit 3", 10, &result);
	assert_string_equal(result.stdout_bytes, "out\n");
	assert_string_equal(result.stderr_bytes, "err\n");
	assert_int_equal(result.exit_code, 3);
	assert_false(process_succeeded(&result));
}

static void test_output_without_end_is_cut_and_said_to_be_cut(void **state)
{
	(void)state;
	auto_process_result struct process_result result = {0};
	run_shell("head -c 3000000 /dev/zero", 30, &result);
	assert_int_equal(result.stdout_length, 1000);
	assert_true(result.stdout_truncated);
	assert_int_equal(result.exit_code, 0);
}

static void test_a_child_that_never_ends_is_killed_with_its_children(void **state)
{
	(void)state;
	auto_process_result struct process_result result = {0};
	double start = clock_monotonic_seconds();
	run_shell("sleep 1000 & echo $!; wait", 0.5, &result);
	assert_true(result.timed_out);
	assert_true(clock_monotonic_seconds() - start < 100);
	pid_t grandchild = (pid_t)atoi(result.stdout_bytes);
	assert_true(grandchild > 1);
	/* It is reaped by whoever adopted it: wait until it is gone or a zombie. */
	for (int i = 0; i < 100 && kill(grandchild, 0) == 0; i++)
		usleep(10000);
	auto_free char *status_path = text_format("/proc/%d/stat", (int)grandchild);
	FILE *status = fopen(status_path, "r");
	if (status) {
		char line[200] = "";
		assert_non_null(fgets(line, sizeof(line), status));
		fclose(status);
		assert_contains(line, ") Z ");
	}
}

static void test_a_signal_is_reported_as_one(void **state)
{
	(void)state;
	char text[64];
	auto_process_result struct process_result result = {0};
	run_shell("kill -11 $$", 10, &result);
	assert_int_equal(result.signal_number, SIGSEGV);
	assert_int_equal(result.exit_code, -1);
	assert_string_equal(process_describe(&result, 10, text), "signal 11");
}

static void test_a_program_that_is_not_there_is_named(void **state)
{
	(void)state;
	struct error err;
	struct process_result result;
	const char *argv[] = {"no-such-program-at-all", NULL};
	struct process_command command = {.argv = argv};
	assert_int_equal(process_run(&command, &result, &err), -1);
	assert_int_equal(err.kind, ERROR_SYSTEM);
	assert_contains(err.message, "no-such-program-at-all");
	char *path;
	assert_int_equal(process_find_program("no-such-program-at-all", "its-package", &path, &err),
			 -1);
	assert_contains(err.message, "its-package");
}

static void test_the_child_speaks_c_and_has_no_input(void **state)
{
	(void)state;
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	auto_process_result struct process_result result = {0};
	run_shell("cat; printf %s \"$LC_ALL\"", 10, &result);
	assert_string_equal(result.stdout_bytes, "C");
}

static void test_ignored_signals_are_not_inherited(void **state)
{
	(void)state;
	signal(SIGINT, SIG_IGN);
	auto_process_result struct process_result result = {0};
	run_shell("kill -2 $$; echo alive", 10, &result);
	signal(SIGINT, SIG_DFL);
	assert_int_equal(result.signal_number, SIGINT);
}

static void test_a_started_child_dies_when_we_are_killed(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t middle = fork();
	if (middle == 0) {
		const char *argv[] = {"sleep", "1000", NULL};
		struct process_command command = {.argv = argv};
		struct process child = {0};
		struct error err;
		if (process_start(&command, &child, &err) < 0)
			_exit(1);
		if (write(ends[1], &child.pid, sizeof(child.pid)) < 0)
			_exit(1);
		pause();
	}
	pid_t child;
	assert_int_equal(read(ends[0], &child, sizeof(child)), sizeof(child));
	kill(middle, SIGKILL);
	waitpid(middle, NULL, 0);
	auto_free char *path = text_format("/proc/%d/stat", (int)child);
	bool gone = false;
	for (int i = 0; i < 500 && !gone; i++) {
		char line[200] = "";
		FILE *status = fopen(path, "r");
		gone = !status || !fgets(line, sizeof(line), status) || strstr(line, ") Z ");
		if (status)
			fclose(status);
		usleep(10000);
	}
	assert_true(gone);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_streams_and_the_exit_code_are_kept_apart),
		cmocka_unit_test(test_output_without_end_is_cut_and_said_to_be_cut),
		cmocka_unit_test(test_a_child_that_never_ends_is_killed_with_its_children),
		cmocka_unit_test(test_a_signal_is_reported_as_one),
		cmocka_unit_test(test_a_program_that_is_not_there_is_named),
		cmocka_unit_test(test_the_child_speaks_c_and_has_no_input),
		cmocka_unit_test(test_ignored_signals_are_not_inherited),
		cmocka_unit_test(test_a_started_child_dies_when_we_are_killed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
