/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include <stdbool.h>

#include "bisect/hunt.h"
#include "sentinel/base/cleanup.h"

enum { COMMITS = 9, LAST = COMMITS - 1, EVENTS_LIMIT = 300, NEVER = 1000 };

#define STEP 0.05

/*
 *  0 - 1 - 2 ------- 3 ------ 7 - 8
 *       \                    /
 *        4 ---- 5 ---- 6 ---
 */
static size_t edges[] = {0, 1, 2, 1, 4, 5, 3, 6, 7};
static size_t *const branched[COMMITS] = {edges,     edges,     edges + 1, edges + 2, edges + 3,
					  edges + 4, edges + 5, edges + 6, edges + 8};
static const size_t branched_counts[COMMITS] = {0, 1, 1, 1, 1, 1, 1, 2, 1};

static size_t before[] = {0, 1, 2, 3, 4, 5, 6, 7};
static size_t *const line[COMMITS] = {before,     before,     before + 1, before + 2, before + 3,
				      before + 4, before + 5, before + 6, before + 7};
static const size_t line_counts[COMMITS] = {0, 1, 1, 1, 1, 1, 1, 1, 1};

/* A machine that boots what the hunt asks for. */
struct play {
	struct commit_graph *graph;
	struct hunt_problem problem;
	bool excluded[COMMITS];
	size_t culprit;
	size_t second_culprit;       /* adds the step once more; 0: none */
	size_t broken_from[COMMITS]; /* no boot of this commit succeeds from this event on */
	size_t same_image_as[COMMITS];
	bool built[COMMITS];
	bool nothing_to_confirm; /* a confirmation sees no difference */
	struct hunt_event events[EVENTS_LIMIT];
	size_t count;
	struct hunt_step step;
};

static void setup(struct play *play, size_t *const *parents, const size_t *parent_counts)
{
	struct error err;
	memset(play, 0, sizeof(*play));
	assert_ok(commit_graph_create(COMMITS, parents, parent_counts, &play->graph, &err), &err);
	play->problem = (struct hunt_problem){
		.graph = play->graph,
		.excluded = play->excluded,
		.rule = {.stop_probability = 0.9,
			 .report_probability = 0.99,
			 .maximum_boots = 100,
			 .flagged_step = STEP,
			 .minimum_step = 0.01,
			 .noise = {.deviation = 0.005, .degrees = 20, .deviation_floor = 1e-6}},
	};
	for (size_t commit = 0; commit < COMMITS; commit++) {
		play->broken_from[commit] = NEVER;
		play->same_image_as[commit] = commit;
	}
}

static int line_setup(void **state)
{
	static struct play play;
	setup(&play, line, line_counts);
	play.culprit = 5;
	*state = &play;
	return 0;
}

static int branched_setup(void **state)
{
	static struct play play;
	setup(&play, branched, branched_counts);
	*state = &play;
	return 0;
}

static int teardown(void **state)
{
	struct play *play = *state;
	commit_graph_free(&play->graph);
	hunt_answer_free(&play->step.answer);
	return 0;
}

static struct hunt_event boot(const struct play *play, enum hunt_stage stage, size_t commit)
{
	bool bad = commit_graph_contains(play->graph, commit, play->culprit) &&
		   !(play->nothing_to_confirm && stage == HUNT_CONFIRM);
	bool worse = play->second_culprit &&
		     commit_graph_contains(play->graph, commit, play->second_culprit);
	/* A wobble of a tenth of the step, another one for each boot. */
	double wobble = (double)(play->count * 7 % 5) - 2;
	return (struct hunt_event){
		.kind = HUNT_MEASURED,
		.stage = stage,
		.commit = commit,
		.layout = play->step.layout,
		.values = {1 + (bad ? STEP : 0) + (worse ? STEP : 0) + wobble * STEP / 20},
		.weight = 1,
	};
}

static void ask(struct play *play)
{
	struct error err;
	assert_ok(hunt_next(&play->problem, play->events, play->count, &play->step, &err), &err);
}

static void answer(struct play *play)
{
	size_t commit = play->step.commit;
	struct hunt_event *event = &play->events[play->count];
	assert_true(play->count < EVENTS_LIMIT);
	*event = boot(play, play->step.stage, commit);
	if (play->count >= play->broken_from[commit]) {
		event->kind = HUNT_UNTESTABLE;
	} else if (play->same_image_as[commit] != commit && !play->built[commit]) {
		event->kind = HUNT_SAME_IMAGE;
		event->other = play->same_image_as[commit];
	}
	play->built[commit] = true;
	play->count++;
}

static const struct hunt_answer *hunt_down(struct play *play)
{
	for (;;) {
		ask(play);
		if (play->step.action == HUNT_FINISHED)
			return &play->step.answer;
		answer(play);
	}
}

static size_t boots_of(const struct play *play, enum hunt_stage stage, size_t commit)
{
	size_t count = 0;
	for (size_t i = 0; i < play->count; i++)
		count += play->events[i].kind == HUNT_MEASURED && play->events[i].stage == stage &&
			 play->events[i].commit == commit;
	return count;
}

static void assert_culprit(struct play *play, size_t culprit)
{
	const struct hunt_answer *found = hunt_down(play);
	assert_string_equal(found->reason, "");
	assert_int_equal(found->kind, HUNT_CULPRIT);
	assert_int_equal(found->culprit, culprit);
	assert_true(found->probability >= 0.99);
	assert_int_equal(found->set_count, 1);
	assert_int_equal(found->set[0], culprit);
	assert_true(found->confirm_pairs >= 2);
	assert_true(found->step_lower <= STEP && found->step_upper >= STEP);
	assert_true(found->step_lower > 0);
}

static void test_a_culprit_in_a_side_branch_is_found(void **state)
{
	struct play *play = *state;
	play->culprit = 5;
	assert_culprit(play, 5);
	assert_true(boots_of(play, HUNT_CONFIRM, 4) >= 2);
	assert_true(boots_of(play, HUNT_CONFIRM, 5) >= 2);
}

static void test_a_culprit_that_is_the_merge_is_confirmed_against_both_parents(void **state)
{
	struct play *play = *state;
	play->culprit = 7;
	assert_culprit(play, 7);
	assert_true(boots_of(play, HUNT_CONFIRM, 3) >= 2);
	assert_true(boots_of(play, HUNT_CONFIRM, 6) >= 2);
	assert_int_equal(boots_of(play, HUNT_CONFIRM, 7), play->step.answer.confirm_pairs);
}

static void assert_order(const struct play *play, enum hunt_stage stage, const size_t order[4])
{
	size_t seen = 0;
	for (size_t i = 0; i < play->count && seen < 4; i++)
		if (play->events[i].stage == stage)
			assert_int_equal(play->events[i].commit, order[seen++]);
	assert_int_equal(seen, 4);
}

static void test_pairs_are_booted_good_bad_bad_good(void **state)
{
	struct play *play = *state;
	static const size_t ends[4] = {0, LAST, LAST, 0};
	static const size_t pair[4] = {4, 5, 5, 4};
	assert_culprit(play, 5);
	assert_order(play, HUNT_REPRODUCE, ends);
	assert_order(play, HUNT_CONFIRM, pair);
}

static void test_nothing_is_believed_before_the_ends_are_reproduced(void **state)
{
	struct play *play = *state;
	for (ask(play); play->step.stage == HUNT_REPRODUCE; ask(play)) {
		assert_true(play->step.likeliest_probability == 0);
		assert_int_equal(play->step.boots, play->count);
		answer(play);
	}
	assert_true(play->count >= 4);
	assert_int_equal(play->step.stage, HUNT_SEARCH);
	assert_true(play->step.likeliest_probability > 0);
}

static void test_without_any_history_the_ends_are_booted_until_the_noise_is_known(void **state)
{
	struct play *play = *state;
	play->problem.rule.noise.deviation = 0;
	play->problem.rule.noise.degrees = 0;
	assert_culprit(play, 5);
	assert_int_equal(play->step.answer.reproduce_pairs, 4);
}

static void test_equal_ends_are_not_reproducible(void **state)
{
	struct play *play = *state;
	play->culprit = NEVER;
	for (size_t i = 0; i < 40; i++)
		play->events[i] = (struct hunt_event){.kind = HUNT_MEASURED,
						      .stage = HUNT_REPRODUCE,
						      .commit = i % 4 == 0 || i % 4 == 3 ? 0 : LAST,
						      .values = {1 + (double)(i % 3) * 0.004},
						      .weight = 1};
	for (ask(play); play->step.action == HUNT_MEASURE; ask(play))
		assert_int_equal(play->events[play->count++].commit, play->step.commit);
	assert_int_equal(play->step.answer.kind, HUNT_NOT_REPRODUCIBLE);
	assert_contains(play->step.answer.reason, "do not differ");
	assert_true(play->step.answer.step_upper < STEP);
	assert_int_equal(play->step.answer.boots, play->count);
	assert_int_equal(play->step.answer.set_count, 0);
}

static void test_ends_with_one_image_are_not_measured(void **state)
{
	struct play *play = *state;
	play->same_image_as[LAST] = 0;
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_NOT_REPRODUCIBLE);
	assert_string_equal(found->reason, "both ends build to the same image");
	assert_int_equal(found->boots, 1);
}

static void test_an_end_that_cannot_be_tested_ends_the_hunt(void **state)
{
	struct play *play = *state;
	play->broken_from[LAST] = 0;
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_CANNOT_TELL);
	assert_string_equal(found->reason, "the bad end cannot be tested");
}

static void test_ends_that_never_separate_are_given_up(void **state)
{
	struct play *play = *state;
	for (size_t i = 0; i < 100; i++)
		play->events[i] = (struct hunt_event){
			.kind = HUNT_MEASURED,
			.stage = HUNT_REPRODUCE,
			.commit = i % 4 == 0 || i % 4 == 3 ? 0 : LAST,
			/* A third of the flagged step is neither nothing nor the step. */
			.values = {1 + (i % 4 == 1 || i % 4 == 2 ? 0.3 * STEP : 0)},
			.weight = 1};
	for (ask(play); play->step.action == HUNT_MEASURE; ask(play))
		play->count++;
	assert_int_equal(play->step.answer.kind, HUNT_CANNOT_TELL);
	assert_string_equal(play->step.answer.reason, "the ends do not separate");
	assert_int_equal(play->step.answer.reproduce_pairs, 20);
}

static void test_an_untestable_parent_makes_a_set(void **state)
{
	struct play *play = *state;
	play->broken_from[3] = play->broken_from[4] = 0;
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_SET);
	assert_int_equal(found->set_count, 3);
	assert_true(found->set[0] == 3 && found->set[1] == 4 && found->set[2] == 5);
	assert_true(found->probability >= 0.99);
	assert_true(boots_of(play, HUNT_CONFIRM, 2) >= 2);
	assert_true(boots_of(play, HUNT_CONFIRM, 5) >= 2);
}

static void test_an_untestable_commit_that_cannot_matter_is_no_suspect(void **state)
{
	struct play *play = *state;
	play->broken_from[4] = 0;
	play->excluded[4] = true;
	assert_culprit(play, 5);
	assert_true(boots_of(play, HUNT_CONFIRM, 3) >= 2);
}

static void test_a_parent_that_breaks_during_the_confirmation_is_replaced(void **state)
{
	struct play *play = *state;
	for (ask(play); play->step.stage != HUNT_CONFIRM; ask(play))
		answer(play);
	assert_int_equal(play->step.commit, 4);
	play->broken_from[4] = play->count;
	const struct hunt_answer *found = hunt_down(play);
	/* It had been measured good before it broke. */
	assert_int_equal(found->kind, HUNT_CULPRIT);
	assert_int_equal(found->culprit, 5);
	assert_int_equal(boots_of(play, HUNT_CONFIRM, 4), 0);
	assert_true(boots_of(play, HUNT_CONFIRM, 3) >= 2);
}

static void add_failure(struct play *play, size_t commit, size_t layout)
{
	play->events[play->count++] = (struct hunt_event){
		.kind = HUNT_UNTESTABLE, .stage = HUNT_SEARCH, .commit = commit, .layout = layout};
}

static void test_an_end_that_fails_once_after_it_gave_values_stays_testable(void **state)
{
	struct play *play = *state;
	for (ask(play); play->step.stage == HUNT_REPRODUCE; ask(play))
		answer(play);
	add_failure(play, LAST, 0);
	ask(play);
	assert_int_equal(play->step.action, HUNT_MEASURE);
	add_failure(play, LAST, 0);
	ask(play);
	assert_int_equal(play->step.action, HUNT_FINISHED);
	assert_string_equal(play->step.answer.reason, "the bad end cannot be tested");
}

static void test_a_layout_that_fails_ends_layouts_but_not_the_commit(void **state)
{
	struct play *play = *state;
	play->problem.rule.layouts = 3;
	play->problem.rule.noise.layout_deviation = STEP / 4;
	/* The first pair has the plain builds, the second one another layout. */
	for (size_t i = 0; i < 2; i++) {
		ask(play);
		assert_int_equal(play->step.layout, 0);
		answer(play);
	}
	ask(play);
	assert_int_equal(play->step.layout, 1);
	add_failure(play, play->step.commit, 1);
	ask(play);
	assert_int_equal(play->step.action, HUNT_MEASURE);
	assert_int_equal(play->step.layout, 0);
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_CULPRIT);
	for (size_t i = 0; i < play->count; i++)
		assert_true(play->events[i].layout == 0 || play->events[i].kind == HUNT_UNTESTABLE);
}

static void test_a_step_that_fades_in_the_search_is_not_reproducible(void **state)
{
	struct play *play = *state;
	for (ask(play); play->step.stage == HUNT_REPRODUCE; ask(play))
		answer(play);
	/* It had been chance: from here on no commit differs from another. */
	play->culprit = NEVER;
	for (size_t i = 0; i < 24; i++) {
		play->events[play->count] = boot(play, HUNT_SEARCH, i % 2 ? LAST : 0);
		play->events[play->count].values[0] -= STEP / 20;
		play->count++;
	}
	ask(play);
	assert_int_equal(play->step.action, HUNT_FINISHED);
	assert_int_equal(play->step.answer.kind, HUNT_NOT_REPRODUCIBLE);
	assert_contains(play->step.answer.reason, "in further boots");
}

/* The one step that fits best is half of both together; but it does not fit. */
static void test_two_steps_do_not_look_like_one_that_fades(void **state)
{
	struct play *play = *state;
	play->second_culprit = 3;
	play->problem.rule.flagged_step = 2.6 * STEP;
	for (size_t i = 0; i < 6; i++)
		play->events[play->count++] = boot(play, HUNT_KNOWN, i % 2 ? LAST : 0);
	for (size_t i = 0; i < 40; i++)
		play->events[play->count++] = boot(play, HUNT_SEARCH, i % 2 ? 4 : 3);
	ask(play);
	assert_int_equal(play->step.action, HUNT_MEASURE);
}

static void test_what_was_known_before_is_evidence_but_not_spent(void **state)
{
	struct play *play = *state;
	for (size_t i = 0; i < 6; i++)
		play->events[play->count++] = boot(play, HUNT_KNOWN, i % 2 ? LAST : 0);
	ask(play);
	assert_int_equal(play->step.boots, 0);
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_CULPRIT);
	assert_int_equal(found->boots, play->count - 6);
	assert_int_equal(found->boots,
			 found->reproduce_boots + found->search_boots + found->confirm_boots);
}

static void test_where_a_boot_tells_little_several_are_asked_for_at_once(void **state)
{
	struct play *play = *state;
	for (size_t i = 0; i < 8; i++)
		play->events[play->count++] = boot(play, HUNT_KNOWN, i % 2 ? LAST : 0);
	play->events[play->count++] = boot(play, HUNT_SEARCH, 4);
	ask(play);
	assert_int_equal(play->step.repeat, 1);
	/* Half a deviation: 1.5 / 0.5^2 boots. */
	play->problem.rule.noise.deviation = 2 * STEP;
	play->problem.rule.noise.degrees = 1e6;
	ask(play);
	assert_in_range(play->step.repeat, 4, 8);
}

static void test_two_steps_are_noticed_and_one_of_them_is_named(void **state)
{
	struct play *play = *state;
	for (size_t i = 0; i < 6; i++)
		play->events[play->count++] = boot(play, HUNT_KNOWN, i % 2 ? LAST : 0);
	play->second_culprit = 2;
	play->problem.rule.flagged_step = 2 * STEP;
	for (size_t i = 0; i < play->count; i++)
		play->events[i].values[0] += play->events[i].commit == LAST ? STEP : 0;
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_CULPRIT);
	assert_true(found->culprit == 5 || found->culprit == 2);
	assert_true(found->more_steps);
}

static void test_a_pair_is_completed_whatever_its_first_boot_changed(void **state)
{
	struct play *play = *state;
	for (ask(play); play->step.stage != HUNT_CONFIRM; ask(play))
		answer(play);
	assert_int_equal(play->step.commit, 4);
	answer(play);
	play->events[play->count - 1].values[0] = 1 + 2 * STEP;
	ask(play);
	assert_true(play->step.likeliest_probability < play->problem.rule.stop_probability);
	assert_int_equal(play->step.stage, HUNT_CONFIRM);
	assert_int_equal(play->step.commit, 5);
}

static void test_noise_in_the_search_does_not_lead_back_to_the_ends(void **state)
{
	struct play *play = *state;
	for (ask(play); play->step.stage == HUNT_REPRODUCE; ask(play))
		answer(play);
	for (size_t i = 0; i < 12; i++, ask(play)) {
		assert_int_equal(play->step.action, HUNT_MEASURE);
		assert_int_not_equal(play->step.stage, HUNT_REPRODUCE);
		answer(play);
		play->events[play->count - 1].values[0] = i % 2 ? 0 : 2;
	}
}

static void test_the_image_of_an_untestable_commit_is_not_tried_under_another_name(void **state)
{
	struct play *play = *state;
	static const struct hunt_event learned[] = {
		{.kind = HUNT_UNTESTABLE, .stage = HUNT_SEARCH, .commit = 4},
		{.kind = HUNT_SAME_IMAGE, .stage = HUNT_SEARCH, .commit = 5, .other = 4},
	};
	play->culprit = 4;
	for (ask(play); play->step.stage == HUNT_REPRODUCE; ask(play))
		answer(play);
	memcpy(play->events + play->count, learned, sizeof(learned));
	play->count += 2;
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(boots_of(play, HUNT_SEARCH, 5) + boots_of(play, HUNT_CONFIRM, 5), 0);
	assert_int_equal(found->kind, HUNT_SET);
	assert_int_equal(found->set_count, 2);
	assert_true(found->set[0] == 4 && found->set[1] == 6);
}

static void test_a_confirmation_ends_when_the_images_turn_out_to_be_equal(void **state)
{
	struct play *play = *state;
	while (boots_of(play, HUNT_CONFIRM, 4) + boots_of(play, HUNT_CONFIRM, 5) < 2) {
		ask(play);
		answer(play);
	}
	size_t start = play->count + 1;
	play->events[play->count++] = (struct hunt_event){
		.kind = HUNT_SAME_IMAGE, .stage = HUNT_CONFIRM, .commit = 5, .other = 4};
	hunt_down(play);
	bool half_pair = false;
	for (size_t i = start; i < play->count; i++) {
		assert_false(half_pair &&
			     play->events[i - 1].commit + play->events[i].commit == 4 + 5);
		half_pair = play->events[i].stage == HUNT_CONFIRM && !half_pair;
	}
	for (size_t i = 0; i < play->step.answer.set_count; i++)
		assert_int_not_equal(play->step.answer.set[i], 5);
}

static void test_a_parent_that_cannot_matter_is_not_booted(void **state)
{
	struct play *play = *state;
	play->excluded[4] = play->excluded[3] = true;
	assert_culprit(play, 5);
	for (size_t i = 0; i < play->count; i++)
		assert_false(play->excluded[play->events[i].commit]);
}

static void test_a_commit_with_the_image_of_its_parent_is_never_blamed(void **state)
{
	struct play *play = *state;
	/* 5 looks guilty, but 6 has the image of 5 and 5 that of 4: it was 4, or 4 is bad too. */
	play->culprit = 4;
	play->same_image_as[5] = 4;
	play->same_image_as[6] = 4;
	assert_culprit(play, 4);
}

static void test_images_that_come_back_leave_no_single_step(void **state)
{
	struct play *play = *state;
	static const size_t same[][2] = {{4, 0}, {LAST, 3}};
	for (size_t i = 0; i < 2; i++)
		play->events[play->count++] = (struct hunt_event){.kind = HUNT_SAME_IMAGE,
								  .stage = HUNT_SEARCH,
								  .commit = same[i][0],
								  .other = same[i][1]};
	ask(play);
	assert_int_equal(play->step.action, HUNT_FINISHED);
	assert_int_equal(play->step.answer.kind, HUNT_CANNOT_TELL);
	assert_contains(play->step.answer.reason, "no commit between the ends");
}

static void test_a_suspect_that_is_not_confirmed_is_not_blamed(void **state)
{
	struct play *play = *state;
	play->nothing_to_confirm = true;
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_CANNOT_TELL);
	assert_string_equal(found->reason, "four suspects were not confirmed");
	assert_true(found->set_count >= 1);
	assert_int_equal(found->confirm_pairs, 0);
}

static void test_boots_that_run_out_leave_a_set(void **state)
{
	struct play *play = *state;
	play->problem.rule.maximum_boots = 5;
	const struct hunt_answer *found = hunt_down(play);
	assert_int_equal(found->kind, HUNT_CANNOT_TELL);
	assert_string_equal(found->reason, "out of boots");
	assert_int_equal(found->boots, 5);
	bool holds = false;
	for (size_t i = 0; i < found->set_count; i++)
		holds = holds || found->set[i] == play->culprit;
	assert_true(holds && found->set_count < LAST);
	assert_true(found->probability >= 0.95);
}

static void assert_refused(struct play *play, struct hunt_event event, const char *text)
{
	struct error err = {0};
	play->events[0] = event;
	assert_int_equal(hunt_next(&play->problem, play->events, 1, &play->step, &err), -1);
	assert_int_equal(err.kind, ERROR_STATE);
	assert_contains(err.message, text);
}

static void test_events_that_contradict_the_graph_are_refused(void **state)
{
	struct play *play = *state;
	assert_refused(play,
		       (struct hunt_event){.commit = COMMITS, .stage = HUNT_SEARCH, .weight = 1},
		       "names commit 9");
	assert_refused(play,
		       (struct hunt_event){.kind = HUNT_SAME_IMAGE, .commit = 1, .other = COMMITS},
		       "names commit 9");
	assert_refused(play, (struct hunt_event){.kind = HUNT_SAME_IMAGE, .commit = 1, .other = 1},
		       "with itself");
	assert_refused(play, (struct hunt_event){.commit = 3, .weight = 1}, "which is no end");
	assert_refused(play, (struct hunt_event){.values = {NAN}, .weight = 1}, "no finite value");
	assert_refused(play, (struct hunt_event){.weight = 0}, "no weight");
	assert_refused(play, (struct hunt_event){.weight = 1, .layout = HUNT_LAYOUTS},
		       "of layout 8");
	assert_refused(play, (struct hunt_event){.kind = (enum hunt_event_kind)7}, "no known kind");
}

static void test_a_rule_without_a_step_is_refused(void **state)
{
	struct play *play = *state;
	struct error err = {0};
	play->problem.rule.flagged_step = 0;
	assert_int_equal(hunt_next(&play->problem, NULL, 0, &play->step, &err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
}

static void test_names_are_what_is_stored(void **state)
{
	(void)state;
	assert_string_equal(hunt_stage_name(HUNT_CONFIRM), "confirm");
	assert_string_equal(hunt_answer_kind_name(HUNT_NOT_REPRODUCIBLE), "not-reproducible");
}

#define line_test(function) cmocka_unit_test_setup_teardown(function, line_setup, teardown)
#define branched_test(function) cmocka_unit_test_setup_teardown(function, branched_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		branched_test(test_a_culprit_in_a_side_branch_is_found),
		branched_test(test_a_culprit_that_is_the_merge_is_confirmed_against_both_parents),
		line_test(test_pairs_are_booted_good_bad_bad_good),
		line_test(test_nothing_is_believed_before_the_ends_are_reproduced),
		line_test(test_without_any_history_the_ends_are_booted_until_the_noise_is_known),
		line_test(test_equal_ends_are_not_reproducible),
		line_test(test_ends_with_one_image_are_not_measured),
		line_test(test_an_end_that_cannot_be_tested_ends_the_hunt),
		line_test(test_ends_that_never_separate_are_given_up),
		line_test(test_an_untestable_parent_makes_a_set),
		line_test(test_an_untestable_commit_that_cannot_matter_is_no_suspect),
		line_test(test_a_parent_that_breaks_during_the_confirmation_is_replaced),
		line_test(test_an_end_that_fails_once_after_it_gave_values_stays_testable),
		line_test(test_a_layout_that_fails_ends_layouts_but_not_the_commit),
		line_test(test_a_step_that_fades_in_the_search_is_not_reproducible),
		line_test(test_two_steps_do_not_look_like_one_that_fades),
		line_test(test_what_was_known_before_is_evidence_but_not_spent),
		line_test(test_where_a_boot_tells_little_several_are_asked_for_at_once),
		line_test(test_two_steps_are_noticed_and_one_of_them_is_named),
		line_test(test_a_pair_is_completed_whatever_its_first_boot_changed),
		line_test(test_noise_in_the_search_does_not_lead_back_to_the_ends),
		line_test(test_the_image_of_an_untestable_commit_is_not_tried_under_another_name),
		line_test(test_a_confirmation_ends_when_the_images_turn_out_to_be_equal),
		line_test(test_a_parent_that_cannot_matter_is_not_booted),
		line_test(test_a_commit_with_the_image_of_its_parent_is_never_blamed),
		line_test(test_images_that_come_back_leave_no_single_step),
		line_test(test_a_suspect_that_is_not_confirmed_is_not_blamed),
		line_test(test_boots_that_run_out_leave_a_set),
		line_test(test_events_that_contradict_the_graph_are_refused),
		line_test(test_a_rule_without_a_step_is_refused),
		cmocka_unit_test(test_names_are_what_is_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
