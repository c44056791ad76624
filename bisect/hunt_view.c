/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/hunt_witness.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

/* How likely a witness and the series itself moved at the same commit, before it is confirmed. */
#define WITNESS_TRUST 0.5

static void suspicion_free(struct hunt_suspicion *suspicion)
{
	free(suspicion->member);
	free(suspicion->rival);
}

static void opinion_free(struct hunt_opinion *opinion)
{
	hunt_record_free(&opinion->record);
	search_belief_free(&opinion->belief);
	suspicion_free(&opinion->suspicion);
}

void hunt_view_free(struct hunt_view *view)
{
	hunt_confirmation_free(&view->confirmation);
	hunt_reproduction_free(&view->reproduction);
	opinion_free(&view->own);
	opinion_free(&view->witness);
	free(view->prior);
	memset(view, 0, sizeof(*view));
}

void hunt_view_create(const struct hunt_problem *problem, const struct hunt_event *events,
		      size_t count, struct hunt_view *ret_view)
{
	const struct hunt_series own = {.sign = 1, .step = hunt_expected_step(&problem->rule)};
	*ret_view = (struct hunt_view){
		.problem = problem,
		.events = events,
		.count = count,
		.commits = commit_graph_count(problem->graph),
	};
	for (size_t i = 0; i < count; i++)
		ret_view->spent += events[i].kind == HUNT_MEASURED && events[i].stage != HUNT_KNOWN;
	hunt_record_create(problem, events, count, &own, &ret_view->own.record);
	hunt_reproduction_replay(problem, &ret_view->own.record, events, count,
				 &ret_view->reproduction);
	hunt_confirmation_replay(problem, events, count, &ret_view->confirmation);
}

static void suspect(const struct hunt_problem *problem, struct hunt_opinion *opinion)
{
	struct hunt_suspicion *suspicion = &opinion->suspicion;
	struct search_evidence evidence = hunt_record_evidence(problem, &opinion->record);
	size_t commits = opinion->record.commits;
	suspicion->member = memory_array(commits, sizeof(bool));
	suspicion->rival = memory_array(commits, sizeof(bool));
	suspicion->size = search_suspects(problem->graph, &evidence, opinion->belief.probability,
					  suspicion->member, &suspicion->probability);
	while (!suspicion->member[suspicion->first])
		suspicion->first++;
	suspicion->witness = search_witness(problem->graph, &evidence, suspicion->first);
	hunt_confirmation_rivals(problem, opinion->record.untestable, suspicion->witness,
				 suspicion->rival);
}

/* PRIOR: see hunt_record_believe. */
static int form_opinion(const struct hunt_problem *problem, const double *prior,
			struct hunt_opinion *opinion, struct error *err)
{
	struct search_scatter scatter;
	if (hunt_record_believe(problem, prior, &opinion->record, &scatter, &opinion->belief, err))
		return -1;
	opinion->one_step_chance = search_one_step_chance(&scatter);
	suspect(problem, opinion);
	return 0;
}

/* What the witness says is where one looks first, not what one believes. */
static void mix_prior(struct hunt_view *view)
{
	const struct hunt_problem *problem = view->problem;
	struct search_evidence evidence = hunt_record_evidence(problem, &view->own.record);
	auto_free bool *candidate = memory_array(view->commits, sizeof(*candidate));
	double total = 0;
	search_candidates(problem->graph, &evidence, candidate);
	for (size_t commit = 0; commit < view->commits; commit++)
		if (candidate[commit])
			total += problem->prior ? problem->prior[commit] : 1;
	view->prior = memory_array(view->commits, sizeof(*view->prior));
	for (size_t commit = 0; commit < view->commits; commit++)
		if (candidate[commit])
			view->prior[commit] =
				WITNESS_TRUST * view->witness.belief.probability[commit] +
				(1 - WITNESS_TRUST) *
					(problem->prior ? problem->prior[commit] : 1) / total;
}

int hunt_view_look(struct hunt_view *view, struct error *err)
{
	struct hunt_series series = {0};
	if (!view->confirmation.failed)
		hunt_witness_choose(view->problem, view->events, view->count, &series);
	view->series = series.index;
	if (view->series) {
		hunt_record_create(view->problem, view->events, view->count, &series,
				   &view->witness.record);
		if (form_opinion(view->problem, view->problem->prior, &view->witness, err))
			return -1;
		mix_prior(view);
	}
	view->searching = true;
	return form_opinion(view->problem, view->series ? view->prior : view->problem->prior,
			    &view->own, err);
}

const struct hunt_opinion *hunt_view_guide(const struct hunt_view *view)
{
	bool settled = view->witness.suspicion.probability >= view->problem->rule.stop_probability;
	return view->series && !settled ? &view->witness : &view->own;
}
