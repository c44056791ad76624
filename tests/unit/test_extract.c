/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/extract.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"

#define LOAD(mode, groups, fds, tasks, loops)                                                      \
	"Running in " mode " mode with " groups " groups using " fds                               \
	" file descriptors each (== " tasks " tasks)\nEach sender will pass " loops                \
	" messages of 100 bytes\n"

static char *require_patterns[] = {
	(char[]){"^Running in {mode} mode with {groups} groups using [0-9]{1,4} file "
		 "descriptors each \\(== [0-9]+ tasks\\)$"},
	(char[]){"^Each sender will pass {loops} messages of 100 bytes$"},
};
static char *reject_patterns[] = {
	(char[]){"signaling [0-9]+ worker threads to terminate"},
	(char[]){"longjmp"},
	(char[]){"^SENDER: "},
};
static char name[] = "hackbench";
static char time_pattern[] = "^Time: ([0-9.]+)$";
static char cell_name[] = "groups-2";

static struct policy_benchmark hackbench(void)
{
	return (struct policy_benchmark){
		.name = name,
		.pattern = time_pattern,
		.require = {require_patterns, array_length(require_patterns)},
		.reject = {reject_patterns, array_length(reject_patterns)},
		.timeout_seconds = 60,
	};
}

/* For output of any shape: one pattern and no other rule. */
static struct policy_benchmark only_pattern(char *pattern)
{
	return (struct policy_benchmark){.name = name, .pattern = pattern};
}

/* Extracts with the asked load MODE, GROUPS and LOOPS: "mode=process groups=2 loops=20000". */
static struct extracted extract(const struct policy_benchmark *benchmark, const char *asked,
				const struct run_result *run)
{
	struct error err = {0};
	struct extracted extracted;
	auto_free char *key = text_copy(asked);
	struct policy_case cell = {.name = cell_name, .key = key};
	assert_ok(extract_number(benchmark, &cell, run, &extracted, &err), &err);
	return extracted;
}

static struct extracted extract_text(char *pattern, const char *output)
{
	struct policy_benchmark benchmark = only_pattern(pattern);
	auto_free char *stdout_text = text_copy(output);
	struct run_result run = {.stdout_text = stdout_text, .stderr_text = (char[]){""}};
	return extract(&benchmark, "", &run);
}

static void assert_fault(struct extracted extracted, enum extract_fault fault, const char *evidence)
{
	if (extracted.fault != fault)
		fail_msg("%s (%s), expected %s", extract_fault_name(extracted.fault),
			 extracted.evidence, extract_fault_name(fault));
	assert_contains(extracted.evidence, evidence);
	assert_close(extracted.value, 0, 0);
	assert_close(extracted.resolution, 0, 0);
}

static const struct sample {
	const char *asked;
	int exit_code;
	const char *stdout_text;
	const char *stderr_text;
	enum extract_fault fault;
	double value;
	const char *evidence;
} hackbench_samples[] = {
	{"mode=process groups=2 loops=20000", 0,
	 LOAD("process", "2", "8", "16", "20000") "Time: 0.271\n", "", EXTRACT_OK, 0.271, ""},
	{"mode=threaded groups=2 loops=20000", 0,
	 LOAD("threaded", "2", "8", "16", "20000") "Time: 1.913\n", "", EXTRACT_OK, 1.913, ""},
	{"mode=process groups=1 loops=5000", 0,
	 LOAD("process", "1", "8", "8", "5000") "Time: 0.378\n", "", EXTRACT_OK, 0.378, ""},
	/* rt-tests 0.6x, interrupted: exit code 0 */
	{"mode=process groups=10 loops=100000", 0,
	 LOAD("process", "10", "40", "400", "100000") "signaling 400 worker threads to terminate\n",
	 "** Operation aborted **\n", EXTRACT_INTERRUPTED, 0,
	 "signaling 400 worker threads to terminate"},
	/* -f 0 */
	{"mode=process groups=1 loops=100", 1,
	 "hackbench V 2.40\nUsage:\nhackbench <options>\n\n"
	 "-f       --fds=NUM         number of fds\n",
	 "hackbench: --fds|-f requires an integer > 0\n", EXTRACT_FAILED, 0,
	 "exit code 1: hackbench: --fds|-f requires an integer > 0"},
	/* fork() without processes left */
	{"mode=process groups=2 loops=100", 1,
	 LOAD("process", "2", "40", "80", "100") "signaling 18 worker threads to terminate\n"
						 "signaling 0 worker threads to terminate\n",
	 "fork() (error: Resource temporarily unavailable)\n"
	 "18 children started.  Expected 40\nsending SIGTERM to all child processes\n"
	 "No measurements available\n"
	 "Creating workers (error: Resource temporarily unavailable)\n",
	 EXTRACT_FAILED, 0, "Creating workers (error: Resource temporarily unavailable)"},
	/* a thread-mode run that is torn down */
	{"mode=threaded groups=4 loops=10000000", 143,
	 LOAD("threaded", "4", "40", "160", "10000000"),
	 "SENDER: write (error: Connection reset by peer)\nSENDER: write (error: Broken pipe)\n",
	 EXTRACT_FAILED, 0, "SENDER: write (error: Broken pipe)"},
	/* SIGINT before the start: exit code 0 */
	{"mode=process groups=60 loops=1000", 0,
	 LOAD("process", "60", "40", "2400", "1000") "signaling 680 worker threads to terminate\n",
	 "Signal 2 caught, longjmp'ing out!\nlongjmp'ed out, reaping children\n"
	 "sending SIGTERM to all child processes\nNo measurements available\n",
	 EXTRACT_INTERRUPTED, 0, "signaling 680"},
	/* SIGINT under load: exit code 0 and a Time that is no result */
	{"mode=process groups=4 loops=10000000", 0,
	 LOAD("process", "4", "40", "160", "10000000") "signaling 160 worker threads to "
						       "terminate\nTime: 1.993\n",
	 "Signal 2 caught, longjmp'ing out!\nlongjmp'ed out, reaping children\n"
	 "sending SIGTERM to all child processes\n",
	 EXTRACT_INTERRUPTED, 0, "signaling 160"},
	/* the old stand-alone program does not say what it was asked */
	{"mode=process groups=1 loops=50000", 0, "Running with 1*40 (== 40) tasks.\nTime: 4.096\n",
	 "", EXTRACT_LOAD_MISMATCH, 0, "Running in process mode with 1 groups"},
};

static struct extracted extract_by(const struct policy_benchmark *benchmark,
				   const struct sample *sample, const char *asked)
{
	auto_free char *stdout_text = text_copy(sample->stdout_text);
	auto_free char *stderr_text = text_copy(sample->stderr_text);
	struct run_result run = {
		.exit_code = sample->exit_code,
		.stdout_text = stdout_text,
		.stderr_text = stderr_text,
	};
	return extract(benchmark, asked, &run);
}

static struct extracted extract_sample(const struct sample *sample, const char *asked)
{
	struct policy_benchmark benchmark = hackbench();
	return extract_by(&benchmark, sample, asked);
}

static void test_real_hackbench_outputs_give_their_number_or_their_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_length(hackbench_samples); i++) {
		const struct sample *sample = &hackbench_samples[i];
		struct extracted extracted = extract_sample(sample, sample->asked);
		if (sample->fault != EXTRACT_OK) {
			assert_fault(extracted, sample->fault, sample->evidence);
			continue;
		}
		assert_int_equal(extracted.fault, EXTRACT_OK);
		assert_close(extracted.value, sample->value, 1e-12);
		assert_close(extracted.resolution, 0.001, 1e-15);
	}
}

/* The rules that are shipped ask for 4 senders a group, as the first three samples ran. */
static void test_the_shipped_rules_read_real_outputs(void **state)
{
	static const char *const benchmarks[] = {
		"hackbench-pipe-process",
		"hackbench-socket-thread",
		"hackbench-socket-process",
	};
	struct error err = {0};
	auto_policy struct policy policy = {0};
	auto_free char *folder = make_scratch();
	auto_free char *path = text_format("%s/sentinel.conf", folder);
	auto_free char *example = policy_example();
	(void)state;
	assert_ok(file_write_durable(path, example, strlen(example), &err), &err);
	assert_ok(policy_load(path, SHIPPED_POLICIES, &policy, &err), &err);
	assert_ok(file_remove_tree(folder, &err), &err);
	for (size_t i = 0; i < array_length(benchmarks); i++) {
		const struct policy_benchmark *benchmark;
		assert_ok(policy_find_benchmark(&policy, benchmarks[i], &benchmark, &err), &err);
		for (size_t k = 0; k < array_length(hackbench_samples); k++) {
			const struct sample *sample = &hackbench_samples[k];
			struct extracted extracted = extract_by(benchmark, sample, sample->asked);
			bool ours = strstr(benchmarks[i], "process") ? k == 0 || k == 2 : k == 1;
			assert_close(extracted.value, ours ? sample->value : 0, 1e-12);
			assert_int_equal(extracted.fault == EXTRACT_OK, ours);
		}
	}
}

static void test_another_load_than_asked_never_gives_a_number(void **state)
{
	static const char *const others[] = {
		"mode=process groups=3 loops=20000",  "mode=threaded groups=3 loops=20000",
		"mode=process groups=2 loops=2000",   "mode=threaded groups=1 loops=500",
		"mode=process groups=20 loops=50000",
	};
	(void)state;
	for (size_t i = 0; i < array_length(hackbench_samples); i++)
		for (size_t k = 0; k < array_length(others); k++) {
			struct extracted extracted =
				extract_sample(&hackbench_samples[i], others[k]);
			assert_int_not_equal(extracted.fault, EXTRACT_OK);
			assert_close(extracted.value, 0, 0);
		}
	assert_fault(extract_sample(&hackbench_samples[0], "mode=threaded groups=2 loops=20000"),
		     EXTRACT_LOAD_MISMATCH, "Running in threaded mode with 2 groups");
}

static void test_a_bad_end_is_a_fault_even_with_a_number(void **state)
{
	(void)state;
	struct policy_benchmark benchmark = only_pattern(time_pattern);
	struct run_result run = {.stdout_text = (char[]){"Time: 0.271\n"},
				 .stderr_text = (char[]){""}};
	run.timed_out = true;
	assert_fault(extract(&benchmark, "", &run), EXTRACT_FAILED, "no end within 0 s: Time");
	run.timed_out = false;
	run.exit_code = -1;
	run.signal_number = 9;
	assert_fault(extract(&benchmark, "", &run), EXTRACT_FAILED, "signal 9");
	run.signal_number = 0;
	run.exit_code = 2;
	assert_fault(extract(&benchmark, "", &run), EXTRACT_FAILED, "exit code 2");
	run.exit_code = 0;
	run.truncated = true;
	assert_fault(extract(&benchmark, "", &run), EXTRACT_TRUNCATED, "longer");
	run.truncated = false;
	run.stdout_text[0] = '\0';
	run.exit_code = 1;
	assert_fault(extract(&benchmark, "", &run), EXTRACT_FAILED, "(no output)");
}

static void test_numbers_on_stderr_count_when_stdout_has_none(void **state)
{
	(void)state;
	struct policy_benchmark benchmark = only_pattern(time_pattern);
	struct run_result run = {.stdout_text = (char[]){"Time is money\n"},
				 .stderr_text = (char[]){"noise\nTime: 2.50\n"}};
	struct extracted extracted = extract(&benchmark, "", &run);
	assert_int_equal(extracted.fault, EXTRACT_OK);
	assert_close(extracted.value, 2.5, 1e-12);
	assert_close(extracted.resolution, 0.01, 1e-15);
}

static void test_the_group_named_value_is_the_number(void **state)
{
	(void)state;
	struct extracted extracted =
		extract_text((char[]){"^ *([0-9]+) tasks, (?<value>[0-9.]+) ops/sec$"},
			     "  16 tasks, 97632 ops/sec\n");
	assert_int_equal(extracted.fault, EXTRACT_OK);
	assert_close(extracted.value, 97632, 0);
	assert_close(extracted.resolution, 1, 0);
}

static void test_exponents_move_the_resolution(void **state)
{
	static const struct {
		const char *text;
		double value;
		double resolution;
	} numbers[] = {
		{"1.25e3", 1250, 10}, {"1.25E-3", 0.00125, 1e-5}, {"12e+2", 1200, 100},
		{"7.", 7, 1},         {".5", 0.5, 0.1},           {"97632", 97632, 1},
	};
	(void)state;
	for (size_t i = 0; i < array_length(numbers); i++) {
		struct extracted extracted = extract_text((char[]){"(.+)"}, numbers[i].text);
		assert_close(extracted.value, numbers[i].value, 1e-9);
		assert_close(extracted.resolution, numbers[i].resolution, 1e-9);
	}
}

static void test_numbers_that_cannot_be_trusted_are_implausible(void **state)
{
	static const char *const numbers[] = {
		"nan",
		"NaN",
		"inf",
		"-inf",
		"infinity",
		"0x1p3",
		"0x10",
		"0",
		"0.000",
		"-1.5",
		"1e400",
		"1e-400",
		"1.2.3",
		"1,995",
		"1e",
		"e5",
		"-",
		"1 2",
		" 1",
		"1-2",
		"0,337988",
		"nan(12)",
		"1234567890123456789012345678901234567890123456789012345678901234",
		"1.5\xe2\x80\xaf",
	};
	(void)state;
	for (size_t i = 0; i < array_length(numbers); i++) {
		auto_free char *output = text_format("Time: %s\n", numbers[i]);
		assert_fault(extract_text((char[]){"^Time: (.*)$"}, output), EXTRACT_IMPLAUSIBLE,
			     "not a positive decimal number");
		struct extracted strict = extract_text(time_pattern, output);
		assert_int_not_equal(strict.fault, EXTRACT_OK);
	}
	assert_fault(extract_text((char[]){"^Time: (.*)$"}, "Time: \n"), EXTRACT_IMPLAUSIBLE, "");
}

static void test_two_numbers_are_no_number(void **state)
{
	(void)state;
	assert_fault(extract_text(time_pattern, "Time: 0.271\nTime: 0.272\n"), EXTRACT_INCOMPLETE,
		     "more than one number: \"Time: 0.272\"");
	assert_fault(extract_text(time_pattern, "Time: 0.271\nTime: 0.271\n"), EXTRACT_INCOMPLETE,
		     "more than one number");
	assert_fault(extract_text((char[]){"([0-9])"}, "12"), EXTRACT_INCOMPLETE, "more than one");
}

static void test_output_without_the_number_is_incomplete(void **state)
{
	(void)state;
	assert_fault(extract_text(time_pattern, ""), EXTRACT_INCOMPLETE, "no number");
	assert_fault(extract_text(time_pattern, "Time: 0.27"
						"\xef\xbf\xbd"
						"1\n"),
		     EXTRACT_INCOMPLETE, "^Time: ([0-9.]+)$");
	assert_fault(extract_text((char[]){"^Time:(?: ([0-9.]+))?$"}, "Time:\n"),
		     EXTRACT_INCOMPLETE, "without its number");
}

static void test_evidence_is_one_safe_line(void **state)
{
	(void)state;
	struct policy_benchmark benchmark = only_pattern(time_pattern);
	char hostile[4000];
	memset(hostile, 'x', sizeof(hostile));
	memcpy(hostile, "\x1b[2J\x07\xff\r<", 9);
	hostile[sizeof(hostile) - 1] = '\0';
	struct run_result run = {
		.exit_code = 1, .stdout_text = (char[]){""}, .stderr_text = hostile};
	struct extracted extracted = extract(&benchmark, "", &run);
	assert_int_equal(extracted.fault, EXTRACT_FAILED);
	assert_true(strlen(extracted.evidence) < sizeof(extracted.evidence));
	assert_null(strpbrk(extracted.evidence, "\x1b\x07\r\n\xff"));
	assert_contains(extracted.evidence, "exit code 1:  [2J");
}

static void assert_pattern_error(char *pattern, const char *output, const char *message)
{
	struct error err = {0};
	struct extracted extracted = {.value = 42};
	struct policy_benchmark benchmark = only_pattern(pattern);
	struct policy_case cell = {.name = cell_name, .key = (char[]){""}};
	auto_free char *stdout_text = text_copy(output);
	struct run_result run = {.stdout_text = stdout_text, .stderr_text = (char[]){""}};
	assert_int_equal(extract_number(&benchmark, &cell, &run, &extracted, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "benchmark \"hackbench\"");
	assert_contains(err.message, message);
	assert_close(extracted.value, 42, 0);
}

static void test_catastrophic_backtracking_ends_as_an_error_of_the_policy(void **state)
{
	(void)state;
	assert_pattern_error((char[]){"^((?:a+)+)+$"}, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
			     "match limit exceeded");
	assert_pattern_error((char[]){"^(([a-z])+.)+[A-Z]([a-z])+$"},
			     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			     "limit exceeded");
}

static void test_faulty_patterns_are_errors_of_the_policy(void **state)
{
	(void)state;
	assert_pattern_error((char[]){"^Time: ([0-9.]+$"}, "", "missing closing parenthesis");
	assert_pattern_error((char[]){"^Time: [0-9.]+$"}, "Time: 1\n", "put the number in a group");
	assert_pattern_error((char[]){"(*UTF)^Time: (.*)$"}, "Time: \xff\n", "disabled");
}

static void test_the_longest_stream_is_searched_quickly(void **state)
{
	(void)state;
	struct text output = {0};
	while (output.length < SEALED_STREAM_LIMIT_BYTES - 100)
		text_append(&output, "SENDER: 12.345 Time: no 9.9\n");
	text_append(&output, "Time: 0.271\n");
	struct extracted extracted = extract_text(time_pattern, output.data);
	text_free(&output);
	assert_int_equal(extracted.fault, EXTRACT_OK);
	assert_close(extracted.value, 0.271, 1e-12);
}

static void test_an_unknown_placeholder_is_an_error_and_a_quantifier_is_not(void **state)
{
	struct error err = {0};
	struct extracted extracted;
	char *unknown[] = {(char[]){"^Time: {seconds}$"}};
	char *quantifier[] = {(char[]){"^Time: [0-9]{1,3}\\.[0-9]{3}$"}};
	struct policy_benchmark benchmark = only_pattern(time_pattern);
	struct policy_case cell = {.name = cell_name, .key = (char[]){"groups=2"}};
	struct run_result run = {.stdout_text = (char[]){"Time: 0.271\n"},
				 .stderr_text = (char[]){""}};
	(void)state;
	benchmark.require = (struct string_list){unknown, 1};
	assert_int_equal(extract_number(&benchmark, &cell, &run, &extracted, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_contains(err.message, "{seconds}");
	benchmark.require = (struct string_list){quantifier, 1};
	assert_ok(extract_number(&benchmark, &cell, &run, &extracted, &err), &err);
	assert_int_equal(extracted.fault, EXTRACT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real_hackbench_outputs_give_their_number_or_their_fault),
		cmocka_unit_test(test_the_shipped_rules_read_real_outputs),
		cmocka_unit_test(test_another_load_than_asked_never_gives_a_number),
		cmocka_unit_test(test_a_bad_end_is_a_fault_even_with_a_number),
		cmocka_unit_test(test_numbers_on_stderr_count_when_stdout_has_none),
		cmocka_unit_test(test_the_group_named_value_is_the_number),
		cmocka_unit_test(test_exponents_move_the_resolution),
		cmocka_unit_test(test_numbers_that_cannot_be_trusted_are_implausible),
		cmocka_unit_test(test_two_numbers_are_no_number),
		cmocka_unit_test(test_output_without_the_number_is_incomplete),
		cmocka_unit_test(test_evidence_is_one_safe_line),
		cmocka_unit_test(test_catastrophic_backtracking_ends_as_an_error_of_the_policy),
		cmocka_unit_test(test_faulty_patterns_are_errors_of_the_policy),
		cmocka_unit_test(test_the_longest_stream_is_searched_quickly),
		cmocka_unit_test(test_an_unknown_placeholder_is_an_error_and_a_quantifier_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
