/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <sys/socket.h>
#include <unistd.h>

#include "bench/machine/qmp.h"
#include "sentinel/base/clock.h"

#define GREETING "{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r\n"
#define DONE "{\"return\": {}}\r\n"
#define RESET_EVENT "{\"timestamp\": {\"seconds\": 1}, \"event\": \"RESET\", \"data\": {}}\r\n"

/* A monitor that has said everything beforehand; ends[1] is its end. */
static void say(const int ends[2], const char *text)
{
	assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
}

static int open_monitor(int ends[2], const char *said, struct qmp *qmp, struct error *err)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	say(ends, said);
	return qmp_open(ends[0], 0.2, qmp, err);
}

static void test_an_answer_is_found_behind_events(void **state)
{
	(void)state;
	struct error err;
	struct qmp qmp;
	int ends[2];
	char sent[256];
	assert_ok(open_monitor(ends, GREETING DONE RESET_EVENT RESET_EVENT DONE, &qmp, &err), &err);
	assert_ok(qmp_execute(&qmp, "system_reset", 0.2, &err), &err);
	ssize_t got = read(ends[1], sent, sizeof(sent) - 1);
	assert_true(got > 0);
	sent[got] = '\0';
	assert_string_equal(sent, "{\"execute\":\"qmp_capabilities\"}\n"
				  "{\"execute\":\"system_reset\"}\n");
	qmp_close(&qmp);
	close(ends[1]);
}

static void test_a_refusal_says_why(void **state)
{
	(void)state;
	struct error err;
	struct qmp qmp;
	int ends[2];
	assert_ok(open_monitor(ends,
			       GREETING DONE "{\"error\": {\"class\": \"CommandNotFound\", "
					     "\"desc\": \"The command x has not been found\"}}\n",
			       &qmp, &err),
		  &err);
	assert_int_equal(qmp_execute(&qmp, "x", 0.2, &err), -1);
	assert_int_equal(err.kind, ERROR_SYSTEM);
	assert_contains(err.message, "has not been found");
	qmp_close(&qmp);
	close(ends[1]);
}

static void test_silence_has_an_end(void **state)
{
	(void)state;
	struct error err;
	struct qmp qmp;
	int ends[2];
	double start = clock_monotonic_seconds();
	assert_int_equal(open_monitor(ends, GREETING "{\"ret", &qmp, &err), -1);
	assert_contains(err.message, "in time");
	assert_true(clock_monotonic_seconds() - start < 5);
	close(ends[0]);
	close(ends[1]);
}

static void test_strangers_on_the_line_are_refused(void **state)
{
	(void)state;
	static const char *const strangers[] = {"hello\n", "[]\n", "{\"event\":\"STOP\"}\n"};
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
		struct error err;
		struct qmp qmp;
		int ends[2];
		assert_int_equal(open_monitor(ends, strangers[i], &qmp, &err), -1);
		close(ends[0]);
		close(ends[1]);
	}
}

static void test_a_closed_monitor_is_an_error_and_no_signal(void **state)
{
	(void)state;
	struct error err;
	struct qmp qmp;
	int ends[2];
	assert_ok(open_monitor(ends, GREETING DONE, &qmp, &err), &err);
	close(ends[1]);
	assert_int_equal(qmp_execute(&qmp, "quit", 0.2, &err), -1);
	assert_int_equal(err.kind, ERROR_SYSTEM);
	qmp_close(&qmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer_is_found_behind_events),
		cmocka_unit_test(test_a_refusal_says_why),
		cmocka_unit_test(test_silence_has_an_end),
		cmocka_unit_test(test_strangers_on_the_line_are_refused),
		cmocka_unit_test(test_a_closed_monitor_is_an_error_and_no_signal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
