/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <signal.h>
#include <time.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/file.h"
#include "sentinel/base/process.h"
#include "sentinel/base/text.h"
#include "sentinel/mail.h"

#define FAKE_SERVER TEST_DATA "/fakes/smtp_server.py"

static const char message[] = "From: s@example.org\r\nTo: a@example.org\r\nSubject: x\r\n"
			      "Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n"
			      "Message-ID: <1@example.org>\r\n\r\n"
			      ".\r\n..\r\n.dot\r\nend\r\n";
static const char *const one[] = {"a@example.org"};

struct server {
	char *folder;
	struct process process;
	char *url;
};

static void pause_milliseconds(long milliseconds)
{
	nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static char *read_text(const char *folder, const char *name)
{
	auto_free char *path = text_format("%s/%s", folder, name);
	char *bytes = NULL;
	size_t length;
	return file_read(path, 1 << 24, &bytes, &length, NULL) == 0 ? bytes : NULL;
}

/* Starts the fake with these modes and waits until it has printed its port. */
static void start(struct server *server, const char *certificate, const char *mode,
		  const char *next_mode)
{
	struct error err = {0};
	*server = (struct server){.folder = make_scratch()};
	auto_free char *output = text_format("%s/port", server->folder);
	const char *argv[] = {"python3",      FAKE_SERVER,     "--folder",
			      server->folder, "--certificate", certificate ? certificate : "",
			      mode,           next_mode,       NULL};
	struct process_command command = {.argv = argv, .stdout_path = output};
	assert_ok(process_start(&command, &server->process, &err), &err);
	for (int i = 0; i < 1000; i++) {
		auto_free char *port = read_text(server->folder, "port");
		if (port && strchr(port, '\n')) {
			server->url = text_format("smtp://localhost:%d", atoi(port));
			return;
		}
		pause_milliseconds(10);
	}
	fail_msg("the fake server did not start");
}

static void stop(struct server *server)
{
	process_stop(&server->process);
	file_remove_tree(server->folder, NULL);
	free(server->folder);
	free(server->url);
}

static void deliver(const char *url, const char *security, int64_t timeout_seconds,
		    const char *const *recipients, size_t count, struct delivery *deliveries)
{
	struct error err = {0};
	auto_free char *server = text_copy(url);
	auto_free char *security_copy = text_copy(security);
	char from[] = "Sentinel <sentinel@example.org>";
	struct policy_mail policy = {.server = server,
				     .from = from,
				     .security = security_copy,
				     .timeout_seconds = timeout_seconds};
	assert_ok(mail_deliver(&policy, recipients, count, message, strlen(message), deliveries,
			       &err),
		  &err);
}

static void assert_delivery(const struct delivery *delivery, int result, int code,
			    const char *words)
{
	if ((int)delivery->result != result || delivery->code != code ||
	    !strstr(delivery->text, words))
		fail_msg("result %d, code %d, \"%s\"; expected %d, %d, \"%s\"",
			 (int)delivery->result, delivery->code, delivery->text, result, code,
			 words);
}

static void test_an_accepted_message_arrives_byte_for_byte(void **unused)
{
	(void)unused;
	struct server server;
	struct delivery delivery;
	start(&server, NULL, "accept", NULL);
	deliver(server.url, "none", 10, one, 1, &delivery);
	assert_delivery(&delivery, DELIVERY_ACCEPTED, 250, "stored");
	auto_free char *stored = read_text(server.folder, "1.eml");
	auto_free char *commands = read_text(server.folder, "1.commands");
	assert_string_equal(stored, message);
	assert_contains(commands, "MAIL FROM:<sentinel@example.org>");
	assert_contains(commands, "RCPT TO:<a@example.org>");
	/* A second session in the same process, as the queue does. */
	deliver(server.url, "none", 10, one, 1, &delivery);
	assert_delivery(&delivery, DELIVERY_ACCEPTED, 250, "stored");
	stop(&server);
}

static void test_every_fault_of_a_server_is_judged_by_its_statuses(void **unused)
{
	(void)unused;
	static const struct {
		const char *mode;
		int result;
		int code;
		const char *words;
		bool stored;
	} cases[] = {
		{"greeting-554", DELIVERY_RETRY, 0, "no service for you", false},
		{"sender-550", DELIVERY_REFUSED, 550, "I do not know you", false},
		{"recipient-451", DELIVERY_RETRY, 451, "greylisted", false},
		{"recipient-550", DELIVERY_REFUSED, 550, "no such user", false},
		{"data-451", DELIVERY_RETRY, 451, "try again", false},
		{"data-550", DELIVERY_REFUSED, 550, "spam", false},
		{"drop-mid-data", DELIVERY_RETRY, 0, "localhost", false},
		{"drop-after-dot", DELIVERY_RETRY, 0, "localhost", false},
		{"drop-at-quit", DELIVERY_ACCEPTED, 250, "stored", true},
	};
	for (size_t i = 0; i < array_length(cases); i++) {
		struct server server;
		struct delivery delivery;
		start(&server, NULL, cases[i].mode, NULL);
		deliver(server.url, "none", 10, one, 1, &delivery);
		assert_delivery(&delivery, cases[i].result, cases[i].code, cases[i].words);
		auto_free char *stored = read_text(server.folder, "1.eml");
		assert_int_equal(stored != NULL, cases[i].stored);
		stop(&server);
	}
}

static void test_each_recipient_has_its_own_answer(void **unused)
{
	(void)unused;
	static const char *const recipients[] = {"temporary@example.org", "a@example.org",
						 "b@example.org\r\nRCPT TO:<victim@example.org>",
						 "refused@example.org"};
	struct server server;
	struct delivery deliveries[4];
	start(&server, NULL, "recipients-mixed", NULL);
	deliver(server.url, "none", 10, recipients, 4, deliveries);
	assert_delivery(&deliveries[0], DELIVERY_RETRY, 451, "later");
	assert_delivery(&deliveries[1], DELIVERY_ACCEPTED, 250, "stored");
	assert_delivery(&deliveries[2], DELIVERY_REFUSED, 0, "no mail address");
	assert_delivery(&deliveries[3], DELIVERY_REFUSED, 550, "no such user");
	auto_free char *commands = read_text(server.folder, "1.commands");
	assert_null(strstr(commands, "victim"));
	stop(&server);
}

static void test_a_temporary_fault_is_gone_at_the_next_try(void **unused)
{
	(void)unused;
	struct server server;
	struct delivery delivery;
	start(&server, NULL, "drop-after-dot", "accept");
	deliver(server.url, "none", 10, one, 1, &delivery);
	assert_int_equal(delivery.result, DELIVERY_RETRY);
	deliver(server.url, "none", 10, one, 1, &delivery);
	assert_int_equal(delivery.result, DELIVERY_ACCEPTED);
	stop(&server);
}

static void test_no_server_can_hold_us_beyond_the_limit(void **unused)
{
	(void)unused;
	static const char *const modes[] = {"hang-greeting", "hang-after-dot", "drip"};
	for (size_t i = 0; i < array_length(modes); i++) {
		struct server server;
		struct delivery delivery;
		start(&server, NULL, modes[i], NULL);
		double begin = clock_monotonic_seconds();
		deliver(server.url, "none", 2, one, 1, &delivery);
		assert_true(clock_monotonic_seconds() - begin < 5);
		assert_delivery(&delivery, DELIVERY_RETRY, 0, server.url + strlen("smtp://"));
		stop(&server);
	}
}

static void test_a_server_that_hangs_at_quit_has_the_message(void **unused)
{
	(void)unused;
	struct server server;
	struct delivery delivery;
	start(&server, NULL, "hang-at-quit", NULL);
	double begin = clock_monotonic_seconds();
	deliver(server.url, "none", 60, one, 1, &delivery);
	assert_true(clock_monotonic_seconds() - begin < 20);
	assert_delivery(&delivery, DELIVERY_ACCEPTED, 250, "stored");
	stop(&server);
}

static void test_a_server_that_is_down_is_tried_again(void **unused)
{
	(void)unused;
	struct server server;
	struct delivery delivery;
	start(&server, NULL, "accept", NULL);
	process_stop(&server.process);
	deliver(server.url, "none", 10, one, 1, &delivery);
	assert_delivery(&delivery, DELIVERY_RETRY, 0, "refused");
	stop(&server);
}

static void test_a_servers_words_are_one_safe_line(void **unused)
{
	(void)unused;
	struct server server;
	struct delivery delivery;
	start(&server, NULL, "hostile-reply", NULL);
	deliver(server.url, "none", 10, one, 1, &delivery);
	assert_delivery(&delivery, DELIVERY_REFUSED, 550, "red");
	for (const char *c = delivery.text; *c; c++)
		assert_true((unsigned char)*c >= 0x20);
	assert_contains(delivery.text, "\xef\xbf\xbd");
	stop(&server);
}

static void test_a_server_that_cannot_be_named_is_a_usage_fault(void **unused)
{
	(void)unused;
	static const struct {
		const char *url;
		const char *words;
	} cases[] = {
		{"smtp://[::1]:25", "IPv6"},
		{"smtps://mail.example.org", "starttls"},
		{"mail.example.org:25", "smtp://HOST:PORT"},
		{"smtp://mail.example.org:0", "port"},
		{"smtp://mail.example.org:99999", "port"},
		{"smtp://user@mail.example.org", "HOST"},
		{"smtp://mail.example.org:25\r\nEHLO x", "HOST"},
		{"smtp://", "HOST"},
	};
	for (size_t i = 0; i < array_length(cases); i++) {
		struct error err = {0};
		struct delivery delivery;
		auto_free char *url = text_copy(cases[i].url);
		char text[] = "none";
		char from[] = "s@example.org";
		struct policy_mail policy = {
			.server = url, .from = from, .security = text, .timeout_seconds = 5};
		assert_int_equal(
			mail_deliver(&policy, one, 1, message, strlen(message), &delivery, &err),
			-1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_contains(err.message, cases[i].words);
	}
}

static char *make_certificate(const char *folder, const char *host)
{
	struct error err = {0};
	auto_process_result struct process_result result = {0};
	auto_free char *key = text_format("%s/key.pem", folder);
	auto_free char *certificate = text_format("%s/certificate.pem", folder);
	auto_free char *names = text_format("subjectAltName=DNS:%s", host);
	auto_free char *subject = text_format("/CN=%s", host);
	const char *argv[] = {"openssl", "req", "-x509", "-newkey",   "rsa:2048", "-nodes",
			      "-days",   "2",   "-subj", subject,     "-addext",  names,
			      "-keyout", key,   "-out",  certificate, NULL};
	struct process_command command = {
		.argv = argv, .timeout_seconds = 60, .capture_limit_bytes = 4096};
	assert_ok(process_run(&command, &result, &err), &err);
	assert_true(process_succeeded(&result));
	auto_free char *key_text = read_text(folder, "key.pem");
	auto_free char *certificate_text = read_text(folder, "certificate.pem");
	auto_free char *both = text_format("%s%s", key_text, certificate_text);
	auto_free char *path = text_format("%s/both.pem", folder);
	assert_ok(file_write_durable(path, both, strlen(both), &err), &err);
	return take(path);
}

static void test_starttls_needs_a_certificate_that_can_be_verified(void **unused)
{
	(void)unused;
	static const struct {
		const char *certified_host;
		bool trusted;
		const char *mode;
		int result;
		const char *words;
	} cases[] = {
		{"localhost", true, "starttls", DELIVERY_ACCEPTED, "stored"},
		{"localhost", false, "starttls", DELIVERY_RETRY, "authority"},
		{"other.example.org", true, "starttls", DELIVERY_RETRY, "another host"},
		{"localhost", true, "accept", DELIVERY_RETRY, "does not offer STARTTLS"},
	};
	for (size_t i = 0; i < array_length(cases); i++) {
		auto_free char *folder = make_scratch();
		auto_free char *certificate = make_certificate(folder, cases[i].certified_host);
		struct server server;
		struct delivery delivery;
		start(&server, certificate, cases[i].mode, NULL);
		setenv("SSL_CERT_FILE", cases[i].trusted ? certificate : "/dev/null", 1);
		deliver(server.url, "starttls", 10, one, 1, &delivery);
		unsetenv("SSL_CERT_FILE");
		bool accepted = cases[i].result == DELIVERY_ACCEPTED;
		assert_delivery(&delivery, cases[i].result, accepted ? 250 : 0, cases[i].words);
		auto_free char *stored = read_text(server.folder, "1.eml");
		assert_int_equal(stored != NULL, accepted);
		stop(&server);
		file_remove_tree(folder, NULL);
	}
}

static void test_python_reads_what_gmime_wrote(void **unused)
{
	(void)unused;
	static const char program[] =
		"import email, email.policy, sys\n"
		"m = email.message_from_file(open(sys.argv[1], newline=''), "
		"policy=email.policy.default)\n"
		"assert not m.defects, m.defects\n"
		"assert m.keys().count('Subject') == 1 and 'Bcc' not in m, m.keys()\n"
		"assert m['Subject'] == 'J\\u00f6rg  Bcc: victim@example.org', repr(m['Subject'])\n"
		"assert m['From'].addresses[0].display_name == '\"><script>', m['From']\n"
		"assert m['Auto-Submitted'] == 'auto-generated'\n"
		"assert m.get_content_charset() == 'utf-8'\n"
		"lines = m.get_content().splitlines()\n"
		"assert lines == ['\\u2192', 'x' * 5000, '.', '.dot', '-- '], lines\n";
	struct error err = {0};
	char *content;
	size_t length;
	auto_text struct text body = {0};
	text_append(&body, "\xe2\x86\x92\n");
	for (int i = 0; i < 5000; i++)
		text_append(&body, "x");
	text_append(&body, "\n.\n.dot\n-- \n");
	struct mail_draft draft = {
		.from = "\"\\\"><script>\" <s@example.org>",
		.to = one,
		.to_count = 1,
		.subject = "J\xc3\xb6rg\r\nBcc: victim@example.org",
		.message_id = "1@example.org",
		.date_seconds = 1700000000,
		.body = body.data,
	};
	assert_ok(mail_compose(&draft, &content, &length, &err), &err);
	auto_free char *folder = make_scratch();
	auto_free char *path = text_format("%s/mail.eml", folder);
	assert_ok(file_write_durable(path, content, length, &err), &err);
	free(content);
	const char *argv[] = {"python3", "-c", program, path, NULL};
	struct process_command command = {
		.argv = argv, .timeout_seconds = 60, .capture_limit_bytes = 4096};
	auto_process_result struct process_result result = {0};
	assert_ok(process_run(&command, &result, &err), &err);
	if (!process_succeeded(&result))
		fail_msg("%s", result.stderr_bytes);
	file_remove_tree(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_accepted_message_arrives_byte_for_byte),
		cmocka_unit_test(test_every_fault_of_a_server_is_judged_by_its_statuses),
		cmocka_unit_test(test_each_recipient_has_its_own_answer),
		cmocka_unit_test(test_a_temporary_fault_is_gone_at_the_next_try),
		cmocka_unit_test(test_no_server_can_hold_us_beyond_the_limit),
		cmocka_unit_test(test_a_server_that_hangs_at_quit_has_the_message),
		cmocka_unit_test(test_a_server_that_is_down_is_tried_again),
		cmocka_unit_test(test_a_servers_words_are_one_safe_line),
		cmocka_unit_test(test_a_server_that_cannot_be_named_is_a_usage_fault),
		cmocka_unit_test(test_starttls_needs_a_certificate_that_can_be_verified),
		cmocka_unit_test(test_python_reads_what_gmime_wrote),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
