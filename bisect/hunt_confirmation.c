/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt_confirmation.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/hunt_record.h"
#include "bisect/hunt_witness.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define STEP_SHARE 0.6
#define ACCEPT_ODDS 19.0
/* Of a suspect that the search may have been misled to. */
#define CAUTIOUS_ODDS 199.0
#define REJECT_ODDS 19.0
/* Standard errors by which pairs show less than the step that the search has found. */
#define SHORT_ERRORS 2.0
enum { MINIMUM_PAIRS = 2 };

/* An attempt under way, and the test that each of its rivals begins with. */
struct replay {
	const struct hunt_problem *problem;
	const struct hunt_event *events;
	struct hunt_confirmation confirmation;
	struct pair_test blank;
};

/*
 * A posterior that assumes one step, or that another series has led, can point at an innocent
 * commit more often than it says; then the pairs must bear the proof alone.
 */
static double accept_odds(const struct replay *replay, const struct search_scatter *scatter,
			  size_t start)
{
	struct hunt_series series = {0};
	if (!replay->confirmation.failed)
		hunt_witness_choose(replay->problem, replay->events, start, &series);
	bool doubtful = search_one_step_chance(scatter) < HUNT_DOUBTFUL_FIT;
	return doubtful || series.index ? CAUTIOUS_ODDS : ACCEPT_ODDS;
}

static void begin_attempt(struct replay *replay, size_t suspect, size_t start)
{
	const struct hunt_problem *problem = replay->problem;
	const struct hunt_series own = {.sign = 1, .step = hunt_expected_step(&problem->rule)};
	auto_hunt_record struct hunt_record before = {0};
	auto_cleanup(search_belief_free) struct search_belief belief = {0};
	struct search_scatter scatter = {0};
	struct error nothing_left;
	hunt_record_create(problem, replay->events, start, &own, &before);
	/* For the layout deviation; when no candidate was left, the one of history stays. */
	(void)hunt_record_believe(problem, problem->prior, &before, &scatter, &belief,
				  &nothing_left);
	replay->blank = (struct pair_test){
		.step = STEP_SHARE * hunt_record_step(problem, &before, suspect),
		.deviation = hypot(before.deviation, before.layout_deviation),
		.accept_odds = accept_odds(replay, &scatter, start),
		.reject_odds = REJECT_ODDS,
		.minimum_pairs = MINIMUM_PAIRS,
	};
	replay->confirmation.suspect = suspect;
	replay->confirmation.rejected = false;
	replay->confirmation.rival_count = 0;
	replay->confirmation.pair_count = 0;
}

static struct hunt_rival *find_rival(const struct hunt_confirmation *confirmation, size_t commit)
{
	for (size_t i = 0; i < confirmation->rival_count; i++)
		if (confirmation->rivals[i].commit == commit)
			return &confirmation->rivals[i];
	return NULL;
}

/*
 * Then the suspect is not all that made the difference between the ends. It may be a part of it,
 * as one of two steps is; or nothing of it, and what the pairs show is chance.
 */
static bool falls_short(const struct pair_test *test)
{
	double whole = test->step / STEP_SHARE;
	return pair_test_shown(test) + SHORT_ERRORS * pair_test_error(test) < whole;
}

static void add_pair(struct replay *replay, size_t commit, double difference)
{
	struct hunt_confirmation *confirmation = &replay->confirmation;
	struct hunt_rival *rival = find_rival(confirmation, commit);
	if (!rival) {
		rival = &confirmation->rivals[confirmation->rival_count++];
		*rival = (struct hunt_rival){.commit = commit, .test = replay->blank};
	}
	confirmation->differences[confirmation->pair_count++] = difference;
	pair_test_add(&rival->test, difference);
	if (rival->verdict != PAIR_OPEN)
		return;
	if (falls_short(&rival->test))
		rival->test.accept_odds = CAUTIOUS_ODDS;
	rival->verdict = pair_test_verdict(&rival->test);
	if (rival->verdict == PAIR_EQUAL) {
		confirmation->rejected = true;
		confirmation->failed++;
	}
}

static void replay_pair(struct replay *replay, size_t first, size_t second)
{
	const struct commit_graph *graph = replay->problem->graph;
	size_t a = replay->events[first].commit;
	size_t b = replay->events[second].commit;
	size_t suspect = a > b ? a : b;
	size_t rival = a > b ? b : a;
	if (a == b || !commit_graph_contains(graph, suspect, rival))
		return;
	if (suspect != replay->confirmation.suspect || replay->confirmation.rejected)
		begin_attempt(replay, suspect, first);
	double difference = replay->events[second].values[0] - replay->events[first].values[0];
	add_pair(replay, rival, suspect == b ? difference : -difference);
}

void hunt_confirmation_replay(const struct hunt_problem *problem, const struct hunt_event *events,
			      size_t count, struct hunt_confirmation *ret_confirmation)
{
	struct replay replay = {
		.problem = problem,
		.events = events,
		.confirmation =
			{
				.rivals = memory_array(count, sizeof(struct hunt_rival)),
				.differences = memory_array(count, sizeof(double)),
			},
	};
	bool half_pair = false;
	for (size_t i = 0; i < count; i++) {
		bool counts = events[i].kind == HUNT_MEASURED && events[i].stage == HUNT_CONFIRM;
		if (counts && half_pair)
			replay_pair(&replay, i - 1, i);
		half_pair = counts && !half_pair;
	}
	replay.confirmation.half_pair = half_pair;
	*ret_confirmation = replay.confirmation;
}

void hunt_confirmation_free(struct hunt_confirmation *confirmation)
{
	free(confirmation->rivals);
	free(confirmation->differences);
	memset(confirmation, 0, sizeof(*confirmation));
}

/* An excluded commit has the image of its only parent, which was or will be booted anyway. */
static size_t same_as_parent(const struct hunt_problem *problem, const bool *untestable,
			     size_t commit)
{
	while (problem->excluded[commit] &&
	       commit_graph_parent_count(problem->graph, commit) == 1 &&
	       !untestable[commit_graph_parent(problem->graph, commit, 0)])
		commit = commit_graph_parent(problem->graph, commit, 0);
	return commit;
}

void hunt_confirmation_rivals(const struct hunt_problem *problem, const bool *untestable,
			      size_t suspect, bool *ret_rival)
{
	auto_free bool *passed = memory_array(suspect + 1, sizeof(*passed));
	memset(ret_rival, 0, commit_graph_count(problem->graph) * sizeof(*ret_rival));
	passed[suspect] = true;
	/* Parents have smaller numbers: one sweep downwards meets each after all its children. */
	for (size_t commit = suspect; commit > 0; commit--)
		for (size_t i = 0;
		     passed[commit] && i < commit_graph_parent_count(problem->graph, commit); i++) {
			size_t parent = commit_graph_parent(problem->graph, commit, i);
			if (untestable[parent])
				passed[parent] = true;
			else
				ret_rival[same_as_parent(problem, untestable, parent)] = true;
		}
}

bool hunt_confirmation_accepted(const struct hunt_confirmation *confirmation, size_t commits,
				size_t suspect, const bool *rival)
{
	if (confirmation->suspect != suspect || confirmation->rejected)
		return false;
	for (size_t commit = 0; commit < commits; commit++) {
		const struct hunt_rival *found =
			rival[commit] ? find_rival(confirmation, commit) : NULL;
		if (rival[commit] && (!found || found->verdict != PAIR_DIFFERENT))
			return false;
	}
	return true;
}

void hunt_confirmation_next(const struct hunt_confirmation *confirmation, size_t commits,
			    size_t suspect, const bool *rival, struct hunt_pair *ret_pair)
{
	bool under_way = confirmation->suspect == suspect && !confirmation->rejected;
	size_t fewest = SIZE_MAX;
	size_t chosen = 0;
	for (size_t commit = 0; commit < commits; commit++) {
		const struct hunt_rival *found =
			under_way && rival[commit] ? find_rival(confirmation, commit) : NULL;
		size_t pairs = found ? found->test.pairs : 0;
		if (!rival[commit] || (found && found->verdict != PAIR_OPEN) || pairs >= fewest)
			continue;
		fewest = pairs;
		chosen = commit;
	}
	*ret_pair = (struct hunt_pair){
		.first = fewest % 2 ? suspect : chosen,
		.second = fewest % 2 ? chosen : suspect,
		.number = fewest,
	};
}
