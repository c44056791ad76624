/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sentinel/simulate/power.h"

#include <math.h>
#include <time.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/log.h"
#include "sentinel/base/random.h"

#define NOTICE_SECONDS 10.0

const struct simulate_power_cell simulate_power_cells[SIMULATE_POWER_CELLS] = {
	{2, 0.5, 2, 2}, {2, 1, 4, 8}, {2, 3, 29, 78}, {2, 10, 366, 947},
	{5, 0.5, 2, 2}, {5, 1, 2, 2}, {5, 3, 5, 13},  {5, 10, 62, 137},
};

void simulate_power_defaults(const struct simulate_power_cell *cell,
			     struct simulate_power_options *ret_options)
{
	*ret_options = (struct simulate_power_options){
		.world = NIGHT_WORLD_PLAIN,
		.step_percent = cell->step_percent,
		.noise_percent = cell->noise_percent,
		.trials = 1000,
		.seed = 1,
	};
	night_plan_default(NIGHT_WORLD_PLAIN, NIGHT_WORLD_SERIES, &ret_options->plan);
	ret_options->plan.boots = cell->boots;
	ret_options->plan.pairs = cell->pairs;
	ret_options->plan.stage2_alpha = 0.001;
}

struct tally {
	size_t flagged;
	size_t confirmed;
};

static void try_once(const struct simulate_power_options *options, size_t trial,
		     struct tally *tally)
{
	double noise = options->noise_percent > 0 ? options->noise_percent / 100
						  : night_world_noise(options->world, trial);
	double step = log1p(options->step_percent / 100);
	struct night_series series;
	struct verdict verdict;
	night_series_init(options->world, noise, options->layout_share, &series);
	auto_cleanup(night_history_free) struct night_history history;
	night_history_init(&options->plan, &series, &history);
	night_history_begin(&history);
	night_history_measure(&history, step);
	night_history_stage1(&history, &verdict);
	if (verdict.state != VERDICT_FLAGGED || verdict.change < 0)
		return;
	tally->flagged++;
	night_history_stage2(&history, step, verdict.change, &verdict);
	tally->confirmed += verdict.state == VERDICT_REGRESSION;
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

void simulate_power(const struct simulate_power_options *options,
		    struct simulate_power_result *ret_result)
{
	double start = cpu_seconds();
	double notice = start;
	struct tally tally = {0};
	random_seed(options->seed);
	for (size_t trial = 0; trial < options->trials; trial++) {
		try_once(options, trial, &tally);
		if (cpu_seconds() - notice < NOTICE_SECONDS)
			continue;
		notice = cpu_seconds();
		log_notice("simulated %zu of %zu trials", trial + 1, options->trials);
	}
	*ret_result = (struct simulate_power_result){
		.stage1 = (double)tally.flagged / (double)options->trials,
		.two_stage = (double)tally.confirmed / (double)options->trials,
		.seconds = cpu_seconds() - start,
	};
}
