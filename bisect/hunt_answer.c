/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt_answer.h"

#include <math.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/distribution.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"

#define CREDIBLE 0.95
/* One step that leaves residuals as wild as this or wilder is not the whole story. */
#define MORE_STEPS_CHANCE 0.001

/* The members, the likeliest first. */
static void list_set(const struct hunt_view *view, const bool *member, size_t size,
		     struct hunt_answer *answer)
{
	const double *probability = view->own.belief.probability;
	answer->set = memory_array(size, sizeof(*answer->set));
	answer->set_count = size;
	size_t listed = 0;
	for (size_t commit = 0; commit < view->commits; commit++) {
		size_t place = listed;
		if (!member[commit])
			continue;
		for (; place > 0 && probability[answer->set[place - 1]] < probability[commit];
		     place--)
			answer->set[place] = answer->set[place - 1];
		answer->set[place] = commit;
		listed++;
	}
}

static void state_set(const struct hunt_view *view, struct hunt_answer *answer)
{
	const struct hunt_suspicion *suspicion = &view->own.suspicion;
	const double *probability = view->own.belief.probability;
	struct search_evidence evidence = hunt_record_evidence(view->problem, &view->own.record);
	auto_free bool *member = memory_array(view->commits, sizeof(*member));
	if (answer->kind == HUNT_SET) {
		list_set(view, suspicion->member, suspicion->size, answer);
	} else {
		size_t size = search_credible_set(view->problem->graph, &evidence, probability,
						  CREDIBLE, member);
		list_set(view, member, size, answer);
	}
	if (answer->kind == HUNT_CULPRIT) {
		answer->culprit = suspicion->first;
		answer->probability = probability[answer->culprit];
		return;
	}
	for (size_t i = 0; i < answer->set_count; i++)
		answer->probability += probability[answer->set[i]];
	answer->probability = fmin(1, answer->probability);
}

static void state_step(const struct hunt_view *view, const double *differences, size_t count,
		       struct hunt_answer *answer)
{
	const struct hunt_record *record = &view->own.record;
	double deviation = sqrt(2) * hypot(record->deviation, record->layout_deviation);
	if (count < 2)
		return;
	double margin = deviation / sqrt((double)count) *
			distribution_t_quantile_upper((1 - CREDIBLE) / 2, record->degrees);
	answer->step = stats_huber(differences, count, deviation);
	answer->step_lower = answer->step - margin;
	answer->step_upper = answer->step + margin;
	if (answer->step > 0)
		answer->layout_share = record->layout_deviation / answer->step;
}

static void state_confirmation(const struct hunt_view *view, struct hunt_answer *answer)
{
	double weakest = INFINITY;
	answer->confirm_pairs = view->confirmation.pair_count;
	for (size_t i = 0; i < view->confirmation.rival_count; i++)
		weakest = fmin(weakest, view->confirmation.rivals[i].test.log_ratio);
	answer->confirm_odds = exp(weakest);
}

static void state_effort(const struct hunt_view *view, struct hunt_answer *answer)
{
	size_t *const boots[] = {
		[HUNT_REPRODUCE] = &answer->reproduce_boots,
		[HUNT_SEARCH] = &answer->search_boots,
		[HUNT_CONFIRM] = &answer->confirm_boots,
	};
	auto_free bool *built = memory_array(view->commits * HUNT_LAYOUTS, sizeof(*built));
	built[0] = built[(view->commits - 1) * HUNT_LAYOUTS] = true;
	answer->boots = view->spent;
	answer->reproduce_pairs = view->reproduction.pair_count;
	for (size_t i = 0; i < view->count; i++) {
		const struct hunt_event *event = &view->events[i];
		if (event->kind != HUNT_MEASURED || event->stage == HUNT_KNOWN)
			continue;
		++*boots[event->stage];
		bool *build = &built[event->commit * HUNT_LAYOUTS + event->layout];
		answer->builds += !*build && event->stage != HUNT_REPRODUCE;
		*build = true;
	}
}

void hunt_answer_state(const struct hunt_view *view, enum hunt_answer_kind kind, const char *reason,
		       struct hunt_answer *ret_answer)
{
	struct hunt_answer answer = {.kind = kind, .reason = reason, .series = view->series};
	state_effort(view, &answer);
	if (kind == HUNT_CULPRIT || kind == HUNT_SET) {
		state_confirmation(view, &answer);
		state_step(view, view->confirmation.differences, view->confirmation.pair_count,
			   &answer);
		answer.more_steps = view->own.one_step_chance < MORE_STEPS_CHANCE;
	} else {
		state_step(view, view->reproduction.differences, view->reproduction.pair_count,
			   &answer);
	}
	if (view->searching)
		state_set(view, &answer);
	*ret_answer = answer;
}
