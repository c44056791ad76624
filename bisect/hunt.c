/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt.h"

#include <math.h>
#include <stdlib.h>

#include "bisect/hunt_confirmation.h"
#include "bisect/hunt_record.h"
#include "bisect/hunt_reproduction.h"
#include "bisect/search.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

#define CREDIBLE 0.95
enum { FAILED_CONFIRMATIONS_LIMIT = 4 };

/* The commits that nothing tells apart and that hold most of the probability. */
struct suspicion {
	bool *member;
	size_t first;
	size_t size;
	double probability;
	size_t witness; /* who is booted for them */
	bool *rival;    /* against whom */
};

/* One look at the events. */
struct view {
	const struct hunt_problem *problem;
	const struct hunt_event *events;
	size_t count;
	size_t commits;
	struct hunt_record record;
	struct search_evidence evidence;
	struct hunt_confirmation confirmation;
	struct hunt_reproduction reproduction;
	/* Filled when the ends have been reproduced. */
	bool searching;
	double *probability;
	double *bad_probability;
	double step;
	struct suspicion suspicion;
};

/* What comes next, and which commit completes the pair when it is the first boot of one. */
struct plan {
	struct hunt_step step;
	size_t partner;
};

static const char *const stage_names[] = {
	[HUNT_REPRODUCE] = "reproduce",
	[HUNT_SEARCH] = "search",
	[HUNT_CONFIRM] = "confirm",
};

const char *hunt_stage_name(enum hunt_stage stage)
{
	return stage_names[stage];
}

static void view_free(struct view *view)
{
	hunt_record_free(&view->record);
	hunt_confirmation_free(&view->confirmation);
	hunt_reproduction_free(&view->reproduction);
	free(view->probability);
	free(view->bad_probability);
	free(view->suspicion.member);
	free(view->suspicion.rival);
}

static void view_create(const struct hunt_problem *problem, const struct hunt_event *events,
			size_t count, struct view *ret_view)
{
	size_t commits = commit_graph_count(problem->graph);
	*ret_view = (struct view){
		.problem = problem,
		.events = events,
		.count = count,
		.commits = commits,
		.probability = memory_array(commits, sizeof(double)),
		.bad_probability = memory_array(commits, sizeof(double)),
		.suspicion = {.member = memory_array(commits, sizeof(bool)),
			      .rival = memory_array(commits, sizeof(bool))},
	};
	hunt_record_create(problem, events, count, &ret_view->record);
	ret_view->evidence = hunt_record_evidence(problem, &ret_view->record);
	hunt_reproduction_replay(problem, &ret_view->record, events, count,
				 &ret_view->reproduction);
	hunt_confirmation_replay(problem, events, count, &ret_view->confirmation);
}

static void suspect(struct view *view)
{
	struct suspicion *suspicion = &view->suspicion;
	const struct commit_graph *graph = view->problem->graph;
	suspicion->size = search_suspects(graph, &view->evidence, view->probability,
					  suspicion->member, &suspicion->probability);
	while (!suspicion->member[suspicion->first])
		suspicion->first++;
	suspicion->witness = search_witness(graph, &view->evidence, suspicion->first);
	hunt_confirmation_rivals(view->problem, view->record.untestable, suspicion->witness,
				 suspicion->rival);
}

static int look(struct view *view, struct hunt_step *step, struct error *err)
{
	if (search_posterior(view->problem->graph, &view->evidence, view->probability,
			     view->bad_probability, &view->step, err))
		return -1;
	view->searching = true;
	suspect(view);
	for (size_t commit = 0; commit < view->commits; commit++)
		if (view->probability[commit] > step->likeliest_probability) {
			step->likeliest = commit;
			step->likeliest_probability = view->probability[commit];
		}
	return 0;
}

/* The members, the likeliest first. */
static void list_set(const struct view *view, const bool *member, size_t size,
		     struct hunt_answer *answer)
{
	answer->set = memory_array(size, sizeof(*answer->set));
	answer->set_count = size;
	size_t listed = 0;
	for (size_t commit = 0; commit < view->commits; commit++) {
		size_t place = listed;
		if (!member[commit])
			continue;
		for (; place > 0 &&
		       view->probability[answer->set[place - 1]] < view->probability[commit];
		     place--)
			answer->set[place] = answer->set[place - 1];
		answer->set[place] = commit;
		listed++;
	}
}

static void state_set(const struct view *view, struct hunt_answer *answer)
{
	auto_free bool *member = memory_array(view->commits, sizeof(*member));
	if (answer->kind == HUNT_SET) {
		list_set(view, view->suspicion.member, view->suspicion.size, answer);
	} else {
		size_t size = search_credible_set(view->problem->graph, &view->evidence,
						  view->probability, CREDIBLE, member);
		list_set(view, member, size, answer);
	}
	if (answer->kind == HUNT_CULPRIT) {
		answer->culprit = view->suspicion.first;
		answer->probability = view->probability[answer->culprit];
		return;
	}
	for (size_t i = 0; i < answer->set_count; i++)
		answer->probability += view->probability[answer->set[i]];
	answer->probability = fmin(1, answer->probability);
}

static void state_step(const struct view *view, const double *differences, size_t count,
		       struct hunt_answer *answer)
{
	double deviation = sqrt(2) * view->record.deviation;
	if (count < 2)
		return;
	double margin = deviation / sqrt((double)count) *
			distribution_t_quantile_upper((1 - CREDIBLE) / 2, view->record.degrees);
	answer->step = stats_huber(differences, count, deviation);
	answer->step_lower = answer->step - margin;
	answer->step_upper = answer->step + margin;
}

static bool finish(const struct view *view, enum hunt_answer_kind kind, const char *reason,
		   struct plan *plan)
{
	struct hunt_answer *answer = &plan->step.answer;
	bool confirmed = kind == HUNT_CULPRIT || kind == HUNT_SET;
	plan->step.action = HUNT_FINISHED;
	answer->kind = kind;
	answer->reason = reason;
	answer->boots = view->record.boots;
	answer->reproduce_pairs = view->reproduction.pair_count;
	if (confirmed) {
		answer->confirm_pairs = view->confirmation.pair_count;
		state_step(view, view->confirmation.differences, view->confirmation.pair_count,
			   answer);
	} else {
		state_step(view, view->reproduction.differences, view->reproduction.pair_count,
			   answer);
	}
	if (view->searching)
		state_set(view, answer);
	return true;
}

static bool measure(enum hunt_stage stage, size_t commit, size_t partner, struct plan *plan)
{
	plan->step.action = HUNT_MEASURE;
	plan->step.stage = stage;
	plan->step.commit = commit;
	plan->partner = partner;
	return true;
}

static bool out_of_boots(const struct view *view)
{
	return view->record.boots >= view->problem->rule.maximum_boots;
}

static bool prepare(const struct view *view, struct plan *plan)
{
	const bool *untestable = view->record.untestable;
	size_t last = view->commits - 1;
	auto_free bool *candidate = memory_array(view->commits, sizeof(*candidate));
	if (view->record.image[0] == view->record.image[last])
		return finish(view, HUNT_NOT_REPRODUCIBLE, "both ends build to the same image",
			      plan);
	if (untestable[0] || untestable[last])
		return finish(view, HUNT_CANNOT_TELL,
			      !untestable[last] ? "the good end cannot be tested"
			      : !untestable[0]  ? "the bad end cannot be tested"
						: "neither end can be tested",
			      plan);
	if (!search_candidates(view->problem->graph, &view->evidence, candidate))
		return finish(view, HUNT_CANNOT_TELL,
			      "no commit between the ends can have made the difference", plan);
	return false;
}

static bool reproduce(const struct view *view, struct plan *plan)
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
	return measure(HUNT_REPRODUCE, view->reproduction.next, 0, plan);
}

static bool report(const struct view *view, struct plan *plan)
{
	const struct suspicion *suspicion = &view->suspicion;
	if (suspicion->probability < view->problem->rule.report_probability ||
	    !hunt_confirmation_accepted(&view->confirmation, view->commits, suspicion->witness,
					suspicion->rival))
		return false;
	if (suspicion->size == 1)
		return finish(view, HUNT_CULPRIT, "", plan);
	return finish(view, HUNT_SET, "nothing testable tells these commits apart", plan);
}

static bool give_up(const struct view *view, struct plan *plan)
{
	if (view->confirmation.failed >= FAILED_CONFIRMATIONS_LIMIT)
		return finish(view, HUNT_CANNOT_TELL, "four suspects were not confirmed", plan);
	return out_of_boots(view) && finish(view, HUNT_CANNOT_TELL, "out of boots", plan);
}

/* True when one commit at least would explain that SUSPECT is bad and no rival is. */
static bool explainable(const struct view *view, size_t suspect, const bool *rival)
{
	for (size_t culprit = 0; culprit <= suspect; culprit++) {
		bool explains = view->probability[culprit] > 0 &&
				commit_graph_contains(view->problem->graph, suspect, culprit);
		for (size_t commit = culprit; commit < suspect && explains; commit++)
			explains = !rival[commit] ||
				   !commit_graph_contains(view->problem->graph, commit, culprit);
		if (explains)
			return true;
	}
	return false;
}

static bool confirm_against(const struct view *view, size_t suspect, const bool *rival,
			    struct plan *plan)
{
	size_t first;
	size_t second;
	hunt_confirmation_next(&view->confirmation, view->commits, suspect, rival, &first, &second);
	return measure(HUNT_CONFIRM, first, second, plan);
}

static bool continue_confirmation(const struct view *view, struct plan *plan)
{
	size_t suspect = view->confirmation.suspect;
	auto_free bool *rival = memory_array(view->commits, sizeof(*rival));
	if (!suspect || view->confirmation.rejected || view->record.untestable[suspect])
		return false;
	hunt_confirmation_rivals(view->problem, view->record.untestable, suspect, rival);
	if (hunt_confirmation_accepted(&view->confirmation, view->commits, suspect, rival) ||
	    !explainable(view, suspect, rival))
		return false;
	return confirm_against(view, suspect, rival, plan);
}

static bool begin_confirmation(const struct view *view, struct plan *plan)
{
	const struct suspicion *suspicion = &view->suspicion;
	if (suspicion->probability < view->problem->rule.stop_probability ||
	    hunt_confirmation_accepted(&view->confirmation, view->commits, suspicion->witness,
				       suspicion->rival))
		return false;
	return confirm_against(view, suspicion->witness, suspicion->rival, plan);
}

static bool search(const struct view *view, struct plan *plan)
{
	size_t commit;
	if (!search_next(view->problem->graph, &view->evidence, view->bad_probability, view->step,
			 &commit))
		return finish(view, HUNT_CANNOT_TELL, "no further boot can tell more", plan);
	return measure(HUNT_SEARCH, commit, 0, plan);
}

static int decide(const struct hunt_problem *problem, const struct hunt_event *events, size_t count,
		  struct plan *plan, struct error *err);

/*
 * Whatever the first boot of a pair has changed, the pair is completed. For whom that boot was is
 * what was decided before it.
 */
static int complete_pair(const struct view *view, bool *ret_decided, struct plan *plan,
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
		*ret_decided = measure(HUNT_CONFIRM, before.partner, before.step.commit, plan);
	hunt_answer_free(&before.step.answer);
	return 0;
}

static int decide(const struct hunt_problem *problem, const struct hunt_event *events, size_t count,
		  struct plan *plan, struct error *err)
{
	static bool (*const rules[])(const struct view *, struct plan *) = {
		continue_confirmation,
		begin_confirmation,
		search,
	};
	auto_cleanup(view_free) struct view view = {0};
	bool decided;
	view_create(problem, events, count, &view);
	plan->step.boots = view.record.boots;
	if (prepare(&view, plan) || reproduce(&view, plan))
		return 0;
	if (look(&view, &plan->step, err))
		return -1;
	if (report(&view, plan) || give_up(&view, plan))
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
