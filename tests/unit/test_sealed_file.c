/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/sealed_file.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

/* What hackbench 2.4 prints, and a stream full of what no benchmark should print. */
#define HACKBENCH_OUTPUT                                                                           \
	"Running in process mode with 2 groups using 40 file descriptors each (== 80 tasks)\n"     \
	"Each sender will pass 100 messages of 100 bytes\nTime: 1.004\n"
#define HOSTILE_OUTPUT "\x1b[2J\xff\xfe\"}\n{\"event\":\"trusted\"}\n"

static struct sealed_file example(struct run_result runs[static 2])
{
	runs[0] = (struct run_result){.step = 0,
				      .iteration = -1,
				      .wall_seconds = 1.0625,
				      .stdout_text = (char *)(uintptr_t)HACKBENCH_OUTPUT,
				      .stderr_text = (char *)(uintptr_t) ""};
	runs[1] = (struct run_result){.step = 3,
				      .iteration = 4,
				      .exit_code = -1,
				      .signal_number = 9,
				      .timed_out = true,
				      .truncated = true,
				      .wall_seconds = 30,
				      .stdout_text = (char *)(uintptr_t)HOSTILE_OUTPUT,
				      .stderr_text = (char *)(uintptr_t) "\xc3\xa9"};
	return (struct sealed_file){
		.token = TOKEN,
		.boot_id = (char *)(uintptr_t) "b07db4e7-460b-496d-8a57-7bb93f2f7179",
		.release = (char *)(uintptr_t) "6.1.192",
		.version = (char *)(uintptr_t) "#1 SMP",
		.command_line = (char *)(uintptr_t) "console=ttyS0",
		.environment = json_pack("{s:s, s:n}", "clocksource", "tsc", "microcode"),
		.runs = runs,
		.run_count = 2,
	};
}

static char *example_text(void)
{
	struct run_result runs[2];
	struct sealed_file sealed = example(runs);
	char *text = sealed_file_to_text(&sealed);
	json_decref(sealed.environment);
	return text;
}

static void test_a_sealed_file_survives_the_way_to_text_and_back(void **state)
{
	(void)state;
	struct error err;
	auto_free char *text = example_text();
	auto_sealed_file struct sealed_file sealed = {0};
	assert_ok(sealed_file_from_text(text, strlen(text), &sealed, &err), &err);
	assert_string_equal(sealed.token, TOKEN);
	assert_string_equal(sealed.release, "6.1.192");
	assert_null(sealed.fault);
	assert_true(json_is_null(json_object_get(sealed.environment, "microcode")));
	assert_int_equal(json_object_size(sealed.environment_after), 0);
	assert_int_equal(sealed.run_count, 2);
	assert_int_equal(sealed.runs[0].iteration, -1);
	assert_string_equal(sealed.runs[0].stdout_text, HACKBENCH_OUTPUT);
	assert_close(sealed.runs[0].wall_seconds, 1.0625, 0);
	const struct run_result *killed = &sealed.runs[1];
	assert_int_equal(killed->step, 3);
	assert_int_equal(killed->exit_code, -1);
	assert_int_equal(killed->signal_number, 9);
	assert_true(killed->timed_out && killed->truncated);
	assert_string_equal(killed->stderr_text, "\xc3\xa9");
}

static void test_foreign_bytes_travel_as_printable_ascii(void **state)
{
	(void)state;
	auto_free char *text = example_text();
	for (const char *byte = text; *byte; byte++)
		if (*byte < ' ' || *byte > '~')
			fail_msg("byte 0x%02x at %td", (unsigned char)*byte, byte - text);
}

/* Replaces one place of the good text. */
static char *mended(const char *from, const char *to)
{
	auto_free char *good = example_text();
	char *found = strstr(good, from);
	if (!found)
		fail_msg("\"%s\" is not in the example", from);
	return text_format("%.*s%s%s", (int)(found - good), good, to, found + strlen(from));
}

static void test_damaged_files_are_refused_as_state(void **state)
{
	(void)state;
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
		{"\"token\":\"01", "\"token\":\""},
		{"\"exit_code\":-1", "\"exit_code\":300"},
		{"\"exit_code\":-1", "\"exit_code\":\"0\""},
		{"\"step\":3", "\"step\":-3"},
		{"\"step\":3", "\"step\":3000000000"},
		{"\"timed_out\":true", "\"timed_out\":1"},
		{"\"wall_seconds\":1.0625", "\"wall_seconds\":-1"},
		{"\"wall_seconds\":1.0625", "\"wall_seconds\":1e999"},
		{"\"clocksource\":\"tsc\"", "\"clocksource\":{}"},
		{"\"runs\":[", "\"walks\":["},
		{"\"stderr\":\"\"", "\"stderr\":null"},
		{"\"fault\":null", "\"fault\":7"},
		{"\"release\":\"6.1.192\"", "\"release\":\"6.1\\u0000\""},
	};
	for (size_t i = 0; i < array_length(cases); i++) {
		struct error err = {0};
		struct sealed_file sealed;
		auto_free char *text = mended(cases[i].from, cases[i].to);
		if (sealed_file_from_text(text, strlen(text), &sealed, &err) == 0)
			fail_msg("accepted %s", cases[i].to);
		assert_int_equal(err.kind, ERROR_STATE);
	}
}

static void test_every_cut_of_a_file_is_refused(void **state)
{
	(void)state;
	auto_free char *text = example_text();
	for (size_t length = 0; length < strlen(text); length++) {
		struct sealed_file sealed;
		assert_int_equal(sealed_file_from_text(text, length, &sealed, NULL), -1);
	}
}

static void test_a_file_beyond_the_limit_is_refused_unread(void **state)
{
	(void)state;
	struct error err;
	struct sealed_file sealed;
	assert_int_equal(sealed_file_from_text("{}", SEALED_FILE_LIMIT_BYTES + 1, &sealed, &err),
			 -1);
	assert_contains(err.message, "larger than");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sealed_file_survives_the_way_to_text_and_back),
		cmocka_unit_test(test_foreign_bytes_travel_as_printable_ascii),
		cmocka_unit_test(test_damaged_files_are_refused_as_state),
		cmocka_unit_test(test_every_cut_of_a_file_is_refused),
		cmocka_unit_test(test_a_file_beyond_the_limit_is_refused_unread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
