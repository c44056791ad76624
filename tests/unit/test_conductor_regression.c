/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a night hunts of all that regressed, and what it writes about it. */
#include "tests/support/conductor_fixture.h"

#include "sentinel/night_step.h"
#include "sentinel/report.h"

/* What stage 2 said of SERIES and of OTHER_SERIES. */
static void put_verdicts(struct fixture *fixture, int64_t night, double other_change,
			 double other_deviation)
{
	struct store_verdict verdicts[] = {
		{.series = text_copy(SERIES), .verdict = {.change = 0.1, .deviation = 0.004}},
		{.series = text_copy(OTHER_SERIES),
		 .verdict = {.change = other_change, .deviation = other_deviation}},
	};
	for (size_t i = 0; i < array_length(verdicts); i++) {
		verdicts[i].stage = 2;
		verdicts[i].verdict.state = VERDICT_REGRESSION;
		verdicts[i].verdict.basis = VERDICT_BY_PAIRS;
		verdicts[i].verdict.degrees = 20;
		verdicts[i].verdict.boots = PAIRS;
		memcpy(verdicts[i].reference, fixture->ids[0], OBJECT_ID_SIZE);
	}
	assert_ok(store_put_verdicts(fixture->context.store, night, 2, verdicts,
				     array_length(verdicts), &fixture->err),
		  &fixture->err);
	for (size_t i = 0; i < array_length(verdicts); i++)
		free(verdicts[i].series);
}

static void report(struct fixture *fixture, int64_t id, bool hunt)
{
	struct store_night night;
	assert_ok(context_open_source(&fixture->context, &fixture->err), &fixture->err);
	assert_ok(store_get_night(fixture->context.store, id, &night, &fixture->err),
		  &fixture->err);
	if (hunt)
		assert_ok(night_step_hunt(&fixture->context, &night, &fixture->err), &fixture->err);
	assert_ok(conductor_report(&fixture->context, &night, &fixture->err), &fixture->err);
	store_night_free(&night);
}

static char *only_mail(struct fixture *fixture)
{
	struct store_mail *mails;
	size_t count;
	assert_ok(store_list_mails(fixture->context.store, 10, &mails, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	char *content = text_format("%.*s", (int)mails[0].content_length, mails[0].content);
	store_mails_free(mails, count);
	return content;
}

static void test_what_moved_with_the_culprit_is_not_hunted(void **state)
{
	struct fixture *fixture = *state;
	struct store_hunt *hunts;
	size_t count;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	/* More than twice what the culprit did, but too noisy a number to say that more remains. */
	put_verdicts(fixture, night, 0.25, 0.2);
	report(fixture, night, true);
	assert_ok(store_list_hunts(fixture->context.store, night, false, &hunts, &count,
				   &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	assert_string_equal(hunts[0].culprit, fixture->ids[5]);
	store_hunts_free(hunts, count);
	free(only_mail(fixture));
}

/* The hunts that a night began itself, not those that follow from others. */
static size_t count_own_hunts(struct fixture *fixture, int64_t night)
{
	struct store_hunt *hunts;
	size_t count;
	size_t own = 0;
	assert_ok(store_list_hunts(fixture->context.store, night, false, &hunts, &count,
				   &fixture->err),
		  &fixture->err);
	for (size_t i = 0; i < count; i++)
		own += !hunts[i].origin;
	store_hunts_free(hunts, count);
	return own;
}

static void test_what_the_culprit_of_a_follow_up_explains_is_not_hunted(void **state)
{
	struct fixture *fixture = *state;
	world.steps[4] = 0.12;
	world.steps[12] = 0.1;
	world.unmoved_by = 4;
	int64_t night = add_night(fixture);
	put_verdicts(fixture, night, 0.1, 0.004);
	report(fixture, night, true);
	assert_int_equal(count_own_hunts(fixture, night), 1);
}

static void test_two_hunts_that_end_at_one_commit_are_one_mail(void **state)
{
	struct fixture *fixture = *state;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt first = add_hunt(fixture, night, 1);
	hunt_down(fixture, &first);
	struct store_hunt second = add_hunt_of(fixture, night, 1, OTHER_SERIES);
	hunt_down(fixture, &second);
	assert_string_equal(first.culprit, fixture->ids[5]);
	assert_string_equal(second.culprit, fixture->ids[5]);
	/* It began with what the first had measured of its series. */
	assert_true(first.search_boots > 0);
	assert_int_equal(second.search_boots, 0);
	report(fixture, night, false);
	auto_free char *mail = only_mail(fixture);
	assert_contains(mail, "Hunts for other series ended at the same commit:");
	assert_contains(mail, "- " OTHER_SERIES ": +");
	store_hunt_free(&first);
	store_hunt_free(&second);
}

static void test_a_commit_that_panicked_is_known_to_the_next_hunt(void **state)
{
	struct fixture *fixture = *state;
	struct store_hunt_event *events;
	size_t count;
	size_t known = 0;
	world.steps[5] = 0.1;
	world.panics = 8;
	int64_t night = add_night(fixture);
	struct store_hunt first = add_hunt(fixture, night, 1);
	hunt_down(fixture, &first);
	struct store_hunt second = add_hunt_of(fixture, night, 1, OTHER_SERIES);
	hunt_down(fixture, &second);
	assert_ok(store_get_hunt_events(fixture->context.store, second.id, &events, &count,
					&fixture->err),
		  &fixture->err);
	for (size_t i = 0; i < count; i++)
		known += events[i].kind == HUNT_UNTESTABLE && events[i].stage == HUNT_KNOWN &&
			 position(events[i].commit) == world.panics;
	assert_int_equal(known, 1);
	store_hunt_events_free(events, count);
	store_hunt_free(&first);
	store_hunt_free(&second);
}

static void test_a_second_change_that_does_not_show_is_not_claimed(void **state)
{
	struct fixture *fixture = *state;
	struct store *store = fixture->context.store;
	world.steps[5] = 0.1;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	struct store_hunt part = {.night = night,
				  .origin = hunt.id,
				  .tree_name = hunt.tree_name,
				  .machine = hunt.machine,
				  .series = hunt.series,
				  .rule = hunt.rule};
	memcpy(part.good, fixture->ids[5], OBJECT_ID_SIZE);
	memcpy(part.bad, fixture->ids[COMMITS - 1], OBJECT_ID_SIZE);
	assert_ok(store_add_hunt(store, &part, &fixture->err), &fixture->err);
	part.kind = text_copy("not-reproducible");
	assert_ok(store_finish_hunt(store, &part, NULL, 0, &fixture->err), &fixture->err);
	hunt.more_steps = true;
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	assert_contains(body, "no other showed when looked");
	assert_null(strstr(body, "there is another one"));
	free(part.kind);
	store_hunt_free(&hunt);
}

/* Everything that the mail promises, and git itself ends at the culprit by its log. */
static void test_the_mail_says_how_sure_it_is_and_can_be_replayed(void **state)
{
	struct fixture *fixture = *state;
	world.steps[9] = 0.1;
	world.broken = 4;
	int64_t night = add_night(fixture);
	struct store_hunt hunt = add_hunt(fixture, night, 1);
	hunt_down(fixture, &hunt);
	assert_string_equal(hunt.culprit, fixture->ids[9]);
	hunt.layout_share = 0.5;
	auto_free char *subject = NULL;
	auto_free char *body = NULL;
	assert_ok(report_hunt(&fixture->context, &hunt, &subject, &body, &fixture->err),
		  &fixture->err);
	auto_free char *boots = text_format("boots spent: %lld by the hunt", (long long)hunt.boots);
	const char *const promised[] = {
		"virtually certain",
		"95 % interval",
		boots,
		"12 by the retest",
		"the effect is comparable to layout noise",
		"50 % of it",
		"docs/ACCURACY.md",
		"times likelier with this answer",
		"(layout 1)",
	};
	for (size_t i = 0; i < array_length(promised); i++)
		assert_contains(body, promised[i]);
	const char *start = strstr(body, "  git bisect start\n");
	assert_non_null(start);
	auto_free char *log = text_format("%.*s", (int)(strstr(start, "\n\n") - start), start);
	auto_free char *path = text_format("%s/bisect.log", fixture->folder);
	auto_free char *replay = text_format("bisect replay %s", path);
	write_file(path, log);
	auto_free char *told = git(fixture, replay);
	auto_free char *first = text_format("%s is the first bad commit", fixture->ids[9]);
	assert_contains(told, first);
	store_hunt_free(&hunt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		conductor_test(test_what_moved_with_the_culprit_is_not_hunted),
		conductor_test(test_what_the_culprit_of_a_follow_up_explains_is_not_hunted),
		conductor_test(test_two_hunts_that_end_at_one_commit_are_one_mail),
		conductor_test(test_a_commit_that_panicked_is_known_to_the_next_hunt),
		conductor_test(test_a_second_change_that_does_not_show_is_not_claimed),
		conductor_test(test_the_mail_says_how_sure_it_is_and_can_be_replayed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
