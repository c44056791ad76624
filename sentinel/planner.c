/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/planner.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/text.h"

char *planner_series_name(const struct policy_benchmark *benchmark, const char *cell)
{
	return text_format("%s/%s/%s", benchmark->name, cell, benchmark->metric);
}

static void add_step(struct plan *plan, const struct policy_benchmark *benchmark,
		     const struct policy_case *cell)
{
	plan->steps = memory_resize(plan->steps, plan->step_count + 1, sizeof(*plan->steps));
	struct plan_step *step = &plan->steps[plan->step_count++];
	*step = (struct plan_step){
		.benchmark = text_copy(benchmark->name),
		.cell = text_copy(cell->name),
		.argv = memory_array(cell->argv.count + 1, sizeof(char *)),
		.iterations = benchmark->iterations,
		.warmup = benchmark->warmup,
		.timeout_seconds = benchmark->timeout_seconds,
	};
	for (size_t i = 0; i < cell->argv.count; i++)
		step->argv[i] = text_copy(cell->argv.items[i]);
}

/* The index of NAME in SERIES, or COUNT. */
static size_t position(const char *name, const char *const *series, size_t count)
{
	size_t i = 0;
	while (i < count && strcmp(series[i], name) != 0)
		i++;
	return i;
}

static int add_benchmark(struct plan *plan, const struct policy_benchmark *benchmark,
			 const char *const *series, size_t series_count, bool *found,
			 struct error *err)
{
	struct policy_case *cells;
	size_t count;
	if (policy_benchmark_cases(benchmark, &cells, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		auto_free char *name = planner_series_name(benchmark, cells[i].name);
		size_t wanted = position(name, series, series_count);
		if (series && wanted == series_count)
			continue;
		if (series)
			found[wanted] = true;
		add_step(plan, benchmark, &cells[i]);
	}
	policy_cases_free(cells, count);
	return 0;
}

int planner_plan(const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		 const char *const *series, size_t series_count, struct plan *ret_plan,
		 struct error *err)
{
	auto_plan struct plan plan = {0};
	auto_free bool *found = memory_array(series_count, sizeof(*found));
	for (size_t i = 0; i < benchmark_count; i++)
		if (add_benchmark(&plan, benchmarks[i], series, series_count, found, err) < 0)
			return -1;
	for (size_t i = 0; i < series_count; i++) {
		if (found[i])
			continue;
		auto_free char *safe = text_one_line(series[i], 200);
		return error_set(
			err, ERROR_USAGE,
			"series '%s' belongs to no benchmark of [night]; \"sentinel compare\" "
			"prints the names",
			safe);
	}
	*ret_plan = plan;
	plan = (struct plan){0};
	return 0;
}

int planner_series(const struct policy_benchmark *const *benchmarks, size_t benchmark_count,
		   char ***ret_names, size_t *ret_count, struct error *err)
{
	char **names = NULL;
	size_t count = 0;
	int result = 0;
	for (size_t i = 0; i < benchmark_count && result == 0; i++) {
		struct policy_case *cells;
		size_t cell_count;
		result = policy_benchmark_cases(benchmarks[i], &cells, &cell_count, err);
		if (result < 0)
			break;
		names = memory_resize(names, count + cell_count, sizeof(*names));
		for (size_t j = 0; j < cell_count; j++)
			names[count++] = planner_series_name(benchmarks[i], cells[j].name);
		policy_cases_free(cells, cell_count);
	}
	if (result == 0) {
		*ret_names = names;
		*ret_count = count;
		return 0;
	}
	while (count)
		free(names[--count]);
	free(names);
	return -1;
}

/* Of one round; a multiple of four, so that interleaving is the same in each. */
#define ROUND_BOOTS 1000

bool planner_retest_is_head(int64_t boot)
{
	return boot % 4 == 1 || boot % 4 == 2;
}

size_t planner_retest_layout(int64_t boot, int64_t layouts)
{
	return layouts > 1 ? (size_t)(1 + boot / 2 % layouts) : 0;
}

int64_t planner_retest_sequence(int64_t round, int64_t boot)
{
	return round * ROUND_BOOTS + boot;
}

bool planner_is_retested(const struct store_verdict *verdict, const char *reference)
{
	return verdict->verdict.state == VERDICT_FLAGGED &&
	       strcmp(verdict->reference, reference) == 0;
}

/* The first flagged verdict with the reference of the one at INDEX. */
static size_t first_of_round(const struct store_verdict *verdicts, size_t index)
{
	size_t i = 0;
	while (!planner_is_retested(&verdicts[i], verdicts[index].reference))
		i++;
	return i;
}

int64_t planner_retest_round_of(const struct store_verdict *verdicts, size_t index)
{
	size_t first = first_of_round(verdicts, index);
	int64_t round = 0;
	for (size_t i = 0; i < first; i++)
		round += verdicts[i].verdict.state == VERDICT_FLAGGED &&
			 first_of_round(verdicts, i) == i;
	return round;
}

int64_t planner_retest_round(const struct store_verdict *verdicts, size_t index)
{
	if (verdicts[index].verdict.state != VERDICT_FLAGGED ||
	    first_of_round(verdicts, index) != index)
		return -1;
	return planner_retest_round_of(verdicts, index);
}

static size_t count_in_state(const struct store_verdict *verdicts, size_t count,
			     enum verdict_state state)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += verdicts[i].verdict.state == state;
	return found;
}

bool planner_is_hunted(const struct store_verdict *verdict)
{
	return verdict->verdict.state == VERDICT_REGRESSION && verdict->event != WATCH_CREEP;
}

static size_t count_hunted(const struct store_verdict *verdicts, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += planner_is_hunted(&verdicts[i]);
	return found;
}

enum night_state planner_night_after(enum night_state state, const struct store_verdict *verdicts,
				     size_t count)
{
	switch (state) {
	case NIGHT_MEASURING:
		return count_in_state(verdicts, count, VERDICT_FLAGGED) ? NIGHT_RETESTING
									: NIGHT_REPORTING;
	case NIGHT_RETESTING:
		return count_hunted(verdicts, count) ? NIGHT_HUNTING : NIGHT_REPORTING;
	case NIGHT_HUNTING:
		return NIGHT_REPORTING;
	case NIGHT_REPORTING:
	case NIGHT_DONE:
		break;
	}
	return NIGHT_DONE;
}

char *planner_outcome(const struct store_verdict *verdicts, size_t count)
{
	size_t missing = count_in_state(verdicts, count, VERDICT_NO_DATA);
	if (count_hunted(verdicts, count))
		return text_copy(NIGHT_REGRESSION);
	if (count_in_state(verdicts, count, VERDICT_REGRESSION))
		return text_copy(NIGHT_CREEP);
	if (missing)
		return text_format("no valid number for %zu of %zu series", missing, count);
	if (count_in_state(verdicts, count, VERDICT_KNOWN))
		return text_copy(NIGHT_KNOWN);
	return text_copy(count_in_state(verdicts, count, VERDICT_IMPROVEMENT) ? "improvement"
									      : "no regression");
}

/* A step of this many deviations is seen in a boot or two: beyond it nothing is gained. */
#define CLEAR_ENOUGH 10.0

bool planner_next_hunt(const struct store_verdict *verdicts, size_t count, const bool *explained,
		       size_t *ret_index)
{
	double clearest = 0;
	bool found = false;
	for (size_t i = 0; i < count; i++) {
		const struct verdict *verdict = &verdicts[i].verdict;
		if (!planner_is_hunted(&verdicts[i]) || explained[i])
			continue;
		double clearness = fmin(verdict->change / verdict->deviation, CLEAR_ENOUGH);
		if (!found || clearness > clearest) {
			clearest = clearness;
			*ret_index = i;
			found = true;
		}
	}
	return found;
}
