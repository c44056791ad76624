/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/cmd_simulate.h"

#include <math.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/simulate/hunts.h"

#define PROGRESS_SECONDS 2.0
#define LARGEST_PERCENT 1000.0
#define LARGEST_SNR 1000.0

enum {
	DEFAULT_TRIALS = 1000,
	DEFAULT_BOOTS = 3000,
	LARGEST_COUNT = 1000000000,
};

/* What all cells have in common. */
struct request {
	struct simulate_list scenarios;
	struct simulate_list snrs;
	struct simulate_list commits;
	struct simulate_list methods;
	const struct scenario *noise; /* NULL: each scenario's own */
	struct scenario_values values;
	double witness_ratio;
	bool witness_elsewhere;
	const char *shape_name;
	struct hunts_plan plan;
};

struct cell {
	struct scenario_plan world;
	const char *method;
	struct hunts_plan plan;
};

static const char *const shape_names[] = {
	[LINEAGE_LINEAR] = "linear",
	[LINEAGE_DAG] = "dag",
};

static int find_scenario(const char *name, const struct scenario **ret_scenario, struct error *err)
{
	*ret_scenario = scenario_find(name);
	if (*ret_scenario)
		return 0;
	auto_free char *safe = text_one_line(name, 40);
	struct text known = {0};
	for (size_t i = 0; i < scenario_count; i++)
		text_printf(&known, "\n  %-10s %s", scenarios[i].name, scenarios[i].summary);
	auto_free char *list = text_take(&known);
	return error_set(err, ERROR_USAGE, "no scenario '%s'; there are:%s", safe, list);
}

static int read_percent(const struct arguments *arguments, const char *option, double *ret_value,
			struct error *err)
{
	return simulate_number(arguments, option, NAN, 0, LARGEST_PERCENT, ret_value, err);
}

static int read_values(const struct arguments *arguments, struct scenario_values *values,
		       struct error *err)
{
	if (read_percent(arguments, "--between-percent", &values->between_percent, err) < 0 ||
	    read_percent(arguments, "--within-percent", &values->within_percent, err) < 0 ||
	    read_percent(arguments, "--layout-percent", &values->layout_percent, err) < 0 ||
	    read_percent(arguments, "--step-percent", &values->step_percent, err) < 0)
		return -1;
	if (isnan(values->step_percent))
		return 0;
	if (argument_value(arguments, "--snr"))
		return error_set(err, ERROR_USAGE,
				 "--snr and --step-percent both give the step: choose one");
	if (values->step_percent <= 0)
		return error_set(err, ERROR_USAGE, "--step-percent wants a step above 0");
	return 0;
}

static int read_shape(const struct arguments *arguments, struct request *request, struct error *err)
{
	const char *name = argument_value(arguments, "--shape");
	for (size_t i = 0; i < array_length(shape_names); i++)
		if (strcmp(name ? name : "linear", shape_names[i]) == 0) {
			request->plan.shape = (enum lineage_shape)i;
			return 0;
		}
	return error_set(err, ERROR_USAGE, "--shape wants linear or dag");
}

static int read_trials(const struct arguments *arguments, struct request *request,
		       struct error *err)
{
	struct hunts_plan *plan = &request->plan;
	size_t seed;
	if (simulate_count(arguments, "--trials", DEFAULT_TRIALS, 1, LARGEST_COUNT, &plan->trials,
			   err) < 0 ||
	    simulate_count(arguments, "--trial", 0, 0, LARGEST_COUNT, &plan->first_trial, err) <
		    0 ||
	    simulate_seed(arguments, &seed, err) < 0 ||
	    simulate_count(arguments, "--maximum-boots", DEFAULT_BOOTS, 1, LARGEST_COUNT,
			   &plan->limits.boots, err) < 0 ||
	    simulate_count(arguments, "--layouts", HUNT_LAYOUTS, 1, HUNT_LAYOUTS,
			   &plan->limits.layouts, err) < 0)
		return -1;
	plan->seed = seed;
	if (argument_value(arguments, "--trial"))
		plan->trials = 1;
	return 0;
}

static int read_request(const struct arguments *arguments, struct request *request,
			struct error *err)
{
	const char *noise = argument_value(arguments, "--noise");
	simulate_list(arguments, "--scenario", "S1", &request->scenarios);
	simulate_list(arguments, "--snr", "3", &request->snrs);
	simulate_list(arguments, "--commits", "1024", &request->commits);
	simulate_list(arguments, "--method", "sentinel", &request->methods);
	request->witness_elsewhere = argument_value(arguments, "--witness-elsewhere");
	if (noise && find_scenario(noise, &request->noise, err) < 0)
		return -1;
	if (simulate_number(arguments, "--witness", 0, 1e-3, 1e3, &request->witness_ratio, err) < 0)
		return -1;
	if (request->witness_elsewhere && request->witness_ratio <= 0)
		return error_set(err, ERROR_USAGE, "--witness-elsewhere needs --witness");
	if (read_values(arguments, &request->values, err) < 0 ||
	    read_shape(arguments, request, err) < 0)
		return -1;
	return read_trials(arguments, request, err);
}

static void free_request(struct request *request)
{
	simulate_list_free(&request->scenarios);
	simulate_list_free(&request->snrs);
	simulate_list_free(&request->commits);
	simulate_list_free(&request->methods);
}

/* The cell at INDEX: scenarios, then commits, then SNRs, then methods. */
static int read_cell(const struct request *request, size_t index, struct cell *ret_cell,
		     struct error *err)
{
	const struct simulate_list *lists[] = {&request->methods, &request->snrs, &request->commits,
					       &request->scenarios};
	const char *items[array_length(lists)];
	const struct scenario *scenario;
	double commits;
	double snr;
	for (size_t i = 0; i < array_length(lists); i++) {
		items[i] = lists[i]->items[index % lists[i]->count];
		index /= lists[i]->count;
	}
	*ret_cell = (struct cell){.method = items[0], .plan = request->plan};
	if (hunts_method_parse(items[0], &ret_cell->plan.method, err) < 0 ||
	    simulate_parse("--snr", items[1], 1e-3, LARGEST_SNR, &snr, err) < 0 ||
	    simulate_parse("--commits", items[2], 2, COMMIT_GRAPH_LINE_LIMIT, &commits, err) < 0 ||
	    find_scenario(items[3], &scenario, err) < 0)
		return -1;
	if (commits != floor(commits))
		return error_set(err, ERROR_USAGE, "--commits wants whole numbers");
	ret_cell->plan.commits = (size_t)commits;
	scenario_plan(scenario, request->noise, snr, &request->values, &ret_cell->world);
	ret_cell->world.witness_ratio = request->witness_ratio;
	ret_cell->world.witness_elsewhere = request->witness_elsewhere;
	return 0;
}

struct progress {
	const struct cell *cell;
	double told_seconds;
};

static void tell_progress(size_t done, size_t all, void *data)
{
	struct progress *progress = data;
	double now = clock_monotonic_seconds();
	if (now - progress->told_seconds < PROGRESS_SECONDS)
		return;
	progress->told_seconds = now;
	log_notice("%s, SNR %g, %zu commits, %s: %zu of %zu hunts",
		   progress->cell->world.scenario->name, progress->cell->world.snr,
		   progress->cell->plan.commits, progress->cell->method, done, all);
}

static void put_world(json_t *object, const struct request *request, const struct cell *cell)
{
	const struct scenario_noise *noise = &cell->world.noise;
	json_object_update_new(object, json_pack("{s:s, s:s?, s:s, s:I, s:f, s:s, s:I, s:I, s:I}",
						 "scenario", cell->world.scenario->name, "noise",
						 request->noise ? request->noise->name : NULL,
						 "shape", shape_names[cell->plan.shape], "commits",
						 (json_int_t)cell->plan.commits, "snr",
						 cell->world.snr, "method", cell->method, "trials",
						 (json_int_t)cell->plan.trials, "first_trial",
						 (json_int_t)cell->plan.first_trial, "seed",
						 (json_int_t)cell->plan.seed));
	json_object_update_new(object,
			       json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:f, s:b}",
					 "between_percent", 100 * noise->between, "within_percent",
					 100 * noise->within, "layout_percent", 100 * noise->layout,
					 "step_percent", 100 * cell->world.step, "iterations",
					 (json_int_t)cell->world.iterations, "end_boots",
					 (json_int_t)cell->world.end_boots, "layouts",
					 (json_int_t)cell->plan.limits.layouts, "witness",
					 cell->world.witness_ratio, "witness_elsewhere",
					 cell->world.witness_elsewhere));
}

static void put_result(json_t *object, const struct cell *cell, const struct hunts_result *result)
{
	const struct {
		const char *key;
		double value;
	} members[] = {
		{"correct", result->correct},
		{"wrong", result->wrong},
		{"not_reproducible", result->not_reproducible},
		{"inconclusive", result->inconclusive},
		{"sets", result->sets},
		{"set_size", result->set_size},
		{"boots_reproduce", result->boots_reproduce},
		{"boots_search", result->boots_search},
		{"boots_confirm", result->boots_confirm},
		{"builds", result->builds},
		{"bound_boots", result->bound_boots},
		{"ratio_search", result->boots_search / result->bound_boots},
		{"ratio_total",
		 (result->boots_search + result->boots_confirm) / result->bound_boots},
		{"more_steps", result->more_steps},
		{"others_correct", result->others_correct},
		{"others_wrong", result->others_wrong},
		{"witnessed", result->witnessed},
		{"cpu_seconds_per_hunt", result->cpu_seconds},
		{"observed", result->observed},
	};
	for (size_t i = 0; i < array_length(members); i++)
		json_object_set_new(object, members[i].key, json_real(members[i].value));
	/* Nobody who bisects by hand states a probability. */
	json_object_set_new(object, "claimed",
			    cell->plan.method.naive ? json_null() : json_real(result->claimed));
}

static int run_cell(const struct request *request, size_t index, double *told_seconds,
		    json_t *cells, struct error *err)
{
	struct cell cell;
	struct hunts_result result;
	if (read_cell(request, index, &cell, err) < 0)
		return -1;
	struct progress progress = {&cell, *told_seconds};
	cell.plan.world = &cell.world;
	if (hunts_run(&cell.plan, tell_progress, &progress, &result, err) < 0)
		return -1;
	*told_seconds = progress.told_seconds;
	json_t *object = json_object();
	put_world(object, request, &cell);
	put_result(object, &cell, &result);
	json_array_append_new(cells, object);
	return 0;
}

/* Nobody wants to wait an hour for the news that the last cell was misspelt. */
static int check_cells(const struct request *request, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct cell cell;
		if (read_cell(request, i, &cell, err) < 0)
			return -1;
	}
	return 0;
}

int simulate_hunt_command(const struct arguments *arguments, json_t **ret_cells, struct error *err)
{
	auto_cleanup(free_request) struct request request = {0};
	if (read_request(arguments, &request, err) < 0)
		return -1;
	size_t count = request.scenarios.count * request.commits.count * request.snrs.count *
		       request.methods.count;
	double told_seconds = clock_monotonic_seconds();
	if (check_cells(&request, count, err) < 0)
		return -1;
	auto_json json_t *cells = json_array();
	for (size_t i = 0; i < count; i++)
		if (run_cell(&request, i, &told_seconds, cells, err) < 0)
			return -1;
	*ret_cells = take(cells);
	return 0;
}
