/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/error.h"
#include "sentinel/base/json.h"
#include "sentinel/base/text.h"

static void test_foreign_text_becomes_one_safe_line(void **state)
{
	(void)state;
	auto_free char *line = text_one_line("a\r\nBcc: x\x1b[2J\x7f\xc2\x9b", 100);
	assert_string_equal(line, "a  Bcc: x [2J  ");
}

static void test_broken_utf8_is_replaced(void **state)
{
	(void)state;
	/* Overlong slash, lone continuation, surrogate, cut sequence. */
	auto_free char *line = text_one_line("\xc0\xaf|\x80|\xed\xa0\x80|\xe2\x82", 200);
	assert_string_equal(line, "\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd"
				  "\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_text_is_cut_between_characters(void **state)
{
	(void)state;
	auto_free char *line = text_one_line("ab\xe2\x82\xac", 4);
	assert_string_equal(line, "ab");
}

static void test_bodies_keep_their_line_ends(void **state)
{
	(void)state;
	auto_free char *body = text_printable("a\n\tb\0c\r", 7, 100);
	assert_string_equal(body, "a\n\tb c ");
}

static void test_the_nearest_word_is_suggested(void **state)
{
	(void)state;
	static const char *const words[] = {"nightly", "bisect", "build", NULL};
	assert_string_equal(text_nearest("nighly", words), "nightly");
	assert_string_equal(text_nearest("BUILD", words), "build");
	assert_null(text_nearest("frobnicate", words));
	assert_null(text_nearest("", (const char *const[]){"status", NULL}));
}

static void test_a_prefixed_error_keeps_its_kind_and_its_context(void **state)
{
	(void)state;
	struct error err;
	char long_message[4000];
	memset(long_message, 'x', sizeof(long_message));
	long_message[sizeof(long_message) - 1] = '\0';
	assert_int_equal(error_set(&err, ERROR_PEER, "%s", long_message), -1);
	assert_int_equal(error_prefix(&err, "mail %d", 7), -1);
	assert_int_equal(err.kind, ERROR_PEER);
	assert_int_equal(strncmp(err.message, "mail 7: xxx", 11), 0);
	assert_int_equal(error_exit_code(err.kind), 4);
}

static void test_json_of_foreign_bytes_is_always_a_string(void **state)
{
	(void)state;
	auto_json json_t *value = json_foreign("a\0\xff", 3);
	assert_true(json_is_string(value));
	assert_string_equal(json_string_value(value), "a \xef\xbf\xbd");
}

static void test_json_with_a_doubled_member_is_refused(void **state)
{
	(void)state;
	struct error err;
	json_t *value;
	const char *text = "{\"a\":1,\"a\":2}";
	assert_int_equal(json_parse_object(text, strlen(text), "it", &value, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
	assert_int_equal(json_parse_object("[]", 2, "it", &value, &err), -1);
	assert_contains(err.message, "not a JSON object");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign_text_becomes_one_safe_line),
		cmocka_unit_test(test_broken_utf8_is_replaced),
		cmocka_unit_test(test_text_is_cut_between_characters),
		cmocka_unit_test(test_bodies_keep_their_line_ends),
		cmocka_unit_test(test_the_nearest_word_is_suggested),
		cmocka_unit_test(test_a_prefixed_error_keeps_its_kind_and_its_context),
		cmocka_unit_test(test_json_of_foreign_bytes_is_always_a_string),
		cmocka_unit_test(test_json_with_a_doubled_member_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
