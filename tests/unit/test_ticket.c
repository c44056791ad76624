/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/ticket.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define STEP(members)                                                                              \
	"{\"argv\":[\"hackbench\",\"-g\",\"2\"],\"benchmark\":\"hackbench-pipe\","                 \
	"\"case\":\"groups-2\"," members "}"
#define GOOD_STEP STEP("\"iterations\":5,\"timeout_seconds\":60,\"warmup\":1")
#define TICKET(token, release, steps)                                                              \
	"{\"plan\":{\"steps\":[" steps "]},\"release\":\"" release "\",\"token\":\"" token "\"}"

static int parse(const char *text, struct ticket *ret_ticket, struct error *err)
{
	return ticket_from_text(text, strlen(text), "ticket", ret_ticket, err);
}

static void test_a_ticket_survives_the_way_to_text_and_back(void **state)
{
	(void)state;
	struct error err;
	auto_ticket struct ticket ticket = {0};
	assert_ok(parse(TICKET(TOKEN, "6.1.192", GOOD_STEP), &ticket, &err), &err);
	assert_string_equal(ticket.token, TOKEN);
	assert_string_equal(ticket.release, "6.1.192");
	assert_int_equal(ticket.plan.step_count, 1);
	const struct plan_step *step = &ticket.plan.steps[0];
	assert_string_equal(step->benchmark, "hackbench-pipe");
	assert_string_equal(step->cell, "groups-2");
	assert_string_equal(step->argv[2], "2");
	assert_null(step->argv[3]);
	assert_int_equal(step->iterations, 5);
	assert_int_equal(step->warmup, 1);
	assert_int_equal(step->timeout_seconds, 60);
	auto_free char *text = ticket_to_text(&ticket);
	assert_string_equal(text, TICKET(TOKEN, "6.1.192", GOOD_STEP));
}

static void test_equal_plans_give_equal_text(void **state)
{
	(void)state;
	struct error err;
	static const char first[] = "{\"steps\":[" GOOD_STEP "]}";
	static const char other_order[] =
		"{ \"steps\" : [ {\"warmup\":1,\"timeout_seconds\":60,\"iterations\":5,"
		"\"case\":\"groups-2\",\"benchmark\":\"hackbench-pipe\","
		"\"argv\":[\"hackbench\",\"-g\",\"2\"]} ] }";
	auto_plan struct plan a = {0};
	auto_plan struct plan b = {0};
	assert_ok(plan_from_text(first, strlen(first), "plan", &a, &err), &err);
	assert_ok(plan_from_text(other_order, strlen(other_order), "plan", &b, &err), &err);
	auto_free char *text_a = plan_to_text(&a);
	auto_free char *text_b = plan_to_text(&b);
	assert_string_equal(text_a, text_b);
	assert_string_equal(text_a, first);
}

static void test_damaged_tickets_are_refused_and_the_member_is_named(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *named;
	} cases[] = {
		{"", "ticket"},
		{"[]", "not a JSON object"},
		{TICKET(TOKEN, "6.1", GOOD_STEP) "x", "ticket"},
		{TICKET("0123", "6.1", GOOD_STEP), "token"},
		{TICKET("0123456789ABCDEF0123456789abcdef", "6.1", GOOD_STEP), "token"},
		{TICKET(TOKEN, "", GOOD_STEP), "release"},
		{TICKET(TOKEN, "6.1", "7"), "step 0"},
		{TICKET(TOKEN, "6.1", STEP("\"iterations\":0,\"timeout_seconds\":60,\"warmup\":1")),
		 "iterations"},
		{TICKET(TOKEN, "6.1", STEP("\"iterations\":5,\"timeout_seconds\":0,\"warmup\":1")),
		 "timeout_seconds"},
		{TICKET(TOKEN, "6.1",
			STEP("\"iterations\":5,\"timeout_seconds\":60,\"warmup\":-1")),
		 "warmup"},
		{TICKET(TOKEN, "6.1", STEP("\"iterations\":\"5\",\"timeout_seconds\":60")),
		 "iterations"},
		{TICKET(TOKEN, "6.1", GOOD_STEP ",{\"argv\":[]}"), "step 1"},
		{"{\"release\":\"6.1\",\"token\":\"" TOKEN "\"}", "steps"},
	};
	for (size_t i = 0; i < array_length(cases); i++) {
		struct error err = {0};
		struct ticket ticket;
		if (parse(cases[i].text, &ticket, &err) == 0)
			fail_msg("accepted: %s", cases[i].text);
		assert_int_equal(err.kind, ERROR_STATE);
		assert_contains(err.message, cases[i].named);
	}
}

static void test_a_plan_of_more_than_a_thousand_steps_is_refused(void **state)
{
	(void)state;
	for (int count = 1000; count <= 1001; count++) {
		auto_text struct text text = {0};
		text_append(&text, "{\"steps\":[");
		for (int i = 0; i < count; i++)
			text_printf(&text, "%s%s", i ? "," : "", GOOD_STEP);
		text_append(&text, "]}");
		auto_plan struct plan plan = {0};
		assert_int_equal(plan_from_text(text.data, text.length, "plan", &plan, NULL),
				 count == 1000 ? 0 : -1);
	}
}

static void test_tokens_are_hexadecimal_and_differ(void **state)
{
	(void)state;
	struct error err;
	char first[TOKEN_SIZE];
	char second[TOKEN_SIZE];
	assert_ok(token_create(first, &err), &err);
	assert_ok(token_create(second, &err), &err);
	assert_int_equal(strspn(first, "0123456789abcdef"), TOKEN_SIZE - 1);
	assert_string_not_equal(first, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_ticket_survives_the_way_to_text_and_back),
		cmocka_unit_test(test_equal_plans_give_equal_text),
		cmocka_unit_test(test_damaged_tickets_are_refused_and_the_member_is_named),
		cmocka_unit_test(test_a_plan_of_more_than_a_thousand_steps_is_refused),
		cmocka_unit_test(test_tokens_are_hexadecimal_and_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
