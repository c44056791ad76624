/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <gmime/gmime.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"
#include "sentinel/mail.h"

static const char *const operator_only[] = {"perf-watch@example.org"};

static struct mail_draft draft_of(const char *subject, const char *body)
{
	return (struct mail_draft){
		.from = "Sentinel <sentinel@example.org>",
		.to = operator_only,
		.to_count = 1,
		.subject = subject,
		.message_id = "sentinel-1@example.org",
		.date_seconds = 1700000000,
		.body = body,
	};
}

static char *compose(const struct mail_draft *draft)
{
	struct error err = {0};
	char *content = NULL;
	size_t length;
	assert_ok(mail_compose(draft, &content, &length, &err), &err);
	assert_int_equal(strlen(content), length);
	return content;
}

static GMimeMessage *parse(const char *content)
{
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(content, strlen(content));
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
	assert_non_null(message);
	g_object_unref(parser);
	g_object_unref(stream);
	return message;
}

static char *body_of(GMimeMessage *message)
{
	GMimePart *part = GMIME_PART(g_mime_message_get_mime_part(message));
	GMimeStream *stream = g_mime_stream_mem_new();
	g_mime_data_wrapper_write_to_stream(g_mime_part_get_content(part), stream);
	GByteArray *bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
	auto_text struct text body = {0};
	for (guint i = 0; i < bytes->len; i++)
		if (bytes->data[i] != '\r')
			text_append_bytes(&body, &bytes->data[i], 1);
	g_object_unref(stream);
	return text_take(&body);
}

/* Lines of the header that begin with this name. */
static size_t count_headers(const char *content, const char *name)
{
	const char *end = strstr(content, "\r\n\r\n");
	size_t count = 0;
	for (const char *line = content; line && line < end; line = strstr(line, "\r\n")) {
		line += line == content ? 0 : 2;
		count += strncasecmp(line, name, strlen(name)) == 0;
	}
	return count;
}

static void assert_wire_format(const char *content)
{
	for (const char *line = content; *line;) {
		size_t length = strcspn(line, "\r\n");
		assert_true(length <= 998);
		assert_memory_equal(line + length, "\r\n", 2);
		line += length + 2;
	}
}

static void test_a_plain_report_goes_as_it_is_with_every_header(void **unused)
{
	(void)unused;
	static const char body[] = "Hello\n.\n..two dots\nFrom here\n-- \nSentinel\n";
	struct mail_draft draft = draft_of("[demo] sched: b.time -13.1% regression", body);
	auto_free char *content = compose(&draft);
	assert_wire_format(content);
	assert_contains(content, "Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n");
	assert_contains(content, "From: Sentinel <sentinel@example.org>\r\n");
	assert_contains(content, "To: perf-watch@example.org\r\n");
	assert_contains(content, "Subject: [demo] sched: b.time -13.1% regression\r\n");
	assert_contains(content, "<sentinel-1@example.org>\r\n");
	assert_contains(content, "MIME-Version: 1.0\r\n");
	assert_contains(content, "Content-Type: text/plain; charset=utf-8\r\n");
	assert_contains(content, "Auto-Submitted: auto-generated\r\n");
	assert_contains(content, "X-Mailer: sentinel " SENTINEL_VERSION "\r\n");
	assert_contains(content,
			"\r\n\r\nHello\r\n.\r\n..two dots\r\nFrom here\r\n-- \r\nSentinel\r\n");
}

static void test_a_subject_cannot_add_a_header(void **unused)
{
	(void)unused;
	static const char *const subjects[] = {
		"x\r\nBcc: victim@example.org\r\n\r\nbody",
		"x\nBcc: victim@example.org",
		"x\rBcc: victim@example.org",
		"=?utf-8?q?x=0D=0ABcc:_victim@example.org?=",
		"\xc3\xa4=?utf-8?b?DQpCY2M6IHZpY3RpbUBleGFtcGxlLm9yZw==?=",
		"\xff\xfe not UTF-8 \x1b]0;title\x07",
	};
	for (size_t i = 0; i < array_length(subjects); i++) {
		struct mail_draft draft = draft_of(subjects[i], "text");
		auto_free char *content = compose(&draft);
		assert_wire_format(content);
		assert_int_equal(count_headers(content, "Bcc"), 0);
		assert_int_equal(count_headers(content, "Subject:"), 1);
		GMimeMessage *message = parse(content);
		const char *subject = g_mime_message_get_subject(message);
		assert_null(strpbrk(subject, "\r\n\x1b\x07"));
		assert_int_equal(internet_address_list_length(g_mime_message_get_addresses(
					 message, GMIME_ADDRESS_TYPE_BCC)),
				 0);
		auto_free char *body = body_of(message);
		assert_string_equal(body, "text\n");
		g_object_unref(message);
	}
}

static void test_what_looks_encoded_is_read_as_it_was_written(void **unused)
{
	(void)unused;
	struct mail_draft draft = draft_of("=?utf-8?q?innocent?= fix", "text");
	auto_free char *content = compose(&draft);
	GMimeMessage *message = parse(content);
	assert_string_equal(g_mime_message_get_subject(message), "= ?utf-8?q?innocent?= fix");
	g_object_unref(message);
}

static void test_utf8_and_long_lines_survive_quoted_printable(void **unused)
{
	(void)unused;
	auto_text struct text body = {0};
	text_append(&body,
		    "J\xc3\xb6rg \xe2\x86\x92 \"><script>alert(1)</script>\n.\n=3D trailing \n");
	for (int i = 0; i < 5000; i++)
		text_append(&body, "x");
	text_append(&body, "\n-- \n");
	struct mail_draft draft = draft_of("mm: fix J\xc3\xb6rg's \xe2\x86\x92 leak", body.data);
	auto_free char *content = compose(&draft);
	assert_wire_format(content);
	assert_contains(content, "Content-Transfer-Encoding: quoted-printable\r\n");
	assert_contains(content, "charset=utf-8");
	assert_null(strcasestr(content, "iso-8859"));
	for (const char *c = content; *c; c++)
		assert_true((unsigned char)*c < 0x80);
	GMimeMessage *message = parse(content);
	assert_string_equal(g_mime_message_get_subject(message), draft.subject);
	auto_free char *parsed = body_of(message);
	assert_string_equal(parsed, body.data);
	g_object_unref(message);
}

static void test_only_a_line_over_the_limit_is_encoded(void **unused)
{
	(void)unused;
	for (size_t length = 998; length <= 999; length++) {
		auto_free char *body = memory_array(length + 2, 1);
		memset(body, 'x', length);
		body[length] = '\n';
		struct mail_draft draft = draft_of("x", body);
		auto_free char *content = compose(&draft);
		assert_wire_format(content);
		assert_int_equal(strstr(content, "quoted-printable") != NULL, length > 998);
		GMimeMessage *message = parse(content);
		auto_free char *parsed = body_of(message);
		assert_string_equal(parsed, body);
		g_object_unref(message);
	}
}

static void test_a_very_long_subject_is_cut_and_folded(void **unused)
{
	(void)unused;
	auto_free char *subject = memory_array(20001, 1);
	memset(subject, 'y', 20000);
	struct mail_draft draft = draft_of(subject, "text");
	auto_free char *content = compose(&draft);
	assert_wire_format(content);
	GMimeMessage *message = parse(content);
	assert_int_equal(strlen(g_mime_message_get_subject(message)), 500);
	g_object_unref(message);
}

static void test_a_hostile_display_name_stays_a_name(void **unused)
{
	(void)unused;
	static const char *const to[] = {"\"\\\"><script>, x@evil.example\" <a@example.org>",
					 "J\xc3\xb6rg <b@example.org>"};
	struct mail_draft draft = draft_of("x", "text");
	draft.to = to;
	draft.to_count = 2;
	auto_free char *content = compose(&draft);
	GMimeMessage *message = parse(content);
	InternetAddressList *list = g_mime_message_get_addresses(message, GMIME_ADDRESS_TYPE_TO);
	assert_int_equal(internet_address_list_length(list), 2);
	InternetAddress *first = internet_address_list_get_address(list, 0);
	InternetAddress *second = internet_address_list_get_address(list, 1);
	assert_string_equal(internet_address_get_name(first), "\"><script>, x@evil.example");
	assert_string_equal(internet_address_get_name(second), "J\xc3\xb6rg");
	g_object_unref(message);
}

static void test_what_is_no_address_is_refused(void **unused)
{
	(void)unused;
	static const char *const bad[] = {
		"",
		"nobody",
		"a@example.org, b@example.org",
		"a@example.org\r\nBcc: b@example.org",
		"A <a@example.org\n>",
		"group: a@example.org;",
		"\"a b\"@example.org",
		"<>",
		"@example.org",
		"a@",
		"a@@example.org",
		"J <j\xc3\xb6rg@example.org>",
	};
	for (size_t i = 0; i < array_length(bad); i++) {
		struct error err = {0};
		char *content = NULL;
		size_t length;
		auto_free char *address = NULL;
		struct mail_draft draft = draft_of("x", "text");
		draft.to = &bad[i];
		if (mail_compose(&draft, &content, &length, &err) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_null(strpbrk(err.message, "\r\n"));
		assert_int_equal(mail_address(bad[i], &address, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
	}
}

static void test_the_bare_mailbox_is_taken_out(void **unused)
{
	(void)unused;
	struct error err = {0};
	auto_free char *named = NULL;
	auto_free char *bare = NULL;
	assert_ok(mail_address("J\xc3\xb6rg \"x\" <j.k+l@sub.example.org>", &named, &err), &err);
	assert_string_equal(named, "j.k+l@sub.example.org");
	assert_ok(mail_address("root@localhost", &bare, &err), &err);
	assert_string_equal(bare, "root@localhost");
	auto_free char *text = memory_array(300, 1);
	memset(text, 'a', 254 - strlen("@example.org"));
	strcat(text, "@example.org");
	assert_ok(mail_check_address(text, &err), &err);
	strcat(text, "x");
	assert_int_equal(mail_check_address(text, &err), -1);
}

static void test_a_message_id_cannot_add_a_header(void **unused)
{
	(void)unused;
	struct error err = {0};
	char *content = NULL;
	size_t length;
	struct mail_draft draft = draft_of("x", "text");
	draft.message_id = "1@example.org>\r\nBcc: b@example.org";
	assert_int_equal(mail_compose(&draft, &content, &length, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_plain_report_goes_as_it_is_with_every_header),
		cmocka_unit_test(test_a_subject_cannot_add_a_header),
		cmocka_unit_test(test_what_looks_encoded_is_read_as_it_was_written),
		cmocka_unit_test(test_utf8_and_long_lines_survive_quoted_printable),
		cmocka_unit_test(test_only_a_line_over_the_limit_is_encoded),
		cmocka_unit_test(test_a_very_long_subject_is_cut_and_folded),
		cmocka_unit_test(test_a_hostile_display_name_stays_a_name),
		cmocka_unit_test(test_what_is_no_address_is_refused),
		cmocka_unit_test(test_the_bare_mailbox_is_taken_out),
		cmocka_unit_test(test_a_message_id_cannot_add_a_header),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
