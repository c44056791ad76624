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

bool planner_retest_is_head(int64_t sequence)
{
	return sequence % 4 == 1 || sequence % 4 == 2;
}

static bool any(const struct store_verdict *verdicts, size_t count, enum verdict_state state)
{
	for (size_t i = 0; i < count; i++)
		if (verdicts[i].verdict.state == state)
			return true;
	return false;
}

enum night_state planner_night_after(enum night_state state, const struct store_verdict *verdicts,
				     size_t count)
{
	switch (state) {
	case NIGHT_MEASURING:
		return any(verdicts, count, VERDICT_FLAGGED) ? NIGHT_RETESTING : NIGHT_REPORTING;
	case NIGHT_RETESTING:
		return any(verdicts, count, VERDICT_REGRESSION) ? NIGHT_HUNTING : NIGHT_REPORTING;
	case NIGHT_HUNTING:
		return NIGHT_REPORTING;
	case NIGHT_REPORTING:
	case NIGHT_DONE:
		break;
	}
	return NIGHT_DONE;
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
		if (verdict->state != VERDICT_REGRESSION || explained[i])
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
