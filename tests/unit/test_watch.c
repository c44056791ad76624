/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "sentinel/watch.h"

enum { DAY = 86400, WINDOW = 20, LEAST = 8, NIGHTS = 40 };

static const char accepted_head[] = "good";
static const char tonights_head[] = "tonight";

/* COUNT quiet nights at the level 0, a day apart. */
static void quiet(struct watch_night *nights, size_t count)
{
	for (size_t i = 0; i < count; i++)
		nights[i] = (struct watch_night){.id = (int64_t)i + 1,
						 .seconds = (int64_t)(i + 1) * DAY,
						 .head = accepted_head,
						 .alike = true,
						 .concluded = true};
}

static void conclude(struct watch_night *night, enum verdict_state state, double change)
{
	night->state = state;
	night->change = change;
	night->value = change;
}

static struct watch scan(const struct watch_night *nights, size_t count, bool *accepted)
{
	struct watch watch;
	watch_scan(nights, count, WINDOW, accepted, &watch);
	return watch;
}

static void test_the_window_holds_the_newest_accepted_nights(void **state)
{
	(void)state;
	struct watch_night nights[NIGHTS];
	bool accepted[NIGHTS];
	double values[NIGHTS];
	quiet(nights, NIGHTS);
	nights[35].value = NAN;
	nights[34].concluded = false;       /* its head did not boot a second time */
	nights[39].state = VERDICT_FLAGGED; /* the night ended before stage 2 */
	struct watch watch = scan(nights, NIGHTS, accepted);
	assert_int_equal(watch.count, WINDOW);
	assert_int_equal(watch.newest, 38);
	assert_int_equal(watch.window_from, 17);
	assert_int_equal(watch_values(nights, NIGHTS, accepted, watch.window_from, values), WINDOW);
	assert_int_equal(watch.open_since, WATCH_NO_NIGHT);
}

static void test_no_night_at_all_is_an_empty_window(void **state)
{
	(void)state;
	struct watch watch;
	watch_scan(NULL, 0, WINDOW, NULL, &watch);
	assert_int_equal(watch.count, 0);
	assert_int_equal(watch.newest, WATCH_NO_NIGHT);
}

static void test_unlike_nights_end_the_window_and_what_was_open(void **state)
{
	(void)state;
	struct watch_night nights[10];
	bool accepted[10];
	quiet(nights, 10);
	conclude(&nights[3], VERDICT_REGRESSION, 0.1);
	nights[6].alike = false;
	struct watch watch = scan(nights, 10, accepted);
	assert_int_equal(watch.count, 3);
	assert_int_equal(watch.window_from, 7);
	assert_int_equal(watch.open_since, WATCH_NO_NIGHT);
}

static void test_an_open_regression_is_not_accepted_but_a_rejected_flag_is(void **state)
{
	(void)state;
	struct watch_night nights[10];
	bool accepted[10];
	quiet(nights, 10);
	conclude(&nights[4], VERDICT_NOT_REPEATED, 0.05);
	conclude(&nights[6], VERDICT_REGRESSION, 0.1);
	conclude(&nights[7], VERDICT_KNOWN, 0.1);
	conclude(&nights[8], VERDICT_REGRESSION, 0.2);
	nights[8].event = WATCH_GROWN;
	conclude(&nights[9], VERDICT_KNOWN, 0.3);
	struct watch watch = scan(nights, 10, accepted);
	assert_int_equal(watch.count, 6);
	assert_true(accepted[4]);
	assert_int_equal(watch.newest, 5);
	assert_int_equal(watch.open_since, 6);
	assert_int_equal(watch.open_level, 8);
	assert_close(watch.open_change, 0.3, 1e-12);
}

static void test_a_regression_that_is_fixed_leaves_the_old_level(void **state)
{
	(void)state;
	struct watch_night nights[10];
	bool accepted[10];
	quiet(nights, 10);
	conclude(&nights[5], VERDICT_REGRESSION, 0.1);
	conclude(&nights[6], VERDICT_KNOWN, 0.1);
	nights[7].event = WATCH_FIXED;
	struct watch watch = scan(nights, 10, accepted);
	assert_int_equal(watch.open_since, WATCH_NO_NIGHT);
	assert_int_equal(watch.count, 8);
	assert_int_equal(watch.window_from, 0);
	assert_false(accepted[5] || accepted[6]);
}

static void test_an_improvement_and_an_acknowledged_step_begin_a_new_level(void **state)
{
	(void)state;
	struct watch_night nights[12];
	bool accepted[12];
	quiet(nights, 12);
	conclude(&nights[3], VERDICT_IMPROVEMENT, -0.1);
	struct watch watch = scan(nights, 12, accepted);
	assert_int_equal(watch.window_from, 3);
	assert_int_equal(watch.restarted, 3);
	conclude(&nights[6], VERDICT_REGRESSION, 0.1);
	conclude(&nights[7], VERDICT_KNOWN, 0.1);
	conclude(&nights[8], VERDICT_KNOWN, 0.1);
	nights[7].acknowledged = true;
	watch = scan(nights, 12, accepted);
	assert_int_equal(watch.window_from, 7);
	assert_int_equal(watch.count, 5);
	assert_int_equal(watch.open_since, WATCH_NO_NIGHT);
}

static void test_what_is_known_stays_out_when_its_first_night_is_out_of_sight(void **state)
{
	(void)state;
	struct watch_night nights[12];
	bool accepted[12];
	quiet(nights, 12);
	for (size_t i = 0; i < 3; i++)
		conclude(&nights[i], VERDICT_KNOWN, 0.1);
	struct watch watch = scan(nights, 12, accepted);
	assert_false(accepted[0] || accepted[1] || accepted[2]);
	assert_true(accepted[3]);
	assert_int_equal(watch.window_from, 3);
}

static struct watch_decision decide(const struct watch_night *nights, size_t count,
				    enum verdict_state state, double change, const char *head)
{
	bool accepted[NIGHTS];
	struct watch watch = scan(nights, count, accepted);
	struct verdict verdict = {.state = state,
				  .basis = VERDICT_BY_NIGHTS,
				  .change = change,
				  .threshold = 0.02,
				  .deviation = 0.01};
	struct watch_tonight tonight = {.head = head, .value = change, .accepted = accepted_head};
	struct watch_decision decision;
	watch_decide(nights, &watch, &verdict, &tonight, &decision);
	return decision;
}

static void test_what_is_new_is_measured_again_beside_the_last_accepted_kernel(void **state)
{
	(void)state;
	struct watch_night nights[10];
	quiet(nights, 10);
	struct watch_decision decision = decide(nights, 10, VERDICT_FLAGGED, 0.1, tonights_head);
	assert_int_equal(decision.state, VERDICT_FLAGGED);
	assert_string_equal(decision.reference, accepted_head);
	assert_int_equal(decision.since, 0);
	decision = decide(nights, 10, VERDICT_UNCHANGED, 0.01, tonights_head);
	assert_null(decision.reference);
	/* A kernel is no regression of itself. */
	decision = decide(nights, 10, VERDICT_FLAGGED, 0.1, accepted_head);
	assert_int_equal(decision.state, VERDICT_NOT_REPEATED);
	assert_int_equal(decision.event, WATCH_SAME_KERNEL);
	assert_null(decision.reference);
}

static void test_known_grown_and_fixed_are_told_apart(void **state)
{
	(void)state;
	static const char bad_head[] = "bad";
	static const struct {
		enum verdict_state seen;
		double change;
		enum verdict_state state;
		enum watch_event event;
		const char *reference;
	} rows[] = {
		{VERDICT_FLAGGED, 0.1, VERDICT_KNOWN, WATCH_NONE, NULL},
		{VERDICT_FLAGGED, 0.115, VERDICT_KNOWN, WATCH_NONE, NULL},
		{VERDICT_FLAGGED, 0.13, VERDICT_FLAGGED, WATCH_GROWN, bad_head},
		{VERDICT_UNCHANGED, 0.06, VERDICT_KNOWN, WATCH_NONE, NULL},
		/* One low night is not yet 99 times as likely without the step as with it. */
		{VERDICT_UNCHANGED, 0.048, VERDICT_KNOWN, WATCH_NONE, NULL},
		{VERDICT_UNCHANGED, 0.01, VERDICT_UNCHANGED, WATCH_FIXED, NULL},
		{VERDICT_FLAGGED, -0.1, VERDICT_FLAGGED, WATCH_FIXED, accepted_head},
		{VERDICT_NO_DATA, 0, VERDICT_NO_DATA, WATCH_NONE, NULL},
	};
	struct watch_night nights[10];
	quiet(nights, 10);
	conclude(&nights[9], VERDICT_REGRESSION, 0.1);
	nights[9].head = bad_head;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct watch_decision decision =
			decide(nights, 10, rows[i].seen, rows[i].change, tonights_head);
		assert_int_equal(decision.state, rows[i].state);
		assert_int_equal(decision.event, rows[i].event);
		assert_true(decision.reference == rows[i].reference);
		if (rows[i].state == VERDICT_KNOWN)
			assert_int_equal(decision.since, nights[9].id);
	}
}

static void test_creep_is_told_against_the_pinned_kernel_since_the_last_answer(void **state)
{
	(void)state;
	struct watch_night nights[30];
	bool accepted[30];
	struct watch_pin pin;
	quiet(nights, 30);
	struct watch watch = scan(nights, 30, accepted);
	assert_true(watch_pin(nights, 30, &watch, 4 * DAY, LEAST, &pin));
	assert_int_equal(pin.from, 3);
	assert_int_equal(pin.level_from, WATCH_NO_NIGHT);
	conclude(&nights[10], VERDICT_NOT_REPEATED, 0.02);
	nights[10].event = WATCH_CREEP;
	watch = scan(nights, 30, accepted);
	assert_true(watch_pin(nights, 30, &watch, 4 * DAY, LEAST, &pin));
	assert_int_equal(pin.from, 11);
	/* Confirmed, it is open; the nights stay accepted, for no step was seen. */
	nights[10].state = VERDICT_REGRESSION;
	watch = scan(nights, 30, accepted);
	assert_int_equal(watch.creep_since, 10);
	assert_int_equal(watch.count, WINDOW);
	nights[12].event = WATCH_FIXED;
	watch = scan(nights, 30, accepted);
	assert_int_equal(watch.creep_since, WATCH_NO_NIGHT);
	nights[12].event = WATCH_NONE;
	/* Acknowledged, its level is the new pin as soon as there are nights enough. */
	nights[15].acknowledged = true;
	watch = scan(nights, 30, accepted);
	assert_true(watch_pin(nights, 30, &watch, 4 * DAY, LEAST, &pin));
	assert_int_equal(pin.level_from, 15);
	assert_int_equal(pin.from, 23);
	watch = scan(nights, 22, accepted);
	assert_false(watch_pin(nights, 22, &watch, 4 * DAY, LEAST, &pin));
	/* What was accepted stays accepted when the series gets better later. */
	conclude(&nights[25], VERDICT_IMPROVEMENT, -0.01);
	watch = scan(nights, 30, accepted);
	assert_int_equal(watch.restarted, 25);
	assert_true(watch_pin(nights, 30, &watch, 4 * DAY, LEAST, &pin));
	assert_int_equal(pin.level_from, 15);
}

static void test_a_step_is_gone_at_odds_of_99_to_1(void **state)
{
	(void)state;
	/* (step/2 - change) step = ln 99 at deviation 1. */
	assert_true(watch_is_gone(4, 2 - log(99) / 4 - 1e-9, 1));
	assert_false(watch_is_gone(4, 2 - log(99) / 4 + 1e-9, 1));
	assert_false(watch_is_gone(4, 2.5, 0));
	assert_true(watch_is_gone(4, 1.9, 0));
}

static void test_weeks_begin_on_monday(void **state)
{
	(void)state;
	const int64_t sunday = 3 * (int64_t)DAY; /* 4 January 1970 */
	assert_false(watch_is_new_week(0, sunday));
	assert_true(watch_is_new_week(sunday, sunday + DAY));
	assert_false(watch_is_new_week(sunday + DAY, sunday + 7 * DAY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_window_holds_the_newest_accepted_nights),
		cmocka_unit_test(test_no_night_at_all_is_an_empty_window),
		cmocka_unit_test(test_unlike_nights_end_the_window_and_what_was_open),
		cmocka_unit_test(test_an_open_regression_is_not_accepted_but_a_rejected_flag_is),
		cmocka_unit_test(test_a_regression_that_is_fixed_leaves_the_old_level),
		cmocka_unit_test(test_an_improvement_and_an_acknowledged_step_begin_a_new_level),
		cmocka_unit_test(
			test_what_is_new_is_measured_again_beside_the_last_accepted_kernel),
		cmocka_unit_test(test_known_grown_and_fixed_are_told_apart),
		cmocka_unit_test(
			test_creep_is_told_against_the_pinned_kernel_since_the_last_answer),
		cmocka_unit_test(test_what_is_known_stays_out_when_its_first_night_is_out_of_sight),
		cmocka_unit_test(test_a_step_is_gone_at_odds_of_99_to_1),
		cmocka_unit_test(test_weeks_begin_on_monday),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
