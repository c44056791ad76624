/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt.h"

#include <math.h>

#include "bisect/hunt_answer.h"
#include "bisect/hunt_view.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

enum { FAILED_CONFIRMATIONS_LIMIT = 4, REPEAT_LIMIT = 8 };

/* Below this distance one boot changes so little that several are run before looking again. */
#define FAINT_DISTANCE 1.2
#define REPEAT_SHARE 1.5
#define VANISHED_ERRORS 3.0
#define VANISHED_SHARE 0.5

/* What comes next, and which commit completes the pair when it is the first boot of one. */
struct plan {
	struct hunt_step step;
	size_t partner;
};

static const char *const stage_names[] = {
	[HUNT_REPRODUCE] = "reproduce",
	[HUNT_SEARCH] = "search",
	[HUNT_CONFIRM] = "confirm",
	[HUNT_KNOWN] = "known",
};

const char *hunt_stage_name(enum hunt_stage stage)
{
	return stage_names[stage];
}

static bool finish(const struct hunt_view *view, enum hunt_answer_kind kind, const char *reason,
		   struct plan *plan)
{
	plan->step.action = HUNT_FINISHED;
	hunt_answer_state(view, kind, reason, &plan->step.answer);
	return true;
}

static bool measure(enum hunt_stage stage, size_t commit, size_t layout, size_t repeat,
		    struct plan *plan)
{
	plan->step.action = HUNT_MEASURE;
	plan->step.stage = stage;
	plan->step.commit = commit;
	plan->step.layout = layout;
	plan->step.repeat = repeat;
	return true;
}

static bool out_of_boots(const struct hunt_view *view)
{
	return view->spent >= view->problem->rule.maximum_boots;
}

static bool prepare(const struct hunt_view *view, struct plan *plan)
{
	const struct hunt_record *record = &view->own.record;
	struct search_evidence evidence = hunt_record_evidence(view->problem, record);
	const bool *untestable = record->untestable;
	size_t last = view->commits - 1;
	auto_free bool *candidate = memory_array(view->commits, sizeof(*candidate));
	if (record->image[0] == record->image[last])
		return finish(view, HUNT_NOT_REPRODUCIBLE, "both ends build to the same image",
			      plan);
	if (untestable[0] || untestable[last])
		return finish(view, HUNT_CANNOT_TELL,
			      !untestable[last] ? "the good end cannot be tested"
			      : !untestable[0]  ? "the bad end cannot be tested"
						: "neither end can be tested",
			      plan);
	if (!search_candidates(view->problem->graph, &evidence, candidate))
		return finish(view, HUNT_CANNOT_TELL,
			      "no commit between the ends can have made the difference", plan);
	return false;
}

static bool reproduce(const struct hunt_view *view, struct plan *plan)
{
	switch (view->reproduction.state) {
	case REPRODUCTION_DONE:
		return false;
	case REPRODUCTION_EQUAL:
		return finish(view, HUNT_NOT_REPRODUCIBLE, "measured again, the ends do not differ",
			      plan);
	case REPRODUCTION_UNDECIDED:
		return finish(view, HUNT_CANNOT_TELL, "the ends do not separate", plan);
	case REPRODUCTION_OPEN:
		break;
	}
	if (out_of_boots(view))
		return finish(view, HUNT_CANNOT_TELL, "out of boots", plan);
	return measure(HUNT_REPRODUCE, view->reproduction.next, view->reproduction.layout, 1, plan);
}

static bool accepted(const struct hunt_view *view, const struct hunt_suspicion *suspicion)
{
	return hunt_confirmation_accepted(&view->confirmation, view->commits, suspicion->witness,
					  suspicion->rival);
}

static bool report(const struct hunt_view *view, struct plan *plan)
{
	const struct hunt_suspicion *suspicion = &view->own.suspicion;
	if (suspicion->probability < view->problem->rule.report_probability ||
	    !accepted(view, suspicion))
		return false;
	if (suspicion->size == 1)
		return finish(view, HUNT_CULPRIT, "", plan);
	return finish(view, HUNT_SET, "nothing testable tells these commits apart", plan);
}

/*
 * A step that chance made reproduce shrinks while the search goes on: the levels that all boots
 * together give cannot be as far apart as the one that is hunted. Two steps have a third level
 * between theirs, which looks like that as well, but for the fit.
 */
static bool vanish(const struct hunt_view *view, struct plan *plan)
{
	const struct search_belief *belief = &view->own.belief;
	double error = hypot(belief->level_error[0], belief->level_error[1]);
	if (view->own.one_step_chance < HUNT_DOUBTFUL_FIT ||
	    search_step(belief) + VANISHED_ERRORS * error >=
		    VANISHED_SHARE * hunt_expected_step(&view->problem->rule))
		return false;
	return finish(view, HUNT_NOT_REPRODUCIBLE, "in further boots the ends do not differ", plan);
}

static bool give_up(const struct hunt_view *view, struct plan *plan)
{
	if (view->confirmation.failed >= FAILED_CONFIRMATIONS_LIMIT)
		return finish(view, HUNT_CANNOT_TELL, "four suspects were not confirmed", plan);
	return out_of_boots(view) && finish(view, HUNT_CANNOT_TELL, "out of boots", plan);
}

/* True when one commit at least would explain that SUSPECT is bad and no rival is. */
static bool explainable(const struct hunt_view *view, size_t suspect, const bool *rival)
{
	const struct commit_graph *graph = view->problem->graph;
	auto_free size_t *rivals = memory_array(view->commits, sizeof(*rivals));
	size_t rival_count = 0;
	for (size_t commit = 0; commit < suspect; commit++)
		if (rival[commit])
			rivals[rival_count++] = commit;
	for (size_t culprit = 0; culprit <= suspect; culprit++) {
		bool explains = view->own.belief.probability[culprit] > 0 &&
				commit_graph_contains(graph, suspect, culprit);
		for (size_t i = 0; i < rival_count && explains; i++)
			explains = !commit_graph_contains(graph, rivals[i], culprit);
		if (explains)
			return true;
	}
	return false;
}

static bool confirm_against(const struct hunt_view *view, size_t suspect, const bool *rival,
			    struct plan *plan)
{
	struct hunt_pair pair;
	hunt_confirmation_next(&view->confirmation, view->commits, suspect, rival, &pair);
	plan->partner = pair.second;
	return measure(HUNT_CONFIRM, pair.first,
		       pair.number % hunt_pair_layouts(view->problem, &view->own.record), 1, plan);
}

static bool continue_confirmation(const struct hunt_view *view, struct plan *plan)
{
	size_t suspect = view->confirmation.suspect;
	const bool *untestable = view->own.record.untestable;
	auto_free bool *rival = memory_array(view->commits, sizeof(*rival));
	if (!suspect || view->confirmation.rejected || untestable[suspect])
		return false;
	hunt_confirmation_rivals(view->problem, untestable, suspect, rival);
	if (hunt_confirmation_accepted(&view->confirmation, view->commits, suspect, rival) ||
	    !explainable(view, suspect, rival))
		return false;
	return confirm_against(view, suspect, rival, plan);
}

/* Once a witness points at a commit, the series itself is asked about that commit. */
static bool begin_confirmation(const struct hunt_view *view, struct plan *plan)
{
	const struct hunt_suspicion *suspicion = &view->own.suspicion;
	double stop = view->problem->rule.stop_probability;
	if (view->series && view->witness.suspicion.probability >= stop &&
	    !accepted(view, &view->witness.suspicion))
		suspicion = &view->witness.suspicion;
	if (suspicion->probability < stop || accepted(view, suspicion))
		return false;
	return confirm_against(view, suspicion->witness, suspicion->rival, plan);
}

static size_t repeats(double distance)
{
	if (distance >= FAINT_DISTANCE)
		return 1;
	return (size_t)fmax(1, fmin(REPEAT_LIMIT, REPEAT_SHARE / (distance * distance)));
}

static bool search(const struct hunt_view *view, struct plan *plan)
{
	const struct hunt_problem *problem = view->problem;
	const struct hunt_opinion *guide = hunt_view_guide(view);
	struct search_evidence evidence = hunt_record_evidence(problem, &guide->record);
	struct search_price price = {
		.build = problem->price.build_seconds,
		.boot = problem->price.boot_seconds > 0 ? problem->price.boot_seconds : 1,
		.built = problem->built,
		.layouts = view->own.record.plain_only ? 1 : problem->rule.layouts,
	};
	struct search_choice choice;
	if (!search_next(problem->graph, &evidence, &guide->belief, &price, &choice))
		return finish(view, HUNT_CANNOT_TELL, "no further boot can tell more", plan);
	return measure(HUNT_SEARCH, choice.commit, choice.layout, repeats(choice.distance), plan);
}

static int decide(const struct hunt_problem *problem, const struct hunt_event *events, size_t count,
		  struct plan *plan, struct error *err);

/*
 * Whatever the first boot of a pair has changed, the pair is completed. For whom that boot was is
 * what was decided before it.
 */
static int complete_pair(const struct hunt_view *view, bool *ret_decided, struct plan *plan,
			 struct error *err)
{
	struct plan before = {0};
	*ret_decided = false;
	if (!view->confirmation.half_pair)
		return 0;
	if (decide(view->problem, view->events, view->count - 1, &before, err))
		return -1;
	if (before.step.action == HUNT_MEASURE && before.step.stage == HUNT_CONFIRM &&
	    before.step.commit == view->events[view->count - 1].commit)
		*ret_decided = measure(HUNT_CONFIRM, before.partner, before.step.layout, 1, plan);
	hunt_answer_free(&before.step.answer);
	return 0;
}

static void tell_likeliest(const struct hunt_view *view, struct hunt_step *step)
{
	const double *probability = view->own.belief.probability;
	for (size_t commit = 0; commit < view->commits; commit++)
		if (probability[commit] > step->likeliest_probability) {
			step->likeliest = commit;
			step->likeliest_probability = probability[commit];
		}
}

static int decide(const struct hunt_problem *problem, const struct hunt_event *events, size_t count,
		  struct plan *plan, struct error *err)
{
	static bool (*const rules[])(const struct hunt_view *, struct plan *) = {
		continue_confirmation,
		begin_confirmation,
		search,
	};
	auto_hunt_view struct hunt_view view = {0};
	bool decided;
	hunt_view_create(problem, events, count, &view);
	plan->step.boots = view.spent;
	if (prepare(&view, plan) || reproduce(&view, plan))
		return 0;
	if (hunt_view_look(&view, err))
		return -1;
	tell_likeliest(&view, &plan->step);
	if (report(&view, plan) || vanish(&view, plan) || give_up(&view, plan))
		return 0;
	if (complete_pair(&view, &decided, plan, err))
		return -1;
	for (size_t i = 0; i < array_length(rules) && !decided; i++)
		decided = rules[i](&view, plan);
	return 0;
}

int hunt_next(const struct hunt_problem *problem, const struct hunt_event *events, size_t count,
	      struct hunt_step *ret_step, struct error *err)
{
	struct plan plan = {0};
	if (hunt_record_check(problem, events, count, err) ||
	    decide(problem, events, count, &plan, err))
		return -1;
	*ret_step = plan.step;
	return 0;
}
