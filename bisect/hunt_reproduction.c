/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bisect/hunt_reproduction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bisect/pair_test.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

#define STEP_SHARE 0.6
#define ACCEPT_ODDS 99.0
#define REJECT_ODDS 15.0
/* With fewer degrees the deviation itself is a guess, and no test of a step can be believed. */
#define MINIMUM_DEGREES 6.0
/* Pairs that may be spent, as a multiple of what a real step takes on average. */
#define PATIENCE 8.0
enum { MINIMUM_PAIRS = 2, PAIRS_LIMIT = 20 /* unless patience allows more */ };

/* Fills the differences; ret_boots: of the good and of the bad end. */
static void pair_up(const struct hunt_event *events, size_t count,
		    struct hunt_reproduction *reproduction, size_t ret_boots[2])
{
	auto_free double *good = memory_array(count, sizeof(*good));
	auto_free double *bad = memory_array(count, sizeof(*bad));
	ret_boots[0] = ret_boots[1] = 0;
	for (size_t i = 0; i < count; i++) {
		if (events[i].kind != HUNT_MEASURED || events[i].stage != HUNT_REPRODUCE)
			continue;
		if (events[i].commit == 0)
			good[ret_boots[0]++] = events[i].values[0];
		else
			bad[ret_boots[1]++] = events[i].values[0];
	}
	reproduction->pair_count = ret_boots[0] < ret_boots[1] ? ret_boots[0] : ret_boots[1];
	for (size_t i = 0; i < reproduction->pair_count; i++)
		reproduction->differences[i] = bad[i] - good[i];
}

/* The deviation changes with the data, so a verdict is only read after the latest whole pair. */
static enum hunt_reproduction_state judge(const struct hunt_problem *problem,
					  const struct hunt_record *record,
					  const struct hunt_reproduction *reproduction)
{
	double expected = hunt_expected_step(&problem->rule);
	struct pair_test test = {
		.step = STEP_SHARE * expected,
		.deviation = hypot(record->deviation, record->layout_deviation),
		.accept_odds = ACCEPT_ODDS,
		.reject_odds = REJECT_ODDS,
		.minimum_pairs = MINIMUM_PAIRS,
	};
	for (size_t i = 0; i < reproduction->pair_count; i++)
		pair_test_add(&test, reproduction->differences[i]);
	enum pair_verdict verdict =
		record->degrees < MINIMUM_DEGREES ? PAIR_OPEN : pair_test_verdict(&test);
	if (verdict != PAIR_OPEN)
		return verdict == PAIR_DIFFERENT ? REPRODUCTION_DONE : REPRODUCTION_EQUAL;
	double limit = fmax(PAIRS_LIMIT, PATIENCE * pair_test_expected_pairs(&test, expected));
	return (double)test.pairs >= limit ? REPRODUCTION_UNDECIDED : REPRODUCTION_OPEN;
}

static bool later_stage_measured(const struct hunt_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].kind == HUNT_MEASURED &&
		    (events[i].stage == HUNT_SEARCH || events[i].stage == HUNT_CONFIRM))
			return true;
	return false;
}

void hunt_reproduction_replay(const struct hunt_problem *problem, const struct hunt_record *record,
			      const struct hunt_event *events, size_t count,
			      struct hunt_reproduction *ret_reproduction)
{
	size_t last = record->commits - 1;
	size_t boots[2];
	struct hunt_reproduction reproduction = {
		.differences = memory_array(count, sizeof(double)),
	};
	pair_up(events, count, &reproduction, boots);
	if (later_stage_measured(events, count))
		reproduction.state = REPRODUCTION_DONE;
	else if (boots[0] == boots[1])
		reproduction.state = judge(problem, record, &reproduction);
	if (boots[0] == boots[1])
		reproduction.next = boots[0] % 2 ? last : 0;
	else
		reproduction.next = boots[0] < boots[1] ? 0 : last;
	reproduction.layout = reproduction.pair_count % hunt_pair_layouts(problem, record);
	*ret_reproduction = reproduction;
}

void hunt_reproduction_free(struct hunt_reproduction *reproduction)
{
	free(reproduction->differences);
	memset(reproduction, 0, sizeof(*reproduction));
}
